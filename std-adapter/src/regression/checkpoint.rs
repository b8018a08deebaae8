//! Checkpoints of a long fit on disk, from which an interrupted fit resumes.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppnyckp` |
//! | 8 to 11 | version, little-endian: 2 |
//! | 12 to 15 | CRC-32 of the content, little-endian |
//! | 16 on | the content, in postcard's format: the fit's key, the completed rounds, and the accumulators' values |
//!
//! Accumulators are stored exactly, and rows are processed in the same order in a resumed fit, so the model
//! is the same bit for bit. A checkpoint is written to a temporary file and then renamed, so that a killed
//! fit leaves either a complete checkpoint or none.
//!
//! A [`Key`] is made of what the regression itself takes, and not of the options that led to it: whatever
//! changes rows, targets, partition, landmarks or kernel changes the key, however it came about. Version 1
//! did not know the partition, and is refused.

use crate::data::source::RowSource;
use crate::error::{
    Cause, Error,
    checkpoint::CheckpointProblem,
    table::{TableError, TableProblem},
};
use crate::framed_file::{Frame, FrameProblem, Length};
use crate::kernel::precision::Precision;
use crate::kernel::spec::KernelSpec;
use crate::regression::{
    params::FitParams, ridge::Ridge, rows::accumulator::Accumulator, rows::folds::Deal, rows::input::Input,
};
use dpp_nystrom_core::{RidgeRegression, Scalar};
use dpp_nystrom_host::atomic_file::write_whole;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io};

const FRAME: Frame =
    Frame { magic: b"dppnyckp", version: 2, latest: 2, length: Length::None, followed: false };

/// More than the bytes of a [`Key`] and of the number of rounds and parts, and the numbers that as many bytes
/// as those of the lengths of a part make.
const KEY: usize = 256;
const LENGTHS: usize = 4;

/// Where a fit writes its checkpoint, and how often.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, fit};
/// use dpp_nystrom::regression::Checkpoint;
/// use dpp_nystrom::{Dataset, Scale, kernel::KernelParams, observer::NoObserver};
/// use std::time::Duration;
///
/// let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("waves.checkpoint");
/// let mut checkpoint = Checkpoint::new(path.clone(), Duration::from_secs(60));
/// let params = Params { landmarks: Landmarks::Count(8), kernel: KernelParams::default(), ..Params::default() };
/// fit(data.source(Scale::Standard)?.as_rows(), &params, Some(&mut checkpoint), &NoObserver)?;
/// assert_eq!(checkpoint.resumed(), 0); // rows that an earlier run had done
/// checkpoint.remove()?;
/// assert!(!path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    /// Remove the file after a completed fit. Any other file that has taken its name, such as the model, is
    /// kept.
    ///
    /// # Errors
    /// `ErrorKind::File`.
    pub fn remove(&self) -> Result<(), Error> {
        let mut magic = [0; 8];
        let read = File::open(&self.path).and_then(|mut file| file.read_exact(&mut magic));
        if read.is_err() || magic != *FRAME.magic {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Error(Cause::Write { path: self.path.clone(), source }))
            }
            _ => Ok(()),
        }
    }
}

/// What decides a regression, in the order in which a difference is told.
const PARTS: [&str; 9] = [
    "version of the program",
    "rows or targets",
    "weights",
    "folds: by rows, classes, groups or time, and which are left out",
    "precision",
    "kernel or bandwidth",
    "landmarks",
    "ridge",
    "seed",
];

/// The identity of a regression: a CRC-32 of each of the [`PARTS`]. A checkpoint with another key is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Key([u32; PARTS.len()]);

