//! Rows in many places, and one regression.
//!
//! Whoever holds a part of the rows, a thread, a process or a machine, learns it by the same [`FitSpec`] and passes on
//! what it has [`Learned`]: `c(c + 3)/2 + 2` numbers however many rows there were. These add up in any order, and the
//! sum is the regression of all rows in one place, up to rounding. A lesson travels as bytes, and so does what was
//! learned, with the digest of the lesson inside ([`dpp_nystrom_core::RidgeRegression::write_state`]).
//!
//! Nothing depends on how rows are dealt out. The fold of a row is drawn from its own numbers and the seed
//! ([`draw`]): the same rows in another order, in other parts, make the same folds. A sample can be drawn likewise.
//!
//! ```
//! use dpp_nystrom::regression::FitSpec;
//! use dpp_nystrom::kernel::KernelKind;
//! use dpp_nystrom::regression::Ridge;
//! use dpp_nystrom::observer::NoObserver;
//! use dpp_nystrom::data::{Scaler, StandardTarget};
//!
//! let raw: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
//! let targets: Vec<f64> = raw.iter().map(|x| x.sin()).collect();
//! let lesson = FitSpec {
//!     feature_names: vec!["x".into()],
//!     target_name: "y".into(),
//!     features: Scaler::of(&raw, 1),
//!     target: Scaler::of(&targets, 1),
//!     landmarks: (0..12).map(|i| f64::from(i) * 0.3 - 1.65).collect(),
//!     kernel: KernelKind::Gaussian,
//!     sigma: 0.5,
//!     folds: 10,
//!     seed: 0,
//! };
//! let mut learned = lesson.empty()?;
//! for part in [0..70, 70..200] {
//!     let mut elsewhere = lesson.empty()?;
//!     lesson.learn(&mut elsewhere, &[&raw[part.clone()]], &targets[part])?;
//!     let bytes = lesson.state(&elsewhere)?;
//!     lesson.merge(&mut learned, &lesson.read(&bytes)?)?;
//! }
//! let training = lesson.conclude(&learned, Ridge::CrossValidated, "waves", &NoObserver)?;
//! assert_eq!(training.model.trained_rows, 200);
//! assert!(training.model.train_nrmse < 0.01);
//! # Ok::<(), dpp_nystrom::Error>(())
//! ```

use crate::approximation::features::independent;
use crate::approximation::landmark_set::LandmarkSet;
use crate::data::prepared::{Prepared, StandardTarget};
use crate::data::scaler::Scaler;
use crate::error::Error;
use crate::heap::{Heap, RidgeHeap, zeros};
use crate::kernel::kind::KernelKind;
use crate::kernel::precision::Precision;
use crate::kernel::spec::KernelSpec;
use crate::model::trained::{AnyCoefficients, Coefficients};
use crate::observer::Observer;
use crate::regression::blocked_qr::Block;
use crate::regression::fit::conclude;
use crate::regression::ridge::{Ridge, ridge_grid};
use crate::regression::train::{Setting, Training, assemble};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{
    Error as CoreError, Landmarks, Nystrom, Points, RidgeRegression, StateProblem, digest, state_bytes,
};
use serde::{Deserialize, Serialize};

/// What is to be learned, wherever the rows are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitSpec {
    /// The features' names.
    pub feature_names: Vec<String>,
    /// The target's name.
    pub target_name: String,
    /// The features' statistics.
    pub features: Scaler,
    /// The target's, one number each.
    pub target: Scaler,
    /// Landmarks, standardised, one row of features after the other.
    pub landmarks: Vec<f64>,
    /// The kernel.
    pub kernel: KernelKind,
    /// Its bandwidth.
    pub sigma: f64,
    /// Folds to keep apart: 1 for none.
    pub folds: u8,
    /// What folds are drawn with.
    pub seed: u64,
}

/// What rows have taught, fold by fold.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    folds: Vec<(u64, Vec<f64>)>,
}

impl Learned {
    /// Rows that it was learned from.
    pub fn rows(&self) -> u64 {
        self.folds.iter().map(|(rows, _)| rows).sum()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.folds.iter().map(|(_, numbers)| size_of_val(numbers.as_slice())).sum()
    }

    /// The numbers of each fold ([`RidgeRegression::numbers`]).
    pub fn numbers(&self) -> impl Iterator<Item = &[f64]> {
        self.folds.iter().map(|(_, numbers)| numbers.as_slice())
    }
}

