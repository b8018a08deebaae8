//! The ratio of two determinants that differ by one swap, and the probability of taking it.
//!
//! With `Y` the landmarks, `u` the member that leaves and `v` the row that enters,
//! `det K_{Y∪v\u} / det K_Y = s_v / s_u`, where `s` is a residual given the other `c - 1` members:
//! `s_v = k(v, v) - ‖z‖²` with `z` the forward substitution of `v`'s column. Both are squares of a
//! last pivot, so no determinant is formed, and none can overflow or cancel.
//!
//! The paper calls the leaving member `y_in`, because it is picked inside `Y`; here it leaves.

use crate::scalar::Scalar;

/// How a proposed swap is taken or left. Both rules keep the c-DPP stationary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Acceptance {
    /// `r/(1 + r)`: the paper's, Algorithm 1.
    Barker,
    /// `min(1, r)`: takes more swaps than any other rule of the same stationary law (Peskun 1973).
    Metropolis,
}

impl Acceptance {
    /// What the entering residual must exceed for a `uniform` number in [0, 1) to take the swap:
    /// `uniform < probability` solved for `s_v`. A residual only falls while it is computed, so a
    /// proposal can be rejected as soon as it has fallen this far.
    pub fn threshold<T: Scalar>(self, uniform: T, leaving: T) -> T {
        match self {
            Self::Barker => leaving * (uniform / (T::ONE - uniform)),
            Self::Metropolis => leaving * uniform,
        }
    }
}

/// The two residuals whose quotient is the ratio of determinants `r`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Swap<T> {
    /// `s_v`, of the row that enters; 0 where it is not above the floor of rounding.
    pub entering: T,
    /// `s_u`, of the member that leaves.
    pub leaving: T,
}

impl<T: Scalar> Swap<T> {
    /// `r = det K_{Y∪v\u} / det K_Y`.
    pub fn ratio(self) -> T {
        self.entering / self.leaving
    }

    /// `log det K_{Y∪v\u} - log det K_Y`; minus infinity where `v` depends on the others.
    pub fn log_ratio(self) -> T {
        self.entering.ln() - self.leaving.ln()
    }

    /// The probability of taking the swap. The one acceptance function of every chain.
    pub fn probability(self, acceptance: Acceptance) -> T {
        // Guards are positive, so that a residual that is not a number is never taken.
        if !(self.entering > T::ZERO) {
            return T::ZERO;
        }
        match acceptance {
            Acceptance::Barker => self.entering / (self.entering + self.leaving),
            Acceptance::Metropolis if self.entering >= self.leaving => T::ONE,
            Acceptance::Metropolis => self.entering / self.leaving,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Acceptance, Swap};

    #[test]
    fn both_rules_at_a_point_computed_by_hand() {
        let swap = Swap { entering: 1.0, leaving: 3.0 };
        assert_eq!(swap.probability(Acceptance::Barker), 0.25);
        assert_eq!(swap.probability(Acceptance::Metropolis), 1.0 / 3.0);
        let back = Swap { entering: 3.0, leaving: 1.0 };
        assert_eq!(back.probability(Acceptance::Barker), 0.75);
        assert_eq!(back.probability(Acceptance::Metropolis), 1.0);
        assert_eq!(swap.log_ratio(), -back.log_ratio());
    }

    #[test]
    fn the_threshold_is_the_probability_solved_for_the_residual() {
        for acceptance in [Acceptance::Barker, Acceptance::Metropolis] {
            for leaving in [0.5_f64, 3.0] {
                for uniform in [0.0, 0.1, 0.5, 0.9] {
                    let threshold = acceptance.threshold(uniform, leaving);
                    let taken = |entering| uniform < Swap { entering, leaving }.probability(acceptance);
                    assert!(taken(threshold * (1.0 + 1e-12) + 1e-300));
                    assert!(!taken(threshold * (1.0 - 1e-12)));
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_or_dependent_is_never_taken() {
        for entering in [0.0, -1.0, f64::NAN] {
            for acceptance in [Acceptance::Barker, Acceptance::Metropolis] {
                for leaving in [1.0, 0.0] {
                    assert_eq!(Swap { entering, leaving }.probability(acceptance), 0.0);
                }
            }
        }
    }
}
