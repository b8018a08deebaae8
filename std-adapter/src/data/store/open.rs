//! Row stores: standardised rows on disk, memory-mapped, for data larger than memory.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppnyrow` |
//! | 8 to 11 | version: 1, 2 with a recipe, 3 with a recipe and classes, or 4 with markers of missing values as well |
//! | 12 to 15 | length of the description |
//! | 16 to 19 | CRC-32 of bytes 8 to 15 and of the description |
//! | 20 on | the description, in postcard's format: names, statistics, shape, the CRC-32 of the values; from version 2 on then the [`Recipe`] of the features, in 3 and 4 the label of each class with its number of rows, and in 4 the markers; there may be no class in 4 |
//! | a multiple of 4,096 | the rows, one after the other: N x d values, `f32` or `f64` |
//! | after them | the target, N values, if there is one; of classes the index of each row's |
//!
//! Everything is little-endian. The stored rows are standardised, so that the mapped bytes are a ground set,
//! and the description holds the statistics to undo that. Opening a store reads the description and compares
//! the file's length. Verifying the values' checksum takes a pass over them: [`Store::verify`] makes one, and
//! a fit verifies as it reads.
//!
//! The values are mapped into memory. [`Store::check`] reports whether the file changed after it was opened;
//! every result from a store is checked before it is written (see [`dpp_nystrom_mapped`]).

use crate::data::columns::{ClassIndices, Classes, Columns, RowSlices, TargetColumn, Targets};
use crate::data::{
    prepared::Prepared, prepared::StandardTarget, scaler::Scaler, table::input::Table, table::recipe::Recipe,
};
use crate::data::{source::RowSource, targets::TargetRows};
use crate::error::{
    Cause, Error,
    store::StoreProblem,
    table::{TableError, TableProblem},
};
use crate::framed_file::{Frame, FrameProblem, Length, begins_with};
use crate::kernel::precision::Precision;
use dpp_nystrom_core::Scalar;
use dpp_nystrom_mapped::Mapped;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const FRAME: Frame =
    Frame { magic: b"dppnyrow", version: 1, latest: 4, length: Length::Four, followed: true };

/// Rows begin at a multiple of this: a page, so that the values are aligned wherever the file is mapped.
pub(crate) const ALIGNMENT: u64 = 4_096;

/// Bytes that stay in the cache between their checksum and the search for numbers that are not finite.
const PART: usize = 1 << 16;

/// Rows per block of a pass.
pub(super) const BLOCK: usize = 4_096;

/// The description of a store's rows.
///
/// ```
/// use dpp_nystrom::data::{store::convert, table::Target};
/// use dpp_nystrom::{kernel::Precision, observer::NoObserver};
///
/// let folder = tempfile::tempdir()?;
/// let [text, rows] = ["houses.csv", "houses.rows"].map(|name| folder.path().join(name));
/// std::fs::write(&text, "rooms,area,price\n3,70,210\n5,90,300\n")?;
/// let store = convert(&text, &Target::Last, Precision::F32, &rows, &NoObserver)?;
/// let description = store.description();
/// assert_eq!((description.name.as_str(), description.rows, description.single), ("houses", 2, true));
/// assert_eq!(description.scaler.means, [4.0, 80.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The data set's name.
    pub name: String,
    /// The features' names.
    pub feature_names: Vec<String>,
    /// The statistics by which the features were standardised.
    pub scaler: Scaler,
    /// The target's name and what standardised it, if there is one.
    pub target: Option<TargetColumn>,
    /// The number of rows N.
    pub rows: u64,
    /// Whether the values are `f32`; otherwise `f64`.
    pub single: bool,
    /// CRC-32 of all values.
    pub checksum: u32,
    /// The file offset of the first row.
    pub(crate) offset: u64,
    /// How the columns of a table became the features, if there is more to it than their names.
    #[serde(skip)]
    pub recipe: Option<Recipe>,
    /// The classes, if the target is the index of one.
    #[serde(skip)]
    pub classes: Vec<StoredClass>,
}

