//! How far one device moves the merged model, and the weight at which it does not move it too far.
//!
//! Sums claim a number of rows, and nobody can count them. Two limits keep one device from deciding the
//! model:
//!
//! 1. **Rows.** No device counts for more than twice the median of the rows that all claim.
//! 2. **Influence.** With `β` of all devices and `β₋` of the others, whose triangle is `R₋`, the device moves
//!    the predictions on the others' rows by `‖R₋(β - β₋)‖/√N₋`, in standard deviations of the target (the
//!    measure of Cook 1977 for a group of rows). More than the limit is allowed where the others themselves
//!    know the model no better: the limit and twice `s √(p n/(N N₋))`, the standard deviation that this has
//!    for a device like the others, add in squares. `s²` is the others' residual variance and `p` the
//!    effective number of weights. If the error of the others rises by more than 5 %, the limit falls, down
//!    to three eighths of it, to where the error would not.
//!
//! The influence is nearly proportional to the device's share of the rows, so a device beyond the limit
//! counts for fewer rows, as many as keep it. One that would have to count for less than an eighth of what
//! the first limit left it is an outlier. The device furthest beyond its limit comes first, and then all are
//! compared again: who is pulled by it is not blamed for it.
//!
//! The limit, the allowance and the eighth are those with which fleets of honest devices with shifted
//! features, of 50 to 2,000 rows each, whose targets drift by up to a tenth of a deviation, are rarely
//! refused; `docs/trust.md` has the figures.

use crate::regression::rows::triangle::Triangle;
use faer::{Mat, MatRef};

/// How much one device can count for in a merge.
///
/// ```
/// use dpp_nystrom::regression::MergeLimits;
///
/// assert_eq!(MergeLimits::default(), MergeLimits { rows: 2.0, influence: 0.08 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergeLimits {
    /// The most rows that a device counts for, in medians of the rows that all devices claim. Infinity: no
    /// limit.
    pub rows: f64,
    /// How far a device may move the predictions of the merged model, in standard deviations of the target.
    /// Infinity: no limit.
    pub influence: f64,
}

impl Default for MergeLimits {
    fn default() -> Self {
        Self { rows: 2.0, influence: 0.08 }
    }
}

/// Standard deviations of an honest device that are allowed besides the limit.
const DEVIATIONS: f64 = 2.0;
/// The rise of the others' error that lowers the limit, and the share of it that stays.
const RISE: f64 = 0.05;
const LOWEST: f64 = 0.375;
/// The least share of its rows that a device is cut to.
const LEAST: f64 = 0.125;
/// By how much more than the limit asks a device is cut, so that it seldom has to be cut again.
const MARGIN: f64 = 0.98;

/// Return how many rows each device counts for, from what it claims: at most so many medians of all. Trusted
/// ones count whole. The median of an even number is the lower one of the middle two, which half of the
/// devices cannot raise.
pub(crate) fn limited_rows(claimed: &[u64], trusted: &[bool], medians: f64) -> Vec<u64> {
    let mut sorted: Vec<u64> = claimed.iter().copied().filter(|&rows| rows > 0).collect();
    sorted.sort_unstable();
    let median = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0);
    // A cast of infinity saturates.
    let most = ((median as f64 * medians) as u64).max(1);
    claimed.iter().zip(trusted).map(|(&rows, &trusted)| if trusted { rows } else { rows.min(most) }).collect()
}

/// What a device does to the merged model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Influence {
    /// How far it moves the predictions on the others' rows, in standard deviations of the target.
    pub(crate) moves: f64,
    /// By how much it raises the others' root mean squared error on their rows, relative to it.
    pub(crate) raises: f64,
    /// How far it may move the predictions.
    limit: f64,
    /// Its rows and those of the others.
    rows: f64,
    others: f64,
}

/// The merged model, with which each device is compared.
pub(crate) struct Merged<'m> {
    whole: &'m Triangle,
    weights: Mat<f64>,
    /// The effective number of weights: the trace of `(RᵀR + λI)⁻¹RᵀR`.
    effective: f64,
}

impl<'m> Merged<'m> {
    /// Solve for the model of all devices; `None` if there is no solution.
    pub(crate) fn of(whole: &'m Triangle, ridge: f64) -> Option<Self> {
        let (weights, _) = whole.solve(ridge)?;
        Some(Self { whole, weights, effective: whole.effective_weights(ridge)? })
    }

