//! The command `dpp-nystrom` and its library as a user calls them, with all the wrong things a user
//! may give them: each test judges the exit status and what is said, or the result against algebra
//! of its own.

mod auto;
mod bad_arguments;
mod bad_rows;
mod checkpoint;
mod command;
mod damaged_model;
mod dense;
mod diagnose;
mod evaluate;
mod experiment;
mod export;
mod export_c;
mod export_published;
mod fit;
mod fleet;
mod formats;
mod help;
#[cfg(unix)]
mod killed;
mod large;
mod library;
mod merged;
mod methods;
mod predict;
mod published;
mod refine;
mod sample;
mod select;
mod store;
mod stored_rows;
mod threads;
mod tolerance;
mod tune;
mod unchanged;
mod writing;
