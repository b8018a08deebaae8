//! The pass over all rows: each part of them is accumulated on its own.
//!
//! The number of parts does not depend on the number of threads, and their sums are merged in order, so
//! results are reproducible on any machine. Threads work on different parts, or share the work of one where
//! parts are few or large ([`crate::regression::rows::blocked_qr`]). A sample of all rows is read once more,
//! for the triangle by which the first rows of each part are whitened. Cross-validation needs no second pass:
//! the parts are then the folds.

use crate::error::{Cause, Error};
use crate::observer::{Observer, go_on};
use crate::regression::{
    checkpoint::Rounds, head::Head, ridge::Candidates, rows::blocked_qr::Block, rows::blocked_qr::Pilot,
    rows::folds::FOLDS, rows::input::Input,
};
use dpp_nystrom_core::{Landmarks, RidgeRegression};
use dpp_nystrom_host::heap::RidgeHeap;
use dpp_nystrom_host::simd::lane::{Ground, Lane};
use faer::traits::RealField;
use rayon::prelude::*;
use std::array;
use std::ops::Range;

/// Rows between two progress updates.
const STRIDE: usize = 1_024;

/// Rows per round, over all parts.
const ROUND: usize = 1 << 16;

/// Rows per round and part, at least, for each landmark: a round ends with `O(c³)` operations.
const ROUND_OF_RANK: usize = 16;

/// Rows per landmark in each part of a fit with the ridge given, and the most parts.
const OF_PART: usize = 200;
const PARTS: usize = 16;

/// With fewer parts, or with this many landmarks, all threads share the work of one part, and there is one
/// block of `O(c²)` memory instead of one per thread.
const FEW: usize = 4;
pub(crate) const LARGE: usize = 2_048;

/// The sample for a pilot is taken of at least this many times as many rows.
const OF_PILOT: usize = 2;

/// What is asked of a regression besides its weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// What the outputs stand for.
    pub(crate) head: Head,
    /// The seed of the folds.
    pub(crate) seed: u64,
    /// Whether it is measured how far predictions can be relied on, and a head is calibrated.
    pub(crate) measured: bool,
    /// The folds without each of which a further regression is solved.
    pub(crate) left_out: &'a [u8],
    /// The rows by which a metric was chosen that was learned on others.
    pub(crate) judged: Option<&'a [usize]>,
}

/// How the rows of a regression are divided into parts.
pub(crate) struct Parts<'a, T> {
    input: Input<'a, T>,
    seed: u64,
    /// The number of parts.
    pub(crate) count: usize,
    /// The part of each fold; `None` if parts are contiguous ranges of rows.
    of_fold: Option<[u8; FOLDS]>,
    /// Rows per round: of all folds together, or of each range.
    stride: usize,
}

impl<'a, T: Lane + RealField> Parts<'a, T> {
    /// Divide the rows for a regression on `rank` landmarks, so that the ridge can be chosen and each fold
    /// `left_out` has a part of its own.
    pub(crate) fn new(input: Input<'a, T>, ridges: &Candidates, asked: Asked<'_>, rank: usize) -> Self {
        let Asked { head, seed, left_out, .. } = asked;
        let rows = input.targets.rows();
        // A head is calibrated by folds however the ridge is chosen.
        let are_folds =
            matches!(ridges, Candidates::BestOf(_)) || head.is_calibrated() || !left_out.is_empty();
        let ranges = (rows / (OF_PART * rank)).clamp(1, PARTS);
        // With the ridge given, the folds that are not left out need not be told apart.
        let of_fold = are_folds.then(|| match ridges {
            Candidates::One(_) if !head.is_calibrated() => together(left_out, ranges),
            _ => array::from_fn(|fold| fold as u8),
        });
        let last = |of_fold: [u8; FOLDS]| of_fold[..FOLDS.min(rows)].iter().max().copied();
        let count = of_fold.map_or(ranges, |of_fold| last(of_fold).map_or(0, |last| usize::from(last) + 1));
        let whole = ROUND.max(ROUND_OF_RANK.saturating_mul(rank * count));
        let stride = if are_folds { whole } else { whole.div_ceil(count) };
        Self { input, seed, count, of_fold, stride }
    }

    /// Return the part of a fold.
    pub(crate) fn of_fold(&self, fold: u8) -> usize {
        self.of_fold.map_or(0, |of_fold| usize::from(of_fold[usize::from(fold)]))
    }