/// A class of a store's rows.
///
/// ```
/// use dpp_nystrom::data::{store::convert_with, table::{Labels, Options}};
/// use dpp_nystrom::{Scale, kernel::Precision, observer::NoObserver};
///
/// let folder = tempfile::tempdir()?;
/// let [text, rows] = ["iris.csv", "iris.rows"].map(|name| folder.path().join(name));
/// std::fs::write(&text, "petal,species\n1.4,setosa\n5.1,virginica\n1.3,setosa\n")?;
/// let options = Options { labels: Labels::Words, ..Options::default() };
/// let (store, _) = convert_with(&text, &options, (Precision::F64, Scale::Standard), &rows, &NoObserver)?;
/// let setosa = &store.description().classes[0];
/// assert_eq!((setosa.label.as_str(), setosa.rows), ("setosa", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredClass {
    /// Its label.
    pub label: String,
    /// How many rows it has.
    pub rows: u64,
}

impl Description {
    fn features(&self) -> usize {
        self.feature_names.len()
    }

    fn number_bytes(&self) -> u64 {
        if self.single { 4 } else { 8 }
    }

    /// Return the length of the file; none if it overflows.
    fn length(&self) -> Option<u64> {
        let columns = self.features() as u64 + u64::from(self.target.is_some());
        self.rows.checked_mul(columns)?.checked_mul(self.number_bytes())?.checked_add(self.offset)
    }

    fn is_well_formed(&self) -> bool {
        let usable = |target: &TargetColumn| {
            let TargetColumn { mean, deviation, .. } = *target;
            Scaler { means: vec![mean], deviations: vec![deviation], map: None, bounds: None }
                .is_well_formed(1)
        };
        self.rows > 0
            && self.features() > 0
            && self.scaler.is_well_formed(self.features())
            && self.target.as_ref().is_none_or(usable)
            && self.recipe.as_ref().is_none_or(|recipe| recipe.is_well_formed(&self.feature_names))
            && self.has_usable_classes()
            && self.offset.is_multiple_of(ALIGNMENT)
            && usize::try_from(self.rows).is_ok()
    }

    /// Whether there are no classes, or each has another label and rows, and these are all rows; a target
    /// then is an index as it is.
    fn has_usable_classes(&self) -> bool {
        let labels: HashSet<&str> = self.classes.iter().map(|class| class.label.as_str()).collect();
        let rows = self.classes.iter().try_fold(0_u64, |sum, class| sum.checked_add(class.rows));
        let is_index = |target: &TargetColumn| (target.mean, target.deviation) == (0.0, 1.0);
        self.classes.is_empty()
            || (labels.len() == self.classes.len()
                && self.classes.iter().all(|class| class.rows > 0)
                && rows == Some(self.rows)
                && self.target.as_ref().is_some_and(is_index))
    }

    /// Return the indicators of the classes.
    fn indicators(&self) -> Vec<TargetColumn> {
        let column = self.target.as_ref().map_or("", |target| &target.name);
        let share = |class: &StoredClass| class.rows as f64 / self.rows as f64;
        let indicator = |class: &StoredClass| TargetColumn::indicator(column, &class.label, share(class));
        self.classes.iter().map(indicator).collect()
    }

    /// Return the labels of the classes.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.classes.iter().map(|class| class.label.clone()).collect()
    }
}

/// Whether all numbers of these bytes, aligned, are finite.
fn all_finite<T: Scalar + bytemuck::Pod>(bytes: &[u8]) -> bool {
    bytemuck::cast_slice::<u8, T>(bytes).iter().fold(true, |all, value| all & value.is_finite())
}

