//! Parts of an experiment, one file each, reused if the set-up is the same.

use crate::error::Error;
use dpp_nystrom::{Error as LibraryError, data::table::Table};
use dpp_nystrom_host::atomic_file::write_whole;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) struct Parts {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Part {
    setup: Value,
    result: Value,
}

impl Parts {
    /// Create the folders.
    pub(super) fn new(out: &Path) -> Result<Self, Error> {
        let folder = out.join("parts");
        fs::create_dir_all(&folder).map_err(|source| LibraryError::write(&folder, source))?;
        Ok(Self { folder })
    }

    /// Return the stored result of a part with the same set-up, or else compute it with `work` and store it.
    /// Also return whether it was stored.
    pub(super) fn get<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        setup: &impl Serialize,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<(T, bool), Error> {
        let path = self.folder.join(format!("{}.json", safe(name)));
        let fail = |error: serde_json::Error| LibraryError::write(&path, error.into());
        let setup = serde_json::to_value(setup).map_err(fail)?;
        if let Ok(text) = fs::read(&path)
            && let Ok(part) = serde_json::from_slice::<Part>(&text)
            && part.setup == setup
            && let Ok(result) = serde_json::from_value(part.result)
        {
            return Ok((result, true));
        }
        let result = work()?;
        let part = Part { setup, result: serde_json::to_value(&result).map_err(fail)? };
        let text = serde_json::to_vec(&part).map_err(fail)?;
        write_whole(&path, |file| file.write_all(&text))?;
        Ok((result, false))
    }
}

/// Return a name that is valid on any file system.
fn safe(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-._".contains(c) { c } else { '_' }).collect()
}

/// Return a digest of a table.
pub(super) fn digest(table: &Table) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&table.dim.to_le_bytes());
    for value in table.features.iter().chain(table.target.iter().flatten()) {
        hasher.update(&value.to_le_bytes());
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn a_part_is_done_once_for_each_set_up_and_again_when_its_file_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let parts = Parts::new(folder.path()).unwrap();
        let get = |setup: u32, result: f64| parts.get("a/part", &setup, || Ok(result)).unwrap();
        assert_eq!(get(1, 0.1), (0.1, false));
        assert_eq!(get(1, 0.2), (0.1, true));
        assert_eq!(get(2, 0.2), (0.2, false));
        assert_eq!(get(1, 0.3), (0.3, false));
        let file = folder.path().join("parts").join("a_part.json");
        std::fs::write(file, "{\"setup\":1,").unwrap();
        assert_eq!(get(1, 0.4), (0.4, false));
        assert_eq!(get(1, 0.5), (0.4, true));
    }
}
