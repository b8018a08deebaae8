//! Sources of rows: memory, a row store, or batches held elsewhere.
//!
//! Selecting, fitting and predicting take a [`RowSource`]. It has the names and statistics of all rows, draws
//! samples of them, and, where the rows are in this process, lends them as slices. A source that only has
//! batches lends none: it gives a sample, and accumulates a [`FitSpec`](crate::regression::FitSpec) where its
//! rows are.

use crate::data::columns::{ClassIndices, Columns, RowSlices};
use crate::data::prepared::{Prepared, StandardTarget};
use crate::data::table::recipe::Recipe;
use crate::error::{Error, check_length};
use crate::kernel::precision::Precision;
use std::borrow::Cow;

/// Scaled rows for selection and fitting, wherever they are.
///
/// ```
/// use dpp_nystrom::data::RowSource;
/// use dpp_nystrom::{Dataset, Error, Scale};
///
/// /// The share of the rows in a sample of at most `most`.
/// fn share(source: &dyn RowSource, most: usize) -> Result<f64, Error> {
///     Ok(source.sample(most, 7)?.len() as f64 / source.len() as f64)
/// }
///
/// let x: Vec<f32> = (0..1_000).map(|i| i as f32).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// assert_eq!(share(data.source(Scale::None)?.as_rows(), 100)?, 0.1);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub trait RowSource: std::fmt::Debug + Sync {
    /// Return the names and statistics of the columns.
    fn columns(&self) -> Columns;

    /// Return how the columns of a table became the features; none if there is no table.
    fn recipe(&self) -> Option<&Recipe> {
        None
    }

    /// Return the number of rows N.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return how many numbers a scaled row has: one a feature, or the rank of a map.
    fn width(&self) -> usize {
        self.columns().width()
    }

    /// Lend the rows; none if they are not in this process.
    fn slices(&self) -> Option<RowSlices<'_>>;

    /// Return which rows stay together in cross-validation.
    fn partition(&self) -> Partition<'_> {
        Partition::Rows
    }

    /// Return the weights of the rows, positive and of mean 1; none if each counts once.
    fn weights(&self) -> Option<&[f64]> {
        None
    }

    /// Return the targets after the first, which rows in memory may have.
    fn further(&self) -> &[StandardTarget] {
        &[]
    }

    /// Return the classes of the rows, if these have the index of theirs in place of an indicator for each
    /// class: [`slices`](Self::slices) then lends the indices as targets.
    fn class_indices(&self) -> Option<ClassIndices<'_>> {
        None
    }

    /// Return the precision in which the rows are stored, if computations should use it; none for a free
    /// choice.
    fn precision(&self) -> Option<Precision> {
        None
    }

    /// Return the rows themselves, if all are in memory.
    fn as_prepared(&self) -> Option<&Prepared> {
        None
    }

    /// Return the row with this index in its file, if it is among these.
    fn row_of(&self, number: usize) -> Option<usize> {
        (number < self.len()).then_some(number)
    }

    /// Return the index of a row in its file.
    fn row_number(&self, row: usize) -> usize {
        row
    }

    /// Copy some rows, in `f64`, with the statistics of all.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for a row past the end; those of [`check`](Self::check).
    fn gather(&self, rows: &[usize]) -> Result<Prepared, Error>;

    /// Return at most `rows` rows drawn uniformly, with the statistics of all. Rows in memory are lent whole,
    /// however many they are.
    ///
    /// # Errors
    /// Those of [`gather`](Self::gather).
    fn sample(&self, rows: usize, seed: u64) -> Result<Cow<'_, Prepared>, Error>;

    /// Return all rows in memory.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` if there are too many; `what` names the method that requires it.
    fn in_memory(&self, what: &str, seed: u64) -> Result<Cow<'_, Prepared>, Error>;

    /// Check that the rows have not changed since the source was opened. Call this before using a result.
    ///
    /// # Errors
    /// `ErrorKind::Format` for a store that was truncated or written to.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Verify the checksum of all rows, if they have one: one pass.
    ///
    /// # Errors
    /// `ErrorKind::Format`.
    fn verify(&self) -> Result<(), Error> {
        self.check()
    }

    /// Return a checksum of all rows and targets, by which a checkpoint recognises them.
    fn checksum(&self) -> u32;

    /// Advise the system of the order of reads.
    fn expect(&self, _: Order) {}
}

