//! The landmarks of `refined`, exchanged while the prediction error of ridge regression decreases.
//!
//! The prediction error is the leave-one-out error on the given rows and targets
//! ([`crate::regression::leave_one_out`]), over at most 8,192 of them, drawn once. Each landmark in turn is removed,
//! and 48 rows are tried in its place: a third drawn uniformly, a third in proportion to their residuals, and a third
//! in proportion to their squared leave-one-out residuals. The row with the smallest error replaces the landmark if
//! its error is lower by more than one standard error of the difference: the minimum of many noisy estimates is biased
//! downwards. The ridge is the one given, or the one of [`ridge_grid`] with the smallest leave-one-out error, chosen
//! before each sweep. A sweep is kept if it reduces the error, each set at its best ridge, so the result is never
//! worse than the start.
//!
//! For n rows and q candidates, a landmark costs `n (c + q)` kernel entries, `n c (c + 3 q)` multiply-adds and an
//! eigendecomposition of order c. The search stores `n (2 c + 2 q)` numbers.
//!
//! Forward selection of kernel columns by the leave-one-out error is known from orthogonal least squares (Chen, Hong,
//! Harris and Sharkey 2004). Here columns are exchanged instead of added.

use crate::approximation::{Gram, Ground, features::features_of};
use crate::error::Error;
use crate::landmarks::{
    Needs, Objective, Refinement, RefinementOutcome, Selection, Selector, Task, methods::draw::place,
    methods::exchanged::exchanged, methods::rpcholesky::RpCholesky, selection::log_det,
};
use crate::linalg::eigen::PARTS;
use crate::observer::{Observer, go_on};
use crate::regression::{leave_one_out::Axes, leave_one_out::Fitted, ridge_grid};
use crate::rng::{RngStream, stream};
use dpp_nystrom_core::{GroundSet, Random};
use faer::{Accum, Mat, Par, linalg::matmul::matmul};
use rand::seq::index;
use rayon::prelude::*;
use std::time::Instant;

/// Select as [`Refined`](crate::selectors::Refined), then exchange rows while the leave-one-out error of ridge
/// regression decreases. Requires a target. `N c` kernel evaluations per landmark, `N c` numbers.
///
/// ```
/// use dpp_nystrom::selectors::RefinedRidge;
///
/// let selector = RefinedRidge::default().sweeps(2);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RefinedRidge {
    refinement: Refinement,
    pivot_rows: Option<usize>,
}

impl RefinedRidge {
    /// Make at most this many sweeps of either kind. Default: 3.
    pub fn sweeps(mut self, sweeps: u64) -> Self {
        self.refinement.sweeps = sweeps;
        self
    }

    /// Set the options of the search. Its sample and rows apply to the first exchanges, by trace error.
    pub fn refinement(self, refinement: Refinement) -> Self {
        Self { refinement, ..self }
    }

    /// Start from pivoted Cholesky on this many rows drawn at random. Default: as many as fit in 32 MiB.
    pub fn pivot_rows(self, rows: impl Into<Option<usize>>) -> Self {
        Self { pivot_rows: rows.into(), ..self }
    }
}

impl Selector for RefinedRidge {
    fn name(&self) -> &'static str {
        "refined-ridge"
    }

    fn needs(&self) -> Needs {
        Needs { target: true, ..Needs::default() }
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let begin = Instant::now();
        let target = task.gram.data().learnable()?;
        let from = exchanged(&RpCholesky::start_of(task, self.pivot_rows), task, self.refinement)?;
        let Some(landmarks) = from.landmarks.rows() else { return Ok(from) };
        let ridges = task.ridge.map_or_else(|| ridge_grid().collect(), |ridge| vec![ridge]);
        let Refinement { sweeps, budget, .. } = self.refinement;
        let search = Search {
            ridges: &ridges,
            rows: ROWS,
            sweeps,
            until: budget.map(|budget| begin + budget),
            candidates: CANDIDATES,
            noise: NOISE,
        };
        let mut random = stream(task.seed, RngStream::Supervised);
        let found = among(task.gram, &target.values, landmarks, search, &mut random, task.observer)?;
        let refinement = Some(found.outcome);
        if found.outcome.exchanges == 0 {
            return Ok(Selection { refinement, ..from });
        }
        let log_det = log_det(task.gram.ground(), &found.landmarks)?;
        Ok(Selection { refinement, ..Selection::rows(found.landmarks, log_det) })
    }
}

/// The maximum number of rows on which the leave-one-out error is measured.
const ROWS: usize = 8_192;

/// The number of rows tried per landmark.
const CANDIDATES: usize = 48;

/// The number of standard errors by which a gain must exceed zero, since a smaller one may be noise.
const NOISE: f64 = 1.0;

