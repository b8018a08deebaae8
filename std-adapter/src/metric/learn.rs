//! Scales and maps of the features, learned from the target.

use crate::data::{map::Map, prepared::Prepared};
use crate::error::{Cause, Error};
use crate::kernel::{kind::KernelKind, metric::Metric, spec::KernelSpec};
use crate::metric::descent::{Effort, Measured, Moves, descend};
use crate::metric::rows::{Problems, Sample};
use crate::metric::search::{Found, MULTIPLES, ROUGHEST, Search, transformed};
use crate::metric::transform::Transform;
use crate::observer::{Observer, go_on};
use crate::regression::{choose::held_out::is_lower, rows::split::Split};
use dpp_nystrom_core::kernel::Argument;
use dpp_nystrom_host::rng::{RngStream, stream};
use faer::Mat;
use rand::seq::index;

/// The maximum number of rows that a metric is learned on.
const LEARNING_ROWS: usize = 4_096;

/// The minimum number of rows: with fewer, those held out do not tell metrics apart. A fit to a hundred rows
/// leaves thirty out.
const FEWEST_ROWS: usize = 70;

/// Fifths are held out, one after another, until so many rows are: a few rows do not tell metrics apart.
const WANTED: usize = 400;

/// No more are held out once a metric has an error lower than one bandwidth by so many standard errors.
const CLEAR: f64 = 4.0;

/// The maximum number of landmarks that a metric is learned with: a step costs their number squared.
pub(crate) const MOST_LANDMARKS: usize = 100;

/// Rows that a metric is learned on, for each landmark at least, if landmarks are rows: with more landmarks
/// it is fitted to these rows. Up to so many landmarks, half as many rows do.
const ROWS_PER_LANDMARK: usize = 8;
const FEW_LANDMARKS: usize = 32;

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

/// A learned metric, and the errors by which it was chosen.
///
/// ```
/// use dpp_nystrom::kernel::{KernelParams, Metric};
/// use dpp_nystrom::pipeline::{Landmarks, Params, select};
/// use dpp_nystrom::{Dataset, Scale, observer::NoObserver};
///
/// let x: Vec<f64> = (0..200).flat_map(|row| [f64::from(row % 20) / 2.0, f64::from(row / 20)]).collect();
/// let y: Vec<f64> = x.chunks(2).map(|row| row[0].sin()).collect(); // of the first feature alone
/// let data = Dataset::from_rows(&x, 2)?.with_target(&y)?;
/// let kernel = KernelParams::default().with_metric(Metric::Scales);
/// let params = Params { landmarks: Landmarks::Count(12), kernel, ..Params::default() };
/// let source = data.source(Scale::Standard)?;
/// let learned = select(source.as_rows(), &params, &NoObserver)?.metric.expect("a learned metric");
/// assert!(learned.scales[0] > learned.scales[1]); // shorter length-scale where it matters
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
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
    /// [any](crate::kernel::Kinds::Any) could be taken: where more landmarks paid, with these.
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
    /// Why the metric was preferred to the one of least error, if it was.
    pub preferred: Option<&'static str>,
    /// The rows held out.
    pub(crate) held_out: Option<Vec<usize>>,
    /// What may be better with more landmarks: the scales that a map was preferred to, and those of the
    /// roughest kernel.
    pub(crate) others: Vec<OtherScales>,
}

/// Scales of the features that were not taken, and their kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OtherScales {
    pub(crate) kind: KernelKind,
    pub(crate) scales: Vec<f64>,
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
            preferred: None,
            held_out: None,
            others: Vec::new(),
        }
    }

    /// Take these scales in place of the metric.
    pub(crate) fn with_scales(self, scales: Vec<f64>) -> Self {
        let own = self.errors.iter().find(|(metric, _)| *metric == Metric::Scales).map(|(_, error)| *error);
        let is_least = own.is_none_or(|own| self.errors.iter().all(|(_, error)| *error >= own));
        let preferred = (!is_least).then_some("others are lower with fewer landmarks");
        Self { metric: Metric::Scales, scales, map: None, preferred, others: Vec::new(), ..self }
    }

    /// Return the inverse length-scales; `None` for one bandwidth.
    pub fn inverse_length_scales(&self) -> Option<&[f64]> {
        (self.metric != Metric::One).then_some(&self.scales)
    }
}

