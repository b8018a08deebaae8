//! What the columns of a table hold: a pass over its fields before the rows are read.
//!
//! Of each column it keeps counts and extremes, its words (at most 65,536, and of all columns as many as
//! take 256 MiB; later ones are not counted), and numbers under a name such as `id`, as many. A column is
//! settled by all its rows: the order of rows matters to none but columns that count.

use crate::data::table::amounts;
use crate::data::table::dates;
use crate::data::table::form::{Form, Part};
use crate::data::table::markers::Markers;
use std::collections::{HashMap, HashSet};

/// Different words and numbers of a column that are told apart.
const MOST: usize = 1 << 16;

/// Bytes that the words and numbers of all columns may take.
pub(crate) const BYTES: usize = 1 << 28;

/// What an entry of a map takes beside its text.
const ENTRY: usize = 64;

/// Different numbers of a column beside words that are told apart at first.
const FEW: usize = 20;

/// What was seen of a column.
#[derive(Default)]
pub(crate) struct Seen {
    /// Whether its numbers are told apart: by a name as ids have it.
    pub(crate) is_named_as_id: bool,
    /// Whether its numbers count as words.
    pub(crate) as_words: bool,
    /// Fields without a value.
    pub(crate) gaps: u64,
    /// Fields that are gaps among numbers, and words among words, by their text.
    pub(crate) maybes: HashMap<Box<str>, u64>,
    /// Fields that are numbers, those that are 0, and the least and the largest.
    pub(crate) numbers: u64,
    /// Of these, the fields that are `true` or `false`, in any case.
    truths: u64,
    zeros: u64,
    least: f64,
    largest: f64,
    /// Whether a number is infinite or out of range.
    pub(crate) infinite: bool,
    /// Whether a number is written with a point, and whether such a point cannot separate thousands.
    points: bool,
    decimals: bool,
    /// Whether all numbers are whole, and whether they count in constant steps; the last number and the step.
    whole: bool,
    counts: bool,
    last: f64,
    step: f64,
    /// Different numbers, at most one more than a few.
    few: Vec<f64>,
    /// Their bits, if they are told apart, and how many there were when they became too many.
    different: HashSet<u64>,
    /// Different words with their counts, and fields that are words.
    pub(crate) words: HashMap<Box<str>, u64>,
    pub(crate) word_fields: u64,
    /// The fields until words or numbers were no longer told apart.
    full_at: Option<u64>,
    /// The first word and its line.
    pub(crate) first_word: Option<(Box<str>, u64)>,
    /// What the words are as amounts and as dates, while all are such.
    amounts: Amounts,
    dates: Dates,
}

/// Words that are amounts.
#[derive(Default)]
pub(crate) struct Amounts {
    /// Whether one is none.
    failed: bool,
    unit: Option<Option<char>>,
    /// Whether one cannot be read where the point is the decimal point, and where the comma is.
    no_point: bool,
    no_comma: bool,
    /// Whether one proves that commas, or points, separate thousands.
    proves: [bool; 2],
    /// Whether one has commas, or points.
    has: [bool; 2],
    /// Whether one is more than a number with a decimal comma.
    special: bool,
}

/// Words that are dates or times.
#[derive(Default)]
struct Dates {
    failed: bool,
    /// Whether the first is a time alone.
    alone: Option<bool>,
    /// Whether one has a day and a month in an order that is open.
    open: bool,
    /// Of the day after the month, and before it: whether it is impossible, and the extremes of the parts.
    impossible: [bool; 2],
    extremes: [Option<[(f64, f64); 5]>; 2],
}

/// What a column's words are as dates.
pub(crate) enum AsDates {
    No,
    /// The day and the month may be either number.
    Open,
    Yes(Form),
}

/// What a column's words are as amounts.
pub(crate) enum AsAmounts {
    No,
    /// Commas, or points where the comma is the decimal point, that may be decimal points or not.
    Open,
    /// They cannot be read under this decimal point.
    Other,
    Yes(Form),
}