/// The options of the exchange search.
#[derive(Clone, Copy, Debug)]
struct Search<'a> {
    /// The ridges γ, of which the one with the smallest leave-one-out error is chosen before each sweep.
    ridges: &'a [f64],
    /// The maximum number of rows on which the leave-one-out error is measured. With more rows, a sample is drawn once.
    rows: usize,
    /// The maximum number of sweeps over the landmarks.
    sweeps: u64,
    /// Begin no sweep after this instant.
    until: Option<Instant>,
    /// The number of rows tried per landmark.
    candidates: usize,
    /// The number of standard errors that a gain must exceed.
    noise: f64,
}

/// The result of the search.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    landmarks: Vec<usize>,
    /// The errors are mean squared leave-one-out errors, each at its best ridge.
    outcome: RefinementOutcome,
}

/// Exchange landmarks among all rows, or among a sample of them.
fn among(
    gram: &Gram<'_>,
    targets: &[f64],
    landmarks: &[usize],
    search: Search<'_>,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let data = gram.data();
    if data.len() <= search.rows {
        return exchange(gram.ground(), targets, landmarks, search, random, observer);
    }
    let mut rows = index::sample(random, data.len(), search.rows).into_vec();
    rows.extend(landmarks);
    rows.sort_unstable();
    rows.dedup();
    let features: Vec<f64> = data.gather(&rows)?;
    let targets: Vec<f64> = rows.iter().map(|&row| targets[row]).collect();
    let inside: Vec<usize> = landmarks.iter().filter_map(|row| rows.binary_search(row).ok()).collect();
    let mut found = exchange(&gram.points(&features)?, &targets, &inside, search, random, observer)?;
    found.landmarks.iter_mut().for_each(|row| *row = rows[*row]);
    Ok(found)
}

/// Exchange landmarks among the rows of the ground set.
fn exchange(
    ground: &Ground<'_>,
    targets: &[f64],
    landmarks: &[usize],
    search: Search<'_>,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let (n, c) = (ground.len(), landmarks.len());
    let measure = |set: &[usize]| Axes::new(&features_of(ground, set)?)?.best(targets, search.ridges);
    let (mut ridge, before) = measure(landmarks)?;
    let objective = Objective::Ridge;
    let mut outcome =
        RefinementOutcome { objective, sweeps: 0, exchanges: 0, measured: n, before, after: before };
    observer.begin("supervised refinement", search.sweeps.saturating_mul(c as u64));
    let mut best = landmarks.to_vec();
    let mut current = best.clone();
    while outcome.sweeps < search.sweeps && c < n && search.until.is_none_or(|until| Instant::now() < until) {
        let mut moved = 0;
        for _ in 0..c {
            let leaving = current.remove(0);
            let slot = Slot::new(ground, targets, &current, ridge * n as f64)?;
            let entering = slot.best(leaving, search, random)?;
            moved += u64::from(entering != leaving);
            current.push(entering);
            observer.advance(1);
            go_on(observer)?;
        }
        outcome.sweeps += 1;
        if moved == 0 {
            break;
        }
        let (next, error) = measure(&current)?;
        if !(error < outcome.after) {
            break;
        }
        outcome.exchanges += moved;
        outcome.after = error;
        (best, ridge) = (current.clone(), next);
    }
    observer.end();
    best.sort_unstable();
    Ok(Found { landmarks: best, outcome })
}

/// The regression on all landmarks except one.
struct Slot<'a> {
    ground: &'a Ground<'a>,
    targets: &'a [f64],
    others: &'a [usize],
    /// Features of the Nyström approximation, one column per row.
    features: Mat<f64>,
    fitted: Fitted,
}

impl<'a> Slot<'a> {
    fn new(
        ground: &'a Ground<'a>,
        targets: &'a [f64],
        others: &'a [usize],
        load: f64,
    ) -> Result<Self, Error> {
        let features =
            if others.is_empty() { Mat::zeros(0, ground.len()) } else { features_of(ground, others)? };
        let fitted = Axes::new(&features)?.fit(targets, load);
        Ok(Self { ground, targets, others, features, fitted })
    }

    /// Return the residual of the row given the others.
    fn residual(&self, row: usize) -> f64 {
        let diagonal = self.ground.diagonal(row);
        let own = self.features.col(row).squared_norm_l2();
        // A residual at the level of rounding counts as zero.
        let floor = 16.0 * (self.others.len() + 1) as f64 * f64::EPSILON * diagonal;
        if diagonal - own > floor { diagonal - own } else { 0.0 }
    }

