//! Standardised rows in memory: all of a table, or a sample.

use crate::data::columns::{Classes, Columns, RowSlices, TargetColumn};
use crate::data::{
    map::Map, scaler::Scale, scaler::Scaler, table::input::Reading, table::input::Table,
    table::recipe::Recipe, weights::Weights, weights::is_weight, weights::normalised,
};
use crate::error::{Cause, Error, check_length};
use crate::kernel::spec::KernelSpec;
use dpp_nystrom_core::{Error as CoreError, Points, Scalar, kernel::ChosenKernel};
use dpp_nystrom_host::rng::{RngStream, stream};
use faer::Mat;
use rand::seq::index;
use std::collections::HashSet;
use std::mem;
use std::ops::Range;

/// A target with mean 0 and standard deviation 1.
///
/// ```
/// use dpp_nystrom::{Dataset, Scale};
///
/// let data = Dataset::from_rows(&[0.0, 1.0], 1)?.with_target(&[4.0, 8.0])?;
/// let source = data.source(Scale::Standard)?;
/// let target = source.as_rows().as_prepared().expect("rows in memory").target()?;
/// assert_eq!((&target.values[..], target.mean, target.deviation), (&[-1.0, 1.0][..], 6.0, 2.0));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StandardTarget {
    /// The column's name.
    pub name: String,
    /// A value for each row.
    pub values: Vec<f64>,
    /// The mean, which was subtracted.
    pub mean: f64,
    /// The standard deviation, by which the differences were divided; 0 for a constant target.
    pub deviation: f64,
}

/// Whether predictions of a target with this mean and deviation may overflow, though its values do not:
/// within sixteen deviations, far more than a regression on scaled targets leaves them.
pub(crate) fn leaves_no_room(mean: f64, deviation: f64) -> bool {
    const DEVIATIONS: f64 = 16.0;
    !(mean.abs() + DEVIATIONS * deviation).is_finite()
}

impl StandardTarget {
    /// Scale a target of weighted rows to mean 0 and standard deviation 1.
    ///
    /// # Errors
    /// `ErrorKind::Data` for values whose statistics are not finite, or too large for predictions beside
    /// them.
    pub(crate) fn of(name: String, mut values: Vec<f64>, weights: Weights<'_>) -> Result<Self, Error> {
        let statistics = Scaler::weighted(&values, 1, weights);
        if statistics.overflow().is_some() || leaves_no_room(statistics.means[0], statistics.deviations[0]) {
            return Err(Error(Cause::Spread { column: name }));
        }
        statistics.apply(&mut values);
        let (mean, deviation) = (statistics.means[0], statistics.deviations[0]);
        Ok(Self { name, values, mean, deviation })
    }

    /// Copy the values of these rows.
    pub(crate) fn gather(&self, rows: &[usize]) -> Self {
        Self { values: rows.iter().map(|&row| self.values[row]).collect(), ..self.clone() }
    }
}

impl From<&StandardTarget> for TargetColumn {
    fn from(target: &StandardTarget) -> Self {
        Self { name: target.name.clone(), mean: target.mean, deviation: target.deviation }
    }
}

