//! Random numbers in 32-bit draws, so that every target follows the same path from the same seed.

use core::convert::Infallible;
use rand_core::{Rng, SeedableRng, TryRng};
use rand_xoshiro::Xoshiro128PlusPlus;

/// The default generator: xoshiro128++ of `rand_xoshiro`, 32-bit throughout and 16 bytes of state.
///
/// It is seeded with a plain `u64`, so entropy from any source fits. Any other generator that
/// implements `rand_core`'s `Rng` will do in its place.
///
/// ```
/// use dpp_nystrom_core::Random;
///
/// assert_eq!(Random::seeded(7), Random::seeded(7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Random(Xoshiro128PlusPlus);

impl Random {
    /// The generator that this seed gives, on every target.
    pub fn seeded(seed: u64) -> Self {
        Self(Xoshiro128PlusPlus::seed_from_u64(seed))
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// A generator stuck at a rejected draw must not hang a device. A working one comes here with a
/// probability under 2^-64.
const LONGEST_REJECTION: usize = 64;

/// Uniform over `0..bound`, exactly (Lemire 2019); 0 for a bound of 0. One draw, rarely more.
pub(crate) fn below<R: Rng + ?Sized>(random: &mut R, bound: usize) -> usize {
    // Bounds over 32 bits are refused where rows enter.
    let bound = bound as u32;
    let mut product = u64::from(random.next_u32()) * u64::from(bound);
    if (product as u32) < bound {
        let threshold = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        for _ in 0..LONGEST_REJECTION {
            if product as u32 >= threshold {
                break;
            }
            product = u64::from(random.next_u32()) * u64::from(bound);
        }
    }
    (product >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::{Random, below};
    use rand_core::Rng;

    #[test]
    fn every_value_under_the_bound_comes_equally_often() {
        let mut random = Random::seeded(1);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[below(&mut random, 6)] += 1;
        }
        // Standard deviation 91; a bound of six of them fails once in 10⁸ seeds.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 550), "{counts:?}");
    }

    #[test]
    fn a_bound_of_one_or_none_is_zero() {
        let mut random = Random::seeded(2);
        assert_eq!((below(&mut random, 1), below(&mut random, 0)), (0, 0));
    }

    #[test]
    fn the_path_of_a_seed_is_pinned() {
        let mut random = Random::seeded(7);
        let drawn: [u32; 3] = core::array::from_fn(|_| random.next_u32());
        assert_eq!(drawn, PINNED);
    }

    const PINNED: [u32; 3] = [408_380_677, 241_951_010, 1_607_106_062];
}
