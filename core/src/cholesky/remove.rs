//! A member leaves, or moves to the last place.
//!
//! Taking row `i` out of `L` leaves one column too many in the rows after it. Column `i` is turned
//! into their diagonals by plane rotations, row by row; the turned rows are the factor of the
//! others, and what the rotations make of row `i` itself is its row at the last place. Its last
//! pivot is the root of its residual given all others.

use super::Cholesky;
use crate::Scalar;
use crate::memory::{row, row_mut};
use crate::scalar::{rotation, turn};

impl<T: Scalar> Cholesky<'_, T> {
    /// Takes out the member at `place`; those after it move down by one. Nothing happens past the
    /// end.
    pub fn remove(&mut self, place: usize) {
        if place < self.order {
            self.move_to_last(place);
            self.order -= 1;
        }
    }

    /// Moves the member at `place` to the last place; those after it move down by one. The matrix
    /// is the same but for the order of its members. Nothing happens past the end.
    pub fn move_to_last(&mut self, place: usize) {
        let (stride, order) = (self.stride, self.order);
        if place >= order {
            return;
        }
        let mut k = place + 1;
        while k < order {
            // Turning a row is one long chain of dependent steps: rows side by side hide its latency, and
            // the arithmetic of each is the same.
            let rows = if k + 4 <= order && self.turn_four(place, k).is_some() { 4 } else { 1 };
            for row in k..k + rows {
                let from = if rows == 4 { k } else { place + 1 };
                if self.turn_row(place, row, from).is_none() {
                    return;
                }
            }
            for row in k..k + rows {
                self.exchange_with_next(row - 1);
            }
            k += rows;
        }
        let leaving = row_mut(self.square, stride, order - 1, order);
        let Some(tail) = leaving.get_mut(place..) else { return };
        let Some(mut carried) = tail.first().copied() else { return };
        let rotations = self.rotations.get(place + 1..order).unwrap_or(&[]);
        for (entry, &rotation) in tail.iter_mut().zip(rotations) {
            *entry = turn(T::ZERO, &mut carried, rotation);
        }
        if let Some(pivot) = tail.last_mut() {
            *pivot = carried;
        }
    }

    /// Turns the rows `k` to `k + 3` by the rotations of the rows before `k`. What is carried on is left in
    /// each row's entry `place`, and every turned entry one place to the right of its own.
    fn turn_four(&mut self, place: usize, k: usize) -> Option<()> {
        let known = self.rotations.get(place + 1..k)?;
        let mut rows = self.square.get_mut(k * self.stride..)?.chunks_mut(self.stride.max(1));
        let mut tail = || rows.next()?.get_mut(place..k)?.split_first_mut();
        let ((a0, a), (b0, b), (c0, c), (d0, d)) = (tail()?, tail()?, tail()?, tail()?);
        let entries = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
        for (((a, b), (c, d)), &rotation) in entries.zip(known) {
            *a = turn(*a, a0, rotation);
            *b = turn(*b, b0, rotation);
            *c = turn(*c, c0, rotation);
            *d = turn(*d, d0, rotation);
        }
        Some(())
    }

    /// Finishes the turning of row `k` by the rotations from `from` on and by its own, which it notes; its
    /// turned entries move to their places.
    fn turn_row(&mut self, place: usize, k: usize, from: usize) -> Option<()> {
        let tail = row_mut(self.square, self.stride, k, k + 1).get_mut(place..)?;
        let (carried, entries) = tail.split_first_mut()?;
        let (pivot, entries) = entries.split_last_mut()?;
        let known = self.rotations.get(from..k)?;
        for (entry, &rotation) in entries.iter_mut().skip(from - place - 1).zip(known) {
            *entry = turn(*entry, carried, rotation);
        }
        let (rotation, turned) = rotation(*pivot, *carried);
        *pivot = turned;
        tail.copy_within(1.., 0);
        *self.rotations.get_mut(k)? = rotation;
        Some(())
    }

    /// Exchanges the first `k + 2` entries of rows `k` and `k + 1`.
    fn exchange_with_next(&mut self, k: usize) {
        let start = k.saturating_mul(self.stride);
        let Some((upper, lower)) =
            self.square.get_mut(start..).and_then(|rows| rows.split_at_mut_checked(self.stride))
        else {
            return;
        };
        for (upper, lower) in upper.iter_mut().zip(lower).take(k + 2) {
            core::mem::swap(upper, lower);
        }
    }

    /// `det K_YY` over that of the others: the residual of the member at `place`, after
    /// [`propose`](Self::propose) has filled the rotations.
    pub(super) fn residual_of(&self, place: usize) -> T {
        let mut pivot = row(self.square, self.stride, place, place + 1).last().copied().unwrap_or(T::ZERO);
        for &[cos, _] in self.rotations.get(place + 1..self.order).unwrap_or(&[]) {
            pivot *= cos;
        }
        pivot * pivot
    }
}