impl Seen {
    /// Begin with nothing, and tell whether numbers are told apart as ids, and whether they count as words.
    pub(crate) fn new(is_named_as_id: bool, as_words: bool) -> Self {
        Self { is_named_as_id, as_words, ..Self::default() }
    }

    /// Add a field. So many bytes are left for what is kept of it.
    pub(crate) fn see(&mut self, text: &str, line: u64, markers: &Markers, left: &mut usize) {
        let parsed = text.parse::<f64>();
        match parsed {
            Ok(value) if markers.mark_value(value) => self.gap(),
            Ok(value) if value.is_finite() => {
                if let Some(at) = text.find('.') {
                    let (before, after) = (text[..at].trim_start_matches(['-', '+']), &text[at + 1..]);
                    self.points = true;
                    self.decimals |=
                        !(1..=3).contains(&before.len()) || before.starts_with('0') || after.len() != 3;
                }
                self.number(value, left);
                if self.as_words {
                    self.word(text, left);
                }
            }
            Ok(_) if !markers.mark_number(text) => self.infinite = true,
            Err(_) if text.eq_ignore_ascii_case("true") => self.truth(text, 1.0, left),
            Err(_) if text.eq_ignore_ascii_case("false") => self.truth(text, 0.0, left),
            _ if markers.mark_word(text) => self.gap(),
            _ if markers.mark_number(text) => {
                *self.maybes.entry(text.into()).or_insert(0) += 1;
                self.counts = false;
            }
            _ => {
                self.word_fields += 1;
                self.first_word.get_or_insert_with(|| (text.into(), line));
                self.amounts.see(text);
                self.dates.see(text);
                self.word(text, left);
            }
        }
    }

    fn truth(&mut self, text: &str, value: f64, left: &mut usize) {
        self.truths += 1;
        self.number(value, left);
        if self.as_words {
            self.word(text, left);
        }
    }

    /// Add a value that is not written. NaN is a gap, and a fraction would have a decimal point.
    pub(crate) fn see_value(&mut self, value: f64, markers: &Markers, left: &mut usize) {
        let has_point = value.is_finite() && value.fract() != 0.0;
        (self.points, self.decimals) = (self.points | has_point, self.decimals | has_point);
        if value.is_nan() || markers.mark_value(value) {
            self.gap();
        } else if value.is_finite() {
            self.number(value, left);
        } else {
            self.infinite = true;
        }
    }

    fn gap(&mut self) {
        self.gaps += 1;
        self.counts = false;
    }

    fn number(&mut self, value: f64, left: &mut usize) {
        self.numbers += 1;
        self.zeros += u64::from(value == 0.0);
        let whole = value.fract() == 0.0;
        match self.numbers {
            1 => {
                (self.least, self.largest, self.whole) = (value, value, whole);
                self.counts = whole && self.gaps == 0 && self.maybes.is_empty() && self.word_fields == 0;
            }
            2 => self.step = value - self.last,
            _ => self.counts &= value - self.last == self.step,
        }
        self.counts &= whole;
        self.whole &= whole;
        self.last = value;
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
        if self.few.len() <= FEW && !self.few.contains(&value) {
            self.few.push(value);
        }
        if self.is_named_as_id && self.whole && self.full_at.is_none() {
            let is_new = self.different.insert(value.to_bits());
            if is_new && !self.keep(0, left) {
                self.full_at = Some(self.numbers);
            }
        }
    }

    /// Pay for an entry with so much text; false if it is the last.
    fn keep(&self, text: usize, left: &mut usize) -> bool {
        *left = left.saturating_sub(text + ENTRY);
        *left > 0 && self.words.len().max(self.different.len()) < MOST
    }

    fn word(&mut self, text: &str, left: &mut usize) {
        self.counts = false;
        if let Some(count) = self.words.get_mut(text) {
            *count += 1;
        } else if self.full_at.is_none() {
            self.words.insert(text.into(), 1);
            if !self.keep(text.len(), left) {
                self.full_at = Some(self.values());
            }
        }
    }

