//! The role of each column of a file.

use crate::data::table::options::{Labels, Limits, Options};
use crate::data::table::recipe::{self, Recipe, position};
use crate::data::table::target::Target;
use crate::error::table::{Misnamed, TableError, TableProblem, cut};
use std::collections::{HashMap, HashSet};

/// A column as the file describes it.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The line that declares it.
    pub(crate) line: u64,
}

pub(crate) enum Kind {
    /// Numbers or words: the first value decides.
    Open,
    Number,
    /// The declared values.
    Nominal(Vec<String>),
    /// An unsupported type, as written.
    Other(String),
}

fn last(values: &[String]) -> String {
    values.last().map_or_else(String::new, |value| cut(value))
}

/// The columns of a file, and whether the file names them.
pub(crate) struct Columns {
    pub(crate) list: Vec<Column>,
    pub(crate) named: bool,
    /// Whether the first column has no name in a header that names others.
    pub(crate) unnamed_first: bool,
}

/// What a caller requests from a file.
#[derive(Clone, Copy)]
pub(crate) enum Want<'a> {
    /// The columns that the options choose; their recipe is learned.
    Learn,
    /// The columns of a recipe, and a target of every row if `target` is set.
    Apply { recipe: &'a Recipe, target: bool },
}

/// What one column's values are used for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    Unused,
    /// The index among the targets.
    Target(usize),
    /// Which rows belong together.
    Group,
    /// The weight of the row.
    Weight,
    /// The index among the columns that identify a row.
    Id(usize),
    /// The index among the recipe's columns.
    Feature(usize),
}

/// How the values of a column are parsed.
pub(crate) enum Cell {
    /// The first value decides.
    Open(Undecided),
    Number,
    /// The levels' indices; `grows` if others are added.
    Words {
        codes: HashMap<Box<str>, usize>,
        grows: bool,
    },
}

/// The values so far of a column that may yet be one of numbers or of words. Each is a gap in the one, and a
/// word in the other.
#[derive(Default)]
pub(crate) struct Undecided {
    pub(crate) codes: HashMap<Box<str>, usize>,
    /// The first of them, and its line.
    pub(crate) first: Option<(Box<str>, u64)>,
}

impl Cell {
    pub(crate) fn words(levels: &[String], grows: bool) -> Self {
        let codes = levels.iter().enumerate().map(|(code, level)| (level.as_str().into(), code)).collect();
        Self::Words { codes, grows }
    }
}

/// The roles of all columns.
pub(crate) struct Plan {
    pub(crate) roles: Vec<Role>,
    pub(crate) names: Vec<String>,
    pub(crate) cells: Vec<Cell>,
    /// The recipe: complete if it is applied; while it is learned, the names alone.
    pub(crate) recipe: Recipe,
    pub(crate) learns: bool,
    pub(crate) ids: Vec<String>,
    /// The names of the targets.
    pub(crate) targets: Vec<String>,
    /// How the first of them is parsed.
    pub(crate) labels: Cell,
    /// The columns that are declared to hold words or labels.
    pub(crate) declared: Vec<usize>,
    /// The column that is taken for the target by its position alone.
    pub(crate) target_by_position: Option<String>,
    /// Whether a target column without any value counts as absent.
    pub(crate) target_optional: bool,
    /// Whether the first column is the first feature, and may be row numbers by its name.
    pub(crate) suspect: bool,
}

impl Column {
    pub(crate) fn number(name: String) -> Self {
        Self { name, kind: Kind::Number, line: 1 }
    }

    /// Check that the values can be features or, as numbers or labels, the target.
    fn check(&self, is_target: bool, labels: Labels) -> Result<(), TableError> {
        match &self.kind {
            Kind::Nominal(_) if is_target && labels == Labels::None => {
                Err(TableProblem::NominalTarget(self.name.clone()).at_line(self.line))
            }
            Kind::Other(kind) => {
                let (column, kind) = (self.name.clone(), cut(kind));
                Err(TableProblem::AttributeType { column, kind }.at_line(self.line))
            }
            _ => Ok(()),
        }
    }