/// Standardised rows, mapped if there is a map, with the names and statistics of their columns.
///
/// ```
/// use dpp_nystrom::data::{Prepared, table::{self, Target}};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "rooms,area,price\n3,70,210\n5,90,300\n")?;
/// let rows = Prepared::new(table::read(&path, &Target::Last)?, None, 0)?;
/// assert_eq!((rows.len(), rows.dim(), rows.rows()), (2, 2, &[-1.0, -1.0, 1.0, 1.0][..]));
/// assert_eq!(rows.statistics().means, [4.0, 80.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The data set's name.
    pub(crate) name: String,
    /// The features' names.
    pub(crate) feature_names: Vec<String>,
    /// How many numbers a row has: one a feature, or the rank of a map.
    pub(crate) dim: usize,
    /// The rows, row-major.
    pub(crate) rows: Vec<f64>,
    /// The statistics by which they were standardised.
    pub(crate) statistics: Scaler,
    /// The target, if there is one.
    pub(crate) target: Option<StandardTarget>,
    /// The targets after it.
    pub(crate) further: Vec<StandardTarget>,
    /// The classes, if the targets are their indicators.
    pub(crate) classes: Option<Classes>,
    /// The weight of each row, positive and of mean 1; none if each counts once. A row of weight `w` counts
    /// as `w` rows in statistics, regressions and errors.
    pub(crate) weights: Option<Vec<f64>>,
    /// The group of each row, if rows of one group are held out together.
    pub(crate) groups: Option<Vec<u32>>,
    /// Whether rows follow each other in time, so that contiguous blocks of them are held out.
    pub(crate) in_time: bool,
    /// The rows' indices in the file, from 0; none if all rows are used, in order.
    pub(crate) numbers: Option<Vec<usize>>,
    /// How the columns of a table became the features, if there is one.
    pub(crate) recipe: Option<Recipe>,
}

impl Prepared {
    /// Take rows, row-major, and values of the target, which are standardised by `columns` already, for a
    /// [`RowSource`](crate::data::RowSource) of one's own. Targets and classes after the first are left out.
    ///
    /// # Errors
    /// `ErrorKind::Data` for lengths that do not fit each other, a target without a column or a column
    /// without one, and values that are not finite.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Scale, data::Prepared};
    ///
    /// let data = Dataset::from_rows(&[1.0, 2.0, 5.0], 1)?;
    /// let source = data.source(Scale::Standard)?;
    /// let columns = source.as_rows().columns();
    /// let two = Prepared::from_parts(columns.clone(), vec![0.5, -0.5], None)?;
    /// assert_eq!((two.len(), two.rows()), (2, &[0.5, -0.5][..]));
    /// assert!(Prepared::from_parts(columns, vec![f64::NAN], None).is_err());
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn from_parts(columns: Columns, rows: Vec<f64>, target: Option<Vec<f64>>) -> Result<Self, Error> {
        check_length("feature names", columns.scaler.means.len(), columns.feature_names.len())?;
        let width = columns.width().max(1);
        let count = rows.len() / width;
        check_length("numbers of the rows", count * width, rows.len())?;
        let targets = columns.target.as_ref().map_or(0, |_| count);
        check_length("targets", targets, target.as_ref().map_or(0, Vec::len))?;
        let is_wrong = |value: &f64| !value.is_finite();
        let of_rows = rows.iter().position(is_wrong).map(|at| (at / width, at % width));
        let of_target = target.iter().flatten().position(is_wrong).map(|row| (row, width));
        match of_rows.or(of_target) {
            Some((row, column)) => Err(Error(Cause::Core(CoreError::NotFinite { row, column }))),
            None => Ok(Self::of(columns, rows, target, None)),
        }
    }

    /// Standardise all rows of a table, or `sample` of them drawn at random, in the file's order. Rows of
    /// weight 0 are left out before. The rows are not copied.
    ///
    /// # Errors
    /// `ErrorKind::Data` for a sample larger than the table or empty, for features too far apart, for a
    /// weight that is negative or not finite, and if all weights are 0.
    pub fn new(mut table: Table, sample: Option<usize>, seed: u64) -> Result<Self, Error> {
        let present = present(&mut table)?;
        let drawn = match sample {
            Some(wanted) => draw(table.rows(), wanted, seed)?,
            None => None,
        };
        if let Some(drawn) = &drawn {
            table.keep(drawn);
            table.weights = table.weights.map(normalised);
        }
        let numbers = match (present, drawn) {
            (Some(present), Some(drawn)) => Some(drawn.into_iter().map(|row| present[row]).collect()),
            (present, drawn) => present.or(drawn),
        };
        let statistics = Scaler::weighted(&table.features, table.dim, Weights(table.weights.as_deref()));
        Ok(Self { numbers, ..Self::scaled_by(table, statistics)? })
    }

