//! What a long fit has learned so far, on disk: a fit that is cut off goes on there.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppnyckp` |
//! | 8 to 11 | version, little-endian: 1 |
//! | 12 to 15 | CRC-32 of the content, little-endian |
//! | 16 on | the content, in postcard's format: what is fitted, the rounds done, and the accumulators' numbers |
//!
//! Accumulators are kept exactly, and rows are learned in the same order whether the fit was cut off or not, so the
//! model is the same bit for bit. A checkpoint is written under another name and then takes its own: whenever the
//! fit is killed, there is a whole one or none.

use crate::atomic_file::write_whole;
use crate::error::Error;
use crate::error::checkpoint::CheckpointProblem;
use crate::error::table::TableError;
use crate::regression::observer::FitObserver;
use crate::regression::ridge::Ridge;
use crate::regression::train::Setting;
use dpp_nystrom_core::RidgeRegression;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io};

const MAGIC: &[u8; 8] = b"dppnyckp";
const VERSION: u32 = 1;
const HEADER: usize = 16;

/// Where a fit leaves what it has learned, and how often.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    every: Duration,
    /// Rows that were not learned again.
    resumed: u64,
}

impl Checkpoint {
    /// In this file, so often at most. A file that is there already is gone on from.
    pub fn new(path: PathBuf, every: Duration) -> Self {
        Self { path, every, resumed: 0 }
    }

    /// Rows that an earlier run had learned.
    pub fn resumed(&self) -> u64 {
        self.resumed
    }

    /// Removes the file: the fit is done. Anything else that took its name by now stays, such as the model.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn remove(&self) -> Result<(), Error> {
        let mut magic = [0; MAGIC.len()];
        let read = File::open(&self.path).and_then(|mut file| file.read_exact(&mut magic));
        if read.is_err() || magic != *MAGIC {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Error::Write { path: self.path.clone(), source })
            }
            _ => Ok(()),
        }
    }

    /// For one fit.
    pub(crate) fn of(&mut self, key: Key) -> Kept<'_> {
        Kept { checkpoint: self, key, written: Instant::now() }
    }
}

/// What is fitted to what: a checkpoint of anything else is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Key {
    rows_checksum: u32,
    rows: u64,
    landmarks: u32,
    kernel: crate::kernel::kind::KernelKind,
    sigma: u64,
    single: bool,
    /// None where it is cross-validated.
    ridge: Option<u64>,
    seed: u64,
}

impl Key {
    pub(crate) fn new(
        rows_checksum: u32,
        rows: usize,
        landmarks: &[f64],
        ridge: Ridge,
        setting: Setting,
    ) -> Self {
        let Setting { kernel, precision, seed } = setting;
        Self {
            rows_checksum,
            rows: rows as u64,
            landmarks: crc32fast::hash(bytemuck::cast_slice(landmarks)),
            kernel: kernel.kind,
            sigma: kernel.sigma.to_bits(),
            single: precision == crate::kernel::precision::Precision::F32,
            ridge: match ridge {
                Ridge::Value(value) => Some(value.to_bits()),
                Ridge::CrossValidated => None,
            },
            seed,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Content {
    key: Key,
    rounds: u64,
    /// Rows and numbers of each accumulator.
    parts: Vec<(u64, Vec<f64>)>,
}

/// A checkpoint of one fit.
pub(crate) struct Kept<'c> {
    checkpoint: &'c mut Checkpoint,
    key: Key,
    written: Instant,
}

impl Kept<'_> {
    fn read(&self) -> Result<Option<Content>, Error> {
        let path = &self.checkpoint.path;
        let refuse = |problem| Error::Checkpoint { path: path.clone(), problem };
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(TableError::Open { path: path.clone(), source }.into()),
        };
        let failed = |source| TableError::Read { path: path.clone(), source };
        // A device without an end must not fill the memory.
        let mut bytes = Vec::new();
        file.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(failed)?;
        let Some(header) = bytes.first_chunk::<HEADER>() else {
            return Err(refuse(CheckpointProblem::Foreign));
        };
        let (words, _) = header.as_chunks::<4>();
        if !header.starts_with(MAGIC) {
            return Err(refuse(CheckpointProblem::Foreign));
        }
        let version = u32::from_le_bytes(words[2]);
        if version != VERSION {
            return Err(refuse(CheckpointProblem::Version(version)));
        }
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        if crc32fast::hash(&content) != u32::from_le_bytes(words[3]) {
            return Err(refuse(CheckpointProblem::Corrupt));
        }
        match postcard::take_from_bytes::<Content>(&content) {
            Ok((content, [])) if content.key == self.key => Ok(Some(content)),
            Ok((_, [])) => Err(refuse(CheckpointProblem::Another)),
            _ => Err(refuse(CheckpointProblem::Corrupt)),
        }
    }

    fn write(&self, rounds: usize, accumulators: &[RidgeRegression<'_, f64>]) -> Result<(), Error> {
        let numbers = |part: &RidgeRegression<'_, f64>| (part.rows(), part.numbers().collect());
        let parts = accumulators.iter().map(numbers).collect();
        let content = Content { key: self.key.clone(), rounds: rounds as u64, parts };
        let content = postcard::to_allocvec(&content).map_err(|_| Error::Memory { bytes: 0 })?;
        write_whole(&self.checkpoint.path, |file| {
            file.write_all(MAGIC)?;
            file.write_all(&VERSION.to_le_bytes())?;
            file.write_all(&crc32fast::hash(&content).to_le_bytes())?;
            file.write_all(&content)
        })
    }
}

impl FitObserver for Kept<'_> {
    fn resume(&mut self, accumulators: &mut [RidgeRegression<'_, f64>]) -> Result<usize, Error> {
        let Some(Content { rounds, parts, .. }) = self.read()? else { return Ok(0) };
        let corrupt =
            || Error::Checkpoint { path: self.checkpoint.path.clone(), problem: CheckpointProblem::Corrupt };
        let learned = parts.iter().try_fold(0_u64, |sum, (rows, _)| sum.checked_add(*rows));
        let learned = learned.filter(|&rows| rows.max(rounds) <= self.key.rows).ok_or_else(corrupt)?;
        if parts.len() != accumulators.len() {
            return Err(corrupt());
        }
        for (accumulator, (rows, numbers)) in accumulators.iter_mut().zip(&parts) {
            accumulator.restore(*rows, numbers).map_err(|_| corrupt())?;
        }
        self.checkpoint.resumed = learned;
        usize::try_from(rounds).map_err(|_| corrupt())
    }

    fn after_round(&mut self, rounds: usize, accumulators: &[RidgeRegression<'_, f64>]) -> Result<(), Error> {
        if self.written.elapsed() >= self.checkpoint.every {
            self.write(rounds, accumulators)?;
            self.written = Instant::now();
        }
        Ok(())
    }
}