    fn cell(&self) -> Cell {
        match &self.kind {
            Kind::Open => Cell::Open(Undecided::default()),
            Kind::Nominal(values) => Cell::words(values, false),
            Kind::Number | Kind::Other(_) => Cell::Number,
        }
    }
}

/// Names that programs give to a column of row numbers.
const ROW_NUMBERS: [&str; 8] = ["unnamed: 0", "index", "row", "rows", "row.names", "rownames", "id", "idx"];

impl Columns {
    pub(crate) fn named(list: Vec<Column>) -> Self {
        Self { list, named: true, unnamed_first: false }
    }

    /// Columns of numbers without names: `x0`, `x1`, ...
    pub(crate) fn unnamed(count: usize) -> Self {
        let list = (0..count).map(|i| Column::number(format!("x{i}"))).collect();
        Self { list, named: false, unnamed_first: false }
    }

    pub(crate) fn plan(self, want: Want<'_>, options: &Options) -> Result<Plan, TableError> {
        self.check_limits(&options.limits)?;
        self.refuse_duplicates()?;
        match want {
            Want::Learn => self.learn(options),
            Want::Apply { recipe, target } => self.apply(recipe, target, options),
        }
    }

    fn check_limits(&self, limits: &Limits) -> Result<(), TableError> {
        if self.list.len() as u64 > limits.columns {
            return Err(TableProblem::Limit { name: "columns", limit: limits.columns }.into());
        }
        Ok(())
    }