    /// Return the data set's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Return the features' names.
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// Return how many numbers a row has: one a feature, or the rank of a map.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Return the rows, row-major.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// Return the statistics by which the rows were standardised.
    pub fn statistics(&self) -> &Scaler {
        &self.statistics
    }

    /// Return the classes, if the targets are their indicators.
    pub fn classes(&self) -> Option<&Classes> {
        self.classes.as_ref()
    }

    /// Return the weight of each row, positive and of mean 1; none if each counts once. A row of weight `w`
    /// counts as `w` rows in statistics, regressions and errors.
    pub fn row_weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Return how the columns of a table became the features, if there is one.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    /// Return the rows in their own units, row-major.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` for mapped rows.
    pub fn into_own_units(self) -> Result<Vec<f64>, Error> {
        if self.statistics.map.is_some() {
            return Err(Error(Cause::Metric { problem: "mapped rows have no units of their own" }));
        }
        let mut rows = self.rows;
        self.statistics.undo(&mut rows);
        Ok(rows)
    }

    /// Hold out rows of one group together; `groups` has the group of each row.
    ///
    /// # Errors
    /// `ErrorKind::Data` for another number of groups than of rows, and if all rows are in one group.
    pub fn grouped(self, groups: Vec<u32>) -> Result<Self, Error> {
        check_length("groups", self.len(), groups.len())?;
        if groups.windows(2).all(|two| two[0] == two[1]) {
            return Err(Error(Cause::OneGroup));
        }
        Ok(Self { groups: Some(groups), ..self })
    }

    /// Say whether rows follow each other in time, so that contiguous blocks of them are held out.
    #[must_use]
    pub fn in_time(self, in_time: bool) -> Self {
        Self { in_time, ..self }
    }

    /// Leave out targets and classes.
    #[must_use]
    pub fn without_targets(self) -> Self {
        Self { target: None, further: Vec::new(), classes: None, ..self }
    }

    /// Number these rows, made of the rows `of` of a table, as the table does.
    ///
    /// # Errors
    /// `ErrorKind::Data` where `of` has fewer rows than these were made of.
    pub fn numbered_as(self, of: &[usize]) -> Result<Self, Error> {
        let own = (0..self.len()).map(|row| self.number(row));
        let least = own.clone().max().map_or(0, |last| last + 1);
        check_length("row numbers", least.max(of.len()), of.len())?;
        let numbers = own.map(|number| of[number]).collect();
        Ok(Self { numbers: Some(numbers), ..self })
    }

