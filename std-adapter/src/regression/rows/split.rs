//! Rows to learn from, and rows that are held out: of a comparison, and of all choices of a fit.

use crate::data::source::{Partition, RowSource};
use crate::regression::rows::folds::{Deal, FOLDS};
use std::collections::BTreeSet;

/// The minimum number of rows of which some are left out.
const FEWEST: usize = 20;

/// Folds are left out until they have so many rows and groups; at most [`MOST_PARTS`], so that seven tenths
/// are left to choose by.
const WANTED_ROWS: usize = 120;
const WANTED_GROUPS: usize = 3;
const MOST_PARTS: usize = 3;

/// The maximum number of rows of a fold that are predicted: their standard error is below 1 % of an error
/// with normal residuals.
const MOST_ROWS: usize = 1 << 14;

/// The number of parts of which a comparison holds out one.
pub(crate) const PARTS: usize = 5;

/// Rows that are held out of a comparison, and those to learn from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) held: Vec<usize>,
    pub(crate) learned: Vec<usize>,
}

impl Split {
    /// Hold out one of the fifths of these rows.
    pub(crate) fn of_rows(rows: &[usize], part: usize) -> Self {
        let (before, rest) = rows.split_at(part * (rows.len() / PARTS));
        let (held, after) = rest.split_at(rows.len() / PARTS);
        Self { held: held.to_vec(), learned: [before, after].concat() }
    }

    /// Hold out fifths of these rows of a source, one after another, until so many rows are held out. None if
    /// any of them leaves no rows of either kind.
    pub(crate) fn until(
        source: &dyn RowSource,
        rows: &[usize],
        wanted: usize,
        seed: u64,
    ) -> Option<Vec<Self>> {
        let (mut splits, mut held) = (Vec::new(), 0);
        for part in 0..PARTS {
            let split = Self::of(source, rows, part, seed)?;
            held += split.held.len();
            splits.push(split);
            if held >= wanted {
                break;
            }
        }
        Some(splits)
    }

    /// Return the same rows under other numbers.
    pub(crate) fn at(&self, number: impl Fn(usize) -> usize) -> Self {
        let [held, learned] =
            [&self.held, &self.learned].map(|rows| rows.iter().map(|&row| number(row)).collect());
        Self { held, learned }
    }

    /// Hold out one of the fifths of these rows of a source. Rows of a group, or of a time, stay together:
    /// those of two folds are held out, the last ones first. `None` if that leaves no rows of either kind.
    pub(crate) fn of(source: &dyn RowSource, rows: &[usize], part: usize, seed: u64) -> Option<Self> {
        let deal = Deal::of(source);
        if !deal.keeps_together() {
            return Some(Self::of_rows(rows, part));
        }
        let folds: Vec<u8> = deal.folds(source.len(), seed).collect();
        let last = FOLDS - part * (FOLDS / PARTS);
        let own = last - FOLDS / PARTS..last;
        let (held, learned): (Vec<_>, Vec<_>) =
            rows.iter().partition(|&&row| own.contains(&usize::from(folds[row])));
        Some(Self { held, learned }).filter(|split| !split.held.is_empty() && !split.learned.is_empty())
    }
}

/// The folds that are left out: the last ones, so that in time order they are the latest.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// The fold of each row.
    folds: Vec<u8>,
    /// Those that are left out, at least one.
    pub(crate) parts: Vec<u8>,
}

