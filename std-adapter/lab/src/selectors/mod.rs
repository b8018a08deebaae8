//! Selectors to compare with: leverage scores, adaptive sampling, column norms, greedy and pivoted selection
//! on the whole kernel matrix.
//!
//! | method | selects | kernel evaluations | numbers held | source |
//! | --- | --- | --- | --- | --- |
//! | `diagonal` | rows by `k(i, i)` | N | N + c² | Drineas, Mahoney 2005 |
//! | `column-norm` | rows by `‖K_i‖²` | N² | N + c² | Drineas, Kannan, Mahoney 2006 |
//! | `lev` | rows by leverage score | N² | 2 N² | Gittens, Mahoney 2013 |
//! | `reglev` | rows by ridge leverage score | N² | 2 N² | Alaoui, Mahoney 2015 |
//! | `applev` | as `lev`, scores from 4 c columns | N p | N p | Li, Jegelka, Sra 2016, §6.4 |
//! | `appreglev` | as `reglev`, scores from 4 c columns | N p | N p | Alaoui, Mahoney 2015 |
//! | `adapfull` | rows by the residual of K's columns | N² | N² | Deshpande, Rademacher, Vempala, Wang 2006 |
//! | `adappart` | rows by the residual of the selected columns | N c | N c | Kumar, Mohri, Talwalkar 2012 |
//! | `recursive-rls` | ridge leverage scores, by halving | about 2 N c | N + c² | Musco, Musco 2017, Algorithm 3 |
//! | `greedy-nuclear` | the row that decreases the trace error most next | N² | 2 N² | Fornace, Lindsey 2024 |
//! | `arp` | rows by volume on the c leading eigenvectors | N² | 2 N² | Cortinovis, Kressner 2024 |
//!
//! Methods that store N² numbers return an error above
//! [`SPECTRUM_ROWS`](dpp_nystrom::approximation::SPECTRUM_ROWS) rows. The error names a method that accepts
//! more rows.
//!
//! All draw by [`Task::draw`](dpp_nystrom::landmarks::Task::draw), without replacement. The sources of `lev`,
//! `reglev` and `column-norm` draw with replacement, as their proofs require; the experiments of the c-DPP
//! paper and of this crate compare sets of c distinct rows.

mod adaptive_full;
mod adaptive_partial;
mod approximate_leverage;
mod approximate_ridge_leverage;
mod arp;
mod column_norm;
mod diagonal;
mod greedy_nuclear;
mod leverage;
mod recursive_rls;
mod ridge_leverage;
mod scores;
mod sketch;

#[cfg(test)]
mod tests;

use dpp_nystrom::landmarks::methods::{METHODS as OF_LIBRARY, Method};

pub use adaptive_full::AdaptiveFull;
pub use adaptive_partial::AdaptivePartial;
pub use approximate_leverage::ApproximateLeverage;
pub use approximate_ridge_leverage::ApproximateRidgeLeverage;
pub use arp::Arp;
pub use column_norm::ColumnNorm;
pub use diagonal::Diagonal;
pub use greedy_nuclear::GreedyNuclear;
pub use leverage::Leverage;
pub use recursive_rls::RecursiveRls;
pub use ridge_leverage::RidgeLeverage;

/// The methods of this crate, in the order of the help.
pub static METHODS: &[Method] = &[
    Method::new("diagonal", "Rows in proportion to k(i, i)", &[], |_| Box::new(Diagonal)),
    Method::new("column-norm", "Rows in proportion to the squared norm of their column of K", &[], |_| {
        Box::new(ColumnNorm)
    }),
    Method::new("lev", "Rows by leverage score of the best space of rank c", &[], |_| {
        Box::new(Leverage::default())
    }),
    Method::new("reglev", "Rows by ridge leverage score, exact", &[], |_| Box::new(RidgeLeverage)),
    Method::new("applev", "As lev, with scores from a sample of columns", &[], |_| {
        Box::new(ApproximateLeverage::default())
    }),
    Method::new("appreglev", "As reglev, with scores from a sample of columns", &[], |_| {
        Box::new(ApproximateRidgeLeverage::default())
    }),
    Method::new(
        "adapfull",
        "Rows in proportion to the residual norms of their columns of K, one by one",
        &[],
        |_| Box::new(AdaptiveFull),
    ),
    Method::new("adappart", "As adapfull, from the columns chosen alone, in ten rounds", &[], |_| {
        Box::new(AdaptivePartial)
    }),
    Method::new(
        "recursive-rls",
        "Ridge leverage scores estimated on halves of the rows, recursively",
        &[],
        |_| Box::new(RecursiveRls),
    ),
    Method::new("greedy-nuclear", "The row that lowers the trace error most next, among all", &[], |_| {
        Box::new(GreedyNuclear)
    }),
    Method::new(
        "arp",
        "Adaptive randomised pivoting: rows by volume on the c leading eigenvectors",
        &[],
        |_| Box::new(Arp),
    ),
];

/// Return all methods: those of the library, then those of this crate.
pub fn methods() -> impl Iterator<Item = &'static Method> {
    OF_LIBRARY.iter().chain(METHODS)
}

/// Return the method of this name, of the library or of this crate.
///
/// ```
/// assert!(dpp_nystrom_lab::selectors::find("rpcholesky").is_some());
/// assert!(dpp_nystrom_lab::selectors::find("lev").is_some());
/// ```
pub fn find(name: &str) -> Option<&'static Method> {
    methods().find(|method| method.name == name)
}
