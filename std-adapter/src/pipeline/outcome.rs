//! The result of a pipeline.

use crate::pipeline::select::Selected;
use crate::regression::{choose::held_out::HeldOut, fit::Fitted};

/// A model and the landmarks it is fitted on.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<'s> {
    /// The landmarks.
    pub selected: Selected<'s>,
    /// The model.
    pub fitted: Fitted,
    /// Duration of the regression in seconds.
    pub fit_seconds: f64,
    /// The rows that no choice has seen, on which the [test error](crate::Model::test_error) was measured,
    /// and what models predict that had no part in them.
    pub held_out: Option<HeldOut>,
    /// Why there is no test error, if there is none.
    pub untested: Option<&'static str>,
}
