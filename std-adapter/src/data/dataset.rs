//! A data set as users have it: raw rows in memory, a file, a row store, or a kernel matrix.

use crate::data::table::{input::Table, reader::read, target::Target};
use crate::data::{
    borrowed::Borrowed, columns::Columns, columns::check_indices, prepared::Prepared,
    prepared::StandardTarget, prepared::check_weights, prepared::present, scaler::Scale, scaler::Scaler,
    source::RowSource, store::open::Store, value::Value, value::Values, weights::Weights,
    weights::normalised,
};
use crate::error::{Cause, Error, check_length, check_rows};
use dpp_nystrom_core::Error as CoreError;
use faer::MatRef;
use std::borrow::Cow;
use std::path::Path;

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
    /// Targets after the first.
    further: Vec<(String, Vec<f64>)>,
    weights: Option<Cow<'a, [f64]>>,
    /// The labels of which the target is the index.
    labels: Option<Vec<String>>,
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
    /// `ErrorKind::Argument` for a length that `features` does not divide, and for no rows, `ErrorKind::Data`
    /// for NaN or infinity with its row and column.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, ErrorKind};
    ///
    /// let data = Dataset::from_rows(&[20.0_f32, 1013.0, 21.5, 1009.0], 2)?;
    /// assert_eq!((data.len(), data.features()), (2, 2));
    /// let gap = Dataset::from_rows(&[20.0, 1013.0, f64::NAN, 1009.0], 2).unwrap_err();
    /// assert_eq!((gap.kind(), gap.row()), (ErrorKind::Data, Some(1)));
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn from_rows<T: Value>(rows: &'a [T], features: usize) -> Result<Self, Error> {
        Self::of(T::values(rows), features, Rows::Memory)
    }

    /// Borrow a positive semidefinite kernel matrix of `n` rows, row-major, of which the diagonal and the
    /// part below it are read: row `i` holds the kernel of row `i` with all `n` rows. What is fitted to it
    /// takes the kernel of a point with these `n` rows in place of features. k-means++ then measures
    /// distances in feature space, `k_ii + k_jj - 2 k_ij`.
    ///
    /// # Errors
    /// As [`from_rows`](Self::from_rows); `ErrorKind::Argument` for a matrix that is not square.
    ///
    /// ```
    /// use dpp_nystrom::selectors::Greedy;
    /// use dpp_nystrom::{Dataset, Nystroem};
    ///
    /// let matrix = [4.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0];
    /// let data = Dataset::from_gram(&matrix, 3)?;
    /// let map = Nystroem::params(2).selector(Greedy).fit(&data)?;
    /// assert_eq!(map.landmarks(), [0, 1]);
    /// assert!((map.trace_error(&data)? - 1.0 / 14.0).abs() < 1e-12);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn from_gram<T: Value>(matrix: &'a [T], n: usize) -> Result<Self, Error> {
        check_length("values of the kernel matrix", n.saturating_mul(n), matrix.len())?;
        Self::of(T::values(matrix), n, Rows::Gram)
    }

    /// Copy the rows of a matrix, one observation per row.
    ///
    /// # Errors
    /// As [`from_rows`](Self::from_rows).
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, faer::mat};
    ///
    /// let data = Dataset::from_matrix(mat![[20.0, 1013.0], [21.5, 1009.0], [19.0, 1020.0]].as_ref())?;
    /// assert_eq!((data.len(), data.features()), (3, 2));
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn from_matrix(rows: MatRef<'_, f64>) -> Result<Dataset<'static>, Error> {
        let values: Vec<f64> = (0..rows.nrows()).flat_map(|i| rows.row(i).iter().copied()).collect();
        Dataset::from_owned(values, rows.ncols())
    }

    /// Take rows of `features` features, row-major.
    ///
    /// # Errors
    /// As [`from_rows`](Self::from_rows).
    ///
    /// ```
    /// use dpp_nystrom::Dataset;
    ///
    /// fn readings() -> Result<Dataset<'static>, dpp_nystrom::Error> {
    ///     Dataset::from_owned(vec![20.0, 1013.0, 21.5, 1009.0], 2)
    /// }
    /// assert_eq!(readings()?.len(), 2);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
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
        Ok(Self {
            rows: rows(values),
            name: "data".to_owned(),
            feature_names,
            target: None,
            further: Vec::new(),
            weights: None,
            labels: None,
        })
    }

    /// Add a target for each row, in `f64` or `f32`.
    ///
    /// # Errors
    /// `ErrorKind::Argument` unless there is one for each row, `ErrorKind::Data` unless all are finite,
    /// `ErrorKind::Unsupported` for a row store, which has its own.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, ErrorKind};
    ///
    /// let x = [0.0, 1.0, 2.0];
    /// assert!(Dataset::from_rows(&x, 1)?.with_target(&[1.0, 2.0, 3.0]).is_ok());
    /// let refused = Dataset::from_rows(&x, 1)?.with_target(&[1.0, 2.0]).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::Argument);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn with_target<T: Value>(self, target: &'a [T]) -> Result<Self, Error> {
        self.refuse_store()?;
        check_length("targets", self.len(), target.len())?;
        let values = T::values(target);
        if let Some(row) = values.not_finite() {
            return Err(CoreError::NotFinite { row, column: self.features() }.into());
        }
        Ok(Self { target: Some(("y".to_owned(), values)), further: Vec::new(), labels: None, ..self })
    }

    /// Add several targets for each row, one for each of these names: row-major, in `f64` or `f32`. They
    /// share landmarks, metric and ridge.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, LandmarkRidge};
    ///
    /// let x: Vec<f64> = (0..800).map(|i| f64::from(i) / 20.0).collect();
    /// let targets: Vec<f64> = x.iter().flat_map(|x| [x.sin(), x.cos()]).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_targets(&targets, &["sine", "cosine"])?;
    /// let model = LandmarkRidge::default().fit(&data)?;
    /// let found = model.predict(&[2.0])?;
    /// assert!((found[0] - 2.0_f64.sin()).abs() < 0.05 && (found[1] - 2.0_f64.cos()).abs() < 0.05);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`with_target`](Self::with_target); `ErrorKind::Data` without names.
    pub fn with_targets<T: Value>(self, targets: &[T], names: &[&str]) -> Result<Self, Error> {
        self.refuse_store()?;
        check_length("targets", self.len().saturating_mul(names.len()), targets.len())?;
        let values = T::values(targets);
        if let Some(at) = values.not_finite() {
            let (row, column) = (at / names.len(), self.features() + at % names.len());
            return Err(CoreError::NotFinite { row, column }.into());
        }
        let values = values.copied()?;
        let column = |(place, name): (usize, &&str)| {
            let own = values.iter().skip(place).step_by(names.len());
            ((*name).to_owned(), own.copied().collect::<Vec<f64>>())
        };
        let mut columns = names.iter().enumerate().map(column);
        let (name, first) = columns.next().ok_or(Error(Cause::NoTarget))?;
        let (target, further) = (Some((name, Values::F64(Cow::Owned(first)))), columns.collect());
        Ok(Self { target, further, labels: None, ..self })
    }

    /// Add a class for each row: the index of one of these labels, of which each class is learned against the
    /// rest. Labels without rows are left out.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Scale};
    ///
    /// let x = [0.0, 1.0, 5.0];
    /// let data = Dataset::from_rows(&x, 1)?.with_classes(&[0.0, 0.0, 2.0], &["no", "never", "yes"])?;
    /// let classes = data.source(Scale::Standard)?.as_rows().columns().classes;
    /// assert_eq!(classes.map(|classes| classes.labels), Some(vec!["no".to_owned(), "yes".to_owned()]));
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`with_target`](Self::with_target); `ErrorKind::Data` for a number that is no index of a
    /// label.
    pub fn with_classes(self, of_rows: &'a [f64], labels: &[&str]) -> Result<Self, Error> {
        let data = self.with_target(of_rows)?;
        check_indices(of_rows, labels.len())?;
        Ok(Self { labels: Some(labels.iter().map(|&label| label.to_owned()).collect()), ..data })
    }

    /// Add a weight for each row, at least 0, in any unit: a row of weight `w` counts as `w` rows in the
    /// statistics that scale rows, in regressions and in errors; a row of weight 0 is left out, and the
    /// others keep their numbers. Weights are divided by their mean over the rows left. The selection of
    /// landmarks does not depend on them, except by `RefinedRidge`, which lowers the error of a regression;
    /// neither do the median distance and the medians of [`Scale::Robust`].
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Scale};
    ///
    /// let x = [0.0, 1.0, 5.0];
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&[1.0, 2.0, 9.0])?.with_weights(&[3.0, 1.0, 0.0])?;
    /// let rows = data.source(Scale::Standard)?;
    /// assert_eq!(rows.as_rows().len(), 2);
    /// assert_eq!(rows.as_rows().columns().target.map(|target| target.mean), Some(1.25));
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ErrorKind::Argument` unless there is one for each row, `ErrorKind::Data` for one that is negative or
    /// not finite, and if all are 0, `ErrorKind::Unsupported` for a row store or a kernel matrix.
    pub fn with_weights(self, weights: &'a [f64]) -> Result<Self, Error> {
        match self.rows {
            Rows::Memory(_) => {}
            Rows::Gram(_) => return Err(Error(Cause::Unweighted { what: "a kernel matrix" })),
            Rows::Store(_) => return Err(Error(Cause::Unweighted { what: "a row store" })),
        }
        check_length("weights of rows", self.len(), weights.len())?;
        check_weights(weights)?;
        Ok(Self { weights: Some(Cow::Borrowed(weights)), ..self })
    }

    /// Name the features, and the target if there is one; several have names already. Models, exports and
    /// messages use the names.
    ///
    /// # Errors
    /// `ErrorKind::Argument` unless there is a name for each feature, `ErrorKind::Unsupported` for a row
    /// store, which has its own.
    ///
    /// ```
    /// use dpp_nystrom::Dataset;
    ///
    /// let x = [20.0, 1013.0, 21.5, 1009.0];
    /// let data = Dataset::from_rows(&x, 2)?.with_target(&[3.0, 4.0])?;
    /// let data = data.with_names(&["celsius", "hectopascal"], "hours")?;
    /// assert_eq!(data.feature_names(), ["celsius", "hectopascal"]);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn with_names(self, features: &[&str], target: &str) -> Result<Self, Error> {
        self.refuse_store()?;
        check_length("names of features", self.features(), features.len())?;
        let feature_names = features.iter().map(|&name| name.to_owned()).collect();
        let name = |own| if self.further.is_empty() { target.to_owned() } else { own };
        let target = self.target.map(|(own, values)| (name(own), values));
        Ok(Self { feature_names, target, ..self })
    }

    fn refuse_store(&self) -> Result<(), Error> {
        let Rows::Store(store) = &self.rows else { return Ok(()) };
        Err(Error(Cause::StoreColumns { path: store.path.clone() }))
    }

    /// Read a table, gzipped or not. Its last column is the target.
    ///
    /// # Errors
    /// `ErrorKind::Table` with the place of what cannot be read.
    ///
    /// ```
    /// use dpp_nystrom::Dataset;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("houses.csv");
    /// std::fs::write(&path, "rooms,area,price\n3,70,210\n4,95,300\n")?;
    /// let data = Dataset::read(&path)?;
    /// assert_eq!((data.len(), data.feature_names()), (2, &["rooms".to_owned(), "area".to_owned()][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Dataset<'static>, Error> {
        Dataset::read_with(path, &Target::Last)
    }

    /// Read a file whose target is another column, or none.
    ///
    /// # Errors
    /// `ErrorKind::Table` with the place of what cannot be read.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, data::table::Target};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("houses.csv");
    /// std::fs::write(&path, "rooms,area,price\n3,70,210\n4,95,300\n")?;
    /// let data = Dataset::read_with(&path, &Target::None)?; // the price is a feature
    /// assert_eq!(data.features(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_with(path: impl AsRef<Path>, target: &Target) -> Result<Dataset<'static>, Error> {
        let Table { name, feature_names, features, target, target_name, weights, .. } =
            read(path.as_ref(), target)?;
        Ok(Dataset {
            rows: Rows::Memory(Values::F64(Cow::Owned(features))),
            name,
            feature_names,
            target: target.map(|values| (target_name.unwrap_or_default(), Values::F64(Cow::Owned(values)))),
            further: Vec::new(),
            weights: weights.map(Cow::Owned),
            labels: None,
        })
    }

    /// Open a row store, whose rows stay on disk. They are standardised already, whatever the [`Scale`].
    ///
    /// # Errors
    /// `ErrorKind::Table` if the file cannot be opened, `ErrorKind::Format` if it is invalid.
    ///
    /// ```
    /// use dpp_nystrom::data::{store::convert, table::Target};
    /// use dpp_nystrom::{Dataset, kernel::Precision, observer::NoObserver};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let [text, rows] = ["houses.csv", "houses.rows"].map(|name| folder.path().join(name));
    /// std::fs::write(&text, "rooms,area,price\n3,70,210\n4,95,300\n")?;
    /// convert(&text, &Target::Last, Precision::F32, &rows, &NoObserver)?;
    /// let data = Dataset::open_store(&rows)?;
    /// assert_eq!((data.len(), data.features()), (2, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_store(path: impl AsRef<Path>) -> Result<Dataset<'static>, Error> {
        let store = Store::open(path.as_ref())?;
        let name = store.description().name.clone();
        let feature_names = store.description().feature_names.clone();
        Ok(Dataset {
            rows: Rows::Store(Box::new(store)),
            name,
            feature_names,
            target: None,
            further: Vec::new(),
            weights: None,
            labels: None,
        })
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

    /// Return the rows for a kernel, as the functions of [`crate::pipeline`] take them: scaled by their own
    /// statistics, in a copy in `f64`, or with [`Scale::None`] where they lie and in their precision. A row
    /// store is scaled already.
    ///
    /// ```
    /// use dpp_nystrom::Scale;
    /// use dpp_nystrom::{Dataset, Error};
    ///
    /// let x = [0.0_f32, 1.0, 2.0, 5.0];
    /// let data = Dataset::from_rows(&x, 2)?;
    /// let rows = data.source(Scale::None)?; // no copy
    /// assert_eq!((rows.as_rows().len(), rows.as_rows().width()), (2, 2));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// `ErrorKind::Data` for columns whose statistics are not finite, `ErrorKind::Memory`.
    pub fn source(&self, scale: Scale) -> Result<Source<'_>, Error> {
        let (values, is_gram) = match &self.rows {
            Rows::Memory(values) if scale == Scale::None && !self.needs_copy() => {
                return self.borrowed(values).map(Source::Borrowed);
            }
            Rows::Memory(values) => (values, false),
            Rows::Gram(values) => (values, true),
            Rows::Store(store) => return Ok(Source::Store(store)),
        };
        self.scaled(values, |table| match scale {
            scale if !is_gram => {
                scale.statistics(&table.features, table.dim, Weights(table.weights.as_deref()))
            }
            _ => Scaler::identity(table.dim),
        })
    }

    /// Whether rows of weight 0 are left out, or the target becomes several.
    fn needs_copy(&self) -> bool {
        self.labels.is_some()
            || !self.further.is_empty()
            || self.weights.iter().flat_map(|weights| weights.iter()).any(|&weight| weight == 0.0)
    }

    /// Copy the rows of positive weight, scaled by these statistics of them.
    fn scaled(
        &self,
        rows: &Values<'_>,
        statistics: impl FnOnce(&Table) -> Scaler,
    ) -> Result<Source<'_>, Error> {
        let mut table = self.table(rows)?;
        let numbers = present(&mut table)?;
        let scaler = statistics(&table);
        let mut rows = Prepared { numbers, ..Prepared::scaled_by(table, scaler)? };
        let further = self.further.iter().map(|(name, values)| {
            let own = (0..rows.len()).map(|row| values[rows.number(row)]).collect();
            StandardTarget::of(name.clone(), own, rows.weights())
        });
        rows.further = further.collect::<Result<_, _>>()?;
        if let Some(labels) = &self.labels {
            rows.classify(labels);
        }
        Ok(Source::memory(rows))
    }

    /// Scale the rows by given statistics. A row store scaled by the same statistics is used in place if
    /// `in_place` is set or if it does not fit into memory; otherwise its rows are read into memory.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for another number of features, `ErrorKind::Memory`, `ErrorKind::Unsupported`
    /// for a row store that does not fit into memory, and its own.
    pub(crate) fn source_by(&self, scaler: &Scaler, in_place: bool) -> Result<Source<'_>, Error> {
        check_length("features", scaler.means.len(), self.features())?;
        match &self.rows {
            Rows::Memory(values) | Rows::Gram(values) => self.scaled(values, |_| scaler.clone()),
            Rows::Store(store) => {
                let is_scaled = *scaler == store.description().scaler;
                match is_scaled && (in_place || !store.fits_in_memory()) {
                    true => Ok(Source::Store(store)),
                    false => store.read_scaled(scaler).map(Source::memory),
                }
            }
        }
    }

    /// Lend rows as they are, with a target scaled by its own statistics.
    fn borrowed<'d>(&'d self, values: &'d Values<'_>) -> Result<Box<dyn RowSource + 'd>, Error> {
        let target = self.target.as_ref();
        let weights = self.weights.as_ref().map(|weights| normalised(weights.to_vec()));
        let of_rows = Weights(weights.as_deref());
        let target = target.map(|(name, values)| StandardTarget::of(name.clone(), values.copied()?, of_rows));
        let target = target.transpose()?;
        let columns = Columns {
            name: self.name.clone(),
            feature_names: self.feature_names.clone(),
            scaler: Scaler::identity(self.features()),
            target: target.as_ref().map(Into::into),
            further: Vec::new(),
            classes: None,
        };
        let targets = target.map(|target| target.values);
        Ok(match values {
            Values::F64(rows) => Box::new(Borrowed::new(columns, rows, targets, weights)),
            Values::F32(rows) => Box::new(Borrowed::new(columns, rows, targets, weights)),
        })
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
            weights: self.weights.as_ref().map(|weights| weights.to_vec()),
        })
    }
}