impl LeftOut {
    /// Choose folds of a source: those of a [`fit`](crate::regression::fit) with this seed. `Err` says why
    /// there are none.
    pub(crate) fn of(source: &dyn RowSource, seed: u64) -> Result<Self, &'static str> {
        let rows = source.len();
        if rows < FEWEST {
            return Err("there are fewer than 20 rows");
        }
        if source.columns().scaler.map.is_some() {
            return Err("the rows are mapped");
        }
        let folds: Vec<u8> = Deal::of(source).folds(rows, seed).collect();
        let mut sizes = [0; FOLDS];
        folds.iter().for_each(|&fold| sizes[usize::from(fold)] += 1);
        let (mut parts, mut left_out, mut groups) = (Vec::new(), 0, BTreeSet::new());
        for fold in (0..FOLDS as u8).rev().filter(|&fold| sizes[usize::from(fold)] > 0) {
            let own = (0..rows).filter(|&row| folds[row] == fold);
            let is_enough = match source.partition() {
                Partition::Groups(of_rows) => {
                    groups.extend(own.map(|row| of_rows[row]));
                    groups.len() >= WANTED_GROUPS
                }
                _ => true,
            };
            parts.push(fold);
            left_out += sizes[usize::from(fold)];
            if (left_out >= WANTED_ROWS && is_enough) || parts.len() == MOST_PARTS {
                break;
            }
        }
        Ok(Self { folds, parts })
    }

    /// Return the rows of a fold, at most [`MOST_ROWS`] of them, evenly spaced.
    pub(crate) fn rows(&self, fold: u8) -> Vec<usize> {
        let rows: Vec<usize> = (0..self.folds.len()).filter(|&row| self.folds[row] == fold).collect();
        let stride = rows.len().div_ceil(MOST_ROWS).max(1);
        rows.into_iter().step_by(stride).collect()
    }

    /// Return the rows of all folds that are not left out: those that choices may see.
    pub(crate) fn seen(&self) -> Vec<usize> {
        (0..self.folds.len()).filter(|&row| !self.parts.contains(&self.folds[row])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{LeftOut, Split};
    use crate::data::prepared::Prepared;

    fn rows(count: usize) -> Prepared {
        Prepared::unscaled(vec![0.0; count], 1)
    }

    #[test]
    fn each_part_is_held_out_once() {
        let numbers: Vec<usize> = (0..103).rev().collect();
        let plain = rows(103);
        let grouped = Prepared { groups: Some((0..103).map(|row| row / 3).collect()), ..rows(103) };
        for data in [&plain, &grouped, &Prepared { in_time: true, ..rows(103) }] {
            let splits: Vec<Split> = (0..5).map(|part| Split::of(data, &numbers, part, 3).unwrap()).collect();
            let mut held: Vec<usize> = splits.iter().flat_map(|split| split.held.clone()).collect();
            held.sort_unstable();
            held.dedup();
            assert!(held.len() >= 100, "{}", held.len());
            for Split { held, learned } in splits {
                assert_eq!(held.len() + learned.len(), 103);
                let group = |row: &usize| grouped.groups.as_ref().unwrap()[*row];
                let apart = held.iter().all(|row| learned.iter().all(|other| group(row) != group(other)));
                assert!(apart || data.groups.is_none());
            }
        }
        let two = Prepared { groups: Some((0..103).map(|row| row % 2).collect()), ..rows(103) };
        assert_eq!(Split::of(&two, &numbers, 0, 3), None);
    }

    #[test]
    fn the_latest_rows_are_left_out_and_more_tenths_of_few() {
        let in_time = Prepared { in_time: true, ..rows(4_000) };
        let left_out = LeftOut::of(&in_time, 0).unwrap();
        assert_eq!(left_out.parts, [9]);
        assert_eq!(left_out.rows(9), (3_600..4_000).collect::<Vec<_>>());
        assert_eq!(left_out.seen(), (0..3_600).collect::<Vec<_>>());
        assert_eq!(LeftOut::of(&rows(700), 0).unwrap().parts, [9, 8]);
        let few = LeftOut::of(&rows(100), 0).unwrap();
        assert_eq!((few.parts.len(), few.seen().len()), (3, 70));
        assert!(LeftOut::of(&rows(19), 0).is_err());
        // Twelve groups of a thousand rows: at least three of them are left out.
        let groups = Prepared { groups: Some((0..12_000).map(|row| row % 12).collect()), ..rows(12_000) };
        let left_out = LeftOut::of(&groups, 0).unwrap();
        let of_rows = groups.groups.as_ref().unwrap();
        let mut own: Vec<u32> =
            left_out.parts.iter().flat_map(|&fold| left_out.rows(fold)).map(|row| of_rows[row]).collect();
        own.sort_unstable();
        own.dedup();
        assert!((3..5).contains(&own.len()), "{own:?}");
        assert!(left_out.seen().iter().all(|&row| !own.contains(&of_rows[row])));
    }
}
