//! Errors of metrics on rows held out.

use crate::output::short;
use dpp_nystrom::kernel::Metric;
use dpp_nystrom::pipeline::LearnedMetric;
use serde::Serialize;

/// The error of a metric on rows held out.
#[derive(Serialize)]
pub(crate) struct HeldOut {
    pub(crate) metric: Metric,
    pub(crate) nrmse: f64,
}

impl HeldOut {
    pub(crate) fn of(learned: &LearnedMetric) -> impl Iterator<Item = Self> {
        learned.errors.iter().map(|&(metric, nrmse)| Self { metric, nrmse })
    }

    pub(crate) fn words(&self) -> String {
        format!("{} {}", self.metric, short(self.nrmse))
    }
}
