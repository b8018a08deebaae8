//! The model with the least error that fits into a number of bytes of flash.

use crate::data::{prepared::Prepared, source::RowSource, table::input::Table};
use crate::error::{Cause, Error};
use crate::kernel::{kind::KernelKind, metric::Metric, params::KernelParams};
use crate::landmarks::selector::Selector;
use crate::metric::{MOST_LANDMARKS, ranks};
use crate::model::{Model, export::Bits, export::Bundle, export::With, export::exported::constants};
use crate::observer::{Observer, Silent, go_on};
use crate::pipeline::{
    line::fit_line, line::line_shape, outcome::Outcome, params::Landmarks, params::Params,
    regress::fit_and_without, tested::test,
};
use crate::regression::{head::Head, ridge::Ridge, rows::split::LeftOut, rows::split::Split};
use dpp_nystrom_host::rng::{RngStream, stream};
use rand::seq::index;
use std::cmp::Ordering;
use std::iter;

/// Return the bytes of code for several outputs beyond those for one, at most: sums in an array, and the
/// class. Loops over few are unrolled. By arm-none-eabi-gcc 12.2 none of 225 headers of 2 to 7 classes and
/// 2 to 12 features, with and without a map, takes more; the closest takes 4 bytes less.
fn code_of_several(outputs: usize, quantise: Option<Bits>) -> usize {
    match (outputs, quantise) {
        (2, None) => 104,
        (3, None) => 232,
        (4, None) => 296,
        (_, None) => 280,
        (2, Some(_)) => 92,
        (3, Some(_)) => 184,
        (4, Some(_)) => 200,
        (_, Some(_)) => 160,
    }
}

/// The maximum number of rows on which models are compared.
const ROWS: usize = 5_120;

/// The minimum number of rows.
const FEWEST: usize = 50;

/// The models, by their error in single precision, that are also quantised.
const QUANTISED: usize = 2;

/// [`fit_in_flash`] takes integers where their error is lower than that of single precision by this factor:
/// they err by more on rows unlike those that they were made for.
pub const COARSER: f64 = 1.01;

/// The factor by which the export of a model may err more than the model. On rows of training integers err by
/// up to a few per cent more.
const CLEARLY: f64 = 1.2;

/// The models that are compared on further rows held out, and the number of parts that are held out in turn.
const FINALISTS: usize = 4;
const SPLITS: usize = 3;

/// Parameters of [`fit_in_flash`].
///
/// ```
/// use dpp_nystrom::kernel::KernelKind;
/// use dpp_nystrom::pipeline::{FlashParams, fit_in_flash};
/// use dpp_nystrom::{Dataset, ErrorKind, Ridge, Scale, observer::NoObserver, selectors::Greedy};
///
/// let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let source = data.source(Scale::Standard)?;
/// let (kernel, ridge) = (KernelKind::Gaussian, Ridge::CrossValidated);
/// let params = FlashParams { bytes: 16, kernel, selector: &Greedy, ridge, seed: 0 };
/// let refused = fit_in_flash(source.as_rows(), &params, &NoObserver).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::Argument); // no model fits 16 bytes
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FlashParams<'a> {
    /// Bytes of flash for the code and the constants of a prediction, as of [`flash_bytes`].
    pub bytes: usize,
    /// The kernel.
    pub kernel: KernelKind,
    /// How landmarks are selected where they are rows.
    pub selector: &'a dyn Selector,
    /// The ridge γ.
    pub ridge: Ridge,
    /// The random seed.
    pub seed: u64,
}

