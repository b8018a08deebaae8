//! Archives of one file and workbooks: what is in them reads as it does alone. Both are written here, by no
//! code of the readers.

use crate::input::{Input, written};
use crate::table::{check, options, rows};
use dpp_nystrom::data::table::{Limits, Options, Reading};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// The names of files in an archive.
const INNER: [&str; 4] = ["a.csv", "folder/a.arff", "a.svm", "a.npy"];

/// What archives hold beside the file.
const BESIDE: [(&str, &[u8]); 2] = [("folder/", b""), ("__MACOSX/._a.csv", b"\x00\x05")];

/// Return an archive of these files, compressed or stored.
pub(crate) fn zipped(files: &[(&str, &[u8])], deflated: bool) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        let stored = match deflated {
            true => encoder.write_all(content).and_then(|()| encoder.finish()).expect("memory"),
            false => content.to_vec(),
        };
        // Version, flags, method, time and date; checksum and lengths; those of the name and of the rest.
        let mut head: Vec<u8> = [20, 0, u16::from(deflated) * 8, 0, 0x21].map(u16::to_le_bytes).concat();
        let lengths = [stored.len(), content.len()].map(|length| u32::try_from(length).expect("short"));
        head.extend(
            [&[crc32fast::hash(content)], lengths.as_slice()].concat().iter().flat_map(|n| n.to_le_bytes()),
        );
        head.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
        head.extend([0; 2]);
        let place = u32::try_from(archive.len()).expect("short");
        archive.extend([b"PK\x03\x04", head.as_slice(), name.as_bytes(), &stored].concat());
        directory.extend(
            [b"PK\x01\x02\x14\x00", head.as_slice(), &[0; 10], &place.to_le_bytes(), name.as_bytes()]
                .concat(),
        );
    }
    let count = u16::try_from(files.len()).expect("few").to_le_bytes();
    let place = u32::try_from(archive.len()).expect("short").to_le_bytes();
    let length = u32::try_from(directory.len()).expect("short").to_le_bytes();
    let end = [b"PK\x05\x06\0\0\0\0".as_slice(), &count, &count, &length, &place, &[0; 2]].concat();
    [archive, directory, end].concat()
}

/// Compare what is read alone and from within a container, but for the limit of what it expands to.
fn same(plain: Result<Reading, dpp_nystrom::Error>, name: &str, container: &[u8], options: &Options) {
    let limits = Limits { decompressed: u64::MAX, ..options.limits };
    let read = Options { limits, ..options.clone() }.read(&written(name, container));
    match (plain, read) {
        (Ok(plain), Ok(read)) => assert_eq!((rows(&read), read.recipe), (rows(&plain), plain.recipe)),
        (plain, read) => assert_eq!(plain.is_ok(), read.is_ok(), "{plain:?} {read:?}"),
    }
}

/// Any bytes; or any table, alone in an archive, which reads as itself; beside another it is refused, and
/// with a changed byte it is refused or the same.
pub(crate) fn archive(data: &[u8]) {
    let mut input = Input::new(data);
    let (inner, is_archive, deflated) = (INNER[input.below(4)], input.flag(), input.flag());
    let (beside, fault) = (input.byte(), input.byte());
    let options = options(&mut input);
    let table = input.rest();
    if is_archive {
        return check(&written("a.zip", &[b"PK\x03\x04", table].concat()), &options);
    }
    let mut files: Vec<(&str, &[u8])> = vec![(inner, table)];
    files.extend(&BESIDE[..usize::from(beside) % 3]);
    let own = inner.rsplit('/').next().expect("a name");
    let plain = || options.read(&written(own, table));
    let mut bytes = zipped(&files, deflated);
    same(plain(), "a.zip", &bytes, &options);
    files.push(("b.csv", b"1,2\n3,4\n"));
    let two = options.read(&written("a.zip", &zipped(&files, deflated)));
    assert!(two.is_err(), "one of two files is read");
    // Of what is in the file a checksum is known; the first header has 30 bytes and the name.
    let begin = 30 + inner.len();
    if !deflated && !table.is_empty() {
        bytes[begin + usize::from(fault) % table.len()] ^= 1 | fault;
        let limits = Limits { decompressed: u64::MAX, ..options.limits };
        let read = Options { limits, ..options.clone() }.read(&written("a.zip", &bytes));
        assert!(read.is_err(), "damaged rows are read");
    }
}

