//! Scales and maps of the features, learned from the target.

use crate::approximation::{features::features_of_points, gram::Gram};
use crate::data::targets::class_of;
use crate::data::{map::Map, prepared::Prepared, prepared::StandardTarget, weights::Weights};
use crate::error::{Cause, Error};
use crate::kernel::{kind::KernelKind, metric::Metric, spec::KernelSpec};
use crate::landmarks::{Selector, Task, methods::rpcholesky::RpCholesky, run};
use crate::metric::descent::{Measured, Moves, Point, descend};
use crate::metric::{objective::Problem, transform::Transform};
use crate::model::classes::{log_probability, temperature};
use crate::observer::{Observer, Silent, go_on};
use crate::regression::{FOLDS, folds::Deal, leave_one_out::Axes, ridge_grid};
use dpp_nystrom_core::{Error as CoreError, kernel::Argument};
use dpp_nystrom_host::rng::{RngStream, stream};
use faer::{Mat, MatRef};
use rand::seq::index;
use rayon::prelude::*;

/// The maximum number of rows that a metric is learned on.
const LEARNING_ROWS: usize = 4_096;

/// The minimum number of rows: with fewer, those held out do not tell metrics apart. A fit to a hundred rows
/// leaves thirty out.
const FEWEST_ROWS: usize = 70;

/// One in so many of them is held out.
const HELD_OUT: usize = 5;

/// The maximum number of landmarks that a metric is learned with: a step costs their number squared.
pub(crate) const MOST_LANDMARKS: usize = 100;

/// For more landmarks, the metric is multiplied by one of these: their kernel may be narrower.
const MULTIPLES: [f64; 3] = [1.0, std::f64::consts::SQRT_2, 2.0];

/// The kernels that are compared if any may be taken.
const KINDS: [KernelKind; 4] =
    [KernelKind::Gaussian, KernelKind::Matern52, KernelKind::Matern32, KernelKind::Laplace];

/// Steps from the scales of one kernel to those of another.
const STEPS_OF_KIND: u64 = 20;

/// Steps of a descent with the same landmarks.
const STEPS: u64 = 40;

/// Steps on all learning rows, once the metric is chosen: more would fit it to these rows.
const LAST_STEPS: u64 = 15;

/// Steps in which landmarks move as well, on the rows that are not held out: many for few landmarks, whose
/// steps are cheap.
const FREE_STEPS: (u64, u64) = (120, 400);
const FREE_WORK: u64 = 12_000;

/// A scale below this multiple of the largest one is 0.
const NEGLIGIBLE: f64 = 1e-6;

/// The largest rank of a map that is tried, if the number of features is not less; the others are its halves.
const LARGEST_RANK: usize = 8;

/// The number of features up to which maps are tried, if there are not as many learning rows: a map is
/// learned from matrices of the order of the features.
const WIDEST_MAP: usize = 1_024;

/// The standard errors by which the log-loss of classes must be lower.
const CLASS_MARGIN: f64 = 2.0;

/// Rounds of the average gradient outer product.
const ROUNDS: usize = 3;

/// What the bandwidth may be divided by in such a round.
const FACTORS: [f64; 5] = [0.35, 0.5, 0.7, 1.0, 1.4];

/// A learned metric, and the errors by which it was chosen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LearnedMetric {
    /// The metric that a fit uses: one bandwidth, scales, or a map of a rank.
    pub metric: Metric,
    /// The inverse length-scale of each standardised feature, at least 0; of a map, the norm of its column.
    /// All 1 for one bandwidth; 0 for a feature that distances do not depend on. It is no importance: a
    /// feature with a linear effect has a long length-scale.
    pub scales: Vec<f64>,
    /// The map.
    pub map: Option<Map>,
    /// The kernel of a fit in this metric.
    pub kernel: KernelSpec,
    /// The errors of the kernels that were compared, as [`errors`](Self::errors), if
    /// [any](crate::kernel::Kinds::Any) could be taken.
    pub kinds: Vec<(KernelKind, f64)>,
    /// Root mean squared errors of the metrics that were tried, on rows held out, in standard deviations of
    /// the target; of classes, mean log-losses. First of one bandwidth, then in the order of the numbers that
    /// are learned. None if nothing was learned.
    pub errors: Vec<(Metric, f64)>,
    /// The landmarks, in standard deviations and mapped, if they were free to move
    /// ([`Landmarks::Free`](crate::pipeline::Landmarks::Free)).
    pub landmarks: Option<Vec<f64>>,
    /// Why nothing was learned, for [`Metric::Auto`].
    pub reason: Option<&'static str>,
    /// The rows held out, and their outputs in the metric that was chosen, in standard deviations of the
    /// targets, row by row.
    pub(crate) held_out: Option<(Vec<usize>, Vec<f64>)>,
}

impl LearnedMetric {
    /// Return one bandwidth for `dim` features.
    pub(crate) fn one(dim: usize, kernel: KernelSpec, reason: &'static str) -> Self {
        Self {
            metric: Metric::One,
            scales: vec![1.0; dim],
            map: None,
            kernel,
            kinds: Vec::new(),
            errors: Vec::new(),
            landmarks: None,
            reason: Some(reason),
            held_out: None,
        }
    }