/// A model that was tried, and its error as the device computes it.
///
/// ```
/// use dpp_nystrom::kernel::KernelKind;
/// use dpp_nystrom::pipeline::{FlashParams, fit_in_flash};
/// use dpp_nystrom::{Dataset, Ridge, Scale, observer::NoObserver, selectors::Greedy};
///
/// let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let source = data.source(Scale::Standard)?;
/// let (kernel, ridge) = (KernelKind::Gaussian, Ridge::CrossValidated);
/// let params = FlashParams { bytes: 600, kernel, selector: &Greedy, ridge, seed: 0 };
/// let candidates = fit_in_flash(source.as_rows(), &params, &NoObserver)?.candidates;
/// assert!(candidates.iter().all(|candidate| candidate.bytes <= 600));
/// assert!(candidates.iter().any(|candidate| candidate.line)); // the smallest of all
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The metric.
    pub metric: Metric,
    /// How it is quantised; `None` in single precision.
    pub quantise: Option<Bits>,
    /// The number of landmarks: the most that fit.
    pub landmarks: usize,
    /// Whether the landmarks are free to move.
    pub free: bool,
    /// Whether it is regression on the features themselves: a linear kernel, on a map that has a coordinate
    /// for each output, or on the features where they are not more.
    pub line: bool,
    /// Bytes of flash.
    pub bytes: usize,
    /// Root mean squared error on rows held out, in standard deviations of the targets; of classes the
    /// log-loss.
    pub error: f64,
    /// The fifths of the rows that were held out in turn: three for those with the least error on the first.
    pub parts: usize,
}

/// The model that fits, and how to export it.
///
/// ```
/// use dpp_nystrom::kernel::KernelKind;
/// use dpp_nystrom::model::export::Exported;
/// use dpp_nystrom::pipeline::{FlashParams, fit_in_flash};
/// use dpp_nystrom::{Dataset, Ridge, Scale, observer::NoObserver, selectors::Greedy};
///
/// let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let source = data.source(Scale::Standard)?;
/// let (kernel, ridge) = (KernelKind::Gaussian, Ridge::CrossValidated);
/// let params = FlashParams { bytes: 600, kernel, selector: &Greedy, ridge, seed: 0 };
/// let found = fit_in_flash(source.as_rows(), &params, &NoObserver)?;
/// let exported = Exported::of(&found.outcome.fitted.model, found.chosen.quantise)?;
/// assert!(exported.flash_bytes() < found.chosen.bytes); // which has the code too
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct InFlash<'s> {
    /// The model of all rows.
    pub outcome: Outcome<'s>,
    /// What was chosen.
    pub chosen: Candidate,
    /// All that were tried.
    pub candidates: Vec<Candidate>,
}

/// Return the bytes of flash of a prediction in C on a Cortex-M4F, compiled with `-Os`: the constants, and an
/// upper bound of the code. `landmarks` x `features` numbers, or landmarks of `rank` numbers with a map. Of
/// several outputs it is that of the function that returns the class.
///
/// ```
/// use dpp_nystrom::kernel::KernelKind;
/// use dpp_nystrom::model::export::Bits;
/// use dpp_nystrom::pipeline::flash_bytes;
///
/// let single = flash_bytes(KernelKind::Gaussian, None, [100, 8, 1], None);
/// let quantised = flash_bytes(KernelKind::Gaussian, Some(Bits::Sixteen), [100, 8, 1], None);
/// let classes = flash_bytes(KernelKind::Gaussian, None, [100, 8, 3], None);
/// assert!(quantised < single && single + 800 < classes); // a weight a landmark and class
/// ```
pub fn flash_bytes(
    kernel: KernelKind,
    quantise: Option<Bits>,
    [landmarks, features, outputs]: [usize; 3],
    rank: Option<usize>,
) -> usize {
    let code = match (kernel, quantise) {
        (_, None) => kernel.about().c_bytes,
        (_, Some(_)) => {
            if rank.is_some() {
                608
            } else {
                532
            }
        }
    };
    // A loop over two coordinates is unrolled.
    let unrolled = if rank.unwrap_or(features) == 2 { 40 } else { 0 };
    // Of several outputs: their sums, the class, and for each a mean, a scale and weights.
    let further = match outputs {
        0 | 1 => 0,
        _ => code_of_several(outputs, quantise) + 4 * ((outputs - 1) * landmarks + 2 * outputs),
    };
    code + unrolled + further + constants(quantise, [landmarks, features], rank)
}

