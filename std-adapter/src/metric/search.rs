//! The steps of learning a metric: starts, descents, and comparisons of kernels and metrics.

use crate::approximation::{features::features_of_points, gram::Gram};
use crate::data::prepared::Prepared;
use crate::error::{Cause, Error};
use crate::kernel::{kind::KernelKind, metric::Metric, spec::KernelSpec};
use crate::landmarks::{Task, methods::rpcholesky::RpCholesky, run};
use crate::metric::descent::{Effort, Measured, Moves, Point, descend};
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
pub(super) const KINDS: [KernelKind; 4] =
    [KernelKind::Gaussian, KernelKind::Matern52, KernelKind::Matern32, KernelKind::Laplace];

/// The roughest of them.
pub(super) const ROUGHEST: KernelKind = KernelKind::Laplace;

/// Steps from the scales of one kernel to those of another.
const STEPS_OF_KIND: u64 = 20;

/// Steps of a descent with the same landmarks.
const STEPS: u64 = 40;

/// What has a higher error than another by more than so many standard errors of the difference is tried no
/// further: a map descends once, not twice, and a candidate has no more landmarks.
pub(super) const BEHIND: f64 = 2.0;

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
    pub(super) effort: Effort,
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
    /// The scales in the roughest kernel, [`ROUGHEST`], if it was compared and is not the one taken.
    pub(super) rough: Option<Vec<f64>>,
}

/// What a comparison of kernels finds besides the best.
struct OfKinds {
    /// The errors of all.
    kinds: Vec<(KernelKind, f64)>,
    /// As [`Found::rough`].
    rough: Option<Vec<f64>>,
}

