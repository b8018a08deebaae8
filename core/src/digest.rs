//! The digest that identifies a set of landmarks.

use crate::cholesky::Cholesky;
use crate::scalar::{Scalar, to_bytes};

/// Return a digest that identifies a set of landmarks: FNV-1a (64 bits) of the numbers that standardise the
/// rows, the landmarks' features in the factor's order, and the factor, which depends on the kernel. It is
/// the same on every target. Two sets collide with probability `2^-64`: it detects mistakes, not forgery.
///
/// ```
/// use dpp_nystrom_core::{Landmarks, Points, Workspace, digest, kernel::Gaussian, start};
///
/// let rows = [0.0_f32, 1.0, 2.5];
/// let of = |sigma: f32| {
///     let ground = Points::new(&rows, 1, Gaussian::new(sigma)?)?;
///     let mut memory = Workspace::<f32, 3>::new();
///     let mut landmarks = Landmarks::new(&ground, memory.lend())?;
///     start::given(&mut landmarks, &[0, 1, 2])?;
///     Ok::<u64, dpp_nystrom_core::Error>(digest(&[&rows], landmarks.factor()))
/// };
/// assert_eq!(of(1.0)?, of(1.0)?);
/// assert_ne!(of(1.0)?, of(2.0)?);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub fn digest<T: Scalar>(numbers: &[&[T]], factor: &Cholesky<'_, T>) -> u64 {
    let mut state = 0xCBF2_9CE4_8422_2325_u64;
    let mut take = |number: T| {
        let (bytes, len) = to_bytes(number);
        for &byte in bytes.iter().take(len) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    };
    numbers.iter().flat_map(|numbers| numbers.iter()).for_each(|&number| take(number));
    for i in 0..factor.order() {
        factor.row(i).iter().for_each(|&number| take(number));
    }
    state
}
