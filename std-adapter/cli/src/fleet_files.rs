//! The files of a fleet besides its states: keys, and the counters of the states that were merged.

use crate::error::Error;
use crate::output::{note, place, write_csv};
use dpp_nystrom::Error as LibraryError;
use dpp_nystrom::core::Origin;
use dpp_nystrom::regression::{Counters, Keys};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The counters of the states that were merged, in a file that no other merge reads or writes meanwhile.
pub(crate) struct Seen {
    path: PathBuf,
    counters: Counters,
    /// Locked as long as it is open.
    _lock: File,
}

impl Seen {
    /// Lock the file, waiting for merges that have it, and read it; a file that does not exist has no
    /// counters.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        // A link that leads nowhere is not a file that does not exist.
        let is_new = || fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
        if !is_new() {
            fs::metadata(path).map_err(|source| LibraryError::open(path, source))?;
        }
        let at = lock_of(path)?;
        let failed = |source| Error::Lock { path: at.clone(), source };
        // Another file, since the counters are replaced by a new file. It stays: who removes it may remove
        // that of another merge.
        let lock = File::options().create(true).truncate(false).write(true).open(&at).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                note(&format!("{}: waiting for another merge with these counters", path.display()));
                lock.lock().map_err(failed)?;
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        if is_new() {
            note(&format!(
                "{}: no such file, and so no counters yet: any state counts as new",
                path.display()
            ));
            return Ok(Self { path: path.to_owned(), counters: Counters::new(), _lock: lock });
        }
        let wrong = || Error::Pairs { path: path.to_owned(), second: "counter" };
        let number = |(device, counter): (u64, String)| Some((device, number(&counter)?));
        let counters =
            pairs(path, "counter")?.into_iter().map(number).collect::<Option<_>>().ok_or_else(wrong)?;
        Ok(Self { path: path.to_owned(), counters, _lock: lock })
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Note the counters of these states, and write the file.
    pub(crate) fn advance(&mut self, origins: &[Origin]) -> Result<(), Error> {
        for &Origin { device, counter } in origins {
            let last = self.counters.entry(device).or_default();
            *last = counter.max(*last);
        }
        let records = self.counters.iter().map(|(device, counter)| [device.to_string(), counter.to_string()]);
        Ok(write_csv(&self.path, &["device", "counter"], records)?)
    }
}

/// Return the file that is locked for these counters, one for all links to them.
pub(crate) fn lock_of(path: &Path) -> Result<PathBuf, Error> {
    let failed = |source| LibraryError::open(path, source);
    let mut name = place(path).map_err(failed)?.into_os_string();
    name.push(".lock");
    Ok(name.into())
}

/// Read a file of keys by device, each of which has its own.
pub(crate) fn keys_in(path: &Path) -> Result<Keys, Error> {
    let (mut keys, mut owners) = (Keys::new(), BTreeMap::new());
    for (device, text) in pairs(path, "key")? {
        let key = key_of(path, Some(device), &text)?;
        if let Some(other) = owners.insert(key, device) {
            return Err(Error::OneKey { path: path.to_owned(), device, other });
        }
        keys.insert(device, key);
    }
    Ok(keys)
}

/// Read a file with one key.
pub(crate) fn key_in(path: &Path) -> Result<[u8; 32], Error> {
    let text = fs::read_to_string(path).map_err(|source| LibraryError::open(path, source))?;
    key_of(path, None, text.trim())
}

fn key_of(path: &Path, device: Option<u64>, text: &str) -> Result<[u8; 32], Error> {
    // Not all that from_str_radix takes: it takes a sign.
    let digits = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect::<Option<Vec<_>>>();
    let bytes = digits.map(|digits| {
        digits.chunks(2).map(|pair| pair.iter().fold(0, |sum, digit| sum << 4 | digit)).collect()
    });
    let key = bytes.filter(|_| text.len() == 64).and_then(|bytes: Vec<u8>| bytes.try_into().ok());
    key.ok_or_else(|| Error::Key { path: path.to_owned(), device })
}

/// Parse digits, without a sign.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Read a CSV file with the column device and another, and one line for each device.
fn pairs(path: &Path, second: &'static str) -> Result<BTreeMap<u64, String>, Error> {
    let file = File::open(path).map_err(|source| LibraryError::open(path, source))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
    let wrong = || Error::Pairs { path: path.to_owned(), second };
    if reader.headers().map_err(|_| wrong())? != vec!["device", second] {
        return Err(wrong());
    }
    let mut pairs = BTreeMap::new();
    for record in reader.into_records() {
        let record = record.map_err(|_| wrong())?;
        let device = record.get(0).and_then(number).ok_or_else(wrong)?;
        match pairs.entry(device) {
            Entry::Vacant(slot) => slot.insert(record.get(1).ok_or_else(wrong)?.to_owned()),
            Entry::Occupied(_) => return Err(Error::TwoLines { path: path.to_owned(), device }),
        };
    }
    Ok(pairs)
}