impl Search<'_> {
    /// Learn scales in a kernel, if `any` may be taken in the one with the least error.
    pub(super) fn scales(&self, asked: KernelKind, any: bool) -> Result<Found, Error> {
        let mut kind = asked;
        let mut begun = self.begin(kind);
        // A rougher kernel leaves more independent rows.
        for other in KINDS.into_iter().filter(|&other| any && other != asked) {
            if !matches!(begun, Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { .. } }))) {
                break;
            }
            kind = other;
            begun = self.begin(kind);
        }
        let (mut one, mut scales) = begun?;
        let (mut kinds, mut rough) = (Vec::new(), None);
        if any {
            let best;
            (best, scales, OfKinds { kinds, rough }) = self.compare(kind, (&one, scales))?;
            if best != kind {
                kind = best;
                one = self.one(&self.sample.under(kind))?;
            }
        }
        let problems = self.sample.under(kind);
        let mut metrics = vec![(Metric::One, one)];
        if self.scales {
            self.observer.begin(&format!("scales in the kernel {}", kind.name()), 1);
            metrics.push((Metric::Scales, self.again(&problems, scales)?));
            self.observer.end();
        }
        Ok(Found { kind, metrics, kinds, rough })
    }

    /// Select landmarks in the metric of this transform, and choose the ridge.
    pub(super) fn start(
        &self,
        problem: &Problem<'_>,
        held_out: Option<&Problem<'_>>,
        transform: Transform,
    ) -> Result<Measured, Error> {
        let landmarks = self.select(problem, &transform, self.landmarks)?;
        let point = Point { transform, ridge: 0.0, landmarks };
        point.with_best_ridge(problem, held_out, first_ridges()).ok_or(Error::regression(CoreError::Ridge))
    }

    /// Return one bandwidth in this kernel, and the scales that a first descent from it leads to; the same
    /// twice if no scales are learned.
    fn begin(&self, kind: KernelKind) -> Result<(Measured, Measured), Error> {
        let problems = self.sample.under(kind);
        let one = self.one(&problems)?;
        if !self.scales {
            return Ok((one.clone(), one));
        }
        self.observer.begin(&format!("scales in the kernel {}", kind.name()), 1);
        let scales = self.descend(&problems, &one)?;
        self.observer.end();
        Ok((one, scales))
    }

    /// Return one bandwidth for all features.
    fn one(&self, problems: &Problems<'_>) -> Result<Measured, Error> {
        let one = Transform::Scales(vec![1.0; problems.learned.rows.ncols()]);
        self.start(&problems.learned, Some(&problems.held), one)
    }

    /// Compare the kernels: return that with the least error on the rows held out, a place in it, and what
    /// else is known of them. The others begin at the place of the first; the [roughest](ROUGHEST) begins at
    /// one bandwidth, since scales of a smooth kernel are 0 for features that it cannot follow.
    fn compare(
        &self,
        own: KernelKind,
        (one, from): (&Measured, Measured),
    ) -> Result<(KernelKind, Measured, OfKinds), Error> {
        let others = KINDS.into_iter().filter(|&kind| kind != own).collect::<Vec<_>>();
        self.observer.begin("other kernels", others.len() as u64);
        let others = others.into_par_iter().map(|kind| {
            let Problems { held, learned, .. } = self.sample.under(kind);
            let (begin, steps) = if kind == ROUGHEST { (one, STEPS) } else { (&from, STEPS_OF_KIND) };
            let start = self.start(&learned, Some(&held), begin.point.transform.clone())?;
            let moves = (Moves::Transform, steps, self.effort);
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
        let mut best = None::<((KernelKind, Measured), Vec<f64>)>;
        let (mut kinds, mut rough) = (Vec::new(), None);
        for (kind, found) in std::iter::once((own, from)).chain(others.into_iter().flatten()) {
            let Some(losses) = self.sample.losses(&self.sample.under(kind), &found, self.observer) else {
                continue;
            };
            kinds.push((kind, self.sample.error(&losses)));
            if let (ROUGHEST, Transform::Scales(scales)) = (kind, &found.point.transform) {
                rough = Some(scales.clone());
            }
            if best.as_ref().is_none_or(|(_, least)| is_lower(&losses, least, 0.0)) {
                best = Some(((kind, found), losses));
            }
        }
        self.observer.end();
        let ((kind, found), _) = best.ok_or(Error::regression(CoreError::Ridge))?;
        Ok((kind, found, OfKinds { kinds, rough: rough.filter(|_| kind != ROUGHEST) }))
    }

    /// Learn a map of each of these ranks, from the strongest directions of the scales found or of the
    /// average gradient outer product, whichever has the lower leave-one-out error. The maps compete with
    /// each other, and with the scales if these may be taken.
    pub(super) fn maps(
        &self,
        problems: &Problems<'_>,
        ranks: &[usize],
        (found, may_be_scales): (&[(Metric, Measured)], bool),
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
            Ok(Some((Metric::Map(Some(rank)), self.descend(problems, &best)?)))
        };
        let maps = ranks.par_iter().map(of_rank).collect::<Result<Vec<_>, Error>>()?;
        let maps: Vec<_> = maps.into_iter().flatten().collect();
        let rival = may_be_scales.then_some(scales);
        let may_win = self.may_win(problems, &maps, rival);
        let again = |((metric, map), may_win): ((Metric, Measured), bool)| {
            if may_win {
                return Ok((metric, self.again(problems, map)?));
            }
            self.advance().map(|()| (metric, map))
        };
        let maps = maps.into_par_iter().zip(may_win).map(again).collect();
        self.observer.end();
        maps
    }

    /// Return of each map whether its error on the rows held out may be the least: whether that of no other
    /// map, or of the rival, is lower by more than [`BEHIND`] standard errors of the difference.
    pub(super) fn may_win(
        &self,
        problems: &Problems<'_>,
        maps: &[(Metric, Measured)],
        rival: Option<&Measured>,
    ) -> Vec<bool> {
        let all: Vec<&Measured> = maps.iter().map(|(_, map)| map).chain(rival).collect();
        let squares: Vec<_> = all.par_iter().map(|found| self.sample.squares(problems, found)).collect();
        let errors = squares.iter().zip(&all).map(|(squares, found)| (squares, found.held_out));
        let best = least(errors).and_then(|(best, _)| best.as_ref());
        let may_win = |squares: &Option<Vec<f64>>| match (squares, best) {
            (Some(squares), Some(best)) => !is_lower(best, squares, BEHIND),
            _ => true,
        };
        squares[..maps.len()].iter().map(may_win).collect()
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
        own.extend(self.maps(&problems, &ranks, (&own, true))?);
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
    /// only if none does, and none that was judged on fewer rows than others. Tell why it is not the one of
    /// least error, if it is not.
    pub(super) fn choose(
        &self,
        found: &[(Metric, Measured)],
        losses: &[Option<Vec<f64>>],
        wanted: Metric,
        leaves_enough: impl Fn(&Transform) -> bool,
    ) -> Result<(Metric, Measured, Option<&'static str>), Error> {
        let is_wanted = |metric: Metric| match wanted {
            Metric::Auto => true,
            Metric::Map(None) => matches!(metric, Metric::Map(_)),
            wanted => metric == wanted,
        };
        let most = losses.iter().flatten().map(Vec::len).max();
        let judged = |losses: &&[f64]| Some(losses.len()) == most;
        let all: Vec<(&(Metric, Measured), &[f64])> = found
            .iter()
            .zip(losses)
            .filter(|((metric, _), _)| is_wanted(*metric))
            .filter_map(|(found, losses)| Some((found, losses.as_deref().filter(judged)?)))
            .collect();
        let leaves_enough = |found: &Measured| leaves_enough(&found.point.transform);
        let enough: Vec<_> = all.iter().copied().filter(|((_, found), _)| leaves_enough(found)).collect();
        let candidates = if enough.is_empty() { &all } else { &enough };
        let mut best: Option<(&(Metric, Measured), &[f64])> = None;
        for &(candidate, losses) in candidates {
            if best.as_ref().is_none_or(|(_, least)| is_lower(losses, least, self.sample.margin())) {
                best = Some((candidate, losses));
            }
        }
        let Some(((metric, found), own)) = best else {
            return Err(Error(Cause::Metric {
                problem: "no map of this rank leaves as many independent rows as landmarks; take a larger rank or fewer landmarks",
            }));
        };
        let is_less = |(_, losses): &(_, &[f64])| is_lower(losses, own, 0.0);
        let preferred = match (candidates.iter().any(is_less), all.iter().any(is_less)) {
            (true, _) => Some("others are lower by no more than the noise"),
            (false, true) => Some("others leave fewer independent rows than landmarks"),
            (false, false) => None,
        };
        Ok((*metric, found.clone(), preferred))
    }

    /// Select landmarks in the metric of this transform.
    pub(super) fn select(
        &self,
        problem: &Problem<'_>,
        transform: &Transform,
        count: usize,
    ) -> Result<Mat<f64>, Error> {
        let members = self.members(&transformed(problem, transform), problem.kernel, count)?;
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

    /// Descend from a start with the same landmarks.
    fn descend(&self, problems: &Problems<'_>, from: &Measured) -> Result<Measured, Error> {
        let (problem, held) = (&problems.learned, Some(&problems.held));
        let found = descend(problem, held, from, (Moves::Transform, STEPS, self.effort), self.observer)?;
        self.advance()?;
        Ok(found)
    }

    /// Descend again, with landmarks selected in the metric found, and return the better place.
    fn again(&self, problems: &Problems<'_>, found: Measured) -> Result<Measured, Error> {
        match self.start(&problems.learned, Some(&problems.held), found.point.transform.clone()) {
            Ok(start) => Ok(found.or(self.descend(problems, &start)?)),
            // The metric leaves fewer independent rows than landmarks.
            Err(_) => self.advance().map(|()| found),
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
            let Ok(landmarks) = self.select(problem, &map, self.landmarks) else { break };
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
