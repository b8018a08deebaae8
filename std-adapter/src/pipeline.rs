//! Landmarks and models from a row store, without its rows in memory.

use crate::approximation::errors::{TraceError, trace_error_of_points};
use crate::approximation::landmark_set::LandmarkSet;
use crate::data::prepared::Prepared;
use crate::data::store::open::{Store, Stored};
use crate::error::Error;

use crate::kernel::precision::Precision;
use crate::kernel::spec::KernelSpec;
use crate::landmarks::chain::select_with;
use crate::landmarks::procedure::Procedure;
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::Selector;
use crate::model::trained::{AnyCoefficients, Coefficients};
use crate::observer::Observer;
use crate::regression::checkpoint::{Checkpoint, Key};
use crate::regression::fit::{RegressionInput, Targets, fit_observed};
use crate::regression::observer::FitObserver;
use crate::regression::ridge::{Ridge, ridge_grid};
use crate::regression::train::{Setting, Training, assemble};
use crate::rng::{RngStream, stream};
use crate::simd::lane::Lane;
use crate::simd::lanes::Lanes;
use dpp_nystrom_core::{Points, RidgeRegression};
use rand::seq::index;

/// Rows that a trace error is measured on where there are more: its standard error is under a half per cent of the
/// rows' own spread.
const MEASURED_ROWS: usize = 1 << 16;

/// A trace error of all rows, or its estimate from some.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredError {
    /// Over all rows: measured, or scaled up from those that were.
    pub of_all: TraceError,
    /// The rows that it was measured on.
    pub rows: usize,
}

impl Store {
    /// So many rows in memory, drawn at random, standardised anew as if they were all: for methods that want their
    /// rows in memory. All of them for none, and these are compared with their checksum.
    ///
    /// # Errors
    /// [`Error::TooFewRows`], [`Error::Spread`], and as [`Store::check`] and [`Store::verify`].
    pub fn sample(&self, rows: Option<usize>, seed: u64) -> Result<Prepared, Error> {
        if rows.is_none() {
            self.verify()?;
        }
        let numbers = self.draw(rows.unwrap_or(self.len()), seed)?;
        let mut sample = Prepared::new(self.table_of(&numbers)?, None, seed)?;
        sample.numbers = (numbers.len() < self.len()).then_some(numbers);
        Ok(sample)
    }

    /// So many rows drawn at random, in the units of the file that the store was made from.
    ///
    /// # Errors
    /// [`Error::TooFewRows`], and as [`Store::check`].
    pub fn table_of_sample(
        &self,
        rows: usize,
        seed: u64,
    ) -> Result<crate::data::table::reader::Table, Error> {
        self.table_of(&self.draw(rows, seed)?)
    }

    /// So many rows drawn at random with the statistics of all: for what is estimated, such as a bandwidth.
    ///
    /// # Errors
    /// As [`Store::check`].
    pub fn pilot(&self, rows: usize, seed: u64) -> Result<Prepared, Error> {
        self.gather(&self.draw(rows.min(self.len()), seed)?)
    }

