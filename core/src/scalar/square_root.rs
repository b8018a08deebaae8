//! `√x` in `f32`, correctly rounded, so that it has the bits of any other square root that is.
//!
//! `x = f 4ᵏ`, `f` in [1, 4). Three steps of Heron's rule from a guess that halves the exponent leave an error
//! under 0.75 units in the last place of `s ≈ √f`. Then whole numbers decide: with `S = 2²³ s` and `F = 2⁴⁶ f`, the
//! root rounds to `S` exactly where `-S < F - S² <= S`, since `(S ± ½)²` is `S² ± S + ¼`. That difference is small,
//! so that 32 bits of it are enough.

/// What half of the bits of `f` lack to be those of a number within 3.5 % of its root.
const GUESS: u32 = 0x1fbb_5000;

/// Not inlined: the loops that it is in are small without it, and unroll.
#[inline(never)]
pub(super) fn square_root(x: f32) -> f32 {
    let smallest = f32::MIN_POSITIVE.to_bits();
    if x.to_bits().wrapping_sub(smallest) < f32::INFINITY.to_bits() - smallest {
        root_of_normal(x.to_bits())
    } else {
        root_of_other(x)
    }
}

/// The root of the positive, normal number with these bits.
#[inline]
fn root_of_normal(bits: u32) -> f32 {
    // 64 + k.
    let exponent = bits.wrapping_add(1 << 23) >> 24;
    let fraction = bits.wrapping_sub(exponent << 24).wrapping_add(64 << 24);
    let f = f32::from_bits(fraction);
    let mut s = f32::from_bits((fraction >> 1).wrapping_add(GUESS));
    s = 0.5 * (s + f / s);
    s = 0.5 * (s + f / s);
    s = 0.5 * (s + f / s);
    // What is added to make `s` of `S` again.
    let one = 1.0_f32.to_bits() - (1 << 23);
    let whole = s.to_bits().wrapping_sub(one);
    // The significand's leading bit leaves at the top. The exponent's last bit is 0 where `f` is in [2, 4).
    let scaled = if fraction & (1 << 23) == 0 { fraction << 24 } else { fraction << 23 };
    let difference = scaled.wrapping_sub(whole.wrapping_mul(whole)) as i32;
    let above = u32::from(difference > whole as i32);
    let below = u32::from(difference <= (whole as i32).wrapping_neg());
    let whole = whole.wrapping_add(above).wrapping_sub(below);
    f32::from_bits(whole.wrapping_add(one).wrapping_add(exponent << 23).wrapping_sub(64 << 23))
}

/// The root of zero, of a subnormal, negative or infinite number, or of none.
#[cold]
#[inline(never)]
fn root_of_other(x: f32) -> f32 {
    if x < 0.0 {
        f32::NAN
    } else if x > 0.0 && x < f32::MIN_POSITIVE {
        // By powers of two, whose product is exact: the root is a normal number.
        root_of_normal((x * 16_777_216.0).to_bits()) * (1.0 / 4_096.0)
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::square_root;

    fn is_the_root(bits: u32) {
        let x = f32::from_bits(bits);
        assert_eq!(square_root(x).to_bits(), libm::sqrtf(x).to_bits(), "{x:e}");
    }

    #[test]
    fn every_fraction_has_the_rounded_root() {
        for bits in 1.0_f32.to_bits()..4.0_f32.to_bits() {
            is_the_root(bits);
        }
    }

    #[test]
    fn every_997th_number_has_the_rounded_root() {
        for bits in (0..=f32::INFINITY.to_bits()).step_by(997) {
            is_the_root(bits);
        }
    }

    #[test]
    fn numbers_out_of_the_ordinary() {
        for x in [0.0, -0.0, f32::INFINITY, f32::MIN_POSITIVE, f32::MAX, f32::from_bits(1), 1e-40] {
            is_the_root(x.to_bits());
        }
        for x in [-1.0, -1e-40, f32::NEG_INFINITY, f32::NAN] {
            assert!(square_root(x).is_nan(), "{x}");
        }
    }
}
