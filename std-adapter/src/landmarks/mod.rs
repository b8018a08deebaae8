//! Landmark selection: the selectors, their results, and the search for the fewest landmarks within a
//! tolerance.

pub(crate) mod blocks;
pub(crate) mod chain;
pub mod convergence;
pub(crate) mod eigenvector_law;
pub(crate) mod exact_kdpp;
pub(crate) mod low_rank_kdpp;
pub mod methods;
pub(crate) mod plan;
pub(crate) mod procedure;
pub(crate) mod rejection_kdpp;
pub(crate) mod selection;
pub(crate) mod selector;
pub(crate) mod stopping;
pub(crate) mod swap_search;
pub(crate) mod tolerance;

pub use crate::linalg::expected_trace_error;
pub use chain::{select, slot_chain};
pub use convergence::Convergence;
pub use exact_kdpp::{ExactKDpp, SizedKDpp};
pub use low_rank_kdpp::{LowRankKDpp, SizedLowRankKDpp};
pub use methods::draw::draw_row;
pub use procedure::{ChainKind, Start, Steps};
pub use rejection_kdpp::RejectionKDpp;
pub use selection::{Choice, PlannedSelection, Selection};
pub use selector::{Needs, RowAccess, Selector, Task, check_count, run};
pub use swap_search::{Objective, Refinement, RefinementOutcome};
pub use tolerance::{Criterion, Tolerance, ToleranceSearch, fewest};
