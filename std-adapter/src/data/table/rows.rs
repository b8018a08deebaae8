//! Parsing fields of text into rows of values, one field at a time.
//!
//! A row has one value per column of the recipe: a number, the index of a level, or NaN for a gap. What the
//! columns become is settled once all rows were seen, or by the model, and then they are expanded to
//! features.

use crate::data::table::columns::{Cell, Plan, Role, Undecided, is_of_ids};
use crate::data::table::fate::Settled;
use crate::data::table::form::{Form, Part};
use crate::data::table::input::{Origin, Reading, Remarks, Table};
use crate::data::table::markers::Markers;
use crate::data::table::options::{Missing, Unknown};
use crate::data::table::settle::Surveyed;
use crate::data::table::survey::{BYTES, Seen};
use crate::data::table::taken::{How, Taken};
use crate::error::table::{Place, TableError, TableProblem, cut};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::mem;

/// Values in a block of rows passed on.
const BLOCK: usize = 1 << 19;

/// The rows read so far, or since the last block was passed on.
pub(crate) struct Rows<'a> {
    origin: Origin<'a>,
    plan: Plan,
    markers: Markers,
    /// One value per column of the recipe.
    raw: Vec<f64>,
    /// The values of each target, at least one list.
    targets: Vec<Vec<f64>>,
    ids: Vec<String>,
    /// The group of each row, and the names of groups.
    groups: Vec<u32>,
    group_names: HashMap<Box<str>, u32>,
    /// The length of `groups` at which the current row begins.
    first_group: usize,
    /// The weight of each row, and whether the current one has the weight 0.
    weights: Vec<f64>,
    weightless: bool,
    /// The length of `weights` at which the current row begins.
    first_weight: usize,
    /// Rows kept and rows begun.
    count: usize,
    begun: usize,
    /// Lengths of `raw` and of each target at which the current row begins.
    start: (usize, usize),
    /// Whether the current row is left out.
    dropped: bool,
    /// Whether a row passed on had a target.
    had_target: bool,
    /// The first line with a missing target, its column and its marker, where a missing target is allowed.
    no_target: Option<(u64, usize, String)>,
    /// The same of the current row.
    no_target_here: Option<(u64, usize, String)>,
    /// What was learned of each column.
    tallies: Vec<Tally>,
    /// The rows that are left out for a gap in each column of the file.
    gaps: Vec<u64>,
    /// The rows left out for gaps, and those of weight 0.
    lost: u64,
    weightless_rows: u64,
    /// What was skipped, filled or guessed; a format adds its own.
    pub(crate) remarks: Remarks,
    /// The first value of the first column, while the values count rows.
    counting: Option<f64>,
    /// What was seen of the columns, if they are surveyed.
    survey: Option<Vec<Seen>>,
    /// The bytes that are left for it.
    left: usize,
    /// What separates the fields of a text.
    pub(crate) separator: Option<u8>,
}

/// Sums over the known values of a column.
#[derive(Clone, Default)]
struct Tally {
    known: u64,
    gaps: u64,
    mean: f64,
    levels: Vec<u64>,
    /// The means of the parts of a date.
    parts: Vec<f64>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(origin: Origin<'a>, plan: Plan, markers: Markers) -> Self {
        let seen = |column: usize| {
            let is_named_as_id = is_of_ids(&plan.names[column]) || (column == 0 && plan.unnamed_first);
            let as_words = plan.survey.as_ref().is_some_and(|words| words.contains(&column));
            Seen::new(is_named_as_id, as_words)
        };
        Self {
            origin,
            survey: plan.survey.as_ref().map(|_| (0..plan.roles.len()).map(seen).collect()),
            left: BYTES,
            separator: None,
            markers,
            gaps: vec![0; plan.roles.len()],
            lost: 0,
            weightless_rows: 0,
            raw: Vec::new(),
            targets: vec![Vec::new(); plan.targets.len().max(1)],
            ids: Vec::new(),
            groups: Vec::new(),
            group_names: HashMap::new(),
            first_group: 0,
            weights: Vec::new(),
            weightless: false,
            first_weight: 0,
            count: 0,
            begun: 0,
            start: (0, 0),
            dropped: false,
            had_target: false,
            no_target: None,
            no_target_here: None,
            tallies: vec![Tally::default(); plan.cells.len()],
            remarks: Remarks::default(),
            counting: plan.suspect.then_some(f64::NAN),
            plan,
        }
    }

