//! Dates and times as they are written, each as a number: seconds since 1970 began, or since midnight where
//! there is a time alone.
//!
//! | date | |
//! | --- | --- |
//! | `2014-10-13`, `2014/10/13`, `2014.10.13`, `2014-10` | year, month, day |
//! | `20141013T120000` | with a time alone: else it is a number |
//! | `13.10.2014` | day, month, year |
//! | `13/10/2014`, `10-13-2014` | the day is the first or the second, as the column tells |
//! | `13 Oct 2014`, `October 13, 2014`, `Oct-2014`, `Mon, 13 Oct 2014` | by the English name of the month |
//!
//! A time follows a `T` or a space, as `12:30`, `12:30:05.5` or `7:05 PM`; a zone after it is skipped: the
//! time is that of the clock that wrote it. A year has four digits.

use jiff::SignedDuration;
use jiff::civil::Date;

/// When 1970 began.
const EPOCH: Date = Date::constant(1970, 1, 1);

const DAY: f64 = 86_400.0;

/// A date, a time or both, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stamp {
    day: Day,
    /// Seconds since midnight.
    seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Day {
    /// None: it is a time alone.
    None,
    Known(Date),
    /// Two numbers of which one is the day and the other the month, and the year.
    Either(i8, i8, i16),
}

/// What makes up a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    pub(crate) year: f64,
    pub(crate) month: f64,
    /// From 1, Monday.
    pub(crate) weekday: f64,
    /// Hours since midnight.
    pub(crate) hour: f64,
    /// Days since 1970 began.
    pub(crate) days: f64,
}

impl Stamp {
    /// Whether there is no date.
    pub(crate) fn is_time_alone(&self) -> bool {
        self.day == Day::None
    }

    /// Whether the order of day and month is not told by how they are written.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.day, Day::Either(..))
    }

    /// Return the seconds since 1970 began, or since midnight.
    pub(crate) fn number(&self, day_first: Option<bool>) -> Option<f64> {
        let date = match (self.day, day_first) {
            (Day::None, _) => return Some(self.seconds),
            (Day::Known(date), _) => date,
            (Day::Either(first, second, year), Some(true)) => Date::new(year, second, first).ok()?,
            (Day::Either(first, second, year), Some(false)) => Date::new(year, first, second).ok()?,
            (Day::Either(..), None) => return None,
        };
        Some(date.duration_since(EPOCH).as_secs() as f64 + self.seconds)
    }
}

/// Return what a number of seconds since 1970 began stands for.
pub(crate) fn moment(seconds: f64) -> Moment {
    // Every date that is written lies within the calendar, of fewer than 10⁷ days.
    let day = (seconds / DAY).floor().clamp(-1e7, 1e7);
    let since = SignedDuration::from_hours(24 * day as i64);
    let date = EPOCH.checked_add(since).unwrap_or(EPOCH);
    Moment {
        year: f64::from(date.year()),
        month: f64::from(date.month()),
        weekday: f64::from(date.weekday().to_monday_one_offset()),
        hour: (seconds - DAY * day) / 3_600.0,
        days: seconds / DAY,
    }
}

/// Read a date, a time or both.
pub(crate) fn parse(text: &str) -> Option<Stamp> {
    let text = text.trim();
    // All others are longer or shorter.
    if !(4..=64).contains(&text.len()) || !text.is_ascii() || !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(seconds) = time(text) {
        return Some(Stamp { day: Day::None, seconds });
    }
    if let Some((before, after)) = text.split_once(['T', 't']).filter(|(before, _)| ends_with_digit(before)) {
        let day = basic(before).or_else(|| day(before))?;
        return Some(Stamp { day, seconds: zoned_time(after)? });
    }
    if let Some(day) = day(text) {
        return Some(Stamp { day, seconds: 0.0 });
    }
    // The time begins at the last word before its first colon.
    let colon = text.find(':')?;
    let at = text[..colon].rfind(' ')?;
    Some(Stamp { day: day(text[..at].trim_end())?, seconds: zoned_time(&text[at + 1..])? })
}

fn ends_with_digit(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit())
}

