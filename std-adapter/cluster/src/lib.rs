//! Landmarks, kernel ridge regression and predictions over tables that a query engine reads: Parquet, CSV and
//! JSON files, globs of them, object stores, and what SQL makes of these; in this process, or on a cluster.
//!
//! | step | where |
//! | --- | --- |
//! | where queries run | [`Session`]: DataFusion in this process, or Ballista at `df://HOST:PORT` |
//! | tables and SQL to features and a target | [`Session::add`], [`Session::rows`] |
//! | the statistics of all rows, and a sample of them | [`Rows::survey`] |
//! | landmarks and a model | [`dpp_nystrom::pipeline`] with [`SurveyedRows`] |
//! | a model on given landmarks | [`Rows::accumulate`], [`dpp_nystrom::regression::FitSpec`] |
//! | rows to predictions | [`Rows::predict`] |
//! | the cluster itself | [`roles`] |
//! | mutual TLS between its parts | [`Tls`] |
//!
//! The engine partitions rows in any way. Whether a row is in the sample, and in which fold of
//! cross-validation, is drawn from its own values. So the result is the same on one thread, on all, and on
//! any number of machines, also where some of them fail during the query, up to the rounding of sums in
//! another order.
//!
//! Where one machine has the rows on its own disk, a row store ([`dpp_nystrom::data::store`]) is simpler.

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod aggregate;
mod codec;
mod columns;
mod contact;
mod endpoints;
mod error;
mod failures;
mod predict;
pub mod roles;
mod secure;
mod session;
mod source;
mod stores;
mod survey;
mod tables;
mod tls;

pub use codec::{logical_codec, physical_codec};
pub use error::Error;
pub use predict::Predictions;
pub use session::{Rows, Session};
pub use source::SurveyedRows;
pub use survey::Survey;
pub use tables::TableSource;
pub use tls::Tls;
