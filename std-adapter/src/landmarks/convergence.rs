//! Convergence diagnostics: split R̂ and the autocorrelation time of recorded chains.
//!
//! Split R̂ and effective sample size follow Gelman et al., *Bayesian Data Analysis*, 3rd ed., §11.4 and
//! §11.5, and Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), without rank normalisation. Chains that
//! disagree increase both R̂ and the autocorrelation time. The sum of autocorrelations is truncated by the
//! initial monotone sequence of Geyer (1992), which is justified for reversible chains.

/// How far a chain and a second one from another start agree on the log-determinant.
///
/// ```
/// use dpp_nystrom::core::Matrix;
/// use dpp_nystrom::landmarks::select;
/// use dpp_nystrom::{observer::NoObserver, selectors::Kdpp};
///
/// let matrix = Matrix::new(&[4.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0])?;
/// let chains = select(&matrix, 1, &Kdpp::default(), 7, &NoObserver)?.convergence;
/// assert!(chains.is_some_and(|chains| chains.converged && chains.r_hat <= 1.05));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Convergence {
    /// Whether the split R̂ is at most [`Self::LIMIT`].
    pub converged: bool,
    /// The split R̂ of the later halves of both chains.
    pub r_hat: f64,
}

impl Convergence {
    /// The largest split R̂ at which chains count as converged.
    pub const LIMIT: f64 = 1.05;
}

/// Return `√(((m - 1)/m · W + B/m) / W)`, with W the mean of the variances of the parts, B/m the variance of
/// their means and m their length; 1 if all parts are constant and equal.
///
/// ```
/// use dpp_nystrom::landmarks::convergence::split_r_hat;
///
/// // Means 1 and 2, variances 2 and 2, m = 2.
/// assert_eq!(split_r_hat(&[&[0.0, 2.0], &[1.0, 3.0]]), 0.75_f64.sqrt());
/// ```
pub fn split_r_hat(parts: &[&[f64]]) -> f64 {
    let Some(spread) = Spread::of(parts) else { return f64::INFINITY };
    if spread.within == 0.0 {
        return if spread.between == 0.0 { 1.0 } else { f64::INFINITY };
    }
    (spread.total() / spread.within).sqrt()
}

/// Return the integrated autocorrelation time `1 + 2 Σ ρ_t`, in entries of the records. `None` if the records
/// are too short or constant. `O(m τ)` per part.
///
/// The result is at least `1/log10` of the total number of entries; smaller estimates are noise.
///
/// ```
/// use dpp_nystrom::landmarks::convergence::autocorrelation_time;
///
/// let slow: Vec<f64> = (0..400).map(|step| f64::from(step / 40 % 2)).collect();
/// assert!(autocorrelation_time(&[&slow]).is_some_and(|time| time > 10.0));
/// assert_eq!(autocorrelation_time(&[&[1.0; 50]]), None);
/// ```
pub fn autocorrelation_time(parts: &[&[f64]]) -> Option<f64> {
    let spread = Spread::of(parts)?;
    let total = spread.total();
    if !(total > 0.0 && spread.length >= 4) {
        return None;
    }
    let rho = |lag: usize| -> f64 {
        let covariance = parts.iter().map(|part| autocovariance(&part[..spread.length], lag)).sum::<f64>();
        1.0 - (spread.within - covariance / parts.len() as f64) / total
    };
    let mut sum = 0.0;
    let mut least = f64::INFINITY;
    for pair in 0..spread.length / 2 {
        let both = if pair == 0 { 1.0 + rho(1) } else { rho(2 * pair) + rho(2 * pair + 1) };
        if !(both > 0.0) {
            break;
        }
        least = least.min(both);
        sum += least;
    }
    let entries = (spread.length * parts.len()) as f64;
    Some((2.0 * sum - 1.0).max(1.0 / entries.log10()))
}

/// Return the third and the fourth quarter of a record: what is left after burn-in, for split R̂.
///
/// ```
/// use dpp_nystrom::landmarks::convergence::quarters;
///
/// assert_eq!(quarters(&[9.0, 5.0, 1.0, 2.0]), [&[1.0][..], &[2.0][..]]); // without the burn-in
/// ```
pub fn quarters(record: &[f64]) -> [&[f64]; 2] {
    let (_, later) = record.split_at(record.len() / 2);
    let (third, fourth) = later.split_at(later.len() / 2);
    [third, fourth]
}