    /// Return the weights.
    pub(crate) fn weights(&self) -> Weights<'_> {
        Weights(self.weights.as_deref())
    }

    /// Scale the rows, standardised ones without a map, in another way.
    ///
    /// # Errors
    /// `ErrorKind::Data` for values too far apart to be scaled.
    pub fn scaled(self, scale: Scale) -> Result<Self, Error> {
        if scale == Scale::Standard {
            return Ok(self);
        }
        let mut rows = self.rows;
        self.statistics.undo(&mut rows);
        let statistics = scale.statistics(&rows, self.dim, Weights(self.weights.as_deref()));
        if let Some(column) = statistics.overflow() {
            return Err(Error(Cause::Spread {
                column: self.feature_names.get(column).cloned().unwrap_or_default(),
            }));
        }
        statistics.apply(&mut rows);
        Ok(Self { rows, statistics, ..self })
    }

    /// Return the columns of which one row makes up more than half of the variance: the name, the row and the
    /// share. Fewer than twenty rows are too few to say, and where all other rows are equal, but for gaps
    /// that were filled with the mean, it is an indicator.
    pub fn dominated(&self) -> Vec<(&str, usize, f64)> {
        const FEWEST: usize = 20;
        // The mean is 0 but for rounding.
        const MEAN: f64 = 1e-9;
        let count = self.len();
        let share = |value: &dyn Fn(usize) -> f64| {
            let square = |row| value(row) * value(row);
            let row = (0..count).max_by(|&one, &other| square(one).total_cmp(&square(other))).unwrap_or(0);
            let others = (0..count).filter(|&other| other != row).map(value);
            let mut others = others.filter(|value| value.abs() > MEAN);
            let first = others.next();
            let varies = others.any(|value| Some(value) != first);
            (row, if varies { square(row) / (0..count).map(square).sum::<f64>() } else { 0.0 })
        };
        let features = self.feature_names.iter().enumerate();
        let features =
            features.map(|(column, name)| (name, share(&|row| self.rows[row * self.dim + column])));
        let target = self.target.iter().map(|target| (&target.name, share(&|row| target.values[row])));
        let columns = features.chain(target).filter(|(_, (_, share))| *share > 0.5);
        let columns = columns.map(|(name, (row, share))| (name.as_str(), self.number(row), share));
        if count < FEWEST || self.statistics.map.is_some() { Vec::new() } else { columns.collect() }
    }

    /// Standardise the rows of a table as [`new`](Self::new) does, and keep its recipe and the numbers of its
    /// rows in the file, of which some may have been left out.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn of_reading(reading: Reading, sample: Option<usize>, seed: u64) -> Result<Self, Error> {
        let Reading { table, further, groups, recipe, remarks, .. } = reading;
        let rows = table.rows();
        let mut prepared = Self::new(table, sample, seed)?;
        let drawn = |values: Vec<f64>| match &prepared.numbers {
            Some(numbers) => numbers.iter().map(|&row| values[row]).collect(),
            None => values,
        };
        let groups = (!groups.is_empty()).then(|| match &prepared.numbers {
            Some(numbers) => numbers.iter().map(|&row| groups[row]).collect(),
            None => groups,
        });
        let further = recipe.further.iter().zip(further.into_iter().map(drawn));
        let weights = prepared.weights();
        let further = further.map(|(name, values)| StandardTarget::of(name.clone(), values, weights));
        prepared.further = further.collect::<Result<_, _>>()?;
        if let Some(groups) = groups {
            prepared = prepared.grouped(groups)?;
        }
        if let Some(labels) = &recipe.classes {
            prepared.classify(labels);
        }
        prepared.recipe = Some(recipe);
        if !remarks.dropped.is_empty() {
            let dropped: HashSet<usize> = remarks.dropped.into_iter().collect();
            let kept: Vec<usize> = (0..rows + dropped.len()).filter(|row| !dropped.contains(row)).collect();
            prepared.numbers = Some(match prepared.numbers {
                Some(numbers) => numbers.into_iter().map(|row| kept[row]).collect(),
                None => kept,
            });
        }
        Ok(prepared)
    }

    /// Replace a target that is the index of a label by the indicators of the classes. Labels without rows
    /// are left out.
    pub fn classify(&mut self, labels: &[String]) {
        let Some(StandardTarget { name: column, values, mean, deviation }) = self.target.take() else {
            return;
        };
        let of_rows: Vec<usize> =
            values.iter().map(|value| (mean + deviation * value).round() as usize).collect();
        let has_rows = |class: &usize| of_rows.contains(class);
        let present: Vec<usize> = (0..labels.len()).filter(has_rows).collect();
        let labels: Vec<String> = present.iter().map(|&class| labels[class].clone()).collect();
        let weights = self.weights();
        let all = weights.sum(of_rows.len());
        let mut targets = present.iter().zip(&labels).map(|(&class, label)| {
            let own = of_rows.iter().enumerate().filter(|&(_, other)| *other == class);
            let share = own.map(|(row, _)| weights.at(row)).sum::<f64>() / all;
            let indicator = TargetColumn::indicator(&column, label, share);
            let value = |&other: &usize| indicator.standardised(f64::from(u8::from(other == class)));
            let values = of_rows.iter().map(value).collect();
            let TargetColumn { name, mean, deviation } = indicator;
            StandardTarget { name, values, mean, deviation }
        });
        let (first, further) = (targets.next(), targets.collect());
        (self.target, self.further) = (first, further);
        self.classes = Some(Classes { column, labels });
    }

    /// Scale all rows of a table by given statistics, and the target by its own. Its weights, if it has any,
    /// are positive and of mean 1.
    ///
    /// # Errors
    /// `ErrorKind::Data` for values too far apart to be scaled.
    pub(crate) fn scaled_by(table: Table, statistics: Scaler) -> Result<Self, Error> {
        let Table { name, feature_names, mut features, target, target_name, weights, .. } = table;
        if let Some(column) = statistics.overflow() {
            return Err(Error(Cause::Spread {
                column: feature_names.get(column).cloned().unwrap_or_default(),
            }));
        }
        statistics.apply(&mut features);
        let of_rows = Weights(weights.as_deref());
        let target =
            target.map(|values| StandardTarget::of(target_name.unwrap_or_default(), values, of_rows));
        let target = target.transpose()?;
        let (further, classes) = (Vec::new(), None);
        let columns = Columns { name, feature_names, scaler: statistics, target: None, further, classes };
        Ok(Self { target, weights, ..Self::of(columns, features, None, None) })
    }

    /// Combine standardised rows with their columns; targets without a target column are dropped, and there
    /// is one.
    pub(crate) fn of(
        columns: Columns,
        rows: Vec<f64>,
        targets: Option<Vec<f64>>,
        numbers: Option<Vec<usize>>,
    ) -> Self {
        let Columns { name, feature_names, scaler: statistics, target, .. } = columns;
        let target = target.zip(targets).map(|(TargetColumn { name, mean, deviation }, values)| {
            StandardTarget { name, values, mean, deviation }
        });
        Self {
            name,
            dim: statistics.width(),
            feature_names,
            rows,
            statistics,
            target,
            further: Vec::new(),
            classes: None,
            weights: None,
            groups: None,
            in_time: false,
            numbers,
            recipe: None,
        }
    }

    /// Take rows as they are, without names.
    pub(crate) fn unscaled(rows: Vec<f64>, dim: usize) -> Self {
        let columns = Columns {
            name: String::new(),
            feature_names: vec![String::new(); dim],
            scaler: Scaler::identity(dim),
            target: None,
            further: Vec::new(),
            classes: None,
        };
        Self::of(columns, rows, None, None)
    }

    /// Return the columns of the table and the numbers of their features; without a recipe, each feature is a
    /// column.
    pub fn table_columns(&self) -> Vec<(&str, Range<usize>)> {
        let Some(recipe) = &self.recipe else {
            return self
                .feature_names
                .iter()
                .enumerate()
                .map(|(i, name)| (name.as_str(), i..i + 1))
                .collect();
        };
        let ends = recipe.columns.iter().scan(0, |end, column| {
            *end += column.width();
            Some(*end)
        });
        recipe
            .columns
            .iter()
            .zip(ends)
            .map(|(column, end)| (&*column.name, end - column.width()..end))
            .collect()
    }

    /// Leave out columns of the table, by their places in [`table_columns`](Self::table_columns), with all of
    /// their features. A model of what remains accepts files that have them, as those that are ignored.
    ///
    /// # Errors
    /// `ErrorKind::Argument` if none remains, `ErrorKind::Unsupported` for mapped rows.
    pub fn without(self, columns: &[usize]) -> Result<Self, Error> {
        if self.statistics.map.is_some() {
            return Err(Error(Cause::Metric { problem: "mapped rows have no columns to leave out" }));
        }
        let places = self.table_columns().into_iter().enumerate();
        let kept =
            places.filter(|(place, _)| !columns.contains(place)).flat_map(|(_, (_, features))| features);
        let kept: Vec<usize> = kept.collect();
        if kept.is_empty() {
            return Err(CoreError::Empty.into());
        }
        let of = |values: &[f64]| kept.iter().map(|&feature| values[feature]).collect::<Vec<f64>>();
        let statistics = Scaler {
            means: of(&self.statistics.means),
            deviations: of(&self.statistics.deviations),
            map: None,
            bounds: self.statistics.bounds.as_deref().map(of),
        };
        let mut recipe = self.recipe;
        if let Some(recipe) = &mut recipe {
            let (mut left, mut ignored) = (Vec::new(), Vec::new());
            for (place, column) in mem::take(&mut recipe.columns).into_iter().enumerate() {
                match columns.contains(&place) {
                    true => ignored.push(column.name),
                    false => left.push(column),
                }
            }
            recipe.columns = left;
            recipe.ignored.extend(ignored);
        }
        Ok(Self {
            rows: self.rows.chunks_exact(self.dim).flat_map(of).collect(),
            feature_names: kept.iter().map(|&feature| self.feature_names[feature].clone()).collect(),
            dim: kept.len(),
            statistics,
            recipe,
            ..self
        })
    }

    /// Multiply each standardised feature by a scale, 0 for one to be left out, as if its deviation had been
    /// divided by it.
    pub(crate) fn rescaled(mut self, scales: &[f64]) -> Self {
        for row in self.rows.chunks_exact_mut(self.dim.max(1)) {
            row.iter_mut().zip(scales).for_each(|(value, scale)| *value *= scale);
        }
        self.statistics.rescale(scales);
        self
    }

    /// Map the standardised rows.
    pub(crate) fn mapped(mut self, map: Map) -> Self {
        let mut standard = Scaler { map: Some(map), ..Scaler::identity(self.dim) };
        standard.apply(&mut self.rows);
        self.dim = standard.width();
        self.statistics.map = standard.map.take();
        self
    }

    /// Undo the standardisation of rows and target, which must not be mapped.
    pub(crate) fn into_table(self) -> Table {
        let Self { name, feature_names, dim, rows: mut features, statistics, target, weights, .. } = self;
        statistics.undo(&mut features);
        let (target_name, target) = target
            .map(|StandardTarget { name, mut values, mean, deviation }| {
                values.iter_mut().for_each(|value| *value = mean + deviation * *value);
                (name, values)
            })
            .unzip();
        Table { name, feature_names, dim, features, target, target_name, weights }
    }

    /// Return the number of rows N.
    pub fn len(&self) -> usize {
        self.rows.len().checked_div(self.dim).unwrap_or(0)
    }

    /// Lend the rows and targets.
    pub(crate) fn slices(&self) -> RowSlices<'_> {
        RowSlices::F64(&self.rows, self.target.as_ref().map(|target| target.values.as_slice()))
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Return the row's index in the file.
    ///
    /// # Panics
    /// If `row` is not under [`len`](Self::len) and only some rows of the file are used.
    pub fn number(&self, row: usize) -> usize {
        self.numbers.as_ref().map_or(row, |numbers| numbers[row])
    }

    /// Return the row with this index in the file, if it is used. The rows must be in the file's order.
    pub fn row_of(&self, number: usize) -> Option<usize> {
        match &self.numbers {
            Some(numbers) => numbers.binary_search(&number).ok(),
            None => (number < self.len()).then_some(number),
        }
    }

    /// Return the target.
    ///
    /// # Errors
    /// `ErrorKind::Data` without a target.
    pub fn target(&self) -> Result<&StandardTarget, Error> {
        self.target.as_ref().ok_or(Error(Cause::NoTarget))
    }

    /// Return the names and statistics of the columns.
    pub(crate) fn columns(&self) -> Columns {
        Columns {
            name: self.name.clone(),
            feature_names: self.feature_names.clone(),
            scaler: self.statistics.clone(),
            target: self.target.as_ref().map(TargetColumn::from),
            further: self.further.iter().map(TargetColumn::from).collect(),
            classes: self.classes.clone(),
        }
    }

    /// Return the targets.
    pub fn targets(&self) -> impl Iterator<Item = &StandardTarget> {
        self.target.iter().chain(&self.further)
    }

    /// Return the targets, a column each.
    pub(crate) fn target_matrix(&self) -> Mat<f64> {
        let targets: Vec<&StandardTarget> = self.targets().collect();
        Mat::from_fn(self.len(), targets.len(), |row, t| targets[t].values[row])
    }

    /// Return the target if it is the only one and varies.
    ///
    /// # Errors
    /// Those of [`learnable`](Self::learnable), `ErrorKind::Unsupported`.
    pub fn single(&self, what: &'static str) -> Result<&StandardTarget, Error> {
        self.columns().single(what)?;
        self.target()
    }

    /// Return the first target if all vary.
    ///
    /// # Errors
    /// `ErrorKind::Data` for no target, a constant one, or a single class.
    pub fn learnable(&self) -> Result<&StandardTarget, Error> {
        self.columns().learnable()?;
        self.target()
    }

    /// Lend the rows as a ground set in `f64`.
    ///
    /// # Errors
    /// `ErrorKind::Argument`.
    pub fn ground(&self, kernel: KernelSpec) -> Result<Points<'_, f64, ChosenKernel<f64>>, Error> {
        Ok(Points::new(&self.rows, self.dim, kernel.build()?)?)
    }

    /// Copy the features of some rows, row-major, in either precision.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for a row past the end.
    pub fn gather<T: Scalar>(&self, rows: &[usize]) -> Result<Vec<T>, Error> {
        let (features, _) = self.slices().gather(self.dim, rows)?;
        Ok(features.into_iter().map(T::from_f64).collect())
    }
}