    /// Return the number of fields per row.
    pub(crate) fn fields(&self) -> usize {
        self.plan.roles.len()
    }

    /// Whether a column has a value in each row that a zero in the features does not stand for.
    pub(crate) fn is_told(&self, column: usize) -> bool {
        match self.plan.roles[column] {
            Role::Unused => false,
            Role::Feature(feature) => matches!(self.plan.cells[feature], Cell::Words { .. }),
            Role::Target(_) | Role::Id(_) | Role::Group | Role::Weight => true,
        }
    }

    /// Start a row of zeros, and pass the rows before it on if there is a receiver.
    pub(crate) fn begin(&mut self) -> Result<(), TableError> {
        if self.survey.is_some() {
            self.begun += 1;
            return Ok(());
        }
        self.settle();
        if self.raw.len() + self.targets[0].len() >= BLOCK {
            if self.origin.scan {
                self.tally();
                self.raw.clear();
                self.targets.iter_mut().for_each(Vec::clear);
                self.groups.clear();
                self.weights.clear();
                self.ids.clear();
            } else if let Some(receiver) = self.origin.receiver {
                let block = self.block(String::new())?;
                self.had_target |= block.table.target.is_some();
                if !(receiver.borrow_mut())(block) {
                    return Err(TableProblem::Stopped.into());
                }
            }
        }
        self.start = (self.raw.len(), self.targets[0].len());
        self.first_group = self.groups.len();
        self.first_weight = self.weights.len();
        self.raw.resize(self.start.0 + self.plan.cells.len(), 0.0);
        self.ids.resize(self.ids.len() + self.plan.ids.len(), String::new());
        self.begun += 1;
        Ok(())
    }

    /// Read the rows after all: zeros that are not written cannot be surveyed.
    pub(crate) fn no_survey(&mut self) {
        self.survey = None;
    }

    /// Return what becomes of the columns, or those of which numbers are to be seen as words first.
    pub(crate) fn settled(self) -> Result<Result<Settled, Vec<usize>>, TableError> {
        let Some(seen) = &self.survey else { return Ok(Ok(Settled::default())) };
        if self.begun == 0 {
            return Err(TableProblem::HeaderAlone.into());
        }
        let (plan, rows, options) = (&self.plan, self.begun as u64, self.origin.options);
        let surveyed = Surveyed { plan, seen, rows, options };
        let again = surveyed.again();
        if !again.is_empty() {
            return Ok(Err(again));
        }
        Ok(Ok(Settled { separator: self.separator, ..surveyed.settle()? }))
    }

    /// Keep the separator for files that a model reads, if it was told or is hard to detect.
    pub(crate) fn keep_separator(&mut self) {
        let Plan { recipe, decimal_comma, learns, .. } = &mut self.plan;
        if *learns && recipe.as_it_is && (self.origin.options.separator.is_some() || *decimal_comma) {
            recipe.separator = self.separator;
        }
    }

    /// Keep the current row or leave it out.
    fn settle(&mut self) {
        if self.begun == 0 {
            return;
        }
        let no_target = self.no_target_here.take();
        let weightless = mem::take(&mut self.weightless);
        if mem::take(&mut self.dropped) || weightless {
            self.remarks.weightless += u64::from(weightless);
            self.weightless_rows += u64::from(weightless);
            self.lost += u64::from(!weightless);
            self.weights.truncate(self.first_weight);
            self.raw.truncate(self.start.0);
            self.targets.iter_mut().for_each(|target| target.truncate(self.start.1));
            self.groups.truncate(self.first_group);
            self.ids.truncate(self.ids.len() - self.plan.ids.len());
            self.remarks.dropped.push(self.begun - 1);
            return;
        }
        if let (Some(first), Some(&value)) = (self.counting, self.raw.get(self.start.0)) {
            let first = if self.count == 0 { value } else { first };
            self.counting =
                (value == first + self.count as f64 && (0.0..2.0).contains(&first)).then_some(first);
        }
        self.no_target = self.no_target.take().or(no_target);
        self.count += 1;
    }

    fn missing(&self) -> Missing {
        self.plan.recipe.missing
    }

    /// Leave the row out for a gap.
    fn leave_out(&mut self, column: usize) {
        self.dropped = true;
        self.gaps[column] += 1;
    }

