//! The core against oracles that share no code with it; exact laws; golden runs.

mod assess;
mod cholesky;
mod conditioned;
mod detector;
mod drift;
mod exchange;
mod forged;
#[cfg(feature = "adapter")]
mod formats;
mod gamma;
#[cfg(feature = "adapter")]
mod golden;
mod kernels;
mod law;
mod learner;
mod long;
mod micromath;
mod model;
mod modules;
mod nystrom;
#[cfg(feature = "adapter")]
mod order;
mod precision;
mod quantised;
mod readme;
mod resume;
mod ridge;
#[cfg(feature = "adapter")]
mod slot_drift;
#[cfg(feature = "adapter")]
mod slot_law;
#[cfg(feature = "adapter")]
mod slot_resume;
#[cfg(feature = "adapter")]
mod slot_statistics;
#[cfg(feature = "adapter")]
mod slot_trace_identity;
#[cfg(feature = "adapter")]
mod slot_wiring;
mod starts;
mod state;
mod statistics;
mod storage;
mod stream_law;
mod stream_state;
mod stream_statistics;
#[cfg(feature = "adapter")]
mod stream_wiring;
mod swap_ratio;
mod targets;
mod trace_identity;
mod unread;
#[path = "../fuzz/src/uses.rs"]
mod uses;
mod window;
mod wiring;