impl Key {
    /// `calibrated` is whether the head is. Nothing is left out by `..` here: what a regression takes besides
    /// must be given a place before this compiles. With the ridge given, the parts are folds only if some are
    /// `left_out`.
    fn of<T: Scalar>(
        source: &dyn RowSource,
        input: &Input<'_, T>,
        params: FitParams,
        (calibrated, left_out): (bool, &[u8]),
    ) -> Self {
        let FitParams { kernel: KernelSpec { kind, sigma }, ridge, precision, seed } = params;
        // The source's checksum is that of its rows and targets; the kernel is that of the parameters.
        let Input { rows: _, dim, targets, weights, deal, landmarks, kernel: _ } = input;
        let folds = match deal {
            Deal::Rows => (0, 0),
            // Which class a row has is among the targets, and its weight is below.
            Deal::Classes(_) => (1, 0),
            Deal::Groups(groups, _) => (2, crc32fast::hash(bytemuck::cast_slice(groups))),
            Deal::Time => (3, 0),
        };
        let ridge = match ridge {
            Ridge::Value(value) => (0, value.to_bits()),
            Ridge::CrossValidated => (1, 0),
            Ridge::LeaveOneOut => (2, 0),
        };
        let landmarks = landmarks.iter().flat_map(|value| value.to_f64().to_le_bytes());
        Self([
            digest(&env!("CARGO_PKG_VERSION")),
            digest(&(source.checksum(), source.len(), dim, targets.outputs())),
            digest(&weights.0),
            digest(&(folds, calibrated, left_out)),
            digest(&(precision == Precision::F32)),
            digest(&(kind, sigma)),
            crc32fast::hash(&landmarks.collect::<Vec<_>>()),
            digest(&ridge),
            digest(&seed),
        ])
    }

    /// Return which part differs first, if any does.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let parts = self.0.iter().zip(other.0).zip(PARTS);
        parts.into_iter().find(|((own, other), _)| *own != other).map(|(_, part)| part)
    }
}

