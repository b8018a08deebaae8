//! From a survey to what is to be learned.

use crate::{Error, Survey};
use dpp_nystrom::approximation::{Gram, LandmarkSet};
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{Bandwidth, KernelKind, Precision};
use dpp_nystrom::landmarks;
use dpp_nystrom::landmarks::{Options, Selector, Task};
use dpp_nystrom::observer::Observer;
use dpp_nystrom::regression::FitSpec;
use dpp_nystrom::regression::{FOLDS, Ridge, Setting, choose_bandwidth};

/// What landmarks are wanted.
pub struct Wanted<'a> {
    /// How many.
    pub landmarks: usize,
    /// By which method.
    pub method: &'a dyn Selector,
    /// The kernel.
    pub kernel: KernelKind,
    /// Its bandwidth.
    pub bandwidth: Bandwidth,
    /// The ridge of the regression that follows.
    pub ridge: Ridge,
    /// The seed.
    pub seed: u64,
}

/// Landmarks, and all that a regression on them needs to know.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What rows are to teach.
    pub lesson: FitSpec,
    /// The landmarks among the sample's rows; none for points of their own.
    pub rows: Vec<usize>,
    /// `log det K_CC`.
    pub log_det: f64,
    /// Seconds of the selection.
    pub seconds: f64,
    /// What a method that chooses among others chose, and why.
    pub reason: Option<String>,
    /// Whether the chain came to rest, where there was one.
    pub converged: Option<bool>,
}

/// Landmarks among the sample of a survey.
///
/// A landmark is a row of the sample, which all rows have the same chance to be in: what the landmarks miss of all rows is
/// what they miss of the sample, up to the sample's own spread. [`dpp_nystrom::landmarks`] says what each method is for.
///
/// # Errors
/// [`Error::Adapter`]: those of the bandwidth and of the method.
pub fn choose(survey: &Survey, wanted: &Wanted<'_>, observer: &dyn Observer) -> Result<Choice, Error> {
    let sample = survey.prepared();
    let Wanted { landmarks, method, kernel, bandwidth, ridge, seed } = *wanted;
    let sigma = choose_bandwidth(bandwidth, kernel, &sample, seed, observer)?.sigma;
    let setting = Setting { kernel: KernelSpec { kind: kernel, sigma }, precision: Precision::F64, seed };
    let gram = Gram::new(&sample, KernelSpec { kind: kernel, sigma: sigma })?;
    let given = match ridge {
        Ridge::Value(value) => Some(value),
        Ridge::CrossValidated => None,
    };
    let options = Options::default();
    let task = Task { gram: &gram, c: landmarks, setting, ridge: given, options: &options, observer };
    let (chosen, seconds) = methods::run(method, &task)?;
    let lesson = FitSpec {
        feature_names: survey.feature_names.clone(),
        target_name: survey.target_name.clone(),
        features: survey.features.clone(),
        target: survey.target.clone(),
        landmarks: chosen.places.features(&sample)?,
        kernel,
        sigma,
        folds: folds(ridge),
        seed,
    };
    let rows = match chosen.places {
        LandmarkSet::Indices(rows) => rows,
        LandmarkSet::Points(_) => Vec::new(),
    };
    Ok(Choice {
        lesson,
        rows,
        log_det: chosen.log_det,
        seconds,
        reason: chosen.choice.map(|choice| format!("{}: {}", choice.method, choice.reason)),
        converged: chosen.converged,
    })
}

/// Folds to keep apart for this choice of the ridge.
pub(crate) fn folds(ridge: Ridge) -> u8 {
    match ridge {
        Ridge::Value(_) => 1,
        Ridge::CrossValidated => FOLDS as u8,
    }
}
