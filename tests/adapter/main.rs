//! The library against oracles, and with the core.

mod bounds;
mod classes;
mod conditioned;
mod confidence;
mod exact_law;
mod fleets;
mod properties;
mod rejection_law;
mod theory;
