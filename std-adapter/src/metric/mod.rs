//! Metrics that say which features matter, learned from the target.
//!
//! With a scale `s_j` for each standardised feature, `k(x, z)` becomes `k(s ∘ x, s ∘ z)`: features with a large scale count
//! more, those with scale 0 not at all. Scales are learned on the leave-one-out error of ridge regression on the landmarks,
//! by L-BFGS, on rows of which a fifth is held out to decide whether they are worth having. A model needs no room for them:
//! they divide the deviations by which rows are standardised.

mod descent;
mod objective;
mod scales;

pub use scales::LearnedScales;
pub(crate) use scales::learn_scales;
