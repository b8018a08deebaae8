//! As many landmarks as pay.

use crate::data::prepared::Prepared;
use crate::data::source::RowSource;
use crate::error::{Cause, Error};
use crate::kernel::{kind::KernelKind, spec::KernelSpec};
use crate::metric::rows::Sample;
use crate::metric::search::{BEHIND, KINDS, Search};
use crate::metric::{descent::Effort, descent::Point, learn::OtherScales, transform::Transform};
use crate::observer::{Observer, go_on};
use crate::regression::choose::held_out::is_lower;
use crate::regression::rows::split::Split;
use dpp_nystrom_core::Error as CoreError;
use dpp_nystrom_host::rng::{RngStream, stream};
use rand::seq::index;
use rayon::prelude::*;
use std::collections::HashMap;

/// The multiply-adds that a regression on the landmarks may take, `N c²`: at most that many landmarks are
/// compared.
const WORK: f64 = 6.4e11;

/// The maximum number of landmarks that are compared.
const MOST: usize = 800;

/// The maximum number of rows that numbers are compared on.
const ROWS: usize = 8_192;

/// What the bandwidth may be divided by where the number is doubled.
const NARROWER: f64 = std::f64::consts::SQRT_2;

/// What the bandwidth of another kernel is multiplied by: one that is rougher is wider.
const WIDER: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

/// Fifths are held out, one after another, until so many rows are.
const WANTED: usize = 800;

/// A number of landmarks that was chosen by rows held out, and why.
///
/// ```
/// use dpp_nystrom::pipeline::{Params, fit};
/// use dpp_nystrom::{Dataset, Scale, observer::NoObserver};
///
/// let x: Vec<f64> = (0..800).map(|i| f64::from(i * i % 797) / 80.0).collect();
/// let y: Vec<f64> = x.chunks(2).map(|x| x[0].sin() + 0.1 * x[1]).collect();
/// let data = Dataset::from_rows(&x, 2)?.with_target(&y)?;
/// let source = data.source(Scale::Standard)?;
/// let number = fit(source.as_rows(), &Params::default(), None, &NoObserver)?.selected.number;
/// let number = number.expect("rows in memory");
/// assert!(number.errors.iter().any(|&(count, error)| count == number.count && error < 0.1));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NumberOfLandmarks {
    /// The number.
    pub count: usize,
    /// The numbers that were compared, ascending, with their errors on rows held out, in standard deviations
    /// of the target; of classes, mean log-losses. Kernel and bandwidth are the best of each.
    pub errors: Vec<(usize, f64)>,
    /// Why it is not larger.
    pub reason: &'static str,
}

/// A number of landmarks, and what goes with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grown {
    pub(crate) number: NumberOfLandmarks,
    pub(crate) kernel: KernelSpec,
    /// The errors of the kernels, if they were compared: of all with twice as many landmarks as at first, or
    /// of two with more.
    pub(crate) kinds: ErrorsOfKinds,
    /// Which of the other metrics it is in, if any.
    pub(crate) other: Option<usize>,
}

/// Other metrics: rows before any, in the same order, and the inverse length-scales of their features.
#[derive(Clone, Copy)]
pub(crate) struct Others<'a> {
    pub(crate) rows: &'a Prepared,
    pub(crate) scales: &'a [OtherScales],
}

/// Errors on rows held out by kernel.
type ErrorsOfKinds = Vec<(KernelKind, f64)>;