/// Parse digits, as many as one of these numbers.
fn digits<T: std::str::FromStr>(text: &str, lengths: &[usize]) -> Option<T> {
    let fits = lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

/// Read `20141013`.
fn basic(text: &str) -> Option<Day> {
    digits::<u32>(text, &[8])?;
    known(text[..4].parse().ok()?, text[4..6].parse().ok()?, text[6..].parse().ok()?)
}

fn known(year: i16, month: i8, day: i8) -> Option<Day> {
    Date::new(year, month, day).ok().filter(|date| date.year() >= 1_000).map(Day::Known)
}

/// Read a date.
fn day(text: &str) -> Option<Day> {
    if text.contains(|c: char| c.is_ascii_alphabetic()) {
        return named(text);
    }
    let separator = text.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let parts: Vec<&str> = text.split(separator).collect();
    match parts[..] {
        [year, month] if year.len() == 4 && separator != '.' => {
            known(digits(year, &[4])?, digits(month, &[2])?, 1)
        }
        [year, month, day] if year.len() == 4 => {
            known(digits(year, &[4])?, digits(month, &[1, 2])?, digits(day, &[1, 2])?)
        }
        [first, second, year] => {
            let (first, second) = (digits(first, &[1, 2])?, digits(second, &[1, 2])?);
            let year: i16 = digits(year, &[4]).filter(|year| *year >= 1_000)?;
            if separator == '.' {
                return known(year, second, first);
            }
            let is_date = |month, day| Date::new(year, month, day).is_ok();
            (is_date(second, first) || is_date(first, second)).then_some(Day::Either(first, second, year))
        }
        _ => None,
    }
}

/// Read a date with the name of its month.
fn named(text: &str) -> Option<Day> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let place = |names: &[&str], word: &str| {
        let word = word.to_ascii_lowercase();
        let word = if word == "sept" { "sep" } else { &word };
        names.iter().position(|name| *name == word || (word.len() == 3 && name.starts_with(word)))
    };
    let words = text.split([' ', '-', '/', ',', '.']).filter(|word| !word.is_empty());
    let mut words: Vec<&str> = words.collect();
    // `13Oct2014`, as SAS writes it.
    if let [word] = words[..] {
        let begin = word.find(|c: char| c.is_ascii_alphabetic())?;
        let end = word.rfind(|c: char| c.is_ascii_alphabetic())? + 1;
        words = vec![&word[..begin], &word[begin..end], &word[end..]];
        words.retain(|word| !word.is_empty());
    }
    if words.len() == 4 && place(&DAYS, words[0]).is_some() {
        words.remove(0);
    }
    let month = |word| place(&MONTHS, word).map(|at| at as i8 + 1);
    match words[..] {
        [one, year] => known(digits(year, &[4])?, month(one)?, 1),
        [one, two, year] => {
            let (day, month) = match month(one) {
                Some(month) => (two, month),
                None => (one, month(two)?),
            };
            known(digits(year, &[4])?, month, digits(day, &[1, 2])?)
        }
        _ => None,
    }
}

/// Read a time that a zone may follow: `12:30Z`, `12:30 UTC`, `12:30:00+02:00`.
fn zoned_time(text: &str) -> Option<f64> {
    let text = text.trim();
    let bare = match text.find(['+', '-']) {
        Some(at) => {
            let zone = text[at + 1..].replace(':', "");
            digits::<u32>(&zone, &[2, 4])?;
            &text[..at]
        }
        None => ["Z", "z", "UTC", "GMT"].iter().find_map(|zone| text.strip_suffix(zone)).unwrap_or(text),
    };
    let bare = bare.trim_end();
    time(bare).or_else(|| compact(bare))
}

/// Read `120000` or `1200`.
fn compact(text: &str) -> Option<f64> {
    digits::<u32>(text, &[4, 6])?;
    let part = |at: usize| text.get(at..at + 2).map_or(Some(0.0), |part| part.parse().ok());
    clock(part(0)?, part(2)?, part(4)?)
}

/// Read `12:30`, `12:30:05.5` or `7:05 PM` as seconds since midnight.
fn time(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let half = [("am", 0.0), ("pm", 12.0)].into_iter();
    let half = half.filter_map(|(name, hours)| Some((lower.strip_suffix(name)?.trim_end(), hours))).next();
    let parts: Vec<&str> = half.map_or(&*lower, |half| half.0).split(':').collect();
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, 0.0),
        [hour, minute, second] => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
            digits::<u32>(whole, &[2])?;
            digits::<u64>(fraction, &[1, 2, 3, 4, 5, 6, 7, 8, 9])?;
            (hour, minute, second.parse().ok()?)
        }
        _ => return None,
    };
    let hour: f64 = digits::<u32>(hour, &[1, 2])?.into();
    let hour = match half {
        Some((_, hours)) if (1.0..=12.0).contains(&hour) => hour % 12.0 + hours,
        Some(_) => return None,
        None => hour,
    };
    clock(hour, digits::<u32>(minute, &[2])?.into(), second)
}

