//! Any ground set under the lanes: its kernel is evaluated entry by entry, and everything else as for rows of
//! features.

use crate::simd::lane::{InLanes, Lane};
use dpp_nystrom_core::GroundSet;
use pulp::{Arch, Simd};

/// Any ground set. The number of each row lies in lanes, as the bits of a value.
#[derive(Debug)]
pub struct Indexed<'g, G: ?Sized>(pub &'g G);

impl<T: Lane, G: GroundSet<T> + ?Sized> GroundSet<T> for Indexed<'_, G> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn entry(&self, i: usize, j: usize) -> T {
        self.0.entry(i, j)
    }

    fn diagonal(&self, i: usize) -> T {
        self.0.diagonal(i)
    }

    fn column(&self, i: usize, members: &[usize], out: &mut [T]) {
        self.0.column(i, members, out);
    }

    fn squared_distance(&self, i: usize, j: usize) -> T {
        self.0.squared_distance(i, j)
    }
}

impl<T: Lane, G: GroundSet<T> + Sync + ?Sized> InLanes<T> for Indexed<'_, G> {
    type Row<'r>
        = usize
    where
        Self: 'r;

    fn width(&self) -> usize {
        1
    }

    fn row_of(&self, i: usize) -> usize {
        i
    }

    fn put<'s>(&self, i: usize, mut slots: impl Iterator<Item = &'s mut T>) {
        if let Some(slot) = slots.next() {
            bytemuck::bytes_of_mut(slot)[..NUMBER].copy_from_slice(&(i as u32).to_ne_bytes());
        }
    }

    fn entries<S: Simd, const R: usize>(
        &self,
        simd: S,
        rows: [usize; R],
        numbers: &[T::Vector<S>],
        _: usize,
    ) -> [T::Vector<S>; R] {
        let mut out = [T::splat(simd, T::ZERO); R];
        let numbers: &[T] = bytemuck::cast_slice(&numbers[..1]);
        for (values, row) in out.iter_mut().zip(rows) {
            let values: &mut [T] = bytemuck::cast_slice_mut(std::slice::from_mut(values));
            values.iter_mut().zip(numbers).for_each(|(value, number)| *value = self.at(row, number));
        }
        out
    }

    /// Entry by entry: no instruction set helps.
    fn runs(&self, _: Arch, rows: &[usize], count: usize, values: &[T], runs: &mut [T]) {
        for (run, &row) in runs.chunks_mut(count.max(1)).zip(rows) {
            run.iter_mut().zip(values).for_each(|(entry, number)| *entry = self.at(row, number));
        }
    }
}

impl<G: ?Sized> Indexed<'_, G> {
    /// Return the kernel of row `row` with the row whose number is this.
    fn at<T: Lane>(&self, row: usize, number: &T) -> T
    where
        G: GroundSet<T>,
    {
        let mut bytes = [0; NUMBER];
        bytes.copy_from_slice(&bytemuck::bytes_of(number)[..NUMBER]);
        let other = u32::from_ne_bytes(bytes) as usize;
        if row == other { self.0.diagonal(row) } else { self.0.entry(row, other) }
    }
}

/// Bytes of a row's number. [`select`](crate::landmarks::select) rejects ground sets with more rows.
const NUMBER: usize = size_of::<u32>();