    /// Note a gap in a feature: NaN takes its place, or the row is left out.
    fn gap(&mut self, feature: usize, column: usize) {
        if self.missing() == Missing::Drop {
            self.leave_out(column);
        } else {
            self.remarks.filled += 1;
            self.raw[self.start.0 + feature] = f64::NAN;
        }
    }

    /// Parse one field of the row.
    pub(crate) fn put(&mut self, column: usize, field: &[u8], line: u64) -> Result<(), TableError> {
        if let Some(seen) = &mut self.survey {
            if matches!(self.plan.roles[column], Role::Feature(_) | Role::Target(_)) {
                seen[column].see(text(field, line)?, line, &self.markers, &mut self.left);
            }
            return Ok(());
        }
        match self.plan.roles[column] {
            Role::Unused => {}
            Role::Group => {
                let next = self.group_names.len() as u32;
                let group = self.group_names.entry(text(field, line)?.into()).or_insert(next);
                self.groups.push(*group);
            }
            Role::Weight => {
                let weight = self.number(column, field, line)?;
                if weight < 0.0 {
                    let text = text(field, line)?;
                    return Err(self.refused(column, text, line, TableProblem::NegativeWeight));
                }
                self.weigh(weight);
            }
            Role::Target(t) => match self.target(column, field, line) {
                Ok(value) => self.targets[t].push(value),
                Err(error) => self.no_target(column, error, line)?,
            },
            Role::Id(id) => {
                let at = self.ids.len() - self.plan.ids.len() + id;
                self.ids[at] = text(field, line)?.to_owned();
            }
            Role::Feature(feature) => match self.value(feature, column, field, line) {
                Ok(value) => self.raw[self.start.0 + feature] = value,
                Err(error) if is_gap(&error.problem) && self.missing() != Missing::Error => {
                    self.gap(feature, column);
                }
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }

    /// Keep the weight of the row, which is left out if it is 0.
    fn weigh(&mut self, weight: f64) {
        self.weightless = weight == 0.0;
        self.weights.push(weight);
    }

    /// Note a row without a target.
    fn no_target(&mut self, column: usize, error: TableError, line: u64) -> Result<(), TableError> {
        match error.problem {
            TableProblem::Missing(marker) if self.plan.target_optional => {
                self.no_target_here = Some((line, column, marker));
                if self.origin.options.partly_labelled
                    && let Role::Target(t) = self.plan.roles[column]
                {
                    self.targets[t].push(f64::NAN);
                }
            }
            _ if is_gap(&error.problem) && !self.plan.target_optional && self.missing() != Missing::Error => {
                self.leave_out(column);
            }
            _ => return Err(error),
        }
        Ok(())
    }

    /// Store a value that needs no parsing. NaN is a gap.
    pub(crate) fn put_value(&mut self, column: usize, value: f64, row: u64) -> Result<(), TableError> {
        if let Some(seen) = &mut self.survey {
            seen[column].see_value(value, &self.markers, &mut self.left);
            return Ok(());
        }
        let value = if self.markers.mark_value(value) { f64::NAN } else { value };
        let is_gap = value.is_nan() && self.missing() != Missing::Error;
        match self.plan.roles[column] {
            Role::Unused => {}
            Role::Group => return self.put(column, value.to_string().as_bytes(), row),
            Role::Feature(feature) if is_gap => self.gap(feature, column),
            Role::Feature(feature)
                if matches!(self.plan.cells[feature], Cell::Words { .. })
                    || self.plan.forms[column].parts().is_some() =>
            {
                return self.put(column, value.to_string().as_bytes(), row);
            }
            Role::Target(_) if is_gap && !self.plan.target_optional => self.leave_out(column),
            Role::Target(_) if matches!(self.plan.labels, Cell::Words { .. }) => {
                return self.put(column, value.to_string().as_bytes(), row);
            }
            Role::Id(id) => {
                let at = self.ids.len() - self.plan.ids.len() + id;
                self.ids[at] = value.to_string();
            }
            Role::Target(t)
                if value.is_nan() && self.plan.target_optional && self.origin.options.partly_labelled =>
            {
                self.no_target_here = Some((row, column, value.to_string()));
                self.targets[t].push(value);
            }
            _ if !value.is_finite() => {
                let place = Place::Entry(row, column as u64 + 1);
                return Err(TableError { place, ..TableProblem::NotFiniteEntry(value.to_string()).into() });
            }
            Role::Weight if value < 0.0 => {
                let place = Place::Entry(row, column as u64 + 1);
                return Err(TableError { place, ..TableProblem::NegativeWeight(value.to_string()).into() });
            }
            Role::Weight => self.weigh(value),
            Role::Target(t) => self.targets[t].push(value),
            Role::Feature(feature) => self.raw[self.start.0 + feature] = value,
        }
        Ok(())
    }

    /// Return the rows not passed on: all, without a receiver.
    pub(crate) fn finish(mut self, name: String) -> Result<Reading, TableError> {
        self.settle();
        self.refuse_open_target()?;
        let (dropped, rows) = (self.lost, self.begun as u64 - self.weightless_rows);
        let drops = self.missing() == Missing::Drop && !self.plan.target_optional && !self.origin.scan;
        let is_refused = drops && !self.origin.options.allow_loss && 2 * dropped > rows;
        match self.count {
            0 if self.weightless_rows > 0 => Err(TableProblem::NoRowWithWeight.into()),
            0 if dropped == 0 => Err(TableProblem::HeaderAlone.into()),
            count if count == 0 || is_refused => {
                Err(TableProblem::Dropped { dropped, rows, columns: self.columns_with_gaps() }.into())
            }
            _ => self.block(name),
        }
    }

    /// Return the columns whose gaps left rows out, the most first.
    fn columns_with_gaps(&self) -> Vec<(String, u64)> {
        let columns = self.plan.names.iter().cloned().zip(self.gaps.iter().copied());
        let mut columns: Vec<_> = columns.filter(|(_, rows)| *rows > 0).collect();
        columns.sort_by_key(|(_, rows)| Reverse(*rows));
        columns
    }

    /// Add the rows to what is known of the columns.
    fn tally(&mut self) {
        let columns = || self.plan.cells.iter().zip(&self.plan.recipe.columns);
        for row in self.raw.chunks_exact(self.tallies.len().max(1)) {
            for ((value, tally), (cell, column)) in row.iter().zip(&mut self.tallies).zip(columns()) {
                if value.is_nan() {
                    tally.gaps += 1;
                    continue;
                }
                tally.known += 1;
                if let Cell::Words { .. } | Cell::Open(_) = cell {
                    let code = *value as usize;
                    tally.levels.resize(tally.levels.len().max(code + 1), 0);
                    tally.levels[code] += 1;
                } else if let Some(parts) = column.form.parts() {
                    tally.add_parts(parts, *value);
                } else {
                    let known = tally.known as f64;
                    tally.mean += value / known - tally.mean / known;
                }
            }
        }
    }

    /// Complete the recipe by what was learned. Levels are sorted, so that the order of rows does not matter.
    fn learn(&mut self) -> Result<(), TableError> {
        let fills = matches!(self.missing(), Missing::Mean | Missing::Indicator);
        if fills || self.origin.scan {
            self.tally();
        }
        self.refuse_numbers_as_words()?;
        self.learn_classes();
        let Plan { cells, recipe, .. } = &mut self.plan;
        let width = cells.len();
        for (at, ((column, cell), tally)) in
            recipe.columns.iter_mut().zip(cells).zip(&self.tallies).enumerate()
        {
            let mut order = Vec::new();
            match cell {
                Cell::Open(_) => return Err(TableProblem::EmptyColumn(column.name.clone()).into()),
                Cell::Number => {}
                Cell::Words { codes, grows } => {
                    let mut levels: Vec<(Box<str>, usize)> = mem::take(codes).into_iter().collect();
                    if *grows {
                        levels.sort_unstable();
                    } else {
                        levels.sort_unstable_by_key(|level| level.1);
                    }
                    order = levels.iter().map(|level| level.1).collect();
                    column.levels = Some(levels.into_iter().map(|level| level.0.into()).collect());
                    let mut place = vec![0.0; order.len()];
                    order.iter().enumerate().for_each(|(new, &old)| place[old] = new as f64);
                    for value in self.raw.iter_mut().skip(at).step_by(width).filter(|value| !value.is_nan()) {
                        // A word that is no level is past all.
                        *value = place.get(*value as usize).copied().unwrap_or(*value);
                    }
                }
            }
            if fills {
                if tally.known == 0 {
                    return Err(TableProblem::EmptyColumn(column.name.clone()).into());
                }
                let share =
                    |&code: &usize| tally.levels.get(code).copied().unwrap_or(0) as f64 / tally.known as f64;
                column.fill = match (&column.levels, column.form.parts()) {
                    (Some(_), _) => order.iter().map(share).collect(),
                    (None, Some(_)) => tally.parts.clone(),
                    (None, None) => vec![tally.mean],
                };
                column.indicator = recipe.missing == Missing::Indicator && tally.gaps > 0;
                if recipe.as_it_is && tally.gaps > 0 {
                    recipe.taken.push(Taken { column: column.name.clone(), how: How::Filled(tally.gaps) });
                }
            }
        }
        self.plan.learns = false;
        self.check_names()?;
        for (cell, column) in self.plan.cells.iter_mut().zip(&self.plan.recipe.columns) {
            if let Some(levels) = &column.levels {
                *cell = Cell::words(levels, false);
            }
        }
        Ok(())
    }

    /// Refuse a column that was taken for words by its first value, and of which most are numbers.
    fn refuse_numbers_as_words(&self) -> Result<(), TableError> {
        let guessed =
            self.plan.roles.iter().enumerate().filter(|(column, _)| !self.plan.declared.contains(column));
        for (column, role) in guessed {
            let cell = match role {
                Role::Feature(feature) => &self.plan.cells[*feature],
                Role::Target(0) => &self.plan.labels,
                _ => continue,
            };
            let Cell::Words { codes, grows: true } = cell else { continue };
            let is_number = |word: &str| self.number(column, word.as_bytes(), 0).is_ok();
            let first = codes.iter().find(|(_, code)| **code == 0).map(|(word, _)| word);
            let Some(first) = first else { continue };
            if 2 * codes.keys().filter(|word| is_number(word)).count() > codes.len() {
                let name = self.plan.names[column].clone();
                return Err(TableProblem::NumbersAsWords { column: name, word: cut(first).into() }.into());
            }
        }
        Ok(())
    }

    /// Complete the labels of the classes. Numbers are in their order; else labels that were not declared are
    /// sorted.
    fn learn_classes(&mut self) {
        let Cell::Words { codes, grows } = &mut self.plan.labels else { return };
        let mut labels: Vec<(Box<str>, usize)> = mem::take(codes).into_iter().collect();
        labels.sort_unstable_by_key(|label| label.1);
        if *grows {
            let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.0.parse().ok()).collect();
            match numbers {
                Some(numbers) => labels.sort_by(|one, other| numbers[one.1].total_cmp(&numbers[other.1])),
                None => labels.sort_unstable(),
            }
        }
        let mut place = vec![0.0; labels.len()];
        labels.iter().enumerate().for_each(|(new, &(_, old))| place[old] = new as f64);
        self.targets[0].iter_mut().for_each(|code| *code = place[*code as usize]);
        let labels: Vec<String> = labels.into_iter().map(|label| label.0.into()).collect();
        self.plan.labels = Cell::words(&labels, false);
        self.plan.recipe.classes = Some(labels);
    }

    /// Refuse features that have one name after expansion, and too many.
    fn check_names(&self) -> Result<(), TableError> {
        let limit = self.origin.options.limits.columns;
        if self.plan.recipe.width() as u64 > limit {
            return Err(TableProblem::Limit { name: "columns", limit }.into());
        }
        let mut seen = HashMap::new();
        let place = |j| self.plan.roles.iter().position(|role| *role == Role::Feature(j)).unwrap_or(j) + 1;
        for (j, column) in self.plan.recipe.columns.iter().enumerate() {
            for name in column.feature_names() {
                if let Some(first) = seen.insert(name.clone(), j) {
                    let (name, first, second) = (cut(&name), place(first), place(j));
                    return Err(TableProblem::DuplicateColumn { name, first, second }.into());
                }
            }
        }
        Ok(())
    }

    /// Take the rows out.
    fn block(&mut self, name: String) -> Result<Reading, TableError> {
        let partly = self.origin.options.partly_labelled;
        if let Some((line, column, marker)) = self.no_target.as_ref().filter(|_| !partly)
            && (self.had_target || !self.targets[0].is_empty())
        {
            return Err(self.refused(*column, marker, *line, TableProblem::Missing));
        }
        if self.plan.learns {
            self.learn()?;
        }
        let some = || self.targets.iter().flatten().any(|target| !target.is_nan());
        let has_target = !self.plan.targets.is_empty() && (self.no_target.is_none() || (partly && some()));
        let gaps = self.columns_with_gaps();
        let mut targets = self.targets.iter_mut().map(mem::take);
        let recipe = &self.plan.recipe;
        let mut remarks = mem::take(&mut self.remarks);
        remarks.target_by_position.clone_from(&self.plan.target_by_position);
        (remarks.rows, remarks.gaps) = (self.begun as u64, gaps);
        remarks.row_numbers = (self.counting.is_some() && self.count > 2).then(|| self.plan.names[0].clone());
        Ok(Reading {
            table: Table {
                name,
                dim: recipe.width(),
                feature_names: recipe.feature_names(),
                features: recipe.expand(mem::take(&mut self.raw)),
                target: targets.next().filter(|_| has_target),
                target_name: self.plan.targets.first().filter(|_| has_target).cloned(),
                weights: self.plan.roles.contains(&Role::Weight).then(|| mem::take(&mut self.weights)),
            },
            further: targets.filter(|_| has_target).collect(),
            groups: mem::take(&mut self.groups),
            recipe: recipe.clone(),
            id_names: self.plan.ids.clone(),
            ids: mem::take(&mut self.ids),
            remarks,
        })
    }

    /// Parse the value of a feature: a number or the index of a level.
    fn value(&mut self, feature: usize, column: usize, field: &[u8], line: u64) -> Result<f64, TableError> {
        match &self.plan.cells[feature] {
            Cell::Number => return self.number(column, field, line),
            Cell::Open(_) => match self.decide(Some(feature), column, field, line)? {
                Decided::Number(number) => {
                    self.settle_number(Some(feature), column)?;
                    return number;
                }
                Decided::Word(codes) => self.plan.cells[feature] = Cell::Words { codes, grows: true },
                Decided::Not(code) => return code,
            },
            Cell::Words { .. } => {}
        }
        let word = text(field, line)?;
        let Cell::Words { codes, grows } = &mut self.plan.cells[feature] else { return Ok(f64::NAN) };
        let (known, limit) = (codes.len(), self.origin.options.limits.levels);
        let problem = match codes.get(word) {
            Some(&code) => return Ok(code as f64),
            None if self.markers.mark_word(word) => TableProblem::Missing,
            None if *grows && (known as u64) < limit => {
                codes.insert(word.into(), known);
                return Ok(known as f64);
            }
            None if *grows => {
                let name = self.plan.recipe.columns[feature].name.clone();
                let problem = TableProblem::TooManyLevels { column: name, example: cut(word).into(), limit };
                return Err(problem.at_line(line));
            }
            None if self.plan.partial.contains(&feature) => return Ok(known as f64),
            None if self.plan.learns => TableProblem::UndeclaredValue,
            None if self.origin.options.unknown == Unknown::Zero => {
                self.remarks.unknown += 1;
                return Ok(known as f64);
            }
            None => TableProblem::UnseenValue,
        };
        Err(self.refused(column, word, line, problem))
    }

    /// Parse a target: a number, or the index of a label.
    fn target(&mut self, column: usize, field: &[u8], line: u64) -> Result<f64, TableError> {
        match self.plan.labels {
            Cell::Number => return self.number(column, field, line),
            Cell::Open(_) => match self.decide(None, column, field, line)? {
                Decided::Number(number) => {
                    self.settle_number(None, column)?;
                    return number;
                }
                Decided::Word(codes) => self.plan.labels = Cell::Words { codes, grows: true },
                Decided::Not(code) => return code,
            },
            Cell::Words { .. } => {}
        }
        let word = text(field, line)?;
        if word.contains('\n') {
            // Or a quote is not closed.
            return Err(self.refused(column, word, line, TableProblem::LabelBreak));
        }
        // A number is one label, however it is written.
        let number = self.number(column, field, line).ok().filter(|_| !word.starts_with(char::is_alphabetic));
        let number = number.map(|number| number.to_string());
        let label = number.as_deref().unwrap_or(word);
        let Cell::Words { codes, grows } = &mut self.plan.labels else { return Ok(f64::NAN) };
        let (known, limit) = (codes.len(), self.origin.options.limits.classes);
        let problem = match codes.get(label) {
            Some(&code) => return Ok(code as f64),
            None if self.markers.mark_word(word) => TableProblem::Missing,
            None if *grows && (known as u64) < limit => {
                codes.insert(label.into(), known);
                return Ok(known as f64);
            }
            None if *grows => {
                let column = self.plan.names[column].clone();
                let problem = TableProblem::TooManyClasses { column, example: cut(word).into(), limit };
                return Err(problem.at_line(line));
            }
            None if self.plan.learns => TableProblem::UndeclaredValue,
            None if self.origin.options.unknown == Unknown::Zero => {
                self.remarks.unknown_classes += 1;
                return Ok(known as f64);
            }
            None => TableProblem::UnseenValue,
        };
        Err(self.refused(column, word, line, problem))
    }

    fn number(&self, column: usize, field: &[u8], line: u64) -> Result<f64, TableError> {
        let text = text(field, line)?;
        let comma = self.plan.decimal_comma;
        let form = &self.plan.forms[column];
        if !form.is_plain() {
            return self.formed(form, column, text, line);
        }
        let parsed = match comma && text.contains(',') {
            true => text.replacen(',', ".", 1).parse::<f64>(),
            false => text.parse(),
        };
        let problem = match parsed {
            // Thousands, or the comma is not the decimal point: a factor of a thousand is at stake.
            Ok(_) if comma && text.contains('.') => TableProblem::Point,
            Ok(value) if self.markers.mark_value(value) => TableProblem::Missing,
            Ok(value) if value.is_finite() => return Ok(value),
            Ok(_) if !self.markers.mark_number(text) => TableProblem::NotFiniteValue,
            Err(_) if text.eq_ignore_ascii_case("true") => return Ok(1.0),
            Err(_) if text.eq_ignore_ascii_case("false") => return Ok(0.0),
            Err(_) if !self.markers.mark_number(text) => TableProblem::NotANumber,
            _ => TableProblem::Missing,
        };
        Err(self.refused(column, text, line, problem))
    }

    /// Read a field of a column that is not written as plain numbers.
    fn formed(&self, form: &Form, column: usize, text: &str, line: u64) -> Result<f64, TableError> {
        // Amounts may be written with an exponent, and those of a currency or of none without any sign.
        let plain = || match form {
            Form::Amount { unit, .. } => {
                text.parse().ok().filter(|value| *unit != Some('%') || *value == 0.0)
            }
            _ => None,
        };
        let value = form.number(text, self.plan.decimal_comma).or_else(plain);
        let problem = match value.filter(|value: &f64| value.is_finite()) {
            Some(value) if !self.markers.mark_value(value) => return Ok(value),
            None if !self.markers.mark_number(text) => TableProblem::Unread,
            _ => TableProblem::Missing,
        };
        Err(self.refused(column, text, line, problem))
    }

    /// Return the cell of a feature, or of the target.
    fn cell(&mut self, feature: Option<usize>) -> &mut Cell {
        match feature {
            Some(feature) => &mut self.plan.cells[feature],
            None => &mut self.plan.labels,
        }
    }

    /// Decide by a value whether an open column is one of numbers or of words.
    fn decide(
        &mut self,
        feature: Option<usize>,
        column: usize,
        field: &[u8],
        line: u64,
    ) -> Result<Decided, TableError> {
        let number = self.number(column, field, line);
        let is_word = match number.as_ref().err().map(|error| &error.problem) {
            Some(TableProblem::NotANumber(_)) => true,
            Some(TableProblem::Missing(_)) => false,
            _ => return Ok(Decided::Number(number)),
        };
        let word = text(field, line)?;
        if !is_word && self.markers.mark_word(word) {
            return Ok(Decided::Not(number));
        }
        if self.origin.receiver.is_some() {
            // Rows before this one may have been passed on.
            return Err(TableProblem::TwoPasses.into());
        }
        if is_word {
            self.no_number_with_commas(column, field, line)?;
        }
        let Cell::Open(Undecided { codes, first }) = self.cell(feature) else {
            return Ok(Decided::Not(number));
        };
        if is_word {
            return Ok(Decided::Word(mem::take(codes)));
        }
        first.get_or_insert_with(|| (word.into(), line));
        let next = codes.len();
        let code = *codes.entry(word.into()).or_insert(next);
        Ok(Decided::Not(Ok(code as f64)))
    }

    /// Make an open column one of numbers: its values before are gaps.
    fn settle_number(&mut self, feature: Option<usize>, column: usize) -> Result<(), TableError> {
        let Cell::Open(Undecided { first, .. }) = mem::replace(self.cell(feature), Cell::Number) else {
            return Ok(());
        };
        let Some((marker, line)) = first else { return Ok(()) };
        match (self.missing(), feature) {
            (Missing::Error, _) => return Err(self.refused(column, &marker, line, TableProblem::Missing)),
            (Missing::Mean | Missing::Indicator, Some(feature)) => {
                let (width, end) = (self.plan.cells.len(), self.start.0);
                for value in self.raw[..end].iter_mut().skip(feature).step_by(width) {
                    self.remarks.filled += u64::from(!value.is_nan());
                    *value = f64::NAN;
                }
                let Tally { known, gaps, levels, .. } = &mut self.tallies[feature];
                *gaps += mem::take(known);
                levels.clear();
            }
            // Each row before has a gap in this column.
            _ => self.leave_out_before(column),
        }
        Ok(())
    }

    /// Leave out the rows before the current one, for gaps in a column.
    fn leave_out_before(&mut self, column: usize) {
        self.gaps[column] += self.count as u64;
        self.lost += self.count as u64;
        self.remarks.dropped = (0..self.begun - 1).collect();
        self.raw.drain(..self.start.0);
        self.targets.iter_mut().for_each(|target| drop(target.drain(..self.start.1.min(target.len()))));
        self.groups.drain(..self.first_group);
        self.weights.drain(..self.first_weight);
        self.ids.drain(..self.ids.len() - self.plan.ids.len());
        (self.count, self.start, self.first_group, self.first_weight) = (0, (0, 0), 0, 0);
        self.tallies.fill(Tally::default());
    }

    /// Refuse a target all of whose values may be words or gaps.
    fn refuse_open_target(&self) -> Result<(), TableError> {
        let Cell::Open(Undecided { first: Some((marker, line)), .. }) = &self.plan.labels else {
            return Ok(());
        };
        let column = self.plan.roles.iter().position(|role| *role == Role::Target(0)).unwrap_or(0);
        Err(self.refused(column, marker, *line, TableProblem::Missing))
    }

    /// Refuse to take a number with commas for a word.
    fn no_number_with_commas(&self, column: usize, field: &[u8], line: u64) -> Result<(), TableError> {
        let text = text(field, line)?;
        let is_number = |text: &str| text.contains(',') && text.replace(',', "").parse::<f64>().is_ok();
        if self.plan.decimal_comma && text.contains('.') && is_number(&text.replace('.', "")) {
            return Err(self.refused(column, text, line, TableProblem::Point));
        }
        if is_number(text) {
            return Err(self.refused(column, text, line, TableProblem::Commas));
        }
        Ok(())
    }

    #[cold]
    fn refused(
        &self,
        column: usize,
        text: &str,
        line: u64,
        problem: fn(String) -> TableProblem,
    ) -> TableError {
        let place = Place::Field(line, column + 1, cut(&self.plan.names[column]).into());
        TableError { place, ..problem(cut(text)).into() }
    }
}

impl Tally {
    /// Add the parts of a date to their means.
    fn add_parts(&mut self, parts: &[Part], seconds: f64) {
        let mut own = vec![0.0; parts.len()];
        Form::expand(parts, seconds, &mut own);
        self.parts.resize(parts.len(), 0.0);
        let known = self.known as f64;
        self.parts.iter_mut().zip(own).for_each(|(mean, part)| *mean += part / known - *mean / known);
    }
}

fn text(field: &[u8], line: u64) -> Result<&str, TableError> {
    std::str::from_utf8(field.trim_ascii()).map_err(|_| TableProblem::NotUtf8.at_line(line))
}

/// Whether a value could not be read because there is none.
fn is_gap(problem: &TableProblem) -> bool {
    matches!(problem, TableProblem::Missing(_))
}

/// Whether a value decides that an open column holds numbers or words.
enum Decided {
    /// It is one of numbers, and this is the first.
    Number(Result<f64, TableError>),
    /// It is one of words, these and those that follow.
    Word(HashMap<Box<str>, usize>),
    /// Nothing: it is a gap, or what may be a gap or a word.
    Not(Result<f64, TableError>),
}