    /// Return the rows to try: `present` first, then a third each drawn uniformly, in proportion to the residuals, and
    /// in proportion to the squared leave-one-out residuals.
    fn candidates(&self, present: usize, count: usize, random: &mut Random) -> Result<Vec<usize>, Error> {
        let n = self.ground.len();
        let residuals: Vec<f64> = (0..n).map(|row| self.residual(row)).collect();
        let free = |row: usize, weight: f64| if residuals[row] > 0.0 { weight } else { 0.0 };
        let uniform = (0..n).map(|row| free(row, 1.0)).collect();
        let squares = self.fitted.residuals().map(|residual| residual * residual).enumerate();
        let by_target = squares.map(|(row, square)| if square.is_finite() { free(row, square) } else { 0.0 });
        let mut weights = [uniform, residuals.clone(), by_target.collect::<Vec<f64>>()];
        let mut rows = vec![present];
        for &row in self.others.iter().chain(&rows) {
            weights.iter_mut().for_each(|weights| weights[row] = 0.0);
        }
        for at in 0..count {
            let Some(row) = place(&weights[at % 3], random)? else { continue };
            weights.iter_mut().for_each(|weights| weights[row] = 0.0);
            rows.push(row);
        }
        Ok(rows)
    }

    /// Return the candidate with the smallest leave-one-out error, or `present` if the gain is within the noise.
    fn best(&self, present: usize, search: Search<'_>, random: &mut Random) -> Result<usize, Error> {
        let n = self.ground.len();
        let rows = self.candidates(present, search.candidates, random)?;
        // Residuals of the candidates' kernel columns, divided by the square roots of the candidates' own residuals.
        let mut entering = Mat::<f64>::zeros(n, rows.len());
        entering.par_col_iter_mut().zip(&rows).for_each(|(mut column, &row)| {
            for i in 0..n {
                column[i] = if i == row { self.ground.diagonal(row) } else { self.ground.entry(i, row) };
            }
        });
        if !self.others.is_empty() {
            let own = Mat::from_fn(self.features.nrows(), rows.len(), |k, at| self.features[(k, rows[at])]);
            let features = self.features.transpose();
            matmul(entering.as_mut(), Accum::Add, features, own.as_ref(), -1.0, Par::rayon(PARTS));
        }
        entering.par_col_iter_mut().zip(&rows).for_each(|(column, &row)| {
            let residual = self.residual(row);
            let scale = if residual > 0.0 { 1.0 / residual.sqrt() } else { 0.0 };
            column.iter_mut().for_each(|entry| *entry *= scale);
        });
        let left = self.fitted.left_of(&entering);
        let extended: Vec<_> = (0..rows.len())
            .map(|at| self.fitted.extended(entering.col_as_slice(at), left.col_as_slice(at), self.targets))
            .collect();
        let errors: Vec<f64> = extended.par_iter().map(|extended| extended.error()).collect();
        let at = (1..rows.len()).fold(0, |least, at| if errors[at] < errors[least] { at } else { least });
        if at == 0 {
            return Ok(present);
        }
        let gain = errors[0] - errors[at];
        if !gain.is_finite() {
            return Ok(rows[at]);
        }
        let squares = extended[0].residuals().zip(extended[at].residuals());
        let spread: f64 = squares.map(|(one, other)| (one * one - other * other - gain).powi(2)).sum();
        // The standard error of a mean of n values.
        let noise = search.noise * spread.sqrt() / n as f64;
        Ok(if gain > noise { rows[at] } else { present })
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, RefinementOutcome, Search, Slot, among, exchange};
    use crate::approximation::{Gram, features::features_of};
    use crate::data::{Prepared, table::input::Table};
    use crate::kernel::{KernelKind, KernelSpec};
    use crate::observer::NoObserver;
    use crate::regression::leave_one_out::Axes;
    use crate::rng::{RngStream, stream};
    use rand_core::Rng;

    /// A target with noise and a bump that few rows show.
    fn data(rows: usize) -> Prepared {
        let mut random = stream(rows as u64, RngStream::Rows);
        let mut next = || f64::from(random.next_u32()) / f64::from(u32::MAX) - 0.5;
        let features: Vec<f64> = (0..rows * 2).map(|_| 4.0 * next()).collect();
        let target = features
            .chunks_exact(2)
            .map(|x| (x[0] + x[1]).sin() + 5.0 * (-8.0 * (x[0] - 1.5).powi(2)).exp() + 0.3 * next())
            .collect();
        let table = Table {
            name: String::new(),
            feature_names: vec!["a".to_owned(), "b".to_owned()],
            dim: 2,
            features,
            target: Some(target),
            target_name: Some("y".to_owned()),
        };
        Prepared::new(table, None, 0).unwrap()
    }

