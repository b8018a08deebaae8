//! The role of each column of a file.

use crate::data::table::fate::{Fate, Settled};
use crate::data::table::form::Form;
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
    /// What the columns hold that the options choose, and no rows; of these columns numbers are words.
    Survey(&'a [usize]),
    /// The columns that the options choose; their recipe is learned, with what was settled of them.
    Learn(Option<&'a Settled>),
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
    /// Whether the first column has no name in a header that names others.
    pub(crate) unnamed_first: bool,
    /// How the fields of each column are written.
    pub(crate) forms: Vec<Form>,
    pub(crate) decimal_comma: bool,
    /// The columns that are features whatever they look like.
    pub(crate) kept: Vec<usize>,
    /// The features that have some of their words as levels.
    pub(crate) partial: Vec<usize>,
    /// The columns of which numbers are seen as words, if columns are surveyed.
    pub(crate) survey: Option<Vec<usize>>,
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

    /// Return how a feature is parsed, if its declared levels are at most so many.
    fn feature_cell(&self, is_words: bool, limit: u64) -> Result<Cell, TableError> {
        match &self.kind {
            _ if is_words => Ok(Cell::words(&[], true)),
            Kind::Nominal(values) if values.len() as u64 > limit => {
                let (column, example) = (self.name.clone(), last(values).into());
                Err(TableProblem::TooManyLevels { column, example, limit }.at_line(self.line))
            }
            _ => Ok(self.cell()),
        }
    }

    /// Return how the target is parsed, if its declared classes are at most so many.
    fn target_cell(&self, labels: Labels, limit: u64) -> Result<Cell, TableError> {
        match (labels, &self.kind) {
            (Labels::None, _) => Ok(Cell::Number),
            (_, Kind::Nominal(values)) if values.len() as u64 > limit => {
                let (column, example) = (self.name.clone(), last(values).into());
                Err(TableProblem::TooManyClasses { column, example, limit }.at_line(self.line))
            }
            (Labels::All, Kind::Open | Kind::Number | Kind::Other(_)) => Ok(Cell::words(&[], true)),
            _ => Ok(self.cell()),
        }
    }
}

/// The columns that options name, by index.
struct Chosen {
    features: HashSet<usize>,
    words: Vec<usize>,
    ids: Vec<usize>,
    /// At most one.
    group: Vec<usize>,
    /// At most one.
    weight: Vec<usize>,
    targets: Vec<usize>,
}

impl Chosen {
    /// Return the role of column `i`, if it is a feature the one of this index.
    fn role(&self, i: usize, feature: usize) -> Role {
        let place = |columns: &[usize]| columns.iter().position(|&column| column == i);
        if let Some(t) = place(&self.targets) {
            Role::Target(t)
        } else if self.group.contains(&i) {
            Role::Group
        } else if self.weight.contains(&i) {
            Role::Weight
        } else if let Some(id) = place(&self.ids) {
            Role::Id(id)
        } else if self.features.contains(&i) {
            Role::Feature(feature)
        } else {
            Role::Unused
        }
    }
}

/// A recipe, the name in it of each column of a file, and the columns that options name, by index.
struct Matched<'a> {
    recipe: &'a Recipe,
    names: &'a [String],
    ids: &'a [String],
    ignored: &'a [usize],
    own_ids: &'a [usize],
    group: &'a [usize],
    weight: &'a [usize],
}

impl Matched<'_> {
    /// Return the role of a column that is no feature; none if it has no role.
    fn other_role(&self, i: usize, kind: &Kind) -> Option<Role> {
        let name = &self.names[i];
        match (self.recipe.targets().position(|target| target == name), kind) {
            (Some(_), Kind::Other(_)) => Some(Role::Unused),
            (Some(_), Kind::Nominal(_)) if self.recipe.classes.is_none() => Some(Role::Unused),
            (Some(t), _) => Some(Role::Target(t)),
            _ if self.group.contains(&i) => Some(Role::Group),
            _ if self.weight.contains(&i) => Some(Role::Weight),
            _ => self.ids.iter().position(|id| id == name).map(Role::Id),
        }
    }
}

/// Names that programs give to a column of row numbers.
const ROW_NUMBERS: [&str; 8] = ["unnamed: 0", "index", "row", "rows", "row.names", "rownames", "id", "idx"];

fn is_of_rows(name: &str) -> bool {
    ROW_NUMBERS.contains(&name.to_lowercase().as_str())
}

/// Whether a column that is called so identifies rows: `id`, `row`, `PassengerId`, `order_id`, but not
/// `humid`.
pub(crate) fn is_of_ids(name: &str) -> bool {
    let words = || name.strip_suffix("ID").or_else(|| name.strip_suffix("Id"));
    let before = name.to_lowercase().strip_suffix("id").and_then(|before| before.chars().next_back());
    is_of_rows(name)
        || before.is_some_and(|last| !last.is_alphanumeric())
        || words().is_some_and(|before| before.ends_with(|c: char| c.is_lowercase() || c.is_ascii_digit()))
}

