//! The steps of learning a metric: starts, descents, and comparisons of kernels and metrics.

use crate::approximation::{features::features_of_points, gram::Gram};
use crate::data::prepared::Prepared;
use crate::error::{Cause, Error};
use crate::kernel::{kind::KernelKind, metric::Metric, spec::KernelSpec};
use crate::landmarks::{Task, methods::rpcholesky::RpCholesky, run};
use crate::metric::descent::{Measured, Moves, Point, descend};
use crate::metric::rows::{Problems, Sample};
use crate::metric::{objective::Problem, transform::Transform};
use crate::observer::{Observer, Silent, go_on};
use crate::regression::choose::held_out::is_lower;
use crate::regression::{choose::leave_one_out::Axes, choose::scan::least, ridge::first_ridges, ridge_grid};
use dpp_nystrom_core::Error as CoreError;
use faer::Mat;
use rayon::prelude::*;

/// For more landmarks than a metric is learned with, it is multiplied by one of these: their kernel may be
/// narrower.
pub(super) const MULTIPLES: [f64; 3] = [1.0, std::f64::consts::SQRT_2, 2.0];

/// The kernels that are compared if any may be taken.
const KINDS: [KernelKind; 4] =
    [KernelKind::Gaussian, KernelKind::Matern52, KernelKind::Matern32, KernelKind::Laplace];

/// Steps from the scales of one kernel to those of another.
const STEPS_OF_KIND: u64 = 20;

/// Steps of a descent with the same landmarks.
const STEPS: u64 = 40;

/// Rounds of the average gradient outer product.
const ROUNDS: usize = 3;

/// What the bandwidth may be divided by in such a round.
const FACTORS: [f64; 5] = [0.35, 0.5, 0.7, 1.0, 1.4];

/// A search for a metric.
pub(super) struct Search<'a> {
    pub(super) sample: Sample<'a>,
    /// Whether scales are learned, and not one bandwidth alone.
    pub(super) scales: bool,
    /// The number of landmarks.
    pub(super) landmarks: usize,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

/// A kernel, and the metrics that were found in it.
pub(super) struct Found {
    pub(super) kind: KernelKind,
    /// First one bandwidth, then in the order of the numbers that are learned.
    pub(super) metrics: Vec<(Metric, Measured)>,
    /// The errors of the kernels that were compared.
    pub(super) kinds: Vec<(KernelKind, f64)>,
}

