//! The rows of a regression: their folds, features, and the sums that they leave.

pub(crate) mod accumulator;
pub(crate) mod blocked_qr;
pub(crate) mod folds;
pub(crate) mod input;
pub(crate) mod split;
pub(crate) mod triangle;
pub(crate) mod whitening;
