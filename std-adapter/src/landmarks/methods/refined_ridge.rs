//! The landmarks of `refined`, exchanged while the prediction error of ridge regression decreases.
//!
//! The prediction error is the leave-one-out error on the given rows and targets
//! ([`crate::regression::choose::leave_one_out`]), over at most 8,192 of them, drawn once. A sixteenth of the
//! landmarks is taken at a time, at least one. For each such block at least 48 candidates are drawn, and as
//! many as it has landmarks: a third uniformly, a third in proportion to their residuals given the other
//! landmarks, and a third in proportion to their squared leave-one-out residuals. Each landmark of the block
//! in turn is compared with the candidates in its place. The row with the smallest error replaces the
//! landmark if its error is lower by more than one standard error of the difference: the minimum of many
//! noisy estimates is biased downwards. A landmark that was replaced is a candidate for the rest of its
//! block. The ridge is the one given, or of the usual ones up to 0.1 that with the smallest leave-one-out
//! error, chosen before each sweep. A sweep is kept if it reduces the error, each set at its best ridge, so
//! the result is never worse than the start.
//!
//! For n rows, b landmarks of a block and q candidates, a block costs `n c` kernel entries and
//! `n c (3c/2 + 3(b + q))` multiply-adds, and each of its landmarks `n b (b/2 + q)`: some `35 n c²` for a
//! sweep. Above 256 landmarks, where that is many times a fit, 4,096 rows are used (but four for each
//! landmark), blocks are an eighth of the landmarks, and a sweep exchanges the next fifth of them, for
//! `6 n c²`. The search stores `n (3 c + 4 q)` numbers.
//!
//! Forward selection of kernel columns by the leave-one-out error is known from orthogonal least squares
//! (Chen, Hong, Harris and Sharkey 2004). Here columns are exchanged instead of added.

use crate::approximation::{AnyGround, Gram, features::independent};
use crate::data::weights::Weights;
use crate::error::Error;
use crate::landmarks::{
    Needs, Objective, Refinement, RefinementOutcome, Selection, Selector, Task, methods::draw::draw_row,
    methods::exchanged::exchanged, methods::rpcholesky::RpCholesky, selection::log_det,
};
use crate::linalg::{eigen::PARTS, triangle::factor};
use crate::observer::{Observer, go_on};
use crate::regression::{
    choose::leave_one_out::Axes, choose::leave_one_out::Fitted, choose::leave_one_out::Pool,
    ridge::first_ridges,
};
use dpp_nystrom_core::{GroundSet, Random};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_host::rng::{RngStream, stream};
use dpp_nystrom_host::simd::{InLanes, Lanes};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place as solve_lower;
use faer::{Accum, Mat, MatRef, Par, linalg::matmul::matmul};
use rand::seq::index;
use rayon::prelude::*;
use std::time::Instant;

