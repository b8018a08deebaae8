//! All selectors. Each is a value with its own parameters, which [`run`](crate::landmarks::run) runs on a
//! [`Task`](crate::landmarks::Task).

pub use crate::landmarks::methods::adaptive_full::AdaptiveFull;
pub use crate::landmarks::methods::adaptive_partial::AdaptivePartial;
pub use crate::landmarks::methods::approximate_leverage::ApproximateLeverage;
pub use crate::landmarks::methods::approximate_ridge_leverage::ApproximateRidgeLeverage;
pub use crate::landmarks::methods::auto::Auto;
pub use crate::landmarks::methods::column_norm::ColumnNorm;
pub use crate::landmarks::methods::diagonal::Diagonal;
pub use crate::landmarks::methods::exchanged::Exchanged;
pub use crate::landmarks::methods::given::Given;
pub use crate::landmarks::methods::greedy::Greedy;
pub use crate::landmarks::methods::kdpp::Kdpp;
pub use crate::landmarks::methods::kdpp_exact::KdppExact;
pub use crate::landmarks::methods::kmeans::Kmeans;
pub use crate::landmarks::methods::kmeans_plus_plus::KmeansPlusPlus;
pub use crate::landmarks::methods::kmeans_snapped::KmeansSnapped;
pub use crate::landmarks::methods::leverage::Leverage;
pub use crate::landmarks::methods::recursive_rls::RecursiveRls;
pub use crate::landmarks::methods::refined::Refined;
pub use crate::landmarks::methods::refined_ridge::RefinedRidge;
pub use crate::landmarks::methods::ridge_leverage::RidgeLeverage;
pub use crate::landmarks::methods::rpcholesky::RpCholesky;
pub use crate::landmarks::methods::uniform::Uniform;
