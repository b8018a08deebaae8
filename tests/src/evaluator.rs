//! The evaluators of the open-slot chain, chosen at run time: what one must do, all must.

use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom::simd::{Lane, Lanes};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{Error, Evaluate, OneByOne, OpenSlot, Points, Proposal};

/// The ground sets that every evaluator knows.
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
    /// The adapter's, with room for `c` landmarks of `dim` features.
    ///
    /// # Panics
    /// Without memory.
    pub fn lanes(c: usize, dim: usize) -> Self {
        Self::Lanes(Lanes::new(c, dim).expect("memory for a small block"))
    }

    /// All of them.
    pub fn all(c: usize, dim: usize) -> [Self; 2] {
        [Self::OneByOne, Self::lanes(c, dim)]
    }

    /// What to call it in a message.
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

/// Rows under the linear kernel.
///
/// # Panics
/// When the rows are none.
pub fn linear<T: Lane>(rows: &[T], dim: usize) -> Ground<'_, T> {
    let kernel = KernelKind::Linear.build(1.0).expect("a kernel without parameters");
    Points::new(rows, dim, kernel).expect("rows of this dim")
}
