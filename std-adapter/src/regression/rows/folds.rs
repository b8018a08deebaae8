//! Cross-validation folds.

use crate::data::{source::Partition, source::RowSource, targets::TargetRows, weights::Weights};
use dpp_nystrom_host::rng::{RngStream, stream};
use rand::seq::SliceRandom;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::{array, iter};

/// The number of cross-validation folds, ten as in the paper.
pub const FOLDS: usize = 10;

/// How rows are dealt to folds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Deal<'a> {
    /// Each row alone.
    #[default]
    Rows,
    /// The rows of each class apart: folds are stratified.
    Classes(TargetRows<'a>),
    /// The rows of each group together, the largest groups first, each to the fold with the fewest rows. Rows
    /// count by their weight.
    Groups(&'a [u32], Weights<'a>),
    /// Contiguous blocks of rows, without gaps between them.
    Time,
}

impl<'a> Deal<'a> {
    /// Return how the rows of a source are dealt.
    pub(crate) fn of(source: &'a dyn RowSource) -> Self {
        match source.partition() {
            Partition::Groups(groups) => Self::Groups(groups, Weights(source.weights())),
            Partition::Time => Self::Time,
            Partition::Rows => match TargetRows::of(source) {
                Ok(targets) if source.columns().classes.is_some() => Self::Classes(targets),
                _ => Self::Rows,
            },
        }
    }

    /// Whether rows stay together, so that none can be left out alone.
    pub(crate) fn keeps_together(self) -> bool {
        matches!(self, Self::Groups(..) | Self::Time)
    }

    /// Return the fold of each of `rows` rows.
    pub(crate) fn folds(self, rows: usize, seed: u64) -> Box<dyn Iterator<Item = u8> + 'a> {
        match self {
            Self::Rows => Box::new(deal_folds(rows, seed)),
            Self::Classes(targets) => {
                let mut sizes = vec![0; targets.outputs()];
                (0..rows).for_each(|row| sizes[targets.class_of(row)] += 1);
                // As if the rows were dealt in the order of their classes.
                let mut dealt = deal_folds(rows, seed);
                let own = sizes.into_iter().map(|size| {
                    let own = dealt.clone();
                    dealt.by_ref().take(size).for_each(drop);
                    own
                });
                let mut own: Vec<_> = own.collect();
                Box::new((0..rows).map(move |row| own[targets.class_of(row)].next().unwrap_or(0)))
            }
            Self::Groups(groups, weights) => {
                let groups = compact(groups);
                let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
                let mut sizes = vec![0.0; count];
                groups.iter().enumerate().for_each(|(row, &group)| sizes[group as usize] += weights.at(row));
                let mut order: Vec<usize> = (0..count).collect();
                order.shuffle(&mut stream(seed, RngStream::Folds));
                order.sort_by(|&one, &other| sizes[other].total_cmp(&sizes[one]));
                let (mut loads, mut fold_of) = ([0.0_f64; FOLDS], vec![0; count]);
                for group in order {
                    let by_load = |one: &usize, other: &usize| loads[*one].total_cmp(&loads[*other]);
                    let fold = (0..FOLDS.min(rows)).min_by(by_load).unwrap_or(0);
                    loads[fold] += sizes[group];
                    fold_of[group] = fold as u8;
                }
                let folds: Vec<u8> = groups.iter().map(|&group| fold_of[group as usize]).collect();
                Box::new(folds.into_iter())
            }
            Self::Time => {
                let folds = FOLDS.min(rows);
                Box::new((0..rows).map(move |row| (row as u128 * folds as u128 / rows as u128) as u8))
            }
        }
    }
}

/// Return numbers of groups that are not far larger than the number of rows: each its place among the
/// numbers where they are. Those of a table are places already.
fn compact(groups: &[u32]) -> Cow<'_, [u32]> {
    const LEAST: usize = 1 << 20;
    let largest = groups.iter().max().map_or(0, |&last| last as usize);
    if largest < groups.len().max(LEAST) {
        return Cow::Borrowed(groups);
    }
    let numbers: BTreeSet<u32> = groups.iter().copied().collect();
    let places: HashMap<u32, u32> = numbers.into_iter().zip(0..).collect();
    Cow::Owned(groups.iter().map(|group| places[group]).collect())
}

/// Return the fold of each of `rows` rows: one of [`FOLDS`], or of as many as there are rows if these are
/// fewer. Every run of that many consecutive rows contains each fold once, in random order, so folds stay
/// balanced in sorted files.
pub(crate) fn deal_folds(rows: usize, seed: u64) -> impl Iterator<Item = u8> + Clone {
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
    use super::{Deal, TargetRows, Weights, deal_folds};
    use crate::data::{columns::Targets, prepared::StandardTarget};

    #[test]
    fn each_class_is_spread_over_the_folds() {
        let class = |row: usize| if row < 3 { 2 } else { usize::from(row.is_multiple_of(7)) };
        let indicator = |of: usize| {
            let values = (0..103).map(|row| f64::from(u8::from(class(row) == of))).collect();
            StandardTarget::of(String::new(), values, Weights::default()).unwrap()
        };
        let (first, further) = (indicator(0), [indicator(1), indicator(2)]);
        let classes = TargetRows::Columns(Targets::F64(&first.values), &further);
        let folds: Vec<u8> = Deal::Classes(classes).folds(103, 5).collect();
        for of in 0..3 {
            let rows: Vec<usize> = (0..103).filter(|&row| class(row) == of).collect();
            let size = |fold| rows.iter().filter(|&&row| folds[row] == fold).count();
            let (least, most) = (rows.len() / 10, rows.len().div_ceil(10));
            assert!((0..10).map(size).all(|size| (least..=most + 1).contains(&size)), "{of}");
        }
        let size = |fold| folds.iter().filter(|&&other| other == fold).count();
        assert!((0..10).map(size).all(|size| size == 10 || size == 11));
        assert!(!deal_folds(103, 5).eq(folds));
    }

    #[test]
    fn numbers_of_groups_may_be_large() {
        let groups: Vec<u32> = (0..500).map(|row| row % 61).collect();
        let folds =
            |groups: &[u32]| Deal::Groups(groups, Weights::default()).folds(500, 3).collect::<Vec<_>>();
        let large: Vec<u32> = groups.iter().map(|group| 4_000_000_000 + 7 * group).collect();
        assert_eq!(folds(&large), folds(&groups));
    }

    #[test]
    fn rows_of_a_group_or_of_a_time_are_together() {
        let groups: Vec<u32> = (0..500).map(|row| (row * row % 61) as u32 / 2).collect();
        let folds: Vec<u8> = Deal::Groups(&groups, Weights::default()).folds(500, 3).collect();
        for (row, &fold) in folds.iter().enumerate() {
            assert!((0..500).all(|other| groups[other] != groups[row] || folds[other] == fold));
        }
        let size = |fold| folds.iter().filter(|&&other| other == fold).count();
        let sizes: Vec<usize> = (0..10).map(size).collect();
        assert!(sizes.iter().all(|size| (40..=60).contains(size)), "{sizes:?}");
        assert!(!Deal::Groups(&groups, Weights::default()).folds(500, 4).eq(folds));

        let folds: Vec<u8> = Deal::Time.folds(103, 3).collect();
        assert!(folds.is_sorted());
        let size = |fold| folds.iter().filter(|&&other| other == fold).count();
        assert!((0..10).map(size).all(|size| size == 10 || size == 11));
        assert!(Deal::Time.folds(3, 3).eq([0, 1, 2]));
    }

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