/// Compare numbers of landmarks for rows in the metric of a fit: `from`, and twice as many as long as the
/// error on rows held out falls by more than its standard error. `None` where nothing can be compared.
///
/// All are compared on the same rows. More landmarks carry a narrower kernel: each number takes the bandwidth
/// of the one before or a narrower one, whichever has the lower error, and the best ridge. They also carry a
/// metric of more features and a rougher kernel. So twice as many are tried in the `others` too, and where
/// they pay and any kernel may be taken, with all kernels. What is not clearly behind ([`BEHIND`]) is tried
/// with still more. Deterministic in `seed`.
///
/// # Errors
/// `ErrorKind::Cancelled`; `ErrorKind::Data` for no target.
pub(crate) fn number_of_landmarks(
    (data, others): (&Prepared, Option<Others<'_>>),
    (kernel, any_kind): (KernelSpec, bool),
    from: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Option<Grown>, Error> {
    data.learnable()?;
    observer.begin("number of landmarks", 0);
    let rows = ROWS.min(data.len());
    let drawn = index::sample(&mut stream(seed, RngStream::Metric), data.len(), rows).into_vec();
    let Some(splits) = Split::until(data, &drawn, WANTED, seed) else {
        observer.end();
        return Ok(None);
    };
    let of_others = others.map_or(&[][..], |others| others.scales);
    let scaled: Vec<Prepared> = match others {
        Some(Others { rows, scales }) => {
            let rows = RowSource::gather(rows, &drawn)?;
            scales.iter().map(|other| rows.clone().rescaled(&other.scales)).collect()
        }
        None => Vec::new(),
    };
    let search = |data, split: &Split| {
        let sample = Sample::of(data, split, kernel.sigma);
        Search { sample, scales: false, landmarks: 0, effort: Effort::Compared, seed, observer }
    };
    let mut metrics = vec![splits.iter().map(|split| search(data, split)).collect::<Vec<_>>()];
    let place: HashMap<usize, usize> = drawn.iter().enumerate().map(|(place, &row)| (row, place)).collect();
    for rows in &scaled {
        metrics.push(splits.iter().map(|split| search(rows, &split.at(|row| place[&row]))).collect());
    }
    let kinds = std::iter::once(kernel.kind).chain(of_others.iter().map(|other| other.kind));
    let mut candidates: Vec<_> =
        kinds.enumerate().map(|(metric, kind)| Candidate { metric, kind, multiple: 1.0 }).collect();
    let compared = Compared { metrics };
    let Some(mut best) = compared.attempt(from, candidates[0])? else {
        observer.end();
        return Ok(None);
    };
    let (mut errors, mut kinds) = (vec![(best.count, best.error(&compared))], Vec::new());
    let reason = loop {
        let most = compared.most(kernel.kind);
        let next = (2 * best.count).min(affordable(data.len())).min(most);
        if next <= best.count && next == most {
            break "all rows are landmarks";
        }
        if next <= best.count {
            break "no more are tried: at most 800, and 6.4e11 multiply-adds of the regression";
        }
        let (found, of_kinds) = compared.best_of(next, &mut candidates)?;
        let Some(tried) = found.filter(|tried| tried.count > best.count) else {
            break "no more rows are independent";
        };
        errors.push((tried.count, tried.error(&compared)));
        if !is_lower(&tried.losses, &best.losses, compared.margin()) {
            break match tried.count == 2 * best.count {
                true => "twice as many do not lower the error by more than its standard error",
                false => "more do not lower the error by more than its standard error",
            };
        }
        best = tried;
        if any_kind && kinds.is_empty() {
            (best, kinds) = compared.kinds(best)?;
            errors.pop();
            errors.push((best.count, best.error(&compared)));
            candidates.extend((best.of.kind != kernel.kind).then_some(best.of));
        } else if of_kinds.len() > 1 {
            kinds = of_kinds;
        }
        observer.advance(1);
    };
    observer.end();
    let Candidate { metric, kind, multiple } = best.of;
    let kernel = KernelSpec { kind, sigma: kernel.sigma / multiple };
    let number = NumberOfLandmarks { count: best.count, errors, reason };
    Ok(Some(Grown { number, kernel, kinds, other: metric.checked_sub(1) }))
}

/// Return the maximum number of landmarks that are compared for so many rows.
fn affordable(rows: usize) -> usize {
    MOST.min((WORK / rows as f64).sqrt() as usize)
}

/// What landmarks are tried with.
#[derive(Clone, Copy)]
struct Candidate {
    /// 0 for that of the rows, then the others.
    metric: usize,
    kind: KernelKind,
    /// What the bandwidth is divided by.
    multiple: f64,
}

/// A number of landmarks that was tried.
struct Tried {
    count: usize,
    of: Candidate,
    /// The loss of each row held out, times its weight.
    losses: Vec<f64>,
}

impl Tried {
    /// Return the one with the lower error, of two the first.
    fn lower(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) if !is_lower(&other.losses, &one.losses, 0.0) => Some(one),
            (one, other) => other.or(one),
        }
    }

    fn error(&self, compared: &Compared<'_>) -> f64 {
        compared.metrics[0][0].sample.error(&self.losses)
    }
}

