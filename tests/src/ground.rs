//! Ground sets whose laws are known: integer Gram matrices, points, given spectra.

use crate::script::SplitMix64;
use dpp_nystrom_core::Scalar;

/// The Gram matrix of rows of small integers: every entry, and every determinant, is exact.
#[derive(Clone, Debug)]
pub struct Gram {
    /// The number of rows.
    pub n: usize,
    /// The entries, row-major.
    pub entries: Vec<i64>,
    /// The rows whose inner products the entries are, `n` features each.
    pub rows: Vec<i64>,
}

impl Gram {
    /// Create `n` rows of `n` integers from -4 to 4: condition numbers of principal minors below 10³.
    pub fn well_conditioned(n: usize) -> Self {
        Self::from_rows(n, &small_rows(n, n, 4))
    }

    /// Create `n` rows of which each second one is a near-duplicate of the one before it: `scale · b` and
    /// `scale · b + e`, with small integers `b` and `e`. The residual of one given the other is about
    /// `scale⁻²` of its square. Entries are below `2⁶ scale²`, exact in `f32` up to scale 2⁹.
    pub fn near_duplicates(n: usize, scale: i64) -> Self {
        let base = small_rows(n, n, 1);
        let error = small_rows(n + 1, n, 1);
        let rows: Vec<Vec<i64>> = (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| scale * base[i - i % 2][j] + if i % 2 == 1 { error[i][j] } else { 0 })
                    .collect()
            })
            .collect();
        Self::from_rows(n, &rows)
    }

    fn from_rows(n: usize, rows: &[Vec<i64>]) -> Self {
        let product = |x: &[i64], y: &[i64]| x.iter().zip(y).map(|(x, y)| x * y).sum();
        let entries = rows.iter().flat_map(|x| rows.iter().map(move |y| product(x, y))).collect();
        Self { n, entries, rows: rows.concat() }
    }

    /// Return the entries in `T`.
    ///
    /// # Panics
    /// When one of them would be rounded.
    pub fn to<T: Scalar>(&self) -> Vec<T> {
        exact(&self.entries)
    }

    /// Return the rows in `T`: points whose linear kernel is this matrix.
    ///
    /// # Panics
    /// When a feature would be rounded.
    pub fn points<T: Scalar>(&self) -> Vec<T> {
        exact(&self.rows)
    }
}

/// Return integers in `T`.
///
/// # Panics
/// When one of them would be rounded.
pub fn exact<T: Scalar>(integers: &[i64]) -> Vec<T> {
    let exact = |&integer: &i64| {
        let number = T::from_f64(integer as f64);
        assert!(number.to_f64() == integer as f64, "{integer} is rounded");
        number
    };
    integers.iter().map(exact).collect()
}

fn small_rows(seed: usize, n: usize, most: i64) -> Vec<Vec<i64>> {
    let mut numbers = SplitMix64::seeded(seed as u64);
    let mut draw = || numbers.below(2 * most as usize + 1) as i64 - most;
    // A dominant diagonal keeps any set of rows independent.
    (0..n).map(|i| (0..n).map(|j| draw() + if i == j { 2 * most + 1 } else { 0 }).collect()).collect()
}

/// Return `n` standard normal points of `dim` features, row-major.
pub fn normal_points<T: Scalar>(n: usize, dim: usize, seed: u64) -> Vec<T> {
    let mut numbers = SplitMix64::seeded(seed);
    (0..n * dim).map(|_| T::from_f64(numbers.normal())).collect()
}

/// Return the row-major symmetric matrix `Q diag(spectrum) Qᵀ` with a random orthogonal `Q`, a product of `n`
/// Householder reflections.
pub fn with_spectrum(spectrum: &[f64], seed: u64) -> Vec<f64> {
    let n = spectrum.len();
    let mut numbers = SplitMix64::seeded(seed);
    let mut matrix = vec![0.0; n * n];
    for (i, &value) in spectrum.iter().enumerate() {
        matrix[i * n + i] = value;
    }
    for _ in 0..n.min(24) {
        let mut v: Vec<f64> = (0..n).map(|_| numbers.normal()).collect();
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.iter_mut().for_each(|x| *x /= norm);
        // H A H = A - 2 (v wᵀ + w vᵀ) + 4 (vᵀw) v vᵀ with w = A v.
        let w: Vec<f64> = matrix.chunks(n).map(|row| row.iter().zip(&v).map(|(a, v)| a * v).sum()).collect();
        let product: f64 = v.iter().zip(&w).map(|(v, w)| v * w).sum();
        for i in 0..n {
            for j in 0..=i {
                let entry =
                    matrix[i * n + j] - 2.0 * (v[i] * w[j] + w[i] * v[j]) + 4.0 * product * v[i] * v[j];
                matrix[i * n + j] = entry;
                matrix[j * n + i] = entry;
            }
        }
    }
    matrix
}

/// Return `count` numbers in geometric progression from 1 down to `1/condition`.
pub fn geometric(count: usize, condition: f64) -> Vec<f64> {
    (0..count).map(|i| condition.powf(-(i as f64) / (count.max(2) - 1) as f64)).collect()
}

/// Convert numbers to another precision, rounding to nearest.
pub fn converted<T: Scalar>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|&number| T::from_f64(number)).collect()
}