    fn gram(data: &Prepared) -> Gram<'_> {
        Gram::new(data, KernelSpec { kind: KernelKind::Gaussian, sigma: 0.8 }).unwrap()
    }

    const SEARCH: Search<'_> = Search {
        ridges: &[1e-6, 1e-4, 1e-2],
        rows: usize::MAX,
        sweeps: 3,
        until: None,
        candidates: 20,
        noise: 1.0,
    };

    /// Compare with a new fit of every set, at a fixed load.
    #[test]
    fn the_row_that_comes_is_the_best_of_all() {
        let data = data(40);
        let (gram, targets) = (gram(&data), &data.target.as_ref().unwrap().values);
        // With a load larger than the features, the result depends on their scale.
        for (load, others) in
            [1e-3, 2.0].into_iter().flat_map(|load| [vec![], vec![7], vec![3, 11, 25, 38]].map(|o| (load, o)))
        {
            let error = |row: usize| {
                let set = [&others[..], &[row]].concat();
                let features = features_of(gram.ground(), &set).unwrap();
                Axes::new(&features).unwrap().fit(targets, load).error()
            };
            let slot = Slot::new(gram.ground(), targets, &others, load).unwrap();
            for present in [0, 19] {
                let search = Search { candidates: 400, noise: 0.0, ..SEARCH };
                let found = slot.best(present, search, &mut stream(5, RngStream::Supervised)).unwrap();
                let free = (0..40).filter(|row| !others.contains(row));
                let least = free.clone().min_by(|&one, &other| error(one).total_cmp(&error(other))).unwrap();
                assert_eq!(found, least, "{others:?}");
                // No gain exceeds this many standard errors.
                let search = Search { noise: 1e9, ..search };
                assert_eq!(
                    slot.best(present, search, &mut stream(5, RngStream::Supervised)).unwrap(),
                    present
                );
            }
        }
    }

    #[test]
    fn never_worse_and_reproducible() {
        let data = data(300);
        let (gram, targets) = (gram(&data), &data.target.as_ref().unwrap().values);
        let mut gains = 0.0;
        for seed in 0..4 {
            let start: Vec<usize> = (0..10).map(|at| at * 29 + seed).collect();
            let run = || {
                let mut random = stream(seed as u64, RngStream::Supervised);
                exchange(gram.ground(), targets, &start, SEARCH, &mut random, &NoObserver).unwrap()
            };
            let found = run();
            assert_eq!(found, run());
            let Found { landmarks, outcome: RefinementOutcome { before, after, exchanges, .. } } = found;
            assert!(after <= before && exchanges > 0, "{before} {after}");
            assert!(landmarks.is_sorted_by(|one, other| one < other) && landmarks.len() == 10);
            for (set, told) in [(&start, before), (&landmarks, after)] {
                let axes = Axes::new(&features_of(gram.ground(), set).unwrap()).unwrap();
                let (_, error) = axes.best(targets, SEARCH.ridges).unwrap();
                assert!((error - told).abs() < 1e-9 * told, "{error} {told}");
            }
            gains += 1.0 - after / before;
        }
        assert!(gains / 4.0 > 0.1, "{gains}");
    }

    #[test]
    fn rows_that_are_drawn_stand_for_all() {
        let data = data(300);
        let (gram, targets) = (gram(&data), &data.target.as_ref().unwrap().values);
        let start: Vec<usize> = (0..10).map(|at| at * 29).collect();
        let mut random = stream(1, RngStream::Supervised);
        let search = Search { rows: 150, ..SEARCH };
        let found = among(&gram, targets, &start, search, &mut random, &NoObserver).unwrap();
        assert!(found.outcome.exchanges > 0 && found.landmarks.is_sorted_by(|one, other| one < other));
        let error = |set: &[usize]| {
            let axes = Axes::new(&features_of(gram.ground(), set).unwrap()).unwrap();
            axes.best(targets, SEARCH.ridges).unwrap().1
        };
        assert!(error(&found.landmarks) < error(&start));
    }

    #[test]
    fn all_rows_are_landmarks() {
        let data = data(12);
        let (gram, targets) = (gram(&data), &data.target.as_ref().unwrap().values);
        let all: Vec<usize> = (0..12).collect();
        let mut random = stream(0, RngStream::Supervised);
        for ridges in [SEARCH.ridges, &[1e-20]] {
            let search = Search { ridges, ..SEARCH };
            let found = exchange(gram.ground(), targets, &all, search, &mut random, &NoObserver).unwrap();
            assert_eq!((&found.landmarks, found.outcome.exchanges), (&all, 0));
            assert_eq!(found.outcome.before.is_finite(), ridges.len() > 1);
        }
    }
}
