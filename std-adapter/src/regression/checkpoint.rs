//! Checkpoints of a long fit on disk, from which an interrupted fit resumes.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppnyckp` |
//! | 8 to 11 | version, little-endian: 1 |
//! | 12 to 15 | CRC-32 of the content, little-endian |
//! | 16 on | the content, in postcard's format: the fit's key, the completed rounds, and the accumulators' values |
//!
//! Accumulators are stored exactly, and rows are processed in the same order in a resumed fit, so the model is the same
//! bit for bit. A checkpoint is written to a temporary file and then renamed, so that a killed fit leaves either a
//! complete checkpoint or none.

use crate::atomic_file::write_whole;
use crate::data::source::RowSource;
use crate::error::{
    Error,
    checkpoint::CheckpointProblem,
    table::{TableError, TableProblem},
};
use crate::framed_file::{Frame, FrameProblem, Length};
use crate::kernel::{kind::KernelKind, precision::Precision};
use crate::regression::{accumulator::Accumulator, params::FitParams, ridge::Ridge};
use dpp_nystrom_core::RidgeRegression;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io};

const FRAME: Frame =
    Frame { magic: b"dppnyckp", version: 1, latest: 1, length: Length::None, followed: false };

/// More than the bytes of a [`Key`] and of the number of rounds and parts, and the numbers that as many bytes as those of the
/// lengths of a part make.
const KEY: usize = 256;
const LENGTHS: usize = 4;

/// Where a fit writes its checkpoint, and how often.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    every: Duration,
    /// Rows restored from the checkpoint.
    resumed: u64,
}

impl Checkpoint {
    /// Write to this file, at most once per interval. A fit resumes from an existing file.
    pub fn new(path: PathBuf, every: Duration) -> Self {
        Self { path, every, resumed: 0 }
    }

    /// Return the number of rows restored from an earlier run.
    pub fn resumed(&self) -> u64 {
        self.resumed
    }

    /// Remove the file after a completed fit. Any other file that has taken its name, such as the model, is kept.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn remove(&self) -> Result<(), Error> {
        let mut magic = [0; 8];
        let read = File::open(&self.path).and_then(|mut file| file.read_exact(&mut magic));
        if read.is_err() || magic != *FRAME.magic {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Error::Write { path: self.path.clone(), source })
            }
            _ => Ok(()),
        }
    }
}

/// The identity of a fit: a checkpoint with another key is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    rows_checksum: u32,
    rows: u64,
    landmarks: u32,
    kernel: KernelKind,
    sigma: u64,
    single: bool,
    /// The bits of the ridge; `None` if it is cross-validated.
    ridge: Option<u64>,
    seed: u64,
}

#[derive(Serialize, Deserialize)]
struct Content {
    key: Key,
    rounds: u64,
    parts: Vec<Accumulator<f64>>,
}

/// What a fit does between rounds of rows: check the source, write a checkpoint. By default nothing.
#[derive(Default)]
pub(crate) struct Rounds<'s> {
    source: Option<&'s dyn RowSource>,
    checkpoint: Option<Kept<'s>>,
}

impl<'s> Rounds<'s> {
    /// Check this source and write this checkpoint, which belongs to the fit with these landmarks and parameters.
    pub(crate) fn new(
        source: &'s dyn RowSource,
        checkpoint: Option<&'s mut Checkpoint>,
        landmarks: &[f64],
        params: FitParams,
    ) -> Self {
        let FitParams { kernel, ridge, precision, seed } = params;
        let key = || Key {
            rows_checksum: source.checksum(),
            rows: source.len() as u64,
            landmarks: crc32fast::hash(bytemuck::cast_slice(landmarks)),
            kernel: kernel.kind,
            sigma: kernel.sigma.to_bits(),
            single: precision == Precision::F32,
            ridge: match ridge {
                Ridge::Value(value) => Some(value.to_bits()),
                Ridge::CrossValidated => None,
                // NaN, which is no ridge.
                Ridge::LeaveOneOut => Some(u64::MAX),
            },
            seed,
        };
        let kept = |checkpoint| Kept { checkpoint, key: key(), written: Instant::now() };
        Self { source: Some(source), checkpoint: checkpoint.map(kept) }
    }