    /// Return the inverse length-scales; `None` for one bandwidth.
    pub fn inverse_length_scales(&self) -> Option<&[f64]> {
        (self.metric != Metric::One).then_some(&self.scales)
    }
}

/// Learn a metric for a regression on `landmarks` landmarks.
///
/// Up to [`LEARNING_ROWS`] rows are drawn, and a fifth of them held out. From one bandwidth for all features,
/// 40 steps of L-BFGS lower the leave-one-out error on the others; landmarks are then selected anew in the
/// metric found, by pivoted Cholesky, and 40 more steps follow. So scales are learned. A map of a rank starts
/// from the strongest directions of these scales and of the average gradient outer product, whichever leads
/// further. The error on the rows held out, which no step has seen, stops each descent, and chooses between
/// metrics: a metric with more numbers is taken if its error is lower by more than the standard error of the
/// difference; of classes, if its log-loss is lower by two of them. Last, 15 steps on all learning rows. Rows
/// of a group, or of a time, are held out together.
///
/// If any kernel may be taken, 20 steps lead from the scales of the first to those of each other. The least
/// error on the rows held out decides, since all have as many numbers, and scales are then learned in that
/// kernel as in the first.
///
/// All of this is done with at most [`MOST_LANDMARKS`] landmarks. For more, the metric is multiplied by that
/// of [`MULTIPLES`] with the least leave-one-out error of so many landmarks, up to a quarter of the learning
/// rows. A metric that leaves fewer independent rows than landmarks is chosen only if all do.
///
/// Free landmarks begin as the rows of pivoted Cholesky in the metric that was chosen. They move in 120
/// steps, up to 400 of few landmarks, together with it, and with all learning rows in the last 15; there are
/// at most [`MOST_LANDMARKS`].
///
/// A step costs three to four times a fit to the learning rows. Deterministic in `seed`; maps of different
/// ranks are learned on different threads.
///
/// Where there are more features than rows, and more than [`LEARNING_ROWS`], [`Metric::Auto`] is one
/// bandwidth: a step on 200 rows of 50,000 features takes a second.
///
/// # Errors
/// `ErrorKind::Unsupported` for a kernel without a bandwidth, for a rank above the number of features, for
/// more features than maps are learned of ([`WIDEST_MAP`]) and for fewer than [`FEWEST_ROWS`] rows, where
/// [`Metric::Auto`] is one bandwidth; `ErrorKind::Data` for no target or a constant one,
/// `ErrorKind::Landmarks`, `ErrorKind::Cancelled`.
pub(crate) fn learn_metric(
    data: &Prepared,
    (mut kernel, any_kind): (KernelSpec, bool),
    metric: Metric,
    (landmarks, free): (usize, bool),
    seed: u64,
    observer: &dyn Observer,
) -> Result<LearnedMetric, Error> {
    if metric == Metric::Auto && !free && data.dim > data.len().max(LEARNING_ROWS) {
        return Ok(LearnedMetric::one(data.dim, kernel, "more than 4096 features, and more than rows"));
    }
    let impossible = match () {
        () if !kernel.kind.has_bandwidth() => Some((
            "the kernel has no bandwidth",
            "the kernels linear and polynomial have no bandwidth to scale; take another kernel or the metric one",
        )),
        () if data.len() < FEWEST_ROWS => Some((
            "fewer than 70 rows to learn from",
            "it takes at least 70 rows to learn from, which a fit has of 100; take the metric one",
        )),
        () => None,
    };
    match impossible {
        Some((reason, _)) if metric == Metric::Auto && !free => {
            return Ok(LearnedMetric::one(data.dim, kernel, reason));
        }
        Some((_, problem)) => return Err(Error(Cause::Metric { problem })),
        None => {}
    }
    if free && landmarks > MOST_LANDMARKS {
        return Err(Error(Cause::Metric {
            problem: "at most 100 landmarks are free to move; take fewer, or rows as landmarks",
        }));
    }
    let too_wide = data.dim > data.len().clamp(WIDEST_MAP, LEARNING_ROWS);
    let ranks = match metric {
        Metric::One | Metric::Scales => Vec::new(),
        Metric::Map(_) if too_wide => {
            return Err(Error(Cause::Metric {
                problem: "a map needs matrices of the order of the features: it takes at most 1024 features, or as many as there are \
                          rows up to 4096; take the metric scales",
            }));
        }
        Metric::Auto if too_wide => Vec::new(),
        Metric::Map(Some(rank)) => vec![rank],
        Metric::Map(None) | Metric::Auto => ranks(data.dim),
    };
    if ranks.iter().any(|&rank| rank > data.dim) {
        return Err(Error(Cause::Metric {
            problem: "the rank of the map is larger than the number of features; take a rank up to that number",
        }));
    }
    data.learnable()?;
    let targets = data.target_matrix();
    let drawn = data.len().min(LEARNING_ROWS);
    let mut rows = index::sample(&mut stream(seed, RngStream::Metric), data.len(), drawn).into_vec();
    let (mut last, deal) = (drawn / HELD_OUT, Deal::of(data));
    if deal.keeps_together() {
        // The last folds: a fifth of the rows or so, of other groups, or of a later time.
        let folds: Vec<u8> = deal.folds(data.len(), seed).collect();
        let is_learned = |&row: &usize| usize::from(folds[row]) < FOLDS - FOLDS / HELD_OUT;
        rows.sort_by_key(is_learned);
        last = rows.partition_point(|row| !is_learned(row));
        if (last == 0 || last == drawn) && metric == Metric::Auto && !free {
            return Ok(LearnedMetric::one(data.dim, kernel, "fewer than ten groups"));
        }
        if last == 0 || last == drawn {
            return Err(Error(Cause::Metric {
                problem: "it takes at least ten groups; take the metric one",
            }));
        }
    }
    let few = landmarks.min(MOST_LANDMARKS).min((drawn - last) / 2);
    let (held, learned) = rows.split_at(last);
    let held_rows = held.to_vec();
    let gather = |rows: &[usize]| Rows::of(data, targets.as_ref(), rows, kernel.sigma);
    let split = Split {
        held: gather(held),
        learned: gather(learned),
        all: gather(&rows),
        targets: data.targets().collect(),
        of_held: data
            .classes
            .as_ref()
            .map(|_| held_rows.iter().map(|&row| class_of(&data.further, row)).collect()),
    };

    // One descent after the other, and the starts of maps.
    let descents = if metric == Metric::One { 0 } else { 2 };
    let of_kinds = if any_kind { 1 + descents } else { 0 };
    let of_maps = if ranks.is_empty() { 0 } else { 1 + 3 * ranks.len() as u64 };
    observer.begin("metric", 1 + descents + of_kinds + of_maps + u64::from(free));
    let search = Search { landmarks: few, seed, observer };
    let scales = metric != Metric::One;
    let mut begun = search.begin(&split, kernel.kind, None, scales);
    // A rougher kernel leaves more independent rows.
    let asked_for = kernel.kind;
    for kind in KINDS.into_iter().filter(|&kind| any_kind && kind != asked_for) {
        if !matches!(begun, Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { .. } }))) {
            break;
        }
        kernel.kind = kind;
        begun = search.begin(&split, kind, None, scales);
    }
    let mut found = begun?;
    let mut kinds = Vec::new();
    if let (true, Some((_, from))) = (any_kind, found.last()) {
        let compared = search.compare(&split, (kernel.kind, from), scales)?;
        kinds = compared.errors;
        if let Some((kind, from)) = compared.best.filter(|(kind, _)| *kind != kernel.kind) {
            found = search.begin(&split, kind, Some(from), scales)?;
            kernel.kind = kind;
        }
    }
    let [held, learned, all] = split.problems(kernel.kind);
    let held = Some(&held);
    if !ranks.is_empty() {
        let [(_, one), (_, scales)] = &found[..] else {
            return Err(Error(Cause::Regression { reason: CoreError::Ridge }));
        };
        let gradients = search.of_gradients(&learned, held, one)?;
        search.advance()?;
        let of_rank = |&rank: &usize| -> Result<Option<(Metric, Measured)>, Error> {
            let starts = [&gradients, scales].map(|from| {
                let transform = from.point.transform.of_rank(rank)?;
                search.start(&learned, held, transform)
            });
            // A map of low rank may leave fewer independent rows than landmarks.
            let starts: Vec<Measured> = starts.into_iter().filter_map(Result::ok).collect();
            go_on(observer)?;
            if starts.is_empty() {
                return Ok(None);
            }
            Ok(Some((Metric::Map(Some(rank)), search.twice(&learned, held, &starts)?)))
        };
        let maps = ranks.par_iter().map(of_rank).collect::<Result<Vec<_>, Error>>()?;
        found.extend(maps.into_iter().flatten());
    }
    let judge = split.judge(&learned, held);
    let asked = if free { few } else { landmarks.min(drawn) };
    let leaves_enough =
        |transform: &Transform| search.members(&transformed(&all, transform), kernel.kind, asked).is_ok();
    // The largest multiple leaves the most.
    let widest = if landmarks > MOST_LANDMARKS { MULTIPLES[2] } else { MULTIPLES[0] };
    let (metric, best) = choose(&found, metric, &judge, |of| leaves_enough(&of.times(widest)))?;
    go_on(observer)?;
    let held_out = held.and_then(|held| best.point.predict(&learned, held)).map(|outputs| {
        let by_rows = (0..outputs.nrows()).flat_map(|i| outputs.row(i).iter().copied().collect::<Vec<_>>());
        (held_rows, by_rows.collect())
    });
    let last = if free {
        // One bandwidth stays one.
        let moves = if metric == Metric::One { Moves::Landmarks } else { Moves::Both };
        let steps = (FREE_WORK / few.max(1) as u64).clamp(FREE_STEPS.0, FREE_STEPS.1);
        let moved = descend(&learned, held, &best, (moves, steps), observer)?;
        search.advance()?;
        descend(&all, None, &moved, (moves, LAST_STEPS), observer)?
    } else {
        match search.start(&all, None, best.point.transform.clone()) {
            Ok(from) if metric != Metric::One => {
                let last = descend(&all, None, &from, (Moves::Transform, LAST_STEPS), observer)?;
                if leaves_enough(&last.point.transform.times(widest)) { last } else { best }
            }
            _ => best,
        }
    };
    let mut transform = last.point.transform;
    // Other distances than these change with a rotation of the mapped rows.
    if let (Transform::Map(map), true) = (&transform, kernel.kind.about().argument != Argument::L1Distance) {
        transform = transform.of_rank(map.nrows())?;
    }
    if metric != Metric::One && landmarks > MOST_LANDMARKS {
        transform = search.multiplied(&all, &transform, asked, (drawn / 4).max(few))?;
    }
    search.advance()?;
    observer.end();
    let error = |found: &Measured| judge.errors(&found.point).map_or(f64::NAN, |errors| split.error(&errors));
    let errors = found.iter().map(|(metric, found)| (*metric, error(found))).collect();
    if let Transform::Scales(scales) = &transform {
        transform = Transform::Scales(without_negligible(scales.iter().map(|scale| scale.abs()).collect()));
    }
    let landmarks = free.then(|| {
        let mapped = transform.apply(last.point.landmarks.as_ref());
        (0..mapped.nrows()).flat_map(|a| mapped.row(a).iter().map(|value| kernel.sigma * value)).collect()
    });
    let (map, scales) = match transform {
        Transform::Scales(scales) => (None, scales),
        Transform::Map(map) => {
            let map = map_of(&map);
            let scales = without_negligible(map.scales());
            (Some(map), scales)
        }
    };
    Ok(LearnedMetric { metric, errors, scales, map, kernel, kinds, landmarks, reason: None, held_out })
}

