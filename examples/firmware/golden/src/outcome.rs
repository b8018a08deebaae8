//! The result of a computation, in memory and in the text of a golden file.

use core::fmt;

/// `C` landmarks, and the bits of `B` numbers in `f32`.
///
/// As text it has two lines: `landmarks:`, and the label with the bits in hexadecimal. A golden file holds
/// that text, and an image logs it with brackets and commas. Without landmarks there is only the second line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome<const C: usize, const B: usize> {
    /// The row indices of the landmarks, in the factor's order.
    pub landmarks: [u32; C],
    /// The name of the numbers.
    pub label: &'static str,
    /// The bits.
    pub bits: [u32; B],
}

impl<const C: usize, const B: usize> Outcome<C, B> {
    /// Create the result from indices and numbers; missing ones are zero.
    pub fn new(
        landmarks: impl IntoIterator<Item = usize>,
        label: &'static str,
        numbers: impl IntoIterator<Item = f32>,
    ) -> Self {
        let mut outcome = Self { landmarks: [0; C], label, bits: [0; B] };
        for (slot, landmark) in outcome.landmarks.iter_mut().zip(landmarks) {
            *slot = landmark as u32;
        }
        for (slot, number) in outcome.bits.iter_mut().zip(numbers) {
            *slot = number.to_bits();
        }
        outcome
    }

    /// Parse a golden file's text at compile time.
    ///
    /// # Panics
    /// When the text has another form, or another number of values.
    pub const fn from_golden(text: &str, label: &'static str) -> Self {
        let (landmarks, next) = if C == 0 { ([0; C], 0) } else { line(text.as_bytes(), 0, "landmarks", 10) };
        let (bits, _) = line(text.as_bytes(), next, label, 16);
        Self { landmarks, label, bits }
    }
}

impl<const C: usize, const B: usize> fmt::Display for Outcome<C, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if C > 0 {
            f.write_str("landmarks:")?;
            for landmark in self.landmarks {
                write!(f, " {landmark}")?;
            }
            f.write_str("\n")?;
        }
        write!(f, "{}:", self.label)?;
        for bits in self.bits {
            write!(f, " {bits:08x}")?;
        }
        f.write_str("\n")
    }
}

/// Return the numbers of the line that starts at `at` with `label`, and the start of the next line.
const fn line<const N: usize>(text: &[u8], at: usize, label: &str, radix: u32) -> ([u32; N], usize) {
    let label = label.as_bytes();
    let mut at = at;
    let mut i = 0;
    while i < label.len() {
        assert!(text[at] == label[i], "the golden file has another line here");
        at += 1;
        i += 1;
    }
    assert!(text[at] == b':', "a line's label ends with a colon");
    at += 1;
    let mut numbers = [0; N];
    let mut count = 0;
    while text[at] != b'\n' {
        assert!(text[at] == b' ', "numbers are separated by single blanks");
        at += 1;
        let mut number: u32 = 0;
        while text[at] != b' ' && text[at] != b'\n' {
            let Some(digit) = (text[at] as char).to_digit(radix) else { panic!("no digit") };
            number = number * radix + digit;
            at += 1;
        }
        numbers[count] = number;
        count += 1;
    }
    assert!(count == N, "the golden file has too few numbers");
    (numbers, at + 1)
}
