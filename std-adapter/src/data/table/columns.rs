//! The role of each column of a file.

use crate::data::table::input::Target;
use crate::error::table::{TableError, TableProblem, cut};
use std::collections::{HashMap, HashSet};

/// A column as the file describes it.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The line that declares it.
    pub(crate) line: u64,
}

pub(crate) enum Kind {
    Number,
    /// The declared values.
    Nominal(Vec<String>),
    /// An unsupported type, as written.
    Other(String),
}

/// The columns of a file, and whether the file names them.
pub(crate) struct Columns {
    pub(crate) list: Vec<Column>,
    pub(crate) named: bool,
}

/// What a caller requests from a file.
pub(crate) enum Want<'a> {
    /// Every column, one of them as the target.
    All(&'a Target),
    /// The columns that a fitted model needs.
    Model { features: &'a [String], target: Option<&'a str> },
}

/// What one column's values are used for.
pub(crate) enum Role {
    Unused,
    Target,
    /// The feature's index in the row.
    Number(usize),
    /// The index in the row of each declared value; `None` for a value that the model does not know.
    Nominal(HashMap<String, Option<usize>>),
}

/// The roles of all columns.
pub(crate) struct Plan {
    pub(crate) roles: Vec<Role>,
    pub(crate) columns: Vec<String>,
    pub(crate) feature_names: Vec<String>,
    pub(crate) target_name: Option<String>,
    /// Whether a target column without any value counts as absent.
    pub(crate) target_optional: bool,
}

impl Column {
    pub(crate) fn number(name: String) -> Self {
        Self { name, kind: Kind::Number, line: 1 }
    }

    /// Return the name, or one name per declared value.
    fn feature_names(&self) -> Vec<String> {
        match &self.kind {
            Kind::Nominal(values) => values.iter().map(|value| self.feature_name(value)).collect(),
            _ => vec![self.name.clone()],
        }
    }

    fn feature_name(&self, value: &str) -> String {
        format!("{}={value}", self.name)
    }

    fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number)
    }

    /// Return what the values are used for; `slots` are the indices in the row of the features by name.
    fn role(&self, slots: &HashMap<&str, usize>, is_target: bool) -> Result<Role, TableError> {
        Ok(match (&self.kind, slots.get(self.name.as_str())) {
            (Kind::Number, Some(&slot)) => Role::Number(slot),
            (Kind::Number, None) if is_target => Role::Target,
            (Kind::Nominal(_), _) if is_target => {
                return Err(TableProblem::NominalTarget(self.name.clone()).at_line(self.line));
            }
            (Kind::Nominal(values), _) => {
                let prefix = self.feature_name("");
                if !slots.keys().any(|name| name.starts_with(&prefix)) {
                    return Ok(Role::Unused);
                }
                let place = |value: &String| slots.get(self.feature_name(value).as_str()).copied();
                Role::Nominal(values.iter().map(|value| (value.clone(), place(value))).collect())
            }
            (Kind::Other(kind), slot) if is_target || slot.is_some() => {
                let (column, kind) = (self.name.clone(), cut(kind));
                return Err(TableProblem::AttributeType { column, kind }.at_line(self.line));
            }
            _ => Role::Unused,
        })
    }
}

impl Columns {
    /// Columns of a file without names: `x0`, `x1`, ...
    pub(crate) fn unnamed(count: usize) -> Self {
        Self { list: (0..count).map(|i| Column::number(format!("x{i}"))).collect(), named: false }
    }

    pub(crate) fn plan(self, want: &Want<'_>) -> Result<Plan, TableError> {
        self.refuse_duplicates()?;
        match want {
            Want::All(target) => {
                let target = self.resolve(target)?;
                self.in_order(target, None)
            }
            Want::Model { features, target } => self.for_model(features, *target),
        }
    }