/// Rows on which numbers of landmarks are compared.
struct Compared<'a> {
    /// In each metric, for each part of the rows held out, a search for landmarks among the others.
    metrics: Vec<Vec<Search<'a>>>,
}

impl Compared<'_> {
    /// Return the most landmarks that there are rows for.
    fn most(&self, kind: KernelKind) -> usize {
        let rows = self.metrics[0].iter().map(|part| part.sample.under(kind).learned.rows.nrows());
        rows.min().unwrap_or(0)
    }

    fn margin(&self) -> f64 {
        self.metrics[0][0].sample.margin()
    }

    /// Compare the kernels at as many landmarks, in the same metric; return the best, and the errors of all.
    /// Each takes its bandwidth from [`WIDER`].
    fn kinds(&self, mut best: Tried) -> Result<(Tried, ErrorsOfKinds), Error> {
        let (count, own) = (best.count, best.of);
        let mut errors = vec![(own.kind, best.error(self))];
        let others = KINDS.into_par_iter().filter(|&kind| kind != own.kind);
        let others: Vec<Vec<Tried>> =
            others.map(|kind| self.kind(kind, count, own)).collect::<Result<_, _>>()?;
        for tried in others {
            let least = tried.iter().map(|tried| tried.error(self)).min_by(f64::total_cmp);
            errors.extend(tried.first().zip(least).map(|(first, least)| (first.of.kind, least)));
            let all = tried.into_iter().filter(|tried| tried.count == count);
            best = all.fold(
                best,
                |best, tried| if is_lower(&tried.losses, &best.losses, 0.0) { tried } else { best },
            );
        }
        Ok((best, errors))
    }

    /// Try a kernel at as many landmarks, with one bandwidth after another as long as the error falls.
    fn kind(&self, kind: KernelKind, count: usize, own: Candidate) -> Result<Vec<Tried>, Error> {
        let (mut found, mut least) = (Vec::new(), f64::INFINITY);
        for factor in WIDER {
            let candidate = Candidate { kind, multiple: own.multiple / factor, ..own };
            let Some(tried) = self.attempt(count, candidate)? else { break };
            let error = tried.error(self);
            if least <= error {
                break;
            }
            least = error;
            found.push(tried);
        }
        Ok(found)
    }

    /// Try at most so many landmarks with each of these candidates, at its multiple of the metric and at a
    /// [narrower](NARROWER) one, and leave it the better one. Leave out what is clearly [`BEHIND`]. Return the
    /// best, and the errors by kernel.
    fn best_of(
        &self,
        count: usize,
        candidates: &mut Vec<Candidate>,
    ) -> Result<(Option<Tried>, ErrorsOfKinds), Error> {
        let better = |&candidate: &Candidate| {
            let narrower = Candidate { multiple: candidate.multiple * NARROWER, ..candidate };
            let (own, other) =
                rayon::join(|| self.attempt(count, candidate), || self.attempt(count, narrower));
            Ok(Tried::lower(own?, other?))
        };
        let all: Vec<_> = candidates.par_iter().map(better).collect::<Result<_, Error>>()?;
        let mut all: Vec<Tried> = all.into_iter().flatten().collect();
        let mut errors = ErrorsOfKinds::new();
        for tried in &all {
            let (kind, error) = (tried.of.kind, tried.error(self));
            match errors.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, least)) => *least = least.min(error),
                None => errors.push((kind, error)),
            }
        }
        let lower = |best: usize, at: usize| {
            if is_lower(&all[at].losses, &all[best].losses, 0.0) { at } else { best }
        };
        let Some(best) = (0..all.len()).reduce(lower) else {
            candidates.clear();
            return Ok((None, errors));
        };
        let is_behind = |tried: &&Tried| is_lower(&all[best].losses, &tried.losses, BEHIND);
        *candidates = all.iter().filter(|tried| !is_behind(tried)).map(|tried| tried.of).collect();
        Ok((Some(all.swap_remove(best)), errors))
    }

    /// Try so many landmarks, or as many as there are independent rows; `None` where the losses are not
    /// finite.
    fn attempt(&self, mut count: usize, of: Candidate) -> Result<Option<Tried>, Error> {
        loop {
            let parts = self.metrics[of.metric].par_iter().map(|part| of.attempt(count, part));
            let parts: Vec<Part> = parts.collect::<Result<_, Error>>()?;
            let rank = parts
                .iter()
                .filter_map(|part| if let Part::OfRank(rank) = part { Some(*rank) } else { None });
            if let Some(rank) = rank.min() {
                count = rank;
                continue;
            }
            let mut losses = Vec::new();
            for part in parts {
                let Part::Losses(own) = part else { return Ok(None) };
                losses.extend(own);
            }
            return Ok(Some(Tried { count, of, losses }));
        }
    }
}

