//! NumPy arrays: two dimensions, C or Fortran order, `f2`, `f4`, `f8`, booleans and integers of either byte
//! order.
//!
//! The header is parsed here rather than by a library because it is untrusted: the product of the shape is
//! checked, and memory grows with the values present rather than with those declared. Bytes after the array
//! are ignored, as in NumPy.

use crate::data::table::columns::{Columns, Want};
use crate::data::table::input::{Input, Origin};
use crate::data::table::markers::Markers;
use crate::data::table::rows::Rows;
use crate::error::table::{TableError, TableProblem, cut};
use half::f16;
use std::io::Read;

/// The first bytes of every array.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy itself rejects longer headers.
const LONGEST_HEADER: u64 = 10_000;

pub(crate) fn read<'a>(
    mut input: Input<'_>,
    origin: Origin<'a>,
    want: Want<'_>,
) -> Result<Rows<'a>, TableError> {
    let header = Header::parse(&header_text(&mut input, origin)?)?;
    let Header { rows: count, columns, size, .. } = header;
    if count == 0 {
        return Err(TableProblem::HeaderAlone.into());
    }
    // Bytes are read a row at a time in C order, all at once in Fortran order.
    let (pieces, height) = if header.fortran { (1, count) } else { (count, 1) };
    let length = height.saturating_mul(columns);
    let mut bytes = Vec::new();
    let mut rows: Option<Rows<'a>> = None;
    for piece in 0..pieces {
        bytes.clear();
        let limit = length.saturating_mul(size as u64);
        input.by_ref().take(limit).read_to_end(&mut bytes).map_err(|e| origin.failed(e))?;
        let found = (bytes.len() / size) as u64;
        if found < length {
            let found = piece * columns + found;
            return Err(TableProblem::NpyTruncated { rows: count, columns, found }.into());
        }
        let limit = origin.options.limits.columns;
        if columns > limit {
            return Err(TableProblem::Limit { name: "columns", limit }.into());
        }
        // Both are at most the number of values present; an array without columns is refused below.
        let (height, columns) = (height as usize, columns as usize);
        let rows = match &mut rows {
            Some(rows) => rows,
            // Name the columns only now that they are known to exist.
            None => {
                let plan = Columns::unnamed(columns).plan(want, origin.options)?;
                rows.insert(Rows::new(origin, plan, Markers::of(want, origin.options)))
            }
        };
        for row in 0..height {
            rows.begin()?;
            for column in 0..columns {
                let value = header.value(&bytes[(column * height + row) * size..][..size]);
                rows.put_value(column, value, piece + row as u64 + 1)?;
            }
        }
    }
    rows.ok_or(TableProblem::HeaderAlone.into())
}

fn header_text(input: &mut Input<'_>, origin: Origin<'_>) -> Result<String, TableProblem> {
    let mut bytes = |count: u64| {
        let mut bytes = Vec::new();
        input.take(count).read_to_end(&mut bytes).map_err(|e| origin.failed(e))?;
        let whole = u64::try_from(bytes.len()) == Ok(count);
        if whole { Ok(bytes) } else { Err(TableProblem::Npy("the file ends within the header")) }
    };
    if bytes(6)? != MAGIC {
        return Err(TableProblem::Npy("the file does not begin with the NPY magic"));
    }
    let length_bytes = match bytes(2)?[0] {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(TableProblem::Npy("unknown format version")),
    };
    let length = bytes(length_bytes)?.iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
    if length > LONGEST_HEADER {
        return Err(TableProblem::Npy("the header is longer than 10,000 bytes"));
    }
    String::from_utf8(bytes(length)?).map_err(|_| TableProblem::Npy("the header is not text"))
}

enum Number {
    Float16,
    Float32,
    Float64,
    Signed,
    Unsigned,
}

struct Header {
    number: Number,
    /// Bytes per value.
    size: usize,
    big_endian: bool,
    fortran: bool,
    rows: u64,
    columns: u64,
}

