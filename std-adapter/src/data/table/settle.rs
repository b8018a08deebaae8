//! From what was seen of the columns to what becomes of them.
//!
//! | column | becomes |
//! | --- | --- |
//! | no value | left out |
//! | one value in every row | left out |
//! | at least 10 words, nine in ten of them different | left out: an id |
//! | whole numbers that count in constant steps, in 20 rows or under a name such as `id`; not years | left out: an id |
//! | at least 10 whole numbers under such a name, nine in ten of them different | left out: an id |
//! | dates or times | their parts |
//! | numbers with a unit or separators of thousands, in every row | numbers |
//! | numbers and words | words, unless nineteen in twenty are numbers: then an error as without |
//! | `true` and `false` as the target | words: classes |
//! | more words than the limit of levels | those in a hundredth of the rows; without any, left out |
//!
//! A column that the options name is not left out, and an id that is the only feature is one.

use crate::data::table::columns::{Cell, Plan, Role};
use crate::data::table::fate::{Fate, Settled};
use crate::data::table::form::Form;
use crate::data::table::options::{Labels, Options};
use crate::data::table::survey::{AsAmounts, AsDates, Seen};
use crate::data::table::taken::{How, Taken};
use crate::data::table::target::Target;
use crate::error::table::{Place, TableError, TableProblem, cut};

/// The least rows of a table whose words or whole numbers are ids.
const IDS: u64 = 10;

/// The least rows of a column that counts, under any name and under one such as `id`.
const COUNTED: u64 = 20;
const COUNTED_BY_NAME: u64 = 3;

/// A table of which everything was seen.
pub(crate) struct Surveyed<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) seen: &'a [Seen],
    pub(crate) rows: u64,
    pub(crate) options: &'a Options,
}

