//! What can go wrong.

use dpp_nystrom::{Error as LibraryError, data::table::FORMATS};
use std::{io, path::PathBuf};

/// An error of a figure or an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A chart that could not be drawn.
    #[error("cannot draw the chart: {0}")]
    Picture(String),
    /// A folder that cannot be listed.
    #[error("{}: {source}; give a folder of data files", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A folder without data sets.
    #[error("{}: no data set in this folder; give a folder of {FORMATS} files", .0.display())]
    NoDataSet(PathBuf),
}

impl From<dpp_nystrom_host::Error> for Error {
    fn from(error: dpp_nystrom_host::Error) -> Self {
        Self::Library(error.into())
    }
}
