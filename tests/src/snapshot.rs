//! Everything observable, to compare bit for bit.

use dpp_nystrom_core::{Cholesky, Landmarks, Scalar, TryGroundSet};

/// Return the bits of numbers: `-0` differs from `0`, and equal NaNs are equal.
pub fn bits<T: Scalar>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_f64().to_bits()).collect()
}

/// Everything that a factor returns without working memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactorSnapshot {
    rows: Vec<Vec<u64>>,
    log_det: u64,
    capacity: usize,
}

impl FactorSnapshot {
    /// Take a snapshot of a factor.
    pub fn new<T: Scalar>(factor: &Cholesky<'_, T>) -> Self {
        Self {
            rows: (0..factor.order()).map(|i| bits(factor.row(i))).collect(),
            log_det: factor.log_det().to_f64().to_bits(),
            capacity: factor.capacity(),
        }
    }
}

/// Members and factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    members: Vec<usize>,
    factor: FactorSnapshot,
}

impl Snapshot {
    /// Take a snapshot of a set of landmarks.
    pub fn new<T: Scalar, G: TryGroundSet<T> + ?Sized>(landmarks: &Landmarks<'_, T, G>) -> Self {
        Self { members: landmarks.members().to_vec(), factor: FactorSnapshot::new(landmarks.factor()) }
    }
}
