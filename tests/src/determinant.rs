//! Determinants by elimination and by expansion, and the condition number of their quotients.

/// Return the rows and columns `members` of a row-major `n x n` matrix, in that order.
///
/// # Panics
/// When a member is not below `n`.
pub fn principal<T: Copy>(matrix: &[T], n: usize, members: &[usize]) -> Vec<T> {
    members.iter().flat_map(|&i| members.iter().map(move |&j| matrix[i * n + j])).collect()
}

/// Return a determinant by elimination with partial pivoting; 1 for order 0.
pub fn determinant(matrix: &[f64], order: usize) -> f64 {
    let mut rows: Vec<Vec<f64>> = matrix.chunks(order.max(1)).take(order).map(<[f64]>::to_vec).collect();
    let mut product = 1.0;
    for k in 0..order {
        let pivot = (k..order).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap_or(k);
        if rows[pivot][k] == 0.0 {
            return 0.0;
        }
        if pivot != k {
            rows.swap(pivot, k);
            product = -product;
        }
        product *= rows[k][k];
        let top = rows[k].clone();
        for row in &mut rows[k + 1..] {
            let factor = row[k] / top[k];
            for (entry, above) in row.iter_mut().zip(&top).skip(k) {
                *entry -= factor * above;
            }
        }
    }
    product
}

/// Return a determinant of integers, by expansion along the first row: exact, with `order!` operations.
pub fn exact_determinant(matrix: &[i64], order: usize) -> i128 {
    fn expand(matrix: &[i64], order: usize, row: usize, columns: &mut Vec<usize>) -> i128 {
        let mut total = 0;
        for at in 0..columns.len() {
            let column = columns.remove(at);
            let minor = if columns.is_empty() { 1 } else { expand(matrix, order, row + 1, columns) };
            let term = i128::from(matrix[row * order + column]) * minor;
            total += if at % 2 == 0 { term } else { -term };
            columns.insert(at, column);
        }
        total
    }
    if order == 0 { 1 } else { expand(matrix, order, 0, &mut (0..order).collect()) }
}

/// Return the condition number of `det K_{Y∪v\u} / det K_Y` with respect to the relative perturbation of the
/// matrix: `a_v/s_v + a_u/s_u`, `s` the residual of a row given the `c - 1` that remain, and
/// `a_v = (√k_vv + Σ |w_i| √k_ii)²`, `w = K_RR⁻¹ k_R(v)`.
///
/// A perturbation with `|ΔK_ij| <= δ √(k_ii k_jj)`, which is the guaranteed backward error of a factor,
/// changes `s_v` by at most `δ a_v` to first order.
pub fn swap_condition(matrix: &[f64], n: usize, members: &[usize], slot: usize, entering: usize) -> f64 {
    let stay: Vec<usize> =
        members.iter().enumerate().filter(|&(at, _)| at != slot).map(|(_, &member)| member).collect();
    let order = stay.len();
    let inner = principal(matrix, n, &stay);
    let whole = determinant(&inner, order);
    let condition_of = |row: usize| {
        let mut amplified = matrix[row * n + row].sqrt();
        for (at, &member) in stay.iter().enumerate() {
            // Cramer's rule: column `at` replaced by the row's entries.
            let mut replaced = inner.clone();
            for (i, &other) in stay.iter().enumerate() {
                replaced[i * order + at] = matrix[other * n + row];
            }
            let weight = determinant(&replaced, order) / whole;
            amplified += weight.abs() * matrix[member * n + member].sqrt();
        }
        let mut with = stay.clone();
        with.push(row);
        let residual = determinant(&principal(matrix, n, &with), order + 1) / whole;
        amplified * amplified / residual
    };
    condition_of(entering) + condition_of(members[slot])
}

#[cfg(test)]
mod tests {
    use super::{determinant, exact_determinant};

    #[test]
    fn both_determinants_agree_with_a_hand_computed_one() {
        // 2·(4·7 - 5·6) - 3·(1·7 - 5·0) + 1·(1·6 - 4·0) = -4 - 21 + 6
        let matrix = [2, 3, 1, 1, 4, 5, 0, 6, 7];
        assert_eq!(exact_determinant(&matrix, 3), -19);
        assert!((determinant(&matrix.map(|entry| entry as f64), 3) + 19.0).abs() < 1e-14);
        assert_eq!((exact_determinant(&[], 0), determinant(&[], 0)), (1, 1.0));
    }
}
