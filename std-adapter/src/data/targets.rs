//! The targets of rows, wherever they are: columns of numbers, or indices of classes.

use crate::data::columns::{ClassIndices, RowSlices, Targets};
use crate::data::{prepared::StandardTarget, source::RowSource};
use crate::error::{Cause, Error};

/// The scaled targets of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TargetRows<'a> {
    /// The first target, and those after it.
    Columns(Targets<'a>, &'a [StandardTarget]),
    /// The indicators of classes.
    Classes(ClassIndices<'a>),
}

impl<'a> TargetRows<'a> {
    /// Take the targets of a source.
    ///
    /// # Errors
    /// `ErrorKind::Data` without a target.
    pub(crate) fn of(source: &'a dyn RowSource) -> Result<Self, Error> {
        if let Some(classes) = source.class_indices() {
            return Ok(Self::Classes(classes));
        }
        match source.slices() {
            Some(RowSlices::F64(_, Some(targets))) => {
                Ok(Self::Columns(Targets::F64(targets), source.further()))
            }
            Some(RowSlices::F32(_, Some(targets))) => {
                Ok(Self::Columns(Targets::F32(targets), source.further()))
            }
            _ => Err(Error(Cause::NoTarget)),
        }
    }

    /// Return the number of rows.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Columns(first, _) => first.len(),
            Self::Classes(classes) => classes.indices.len(),
        }
    }

    /// Return the number of targets.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Self::Columns(_, further) => 1 + further.len(),
            Self::Classes(classes) => classes.indicators.len(),
        }
    }

    /// Return a target of a row.
    pub(crate) fn at(&self, row: usize, output: usize) -> f64 {
        match (self, output.checked_sub(1)) {
            (Self::Columns(first, _), None) => first.at(row),
            (Self::Columns(_, further), Some(place)) => further[place].values[row],
            (Self::Classes(classes), _) => {
                let own = classes.indices.at(row) == output as f64;
                classes.indicators[output].standardised(f64::from(u8::from(own)))
            }
        }
    }

    /// Return the targets of a row.
    pub(crate) fn of_row(self, row: usize) -> impl Iterator<Item = f64> + use<'a> {
        (0..self.outputs()).map(move |output| self.at(row, output))
    }

    /// Return the class of a row, of which the targets are the indicators.
    pub(crate) fn class_of(&self, row: usize) -> usize {
        match self {
            Self::Columns(_, further) => class_of(further, row),
            // The file of a store may be written to while it is read.
            Self::Classes(ClassIndices { indices, indicators }) => {
                (indices.at(row) as usize).min(indicators.len().saturating_sub(1))
            }
        }
    }
}

/// Return the class of a row from the indicators of all classes but the first, which are standardised.
pub(crate) fn class_of(further: &[StandardTarget], row: usize) -> usize {
    further.iter().position(|indicator| indicator.values[row] > 0.0).map_or(0, |place| place + 1)
}
