//! The ratio of two determinants that differ by one swap, and the acceptance probability.
//!
//! Let `Y` be the landmarks, `u` the member that leaves and `v` the row that enters. Then
//! `det K_{Y∪v\u} / det K_Y = s_v / s_u`, where `s` is a residual given the other `c - 1` members:
//! `s_v = k(v, v) - ‖z‖²`, with `z` the forward substitution of `v`'s column. Each residual is the square of
//! a last pivot. So no determinant is computed, and none can overflow or cancel.
//!
//! The paper calls the leaving member `y_in`, since it is picked from `Y`.

use crate::scalar::Scalar;

/// The acceptance rule for a proposed swap. The c-DPP is stationary under both.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Swap};
///
/// let swap = Swap { entering: 3.0, leaving: 1.0 };
/// assert_eq!(swap.probability(Acceptance::Barker), 0.75);
/// assert_eq!(swap.probability(Acceptance::Metropolis), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Acceptance {
    /// `r/(1 + r)`: the rule of the paper's Algorithm 1.
    Barker,
    /// `min(1, r)`: accepts more swaps than any other rule with the same stationary law (Peskun 1973).
    Metropolis,
}

impl Acceptance {
    /// Return the threshold that the entering residual must exceed for a `uniform` number in [0, 1) to accept
    /// the swap: `uniform < probability` solved for `s_v`. A residual only decreases while it is computed, so
    /// a proposal is rejected as soon as it has reached the threshold.
    ///
    /// ```
    /// use dpp_nystrom_core::Acceptance;
    ///
    /// // A swap is accepted if the entering residual exceeds 0.5 · 3.
    /// assert_eq!(Acceptance::Metropolis.threshold(0.5, 3.0), 1.5);
    /// assert_eq!(Acceptance::Barker.threshold(0.75, 3.0), 9.0);
    /// ```
    pub fn threshold<T: Scalar>(self, uniform: T, leaving: T) -> T {
        match self {
            Self::Barker => leaving * (uniform / (T::ONE - uniform)),
            Self::Metropolis => leaving * uniform,
        }
    }
}

/// The two residuals whose quotient is the determinant ratio `r`.
///
/// ```
/// use dpp_nystrom_core::Swap;
///
/// let swap = Swap { entering: 1.0, leaving: 4.0 };
/// assert_eq!((swap.ratio(), swap.log_ratio()), (0.25, -4.0_f64.ln()));
/// assert_eq!(Swap { entering: 0.0, leaving: 4.0 }.log_ratio(), f64::NEG_INFINITY); // a dependent row
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Swap<T> {
    /// `s_v`, of the row that enters; 0 where it is at or below the rounding error.
    pub entering: T,
    /// `s_u`, of the member that leaves.
    pub leaving: T,
}

impl<T: Scalar> Swap<T> {
    /// Return `r = det K_{Y∪v\u} / det K_Y`.
    pub fn ratio(self) -> T {
        self.entering / self.leaving
    }

    /// Return `log det K_{Y∪v\u} - log det K_Y`: minus infinity where `v` depends on the others.
    pub fn log_ratio(self) -> T {
        self.entering.ln() - self.leaving.ln()
    }

    /// Return the acceptance probability. Every chain uses this function.
    pub fn probability(self, acceptance: Acceptance) -> T {
        // Written so that a NaN residual is never accepted.
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
    fn nan_and_dependent_rows_are_never_accepted() {
        for entering in [0.0, -1.0, f64::NAN] {
            for acceptance in [Acceptance::Barker, Acceptance::Metropolis] {
                for leaving in [1.0, 0.0] {
                    assert_eq!(Swap { entering, leaving }.probability(acceptance), 0.0);
                }
            }
        }
    }
}
