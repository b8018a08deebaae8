//! From a survey to what is to be learned.

use crate::{Error, Survey};
use dpp_nystrom::methods::{self, Gram, Options, Places, Selector, Task};
use dpp_nystrom::partial::Lesson;
use dpp_nystrom::{Bandwidth, FOLDS, KernelKind, Meter, Precision, RidgeChoice, Setting, choose_bandwidth};

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
    pub ridge: RidgeChoice,
    /// The seed.
    pub seed: u64,
}

/// Landmarks, and all that a regression on them needs to know.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What rows are to teach.
    pub lesson: Lesson,
    /// The landmarks among the sample's rows; none for points of their own.
    pub rows: Vec<usize>,
    /// `log det K_CC`.
    pub log_det: f64,
    /// Seconds of the selection.
    pub seconds: f64,
    /// What a method that chooses among others chose, and why.
    pub reason: Option<String>,
    /// Whether the chain came to rest, where there was one.
    pub at_rest: Option<bool>,
}

/// Landmarks among the sample of a survey.
///
/// A landmark is a row of the sample, which all rows have the same chance to be in: what the landmarks miss of all rows is
/// what they miss of the sample, up to the sample's own spread. [`dpp_nystrom::methods`] says what each method is for.
///
/// # Errors
/// [`Error::Adapter`]: those of the bandwidth and of the method.
pub fn choose(survey: &Survey, wanted: &Wanted<'_>, meter: &dyn Meter) -> Result<Choice, Error> {
    let sample = survey.prepared();
    let Wanted { landmarks, method, kernel, bandwidth, ridge, seed } = *wanted;
    let sigma = choose_bandwidth(bandwidth, kernel, &sample, seed, meter)?.sigma;
    let setting = Setting { kernel, sigma, precision: Precision::F64, seed };
    let gram = Gram::new(&sample, kernel, sigma)?;
    let given = match ridge {
        RidgeChoice::Value(value) => Some(value),
        RidgeChoice::CrossValidated => None,
    };
    let options = Options::default();
    let task = Task { gram: &gram, c: landmarks, setting, ridge: given, options: &options, meter };
    let (chosen, seconds) = methods::run(method, &task)?;
    let lesson = Lesson {
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
        Places::Rows(rows) => rows,
        Places::Points(_) => Vec::new(),
    };
    Ok(Choice {
        lesson,
        rows,
        log_det: chosen.log_det,
        seconds,
        reason: chosen.choice.map(|choice| format!("{}: {}", choice.method, choice.reason)),
        at_rest: chosen.at_rest,
    })
}

/// Folds to keep apart for this choice of the ridge.
pub(crate) fn folds(ridge: RidgeChoice) -> u8 {
    match ridge {
        RidgeChoice::Value(_) => 1,
        RidgeChoice::CrossValidated => FOLDS as u8,
    }
}