/// The variance within the records and between their means.
struct Spread {
    length: usize,
    within: f64,
    between: f64,
}

impl Spread {
    /// Return `None` for parts of fewer than two entries.
    fn of(parts: &[&[f64]]) -> Option<Self> {
        let length = parts.iter().map(|part| part.len()).min().filter(|&length| length >= 2)?;
        let means: Vec<f64> = parts.iter().map(|part| mean(part)).collect();
        let within = parts.iter().map(|part| variance(part)).sum::<f64>() / parts.len() as f64;
        Some(Self { length, within, between: if means.len() > 1 { variance(&means) } else { 0.0 } })
    }

    /// Return `(m - 1)/m · W + B/m`.
    fn total(&self) -> f64 {
        let length = self.length as f64;
        (length - 1.0) / length * self.within + self.between
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Return the sample variance, with divisor `m - 1`.
fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Return `1/m Σ (x_i - x̄)(x_{i+lag} - x̄)`.
fn autocovariance(values: &[f64], lag: usize) -> f64 {
    let middle = mean(values);
    let products = values.iter().zip(&values[lag..]).map(|(x, y)| (x - middle) * (y - middle));
    products.sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::{autocorrelation_time, split_r_hat};
    use crate::landmarks::eigenvector_law::uniform;
    use dpp_nystrom_core::Random;

    #[test]
    fn parts_of_one_law_have_converged_and_others_have_not() {
        let wave = |shift: f64| -> Vec<f64> { (0..400).map(|i| shift + f64::from(i * 7 % 11)).collect() };
        let (a, b, c) = (wave(0.0), wave(0.01), wave(4.0));
        assert!(split_r_hat(&[&a, &b, &a, &b]) < 1.001);
        assert!(split_r_hat(&[&a, &a, &c, &c]) > 1.1);
        assert_eq!(split_r_hat(&[&[1.0; 5], &[1.0; 5]]), 1.0);
        assert_eq!(split_r_hat(&[&[1.0; 5], &[2.0; 5]]), f64::INFINITY);
        assert_eq!(split_r_hat(&[&[], &[]]), f64::INFINITY);
        // By hand: means 1 and 2, variances 2 and 2, m = 2: √((1 + 1/2)/2).
        assert_eq!(split_r_hat(&[&[0.0, 2.0], &[1.0, 3.0]]), 0.75_f64.sqrt());
    }

    /// Simulate `x' = a x + noise`, with `ρ_t = a^t` and autocorrelation time `(1 + a)/(1 - a)`.
    fn autoregressive(a: f64, length: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::seeded(seed);
        let mut x = 0.0;
        let mut step = || {
            x = a * x + uniform(&mut random) - 0.5;
            x
        };
        (0..length + 500).map(|_| step()).skip(500).collect()
    }

    #[test]
    fn times_of_autoregressive_records() {
        for (a, length) in [(0.0, 20_000), (0.5, 20_000), (0.9, 40_000), (0.97, 100_000)] {
            let records: Vec<Vec<f64>> = (0..4).map(|seed| autoregressive(a, length, seed)).collect();
            let parts: Vec<&[f64]> = records.iter().map(Vec::as_slice).collect();
            let (found, expected) = (autocorrelation_time(&parts).unwrap(), (1.0 + a) / (1.0 - a));
            assert!((found / expected - 1.0).abs() < 0.1, "a = {a}: {found}, expected {expected}");
        }
    }

    #[test]
    fn chains_that_disagree_take_long() {
        let (a, mut b) = (autoregressive(0.0, 2_000, 1), autoregressive(0.0, 2_000, 2));
        b.iter_mut().for_each(|x| *x += 10.0);
        assert!(autocorrelation_time(&[&a, &b]).unwrap() > 1_000.0);
        assert_eq!(autocorrelation_time(&[&[1.0; 50], &[1.0; 50]]), None);
        assert_eq!(autocorrelation_time(&[&[1.0, 2.0]]), None);
    }
}
