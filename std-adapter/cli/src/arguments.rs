//! What can be asked for, and its defaults.

use crate::columns::TableArguments;
use crate::error::Error;
use crate::output::note;
use clap::Args;
use dpp_nystrom::data::table::FORMATS;
use dpp_nystrom::kernel::{KernelKind, KernelParams, Kinds, Metric, Precision};
use dpp_nystrom::{Scale, Sigma};
use dpp_nystrom_options::{Choice, kernels, one_of};
use std::path::PathBuf;

/// A positive number.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err(format!("invalid value {text:?}: expected a positive number")),
    }
}

/// Return the help of a file of rows.
pub(crate) fn readable(what: &str) -> String {
    format!("{what}: {FORMATS}, gzipped or not, or a row store; - is standard input")
}

/// The file, and which of its rows and columns.
#[derive(Debug, Args)]
pub(crate) struct Source {
    #[arg(value_name = "DATA", help = readable("Rows"))]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableArguments,
    /// How features are scaled: to mean 0 and standard deviation 1, to median 0 and the interquartile range
    /// of a normal distribution, the same with heavy tails clipped smoothly, or not at all
    #[arg(long, value_parser = one_of(&SCALES), default_value = "standard")]
    pub(crate) scale: Scale,
    /// Use so many rows, drawn at random [default: all; evaluate, diagnose: 4000]
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<usize>,
    /// Seed of all that is random
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
}

const SCALES: [Choice<Scale>; 4] = [
    ("standard", "", Scale::Standard),
    ("robust", "", Scale::Robust),
    ("clipped", "", Scale::Clipped),
    ("none", "", Scale::None),
];

/// The scales of a row store.
pub(crate) const STORED_SCALES: [Choice<Scale>; 2] = [SCALES[0], SCALES[3]];

/// The degree of the usual polynomial kernel, and its offset.
const DEGREE: u32 = 3;
const OFFSET: f64 = 1.0;

/// The function of two rows.
#[derive(Debug, Args)]
pub(crate) struct KindArguments {
    /// The kernel; auto: gaussian, matern52, matern32 or laplace, whichever has the lowest error on
    /// validation rows (fit); precomputed: DATA is a kernel matrix (select) [default: gaussian; of fit for
    /// 100 landmarks and more, without --metric and --sigma and not for classes: auto]
    #[arg(long, value_parser = one_of(chosen()))]
    kernel: Option<Chosen>,
    /// Degree of the polynomial kernel
    #[arg(long, default_value_t = DEGREE)]
    degree: u32,
}

/// A function of two rows, or a matrix of its values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chosen {
    Kind(KernelKind),
    Auto,
    Precomputed,
}

fn chosen() -> Vec<Choice<Chosen>> {
    let named = kernels().map(|(name, help, kind)| (name, help, Chosen::Kind(kind)));
    named.chain([("auto", "", Chosen::Auto), ("precomputed", "", Chosen::Precomputed)]).collect()
}

pub(crate) const PRECISIONS: [Choice<Precision>; 2] =
    [("f64", "", Precision::F64), ("f32", "", Precision::F32)];

impl KindArguments {
    pub(crate) fn kind(&self) -> Result<KernelKind, Error> {
        match self.kernel {
            None => Ok(KernelKind::Gaussian),
            Some(Chosen::Kind(KernelKind::Polynomial { .. })) => {
                Ok(KernelKind::Polynomial { degree: self.degree, offset: OFFSET })
            }
            Some(Chosen::Kind(kind)) => Ok(kind),
            Some(Chosen::Auto) => Err(Error::AnyKernel),
            Some(Chosen::Precomputed) => Err(Error::Precomputed),
        }
    }
}

/// The kernel with its bandwidth, and the arithmetic.
#[derive(Debug, Args)]
pub(crate) struct KernelArguments {
    #[command(flatten)]
    kind: KindArguments,
    /// Bandwidth on standardised features: a number, median, median*4, or cv (10-fold)
    #[arg(long, value_name = "F|median|median*F|cv", default_value = "median")]
    sigma: Sigma,
    /// Arithmetic of the chain and of the regression
    #[arg(long, value_parser = one_of(&PRECISIONS), default_value = "f64")]
    pub(crate) precision: Precision,
}

impl KernelArguments {
    /// Whether the rows are those of a kernel matrix.
    pub(crate) fn is_precomputed(&self) -> bool {
        matches!(self.kind.kernel, Some(Chosen::Precomputed))
    }

    /// Whether a bandwidth is asked for.
    pub(crate) fn has_sigma(&self) -> bool {
        self.sigma != Sigma::Median(1.0)
    }

    fn tell_unused(&self) {
        let KindArguments { kernel, degree } = &self.kind;
        let is_polynomial = matches!(kernel, Some(Chosen::Kind(KernelKind::Polynomial { .. })));
        if !is_polynomial && *degree != DEGREE {
            note("warning: --degree is that of --kernel polynomial alone");
        }
    }

    /// The kernel, and how its bandwidth is chosen.
    pub(crate) fn params(&self) -> Result<KernelParams, Error> {
        Ok(self.with_sigma(self.kind.kind()?))
    }

    fn with_sigma(&self, kind: KernelKind) -> KernelParams {
        self.tell_unused();
        if !kind.has_bandwidth() && self.has_sigma() {
            note(
                "warning: --sigma is not used by the kernels linear and polynomial, which have no bandwidth",
            );
        }
        KernelParams { sigma: self.sigma, ..kind.into() }
    }

    /// The kernel and the metric of a model.
    pub(crate) fn with_metric(&self, metric: Metric) -> Result<KernelParams, Error> {
        let kinds = match self.kind.kernel {
            None => Kinds::Usual,
            Some(Chosen::Auto) => Kinds::Any,
            Some(_) => Kinds::One,
        };
        let params = if kinds == Kinds::Any { self.with_sigma(KernelKind::Gaussian) } else { self.params()? };
        Ok(KernelParams { metric, kinds, ..params })
    }
}
