//! Random numbers in 32-bit draws, so that a seed gives the same sequence on every target.

use core::convert::Infallible;
use rand_core::{Rng, SeedableRng, TryRng};
use rand_xoshiro::Xoshiro128PlusPlus;

/// The default generator: xoshiro128++ of `rand_xoshiro`, 32-bit throughout.
///
/// The seed is a plain `u64`, so that entropy from any source fits. The generator counts its draws: a device stores
/// seed and count, and continues where it stopped ([`Random::resume`]). Any other generator that implements
/// `rand_core`'s `Rng` can be used instead.
///
/// ```
/// use dpp_nystrom_core::Random;
///
/// assert_eq!(Random::seeded(7), Random::seeded(7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Position", into = "Position"))]
pub struct Random {
    position: Position,
    generator: Xoshiro128PlusPlus,
}

/// The position of a generator in its sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Position {
    seed: u64,
    drawn: u64,
}

impl Random {
    /// Return the generator of this seed.
    pub fn seeded(seed: u64) -> Self {
        Self { position: Position { seed, drawn: 0 }, generator: Xoshiro128PlusPlus::seed_from_u64(seed) }
    }

    /// Return the generator of this seed after `drawn` draws. It repeats them, at a few instructions each.
    ///
    /// ```
    /// use dpp_nystrom_core::Random;
    /// use rand_core::Rng;
    ///
    /// let mut random = Random::seeded(7);
    /// random.next_u32();
    /// let (seed, drawn) = (random.seed(), random.drawn()); // kept while the power is off
    /// assert_eq!(Random::resume(seed, drawn), random);
    /// ```
    pub fn resume(seed: u64, drawn: u64) -> Self {
        let mut random = Self::seeded(seed);
        for _ in 0..drawn {
            random.next_u32();
        }
        random
    }

    /// Return the seed.
    pub fn seed(&self) -> u64 {
        self.position.seed
    }

    /// Return the number of 32-bit draws so far.
    pub fn drawn(&self) -> u64 {
        self.position.drawn
    }
}

/// Seed and count, which determine the generator.
#[cfg(feature = "defmt")]
impl defmt::Format for Random {
    fn format(&self, f: defmt::Formatter<'_>) {
        self.position.format(f);
    }
}

#[cfg(feature = "serde")]
impl From<Position> for Random {
    fn from(position: Position) -> Self {
        Self::resume(position.seed, position.drawn)
    }
}

#[cfg(feature = "serde")]
impl From<Random> for Position {
    fn from(random: Random) -> Self {
        random.position
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.position.drawn += 1;
        self.generator.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        rand_core::utils::next_u64_via_u32(self)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        rand_core::utils::fill_bytes_via_next_word(bytes, || self.try_next_u32())
    }
}

/// The most draws that rejection may take: a generator that is stuck must not hang a device. A working one reaches
/// it with a probability below 2^-64.
const LONGEST_REJECTION: usize = 64;

/// Draw uniformly from `0..bound`, exactly (Lemire 2019). Return 0 for a bound of 0. One draw, rarely more.
pub(crate) fn below<R: Rng + ?Sized>(random: &mut R, bound: usize) -> usize {
    // Larger ground sets are refused on entry (`TooManyRows`).
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
        // The standard deviation is 91; six of them are exceeded by one seed in 10⁸.
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

    #[test]
    fn every_kind_of_draw_is_counted() {
        let mut random = Random::seeded(3);
        random.next_u32();
        random.next_u64();
        random.fill_bytes(&mut [0; 9]);
        assert_eq!(random.drawn(), 1 + 2 + 3);
        assert_eq!(Random::resume(3, 6), random);
    }

    const PINNED: [u32; 3] = [408_380_677, 241_951_010, 1_607_106_062];
}