/// Return the bytes of flash of a line in C: its constants, and an upper bound of the code.
fn line_bytes(features: usize, outputs: usize) -> usize {
    let is_map = line_shape(features, outputs).1.is_some();
    // Loops over few outputs are unrolled.
    let code = match (outputs, is_map) {
        (0 | 1, _) => 144,
        (2 | 3, true) => 336,
        (4, true) => 388,
        (_, true) => 320,
        (2, false) => 272,
        (4, false) => 472,
        (_, false) => 400,
    };
    let of_outputs = if outputs > 1 { 2 * outputs } else { 0 };
    // Without a map a scale for each feature, besides the weights.
    let scales = if is_map { 0 } else { features };
    code + 4 * (features * (1 + outputs) + scales + of_outputs)
}

/// Fit the model with the least error whose prediction takes at most so many bytes of flash on a device.
///
/// Up to 5,120 rows are drawn, and a fifth of them held out. With one bandwidth, scales and maps, each with
/// as many landmarks as fit in single precision, rows or free to move, models are fitted to the others; the
/// best two of these also in 16 and 8 bits, where more landmarks fit; and regression on the features
/// themselves, which needs the fewest bytes. The best four are fitted twice more, with other fifths held out.
/// That with the least error on the rows held out, of classes the least log-loss, as the exported model
/// predicts them, is fitted to all rows; integers must be better by [`COARSER`]. The test error is that of
/// the device's arithmetic on a tenth of the rows that is left out of all of this.
///
/// # Errors
/// `ErrorKind::Argument` if none fits; `ErrorKind::Data` for fewer than 50 rows; those of
/// [`fit`](super::fit).
///
/// ```
/// use dpp_nystrom::kernel::KernelKind;
/// use dpp_nystrom::pipeline::{FlashParams, fit_in_flash};
/// use dpp_nystrom::{Dataset, Ridge, Scale, observer::NoObserver, selectors::Greedy};
///
/// let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let source = data.source(Scale::Standard)?;
/// let (kernel, ridge) = (KernelKind::Gaussian, Ridge::CrossValidated);
/// let params = FlashParams { bytes: 640, kernel, selector: &Greedy, ridge, seed: 0 };
/// let chosen = fit_in_flash(source.as_rows(), &params, &NoObserver)?.chosen;
/// assert!(chosen.bytes <= 640 && chosen.error < 0.2);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn fit_in_flash<'s>(
    source: &'s dyn RowSource,
    params: &FlashParams<'_>,
    observer: &dyn Observer,
) -> Result<InFlash<'s>, Error> {
    source.check()?;
    source.columns().learnable()?;
    if source.columns().scaler.bounds.is_some() {
        return Err(Error(Cause::ClippedFlash));
    }
    if source.len() < FEWEST {
        return Err(Error(Cause::Folds { rows: source.len() }));
    }
    let left_out = LeftOut::of(source, params.seed);
    let seen = match &left_out {
        Ok(left_out) => left_out.seen(),
        Err(_) => (0..source.len()).collect(),
    };
    let drawn = seen.len().min(ROWS);
    let rows = index::sample(&mut stream(params.seed, RngStream::Flash), seen.len(), drawn);
    let rows: Vec<usize> = rows.into_iter().map(|place| seen[place]).collect();
    let judges = (0..SPLITS).map(|part| Judge::new(source, &rows, part, params.seed));
    let judges = judges.collect::<Result<Vec<_>, Error>>()?;
    let columns = source.columns();
    let (head, outputs) = (Head::of(&columns), 1 + columns.further.len());
    let search = Search { params, dim: columns.features(), outputs, head, judges, observer };
    let candidates = search.candidates()?;
    search.fit(source, candidates, left_out.as_ref().map_err(|reason| *reason))
}

impl Candidate {
    fn by_error(&self, other: &Self) -> Ordering {
        let error = |one: &Self| if one.quantise.is_some() { COARSER * one.error } else { one.error };
        error(self).total_cmp(&error(other))
    }
}

/// Return the outputs for rows as a device has them, in the units of the targets, row by row.
fn as_device(model: &Model, quantise: Option<Bits>, table: &Table) -> Result<Vec<f64>, Error> {
    let outputs = model.each_output();
    let bundle = Bundle::of(&outputs, quantise, With::default())?;
    let exported = iter::once(&bundle.first).chain(&bundle.further);
    let columns = exported.map(|output| output.predict(table)).collect::<Result<Vec<_>, _>>()?;
    Ok((0..table.rows()).flat_map(|row| columns.iter().map(move |column| column[row])).collect())
}

