//! The parameters of the estimators, as they arrive from Python.

use dpp_nystrom::core::Error as CoreError;
use dpp_nystrom::data::Scale;
use dpp_nystrom::kernel::{KernelKind, KernelParams, Metric, Precision, Sigma};
use dpp_nystrom::landmarks::{Refinement, Selector, methods::SelectorOptions, methods::find};
use dpp_nystrom::pipeline::{Landmarks, Params};
use dpp_nystrom::{Error, Ridge, data::RowSource, selectors::Given};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// Landmarks where their number is not given: a quarter of the rows, and no more than this.
const USUAL: usize = 100;

/// What a selection needs.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    kernel: String,
    sigma: Choice,
    degree: u32,
    coef0: f64,
    metric: String,
    /// None: the usual number, and fewer where fewer rows are independent.
    count: Option<usize>,
    selector: String,
    landmarks: Option<Vec<usize>>,
    sweeps: Option<u64>,
    budget: Option<f64>,
    steps: Option<u64>,
    ridge: Choice,
    scale: Option<String>,
    seed: u64,
    pub(crate) threads: Option<usize>,
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
    match KernelKind::ALL.iter().find(|&&kind| kernel_name(kind) == full) {
        Some(KernelKind::Polynomial { .. }) => Ok(KernelKind::Polynomial { degree, offset }),
        Some(&kind) => Ok(kind),
        None => {
            let names: Vec<&str> = KernelKind::ALL.iter().map(|&kind| kernel_name(kind)).collect();
            Err(refused(format!("invalid kernel {name:?}: expected one of {}", names.join(", "))))
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
        let any = self.kernel == "auto";
        let name = if any { "rbf" } else { &self.kernel };
        let kind = kernel_kind(name, self.degree, self.coef0)?;
        let metric: Metric = self.metric.parse().map_err(refused)?;
        let scale = match self.scale.as_deref() {
            None => Scale::None,
            Some("standard") => Scale::Standard,
            Some("robust") => Scale::Robust,
            Some(other) => {
                return Err(refused(format!("invalid scale {other:?}: expected standard, robust or None")));
            }
        };
        let kernel = KernelParams {
            kind,
            sigma: self.sigma.parse(Sigma::Value)?,
            any_kind: any,
            ..KernelParams::from(kind)
        }
        .with_metric(metric);
        Ok(Checked {
            kernel,
            count: self.count,
            selector: self.selector()?,
            given: self.landmarks.clone(),
            ridge: self.ridge.ridge()?,
            scale,
            seed: self.seed,
        })
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
        let options =
            SelectorOptions { refinement, budget: budget.transpose()?, ..SelectorOptions::default() };
        let steps = self.steps.map(dpp_nystrom::landmarks::Steps::Count).unwrap_or_default();
        Ok(method.selector(&SelectorOptions { steps, ..options }))
    }
}

impl Checked {
    /// Run work on these rows with the parameters of a pipeline. The usual number of landmarks is lowered to that of the
    /// independent rows, where it is more.
    ///
    /// # Errors
    /// [`Error::Core`] for a given row past the last; those of the work.
    pub(crate) fn with_params<T>(
        &self,
        source: &dyn RowSource,
        work: impl Fn(&Params<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut count = self.count.unwrap_or_else(|| (source.len() / 4).clamp(1, USUAL));
        loop {
            let landmarks = match &self.given {
                Some(rows) => {
                    // Rows of weight 0 are left out, and the others keep their numbers.
                    let len = source.len();
                    let row = |&index| source.row_of(index).ok_or(CoreError::OutOfRange { index, len });
                    Landmarks::Rows(rows.iter().map(row).collect::<Result<_, _>>()?)
                }
                None => Landmarks::Count(count),
            };
            let found = work(&Params {
                kernel: self.kernel,
                landmarks,
                selector: &*self.selector,
                ridge: self.ridge,
                precision: Precision::F64,
                seed: self.seed,
            });
            match found {
                Err(Error::Landmarks { reason: CoreError::RankDeficient { rank, .. } })
                    if self.count.is_none() && self.given.is_none() && (1..count).contains(&rank) =>
                {
                    count = rank;
                }
                found => return found,
            }
        }
    }
}