/// What an attempt finds on a part of the rows held out.
enum Part {
    /// Fewer rows are independent.
    OfRank(usize),
    NotFinite,
    /// The loss of each row, times its weight.
    Losses(Vec<f64>),
}

impl Candidate {
    /// Try so many landmarks.
    fn attempt(self, count: usize, part: &Search<'_>) -> Result<Part, Error> {
        go_on(part.observer)?;
        let problems = part.sample.under(self.kind);
        let transform = Transform::Scales(vec![self.multiple; problems.all.rows.ncols()]);
        let landmarks = match part.select(&problems.learned, &transform, count) {
            Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { rank, .. } }))
                if (1..count).contains(&rank) =>
            {
                return Ok(Part::OfRank(rank));
            }
            found => found?,
        };
        let point = Point { transform, ridge: 0.0, landmarks };
        let losses = part.sample.least_losses(&problems, &point, part.observer);
        Ok(losses.map_or(Part::NotFinite, Part::Losses))
    }
}

#[cfg(test)]
mod tests {
    use super::{Grown, NumberOfLandmarks, OtherScales, Others, affordable, number_of_landmarks};
    use crate::data::{dataset::Dataset, scaler::Scale};
    use crate::error::{Error, ErrorKind};
    use crate::kernel::{kind::KernelKind, spec::KernelSpec};
    use crate::observer::{NoObserver, Observer};
    use crate::pipeline::{Params, fit};

    /// Points of the unit square, and a number for each.
    fn rows(count: usize, target: impl Fn(f64, f64) -> f64) -> (Vec<f64>, Vec<f64>) {
        let value = |i: usize, step: f64| (i as f64 * step).fract();
        let x: Vec<f64> = (1..=count)
            .flat_map(|i| [value(i, 0.754_877_666_246_7), value(i, 0.569_840_290_998_1)])
            .collect();
        let y = x.chunks_exact(2).map(|row| target(row[0], row[1])).collect();
        (x, y)
    }

    fn waves(one: f64, other: f64) -> f64 {
        (22.0 * one).sin() * (17.0 * other).cos()
    }

    fn grown(
        data: &Dataset<'_>,
        any_kind: bool,
        from: usize,
        observer: &dyn Observer,
    ) -> Result<Grown, Error> {
        let source = data.source(Scale::Standard)?;
        let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
        let rows = source.as_rows().as_prepared().unwrap();
        Ok(number_of_landmarks((rows, None), (kernel, any_kind), from, 3, observer)?.unwrap())
    }

    /// Return what is chosen for numbers.
    fn chosen((x, y): &(Vec<f64>, Vec<f64>), any_kind: bool, from: usize) -> Grown {
        let data = Dataset::from_rows(x, 2).unwrap().with_target(y).unwrap();
        grown(&data, any_kind, from, &NoObserver).unwrap()
    }

