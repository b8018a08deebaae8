//! Names and statistics of a data set's columns, and rows as slices.

use crate::data::scaler::{Scaler, standardised};
use crate::error::{Cause, Error};
use dpp_nystrom_core::{Error as CoreError, Scalar};
use serde::{Deserialize, Serialize};

/// Names and statistics of the columns of a data set.
///
/// ```
/// use dpp_nystrom::{Dataset, Scale};
///
/// let data = Dataset::from_rows(&[20.0, 22.0, 27.0], 1)?.with_target(&[1.0, 2.0, 6.0])?;
/// let columns = data.with_names(&["celsius"], "hours")?.source(Scale::Standard)?.as_rows().columns();
/// assert_eq!((columns.features(), columns.width(), columns.scaler.means[0]), (1, 1, 23.0));
/// assert_eq!(columns.learnable()?.name, "hours");
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// The data set's name.
    pub name: String,
    /// The features' names, d of them.
    pub feature_names: Vec<String>,
    /// Means and standard deviations of the features, and a map.
    pub scaler: Scaler,
    /// The target, if there is one.
    pub target: Option<TargetColumn>,
    /// The targets after it.
    pub further: Vec<TargetColumn>,
    /// The classes, if the targets are their indicators.
    pub classes: Option<Classes>,
}

impl Columns {
    /// Return the number of features d.
    pub fn features(&self) -> usize {
        self.feature_names.len()
    }

    /// Return how many numbers a scaled row has: one a feature, or the rank of a map.
    pub fn width(&self) -> usize {
        self.scaler.width()
    }

    /// Return the first target if all vary.
    ///
    /// # Errors
    /// `ErrorKind::Data` for no target or a constant one.
    pub fn learnable(&self) -> Result<&TargetColumn, Error> {
        let target = self.target.as_ref().ok_or(Error(Cause::NoTarget))?;
        let mut targets = std::iter::once(target).chain(&self.further);
        match (targets.find(|target| !(target.deviation > 0.0)), &self.classes) {
            (None, _) => Ok(target),
            (Some(_), Some(classes)) => Err(Error(Cause::OneClass { name: classes.column.clone() })),
            (Some(target), None) => Err(Error(Cause::ConstantTarget { name: target.name.clone() })),
        }
    }

    /// Return the target if it is the only one and varies.
    ///
    /// # Errors
    /// Those of [`learnable`](Self::learnable), `ErrorKind::Unsupported`: `what` takes one target.
    pub(crate) fn single(&self, what: &'static str) -> Result<&TargetColumn, Error> {
        if self.further.is_empty() { self.learnable() } else { Err(Error(Cause::SeveralTargets { what })) }
    }
}

/// Scaled targets in either precision.
///
/// ```
/// use dpp_nystrom::data::Targets;
///
/// assert_eq!(Targets::from(&[1.0, 0.5][..]).len(), 2);
/// assert_eq!(Targets::F32(&[0.5]).at(0), 0.5);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision.
    F32(&'a [f32]),
}

impl Targets<'_> {
    /// Return the number of targets.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the target of a row.
    ///
    /// # Panics
    /// If `row` is not under [`len`](Self::len).
    pub fn at(&self, row: usize) -> f64 {
        match self {
            Self::F64(values) => values[row],
            Self::F32(values) => f64::from(values[row]),
        }
    }
}

impl<'a> From<&'a [f64]> for Targets<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}

/// Scaled rows where they lie, row-major, with their targets.
///
/// ```
/// use dpp_nystrom::data::RowSlices;
/// use dpp_nystrom::{Dataset, Scale};
///
/// let x = [20.0_f32, 22.0, 27.0];
/// let data = Dataset::from_rows(&x, 1)?;
/// let source = data.source(Scale::None)?; // rows where they lie, in their precision
/// let Some(RowSlices::F32(rows, None)) = source.as_rows().slices() else { panic!("rows in memory") };
/// assert!(std::ptr::eq(rows, &x[..]));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum RowSlices<'a> {
    /// Single precision.
    F32(&'a [f32], Option<&'a [f32]>),
    /// Double precision.
    F64(&'a [f64], Option<&'a [f64]>),
}

