//! Theorem 3: the contraction of the swap chain of a c-DPP, and an unconditional bound on its mixing time.
//!
//! The chain is Algorithm 1: lazy, with acceptance `q = r/(1 + r)`. For `|S| = c - 1` and rows `r`, `t`
//! outside `S`, with `R = S ∪ {r}`, `T = S ∪ {t}` and `q(v, u, R)` the probability of accepting `u` for `v`,
//!
//! ```text
//! α(S, r, t) = Σ_{v,u} |q(v, u, R) - q(v, u, T)| - Σ_u min(q(r, u, R), q(t, u, T)) - Σ_v min(q(v, t, R), q(v, r, T))
//! ```
//!
//! summed over `v` in `S` and `u` outside `S ∪ {r, t}`. One step of the coupling ([`super::coalescence`])
//! takes the distance of `R` and `T` from 1 to `1 - (1 - α(S, r, t)) / (2c(N - c))` in expectation. If the
//! maximum α is below 1, the mixing time is at most `2c(N - c) log(c/ε) / (1 - α)`.
//!
//! Three corrections to the paper. Its `p_2` reads `min{q(v, t, R), q(v, u, T)}`, but the row that enters `T`
//! is `r`. The proof ends with `2c(n - 1)` instead of `2c(n - c)`. It calls both α and the factor of the path
//! coupling lemma, `1 - (1 - α)/(2c(N - c))`, α.
//!
//! α is a maximum over all `(S, r, t)`. A maximum over some of them is a lower bound: it can refute `α < 1`,
//! but not certify it.
//!
//! # Unconditional bound
//!
//! Hermon and Salez (*Modified log-Sobolev inequalities for strong-Rayleigh measures*, Ann. Appl. Probab. 33,
//! 2023) show that from `x` the swap chain of a law like the c-DPP mixes within `c N log log 1/π(x)` steps,
//! up to constants. For this chain, in discrete time and with explicit constants, entropy contracts in every
//! step:
//!
//! ```text
//! D(νP ‖ π) <= (1 - 1/(2c(N - c))) D(ν ‖ π)
//! TV(P^t(x, ·), π) <= ε   for   t >= 2c(N - c) (log log 1/π(x) + log 1/(2ε²))
//! ```
//!
//! Proof. Write `D_A` for the entropy of `ν/π` under π conditioned on the sets in `A`, and `π_A` for their
//! mass. Without its coin the chain steps down, from `x` to a uniform pair `{x, x'}` of neighbours, and then
//! up, to one of the two by π. By the chain rule the step down loses `1/(c(N - c)) Σ π_{xx'} D_{xx'}`, summed
//! over pairs. Every pair shares one `S = x ∩ x'`. Among the `m = N - c + 1` sets that contain `S`, the pairs
//! lose `Σ π_{xx'} D_{xx'} >= π_S D_S`: the law of all points but one is a strongly Rayleigh law of sets of
//! size `m - 1`, and removing one of them at random leaves at most `1 - 1/(m - 1)` of its entropy (Cryan, Guo
//! and Mousa, *Modified log-Sobolev inequalities for strongly log-concave distributions*, Ann. Probab. 49,
//! 2021). By the same theorem for the c-DPP, which is strongly Rayleigh and hence strongly log-concave,
//! `Σ_S π_S D_S >= D`. So the two steps leave at most `1 - 1/(c(N - c))` of `D`. The coin halves the gain,
//! since divergence is convex; Pinsker's inequality gives the second line.

use crate::theory::swaps::Swaps;
use dpp_nystrom::Error;
use dpp_nystrom::core::{Error as CoreError, GroundSet};
use dpp_nystrom_host::heap::Heap;

/// Largest number of rows for which all `(S, r, t)` are enumerated.
pub const ENUMERATED_ROWS: usize = 10;

/// Return `α(S, r, t)`; none if `R` or `T` is singular, hence no state of the chain. `O(N c² + c³)`.
///
/// # Errors
/// `ErrorKind::Landmarks` for rows out of range, repeated, or not finite; `ErrorKind::Memory`.
pub fn contraction<G: GroundSet<f64> + ?Sized>(
    ground: &G,
    shared: &[usize],
    r: usize,
    t: usize,
) -> Result<Option<f64>, Error> {
    let c = shared.len() + 1;
    if r == t {
        return Err(Error::landmarks(CoreError::Duplicate { index: t }));
    }
    let (mut one, mut other) = (Heap::new(c)?, Heap::new(c)?);
    let (Some(mut of_r), Some(mut of_t)) =
        (Swaps::new(ground, shared, r, one.lend())?, Swaps::new(ground, shared, t, other.lend())?)
    else {
        return Ok(None);
    };
    let mut alpha = 0.0;
    for u in (0..ground.len()).filter(|u| !shared.contains(u) && *u != r && *u != t) {
        let (from_r, from_t) = (of_r.probabilities(u)?, of_t.probabilities(u)?);
        alpha += (0..c - 1).map(|v| (from_r[v] - from_t[v]).abs()).sum::<f64>();
        alpha -= from_r[c - 1].min(from_t[c - 1]);
    }
    let (from_r, from_t) = (of_r.probabilities(t)?, of_t.probabilities(r)?);
    alpha -= (0..c - 1).map(|v| from_r[v].min(from_t[v])).sum::<f64>();
    Ok(Some(alpha))
}

