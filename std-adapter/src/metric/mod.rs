//! Metrics that say which features matter, learned from the target.
//!
//! With a scale `s_j` for each standardised feature, `k(x, z)` becomes `k(s ∘ x, s ∘ z)`: features with a
//! large scale count more, those with scale 0 not at all. With a map `A` of r rows it becomes `k(Ax, Az)`,
//! which sees r directions of the features. Both are learned on the leave-one-out error of ridge regression
//! on the landmarks, by L-BFGS, on rows of which a fifth is held out to decide which is worth having. A model
//! needs no room for scales: they divide the deviations by which rows are standardised. It stores a map and
//! its landmarks mapped, r numbers each.

mod descent;
mod kept;
mod learn;
mod number;
mod objective;
mod rows;
mod search;
mod transform;

pub use kept::Metrics;
pub(crate) use kept::{Comparing, Learning};
pub use learn::LearnedMetric;
pub(crate) use learn::{MOST_LANDMARKS, learn_metric, ranks};
pub use number::NumberOfLandmarks;
pub(crate) use number::{Grown, Others, number_of_landmarks};
