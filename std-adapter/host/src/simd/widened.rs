//! Rows in `f32` under a kernel that is evaluated in `f64`: for methods that need the precision, on rows that
//! are stored in half the memory.

use crate::simd::kernel::entries;
use crate::simd::lane::{Entries, Ground, InLanes};
use dpp_nystrom_core::GroundSet;
use dpp_nystrom_core::kernel::{ChosenKernel, Kernel};
use pulp::{Arch, Simd};

/// Rows in `f32`, and the kernel in `f64`.
#[derive(Clone, Copy, Debug)]
pub struct Widened<'g> {
    /// The rows.
    pub rows: Ground<'g, f32>,
    /// The kernel.
    pub kernel: ChosenKernel<f64>,
}

impl Widened<'_> {
    fn row(&self, i: usize) -> Vec<f64> {
        self.rows.row(i).iter().map(|&value| value.into()).collect()
    }
}

impl GroundSet<f64> for Widened<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.kernel.value(&self.row(i), &self.row(j))
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.kernel.diagonal(&self.row(i))
    }

    fn column(&self, i: usize, members: &[usize], out: &mut [f64]) {
        let row = self.row(i);
        for (value, &member) in out.iter_mut().zip(members) {
            *value = self.kernel.value(&row, &self.row(member));
        }
    }

    fn squared_distance(&self, i: usize, j: usize) -> f64 {
        let difference = |(x, y): (&f32, &f32)| f64::from(*x) - f64::from(*y);
        let differences = self.rows.row(i).iter().zip(self.rows.row(j)).map(difference);
        differences.map(|difference| difference * difference).sum()
    }
}

impl InLanes<f64> for Widened<'_> {
    type Row<'r>
        = &'r [f32]
    where
        Self: 'r;

    fn width(&self) -> usize {
        self.rows.features()
    }

    #[inline(always)]
    fn row_of(&self, i: usize) -> &[f32] {
        self.rows.row(i)
    }

    #[inline(always)]
    fn put<'s>(&self, i: usize, slots: impl Iterator<Item = &'s mut f64>) {
        slots.zip(self.rows.row(i)).for_each(|(slot, &feature)| *slot = feature.into());
    }

    #[inline(always)]
    fn entries<S: Simd, const R: usize>(
        &self,
        simd: S,
        rows: [&[f32]; R],
        numbers: &[S::f64s],
        stride: usize,
    ) -> [S::f64s; R] {
        entries::<f64, f32, S, R>(simd, &self.kernel, rows, numbers, stride)
    }

    // Here, so that it is compiled once.
    fn runs(&self, arch: Arch, rows: &[usize], count: usize, values: &[f64], runs: &mut [f64]) {
        arch.dispatch(Entries { ground: self, rows, count, values, entries: runs });
    }
}