/// Select as [`Refined`](crate::selectors::Refined), then exchange rows while the leave-one-out error of
/// ridge regression decreases. Requires a target. `N c` kernel evaluations per landmark, `N c` numbers.
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
        let target = task.gram.target()?;
        let from = exchanged(&RpCholesky::start_of(task, self.pivot_rows), task, self.refinement)?;
        let Some(landmarks) = from.landmarks.rows() else { return Ok(from) };
        let ridges = task.ridge.map_or_else(|| first_ridges().collect(), |ridge| vec![ridge]);
        let Refinement { sweeps, budget, .. } = self.refinement;
        let search = Search {
            weights: task.gram.weights(),
            ridges: &ridges,
            rows: if task.c > MANY { ROWS / 2 } else { ROWS }.max(4 * task.c),
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

/// With more landmarks than this, half of the [`ROWS`] are used, and a sweep exchanges a fifth of the
/// landmarks: the time grows with `n c²`.
const MANY: usize = 256;

/// The minimum number of rows tried per landmark.
const CANDIDATES: usize = 48;

/// The number of blocks into which the landmarks are divided.
const BLOCKS: usize = 16;

/// The number of standard errors by which a gain must exceed zero, since a smaller one may be noise.
const NOISE: f64 = 1.0;

/// The options of the exchange search.
#[derive(Clone, Copy, Debug)]
struct Search<'a> {
    /// The weights of the rows, of mean 1.
    weights: Weights<'a>,
    /// The ridges γ, of which the one with the smallest leave-one-out error is chosen before each sweep.
    ridges: &'a [f64],
    /// The maximum number of rows on which the leave-one-out error is measured. With more rows, a sample is
    /// drawn once.
    rows: usize,
    /// The maximum number of sweeps over the landmarks.
    sweeps: u64,
    /// Begin no sweep after this instant.
    until: Option<Instant>,
    /// The minimum number of rows tried per landmark.
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
    if gram.len() <= search.rows {
        return exchange(gram.ground(), targets, landmarks, search, random, observer);
    }
    let mut rows = index::sample(random, gram.len(), search.rows).into_vec();
    rows.extend(landmarks);
    rows.sort_unstable();
    rows.dedup();
    let targets: Vec<f64> = rows.iter().map(|&row| targets[row]).collect();
    let weights = search.weights.gather(&rows);
    let search = Search { weights: Weights(weights.as_deref()), ..search };
    let inside: Vec<usize> = landmarks.iter().filter_map(|row| rows.binary_search(row).ok()).collect();
    let mut found = gram
        .ground()
        .on_rows(&rows, |ground| exchange(ground, &targets, &inside, search, random, observer))?;
    found.landmarks.iter_mut().for_each(|row| *row = rows[*row]);
    Ok(found)
}

