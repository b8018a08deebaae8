//! Sums of devices: which are accepted, for how many rows they count, and their merge.

pub(crate) mod admission;
pub(crate) mod influence;
pub(crate) mod merge;
pub(crate) mod outliers;
pub(crate) mod received;
