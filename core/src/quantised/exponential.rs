//! `2^-u` in integers: a table of 64 powers, and a quadratic between them.
//!
//! `u` has 26 bits after the point. Its upper part chooses a shift and an entry of the table, and on the last
//! `[0, 1/64)`
//!
//! `2^-t ≈ 1 - y (c₁ - y c₂)`, `y = 64 t`,
//!
//! with the `c₁`, `c₂` that spread the error evenly: at most 8.2 · 10⁻⁹, and with the rounding of the steps at most
//! 10⁻⁸ in all, a sixth of what single precision resolves at 1. Every step is an upper half of a product of two
//! 32-bit numbers, so nothing can overflow.

/// Bits of `u` after the point.
pub(crate) const POINT: u32 = 26;

/// `2^31`: what stands for 1.
pub(crate) const ONE: u32 = 1 << 31;

/// `2^(31 - j/64)`, rounded: the table of a [`crate::QuantisedModel`], for writers of the same arithmetic in another
/// language.
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

/// `c₁ · 2^32`, near `ln(2)/64`, and `c₂ · 2^32`, near half its square: what stands between the entries of [`POWERS`].
pub const FALL: [u32; 2] = [46_515_930, 250_634];

/// The upper half of a product.
#[inline]
pub(crate) fn upper(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// `2^(31 - u / 2^26)`, for `u` under `2^31`.
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
        // A prime step meets every entry of the table at many places; the ends of its pieces are met exactly.
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
        // Where two pieces meet the curve may step up by what each of them is off.
        for u in (0_u32..1 << 27).step_by(257) {
            assert!(power(u + 257) <= power(u) + 64, "{u}");
        }
    }
}
