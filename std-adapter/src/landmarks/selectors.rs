//! All selectors. Each is a value with its own parameters; [`run`](crate::landmarks::run) runs it on a
//! [`Task`](crate::landmarks::Task).

pub use crate::landmarks::methods::{
    adaptive_full::AdaptiveFull, adaptive_partial::AdaptivePartial,
    approximate_leverage::ApproximateLeverage, approximate_ridge_leverage::ApproximateRidgeLeverage,
    auto::Auto, column_norm::ColumnNorm, diagonal::Diagonal, exchanged::Exchanged, given::Given,
    greedy::Greedy, kdpp::Kdpp, kdpp_exact::KdppExact, kmeans::Kmeans, kmeans_plus_plus::KmeansPlusPlus,
    kmeans_snapped::KmeansSnapped, leverage::Leverage, recursive_rls::RecursiveRls, refined::Refined,
    refined_ridge::RefinedRidge, ridge_leverage::RidgeLeverage, rpcholesky::RpCholesky, uniform::Uniform,
};
