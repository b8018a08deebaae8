//! The command `dpp-nystrom` and its library, called as by a user, including with invalid input: each
//! test checks the exit status and the message, or compares the result with an independent
//! computation.

mod auto;
mod bad_arguments;
mod bad_rows;
mod checkpoint;
mod classes;
mod command;
#[cfg(unix)]
mod containers;
#[cfg(unix)]
mod crash_safety;
mod damaged_model;
mod dense;
mod diagnose;
mod evaluate;
mod experiment;
mod export;
mod export_c;
#[cfg(unix)]
mod export_package;
mod export_published;
mod face;
mod fit;
mod fleet;
mod formats;
mod help;
#[cfg(target_os = "linux")]
mod hostile;
mod large;
mod library;
mod manual;
mod merged;
mod methods;
mod metric;
mod precomputed;
mod predict;
#[cfg(target_os = "linux")]
mod progress;
mod published;
mod refine;
#[cfg(target_os = "linux")]
mod report;
mod sample;
mod select;
mod store;
mod stored_rows;
mod tables;
mod taken;
mod threads;
mod tolerance;
mod transform;
mod tune;
mod unchanged;
mod weights;
mod writing;