/// A number drawn from a row itself and a seed, uniform in `u64`: equal rows draw equal numbers, wherever they are.
///
/// ```
/// use dpp_nystrom::regression::draw;
///
/// assert_eq!(draw(7, [1.0, 0.0]), draw(7, [1.0, -0.0]));
/// assert_ne!(draw(7, [1.0, 2.0]), draw(7, [2.0, 1.0]));
/// assert_ne!(draw(7, [1.0, 2.0]), draw(8, [1.0, 2.0]));
/// ```
pub fn draw(seed: u64, row: impl IntoIterator<Item = f64>) -> u64 {
    // Zeros of either sign are one number.
    row.into_iter().fold(mix(seed), |state, value| mix(state ^ (value + 0.0).to_bits()))
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

type Ground<'g> = Points<'g, f64, ChosenKernel<f64>>;

impl FitSpec {
    /// The number of features of a row.
    pub fn features(&self) -> usize {
        self.feature_names.len()
    }

    /// As bytes, for those who hold the rows.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        postcard::to_allocvec(self)
            .map_err(|_| Error::Memory { bytes: size_of_val(self.landmarks.as_slice()) })
    }

    /// From [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`Error::FitSpec`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let lesson: Self = match postcard::take_from_bytes(bytes) {
            Ok((lesson, [])) => lesson,
            _ => return Err(Error::FitSpec),
        };
        let dim = lesson.features();
        let fits = dim > 0
            && lesson.features.means.len() == dim
            && lesson.features.deviations.len() == dim
            && lesson.target.means.len() == 1
            && lesson.target.deviations.len() == 1
            && lesson.landmarks.len().is_multiple_of(dim)
            && lesson.folds > 0;
        if fits { Ok(lesson) } else { Err(Error::FitSpec) }
    }

    fn on_landmarks<A>(
        &self,
        work: impl FnOnce(&Landmarks<'_, f64, Ground<'_>>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let refused = |reason| Error::Landmarks { reason };
        let ground =
            Points::new(&self.landmarks, self.features(), self.kernel.build(self.sigma)?).map_err(refused)?;
        let all: Vec<usize> = (0..self.landmarks.len() / self.features()).collect();
        let mut memory = Heap::new(all.len())?;
        work(&independent(&ground, &all, &mut memory)?)
    }

    /// Runs `work` on an accumulator of each fold.
    fn on_folds<A>(
        &self,
        rank: usize,
        learned: Option<&Learned>,
        work: impl FnOnce(&mut [RidgeRegression<'_, f64>]) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let mut heaps = (0..self.folds).map(|_| RidgeHeap::new(rank)).collect::<Result<Vec<_>, Error>>()?;
        let mut folds = Vec::with_capacity(heaps.len());
        for heap in &mut heaps {
            folds.push(RidgeRegression::new(rank, heap.lend()).map_err(refused)?);
        }
        for (fold, (rows, numbers)) in folds.iter_mut().zip(learned.iter().flat_map(|learned| &learned.folds))
        {
            fold.restore(*rows, numbers).map_err(refused)?;
        }
        work(&mut folds)
    }

    fn digest(&self, landmarks: &Landmarks<'_, f64, Ground<'_>>) -> u64 {
        // Its bits say which folds there are; it is no number to compute with.
        let seed = [f64::from_bits(self.seed)];
        let numbers: [&[f64]; 6] = [
            &seed,
            &self.features.means,
            &self.features.deviations,
            &self.target.means,
            &self.target.deviations,
            &self.landmarks,
        ];
        digest(&numbers, landmarks.factor())
    }

    /// What is known before the first row.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`].
    pub fn empty(&self) -> Result<Learned, Error> {
        let rank = self.on_landmarks(|landmarks| Ok(landmarks.len()))?;
        let fold = (0, zeros(RidgeRegression::<f64>::numbers_kept(rank), 0.0)?);
        Ok(Learned { folds: vec![fold; usize::from(self.folds)] })
    }

    /// Learns rows that are given as columns of raw features, and their targets. The landmarks are factored anew,
    /// `c³/3` multiply-adds: give thousands of rows at a time.
    ///
    /// # Errors
    /// [`Error::Core`] with [`CoreError::Length`] unless there is a column for each feature and all are of one length;
    /// [`Error::Regression`] with the row and column of a number that is none, the target being the last.
    pub fn learn(&self, learned: &mut Learned, columns: &[&[f64]], targets: &[f64]) -> Result<(), Error> {
        if columns.len() != self.features() {
            return Err(CoreError::Length { expected: self.features(), found: columns.len() }.into());
        }
        if let Some(other) = columns.iter().find(|column| column.len() != targets.len()) {
            return Err(CoreError::Length { expected: targets.len(), found: other.len() }.into());
        }
        for (at, column) in columns.iter().copied().chain([targets]).enumerate() {
            if let Some(row) = column.iter().position(|value| !value.is_finite()) {
                return Err(refused(CoreError::NotFinite { row, column: at }));
            }
        }
        let raw = |row: usize| columns.iter().map(move |column| column[row]);
        let folds: Vec<u8> = match self.folds {
            1 => vec![0; targets.len()],
            many => {
                (0..targets.len()).map(|row| (draw(self.seed, raw(row)) % u64::from(many)) as u8).collect()
            }
        };
        *learned = self.on_landmarks(|landmarks| {
            self.on_folds(landmarks.len(), Some(learned), |accumulators| {
                let mut block = Block::new(landmarks)?;
                let mut standard = zeros(self.features(), 0.0)?;
                for (fold, accumulator) in accumulators.iter_mut().enumerate() {
                    block.begin(accumulator);
                    for row in (0..targets.len()).filter(|&row| usize::from(folds[row]) == fold) {
                        standard.iter_mut().zip(raw(row)).for_each(|(slot, value)| *slot = value);
                        self.features.apply_row(&mut standard);
                        let mut target = [targets[row]];
                        self.target.apply_row(&mut target);
                        block.push(standard.iter().copied(), target[0])?;
                    }
                    block.end(accumulator)?;
                }
                Ok(kept(accumulators))
            })
        })?;
        Ok(())
    }

    /// Adds what was learned elsewhere.
    ///
    /// # Errors
    /// [`Error::Regression`] where that is of another lesson.
    pub fn merge(&self, learned: &mut Learned, other: &Learned) -> Result<(), Error> {
        let rank = self.on_landmarks(|landmarks| Ok(landmarks.len()))?;
        *learned = self.on_folds(rank, Some(other), |others| {
            self.on_folds(rank, Some(learned), |folds| {
                for (fold, other) in folds.iter_mut().zip(others.iter()) {
                    fold.merge(other).map_err(refused)?;
                }
                Ok(kept(folds))
            })
        })?;
        Ok(())
    }

    /// What was learned, as bytes: a state of the core for each fold, one after the other.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Regression`] for what is of another lesson.
    pub fn state(&self, learned: &Learned) -> Result<Vec<u8>, Error> {
        self.on_landmarks(|landmarks| {
            let (rank, digest) = (landmarks.len(), self.digest(landmarks));
            self.on_folds(rank, Some(learned), |folds| {
                let size = state_bytes::<f64>(rank);
                let mut bytes = zeros(size.saturating_mul(folds.len()), 0)?;
                for (fold, bytes) in folds.iter().zip(bytes.chunks_exact_mut(size)) {
                    fold.write_state(digest, bytes)?;
                }
                Ok(bytes)
            })
        })
    }

    /// From [`state`](Self::state).
    ///
    /// # Errors
    /// [`Error::Core`] with what is wrong with the bytes: another lesson's, not whole, altered.
    pub fn read(&self, bytes: &[u8]) -> Result<Learned, Error> {
        self.on_landmarks(|landmarks| {
            let (rank, digest) = (landmarks.len(), self.digest(landmarks));
            let size = state_bytes::<f64>(rank);
            self.on_folds(rank, None, |folds| {
                if bytes.len() != size * folds.len() {
                    return Err(CoreError::StateBytes(StateProblem::Malformed).into());
                }
                for (fold, bytes) in folds.iter_mut().zip(bytes.chunks_exact(size)) {
                    fold.read_state(digest, bytes)?;
                }
                Ok(kept(folds))
            })
        })
    }

    /// The model of all rows that were learned.
    ///
    /// # Errors
    /// [`Error::ConstantTarget`]; [`Error::Regression`]; [`Error::Folds`] where the ridge is to be cross-validated and no folds were
    /// kept apart.
    pub fn conclude(
        &self,
        learned: &Learned,
        ridge: Ridge,
        trained_on: &str,
        observer: &dyn Observer,
    ) -> Result<Training, Error> {
        let home = Prepared {
            name: trained_on.to_owned(),
            feature_names: self.feature_names.clone(),
            dim: self.features(),
            rows: self.landmarks.clone(),
            statistics: self.features.clone(),
            target: Some(StandardTarget {
                name: self.target_name.clone(),
                values: Vec::new(),
                mean: self.target.means.first().copied().unwrap_or_default(),
                deviation: self.target.deviations.first().copied().unwrap_or_default(),
            }),
            numbers: None,
        };
        let setting = Setting {
            kernel: KernelSpec { kind: self.kernel, sigma: self.sigma },
            precision: Precision::F64,
            seed: self.seed,
        };
        self.on_landmarks(|landmarks| {
            self.on_folds(landmarks.len(), Some(learned), |folds| {
                let grid: Vec<f64> = ridge_grid().collect();
                let (fitted, _) = conclude(&Nystrom::new(landmarks), folds, ridge, &grid, observer)?;
                let numbers = |numbers: Coefficients<f64>| AnyCoefficients::F64(numbers);
                let places = LandmarkSet::Points(self.landmarks.clone());
                let mut training = assemble(&home, &places, &self.landmarks, fitted, setting, numbers)?;
                training.model.trained_rows = learned.rows();
                Ok(training)
            })
        })
    }
}

fn kept(folds: &[RidgeRegression<'_, f64>]) -> Learned {
    Learned { folds: folds.iter().map(|fold| (fold.rows(), fold.numbers().collect())).collect() }
}

fn refused(reason: CoreError) -> Error {
    Error::Regression { reason }
}

#[cfg(test)]
mod tests {
    use super::FitSpec;
    use crate::data::scaler::Scaler;
    use crate::error::Error;
    use crate::kernel::kind::KernelKind;
    use dpp_nystrom_core::{Error as CoreError, StateProblem};

    fn lesson() -> FitSpec {
        FitSpec {
            feature_names: vec!["x".into()],
            target_name: "y".into(),
            features: Scaler { means: vec![1.0], deviations: vec![2.0] },
            target: Scaler { means: vec![3.0], deviations: vec![4.0] },
            landmarks: vec![-1.0, 0.0, 1.0],
            kernel: KernelKind::Gaussian,
            sigma: 1.0,
            folds: 2,
            seed: 5,
        }
    }

    #[test]
    fn what_another_lesson_taught_is_refused() {
        let own = lesson();
        let mut learned = own.empty().unwrap();
        own.learn(&mut learned, &[&[0.5, 2.5, 1.0]], &[1.0, 2.0, 7.0]).unwrap();
        let bytes = own.state(&learned).unwrap();
        assert_eq!(own.read(&bytes).unwrap(), learned);
        let moved = |mean| Scaler { means: vec![mean], deviations: vec![2.0] };
        let others = [
            FitSpec { seed: 6, ..own.clone() },
            FitSpec { landmarks: vec![-1.0, 0.0, 1.5], ..own.clone() },
            FitSpec { sigma: 1.1, ..own.clone() },
            FitSpec { kernel: KernelKind::Laplace, ..own.clone() },
            FitSpec { features: moved(1.5), ..own.clone() },
            FitSpec { target: moved(3.5), ..own.clone() },
        ];
        for other in others {
            let refused = other.read(&bytes);
            let problem = Error::Core(CoreError::StateBytes(StateProblem::OtherLandmarks)).to_string();
            assert_eq!(refused.unwrap_err().to_string(), problem, "{other:?}");
        }
        for len in [0, bytes.len() / 2, bytes.len() - 1] {
            assert!(own.read(&bytes[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_refused_and_nothing_is_learned() {
        let lesson = lesson();
        let mut learned = lesson.empty().unwrap();
        let before = learned.clone();
        for (columns, targets) in [
            (vec![], vec![1.0]),
            (vec![vec![1.0], vec![2.0]], vec![1.0]),
            (vec![vec![1.0, 2.0]], vec![1.0]),
            (vec![vec![f64::NAN]], vec![1.0]),
            (vec![vec![1.0]], vec![f64::INFINITY]),
        ] {
            let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            assert!(lesson.learn(&mut learned, &columns, &targets).is_err(), "{columns:?}");
            assert_eq!(learned, before);
        }
    }
}
