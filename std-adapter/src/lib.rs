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
//! | rows to landmarks | [`selectors`], [`landmarks::run`], or [`landmarks::select()`] for a ground set of one's own |
//! | the fewest landmarks within an error | [`landmarks::fewest`] |
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
//! use dpp_nystrom::approximation::Gram;
//! use dpp_nystrom::data::table::Target;
//! use dpp_nystrom::data::{Prepared, table};
//! use dpp_nystrom::kernel::{Bandwidth, KernelKind, KernelSpec, Precision};
//! use dpp_nystrom::landmarks::{Task, run};
//! use dpp_nystrom::observer::NoObserver;
//! use dpp_nystrom::regression::{Ridge, Setting, choose_bandwidth, train_at};
//! use dpp_nystrom::selectors::Kdpp;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("waves.csv");
//! # let text: String = (0..200).map(|i| format!("{},{}\n", f64::from(i) / 20.0, (f64::from(i) / 20.0).sin())).collect();
//! # std::fs::write(&path, text)?;
//! let data = Prepared::new(table::read(&path, &Target::Last)?, None, 0)?;
//! let kernel = KernelKind::Gaussian;
//! let sigma = choose_bandwidth(Bandwidth::Median(0.5), kernel, &data, 0, &NoObserver)?.sigma;
//! let setting = Setting { kernel: KernelSpec { kind: kernel, sigma }, precision: Precision::F64, seed: 0 };
//!
//! let gram = Gram::new(&data, setting.kernel)?;
//! let selection = run(&Kdpp::default(), &Task::new(&gram, 12))?;
//! let training = train_at(&data, &selection.landmarks, Ridge::CrossValidated, setting, &NoObserver)?;
//! assert!(training.model.train_nrmse < 0.01);
//! # Ok(()) }
//! ```
//!
//! # Features
//!
//! `cli` (on): what only the command line needs. A library goes without: `default-features = false`.

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod approximation;
pub mod atomic_file;
pub mod benchmark;
pub mod data;
pub mod error;
pub mod heap;
pub mod kernel;
pub mod landmarks;
pub mod linalg;
pub mod model;
pub mod observer;
pub mod pipeline;
pub mod regression;
pub mod rng;
pub mod simd;
pub mod theory;

pub use dpp_nystrom_core as core;

pub use error::Error;
pub use landmarks::selectors;
