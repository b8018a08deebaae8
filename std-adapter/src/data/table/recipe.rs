//! The recipe of a model's features: the columns of the file it was trained on, and what each becomes.
//!
//! A column of numbers is one feature. A column of words is one feature per level, 1 in rows that have it and
//! else 0. With [`Missing::Indicator`] a further feature tells gaps.

use crate::data::table::form::{Form, Part};
use crate::data::table::options::Missing;
use crate::data::table::taken::Taken;
use serde::{Deserialize, Serialize};

/// How a model uses the columns of a file.
///
/// ```
/// use dpp_nystrom::data::table::Options;
///
/// let folder = tempfile::tempdir()?;
/// let [old, new] = ["2025.csv", "2026.csv"].map(|name| folder.path().join(name));
/// std::fs::write(&old, "heating,rooms,price\ngas,3,210\noil,5,300\n")?;
/// std::fs::write(&new, "price,rooms,heating\n250,4,oil\n")?; // in another order
/// let options = Options::default();
/// let recipe = options.read(&old)?.recipe;
/// assert_eq!(recipe.feature_names(), ["heating=gas", "heating=oil", "rooms"]);
/// assert_eq!(options.read_for(&recipe, &new)?.table.row(0), [0.0, 1.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Whether the file named its columns; otherwise a name is `x` and the column's index.
    pub named: bool,
    /// The columns that features are made from, in the order of the features.
    pub columns: Vec<Column>,
    /// The target.
    pub target: Option<String>,
    /// The targets after it. A model keeps them with its outputs.
    #[serde(skip)]
    pub further: Vec<String>,
    /// The labels of the classes, if the target is one: its values are their indices. A model keeps them with
    /// its outputs.
    #[serde(skip)]
    pub classes: Option<Vec<String>>,
    /// The column with the weights of the training rows. It is one of those that are not used.
    #[serde(skip)]
    pub weight: Option<String>,
    /// The columns that are not used.
    pub ignored: Vec<String>,
    /// The columns that identify a row.
    pub ids: Vec<String>,
    /// What is done with gaps.
    pub missing: Missing,
    /// What stands for a missing value, if not what usually does ([`Missing`]). Models and row stores keep it
    /// apart.
    #[serde(skip)]
    pub missing_values: Option<Vec<String>>,
    /// How each target is written; empty if all are plain. Models keep it apart, as what follows.
    #[serde(skip)]
    pub target_forms: Vec<Form>,
    /// Whether the comma is the decimal point.
    #[serde(skip)]
    pub decimal_comma: bool,
    /// What separates the fields of a text, if that was told or is no comma beside decimal commas.
    #[serde(skip)]
    pub separator: Option<u8>,
    /// Whether the table was taken as it is ([`Options::as_it_is`](crate::data::table::Options::as_it_is)).
    #[serde(skip)]
    pub as_it_is: bool,
    /// What then became of its columns.
    #[serde(skip)]
    pub taken: Vec<Taken>,
}

/// A column that features are made from.
///
/// ```
/// use dpp_nystrom::data::table::Column;
///
/// let words = Column {
///     name: "heating".into(),
///     levels: Some(vec!["gas".into(), "oil".into()]),
///     fill: vec![0.5, 0.5], // the shares of the levels
///     indicator: true,
///     ..Column::default()
/// };
/// assert_eq!(words.feature_names(), ["heating=gas", "heating=oil", "heating missing"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The levels of a column of words, in the order of their features; none for numbers.
    pub levels: Option<Vec<String>>,
    /// What takes the place of its features in rows where it is missing; empty if nothing does.
    pub fill: Vec<f64>,
    /// Whether a further feature tells gaps.
    pub indicator: bool,
    /// How its fields are written. Models keep it apart.
    #[serde(skip)]
    pub form: Form,
}

impl Column {
    /// Create a column of numbers.
    pub(crate) fn number(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Return the names of its features.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names = match (&self.levels, self.form.parts()) {
            (Some(levels), _) => levels.iter().map(|level| format!("{}={level}", self.name)).collect(),
            (None, Some(parts)) => {
                parts.iter().map(|part| format!("{} {}", self.name, part.name())).collect()
            }
            (None, None) => vec![self.name.clone()],
        };
        names.extend(self.indicator.then(|| format!("{} missing", self.name)));
        names
    }

    pub(crate) fn width(&self) -> usize {
        let parts = self.form.parts().map_or(1, <[Part]>::len);
        self.levels.as_ref().map_or(parts, Vec::len) + usize::from(self.indicator)
    }