    /// Return the number that is chosen, and the bandwidth, of 1.
    fn number(data: &(Vec<f64>, Vec<f64>), from: usize) -> (NumberOfLandmarks, f64) {
        let Grown { number, kernel, kinds, other } = chosen(data, false, from);
        assert!(kernel.kind == KernelKind::Gaussian && kinds.is_empty() && other.is_none());
        (number, kernel.sigma)
    }

    /// A target of many waves takes more landmarks and a narrower kernel, and the error falls with them.
    #[test]
    fn the_number_grows_while_the_error_falls() {
        let (number, sigma) = number(&rows(3_000, waves), 50);
        assert!(number.count >= 200 && sigma < 0.71, "{number:?} {sigma}");
        let error = |count| number.errors.iter().find(|tried| tried.0 == count).unwrap().1;
        assert!(error(number.count) < 0.05 && error(50) > 0.5, "{number:?}");
    }

    /// A plane and noise need no more than few.
    #[test]
    fn the_number_stays_where_more_do_not_pay() {
        let noise = |one: f64, other: f64| (one * 91_717.3 + other * 31_337.1).sin();
        let (number, sigma) = number(&rows(3_000, |one, other| one + noise(one, other)), 50);
        let tried: Vec<usize> = number.errors.iter().map(|&(count, _)| count).collect();
        assert_eq!((number.count, tried, sigma), (50, vec![50, 100], 1.0));
        assert!(number.reason.contains("standard error"), "{number:?}");
    }

    /// Without noise a small set takes all rows that are learned from; of repeated rows each once.
    #[test]
    fn no_more_than_the_independent_rows() {
        let (few, _) = number(&rows(150, |one, other| waves(0.6 * one, 0.6 * other)), 37);
        assert_eq!((few.count, few.reason), (120, "all rows are landmarks"), "{few:?}");
        let (x, y) = rows(60, |one, other| waves(0.6 * one, 0.6 * other));
        let (repeated, _) = number(&(x.repeat(20), y.repeat(20)), 50);
        assert!(repeated.count <= 60, "{repeated:?}");
        assert_eq!(repeated.reason, "no more rows are independent");
    }

    /// A target with edges takes a rougher kernel. One of waves keeps its own, though fewer landmarks follow
    /// it better with another; with no more landmarks than at first nothing is compared.
    #[test]
    fn the_kernel_is_compared_again_where_more_pay() {
        let edges = rows(3_000, |one, other| (7.0 * one).floor() % 2.0 + (5.0 * other).floor() % 2.0);
        let (own, any) = (chosen(&edges, false, 50), chosen(&edges, true, 50));
        assert!(any.kernel.kind != KernelKind::Gaussian && any.kinds.len() == 2, "{any:?}");
        let error = |grown: &Grown| grown.number.errors.last().unwrap().1;
        assert!(own.kinds.is_empty() && error(&any) < 0.9 * error(&own), "{own:?} {any:?}");
        let of_kind = |kind| any.kinds.iter().find(|compared| compared.0 == kind).unwrap().1;
        assert!(of_kind(any.kernel.kind) < of_kind(KernelKind::Gaussian), "{any:?}");
        let smooth = chosen(&rows(3_000, waves), true, 50);
        assert!(smooth.kernel.kind == KernelKind::Gaussian && smooth.kinds.len() == 2, "{smooth:?}");
        let noise = |one: f64, other: f64| (one * 91_717.3 + other * 31_337.1).sin();
        assert!(chosen(&rows(3_000, |one, other| one + noise(one, other)), true, 50).kinds.is_empty());
    }

