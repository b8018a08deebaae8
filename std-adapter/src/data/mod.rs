//! Where rows come from: tables, memory, row stores; and how they are scaled.

pub(crate) mod borrowed;
pub(crate) mod columns;
pub(crate) mod dataset;
pub(crate) mod map;
pub(crate) mod moments;
pub(crate) mod prepared;
pub(crate) mod scaler;
pub(crate) mod source;
pub mod store;
pub mod table;
pub(crate) mod targets;
pub(crate) mod value;
pub(crate) mod weights;

pub use columns::{ClassIndices, Classes, Columns, RowSlices, TargetColumn, Targets};
pub use dataset::Source;
pub use map::Map;
pub use moments::Moments;
pub use prepared::{Prepared, StandardTarget};
pub use scaler::Scaler;
pub use source::{Order, Partition, RowSource};
pub use value::Value;