    fn refuse_duplicates(&self) -> Result<(), TableProblem> {
        let mut seen = HashMap::new();
        for (i, column) in self.list.iter().enumerate() {
            // A numeric `a=b` and a nominal `a` with value `b` clash only after expansion.
            for name in std::iter::once(column.name.clone()).chain(column.feature_names()) {
                if let Some(first) = seen.insert(name.clone(), i)
                    && first != i
                {
                    let (name, first, second) = (cut(&name), first + 1, i + 1);
                    return Err(TableProblem::DuplicateColumn { name, first, second });
                }
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|column| column.name == name)
    }

    fn resolve(&self, target: &Target) -> Result<Option<usize>, TableProblem> {
        let count = self.list.len();
        match target {
            Target::None => Ok(None),
            Target::Last => Ok(count.checked_sub(1)),
            Target::Name(name) => self.find(name).map(Some).ok_or_else(|| TableProblem::UnknownTarget {
                name: name.clone(),
                columns: self.list.iter().map(|column| column.name.clone()).collect(),
            }),
            Target::Index(index) => match self.find(&index.to_string()) {
                Some(named) => Ok(Some(named)),
                None if *index < count => Ok(Some(*index)),
                None => Err(TableProblem::TargetIndex { index: *index, columns: count }),
            },
        }
    }

    /// Make every column but the target a feature, under its own name or the model's.
    fn in_order(self, target: Option<usize>, model: Option<&[String]>) -> Result<Plan, TableError> {
        let features = self.list.iter().enumerate().filter(|&(i, _)| target != Some(i));
        let own: Vec<String> = features.flat_map(|(_, column)| column.feature_names()).collect();
        let names = model.unwrap_or(&own).to_vec();
        let plan = self.by_name(&own, names, target, model.is_some())?;
        if own.is_empty() { Err(TableProblem::NoFeatures.into()) } else { Ok(plan) }
    }

    /// Match the columns to a model's features by the rule at [`super::read_features`].
    fn for_model(self, wanted: &[String], target: Option<&str>) -> Result<Plan, TableError> {
        if wanted.is_empty() {
            return Err(TableProblem::NoFeatures.into());
        }
        let found: usize = self.list.iter().map(|column| column.feature_names().len()).sum();
        let target = target.and_then(|name| self.find(name)).filter(|&i| self.list[i].is_number());
        let missing = self.missing(wanted);
        let expected = wanted.len();

        if missing.is_empty() && (self.named || (found == expected + 1 && target.is_some())) {
            return self.by_name(wanted, wanted.to_vec(), target, true);
        }
        if self.named && missing.len() < expected {
            return Err(TableProblem::MissingFeatures(missing).into());
        }
        // Generated names only give a column's position in the training file.
        let target = target.filter(|_| self.named);
        let last = self.list.len().checked_sub(1).filter(|&i| self.list[i].is_number());
        let target = match target {
            None if found == expected => None,
            _ if found == expected + 1 && target.or(last).is_some() => target.or(last),
            _ => {
                let found = found - usize::from(target.is_some());
                return Err(TableProblem::Length { expected, found }.into());
            }
        };
        self.in_order(target, Some(wanted))
    }

    fn missing(&self, wanted: &[String]) -> Vec<String> {
        let (nominal, plain): (Vec<&Column>, Vec<&Column>) =
            self.list.iter().partition(|column| matches!(column.kind, Kind::Nominal(_)));
        let plain: HashSet<&str> = plain.iter().map(|column| column.name.as_str()).collect();
        // A file without a row of some value may not declare that value.
        let is_value_of = |name: &str, column: &Column| {
            name.strip_prefix(column.name.as_str()).is_some_and(|rest| rest.starts_with('='))
        };
        let is_there =
            |name: &str| plain.contains(name) || nominal.iter().any(|column| is_value_of(name, column));
        wanted.iter().filter(|name| !is_there(name)).cloned().collect()
    }

    /// Make the columns called `own` the features, in this order, under other names.
    fn by_name(
        self,
        own: &[String],
        feature_names: Vec<String>,
        target: Option<usize>,
        target_optional: bool,
    ) -> Result<Plan, TableError> {
        let slots = own.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let roles = self.list.iter().enumerate();
        let roles: Vec<Role> =
            roles.map(|(i, column)| column.role(&slots, target == Some(i))).collect::<Result<_, _>>()?;
        let columns: Vec<String> = self.list.into_iter().map(|column| column.name).collect();
        let target = roles.iter().position(|role| matches!(role, Role::Target));
        let target_name = target.map(|i| columns[i].clone());
        Ok(Plan { roles, columns, feature_names, target_name, target_optional })
    }
}
