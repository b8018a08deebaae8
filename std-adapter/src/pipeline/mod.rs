//! The full pipeline: source, kernel, landmarks, regression, model.
//!
//! [`fit`] runs all of it, [`select`] stops after the landmarks, and [`fit_batches`] fits to rows that are
//! read in batches where they are stored. The command line, the cluster and [`Nystroem`](crate::Nystroem) set
//! the parameters and report results.

mod flash;
mod importance;
mod line;
mod outcome;
mod params;
mod regress;
mod select;
mod tested;
mod trace;
mod weak;

pub use crate::metric::{LearnedMetric, Metrics, NumberOfLandmarks};
pub use flash::{COARSER, Candidate, FlashParams, InFlash, fit_in_flash, flash_bytes};
pub use outcome::Outcome;
pub use params::{Landmarks, Params, with_usual};
pub use regress::{fit, fit_batches};
pub use select::{Selected, select};
pub(crate) use trace::measured_rows;
pub use trace::{MeasuredError, trace_error};
pub use weak::{WeakColumns, weak_columns};
