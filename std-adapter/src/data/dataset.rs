//! A data set as users have it: raw rows in memory, a file, a row store, or a kernel matrix.

use crate::data::table::{input::Table, target::Target};
use crate::data::{
    prepared::Prepared, scaler::Scale, scaler::Scaler, source::RowSource, store::open::Store,
    table::reader::read,
};
use crate::error::{Error, check_length, check_rows};
use crate::heap::zeros;
use dpp_nystrom_core::{Error as CoreError, Scalar};
use faer::MatRef;
use std::borrow::Cow;
use std::path::Path;

/// A number that rows and targets may be given in: `f64` or `f32`.
pub trait Value: Scalar {
    #[doc(hidden)]
    fn values(values: &[Self]) -> Values<'_>;
}

/// Values borrowed or owned, in either precision.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Values<'a> {
    F64(Cow<'a, [f64]>),
    F32(&'a [f32]),
}

impl Value for f64 {
    fn values(values: &[Self]) -> Values<'_> {
        Values::F64(Cow::Borrowed(values))
    }
}

impl Value for f32 {
    fn values(values: &[Self]) -> Values<'_> {
        Values::F32(values)
    }
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }

    fn copied(&self) -> Result<Vec<f64>, Error> {
        let mut copy = zeros(self.len(), 0.0)?;
        match self {
            Self::F64(values) => copy.copy_from_slice(values),
            Self::F32(values) => {
                copy.iter_mut().zip(*values).for_each(|(slot, &value)| *slot = f64::from(value));
            }
        }
        Ok(copy)
    }

    /// Return the index of the first value that is NaN or infinite.
    fn not_finite(&self) -> Option<usize> {
        match self {
            Self::F64(values) => values.iter().position(|value| !value.is_finite()),
            Self::F32(values) => values.iter().position(|value| !value.is_finite()),
        }
    }
}

/// Rows of `d` features, in their own units, and perhaps a target for each.
///
/// Rows are borrowed until something is fitted to them.
///
/// ```
/// use dpp_nystrom::Dataset;
///
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
/// let data = Dataset::from_rows(&x, 2)?.with_target(&[1.0, 2.0, 3.0])?;
/// assert_eq!((data.len(), data.features()), (3, 2));
/// assert!(Dataset::from_rows(&x, 4).is_err());
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct Dataset<'a> {
    pub(crate) rows: Rows<'a>,
    name: String,
    feature_names: Vec<String>,
    target: Option<(String, Values<'a>)>,
}

