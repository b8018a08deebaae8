//! Errors of metrics on rows held out.

use crate::text::short;
use dpp_nystrom::kernel::Metric;
use dpp_nystrom::pipeline::LearnedMetric;
use serde::Serialize;

/// The error of a metric on rows held out.
#[derive(Serialize)]
pub(super) struct HeldOut {
    pub(super) metric: Metric,
    #[serde(flatten)]
    pub(super) error: ByTarget,
}

/// An error of numbers, in standard deviations, or of classes.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ByTarget {
    /// Root mean squared, in standard deviations of the target.
    Nrmse(f64),
    /// The log-loss.
    LogLoss(f64),
}

impl ByTarget {
    /// Return an error of numbers or of classes.
    pub fn of(error: f64, classes: bool) -> Self {
        if classes { Self::LogLoss(error) } else { Self::Nrmse(error) }
    }

    /// Return the error.
    pub fn value(self) -> f64 {
        let (Self::Nrmse(error) | Self::LogLoss(error)) = self;
        error
    }

    /// Return what these are.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Nrmse(_) => "errors",
            Self::LogLoss(_) => "log-losses",
        }
    }
}

impl HeldOut {
    pub(super) fn of(learned: &LearnedMetric, classes: bool) -> impl Iterator<Item = Self> {
        learned
            .errors
            .iter()
            .map(move |&(metric, error)| Self { metric, error: ByTarget::of(error, classes) })
    }

    pub(super) fn words(&self) -> String {
        format!("{} {}", self.metric, short(self.error.value()))
    }
}
