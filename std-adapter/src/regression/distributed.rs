//! Distributed kernel ridge regression: accumulate parts of the rows anywhere and merge them.
//!
//! Each thread, process or machine accumulates its rows by the same [`FitSpec`] and sends its accumulator:
//! `c(c + 3)/2 + 2` numbers, independent of the number of rows. Accumulators merge in any order, and the
//! result equals a fit of all rows in one place, up to rounding. A spec and its accumulators serialise to
//! bytes; the bytes of an accumulator hold the digest of its spec
//! ([`dpp_nystrom_core::RidgeRegression::write_state`]).
//!
//! The result does not depend on how rows are split into parts. The fold of a row is a hash of its values and
//! the seed ([`draw`]), so the same rows in another order or in other parts give the same folds.

use crate::approximation::{features::independent_points, ground::Ground};
use crate::data::{
    columns::Classes, columns::Columns, columns::TargetColumn, columns::check_indices, scaler::Scaler,
    source::RowSource,
};
use crate::error::{Cause, Error, ErrorKind, check_length};
use crate::kernel::spec::KernelSpec;
use crate::model::{classes::Classifier, trained::AnyCoefficients};
use crate::observer::Observer;
use crate::regression::{
    fit::Fitted, fit::assemble, ridge::Ridge, rows::accumulator::Accumulator, rows::accumulator::length,
    rows::blocked_qr::Block, rows::folds::FOLDS, solve::robust::Aggregate, solve::solution::conclude,
};
use dpp_nystrom_core::{BytesProblem, Error as CoreError, GroundSet, Landmarks, Nystrom, Points, digest};
use dpp_nystrom_host::heap::{Heap, zeros};
use pulp::Arch;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The specification of a distributed fit: landmarks, kernel, scalers and folds.
///
/// ```
/// use dpp_nystrom::data::Scaler;
/// use dpp_nystrom::kernel::{KernelKind, KernelSpec};
/// use dpp_nystrom::observer::NoObserver;
/// use dpp_nystrom::{regression::FitSpec, Ridge};
///
/// let raw: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
/// let targets: Vec<f64> = raw.iter().map(|x| x.sin()).collect();
/// let spec = FitSpec {
///     feature_names: vec!["x".into()],
///     target_name: "y".into(),
///     scaler: Scaler::of(&raw, 1),
///     target_scaler: Scaler::of(&targets, 1),
///     landmarks: (0..12).map(|i| f64::from(i) * 0.3 - 1.65).collect(),
///     kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 0.5 },
///     folds: 10,
///     seed: 0,
///     classes: None,
/// };
/// let mut accumulated = spec.empty()?;
/// for part in [0..70, 70..200] {
///     let mut elsewhere = spec.empty()?;
///     spec.accumulate(&mut elsewhere, &[&raw[part.clone()]], &targets[part])?;
///     let bytes = spec.state(&elsewhere)?;
///     spec.merge(&mut accumulated, &spec.read(&bytes)?)?;
/// }
/// let training = spec.conclude(&accumulated, Ridge::CrossValidated, "waves", &NoObserver)?;
/// assert_eq!(training.model.trained_rows, 200);
/// assert!(training.model.train_nrmse < 0.01);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitSpec {
    /// The features' names.
    pub feature_names: Vec<String>,
    /// The target's name.
    pub target_name: String,
    /// The features' statistics, and a map.
    pub scaler: Scaler,
    /// The target's statistics: one column, or one for the indicator of each class.
    pub target_scaler: Scaler,
    /// Landmarks, standardised and mapped, row-major.
    pub landmarks: Vec<f64>,
    /// The kernel.
    pub kernel: KernelSpec,
    /// The number of folds; 1 without cross-validation.
    pub folds: u8,
    /// The seed of the folds.
    pub seed: u64,
    /// The classes, if the target is the index of one: least squares of their indicators.
    pub classes: Option<Classes>,
}

/// An accumulator for each fold.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, select};
/// use dpp_nystrom::{Dataset, Ridge, Scale, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let source = data.source(Scale::Standard)?;
/// let params = Params { landmarks: Landmarks::Count(8), kernel: KernelParams::default(), ..Params::default() };
/// let spec = select(source.as_rows(), &params, &NoObserver)?.fit_spec(Ridge::CrossValidated, 0)?;
/// let mut folds = spec.empty()?;
/// spec.accumulate(&mut folds, &[&x], &y)?; // raw features, by columns
/// assert_eq!((folds.rows(), folds.accumulators().len()), (100, 10));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Folds {
    /// The digest of the specification.
    spec: u64,
    folds: Vec<Accumulator<f64>>,
}

