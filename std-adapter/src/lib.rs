//! Landmarks for kernel methods on a desktop or a server: files, heap memory, all threads.
//!
//! The algorithms are those of [`core`], which also run on a microcontroller; this crate brings them rows and
//! memory, and measures what they do.
//!
//! ```
//! use dpp_nystrom::selectors::Refined;
//! use dpp_nystrom::{Dataset, Gaussian, KernelRidge, Model, Nystroem, Ridge, Sigma};
//!
//! # fn main() -> Result<(), dpp_nystrom::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("waves.dpp");
//! # let x: Vec<f64> = (0..400).map(|i| f64::from(i) / 40.0).collect();
//! # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
//! let data = Dataset::from_rows(&x, 1)?.with_target(&y)?; // row-major; also Dataset::read, Dataset::open_store
//! let map = Nystroem::params(12)
//!     .kernel(Gaussian::new(Sigma::Median(0.5)))
//!     .selector(Refined::default().sweeps(5))
//!     .seed(7)
//!     .fit(&data)?;
//! let landmarks: &[usize] = map.landmarks();
//! let phi: Vec<f64> = map.transform(&x)?; // row-major, map.rank() columns
//! let error: f64 = map.trace_error(&data)?; // tr(K - K̃) / tr K
//!
//! let model = KernelRidge::params(&map).ridge(Ridge::CrossValidated).fit(&data)?;
//! model.save(&path)?;
//! let predicted: Vec<f64> = Model::load(&path)?.predict(&x)?; // in the target's units
//! # assert!(landmarks.len() == 12 && phi.len() == 400 * map.rank() && error < 1e-3);
//! # assert!(predicted.iter().zip(&y).all(|(found, y)| (found - y).abs() < 0.05));
//! # Ok(()) }
//! ```
//!
//! | step | where |
//! | --- | --- |
//! | rows: in memory, a file, a row store | [`Dataset`], [`data`] |
//! | features `φ` and landmarks | [`Nystroem`], [`selectors`] |
//! | a model, its file, its way to a device | [`LandmarkRidge`], [`KernelRidge`], [`Model`], [`model::export`] |
//! | all of it in one call, with checkpoints, for programs like the command line | [`pipeline`] |
//! | landmarks of a ground set of one's own | [`landmarks::select`] |
//! | trace errors, kernel matrices, features | [`approximation`] |
//! | rows in many places, fleets of devices | [`regression::FitSpec`], [`regression::Fleet`] |
//! | scales or a map of the features, learned from the target | [`kernel::Metric`] |
//! | exact samples, convergence of chains | [`landmarks::ExactKDpp`], [`landmarks::convergence`] |
//! | a selector of one's own | [`landmarks::Selector`] |
//!
//! The package `dpp-nystrom-lab` compares methods, and has the bounds of the theory and selectors to
//! compare with.
//!
//! # Order of modules
//!
//! A file imports from modules before its own: `error`, `observer`, `framed_file`, `linalg`, `kernel`,
//! `data`, `approximation`, `model`, `regression`, `landmarks`, `selectors`, `metric`, `pipeline`,
//! `estimators`, `interop`. Heap memory, SIMD lanes, random generators and files replaced as a whole come
//! from an internal package, which is not part of this API.
//!
//! # Features
//!
//! - `ndarray`: arrays of `ndarray` 0.16 in and out.
//! - `linfa`: the traits of `linfa` 0.8, in [`interop`](https://docs.rs/dpp-nystrom).

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod approximation;
pub mod data;
mod error;
mod estimators;
mod framed_file;
#[cfg(any(feature = "ndarray", feature = "linfa"))]
pub mod interop;
pub mod kernel;
pub mod landmarks;
mod linalg;
mod metric;
pub mod model;
pub mod observer;
pub mod pipeline;
pub mod regression;
pub mod selectors;

pub use dpp_nystrom_core as core;
pub use faer;

pub use data::dataset::Dataset;
pub use data::scaler::Scale;
pub use error::{Error, ErrorKind};
pub use estimators::{
    CustomKernel, FeatureRidge, KernelRidge, KernelRidgeParams, LandmarkRidge, Nystroem, NystroemParams,
};
pub use kernel::bandwidth::Sigma;
pub use kernel::params::Gaussian;
pub use model::trained::Model;
pub use regression::ridge::Ridge;

/// The examples of the book, which are tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/tutorials/detector.md")]
#[doc = include_str!("../docs/asked/device.md")]
#[doc = include_str!("../docs/library.md")]
struct Book;
