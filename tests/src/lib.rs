//! Oracles for the tests of `dpp-nystrom-core`: the paper's formulas, computed directly.
//!
//! No oracle shares code with what it tests. Determinants are eliminated or expanded, laws are enumerated,
//! eigenvalues and reference solutions come from `faer`, quantiles from `statrs`. The exceptions are
//! [`transition`], [`slot_transition`] and [`stream`], which take the acceptance probabilities from the
//! production code: those are under test.
//!
//! | module | oracle |
//! | --- | --- |
//! | [`determinant`] | determinants in `f64` and exactly; the condition of a swap ratio |
//! | [`subsets`] | every set of `c` of `n` rows |
//! | [`law`] | the exact c-DPP, elementary symmetric polynomials, the trace-error identity |
//! | [`transition`] | the chain's transition matrix |
//! | [`slot_transition`] | the open-slot chain's transition matrix |
//! | [`stream`] | streams of given rows, and the transitions of the stream chain |
//! | [`evaluator`] | the evaluators of the open-slot chain, chosen at run time |
//! | [`ground`] | ground sets: integer Gram matrices, points, given spectra |
//! | [`dense`] | reference linear algebra |
//! | [`statistics`] | chi-square, total variation, mean and standard error |
//! | [`script`] | generators that return scripted numbers, or count their draws |
//! | [`room`] | working memory of a size chosen at run time |
//! | [`snapshot`] | everything observable of a set of landmarks, to compare bit for bit |

pub mod dense;
pub mod determinant;
#[cfg(feature = "adapter")]
pub mod evaluator;
pub mod ground;
pub mod law;
pub mod room;
pub mod script;
pub mod slot_transition;
pub mod snapshot;
pub mod statistics;
pub mod stream;
pub mod subsets;
pub mod transition;