fn clock(hour: f64, minute: f64, second: f64) -> Option<f64> {
    let is_time = hour < 24.0 && minute < 60.0 && second < 61.0;
    is_time.then_some(3_600.0 * hour + 60.0 * minute + second)
}

#[cfg(test)]
mod tests {
    use super::{DAY, moment, parse};

    #[test]
    fn dates_and_times_in_all_their_spellings() {
        // 2014-10-13 was a Monday, 16,356 days after 1970 began.
        let day = 16_356.0 * DAY;
        for (text, seconds) in [
            ("2014-10-13", day),
            ("2014/10/13", day),
            ("2014.10.13", day),
            ("2014-10", day - 12.0 * DAY),
            ("20141013T000000", day),
            ("20141013T123005", day + 45_005.0),
            ("2014-10-13T12:30", day + 45_000.0),
            ("2014-10-13 12:30:05.5", day + 45_005.5),
            ("2014-10-13T12:30:05Z", day + 45_005.0),
            ("2014-10-13 12:30:05 UTC", day + 45_005.0),
            ("2014-10-13T12:30:05+02:00", day + 45_005.0),
            ("2014-10-13 12:30-0500", day + 45_000.0),
            ("13.10.2014", day),
            ("13.10.2014 7:05 PM", day + 68_700.0),
            ("13 Oct 2014", day),
            ("13-OCT-2014", day),
            ("13OCT2014", day),
            ("October 13, 2014", day),
            ("Oct 13 2014 12:30", day + 45_000.0),
            ("Mon, 13 Oct 2014", day),
            ("Oct 2014", day - 12.0 * DAY),
            ("1969-12-31", -DAY),
            ("12:30", 45_000.0),
            ("12:30 am", 1_800.0),
            ("12:30 PM", 45_000.0),
            ("0:05:30.25", 330.25),
        ] {
            assert_eq!(parse(text).and_then(|stamp| stamp.number(None)), Some(seconds), "{text:?}");
        }
        for text in [
            "",
            "2014",
            "20141013",
            "2014-13-01",
            "2014-02-29",
            "13/10/14",
            "1/2",
            "2014-15",
            "0013-10-13",
            "24:00",
            "12:60",
            "13:05 PM",
            "12:3",
            "Oct",
            "Oct 14",
            "oak 3",
            "3.4.5.6",
            "10-10",
            "1.2014",
            "2014-10-13T",
            "2014-10-13 noon",
            "2014-10-13T25:00",
            "2014-10-13 12:30+2:0:0",
            "32/13/2014",
        ] {
            assert_eq!(parse(text).and_then(|stamp| stamp.number(Some(true))), None, "{text:?}");
        }
    }

    #[test]
    fn the_order_of_day_and_month_is_told_or_open() {
        let orders = |text| {
            let stamp = parse(text).unwrap();
            (stamp.is_open(), [true, false].map(|order| stamp.number(Some(order)).is_some()))
        };
        assert_eq!(orders("13/10/2014"), (true, [true, false]));
        assert_eq!(orders("10/13/2014"), (true, [false, true]));
        assert_eq!(orders("10/11/2014"), (true, [true, true]));
        assert_eq!(orders("2014-10-13"), (false, [true, true]));
        let stamp = parse("10/11/2014 06:00").unwrap();
        assert_eq!(stamp.number(None), None);
        let [first, second] = [true, false].map(|order| moment(stamp.number(Some(order)).unwrap()));
        assert_eq!((first.month, second.month, first.hour), (11.0, 10.0, 6.0));
    }

    #[test]
    fn a_moment_has_its_parts() {
        let parts = moment(parse("2014-10-13 18:45").unwrap().number(None).unwrap());
        assert_eq!((parts.year, parts.month, parts.weekday), (2014.0, 10.0, 1.0));
        assert_eq!((parts.hour, parts.days), (18.75, 16_356.0 + 18.75 / 24.0));
        let before = moment(-0.5 * DAY);
        assert_eq!((before.year, before.month, before.weekday, before.hour), (1969.0, 12.0, 3.0, 12.0));
        // Whatever a file holds, there is a date.
        for seconds in [f64::MAX, f64::MIN, f64::NAN, f64::INFINITY] {
            moment(seconds);
        }
    }
}
