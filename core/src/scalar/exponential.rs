//! `exp(x)` in `f32`.
//!
//! Range reduction `x = n ln 2 + r`, `|r| <= ln 2 / 2`, with `ln 2` split in two so that `n` times the first
//! part is exact (Cody and Waite, *Software Manual for the Elementary Functions*, 1980). Then
//! `exp(r) = 1 + (r + r² q(r))` with `q` the minimax polynomial of degree 4 (Remez), whose relative error is
//! 3·10⁻⁹ before rounding. Twenty-five instructions on a processor with an FPU, and no table.
//!
//! The error is at most 0.983 units in the last place, subnormal results included, and 8.15·10⁻⁸ relative for
//! a normal result: both are maxima over all arguments, found by exhaustive search. `exp(0)` is 1, and the
//! result is monotone.

/// `1.5 · 2²³`: adding it rounds to an integer, which is then in the lowest bits.
const ROUND: f32 = 12_582_912.0;
/// The first nine bits of `ln 2`, and the remainder.
const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// The coefficients of `q`, highest power first.
const Q: [f32; 5] = [1.381_456_5e-3, 8.368_731e-3, 4.166_839e-2, 1.666_652_1e-1, 4.999_999_4e-1];

#[inline(always)]
pub(super) fn exponential(x: f32) -> f32 {
    let (fraction, rounded) = split(x);
    // With `n` in this range the result is normal. The bits of a sum that is NaN, or too large to hold `n`,
    // are outside.
    if rounded.wrapping_sub(ROUND.to_bits() - 125) > 125 + 127 {
        return beyond(x);
    }
    // The shift drops all of `ROUND` above the lowest nine bits: `n` is added to the exponent.
    f32::from_bits(fraction.to_bits().wrapping_add(rounded << 23))
}

/// Return `exp(r)` and the bits of `ROUND + n`.
#[inline(always)]
fn split(x: f32) -> (f32, u32) {
    let rounded = x * core::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = x - n * LN_2_HIGH;
    let r = r - n * LN_2_LOW;
    // Written out: at `opt-level = "s"` a loop would keep the coefficients in memory.
    let [q4, q3, q2, q1, q0] = Q;
    let q = (((q4 * r + q3) * r + q2) * r + q1) * r + q0;
    (1.0 + (r + r * r * q), rounded.to_bits())
}

/// Handle results that are subnormal, zero, close to overflow, infinite or NaN.
#[cold]
#[inline(never)]
fn beyond(x: f32) -> f32 {
    // The first arguments whose results round to infinity and to zero are 88.72284 and -103.97209.
    if x > 89.0 {
        return f32::INFINITY;
    }
    if x < -104.0 {
        return 0.0;
    }
    if x.is_nan() {
        return x;
    }
    let (fraction, rounded) = split(x);
    let n = rounded.wrapping_sub(ROUND.to_bits()) as i32;
    // Scale in two steps, each by a normal number: only the last product rounds.
    let half = n >> 1;
    let power = |n: i32| f32::from_bits((n.wrapping_add(127) as u32) << 23);
    fraction * power(half) * power(n.wrapping_sub(half))
}

#[cfg(test)]
mod tests {
    use super::exponential;

    /// 2⁻²⁵.
    const TINY: f32 = f32::from_bits((127 - 25) << 23);

    /// The distance between the arguments that are tried. All of them take a minute: set `EVERY_ARGUMENT`
    /// when compiling.
    const STEP: usize = if option_env!("EVERY_ARGUMENT").is_some() { 1 } else { 11 };

    /// Check the stated errors and monotonicity at the arguments of one sign, from 0 to the last whose
    /// result is neither zero nor infinite.
    fn all_are_as_stated(sign: f32, last: f32) {
        let (mut last_place, mut relative) = (0.0_f64, 0.0_f64);
        let mut before = 1.0;
        for bits in (0..=last.to_bits()).step_by(STEP).chain([last.to_bits()]) {
            let x = sign * f32::from_bits(bits);
            let value = exponential(x);
            // 1 is within half a place of the exponential of these, three quarters of all arguments.
            if x.abs() < TINY {
                assert!(value == 1.0, "{x:e}");
                continue;
            }
            let exact = libm::exp(f64::from(x));
            let error = (f64::from(value) - exact).abs();
            let exponent = ((exact.to_bits() >> 52) as i32 - 1023).max(-126);
            let place = f64::from_bits(((exponent - 23 + 1023) as u64) << 52);
            last_place = last_place.max(error / place);
            if exact >= f64::from(f32::MIN_POSITIVE) {
                relative = relative.max(error / exact);
            }
            assert!(sign * value >= sign * before, "falls at {x:e}");
            before = value;
        }
        assert!(last_place < 0.983 && relative < 8.15e-8, "{last_place} {relative:e}");
    }

    #[test]
    fn negative_arguments_are_as_stated() {
        all_are_as_stated(-1.0, 103.972_08);
    }

    #[test]
    fn positive_arguments_are_as_stated() {
        all_are_as_stated(1.0, 88.722_83);
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(exponential(0.0), 1.0);
        assert_eq!(exponential(-0.0), 1.0);
        assert_eq!(exponential(f32::from_bits(1)), 1.0);
        assert_eq!(exponential(88.722_83), 3.402_798_5e38);
        assert_eq!(exponential(88.722_84), f32::INFINITY);
        assert_eq!(exponential(f32::INFINITY), f32::INFINITY);
        assert_eq!(exponential(-103.972_09), 0.0);
        assert_eq!(exponential(-103.972), f32::from_bits(1));
        assert_eq!(exponential(f32::MIN), 0.0);
        assert_eq!(exponential(f32::NEG_INFINITY), 0.0);
        assert!(exponential(f32::NAN).is_nan() && exponential(-f32::NAN).is_nan());
    }
}
