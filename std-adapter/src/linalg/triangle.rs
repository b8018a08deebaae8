//! Triangular factors, and sums of upper triangles: the triangle `R` of `RᵀR = AᵀA + BᵀB` for upper
//! triangular `A` and `B`.
//!
//! `R` is the triangle of a QR decomposition of `[A; B]` (Golub and Van Loan §6.5.3), so no product is
//! formed. Rows of `A` and `B` are interleaved in blocks: when a block of columns is reduced, all rows below
//! those that it reaches are still zero there. Householder reflections of that block leave them out, so the
//! whole costs `2c³/3` operations instead of `10c³/3`.

use crate::error::{Cause, Error};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::traits::RealField;
use faer::{Conj, Mat, MatRef, Par, Spec};

/// Return a square matrix of zeros.
pub(crate) fn zero_matrix<T: RealField>(order: usize) -> Result<Mat<T>, Error> {
    let mut matrix = Mat::new();
    let bytes = order.saturating_mul(order).saturating_mul(size_of::<T>());
    matrix.try_reserve(order, order).map_err(|_| Error(Cause::Memory { bytes }))?;
    matrix.resize_with(order, order, |_, _| T::zero_impl());
    Ok(matrix)
}

/// Replace a positive definite matrix by its lower triangular factor: `c³/6` multiply-adds on one thread.
/// `None` if it is not positive definite; the matrix then holds anything.
pub(crate) fn factor(matrix: &mut Mat<f64>) -> Option<()> {
    factor_on(matrix, Par::Seq)
}

/// [`factor`] on these threads.
pub(crate) fn factor_on(matrix: &mut Mat<f64>, parallel: Par) -> Option<()> {
    let order = matrix.nrows();
    let mut buffer = MemBuffer::new(cholesky_in_place_scratch::<f64>(order, parallel, Spec::default()));
    let stack = MemStack::new(&mut buffer);
    cholesky_in_place(matrix.as_mut(), Default::default(), parallel, stack, Spec::default()).ok()?;
    (1..order).for_each(|j| matrix.as_mut().col_mut(j).subrows_mut(0, j).fill(0.0));
    Some(())
}

/// Solve `(A + λI) X = B` for a positive definite sum, with `A` on and below its diagonal; `None` otherwise.
pub(crate) fn solve_loaded(matrix: &Mat<f64>, load: f64, right: &Mat<f64>) -> Option<Mat<f64>> {
    let (mut lower, mut solution) = (matrix.clone(), right.clone());
    (0..lower.nrows()).for_each(|j| lower[(j, j)] += load);
    factor(&mut lower)?;
    solve_lower_triangular_in_place(lower.as_ref(), solution.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(lower.transpose(), solution.as_mut(), Par::Seq);
    Some(solution)
}

/// Columns reduced together: narrower blocks make slow products, wider ones leave out fewer zeros.
const WIDTH: usize = 32;

/// Return the upper triangle `R` of `RᵀR = AᵀA + BᵀB`, of any signs on its diagonal: `2c³/3` operations and
/// `2c²` values of working memory, on one thread.
///
/// Entries of `A` and `B` below the diagonal are not read. A column whose component independent of the
/// preceding columns is below about 10⁻¹² of its length is treated as dependent.
pub(crate) fn sum(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let order = a.ncols();
    let mut matrix = Mat::<f64>::zeros(2 * order, order);
    for j in 0..order {
        let column = matrix.col_as_slice_mut(j);
        for first in (0..=j).step_by(WIDTH) {
            let width = WIDTH.min(order - first);
            for i in first..(first + width).min(j + 1) {
                column[first + i] = a[(i, j)];
                column[first + i + width] = b[(i, j)];
            }
        }
    }
    let block = recommended_block_size::<f64>(2 * order, WIDTH.min(order));
    let scratch = StackReq::any_of(&[
        qr_in_place_scratch::<f64>(2 * order, WIDTH, block, Par::Seq, Spec::default()),
        apply_scratch::<f64>(2 * order, block, order),
    ]);
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    for first in (0..order).step_by(WIDTH) {
        let next = (first + WIDTH).min(order);
        let rows = matrix.as_mut().subrows_mut(first, 2 * next - first);
        let (done, rest) = rows.split_at_col_mut(next);
        let mut panel = done.subcols_mut(first, next - first);
        let mut reflections = Mat::<f64>::zeros(block.min(next - first), next - first);
        qr_in_place(panel.as_mut(), reflections.as_mut(), Par::Seq, stack, Spec::default());
        if rest.ncols() > 0 {
            apply(panel.as_ref(), reflections.as_ref(), Conj::Yes, rest, Par::Seq, stack);
        }
    }
    Mat::from_fn(order, order, |i, j| if i <= j { matrix[(i, j)] } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::sum;
    use faer::Mat;

    fn triangle(order: usize, seed: usize, scale: impl Fn(usize) -> f64) -> Mat<f64> {
        let value = |i: usize, j: usize| {
            (((seed + 31 * i + 7 * j * j) as f64 * 0.754_877_666).fract() - 0.5) * scale(j)
        };
        Mat::from_fn(order, order, |i, j| if i <= j { value(i, j) } else { 0.0 })
    }

    fn agrees(a: &Mat<f64>, b: &Mat<f64>) {
        let order = a.ncols();
        let r = sum(a.as_ref(), b.as_ref());
        let expected = a.transpose() * a + b.transpose() * b;
        let found = r.transpose() * &r;
        // Column by column, so that no large column hides a small one.
        let scale = |j: usize| expected[(j, j)].sqrt();
        for j in 0..order {
            for i in 0..order {
                let off = (found[(i, j)] - expected[(i, j)]).abs();
                assert!(off <= 1e-13 * order as f64 * scale(i) * scale(j), "{order} {i} {j}: {off:e}");
                assert!(i <= j || r[(i, j)] == 0.0);
            }
        }
    }

    #[test]
    fn a_sum_has_the_sum_of_the_products() {
        for order in [1, 2, 31, 32, 33, 64, 101, 257] {
            agrees(&triangle(order, 1, |_| 1.0), &triangle(order, 5, |_| 1.0));
            agrees(&triangle(order, 1, |_| 1.0), &Mat::zeros(order, order));
            agrees(&Mat::zeros(order, order), &triangle(order, 5, |_| 1.0));
            agrees(&triangle(order, 1, |j| 0.8_f64.powi(j as i32 % 50)), &triangle(order, 5, |_| 1.0));
        }
    }

    #[test]
    fn dependent_columns_are_summed() {
        // Rows in few dimensions: most pivots are zero.
        for order in [40, 100] {
            let few = |seed| {
                let mut few = triangle(order, seed, |_| 1.0);
                (3..order).for_each(|i| few.row_mut(i).iter_mut().for_each(|value| *value = 0.0));
                few
            };
            agrees(&few(1), &few(5));
            agrees(&few(1), &triangle(order, 5, |j| if j % 3 == 0 { 0.0 } else { 1.0 }));
        }
    }
}
