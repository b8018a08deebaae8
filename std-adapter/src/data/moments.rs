//! Means and standard deviations of rows that arrive in blocks and are read once.

use crate::data::scaler::{Scaler, power_of_two};
use pulp::Arch;
use serde::{Deserialize, Serialize};

/// Sums that advance together.
const LANES: usize = 8;

/// Running means and sums of squares of columns, about a centre and in a scale that the first block
/// determines, so that squares neither overflow nor lose the digits of a column far from zero. Blocks are
/// merged by the formula of Chan, Golub and LeVeque (1979).
///
/// ```
/// use dpp_nystrom::data::{Moments, Scaler};
///
/// let (one, other) = ([1.0, 2.0, 4.0], [8.0, 16.0]);
/// let mut moments = Moments::about(&Scaler::of(&one, 1));
/// moments.add(&one);
/// let mut elsewhere = Moments::about(&Scaler::of(&other, 1));
/// elsewhere.add(&other);
/// moments.merge(&elsewhere);
/// assert_eq!(moments.rows(), 5);
/// assert!((moments.statistics().means[0] - 6.2).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Moments {
    /// The shift of each column: the mean of the first block.
    pub(crate) centres: Vec<f64>,
    /// The scale of each column: a power of two, by which shifted values are divided before squaring.
    scales: Vec<f64>,
    count: f64,
    means: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// Start without rows, centred at the means of these statistics.
    pub fn about(first: &Scaler) -> Self {
        let dim = first.means.len();
        let scale = |&deviation: &f64| if deviation > 0.0 { power_of_two(deviation) } else { 1.0 };
        Self {
            centres: first.means.clone(),
            scales: first.deviations.iter().map(scale).collect(),
            count: 0.0,
            means: vec![0.0; dim],
            squares: vec![0.0; dim],
        }
    }

    /// Add a block of rows.
    pub fn add(&mut self, rows: &[f64]) {
        let dim = self.centres.len();
        let columns: Vec<Vec<f64>> =
            (0..dim).map(|column| rows.iter().skip(column).step_by(dim).copied().collect()).collect();
        self.add_columns(&columns);
    }

    /// Add a block of rows, given as columns of one length. Columns that the statistics do not have are
    /// ignored.
    pub fn add_columns(&mut self, columns: &[impl AsRef<[f64]>]) {
        let count = columns.first().map_or(0, |column| column.as_ref().len()) as f64;
        if count == 0.0 {
            return;
        }
        for (column, values) in columns.iter().enumerate().take(self.centres.len()) {
            let (centre, scale) = (self.centres[column], self.scales[column]);
            let shifted = |value: f64| (value - centre) / scale;
            let mean = sum(values.as_ref(), shifted) / count;
            let squares = sum(values.as_ref(), |value| (shifted(value) - mean) * (shifted(value) - mean));
            self.join(column, count, mean, squares);
        }
        self.count += count;
    }

    /// Add the rows that another accumulator has seen. Columns that only one of them has are ignored.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0.0 {
            return;
        }
        for column in 0..self.means.len().min(other.means.len()) {
            let scale = other.scales[column] / self.scales[column];
            let shift = (other.centres[column] - self.centres[column]) / self.scales[column];
            let (mean, squares) =
                (shift + other.means[column] * scale, other.squares[column] * scale * scale);
            self.join(column, other.count, mean, squares);
        }
        self.count += other.count;
    }

    /// Merge `rows` rows with this mean and this sum of squares about it into a column; the row count is
    /// updated later.
    fn join(&mut self, column: usize, count: f64, mean: f64, squares: f64) {
        let apart = mean - self.means[column];
        let share = count / (self.count + count);
        self.means[column] += apart * share;
        self.squares[column] += squares + apart * apart * (self.count * share);
    }

    /// Return the number of rows seen.
    pub fn rows(&self) -> u64 {
        self.count as u64
    }

    /// Return the statistics of all rows.
    pub fn statistics(&self) -> Scaler {
        let columns = self.means.iter().zip(&self.squares).zip(self.centres.iter().zip(&self.scales));
        let (means, deviations) = columns
            .map(|((mean, squares), (centre, scale))| {
                let mean = centre + mean * scale;
                (mean, Scaler::or_constant((squares / self.count).sqrt() * scale, mean))
            })
            .unzip();
        Scaler { means, deviations, map: None, bounds: None }
    }
}

/// Return the sum of `of` over the values, in lanes.
fn sum(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let (blocks, rest) = values.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for block in blocks {
                sums.iter_mut().zip(block).for_each(|(sum, &value)| *sum += of(value));
            }
            sums.into_iter().chain(rest.iter().map(|&value| of(value))).sum()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::Moments;
    use crate::data::scaler::Scaler;

    #[test]
    fn blocks_agree_with_the_whole() {
        // A column far from zero, a constant one, one with a trend, and one of tiny values.
        let row = |i: u32| {
            let x = f64::from(i);
            [1e9 + (x * 0.7).sin(), 4.25, x * x, 1e-200 * (x * 1.3).cos()]
        };
        let rows: Vec<f64> = (0..10_000).flat_map(row).collect();
        let whole = Scaler::of(&rows, 4);
        for block in [7, 1_000, 9_999] {
            let first = &rows[..block * 4];
            let mut moments = Moments::about(&Scaler::of(first, 4));
            rows.chunks(block * 4).for_each(|rows| moments.add(rows));
            let blocks = moments.statistics();
            for column in 0..4 {
                let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * y.abs();
                assert!(close(blocks.means[column], whole.means[column]) || column == 3, "{block} {column}");
                assert!(
                    close(blocks.deviations[column], whole.deviations[column]),
                    "{block} {column}: {blocks:?}"
                );
            }
            assert_eq!(blocks.deviations[1], 0.0);

            // The same from independent parts, each about its own centre.
            let parts = rows.chunks(block * 4).map(|rows| {
                let mut part = Moments::about(&Scaler::of(rows, 4));
                part.add(rows);
                part
            });
            let merged = parts.reduce(|mut all, part| {
                all.merge(&part);
                all
            });
            let merged = merged.unwrap();
            assert_eq!(merged.rows(), 10_000);
            for column in 0..4 {
                let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * y.abs();
                let merged = merged.statistics();
                assert!(close(merged.means[column], whole.means[column]) || column == 3, "{block} {column}");
                assert!(
                    close(merged.deviations[column], whole.deviations[column]),
                    "{block} {column}: {merged:?} {whole:?}"
                );
            }
        }
    }
}
