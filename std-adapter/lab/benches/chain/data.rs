//! Rows of the published data sets, and generated ones.

use dpp_nystrom::Error;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom_core::{Random, Scalar};
use rand_core::Rng;
use std::path::{Path, PathBuf};

/// Names of the row sets on which errors are measured.
pub(crate) const NAMES: [&str; 3] = ["cal.housing-12000", "ailerons-4000", "ailerons-13750"];

/// Return the standardised rows of one of [`NAMES`]; print a note and return none if the file is missing.
pub(crate) fn named(name: &str) -> Result<Option<Prepared>, Error> {
    let Some((file, rows)) = name.rsplit_once('-') else { return Ok(None) };
    let folder = std::env::var_os("DPP_NYSTROM_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join(format!("{file}.arff"));
    if !path.exists() {
        println!("{name}: skipped, no {file}.arff in DPP_NYSTROM_DATA or in ../shared/data");
        return Ok(None);
    }
    Prepared::new(table::read(&path, &Target::Last)?, rows.parse().ok(), 0).map(Some)
}

/// Generate rows of independent features, uniform in [-1, 1).
pub(crate) fn generated<T: Scalar>(count: usize, dim: usize, seed: u64) -> Vec<T> {
    let mut random = Random::seeded(seed);
    let two = T::ONE + T::ONE;
    (0..count * dim).map(|_| two * T::from_draw(random.next_u32()) - T::ONE).collect()
}