/// Learn a metric for a regression on `landmarks` landmarks.
///
/// Up to [`LEARNING_ROWS`] rows are drawn, and a fifth of them held out. From one bandwidth for all features,
/// at most 40 steps of L-BFGS lower the leave-one-out error on the others; landmarks are then selected anew
/// in the metric found, by pivoted Cholesky, and as many steps follow. So scales are learned. A map of a rank
/// starts from the strongest directions of these scales or of the average gradient outer product, whichever
/// has the lower leave-one-out error; it makes the second steps only if its error is then not clearly higher
/// than that of another map, or of the scales where these may be taken. The error on the rows held out, which
/// no step has seen, stops each descent, and chooses between metrics: each half of these rows judges where
/// the other half would have stopped. A metric with more numbers is taken if its error is lower by more than
/// the standard error of the difference; of classes, if its log-loss is lower by two of them. Where it is
/// lower than that of one bandwidth, but by less than [`CLEAR`] of them, further fifths are held out in turn,
/// until [`WANTED`] rows have been. Last, 15 steps on all learning rows. Rows of a group, or of a time, are
/// held out together.
///
/// If any kernel may be taken, at most 20 steps lead from the scales of the first 40 steps to those of each
/// other kernel, and 40 from one bandwidth to those of the [roughest](ROUGHEST). The least error on the rows
/// held out decides, since all have as many numbers; the second 40 steps are made in that kernel alone.
///
/// All of this is done with at most [`MOST_LANDMARKS`] landmarks, and one for [`ROWS_PER_LANDMARK`] rows, or
/// for half as many up to [`FEW_LANDMARKS`]. For more, the metric is multiplied by that of [`MULTIPLES`] with
/// the least leave-one-out error of so many landmarks, up to a quarter of the learning rows. A metric that
/// leaves fewer independent rows than landmarks is chosen only if all do.
///
/// Free landmarks begin as the rows of pivoted Cholesky in the metric that was chosen. They move in 120
/// steps, up to 400 of few landmarks, together with it, and with all learning rows in the last 15; there are
/// at most [`MOST_LANDMARKS`].
///
/// A metric that is asked for by name takes more steps than one of several that are compared. A step costs
/// some two and a half fits to the learning rows. Deterministic in `seed`; maps of different
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
    let wanted = Wanted { metric, landmarks, free };
    if wanted.may_be_one() && data.dim > data.len().max(LEARNING_ROWS) {
        return Ok(LearnedMetric::one(data.dim, kernel, "more than 4096 features, and more than rows"));
    }
    let ranks = match wanted.ranks(data, kernel.kind) {
        Ok(ranks) => ranks,
        Err(obstacle) => return wanted.without_learning(data, kernel, obstacle),
    };
    data.learnable()?;
    let drawn = data.len().min(LEARNING_ROWS);
    let rows = index::sample(&mut stream(seed, RngStream::Metric), data.len(), drawn).into_vec();
    let Some(splits) = Split::until(data, &rows, WANTED, seed) else {
        return wanted.without_learning(data, kernel, FEW_GROUPS);
    };
    let fewest = splits.iter().map(|split| split.learned.len()).min().unwrap_or_default();
    let most = match free {
        true => fewest / 2,
        false => (fewest / ROWS_PER_LANDMARK).max((2 * fewest / ROWS_PER_LANDMARK).min(FEW_LANDMARKS)),
    };
    let few = landmarks.min(MOST_LANDMARKS).min(most);
    let search_of = |split: &Split| {
        let sample = Sample::of(data, split, kernel.sigma);
        let effort = if metric == Metric::Auto { Effort::Compared } else { Effort::Asked };
        Search { sample, scales: metric != Metric::One, landmarks: few, effort, seed, observer }
    };
    let search = search_of(&splits[0]);
    let Found { kind, metrics: mut found, kinds, rough } = search.scales(kernel.kind, any_kind)?;
    let problems = search.sample.under(kind);
    let maps = search.maps(&problems, &ranks, (&found, metric == Metric::Auto))?;
    found.extend(maps);

    let asked = if free { few } else { landmarks.min(drawn) };
    // The largest multiple leaves the most.
    let widest = if landmarks > few { MULTIPLES[2] } else { MULTIPLES[0] };
    let leaves_enough = |transform: &Transform| {
        let rows = transformed(&problems.all, &transform.times(widest));
        search.members(&rows, kind, asked).is_ok()
    };
    observer.begin("comparison of metrics", 1);
    let mut losses = search.losses(&problems, &found);
    observer.end();
    for split in &splits[1..] {
        let contenders = contenders(&found, &losses);
        if metric != Metric::Auto || contenders.is_empty() {
            break;
        }
        search_of(split).judge(kind, &contenders, &found, &mut losses)?;
    }
    kernel.kind = kind;
    let may_be_any = metric == Metric::Auto && !free;
    let (metric, best, preferred) = search.choose(&found, &losses, metric, leaves_enough)?;
    let scales = found.iter().find(|(other, _)| *other == Metric::Scales);
    let mut others = Vec::new();
    if may_be_any {
        if let (Metric::Map(_), Some(Transform::Scales(scales))) =
            (metric, scales.map(|(_, found)| &found.point.transform))
        {
            others.push(OtherScales { kind, scales: lengths(scales) });
        }
        others.extend(rough.map(|scales| OtherScales { kind: ROUGHEST, scales: lengths(&scales) }));
    }
    go_on(observer)?;
    let held_out = splits.into_iter().next().map(|split| split.held);
    observer.begin(&format!("metric {metric} on all rows"), 1 + u64::from(free));
    let last = match free {
        true => moved(&search, &problems, metric, &best)?,
        false if metric == Metric::One => best,
        false => on_all_rows(&search, &problems, best, leaves_enough)?,
    };
    let mut transform = last.point.transform;
    // Other distances than these change with a rotation of the mapped rows.
    if let (Transform::Map(map), true) = (&transform, kind.about().argument != Argument::L1Distance) {
        transform = transform.of_rank(map.nrows())?;
    }
    if metric != Metric::One && landmarks > few && !free {
        transform = search.multiplied(&problems.all, &transform, asked, (drawn / 4).max(few))?;
    }
    search.advance()?;
    observer.end();
    let errors = search.errors(&found, &losses);
    if let Transform::Scales(scales) = &transform {
        transform = Transform::Scales(lengths(scales));
    }
    let landmarks = free.then(|| {
        let mapped = transform.apply(last.point.landmarks.as_ref());
        by_rows(&mapped).into_iter().map(|value| kernel.sigma * value).collect()
    });
    let (map, scales) = match transform {
        Transform::Scales(scales) => (None, scales),
        Transform::Map(map) => {
            let map = Map { rank: map.nrows(), values: by_rows(&map) };
            let scales = without_negligible(map.scales());
            (Some(map), scales)
        }
    };
    let reason = None;
    Ok(LearnedMetric {
        metric,
        errors,
        scales,
        map,
        kernel,
        kinds,
        landmarks,
        reason,
        preferred,
        held_out,
        others,
    })
}

