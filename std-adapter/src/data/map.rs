//! Linear maps of standardised rows.

use serde::{Deserialize, Serialize};

/// A linear map `A` of standardised rows `u`: kernels are evaluated between rows `Au`.
///
/// ```
/// use dpp_nystrom::data::{Map, Scaler};
///
/// let map = Map { rank: 1, values: vec![2.0, -1.0] };
/// let scaler = Scaler { means: vec![1.0, 0.0], deviations: vec![1.0, 0.5], map: Some(map), bounds: None };
/// let mut mapped = [0.0];
/// scaler.apply_row(&[3.0, 1.0], &mut mapped)?;
/// assert_eq!(mapped, [2.0 * 2.0 - 1.0 * 2.0]);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// The rank `r`: how many numbers a mapped row has.
    pub rank: usize,
    /// `r × d` values, row-major.
    pub values: Vec<f64>,
}

impl Map {
    /// Return how much each feature counts: the norm of its column.
    pub fn scales(&self) -> Vec<f64> {
        let features = self.values.len() / self.rank.max(1);
        let column = |feature| self.values.iter().skip(feature).step_by(features.max(1));
        (0..features).map(|feature| column(feature).map(|value| value * value).sum::<f64>().sqrt()).collect()
    }

    /// Whether it maps rows of this number of features to no more finite numbers.
    pub(crate) fn is_well_formed(&self, features: usize) -> bool {
        (1..=features).contains(&self.rank)
            && Some(self.values.len()) == self.rank.checked_mul(features)
            && self.values.iter().all(|value| value.is_finite())
    }

    /// Map a row, whose features are given one after the other.
    pub(crate) fn apply(&self, row: impl ExactSizeIterator<Item = f64>, mapped: &mut [f64]) {
        let features = row.len();
        mapped.fill(0.0);
        for (feature, value) in row.enumerate() {
            let column = self.values.iter().skip(feature).step_by(features.max(1));
            mapped.iter_mut().zip(column).for_each(|(sum, entry)| *sum += entry * value);
        }
    }
}
