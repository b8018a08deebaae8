//! Features of blocks of rows, by one triangular solve for all rows of a block.

use crate::error::{Error, landmarks_error};
use crate::simd::lane::{Ground, Lane};
use dpp_nystrom_core::Landmarks;
use faer::{Mat, Par, linalg::triangular_solve::solve_lower_triangular_in_place, traits::RealField};

/// Landmarks and their factor `L`.
#[derive(Debug)]
pub(crate) struct Whitening<'m, 'a, 'g, T> {
    landmarks: &'m Landmarks<'a, T, Ground<'g, T>>,
    lower: Mat<T>,
}

impl<'m, 'a, 'g, T: Lane + RealField> Whitening<'m, 'a, 'g, T> {
    /// Copy the factor: `c²` numbers.
    pub(crate) fn new(landmarks: &'m Landmarks<'a, T, Ground<'g, T>>) -> Self {
        let rank = landmarks.len();
        let mut lower = Mat::zeros(rank, rank);
        for j in 0..rank {
            landmarks.factor().row(j).iter().enumerate().for_each(|(k, &entry)| lower[(j, k)] = entry);
        }
        Self { landmarks, lower }
    }

    /// Return `k_C(x)` of these rows, one column per row.
    ///
    /// # Errors
    /// [`Error::Landmarks`].
    pub(crate) fn kernel_values<'r>(
        &self,
        rows: impl ExactSizeIterator<Item = &'r [T]>,
    ) -> Result<Mat<T>, Error> {
        let mut values = Mat::zeros(self.landmarks.len(), rows.len());
        for (i, row) in rows.enumerate() {
            let column = values.col_as_slice_mut(i);
            self.landmarks
                .ground()
                .column_at(row, self.landmarks.members(), column)
                .map_err(landmarks_error)?;
        }
        Ok(values)
    }

    /// Replace `k_C(x)` by `φ(x) = L⁻¹ k_C(x)`.
    pub(crate) fn whiten(&self, columns: &mut Mat<T>) {
        solve_lower_triangular_in_place(self.lower.as_ref(), columns.as_mut(), Par::Seq);
    }
}