impl Header {
    /// Parse a Python dictionary: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }`.
    fn parse(text: &str) -> Result<Self, TableProblem> {
        let value = |key, problem| value(text, key).ok_or(TableProblem::Npy(problem));
        let descr = value("descr", "the header lacks 'descr'")?;
        let dtype = descr_alone(descr);
        let (big_endian, number, size) =
            number_type(dtype).ok_or_else(|| TableProblem::NpyType(cut(dtype)))?;
        let fortran = value("fortran_order", "the header lacks 'fortran_order'")?;
        let fortran = match (fortran.starts_with("True"), fortran.starts_with("False")) {
            (false, false) => return Err(TableProblem::Npy("'fortran_order' is neither True nor False")),
            (fortran, _) => fortran,
        };
        let shape = value("shape", "the header lacks 'shape'")?;
        let shape = shape.split_inclusive(')').next().unwrap_or_default();
        let lengths = shape.strip_prefix('(').and_then(|s| s.strip_suffix(')'));
        let lengths = lengths.ok_or(TableProblem::Npy("'shape' is not a tuple"))?;
        // A tuple of one ends with a comma.
        let lengths: Result<Vec<u64>, _> =
            lengths.split(',').map(str::trim).filter(|length| !length.is_empty()).map(str::parse).collect();
        match lengths.map_err(|_| TableProblem::Npy("'shape' holds something other than lengths"))?[..] {
            [rows, columns] => Ok(Self { number, size, big_endian, fortran, rows, columns }),
            _ => Err(TableProblem::NpyShape(cut(shape))),
        }
    }

    /// Decode the bytes of one value.
    fn value(&self, bytes: &[u8]) -> f64 {
        let mut low = [0; 8];
        low[..self.size].copy_from_slice(bytes);
        if self.big_endian {
            low[..self.size].reverse();
        }
        let bits = u64::from_le_bytes(low);
        let unused = 64 - 8 * self.size;
        match self.number {
            Number::Float16 => f16::from_bits(bits as u16).to_f64(),
            Number::Float32 => f64::from(f32::from_bits(bits as u32)),
            Number::Float64 => f64::from_bits(bits),
            // Shift left and back right, so that the sign bit fills the unused bits.
            Number::Signed => ((bits << unused) as i64 >> unused) as f64,
            Number::Unsigned => bits as f64,
        }
    }
}

/// Return what follows `'key':`. A structured type may contain the same word, but not before a colon.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.match_indices(key).find_map(|(i, _)| {
        let before = text[..i].chars().next_back()?;
        let after = text[i + key.len()..].strip_prefix(before)?.trim_start();
        matches!(before, '\'' | '"').then_some(after.strip_prefix(':')?.trim_start())
    })
}

/// Parse `'<f8'` and the like; `None` for types that are not plain numbers.
fn number_type(dtype: &str) -> Option<(bool, Number, usize)> {
    let code = dtype.strip_prefix(['\'', '"'])?.strip_suffix(['\'', '"'])?;
    let (kind, size) = code.trim_start_matches(['<', '>', '=', '|']).split_at_checked(1)?;
    let number = match (kind, size) {
        ("f", "2") => Number::Float16,
        ("f", "4") => Number::Float32,
        ("f", "8") => Number::Float64,
        ("i", "1" | "2" | "4" | "8") => Number::Signed,
        ("b", "1") | ("u", "1" | "2" | "4" | "8") => Number::Unsigned,
        _ => return None,
    };
    Some((code.starts_with('>'), number, size.parse().ok()?))
}