impl Surveyed<'_> {
    /// Return the columns that are to be seen again, their numbers as words: those of numbers and words.
    pub(crate) fn again(&self) -> Vec<usize> {
        let is_feature = |column: &usize| matches!(self.plan.roles[*column], Role::Feature(_));
        let columns = (0..self.seen.len()).filter(is_feature);
        columns
            .filter(|&column| {
                let seen = &self.seen[column];
                seen.is_mixed() && !seen.as_words && !self.is_spoiled(seen) && self.is_open(column)
            })
            .collect()
    }

    /// Whether the numbers of a column are spoiled by a few words.
    fn is_spoiled(&self, seen: &Seen) -> bool {
        seen.has_many_numbers() && 20 * seen.word_fields <= seen.values()
    }

    /// Whether the values of a column decide what it is.
    fn is_open(&self, column: usize) -> bool {
        match self.plan.roles[column] {
            Role::Feature(feature) => matches!(self.plan.cells[feature], Cell::Open(_)),
            Role::Target(t) => t > 0 || matches!(self.plan.labels, Cell::Open(_) | Cell::Number),
            _ => false,
        }
    }

    pub(crate) fn settle(&self) -> Result<Settled, TableError> {
        let target = self.other_target();
        let decimal_comma = self.decimal_comma(target);
        let mut settled = Settled { target, decimal_comma, ..Settled::default() };
        if decimal_comma && self.options.decimal_comma.is_none() {
            settled.taken.push(Taken { column: String::new(), how: How::DecimalComma });
        }
        for column in 0..self.seen.len() {
            let (fate, how) = match (self.plan.roles[column], target) {
                (_, Some(target)) if target == column => self.of_target(column, decimal_comma)?,
                (Role::Target(_), Some(_)) => (Fate::LeftOut, Some(How::Empty)),
                (Role::Target(_), None) => self.of_target(column, decimal_comma)?,
                (Role::Feature(_), _) => self.of_feature(column, decimal_comma)?,
                _ => (Fate::Plain, None),
            };
            settled.fates.push(fate);
            let name = || self.plan.names[column].clone();
            settled.taken.extend(how.map(|how| Taken { column: name(), how }));
        }
        self.keep_one(&mut settled);
        Ok(settled)
    }

    /// Return the last column with values, if the last column is the target by its place alone and has none.
    fn other_target(&self) -> Option<usize> {
        let last = self.plan.roles.iter().position(|role| matches!(role, Role::Target(_)))?;
        if self.options.target != Target::Last || self.seen[last].values() > 0 {
            return None;
        }
        let has_values =
            |&c: &usize| matches!(self.plan.roles[c], Role::Feature(_)) && self.seen[c].values() > 0;
        (0..last).rev().find(has_values)
    }

    fn decimal_comma(&self, target: Option<usize>) -> bool {
        if let Some(told) = self.options.decimal_comma {
            return told;
        }
        let columns = (0..self.seen.len()).filter(|&column| self.is_open(column) || target == Some(column));
        columns
            .map(|column| self.seen[column].decimal_comma())
            .fold([false; 2], |all, own| [all[0] | own[0], all[1] | own[1]])
            == [true, false]
    }

    fn of_target(&self, column: usize, decimal_comma: bool) -> Result<(Fate, Option<How>), TableError> {
        let seen = &self.seen[column];
        if !self.is_open(column) {
            return Ok((Fate::Plain, None));
        }
        if seen.are_truths() && self.options.labels == Labels::Words {
            return Ok((Fate::Words, None));
        }
        if seen.word_fields == 0 {
            return Ok((Fate::Plain, None));
        }
        self.of_amounts(column, decimal_comma)
    }

    fn of_amounts(&self, column: usize, decimal_comma: bool) -> Result<(Fate, Option<How>), TableError> {
        let seen = &self.seen[column];
        let (text, line) = seen.first_word.as_ref().map_or(("", 0), |(text, line)| (&**text, *line));
        let refused = |problem: fn(String) -> TableProblem| {
            let place = Place::Field(line, column + 1, cut(&self.plan.names[column]).into());
            Err(TableError { place, ..problem(cut(text)).into() })
        };
        match seen.as_amounts(decimal_comma, self.options.decimal_comma.is_some()) {
            AsAmounts::Open | AsAmounts::Other if decimal_comma => refused(TableProblem::Point),
            AsAmounts::Open | AsAmounts::Other => refused(TableProblem::Commas),
            AsAmounts::No | AsAmounts::Yes(Form::Plain) => Ok((Fate::Plain, None)),
            AsAmounts::Yes(form) => Ok((Fate::Read(form.clone()), Some(How::Read(form)))),
        }
    }

    fn of_feature(&self, column: usize, decimal_comma: bool) -> Result<(Fate, Option<How>), TableError> {
        let seen = &self.seen[column];
        let is_kept = self.plan.kept.contains(&column);
        let left_out = self.reason(seen).filter(|_| !is_kept);
        if let Some(how) = left_out {
            return Ok((Fate::LeftOut, Some(how)));
        }
        if seen.word_fields == 0 || self.is_words(column) {
            return Ok((Fate::Plain, None));
        }
        if self.is_open(column) {
            match seen.as_dates(self.options.day_first) {
                AsDates::Yes(form) => return Ok((Fate::Read(form.clone()), Some(How::Read(form)))),
                AsDates::Open => {
                    let name = self.plan.names[column].clone();
                    let example = seen.first_word.as_ref().map_or("", |(text, _)| text);
                    return Err(TableProblem::DateOrder { column: name, example: cut(example).into() }.into());
                }
                AsDates::No => {}
            }
            let (fate, how) = self.of_amounts(column, decimal_comma)?;
            if how.is_some() || self.are_numbers(seen, decimal_comma) {
                return Ok((fate, how));
            }
        }
        Ok(self.of_words(column, is_kept))
    }

    /// Whether every word is a number with a decimal comma.
    fn are_numbers(&self, seen: &Seen, decimal_comma: bool) -> bool {
        let told = self.options.decimal_comma.is_some();
        matches!(seen.as_amounts(decimal_comma, told), AsAmounts::Yes(Form::Plain))
    }

    /// Whether the options say that a column holds words.
    fn is_words(&self, column: usize) -> bool {
        self.plan.declared.contains(&column)
    }

    /// Return why a column is no feature, whatever its values are written like.
    fn reason(&self, seen: &Seen) -> Option<How> {
        if seen.values() == 0 {
            return Some(How::Empty);
        }
        if let Some(value) = seen.constant().filter(|_| self.rows > 1) {
            return Some(How::Constant(cut(&value)));
        }
        if !seen.is_numeric() || seen.infinite {
            return None;
        }
        let least = if seen.is_named_as_id { COUNTED_BY_NAME } else { COUNTED };
        if seen.counts() && seen.numbers == self.rows && self.rows >= least {
            return Some(How::Steps);
        }
        seen.id_of_numbers().filter(|_| seen.numbers >= IDS).map(How::Id)
    }

    fn of_words(&self, column: usize, is_kept: bool) -> (Fate, Option<How>) {
        let seen = &self.seen[column];
        let mixed = seen.numbers > 0 && self.is_open(column);
        if mixed && self.is_spoiled(seen) {
            return (Fate::Plain, None);
        }
        let different = seen.different();
        if seen.is_id_of_words() && seen.values() >= IDS && !is_kept {
            return (Fate::LeftOut, Some(How::Id(different)));
        }
        if different > self.options.limits.levels && !is_kept {
            let levels = seen.frequent(self.rows);
            if levels.is_empty() {
                return (Fate::LeftOut, Some(How::Rare(different)));
            }
            let how = How::Frequent { kept: levels.len() as u64, different };
            return (Fate::Levels(levels), Some(how));
        }
        match &seen.first_word {
            Some((word, _)) if mixed => (Fate::Words, Some(How::Mixed(cut(word)))),
            _ => (Fate::Plain, None),
        }
    }

    /// Keep ids if there is no other feature: first those that are numbers.
    fn keep_one(&self, settled: &mut Settled) {
        let is_feature = |&column: &usize| {
            matches!(self.plan.roles[column], Role::Feature(_)) && settled.target != Some(column)
        };
        let features: Vec<usize> = (0..self.seen.len()).filter(is_feature).collect();
        if features.iter().any(|&column| settled.fates[column] != Fate::LeftOut) {
            return;
        }
        let with_values = features.iter().filter(|&&column| self.seen[column].values() > 0);
        let numeric: Vec<usize> =
            with_values.clone().copied().filter(|&c| self.seen[c].is_numeric()).collect();
        let varied: Vec<usize> =
            numeric.iter().copied().filter(|&c| self.seen[c].constant().is_none()).collect();
        let kept = [varied, numeric, with_values.copied().collect()];
        for column in kept.into_iter().find(|columns| !columns.is_empty()).unwrap_or_default() {
            settled.fates[column] = Fate::Plain;
            settled.taken.retain(|taken| taken.column != self.plan.names[column]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::table::{Form, How, Labels, Missing, Options, Part, Reading, Unknown};
    use std::path::PathBuf;

    const ROWS: usize = 40;

    /// Write a table of these columns, `noise` and the target `y`.
    fn file(columns: &[(&str, &dyn Fn(usize) -> String)]) -> (tempfile::TempDir, PathBuf) {
        let names: Vec<&str> = columns.iter().map(|column| column.0).collect();
        let mut text = names.join(";") + ";noise;y\n";
        for row in 0..ROWS {
            let fields = columns.iter().map(|column| (column.1)(row) + ";");
            text += &format!("{}{};{}\n", fields.collect::<String>(), row * 7 % 11, row * 5 % 13);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).expect("a file");
        (folder, path)
    }

    fn as_it_is() -> Options {
        Options { as_it_is: true, missing: Missing::Indicator, ..Options::default() }
    }

    fn read_by(options: &Options, name: &str, column: impl Fn(usize) -> String) -> Result<Reading, String> {
        let (_folder, path) = file(&[(name, &column)]);
        options.read(&path).map_err(|error| error.to_string())
    }

    /// Return what became of a column, and the names of its features.
    fn taken(name: &str, column: impl Fn(usize) -> String) -> (Option<How>, Vec<String>) {
        let read = read_by(&as_it_is(), name, column).expect(name);
        let mut names = read.table.feature_names;
        assert_eq!(names.pop().as_deref(), Some("noise"));
        (read.recipe.taken.into_iter().next().map(|taken| taken.how), names)
    }

    fn left_out(how: How) -> (Option<How>, Vec<String>) {
        (Some(how), Vec::new())
    }

    fn feature(name: &str) -> (Option<How>, Vec<String>) {
        (None, vec![name.to_owned()])
    }

    #[test]
    fn ids_and_empty_and_constant_columns_are_left_out() {
        assert_eq!(taken("name", |row| format!("n{row}")), left_out(How::Id(40)));
        assert_eq!(taken("name", |row| format!("n{}", row.max(4))), left_out(How::Id(36)));
        assert_eq!(taken("name", |row| format!("n{}", row.max(5))).1.len(), 35);
        assert_eq!(taken("c", |row| (3 * row + 5).to_string()), left_out(How::Steps));
        assert_eq!(taken("c", |row| (40 - row).to_string()), left_out(How::Steps));
        // Years count, and are no ids.
        assert_eq!(taken("c", |row| (1960 + row).to_string()), feature("c"));
        // One step differs, or a number is no whole one.
        assert_eq!(taken("c", |row| (row + row / 39).to_string()), feature("c"));
        assert_eq!(taken("c", |row| format!("{row}.5")), feature("c"));
        // Numbers under a name of ids need no order.
        assert_eq!(taken("user_id", |row| (row * 7 % 41).to_string()), left_out(How::Id(40)));
        assert_eq!(taken("PassengerId", |row| (row * 7 % 41).to_string()), left_out(How::Id(40)));
        assert_eq!(taken("humid", |row| (row * 7 % 41).to_string()), feature("humid"));
        assert_eq!(taken("user_id", |row| (row % 9).to_string()), feature("user_id"));
        assert_eq!(taken("c", |_| String::new()), left_out(How::Empty));
        assert_eq!(taken("c", |_| "7.5".to_owned()), left_out(How::Constant("7.5".to_owned())));
        assert_eq!(taken("c", |_| "x".to_owned()), left_out(How::Constant("x".to_owned())));
        // A value or none is two values.
        let gaps = taken("c", |row| if row % 2 == 0 { "x".to_owned() } else { String::new() });
        assert_eq!(gaps, (Some(How::Filled(20)), vec!["c=x".to_owned(), "c missing".to_owned()]));
    }

    #[test]
    fn columns_that_are_named_are_kept() {
        let counts = |row: usize| row.to_string();
        for options in [
            Options { keep: vec!["id".to_owned()], ..as_it_is() },
            Options { columns: vec!["id".to_owned(), "noise".to_owned()], ..as_it_is() },
            Options { as_it_is: false, ..as_it_is() },
        ] {
            let read = read_by(&options, "id", counts).expect("a table");
            assert_eq!(read.table.feature_names, ["id", "noise"]);
            assert!(read.recipe.taken.is_empty());
        }
        // The target is not left out, whatever it is, nor is an id without any other feature.
        let (_folder, path) = file(&[("id", &counts)]);
        let target = |name: &str| Options { target: name.parse().expect("a name"), ..as_it_is() };
        assert_eq!(target("id").read(&path).expect("a table").table.target.expect("one")[3], 3.0);
        let alone = Options { ignore: vec!["noise".to_owned()], ..as_it_is() };
        let read = alone.read(&path).expect("a table");
        assert_eq!((&read.table.feature_names[..], read.recipe.taken.len()), (&["id".to_owned()][..], 0));
        // A file of which nothing is left out can be read for the recipe, with the column or without.
        let recipe = as_it_is().read(&path).expect("a table").recipe;
        assert_eq!(as_it_is().read_for(&recipe, &path).expect("a table").table.feature_names, ["noise"]);
    }

    #[test]
    fn an_empty_last_column_is_no_target() {
        let path = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(path.path(), "a,y,note\n1,2,\n3,4,\n2,7,\n").expect("a file");
        let read = as_it_is().read(path.path()).expect("a table");
        assert_eq!(read.table.target, Some(vec![2.0, 4.0, 7.0]));
        assert_eq!((&read.recipe.taken[0].column[..], &read.recipe.taken[0].how), ("note", &How::Empty));
        let named = Options { target: "note".parse().expect("a name"), ..as_it_is() };
        assert!(named.read(path.path()).is_err());
    }

    #[test]
    fn dates_become_the_parts_that_vary() {
        let (how, names) = taken("d", |row| format!("2014-{:02}-{:02}", 1 + row % 12, 1 + row % 28));
        let parts = vec![Part::Month, Part::Weekday, Part::Days];
        assert_eq!(how, Some(How::Read(Form::Date { day_first: None, parts })));
        assert_eq!(names, ["d month", "d weekday", "d days"]);
        let (_, names) = taken("d", |row| format!("{}:30", row % 24));
        assert_eq!(names, ["d hour"]);
        // The column tells the order, or the options do.
        let order = |options: &Options, first: fn(usize) -> usize| {
            let read = read_by(options, "d", |row| format!("{}/{}/2014", first(row), 1 + row % 12))?;
            match &read.recipe.columns[0].form {
                Form::Date { day_first, .. } => Ok(*day_first),
                other => Err(format!("{other:?}")),
            }
        };
        assert_eq!(order(&as_it_is(), |row| 1 + row % 20), Ok(Some(true)));
        let open = order(&as_it_is(), |row| 1 + row % 9);
        assert!(open.as_ref().is_err_and(|text| text.contains("may begin with the day")), "{open:?}");
        for first in [true, false] {
            let told = Options { day_first: Some(first), ..as_it_is() };
            assert_eq!(order(&told, |row| 1 + row % 9), Ok(Some(first)));
        }
        // Gaps are filled with the means of the parts, and what is no date is refused.
        let read = read_by(&as_it_is(), "d", |row| match row {
            7 => String::new(),
            _ => format!("20{}-10-01", 10 + row % 2),
        });
        let read = read.expect("a table");
        assert_eq!(read.table.feature_names, ["d year", "d weekday", "d days", "d missing", "noise"]);
        let fill = 2010.0 + 19.0 / 39.0;
        assert!((read.table.row(7)[0] - fill).abs() < 1e-9, "{:?} {fill}", read.table.row(7));
        assert_eq!(read.table.row(7)[3], 1.0);
        // One date and gaps: which rows have one is all there is to know.
        let one = read_by(&as_it_is(), "d", |row| if row == 3 { "2014-10-13" } else { "" }.to_owned());
        let one = one.expect("a table");
        assert_eq!(one.table.feature_names, ["d days", "d missing", "noise"]);
        assert!(one.recipe.is_well_formed(&one.table.feature_names), "{:?}", one.recipe);
        let (_folder, path) = file(&[("d", &|_| "noon".to_owned())]);
        let text = as_it_is().read_for(&read.recipe, &path).expect_err("no dates").to_string();
        assert!(text.contains("line 2, column 1 (\"d\"): \"noon\" is not written as"), "{text}");
    }

    #[test]
    fn amounts_are_numbers_where_the_whole_column_has_them() {
        let amount = |unit, thousands| Some(How::Read(Form::Amount { unit, thousands }));
        let read = |column: &dyn Fn(usize) -> String| {
            let read = read_by(&as_it_is(), "c", column)?;
            let how = read.recipe.taken.first().map(|taken| taken.how.clone());
            Ok::<_, String>((how, read.table.row(3)[0]))
        };
        assert_eq!(read(&|row| format!("${},234.50", row + 1)), Ok((amount(Some('$'), true), 4234.5)));
        assert_eq!(read(&|row| format!("{row}.5 %")), Ok((amount(Some('%'), false), 3.5)));
        assert_eq!(read(&|row| format!("1,23{},567", row % 10)), Ok((amount(None, true), 1_233_567.0)));
        assert_eq!(read(&|row| format!("1 23{}", row % 10)), Ok((amount(None, false), 1233.0)));
        assert_eq!(read(&|row| format!("{row},5")), Ok((Some(How::DecimalComma), 3.5)));
        let comma = |row: usize| format!("{}.234,5 €", row % 9 + 1);
        assert_eq!(read(&comma), Ok((Some(How::DecimalComma), 4234.5)));
        // A comma that may be either is an error, unless the decimal point is told.
        let doubtful = |row: usize| format!("{},234", row % 9 + 1);
        for column in [&doubtful as &dyn Fn(usize) -> String, &|row| "$".to_owned() + &doubtful(row)] {
            let text = read(column).expect_err("in doubt");
            assert!(text.contains("is a number with a comma: say whether"), "{text}");
        }
        for (comma, value) in [(false, 4234.0), (true, 4.234)] {
            let told = Options { decimal_comma: Some(comma), ..as_it_is() };
            assert_eq!(read_by(&told, "c", doubtful).expect("told").table.row(3)[0], value);
        }
        // Points elsewhere contradict.
        let (_folder, path) = file(&[("c", &|row| format!("{row},5")), ("p", &|row| format!("{row}.25"))]);
        assert!(as_it_is().read(&path).expect_err("both").to_string().contains("is a number with a comma"));
        // Two units are words.
        let (_, names) = taken("c", |row| if row % 2 == 0 { "$5" } else { "€5" }.to_owned());
        assert_eq!(names, ["c=$5", "c=€5"]);
        // A target is read alike; predicted rows may lack the currency, but not the per cent.
        let (_folder, path) = file(&[("c", &|row| format!("${},234.50", row + 1))]);
        let target = Options { target: "c".parse().expect("a name"), ..as_it_is() };
        let read = target.read(&path).expect("a table");
        assert_eq!((read.table.target.expect("one")[3], read.recipe.target_forms.len()), (4234.5, 1));
        for (trained, field, value) in
            [("${},234.50", "17", Some(17.0)), ("{}.5 %", "0.12", None), ("{}.5 %", "7 %", Some(7.0))]
        {
            let recipe = read_by(&as_it_is(), "c", |row| trained.replace("{}", &(row + 1).to_string()));
            let (_folder, path) = file(&[("c", &|_| field.to_owned())]);
            let found = as_it_is().read_for(&recipe.expect("a table").recipe, &path);
            assert_eq!(found.ok().map(|read| read.table.row(0)[0]), value, "{field}");
        }
    }

    #[test]
    fn numbers_and_words_are_words() {
        let (how, names) = taken("doors", |row| ["2", "3", "4", "5more"][row % 4].to_owned());
        assert_eq!(how, Some(How::Mixed("5more".to_owned())));
        assert_eq!(names, ["doors=2", "doors=3", "doors=4", "doors=5more"]);
        // Many numbers and a few words are an error, as without; codes are words.
        let spoiled = |row: usize| if row == 9 { "x".to_owned() } else { (row * row).to_string() };
        let text = read_by(&as_it_is(), "c", spoiled).expect_err("a word");
        assert!(text.contains("line 11, column 1 (\"c\"): \"x\" is not a number"), "{text}");
        let codes =
            |row: usize| if row.is_multiple_of(3) { format!("A{row}") } else { (row * row).to_string() };
        assert_eq!(taken("code", codes), left_out(How::Id(40)));
        // A target of numbers and words is an error, as without.
        let mixed = |row: usize| ["2", "3", "5more"][row % 3].to_owned();
        let (_folder, path) = file(&[("c", &mixed)]);
        let target = Options { target: "c".parse().expect("a name"), ..as_it_is() };
        assert!(target.read(&path).is_err());
    }

    #[test]
    fn a_target_of_true_and_false_is_of_classes() {
        let truths =
            |row: usize| ["True", "False", "True", "false"][row % if row < 20 { 3 } else { 4 }].to_owned();
        let numbers = |row: usize| ["true", "1", "0"][row % 3].to_owned();
        let (_folder, path) = file(&[("t", &truths), ("n", &numbers)]);
        let read = |target: &str, labels, as_it_is| {
            let target = target.parse().expect("a name");
            let options = Options { target, labels, as_it_is, ..Options::default() };
            let read = options.read(&path).expect("a table");
            (read.recipe.classes, read.table.target.expect("one")[..2].to_vec(), read.table.feature_names)
        };
        let (classes, first, names) = read("t", Labels::Words, true);
        assert_eq!(classes.expect("classes"), ["False", "True", "false"]);
        assert_eq!((&first[..], &names[..]), (&[1.0, 0.0][..], &["n", "noise", "y"].map(str::to_owned)[..]));
        // Without labels, beside numbers and where tables are not taken as they are, they are 1 and 0.
        for (target, labels, as_it_is) in
            [("t", Labels::None, true), ("n", Labels::Words, true), ("t", Labels::Words, false)]
        {
            let (classes, first, _) = read(target, labels, as_it_is);
            assert!(classes.is_none() && first == [1.0, if target == "t" { 0.0 } else { 1.0 }], "{target}");
        }
    }

    #[test]
    fn of_too_many_words_the_frequent_are_features() {
        let mut options = as_it_is();
        options.limits.levels = 5;
        // Every word is in a hundredth of forty rows.
        let words = |row: usize| format!("w{}", row % 8);
        let read = read_by(&options, "c", words).expect("a table");
        assert_eq!(read.recipe.taken[0].how, How::Frequent { kept: 8, different: 8 });
        let text: String =
            (0..600).map(|row| format!("w{},{row}\n", if row % 2 == 0 { 0 } else { row % 300 })).collect();
        let path = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(path.path(), format!("c,y\n{text}")).expect("a file");
        let read = options.read(path.path()).expect("a table");
        assert_eq!(read.recipe.taken[0].how, How::Frequent { kept: 1, different: 151 });
        assert_eq!((read.table.row(0), read.table.row(1)), (&[1.0][..], &[0.0][..]));
        // Other words are none of them where rows are predicted, and counted.
        let unknown = Options { unknown: Unknown::Zero, ..Options::default() };
        let again = unknown.read_for(&read.recipe, path.path()).expect("a table");
        assert_eq!((again.table.features, again.remarks.unknown), (read.table.features, 300));
        let rare: String = (0..600).map(|row| format!("w{},{row},{}\n", row % 300, row % 7)).collect();
        std::fs::write(path.path(), format!("c,a,y\n{rare}")).expect("a file");
        let read = options.read(path.path()).expect("a table");
        assert_eq!(read.recipe.taken[0].how, How::Rare(300));
    }

    #[test]
    fn a_table_that_needs_nothing_is_read_as_without() {
        let (_folder, path) = file(&[("kind", &|row| ["a", "b"][row % 2].to_owned())]);
        let plain = Options::default().read(&path).expect("a table");
        let read = as_it_is().read(&path).expect("a table");
        assert_eq!(read.table, plain.table);
        assert!(read.recipe.taken.is_empty());
    }
}
