//! Generators for tests: one that returns scripted draws, one that counts, and one for making data.

use core::convert::Infallible;
use rand_core::{Rng, TryRng};
use std::collections::VecDeque;

/// Returns the given draws, in order.
#[derive(Clone, Debug)]
pub struct Script(VecDeque<u32>);

impl Script {
    /// Create a generator of these draws.
    pub fn new(draws: &[u32]) -> Self {
        Self(draws.iter().copied().collect())
    }

    /// Return the number of draws that remain.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// Return a draw that any correct `below(bound)` maps to `value`: the middle of its interval of the
    /// 32-bit numbers, where nothing is rejected.
    pub fn choosing(value: usize, bound: usize) -> u32 {
        let share = (1_u64 << 32) as f64 / bound as f64;
        ((value as f64 + 0.5) * share) as u32
    }
}

impl TryRng for Script {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.pop_front().expect("one more number was drawn than the script has"))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        panic!("the core draws 32 bits at a time, so that every target follows the same path")
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("the core draws 32 bits at a time, so that every target follows the same path")
    }
}

/// Counts the draws from another generator.
#[derive(Clone, Debug)]
pub struct Counting<R> {
    inner: R,
    /// 32-bit draws so far.
    pub draws: u64,
}

impl<R> Counting<R> {
    /// Wrap a generator.
    pub fn new(inner: R) -> Self {
        Self { inner, draws: 0 }
    }
}

impl<R: Rng> TryRng for Counting<R> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.draws += 1;
        Ok(self.inner.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        panic!("the core draws 32 bits at a time, so that every target follows the same path")
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("the core draws 32 bits at a time, so that every target follows the same path")
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014), for data and for exact draws: another generator than the core's,
/// so that neither hides a fault of the other.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Create the generator of this seed.
    pub fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draw uniformly from [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draw uniformly from `0..bound`, to within `bound / 2⁵³`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.uniform() * bound as f64) as usize
    }

    /// Draw a standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (core::f64::consts::TAU * self.uniform()).cos()
    }
}

impl TryRng for SplitMix64 {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for byte in bytes {
            *byte = self.bits() as u8;
        }
        Ok(())
    }
}