/// Draw the numbers of `wanted` of `rows` rows, ascending; none for all of them.
///
/// # Errors
/// `ErrorKind::Data` for fewer rows than wanted, or none.
pub(crate) fn draw(rows: usize, wanted: usize, seed: u64) -> Result<Option<Vec<usize>>, Error> {
    if wanted > rows || wanted == 0 {
        return Err(Error(Cause::TooFewRows { wanted, rows }));
    }
    if wanted == rows {
        return Ok(None);
    }
    let mut drawn = index::sample(&mut stream(seed, RngStream::Rows), rows, wanted).into_vec();
    drawn.sort_unstable();
    Ok(Some(drawn))
}

impl Table {
    /// Keep these rows, in ascending order, in place.
    ///
    /// # Panics
    ///
    /// If a number is not less than the number of rows.
    pub fn keep(&mut self, numbers: &[usize]) {
        let dim = self.dim;
        for (to, &from) in numbers.iter().enumerate() {
            self.features.copy_within(from * dim..(from + 1) * dim, to * dim);
            self.target.iter_mut().chain(&mut self.weights).for_each(|values| values[to] = values[from]);
        }
        self.features.truncate(numbers.len() * dim);
        self.target.iter_mut().chain(&mut self.weights).for_each(|values| values.truncate(numbers.len()));
    }
}

