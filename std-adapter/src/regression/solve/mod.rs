//! The pass over the rows, weights from their sums, and how far predictions can be relied on.

pub(crate) mod calibration;
pub(crate) mod iterative;
pub(crate) mod logistic;
pub(crate) mod parts;
pub(crate) mod regress;
pub(crate) mod robust;
pub(crate) mod solution;
