//! Kernel principal components (Schölkopf, Smola and Müller 1998) of Nyström features.
//!
//! With `φ̄` the mean of `n` features, the components are the eigenvectors of `Σ (φ_i - φ̄)(φ_i - φ̄)ᵀ`. The
//! smaller of this matrix and of that of the rows' products is decomposed: `O(n c min(n, c) + min(n, c)³)`.

use crate::error::{Error, check_rows};
use crate::linalg::eigen::{Eigen, eigen, product};
use faer::Mat;

/// The directions in which features vary most.
///
/// ```
/// use dpp_nystrom::approximation::Components;
///
/// let features = [1.0, 0.0, -1.0, 0.0, 0.0, 0.5, 0.0, -0.5];
/// let found = Components::of(&features, 2, 2)?;
/// assert!((found.shares[0] - 0.8).abs() < 1e-12); // a variance of 2 among 2.5
/// assert!((found.project(&features)?[0] - 1.0).abs() < 1e-12);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Components {
    /// The share of the variance in each direction, descending.
    pub shares: Vec<f64>,
    mean: Vec<f64>,
    /// One direction per column, of length 1.
    directions: Mat<f64>,
}

impl Components {
    /// Find the first `count` directions of features, row-major, `width` for each row; fewer if the features
    /// span fewer. The largest entry of each is positive.
    ///
    /// ```
    /// use dpp_nystrom::approximation::Components;
    ///
    /// let found = Components::of(&[0.0, 0.0, 2.0, 2.0, 4.0, 4.0], 2, 1)?;
    /// assert!((found.shares[0] - 1.0).abs() < 1e-12);
    /// assert!((found.project(&[4.0, 4.0])?[0] - 8.0_f64.sqrt()).abs() < 1e-12);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ErrorKind::Argument`, `ErrorKind::Landmarks`.
    pub fn of(features: &[f64], width: usize, count: usize) -> Result<Self, Error> {
        check_rows(features.len(), width)?;
        let rows = features.len() / width;
        let mean = |k: usize| features.iter().skip(k).step_by(width).sum::<f64>() / rows.max(1) as f64;
        let mean: Vec<f64> = (0..width).map(mean).collect();
        let centred = Mat::from_fn(rows, width, |i, k| features[i * width + k] - mean[k]);
        let by_rows = rows < width;
        let gram = match by_rows {
            true => product(centred.as_ref(), centred.transpose()),
            false => product(centred.transpose(), centred.as_ref()),
        };
        let Eigen { values, vectors } = eigen(&gram)?;
        let total: f64 = values.iter().sum();
        let floor = values.len() as f64 * f64::EPSILON * total;
        let count = values.iter().take(count).take_while(|&&value| value > floor).count();
        let vectors = vectors.subcols(0, count);
        let mut directions = match by_rows {
            true => product(centred.transpose(), vectors),
            false => vectors.to_owned(),
        };
        for direction in directions.col_iter_mut() {
            let largest = direction.as_ref().iter().copied().max_by(|x, y| x.abs().total_cmp(&y.abs()));
            let scale = direction.norm_l2() * largest.unwrap_or(1.0).signum();
            direction.iter_mut().for_each(|entry| *entry /= scale);
        }
        let shares = values[..count].iter().map(|value| value / total).collect();
        Ok(Self { shares, mean, directions })
    }

    /// Return the coordinates of features in these directions, row-major.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for features of another width.
    pub fn project(&self, features: &[f64]) -> Result<Vec<f64>, Error> {
        check_rows(features.len(), self.mean.len())?;
        let along = |row: &[f64], direction: usize| {
            let entries = row.iter().zip(&self.mean).enumerate();
            entries.map(|(k, (value, mean))| (value - mean) * self.directions[(k, direction)]).sum::<f64>()
        };
        let rows = features.chunks_exact(self.mean.len());
        Ok(rows.flat_map(|row| (0..self.shares.len()).map(move |at| along(row, at))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Components;

    fn value(i: usize) -> f64 {
        (i as f64 * 0.754_877_666).fract() - 0.5
    }

    /// Against the definition: projections are uncorrelated, their variances are the shares, and no direction
    /// has more than the first.
    fn is_principal(rows: usize, width: usize) {
        let feature = |i: usize, k: usize| value(i * i * 7 + k * 131) * 0.6_f64.powi(k as i32 % 7) + k as f64;
        let places = (0..rows).flat_map(|i| (0..width).map(move |k| (i, k)));
        let features: Vec<f64> = places.map(|(i, k)| feature(i, k)).collect();
        let found = Components::of(&features, width, 2).unwrap();
        let projected = found.project(&features).unwrap();
        let mean = |k: usize| (0..rows).map(|i| feature(i, k)).sum::<f64>() / rows as f64;
        let means: Vec<f64> = (0..width).map(mean).collect();
        let square = |at: usize, value: &f64| (value - means[at % width]).powi(2);
        let total: f64 = features.iter().enumerate().map(|(at, value)| square(at, value)).sum();
        let product =
            |a: usize, b: usize| projected.chunks(2).map(|row| row[a] * row[b]).sum::<f64>() / total;
        for at in 0..2 {
            assert!((product(at, at) - found.shares[at]).abs() < 1e-10, "{rows} {width}");
            assert!(projected.iter().skip(at).step_by(2).sum::<f64>().abs() < 1e-9 * total, "{rows} {width}");
        }
        assert!(product(0, 1).abs() < 1e-10 && found.shares[0] >= found.shares[1]);
        for trial in 0..200 {
            let direction: Vec<f64> = (0..width).map(|k| value(trial * 977 + k * k * 31 + k)).collect();
            let norm: f64 = direction.iter().map(|entry| entry * entry).sum();
            let along = |row: &[f64]| (0..width).map(|k| (row[k] - means[k]) * direction[k]).sum::<f64>();
            let share = features.chunks(width).map(|row| along(row).powi(2)).sum::<f64>() / (norm * total);
            assert!(share <= found.shares[0] + 1e-12, "{rows} {width} {share}");
        }
    }

    #[test]
    fn components_are_those_of_the_covariance() {
        is_principal(60, 9);
        is_principal(9, 60);
    }

    #[test]
    fn features_that_do_not_vary_have_none() {
        let found = Components::of(&[1.0, 2.0, 1.0, 2.0], 2, 2).unwrap();
        assert!(found.shares.is_empty() && found.project(&[1.0, 2.0]).unwrap().is_empty());
        assert!(Components::of(&[1.0; 3], 2, 2).is_err());
    }
}
