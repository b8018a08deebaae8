//! A row store as a source of rows: read in place, sampled, or read into memory.

use crate::data::columns::{ClassIndices, Columns, RowSlices, Targets};
use crate::data::prepared::{Prepared, draw};
use crate::data::source::{Order, RowSource};
use crate::data::{scaler::Scaler, store::open::Store, table::input::Table, table::recipe::Recipe};
use crate::error::{Cause, Error};
use crate::kernel::precision::Precision;
use std::borrow::Cow;

/// Values of a store up to which it is read into memory for a selector that needs its rows there: 128 MiB in
/// `f64`.
const IN_MEMORY: usize = 1 << 24;

impl RowSource for Store {
    fn columns(&self) -> Columns {
        Self::columns(self)
    }

    fn recipe(&self) -> Option<&Recipe> {
        self.description().recipe.as_ref()
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn width(&self) -> usize {
        Self::features(self)
    }

    fn slices(&self) -> Option<RowSlices<'_>> {
        Some(Self::slices(self))
    }

    fn class_indices(&self) -> Option<ClassIndices<'_>> {
        let indices = match Self::slices(self) {
            RowSlices::F64(_, targets) => Targets::F64(targets?),
            RowSlices::F32(_, targets) => Targets::F32(targets?),
        };
        let indicators = &self.indicators;
        (!indicators.is_empty()).then_some(ClassIndices { indices, indicators })
    }

    fn precision(&self) -> Option<Precision> {
        Some(Self::precision(self))
    }

    fn gather(&self, rows: &[usize]) -> Result<Prepared, Error> {
        Self::gather(self, rows)
    }

    fn sample(&self, rows: usize, seed: u64) -> Result<Cow<'_, Prepared>, Error> {
        Self::gather(self, &self.draw(rows.min(self.len()), seed)?).map(Cow::Owned)
    }

    fn in_memory(&self, what: &str, seed: u64) -> Result<Cow<'_, Prepared>, Error> {
        if !self.fits_in_memory() {
            return Err(Error(Cause::InMemory { what: what.to_owned(), rows: self.len() }));
        }
        self.read(None, seed).map(Cow::Owned)
    }

    fn check(&self) -> Result<(), Error> {
        Self::check(self)
    }

    fn verify(&self) -> Result<(), Error> {
        Self::verify(self)
    }

    fn checksum(&self) -> u32 {
        self.description().checksum
    }

    fn expect(&self, order: Order) {
        match order {
            Order::Sequential => self.mapped.expect_order(),
            Order::Random => self.mapped.expect_jumps(),
        }
    }
}

impl Store {
    /// Read `rows` rows drawn at random into memory, or all of them, and scale them by their own statistics,
    /// or not at all if the store is [not scaled](Self::is_scaled). Without `rows`, the checksum is verified
    /// first.
    ///
    /// # Errors
    /// `ErrorKind::Data` for too few rows or values too far apart, and as [`Store::check`] and
    /// [`Store::verify`].
    pub fn read(&self, rows: Option<usize>, seed: u64) -> Result<Prepared, Error> {
        if rows.is_none() {
            self.verify()?;
        }
        let indices = self.draw(rows.unwrap_or(self.len()), seed)?;
        let table = self.table_of(&indices)?;
        let mut read = match self.is_scaled() {
            true => Prepared::new(table, None, seed)?,
            false => Prepared::scaled_by(table, Scaler::identity(self.features()))?,
        };
        if !self.indicators.is_empty() {
            read.classify(&self.labels());
        }
        read.recipe.clone_from(&self.description().recipe);
        read.numbers = (indices.len() < self.len()).then_some(indices);
        Ok(read)
    }

    /// Whether the features are stored at mean 0 and standard deviation 1, and not as they were.
    pub fn is_scaled(&self) -> bool {
        self.description().scaler != Scaler::identity(self.features())
    }

    /// Whether there are few enough rows to read all of them into memory, up to 2²⁴ numbers.
    pub fn fits_in_memory(&self) -> bool {
        self.len().saturating_mul(self.features()) <= IN_MEMORY
    }

    /// Read all rows into memory, scaled by the statistics of others; the target by its own.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` where there are too many, `ErrorKind::Data` for values too far apart, and as
    /// [`Store::check`] and [`Store::verify`].
    pub(crate) fn read_scaled(&self, scaler: &Scaler) -> Result<Prepared, Error> {
        if !self.fits_in_memory() {
            return Err(Error(Cause::OtherScale));
        }
        self.verify()?;
        let mut read =
            Prepared::scaled_by(self.table_of(&(0..self.len()).collect::<Vec<_>>())?, scaler.clone())?;
        if !self.indicators.is_empty() {
            read.classify(&self.labels());
        }
        Ok(read)
    }

    /// Read `rows` rows drawn at random, in the units of the file that the store was made from.
    ///
    /// # Errors
    /// `ErrorKind::Data` for too few rows, and as [`Store::check`].
    pub fn table_of_sample(&self, rows: usize, seed: u64) -> Result<Table, Error> {
        self.table_of(&self.draw(rows, seed)?)
    }

    fn draw(&self, wanted: usize, seed: u64) -> Result<Vec<usize>, Error> {
        Ok(draw(self.len(), wanted, seed)?.unwrap_or_else(|| (0..wanted).collect()))
    }
}