    /// Return the influence of a device, from the weights that the others determine and their squared error
    /// on their own rows.
    pub(crate) fn influence(
        &self,
        part: &Triangle,
        without: MatRef<'_, f64>,
        error: f64,
        limit: f64,
    ) -> Influence {
        let (rows, others) = (part.rows(), self.whole.rows() - part.rows());
        let on_others = |of: &dyn Fn(&Triangle) -> f64| (of(self.whole) - of(part)).max(0.0);
        let change = &self.weights - without;
        let moves = (on_others(&|of| of.image(change.as_ref()).squared_norm_l2()) / others).sqrt();
        let with = on_others(&|of| of.squared_errors(self.weights.as_ref())[0]);
        let raises = (with / error).sqrt() - 1.0;
        let free = (others - self.effective).max(others / 10.0);
        let noise = error / free * self.effective * rows / (self.whole.rows() * others);
        let allowed = |limit: f64| (limit * limit + DEVIATIONS * DEVIATIONS * noise).sqrt();
        let mut most = allowed(limit);
        if raises > RISE {
            most = most.min(allowed(LOWEST * limit).max(moves * (RISE / raises).sqrt()));
        }
        Influence { moves, raises: raises.max(0.0), limit: most, rows, others }
    }
}

impl Influence {
    /// Return how many times the limit the device moves the model; infinity for what cannot be compared.
    pub(crate) fn excess(&self) -> f64 {
        let excess = self.moves / self.limit;
        if excess.is_nan() { f64::INFINITY } else { excess }
    }

    /// Return the number of rows at which the device keeps the limit. `None` if that is too small a part of
    /// `most`.
    pub(crate) fn rows_within(&self, most: u64) -> Option<u64> {
        let share = self.rows / (self.rows + self.others) * MARGIN / self.excess();
        let rows = self.others * share / (1.0 - share);
        (rows >= LEAST * most as f64 && rows >= 1.0).then_some(rows as u64)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Influence, Merged, limited_rows};
    use crate::regression::rows::{accumulator::Accumulator, triangle::Triangle};
    use faer::Mat;

    #[test]
    fn no_device_counts_for_more_than_twice_the_median() {
        let none = [false; 5];
        assert_eq!(limited_rows(&[100, 100, 100, 100, 1 << 53], &none, 2.0), [100, 100, 100, 100, 200]);
        assert_eq!(limited_rows(&[10, 20, 30, 40, 50], &none, 1.0), [10, 20, 30, 30, 30]);
        assert_eq!(limited_rows(&[10, 1 << 53, 30, 40, 50], &none, f64::INFINITY), [10, 1 << 53, 30, 40, 50]);
        // Half of an even number cannot raise it, and devices without rows do not lower it.
        assert_eq!(limited_rows(&[100, 1 << 53], &none, 2.0), [100, 200]);
        assert_eq!(limited_rows(&[0, 0, 0, 100, 1_000], &none, 2.0), [0, 0, 0, 100, 200]);
        // The server's own is not cut, and counts in the median.
        assert_eq!(limited_rows(&[5_000, 1 << 53], &[true, false], 2.0), [5_000, 10_000]);
        assert_eq!(limited_rows(&[5_000, 1 << 53], &[false, true], 2.0), [5_000, 1 << 53]);
        assert_eq!(limited_rows(&[0, 0], &none, 2.0), [0, 0]);
    }

    /// Rows of one feature, `(φ, y)`: a feature between a half and 1.4, and a slope with noise.
    pub(crate) fn rows(count: usize, slope: f64) -> Vec<(f64, f64)> {
        let row = |i: usize| {
            let (feature, noise) = (0.5 + (i * 7 % 10) as f64 / 10.0, (i * 3 % 11) as f64 / 11.0 - 0.5);
            (feature, slope * feature + 0.2 * noise)
        };
        (0..count).map(row).collect()
    }

    fn triangle(rows: &[(f64, f64)]) -> Triangle {
        let mut sums = Accumulator::<f64>::empty(1).unwrap();
        rows.iter().for_each(|&(feature, target)| sums.add(&[feature], target).unwrap());
        sums.on(|regression| Triangle::of(regression)).unwrap()
    }

