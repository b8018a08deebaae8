//! Random numbers in 32-bit draws, so that a seed gives the same sequence on every target.

use core::convert::Infallible;
use rand_core::{Rng, TryRng};

/// The default generator: xoshiro128++ (Blackman and Vigna 2021), seeded by SplitMix64, 32-bit throughout.
/// The sequence of a seed is that of `rand_xoshiro`, which is not used itself: at `opt-level = "z"` its
/// `from_seed` links a panic. The library on a desktop draws from this type too: with one of its own, a
/// generator could not be handed to the core, or its state be saved, without a conversion.
///
/// The seed is a plain `u64`, so that entropy from any source fits. Its state is 16 bytes: a device stores
/// them and continues where it stopped ([`Random::resume`]). Any other generator that implements
/// `rand_core`'s `Rng` can be used instead.
///
/// ```
/// use dpp_nystrom_core::Random;
///
/// assert_eq!(Random::seeded(7), Random::seeded(7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Saved", into = "Saved"))]
pub struct Random {
    state: [u32; 4],
}

impl Random {
    /// Return the generator of this seed.
    ///
    /// ```
    /// use dpp_nystrom_core::Random;
    /// use rand_core::Rng;
    ///
    /// let drawn: [u32; 2] = core::array::from_fn(|_| Random::seeded(7).next_u32());
    /// assert_eq!(drawn, [408_380_677; 2]); // on every target
    /// ```
    pub fn seeded(seed: u64) -> Self {
        let (first, second) = (split_mix(seed, 1), split_mix(seed, 2));
        Self { state: [first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32] }
    }

    /// Return the state, to [`resume`](Self::resume) from.
    pub fn state(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (slot, word) in bytes.as_chunks_mut().0.iter_mut().zip(self.state) {
            *slot = word.to_le_bytes();
        }
        bytes
    }

    /// Return the generator of a state: at once, however many numbers were drawn before it. Sixteen zeros,
    /// which [`state`](Self::state) never returns, stand for the seed 0.
    ///
    /// ```
    /// use dpp_nystrom_core::Random;
    /// use rand_core::Rng;
    ///
    /// let mut random = Random::seeded(7);
    /// random.next_u32();
    /// let state = random.state(); // kept while the power is off
    /// assert_eq!(Random::resume(state), random);
    /// ```
    pub fn resume(state: [u8; 16]) -> Self {
        if state == [0; 16] {
            return Self::seeded(0);
        }
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(state.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { state: words }
    }
}

/// Return the `i`-th number, from 1, of SplitMix64 (Steele, Lea and Flood 2014).
fn split_mix(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(feature = "defmt")]
impl defmt::Format for Random {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Random {=[u8; 16]:02x}", self.state());
    }
}

/// What is saved: the state. Earlier versions saved the seed and the number of draws, which is still read.
/// All fields are written, for formats that do not name them.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Saved {
    #[serde(default)]
    state: Option<[u8; 16]>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    drawn: Option<u64>,
}

/// The most draws of an old saved state that are repeated, at a few seconds: damaged storage must not hang a
/// program.
#[cfg(feature = "serde")]
const LONGEST_REPETITION: u64 = 1 << 32;

#[cfg(feature = "serde")]
impl TryFrom<Saved> for Random {
    type Error = &'static str;

    fn try_from(saved: Saved) -> Result<Self, &'static str> {
        match saved {
            Saved { state: Some(state), .. } => Ok(Self::resume(state)),
            Saved { seed: Some(seed), drawn: Some(drawn), .. } if drawn <= LONGEST_REPETITION => {
                let mut random = Self::seeded(seed);
                for _ in 0..drawn {
                    random.next_u32();
                }
                Ok(random)
            }
            Saved { seed: Some(_), drawn: Some(_), .. } => Err("more than 2^32 draws to repeat"),
            _ => Err("expected the state of a generator"),
        }
    }
}

#[cfg(feature = "serde")]
impl From<Random> for Saved {
    fn from(random: Random) -> Self {
        Self { state: Some(random.state()), seed: None, drawn: None }
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let [a, b, c, d] = &mut self.state;
        let drawn = a.wrapping_add(*d).rotate_left(7).wrapping_add(*a);
        let shifted = *b << 9;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(11);
        Ok(drawn)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        rand_core::utils::next_u64_via_u32(self)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(4) {
            let word = self.next_u32().to_le_bytes();
            chunk.iter_mut().zip(word).for_each(|(slot, byte)| *slot = byte);
        }
        Ok(())
    }
}

/// The most draws that rejection may take: a generator that is stuck must not hang a device. A working one
/// reaches it with a probability below 2^-64.
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
    fn every_kind_of_draw_resumes() {
        let mut random = Random::seeded(3);
        random.next_u32();
        random.next_u64();
        random.fill_bytes(&mut [0; 9]);
        let mut resumed = Random::resume(random.state());
        assert_eq!(resumed.next_u64(), random.next_u64());
        assert_eq!(resumed, random);
    }

    #[test]
    fn any_sixteen_bytes_are_a_state() {
        assert_eq!(Random::resume([0; 16]), Random::seeded(0));
        assert_eq!(Random::resume([0xff; 16]).state(), [0xff; 16]);
    }

    const PINNED: [u32; 3] = [408_380_677, 241_951_010, 1_607_106_062];
}
