//! The machine's peak rate of multiply-adds per nanosecond, measured by independent chains in registers.

use dpp_nystrom_host::simd::Lane;
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;

/// Chains: enough to hide the latency of two units, few enough for 16 registers.
const CHAINS: usize = 12;

struct Fused<T> {
    rounds: u64,
    factor: T,
    term: T,
}

impl<T: Lane> WithSimd for Fused<T> {
    /// A value that depends on all chains, and the number of multiply-adds.
    type Output = (T, u64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (T, u64) {
        let (factor, term) = (T::splat(simd, self.factor), T::splat(simd, self.term));
        let mut chains = [term; CHAINS];
        for _ in 0..self.rounds {
            for chain in &mut chains {
                *chain = T::mul_add(simd, *chain, factor, term);
            }
        }
        let mut all = term;
        for chain in chains {
            all = T::sum(simd, all, chain);
        }
        let mut out = [T::ZERO; 64];
        T::vectors_mut::<S>(&mut out)[0] = all;
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        (out[0], self.rounds * (CHAINS * lanes) as u64)
    }
}

/// Run `rounds` rounds; return the number of multiply-adds.
pub(crate) fn multiply_adds<T: Lane>(arch: Arch, rounds: u64) -> u64 {
    let fused = Fused { rounds, factor: black_box(T::from_f64(0.999)), term: black_box(T::from_f64(0.001)) };
    let (value, count) = arch.dispatch(fused);
    black_box(value);
    count
}
