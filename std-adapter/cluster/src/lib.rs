//! Landmarks, kernel ridge regression and predictions over tables that a query engine reads: Parquet, CSV and JSON files,
//! globs of them, object stores, and what SQL makes of these; in this process, or on a cluster.
//!
//! | step | where |
//! | --- | --- |
//! | where queries run | [`Session`]: DataFusion in this process, or Ballista at `df://HOST:PORT` |
//! | tables and SQL to features and a target | [`Session::add`], [`Session::rows`] |
//! | the statistics of all rows, and some of them | [`Rows::survey`] |
//! | some rows to landmarks | [`choose`] |
//! | all rows to a model | [`Rows::learn`], [`dpp_nystrom::regression::FitSpec`] |
//! | rows to predictions | [`Rows::predict`] |
//! | the cluster itself | [`roles`] |
//!
//! The engine deals rows out as it likes. What a row does depends on the row alone: whether a sample takes it, and
//! into which fold of cross-validation it goes, are drawn from its own numbers. So the answer is the same on one
//! thread, on all, and on any number of machines, also where some of them die on the way, up to the rounding of
//! sums in another order.
//!
//! Where a machine holds the rows on its own disk and wants all of one core, a row store
//! ([`dpp_nystrom::data::store`]) is the simpler way.

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod aggregate;
mod choose;
mod codec;
mod columns;
mod error;
mod predict;
pub mod roles;
mod session;
mod stores;
mod survey;
mod tables;

pub use choose::{Choice, Wanted, choose};
pub use codec::{logical_codec, physical_codec};
pub use error::Error;
pub use predict::Predictions;
pub use session::{Rows, Session};
pub use survey::Survey;
pub use tables::TableSource;