/// The ranks of maps of `dim` features that are tried, ascending.
pub(crate) fn ranks(dim: usize) -> Vec<usize> {
    let halves = std::iter::successors(Some(dim.min(LARGEST_RANK)), |rank| Some(rank / 2));
    let mut ranks: Vec<usize> = halves.take_while(|&rank| rank > 1 || rank == dim).take(3).collect();
    ranks.reverse();
    ranks
}

/// Choose the metric that is wanted, or of several the first whose error no later one lowers by more than the
/// margin of the judge. Of several, one that does not leave enough independent rows for the landmarks is
/// chosen only if none does.
fn choose(
    found: &[(Metric, Measured)],
    wanted: Metric,
    judge: &Judge<'_>,
    leaves_enough: impl Fn(&Transform) -> bool,
) -> Result<(Metric, Measured), Error> {
    let is_wanted = |metric: Metric| match wanted {
        Metric::Auto => true,
        Metric::Map(None) => matches!(metric, Metric::Map(_)),
        wanted => metric == wanted,
    };
    let mut candidates: Vec<&(Metric, Measured)> =
        found.iter().filter(|(metric, _)| is_wanted(*metric)).collect();
    let enough: Vec<_> =
        candidates.iter().copied().filter(|(_, found)| leaves_enough(&found.point.transform)).collect();
    if !enough.is_empty() {
        candidates = enough;
    }
    let mut best: Option<(&(Metric, Measured), Vec<f64>)> = None;
    for candidate in candidates {
        let Some(errors) = judge.errors(&candidate.1.point) else { continue };
        if best.as_ref().is_none_or(|(_, least)| is_lower(&errors, least, judge.margin())) {
            best = Some((candidate, errors));
        }
    }
    best.map(|(candidate, _)| candidate.clone()).ok_or(Error(Cause::Metric {
        problem: "no map of this rank leaves as many independent rows as landmarks; take a larger rank or fewer landmarks",
    }))
}

