//! The accumulated state of a ridge regression: owned, mergeable and serialisable.
//!
//! The core's [`RidgeRegression`] works on borrowed memory. An [`Accumulator`] owns its values: the triangle
//! `R` by rows, `Qᵀy` and the residual sum of squares, `c(c + 3)/2 + 2` values independent of the number of
//! rows. Checkpoints, partitions of a cluster and devices of a fleet all use this type.

use crate::error::Error;
use crate::regression::rows::triangle::merge;
use dpp_nystrom_core::{
    BytesProblem, Error as CoreError, Origin, RidgeRegression, Scalar, StateHeader, state_bytes,
    state_bytes_of,
};
use dpp_nystrom_host::heap::{RidgeHeap, zeros};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// The sums of a ridge regression over `c` features, in the precision `T`.
///
/// ```
/// use dpp_nystrom::regression::Accumulator;
///
/// let mut all = Accumulator::<f64>::empty(2)?;
/// all.add(&[1.0, 0.5], 2.0)?;
/// let bytes = all.to_bytes(7)?;
/// let received = Accumulator::from_bytes(2, 7, &bytes)?;
/// all.merge(&received)?;
/// assert_eq!(all.rows(), 2);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accumulator<T> {
    rows: u64,
    values: Vec<T>,
}

impl<T: Scalar> Accumulator<T> {
    /// Return an accumulator of no rows over `features` features.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub fn empty(features: usize) -> Result<Self, Error> {
        Self::empty_of(features, 1)
    }

    /// [`empty`](Self::empty) for several targets, as the functions below that take their number.
    pub(crate) fn empty_of(features: usize, targets: usize) -> Result<Self, Error> {
        let count = RidgeRegression::<T>::numbers_kept_of(features, targets);
        Ok(Self { rows: 0, values: zeros(count, T::ZERO)? })
    }

    /// Copy the state of a regression. Forgetting is not part of it: γ is then multiplied by all rows, those
    /// that [`RidgeRegression::forget`] discounted too.
    ///
    /// # Errors
    /// `ErrorKind::Regression` with [`CoreError::Unsettled`]: [`RidgeRegression::settle`] first.
    pub fn of(regression: &RidgeRegression<'_, T>) -> Result<Self, Error> {
        let numbers = regression.numbers().map_err(Error::regression)?;
        Ok(Self { rows: regression.rows(), values: numbers.collect() })
    }

    /// Restore the state into a regression over the same number of features.
    ///
    /// # Errors
    /// `ErrorKind::Regression` for a different number of features or non-finite values.
    pub fn restore(&self, regression: &mut RidgeRegression<'_, T>) -> Result<(), Error> {
        regression.restore(self.rows, &self.values).map_err(Error::regression)
    }

    /// Return the number of rows accumulated.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Return the values: `R` by rows, `Qᵀy`, and the residual sum of squares in two parts.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Return the number of features c, from the `c(c + 3)/2 + 2` values.
    pub fn features(&self) -> usize {
        self.features_of(1)
    }

    fn features_of(&self, targets: usize) -> usize {
        let fits = |&c: &usize| RidgeRegression::<T>::numbers_kept_of(c, targets) >= self.values.len();
        (0..).find(fits).unwrap_or(0)
    }

    /// Return the size in bytes.
    pub fn size(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    /// Return the sums as those of at most this many rows, each row weighted alike: `R` and `Qᵀy` times `√w`,
    /// the residual sum of squares times `w`.
    ///
    /// ```
    /// use dpp_nystrom::regression::Accumulator;
    ///
    /// let mut sums = Accumulator::<f64>::empty(1)?;
    /// for _ in 0..4 {
    ///     sums.add(&[1.0], 3.0)?;
    /// }
    /// let limited = sums.counting_as(1);
    /// assert_eq!(limited.rows(), 1);
    /// assert!((sums.values()[0] / limited.values()[0] - 2.0).abs() < 1e-12); // √(1/4) of the triangle
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn counting_as(&self, rows: u64) -> Self {
        if rows >= self.rows {
            return self.clone();
        }
        let weight = rows as f64 / self.rows as f64;
        let root = self.values.len().saturating_sub(2);
        let scaled = |(at, value): (usize, &T)| {
            let factor = if at < root { weight.sqrt() } else { weight };
            T::from_f64(value.to_f64() * factor)
        };
        Self { rows, values: self.values.iter().enumerate().map(scaled).collect() }
    }

    /// Add the features and target of one row.
    ///
    /// Allocates; to add many rows, use [`RidgeRegression::add`] and [`of`](Self::of).
    ///
    /// # Errors
    /// `ErrorKind::Regression` for a different number of features or non-finite values; the accumulator is
    /// then unchanged.
    pub fn add(&mut self, features: &[T], target: T) -> Result<(), Error> {
        *self = self.on(|regression| {
            regression.add(features, target).and_then(|()| regression.settle()).map_err(Error::regression)?;
            Self::of(regression)
        })?;
        Ok(())
    }

    /// Merge another accumulator, as if its rows had been added here: `c³/3` multiply-adds.
    ///
    /// # Errors
    /// `ErrorKind::Regression` for a different number of features; the accumulator is then unchanged.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.merge_of(1, other)
    }

    pub(crate) fn merge_of(&mut self, targets: usize, other: &Self) -> Result<(), Error> {
        let sum = |both: &mut [RidgeRegression<'_, T>]| merge(both, None).and_then(|sum| Self::of(sum));
        *self = Self::on_all_of(targets, &[&*self, other], sum)?;
        Ok(())
    }

    /// Serialise as the core's state bytes ([`RidgeRegression::write_state`]); `digest` identifies the
    /// landmarks.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub fn to_bytes(&self, digest: u64) -> Result<Vec<u8>, Error> {
        self.to_bytes_of(1, None, digest)
    }

    /// [`to_bytes`](Self::to_bytes) of several targets, with the device and a counter if they are known
    /// ([`RidgeRegression::write_state_from`]).
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub(crate) fn to_bytes_of(
        &self,
        targets: usize,
        origin: Option<Origin>,
        digest: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = zeros(length::<T>(self.features_of(targets), targets, origin), 0)?;
        self.on_of(targets, |regression| {
            let written = match origin {
                None => regression.write_state(digest, &mut bytes),
                Some(origin) => regression.write_state_from(origin, digest, &mut bytes),
            };
            Ok(written.map(drop)?)
        })?;
        Ok(bytes)
    }

    /// Read the output of [`to_bytes`](Self::to_bytes) for this number of features and landmark digest.
    ///
    /// # Errors
    /// `ErrorKind::Argument` with the reason: truncated, corrupt or trailing bytes, another version, other
    /// landmarks, numbers that no rows can have left.
    pub fn from_bytes(features: usize, digest: u64, bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_of(features, 1, digest, bytes)
    }

    pub(crate) fn from_bytes_of(
        features: usize,
        targets: usize,
        digest: u64,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        Self::empty_of(features, targets)?.on_of(targets, |regression| {
            regression.read_state(digest, bytes)?;
            if bytes.len() > StateHeader::read(bytes)?.length {
                return Err(CoreError::StateBytes(BytesProblem::Malformed).into());
            }
            Self::of(regression)
        })
    }

    /// Run `work` on a regression with this state.
    pub(crate) fn on<A>(
        &self,
        work: impl FnOnce(&mut RidgeRegression<'_, T>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        self.on_of(1, work)
    }

    fn on_of<A>(
        &self,
        targets: usize,
        work: impl FnOnce(&mut RidgeRegression<'_, T>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let mut heap = RidgeHeap::with_targets(self.features_of(targets), targets)?;
        work(&mut self.lent(targets, &mut heap)?)
    }

    /// Run `work` on regressions with these states.
    pub(crate) fn on_all<A>(
        accumulators: &[impl Borrow<Self>],
        work: impl FnOnce(&mut [RidgeRegression<'_, T>]) -> Result<A, Error>,
    ) -> Result<A, Error> {
        Self::on_all_of(1, accumulators, work)
    }

    pub(crate) fn on_all_of<A>(
        targets: usize,
        accumulators: &[impl Borrow<Self>],
        work: impl FnOnce(&mut [RidgeRegression<'_, T>]) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let heap = |one: &Self| RidgeHeap::with_targets(one.features_of(targets), targets);
        let heaps = accumulators.iter().map(|one| heap(one.borrow()));
        let mut heaps = heaps.collect::<Result<Vec<_>, _>>()?;
        let regressions =
            accumulators.iter().zip(&mut heaps).map(|(one, heap)| one.borrow().lent(targets, heap));
        work(&mut regressions.collect::<Result<Vec<_>, _>>()?)
    }

    /// Return a regression with this state, in the memory of `heap`.
    fn lent<'h>(&self, targets: usize, heap: &'h mut RidgeHeap<T>) -> Result<RidgeRegression<'h, T>, Error> {
        let regression = heap.regression(self.features_of(targets), targets);
        let mut regression = regression.map_err(Error::regression)?;
        self.restore(&mut regression)?;
        Ok(regression)
    }
}

/// Return the bytes of a state of so many features and targets.
pub(crate) fn length<T: Scalar>(features: usize, targets: usize, origin: Option<Origin>) -> usize {
    match (targets, origin) {
        (1, None) => state_bytes::<T>(features),
        _ => state_bytes_of::<T>(features, targets),
    }
}