/// Exchange landmarks among the rows of the ground set.
fn exchange(
    ground: &AnyGround<'_>,
    targets: &[f64],
    landmarks: &[usize],
    search: Search<'_>,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let (n, c) = (ground.len(), landmarks.len());
    let lanes = Lanes::new(c, ground.width())?;
    let weights = search.weights;
    let targets: Vec<f64> = targets.iter().enumerate().map(|(row, y)| weights.root(row) * y).collect();
    let targets = &targets[..];
    let column = MatRef::from_column_major_slice(targets, n, 1);
    let measure = |set: &[usize]| {
        let mut features = features(&lanes, ground, set)?;
        weights.scale(features.transpose_mut());
        Axes::new(&features)?.best(column, search.ridges)
    };
    // Above `MANY` landmarks, three sweeps reach three fifths of them, in wider blocks.
    let (blocks, reached) = if c > MANY { (BLOCKS / 2, c / 5) } else { (BLOCKS, c) };
    let block = (c / blocks).max(1);
    let (mut ridge, before) = measure(landmarks)?;
    let objective = Objective::Ridge;
    let mut outcome =
        RefinementOutcome { objective, sweeps: 0, exchanges: 0, measured: n, before, after: before };
    observer.begin("supervised refinement", search.sweeps.saturating_mul(reached as u64));
    let mut best = landmarks.to_vec();
    let mut current = best.clone();
    while outcome.sweeps < search.sweeps && c < n && search.until.is_none_or(|until| Instant::now() < until) {
        let mut moved = 0;
        for first in (0..reached).step_by(block) {
            let leaving: Vec<usize> = current.drain(..block.min(reached - first)).collect();
            let open = Block::new(&lanes, ground, (targets, weights), &current, ridge * n as f64)?;
            let entering = open.improve(&leaving, search, random)?;
            moved += entering.iter().zip(&leaving).filter(|(entering, leaving)| entering != leaving).count()
                as u64;
            observer.advance(leaving.len() as u64);
            current.extend(entering);
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

/// Return the features of all rows, one column per row, from the independent ones of these landmarks.
fn features(lanes: &Lanes<f64>, ground: &AnyGround<'_>, landmarks: &[usize]) -> Result<Mat<f64>, Error> {
    if landmarks.is_empty() {
        return Ok(Mat::zeros(0, ground.len()));
    }
    let mut memory = Heap::new(landmarks.len())?;
    Ok(lanes.features(&independent(ground, landmarks, &mut memory)?)?)
}

/// The regression on all landmarks except those of a block.
struct Block<'a> {
    lanes: &'a Lanes<f64>,
    ground: &'a AnyGround<'a>,
    /// Times the square roots of the weights.
    targets: &'a [f64],
    weights: Weights<'a>,
    others: &'a [usize],
    /// Features of the Nyström approximation, one column per row.
    features: Mat<f64>,
    /// The residual of each row given the others; zero at the level of rounding.
    residuals: Vec<f64>,
    fitted: Fitted,
}

impl<'a> Block<'a> {
    fn new(
        lanes: &'a Lanes<f64>,
        ground: &'a AnyGround<'a>,
        (targets, weights): (&'a [f64], Weights<'a>),
        others: &'a [usize],
        load: f64,
    ) -> Result<Self, Error> {
        let features = features(lanes, ground, others)?;
        let mut weighted = features.clone();
        weights.scale(weighted.transpose_mut());
        let fitted = Fitted::new(&weighted, targets, load)?;
        let residual = |row: usize| {
            let diagonal = ground.diagonal(row);
            let residual = diagonal - features.col(row).squared_norm_l2();
            if residual > floor(others.len(), diagonal) { residual } else { 0.0 }
        };
        let residuals = (0..ground.len()).map(residual).collect();
        Ok(Self { lanes, ground, targets, weights, others, features, residuals, fitted })
    }

    /// Return the rows to try: `present` first, then a third each drawn uniformly, in proportion to the
    /// residuals, and in proportion to the squared leave-one-out residuals.
    fn candidates(&self, present: &[usize], count: usize, random: &mut Random) -> Result<Vec<usize>, Error> {
        let free = |row: usize, weight: f64| if self.residuals[row] > 0.0 { weight } else { 0.0 };
        let uniform = (0..self.ground.len()).map(|row| free(row, 1.0)).collect();
        let squares = self.fitted.residuals.left_out().map(|residual| residual * residual).enumerate();
        let by_target = squares.map(|(row, square)| if square.is_finite() { free(row, square) } else { 0.0 });
        let mut weights = [uniform, self.residuals.clone(), by_target.collect::<Vec<f64>>()];
        let mut rows = present.to_vec();
        for &row in self.others.iter().chain(present) {
            weights.iter_mut().for_each(|weights| weights[row] = 0.0);
        }
        for at in 0..count {
            let Some(row) = draw_row(&weights[at % 3], random)? else { continue };
            weights.iter_mut().for_each(|weights| weights[row] = 0.0);
            rows.push(row);
        }
        Ok(rows)
    }

    /// Return the rows that take the places of `present`: for each in turn, the candidate with the smallest
    /// leave-one-out error, or itself if the gain is within the noise.
    fn improve(
        &self,
        present: &[usize],
        search: Search<'_>,
        random: &mut Random,
    ) -> Result<Vec<usize>, Error> {
        let count = search.candidates.max(present.len());
        let rows = self.candidates(present, count, random)?;
        // Residuals of the candidates' kernel columns, divided by the square roots of the candidates' own
        // residuals.
        let mut entering = self.lanes.columns(self.ground, &rows)?;
        let own = Mat::from_fn(self.features.nrows(), rows.len(), |k, at| self.features[(k, rows[at])]);
        let features = self.features.transpose();
        matmul(entering.as_mut(), Accum::Add, features, own.as_ref(), -1.0, Par::rayon(PARTS));
        let scale = |row: usize| match self.residuals[row] {
            residual if residual > 0.0 => 1.0 / residual.sqrt(),
            _ => 0.0,
        };
        entering.par_col_iter_mut().zip(&rows).for_each(|(column, &row)| {
            column.iter_mut().for_each(|entry| *entry *= scale(row));
        });
        let inner = Mat::from_fn(rows.len(), rows.len(), |i, k| match i == k {
            true => 1.0,
            false => entering[(rows[i], k)] * scale(rows[i]),
        });
        self.weights.scale(entering.as_mut());
        let pool = self.fitted.candidates(&entering, &inner, self.targets);
        let mut chosen: Vec<usize> = (0..present.len()).collect();
        for slot in 0..chosen.len() {
            let mut others = chosen.clone();
            let leaving = others.remove(slot);
            let kept = self.independent(&rows, &inner, leaving, &others);
            if let Some(open) = pool.with(&others, &kept) {
                chosen[slot] = kept[best(&open, kept.len(), search.noise)];
            }
        }
        Ok(chosen.into_iter().map(|at| rows[at]).collect())
    }

    /// Return `leaving`, and the candidates that are independent of it all: of the other landmarks and of
    /// those of the block.
    fn independent(&self, rows: &[usize], inner: &Mat<f64>, leaving: usize, others: &[usize]) -> Vec<usize> {
        let mut triangle = Mat::from_fn(others.len(), others.len(), |i, k| inner[(others[i], others[k])]);
        let free = (0..rows.len()).filter(|at| *at != leaving && !others.contains(at));
        if factor(&mut triangle).is_none() {
            return vec![leaving];
        }
        let mut between = Mat::from_fn(others.len(), rows.len(), |i, k| inner[(others[i], k)]);
        solve_lower(triangle.as_ref(), between.as_mut(), Par::Seq);
        let is_independent = |&at: &usize| {
            let residual = self.residuals[rows[at]] * (1.0 - between.col(at).squared_norm_l2());
            residual > floor(self.others.len() + others.len(), self.ground.diagonal(rows[at]))
        };
        [leaving].into_iter().chain(free.filter(is_independent)).collect()
    }
}

/// Return the residual that counts as zero, given this many landmarks.
fn floor(landmarks: usize, diagonal: f64) -> f64 {
    16.0 * (landmarks + 1) as f64 * f64::EPSILON * diagonal
}

/// Return the candidate with the smallest leave-one-out error, or the first if the gain is within the noise.
fn best(open: &Pool, count: usize, noise: f64) -> usize {
    let errors: Vec<f64> = (0..count).into_par_iter().map(|at| open.error(at)).collect();
    let at = (1..count).fold(0, |least, at| if errors[at] < errors[least] { at } else { least });
    let gain = errors[0] - errors[at];
    if at == 0 || !gain.is_finite() {
        return at;
    }
    let squares = open.left_out(0).zip(open.left_out(at));
    let spread: f64 = squares.map(|(one, other)| (one * one - other * other - gain).powi(2)).sum();
    // The standard error of a mean of as many values as there are residuals.
    let standard = spread.sqrt() / open.left_out(0).count() as f64;
    if gain > noise * standard { at } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{Block, Found, RefinementOutcome, Search, Weights, among, exchange};
    use crate::approximation::{Gram, features::features_of};
    use crate::data::{Prepared, table::input::Table, weights::normalised};
    use crate::kernel::{KernelKind, KernelSpec};
    use crate::observer::NoObserver;
    use crate::regression::choose::leave_one_out::{Axes, Fitted};
    use dpp_nystrom_host::rng::{RngStream, stream};
    use dpp_nystrom_host::simd::{InLanes, Lanes};
    use faer::MatRef;
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
            weights: None,
        };
        Prepared::new(table, None, 0).unwrap()
    }

    fn gram(data: &Prepared) -> Gram<'_> {
        Gram::new(data, KernelSpec { kind: KernelKind::Gaussian, sigma: 0.8 }).unwrap()
    }

    const SEARCH: Search<'_> = Search {
        weights: Weights(None),
        ridges: &[1e-6, 1e-4, 1e-2],
        rows: usize::MAX,
        sweeps: 3,
        until: None,
        candidates: 20,
        noise: 1.0,
    };

    /// Compare with a new fit of every set, at a fixed load: blocks of one landmark and of several, each
    /// exchanged given what took the place of those before it.
    #[test]
    fn the_row_that_comes_is_the_best_of_all() {
        let data = data(40);
        let (gram, targets) = (gram(&data), &data.target.as_ref().unwrap().values);
        let lanes = Lanes::new(8, gram.ground().width()).unwrap();
        // With a load larger than the features, the result depends on their scale.
        for (load, others) in
            [1e-3, 2.0].into_iter().flat_map(|load| [vec![], vec![7], vec![3, 11, 25, 38]].map(|o| (load, o)))
        {
            let error = |set: &[usize]| {
                let features = features_of(gram.ground(), &[&others[..], set].concat()).unwrap();
                Fitted::new(&features, targets, load).unwrap().error()
            };
            let block =
                Block::new(&lanes, gram.ground(), (targets, Weights::default()), &others, load).unwrap();
            for present in [&[0][..], &[19], &[0, 19, 30], &[5, 20, 1, 33]] {
                let search = Search { candidates: 400, noise: 0.0, ..SEARCH };
                let found = block.improve(present, search, &mut stream(5, RngStream::Supervised)).unwrap();
                let mut expected = present.to_vec();
                for slot in 0..present.len() {
                    let with = |row: usize| {
                        let mut set = expected.clone();
                        set[slot] = row;
                        error(&set)
                    };
                    let taken = |row: &usize| {
                        !others.contains(row) && (*row == expected[slot] || !expected.contains(row))
                    };
                    let rows = (0..40).filter(taken);
                    expected[slot] = rows.min_by(|&one, &other| with(one).total_cmp(&with(other))).unwrap();
                }
                assert_eq!(found, expected, "{load} {others:?} {present:?}");
                // No gain exceeds this many standard errors.
                let search = Search { noise: 1e9, ..search };
                let kept = block.improve(present, search, &mut stream(5, RngStream::Supervised)).unwrap();
                assert_eq!(kept, present);
            }
        }
    }

    #[test]
    fn never_worse_and_reproducible() {
        let data = data(300);
        let (gram, targets) = (gram(&data), &data.target.as_ref().unwrap().values);
        let mut gains = 0.0;
        let weights = normalised((0..300).map(|row| 1.0 + f64::from(row * row % 5)).collect());
        for seed in 0..4 {
            let weights = Weights(Some(&weights[..]).filter(|_| seed % 2 == 1));
            let search = Search { weights, ..SEARCH };
            let start: Vec<usize> = (0..10).map(|at| at * 29 + seed).collect();
            let run = || {
                let mut random = stream(seed as u64, RngStream::Supervised);
                exchange(gram.ground(), targets, &start, search, &mut random, &NoObserver).unwrap()
            };
            let found = run();
            assert_eq!(found, run());
            let Found { landmarks, outcome: RefinementOutcome { before, after, exchanges, .. } } = found;
            assert!(after <= before && exchanges > 0, "{before} {after}");
            assert!(landmarks.is_sorted_by(|one, other| one < other) && landmarks.len() == 10);
            for (set, told) in [(&start, before), (&landmarks, after)] {
                let mut phi = features_of(gram.ground(), set).unwrap();
                let mut targets = targets.clone();
                for (row, target) in targets.iter_mut().enumerate() {
                    let root = weights.at(row).sqrt();
                    *target *= root;
                    phi.col_mut(row).iter_mut().for_each(|value| *value *= root);
                }
                let column = MatRef::from_column_major_slice(&targets, targets.len(), 1);
                let (_, error) = Axes::new(&phi).unwrap().best(column, SEARCH.ridges).unwrap();
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
            let column = MatRef::from_column_major_slice(targets, targets.len(), 1);
            axes.best(column, SEARCH.ridges).unwrap().1
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