/// Rows held out that judge models of the others.
struct Judge {
    held: Prepared,
    /// Their raw features.
    table: Table,
    learned: Prepared,
}

impl Judge {
    /// Hold out one of the parts of these rows. Rows of a group, or of a time, stay together if there are
    /// enough of them.
    fn new(source: &dyn RowSource, rows: &[usize], part: usize, seed: u64) -> Result<Self, Error> {
        let split = Split::of(source, rows, part, seed).unwrap_or_else(|| Split::of_rows(rows, part));
        // Their mean counts, not its standard error, for which groups matter.
        let held = Prepared { groups: None, in_time: false, ..source.gather(&split.held)? };
        Ok(Self { table: held.clone().into_table(), held, learned: source.gather(&split.learned)? })
    }
}

/// A comparison of models.
struct Search<'a> {
    params: &'a FlashParams<'a>,
    dim: usize,
    outputs: usize,
    head: Head,
    /// The first judges all models, and the others the best of them.
    judges: Vec<Judge>,
    observer: &'a dyn Observer,
}

impl Search<'_> {
    /// Return the metrics to try, and whether landmarks are free to move in them.
    fn wanted(&self) -> Vec<(Metric, bool)> {
        // In few bytes a single direction may have the most landmarks.
        let single = (self.dim > 1).then_some(1);
        let maps = single.into_iter().chain(ranks(self.dim)).map(|rank| Metric::Map(Some(rank)));
        let learned = iter::once(Metric::Scales).chain(maps).filter(|_| self.params.kernel.has_bandwidth());
        let learned = learned.flat_map(|metric| [(metric, false), (metric, true)]);
        iter::once((Metric::One, false)).chain(learned).collect()
    }

    /// Return the models that fit, the first the one with the least error.
    fn candidates(&self) -> Result<Vec<Candidate>, Error> {
        let mut wanted = self.wanted();
        let steps = wanted.len() + 1 + 2 * QUANTISED + FINALISTS * (self.judges.len() - 1);
        self.observer.begin("models", steps as u64);
        let mut candidates = Vec::new();
        for &(metric, free) in &wanted {
            candidates.extend(self.first(self.most(metric, None, free))?);
        }
        candidates.sort_by(Candidate::by_error);
        // Integers may fit where single precision does not.
        if !candidates.is_empty() {
            let best = candidates.iter().take(QUANTISED);
            wanted = best.map(|candidate| (candidate.metric, candidate.free)).collect();
        }
        for (metric, free) in wanted {
            for bits in [Bits::Sixteen, Bits::Eight] {
                candidates.extend(self.first(self.most(metric, Some(bits), free))?);
            }
        }
        candidates.extend(self.first(Some(self.line()).filter(|line| line.bytes <= self.params.bytes))?);
        candidates.sort_by(Candidate::by_error);
        let finalists = candidates.len().min(FINALISTS);
        for candidate in &mut candidates[..finalists] {
            let mut losses = self.head.mean_loss(candidate.error);
            for judge in &self.judges[1..] {
                // What cannot be fitted to other rows is not chosen.
                losses += self.head.mean_loss(self.error(judge, *candidate)?.unwrap_or(f64::INFINITY));
            }
            candidate.error = self.head.error(losses / self.judges.len() as f64);
            candidate.parts = self.judges.len();
        }
        candidates[..finalists].sort_by(Candidate::by_error);
        self.observer.end();
        Ok(candidates)
    }

    /// Return regression on the features themselves.
    fn line(&self) -> Candidate {
        let (landmarks, rank) = line_shape(self.dim, self.outputs);
        Candidate {
            metric: rank.map_or(Metric::One, |rank| Metric::Map(Some(rank))),
            quantise: None,
            landmarks,
            free: false,
            line: true,
            bytes: line_bytes(self.dim, self.outputs),
            error: f64::NAN,
            parts: 1,
        }
    }

    /// Fit the first candidate that can be fitted to all rows, and is then as good on a device as on the
    /// host. Of those that are not, the first is taken if no other had a lower error than it has there.
    fn fit<'s>(
        &self,
        source: &'s dyn RowSource,
        candidates: Vec<Candidate>,
        left_out: Result<&LeftOut, &'static str>,
    ) -> Result<InFlash<'s>, Error> {
        let Self { params, observer, .. } = *self;
        let mut found: Option<(Outcome<'s>, Candidate)> = None;
        // What the export of the model that was found errs, where it errs more than the model.
        let mut coarse = f64::INFINITY;
        for &chosen in candidates.iter().filter(|tried| tried.error.is_finite()) {
            if !(chosen.error < coarse) {
                continue;
            }
            match self.fit_to(source, chosen, left_out.ok(), observer) {
                Ok(outcome) => match self.coarse(&outcome.fitted.model, chosen.quantise)? {
                    None => {
                        found = Some((outcome, chosen));
                        break;
                    }
                    Some(error) if found.is_none() => {
                        coarse = error;
                        found = Some((outcome, chosen));
                    }
                    Some(_) => {}
                },
                // In the metric of all rows fewer may be independent; the next best is taken.
                Err(Error(Cause::Landmarks { .. } | Cause::Metric { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some((mut outcome, chosen)) = found {
            let predict = |model: &Model, table: &Table| as_device(model, chosen.quantise, table);
            test(&mut outcome, source, left_out, &predict, params.seed, observer)?;
            outcome.fitted.model.quantise = chosen.quantise;
            return Ok(InFlash { outcome, chosen, candidates });
        }
        Err(Error(Cause::Flash { bytes: params.bytes, least: self.line().bytes, features: self.dim }))
    }

    /// Return the error of the exported model on rows of training where it is more than [`CLEARLY`] times
    /// the model's own: weights that nearly cancel leave nothing of the precision.
    fn coarse(&self, model: &Model, quantise: Option<Bits>) -> Result<Option<f64>, Error> {
        let Judge { table, held, .. } = &self.judges[0];
        let error = |outputs: &[f64]| -> Result<f64, Error> {
            let (test, _) = self.head.test(outputs, held, self.params.seed)?;
            Ok(test.map_or(f64::INFINITY, |test| test.log_loss.unwrap_or(test.error).value))
        };
        let exported = match as_device(model, quantise, table) {
            Ok(outputs) => error(&outputs)?,
            Err(Error(Cause::Export(_))) => f64::INFINITY,
            Err(problem) => return Err(problem),
        };
        let own = error(&model.predict_table(table)?)?;
        Ok(Some(exported).filter(|&exported| exported > CLEARLY * own))
    }

    /// Fit a candidate.
    fn fit_to<'s>(
        &self,
        source: &'s dyn RowSource,
        candidate: Candidate,
        left_out: Option<&LeftOut>,
        observer: &dyn Observer,
    ) -> Result<Outcome<'s>, Error> {
        let FlashParams { ridge, seed, .. } = *self.params;
        if candidate.line {
            let parts = left_out.map_or(&[][..], |left_out| &left_out.parts);
            return fit_line(source, ridge, seed, parts, observer);
        }
        let params = self.params.with(candidate.metric, candidate.landmarks, candidate.free);
        fit_and_without(source, &params, left_out, None, observer)
    }

    /// Return the candidate with as many landmarks as fit, if one does.
    fn most(&self, metric: Metric, quantise: Option<Bits>, free: bool) -> Option<Candidate> {
        let Self { params, dim, outputs, .. } = *self;
        let bytes = |c: usize| flash_bytes(params.kernel, quantise, [c, dim, outputs], metric.rank());
        let limit = if free { MOST_LANDMARKS } else { usize::MAX }.min(self.judges[0].learned.len() / 4);
        let per_landmark = bytes(2).saturating_sub(bytes(1)).max(1);
        let fitting = params.bytes.checked_sub(bytes(1)).map(|left| 1 + left / per_landmark)?;
        // The bytes of a landmark are rounded up to words.
        let landmarks = (1..=fitting.min(limit)).rev().find(|&c| bytes(c) <= params.bytes)?;
        let bytes = bytes(landmarks);
        Some(Candidate { metric, quantise, landmarks, free, line: false, bytes, error: f64::NAN, parts: 1 })
    }

    /// Return a candidate with its error by the first judge, if there is one that can be fitted.
    fn first(&self, candidate: Option<Candidate>) -> Result<Option<Candidate>, Error> {
        let Some(candidate) = candidate else { return Ok(None) };
        let error = self.error(&self.judges[0], candidate)?;
        Ok(error.map(|error| Candidate { error, ..candidate }))
    }

    /// Return the error on the rows held out, as the exported model predicts them.
    fn error(&self, judge: &Judge, candidate: Candidate) -> Result<Option<f64>, Error> {
        let fitted = self.fit_to(&judge.learned, candidate, None, &Silent(self.observer));
        self.observer.advance(1);
        go_on(self.observer)?;
        // A map of low rank may leave fewer independent rows than landmarks; a wide kernel may be too coarse
        // for integers.
        let predict =
            |outcome: Outcome<'_>| as_device(&outcome.fitted.model, candidate.quantise, &judge.table);
        match fitted.and_then(predict) {
            Ok(outputs) => {
                let (test, _) = self.head.test(&outputs, &judge.held, self.params.seed)?;
                Ok(test.map(|test| test.log_loss.unwrap_or(test.error).value))
            }
            Err(Error(Cause::Landmarks { .. } | Cause::Metric { .. } | Cause::Export(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<'a> FlashParams<'a> {
    fn with(&self, metric: Metric, landmarks: usize, free: bool) -> Params<'a> {
        Params {
            kernel: KernelParams::from(self.kernel).with_metric(metric),
            landmarks: if free { Landmarks::Free(landmarks) } else { Landmarks::Count(landmarks) },
            selector: self.selector,
            ridge: self.ridge,
            seed: self.seed,
            ..Params::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, FlashParams, Judge, Search};
    use crate::data::{dataset::Dataset, scaler::Scale};
    use crate::kernel::{kind::KernelKind, metric::Metric};
    use crate::observer::NoObserver;
    use crate::regression::{head::Head, ridge::Ridge};
    use crate::selectors::Greedy;

    /// Under a tiny ridge weights cancel each other beyond single precision: the next candidate is taken,
    /// unless its error was larger than that of the export.
    #[test]
    fn a_model_that_its_export_does_not_follow_is_not_taken() {
        let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 100.0).collect();
        let y: Vec<f64> = x.iter().map(|x| x + 0.01 * (40.0 * x).sin()).collect();
        let data = Dataset::from_rows(&x, 1).unwrap().with_target(&y).unwrap();
        let source = data.source(Scale::Standard).unwrap();
        let source = source.as_rows();
        let (kernel, ridge) = (KernelKind::Gaussian, Ridge::Value(1e-15));
        let params = FlashParams { bytes: 4_096, kernel, selector: &Greedy, ridge, seed: 0 };
        let rows: Vec<usize> = (0..200).collect();
        let judges = vec![Judge::new(source, &rows, 0, 0).unwrap()];
        let head = Head::of(&source.columns());
        let search = Search { params: &params, dim: 1, outputs: 1, head, judges, observer: &NoObserver };
        let kernel = Candidate {
            metric: Metric::One,
            quantise: None,
            landmarks: 12,
            free: false,
            line: false,
            bytes: 1_000,
            error: 1e-4,
            parts: 3,
        };
        let fit = |candidates| search.fit(source, candidates, Err("there is no such part")).unwrap().chosen;
        let model = search.fit_to(source, kernel, None, &NoObserver).unwrap().fitted.model;
        let coarse = search.coarse(&model, None).unwrap().unwrap();
        let line = Candidate { error: coarse / 2.0, ..search.line() };
        assert!(fit(vec![kernel, line]).line);
        assert!(!fit(vec![kernel, Candidate { error: 2.0 * coarse, ..line }]).line);
        assert!(fit(vec![line, kernel]).line);
    }
}
