//! Features of blocks of rows: kernel values in lanes, and one triangular solve for all rows of a block.

use crate::error::Error;
use dpp_nystrom_core::{Landmarks, TRIES};
use dpp_nystrom_host::heap::zeros;
use dpp_nystrom_host::simd::lane::{Ground, InLanes, Lane, set_row};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatMut, MatRef, Par, traits::RealField};
use pulp::Arch;

/// Landmarks and their factor `L`.
#[derive(Debug)]
pub(crate) struct Whitening<'m, 'a, 'g, T> {
    landmarks: &'m Landmarks<'a, T, Ground<'g, T>>,
    lower: Mat<T>,
    arch: Arch,
}

/// A number for each row and landmark, by columns of `rows` entries.
#[derive(Debug)]
pub(crate) struct Columns<T> {
    rows: usize,
    rank: usize,
    numbers: Vec<T>,
}

impl<T: Lane + RealField> Columns<T> {
    /// Return as many columns of zeros as there are landmarks.
    pub(crate) fn zeros(rows: usize, rank: usize) -> Result<Self, Error> {
        Ok(Self { rows, rank, numbers: zeros(rows.saturating_mul(rank), T::ZERO)? })
    }

    pub(crate) fn view(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.numbers, self.rows, self.rank)
    }

    pub(crate) fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_column_major_slice_mut(&mut self.numbers, self.rows, self.rank)
    }

    /// Copy to `f64`, a row for each row.
    pub(crate) fn wide(&self) -> Mat<f64> {
        let view = self.view();
        Mat::from_fn(self.rows, self.rank, |i, k| view[(i, k)].to_f64())
    }

    /// Return the sums of the squares in each row.
    pub(crate) fn squares(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows];
        for column in self.numbers.chunks_exact(self.rows.max(1)) {
            sums.iter_mut().zip(column).for_each(|(sum, value)| *sum += value.to_f64() * value.to_f64());
        }
        sums
    }
}

impl<'m, 'a, 'g, T: Lane + RealField> Whitening<'m, 'a, 'g, T> {
    /// Copy the factor: `c²` numbers.
    pub(crate) fn new(landmarks: &'m Landmarks<'a, T, Ground<'g, T>>) -> Self {
        let rank = landmarks.len();
        let mut lower = Mat::zeros(rank, rank);
        for j in 0..rank {
            landmarks.factor().row(j).iter().enumerate().for_each(|(k, &entry)| lower[(j, k)] = entry);
        }
        Self { landmarks, lower, arch: Arch::new() }
    }

    /// Return `k_C(x)` of each of these rows.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub(crate) fn kernel_values<'r>(
        &self,
        rows: impl ExactSizeIterator<Item = &'r [T]>,
    ) -> Result<Columns<T>, Error> {
        let (ground, count) = (self.landmarks.ground(), rows.len());
        let mut values = zeros(count.next_multiple_of(TRIES) * ground.features(), T::ZERO)?;
        rows.enumerate().for_each(|(i, row)| set_row(&mut values, ground.features(), i, row.iter().copied()));
        self.entries(count, &values)
    }

    /// The values of so many rows in lanes: compiled once, and not for each iterator.
    fn entries(&self, count: usize, values: &[T]) -> Result<Columns<T>, Error> {
        let (ground, members) = (self.landmarks.ground(), self.landmarks.members());
        let mut columns = Columns::zeros(count, members.len())?;
        ground.runs(self.arch, members, count, values, &mut columns.numbers);
        Ok(columns)
    }

    /// Replace `k_C(x)` by `φ(x) = L⁻¹ k_C(x)`.
    pub(crate) fn whiten(&self, columns: &mut Columns<T>) {
        solve_lower_triangular_in_place(self.lower.as_ref(), columns.view_mut().transpose_mut(), Par::Seq);
    }

    /// Return `φ(x)` of each of these rows.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub(crate) fn features<'r>(
        &self,
        rows: impl ExactSizeIterator<Item = &'r [T]>,
    ) -> Result<Mat<f64>, Error> {
        let mut columns = self.kernel_values(rows)?;
        self.whiten(&mut columns);
        Ok(columns.wide())
    }
}