/// What judges metrics: rows held out.
struct Judge<'a> {
    learned: &'a Problem<'a>,
    held: Option<&'a Problem<'a>>,
    targets: &'a [&'a StandardTarget],
    /// Their classes, if the targets are indicators.
    of_held: Option<&'a [usize]>,
}

impl Judge<'_> {
    /// Return the squared error of each row held out; of classes, its log-loss at the best temperature; times
    /// its weight. The squared error of indicators also falls where no class is told better.
    fn errors(&self, point: &Point) -> Option<Vec<f64>> {
        let held = self.held?;
        let Some(of_held) = self.of_held else { return point.squares(self.learned, held) };
        let outputs = point.predict(self.learned, held)?;
        let scaled = |i: usize| {
            let own = outputs.row(i).iter().zip(self.targets);
            own.map(|(output, target)| target.mean + target.deviation * output).collect::<Vec<f64>>()
        };
        let outputs: Vec<f64> = (0..outputs.nrows()).flat_map(scaled).collect();
        let temperature = temperature(&outputs, self.targets.len(), of_held, held.weights);
        let rows = outputs.chunks_exact(self.targets.len()).zip(of_held).enumerate();
        let loss = |(row, (outputs, &class)): (usize, (&[f64], &usize))| {
            -held.weights.at(row) * log_probability(outputs, class, temperature)
        };
        Some(rows.map(loss).collect())
    }

    /// Return by how many standard errors of the difference an error must be lower. Log-losses of a few rows
    /// decide on classes.
    fn margin(&self) -> f64 {
        if self.of_held.is_some() { CLASS_MARGIN } else { 1.0 }
    }
}