/// Which rows stay together where some are held out.
///
/// ```
/// use dpp_nystrom::data::{Partition, RowSource};
/// use dpp_nystrom::{Dataset, Scale};
///
/// let data = Dataset::from_rows(&[20.0, 22.0, 27.0, 28.0], 1)?;
/// let source = data.source(Scale::Standard)?;
/// let rows = source.as_rows().as_prepared().expect("rows in memory").clone();
/// assert_eq!(rows.partition(), Partition::Rows);
/// let rows = rows.grouped(vec![0, 0, 1, 1])?; // two readings of each sensor
/// assert_eq!(rows.partition(), Partition::Groups(&[0, 0, 1, 1]));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Partition<'a> {
    /// None: each row is held out alone.
    #[default]
    Rows,
    /// The rows of each group.
    Groups(&'a [u32]),
    /// Rows that follow each other: folds are contiguous blocks.
    Time,
}

/// How rows are about to be read.
///
/// ```
/// use dpp_nystrom::data::Order;
/// use dpp_nystrom::{Dataset, Scale};
///
/// let data = Dataset::from_rows(&[20.0, 22.0, 27.0], 1)?;
/// let source = data.source(Scale::None)?;
/// source.as_rows().expect(Order::Sequential); // advice for a file, without effect in memory
/// assert_eq!(source.as_rows().len(), 3);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Sequential, each row once.
    Sequential,
    /// Random access.
    Random,
}

impl RowSource for Prepared {
    fn columns(&self) -> Columns {
        Self::columns(self)
    }

    fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn width(&self) -> usize {
        self.dim
    }

    fn slices(&self) -> Option<RowSlices<'_>> {
        Some(Self::slices(self))
    }

    fn check(&self) -> Result<(), Error> {
        let rows = self.len();
        check_length("values of rows", rows * self.dim, self.rows.len())?;
        for target in self.targets() {
            check_length("targets", rows, target.values.len())?;
        }
        check_length("weights of rows", rows, self.weights.as_ref().map_or(rows, Vec::len))?;
        check_length("groups of rows", rows, self.groups.as_ref().map_or(rows, Vec::len))
    }

    fn further(&self) -> &[StandardTarget] {
        &self.further
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn partition(&self) -> Partition<'_> {
        match &self.groups {
            Some(groups) => Partition::Groups(groups),
            None if self.in_time => Partition::Time,
            None => Partition::Rows,
        }
    }

    fn as_prepared(&self) -> Option<&Prepared> {
        Some(self)
    }

    fn row_of(&self, number: usize) -> Option<usize> {
        Self::row_of(self, number)
    }

    fn row_number(&self, row: usize) -> usize {
        self.number(row)
    }

    fn gather(&self, rows: &[usize]) -> Result<Prepared, Error> {
        let (features, targets) = Self::slices(self).gather(self.dim, rows)?;
        let numbers = rows.iter().map(|&row| self.number(row)).collect();
        let mut gathered = Self::of(self.columns(), features, targets, Some(numbers));
        gathered.further = self.further.iter().map(|target| target.gather(rows)).collect();
        gathered.classes.clone_from(&self.classes);
        gathered.weights = Prepared::weights(self).gather(rows);
        gathered.groups = self.groups.as_ref().map(|groups| rows.iter().map(|&row| groups[row]).collect());
        gathered.in_time = self.in_time;
        Ok(gathered)
    }

    fn sample(&self, _: usize, _: u64) -> Result<Cow<'_, Prepared>, Error> {
        Ok(Cow::Borrowed(self))
    }

    fn in_memory(&self, _: &str, _: u64) -> Result<Cow<'_, Prepared>, Error> {
        Ok(Cow::Borrowed(self))
    }

    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(bytemuck::cast_slice(&self.rows));
        for target in self.targets() {
            hasher.update(bytemuck::cast_slice(&target.values));
        }
        hasher.update(bytemuck::cast_slice(self.weights.as_deref().unwrap_or_default()));
        hasher.finalize()
    }
}
