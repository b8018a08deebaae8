//! Nyström features `φ = L⁻¹ k_C` of rows, and the linearly independent landmarks.

use crate::approximation::ground::Ground;
use crate::error::Error;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Nystrom, Points, Scalar};
use dpp_nystrom_host::heap::{Heap, zeros};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Return the landmarks of all points of a ground set that are independent of those before them.
pub(crate) fn independent_points<'a, T: Scalar, G: GroundSet<T> + ?Sized>(
    home: &'a G,
    memory: &'a mut Heap<T>,
) -> Result<Landmarks<'a, T, G>, Error> {
    independent(home, &(0..home.len()).collect::<Vec<_>>(), memory)
}

/// Return the landmarks that are independent of those before them.
pub(crate) fn independent<'a, T: Scalar, G: GroundSet<T> + ?Sized>(
    ground: &'a G,
    rows: &[usize],
    memory: &'a mut Heap<T>,
) -> Result<Landmarks<'a, T, G>, Error> {
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(Error::landmarks)?;
    push_some(&mut landmarks, rows)?;
    Ok(landmarks)
}

/// [`push_independent`] to an empty set, at least one of them.
pub(crate) fn push_some<T: Scalar, G: GroundSet<T> + ?Sized>(
    landmarks: &mut Landmarks<'_, T, G>,
    rows: &[usize],
) -> Result<(), Error> {
    push_independent(landmarks, rows)?;
    if landmarks.is_empty() {
        return Err(Error::landmarks(CoreError::RankDeficient { rank: 0, landmarks: rows.len() }));
    }
    Ok(())
}

/// Append the rows that are independent of the landmarks and of the rows before them.
pub(crate) fn push_independent<T: Scalar, G: GroundSet<T> + ?Sized>(
    landmarks: &mut Landmarks<'_, T, G>,
    rows: &[usize],
) -> Result<(), Error> {
    for &row in rows {
        match landmarks.push(row) {
            Ok(()) | Err(CoreError::NotPositive { .. }) => {}
            Err(reason) => return Err(Error::landmarks(reason)),
        }
    }
    Ok(())
}

/// Return a column of Nyström features `φ` for each row, `K̃ = ΦᵀΦ`.
pub(crate) fn features<G>(landmarks: &Landmarks<'_, f64, G>) -> Result<Mat<f64>, Error>
where
    G: GroundSet<f64> + Sync + ?Sized,
{
    let ground = landmarks.ground();
    columns(landmarks, ground.len(), |row, column| {
        ground.column(row, landmarks.members(), column);
        Ok(())
    })
}

/// Return a column of Nyström features `φ` for each row, from the independent ones of these landmarks:
/// `K̃ = ΦᵀΦ`. `N c²` multiply-adds on all threads.
///
/// # Errors
/// `ErrorKind::Landmarks`, `ErrorKind::Memory`.
///
/// ```
/// use dpp_nystrom::{approximation::features_of, core::Matrix};
///
/// let matrix = Matrix::new(&[4.0, 2.0, 2.0, 2.0])?;
/// let phi = features_of(&matrix, &[0])?; // one row, a column for each row of the matrix
/// assert_eq!((phi[(0, 0)], phi[(0, 1)]), (2.0, 1.0));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn features_of<G>(ground: &G, landmarks: &[usize]) -> Result<Mat<f64>, Error>
where
    G: GroundSet<f64> + Sync + ?Sized,
{
    let mut memory = Heap::new(landmarks.len())?;
    features(&independent(ground, landmarks, &mut memory)?)
}

/// Return the [`features`] from landmarks given as points.
pub(crate) fn features_of_points(ground: &Ground<'_>, points: &[f64]) -> Result<Mat<f64>, Error> {
    let home = Points::new(points, ground.features(), *ground.kernel())?;
    let mut memory = Heap::new(home.len())?;
    let landmarks = independent_points(&home, &mut memory)?;
    let kernel = |row, column: &mut [f64]| home.column_at(ground.row(row), landmarks.members(), column);
    columns(&landmarks, ground.len(), kernel)
}

/// Return a column of features for each of `len` rows. `kernel` writes the kernel of a row with the
/// landmarks.
pub(crate) fn columns<G: GroundSet<f64> + Sync + ?Sized>(
    landmarks: &Landmarks<'_, f64, G>,
    len: usize,
    kernel: impl Fn(usize, &mut [f64]) -> Result<(), CoreError> + Sync,
) -> Result<Mat<f64>, Error> {
    let nystrom = Nystrom::new(landmarks);
    let mut features = Mat::<f64>::zeros(nystrom.rank(), len);
    features
        .par_col_iter_mut()
        .enumerate()
        .try_for_each(|(row, column)| match column.try_as_col_major_mut() {
            Some(column) => {
                let column = column.as_slice_mut();
                kernel(row, column)?;
                nystrom.features_at(row, column)
            }
            None => Ok(()),
        })
        .map_err(Error::landmarks)?;
    Ok(features)
}

/// Evaluate the full kernel matrix of a ground set.
///
/// # Errors
/// `ErrorKind::Landmarks` if it is empty or not finite, `ErrorKind::Memory`.
pub(crate) fn kernel_matrix<G: GroundSet<f64> + Sync + ?Sized>(ground: &G) -> Result<Mat<f64>, Error> {
    let n = ground.len();
    if n == 0 {
        return Err(Error::landmarks(CoreError::Empty));
    }
    let mut entries = zeros(n * n, 0.0)?;
    entries
        .par_chunks_mut(n)
        .enumerate()
        .try_for_each(|(i, row)| {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = if i == j { ground.diagonal(i) } else { ground.entry(i, j) };
                if !entry.is_finite() {
                    return Err(CoreError::NotFinite { row: i, column: j });
                }
            }
            Ok(())
        })
        .map_err(Error::landmarks)?;
    Ok(MatRef::from_row_major_slice(&entries, n, n).to_owned())
}
