//! Landmarks as rows of the data or as points of their own.

use crate::data::prepared::Prepared;
use crate::error::Error;

/// Landmarks: rows, or points of their own.
#[derive(Clone, Debug, PartialEq)]
pub enum LandmarkSet {
    /// Rows, counted among the prepared ones from 0, in ascending order.
    Indices(Vec<usize>),
    /// Standardised points, one row of features after the other.
    Points(Vec<f64>),
}

impl LandmarkSet {
    /// The rows; `None` for points.
    pub fn rows(&self) -> Option<&[usize]> {
        match self {
            Self::Indices(rows) => Some(rows),
            Self::Points(_) => None,
        }
    }

    /// The number of landmarks, of so many features each.
    pub fn count(&self, dim: usize) -> usize {
        match self {
            Self::Indices(rows) => rows.len(),
            Self::Points(points) => points.len().checked_div(dim).unwrap_or(0),
        }
    }

    /// The features of the landmarks, one after the other.
    ///
    /// # Errors
    /// [`Error::Core`] for a row past the end.
    pub fn features(&self, data: &Prepared) -> Result<Vec<f64>, Error> {
        match self {
            Self::Indices(rows) => data.gather(rows),
            Self::Points(points) => Ok(points.clone()),
        }
    }
}
