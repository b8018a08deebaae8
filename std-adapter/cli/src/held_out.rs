//! Errors of metrics on rows held out.

use crate::output::short;
use dpp_nystrom::kernel::Metric;
use dpp_nystrom::pipeline::LearnedMetric;
use serde::Serialize;

/// The error of a metric on rows held out.
#[derive(Serialize)]
pub(crate) struct HeldOut {
    pub(crate) metric: Metric,
    #[serde(flatten)]
    pub(crate) error: ByTarget,
}

/// An error of numbers, in standard deviations, or of classes.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ByTarget {
    Nrmse(f64),
    LogLoss(f64),
}

impl ByTarget {
    pub(crate) fn of(error: f64, classes: bool) -> Self {
        if classes { Self::LogLoss(error) } else { Self::Nrmse(error) }
    }

    pub(crate) fn value(self) -> f64 {
        let (Self::Nrmse(error) | Self::LogLoss(error)) = self;
        error
    }

    /// Return what these are.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Nrmse(_) => "errors",
            Self::LogLoss(_) => "log-losses",
        }
    }
}

impl HeldOut {
    pub(crate) fn of(learned: &LearnedMetric, classes: bool) -> impl Iterator<Item = Self> {
        learned
            .errors
            .iter()
            .map(move |&(metric, error)| Self { metric, error: ByTarget::of(error, classes) })
    }

    pub(crate) fn words(&self) -> String {
        format!("{} {}", self.metric, short(self.error.value()))
    }
}
