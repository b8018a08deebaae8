//! The Nyström approximation `K̃ = K_{·,C} K_{C,C}⁺ K_{C,·}` and its trace error.

pub(crate) mod components;
pub(crate) mod conditional;
pub(crate) mod curve;
pub(crate) mod errors;
pub(crate) mod features;
pub(crate) mod gram;
pub(crate) mod ground;
pub(crate) mod landmark_set;

pub use crate::linalg::{Eigen, rank};
pub use components::Components;
pub use conditional::Conditional;
pub use curve::CurvePoint;
pub use errors::{TraceError, trace_error, trace_error_of_points};
pub use features::features_of;
pub use gram::{Gram, SPECTRUM_ROWS};
pub use ground::{AnyGround, Ground};
pub use landmark_set::LandmarkSet;
