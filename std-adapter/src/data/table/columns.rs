//! The role of each column of a file.

use crate::data::table::input::Target;
use crate::error::table::{TableError, cut};
use std::collections::HashMap;
use std::path::Path;

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

    fn features(&self) -> usize {
        if let Kind::Nominal(values) = &self.kind { values.len() } else { 1 }
    }

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
}

impl Columns {
    /// Columns of a file without names: `x0`, `x1`, ...
    pub(crate) fn unnamed(count: usize) -> Self {
        Self { list: (0..count).map(|i| Column::number(format!("x{i}"))).collect(), named: false }
    }

    pub(crate) fn plan(self, path: &Path, want: &Want<'_>) -> Result<Plan, TableError> {
        self.refuse_duplicates(path)?;
        match want {
            Want::All(target) => {
                let target = self.resolve(path, target)?;
                self.in_order(path, target, None)
            }
            Want::Model { features, target } => self.for_model(path, features, *target),
        }
    }

    fn refuse_duplicates(&self, path: &Path) -> Result<(), TableError> {
        let mut seen = HashMap::new();
        for (i, column) in self.list.iter().enumerate() {
            // A numeric `a=b` and a nominal `a` with value `b` clash only after expansion.
            let expanded = if column.is_number() { Vec::new() } else { column.feature_names() };
            for name in std::iter::once(column.name.clone()).chain(expanded) {
                match seen.insert(name.clone(), i) {
                    Some(first) if first != i => {
                        let (first, second) = (first + 1, i + 1);
                        return Err(TableError::DuplicateColumn {
                            path: path.into(),
                            name: cut(&name),
                            first,
                            second,
                        });
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|column| column.name == name)
    }

    fn resolve(&self, path: &Path, target: &Target) -> Result<Option<usize>, TableError> {
        let count = self.list.len();
        match target {
            Target::None => Ok(None),
            Target::Last => Ok(count.checked_sub(1)),
            Target::Name(name) => self.find(name).map(Some).ok_or_else(|| TableError::UnknownTarget {
                path: path.into(),
                name: name.clone(),
                columns: self.list.iter().map(|column| column.name.clone()).collect(),
            }),
            Target::Index(index) => match self.find(&index.to_string()) {
                Some(named) => Ok(Some(named)),
                None if *index < count => Ok(Some(*index)),
                None => Err(TableError::TargetIndex { path: path.into(), index: *index, columns: count }),
            },
        }
    }

    /// Make every column but the target a feature, under its own name or the model's.
    fn in_order(
        self,
        path: &Path,
        target: Option<usize>,
        model: Option<&[String]>,
    ) -> Result<Plan, TableError> {
        let mut own = Vec::new();
        let mut roles = Vec::with_capacity(self.list.len());
        for (i, column) in self.list.iter().enumerate() {
            let is_target = target == Some(i);
            roles.push(match &column.kind {
                Kind::Other(kind) => return Err(column.unusable(path, kind)),
                Kind::Nominal(_) if is_target => {
                    let (line, column) = (column.line, column.name.clone());
                    return Err(TableError::NominalTarget { path: path.into(), line, column });
                }
                Kind::Number if is_target => Role::Target,
                Kind::Number => Role::Number(own.len()),
                Kind::Nominal(values) => {
                    Role::Nominal(values.iter().cloned().zip((own.len()..).map(Some)).collect())
                }
            });
            if !is_target {
                own.extend(column.feature_names());
            }
        }
        if own.is_empty() {
            return Err(TableError::NoFeatures { path: path.into() });
        }
        Ok(self.finish(roles, model.map_or(own, <[String]>::to_vec), target, model.is_some()))
    }

    /// Match the columns to a model's features by the rule at [`super::read_features`].
    fn for_model(self, path: &Path, wanted: &[String], target: Option<&str>) -> Result<Plan, TableError> {
        if wanted.is_empty() {
            return Err(TableError::NoFeatures { path: path.into() });
        }
        let found: usize = self.list.iter().map(Column::features).sum();
        let target = target.and_then(|name| self.find(name));
        let slots: HashMap<&str, usize> =
            wanted.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let missing = self.missing(wanted);
        let expected = wanted.len();

        if missing.is_empty() && (self.named || (found == expected + 1 && target.is_some())) {
            return self.by_name(path, &slots, wanted, target);
        }
        if self.named && missing.len() < expected {
            return Err(TableError::MissingFeatures { path: path.into(), missing });
        }
        // Generated names only give a column's position in the training file.
        let target = target.filter(|&i| self.named && self.list[i].is_number());
        let last = self.list.len().checked_sub(1).filter(|&i| self.list[i].is_number());
        match (target, last) {
            (Some(_), _) if found == expected + 1 => self.in_order(path, target, Some(wanted)),
            (None, _) if found == expected => self.in_order(path, None, Some(wanted)),
            (None, Some(_)) if found == expected + 1 => self.in_order(path, last, Some(wanted)),
            _ => Err(TableError::Length {
                path: path.into(),
                expected,
                found: found - usize::from(target.is_some()),
            }),
        }
    }

    fn missing(&self, wanted: &[String]) -> Vec<String> {
        let nominal = |name: &str| {
            self.list.iter().any(|column| {
                // A file without a row of some value may not declare that value.
                matches!(column.kind, Kind::Nominal(_))
                    && name.strip_prefix(column.name.as_str()).is_some_and(|rest| rest.starts_with('='))
            })
        };
        let numeric: HashMap<&str, ()> = self
            .list
            .iter()
            .filter(|c| !matches!(c.kind, Kind::Nominal(_)))
            .map(|c| (c.name.as_str(), ()))
            .collect();
        wanted.iter().filter(|name| !numeric.contains_key(name.as_str()) && !nominal(name)).cloned().collect()
    }

    fn by_name(
        self,
        path: &Path,
        slots: &HashMap<&str, usize>,
        wanted: &[String],
        target: Option<usize>,
    ) -> Result<Plan, TableError> {
        let mut roles = Vec::with_capacity(self.list.len());
        let mut used_target = None;
        for (i, column) in self.list.iter().enumerate() {
            let slot = slots.get(column.name.as_str()).copied();
            roles.push(match (&column.kind, slot) {
                (Kind::Number, Some(slot)) => Role::Number(slot),
                (Kind::Number, None) if target == Some(i) => {
                    used_target = target;
                    Role::Target
                }
                (Kind::Other(kind), Some(_)) => return Err(column.unusable(path, kind)),
                (Kind::Nominal(values), _) => column.known_values(values, slots),
                _ => Role::Unused,
            });
        }
        Ok(self.finish(roles, wanted.to_vec(), used_target, true))
    }

    fn finish(
        mut self,
        roles: Vec<Role>,
        feature_names: Vec<String>,
        target: Option<usize>,
        target_optional: bool,
    ) -> Plan {
        let columns: Vec<String> = self.list.drain(..).map(|column| column.name).collect();
        let target_name = target.and_then(|i| columns.get(i).cloned());
        Plan { roles, columns, feature_names, target_name, target_optional }
    }
}

impl Column {
    fn unusable(&self, path: &Path, kind: &str) -> TableError {
        TableError::AttributeType {
            path: path.into(),
            line: self.line,
            column: self.name.clone(),
            kind: cut(kind),
        }
    }

    fn known_values(&self, values: &[String], slots: &HashMap<&str, usize>) -> Role {
        let prefix = self.feature_name("");
        if !slots.keys().any(|name| name.starts_with(&prefix)) {
            return Role::Unused;
        }
        let place = |value: &String| slots.get(self.feature_name(value).as_str()).copied();
        Role::Nominal(values.iter().map(|value| (value.clone(), place(value))).collect())
    }
}
