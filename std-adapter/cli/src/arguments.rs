//! What can be asked for, and its defaults.

use clap::{Args, ValueEnum};
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::KernelParams;
use dpp_nystrom::kernel::{KernelKind, Precision, Sigma};
use std::path::PathBuf;

/// A positive number.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err(format!("invalid value {text:?}: expected a positive number")),
    }
}

/// The file, and which of its rows and columns.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// Rows of numbers: CSV, TSV, ARFF or NPY, gzipped or not, or a row store; - is standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// The target column, which is not a feature: a name, an index from 0, last, or none
    #[arg(long, value_name = "COLUMN", default_value = "last", allow_negative_numbers = true)]
    pub(crate) target: Target,
    /// Use so many rows, drawn at random [default: all; evaluate: 4000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rows: Option<usize>,
    /// Seed of all that is random
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

/// The kernel.
#[derive(Debug, Args)]
pub(crate) struct KernelArguments {
    /// The kernel
    #[arg(long, value_enum, default_value_t = KernelName::Gaussian)]
    pub(crate) kernel: KernelName,
    /// Bandwidth on standardised features: a number, median, median*4, or cv (10-fold)
    #[arg(
        long,
        value_name = "F|median|median*F|cv",
        default_value = "median",
        allow_negative_numbers = true
    )]
    pub(crate) sigma: Sigma,
    /// Degree of the polynomial kernel
    #[arg(long, default_value_t = 3, allow_negative_numbers = true)]
    pub(crate) degree: u32,
    /// Offset of the polynomial kernel
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) offset: f64,
    /// Arithmetic of the chain and of the regression
    #[arg(long, value_enum, default_value_t = PrecisionName::F64)]
    pub(crate) precision: PrecisionName,
}

impl KernelArguments {
    pub(crate) fn kind(&self) -> KernelKind {
        match self.kernel {
            KernelName::Gaussian => KernelKind::Gaussian,
            KernelName::Laplace => KernelKind::Laplace,
            KernelName::Matern32 => KernelKind::Matern32,
            KernelName::Matern52 => KernelKind::Matern52,
            KernelName::Polynomial => KernelKind::Polynomial { degree: self.degree, offset: self.offset },
            KernelName::Linear => KernelKind::Linear,
        }
    }

    /// The kernel, and how its bandwidth is chosen.
    pub(crate) fn params(&self) -> KernelParams {
        KernelParams { kind: self.kind(), sigma: self.sigma }
    }

    pub(crate) fn precision(&self) -> Precision {
        match self.precision {
            PrecisionName::F64 => Precision::F64,
            PrecisionName::F32 => Precision::F32,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KernelName {
    Gaussian,
    Laplace,
    Matern32,
    Matern52,
    Polynomial,
    Linear,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PrecisionName {
    F64,
    F32,
}