    fn draw(&self, wanted: usize, seed: u64) -> Result<Vec<usize>, Error> {
        if wanted > self.len() || wanted == 0 {
            return Err(Error::TooFewRows { wanted, rows: self.len() });
        }
        if wanted == self.len() {
            return Ok((0..wanted).collect());
        }
        let mut numbers = index::sample(&mut stream(seed, RngStream::Rows), self.len(), wanted).into_vec();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Select landmarks among all rows of the store, in its precision, by a selector that works in place.
    ///
    /// # Errors
    /// [`Error::InMemory`] for other selectors, those of [`crate::landmarks::chain::select()`], and of [`Store::check`].
    pub fn select(
        &self,
        c: usize,
        selector: &dyn Selector,
        kernel: KernelSpec,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Selection, Error> {
        let method = &selector.in_place().ok_or_else(|| Error::InMemory {
            what: format!("the method {}", selector.name()),
            rows: self.len(),
        })?;
        self.expect_jumps();
        let selection = match self.numbers() {
            Stored::F32(rows, _) => select_in(rows, self.features(), c, method, kernel, seed, observer),
            Stored::F64(rows, _) => select_in(rows, self.features(), c, method, kernel, seed, observer),
        };
        // Rows that are gone read as zeros, and may have been refused for that.
        self.check()?;
        selection
    }

    /// What landmarks miss, on all rows or on 65,536 drawn at random.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`], and as [`Store::check`].
    pub fn trace_error(
        &self,
        landmarks: &[usize],
        kernel: KernelSpec,
        seed: u64,
    ) -> Result<MeasuredError, Error> {
        let points = self.gather(landmarks)?.rows;
        let measured = self.pilot(MEASURED_ROWS, seed)?;
        let TraceError { error, fraction } = trace_error_of_points(&measured.ground(kernel)?, &points)?;
        let error = error * (self.len() as f64 / measured.len() as f64);
        Ok(MeasuredError { of_all: TraceError { error, fraction }, rows: measured.len() })
    }

    /// Fits ridge regression on these rows of the store to all of them, in blocks: `O(c²)` memory, and a byte a row
    /// where the ridge is cross-validated. With a checkpoint, a fit that was cut off goes on where that was
    /// written, to the same model bit for bit.
    ///
    /// # Errors
    /// [`Error::NoTarget`], [`Error::ConstantTarget`], those of [`crate::regression::fit::fit`], of [`Store::verify`] and of the checkpoint.
    pub fn train(
        &self,
        landmarks: &[usize],
        ridge: Ridge,
        setting: Setting,
        checkpoint: Option<&mut Checkpoint>,
        observer: &dyn Observer,
    ) -> Result<Training, Error> {
        self.verify()?;
        let home = self.gather(landmarks)?;
        home.learnable()?;
        let work = Work { store: self, home: &home, landmarks, ridge, setting };
        match self.numbers() {
            Stored::F32(rows, Some(targets)) => work.train(
                rows,
                Targets::F32(targets),
                Precision::F32,
                AnyCoefficients::F32,
                checkpoint,
                observer,
            ),
            Stored::F64(rows, Some(targets)) => work.train(
                rows,
                Targets::F64(targets),
                Precision::F64,
                AnyCoefficients::F64,
                checkpoint,
                observer,
            ),
            Stored::F32(..) | Stored::F64(..) => Err(Error::NoTarget),
        }
    }
}

fn select_in<T: Lane>(
    rows: &[T],
    dim: usize,
    c: usize,
    method: &Procedure,
    kernel: KernelSpec,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    // Conversion let no other number in.
    let ground = Points::assumed_finite(rows, dim, kernel.build::<T>()?)?;
    select_with(&ground, c, method, seed, observer, || Lanes::new(c, dim))
}

/// What a fit is asked.
struct Work<'s> {
    store: &'s Store,
    /// The landmarks, standardised.
    home: &'s Prepared,
    landmarks: &'s [usize],
    ridge: Ridge,
    setting: Setting,
}

impl Work<'_> {
    fn train<T: Lane>(
        &self,
        rows: &[T],
        targets: Targets<'_>,
        precision: Precision,
        numbers: fn(Coefficients<T>) -> AnyCoefficients,
        checkpoint: Option<&mut Checkpoint>,
        observer: &dyn Observer,
    ) -> Result<Training, Error> {
        let Self { store, home, landmarks, ridge, setting } = *self;
        let setting = Setting { precision, ..setting };
        let points: Vec<T> = home.rows.iter().map(|&value| T::from_f64(value)).collect();
        let problem = RegressionInput {
            rows,
            dim: store.features(),
            targets,
            landmarks: &points,
            kernel: &setting.kernel.build()?,
        };
        let key = Key::new(store.description().checksum, store.len(), &home.rows, ridge, setting);
        let mut rounds = Watched { store, checkpoint: checkpoint.map(|checkpoint| checkpoint.of(key)) };
        let grid: Vec<f64> = ridge_grid().collect();
        let fitted = fit_observed(problem, ridge, &grid, setting.seed, &mut rounds, observer);
        store.check()?;
        let places = LandmarkSet::Indices((0..landmarks.len()).collect());
        let mut training = assemble(home, &places, &points, fitted?.0, setting, numbers)?;
        training.model.trained_rows = store.len() as u64;
        Ok(training)
    }
}

/// Stops a fit whose rows are no longer there, and keeps what it has learned.
struct Watched<'s> {
    store: &'s Store,
    checkpoint: Option<crate::regression::checkpoint::Kept<'s>>,
}

impl FitObserver for Watched<'_> {
    fn resume(&mut self, accumulators: &mut [RidgeRegression<'_, f64>]) -> Result<usize, Error> {
        self.checkpoint.as_mut().map_or(Ok(0), |checkpoint| checkpoint.resume(accumulators))
    }

    fn after_round(&mut self, rounds: usize, accumulators: &[RidgeRegression<'_, f64>]) -> Result<(), Error> {
        self.store.check()?;
        self.checkpoint.as_mut().map_or(Ok(()), |checkpoint| checkpoint.after_round(rounds, accumulators))
    }
}
