//! `2^-u` in integers: a table of 64 powers with quadratic interpolation.
//!
//! `u` has 26 fractional bits. Its upper part selects a shift and an entry of the table. On the remaining
//! `[0, 1/64)`
//!
//! `2^-t ≈ 1 - y (c₁ - y c₂)`, `y = 64 t`,
//!
//! with the minimax `c₁`, `c₂`. The error is at most 8.2 · 10⁻⁹, and at most 10⁻⁸ with the rounding of each
//! step, a sixth of the single-precision epsilon. Every step is the upper half of a product of two 32-bit
//! numbers, so nothing can overflow.

/// Fractional bits of `u`.
pub(crate) const POINT: u32 = 26;

/// `2^31`, which represents 1.
pub(crate) const ONE: u32 = 1 << 31;

/// `2^(31 - j/64)`, rounded: the table of a [`crate::QuantisedModel`], for implementations of the same
/// arithmetic in other languages.
pub const POWERS: [u32; 64] = powers();

/// `2^-(1/64) · 2^64`, rounded.
const ROOT: u64 = 18_248_035_989_933_441_397;

const fn powers() -> [u32; 64] {
    let mut table = [ONE; 64];
    let mut power = 1_u64 << 63;
    let mut j = 1;
    while j < table.len() {
        power = ((power as u128 * ROOT as u128 + (1 << 63)) >> 64) as u64;
        table[j] = ((power + (1 << 31)) >> 32) as u32;
        j += 1;
    }
    table
}

/// `c₁ · 2^32`, near `ln(2)/64`, and `c₂ · 2^32`, near half its square: the interpolation between entries of
/// [`POWERS`].
pub const FALL: [u32; 2] = [46_515_930, 250_634];

/// Return the upper half of a product.
#[inline]
pub(crate) fn upper(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// Return `2^(31 - u / 2^26)`, for `u` below `2^31`.
#[inline]
pub(crate) fn power(u: u32) -> u32 {
    let entry = POWERS.get((u >> (POINT - 6)) as usize & 63).copied().unwrap_or(0);
    let y = u << (32 - (POINT - 6));
    let [c1, c2] = FALL;
    let fall = upper(y, c1.wrapping_sub(upper(y, c2)));
    entry.wrapping_sub(upper(entry, fall)) >> ((u >> POINT) & 31)
}

#[cfg(test)]
mod tests {
    use super::{ONE, POINT, power};

    fn error(u: u32) -> f64 {
        let exact = libm::exp2(-f64::from(u) / f64::from(1 << POINT));
        (f64::from(power(u)) / f64::from(ONE) - exact).abs()
    }

    #[test]
    fn one_is_exact_and_the_bound_holds() {
        assert_eq!(power(0), ONE);
        // A prime step tests every entry of the table at many places; the ends of its intervals are tested
        // exactly.
        let worst = (0..1 << 31).step_by(1_009).map(error).fold(0.0, f64::max);
        assert!(worst < 1e-8, "{worst:e}");
        for piece in 0..32 << 6 {
            for u in [(piece << 20) as u32, (piece << 20) as u32 | 0xf_ffff] {
                assert!(error(u) < 1e-8, "{u}: {:e}", error(u));
            }
        }
    }

    #[test]
    fn more_is_never_much_more() {
        // Between two intervals the curve may increase by the error of each.
        for u in (0_u32..1 << 27).step_by(257) {
            assert!(power(u + 257) <= power(u) + 64, "{u}");
        }
    }
}