    /// Return the number of fields with a value, be it a word or a number.
    pub(crate) fn values(&self) -> u64 {
        self.numbers + self.word_fields + self.maybes.values().sum::<u64>() + u64::from(self.infinite)
    }

    /// Whether every value is a number.
    pub(crate) fn is_numeric(&self) -> bool {
        self.word_fields == 0 && self.numbers > 0
    }

    /// Whether every value is `true` or `false`.
    pub(crate) fn are_truths(&self) -> bool {
        self.truths > 0 && self.truths == self.values()
    }

    /// Whether there are numbers and words, and the words are no amounts.
    pub(crate) fn is_mixed(&self) -> bool {
        self.numbers > 0 && self.word_fields > 0 && (self.amounts.failed || !self.has_one_unit())
    }

    /// Whether there are numbers beside words, too many to be told apart.
    pub(crate) fn has_many_numbers(&self) -> bool {
        self.word_fields > 0 && self.few.len() > FEW
    }

    /// Return the number of different words, and of different numbers if they are few or count as words.
    pub(crate) fn different(&self) -> u64 {
        let numbers = if self.as_words { 0 } else { self.few.len() };
        (self.words.len() + self.maybes.len() + numbers) as u64
    }

    /// Whether almost every value is another, of so many different ones.
    fn are_almost_all(&self, different: usize) -> bool {
        let fields = self.full_at.unwrap_or_else(|| self.values());
        10 * different as u64 >= 9 * fields
    }

    /// Whether almost every value is another word.
    pub(crate) fn is_id_of_words(&self) -> bool {
        self.are_almost_all(self.words.len() + self.maybes.len())
    }

    /// Return the number of different values where whole numbers under a name of ids are almost all
    /// different.
    pub(crate) fn id_of_numbers(&self) -> Option<u64> {
        let is_id = self.is_named_as_id && self.whole && self.are_almost_all(self.different.len());
        is_id.then_some(self.different.len() as u64)
    }

    /// Whether all rows have whole numbers that count in constant steps, and are no years.
    pub(crate) fn counts(&self) -> bool {
        let years = (1_500.0..2_200.0).contains(&self.least) && (1_500.0..2_200.0).contains(&self.largest);
        self.counts && self.step != 0.0 && !years
    }

    /// Return the value that every row has, if they have one.
    pub(crate) fn constant(&self) -> Option<String> {
        if self.gaps > 0 || self.infinite {
            return None;
        }
        match (self.numbers > 0, self.words.len(), self.maybes.len()) {
            (true, 0, 0) if self.least == self.largest => Some(self.least.to_string()),
            (false, 1, 0) => self.words.keys().next().map(|word| word.to_string()),
            (false, 0, 1) => self.maybes.keys().next().map(|word| word.to_string()),
            _ => None,
        }
    }

    /// Return the words in at least a hundredth of the rows.
    pub(crate) fn frequent(&self, rows: u64) -> Vec<String> {
        let words = self.words.iter().chain(&self.maybes).filter(|(_, count)| 100 * **count >= rows);
        let mut words: Vec<String> = words.map(|(word, _)| word.to_string()).collect();
        words.sort_unstable();
        words
    }

    /// Whether numbers with a decimal comma are proved, and whether they are refuted.
    pub(crate) fn decimal_comma(&self) -> [bool; 2] {
        let amounts = &self.amounts;
        let are = self.word_fields > 0 && !amounts.failed && self.has_one_unit();
        let proves = are && amounts.no_point && !amounts.no_comma;
        let grouped = are && amounts.proves[1] && !self.decimals;
        let refutes =
            (are && amounts.no_comma) || (self.points && !grouped && (are || self.word_fields == 0));
        [proves, refutes]
    }

    /// Whether all numbers have one unit; 0 needs none.
    fn has_one_unit(&self) -> bool {
        self.amounts.unit == Some(None) || self.numbers == self.zeros
    }

