//! The parameters of the estimators, as they arrive from Python.

use crate::run::How;
use dpp_nystrom::core::Error as CoreError;
use dpp_nystrom::kernel::{KernelKind, KernelParams, Kinds, Metric};
use dpp_nystrom::landmarks::{Criterion, Refinement, Selector, Tolerance};
use dpp_nystrom::landmarks::{methods::SelectorOptions, methods::find};
use dpp_nystrom::pipeline::{FlashParams, Landmarks, Metrics, Params};
use dpp_nystrom::{Error, Ridge, Scale, Sigma, data::RowSource, selectors::Given};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// The metrics of this process: the folds of a cross-validation of ridges have the same rows.
static METRICS: Metrics = Metrics::new();

/// What a selection needs.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    /// None: the usual ones.
    kernel: Option<String>,
    sigma: Choice,
    degree: u32,
    coef0: f64,
    metric: String,
    /// None: the usual number.
    pub(crate) count: Option<usize>,
    selector: String,
    landmarks: Option<Vec<usize>>,
    sweeps: Option<u64>,
    budget: Option<f64>,
    steps: Option<u64>,
    ridge: Choice,
    scale: Option<String>,
    quality: Option<Vec<f64>>,
    pub(crate) include: Vec<usize>,
    exclude: Vec<usize>,
    pub(crate) seed: u64,
    pub(crate) threads: Option<usize>,
    /// In place of the number of landmarks: the largest trace error, over the trace.
    tolerance: Option<f64>,
    /// Bytes of flash of a prediction.
    flash: Option<usize>,
    progress: Option<Py<PyAny>>,
}

/// A number, or a rule by name.
#[derive(FromPyObject)]
pub(crate) enum Choice {
    Number(f64),
    Name(String),
}

/// Checked options.
pub(crate) struct Checked {
    pub(crate) kernel: KernelParams,
    pub(crate) count: Option<usize>,
    pub(crate) selector: Box<dyn Selector>,
    given: Option<Vec<usize>>,
    tolerance: Option<f64>,
    flash: Option<usize>,
    pub(crate) ridge: Ridge,
    pub(crate) scale: Scale,
    pub(crate) seed: u64,
}

impl Choice {
    fn parse<T: FromStr<Err: Display>>(&self, value: fn(f64) -> T) -> PyResult<T> {
        match self {
            Self::Number(number) => Ok(value(*number)),
            Self::Name(name) => name.parse().map_err(refused),
        }
    }

    pub(crate) fn ridge(&self) -> PyResult<Ridge> {
        self.parse(Ridge::Value)
    }
}

/// Return the kernel of a name, which is scikit-learn's if there is one.
pub(crate) fn kernel_kind(name: &str, degree: u32, offset: f64) -> PyResult<KernelKind> {
    let full = if name == "poly" { "polynomial" } else { name };
    match KernelKind::ALL.iter().find(|&&kind| [kernel_name(kind), kind.name()].contains(&full)) {
        Some(KernelKind::Polynomial { .. }) => Ok(KernelKind::Polynomial { degree, offset }),
        Some(&kind) => Ok(kind),
        None => {
            let names: Vec<&str> = KernelKind::ALL.iter().map(|&kind| kernel_name(kind)).collect();
            Err(refused(format!("invalid kernel {name:?}: expected one of {}, auto", names.join(", "))))
        }
    }
}

/// Return the name of a kernel.
pub(crate) fn kernel_name(kind: KernelKind) -> &'static str {
    match kind {
        KernelKind::Gaussian => "rbf",
        KernelKind::Laplace => "laplacian",
        other => other.name(),
    }
}

fn refused(text: impl Display) -> PyErr {
    PyValueError::new_err(text.to_string())
}

impl Options {
    pub(crate) fn check(&self) -> PyResult<Checked> {
        let (kind, kinds) = match self.kernel.as_deref() {
            None => (KernelKind::Gaussian, Kinds::Usual),
            Some("auto") => (KernelKind::Gaussian, Kinds::Any),
            Some(name) => (kernel_kind(name, self.degree, self.coef0)?, Kinds::One),
        };
        let metric: Metric = self.metric.parse().map_err(refused)?;
        let scale = match self.scale.as_deref() {
            None => Scale::None,
            Some("standard") => Scale::Standard,
            Some("robust") => Scale::Robust,
            Some("clipped") => Scale::Clipped,
            Some(other) => {
                let expected = "standard, robust, clipped or None";
                return Err(refused(format!("invalid scale {other:?}: expected {expected}")));
            }
        };
        let kernel = KernelParams { kind, sigma: self.sigma.parse(Sigma::Value)?, metric, kinds };
        Ok(Checked {
            kernel,
            count: self.count,
            selector: self.selector()?,
            given: self.landmarks.clone(),
            tolerance: self.tolerance,
            flash: self.flash,
            ridge: self.ridge.ridge()?,
            scale,
            seed: self.seed,
        })
    }