/// Leave out rows of weight 0, and divide the weights by their mean. Return the numbers of the rows left;
/// none for all.
///
/// # Errors
/// `ErrorKind::Data` for a weight that is negative or not finite, and if all are 0; `ErrorKind::Argument` for
/// another number of them.
pub(crate) fn present(table: &mut Table) -> Result<Option<Vec<usize>>, Error> {
    let Some(weights) = &table.weights else { return Ok(None) };
    check_length("weights of rows", table.rows(), weights.len())?;
    check_weights(weights)?;
    let present: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
    let present = (present.len() < weights.len()).then_some(present);
    if let Some(present) = &present {
        table.keep(present);
    }
    table.weights = table.weights.take().map(normalised);
    Ok(present)
}

/// Check that weights are finite, at least 0, and not all 0.
///
/// # Errors
/// `ErrorKind::Data` for a weight that is negative or not finite, and if all are 0.
pub(crate) fn check_weights(weights: &[f64]) -> Result<(), Error> {
    if let Some(row) = weights.iter().position(|weight| !is_weight(*weight)) {
        return Err(Error(Cause::Weight { row, weight: weights[row] }));
    }
    if weights.iter().all(|&weight| weight == 0.0) { Err(Error(Cause::NoWeight)) } else { Ok(()) }
}