    /// Whether it is one feature as it is, with perhaps gaps to fill.
    fn is_one_to_one(&self) -> bool {
        self.levels.is_none() && !self.indicator && self.form.parts().is_none()
    }

    /// Make the features from a number, a date or a level's index; NaN is a gap, an index past the levels
    /// none of them.
    fn expand(&self, value: f64, features: &mut [f64]) {
        if value.is_nan() {
            features.iter_mut().zip(&self.fill).for_each(|(feature, fill)| *feature = *fill);
        } else if let Some(parts) = self.form.parts() {
            Form::expand(parts, value, features);
        } else if self.levels.is_none() {
            features[0] = value;
        } else if let Some(feature) = features.get_mut(value as usize) {
            *feature = 1.0;
        }
        if self.indicator
            && let Some(last) = features.last_mut()
        {
            *last = f64::from(u8::from(value.is_nan()));
        }
    }
}

impl Recipe {
    /// Guess the recipe of a model that stores names alone: the file had names unless all are `x` and an
    /// index.
    pub fn of_names(features: &[String], target: Option<&str>) -> Self {
        let columns = features.iter().map(|name| Column::number(name)).collect();
        let named = features.iter().any(|name| position(name).is_none());
        Self { named, columns, target: target.map(str::to_owned), ..Self::default() }
    }

    /// Whether the names of the features tell as much: numbers, and levels as `column=level`.
    pub(crate) fn is_plain(&self) -> bool {
        let names = self.feature_names();
        let columns = names.iter().map(|name| Column::number(name)).collect();
        let flat = Self { columns, further: Vec::new(), classes: None, weight: None, ..self.clone() };
        let plain = self.columns.iter().all(|column| column.form.is_plain());
        plain && self.missing == Missing::Error && flat == Self::of_names(&names, self.target.as_deref())
    }

    /// Return the names of the targets.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &String> {
        self.target.iter().chain(&self.further)
    }

    /// Return the names of the features.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(Column::feature_names).collect()
    }

    /// Return what each feature is in rows where its column is missing, if something is to take its place.
    pub(crate) fn gaps(&self) -> Vec<Option<f64>> {
        let of_column = |column: &Column| {
            let mut gaps: Vec<Option<f64>> = column.fill.iter().copied().map(Some).collect();
            gaps.resize(column.width(), None);
            if column.indicator
                && let Some(last) = gaps.last_mut()
            {
                *last = Some(1.0);
            }
            gaps
        };
        self.columns.iter().flat_map(of_column).collect()
    }

    /// Return the number of features.
    pub(crate) fn width(&self) -> usize {
        self.columns.iter().map(Column::width).sum()
    }

    /// Whether each column is one feature as it is, with perhaps gaps to fill.
    fn is_one_to_one(&self) -> bool {
        self.columns.iter().all(Column::is_one_to_one)
    }

    /// Make features of rows with one value per column.
    pub(crate) fn expand(&self, mut raw: Vec<f64>) -> Vec<f64> {
        let columns = self.columns.len().max(1);
        if self.is_one_to_one() {
            if self.columns.iter().any(|column| !column.fill.is_empty()) {
                for row in raw.chunks_exact_mut(columns) {
                    for (value, column) in
                        row.iter_mut().zip(&self.columns).filter(|(value, _)| value.is_nan())
                    {
                        *value = column.fill[0];
                    }
                }
            }
            return raw;
        }
        let width = self.width();
        let mut features = vec![0.0; raw.len() / columns * width];
        for (row, mut features) in raw.chunks_exact(columns).zip(features.chunks_exact_mut(width)) {
            for (value, column) in row.iter().zip(&self.columns) {
                let own;
                (own, features) = features.split_at_mut(column.width());
                column.expand(*value, own);
            }
        }
        features
    }

    /// Whether the parts are consistent with each other and with these features.
    pub(crate) fn is_well_formed(&self, features: &[String]) -> bool {
        let usable = |column: &Column| {
            let outputs = column.width() - usize::from(column.indicator);
            let fills = matches!(self.missing, Missing::Mean | Missing::Indicator);
            outputs > 0
                && column.fill.len() == if fills { outputs } else { 0 }
                && column.fill.iter().all(|value| value.is_finite())
                && (!column.indicator || self.missing == Missing::Indicator)
                && column.form.is_well_formed()
                && (column.levels.is_none() || column.form.is_plain())
        };
        let targets = self.target_forms.iter().all(|form| form.parts().is_none());
        targets && self.columns.iter().all(usable) && self.feature_names() == features
    }
}

/// Return the index in a name that stands for a position.
pub(crate) fn position(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('x')?;
    digits.parse().ok().filter(|index: &usize| index.to_string() == digits)
}
