//! Cross-validation folds.

use crate::rng::{RngStream, stream};
use rand::seq::SliceRandom;
use std::{array, iter};

/// The number of cross-validation folds, ten as in the paper.
pub const FOLDS: usize = 10;

/// Return the fold of each of `rows` rows: one of [`FOLDS`], or of as many as there are rows if these are fewer. Every
/// run of that many consecutive rows contains each fold once, in random order, so folds stay balanced in sorted files.
pub(crate) fn deal_folds(rows: usize, seed: u64) -> impl Iterator<Item = u8> {
    let folds = FOLDS.min(rows);
    let mut random = stream(seed, RngStream::Folds);
    let mut order: [u8; FOLDS] = array::from_fn(|fold| fold as u8);
    let runs = iter::repeat_with(move || {
        order[..folds].shuffle(&mut random);
        order.into_iter().take(folds)
    });
    runs.flatten().take(rows)
}

#[cfg(test)]
mod tests {
    use super::deal_folds;

    #[test]
    fn folds_are_balanced_and_shuffled() {
        let folds: Vec<u8> = deal_folds(103, 5).collect();
        let sizes: Vec<usize> =
            (0..10).map(|fold| folds.iter().filter(|&&other| other == fold).count()).collect();
        assert!(sizes.iter().all(|&size| size == 10 || size == 11), "{sizes:?}");
        assert_ne!(folds[..10], folds[10..20]);
        assert!(deal_folds(103, 5).eq(folds));
        let mut few: Vec<u8> = deal_folds(3, 5).collect();
        few.sort_unstable();
        assert_eq!((few, deal_folds(0, 5).count()), (vec![0, 1, 2], 0));
    }
}