/// What is wanted of a metric.
#[derive(Clone, Copy)]
struct Wanted {
    metric: Metric,
    landmarks: usize,
    /// Whether these are free to move.
    free: bool,
}

/// Why nothing can be learned: the reason for one bandwidth instead, where that is possible, and the problem
/// that an error tells.
struct Obstacle {
    reason: Option<&'static str>,
    problem: &'static str,
}

const FEW_GROUPS: Obstacle = Obstacle {
    reason: Some("fewer than ten groups beside those left out"),
    problem: "it takes at least ten groups beside those left out for the test error; take the metric one",
};

impl Wanted {
    /// Whether one bandwidth does where nothing can be learned.
    fn may_be_one(self) -> bool {
        self.metric == Metric::Auto && !self.free
    }

    /// Return one bandwidth, if it does, or an error.
    fn without_learning(
        self,
        data: &Prepared,
        kernel: KernelSpec,
        Obstacle { reason, problem }: Obstacle,
    ) -> Result<LearnedMetric, Error> {
        match reason {
            Some(reason) if self.may_be_one() => Ok(LearnedMetric::one(data.dim, kernel, reason)),
            _ => Err(Error(Cause::Metric { problem })),
        }
    }

    /// Return the ranks of the maps to try.
    fn ranks(self, data: &Prepared, kind: KernelKind) -> Result<Vec<usize>, Obstacle> {
        let refused = |problem| Err(Obstacle { reason: None, problem });
        if !kind.has_bandwidth() {
            return Err(Obstacle {
                reason: Some("the kernel has no bandwidth"),
                problem: "the kernels linear and polynomial have no bandwidth to scale; take another kernel or the metric one",
            });
        }
        if data.len() < FEWEST_ROWS {
            return Err(Obstacle {
                reason: Some("fewer than 70 rows beside those left out"),
                problem: "it takes at least 70 rows to learn from, which a fit has of 100; take the metric one",
            });
        }
        if self.free && self.landmarks > MOST_LANDMARKS {
            return refused("at most 100 landmarks are free to move; take fewer, or rows as landmarks");
        }
        let too_wide = data.dim > data.len().clamp(WIDEST_MAP, LEARNING_ROWS);
        match self.metric {
            Metric::Map(_) if too_wide => refused(
                "a map needs matrices of the order of the features: it takes at most 1024 features, or as many as there are \
                 rows up to 4096; take the metric scales",
            ),
            Metric::Map(Some(rank)) if rank > data.dim => refused(
                "the rank of the map is larger than the number of features; take a rank up to that number",
            ),
            Metric::Map(Some(rank)) => Ok(vec![rank]),
            Metric::Map(None) | Metric::Auto if !too_wide => Ok(ranks(data.dim)),
            _ => Ok(Vec::new()),
        }
    }
}