    /// Return how a call works that reads so many numbers.
    pub(crate) fn how(&self, numbers: usize) -> How<'_> {
        How { threads: self.threads, numbers, progress: self.progress.as_ref() }
    }

    /// Return the number of landmarks, which must be given.
    pub(crate) fn size(&self) -> PyResult<usize> {
        self.count.ok_or_else(|| refused("give the number of rows"))
    }

    fn selector(&self) -> PyResult<Box<dyn Selector>> {
        if let Some(rows) = &self.landmarks {
            return Ok(Box::new(Given::new(rows.clone())));
        }
        let known = find(&self.selector).filter(|method| method.name != "given");
        let method = known.ok_or_else(|| {
            let known = dpp_nystrom::landmarks::methods::METHODS.iter().map(|method| method.name);
            let known: Vec<&str> = known.filter(|name| *name != "given").collect();
            refused(format!("invalid selector {:?}: expected one of {}", self.selector, known.join(", ")))
        })?;
        let budget = self.budget.map(|seconds| {
            Duration::try_from_secs_f64(seconds).map_err(|_| {
                refused(format!("invalid budget {seconds}: expected a number of seconds, 0 or more"))
            })
        });
        let refinement = self.sweeps.map(|sweeps| Refinement { sweeps, ..Refinement::default() });
        let steps = self.steps.map(dpp_nystrom::landmarks::Steps::Count).unwrap_or_default();
        Ok(method.selector(&SelectorOptions {
            refinement,
            budget: budget.transpose()?,
            steps,
            quality: self.quality.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            ..SelectorOptions::default()
        }))
    }

    /// Return the quality of each row, zero for those that are excluded; none if nothing is asked for.
    pub(crate) fn qualities(&self, rows: usize) -> Result<Option<Vec<f64>>, Error> {
        let Self { quality, include, exclude, .. } = self;
        if quality.is_none() && include.is_empty() && exclude.is_empty() {
            return Ok(None);
        }
        let mut quality = quality.clone().unwrap_or_else(|| vec![1.0; rows]);
        for &row in exclude {
            let len = quality.len();
            *quality.get_mut(row).ok_or(CoreError::OutOfRange { index: row, len })? = 0.0;
        }
        Ok(Some(quality))
    }
}

impl Checked {
    /// Return the parameters of a pipeline on these rows.
    ///
    /// # Errors
    /// [`Error::Core`] for a given row past the last.
    pub(crate) fn params(&self, source: &dyn RowSource) -> Result<Params<'_>, Error> {
        let landmarks = match (&self.given, self.count) {
            (Some(rows), _) => {
                // Rows of weight 0 are left out, and the others keep their numbers.
                let len = source.len();
                let row = |&index| source.row_of(index).ok_or(CoreError::OutOfRange { index, len });
                Landmarks::Rows(rows.iter().map(row).collect::<Result<_, _>>()?)
            }
            (None, Some(count)) => Landmarks::Count(count),
            (None, None) => self.tolerance.map_or(Landmarks::Usual, |error| {
                Landmarks::Within(Tolerance::among(source.len(), error, Criterion::Trace))
            }),
        };
        let Self { kernel, ref selector, ridge, seed, .. } = *self;
        let (selector, metrics) = (&**selector, Some(&METRICS));
        Ok(Params { kernel, landmarks, selector, ridge, seed, metrics, ..Params::default() })
    }

    /// Return the parameters of a fit to a size of flash, if one is given.
    pub(crate) fn flash_params(&self) -> Option<FlashParams<'_>> {
        let (kernel, selector) = (self.kernel.kind, &*self.selector);
        self.flash.map(|bytes| FlashParams { bytes, kernel, selector, ridge: self.ridge, seed: self.seed })
    }
}
