//! The extension module of the Python package `dpp_nystrom`: arrays to calls of the library, results to
//! arrays.
//!
//! Arguments are checked in Python (`python/dpp_nystrom`), and again by the library. Arrays are borrowed;
//! work runs without the GIL, and a signal stops it at the next block ([`run`]).

mod arrays;
mod map;
mod model;
mod options;
mod run;
mod sums;
mod table;

/// What Python sees.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::map::{GramMap, Map, inclusion, sample_exact, select};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::sums::Sums;
    #[pymodule_export]
    use crate::table::{Reading, Recipe, column_names};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