impl RowSlices<'_> {
    /// Copy some rows of `dim` features, in `f64`, with their targets.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for a row past the end.
    pub(crate) fn gather(
        &self,
        dim: usize,
        indices: &[usize],
    ) -> Result<(Vec<f64>, Option<Vec<f64>>), Error> {
        match *self {
            Self::F32(rows, targets) => gather(rows, targets, dim, indices),
            Self::F64(rows, targets) => gather(rows, targets, dim, indices),
        }
    }
}

fn gather<T: Scalar>(
    rows: &[T],
    targets: Option<&[T]>,
    dim: usize,
    indices: &[usize],
) -> Result<(Vec<f64>, Option<Vec<f64>>), Error> {
    let len = rows.len().checked_div(dim).unwrap_or(0);
    if let Some(&index) = indices.iter().find(|&&index| index >= len) {
        return Err(CoreError::OutOfRange { index, len }.into());
    }
    let row = |index: &usize| rows[index * dim..(index + 1) * dim].iter().map(|value| value.to_f64());
    let features = indices.iter().flat_map(row).collect();
    let targets = targets.map(|targets| indices.iter().map(|&index| targets[index].to_f64()).collect());
    Ok((features, targets))
}

/// The target column: its name and what scales it.
///
/// ```
/// use dpp_nystrom::{Dataset, Scale};
///
/// let data = Dataset::from_rows(&[0.0, 1.0], 1)?.with_target(&[4.0, 8.0])?;
/// let target = data.source(Scale::Standard)?.as_rows().columns().target.expect("a target");
/// assert_eq!((target.name.as_str(), target.mean, target.deviation), ("y", 6.0, 2.0));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetColumn {
    /// The column's name.
    pub name: String,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation; 0 if it is constant.
    pub deviation: f64,
}

impl TargetColumn {
    /// Describe the indicator of a class that is the label of this share of the rows.
    pub(crate) fn indicator(column: &str, label: &str, share: f64) -> Self {
        let share = share.min(1.0);
        let name = Self::name_of_indicator(column, label);
        Self { name, mean: share, deviation: (share * (1.0 - share)).sqrt() }
    }

    /// Return the name of the indicator of a class.
    pub(crate) fn name_of_indicator(column: &str, label: &str) -> String {
        format!("{column}={label}")
    }

    /// Return a value with mean 0 and standard deviation 1.
    pub(crate) fn standardised(&self, value: f64) -> f64 {
        standardised(value, self.mean, self.deviation)
    }
}

/// The classes of rows that have the index of theirs, in place of an indicator for each class.
///
/// ```
/// use dpp_nystrom::data::{ClassIndices, TargetColumn, Targets};
///
/// let indicators = ["iris=setosa", "iris=virginica"];
/// let indicators = indicators.map(|name| TargetColumn { name: name.to_owned(), mean: 0.5, deviation: 0.5 });
/// let classes = ClassIndices { indices: Targets::F64(&[1.0, 0.0]), indicators: &indicators };
/// assert_eq!(classes.indicators[classes.indices.at(0) as usize].name, "iris=virginica");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClassIndices<'a> {
    /// The index of each row's class, from 0.
    pub indices: Targets<'a>,
    /// The indicators.
    pub indicators: &'a [TargetColumn],
}

/// The classes of a column of labels. Each is a target, 1 in rows of the class and else 0.
///
/// ```
/// use dpp_nystrom::{Dataset, LandmarkRidge};
///
/// let x: Vec<f64> = (0..200).map(|i| f64::from(i % 100)).collect();
/// let class: Vec<f64> = x.iter().map(|&x| f64::from(u8::from(x > 49.0))).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_classes(&class, &["cold", "warm"])?;
/// let model = LandmarkRidge::default().landmarks(8).fit(&data)?;
/// let classes = model.columns().classes.expect("a model of classes");
/// assert_eq!(classes.labels[model.classify(&[90.0])?[0].index], "warm");
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes {
    /// The column's name.
    pub column: String,
    /// The labels, in the order of the targets: at least two.
    pub labels: Vec<String>,
}

/// Check that the target of each row is the index of one of so many labels.
///
/// # Errors
/// `ErrorKind::Data` with the row.
pub(crate) fn check_indices(of_rows: &[f64], labels: usize) -> Result<(), Error> {
    let is_index = |class: f64| class >= 0.0 && class.fract() == 0.0 && class < labels as f64;
    match of_rows.iter().position(|&class| !is_index(class)) {
        Some(row) => Err(Error(Cause::Unlabelled { row, labels })),
        None => Ok(()),
    }
}
