//! What `dpp-nystrom` needs of a desktop or a server: heap memory for the core's algorithms, SIMD lanes,
//! random generators by purpose, threads, and files that are replaced as a whole.
//!
//! It is an internal package of the workspace: it changes with the library, which makes no promise of it.

pub mod atomic_file;
pub mod elimination;
pub mod error;
pub mod heap;
pub mod rng;
pub mod simd;
pub mod threads;

pub use error::Error;
