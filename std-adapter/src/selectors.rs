//! All selectors. Each is a value with its own parameters; [`run`](crate::landmarks::run) runs it on a
//! [`Task`](crate::landmarks::Task).

pub use crate::landmarks::methods::{
    auto::Auto, conditioned::Conditioned, exchanged::Exchanged, given::Given, greedy::Greedy, kdpp::Kdpp,
    kdpp_exact::KdppExact, kmeans::Kmeans, kmeans_plus_plus::KmeansPlusPlus, kmeans_snapped::KmeansSnapped,
    refined::Refined, refined_ridge::RefinedRidge, rpcholesky::RpCholesky, uniform::Uniform,
};