/// An open row store.
///
/// ```
/// use dpp_nystrom::data::{store::{Store, convert}, table::Target};
/// use dpp_nystrom::{kernel::Precision, observer::NoObserver};
///
/// let folder = tempfile::tempdir()?;
/// let [text, rows] = ["houses.csv", "houses.rows"].map(|name| folder.path().join(name));
/// std::fs::write(&text, "rooms,area,price\n3,70,210\n5,90,300\n")?;
/// convert(&text, &Target::Last, Precision::F64, &rows, &NoObserver)?;
/// assert!(Store::is_store(&rows) && !Store::is_store(&text));
/// let store = Store::open(&rows)?;
/// assert_eq!((store.len(), store.features(), store.precision()), (2, 2, Precision::F64));
/// store.verify()?; // the checksum of all values
/// assert_eq!(store.table_of(&[1])?.row(0), [5.0, 90.0]); // in the file's units
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    pub(crate) path: PathBuf,
    description: Description,
    /// The indicators of the classes.
    pub(crate) indicators: Vec<TargetColumn>,
    pub(crate) mapped: Mapped,
}

impl Store {
    /// Whether a file begins like a row store; false if it cannot be read.
    pub fn is_store(path: &Path) -> bool {
        begins_with(path, FRAME.magic)
    }