impl Folds {
    /// Return the number of rows accumulated.
    pub fn rows(&self) -> u64 {
        self.folds.iter().map(Accumulator::rows).sum()
    }

    /// Return the size of the accumulators in bytes.
    pub fn size(&self) -> usize {
        self.folds.iter().map(Accumulator::size).sum()
    }

    /// Return the accumulators, one per fold.
    pub fn accumulators(&self) -> &[Accumulator<f64>] {
        &self.folds
    }

    /// Check that these are of a specification, which has this digest.
    fn check(&self, spec: &FitSpec, digest: u64) -> Result<(), Error> {
        let is_own = self.spec == digest && self.folds.len() == usize::from(spec.folds);
        if is_own && !self.folds.is_empty() { Ok(()) } else { Err(Error(Cause::OtherSpec)) }
    }
}

/// A source whose rows stay where they are and are accumulated there.
pub trait BatchSource: RowSource {
    /// Accumulate all rows.
    ///
    /// # Errors
    /// Those of [`FitSpec::accumulate`] and of the source.
    fn accumulate(&self, spec: &FitSpec, observer: &dyn Observer) -> Result<Folds, Error>;
}

/// Hash a row and a seed to a uniform `u64`. Equal rows give equal numbers, wherever they are stored.
///
/// ```
/// use dpp_nystrom::regression::draw;
///
/// assert_eq!(draw(7, [1.0, 0.0]), draw(7, [1.0, -0.0]));
/// assert_ne!(draw(7, [1.0, 2.0]), draw(7, [2.0, 1.0]));
/// assert_ne!(draw(7, [1.0, 2.0]), draw(8, [1.0, 2.0]));
/// ```
pub fn draw(seed: u64, row: impl IntoIterator<Item = f64>) -> u64 {
    row.into_iter().fold(mix(seed), absorb)
}

/// [`draw`] for rows given as columns of one length: all rows advance column by column, in vector lanes.
///
/// ```
/// use dpp_nystrom::regression::{draw, draw_columns};
///
/// assert_eq!(draw_columns(7, &[&[1.0, 2.0], &[3.0, 4.0]]), [draw(7, [1.0, 3.0]), draw(7, [2.0, 4.0])]);
/// ```
pub fn draw_columns(seed: u64, columns: &[&[f64]]) -> Vec<u64> {
    let mut states = vec![mix(seed); columns.first().map_or(0, |column| column.len())];
    Arch::new().dispatch(|| {
        for column in columns {
            states.iter_mut().zip(*column).for_each(|(state, &value)| *state = absorb(*state, value));
        }
    });
    states
}

/// Hash one more value of a row. -0.0 and 0.0 hash alike.
#[inline(always)]
fn absorb(state: u64, value: f64) -> u64 {
    mix(state ^ (value + 0.0).to_bits())
}

