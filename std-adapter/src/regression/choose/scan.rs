//! The search over a scalar: the least of the errors of some values, and which value to try next.

use rayon::prelude::*;

/// Return the value with the least finite error, and that error: the first of several.
pub(crate) fn least<A>(scores: impl IntoIterator<Item = (A, f64)>) -> Option<(A, f64)> {
    let finite = scores.into_iter().filter(|(_, error)| error.is_finite());
    finite.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// The distance of the ridges of a grid that are tried first.
const COARSE: usize = 4;

/// Return what is found at the ridge of a grid with the least error, if the error falls to one ridge and
/// rises from there: every fourth is tried, and then those around the best.
pub(crate) fn least_on_grid<L: Send>(
    ridges: &[f64],
    at: impl Fn(f64) -> Option<(L, f64)> + Sync,
) -> Option<L> {
    let of_place = |place: usize| at(ridges[place]).map(|(found, error)| ((place, found), error));
    let of_places = |places: Vec<usize>| places.into_par_iter().filter_map(of_place).collect::<Vec<_>>();
    let mut best = least(of_places((0..ridges.len()).step_by(COARSE).collect()))?;
    let mut step = COARSE / 2;
    while step > 0 {
        let ((place, _), _) = best;
        let around = [place.checked_sub(step), Some(place + step)].into_iter().flatten();
        let around = of_places(around.filter(|&place| place < ridges.len()).collect());
        best = least(std::iter::once(best).chain(around))?;
        step /= 2;
    }
    Some(best.0.1)
}

/// The smallest multiple of the median distance that is tried if rows are dependent under larger ones.
pub(crate) const LEAST: f64 = 1.0 / 64.0;

/// Bandwidths, in multiples of the median distance, with their errors, in ascending order. An error is
/// infinite where there is no fit.
///
/// ```
/// use dpp_nystrom::regression::Scan;
///
/// let mut scan = Scan::default();
/// for (multiple, error) in [(1.0, 0.5), (2.0, 0.3), (4.0, 0.6)] {
///     scan.add(multiple, error);
/// }
/// assert_eq!(scan.finer(), Some(2.0_f64.sqrt())); // between 2 and its better neighbour
/// scan.add(0.5, 0.1);
/// assert_eq!(scan.finer(), Some(0.25)); // outside
/// ```
#[derive(Debug, Default)]
pub struct Scan {
    pub(crate) tried: Vec<(f64, f64)>,
}

impl Scan {
    /// Add a bandwidth with its error; NaN counts as infinite.
    pub fn add(&mut self, multiple: f64, error: f64) {
        let place = self.tried.partition_point(|&(other, _)| other < multiple);
        self.tried.insert(place, (multiple, if error.is_nan() { f64::INFINITY } else { error }));
    }

    /// Return the place of the least error, and that of its neighbour with the lesser error.
    fn bracket(&self) -> Option<(usize, Option<usize>)> {
        let error = |at: usize| self.tried.get(at).map_or(f64::INFINITY, |&(_, error)| error);
        let finite = |at: &usize| error(*at).is_finite();
        let by_error = |one: &usize, other: &usize| error(*one).total_cmp(&error(*other));
        let best = (0..self.tried.len()).filter(finite).min_by(by_error)?;
        let neighbours = [best.wrapping_sub(1), best + 1];
        Some((best, neighbours.into_iter().filter(finite).min_by(by_error)))
    }

    /// Return the bandwidth with the least error.
    pub(crate) fn best(&self) -> Option<f64> {
        self.bracket().map(|(best, _)| self.tried[best].0)
    }

    /// Return the bandwidth nearest to the median distance whose error is within a factor of the least.
    pub(crate) fn nearest_to_median(&self, factor: f64) -> Option<f64> {
        let least = self.tried.iter().map(|tried| tried.1).fold(f64::INFINITY, f64::min);
        let near = self.tried.iter().filter(|(_, error)| error.is_finite() && *error <= factor * least);
        near.map(|tried| tried.0).min_by(|one, other| one.ln().abs().total_cmp(&other.ln().abs()))
    }

    /// Return the next bandwidth outside, if the best is at an end.
    pub(crate) fn beyond(&self) -> Option<f64> {
        let (best, _) = self.bracket()?;
        let (multiple, _) = self.tried[best];
        match best {
            0 => Some(multiple / 2.0),
            _ if best + 1 == self.tried.len() => Some(multiple * 2.0),
            _ => None,
        }
    }

    /// Return the next bandwidth to try: outside if the best is at an end, else between it and its better
    /// neighbour.
    pub fn finer(&self) -> Option<f64> {
        let (best, neighbour) = self.bracket()?;
        self.beyond().or(neighbour.map(|at| (self.tried[best].0 * self.tried[at].0).sqrt()))
    }

    /// Return the next smaller bandwidth, where none of those tried has an error.
    pub(crate) fn smaller(&self) -> Option<f64> {
        self.tried.first().map(|(multiple, _)| multiple / 2.0).filter(|&multiple| multiple >= LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::{Scan, least, least_on_grid};
    use crate::regression::ridge::ridge_grid;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_least_error_is_finite() {
        assert_eq!(least([(1.0, f64::INFINITY), (2.0, 5.0), (3.0, 4.0)]), Some((3.0, 4.0)));
        assert_eq!(least([(1.0, f64::NAN)]), None);
    }

    #[test]
    fn the_least_error_on_a_grid_is_found() {
        let ridges: Vec<f64> = ridge_grid().collect();
        for best in &ridges {
            let tried = AtomicUsize::new(0);
            let at = |ridge: f64| {
                tried.fetch_add(1, Ordering::Relaxed);
                Some((ridge, (ridge / best).ln().abs()))
            };
            assert_eq!(least_on_grid(&ridges, at), Some(*best));
            assert!(tried.into_inner() <= 10);
        }
        // Where there is no solution, another is taken.
        let above = |ridge: f64| (ridge > 0.5).then_some((ridge, ridge));
        assert_eq!(least_on_grid(&ridges, above), Some(1.0));
        assert_eq!(least_on_grid(&ridges, |_| None::<((), f64)>), None);
    }

    #[test]
    fn where_errors_hardly_differ_the_nearest_to_the_median_is_first() {
        let mut scan = Scan::default();
        assert_eq!(scan.nearest_to_median(1.5), None);
        for (multiple, error) in [(0.25, f64::INFINITY), (0.5, 1.4), (1.0, 1.6), (4.0, 1.3), (16.0, 1.0)] {
            scan.add(multiple, error);
        }
        assert_eq!(
            [1.0, 1.35, 1.5, 2.0].map(|factor| scan.nearest_to_median(factor)),
            [16.0, 4.0, 0.5, 1.0].map(Some)
        );
    }

    #[test]
    fn the_next_bandwidth_is_outside_or_between() {
        let scan = |errors: &[(f64, f64)]| {
            let mut scan = Scan::default();
            errors.iter().for_each(|&(multiple, error)| scan.add(multiple, error));
            (scan.best(), scan.beyond(), scan.finer())
        };
        let none = f64::INFINITY;
        assert_eq!(scan(&[]), (None, None, None));
        assert_eq!(scan(&[(1.0, none), (2.0, f64::NAN)]), (None, None, None));
        assert_eq!(scan(&[(2.0, 3.0), (1.0, 2.0)]), (Some(1.0), Some(0.5), Some(0.5)));
        assert_eq!(scan(&[(2.0, 1.0), (1.0, 2.0)]), (Some(2.0), Some(4.0), Some(4.0)));
        assert_eq!(scan(&[(1.0, 2.0), (4.0, 1.0), (16.0, 3.0)]), (Some(4.0), None, Some(2.0)));
        // Beyond the best there is no fit: the optimum is not outside.
        assert_eq!(scan(&[(1.0, 2.0), (4.0, 1.0), (16.0, none)]), (Some(4.0), None, Some(2.0)));
        assert_eq!(scan(&[(4.0, 1.0), (16.0, none)]), (Some(4.0), Some(2.0), Some(2.0)));
    }
}