/// The scaled rows of a data set.
///
/// ```
/// use dpp_nystrom::{Dataset, Scale, data::Source};
///
/// let data = Dataset::from_rows(&[1.0, 3.0], 1)?;
/// assert!(matches!(data.source(Scale::None)?, Source::Borrowed(_)));
/// let scaled = data.source(Scale::Standard)?;
/// assert!(matches!(scaled, Source::Memory(_)));
/// assert_eq!(scaled.as_rows().columns().scaler.means, [2.0]);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Source<'a> {
    /// A scaled copy, or a kernel matrix.
    Memory(Box<Prepared>),
    /// Rows that are used as they are.
    Borrowed(Box<dyn RowSource + 'a>),
    /// A row store.
    Store(&'a Store),
}

impl Source<'_> {
    fn memory(rows: Prepared) -> Self {
        Self::Memory(Box::new(rows))
    }

    /// Lend the rows.
    pub fn as_rows(&self) -> &dyn RowSource {
        match self {
            Self::Memory(prepared) => prepared.as_ref(),
            Self::Borrowed(rows) => rows.as_ref(),
            Self::Store(store) => *store,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dataset, Scale, Source};
    use crate::data::{columns::RowSlices, store::write::convert, table::target::Target};
    use crate::error::{Cause, Error};
    use crate::kernel::precision::Precision;
    use crate::observer::NoObserver;

    #[test]
    fn a_row_store_keeps_its_own_target_and_names() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "1,2\n3,4\n").unwrap();
        convert(&data, &Target::Last, Precision::F64, &out, &NoObserver).unwrap();
        let open = || Dataset::open_store(&out).unwrap();
        assert!(matches!(open().with_target(&[1.0, 2.0]), Err(Error(Cause::StoreColumns { .. }))));
        assert!(matches!(open().with_names(&["a"], "y"), Err(Error(Cause::StoreColumns { .. }))));
    }

    #[test]
    fn a_target_takes_the_place_of_classes() {
        let x = [0.0, 1.0, 2.0];
        let classes =
            || Dataset::from_rows(&x, 1).unwrap().with_classes(&[0.0, 1.0, 1.0], &["a", "b"]).unwrap();
        let numbers = [
            classes().with_target(&[0.3, 1.2, 5.0]).unwrap(),
            classes().with_targets(&[0.3, 1.2, 5.0], &["y"]).unwrap(),
        ];
        for data in numbers {
            let columns = data.source(Scale::Standard).unwrap().as_rows().columns();
            assert!(columns.classes.is_none() && columns.further.is_empty(), "{columns:?}");
        }
    }

    #[test]
    fn rows_without_scaling_stay_where_they_are() {
        let x: Vec<f32> = (0..40).map(|value| (value * value) as f32).collect();
        let y: Vec<f64> = (0..20).map(f64::from).collect();
        let data = Dataset::from_rows(&x, 2).unwrap().with_target(&y).unwrap();
        let source = data.source(Scale::None).unwrap();
        let rows = source.as_rows();
        let Some(RowSlices::F32(lent, Some(targets))) = rows.slices() else { panic!("{rows:?}") };
        assert!(std::ptr::eq(lent, &x[..]) && rows.precision() == Some(Precision::F32));
        let column = rows.columns().target.unwrap();
        assert_eq!((column.mean, column.deviation), (9.5, (399.0_f64 / 12.0).sqrt()));

        let doubled: Vec<f64> = x.iter().copied().map(f64::from).collect();
        let all = rows.in_memory("", 0).unwrap();
        assert_eq!((&all.rows, &all.numbers), (&doubled, &None));
        let sample = rows.sample(5, 3).unwrap();
        let numbers = sample.numbers.clone().unwrap();
        assert!(numbers.len() == 5 && numbers.is_sorted_by(|one, next| one < next));
        for (place, &number) in numbers.iter().enumerate() {
            assert_eq!(sample.rows[2 * place..2 * place + 2], doubled[2 * number..2 * number + 2]);
            assert_eq!(sample.target.as_ref().unwrap().values[place], f64::from(targets[number]));
        }
        assert_eq!(rows.sample(21, 3).unwrap().rows, doubled);
        assert!(rows.gather(&[20]).is_err());
        assert!(matches!(data.source(Scale::Standard).unwrap(), Source::Memory(_)));
    }
}
