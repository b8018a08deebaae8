//! Fuzz targets: every reader and decoder, predictions of any model, chains over any ground set.
//!
//! A target takes any bytes. It asserts more than that nothing panics: what is read is written and read again
//! alike, a model predicts finite numbers or says why not, an error leaves the state as it was. Lengths and
//! checksums are written over by right ones for all but one input in eight, so that what lies behind them is
//! reached.

#[cfg(feature = "adapter")]
mod adapter_seeds;
mod bytes;
mod chain;
#[cfg(test)]
mod changes;
#[cfg(feature = "adapter")]
mod checkpoint;
#[cfg(feature = "adapter")]
mod container;
#[cfg(feature = "adapter")]
mod fleet;
mod input;
#[cfg(feature = "adapter")]
mod model;
mod regression;
mod saved;
pub mod seeds;
mod slots;
#[cfg(feature = "adapter")]
mod store;
#[cfg(feature = "adapter")]
mod table;
#[cfg(feature = "adapter")]
mod taken;
mod uses;

use std::env;
use std::path::Path;
use std::process::exit;

/// A target: its name and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// The core's targets.
const CORE: [Target; 6] = [
    ("bytes", bytes::target),
    ("chain", chain::target),
    ("generator", saved::generator),
    ("regression", regression::target),
    ("saved", saved::target),
    ("slots", slots::target),
];

/// The adapter's targets.
#[cfg(feature = "adapter")]
const ADAPTER: [Target; 13] = [
    ("archive", container::archive),
    ("arff", table::arff),
    ("checkpoint", checkpoint::target),
    ("delimited", table::delimited),
    ("fleet", fleet::target),
    ("gzip", table::gzip),
    ("libsvm", table::libsvm),
    ("model", model::target),
    ("npy", table::npy),
    ("recipe", table::recipe),
    ("store", store::target),
    ("taken", taken::target),
    ("workbook", container::workbook),
];
#[cfg(not(feature = "adapter"))]
const ADAPTER: [Target; 0] = [];

/// Begin a process of libFuzzer. If FUZZ_SEEDS names a folder, it writes the seeds of all targets there
/// instead of fuzzing.
pub fn begin() {
    #[cfg(feature = "adapter")]
    input::one_thread();
    if let Some(folder) = env::var_os("FUZZ_SEEDS") {
        seeds::write(Path::new(&folder)).expect("a folder");
        exit(0);
    }
}

/// Run the target of a name on an input.
pub fn run(name: &str, data: &[u8]) {
    let (_, target) = CORE.iter().chain(&ADAPTER).find(|(other, _)| *other == name).expect("a target");
    target(data);
}