    /// Restore the state of an earlier run and return the number of completed rounds, after which `seen` rows must be
    /// accumulated.
    pub(crate) fn resume(
        &mut self,
        accumulators: &mut [RidgeRegression<'_, f64>],
        seen: impl Fn(usize) -> usize,
    ) -> Result<usize, Error> {
        let Some(kept) = &mut self.checkpoint else { return Ok(0) };
        let numbers = accumulators
            .iter()
            .map(|part| RidgeRegression::<f64>::numbers_kept_of(part.features(), part.targets()) + LENGTHS);
        let most = (numbers.sum::<usize>() * size_of::<f64>() + KEY) as u64;
        let Some(Content { rounds, parts, .. }) = kept.read(most)? else { return Ok(0) };
        let corrupt =
            || Error::Checkpoint { path: kept.checkpoint.path.clone(), problem: CheckpointProblem::Corrupt };
        let rows = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.rows()));
        let rows = rows.filter(|&rows| rows.max(rounds) <= kept.key.rows).ok_or_else(corrupt)?;
        if parts.len() != accumulators.len() {
            return Err(corrupt());
        }
        for (accumulator, part) in accumulators.iter_mut().zip(&parts) {
            part.restore(accumulator).map_err(|_| corrupt())?;
        }
        let rounds = usize::try_from(rounds).map_err(|_| corrupt())?;
        if rows != seen(rounds) as u64 {
            return Err(corrupt());
        }
        kept.checkpoint.resumed = rows;
        Ok(rounds)
    }

    /// Check the source, and write the state after this number of rounds if the interval has passed.
    pub(crate) fn after_round(
        &mut self,
        rounds: usize,
        accumulators: &[RidgeRegression<'_, f64>],
    ) -> Result<(), Error> {
        if let Some(source) = self.source {
            source.check()?;
        }
        match &mut self.checkpoint {
            Some(kept) if kept.written.elapsed() >= kept.checkpoint.every => {
                kept.write(rounds, accumulators)?;
                kept.written = Instant::now();
            }
            _ => {}
        }
        Ok(())
    }
}

/// The checkpoint of one fit.
struct Kept<'c> {
    checkpoint: &'c mut Checkpoint,
    key: Key,
    written: Instant,
}

impl Kept<'_> {
    /// Read a checkpoint of at most this many bytes.
    fn read(&self, most: u64) -> Result<Option<Content>, Error> {
        let path = &self.checkpoint.path;
        let refuse = |problem| Error::Checkpoint { path: path.clone(), problem };
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(TableError::new(path, TableProblem::Open(source)).into()),
        };
        let failed = |source| TableError::new(path, TableProblem::Read(source));
        let (_, content) = FRAME.read(&mut file, most).map_err(failed)?.map_err(|problem| {
            refuse(match problem {
                // The content has no length that could be too short for it: the header is.
                FrameProblem::Foreign | FrameProblem::Truncated => CheckpointProblem::Foreign,
                FrameProblem::Version(version) => CheckpointProblem::Version(version),
                // Than one of this fit can be.
                FrameProblem::Longer => CheckpointProblem::Another,
                FrameProblem::Corrupt => CheckpointProblem::Corrupt,
            })
        })?;
        match postcard::take_from_bytes::<Content>(&content) {
            Ok((content, [])) if content.key == self.key => Ok(Some(content)),
            Ok((_, [])) => Err(refuse(CheckpointProblem::Another)),
            _ => Err(refuse(CheckpointProblem::Corrupt)),
        }
    }

    fn write(&self, rounds: usize, accumulators: &[RidgeRegression<'_, f64>]) -> Result<(), Error> {
        let parts = accumulators.iter().map(Accumulator::of).collect();
        let content = Content { key: self.key.clone(), rounds: rounds as u64, parts };
        let content = postcard::to_allocvec(&content).map_err(|_| Error::Memory { bytes: 0 })?;
        write_whole(&self.checkpoint.path, |file| FRAME.write(file, &content))
    }
}
