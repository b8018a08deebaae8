//! The atomics of a slot, for which the tests of all orders put loom's.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