/// Return α, the maximum over every `(S, r, t)` of at most [`ENUMERATED_ROWS`] rows; none if no pair of
/// states exists.
///
/// # Errors
/// `ErrorKind::Landmarks`, with [`CoreError::TooManyRows`] for more rows; `ErrorKind::Memory`.
pub fn enumerated<G: GroundSet<f64> + ?Sized>(ground: &G, c: usize) -> Result<Option<f64>, Error> {
    let n = ground.len();
    if c == 0 || n > ENUMERATED_ROWS {
        return Err(Error::landmarks(if c == 0 { CoreError::Empty } else { CoreError::TooManyRows }));
    }
    let mut alphas = Vec::new();
    for set in (0_u32..1 << n).filter(|set| set.count_ones() as usize == c - 1) {
        let (shared, outside): (Vec<usize>, Vec<usize>) = (0..n).partition(|row| set >> row & 1 == 1);
        for (at, &r) in outside.iter().enumerate() {
            for &t in &outside[..at] {
                alphas.extend(contraction(ground, &shared, r, t)?);
            }
        }
    }
    Ok(alphas.into_iter().reduce(f64::max))
}

/// Return `β = 1 - (1 - α)/(2c(N - c))`, the expected distance after one step from distance 1.
pub fn step_factor(alpha: f64, rows: usize, c: usize) -> f64 {
    1.0 - (1.0 - alpha) / proposals(rows, c)
}

/// Return Theorem 3's bound: steps to within `epsilon` of the c-DPP in total variation, from any start; none
/// unless α is below 1.
pub fn theorem_3(alpha: f64, rows: usize, c: usize, epsilon: f64) -> Option<f64> {
    (alpha < 1.0).then(|| proposals(rows, c) * (c as f64 / epsilon).ln() / (1.0 - alpha))
}

/// Return the unconditional bound `2c(N - c) (log surprise + log 1/(2ε²))`, at least 0: steps to within
/// `epsilon` of the c-DPP in total variation from a start of probability `exp(-surprise)`.
pub fn unconditional(surprise: f64, rows: usize, c: usize, epsilon: f64) -> f64 {
    let logarithms = surprise.ln() - (2.0 * epsilon * epsilon).ln();
    proposals(rows, c) * logarithms.max(0.0)
}

/// Return `2c(N - c)`, twice the number of possible swaps.
fn proposals(rows: usize, c: usize) -> f64 {
    2.0 * c as f64 * rows.saturating_sub(c) as f64
}

#[cfg(test)]
mod tests {
    use super::{contraction, enumerated, step_factor, theorem_3, unconditional};
    use dpp_nystrom::core::{Error as CoreError, Matrix};

    fn identity(n: usize) -> Vec<f64> {
        (0..n * n).map(|at| if at % (n + 1) == 0 { 1.0 } else { 0.0 }).collect()
    }

    /// Under `K = I` every `q` is one half: `α = -((N - c - 1) + (c - 1))/2`.
    #[test]
    fn the_identity_kernel_by_hand() {
        let (n, c) = (7, 3);
        let entries = identity(n);
        let ground = Matrix::new(&entries).unwrap();
        let alpha = enumerated(&ground, c).unwrap().unwrap();
        assert!((alpha + (n - 2) as f64 / 2.0).abs() < 1e-14, "{alpha}");
        assert!((step_factor(alpha, n, c) - (1.0 - 3.5 / 24.0)).abs() < 1e-15);
        assert!((theorem_3(alpha, n, c, 0.01).unwrap() - 24.0 * 300.0_f64.ln() / 3.5).abs() < 1e-12);
        assert_eq!(theorem_3(1.0, n, c, 0.01), None);
        let found = unconditional(35.0_f64.ln(), n, c, 0.01);
        assert!((found - 24.0 * (35.0_f64.ln().ln() + 5_000.0_f64.ln())).abs() < 1e-10);
        assert_eq!(unconditional(1e-9, n, c, 0.9), 0.0);
    }

    #[test]
    fn singular_states_give_none_and_invalid_rows_are_errors() {
        // Rows 0 and 2 are equal.
        let entries = [2.0, 1.0, 2.0, 0.0, 1.0, 2.0, 1.0, 0.0, 2.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let ground = Matrix::new(&entries).unwrap();
        assert_eq!(contraction(&ground, &[0], 2, 1).unwrap(), None);
        assert!(contraction(&ground, &[0], 1, 3).unwrap().is_some());
        for (shared, r, t) in [(vec![0], 1, 1), (vec![0], 0, 1), (vec![9], 1, 2)] {
            assert_eq!(contraction(&ground, &shared, r, t).unwrap_err().name(), "Landmarks");
        }
        let entries = identity(11);
        let large = Matrix::new(&entries).unwrap();
        let reason = CoreError::TooManyRows;
        assert_eq!(enumerated(&large, 2).unwrap_err().core(), Some(reason));
    }
}
