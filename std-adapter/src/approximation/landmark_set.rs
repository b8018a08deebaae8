//! Landmarks as rows of the data or as arbitrary points.

use crate::data::source::RowSource;
use crate::error::Error;

/// Landmarks: rows of the data or arbitrary points.
///
/// ```
/// use dpp_nystrom::approximation::LandmarkSet;
///
/// let (rows, points) = (LandmarkSet::Indices(vec![3, 14]), LandmarkSet::Points(vec![0.0, 0.5, 1.0, -1.0]));
/// assert_eq!((rows.rows(), points.rows()), (Some(&[3, 14][..]), None));
/// assert_eq!((rows.count(2), points.count(2)), (2, 2)); // of two features
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum LandmarkSet {
    /// Indices among the prepared rows, from 0, in ascending order.
    Indices(Vec<usize>),
    /// Standardised points, row-major.
    Points(Vec<f64>),
}

impl LandmarkSet {
    /// Return the row indices; `None` for points.
    pub fn rows(&self) -> Option<&[usize]> {
        match self {
            Self::Indices(rows) => Some(rows),
            Self::Points(_) => None,
        }
    }

    /// Return the number of landmarks, for `dim` features each.
    pub fn count(&self, dim: usize) -> usize {
        match self {
            Self::Indices(rows) => rows.len(),
            Self::Points(points) => points.len().checked_div(dim).unwrap_or(0),
        }
    }

    /// Return the features of the landmarks, row-major.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for a row index out of range.
    pub fn features(&self, source: &dyn RowSource) -> Result<Vec<f64>, Error> {
        match self {
            Self::Indices(rows) => Ok(source.gather(rows)?.rows),
            Self::Points(points) => Ok(points.clone()),
        }
    }
}
