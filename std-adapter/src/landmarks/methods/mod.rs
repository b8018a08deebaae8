//! TODO-DOC

pub(crate) mod adaptive_full;
pub(crate) mod adaptive_partial;
pub(crate) mod approximate_leverage;
pub(crate) mod approximate_ridge_leverage;
pub(crate) mod auto;
pub(crate) mod column_norm;
pub(crate) mod diagonal;
pub(crate) mod draw;
pub(crate) mod given;
pub(crate) mod greedy;
pub(crate) mod kdpp;
pub(crate) mod kdpp_exact;
pub(crate) mod kmeans;
pub(crate) mod kmeans_plus_plus;
pub(crate) mod kmeans_snapped;
pub(crate) mod leverage;
pub(crate) mod lloyd;
pub(crate) mod recursive_rls;
pub(crate) mod refined;
pub(crate) mod refined_ridge;
pub(crate) mod ridge_leverage;
pub(crate) mod rpcholesky;
pub(crate) mod scores;
pub(crate) mod sketch;
#[cfg(test)]
mod tests;
pub(crate) mod uniform;

use crate::landmarks::selector::Selector;

/// The methods, in the order in which help lists them.
pub static METHODS: &[&dyn Selector] = &[
    &auto::Auto,
    &kdpp::Kdpp,
    &kdpp_exact::KdppExact,
    &uniform::Uniform,
    &kmeans_plus_plus::KmeansPlusPlus,
    &rpcholesky::RpCholesky,
    &greedy::Greedy,
    &diagonal::Diagonal,
    &column_norm::ColumnNorm,
    &leverage::Leverage,
    &ridge_leverage::RidgeLeverage,
    &approximate_leverage::ApproximateLeverage,
    &approximate_ridge_leverage::ApproximateRidgeLeverage,
    &adaptive_full::AdaptiveFull,
    &adaptive_partial::AdaptivePartial,
    &recursive_rls::RecursiveRls,
    &refined::RefinedRows,
    &refined_ridge::RefinedRidge,
    &kmeans::Kmeans,
    &kmeans_snapped::KmeansSnapped,
    &given::Given,
];

/// The method of this name.
///
/// ```
/// use dpp_nystrom::landmarks;
///
/// assert!(methods::find("rpcholesky").is_some());
/// assert!(methods::find("magic").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static dyn Selector> {
    METHODS.iter().copied().find(|method| method.name() == name)
}