/// Return the names of columns by those in a header, where a column without one is called by its index, and
/// whether the first has none.
pub(crate) fn named_all(header: &[&str]) -> (Vec<String>, bool) {
    let header: Vec<&str> = header.iter().map(|name| name.trim_ascii()).collect();
    let name = |(i, name): (usize, &&str)| match *name {
        "" if header.contains(&format!("x{i}").as_str()) => format!("unnamed {i}"),
        "" => format!("x{i}"),
        name => name.to_owned(),
    };
    (header.iter().enumerate().map(name).collect(), header.first().is_some_and(|name| name.is_empty()))
}

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
            Want::Survey(words) => {
                let limits = Limits { levels: u64::MAX, ..options.limits };
                let open = Options { limits, ..options.clone() };
                let plan = self.opened(true).learn(&open, None)?;
                Ok(Plan { survey: Some(words.to_vec()), ..plan })
            }
            Want::Learn(settled) => self.opened(options.as_it_is).learn(options, settled),
            Want::Apply { recipe, target } => self.opened(recipe.as_it_is).apply(recipe, target, options),
        }
    }

    /// Let values decide what columns of text or dates hold, if a table is taken as it is.
    fn opened(mut self, as_it_is: bool) -> Self {
        let is_text = |kind: &Kind| match kind {
            Kind::Other(kind) => ["string", "date"].iter().any(|text| kind.eq_ignore_ascii_case(text)),
            _ => false,
        };
        for column in self.list.iter_mut().filter(|column| as_it_is && is_text(&column.kind)) {
            column.kind = Kind::Open;
        }
        self
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
    fn learn(self, options: &Options, settled: Option<&Settled>) -> Result<Plan, TableError> {
        let nothing = Settled::default();
        let settled = settled.unwrap_or(&nothing);
        let mut chosen = self.chosen(options, settled.target)?;
        let is_left_out = |column: &usize| *settled.fate(*column) == Fate::LeftOut;
        chosen.features.retain(|column| !is_left_out(column));
        let kept = self.resolve(&options.keep)?.into_iter();
        let named = chosen.features.iter().copied().filter(|_| !options.columns.is_empty());
        let kept = kept.chain(named).chain(chosen.words.iter().copied()).collect();
        let target = chosen.targets.first().map(|&i| &self.list[i]);
        // Several targets are numbers.
        let labels = match chosen.targets[..] {
            [target] if *settled.fate(target) == Fate::Words => Labels::All,
            [_] => options.labels,
            _ => Labels::None,
        };
        let mut recipe = self.recipe_of(options, settled, &chosen);
        let (mut roles, mut cells) = (Vec::with_capacity(self.list.len()), Vec::new());
        let mut partial = Vec::new();
        for (i, column) in self.list.iter().enumerate() {
            let role = chosen.role(i, cells.len());
            match role {
                Role::Target(_) => column.check(true, labels)?,
                Role::Weight => {
                    column.check(false, Labels::None)?;
                    recipe.weight = Some(column.name.clone());
                }
                Role::Feature(_) => {
                    column.check(false, labels)?;
                    cells.push(match settled.fate(i) {
                        Fate::Levels(levels) => {
                            partial.push(cells.len());
                            Cell::words(levels, false)
                        }
                        Fate::Words => Cell::words(&[], true),
                        Fate::Read(_) => Cell::Number,
                        _ => column.feature_cell(chosen.words.contains(&i), options.limits.levels)?,
                    });
                    let form = settled.form(i);
                    recipe.columns.push(recipe::Column { form, ..recipe::Column::number(&column.name) });
                }
                Role::Unused | Role::Group | Role::Id(_) => {}
            }
            // A model needs neither the group nor the weight.
            if matches!(role, Role::Unused | Role::Group | Role::Weight) {
                recipe.ignored.push(column.name.clone());
            }
            roles.push(role);
        }
        if cells.is_empty() {
            return Err(TableProblem::NoFeatures.into());
        }
        let mut declared = chosen.words;
        declared.extend(chosen.targets.first().filter(|_| labels == Labels::All));
        declared.extend((0..self.list.len()).filter(|&i| *settled.fate(i) == Fate::Words));
        let is_read = recipe.target_forms.first().is_some_and(|form| !form.is_plain());
        Ok(Plan {
            suspect: self.may_count_rows() && roles.first() == Some(&Role::Feature(0)),
            labels: target
                .filter(|_| !is_read)
                .map_or(Ok(Cell::Number), |target| target.target_cell(labels, options.limits.classes))?,
            unnamed_first: self.unnamed_first,
            forms: (0..self.list.len()).map(|i| settled.form(i)).collect(),
            decimal_comma: recipe.decimal_comma,
            kept,
            partial,
            survey: None,
            roles,
            names: self.names(),
            cells,
            ids: recipe.ids.clone(),
            targets: recipe.targets().cloned().collect(),
            recipe,
            learns: true,
            declared,
            target_by_position: None,
            target_optional: false,
        })
    }

    /// Return the recipe without its columns.
    fn recipe_of(&self, options: &Options, settled: &Settled, chosen: &Chosen) -> Recipe {
        let names_of =
            |columns: &[usize]| columns.iter().map(|&i| self.list[i].name.clone()).collect::<Vec<_>>();
        let targets = names_of(&chosen.targets);
        let mut target_forms: Vec<Form> = chosen.targets.iter().map(|&i| settled.form(i)).collect();
        if target_forms.iter().all(Form::is_plain) {
            target_forms.clear();
        }
        Recipe {
            named: self.named,
            target: targets.first().cloned(),
            further: targets.into_iter().skip(1).collect(),
            ids: names_of(&chosen.ids),
            missing: options.missing,
            missing_values: options.missing_values.clone(),
            target_forms,
            decimal_comma: options.decimal_comma.unwrap_or(settled.decimal_comma),
            as_it_is: options.as_it_is,
            taken: settled.taken.clone(),
            ..Recipe::default()
        }
    }

    /// Return the columns that the options name, none of them in two roles.
    fn chosen(&self, options: &Options, target: Option<usize>) -> Result<Chosen, TableProblem> {
        let ignored = self.resolve(&options.ignore)?;
        let ids = self.resolve(&options.ids)?;
        let group = self.resolve_one(options.group.as_deref())?;
        let weight = self.resolve_one(options.weight.as_deref())?;
        let set_aside = [&ignored, &ids, &group, &weight];
        let targets = match target {
            Some(settled) => vec![settled],
            None => {
                self.targets(&options.target, |i| !set_aside.iter().any(|columns| columns.contains(&i)))?
            }
        };
        // A column that identifies rows may be that of the groups as well.
        let pairs = [
            ("the target", &targets, "an id", &ids),
            ("the target", &targets, "the group", &group),
            ("the target", &targets, "the weight", &weight),
            ("the group", &group, "the weight", &weight),
        ];
        for (one, columns, other, others) in pairs {
            if let Some(&i) = columns.iter().find(|column| others.contains(column)) {
                let column = self.list[i].name.as_str().into();
                return Err(TableProblem::TwoRoles { column, one, other });
            }
        }
        let features = self.resolve(&options.columns)?;
        let is_feature = |i| features.is_empty() || features.contains(&i);
        let ignored: HashSet<usize> = ignored.into_iter().collect();
        let features = (0..self.list.len()).filter(|i| is_feature(*i) && !ignored.contains(i)).collect();
        Ok(Chosen { features, words: self.resolve(&options.words)?, ids, group, weight, targets })
    }

    /// Whether the first column may be one of row numbers, by its name.
    fn may_count_rows(&self) -> bool {
        self.list.first().is_some_and(|column| !self.named || self.unnamed_first || is_of_rows(&column.name))
    }

    /// Match the columns to a recipe by the rule at [`super::read_features`].
    fn apply(self, recipe: &Recipe, target: bool, options: &Options) -> Result<Plan, TableError> {
        let ignored = self.resolve(&options.ignore)?;
        let own_ids = self.resolve(&options.ids)?;
        let mut recipe = self.grouped(recipe);
        if recipe.width() == 0 {
            return Err(TableProblem::NoFeatures.into());
        }
        let by_position = !target && (options.by_position || (!self.named && !recipe.named));
        if by_position {
            // If the model has no target, one column more than its features is taken as the target.
            recipe.target.get_or_insert_with(|| "\0target".to_owned());
        }
        let names = self.names_by(&recipe, target, by_position, &ignored, &own_ids)?;
        let ids: Vec<String> = match own_ids.is_empty() {
            // The recipe's may be absent.
            true => recipe.ids.iter().filter(|&id| names.contains(id)).cloned().collect(),
            false => own_ids.iter().map(|&i| self.list[i].name.clone()).collect(),
        };
        // Groups and weights matter in training alone.
        let [group, weight] = [&options.group, &options.weight]
            .map(|wanted| self.resolve_one(wanted.as_deref().filter(|_| target)));
        let matched = Matched {
            recipe: &recipe,
            names: &names,
            ids: &ids,
            ignored: &ignored,
            own_ids: &own_ids,
            group: &group?,
            weight: &weight?,
        };
        let mut roles = self.roles_by(&matched)?;
        let place = |t: usize| roles.iter().position(|role| *role == Role::Target(t));
        let mut targets: Vec<usize> = (0..recipe.targets().count()).filter_map(place).collect();
        // A model that was fitted to columns without names knows the place of the target.
        let guessed = targets.first().filter(|&&i| by_position && position(&names[i]).is_none());
        let target_by_position =
            guessed.map(|&i| self.list[i].name.clone()).filter(|name| recipe.target.as_ref() != Some(name));
        if let Some((_, name)) = recipe.targets().enumerate().find(|(t, _)| place(*t).is_none()) {
            if target {
                let name = name.clone();
                return Err(TableProblem::UnknownTarget { name, columns: self.names() }.into());
            }
            // Targets are used only if all are present.
            targets.iter().for_each(|&i| roles[i] = Role::Unused);
            targets.clear();
        }
        let cell = |levels: &Option<Vec<String>>| match levels {
            Some(levels) => Cell::words(levels, false),
            None => Cell::Number,
        };
        let form = |role: &Role| match role {
            Role::Feature(feature) => recipe.columns[*feature].form.clone(),
            Role::Target(t) => recipe.target_forms.get(*t).cloned().unwrap_or_default(),
            _ => Form::Plain,
        };
        Ok(Plan {
            unnamed_first: self.unnamed_first,
            forms: roles.iter().map(form).collect(),
            decimal_comma: options.decimal_comma.unwrap_or(recipe.decimal_comma),
            kept: Vec::new(),
            partial: Vec::new(),
            survey: None,
            declared: Vec::new(),
            target_by_position,
            cells: recipe.columns.iter().map(|column| cell(&column.levels)).collect(),
            targets: targets.into_iter().map(|i| self.list[i].name.clone()).collect(),
            labels: cell(&recipe.classes),
            roles,
            names: self.names(),
            ids,
            recipe,
            learns: false,
            target_optional: !target,
            suspect: false,
        })
    }

    /// Return the name in the recipe of each column.
    fn names_by(
        &self,
        recipe: &Recipe,
        target: bool,
        by_position: bool,
        ignored: &[usize],
        ids: &[usize],
    ) -> Result<Vec<String>, TableError> {
        let has_all = || recipe.columns.iter().all(|column| self.find(&column.name).is_some());
        if by_position {
            self.by_position(recipe, ignored, ids)
        } else if target || (self.named && (recipe.named || has_all())) {
            // With the target this is the same file as before, whose columns have the same names.
            Ok(self.names())
        } else {
            Err(TableProblem::Nameless { model: recipe.named }.into())
        }
    }

    /// Return the role of each column; an error if a feature is missing, or a column is neither known nor
    /// ignored.
    fn roles_by(&self, matched: &Matched<'_>) -> Result<Vec<Role>, TableError> {
        let Matched { recipe, names, .. } = matched;
        let wanted: HashMap<&str, usize> =
            recipe.columns.iter().enumerate().map(|(j, column)| (column.name.as_str(), j)).collect();
        if let Some(&i) = matched.own_ids.iter().find(|&&i| wanted.contains_key(names[i].as_str())) {
            return Err(TableProblem::FeatureAsId(self.list[i].name.clone()).into());
        }
        let (mut roles, mut superfluous) = (Vec::with_capacity(names.len()), Vec::new());
        let mut is_found = vec![false; recipe.columns.len()];
        for (i, (name, column)) in names.iter().zip(&self.list).enumerate() {
            let own_id = matched.own_ids.iter().position(|&id| id == i);
            roles.push(match (wanted.get(name.as_str()), own_id) {
                _ if matched.ignored.contains(&i) => Role::Unused,
                (_, Some(id)) => Role::Id(id),
                (Some(&j), None) => {
                    column.check(false, Labels::None)?;
                    is_found[j] = true;
                    Role::Feature(j)
                }
                (None, None) => matched.other_role(i, &column.kind).unwrap_or_else(|| {
                    if !recipe.ignored.contains(name) && !recipe.ids.contains(name) {
                        superfluous.push(name.clone());
                    }
                    Role::Unused
                }),
            });
        }
        let missing = recipe.columns.iter().zip(is_found).filter(|(_, is_found)| !is_found);
        // The file's names that are not matched yet.
        let missing: Vec<_> =
            missing.map(|(column, _)| Misnamed::among(&column.name, &superfluous)).collect();
        if !missing.is_empty() {
            return Err(TableProblem::MissingFeatures(missing).into());
        }
        if !superfluous.is_empty() {
            let all = recipe.columns.iter().map(|column| &column.name).chain(recipe.targets());
            let free: Vec<String> = all.filter(|name| !names.contains(name)).cloned().collect();
            let superfluous = superfluous.iter().map(|name| Misnamed::among(name, &free)).collect();
            return Err(TableProblem::SuperfluousColumns(superfluous).into());
        }
        Ok(roles)
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
        // Columns that the caller sets aside have no place in the order.
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