    fn refuse_duplicates(&self) -> Result<(), TableProblem> {
        let mut seen = HashMap::new();
        for (i, column) in self.list.iter().enumerate() {
            let levels: &[String] = if let Kind::Nominal(values) = &column.kind { values } else { &[] };
            // A numeric `a=b` and a nominal `a` with value `b` clash only after expansion.
            let features = levels.iter().map(|level| format!("{}={level}", column.name));
            for name in std::iter::once(column.name.clone()).chain(features) {
                if let Some(first) = seen.insert(name.clone(), i) {
                    let (name, first, second) = (cut(&name), first + 1, i + 1);
                    return Err(TableProblem::DuplicateColumn { name, first, second });
                }
            }
        }
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        self.list.iter().map(|column| column.name.clone()).collect()
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|column| column.name == name)
    }

    /// Return the columns that a list of names, indices and ranges means.
    fn resolve(&self, wanted: &[String]) -> Result<Vec<usize>, TableProblem> {
        let mut found = Vec::new();
        for text in wanted {
            let range = text.split_once('-').unwrap_or((text, text));
            match (self.find(text), range.0.parse::<usize>(), range.1.parse::<usize>()) {
                (Some(index), ..) => found.push(index),
                (None, Ok(first), Ok(last)) if first <= last && last < self.list.len() => {
                    found.extend(first..=last);
                }
                (None, Ok(first), Ok(last)) if first <= last => {
                    return Err(TableProblem::ColumnIndex { index: last, columns: self.list.len() });
                }
                _ => {
                    let columns = self.names();
                    return Err(TableProblem::UnknownColumn {
                        name: Misnamed::among(text, &columns).into(),
                        columns,
                    });
                }
            }
        }
        Ok(found)
    }

    /// Return the column that an option for a single one names.
    fn resolve_one(&self, wanted: Option<&str>) -> Result<Vec<usize>, TableProblem> {
        let Some(wanted) = wanted else { return Ok(Vec::new()) };
        let found = self.resolve(&[wanted.to_owned()])?;
        match found.len() {
            1 => Ok(found),
            _ => Err(TableProblem::SeveralColumns(wanted.to_owned())),
        }
    }

    /// Return the targets; a column called as the whole list is one.
    fn targets(&self, target: &Target, usable: impl Fn(usize) -> bool) -> Result<Vec<usize>, TableProblem> {
        let Target::Several(targets) = target else {
            return Ok(self.target(target, usable)?.into_iter().collect());
        };
        if let Some(index) = self.find(&target.to_string()) {
            return Ok(vec![index]);
        }
        let mut found = Vec::new();
        for target in targets {
            match self.target(target, &usable)? {
                Some(index) if !found.contains(&index) => found.push(index),
                _ => {
                    let name = target.to_string();
                    return Err(TableProblem::UnknownTarget { name, columns: self.names() });
                }
            }
        }
        Ok(found)
    }

    /// Return the target; the last is the last of those for which `usable` holds.
    fn target(&self, target: &Target, usable: impl Fn(usize) -> bool) -> Result<Option<usize>, TableProblem> {
        let count = self.list.len();
        match target {
            Target::None | Target::Several(_) => Ok(None),
            Target::Last => Ok((0..count).rev().find(|&index| usable(index))),
            Target::Name(name) => self
                .find(name)
                .map(Some)
                .ok_or_else(|| TableProblem::UnknownTarget { name: name.clone(), columns: self.names() }),
            Target::Index(index) => match self.find(&index.to_string()) {
                Some(named) => Ok(Some(named)),
                None if *index < count => Ok(Some(*index)),
                None => Err(TableProblem::TargetIndex { index: *index, columns: count }),
            },
        }
    }

    /// Plan for the columns that the options choose.
    fn learn(self, options: &Options) -> Result<Plan, TableError> {
        let [chosen, ignored, ids, words] =
            [&options.columns, &options.ignore, &options.ids, &options.words].map(|list| self.resolve(list));
        let (chosen, ignored, ids, words) = (chosen?, ignored?, ids?, words?);
        let [group, weight] =
            [&options.group, &options.weight].map(|wanted| self.resolve_one(wanted.as_deref()));
        let (group, weight) = (group?, weight?);
        let set_aside = [&ignored, &ids, &group, &weight];
        let unused = |i| !set_aside.iter().any(|columns| columns.contains(&i));
        let targets = self.targets(&options.target, unused)?;
        // A column that identifies rows may be that of the groups as well.
        if let Some(&i) = targets.iter().find(|i| ids.contains(i)) {
            let column = self.list[i].name.as_str().into();
            return Err(TableProblem::TwoRoles { column, one: "the target", other: "an id" }.into());
        }
        let roles: [(&'static str, &[usize]); 3] =
            [("the target", &targets), ("the group", &group), ("the weight", &weight)];
        for (at, (one, columns)) in roles.iter().enumerate() {
            let again = roles[at + 1..].iter().find_map(|(other, others)| {
                Some((other, columns.iter().find(|column| others.contains(column))?))
            });
            if let Some((other, &i)) = again {
                let column = self.list[i].name.as_str().into();
                return Err(TableProblem::TwoRoles { column, one, other }.into());
            }
        }
        // Several targets are numbers.
        let labels = if targets.len() == 1 { options.labels } else { Labels::None };
        let [chosen, ignored]: [HashSet<usize>; 2] = [chosen, ignored].map(|list| list.into_iter().collect());
        let mut recipe = Recipe {
            named: self.named,
            missing: options.missing,
            missing_values: options.missing_values.clone(),
            ..Recipe::default()
        };
        let (mut roles, mut cells) = (Vec::with_capacity(self.list.len()), Vec::new());
        for (i, column) in self.list.iter().enumerate() {
            roles.push(if let Some(t) = targets.iter().position(|&target| target == i) {
                column.check(true, labels)?;
                Role::Target(t)
            } else if group.contains(&i) {
                // A model does not need it.
                recipe.ignored.push(column.name.clone());
                Role::Group
            } else if weight.contains(&i) {
                column.check(false, Labels::None)?;
                recipe.ignored.push(column.name.clone());
                recipe.weight = Some(column.name.clone());
                Role::Weight
            } else if let Some(id) = ids.iter().position(|&id| id == i) {
                Role::Id(id)
            } else if ignored.contains(&i) || (!chosen.is_empty() && !chosen.contains(&i)) {
                recipe.ignored.push(column.name.clone());
                Role::Unused
            } else {
                column.check(false, labels)?;
                let cell = if words.contains(&i) { Cell::words(&[], true) } else { column.cell() };
                if let (Cell::Words { codes, .. }, Kind::Nominal(values)) = (&cell, &column.kind)
                    && codes.len() as u64 > options.limits.levels
                {
                    let (name, limit) = (column.name.clone(), options.limits.levels);
                    let problem =
                        TableProblem::TooManyLevels { column: name, example: last(values).into(), limit };
                    return Err(problem.at_line(column.line));
                }
                cells.push(cell);
                recipe.columns.push(recipe::Column::number(&column.name));
                Role::Feature(cells.len() - 1)
            });
        }
        if cells.is_empty() {
            return Err(TableProblem::NoFeatures.into());
        }
        recipe.ids = ids.iter().map(|&i| self.list[i].name.clone()).collect();
        let names: Vec<String> = targets.iter().map(|&i| self.list[i].name.clone()).collect();
        recipe.target = names.first().cloned();
        recipe.further = names.iter().skip(1).cloned().collect();
        if let (Some(&i), Labels::Words | Labels::All) = (targets.first(), labels)
            && let Kind::Nominal(values) = &self.list[i].kind
            && values.len() as u64 > options.limits.classes
        {
            let (column, limit) = (self.list[i].name.clone(), options.limits.classes);
            let problem = TableProblem::TooManyClasses { column, example: last(values).into(), limit };
            return Err(problem.at_line(self.list[i].line));
        }
        let mut declared = words;
        declared.extend(targets.first().filter(|_| labels == Labels::All));
        let labels = match (labels, targets.first().map(|&i| self.list[i].cell())) {
            (Labels::None, _) | (_, None) => Cell::Number,
            (Labels::All, Some(Cell::Open(_) | Cell::Number)) => Cell::words(&[], true),
            (_, Some(cell)) => cell,
        };
        let suspect = self.list.first().is_some_and(|column| {
            !self.named || self.unnamed_first || ROW_NUMBERS.contains(&column.name.to_lowercase().as_str())
        });
        let suspect = suspect && roles.first() == Some(&Role::Feature(0));
        Ok(Plan {
            roles,
            names: self.names(),
            cells,
            ids: recipe.ids.clone(),
            targets: names,
            labels,
            recipe,
            learns: true,
            declared,
            target_by_position: None,
            target_optional: false,
            suspect,
        })
    }

    /// Match the columns to a recipe by the rule at [`super::read_features`].
    fn apply(self, recipe: &Recipe, target: bool, options: &Options) -> Result<Plan, TableError> {
        let [ignored, ids] = [&options.ignore, &options.ids].map(|list| self.resolve(list));
        let (ignored, own_ids) = (ignored?, ids?);
        // Of training alone.
        let [group, weight] = [&options.group, &options.weight]
            .map(|wanted| self.resolve_one(wanted.as_deref().filter(|_| target)));
        let (group, weight) = (group?, weight?);
        let mut recipe = self.grouped(recipe);
        if recipe.width() == 0 {
            return Err(TableProblem::NoFeatures.into());
        }
        let has_all = || recipe.columns.iter().all(|column| self.find(&column.name).is_some());
        let by_position = !target && (options.by_position || (!self.named && !recipe.named));
        let names = if target {
            // The same file as before, whose columns have the same names.
            self.names()
        } else if by_position {
            // Of a model without a target, one more column than features is taken for it.
            recipe.target.get_or_insert_with(|| "\0target".to_owned());
            self.by_position(&recipe, &ignored, &own_ids)?
        } else if self.named && (recipe.named || has_all()) {
            self.names()
        } else {
            return Err(TableProblem::Nameless { model: recipe.named }.into());
        };
        let id_names: Vec<String> = match own_ids.is_empty() {
            // The recipe's may be absent.
            true => recipe.ids.iter().filter(|&id| names.contains(id)).cloned().collect(),
            false => own_ids.iter().map(|&i| self.list[i].name.clone()).collect(),
        };
        let wanted: HashMap<&str, usize> =
            recipe.columns.iter().enumerate().map(|(j, column)| (column.name.as_str(), j)).collect();
        if let Some(&i) = own_ids.iter().find(|&&i| wanted.contains_key(names[i].as_str())) {
            return Err(TableProblem::FeatureAsId(self.list[i].name.clone()).into());
        }
        let mut roles = Vec::with_capacity(names.len());
        let mut superfluous = Vec::new();
        for (i, name) in names.iter().enumerate() {
            roles.push(match wanted.get(name.as_str()) {
                _ if ignored.contains(&i) => Role::Unused,
                _ if own_ids.contains(&i) => Role::Id(own_ids.iter().position(|&id| id == i).unwrap_or(0)),
                Some(&j) => {
                    self.list[i].check(false, Labels::None)?;
                    Role::Feature(j)
                }
                None => match (
                    recipe.targets().position(|target| target == name),
                    id_names.iter().position(|id| id == name),
                    &self.list[i].kind,
                ) {
                    (Some(_), _, Kind::Other(_)) => Role::Unused,
                    (Some(_), _, Kind::Nominal(_)) if recipe.classes.is_none() => Role::Unused,
                    (Some(t), ..) => Role::Target(t),
                    _ if group.contains(&i) => Role::Group,
                    _ if weight.contains(&i) => Role::Weight,
                    (None, Some(id), _) => Role::Id(id),
                    (None, None, _) => {
                        if !recipe.ignored.contains(name) && !recipe.ids.contains(name) {
                            superfluous.push(name.as_str());
                        }
                        Role::Unused
                    }
                },
            });
        }
        let feature = |role: &Role| if let Role::Feature(j) = role { Some(*j) } else { None };
        let found: HashSet<usize> = roles.iter().filter_map(feature).collect();
        let absent = |j: &usize| !found.contains(j);
        let missing: Vec<&str> =
            (0..recipe.columns.len()).filter(absent).map(|j| recipe.columns[j].name.as_str()).collect();
        if !missing.is_empty() {
            // The file's names that are not matched yet.
            let free: Vec<String> = superfluous.iter().map(|&name| name.to_owned()).collect();
            let missing = missing.iter().map(|name| Misnamed::among(name, &free)).collect();
            return Err(TableProblem::MissingFeatures(missing).into());
        }
        if !superfluous.is_empty() {
            let is_found = |name: &String| names.contains(name);
            let all = recipe.columns.iter().map(|column| &column.name).chain(recipe.targets());
            let all: Vec<String> = all.filter(|name| !is_found(name)).cloned().collect();
            let superfluous = superfluous.iter().map(|name| Misnamed::among(name, &all)).collect();
            return Err(TableProblem::SuperfluousColumns(superfluous).into());
        }
        let place = |t: usize| roles.iter().position(|role| *role == Role::Target(t));
        let absent = recipe.targets().enumerate().find(|(t, _)| place(*t).is_none());
        if let (true, Some((_, name))) = (target, absent) {
            let name = name.clone();
            return Err(TableProblem::UnknownTarget { name, columns: self.names() }.into());
        }
        let cells = recipe.columns.iter().map(|column| match &column.levels {
            Some(levels) => Cell::words(levels, false),
            None => Cell::Number,
        });
        let targets: Vec<usize> = (0..recipe.targets().count()).filter_map(place).collect();
        if absent.is_some() {
            roles
                .iter_mut()
                .filter(|role| matches!(role, Role::Target(_)))
                .for_each(|role| *role = Role::Unused);
        }
        // A model that was fitted to columns without names knows the place of the target.
        let guessed = targets.first().filter(|&&i| by_position && position(&names[i]).is_none());
        let target_by_position =
            guessed.map(|&i| self.list[i].name.clone()).filter(|name| recipe.target.as_ref() != Some(name));
        Ok(Plan {
            declared: Vec::new(),
            target_by_position,
            cells: cells.collect(),
            targets: match absent {
                Some(_) => Vec::new(),
                None => targets.iter().map(|&i| self.list[i].name.clone()).collect(),
            },
            labels: recipe.classes.as_ref().map_or(Cell::Number, |labels| Cell::words(labels, false)),
            roles,
            names: self.names(),
            ids: id_names,
            recipe,
            learns: false,
            target_optional: !target,
            suspect: false,
        })
    }

    /// Join features called `column=level` of a model that stores names alone, if the file has such a column.
    fn grouped(&self, recipe: &Recipe) -> Recipe {
        let mut joined = Recipe { columns: Vec::new(), ..recipe.clone() };
        for column in &recipe.columns {
            let mut splits = column.name.match_indices('=').map(|(at, _)| column.name.split_at(at));
            let parts = splits.rfind(|(name, _)| self.find(name).is_some());
            let Some((name, level)) =
                parts.filter(|_| column.levels.is_none() && self.find(&column.name).is_none())
            else {
                joined.columns.push(column.clone());
                continue;
            };
            let level = level[1..].to_owned();
            match joined.columns.last_mut() {
                Some(recipe::Column { name: last, levels: Some(levels), .. }) if last == name => {
                    levels.push(level);
                }
                _ => {
                    let levels = Some(vec![level]);
                    joined.columns.push(recipe::Column { levels, ..recipe::Column::number(name) });
                }
            }
        }
        joined
    }

    /// Return the recipe's name of each column, taken in the order of training: with or without the target.
    fn by_position(
        &self,
        recipe: &Recipe,
        ignored: &[usize],
        ids: &[usize],
    ) -> Result<Vec<String>, TableError> {
        let features = recipe.columns.iter().map(|column| &column.name);
        // A column that identifies rows may be that of the groups as well.
        let ids_alone = recipe.ids.iter().filter(|id| !recipe.ignored.contains(id));
        let others = recipe.ignored.iter().chain(ids_alone);
        let mut order: Vec<&String> = features.clone().collect();
        let is_numbered = |name: &&String| position(name).is_some();
        if !recipe.named && features.clone().chain(others.clone()).all(|name| is_numbered(&name)) {
            order.extend(others);
            order.extend(recipe.targets().filter(is_numbered));
            order.sort_by_key(|name| position(name));
            order.extend(recipe.targets().filter(|name| !is_numbered(name)));
        } else {
            order.extend(recipe.targets());
        }
        // What the caller names besides has no place in the order.
        let free: Vec<usize> =
            (0..self.list.len()).filter(|i| !ignored.contains(i) && !ids.contains(i)).collect();
        let targets = recipe.targets().count();
        // The file may name the target, wherever it is.
        let own: Vec<usize> = match self.named && recipe.named {
            true => {
                recipe.targets().filter_map(|target| self.find(target)).filter(|i| free.contains(i)).collect()
            }
            false => Vec::new(),
        };
        if targets > 0 && own.len() == targets && free.len() == order.len() {
            let mut rest = features.clone();
            let at = |i: &usize| match own.iter().position(|own| own == i) {
                Some(t) => recipe.targets().nth(t),
                None => rest.next(),
            };
            order = free.iter().filter_map(at).collect();
        } else if targets > 0 && free.len() + targets == order.len() {
            order.retain(|name| recipe.targets().all(|target| target != *name));
        } else if free.len() == recipe.columns.len() {
            order = features.collect();
        }
        if free.len() != order.len() {
            let (expected, found) = (recipe.columns.len(), free.len());
            return Err(TableProblem::FeatureCount { expected, found }.into());
        }
        let mut names: Vec<String> = self.names();
        // A name that is set aside must not be taken for one of the order.
        names.iter_mut().for_each(|name| name.insert(0, '\0'));
        for (i, name) in free.into_iter().zip(order) {
            names[i].clone_from(name);
        }
        Ok(names)
    }
}
