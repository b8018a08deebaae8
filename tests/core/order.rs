//! The order of every sum is part of the result and does not depend on the tiles: factors and substitutions
//! have the bits of the plain formulas.

use dpp_nystrom_core::{Cholesky, Error, Scalar};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_tests::ground::{converted, geometric, with_spectrum};
use dpp_nystrom_tests::snapshot::bits;

/// `l_kj = (a_kj - l_k0 l_j0 - l_k1 l_j1 - …) / l_jj`, entry by entry.
fn plain_factor<T: Scalar>(matrix: &[T], n: usize) -> Vec<Vec<T>> {
    let mut rows: Vec<Vec<T>> = Vec::new();
    for k in 0..n {
        let mut row: Vec<T> = Vec::new();
        for j in 0..=k {
            let mut value = matrix[k * n + j];
            for t in 0..j {
                value -= row[t] * if j < k { rows[j][t] } else { row[t] };
            }
            row.push(if j < k { value / rows[j][j] } else { value.sqrt() });
        }
        rows.push(row);
    }
    rows
}

/// `z_k = (b_k - l_k0 z_0 - l_k1 z_1 - …) / l_kk`.
fn plain_solve<T: Scalar>(rows: &[Vec<T>], b: &[T]) -> Vec<T> {
    let mut z: Vec<T> = Vec::new();
    for (row, &b) in rows.iter().zip(b) {
        let mut value = b;
        for (&entry, &z) in row.iter().zip(&z) {
            value -= entry * z;
        }
        z.push(value / row[z.len()]);
    }
    z
}

fn has_the_plain_bits<T: Scalar>() {
    for n in 1..=37 {
        let matrix: Vec<T> = converted(&with_spectrum(&geometric(n, 1e3), n as u64));
        // Additional memory: the stride differs from the order.
        for capacity in [n, n + 3] {
            let mut heap = Heap::<T>::new(capacity).unwrap();
            let mut factor = Cholesky::new(heap.lend().factor).unwrap();
            factor.factor(n, &matrix).unwrap();
            let rows = plain_factor(&matrix, n);
            for (i, row) in rows.iter().enumerate() {
                assert_eq!(bits(factor.row(i)), bits(row), "row {i} of {n} in {capacity}");
            }
            factor.refactor(|i, j| matrix[i * n + j]).unwrap();
            for (i, row) in rows.iter().enumerate() {
                assert_eq!(bits(factor.row(i)), bits(row), "row {i} of {n} in {capacity}, refactored");
            }
            let b: Vec<T> = (0..n).map(|i| T::from_f64((i as f64 * 0.7).sin())).collect();
            let mut z = b.clone();
            factor.solve_lower(&mut z).unwrap();
            assert_eq!(bits(&z), bits(&plain_solve(&rows, &b)), "{n} in {capacity}");
        }
    }
}

#[test]
fn tiles_have_the_bits_of_the_plain_formulas_in_f32() {
    has_the_plain_bits::<f32>();
}

#[test]
fn tiles_have_the_bits_of_the_plain_formulas_in_f64() {
    has_the_plain_bits::<f64>();
}

/// The error names the place in the given matrix, and the present factor is unchanged.
#[test]
fn a_matrix_that_has_no_factor_is_refused() {
    const N: usize = 11;
    let matrix = with_spectrum(&geometric(N, 1e2), 1);
    let mut heap = Heap::<f64>::new(N).unwrap();
    let mut factor = Cholesky::new(heap.lend().factor).unwrap();
    factor.factor(N, &matrix).unwrap();
    let kept: Vec<_> = (0..N).map(|i| bits(factor.row(i))).collect();
    let mut refused = |spoilt: &[f64], order| {
        let error = factor.factor(order, spoilt).unwrap_err();
        assert_eq!(factor.order(), N);
        assert!((0..N).all(|i| bits(factor.row(i)) == kept[i]), "{error}");
        error
    };
    for row in 0..N {
        for column in 0..=row {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut spoilt = matrix.clone();
                spoilt[row * N + column] = value;
                assert_eq!(refused(&spoilt, N), Error::NotFinite { row, column });
            }
        }
        let mut spoilt = matrix.clone();
        spoilt[row * N + row] = -1.0;
        assert_eq!(refused(&spoilt, N), Error::NotPositive { pivot: row });
    }
    assert_eq!(refused(&matrix, N - 1), Error::Length { expected: (N - 1) * (N - 1), found: N * N });
    assert_eq!(refused(&matrix, N + 1), Error::Capacity { needed: N + 1, have: N });
}