/// The parts of a workbook besides its sheet.
const TYPES: &str = r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/></Types>"#;
const RELATIONS: &str = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const BOOK: &str = r#"<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>"#;
const OF_BOOK: &str = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
const SHEET: &str = r#"<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>"#;

/// Return a workbook with this sheet.
pub(crate) fn workbook_of(sheet: &[u8]) -> Vec<u8> {
    let parts = [
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", RELATIONS.as_bytes()),
        ("xl/workbook.xml", BOOK.as_bytes()),
        ("xl/_rels/workbook.xml.rels", OF_BOOK.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet),
    ];
    zipped(&parts, true)
}

/// Return a sheet of so many columns with cells from the input, and the same cells as CSV.
pub(crate) fn sheet(input: &mut Input<'_>, columns: usize) -> (String, String) {
    let (mut sheet, mut text) = (SHEET.to_owned(), String::new());
    // Parts of a workbook may expand to as much as they like here.
    for row in 0..24 {
        if row > 0 && input.is_empty() {
            break;
        }
        sheet.push_str(&format!("<row r=\"{}\">", row + 1));
        for column in 0..columns {
            let place = format!("{}{}", char::from(b'A' + column as u8), row + 1);
            let (kind, value) = if row == 0 { (2, 0) } else { (input.byte(), input.byte()) };
            let (cell, field) = match kind % 6 {
                0 | 1 => {
                    let number = f64::from(value) / 8.0 - 3.0;
                    (format!("<c r=\"{place}\"><v>{number}</v></c>"), number.to_string())
                }
                2 => {
                    let word = if row == 0 { format!("c{column}") } else { format!("w{}", value % 4) };
                    (format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{word}</t></is></c>"), word)
                }
                3 => {
                    let truth = value & 1;
                    (format!("<c r=\"{place}\" t=\"b\"><v>{truth}</v></c>"), (truth == 1).to_string())
                }
                4 => {
                    let date = format!("2014-{:02}-{:02}", 1 + value % 12, 1 + value / 12);
                    (format!("<c r=\"{place}\" t=\"str\"><f>A1</f><v>{date}</v></c>"), date)
                }
                _ => (String::new(), String::new()),
            };
            sheet.push_str(&cell);
            text.extend((column > 0).then_some(','));
            text.push_str(&field);
        }
        sheet.push_str("</row>");
        text.push('\n');
    }
    sheet.push_str("</sheetData></worksheet>");
    (sheet, text)
}

/// Any archive, any sheet of a workbook; or one whose cells are known, which reads as they do in a CSV.
pub(crate) fn workbook(data: &[u8]) {
    let mut input = Input::new(data);
    let kind = input.below(4);
    let options = options(&mut input);
    match kind {
        0 => check(&written("a.xlsx", &[b"PK\x03\x04", input.rest()].concat()), &options),
        1 => check(&written("a.xlsx", &workbook_of(input.rest())), &options),
        _ => {
            let columns = 1 + input.below(5);
            let as_it_is = input.flag();
            let (sheet, text) = sheet(&mut input, columns);
            // A text may have another separator, and rows without a cell are none of a sheet's.
            let options = Options { separator: None, as_it_is, ..options };
            if text.lines().any(|line| line.bytes().all(|byte| byte == b',')) {
                return check(
                    &written("a.xlsx", &workbook_of(sheet.as_bytes())),
                    &Options { as_it_is: false, ..options },
                );
            }
            let comma = Options { separator: Some(b','), ..options.clone() };
            let plain = comma.read(&written("a.csv", text.as_bytes())).map(|mut read| {
                read.recipe.separator = None;
                read
            });
            same(plain, "a.xlsx", &workbook_of(sheet.as_bytes()), &options);
        }
    }
}