    /// The sums of `φ²` and `φy`, the ridge solution, and its squared error on some rows.
    fn squares(rows: &[(f64, f64)]) -> f64 {
        rows.iter().map(|(feature, _)| feature * feature).sum()
    }

    pub(crate) fn solution(rows: &[(f64, f64)], ridge: f64) -> f64 {
        let along: f64 = rows.iter().map(|(feature, target)| feature * target).sum();
        along / (squares(rows) + rows.len() as f64 * ridge)
    }

    pub(crate) fn error(rows: &[(f64, f64)], weight: f64) -> f64 {
        rows.iter().map(|(feature, target)| (target - weight * feature).powi(2)).sum()
    }

    /// The influence from its definition: on the rows themselves, of which there is one feature.
    #[test]
    fn influence_is_that_of_its_definition() {
        let (ridge, limit) = (0.02, 0.08);
        // The limit as it is; three eighths of it; that which keeps the others' error; few others.
        for (others, part, slope, case) in
            [(60, 20, 1.05, 0), (60, 20, 1.3, 1), (60, 20, 3.0, 2), (60, 20, 1.0, 0), (1, 40, 1.01, 3)]
        {
            let (others, part) = (rows(others, 1.0), rows(part, slope));
            let all = [&others[..], &part].concat();
            let (whole, own) = (triangle(&all), triangle(&part));
            let [merged, without] = [&all, &others].map(|rows| solution(rows, ridge));
            let of_others = error(&others, without);
            let found = Merged::of(&whole, ridge).unwrap().influence(
                &own,
                Mat::from_fn(1, 1, |_, _| without).as_ref(),
                of_others,
                limit,
            );
            let [n, rest] = [part.len(), others.len()].map(|count| count as f64);
            let moves = (merged - without).abs() * (squares(&others) / rest).sqrt();
            let raises = (error(&others, merged) / of_others).sqrt() - 1.0;
            let effective = squares(&all) / (squares(&all) + (n + rest) * ridge);
            let variance = of_others / (rest - effective).max(0.1 * rest);
            let deviation = (variance * effective * n / ((n + rest) * rest)).sqrt();
            let allowed = |limit: f64| limit.hypot(2.0 * deviation);
            let lowered = moves * (0.05 / raises).sqrt();
            let most = match raises > 0.05 {
                true => allowed(limit).min(allowed(0.375 * limit).max(lowered)),
                false => allowed(limit),
            };
            match case {
                0 => assert!(raises <= 0.05, "{raises}"),
                1 => assert!(raises > 0.05 && lowered < allowed(0.375 * limit), "{raises} {lowered}"),
                2 => assert!(raises > 0.05 && lowered > allowed(0.375 * limit) && lowered < allowed(limit)),
                _ => assert!(rest - effective < 0.1 * rest),
            }
            let close = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
                    "{case} {found} {expected}"
                );
            };
            close(found.moves, moves);
            close(found.raises, raises.max(0.0));
            close(found.limit, most);
            close(found.excess(), moves / most);
            assert_eq!((found.rows, found.others), (n, rest));
        }
    }

    /// Influence is nearly proportional to the share of the rows: at that number it is .98 of the limit.
    #[test]
    fn a_device_is_cut_to_the_rows_that_keep_the_limit() {
        let of =
            |moves: f64, rows: f64, others: f64| Influence { moves, raises: 0.0, limit: 0.1, rows, others };
        let found = of(0.2, 1_000.0, 3_000.0).rows_within(1_000).unwrap() as f64;
        let share = |rows: f64| rows / (rows + 3_000.0);
        let moves = |rows: f64| 0.2 * share(rows) / share(1_000.0);
        assert!(moves(found) <= 0.098 && moves(found + 1.0) > 0.098, "{found}");
        // An eighth of what the first limit left it is the least.
        assert_eq!(of(0.2, 1_000.0, 3_000.0).rows_within(8 * found as u64), Some(found as u64));
        assert_eq!(of(0.2, 1_000.0, 3_000.0).rows_within(8 * found as u64 + 8), None);
        // And so is a row.
        assert_eq!(of(0.2, 2.0, 3_000.0).rows_within(1), None);
        assert_eq!(of(0.11, 2.0, 3_000.0).rows_within(1), Some(1));
        assert!(of(f64::NAN, 2.0, 3.0).excess().is_infinite());
        assert_eq!(of(f64::NAN, 2.0, 3.0).rows_within(1), None);
    }
}