/// Whether the mean of errors is lower than that of others of the same rows, by more than `margin` standard
/// errors of the difference.
fn is_lower(errors: &[f64], others: &[f64], margin: f64) -> bool {
    let count = errors.len() as f64;
    let differences = || others.iter().zip(errors).map(|(other, error)| other - error);
    let mean = differences().sum::<f64>() / count;
    let variance = differences().map(|difference| (difference - mean).powi(2)).sum::<f64>() / count;
    mean > margin * (variance / count).sqrt()
}

/// Return the rows of a problem in the metric of this transform.
fn transformed(problem: &Problem<'_>, transform: &Transform) -> Prepared {
    let rows = transform.apply(problem.rows);
    let row = |i: usize| rows.row(i).iter().copied().collect::<Vec<_>>();
    Prepared::unscaled((0..rows.nrows()).flat_map(row).collect(), rows.ncols())
}

fn map_of(map: &Mat<f64>) -> Map {
    Map { rank: map.nrows(), values: (0..map.nrows()).flat_map(|i| map.row(i).iter().copied()).collect() }
}

/// Replace scales that are [`NEGLIGIBLE`] beside the largest by 0.
fn without_negligible(scales: Vec<f64>) -> Vec<f64> {
    let largest = scales.iter().fold(0.0_f64, |largest, scale| largest.max(*scale));
    scales.into_iter().map(|scale| if scale > NEGLIGIBLE * largest { scale } else { 0.0 }).collect()
}

/// Rows over the bandwidth, and their targets.
struct Rows {
    rows: Mat<f64>,
    targets: Mat<f64>,
    weights: Option<Vec<f64>>,
}

impl Rows {
    fn of(data: &Prepared, targets: MatRef<'_, f64>, rows: &[usize], sigma: f64) -> Self {
        Self {
            rows: Mat::from_fn(rows.len(), data.dim, |i, j| data.rows[rows[i] * data.dim + j] / sigma),
            targets: Mat::from_fn(rows.len(), targets.ncols(), |i, t| targets[(rows[i], t)]),
            weights: data.weights().gather(rows),
        }
    }

    fn problem(&self, kernel: KernelKind) -> Problem<'_> {
        let weights = Weights(self.weights.as_deref());
        Problem { rows: self.rows.as_ref(), targets: self.targets.as_ref(), weights, kernel }
    }
}

/// The rows of a search, and what is known of those held out.
struct Split<'a> {
    held: Rows,
    learned: Rows,
    /// Both.
    all: Rows,
    targets: Vec<&'a StandardTarget>,
    /// The classes of those held out, if the targets are indicators.
    of_held: Option<Vec<usize>>,
}

impl Split<'_> {
    /// Return the rows held out, those to learn from and both, in this kernel.
    fn problems(&self, kind: KernelKind) -> [Problem<'_>; 3] {
        [&self.held, &self.learned, &self.all].map(|rows| rows.problem(kind))
    }

    /// Return the error that these of the rows held out make.
    fn error(&self, errors: &[f64]) -> f64 {
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        if self.of_held.is_some() { mean } else { (mean / self.targets.len() as f64).sqrt() }
    }

    fn judge<'a>(&'a self, learned: &'a Problem<'a>, held: Option<&'a Problem<'a>>) -> Judge<'a> {
        Judge { learned, held, targets: &self.targets, of_held: self.of_held.as_deref() }
    }
}

/// Kernels compared.
struct Compared {
    /// That with the least error on the rows held out, and a place in it.
    best: Option<(KernelKind, Measured)>,
    errors: Vec<(KernelKind, f64)>,
}

struct Search<'a> {
    landmarks: usize,
    seed: u64,
    observer: &'a dyn Observer,
}