/// Return the metrics whose error on the rows held out is lower than that of one bandwidth, if none is so
/// [clearly](CLEAR).
fn contenders(found: &[(Metric, Measured)], losses: &[Option<Vec<f64>>]) -> Vec<Metric> {
    let Some((Some(one), others)) = losses.split_first() else { return Vec::new() };
    let is_lower = |losses: &&Vec<f64>, margin| losses.len() == one.len() && is_lower(losses, one, margin);
    if others.iter().flatten().any(|losses| is_lower(&losses, CLEAR)) {
        return Vec::new();
    }
    let better = |losses: &Option<Vec<f64>>| losses.as_ref().is_some_and(|losses| is_lower(&losses, 0.0));
    found[1..]
        .iter()
        .zip(others)
        .filter(|(_, losses)| better(losses))
        .map(|((metric, _), _)| *metric)
        .collect()
}

/// Move free landmarks with the metric, and then on all learning rows.
fn moved(
    search: &Search<'_>,
    problems: &Problems<'_>,
    metric: Metric,
    from: &Measured,
) -> Result<Measured, Error> {
    // One bandwidth stays one.
    let moves = if metric == Metric::One { Moves::Landmarks } else { Moves::Both };
    let steps = (FREE_WORK / search.landmarks.max(1) as u64).clamp(FREE_STEPS.0, FREE_STEPS.1);
    let moved = descend(
        &problems.learned,
        Some(&problems.held),
        from,
        (moves, steps, search.effort),
        search.observer,
    )?;
    search.advance()?;
    descend(&problems.all, None, &moved, (moves, LAST_STEPS, search.effort), search.observer)
}

/// Make the last steps on all learning rows, if these leave enough independent rows.
fn on_all_rows(
    search: &Search<'_>,
    problems: &Problems<'_>,
    best: Measured,
    leaves_enough: impl Fn(&Transform) -> bool,
) -> Result<Measured, Error> {
    let Ok(from) = search.start(&problems.all, None, best.point.transform.clone()) else { return Ok(best) };
    let last =
        descend(&problems.all, None, &from, (Moves::Transform, LAST_STEPS, search.effort), search.observer)?;
    Ok(if leaves_enough(&last.point.transform) { last } else { best })
}

/// The ranks of maps of `dim` features that are tried, ascending.
pub(crate) fn ranks(dim: usize) -> Vec<usize> {
    let halves = std::iter::successors(Some(dim.min(LARGEST_RANK)), |rank| Some(rank / 2));
    let mut ranks: Vec<usize> = halves.take_while(|&rank| rank > 1 || rank == dim).take(3).collect();
    ranks.reverse();
    ranks
}

/// Return the entries of a matrix row by row.
fn by_rows(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.nrows()).flat_map(|i| matrix.row(i).iter().copied()).collect()
}

/// Return the inverse length-scales of these scales, of which the sign is open.
fn lengths(scales: &[f64]) -> Vec<f64> {
    without_negligible(scales.iter().map(|scale| scale.abs()).collect())
}