/// Return the place of the first value that is not finite.
pub fn first_not_finite(values: &[f64]) -> Option<usize> {
    // A loop without an exit runs in vector lanes.
    let all = values.iter().fold(true, |all, value| all & value.is_finite());
    if all { None } else { values.iter().position(|value| !value.is_finite()) }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
#[inline(always)]
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl FitSpec {
    /// Specify a fit on scaled landmarks to rows with these columns. Folds are kept apart where the ridge is
    /// cross-validated.
    ///
    /// # Errors
    /// `ErrorKind::Data` for no target or a constant one; `ErrorKind::Unsupported` for several or classes
    /// ([`Selected::fit_spec`](crate::pipeline::Selected::fit_spec) takes these), and for leaving out each
    /// row, since rows are read once.
    pub fn new(
        columns: Columns,
        landmarks: Vec<f64>,
        kernel: KernelSpec,
        ridge: Ridge,
        seed: u64,
    ) -> Result<Self, Error> {
        columns.single("a fit to rows in several places")?;
        Self::of(columns, landmarks, kernel, ridge, seed)
    }

    /// [`new`](Self::new), also for classes, of which the target is the index.
    pub(crate) fn of(
        columns: Columns,
        landmarks: Vec<f64>,
        kernel: KernelSpec,
        ridge: Ridge,
        seed: u64,
    ) -> Result<Self, Error> {
        let first = match columns.classes {
            Some(_) => columns.learnable()?,
            None => columns.single("a fit in batches")?,
        };
        let targets = || std::iter::once(first).chain(&columns.further);
        let target_scaler = Scaler {
            means: targets().map(|target| target.mean).collect(),
            deviations: targets().map(|target| target.deviation).collect(),
            map: None,
            bounds: None,
        };
        let target_name = columns.classes.as_ref().map_or(&first.name, |own| &own.column).clone();
        if ridge == Ridge::LeaveOneOut {
            return Err(Error(Cause::LeaveOneOut));
        }
        Ok(Self {
            feature_names: columns.feature_names,
            target_name,
            scaler: columns.scaler,
            target_scaler,
            landmarks,
            kernel,
            folds: if ridge == Ridge::CrossValidated { FOLDS as u8 } else { 1 },
            seed,
            classes: columns.classes,
        })
    }

    /// Specify the fit for classes with these labels, also for those that no row had so far. Indices are then
    /// places among them.
    ///
    /// ```
    /// use dpp_nystrom::pipeline::{Landmarks, Params, select};
    /// use dpp_nystrom::{Dataset, Ridge, Scale, observer::NoObserver};
    ///
    /// let x: Vec<f64> = (0..200).map(|i| f64::from(i % 100)).collect();
    /// let class: Vec<f64> = x.iter().map(|&x| f64::from(u8::from(x > 49.0))).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_classes(&class, &["cold", "warm"])?;
    /// let (source, ridge) = (data.source(Scale::Standard)?, Ridge::CrossValidated);
    /// let params = Params { landmarks: Landmarks::Count(8), ..Params::default() };
    /// let spec = select(source.as_rows(), &params, &NoObserver)?.fit_spec(ridge, 0)?;
    /// let spec = spec.with_labels(&["cold", "hot", "warm"])?;
    /// let mut sums = spec.empty()?;
    /// spec.accumulate(&mut sums, &[&x], &class.iter().map(|class| 2.0 * class).collect::<Vec<f64>>())?;
    /// let model = spec.conclude(&sums, ridge, "first batch", &NoObserver)?.model;
    /// assert_eq!(model.classify(&[90.0])?[0].index, 2);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` for a target that is a number, `ErrorKind::Argument` for labels of which
    /// one is missing or occurs twice.
    pub fn with_labels(mut self, labels: &[&str]) -> Result<Self, Error> {
        let Classes { column, labels: known } = self.classes.take().ok_or(Error(Cause::NoClasses))?;
        let Scaler { means, deviations, .. } = &self.target_scaler;
        // Of those without rows outputs begin at 0, and count as much as those of the rarest.
        let least = deviations.iter().copied().fold(f64::INFINITY, f64::min);
        let place = |label: &&str| known.iter().position(|own| own == label);
        let statistics = labels.iter().map(|label| match place(label) {
            Some(place) => (means[place], deviations[place]),
            None => (0.0, least),
        });
        let (means, deviations) = statistics.unzip();
        let distinct: BTreeSet<&str> = labels.iter().copied().collect();
        let found = labels.iter().filter(|label| place(label).is_some()).count();
        if distinct.len() < labels.len() || found < known.len() {
            let problem = format!("the labels of {column} must have each class of the spec, and each once");
            return Err(Error::new(ErrorKind::Argument, problem));
        }
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        let target_scaler = Scaler { means, deviations, map: None, bounds: None };
        Ok(Self { target_scaler, classes: Some(Classes { column, labels }), ..self })
    }

    /// Return the number of targets: 1, or that of the classes.
    fn targets(&self) -> usize {
        self.classes.as_ref().map_or(1, |classes| classes.labels.len())
    }

    /// Return the number of features of a row.
    pub fn features(&self) -> usize {
        self.feature_names.len()
    }

    /// Serialise the specification, for the workers that hold the rows.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    ///
    /// ```
    /// use dpp_nystrom::data::Scaler;
    /// use dpp_nystrom::kernel::{KernelKind, KernelSpec};
    /// use dpp_nystrom::regression::FitSpec;
    ///
    /// let spec = FitSpec {
    ///     feature_names: vec!["celsius".into()],
    ///     target_name: "hours".into(),
    ///     scaler: Scaler { means: vec![20.0], deviations: vec![2.0], map: None, bounds: None },
    ///     target_scaler: Scaler { means: vec![5.0], deviations: vec![1.5], map: None, bounds: None },
    ///     landmarks: vec![-1.0, 0.5],
    ///     kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 0.5 },
    ///     folds: 10,
    ///     seed: 0,
    ///     classes: None,
    /// };
    /// let bytes = spec.to_bytes()?;
    /// assert_eq!(FitSpec::from_bytes(&bytes)?, spec);
    /// assert!(FitSpec::from_bytes(&bytes[1..]).is_err());
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let memory = |_| Error(Cause::Memory { bytes: size_of_val(self.landmarks.as_slice()) });
        let mut bytes = postcard::to_allocvec(self).map_err(memory)?;
        match &self.scaler {
            Scaler { map: Some(map), bounds: None, .. } => {
                bytes.extend(postcard::to_allocvec(map).map_err(memory)?);
            }
            // No map has rank 0.
            Scaler { map, bounds: Some(bounds), .. } => {
                bytes.push(0);
                bytes.extend(postcard::to_allocvec(&(map, bounds)).map_err(memory)?);
            }
            _ => {}
        }
        Ok(bytes)
    }

    /// Deserialise what [`to_bytes`](Self::to_bytes) returned.
    ///
    /// # Errors
    /// `ErrorKind::Format`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (mut spec, rest) = postcard::take_from_bytes::<Self>(bytes).map_err(|_| Error(Cause::FitSpec))?;
        if !rest.is_empty() {
            let read = match rest.split_first() {
                Some((0, clipped)) => postcard::take_from_bytes::<(_, Vec<f64>)>(clipped)
                    .map(|((map, bounds), rest)| (map, Some(bounds), rest)),
                _ => postcard::take_from_bytes(rest).map(|(map, rest)| (Some(map), None, rest)),
            };
            (spec.scaler.map, spec.scaler.bounds) = match read {
                Ok((map, bounds, [])) => (map, bounds),
                _ => return Err(Error(Cause::FitSpec)),
            };
        }
        let dim = spec.features();
        let fits = dim > 0
            && spec.scaler.is_well_formed(dim)
            && spec.target_scaler.means.len() == spec.targets()
            && spec.target_scaler.deviations.len() == spec.targets()
            && spec.landmarks.len().is_multiple_of(spec.scaler.width())
            && spec.folds > 0;
        if fits { Ok(spec) } else { Err(Error(Cause::FitSpec)) }
    }

    fn on_landmarks<A>(
        &self,
        work: impl FnOnce(&Landmarks<'_, f64, Ground<'_>>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let ground = Points::new(&self.landmarks, self.scaler.width(), self.kernel.build()?);
        let ground = ground.map_err(|reason| Error(Cause::Landmarks { reason }))?;
        let mut memory = Heap::new(ground.len())?;
        work(&independent_points(&ground, &mut memory)?)
    }

    fn digest(&self, landmarks: &Landmarks<'_, f64, Ground<'_>>) -> u64 {
        // Only the bits matter.
        let seed = [f64::from_bits(self.seed)];
        let map = self.scaler.map.as_ref().map_or(&[][..], |map| &map.values);
        let numbers: [&[f64]; 8] = [
            &seed,
            &self.scaler.means,
            &self.scaler.deviations,
            &self.target_scaler.means,
            &self.target_scaler.deviations,
            map,
            self.scaler.bounds.as_deref().unwrap_or_default(),
            &self.landmarks,
        ];
        let known = digest(&numbers, landmarks.factor());
        // The bytes of labels, each with its length before it.
        let labels = self.classes.iter().flat_map(|classes| &classes.labels);
        labels.fold(known, |state, label| {
            label.bytes().fold(mix(state ^ label.len() as u64), |state, byte| mix(state ^ u64::from(byte)))
        })
    }

    /// Return empty accumulators.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`, `ErrorKind::Memory`.
    pub fn empty(&self) -> Result<Folds, Error> {
        let (rank, spec) = self.on_landmarks(|landmarks| Ok((landmarks.len(), self.digest(landmarks))))?;
        let folds = vec![Accumulator::empty_of(rank, self.targets())?; usize::from(self.folds)];
        Ok(Folds { spec, folds })
    }

    /// Accumulate rows, given as columns of raw features and targets, of classes their index. Each call
    /// factors the landmarks (`c³/3` multiply-adds): pass thousands of rows at a time.
    ///
    /// # Errors
    /// `ErrorKind::Argument` unless there is a column for each feature and all are of one length;
    /// `ErrorKind::Regression` with the row and column of a value that is not finite, the target being the
    /// last column, and for accumulators of another specification; `ErrorKind::Data` for a number that is no
    /// index of a class. `accumulated` is then unchanged.
    pub fn accumulate(
        &self,
        accumulated: &mut Folds,
        columns: &[&[f64]],
        targets: &[f64],
    ) -> Result<(), Error> {
        let folds = usize::from(self.folds).max(1);
        check_length("columns of features", self.features(), columns.len())?;
        for column in columns {
            check_length("values of a column", targets.len(), column.len())?;
        }
        for (at, column) in columns.iter().copied().chain([targets]).enumerate() {
            if let Some(row) = first_not_finite(column) {
                return Err(Error::regression(CoreError::NotFinite { row, column: at }));
            }
        }
        if let Some(Classes { labels, .. }) = &self.classes {
            check_indices(targets, labels.len())?;
        }
        let raw = |row: usize| columns.iter().map(move |column| column[row]);
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); folds];
        if let [all] = &mut rows_of[..] {
            all.extend(0..targets.len());
        } else {
            let draws = draw_columns(self.seed, columns).into_iter().enumerate();
            draws.for_each(|(row, draw)| rows_of[(draw % folds as u64) as usize].push(row));
        }
        // On a thread of the pool: entering it takes longer than the tasks of a block of few landmarks.
        *accumulated = rayon::scope(|_| {
            self.on_landmarks(|landmarks| {
                let spec = self.digest(landmarks);
                accumulated.check(self, spec)?;
                Accumulator::on_all_of(self.targets(), &accumulated.folds, |accumulators| {
                    let mut block = Block::new(landmarks, self.targets(), true)?;
                    let (mut features, mut scaled) =
                        (zeros(self.features(), 0.0)?, zeros(self.scaler.width(), 0.0)?);
                    let mut of_row = zeros(self.targets(), 0.0)?;
                    let mut own = zeros(self.targets(), 0.0)?;
                    for (rows, accumulator) in rows_of.iter().zip(&mut *accumulators) {
                        block.begin(accumulator)?;
                        for &row in rows {
                            features.iter_mut().zip(raw(row)).for_each(|(slot, value)| *slot = value);
                            self.scaler.scale_row(&features, &mut scaled);
                            match self.classes {
                                Some(_) => of_row.iter_mut().enumerate().for_each(|(class, slot)| {
                                    *slot = f64::from(u8::from(targets[row] == class as f64));
                                }),
                                None => of_row[0] = targets[row],
                            }
                            self.target_scaler.scale_row(&of_row, &mut own);
                            block.push(scaled.iter().copied(), own.iter().copied())?;
                        }
                        block.end(accumulator)?;
                    }
                    let folds = accumulators.iter().map(Accumulator::of).collect::<Result<_, _>>()?;
                    Ok(Folds { spec, folds })
                })
            })
        })?;
        Ok(())
    }

    /// Merge accumulators of other rows: `O(c³)` for the factor of the landmarks.
    ///
    /// # Errors
    /// `ErrorKind::Regression` for accumulators of another specification; `accumulated` is then unchanged.
    pub fn merge(&self, accumulated: &mut Folds, other: &Folds) -> Result<(), Error> {
        let spec = self.on_landmarks(|landmarks| Ok(self.digest(landmarks)))?;
        accumulated.check(self, spec)?;
        other.check(self, spec)?;
        let mut merged = accumulated.clone();
        for (fold, other) in merged.folds.iter_mut().zip(&other.folds) {
            fold.merge_of(self.targets(), other)?;
        }
        *accumulated = merged;
        Ok(())
    }

    /// Serialise the accumulators: a state of the core for each fold, concatenated.
    ///
    /// # Errors
    /// `ErrorKind::Memory`, `ErrorKind::Regression` for accumulators of another specification.
    pub fn state(&self, accumulated: &Folds) -> Result<Vec<u8>, Error> {
        self.on_landmarks(|landmarks| {
            let digest = self.digest(landmarks);
            accumulated.check(self, digest)?;
            let states = accumulated.folds.iter().map(|fold| fold.to_bytes_of(self.targets(), None, digest));
            Ok(states.collect::<Result<Vec<_>, Error>>()?.concat())
        })
    }

    /// Deserialise what [`state`](Self::state) returned.
    ///
    /// # Errors
    /// `ErrorKind::Format` for bytes that are truncated, corrupt or of another specification.
    pub fn read(&self, bytes: &[u8]) -> Result<Folds, Error> {
        self.on_landmarks(|landmarks| {
            let (rank, digest) = (landmarks.len(), self.digest(landmarks));
            let (targets, size) = (self.targets(), length::<f64>(rank, self.targets(), None));
            if bytes.len() != size * usize::from(self.folds) {
                return Err(CoreError::StateBytes(BytesProblem::Malformed).into());
            }
            let read = |bytes| Accumulator::from_bytes_of(rank, targets, digest, bytes);
            let folds = bytes.chunks_exact(size).map(read);
            Ok(Folds { spec: digest, folds: folds.collect::<Result<_, _>>()? })
        })
    }

    /// Fit the model to all accumulated rows. Probabilities of classes have the temperature 1, since no row
    /// is left to measure it by: [`Classifier::calibrate`].
    ///
    /// # Errors
    /// `ErrorKind::Data` for a constant target, and for cross-validation with a single fold;
    /// `ErrorKind::Regression` for accumulators of another specification.
    pub fn conclude(
        &self,
        accumulated: &Folds,
        ridge: Ridge,
        trained_on: &str,
        observer: &dyn Observer,
    ) -> Result<Fitted, Error> {
        let Scaler { means, deviations, .. } = &self.target_scaler;
        let mut targets = means.iter().zip(deviations).enumerate().map(|(at, (&mean, &deviation))| {
            let name = match &self.classes {
                Some(Classes { column, labels }) => TargetColumn::name_of_indicator(column, &labels[at]),
                None => self.target_name.clone(),
            };
            TargetColumn { name, mean, deviation }
        });
        let columns = Columns {
            name: trained_on.to_owned(),
            feature_names: self.feature_names.clone(),
            scaler: self.scaler.clone(),
            target: targets.next(),
            further: targets.collect(),
            classes: self.classes.clone(),
        };
        self.on_landmarks(|landmarks| {
            accumulated.check(self, self.digest(landmarks))?;
            Accumulator::on_all_of(self.targets(), &accumulated.folds, |folds| {
                let fitted =
                    conclude(&Nystrom::new(landmarks), folds, &ridge.into(), Aggregate::Rows, observer)?;
                let rows = accumulated.rows();
                let (points, kernel) = (&self.landmarks, self.kernel);
                let mut fitted = assemble(&columns, rows, points, &[], fitted, kernel, AnyCoefficients::F64)?;
                let classifier = |classes| Classifier { classes, temperature: 1.0 };
                fitted.model.classifier = self.classes.clone().map(classifier);
                Ok(fitted)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{FitSpec, first_not_finite};
    use crate::data::{columns::Classes, map::Map, scaler::Scaler};
    use crate::error::{Cause, Error, ErrorKind};
    use crate::kernel::{kind::KernelKind, spec::KernelSpec};
    use crate::observer::NoObserver;
    use crate::regression::ridge::Ridge;
    use dpp_nystrom_core::{BytesProblem, Error as CoreError};
    use std::ops::Range;

    fn spec() -> FitSpec {
        FitSpec {
            feature_names: vec!["x".into()],
            target_name: "y".into(),
            scaler: Scaler { means: vec![1.0], deviations: vec![2.0], map: None, bounds: None },
            target_scaler: Scaler { means: vec![3.0], deviations: vec![4.0], map: None, bounds: None },
            landmarks: vec![-1.0, 0.0, 1.0],
            kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 },
            folds: 2,
            seed: 5,
            classes: None,
        }
    }

    #[test]
    fn what_another_lesson_taught_is_refused() {
        let own = spec();
        let mut accumulated = own.empty().unwrap();
        own.accumulate(&mut accumulated, &[&[0.5, 2.5, 1.0]], &[1.0, 2.0, 7.0]).unwrap();
        let bytes = own.state(&accumulated).unwrap();
        assert_eq!(own.read(&bytes).unwrap(), accumulated);
        let moved = |mean| Scaler { means: vec![mean], deviations: vec![2.0], map: None, bounds: None };
        let others = [
            FitSpec { seed: 6, ..own.clone() },
            FitSpec { landmarks: vec![-1.0, 0.0, 1.5], ..own.clone() },
            FitSpec { kernel: KernelSpec { sigma: 1.1, ..own.kernel }, ..own.clone() },
            FitSpec { kernel: KernelSpec { kind: KernelKind::Laplace, ..own.kernel }, ..own.clone() },
            FitSpec { scaler: moved(1.5), ..own.clone() },
            FitSpec { target_scaler: moved(3.5), ..own.clone() },
        ];
        for other in others {
            let refused = other.read(&bytes);
            let problem = Error(Cause::Core(CoreError::StateBytes(BytesProblem::OtherLandmarks))).to_string();
            assert_eq!(refused.unwrap_err().to_string(), problem, "{other:?}");
            let mut sums = other.empty().unwrap();
            let before = sums.clone();
            for refused in [
                own.merge(&mut sums, &accumulated),
                other.merge(&mut sums, &accumulated),
                own.accumulate(&mut sums, &[&[0.5]], &[1.0]),
                own.state(&sums).map(drop),
                own.conclude(&sums, Ridge::Value(0.1), "rows", &NoObserver).map(drop),
            ] {
                assert!(matches!(refused, Err(Error(Cause::OtherSpec))), "{other:?} {refused:?}");
            }
            assert_eq!(sums, before);
        }
        for len in [0, bytes.len() / 2, bytes.len() - 1] {
            assert!(own.read(&bytes[..len]).is_err(), "{len}");
        }
    }

    /// A map travels with the spec, and rows that it maps are as those that were mapped before.
    #[test]
    fn a_map_is_applied_where_the_rows_are() {
        let map = Map { rank: 1, values: vec![2.0, -1.0] };
        let scaler =
            Scaler { means: vec![1.0, 3.0], deviations: vec![2.0, 0.5], map: Some(map), bounds: None };
        let names = vec!["a".into(), "b".into()];
        let spec = FitSpec { feature_names: names, scaler: scaler.clone(), ..spec() };
        let bytes = spec.to_bytes().unwrap();
        assert_eq!(FitSpec::from_bytes(&bytes).unwrap(), spec);
        assert!(FitSpec::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        for map in [None, scaler.map.clone()] {
            let scaler = Scaler { map, bounds: Some(vec![3.0, 2.5]), ..scaler.clone() };
            let landmarks = vec![-1.0; 2 * scaler.width()];
            let clipped = FitSpec { scaler, landmarks, ..spec.clone() };
            let bytes = clipped.to_bytes().unwrap();
            assert_eq!(FitSpec::from_bytes(&bytes).unwrap(), clipped);
            assert!(FitSpec::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        }
        let (a, b) = ([0.5, 2.5, 1.0], [3.0, 3.5, 2.0]);
        let mapped = [0, 1, 2].map(|i| 2.0 * (a[i] - 1.0) / 2.0 - (b[i] - 3.0) / 0.5);
        // Folds, which are drawn by raw rows, would differ.
        let spec = FitSpec { folds: 1, ..spec };
        let plain = FitSpec { scaler: Scaler::identity(1), folds: 1, ..self::spec() };
        let (mut found, mut expected) = (spec.empty().unwrap(), plain.empty().unwrap());
        spec.accumulate(&mut found, &[&a, &b], &[1.0, 2.0, 7.0]).unwrap();
        plain.accumulate(&mut expected, &[&mapped], &[1.0, 2.0, 7.0]).unwrap();
        assert_eq!(found.accumulators(), expected.accumulators());
        let bytes = spec.state(&found).unwrap();
        let other = Scaler { map: Some(Map { rank: 1, values: vec![2.0, 1.0] }), ..scaler };
        assert!(FitSpec { scaler: other, ..spec.clone() }.read(&bytes).is_err());
        assert_eq!(spec.read(&bytes).unwrap(), found);
    }

    /// Sums of classes merge and travel as those of numbers do, and each output is the regression of its
    /// indicator.
    #[test]
    fn classes_are_least_squares_of_their_indicators() {
        let classes = |labels: [&str; 3]| {
            Some(Classes { column: "y".into(), labels: labels.map(str::to_owned).to_vec() })
        };
        let (means, deviations) = (vec![0.3, 0.1, 0.6], vec![0.5, 0.3, 0.4]);
        let target_scaler =
            Scaler { means: means.clone(), deviations: deviations.clone(), map: None, bounds: None };
        let spec = FitSpec { classes: classes(["a", "b", "c"]), target_scaler, ..spec() };
        let bytes = spec.to_bytes().unwrap();
        assert_eq!(FitSpec::from_bytes(&bytes).unwrap(), spec);
        assert!(FitSpec::from_bytes(&FitSpec { classes: None, ..spec.clone() }.to_bytes().unwrap()).is_err());
        let x: Vec<f64> = (0..90).map(|row| f64::from(row % 30) / 7.0 - 1.0).collect();
        let class: Vec<f64> = (0..90).map(|row| f64::from(row % 30 / 10)).collect();
        let of = |spec: &FitSpec, part: Range<usize>, targets: &[f64]| {
            let mut sums = spec.empty().unwrap();
            spec.accumulate(&mut sums, &[&x[part.clone()]], &targets[part]).unwrap();
            sums
        };
        let mut sums = of(&spec, 0..40, &class);
        spec.merge(&mut sums, &spec.read(&spec.state(&of(&spec, 40..90, &class)).unwrap()).unwrap()).unwrap();
        let ridge = Ridge::Value(1e-4);
        let model = spec.conclude(&sums, ridge, "rows", &NoObserver).unwrap().model;
        let outputs = model.predict(&x).unwrap();
        assert_eq!((model.outputs(), sums.rows(), model.further[1].target.name.as_str()), (3, 90, "y=c"));
        for k in 0..3 {
            let target_scaler =
                Scaler { means: vec![means[k]], deviations: vec![deviations[k]], map: None, bounds: None };
            let alone = FitSpec { classes: None, target_scaler, ..spec.clone() };
            let indicator: Vec<f64> =
                class.iter().map(|class| f64::from(u8::from(*class == k as f64))).collect();
            let sums = of(&alone, 0..90, &indicator);
            let expected =
                alone.conclude(&sums, ridge, "rows", &NoObserver).unwrap().model.predict(&x).unwrap();
            for (found, expected) in outputs.iter().skip(k).step_by(3).zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{k}: {found} {expected}");
            }
        }
        // Labels in another order, of classes with the same shares.
        let same = Scaler { means: vec![0.3; 3], deviations: vec![0.5; 3], map: None, bounds: None };
        let ordered = FitSpec { target_scaler: same, ..spec.clone() };
        let turned = FitSpec { classes: classes(["b", "a", "c"]), ..ordered.clone() };
        assert!(turned.read(&ordered.state(&ordered.empty().unwrap()).unwrap()).is_err());
        let before = sums.clone();
        for class in [3.0, 0.5, -1.0] {
            let refused = spec.accumulate(&mut sums, &[&[1.0, 1.0]], &[0.0, class]).unwrap_err();
            assert_eq!((refused.row(), &sums), (Some(1), &before));
        }
    }

    /// A class that no row had so far is learned from the rows that follow, and the others keep what scales
    /// them.
    #[test]
    fn labels_may_be_added_before_rows_are() {
        let classes = Some(Classes { column: "y".into(), labels: vec!["a".into(), "c".into()] });
        let target_scaler =
            Scaler { means: vec![0.25, 0.75], deviations: vec![0.4, 0.5], map: None, bounds: None };
        let spec = FitSpec { classes, target_scaler, ..spec() };
        let all = spec.clone().with_labels(&["a", "b", "c"]).unwrap();
        assert_eq!(all.target_scaler.means, [0.25, 0.0, 0.75]);
        assert_eq!(all.target_scaler.deviations, [0.4, 0.4, 0.5]);
        for labels in [&["a", "b"][..], &["a", "c", "c"]] {
            assert_eq!(spec.clone().with_labels(labels).unwrap_err().kind(), ErrorKind::Argument);
        }
        assert_eq!(self::spec().with_labels(&["a", "b"]).unwrap_err().kind(), ErrorKind::Unsupported);
        // A number of classes that another spec has gives another state.
        assert!(all.read(&spec.state(&spec.empty().unwrap()).unwrap()).is_err());
    }

    #[test]
    fn values_that_are_not_finite_are_found_in_any_place() {
        for len in [1, 7, 8, 9, 100] {
            let values = vec![f64::MAX; len];
            assert_eq!(first_not_finite(&values), None);
            for at in 0..len {
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut values = values.clone();
                    (values[at], values[len - 1]) = (bad, bad);
                    assert_eq!(first_not_finite(&values), Some(at));
                }
            }
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_refused_and_nothing_is_learned() {
        let spec = spec();
        let mut accumulated = spec.empty().unwrap();
        let before = accumulated.clone();
        for (columns, targets) in [
            (vec![], vec![1.0]),
            (vec![vec![1.0], vec![2.0]], vec![1.0]),
            (vec![vec![1.0, 2.0]], vec![1.0]),
            (vec![vec![f64::NAN]], vec![1.0]),
            (vec![vec![1.0]], vec![f64::INFINITY]),
        ] {
            let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            assert!(spec.accumulate(&mut accumulated, &columns, &targets).is_err(), "{columns:?}");
            assert_eq!(accumulated, before);
        }
        for folds in [0, 1, 3] {
            let other = FitSpec { folds, ..spec.clone() };
            let refused = other.accumulate(&mut accumulated, &[&[1.0]], &[1.0]);
            assert!(matches!(refused, Err(Error(Cause::OtherSpec))), "{folds} {refused:?}");
            assert_eq!(accumulated, before);
        }
    }
}
