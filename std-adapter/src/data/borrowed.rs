//! Rows that are used as they are, where they lie.

use crate::data::columns::{Columns, RowSlices};
use crate::data::prepared::{Prepared, draw};
use crate::data::{source::RowSource, value::Value, value::doubled, weights::Weights};
use crate::error::Error;
use crate::kernel::precision::Precision;
use std::borrow::Cow;

/// Borrowed rows without scaling, with a standardised target in their precision.
#[derive(Debug)]
pub(crate) struct Borrowed<'a, T> {
    columns: Columns,
    rows: &'a [T],
    targets: Option<Vec<T>>,
    weights: Option<Vec<f64>>,
}

impl<'a, T: Value> Borrowed<'a, T> {
    /// Combine finite rows with their columns, whose scaler changes nothing, and positive weights of mean 1.
    pub(crate) fn new(
        columns: Columns,
        rows: &'a [T],
        targets: Option<Vec<f64>>,
        weights: Option<Vec<f64>>,
    ) -> Self {
        let targets = targets.map(|values| values.into_iter().map(T::from_f64).collect());
        Self { columns, rows, targets, weights }
    }
}

impl<T: Value> RowSource for Borrowed<'_, T> {
    fn columns(&self) -> Columns {
        self.columns.clone()
    }

    fn len(&self) -> usize {
        self.rows.len() / self.width().max(1)
    }

    fn width(&self) -> usize {
        self.columns.features()
    }

    fn slices(&self) -> Option<RowSlices<'_>> {
        Some(T::slices(self.rows, self.targets.as_deref()))
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn precision(&self) -> Option<Precision> {
        Some(T::precision())
    }

    fn gather(&self, rows: &[usize]) -> Result<Prepared, Error> {
        let (features, targets) = T::slices(self.rows, self.targets.as_deref()).gather(self.width(), rows)?;
        let weights = Weights(self.weights.as_deref()).gather(rows);
        Ok(Prepared { weights, ..Prepared::of(self.columns(), features, targets, Some(rows.to_vec())) })
    }

    fn sample(&self, rows: usize, seed: u64) -> Result<Cow<'_, Prepared>, Error> {
        match draw(self.len(), rows.min(self.len()), seed)? {
            Some(drawn) => self.gather(&drawn).map(Cow::Owned),
            None => self.in_memory("", seed),
        }
    }

    fn in_memory(&self, _: &str, _: u64) -> Result<Cow<'_, Prepared>, Error> {
        let targets = self.targets.as_deref().map(doubled).transpose()?;
        let rows = Prepared::of(self.columns(), doubled(self.rows)?, targets, None);
        Ok(Cow::Owned(Prepared { weights: self.weights.clone(), ..rows }))
    }

    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(bytemuck::cast_slice(self.rows));
        hasher.update(bytemuck::cast_slice(self.targets.as_deref().unwrap_or_default()));
        hasher.update(bytemuck::cast_slice(self.weights.as_deref().unwrap_or_default()));
        hasher.finalize()
    }
}