/// Replace scales that are [`NEGLIGIBLE`] beside the largest by 0.
fn without_negligible(scales: Vec<f64>) -> Vec<f64> {
    let largest = scales.iter().fold(0.0_f64, |largest, scale| largest.max(*scale));
    scales.into_iter().map(|scale| if scale > NEGLIGIBLE * largest { scale } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        LEARNING_ROWS, LearnedMetric, MULTIPLES, Sample, Search, Split, WIDEST_MAP, contenders, learn_metric,
        ranks,
    };
    use crate::approximation::gram::Gram;
    use crate::data::{prepared::Prepared, prepared::StandardTarget, weights::Weights};
    use crate::error::{Cause, Error};
    use crate::kernel::{kind::KernelKind, metric::Metric, spec::KernelSpec};
    use crate::landmarks::{Task, methods::rpcholesky::RpCholesky, run};
    use crate::metric::{descent::Effort, transform::Transform};
    use crate::observer::NoObserver;
    use dpp_nystrom_core::Error as CoreError;

    /// A search for scales of 20 landmarks.
    fn compared(sample: Sample<'_>) -> Search<'_> {
        let effort = Effort::Compared;
        Search { sample, scales: true, landmarks: 20, effort, seed: 1, observer: &NoObserver }
    }

    /// Rows of five features and a target.
    fn rows(count: usize, target: impl FnMut(&[f64]) -> f64) -> Prepared {
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
            assert!(learned.scales[2..].iter().all(|&scale| scale < least), "{kind:?} {learned:?}");
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
        let rough = learn(&rows(800, |row| (3.0 * row[0]).sin().abs() + (2.0 * row[1]).sin().abs()));
        let least = rough.kinds.iter().find(|(kind, _)| *kind == rough.kernel.kind).unwrap().1;
        assert_ne!(rough.kernel.kind, KernelKind::Gaussian);
        assert!(least < 0.98 * rough.kinds[0].1, "{rough:?}");
        // The scales go on from those compared; each half of the rows held out judges where the other stops.
        assert!(rough.errors[1].1 < 1.1 * least, "{rough:?}");
    }

    /// Scales and maps follow what noise they see; rows held out that no step has seen say so.
    #[test]
    fn noise_takes_one_bandwidth() {
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 3.0 };
        let chosen = |seed: u32| {
            let phase = f64::from(seed) * 0.618_033_988_75;
            let mut row = 0.0;
            let noise = move |_: &[f64]| {
                row += 1.0;
                ((row * 1.3 + phase).sin() * 43_758.545_3).fract()
            };
            let data = rows(120, noise);
            let learned =
                learn_metric(&data, (spec, false), Metric::Auto, (20, false), u64::from(seed), &NoObserver);
            learned.unwrap().metric
        };
        let learned: Vec<Metric> = (0..20).map(chosen).filter(|&metric| metric != Metric::One).collect();
        assert!(learned.len() <= 4, "{learned:?}");
    }

    /// Losses of rows held out; those of one bandwidth come first.
    #[test]
    fn more_rows_are_held_out_where_a_metric_may_be_better() {
        let (data, spec) = (planted(), KernelSpec { kind: KernelKind::Gaussian, sigma: 3.0 });
        let split = Split::of_rows(&(0..200).collect::<Vec<_>>(), 0);
        let sample = Sample::of(&data, &split, spec.sigma);
        let search = compared(sample);
        let mut found = search.scales(spec.kind, false).unwrap().metrics;
        found.push((Metric::Map(Some(2)), found[1].1.clone()));
        let at = |mean: f64| Some((0..100).map(|row| mean + f64::from(row % 2)).collect::<Vec<_>>());
        // Differences of the first rows alone: ten of a hundred, so a mean of .1 and a deviation of .3.
        let by_few = |by: f64| {
            Some(
                at(1.0)
                    .unwrap()
                    .iter()
                    .enumerate()
                    .map(|(row, loss)| loss - if row < 10 { by } else { 0.0 })
                    .collect(),
            )
        };
        assert_eq!(contenders(&found, &[at(1.0), at(1.0), at(1.1)]), []);
        assert_eq!(contenders(&found, &[at(1.0), by_few(1.0), at(1.1)]), [Metric::Scales]);
        assert_eq!(contenders(&found, &[at(1.0), None, by_few(1.0)]), [Metric::Map(Some(2))]);
        assert_eq!(contenders(&found, &[at(1.0), by_few(1.0), at(0.9)]), [], "clearly");
        let losses = search.losses(&search.sample.under(spec.kind), &found);
        let mut more = losses.clone();
        search.judge(spec.kind, &[], &found, &mut more).unwrap();
        let lengths = |losses: &[Option<Vec<f64>>]| {
            losses.iter().map(|losses| losses.as_ref().unwrap().len()).collect::<Vec<_>>()
        };
        assert_eq!((lengths(&losses), lengths(&more)), (vec![40; 3], vec![80, 80, 40]));
        // What was judged on fewer rows is not chosen, however low its error.
        more[2] = Some(vec![0.0; 40]);
        let choose = |losses: &[_], leaves_enough: &dyn Fn(&Transform) -> bool| {
            let (metric, _, preferred) = search.choose(&found, losses, Metric::Auto, leaves_enough).unwrap();
            (metric, preferred)
        };
        assert_ne!(choose(&more, &|_| true).0, Metric::Map(Some(2)));
        let noise =
            at(1.0).unwrap().iter().zip([0.9, -1.0].iter().cycle()).map(|(loss, by)| loss + by).collect();
        let noisy = [at(1.0), Some(noise), None];
        let dependent = [at(1.0), at(0.5), None];
        let is_one = |transform: &Transform| *transform == found[0].1.point.transform;
        assert_eq!(choose(&dependent, &|_| true), (Metric::Scales, None));
        assert_eq!(
            choose(&noisy, &|_| true),
            (Metric::One, Some("others are lower by no more than the noise"))
        );
        let fewer = Some("others leave fewer independent rows than landmarks");
        assert_eq!(choose(&dependent, &is_one), (Metric::One, fewer));
        assert_eq!(choose(&dependent, &|_| false), (Metric::Scales, None));
    }

    #[test]
    fn scales_for_more_landmarks_tell_of_a_lower_error_with_fewer() {
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 3.0 };
        let of = |map: f64| {
            let errors = vec![(Metric::One, 0.3), (Metric::Scales, 0.2), (Metric::Map(Some(2)), map)];
            LearnedMetric { errors, ..LearnedMetric::one(2, spec, "") }.with_scales(vec![1.0, 2.0]).preferred
        };
        assert_eq!((of(0.1), of(0.25)), (Some("others are lower with fewer landmarks"), None));
    }

    /// A map descends again only where it may be the best.
    #[test]
    fn what_is_clearly_behind_cannot_win() {
        let (data, spec) = (planted(), KernelSpec { kind: KernelKind::Gaussian, sigma: 3.0 });
        let split = Split::of_rows(&(0..500).collect::<Vec<_>>(), 0);
        let sample = Sample::of(&data, &split, spec.sigma);
        let search = compared(sample);
        let (problems, found) =
            (search.sample.under(spec.kind), search.scales(spec.kind, false).unwrap().metrics);
        let [one, scales] = &found[..] else { panic!("{found:?}") };
        assert!(scales.1.held_out < 0.5 * one.1.held_out);
        let may_win = |maps: &[_], rival| search.may_win(&problems, maps, rival);
        assert_eq!(may_win(&found, None), [false, true]);
        assert_eq!(may_win(&[scales.clone(), scales.clone()], None), [true, true]);
        assert_eq!(may_win(&found[..1], None), [true]);
        assert_eq!(may_win(&found[..1], Some(&scales.1)), [false]);
        assert_eq!(may_win(&found[1..], Some(&one.1)), [true]);
    }

    /// Where the kernel asked for leaves too few independent rows, another is compared in its place.
    #[test]
    fn a_kernel_that_leaves_enough_rows_is_found() {
        // As many that all landmarks are compared.
        let data = rows(1_000, |row| (2.0 * row[0]).sin() + row[1]);
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
            // The Laplace kernel has 0.23 on processors without AVX-512, where the map has rank 5.
            assert!(across < 0.25 * norm(direction), "{kind:?} {across} {learned:?}");
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
        let data = rows(1_500, |row| (8.0 * row[0]).sin() * (8.0 * row[1]).cos());
        let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
        let learn = |landmarks| {
            learn_metric(&data, (spec, false), Metric::Scales, (landmarks, false), 1, &NoObserver)
                .unwrap()
                .scales
        };
        let (few, many) = (learn(100), learn(350));
        let multiple = many[0] / few[0];
        assert!(MULTIPLES[1..].iter().any(|other| (multiple - other).abs() < 1e-9), "{multiple} {few:?}");
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
