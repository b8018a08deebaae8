//! Kernel ridge regression on landmarks: fits, folds, accumulators, cross-validation, distributed rows.
//!
//! [`fit`] fits a model to rows in one place. Rows in other places are accumulated there by a [`FitSpec`],
//! and devices accumulate rows on an exported model ([`Fleet`]). All of them exchange [`Accumulator`]s.
//!
//! | folder | content |
//! | --- | --- |
//! | `rows` | the rows of a regression, their folds, and the sums that they leave |
//! | `choose` | the ridge, by folds or by leaving out rows, and the errors of rows held out |
//! | `head` | what outputs stand for: values, or indicators of classes |
//! | `solve` | the pass over the rows, weights from their sums, how far predictions can be relied on |
//! | `fleet` | sums of devices: who may send them, what they count for, their merge |

pub(crate) mod checkpoint;
pub(crate) mod choose;
pub(crate) mod distributed;
pub(crate) mod fit;
pub(crate) mod fleet;
pub(crate) mod head;
pub(crate) mod params;
pub(crate) mod ridge;
pub(crate) mod rows;
pub(crate) mod sigma_search;
pub(crate) mod solve;
pub(crate) mod validation;

pub use checkpoint::Checkpoint;
pub use choose::{held_out::HeldOut, scan::Scan};
pub use distributed::{BatchSource, FitSpec, Folds, draw, draw_columns, first_not_finite};
pub use fit::{Fitted, fit};
pub use fleet::{
    admission::Counters, admission::Keys, admission::Refusal, admission::Refused, admission::newest,
    influence::MergeLimits, merge::Fleet, outliers::Examined, outliers::Outlier, received::Received,
};
pub use head::class_errors::{ClassErrors, ClassTally};
pub use params::FitParams;
pub(crate) use ridge::Ridge;
pub use ridge::ridge_grid;
pub use rows::{accumulator::Accumulator, folds::FOLDS};
pub use sigma_search::{ChosenBandwidth, SIGMA_GRID, choose_bandwidth};
pub use solve::robust::Aggregate;
pub use validation::{folds_of, ridge_errors};