    /// Return the part of each row, if parts are folds.
    fn dealt(&self) -> Option<impl Iterator<Item = u8> + use<'a, T>> {
        let of_fold = self.of_fold?;
        let folds = self.input.deal.folds(self.input.targets.rows(), self.seed);
        Some(folds.map(move |fold| of_fold[usize::from(fold)]))
    }

    /// Return the rows among which those of a part are.
    fn range(&self, part: usize) -> Range<usize> {
        let rows = self.input.targets.rows();
        match self.of_fold {
            Some(_) => 0..rows,
            None => part * rows / self.count..(part + 1) * rows / self.count,
        }
    }

    /// Return how many of the rows of [`range`](Self::range) are read in so many rounds.
    fn seen(&self, part: usize, rounds: usize) -> usize {
        self.range(part).len().min(rounds.saturating_mul(self.stride))
    }

    /// Return how many rows are read in so many rounds.
    fn seen_of_all(&self, rounds: usize) -> usize {
        let parts = if self.of_fold.is_some() { 1 } else { self.count };
        (0..parts).map(|part| self.seen(part, rounds)).sum()
    }

    /// Add the rows of each part to its accumulator.
    ///
    /// # Errors
    /// `ErrorKind::Regression`, `ErrorKind::Memory`, `ErrorKind::Cancelled`; those of the checkpoint.
    pub(crate) fn accumulate(
        &self,
        landmarks: &Landmarks<'_, T, Ground<'_, T>>,
        accumulators: &mut [RidgeRegression<'_, f64>],
        rounds: &mut Rounds<'_>,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let Self { input, count, stride, .. } = *self;
        let rows = input.targets.rows();
        observer.begin("rows", rows as u64);
        let longest = if self.of_fold.is_some() { rows } else { rows.div_ceil(count) };
        let mut round = rounds.resume(accumulators, |rounds| self.seen_of_all(rounds))?;
        observer.advance(accumulators.iter().map(RidgeRegression::rows).sum());
        let mut part_of = Vec::new();
        let mut dealt = self.dealt();
        dealt.iter_mut().flatten().take(round * stride).for_each(drop);
        let share = count < FEW || landmarks.len() >= LARGE;
        let pilot = if count > 1 && round == 0 { pilot_of(input, landmarks, observer)? } else { None };
        let mut shared = None;
        while round * stride < longest {
            part_of.clear();
            part_of.extend(dealt.iter_mut().flatten().take(stride.min(longest - round * stride)));
            let add = |block: &mut Option<_>, (part, accumulator): (usize, &mut RidgeRegression<'_, f64>)| {
                let block = match block {
                    Some(block) => block,
                    None => block.insert(Block::new(landmarks, input.targets.outputs(), share)?),
                };
                let Range { start, end } = self.range(part);
                let first = start + round * stride;
                let is_own = |row: &usize| part_of.get(row - first).is_none_or(|&of| usize::from(of) == part);
                block.begin_with(accumulator, pilot.as_ref())?;
                push_rows(block, input, (first..end.min(first + stride)).filter(is_own), observer)?;
                block.end(accumulator)
            };
            if share {
                accumulators.iter_mut().enumerate().try_for_each(|part| add(&mut shared, part))?;
            } else {
                accumulators.par_iter_mut().enumerate().try_for_each_init(|| None, add)?;
            }
            go_on(observer)?;
            round += 1;
            rounds.after_round(round, accumulators)?;
        }
        drop(shared);
        self.count_weights(accumulators)?;
        observer.end();
        Ok(())
    }

    /// Count the rows of each part by their weights.
    fn count_weights(&self, accumulators: &mut [RidgeRegression<'_, f64>]) -> Result<(), Error> {
        let weights = self.input.weights;
        if weights.0.is_none() {
            return Ok(());
        }
        let mut sums = vec![0.0; self.count];
        match self.dealt() {
            Some(dealt) => {
                dealt.enumerate().for_each(|(row, part)| sums[usize::from(part)] += weights.at(row));
            }
            None => sums.iter_mut().enumerate().for_each(|(part, sum)| {
                *sum = self.range(part).map(|row| weights.at(row)).sum();
            }),
        }
        let counted = accumulators.iter_mut().zip(sums);
        counted.into_iter().try_for_each(|(part, sum)| part.count_as(sum)).map_err(Error::regression)
    }
}

/// Return the part of each fold: those that are left out have one of their own, and the others share up to
/// `most`.
fn together(left_out: &[u8], most: usize) -> [u8; FOLDS] {
    let others = most.min(FOLDS.saturating_sub(left_out.len())).max(1);
    let (mut alone, mut shared) = (others.., (0..others).cycle());
    array::from_fn(|fold| {
        let is_alone = left_out.contains(&(fold as u8));
        let part = if is_alone { alone.next() } else { shared.next() };
        part.unwrap_or(0) as u8
    })
}

/// Push rows to a block.
fn push_rows<T: Lane + RealField>(
    block: &mut Block<'_, '_, '_, T>,
    input: Input<'_, T>,
    rows: impl Iterator<Item = usize>,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let mut pushed = 0;
    for row in rows {
        block.push_weighted(
            input.row(row).iter().copied(),
            input.targets.of_row(row),
            input.weights.root(row),
        )?;
        pushed += 1;
        if pushed == STRIDE {
            go_on(observer)?;
            observer.advance(pushed as u64);
            pushed = 0;
        }
    }
    observer.advance(pushed as u64);
    Ok(())
}

/// Return the pilot of a sample of the rows for parts that have none, if there are rows enough that it saves
/// time.
fn pilot_of<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    observer: &dyn Observer,
) -> Result<Option<Pilot<T>>, Error> {
    let (count, outputs) = (input.targets.rows(), input.targets.outputs());
    let sample = Block::rows_of_pilot(landmarks);
    if count < OF_PILOT.saturating_mul(sample) {
        return Ok(None);
    }
    observer.begin("sample of rows", sample as u64);
    let mut heap = RidgeHeap::with_targets(landmarks.len(), outputs)?;
    let mut block = Block::new(landmarks, outputs, true)?;
    block.begin(&heap.regression(landmarks.len(), outputs).map_err(Error::regression)?)?;
    let rows = (0..sample).map(|at| (at as u128 * count as u128 / sample as u128) as usize);
    let pilot = push_rows(&mut block, input, rows, observer).and_then(|()| block.pilot());
    observer.end();
    match pilot {
        Ok(pilot) => Ok(Some(pilot)),
        // The pass over all rows says where it is.
        Err(Error(Cause::Regression { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}