    /// Twice as many landmarks are tried in both metrics, and the one that they make better is taken.
    #[test]
    fn another_metric_may_be_better_with_more() {
        let (x, y) = rows(3_000, |one, other| waves(0.5 * one, 0.5 * other));
        let data = Dataset::from_rows(&x, 2).unwrap().with_target(&y).unwrap();
        let source = data.source(Scale::Standard).unwrap();
        let whole = source.as_rows().as_prepared().unwrap();
        let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
        let of = |own: [f64; 2], other: [f64; 2], kind| {
            let own = whole.clone().rescaled(&own);
            let scales = [OtherScales { kind, scales: other.to_vec() }];
            let others = Some(Others { rows: whole, scales: &scales });
            number_of_landmarks((&own, others), (kernel, false), 50, 3, &NoObserver).unwrap().unwrap()
        };
        let (poor, good) = ([2.0, 0.1], [1.0, 1.0]);
        let [taken, kept] = [(poor, good), (good, poor)].map(|(own, other)| of(own, other, kernel.kind));
        assert_eq!((taken.other, kept.other), (Some(0), None), "{taken:?} {kept:?}");
        assert_eq!(taken.number.count, kept.number.count);
        // The same rows in the same metric.
        let last = |grown: &Grown| grown.number.errors.last().unwrap().1;
        assert!((last(&taken) / last(&kept) - 1.0).abs() < 1e-6, "{taken:?} {kept:?}");
        // It comes with its own kernel.
        let rough = of(poor, good, KernelKind::Laplace);
        assert_eq!((rough.other, rough.kernel.kind), (Some(0), KernelKind::Laplace), "{rough:?}");
    }

    /// Fifty units, numbered, that grow at rates in no order: a hundred landmarks show the time alone, and
    /// more of the roughest kernel the units.
    #[test]
    fn numbered_units_take_the_roughest_kernel() {
        let (unit, time) = (|i: usize| i / 12, |i: usize| (i % 12) as f64);
        let part = |i: usize, step: f64| (i as f64 * step).fract();
        let rate =
            |i: usize| 1.0 + part((unit(i) + 1).pow(2), 0.754_877_666_246_7) + 0.2 * (unit(i) / 13) as f64;
        let noise = |i: usize| 0.15 * (part(i * i % 7_919, 0.618_034) - 0.5);
        let x: Vec<f64> = (0..600).flat_map(|i| [time(i), unit(i) as f64, (unit(i) / 13) as f64]).collect();
        let y: Vec<f64> = (0..600).map(|i| (time(i) / 12.0).powf(1.5) * (rate(i) + noise(i))).collect();
        let data = Dataset::from_rows(&x, 3).unwrap().with_target(&y).unwrap();
        let source = data.source(Scale::Standard).unwrap();
        let selected = fit(source.as_rows(), &Params::default(), None, &NoObserver).unwrap().selected;
        let number = selected.number.as_ref().unwrap();
        assert_eq!(selected.kernel.kind, KernelKind::Laplace, "{:?}", selected.metric);
        let [first, .., last] = number.errors[..] else { panic!("{number:?}") };
        assert!(number.count >= 200 && last.1 < 0.7 * first.1, "{number:?}");
    }

    #[test]
    fn classes_take_more_where_their_borders_do() {
        let (x, classes) = rows(3_000, |one, other| (waves(one, other) > 0.0).into());
        let data = Dataset::from_rows(&x, 2).unwrap().with_classes(&classes, &["no", "yes"]).unwrap();
        let Grown { number, .. } = grown(&data, false, 50, &NoObserver).unwrap();
        let loss = |count| number.errors.iter().find(|tried| tried.0 == count).unwrap().1;
        assert!(number.count >= 200 && loss(50) > 0.3, "{number:?}");
        assert!(loss(number.count) < 0.5 * loss(50), "{number:?}");
    }

    #[test]
    fn the_work_of_a_regression_is_bounded() {
        assert_eq!([1_000, 1_000_000, 4_000_000, 25_000_000].map(affordable), [800, 800, 400, 160]);
    }

    #[test]
    fn threads_change_nothing() {
        let data = rows(1_200, waves);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| chosen(&data, true, 50))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn it_can_be_cancelled() {
        struct Cancelled;
        impl Observer for Cancelled {
            fn begin(&self, _: &str, _: u64) {}
            fn advance(&self, _: u64) {}
            fn end(&self) {}
            fn is_cancelled(&self) -> bool {
                true
            }
        }
        let (x, y) = rows(1_000, waves);
        let data = Dataset::from_rows(&x, 2).unwrap().with_target(&y).unwrap();
        assert_eq!(grown(&data, true, 50, &Cancelled).unwrap_err().kind(), ErrorKind::Cancelled);
    }
}