#[derive(Debug)]
pub(crate) enum Rows<'a> {
    Memory(Values<'a>),
    Gram(Values<'a>),
    Store(Box<Store>),
}

impl<'a> Dataset<'a> {
    /// Borrow rows of `features` features, row-major, in `f64` or `f32`.
    ///
    /// # Errors
    /// [`Error::Ragged`] for a length that `features` does not divide; [`Error::Core`] for no rows, and for NaN or infinity with
    /// its row and column.
    pub fn from_rows<T: Value>(rows: &'a [T], features: usize) -> Result<Self, Error> {
        Self::of(T::values(rows), features, Rows::Memory)
    }

    /// Borrow a positive semidefinite kernel matrix of `n` rows, row-major, of which the diagonal and the part below it are read: row `i` holds the kernel of row `i` with all
    /// `n` rows. What is fitted to it takes the kernel of a point with these `n` rows in place of features. k-means++ then
    /// measures distances in feature space, `k_ii + k_jj - 2 k_ij`.
    ///
    /// # Errors
    /// As [`from_rows`](Self::from_rows); [`Error::Length`] for a matrix that is not square.
    pub fn from_gram<T: Value>(matrix: &'a [T], n: usize) -> Result<Self, Error> {
        check_length("values of the kernel matrix", n.saturating_mul(n), matrix.len())?;
        Self::of(T::values(matrix), n, Rows::Gram)
    }

    /// Copy the rows of a matrix, one observation per row.
    ///
    /// # Errors
    /// As [`from_rows`](Self::from_rows).
    pub fn from_matrix(rows: MatRef<'_, f64>) -> Result<Dataset<'static>, Error> {
        let values: Vec<f64> = (0..rows.nrows()).flat_map(|i| rows.row(i).iter().copied()).collect();
        Dataset::from_owned(values, rows.ncols())
    }

    /// Take rows of `features` features, row-major.
    ///
    /// # Errors
    /// As [`from_rows`](Self::from_rows).
    pub fn from_owned(rows: Vec<f64>, features: usize) -> Result<Dataset<'static>, Error> {
        Dataset::of(Values::F64(Cow::Owned(rows)), features, Rows::Memory)
    }

    fn of(values: Values<'a>, features: usize, rows: fn(Values<'a>) -> Rows<'a>) -> Result<Self, Error> {
        let len = values.len();
        if len == 0 || features == 0 {
            return Err(CoreError::Empty.into());
        }
        check_rows(len, features)?;
        if let Some(at) = values.not_finite() {
            return Err(CoreError::NotFinite { row: at / features, column: at % features }.into());
        }
        let feature_names = (0..features).map(|feature| format!("x{feature}")).collect();
        Ok(Self { rows: rows(values), name: "data".to_owned(), feature_names, target: None })
    }

    /// Add a target for each row, in `f64` or `f32`.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one for each row, [`Error::Core`] unless all are finite, [`Error::StoreColumns`] for a row store, which
    /// has its own.
    pub fn with_target<T: Value>(self, target: &'a [T]) -> Result<Self, Error> {
        self.refuse_store()?;
        check_length("targets", self.len(), target.len())?;
        let values = T::values(target);
        if let Some(row) = values.not_finite() {
            return Err(CoreError::NotFinite { row, column: self.features() }.into());
        }
        Ok(Self { target: Some(("y".to_owned(), values)), ..self })
    }

    /// Name the features, and the target if there is one: models, exports and messages use the names.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a name for each feature, [`Error::StoreColumns`] for a row store, which has its own.
    pub fn with_names(self, features: &[&str], target: &str) -> Result<Self, Error> {
        self.refuse_store()?;
        check_length("names of features", self.features(), features.len())?;
        let feature_names = features.iter().map(|&name| name.to_owned()).collect();
        let target = self.target.map(|(_, values)| (target.to_owned(), values));
        Ok(Self { feature_names, target, ..self })
    }

    fn refuse_store(&self) -> Result<(), Error> {
        let Rows::Store(store) = &self.rows else { return Ok(()) };
        Err(Error::StoreColumns { path: store.path.clone() })
    }

    /// Read a file: CSV, TSV, ARFF or NPY, gzipped or not. Its last column is the target.
    ///
    /// # Errors
    /// [`Error::Table`] with the place of what cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Dataset<'static>, Error> {
        Dataset::read_with(path, &Target::Last)
    }

    /// Read a file whose target is another column, or none.
    ///
    /// # Errors
    /// [`Error::Table`] with the place of what cannot be read.
    pub fn read_with(path: impl AsRef<Path>, target: &Target) -> Result<Dataset<'static>, Error> {
        let Table { name, feature_names, features, target, target_name, .. } = read(path.as_ref(), target)?;
        Ok(Dataset {
            rows: Rows::Memory(Values::F64(Cow::Owned(features))),
            name,
            feature_names,
            target: target.map(|values| (target_name.unwrap_or_default(), Values::F64(Cow::Owned(values)))),
        })
    }

    /// Open a row store, whose rows stay on disk. They are standardised already, whatever the [`Scale`].
    ///
    /// # Errors
    /// [`Error::Table`] if the file cannot be opened, [`Error::Store`] if it is invalid.
    pub fn open_store(path: impl AsRef<Path>) -> Result<Dataset<'static>, Error> {
        let store = Store::open(path.as_ref())?;
        let name = store.description().name.clone();
        let feature_names = store.description().feature_names.clone();
        Ok(Dataset { rows: Rows::Store(Box::new(store)), name, feature_names, target: None })
    }

    /// Return the number of rows N.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Memory(values) | Rows::Gram(values) => values.len() / self.features(),
            Rows::Store(store) => store.len(),
        }
    }

    /// Whether there are no rows. Always false: a data set without rows is rejected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the number of features d; of a kernel matrix, its order.
    pub fn features(&self) -> usize {
        self.feature_names.len()
    }

    /// Return the features' names.
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// Scale the rows for a kernel, by their own statistics; a row store is scaled already.
    ///
    /// # Errors
    /// [`Error::Spread`] for columns whose statistics are not finite, [`Error::Memory`].
    pub(crate) fn source(&self, scale: Scale) -> Result<Source<'_>, Error> {
        let (values, is_gram) = match &self.rows {
            Rows::Memory(values) => (values, false),
            Rows::Gram(values) => (values, true),
            Rows::Store(store) => return Ok(Source::Store(store)),
        };
        let table = self.table(values)?;
        let scaler = match scale {
            scale if !is_gram => scale.statistics(&table.features, table.dim),
            _ => Scaler::identity(table.dim),
        };
        Prepared::scaled_by(table, scaler).map(Source::memory)
    }

    /// Scale the rows by given statistics. A row store scaled by the same statistics is used in place if `in_place` is
    /// set or if it does not fit into memory; otherwise its rows are read into memory.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of features, [`Error::Memory`], [`Error::OtherScale`] for a row store that does
    /// not fit into memory, and its own.
    pub(crate) fn source_by(&self, scaler: &Scaler, in_place: bool) -> Result<Source<'_>, Error> {
        check_length("features", scaler.means.len(), self.features())?;
        match &self.rows {
            Rows::Memory(values) | Rows::Gram(values) => {
                Prepared::scaled_by(self.table(values)?, scaler.clone()).map(Source::memory)
            }
            Rows::Store(store) => {
                let is_scaled = *scaler == store.description().scaler;
                match is_scaled && (in_place || !store.fits_in_memory()) {
                    true => Ok(Source::Store(store)),
                    false => store.read_scaled(scaler).map(Source::memory),
                }
            }
        }
    }

    /// Copy rows and target.
    fn table(&self, rows: &Values<'_>) -> Result<Table, Error> {
        let target = self.target.as_ref();
        Ok(Table {
            name: self.name.clone(),
            feature_names: self.feature_names.clone(),
            dim: self.features(),
            features: rows.copied()?,
            target: target.map(|(_, values)| values.copied()).transpose()?,
            target_name: target.map(|(name, _)| name.clone()),
        })
    }
}

/// The scaled rows of a data set.
pub(crate) enum Source<'a> {
    Memory(Box<Prepared>),
    Store(&'a Store),
}

impl Source<'_> {
    fn memory(rows: Prepared) -> Self {
        Self::Memory(Box::new(rows))
    }

    pub(crate) fn as_rows(&self) -> &dyn RowSource {
        match self {
            Self::Memory(prepared) => prepared.as_ref(),
            Self::Store(store) => *store,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dataset;
    use crate::data::{store::write::convert, table::target::Target};
    use crate::error::Error;
    use crate::kernel::precision::Precision;
    use crate::observer::NoObserver;

    #[test]
    fn a_row_store_keeps_its_own_target_and_names() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "1,2\n3,4\n").unwrap();
        convert(&data, &Target::Last, Precision::F64, &out, &NoObserver).unwrap();
        let open = || Dataset::open_store(&out).unwrap();
        assert!(matches!(open().with_target(&[1.0, 2.0]), Err(Error::StoreColumns { .. })));
        assert!(matches!(open().with_names(&["a"], "y"), Err(Error::StoreColumns { .. })));
    }
}
