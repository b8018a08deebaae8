//! Memory needed, known at compile time.

use crate::kernel::Gaussian;
use crate::learner::{Status, state_bytes};
use crate::scalar::Scalar;
use core::mem::{align_of, size_of};

/// The result of [`bytes()`], for `c` landmarks of `d` features.
///
/// ```
/// use dpp_nystrom_core::{Bytes, Learner, Workspace, bytes, kernel::Gaussian};
///
/// let Bytes { select, learner, state, .. } = bytes::<f32>(16, 3);
/// assert_eq!(select, size_of::<Workspace<f32, 16>>());
/// assert_eq!(learner, size_of::<Learner<16, 3, Gaussian<f32>, f32>>());
/// assert_eq!(state, Learner::<16, 3>::STATE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bytes {
    /// RAM of [`crate::Workspace`]: selection, and the features afterwards.
    pub select: usize,
    /// RAM of [`crate::RidgeWorkspace`], in addition to `select`: learning.
    pub learn: usize,
    /// RAM for the rows of a [`crate::StreamChain`], in addition to `select`.
    pub stream: usize,
    /// Flash or RAM of a model's landmarks and weights: prediction.
    pub predict: usize,
    /// RAM of a [`crate::Learner`] with a Gaussian kernel, which does the work of all of the above in less
    /// than their sum: it stores two triangles in one square. Nothing else is needed but the stack.
    pub learner: usize,
    /// The most bytes of a [`crate::Learner`]'s saved state: RAM while it is written or read, and flash.
    pub state: usize,
}

/// Return the bytes that `c` landmarks of `d` features in `T` need. Constant: firmware can size a buffer by
/// it, or fail to compile when it exceeds the budget.
///
/// ```
/// use dpp_nystrom_core::bytes;
///
/// const NEED: dpp_nystrom_core::Bytes = bytes::<f32>(16, 4);
/// const _: () = assert!(NEED.select + NEED.learn < 4_096);
/// assert_eq!(NEED.predict, 16 * 4 * (4 + 1));
/// ```
pub const fn bytes<T: Scalar>(c: usize, d: usize) -> Bytes {
    let number = size_of::<T>();
    let numbers = c * c * number + c * number + 2 * c * number;
    Bytes {
        select: padded::<T>(numbers + c * size_of::<usize>()),
        learn: (2 * c * c + 6 * c) * number,
        stream: c * d * number,
        predict: (c * d + c) * number,
        learner: learner::<T>(c, d),
        state: state_bytes::<T>(c, d),
    }
}

/// The arrays of a [`crate::Learner`], and what it holds besides, in the order of their alignment.
const fn learner<T: Scalar>(c: usize, d: usize) -> usize {
    let number = size_of::<T>();
    let arrays = (c * c + 3 * c) * number
        + c * size_of::<usize>()
        + (c * c + 6 * c) * number
        + (c * d + 3 * d + 3 * c) * number;
    let fixed = size_of::<Option<Gaussian<T>>>() + size_of::<Status<T>>();
    (arrays + fixed).next_multiple_of(align_of::<Status<T>>())
}

/// Round up to the stricter alignment of numbers and indices, as the compiler pads the struct.
const fn padded<T>(bytes: usize) -> usize {
    let index = align_of::<usize>();
    let align = if align_of::<T>() > index { align_of::<T>() } else { index };
    bytes.div_ceil(align) * align
}

#[cfg(test)]
mod tests {
    use super::bytes;
    use crate::kernel::Gaussian;
    use crate::learner::Learner;
    use crate::memory::{RidgeWorkspace, Workspace};
    use crate::scalar::Scalar;

    fn agree<T: Scalar, const C: usize>() {
        assert_eq!(size_of::<Workspace<T, C>>(), bytes::<T>(C, 0).select, "{C}");
        assert_eq!(size_of::<RidgeWorkspace<T, C>>(), bytes::<T>(C, 0).learn, "{C}");
        assert_eq!(size_of::<Learner<C, 1, Gaussian<T>, T>>(), bytes::<T>(C, 1).learner, "{C}");
        assert_eq!(size_of::<Learner<C, 7, Gaussian<T>, T>>(), bytes::<T>(C, 7).learner, "{C}");
    }

    #[test]
    fn what_is_promised_is_what_the_arrays_take() {
        agree::<f32, 1>();
        agree::<f32, 3>();
        agree::<f32, 8>();
        agree::<f32, 33>();
        agree::<f64, 1>();
        agree::<f64, 7>();
        agree::<f64, 64>();
    }
}
