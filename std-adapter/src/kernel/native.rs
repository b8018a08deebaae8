//! Formulas of kernels with the platform's own exponential, which is faster than the core's.

use dpp_nystrom_core::kernel::Real;
use std::ops::{Add, Mul, Neg};

/// An `f64` whose exponential is that of the platform: for learning alone, whose results differ between
/// platforms in their last bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Native(pub(crate) f64);

impl Add for Native {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Mul for Native {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
}

impl Neg for Native {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Real<f64> for Native {
    fn of(self, value: f64) -> Self {
        Self(value)
    }

    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }

    fn recip(self) -> Self {
        Self(self.0.recip())
    }

    fn exp(self) -> Self {
        Self(self.0.exp())
    }

    fn times_decay(self, polynomial: impl FnOnce(Self) -> Self) -> Self {
        polynomial(self) * Real::exp(-self)
    }

    fn quadratic(self, divisor: f64) -> Self {
        Self(1.0 + self.0 + self.0 * self.0 / divisor)
    }
}
