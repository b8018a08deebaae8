//! Cross-validation folds.

use crate::rng::{RngStream, stream};
use dpp_nystrom_core::Random;
use rand::seq::SliceRandom;

/// The number of cross-validation folds, ten as in the paper.
pub const FOLDS: usize = 10;

/// Assign a fold to each row. Every run of `folds` consecutive rows contains each fold once, in random order, so folds
/// stay balanced in sorted files.
pub(crate) fn deal_folds(rows: usize, folds: usize, seed: u64) -> Vec<u8> {
    Deal::new(folds, seed).take(rows).collect()
}

/// An endless iterator over the folds of consecutive rows.
pub(crate) struct Deal {
    random: Random,
    order: Vec<u8>,
    /// The number of entries of `order` already used.
    dealt: usize,
}

impl Deal {
    pub(crate) fn new(folds: usize, seed: u64) -> Self {
        Self { random: stream(seed, RngStream::Folds), order: (0..folds as u8).collect(), dealt: folds }
    }
}

impl Iterator for Deal {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.dealt == self.order.len() {
            self.order.shuffle(&mut self.random);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.order.get(self.dealt - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::deal_folds;

    #[test]
    fn folds_are_balanced_and_shuffled() {
        let folds = deal_folds(103, 10, 5);
        let sizes: Vec<usize> =
            (0..10).map(|fold| folds.iter().filter(|&&other| other == fold).count()).collect();
        assert!(sizes.iter().all(|&size| size == 10 || size == 11), "{sizes:?}");
        assert_ne!(folds[..10], folds[10..20]);
        assert_eq!(folds, deal_folds(103, 10, 5));
    }
}