    /// Open a store: read its description, but no row.
    ///
    /// # Errors
    /// `ErrorKind::File` if the file cannot be read, `ErrorKind::Format` if it is invalid.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let refuse = |problem| Error(Cause::Store { path: path.to_owned(), problem });
        if cfg!(target_endian = "big") {
            return Err(refuse(StoreProblem::BigEndian));
        }
        let mapped = match Mapped::open(path) {
            Ok(mapped) => mapped,
            Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(refuse(StoreProblem::Foreign));
            }
            Err(source) => return Err(TableError::new(path, TableProblem::Open(source)).into()),
        };
        // The content is copied out before it is trusted: the file may change.
        let framed = FRAME.read(&mut mapped.bytes(), u64::MAX);
        let framed = framed.map_err(|source| TableError::new(path, TableProblem::Read(source)))?;
        let (version, content) = framed.map_err(|problem| {
            refuse(match problem {
                FrameProblem::Foreign => StoreProblem::Foreign,
                FrameProblem::Version(version) => StoreProblem::Version(version),
                FrameProblem::Truncated => StoreProblem::Truncated,
                FrameProblem::Longer => StoreProblem::Longer,
                FrameProblem::Corrupt => StoreProblem::Corrupt,
            })
        })?;
        let description = postcard::take_from_bytes::<Description>(&content);
        let (mut description, rest) = description.map_err(|_| refuse(StoreProblem::Malformed))?;
        let malformed = |_| refuse(StoreProblem::Malformed);
        let rest = match version {
            2 => {
                let (recipe, rest) = postcard::take_from_bytes(rest).map_err(malformed)?;
                description.recipe = Some(recipe);
                rest
            }
            3 => {
                let ((recipe, classes), rest) = postcard::take_from_bytes(rest).map_err(malformed)?;
                (description.recipe, description.classes) = (Some(recipe), classes);
                rest
            }
            4 => {
                let ((recipe, classes, markers), rest): ((Recipe, _, _), _) =
                    postcard::take_from_bytes(rest).map_err(malformed)?;
                description.recipe = Some(Recipe { missing_values: Some(markers), ..recipe });
                description.classes = classes;
                rest
            }
            _ => rest,
        };
        let as_the_version_says = rest.is_empty() && (version != 3 || !description.classes.is_empty());
        if !description.is_well_formed() || !as_the_version_says {
            return Err(refuse(StoreProblem::Malformed));
        }
        match description.length().map(|length| (mapped.bytes().len() as u64).cmp(&length)) {
            Some(Ordering::Equal) => {}
            Some(Ordering::Less) => return Err(refuse(StoreProblem::Truncated)),
            Some(Ordering::Greater) => return Err(refuse(StoreProblem::Longer)),
            None => return Err(refuse(StoreProblem::Malformed)),
        }
        let indicators = description.indicators();
        let store = Self { path: path.to_owned(), description, indicators, mapped };
        store.check()?;
        Ok(store)
    }

    /// Return the description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Return the number of rows N.
    pub fn len(&self) -> usize {
        self.description.rows as usize
    }

    /// Whether there are no rows. Always false: a store without rows is rejected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the number of features d.
    pub fn features(&self) -> usize {
        self.description.features()
    }

    /// Return the precision of the stored values.
    pub fn precision(&self) -> Precision {
        if self.description.single { Precision::F32 } else { Precision::F64 }
    }

    fn number_area(&self) -> &[u8] {
        &self.mapped.bytes()[self.description.offset as usize..]
    }

    /// Lend the rows and targets; of classes, the index of each row's.
    pub fn slices(&self) -> RowSlices<'_> {
        let numbers = self.len() * self.features();
        let has_target = self.description.target.is_some();
        // The offset is a multiple of a page and the length was compared, so the values are aligned and
        // complete.
        if self.description.single {
            let (rows, targets) = bytemuck::cast_slice::<u8, f32>(self.number_area()).split_at(numbers);
            RowSlices::F32(rows, has_target.then_some(targets))
        } else {
            let (rows, targets) = bytemuck::cast_slice::<u8, f64>(self.number_area()).split_at(numbers);
            RowSlices::F64(rows, has_target.then_some(targets))
        }
    }

    /// Check that the file was not changed since it was opened. Call this before using a result computed from
    /// the store.
    ///
    /// # Errors
    /// `ErrorKind::Format` with the reason: truncated or modified since it was opened.
    pub fn check(&self) -> Result<(), Error> {
        self.mapped.check().map_err(|source| {
            let problem = match source.kind() {
                io::ErrorKind::UnexpectedEof => StoreProblem::Shortened,
                _ => StoreProblem::Altered,
            };
            Error(Cause::Store { path: self.path.clone(), problem })
        })
    }

    /// Verify the checksum of the values, and that all are finite: one pass over the file.
    ///
    /// # Errors
    /// `ErrorKind::Format` for values whose checksum does not match, or that are not finite, or as
    /// [`check`](Self::check).
    pub fn verify(&self) -> Result<(), Error> {
        self.mapped.expect_order();
        let mut hasher = crc32fast::Hasher::new();
        let mut finite = true;
        for part in self.number_area().chunks(PART) {
            hasher.update(part);
            finite &= if self.description.single { all_finite::<f32>(part) } else { all_finite::<f64>(part) };
        }
        self.check()?;
        let refuse = |problem| Err(Error(Cause::Store { path: self.path.clone(), problem }));
        if hasher.finalize() != self.description.checksum {
            return refuse(StoreProblem::Values);
        }
        if let Some((row, column)) = self.first_not_finite().filter(|_| !finite) {
            return refuse(StoreProblem::NotFinite { row, column });
        }
        match self.first_without_class() {
            Some(row) => refuse(StoreProblem::NoClass { row }),
            None => Ok(()),
        }
    }

    /// Return the first row of which the target is no index of a class, if there are classes.
    fn first_without_class(&self) -> Option<usize> {
        let ClassIndices { indices, indicators } = self.class_indices()?;
        let is_index = |value: f64| value.fract() == 0.0 && (0.0..indicators.len() as f64).contains(&value);
        (0..indices.len()).find(|&row| !is_index(indices.at(row)))
    }

    /// Return the row and the column of the first number that is not finite.
    fn first_not_finite(&self) -> Option<(usize, String)> {
        let area = self.number_area();
        let at = match self.description.single {
            true => bytemuck::cast_slice::<u8, f32>(area).iter().position(|value| !value.is_finite()),
            false => bytemuck::cast_slice::<u8, f64>(area).iter().position(|value| !value.is_finite()),
        }?;
        let features = self.features();
        match at.checked_sub(self.len() * features) {
            Some(row) => Some((row, self.description.target.as_ref()?.name.clone())),
            None => Some((at / features, self.description.feature_names.get(at % features)?.clone())),
        }
    }

    /// Return some rows as a table, in the units of the original file. The indices must be ascending.
    ///
    /// # Errors
    /// As [`check`](Self::check); `ErrorKind::Argument` for a row past the end.
    pub fn table_of(&self, numbers: &[usize]) -> Result<Table, Error> {
        Ok(self.gather_as_stored(numbers)?.into_table())
    }

    /// Return the labels of the classes, of which a target of [`table_of`](Self::table_of) is the index; none
    /// if it is a number.
    pub fn labels(&self) -> Vec<String> {
        self.description.labels()
    }

    /// Return some standardised rows in `f64`, with the statistics of all rows of the store.
    ///
    /// # Errors
    /// As [`check`](Self::check); `ErrorKind::Argument` for a row past the end.
    pub fn gather(&self, numbers: &[usize]) -> Result<Prepared, Error> {
        let mut gathered = self.gather_as_stored(numbers)?;
        if let Some(index) = gathered.target.take_if(|_| !self.indicators.is_empty()) {
            let targets = TargetRows::Classes(ClassIndices {
                indices: Targets::F64(&index.values),
                indicators: &self.indicators,
            });
            let indicator = |(output, column): (usize, &TargetColumn)| {
                let values = (0..numbers.len()).map(|row| targets.at(row, output)).collect();
                let TargetColumn { name, mean, deviation } = column.clone();
                StandardTarget { name, values, mean, deviation }
            };
            let mut indicators = self.indicators.iter().enumerate().map(indicator);
            (gathered.target, gathered.further) = (indicators.next(), indicators.collect());
            gathered.classes = self.columns().classes;
        }
        Ok(gathered)
    }

    /// [`gather`](Self::gather) with the indices of classes.
    fn gather_as_stored(&self, numbers: &[usize]) -> Result<Prepared, Error> {
        let (rows, targets) = self.slices().gather(self.features(), numbers)?;
        self.check()?;
        let is_part = numbers.iter().copied().ne(0..self.len());
        Ok(Prepared::of(self.columns_as_stored(), rows, targets, is_part.then(|| numbers.to_vec())))
    }

    pub(crate) fn columns(&self) -> Columns {
        let mut columns = self.columns_as_stored();
        if let Some((first, further)) = self.indicators.split_first()
            && let Some(index) = columns.target.replace(first.clone())
        {
            columns.further = further.to_vec();
            columns.classes = Some(Classes { column: index.name, labels: self.labels() });
        }
        columns
    }

    fn columns_as_stored(&self) -> Columns {
        let Description { name, feature_names, scaler, target, .. } = self.description.clone();
        Columns { name, feature_names, scaler, target, further: Vec::new(), classes: None }
    }

    /// Pass all rows, in the units of the original file, to `receive` in blocks of some thousands. The
    /// checksum is verified before the first block.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and the errors of `receive`.
    ///
    /// ```
    /// use dpp_nystrom::data::{store::convert, table::Target};
    /// use dpp_nystrom::{Error, kernel::Precision, observer::NoObserver};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let [text, rows] = ["houses.csv", "houses.rows"].map(|name| folder.path().join(name));
    /// std::fs::write(&text, "rooms,price\n3,210\n5,350\n")?;
    /// let store = convert(&text, &Target::Last, Precision::F64, &rows, &NoObserver)?;
    /// let mut rooms = 0.0;
    /// store.read_blocks(|block| {
    ///     rooms += block.features.iter().sum::<f64>();
    ///     Ok::<(), Error>(())
    /// })?;
    /// assert_eq!(rooms, 8.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_blocks<E: From<Error>>(
        &self,
        mut receive: impl FnMut(Table) -> Result<(), E>,
    ) -> Result<(), E> {
        self.verify()?;
        for first in (0..self.len()).step_by(BLOCK) {
            let end = self.len().min(first + BLOCK);
            receive(self.table_of(&(first..end).collect::<Vec<_>>())?)?;
        }
        Ok(())
    }

    /// Refuse features that are not these, by name and in order.
    ///
    /// # Errors
    /// `ErrorKind::Format`.
    pub fn has_features(&self, names: &[String]) -> Result<(), Error> {
        if self.description.feature_names == names {
            return Ok(());
        }
        Err(Error(Cause::Store { path: self.path.clone(), problem: StoreProblem::OtherFeatures }))
    }
}
