//! Vectorised `exp(x)` for `x <= 0`.
//!
//! `x = n ln 2 + r`, `|r| <= ln 2 / 2` (Cody and Waite's two-part reduction), `exp(r)` by its Taylor
//! polynomial of degree 7 (`f32`) or 13 (`f64`), whose remainder, 5·10⁻⁹ or 4·10⁻¹⁸, is under the
//! rounding error. Relative error at most 1.5·10⁻⁷ and 4.5·10⁻¹⁶ over the whole range, with or without fused
//! multiply-add; a test measures it. Arguments below -87 and -708 are clamped: the result, 10⁻³⁸ or 3·10⁻³⁰⁸,
//! is then too large, and negligible for a kernel.

use crate::simd::Lane;
use dpp_nystrom_core::TRIES;
use pulp::{Simd, WithSimd};

/// Numbers, at most 0, which become their exponentials.
#[derive(Debug)]
pub struct Exponentials<'v, T>(pub &'v mut [T]);

impl<T: Lane> WithSimd for Exponentials<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let whole = self.0.len() - self.0.len() % lanes;
        let (numbers, rest) = self.0.split_at_mut(whole);
        // A last vector that is not whole.
        let mut last = [T::ZERO; TRIES];
        last[..rest.len()].copy_from_slice(rest);
        let vectors = T::vectors_mut::<S>(numbers).iter_mut();
        for vector in vectors.chain(T::vectors_mut::<S>(&mut last[..rest.len().next_multiple_of(lanes)])) {
            *vector = exponential::<T, S>(simd, *vector);
        }
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// Return `exp` of each lane.
#[inline(always)]
pub fn exponential<T: Lane, S: Simd>(simd: S, x: T::Vector<S>) -> T::Vector<S> {
    let round = T::splat(simd, T::ROUND);
    let clamped = T::max(simd, x, T::splat(simd, T::LEAST));
    let n = T::difference(simd, T::mul_add(simd, clamped, T::splat(simd, T::LOG2_E), round), round);
    let r = T::mul_add(simd, n, T::splat(simd, -T::LN_2_HIGH), clamped);
    let r = T::mul_add(simd, n, T::splat(simd, -T::LN_2_LOW), r);
    let mut value = T::splat(simd, T::TAYLOR[0]);
    for &coefficient in &T::TAYLOR[1..] {
        value = T::mul_add(simd, value, r, T::splat(simd, coefficient));
    }
    T::scale(simd, value, n)
}

#[cfg(test)]
mod tests {
    use super::Exponentials;
    use crate::simd::Lane;
    use pulp::{Arch, Scalar, WithSimd};

    /// The last of them are no whole vector.
    const COUNT: u32 = (1 << 20) - 3;

    /// Return the largest relative error over arguments from `least` to 0, compared with `f64::exp`.
    fn largest_error<T: Lane>(least: f64, run: impl Fn(Exponentials<'_, T>)) -> f64 {
        let arguments: Vec<T> =
            (0..COUNT).map(|i| T::from_f64(least * f64::from(i) / f64::from(COUNT - 1))).collect();
        let mut values = arguments.clone();
        run(Exponentials(&mut values));
        let error = |(value, x): (&T, &T)| (value.to_f64() / x.to_f64().exp() - 1.0).abs();
        values.iter().zip(&arguments).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn the_error_is_as_stated_over_the_whole_range() {
        let arch = Arch::new();
        // The reference and the division add up to 3e-16 of their own.
        for error in [
            largest_error::<f64>(-708.0, |each| arch.dispatch(each)),
            largest_error::<f64>(-708.0, |each| each.with_simd(Scalar)),
            largest_error::<f64>(-1.0, |each| arch.dispatch(each)),
        ] {
            assert!(error < 6e-16, "{error:e}");
        }
        for error in [
            largest_error::<f32>(-87.0, |each| arch.dispatch(each)),
            largest_error::<f32>(-87.0, |each| each.with_simd(Scalar)),
            largest_error::<f32>(-1.0, |each| arch.dispatch(each)),
        ] {
            assert!(error < 1.5e-7, "{error:e}");
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        let mut lanes = [-709.0; 15];
        lanes[..4].copy_from_slice(&[0.0, -0.0, -1e-300, f64::NEG_INFINITY]);
        Arch::new().dispatch(Exponentials(&mut lanes));
        assert_eq!(lanes[..3], [1.0; 3]);
        assert!(lanes[3..].iter().all(|&value| value > 0.0 && value < 4e-308), "{lanes:?}");
    }
}
