//! Nyström features `φ = L⁻¹ k_C` of rows, and the linearly independent landmarks.

use crate::error::Error;
use crate::heap::{Heap, zeros};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Nystrom, Points};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// The ground set on which errors are measured: always `f64`, whatever the precision of the selection.
pub type Ground<'a> = Points<'a, f64, ChosenKernel<f64>>;

/// Return the features `φ` of every row, one column per row, from landmarks that are rows of `home`.
pub(crate) fn features(
    ground: &Ground<'_>,
    home: &Ground<'_>,
    landmarks: &Landmarks<'_, f64, Ground<'_>>,
) -> Result<Mat<f64>, Error> {
    let nystrom = Nystrom::new(landmarks);
    let mut features = Mat::<f64>::zeros(nystrom.rank(), ground.len());
    features
        .par_col_iter_mut()
        .enumerate()
        .try_for_each(|(row, phi)| match phi.try_as_col_major_mut() {
            Some(phi) => {
                let phi = phi.as_slice_mut();
                home.column_at(ground.row(row), landmarks.members(), phi);
                nystrom.features_at(row, phi)
            }
            None => Ok(()),
        })
        .map_err(|reason| Error::Landmarks { reason })?;
    Ok(features)
}

/// Return the points of `home` that are independent of those before them.
pub(crate) fn independent_points<'a>(
    home: &'a Ground<'_>,
    memory: &'a mut Heap<f64>,
) -> Result<Landmarks<'a, f64, Ground<'a>>, Error> {
    independent(home, &(0..home.len()).collect::<Vec<_>>(), memory)
}

/// Return the landmarks that are independent of those before them.
pub(crate) fn independent<'a, T, G>(
    ground: &'a G,
    rows: &[usize],
    memory: &'a mut Heap<T>,
) -> Result<Landmarks<'a, T, G>, Error>
where
    T: dpp_nystrom_core::Scalar,
    G: GroundSet<T> + ?Sized,
{
    let mut landmarks =
        Landmarks::new(ground, memory.lend()).map_err(|reason| Error::Landmarks { reason })?;
    for &row in rows {
        match landmarks.push(row) {
            Ok(()) | Err(CoreError::NotPositive { .. }) => {}
            Err(reason) => return Err(Error::Landmarks { reason }),
        }
    }
    if landmarks.is_empty() {
        let reason = CoreError::RankDeficient { rank: 0, landmarks: rows.len() };
        return Err(Error::Landmarks { reason });
    }
    Ok(landmarks)
}

/// Return a column of Nyström features `φ` for each row, `K̃ = ΦᵀΦ`, from landmarks that are rows of any ground set.
pub(crate) fn features_of<G>(ground: &G, landmarks: &[usize]) -> Result<Mat<f64>, Error>
where
    G: GroundSet<f64> + Sync + ?Sized,
{
    let mut memory = Heap::new(landmarks.len())?;
    let landmarks = independent(ground, landmarks, &mut memory)?;
    let nystrom = Nystrom::new(&landmarks);
    let mut features = Mat::<f64>::zeros(nystrom.rank(), ground.len());
    features
        .par_col_iter_mut()
        .enumerate()
        .try_for_each(|(row, phi)| match phi.try_as_col_major_mut() {
            Some(phi) => nystrom.features(row, phi.as_slice_mut()),
            None => Ok(()),
        })
        .map_err(|reason| Error::Landmarks { reason })?;
    Ok(features)
}

/// Evaluate the full kernel matrix of a ground set.
///
/// # Errors
/// [`Error::Landmarks`] if it is empty or not finite, [`Error::Memory`].
pub(crate) fn kernel_matrix<G: GroundSet<f64> + Sync + ?Sized>(ground: &G) -> Result<Mat<f64>, Error> {
    let n = ground.len();
    if n == 0 {
        return Err(Error::Landmarks { reason: CoreError::Empty });
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
        .map_err(|reason| Error::Landmarks { reason })?;
    Ok(MatRef::from_row_major_slice(&entries, n, n).to_owned())
}
