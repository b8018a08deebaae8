//! Parsing fields of text into rows of values, one field at a time.

use crate::data::table::columns::{Plan, Role};
use crate::data::table::input::{Origin, Table};
use crate::error::table::{Place, TableError, TableProblem, cut};

/// Values in a block of rows passed on.
const BLOCK: usize = 1 << 19;

/// The rows read so far, or since the last block was passed on.
pub(crate) struct Rows<'a> {
    origin: Origin<'a>,
    /// Whether a row passed on had a target.
    had_target: bool,
    plan: Plan,
    features: Vec<f64>,
    target: Vec<f64>,
    count: usize,
    /// The index in `features` at which the current row begins.
    start: usize,
    /// The first line with a missing target, its column and its marker, where a missing target is allowed.
    no_target: Option<(u64, usize, String)>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(origin: Origin<'a>, plan: Plan) -> Self {
        Self {
            origin,
            had_target: false,
            plan,
            features: Vec::new(),
            target: Vec::new(),
            count: 0,
            start: 0,
            no_target: None,
        }
    }

    /// Return the number of fields per row.
    pub(crate) fn fields(&self) -> usize {
        self.plan.roles.len()
    }

    /// Start a row of zeros, and pass the rows before it on if there is a receiver.
    pub(crate) fn begin(&mut self) -> Result<(), TableError> {
        if let Some(receiver) = self.origin.receiver
            && self.features.len() + self.target.len() >= BLOCK
        {
            let block = self.block(String::new())?;
            self.had_target |= block.target.is_some();
            if !(receiver.borrow_mut())(block) {
                return Err(TableProblem::Stopped.into());
            }
        }
        self.start = self.features.len();
        self.features.resize(self.start + self.plan.feature_names.len(), 0.0);
        self.count += 1;
        Ok(())
    }

    /// Parse one field of the row.
    pub(crate) fn put(&mut self, column: usize, field: &[u8], line: u64) -> Result<(), TableError> {
        match &self.plan.roles[column] {
            Role::Unused => {}
            Role::Target => match self.number(column, field, line) {
                Ok(value) => self.target.push(value),
                Err(TableError { problem: TableProblem::Missing(text), .. }) if self.plan.target_optional => {
                    self.no_target.get_or_insert((line, column, text));
                }
                Err(error) => return Err(error),
            },
            &Role::Number(slot) => self.features[self.start + slot] = self.number(column, field, line)?,
            Role::Nominal(places) => {
                let text = self.text(field, line)?;
                let problem = match places.get(text) {
                    Some(Some(slot)) => {
                        self.features[self.start + slot] = 1.0;
                        return Ok(());
                    }
                    Some(None) => TableProblem::UnseenValue,
                    None if is_missing(text) => TableProblem::Missing,
                    None => TableProblem::UndeclaredValue,
                };
                return Err(self.refused(column, text, line, problem));
            }
        }
        Ok(())
    }

    /// Store a value that needs no parsing.
    pub(crate) fn put_value(&mut self, column: usize, value: f64) {
        match &self.plan.roles[column] {
            Role::Target => self.target.push(value),
            Role::Number(slot) => self.features[self.start + slot] = value,
            Role::Unused | Role::Nominal(_) => {}
        }
    }

    /// Return the rows not passed on: all, without a receiver.
    pub(crate) fn finish(mut self, name: String) -> Result<Table, TableError> {
        if self.count == 0 {
            return Err(TableProblem::NoRows.into());
        }
        self.block(name)
    }

    /// Take the rows out.
    fn block(&mut self, name: String) -> Result<Table, TableError> {
        if let Some((line, column, text)) = &self.no_target
            && (self.had_target || !self.target.is_empty())
        {
            return Err(self.refused(*column, text, *line, TableProblem::Missing));
        }
        let has_target = self.plan.target_name.is_some() && self.no_target.is_none();
        Ok(Table {
            name,
            dim: self.plan.feature_names.len(),
            feature_names: self.plan.feature_names.clone(),
            features: std::mem::take(&mut self.features),
            target: has_target.then_some(std::mem::take(&mut self.target)),
            target_name: self.plan.target_name.clone().filter(|_| has_target),
        })
    }

    fn text<'f>(&self, field: &'f [u8], line: u64) -> Result<&'f str, TableError> {
        std::str::from_utf8(field.trim_ascii()).map_err(|_| TableProblem::NotUtf8.at_line(line))
    }

    fn number(&self, column: usize, field: &[u8], line: u64) -> Result<f64, TableError> {
        let text = self.text(field, line)?;
        let problem = match text.parse::<f64>() {
            Ok(value) if value.is_finite() => return Ok(value),
            Ok(_) => TableProblem::NotFinite,
            Err(_) if is_missing(text) => TableProblem::Missing,
            Err(_) => TableProblem::NotANumber,
        };
        Err(self.refused(column, text, line, problem))
    }

    #[cold]
    fn refused(
        &self,
        column: usize,
        text: &str,
        line: u64,
        problem: fn(String) -> TableProblem,
    ) -> TableError {
        let place = Place::Field(line, column + 1, cut(&self.plan.columns[column]).into());
        TableError { place, ..problem(cut(text)).into() }
    }
}

/// Whether a field is a usual marker of a missing value.
pub(crate) fn is_missing(text: &str) -> bool {
    matches!(text, "" | "?" | "NA")
}
