//! TODO-DOC

pub(crate) mod chain;
pub(crate) mod convergence;
pub(crate) mod exact_kdpp;
pub mod methods;
pub(crate) mod selection;
pub(crate) mod selector;
pub(crate) mod stopping;
pub(crate) mod swap_search;
pub(crate) mod tolerance;

pub use chain::{ChainKind, Method, Selection, Start, Steps, select, select_rows};
pub use exact_kdpp::{ExactKDpp, SizedKDpp};
pub use selection::{Choice, Chosen};
pub use selector::{About, Objective, Options, Selector, Task, run};
pub use swap_search::{Gain, Refinement};
pub use tolerance::{Criterion, Fewest, Tolerance, fewest};
