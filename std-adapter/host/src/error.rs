//! What can go wrong on a host.

use dpp_nystrom_core::Error as CoreError;
use std::{io, path::PathBuf};

/// An error of the host. The library words them for its users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Another error of the core.
    #[error("{0}")]
    Core(#[from] CoreError),
    /// Landmarks cannot be selected.
    #[error("landmarks: {0}")]
    Landmarks(#[source] CoreError),
    /// Out of memory.
    #[error("out of memory: {bytes} bytes needed")]
    Memory {
        /// Bytes needed.
        bytes: usize,
    },
    /// A file cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
