//! Medians and deviations of a sample of the rows, which spikes cannot move far.
//!
//! The sample is uniform among all rows: the first 32, and each later row, the `n`-th, in the place of one of
//! them with probability `32/n` (Vitter 1985, *Random sampling with a reservoir*, algorithm R). Rows at even
//! distances would see one phase of a periodic signal.
//!
//! A feature's mean is taken to be the median of its 32 values, and its deviation the difference between the
//! fifth largest and the fifth smallest, divided by 2.134, which is the mean of that difference for normal
//! rows of deviation 1. Four values of the sample on each side may be anything: of rows of which 5 % are
//! spikes to one side, 98 samples in 100 have no more. The deviation of the estimate is 16 % for normal rows;
//! the kernel's bandwidth is not chosen more finely than that.
//! Quartiles would give 17 %, and no scale to a feature that is zero in three rows of four.
//!
//! P² (Jain and Chlamtac 1985) takes less memory, and all rows. But it moves a marker by a parabola through
//! its neighbours, the largest value among them: one spike of 10⁶ in 100 normal rows moves the median by
//! hundreds of deviations, and the upper quartile by thousands.

use super::Detector;
use crate::error::{Error, Phase, row_number};
use crate::kernel::Kernel;
use crate::memory::prefix;
use crate::model::rounding;
use crate::random::below;
use crate::scalar::Scalar;
use rand_core::Rng;

