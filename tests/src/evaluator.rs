//! The evaluators of the open-slot chain, selected at run time, so that a test runs with each.

use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{Error, Evaluate, OneByOne, OpenSlot, Points, Proposal};
use dpp_nystrom_host::simd::{Lane, Lanes};

/// The ground sets that every evaluator supports.
pub type Ground<'g, T> = Points<'g, T, ChosenKernel<T>>;

/// One of the evaluators.
#[derive(Debug)]
pub enum Evaluator<T> {
    /// The core's.
    OneByOne,
    /// The adapter's.
    Lanes(Lanes<T>),
}

impl<T: Lane> Evaluator<T> {
    /// Create the adapter's evaluator for `c` landmarks of `dim` features.
    ///
    /// # Panics
    /// Without memory.
    pub fn lanes(c: usize, dim: usize) -> Self {
        Self::Lanes(Lanes::new(c, dim).expect("memory for a small block"))
    }

    /// Return all evaluators.
    pub fn all(c: usize, dim: usize) -> [Self; 2] {
        [Self::OneByOne, Self::lanes(c, dim)]
    }

    /// Return the name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::OneByOne => "one by one",
            Self::Lanes(_) => "lanes",
        }
    }
}

impl<T: Lane> Evaluate<T, Ground<'_, T>> for Evaluator<T> {
    fn evaluate(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, Ground<'_, T>>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, Error> {
        match self {
            Self::OneByOne => OneByOne.evaluate(slot, proposals),
            Self::Lanes(lanes) => lanes.evaluate(slot, proposals),
        }
    }
}

impl<T: Lane> Evaluate<T, Ground<'_, T>> for &mut Evaluator<T> {
    fn evaluate(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, Ground<'_, T>>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, Error> {
        (**self).evaluate(slot, proposals)
    }
}

/// Return rows under the linear kernel.
///
/// # Panics
/// When there are no rows.
pub fn linear<T: Lane>(rows: &[T], dim: usize) -> Ground<'_, T> {
    let kernel = KernelKind::Linear.build(1.0).expect("a kernel without parameters");
    Points::new(rows, dim, kernel).expect("rows of this dim")
}
