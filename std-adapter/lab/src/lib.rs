//! What proves and reproduces the methods of [`dpp_nystrom`], and what no model needs.
//!
//! | what | where |
//! | --- | --- |
//! | methods against each other | [`benchmark`] |
//! | bandwidth and ridge together | [`tune`] |
//! | the bounds that the c-DPP paper proves, beside measurements | [`theory`] |
//! | Frobenius and spectral errors, relative to the best rank c | [`spectrum`] |
//! | ensemble and modified Nyström | [`variants`] |
//! | selectors to compare with | [`selectors`] |
//! | the paper's figures on one's own data sets | [`experiment`] |
//! | the page of a fit | [`report`], [`components`] |
//! | charts as SVG, tables as text and CSV | [`chart`], [`curves`], [`text`], [`statistics`] |
//!
//! Everything here uses the public API of the library, and a selector plugs in as a user's does:
//!
//! ```
//! use dpp_nystrom::{Dataset, Nystroem};
//! use dpp_nystrom_lab::selectors::RidgeLeverage;
//!
//! # fn main() -> Result<(), dpp_nystrom::Error> {
//! let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
//! let data = Dataset::from_rows(&x, 1)?;
//! let map = Nystroem::params(8).selector(RidgeLeverage).fit(&data)?;
//! assert_eq!(map.landmarks().len(), 8);
//! # Ok(()) }
//! ```
//!
//! # Order of modules
//!
//! A file imports from modules before its own: `error`, `rng`, `linalg`, `spectrum`, `statistics`, `text`,
//! `chart`, `components`, `report`, `selectors`, `variants`, `theory`, `benchmark`, `curves`, `tune`,
//! `surface`, `experiment`.

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod benchmark;
pub mod chart;
pub mod components;
pub mod curves;
mod error;
pub mod experiment;
mod linalg;
pub mod report;
mod rng;
pub mod selectors;
pub mod spectrum;
pub mod statistics;
mod surface;
pub mod text;
pub mod theory;
pub mod tune;
pub mod variants;

pub use error::Error;
