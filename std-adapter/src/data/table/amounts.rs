//! Numbers as people write them: `$1,234.50`, `12 %`, `1'000'000`.
//!
//! Thousands are separated by commas, by points where the comma is the decimal point, or by spaces and
//! apostrophes, which are never anything else. `1,234` alone does not tell what its comma is: a factor of a
//! thousand is at stake.

/// Signs that stand before or after a number.
const SIGNS: [char; 18] =
    ['$', '€', '£', '¥', '₹', '₩', '₽', '₺', '₪', '฿', '₫', '₦', '₱', '₴', '₡', '₲', '₵', '%'];

/// Separators of thousands that are never a decimal point.
const SPACES: [char; 6] = [' ', '\u{A0}', '\u{202F}', '\u{2009}', '\'', '’'];

/// A number without its sign and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    /// The unit, if there is one.
    pub(crate) unit: Option<char>,
    negative: bool,
    /// Digits and separators.
    digits: &'a str,
}

/// Digits under one decimal point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Digits {
    pub(crate) value: f64,
    /// Whether commas or points can be nothing but separators of thousands: two groups of them, or one of
    /// them and the decimal point.
    pub(crate) proves_thousands: bool,
    /// Whether thousands are separated at all.
    pub(crate) has_thousands: bool,
}

/// Split an amount: a sign and a unit around digits.
pub(crate) fn split(text: &str) -> Option<Written<'_>> {
    let is_space = |c: char| c.is_whitespace();
    let mut rest = text.trim_matches(is_space);
    let (mut unit, mut negative) = (None, None);
    while let Some(first) = rest.chars().next() {
        match first {
            '-' | '−' | '+' if negative.is_none() => negative = Some(first != '+'),
            _ if SIGNS.contains(&first) && unit.is_none() => unit = Some(first),
            _ => break,
        }
        rest = rest[first.len_utf8()..].trim_start_matches(is_space);
    }
    if let Some(last) = rest.chars().next_back().filter(|last| SIGNS.contains(last)) {
        if unit.is_some() {
            return None;
        }
        unit = Some(last);
        rest = rest[..rest.len() - last.len_utf8()].trim_end_matches(is_space);
    }
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.') || SPACES.contains(&c);
    let has_digit = rest.contains(|c: char| c.is_ascii_digit());
    (has_digit && rest.chars().all(is_part)).then_some(Written {
        unit,
        negative: negative == Some(true),
        digits: rest,
    })
}

impl Written<'_> {
    /// Whether a separator is among the digits.
    pub(crate) fn has(&self, separator: char) -> bool {
        self.digits.contains(separator)
    }

    /// Read the digits, if they are well formed where the comma, or else the point, is the decimal point.
    pub(crate) fn read(&self, decimal_comma: bool) -> Option<Digits> {
        let (point, thousands) = if decimal_comma { (',', '.') } else { ('.', ',') };
        let (whole, fraction) = match self.digits.split_once(point) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (self.digits, None),
        };
        if fraction.is_some_and(|fraction| !fraction.chars().all(|c| c.is_ascii_digit())) {
            return None;
        }
        let separator = whole.chars().find(|c| !c.is_ascii_digit());
        let mut plain = String::with_capacity(self.digits.len());
        let mut groups = 0;
        if let Some(separator) = separator {
            for group in whole.split(separator) {
                let is_first = groups == 0;
                let fits = match is_first {
                    true => (1..=3).contains(&group.len()) && !group.starts_with('0'),
                    false => group.len() == 3,
                };
                if !fits || !group.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                plain.push_str(group);
                groups += 1;
            }
        } else {
            plain.push_str(whole);
        }
        if let Some(fraction) = fraction {
            plain.push('.');
            plain.push_str(fraction);
        }
        let value: f64 = plain.parse().ok().filter(|value: &f64| value.is_finite())?;
        Some(Digits {
            value: if self.negative { -value } else { value },
            proves_thousands: separator == Some(thousands) && (groups > 2 || fraction.is_some()),
            has_thousands: groups > 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    /// The unit, the value with a decimal point and that with a decimal comma.
    fn read(text: &str) -> Option<(Option<char>, Option<f64>, Option<f64>)> {
        let written = split(text)?;
        Some((written.unit, written.read(false).map(|d| d.value), written.read(true).map(|d| d.value)))
    }

    #[test]
    fn amounts_are_read_under_both_decimal_points() {
        let cases = [
            ("$1,234.50", Some((Some('$'), Some(1234.5), None))),
            ("-$5", Some((Some('$'), Some(-5.0), Some(-5.0)))),
            ("$ -5", Some((Some('$'), Some(-5.0), Some(-5.0)))),
            ("12 %", Some((Some('%'), Some(12.0), Some(12.0)))),
            ("1.234,50 €", Some((Some('€'), None, Some(1234.5)))),
            ("1,234", Some((None, Some(1234.0), Some(1.234)))),
            ("1,234,567", Some((None, Some(1_234_567.0), None))),
            ("12,34,567", Some((None, None, None))),
            ("0,123", Some((None, None, Some(0.123)))),
            ("2,5", Some((None, None, Some(2.5)))),
            ("1'234'567.5", Some((None, Some(1_234_567.5), None))),
            ("1 234", Some((None, Some(1234.0), Some(1234.0)))),
            ("1 234,5", Some((None, None, Some(1234.5)))),
            ("1,234 567", Some((None, None, None))),
            ("\u{2212}3", Some((None, Some(-3.0), Some(-3.0)))),
            ("$5 €", None),
            ("5more", None),
            ("12.10.2014", Some((None, None, None))),
            ("$", None),
            ("", None),
            ("--5", None),
            ("1e5", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn thousands_are_proved_by_two_groups_or_by_the_other_point() {
        let proves = |text: &str, comma| split(text).unwrap().read(comma).is_some_and(|d| d.proves_thousands);
        for (text, point, comma) in [
            ("1,234", false, false),
            ("1,234,567", true, false),
            ("1,234.5", true, false),
            ("1.234.567", false, true),
            ("1.234,5", false, true),
            ("1 234", false, false),
            ("1.234", false, false),
        ] {
            assert_eq!((proves(text, false), proves(text, true)), (point, comma), "{text}");
        }
    }
}