/// Return the type as written, without the rest of the header.
fn descr_alone(descr: &str) -> &str {
    let end = match descr.chars().next() {
        Some(quote @ ('\'' | '"')) => descr[1..].find(quote).map(|i| i + 2),
        _ => descr.find(']').map(|i| i + 1),
    };
    &descr[..end.unwrap_or(descr.len())]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{array, message, table};
    use npyz::WriterBuilder;

    /// Six values 0 to 5, written by another implementation.
    fn written<T: npyz::AutoSerialize>(order: npyz::Order, values: [T; 6]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(&[3, 2]).order(order);
        let mut writer = options.writer(&mut bytes).begin_nd().expect("memory");
        writer.extend(values).expect("memory");
        writer.finish().expect("memory");
        bytes
    }

    fn check(bytes: &[u8], features: [f64; 3], target: [f64; 3]) {
        let table = table("a.npy", bytes, "last").expect("valid");
        assert_eq!((table.feature_names, table.target_name), (vec!["x0".to_owned()], Some("x1".to_owned())));
        assert_eq!(table.features, features);
        assert_eq!(table.target, Some(target.into()));
    }

    #[test]
    fn both_orders_and_all_types_of_an_independent_writer() {
        let (features, target) = ([0.0, 2.0, 4.0], [-1.0, 3.0, 5.0]);
        check(&written(npyz::Order::C, [0.0_f64, -1.0, 2.0, 3.0, 4.0, 5.0]), features, target);
        check(&written(npyz::Order::C, [0.0_f32, -1.0, 2.0, 3.0, 4.0, 5.0]), features, target);
        check(&written(npyz::Order::C, [0_i8, -1, 2, 3, 4, 5]), features, target);
        check(&written(npyz::Order::C, [0_i16, -1, 2, 3, 4, 5]), features, target);
        check(&written(npyz::Order::C, [0_i32, -1, 2, 3, 4, 5]), features, target);
        check(&written(npyz::Order::C, [0_i64, -1, 2, 3, 4, 5]), features, target);
        check(&written(npyz::Order::Fortran, [0.0_f64, 2.0, 4.0, -1.0, 3.0, 5.0]), features, target);
        check(&written(npyz::Order::Fortran, [0_i64, 2, 4, -1, 3, 5]), features, target);
        let target = [255.0, 3.0, 5.0];
        check(&written(npyz::Order::C, [0_u8, 255, 2, 3, 4, 5]), features, target);
        check(&written(npyz::Order::C, [0_u16, 255, 2, 3, 4, 5]), features, target);
        check(&written(npyz::Order::C, [0_u32, 255, 2, 3, 4, 5]), features, target);
        check(&written(npyz::Order::C, [0_u64, 255, 2, 3, 4, 5]), features, target);
        check(&written(npyz::Order::C, [false, true, false, true, true, true]), [0.0, 0.0, 1.0], [1.0; 3]);
    }

    fn dictionary(descr: &str, order: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")
    }

    #[test]
    fn big_endian_and_later_versions() {
        let data: Vec<u8> = [0_i16, -1, 2, 3, 4, 5].iter().flat_map(|v| v.to_be_bytes()).collect();
        let one = array(&dictionary("\">i2\"", "False", "(3L, 2L)").replace('L', ""), &data);
        check(&one, [0.0, 2.0, 4.0], [-1.0, 3.0, 5.0]);
        let two = [b"\x93NUMPY\x02\x00".as_slice(), &one[8..10], &[0, 0], &one[10..]].concat();
        check(&two, [0.0, 2.0, 4.0], [-1.0, 3.0, 5.0]);
    }

    /// 0, -1, 2, 3, 4, 5 by their bits; then the smallest number and infinity, which a table refuses.
    #[test]
    fn half_precision() {
        let bits = [0x0000_u16, 0xBC00, 0x4000, 0x4200, 0x4400, 0x4500];
        let little: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        let big: Vec<u8> = bits.iter().flat_map(|bits| bits.to_be_bytes()).collect();
        for (descr, data) in [("'<f2'", little), ("'>f2'", big)] {
            check(&array(&dictionary(descr, "False", "(3, 2)"), &data), [0.0, 2.0, 4.0], [-1.0, 3.0, 5.0]);
        }
        let of = |bits: [u16; 2]| {
            let data: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
            array(&dictionary("'<f2'", "False", "(1, 2)"), &data)
        };
        assert_eq!(table("a.npy", of([0x0001, 0x7BFF]), "last").expect("valid").features, [2_f64.powi(-24)]);
        assert!(message("a.npy", of([0x7C00, 0]), "last").contains("inf"));
    }

    #[test]
    fn arrays_that_are_not_tables() {
        let wrong =
            |descr, shape| message("a.npy", array(&dictionary(descr, "False", shape), &[0; 64]), "last");
        assert!(
            wrong("'<f8'", "(3,)")
                .starts_with("a.npy: the array has shape (3,), and a table needs two dimensions")
        );
        assert!(wrong("'<f8'", "()").contains("shape (), and"));
        assert!(wrong("'<f8'", "(1, 2, 3)").contains("shape (1, 2, 3), and"));
        assert!(wrong("'<f8'", "(0, 3)").contains("there are no rows"));
        assert!(wrong("'<f8'", "(3, 0)").contains("no feature column is left"));
        for descr in ["'<c16'", "'|S7'", "'<U3'", "'|O'", "'<f16'", "[('shape', '<f8')]"] {
            let text = wrong(descr, "(3, 2)");
            assert!(
                text.starts_with(&format!("a.npy: the array's type {descr} is not supported; save")),
                "{text}"
            );
        }
    }

    #[test]
    fn malformed_headers() {
        let whole = array(&dictionary("'<f8'", "False", "(1, 2)"), &[0; 16]);
        let mut version = whole.clone();
        version[6] = 9;
        let mut latin = whole.clone();
        latin[12] = 0xE9;
        let endless = b"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{".to_vec();
        let header = |text: &str| array(text, &[0; 16]);
        let cases = [
            (b"1,2\n".to_vec(), "the file ends within the header"),
            (b"1,2,3\n4,5,6\n".to_vec(), "the file does not begin with the NPY magic"),
            (whole[..40].to_vec(), "the file ends within the header"),
            (version, "unknown format version"),
            (endless, "the header is longer than 10,000 bytes"),
            (header(&" ".repeat(10_001)), "the header is longer than 10,000 bytes"),
            (latin, "the header is not text"),
            (header("{}"), "the header lacks 'descr'"),
            (header("{'descr': '<f8'}"), "the header lacks 'fortran_order'"),
            (header("{'descr': '<f8', 'fortran_order': False}"), "the header lacks 'shape'"),
            (header(&dictionary("'<f8'", "0", "(1, 2)")), "'fortran_order' is neither True nor False"),
            (header(&dictionary("'<f8'", "False", "[1, 2]")), "'shape' is not a tuple"),
            (header(&dictionary("'<f8'", "False", "(1, -2)")), "'shape' holds something other than lengths"),
        ];
        for (bytes, problem) in cases {
            assert!(
                message("a.npy", bytes, "last").starts_with(&format!("a.npy: malformed NPY: {problem};")),
                "{problem}"
            );
        }
    }

    #[test]
    fn declared_lengths_beyond_the_data_allocate_nothing() {
        for order in ["True", "False"] {
            let huge = "(4611686018427387904, 4611686018427387904)";
            let text = message("a.npy", array(&dictionary("'<f8'", order, huge), &[0; 20]), "last");
            assert!(text.contains("4611686018427387904 values, but the data ends after 2;"), "{text}");
            let text = message("a.npy", array(&dictionary("'<f4'", order, "(3, 2)"), &[0; 23]), "last");
            assert!(
                text.starts_with("a.npy: the header declares 3 x 2 values, but the data ends after 5;"),
                "{text}"
            );
            let text = message(
                "a.npy",
                array(&dictionary("'<f4'", order, "(18446744073709551615, 0)"), &[]),
                "last",
            );
            assert!(text.contains("no feature column is left"), "{text}");
        }
    }

    #[test]
    fn entries_that_are_not_finite_are_located() {
        let mut data = [1.0_f32; 6];
        data[3] = f32::NAN;
        let data: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
        for (order, place) in [("False", "row 2, column 2: NaN is"), ("True", "row 1, column 2: NaN is")] {
            let text = message("a.npy", array(&dictionary("'<f4'", order, "(3, 2)"), &data), "last");
            assert!(text.starts_with(&format!("a.npy, {place} not a finite number")), "{text}");
        }
    }
}
