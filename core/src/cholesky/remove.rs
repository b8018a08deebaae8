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
        for k in place + 1..order {
            let known = self.rotations.get(place + 1..k).unwrap_or(&[]);
            let turned = row_mut(self.square, stride, k, k + 1);
            let Some(tail) = turned.get_mut(place..) else { return };
            let Some(mut carried) = tail.first().copied() else { return };
            for (at, &rotation) in known.iter().enumerate() {
                let Some([to, from]) = tail.get_mut(at..at + 2) else { return };
                *to = turn(*from, &mut carried, rotation);
            }
            let Some([to, from]) = tail.last_chunk_mut::<2>() else { return };
            let (rotation, pivot) = rotation(*from, carried);
            *to = pivot;
            if let Some(slot) = self.rotations.get_mut(k) {
                *slot = rotation;
            }
            self.exchange_with_next(k - 1);
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
