//! The result of a pipeline.

use crate::pipeline::select::Selected;
use crate::regression::{choose::held_out::HeldOut, fit::Fitted};

/// A model and the landmarks it is fitted on.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, fit};
/// use dpp_nystrom::{Dataset, Scale, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let source = data.source(Scale::Standard)?;
/// let params = Params { landmarks: Landmarks::Count(8), kernel: KernelParams::default(), ..Params::default() };
/// let outcome = fit(source.as_rows(), &params, None, &NoObserver)?;
/// assert!(outcome.fitted.model.train_nrmse < 0.05);
/// assert_eq!(outcome.held_out.is_none(), outcome.untested.is_some());
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
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
