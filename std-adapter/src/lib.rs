//! Landmarks for kernel methods on a desktop or a server: files, heap memory, all threads, and the
//! command line `dpp-nystrom`.
//!
//! The algorithms are those of [`core`], which also run on a microcontroller; this crate brings
//! them rows and memory, and measures what they do.
//!
//! | step | where |
//! | --- | --- |
//! | a file to rows | [`table`], [`Prepared`] |
//! | rows that outgrow memory | [`store`] |
//! | rows in many places | [`partial`], [`Moments`] |
//! | rows to landmarks | [`methods`], [`select_rows`], or [`select()`] for a ground set of one's own |
//! | the fewest landmarks within an error | [`fewest`] |
//! | what landmarks miss | [`trace_error`], [`Spectrum`] |
//! | landmarks to a model | [`train`], [`Model`], [`model_file`] |
//! | a model to a device | [`export`] |
//! | exact samples of the c-DPP | [`ExactKDpp`] |
//! | bounds, mixing and convergence | [`theory`] |
//! | bandwidth and ridge together | [`tune()`] |
//! | methods against each other | [`evaluate()`] |
//! | other approximations from the same landmarks | [`Approximation`] |
//!
//! # Example
//!
//! ```
//! use dpp_nystrom::table::{self, Target};
//! use dpp_nystrom::{
//!     Bandwidth, ChainKind, KernelKind, Method, Precision, Prepared, Ridge, Setting, NoObserver, Start, Steps,
//!     choose_bandwidth, select_rows, train,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("waves.csv");
//! # let text: String = (0..200).map(|i| format!("{},{}\n", f64::from(i) / 20.0, (f64::from(i) / 20.0).sin())).collect();
//! # std::fs::write(&path, text)?;
//! let data = Prepared::new(table::read(&path, &Target::Last)?, None, 0)?;
//! let kernel = KernelKind::Gaussian;
//! let sigma = choose_bandwidth(Bandwidth::Median(0.5), kernel, &data, 0, &NoObserver)?.sigma;
//! let setting = Setting { kernel, sigma, precision: Precision::F64, seed: 0 };
//!
//! let method = Method::Kdpp { start: Start::KmeansPlusPlus, chain: ChainKind::Slot, steps: Steps::Auto };
//! let selection = select_rows(&data, 12, &method, setting, &NoObserver)?;
//! let training = train(&data, &selection.landmarks, Ridge::CrossValidated, setting, &NoObserver)?;
//! assert!(training.model.train_nrmse < 0.01);
//! # Ok(()) }
//! ```
//!
//! # Features
//!
//! `cli` (on): what only the command line needs. A library goes without: `default-features = false`.

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod approximation;
mod bandwidth;
pub mod checkpoint;
mod choose;
mod convergence;
#[cfg(test)]
mod elimination;
mod engine;
mod error;
mod evaluate;
mod exact;
pub mod export;
mod fleet;
mod heap;
mod kernel_choice;
mod lanes;
mod leave_one_out;
pub mod methods;
mod model;
pub mod model_file;
mod moments;
mod observer;
mod orthonormal;
mod output;
pub mod partial;
mod prepare;
pub mod quadrature;
mod refine;
mod regression;
mod rest;
mod seeds;
mod select;
mod standardise;
pub mod store;
mod symmetric;
pub mod table;
pub mod theory;
mod tolerance;
mod train;
mod tune;
mod variants;

pub use dpp_nystrom_core as core;

pub use approximation::{
    Eigen, Ground, RelativeError, Spectrum, TraceError, trace_error, trace_error_of_points,
};
pub use bandwidth::{Bandwidth, MEDIAN_SAMPLE, median_distance};
pub use checkpoint::Checkpoint;
pub use choose::{ChosenBandwidth, SIGMA_GRID, choose_bandwidth};
pub use error::Error;
pub use evaluate::{Comparison, SPECTRUM_ROWS, Trial, evaluate, root_mean_square};
pub use exact::{ExactKDpp, SizedKDpp};
pub use fleet::{Fleet, Learned, Merged};
pub use heap::{Heap, RidgeHeap};
pub use kernel_choice::{ChosenKernel, KernelKind};
pub use lanes::{Lane, Lanes};
pub use model::{AnyCoefficients, Coefficients, Model};
pub use moments::Moments;
pub use observer::{NoObserver, Observer};
pub use output::{check_writable, write_whole};
pub use prepare::{Precision, Prepared, StandardTarget};
pub use refine::{Gain, Refinement};
pub use regression::{FOLDS, Problem, Regression, Ridge, Targets, fit, ridge_grid};
pub use seeds::{RngStream, stream};
pub use select::{ChainKind, Method, Selection, Start, Steps, select};
pub use standardise::Scaler;
pub use store::Store;
pub use symmetric::{expected_trace_error, log_elementary_symmetric};
pub use table::Table;
pub use tolerance::{Criterion, CurvePoint, Fewest, Tolerance, fewest};
pub use train::{Setting, Training, select_rows, train, train_at};
pub use tune::{Regressor, Surface, tune};
pub use variants::Approximation;