    /// Return what the words are as amounts. Separators of thousands need a proof, unless the decimal point
    /// was told.
    pub(crate) fn as_amounts(&self, decimal_comma: bool, told: bool) -> AsAmounts {
        let Amounts { failed, unit, no_point, no_comma, proves, has, special } = &self.amounts;
        if *failed || !self.has_one_unit() {
            return AsAmounts::No;
        }
        let (is_other, at) = if decimal_comma { (*no_comma, 1) } else { (*no_point, 0) };
        // A point may also stand in what was parsed as a plain number.
        let marks = has[at] || (decimal_comma && self.points);
        if is_other || (decimal_comma && self.decimals) {
            return AsAmounts::Other;
        }
        if marks && !proves[at] && !told {
            return AsAmounts::Open;
        }
        let unit = unit.flatten();
        match marks || *special || unit.is_some() {
            true => AsAmounts::Yes(Form::Amount { unit, thousands: marks }),
            false => AsAmounts::Yes(Form::Plain),
        }
    }

    /// Return what the words are as dates.
    pub(crate) fn as_dates(&self, day_first: Option<bool>) -> AsDates {
        let Dates { failed, alone, open, impossible, extremes } = &self.dates;
        if *failed || self.numbers > 0 || alone.is_none() {
            return AsDates::No;
        }
        let order = match (impossible, day_first) {
            ([false, false], None) if *open => return AsDates::Open,
            ([false, _], Some(false)) | ([false, true], None) => false,
            ([_, false], _) => true,
            _ => return AsDates::No,
        };
        let Some(extremes) = extremes[usize::from(order)] else { return AsDates::No };
        let varies = |(_, (least, largest)): &(Part, (f64, f64))| least < largest;
        let varying: Vec<Part> =
            Part::ALL.into_iter().zip(extremes).filter(varies).map(|(part, _)| part).collect();
        let parts = match alone {
            Some(true) => vec![Part::Hour],
            // One date, and gaps.
            _ if varying.is_empty() => vec![Part::Days],
            _ => varying,
        };
        AsDates::Yes(Form::Date { day_first: open.then_some(order), parts })
    }
}

impl Amounts {
    fn see(&mut self, text: &str) {
        if self.failed {
            return;
        }
        let Some(written) = amounts::split(text) else {
            self.failed = true;
            return;
        };
        let [point, comma] = [false, true].map(|comma| written.read(comma));
        self.no_point |= point.is_none();
        self.no_comma |= comma.is_none();
        let own = *self.unit.get_or_insert(written.unit);
        if own != written.unit || (self.no_point && self.no_comma) {
            self.failed = true;
            return;
        }
        let proves = [&point, &comma].map(|read| read.as_ref().is_some_and(|read| read.proves_thousands));
        self.proves = [self.proves[0] | proves[0], self.proves[1] | proves[1]];
        self.has = [self.has[0] | written.has(','), self.has[1] | written.has('.')];
        self.special |= text.replacen(',', ".", 1).parse::<f64>().is_err();
    }
}

impl Dates {
    fn see(&mut self, text: &str) {
        if self.failed {
            return;
        }
        let Some(stamp) = dates::parse(text) else {
            self.failed = true;
            return;
        };
        self.open |= stamp.is_open();
        let alone = *self.alone.get_or_insert(stamp.is_time_alone());
        self.failed = alone != stamp.is_time_alone();
        for (order, extremes) in self.extremes.iter_mut().enumerate() {
            let Some(seconds) = stamp.number(Some(order == 1)) else {
                self.impossible[order] = true;
                continue;
            };
            let moment = dates::moment(seconds);
            let values = Part::ALL.map(|part| part.of(&moment));
            let extremes = extremes.get_or_insert_with(|| values.map(|value| (value, value)));
            for ((least, largest), value) in extremes.iter_mut().zip(values) {
                (*least, *largest) = (least.min(value), largest.max(value));
            }
        }
        self.failed |= self.impossible == [true, true];
    }
}
