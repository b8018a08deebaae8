//! The bounds that Li, Jegelka and Sra (2016) prove, evaluated for a kernel matrix, and the measured
//! quantities.
//!
//! | result | module or type |
//! | --- | --- |
//! | Lemma 1, Theorem 1 and its corollary: `‖K - K̃‖` against `‖K - K_k‖` | [`bounds`] |
//! | Theorem 2 and its corollary: the risk of ridge regression on `K̃` | [`risk`] |
//! | Theorem 3: the contraction α and the mixing time; a mixing time without conditions | [`contraction`] |
//! | Theorem 3's coupling, run until two chains meet | [`coalescence`] |
//! | chains: acceptance, autocorrelation time, effective sample size, split R̂ | [`ChainRecord`] |
//! | all of them for prepared rows | [`Diagnostics`] |
//!
//! Where the paper has an error, the corrected form is used, and each module states the correction.

pub mod bounds;
mod chains;
pub mod coalescence;
pub mod contraction;
mod diagnose;
pub mod quadrature;
pub mod risk;
mod swaps;
mod text;

pub use crate::statistics::Interval;
pub use chains::ChainRecord;
pub use diagnose::{Contraction, Diagnosis, Diagnostics, Effort, Meeting, Regression, TargetRank};