impl Search<'_> {
    /// Learn scales in a kernel, if `any` may be taken in the one with the least error.
    pub(super) fn scales(&self, asked: KernelKind, any: bool) -> Result<Found, Error> {
        let mut kind = asked;
        let mut begun = self.begin(kind, None);
        // A rougher kernel leaves more independent rows.
        for other in KINDS.into_iter().filter(|&other| any && other != asked) {
            if !matches!(begun, Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { .. } }))) {
                break;
            }
            kind = other;
            begun = self.begin(kind, None);
        }
        let mut found = Found { kind, metrics: begun?, kinds: Vec::new() };
        if let (true, Some((_, from))) = (any, found.metrics.last()) {
            let (best, kinds) = self.compare(kind, from)?;
            found.kinds = kinds;
            if let Some((other, from)) = best.filter(|(other, _)| *other != kind) {
                found.metrics = self.begin(other, Some(from))?;
                found.kind = other;
            }
        }
        Ok(found)
    }

    /// Select landmarks in the metric of this transform, and choose the ridge.
    pub(super) fn start(
        &self,
        problem: &Problem<'_>,
        held_out: Option<&Problem<'_>>,
        transform: Transform,
    ) -> Result<Measured, Error> {
        let landmarks = self.select(problem, &transform)?;
        let point = Point { transform, ridge: 0.0, landmarks };
        point.with_best_ridge(problem, held_out, first_ridges()).ok_or(Error::regression(CoreError::Ridge))
    }

    /// Return one bandwidth in this kernel, and if they are learned the scales that a descent from it, or
    /// from `from`, leads to.
    fn begin(&self, kind: KernelKind, from: Option<Measured>) -> Result<Vec<(Metric, Measured)>, Error> {
        let problems = self.sample.under(kind);
        let one = Transform::Scales(vec![1.0; problems.learned.rows.ncols()]);
        let one = self.start(&problems.learned, Some(&problems.held), one)?;
        let from = from.unwrap_or_else(|| one.clone());
        let mut begun = vec![(Metric::One, one)];
        if self.scales {
            self.observer.begin(&format!("scales in the kernel {}", kind.name()), 2);
            begun.push((Metric::Scales, self.twice(&problems, &from)?));
            self.observer.end();
        }
        Ok(begun)
    }

    /// Compare the kernels: return that with the least error on the rows held out, with a place in it, and
    /// the errors of all. The others begin at the place of the first.
    #[expect(clippy::type_complexity, reason = "a kernel with its place, and errors by kernel")]
    fn compare(
        &self,
        own: KernelKind,
        from: &Measured,
    ) -> Result<(Option<(KernelKind, Measured)>, Vec<(KernelKind, f64)>), Error> {
        let others = KINDS.into_iter().filter(|&kind| kind != own).collect::<Vec<_>>();
        self.observer.begin("other kernels", others.len() as u64);
        let others = others.into_par_iter().map(|kind| {
            let Problems { held, learned, .. } = self.sample.under(kind);
            let start = self.start(&learned, Some(&held), from.point.transform.clone())?;
            let moves = (Moves::Transform, STEPS_OF_KIND);
            let found = match self.scales {
                true => descend(&learned, Some(&held), &start, moves, self.observer)?,
                false => start,
            };
            self.advance()?;
            Ok((kind, found))
        });
        // Another kernel may leave fewer independent rows.
        let others: Vec<Result<(KernelKind, Measured), Error>> = others.collect();
        go_on(self.observer)?;
        let (mut best, mut of_all) = (None::<((KernelKind, Measured), Vec<f64>)>, Vec::new());
        for (kind, found) in std::iter::once((own, from.clone())).chain(others.into_iter().flatten()) {
            let Some(losses) = self.sample.losses(&self.sample.under(kind), &found, self.observer) else {
                continue;
            };
            of_all.push((kind, self.sample.error(&losses)));
            if best.as_ref().is_none_or(|(_, least)| is_lower(&losses, least, 0.0)) {
                best = Some(((kind, found), losses));
            }
        }
        self.observer.end();
        Ok((best.map(|(best, _)| best), of_all))
    }

    /// Learn a map of each of these ranks, from the strongest directions of the scales found or of the
    /// average gradient outer product, whichever has the lower leave-one-out error.
    pub(super) fn maps(
        &self,
        problems: &Problems<'_>,
        ranks: &[usize],
        found: &[(Metric, Measured)],
    ) -> Result<Vec<(Metric, Measured)>, Error> {
        if ranks.is_empty() {
            return Ok(Vec::new());
        }
        let [(_, one), (_, scales)] = found else { return Err(Error::regression(CoreError::Ridge)) };
        let names: Vec<String> = ranks.iter().map(usize::to_string).collect();
        self.observer.begin(&format!("maps of rank {}", names.join(", ")), 1 + 2 * ranks.len() as u64);
        let gradients = self.of_gradients(problems, one)?;
        self.advance()?;
        let of_rank = |&rank: &usize| -> Result<Option<(Metric, Measured)>, Error> {
            let start = |from: &Measured| -> Result<Measured, Error> {
                let transform = from.point.transform.of_rank(rank)?;
                self.start(&problems.learned, Some(&problems.held), transform)
            };
            // A map of low rank may leave fewer independent rows than landmarks.
            let starts = [&gradients, scales].into_iter().filter_map(|from| start(from).ok());
            let lower = |best: Measured, next: Measured| match next.left_out < best.left_out {
                true => next,
                false => best,
            };
            let best = starts.reduce(lower);
            go_on(self.observer)?;
            let Some(best) = best else { return Ok(None) };
            Ok(Some((Metric::Map(Some(rank)), self.twice(problems, &best)?)))
        };
        let maps = ranks.par_iter().map(of_rank).collect::<Result<Vec<_>, Error>>()?;
        self.observer.end();
        Ok(maps.into_iter().flatten().collect())
    }

    /// Return the losses of the rows held out under each metric; `None` where they are not finite.
    pub(super) fn losses(
        &self,
        problems: &Problems<'_>,
        found: &[(Metric, Measured)],
    ) -> Vec<Option<Vec<f64>>> {
        let of = |(_, found): &(Metric, Measured)| self.sample.losses(problems, found, self.observer);
        found.par_iter().map(of).collect()
    }

    /// Learn one bandwidth, scales and the `contenders` on these rows as well, and add their losses on the
    /// rows held out to those of the metrics `found`.
    pub(super) fn judge(
        &self,
        kind: KernelKind,
        contenders: &[Metric],
        found: &[(Metric, Measured)],
        losses: &mut [Option<Vec<f64>>],
    ) -> Result<(), Error> {
        let problems = self.sample.under(kind);
        let rank = |metric: &Metric| match metric {
            Metric::Map(rank) => *rank,
            _ => None,
        };
        let ranks: Vec<usize> = contenders.iter().filter_map(rank).collect();
        let mut own = self.scales(kind, false)?.metrics;
        own.extend(self.maps(&problems, &ranks, &own)?);
        let of_all = self.losses(&problems, &own);
        for ((metric, _), further) in own.iter().zip(of_all) {
            let place = found.iter().position(|(other, _)| other == metric);
            if let (Some(Some(losses)), Some(further)) = (place.map(|place| &mut losses[place]), further) {
                losses.extend(further);
            }
        }
        Ok(())
    }

    /// Choose the metric that is wanted, or of several the first whose error no later one lowers by more than
    /// the margin. Of several, one that does not leave enough independent rows for the landmarks is chosen
    /// only if none does, and none that was judged on fewer rows than others.
    pub(super) fn choose(
        &self,
        found: &[(Metric, Measured)],
        losses: &[Option<Vec<f64>>],
        wanted: Metric,
        leaves_enough: impl Fn(&Transform) -> bool,
    ) -> Result<(Metric, Measured), Error> {
        let is_wanted = |metric: Metric| match wanted {
            Metric::Auto => true,
            Metric::Map(None) => matches!(metric, Metric::Map(_)),
            wanted => metric == wanted,
        };
        let mut candidates: Vec<_> =
            found.iter().zip(losses).filter(|((metric, _), _)| is_wanted(*metric)).collect();
        let leaves_enough = |found: &Measured| leaves_enough(&found.point.transform);
        let enough: Vec<_> =
            candidates.iter().copied().filter(|((_, found), _)| leaves_enough(found)).collect();
        if !enough.is_empty() {
            candidates = enough;
        }
        let mut best: Option<(&(Metric, Measured), &[f64])> = None;
        let most = losses.iter().flatten().map(Vec::len).max();
        for (candidate, losses) in candidates {
            let Some(losses) = losses.as_ref().filter(|losses| Some(losses.len()) == most) else { continue };
            if best.as_ref().is_none_or(|(_, least)| is_lower(losses, least, self.sample.margin())) {
                best = Some((candidate, losses));
            }
        }
        best.map(|(candidate, _)| candidate.clone()).ok_or(Error(Cause::Metric {
            problem: "no map of this rank leaves as many independent rows as landmarks; take a larger rank or fewer landmarks",
        }))
    }

    /// Select landmarks in the metric of this transform.
    pub(super) fn select(&self, problem: &Problem<'_>, transform: &Transform) -> Result<Mat<f64>, Error> {
        let members = self.members(&transformed(problem, transform), problem.kernel, self.landmarks)?;
        Ok(Mat::from_fn(members.len(), problem.rows.ncols(), |a, j| problem.rows[(members[a], j)]))
    }

    /// Select so many of these rows.
    pub(super) fn members(
        &self,
        data: &Prepared,
        kind: KernelKind,
        count: usize,
    ) -> Result<Vec<usize>, Error> {
        let gram = Gram::new(data, KernelSpec { kind, sigma: 1.0 })?;
        let silent = Silent(self.observer);
        let task = Task { seed: self.seed, observer: &silent, ..Task::new(&gram, count) };
        let selection = run(&RpCholesky::default(), &task)?;
        Ok(selection.landmarks.rows().unwrap_or_default().to_vec())
    }

    /// Return that of [`MULTIPLES`] of a transform with the least leave-one-out error of at most `most`
    /// landmarks, which are selected anew in each. It leaves `asked` independent rows if any of them does.
    pub(super) fn multiplied(
        &self,
        problem: &Problem<'_>,
        transform: &Transform,
        asked: usize,
        most: usize,
    ) -> Result<Transform, Error> {
        let ridges: Vec<f64> = ridge_grid().collect();
        let mut errors = Vec::new();
        for candidate in MULTIPLES.map(|multiple| transform.times(multiple)) {
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
            errors.push((candidate, error));
            go_on(self.observer)?;
        }
        Ok(least(errors).map_or_else(|| transform.clone(), |(best, _)| best))
    }

    /// Descend from a start, and again from the place found, with landmarks selected anew there.
    fn twice(&self, problems: &Problems<'_>, start: &Measured) -> Result<Measured, Error> {
        let (problem, held_out) = (&problems.learned, Some(&problems.held));
        let descend = |from: &Measured| {
            let found = descend(problem, held_out, from, (Moves::Transform, STEPS), self.observer)?;
            self.advance()?;
            Ok::<_, Error>(found)
        };
        let first = descend(start)?;
        // Where the metric leaves fewer independent rows than landmarks, those of the first descent stand.
        match self.start(problem, held_out, first.point.transform.clone()) {
            Ok(again) => Ok(first.or(descend(&again)?)),
            Err(_) => self.advance().map(|()| first),
        }
    }

    /// Return the map of full rank with the least leave-one-out error of [`ROUNDS`] rounds of the average
    /// gradient outer product: each takes its map from the gradients of the fit before, at the best multiple
    /// of it. The start itself if no round has a finite error.
    fn of_gradients(&self, problems: &Problems<'_>, from: &Measured) -> Result<Measured, Error> {
        let (problem, held_out) = (&problems.learned, Some(&problems.held));
        let (mut round, mut rounds) = (from.clone(), Vec::new());
        for _ in 0..ROUNDS {
            let Some(outer) = round.point.gradients(problem) else { break };
            let map = round.point.transform.of_gradients(&outer)?;
            let Ok(landmarks) = self.select(problem, &map) else { break };
            let at = |factor: f64| {
                let point = Point { transform: map.times(factor), ridge: 0.0, landmarks: landmarks.clone() };
                let found = point.with_best_ridge(problem, held_out, first_ridges().step_by(2))?;
                let error = found.left_out;
                Some((found, error))
            };
            let Some((next, error)) = least(FACTORS.into_iter().filter_map(at)) else { break };
            rounds.push((next.clone(), error));
            round = next;
            go_on(self.observer)?;
        }
        Ok(least(rounds).map_or_else(|| from.clone(), |(best, _)| best))
    }

    /// Return the errors of metrics from their losses.
    pub(super) fn errors(
        &self,
        found: &[(Metric, Measured)],
        losses: &[Option<Vec<f64>>],
    ) -> Vec<(Metric, f64)> {
        let error = |losses: &Vec<f64>| self.sample.error(losses);
        let of = |losses: &Option<Vec<f64>>| losses.as_ref().map_or(f64::NAN, error);
        found.iter().zip(losses).map(|((metric, _), losses)| (*metric, of(losses))).collect()
    }

    pub(super) fn advance(&self) -> Result<(), Error> {
        self.observer.advance(1);
        go_on(self.observer)
    }
}

/// Return the rows of a problem in the metric of this transform.
pub(super) fn transformed(problem: &Problem<'_>, transform: &Transform) -> Prepared {
    let rows = transform.apply(problem.rows);
    let row = |i: usize| rows.row(i).iter().copied().collect::<Vec<_>>();
    Prepared::unscaled((0..rows.nrows()).flat_map(row).collect(), rows.ncols())
}