/// Return the CRC-32 of a value in postcard's format.
fn digest(value: &impl Serialize) -> u32 {
    let bytes = postcard::to_allocvec(value);
    debug_assert!(bytes.is_ok(), "a vector takes any bytes");
    crc32fast::hash(&bytes.unwrap_or_default())
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
    /// Check this source and write this checkpoint, which belongs to the regression of this input of the
    /// source with a head that is calibrated or not, and to those without each of the folds `left_out`.
    pub(crate) fn new<T: Scalar>(
        source: &'s dyn RowSource,
        checkpoint: Option<&'s mut Checkpoint>,
        input: &Input<'_, T>,
        params: FitParams,
        (calibrated, left_out): (bool, &[u8]),
    ) -> Self {
        let key = || Key::of(source, input, params, (calibrated, left_out));
        let kept = |checkpoint| Kept { checkpoint, key: key(), written: Instant::now() };
        Self { source: Some(source), checkpoint: checkpoint.map(kept) }
    }

    /// Whether there is a checkpoint.
    pub(crate) fn is_kept(&self) -> bool {
        self.checkpoint.is_some()
    }

    /// Restore the state of an earlier run and return the number of completed rounds, after which `seen` rows
    /// must be accumulated.
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
        let corrupt = || {
            Error(Cause::Checkpoint {
                path: kept.checkpoint.path.clone(),
                problem: CheckpointProblem::Corrupt,
            })
        };
        let rows = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.rows()));
        // As many rounds as rows are the most that there can be: each has one.
        let rounds = usize::try_from(rounds).ok().filter(|&rounds| rounds <= seen(usize::MAX));
        let (rows, rounds) = rows.zip(rounds).ok_or_else(corrupt)?;
        if parts.len() != accumulators.len() || rows != seen(rounds) as u64 {
            return Err(corrupt());
        }
        for (accumulator, part) in accumulators.iter_mut().zip(&parts) {
            part.restore(accumulator).map_err(|_| corrupt())?;
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
        let refuse = |problem| Error(Cause::Checkpoint { path: path.clone(), problem });
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
                FrameProblem::Longer => CheckpointProblem::Another { differs: "landmarks, targets or ridge" },
                FrameProblem::Corrupt => CheckpointProblem::Corrupt,
            })
        })?;
        match postcard::take_from_bytes::<Content>(&content) {
            Ok((content, [])) => match self.key.difference(&content.key) {
                None => Ok(Some(content)),
                Some(differs) => Err(refuse(CheckpointProblem::Another { differs })),
            },
            _ => Err(refuse(CheckpointProblem::Corrupt)),
        }
    }

    fn write(&self, rounds: usize, accumulators: &[RidgeRegression<'_, f64>]) -> Result<(), Error> {
        let parts = accumulators.iter().map(Accumulator::of).collect::<Result<_, _>>()?;
        let content = Content { key: self.key.clone(), rounds: rounds as u64, parts };
        let content = postcard::to_allocvec(&content).map_err(|_| Error(Cause::Memory { bytes: 0 }))?;
        Ok(write_whole(&self.checkpoint.path, |file| FRAME.write(file, &content))?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Checkpoint, Kept, Key, Rounds};
    use crate::approximation::landmark_set::LandmarkSet;
    use crate::data::{prepared::Prepared, table::Table};
    use crate::error::{Cause, Error, ErrorKind, checkpoint::CheckpointProblem};
    use crate::kernel::{kind::KernelKind, precision::Precision, spec::KernelSpec};
    use crate::observer::NoObserver;
    use crate::regression::{
        fit::Apart, fit::fit_without, params::FitParams, ridge::Ridge, rows::input::Input,
    };
    use dpp_nystrom_host::heap::RidgeHeap;
    use std::time::{Duration, Instant};

    const PARAMS: FitParams = FitParams {
        kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 },
        ridge: Ridge::Value(1e-3),
        precision: Precision::F64,
        seed: 1,
    };

    /// Rows of one feature.
    fn data(rows: usize) -> Prepared {
        let features: Vec<f64> = (0..rows).map(|row| row as f64).collect();
        let table = Table {
            name: "rows".into(),
            feature_names: vec!["x".into()],
            dim: 1,
            target: Some(features.iter().map(|x| x.sin()).collect()),
            features,
            target_name: Some("y".into()),
            weights: None,
        };
        Prepared::new(table, None, 1).unwrap()
    }

    /// With the ridge given the parts are folds if some are left out, and ranges of the rows otherwise: ten
    /// of either here.
    #[test]
    fn parts_that_are_folds_are_not_resumed_as_ranges() {
        const ROWS: usize = 2_000;
        let (data, landmark) = (data(ROWS), LandmarkSet::Points(vec![0.5]));
        let folder = tempfile::tempdir().unwrap();
        for (first, second) in [(&[][..], &[9][..]), (&[9], &[])] {
            let path = folder.path().join(format!("{first:?}"));
            let learn = |left_out: &[u8]| {
                let mut checkpoint = Checkpoint::new(path.clone(), Duration::ZERO);
                let apart = Apart { folds: left_out, judged: None };
                fit_without(&data, &landmark, PARAMS, apart, Some(&mut checkpoint), &NoObserver)
                    .map(|_| checkpoint.resumed())
            };
            assert_eq!(learn(first).unwrap(), 0);
            assert_eq!(learn(first).unwrap(), ROWS as u64);
            let found = learn(second);
            let problem = match &found {
                Err(Error(Cause::Checkpoint { problem, .. })) => problem,
                _ => panic!("{found:?}"),
            };
            assert!(matches!(problem, CheckpointProblem::Another { .. }), "{problem}");
        }
    }

    /// What has taken the name of a checkpoint is kept.
    #[test]
    fn nothing_but_a_checkpoint_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        let mut checkpoint = Checkpoint::new(path.clone(), Duration::ZERO);
        let (data, landmark) = (data(40), LandmarkSet::Points(vec![0.5]));
        let apart = Apart { folds: &[], judged: None };
        fit_without(&data, &landmark, PARAMS, apart, Some(&mut checkpoint), &NoObserver).unwrap();
        assert!(path.exists());
        checkpoint.remove().unwrap();
        assert!(!path.exists());
        checkpoint.remove().unwrap();
        for other in [&b"a model, or any other file"[..], b"short"] {
            std::fs::write(&path, other).unwrap();
            checkpoint.remove().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), other);
        }
    }

    /// A checkpoint is written when the interval has passed, and not before.
    #[test]
    fn a_checkpoint_waits_for_its_interval() {
        let data = data(10);
        let input = Input::of(&data, &data.rows, &[0.5, -0.5], PARAMS.kernel).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (name, every, expected) in
            [("now", Duration::ZERO, true), ("late", Duration::from_secs(3_600), false)]
        {
            let path = folder.path().join(name);
            let mut checkpoint = Checkpoint::new(path.clone(), every);
            let mut heap = RidgeHeap::new(2).unwrap();
            let accumulators = [heap.regression(2, 1).unwrap()];
            let mut rounds = Rounds::new(&data, Some(&mut checkpoint), &input, PARAMS, (false, &[]));
            assert!(rounds.is_kept() && !Rounds::default().is_kept());
            rounds.after_round(1, &accumulators).unwrap();
            assert_eq!(path.exists(), expected, "{name}");
        }
    }

    /// A fit begins anew without a checkpoint, but not with one that it cannot open.
    #[test]
    fn a_checkpoint_that_cannot_be_opened_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let (data, landmark) = (data(40), LandmarkSet::Points(vec![0.5]));
        let learn = |path: &str| {
            let mut checkpoint = Checkpoint::new(folder.path().join(path), Duration::from_secs(3_600));
            let apart = Apart { folds: &[], judged: None };
            fit_without(&data, &landmark, PARAMS, apart, Some(&mut checkpoint), &NoObserver).map(|_| ())
        };
        learn("none").unwrap();
        assert_eq!(learn("file/c").unwrap_err().kind(), ErrorKind::File);
    }

    /// Counts that no fit leaves, under a checksum and a key that match.
    #[test]
    fn rows_and_rounds_must_agree() {
        const ROWS: usize = 10;
        /// Rows of a round.
        const ROUND: usize = 4;
        const MANY: usize = 6;
        let data = data(ROWS);
        let params = PARAMS;
        let input = Input::of(&data, &data.rows, &[0.5, -0.5], params.kernel).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut checkpoint = Checkpoint::new(folder.path().join("c"), Duration::ZERO);
        for (rows, parts, rounds, taken) in [
            (0, 1, 0, true),
            (4, 1, 1, true),
            (10, 1, 3, true),
            // Of rounds before and after, of none, and of more than there are rows.
            (4, 1, 0, false),
            (4, 1, 2, false),
            (3, 1, 1, false),
            (5, 1, 1, false),
            (10, 1, 2, false),
            (11, 1, 3, false),
            (10, 1, 11, false),
            (10, 1, u64::MAX, false),
            // More parts, or fewer, than the fit has.
            (4, 2, 2, false),
            (4, MANY, 2, false),
            (0, 0, 0, false),
        ] {
            let mut heaps: Vec<_> = (0..parts.max(1)).map(|_| RidgeHeap::new(2).unwrap()).collect();
            let mut left: Vec<_> = heaps.iter_mut().map(|heap| heap.regression(2, 1).unwrap()).collect();
            for part in &mut left {
                (0..rows).for_each(|row| part.add(&[1.0, f64::from(row)], 0.5).unwrap());
            }
            let key = Key::of(&data, &input, params, (false, &[]));
            let kept = Kept { checkpoint: &mut checkpoint, key, written: Instant::now() };
            kept.write(rounds as usize, &left[..parts]).unwrap();

            let mut heap = RidgeHeap::new(2).unwrap();
            let mut accumulators = [heap.regression(2, 1).unwrap()];
            let mut resumed = Rounds::new(&data, Some(&mut checkpoint), &input, params, (false, &[]));
            let seen = |rounds: usize| rounds.saturating_mul(ROUND).min(ROWS);
            match resumed.resume(&mut accumulators, seen) {
                Ok(found) => assert!(taken && found as u64 == rounds, "{rows} {parts} {rounds}"),
                Err(Error(Cause::Checkpoint { problem: CheckpointProblem::Corrupt, .. })) => {
                    assert!(!taken && parts != MANY, "{rows} {parts} {rounds}");
                }
                // So many parts are longer than a checkpoint of this fit can be.
                Err(error) => assert!(parts == MANY, "{error}"),
            }
        }
    }
}
