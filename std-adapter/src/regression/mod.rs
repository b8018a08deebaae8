//! Kernel ridge regression on landmarks: fits, folds, accumulators, cross-validation, distributed rows.
//!
//! [`fit`] fits a model to rows in one place. Rows in other places are accumulated there by a [`FitSpec`],
//! and devices accumulate rows on an exported model ([`Fleet`]). All of them exchange [`Accumulator`]s.

pub(crate) mod accumulator;
pub(crate) mod admission;
pub(crate) mod blocked_qr;
pub(crate) mod calibration;
pub(crate) mod checkpoint;
pub(crate) mod class_errors;
pub(crate) mod cross_validation;
pub(crate) mod distributed;
pub(crate) mod fit;
pub(crate) mod fleet;
pub(crate) mod folds;
pub(crate) mod held_out;
pub(crate) mod influence;
pub(crate) mod input;
pub(crate) mod leave_one_out;
pub(crate) mod outliers;
pub(crate) mod params;
pub(crate) mod received;
pub(crate) mod regress;
pub(crate) mod ridge;
pub(crate) mod robust;
pub(crate) mod sigma_search;
pub(crate) mod validation;
pub(crate) mod whitening;

pub use accumulator::Accumulator;
pub use admission::{Counters, Keys, Refusal, Refused, newest};
pub use checkpoint::Checkpoint;
pub use class_errors::{ClassErrors, ClassTally};
pub use distributed::{BatchSource, FitSpec, Folds, draw, draw_columns, first_not_finite};
pub use fit::{Fitted, fit};
pub use fleet::Fleet;
pub use folds::FOLDS;
pub use held_out::HeldOut;
pub use influence::MergeLimits;
pub use outliers::{Examined, Outlier};
pub use params::FitParams;
pub use received::Received;
pub(crate) use ridge::Ridge;
pub use ridge::ridge_grid;
pub use robust::Aggregate;
pub use sigma_search::{ChosenBandwidth, SIGMA_GRID, Scan, choose_bandwidth};
pub use validation::{folds_of, ridge_errors};