impl Search<'_> {
    /// Select landmarks in the metric of this transform, and choose the ridge.
    fn start(
        &self,
        problem: &Problem<'_>,
        held_out: Option<&Problem<'_>>,
        transform: Transform,
    ) -> Result<Measured, Error> {
        let landmarks = self.select(problem, &transform)?;
        let point = Point { transform, ridge: 0.0, landmarks };
        point
            .with_best_ridge(problem, held_out, ridge_grid())
            .ok_or(Error(Cause::Regression { reason: CoreError::Ridge }))
    }

    /// Return one bandwidth in this kernel, and if they are wanted the scales that a descent from it, or from
    /// `from`, leads to.
    fn begin(
        &self,
        split: &Split<'_>,
        kind: KernelKind,
        from: Option<Measured>,
        scales: bool,
    ) -> Result<Vec<(Metric, Measured)>, Error> {
        let [held, learned, _] = split.problems(kind);
        let one = self.start(&learned, Some(&held), Transform::Scales(vec![1.0; learned.rows.ncols()]))?;
        let from = from.unwrap_or_else(|| one.clone());
        let mut begun = vec![(Metric::One, one)];
        if scales {
            begun.push((Metric::Scales, self.twice(&learned, Some(&held), &[from])?));
        }
        Ok(begun)
    }

    /// Compare the kernels. The others begin at the place of the first.
    fn compare(
        &self,
        split: &Split<'_>,
        (own, from): (KernelKind, &Measured),
        scales: bool,
    ) -> Result<Compared, Error> {
        let others = KINDS.into_iter().filter(|&kind| kind != own).collect::<Vec<_>>();
        let others = others.into_par_iter().map(|kind| {
            let [held, learned, _] = split.problems(kind);
            let start = self.start(&learned, Some(&held), from.point.transform.clone())?;
            let moves = (Moves::Transform, STEPS_OF_KIND);
            let found =
                if scales { descend(&learned, Some(&held), &start, moves, self.observer)? } else { start };
            Ok((kind, found))
        });
        // Another kernel may leave fewer independent rows.
        let others: Vec<Result<(KernelKind, Measured), Error>> = others.collect();
        self.advance()?;
        let (mut best, mut of_all) = (None::<((KernelKind, Measured), Vec<f64>)>, Vec::new());
        for (kind, found) in std::iter::once((own, from.clone())).chain(others.into_iter().flatten()) {
            let [held, learned, _] = split.problems(kind);
            let Some(errors) = split.judge(&learned, Some(&held)).errors(&found.point) else { continue };
            of_all.push((kind, split.error(&errors)));
            if best.as_ref().is_none_or(|(_, least)| is_lower(&errors, least, 0.0)) {
                best = Some(((kind, found), errors));
            }
        }
        Ok(Compared { best: best.map(|(best, _)| best), errors: of_all })
    }

    fn select(&self, problem: &Problem<'_>, transform: &Transform) -> Result<Mat<f64>, Error> {
        let members = self.members(&transformed(problem, transform), problem.kernel, self.landmarks)?;
        Ok(Mat::from_fn(members.len(), problem.rows.ncols(), |a, j| problem.rows[(members[a], j)]))
    }

    /// Select so many of these rows.
    fn members(&self, data: &Prepared, kind: KernelKind, count: usize) -> Result<Vec<usize>, Error> {
        let gram = Gram::new(data, KernelSpec { kind, sigma: 1.0 })?;
        let silent = Silent(self.observer);
        let task = Task { seed: self.seed, observer: &silent, ..Task::new(&gram, count) };
        let selector: &dyn Selector = &RpCholesky::default();
        let selection = run(selector, &task)?;
        Ok(selection.landmarks.rows().unwrap_or_default().to_vec())
    }

    /// Return that of [`MULTIPLES`] of a transform with the least leave-one-out error of at most `most`
    /// landmarks, which are selected anew in each. It leaves `asked` independent rows if any of them does.
    fn multiplied(
        &self,
        problem: &Problem<'_>,
        transform: &Transform,
        asked: usize,
        most: usize,
    ) -> Result<Transform, Error> {
        let ridges: Vec<f64> = ridge_grid().collect();
        let mut best = (f64::INFINITY, transform.clone());
        for multiple in MULTIPLES {
            let candidate = transform.times(multiple);
            let data = transformed(problem, &candidate);
            // A map of low rank may leave fewer independent rows.
            let Ok(members) = self.members(&data, problem.kernel, asked) else { continue };
            let rows = members.iter().take(most);
            let landmarks: Vec<f64> =
                rows.flat_map(|&row| data.rows[row * data.dim..][..data.dim].to_vec()).collect();
            let ground = data.ground(KernelSpec { kind: problem.kernel, sigma: 1.0 })?;
            let mut features = features_of_points(&ground, &landmarks)?;
            problem.weights.scale(features.transpose_mut());
            let (_, error) = Axes::new(&features)?.best(problem.weighted_targets().as_ref(), &ridges)?;
            if error < best.0 {
                best = (error, candidate);
            }
            go_on(self.observer)?;
        }
        Ok(best.1)
    }

    /// Descend from each start, and again from the best place found, with landmarks selected anew there.
    fn twice(
        &self,
        problem: &Problem<'_>,
        held_out: Option<&Problem<'_>>,
        starts: &[Measured],
    ) -> Result<Measured, Error> {
        let mut best: Option<Measured> = None;
        let mut keep = |found: Measured| {
            if best.as_ref().is_none_or(|best| found.held_out < best.held_out) {
                best = Some(found);
            }
            best.clone()
        };
        let mut kept = None;
        for start in starts {
            kept = keep(descend(problem, held_out, start, (Moves::Transform, STEPS), self.observer)?);
            self.advance()?;
        }
        // Where the metric leaves fewer independent rows than landmarks, those of the first descent stand.
        if let Some(first) = &kept
            && let Ok(again) = self.start(problem, held_out, first.point.transform.clone())
        {
            kept = keep(descend(problem, held_out, &again, (Moves::Transform, STEPS), self.observer)?);
        }
        self.advance()?;
        kept.ok_or(Error(Cause::Regression { reason: CoreError::Ridge }))
    }

    /// Return the map of full rank with the least leave-one-out error of [`ROUNDS`] rounds of the average
    /// gradient outer product: each takes its map from the gradients of the fit before, at the best multiple
    /// of it. The start itself if no round has a finite error.
    fn of_gradients(
        &self,
        problem: &Problem<'_>,
        held_out: Option<&Problem<'_>>,
        from: &Measured,
    ) -> Result<Measured, Error> {
        let (mut round, mut best) = (from.clone(), None::<Measured>);
        for _ in 0..ROUNDS {
            let Some(outer) = round.point.gradients(problem) else { break };
            let map = round.point.transform.of_gradients(&outer)?;
            let Ok(landmarks) = self.select(problem, &map) else { break };
            let at = |factor: &f64| {
                let point = Point { transform: map.times(*factor), ridge: 0.0, landmarks: landmarks.clone() };
                point.with_best_ridge(problem, held_out, ridge_grid().step_by(2))
            };
            let Some(next) =
                FACTORS.iter().filter_map(at).min_by(|one, other| one.left_out.total_cmp(&other.left_out))
            else {
                break;
            };
            if best.as_ref().is_none_or(|best| next.left_out < best.left_out) {
                best = Some(next.clone());
            }
            round = next;
            go_on(self.observer)?;
        }
        Ok(best.unwrap_or_else(|| from.clone()))
    }

    fn advance(&self) -> Result<(), Error> {
        self.observer.advance(1);
        go_on(self.observer)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Gram, LEARNING_ROWS, MULTIPLES, RpCholesky, Task, WIDEST_MAP, Weights, learn_metric, ranks, run,
    };
    use crate::data::prepared::{Prepared, StandardTarget};
    use crate::error::{Cause, Error};
    use crate::kernel::{kind::KernelKind, metric::Metric, spec::KernelSpec};
    use crate::observer::NoObserver;
    use dpp_nystrom_core::Error as CoreError;

    /// Rows of five features and a target.
    fn rows(count: usize, target: impl Fn(&[f64]) -> f64) -> Prepared {
        let value = |i: usize| ((i as f64 * 0.754_877_666_246_7).fract() - 0.5) * 3.4;
        let mut data = Prepared::unscaled((0..5 * count).map(|i| value(i * i % 7_919)).collect(), 5);
        let targets = data.rows.chunks_exact(5).map(target).collect();
        data.target = Some(StandardTarget::of("y".into(), targets, Weights::default()).unwrap());
        data
    }

    /// The target depends on the first two features.
    fn planted() -> Prepared {
        rows(500, |row| (2.0 * row[0]).sin() + row[1])
    }

    const KERNELS: [KernelKind; 4] =
        [KernelKind::Gaussian, KernelKind::Laplace, KernelKind::Matern32, KernelKind::Matern52];

    #[test]
    fn every_kernel_learns_which_features_matter() {
        let data = planted();
        for kind in KERNELS {
            let spec = KernelSpec { kind, sigma: 3.0 };
            let learn = |seed| {
                learn_metric(&data, (spec, false), Metric::Scales, (20, false), seed, &NoObserver).unwrap()
            };
            let learned = learn(1);
            let least = learned.scales[0].min(learned.scales[1]);
            assert!(learned.scales[2..].iter().all(|&scale| scale < 0.3 * least), "{kind:?} {learned:?}");
            assert!(learned.errors[1].1 < 0.6 * learned.errors[0].1, "{kind:?} {learned:?}");
            assert_eq!(learn(1), learned);
        }
    }

    /// A target with kinks takes a kernel with one; a smooth target does not.
    #[test]
    fn the_kernel_follows_the_target() {
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 3.0 };
        let learn = |data: &Prepared| {
            learn_metric(data, (spec, true), Metric::Scales, (60, false), 1, &NoObserver).unwrap()
        };
        let smooth = learn(&planted());
        assert_eq!((smooth.kernel, smooth.kinds.len()), (spec, KERNELS.len()));
        let rough = learn(&rows(500, |row| (3.0 * row[0]).sin().abs() + (2.0 * row[1]).sin().abs()));
        let least = rough.kinds.iter().find(|(kind, _)| *kind == rough.kernel.kind).unwrap().1;
        assert_ne!(rough.kernel.kind, KernelKind::Gaussian);
        assert!(least < 0.9 * rough.kinds[0].1, "{rough:?}");
        let rounded = |error: f64| (1e9 * error).round();
        assert!(
            rounded(rough.errors[1].1) <= rounded(least),
            "the scales go on from those compared: {rough:?}"
        );
    }

    /// Where the kernel asked for leaves too few independent rows, another is compared in its place.
    #[test]
    fn a_kernel_that_leaves_enough_rows_is_found() {
        let data = planted();
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 300.0 };
        let learn = |any| learn_metric(&data, (spec, any), Metric::Auto, (100, false), 1, &NoObserver);
        let refused = learn(false);
        assert!(
            matches!(
                refused,
                Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { rank: 1..100, .. } }))
            ),
            "{refused:?}"
        );
        let learned = learn(true).unwrap();
        assert_ne!(learned.kernel.kind, KernelKind::Gaussian);
        assert!(learned.kinds.iter().all(|(kind, _)| *kind != KernelKind::Gaussian), "{learned:?}");
    }

    #[test]
    fn maps_and_scales_of_very_wide_rows_are_not_tried() {
        let count = 120;
        let value = |i: usize| ((i as f64 * 0.754_877_666_246_7).fract() - 0.5) * 3.4;
        let wide = |dim: usize| {
            let rows = Prepared::unscaled((0..count * dim).map(|i| value(i * i % 7_919)).collect(), dim);
            let values = rows.rows.iter().step_by(dim).copied().collect();
            let target = StandardTarget { name: "y".into(), values, mean: 0.0, deviation: 1.0 };
            Prepared { target: Some(target), ..rows }
        };
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 30.0 };
        let learn =
            |data: &Prepared, metric| learn_metric(data, (spec, false), metric, (5, false), 1, &NoObserver);
        let data = wide(WIDEST_MAP + 1);
        let refused = learn(&data, Metric::Map(None));
        assert!(
            matches!(refused, Err(Error(Cause::Metric { problem })) if problem.contains("at most 1024 features"))
        );
        let learned = learn(&data, Metric::Auto).unwrap();
        assert!(learned.map.is_none() && learned.reason.is_none());
        assert!(learned.errors.iter().all(|(metric, _)| !matches!(metric, Metric::Map(_))), "{learned:?}");
        let learned = learn(&wide(LEARNING_ROWS + 1), Metric::Auto).unwrap();
        assert_eq!((learned.metric, learned.errors.len()), (Metric::One, 0));
        assert!(learned.reason.unwrap().contains("more than 4096 features"));
    }

    /// The target depends on one direction that no axis is near: scales cannot follow it.
    #[test]
    fn a_map_finds_a_direction() {
        let direction = [0.5, -0.5, 0.5, 0.0, 0.5];
        let along =
            |row: &[f64]| row.iter().zip(direction).map(|(value, weight)| value * weight).sum::<f64>();
        let data = rows(500, |row| (2.5 * along(row)).sin());
        for kind in KERNELS {
            let spec = KernelSpec { kind, sigma: 3.0 };
            let learned =
                learn_metric(&data, (spec, false), Metric::Auto, (10, false), 1, &NoObserver).unwrap();
            let map = learned.map.as_ref().unwrap();
            let error = learned.errors.iter().find(|(metric, _)| *metric == learned.metric).unwrap().1;
            assert!(error < 0.5 * learned.errors[1].1, "{kind:?} {learned:?}");
            // The rows that it maps to nearly nothing are those across the direction.
            let norm = |row: [f64; 5]| {
                let mut mapped = vec![0.0; map.rank];
                map.apply(row.into_iter(), &mut mapped);
                mapped.iter().map(|value| value * value).sum::<f64>().sqrt()
            };
            let across = norm([0.5, 0.5, 0.5, 0.5, -0.5]);
            assert!(across < 0.2 * norm(direction), "{kind:?} {across} {learned:?}");
        }
    }

    /// A target of one direction, which a map of low rank follows with few landmarks: its rows are nearly on
    /// a line.
    #[test]
    fn a_metric_leaves_as_many_independent_rows_as_landmarks() {
        let data = rows(1_000, |row| (row[0] - row[1]).sin());
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 3.0 };
        let independent = |metric, landmarks| {
            let learned =
                learn_metric(&data, (spec, false), metric, (landmarks, false), 1, &NoObserver).unwrap();
            let data = data.clone();
            let data = match learned.map {
                Some(map) => data.mapped(map),
                None => data.rescaled(&learned.scales),
            };
            let gram = Gram::new(&data, spec).unwrap();
            run(&RpCholesky::default(), &Task { seed: 1, ..Task::new(&gram, landmarks) }).is_ok()
        };
        assert!(!independent(Metric::Map(Some(2)), 500));
        assert!(independent(Metric::Auto, 500));
    }

    /// A target with more waves than a hundred landmarks can follow: with more of them the kernel is
    /// narrower.
    #[test]
    fn more_landmarks_multiply_the_metric() {
        let data = rows(1_500, |row| (5.0 * row[0]).sin() * (5.0 * row[1]).cos());
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
        let learn = |landmarks| {
            learn_metric(&data, (spec, false), Metric::Scales, (landmarks, false), 1, &NoObserver)
                .unwrap()
                .scales
        };
        let (few, many) = (learn(100), learn(350));
        let multiple = many[0] / few[0];
        assert!(MULTIPLES[1..].iter().any(|other| (multiple - other).abs() < 1e-9), "{multiple}");
        few.iter().zip(&many).for_each(|(few, many)| assert!((many - multiple * few).abs() < 1e-9));
    }

    #[test]
    fn ranks_end_at_the_number_of_features() {
        assert_eq!(
            [1, 2, 3, 5, 8, 40].map(ranks),
            [vec![1], vec![2], vec![3], vec![2, 5], vec![2, 4, 8], vec![2, 4, 8]]
        );
        let too_large = Metric::Map(Some(6));
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 3.0 };
        let refused = learn_metric(&planted(), (spec, false), too_large, (20, false), 1, &NoObserver);
        assert!(matches!(refused, Err(crate::error::Error(Cause::Metric { .. }))));
    }
}
