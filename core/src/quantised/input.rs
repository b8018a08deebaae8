//! Quantise a raw feature to a level, in integers.
//!
//! `level = round((2^e x - centre) · factor / 2^32)`, clamped to `[-2^14, 2^14)`. A single-precision number
//! is split into sign, exponent and significand, so that `2^e x` is a shift. This takes some thirty
//! instructions, where a processor without floating-point hardware spends two hundred on a subtraction, a
//! multiplication and a conversion.
//!
//! `e` is chosen so that the model's range of `2^e x` fits 30 bits, which is at least the resolution of
//! single precision at the upper end of that range. Values outside are clamped.

/// Levels lie in `[-LEVELS, LEVELS)`.
pub(crate) const LEVELS: i32 = 1 << 14;

/// The bound to which `2^e x` is clamped, and the largest magnitude of a centre.
pub(crate) const LARGEST: i32 = (1 << 30) - 1;

/// The exponent bias for a significand in `[2^23, 2^24)`.
const BIAS: i32 = 150;

/// Return `2^e x`, rounded to the nearest integer and clamped to ±[`LARGEST`]. None for NaN and infinity.
#[inline]
pub(crate) fn fixed(x: f32, exponent: i32) -> Option<i32> {
    let bits = x.to_bits();
    let biased = (bits >> 23) & 0xff;
    if biased == 0xff {
        return None;
    }
    // Subnormal numbers count as zero: a model's unit is far larger.
    let significand = if biased == 0 { 0 } else { (bits & 0x7f_ffff) | 0x80_0000 };
    let shift = (biased as i32).wrapping_sub(BIAS).wrapping_add(exponent);
    let size = shifted(significand, shift);
    Some(if bits >> 31 == 1 { size.wrapping_neg() } else { size })
}

/// Return `2^e count`, as [`fixed`] does.
#[inline]
pub(crate) fn fixed_count(count: i32, exponent: i32) -> i32 {
    let size = shifted(count.unsigned_abs(), exponent);
    if count < 0 { size.wrapping_neg() } else { size }
}

#[inline]
fn shifted(size: u32, shift: i32) -> i32 {
    let whole = if shift <= 0 {
        let right = shift.unsigned_abs();
        if right > 32 {
            0
        } else {
            // Round half up. The sum could exceed 32 bits, the two halves cannot.
            let doubled = size >> right.saturating_sub(1).min(31);
            if right == 0 { size } else { (doubled >> 1).wrapping_add(doubled & 1) }
        }
    } else if size > (LARGEST as u32).checked_shr(shift as u32).unwrap_or(0) {
        LARGEST as u32
    } else {
        size.wrapping_shl(shift as u32)
    };
    whole.min(LARGEST as u32) as i32
}

/// Return the level of a fixed-point number. The centre is at most [`LARGEST`], so the difference fits.
#[inline]
pub(crate) fn level(fixed: i32, centre: i32, factor: i32) -> i16 {
    let scaled = i64::from(fixed.wrapping_sub(centre)) * i64::from(factor);
    let rounded = (scaled.wrapping_add(1 << 31) >> 32) as i32;
    rounded.clamp(-LEVELS, LEVELS - 1) as i16
}

#[cfg(test)]
mod tests {
    use super::{LARGEST, LEVELS, fixed, fixed_count, level};

    fn exact(x: f64, exponent: i32) -> i32 {
        let scaled = libm::ldexp(x, exponent);
        let largest = f64::from(LARGEST);
        (libm::floor(scaled.abs() + 0.5).min(largest) as i32) * if x < 0.0 { -1 } else { 1 }
    }

    #[test]
    fn the_bits_of_a_number_are_its_value() {
        let mut state = 1_u32;
        for step in 0..400_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Half of the numbers have a moderate size, the others arbitrary bits.
            let bits = if step % 2 == 0 { state & 0x87ff_ffff | 0x3800_0000 } else { state };
            let x = f32::from_bits(bits);
            for exponent in [-120, -24, -1, 0, 1, 6, 7, 20, 29, 140] {
                if x.is_subnormal() {
                    assert_eq!(fixed(x, exponent), Some(0));
                } else if x.is_finite() {
                    assert_eq!(fixed(x, exponent), Some(exact(f64::from(x), exponent)), "{x:e} {exponent}");
                } else {
                    assert_eq!(fixed(x, exponent), None);
                }
            }
            let count = state as i32;
            for exponent in [-200, -31, -30, -3, -1, 0, 1, 5, 30, 31, 32, 200] {
                assert_eq!(
                    fixed_count(count, exponent),
                    exact(f64::from(count), exponent),
                    "{count} {exponent}"
                );
            }
        }
        for count in [0, 1, -1, i32::MAX, i32::MIN, i32::MIN + 1] {
            for exponent in -40..40 {
                assert_eq!(
                    fixed_count(count, exponent),
                    exact(f64::from(count), exponent),
                    "{count} {exponent}"
                );
            }
        }
    }

    #[test]
    fn extremes_are_cut_and_do_not_overflow() {
        for exponent in [i32::MIN, -150, 0, 150, i32::MAX] {
            for x in [f32::MAX, f32::MIN, f32::MIN_POSITIVE, 0.0, -0.0] {
                assert!(fixed(x, exponent).is_some_and(|value| value.abs() <= LARGEST));
            }
        }
        assert_eq!(level(LARGEST, -LARGEST, i32::MAX), (LEVELS - 1) as i16);
        assert_eq!(level(-LARGEST, LARGEST, i32::MAX), -LEVELS as i16);
        assert_eq!(level(123, 123, i32::MAX), 0);
        // Half a level rounds up.
        assert_eq!((level(2, 0, 1 << 30), level(1, 0, 1 << 30), level(-2, 0, 1 << 30)), (1, 0, 0));
    }
}