/// The rows of the sample.
pub(super) const SAMPLE: usize = 32;
/// Values at each end that may be anything.
const TRIMMED: usize = 4;
/// The mean difference of the values next to them, of 32 normal ones of deviation 1.
const SPREAD: f64 = 2.134;

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Detector<C, D, K, T> {
    /// Measure the scaling with a raw row. At least 32 are needed, and some hundreds that show all of what is
    /// usual are better. Medians and deviations are those of a sample of 32 rows, of which four to each side
    /// may be anything: spikes in 5 % of the rows do no harm. From the 33rd row on it draws one number
    /// (rarely more).
    ///
    /// # Errors
    /// [`Error::Phase`], and [`Error::NotFinite`] with the number of rows before it and the feature: the row
    /// is not counted, and no number is drawn.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Random, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<4, 1>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 100)?;
    /// detector.scale(&[20.0], &mut random)?;
    /// assert_eq!(detector.scale(&[f32::NAN], &mut random), Err(Error::NotFinite { row: 1, column: 0 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn scale<R: Rng + ?Sized>(&mut self, row: &[T; D], random: &mut R) -> Result<(), Error> {
        self.check_phase(Phase::Scaling)?;
        let scaled = self.status.scaled;
        if let Some(column) = row.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { row: row_number(u64::from(scaled)), column });
        }
        let scaled = scaled.saturating_add(1);
        let count = scaled as usize;
        let place = if count <= SAMPLE { count.wrapping_sub(1) } else { below(random, count) };
        if let Some(slot) = self.sample.get_mut(place) {
            *slot = *row;
        }
        self.status.scaled = scaled;
        Ok(())
    }

    /// Whether a feature is constant over the rows measured so far: but for four of the sample of 32 to each
    /// side, its values differ by at most some rounding errors of their median. Once the scaling is frozen:
    /// whether a feature was constant. False for a column that there is not.
    pub fn is_constant(&self, column: usize) -> bool {
        match (self.status.phase, self.scales.get(column)) {
            (_, None) => false,
            (Phase::Scaling, _) => self.measured(column).1 == T::ZERO,
            (_, Some(&scale)) => scale == T::ZERO,
        }
    }

    /// Stop measuring and fix the scaling. Continue in [`Phase::Selecting`]. Features that are constant are
    /// refused but for those listed, which are compared with their value: one that differs by more than `16
    /// ε` of it, 1.9e-6 in `f32`, makes a row an alarm, and no such row is offered or exchanged.
    ///
    /// # Errors
    /// [`Error::Phase`], [`Error::TooFewRows`] before 32, [`Error::Constant`] with the first feature that is
    /// constant ([`is_constant`](Self::is_constant)) and not listed, or with 0 where all are,
    /// [`Error::TooLarge`] where the differences of a feature's values overflow: measuring can continue.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Phase, Random, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<4, 2>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 100)?;
    /// for at in 0..99 {
    ///     detector.scale(&[(at % 10) as f32, 3.3], &mut random)?;
    /// }
    /// detector.scale(&[1e6, 3.3], &mut random)?; // a spike
    /// assert_eq!(detector.freeze_scaling_allowing(&[]), Err(Error::Constant { column: 1 }));
    /// detector.freeze_scaling_allowing(&[1])?;
    /// assert!(detector.phase() == Phase::Selecting && detector.is_constant(1));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn freeze_scaling_allowing(&mut self, columns: &[usize]) -> Result<(), Error> {
        self.check_phase(Phase::Scaling)?;
        let found = self.status.scaled as usize;
        if found < SAMPLE {
            return Err(Error::TooFewRows { needed: SAMPLE, found });
        }
        for column in 0..D {
            let (median, deviation) = self.measured(column);
            if !(median.is_finite() && deviation.is_finite()) {
                return Err(Error::TooLarge { row: found, column });
            }
            if deviation == T::ZERO && !columns.contains(&column) {
                return Err(Error::Constant { column });
            }
        }
        if (0..D).all(|column| self.is_constant(column)) {
            return Err(Error::Constant { column: 0 });
        }
        for column in 0..D {
            let (median, deviation) = self.measured(column);
            let scale = if deviation > T::ZERO { T::ONE / deviation } else { T::ZERO };
            if let (Some(centre), Some(slot)) = (self.centres.get_mut(column), self.scales.get_mut(column)) {
                (*centre, *slot) = (median, scale);
            }
        }
        self.status.phase = Phase::Selecting;
        Ok(())
    }

    /// [`freeze_scaling_allowing`](Self::freeze_scaling_allowing) no feature that is constant.
    ///
    /// # Errors
    /// Those of [`freeze_scaling_allowing`](Self::freeze_scaling_allowing).
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Random, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<4, 1>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 100)?;
    /// assert_eq!(detector.freeze_scaling(), Err(Error::TooFewRows { needed: 32, found: 0 }));
    /// for at in 0..50 {
    ///     detector.scale(&[(at % 10) as f32], &mut random)?;
    /// }
    /// detector.freeze_scaling()?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn freeze_scaling(&mut self) -> Result<(), Error> {
        self.freeze_scaling_allowing(&[])
    }

    /// Return the median of a feature and its deviation, which is 0 where the feature is constant.
    #[inline(never)]
    fn measured(&self, column: usize) -> (T, T) {
        let count = if self.status.scaled as usize > SAMPLE { SAMPLE } else { self.status.scaled as usize };
        let rows = prefix(&self.sample, count);
        let two = T::from_count(2);
        let median =
            ranked(rows, column, count.saturating_sub(1) / 2) / two + ranked(rows, column, count / 2) / two;
        let trimmed = TRIMMED * count / SAMPLE;
        let (low, high) =
            (ranked(rows, column, trimmed), ranked(rows, column, count.saturating_sub(trimmed + 1)));
        let deviation = (high - low) / T::from_f64(SPREAD);
        // Below the least normal number, one over it overflows.
        let varies = deviation > rounding(median) && deviation >= T::SMALLEST;
        (median, if varies { deviation } else { T::ZERO })
    }
}

/// Return the value of a column that this many others are below; 0 without rows.
#[inline(never)]
fn ranked<T: Scalar, const D: usize>(rows: &[[T; D]], column: usize, rank: usize) -> T {
    let values = || rows.iter().filter_map(|row| row.get(column).copied());
    let holds = |&value: &T| {
        let below = values().filter(|&other| other < value).count();
        let equal = values().filter(|&other| other == value).count();
        below <= rank && rank < below + equal
    };
    values().find(holds).unwrap_or(T::ZERO)
}
