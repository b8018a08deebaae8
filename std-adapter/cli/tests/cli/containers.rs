//! Tables in archives, workbooks and JSON lines: the models of the same table in a CSV, bit for bit, and what
//! hostile files end in.

use crate::command::{Folder, PROGRAM, Run};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An archive of these files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in files {
        writer.start_file(*name, options).expect("memory");
        writer.write_all(content).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

/// The only sheet of a workbook is called rows; style 1 is a date, and style 2 a date with its time.
fn workbook(rows: &str, strings: &str) -> Vec<u8> {
    workbook_of(&[("rows", "", rows)], strings)
}

fn workbook_of(sheets: &[(&str, &str, &str)], strings: &str) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let list = |each: &dyn Fn(usize, &str, &str) -> String| -> String {
        sheets.iter().enumerate().map(|(at, (name, state, _))| each(at + 1, name, state)).collect()
    };
    let entries =
        list(&|at, name, state| format!("<sheet name=\"{name}\" sheetId=\"{at}\" r:id=\"r{at}\" {state}/>"));
    let links = list(&|at, _, _| {
        format!(
            "<Relationship Id=\"r{at}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{at}.xml\"/>"
        )
    });
    let styles = "<numFmts count=\"1\"><numFmt numFmtId=\"164\" formatCode=\"yyyy-mm-dd hh:mm:ss\"/></numFmts>\
        <cellXfs count=\"3\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"164\"/></cellXfs>";
    let mut files = vec![
        (
            "[Content_Types].xml".to_owned(),
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>".to_owned(),
        ),
        (
            "_rels/.rels".to_owned(),
            format!(
                "<Relationships xmlns=\"{PACKAGE}\"><Relationship Id=\"r0\" Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>{entries}</sheets></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!("<Relationships xmlns=\"{PACKAGE}\">{links}</Relationships>"),
        ),
        ("xl/styles.xml".to_owned(), format!("<styleSheet xmlns=\"{MAIN}\">{styles}</styleSheet>")),
        ("xl/sharedStrings.xml".to_owned(), strings.to_owned()),
    ];
    files.retain(|(_, text)| !text.is_empty());
    for (at, (.., rows)) in sheets.iter().enumerate() {
        let sheet = format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>");
        files.push((format!("xl/worksheets/sheet{}.xml", at + 1), sheet));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    archive(&files)
}

/// A cell of a number, or with a type of a text.
fn cell(place: &str, style: u8, value: &str) -> String {
    if value.parse::<f64>().is_ok() {
        return format!("<c r=\"{place}\" s=\"{style}\"><v>{value}</v></c>");
    }
    format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{value}</t></is></c>")
}

const WORDS: [&str; 3] = ["oak", "elm, \"x\"", "#ash"];

const STRINGS: &str =
    "<sst uniqueCount=\"3\"><si><t>oak</t></si><si><t>elm, \"x\"</t></si><si><t>#ash</t></si></sst>";

/// Rows of an id, a word, a date, a time, a number with gaps and a target, in each form: CSV, JSON lines, and
/// the cells of a sheet.
fn forms() -> [String; 3] {
    let header = ["id", "tree", "day", "at", "size", "y"];
    let mut csv = header.join(",") + "\n";
    let (mut lines, mut sheet) = (String::new(), String::from("<row r=\"2\">"));
    for (place, name) in ["B2", "C2", "D2", "E2", "F2", "G2"].into_iter().zip(header) {
        sheet += &cell(place, 0, name);
    }
    sheet += "</row>";
    for row in 0..60_u32 {
        let (kind, tree) = (row % 3, WORDS[row as usize % 3]);
        let quoted = tree.replace('"', "\"\"");
        // 41944 is the first of November 2014.
        let (serial, day, hour) = (41_944 + row % 28, 1 + row % 28, row % 24);
        let (date, time) = (format!("2014-11-{day:02}"), format!("2014-11-{day:02} {hour:02}:30:00"));
        let time_serial = f64::from(serial) + (f64::from(hour) + 0.5) / 24.0;
        let size = if row % 7 == 3 { String::new() } else { (f64::from(row * 37 % 50) / 8.0).to_string() };
        let y = f64::from(row % 3) + f64::from(row * 37 % 50) / 10.0 + f64::from(day) / 7.0;
        csv += &format!("\"#{row}\",\"{quoted}\",{date},{time},{size},{y}\n");
        let own = if size.is_empty() { String::new() } else { format!("\"size\": {size}, ") };
        lines += &format!(
            "{{\"id\": \"#{row}\", \"tree\": {tree:?}, \"day\": \"{date}\", \"at\": \"{time}\", {own}\"y\": {y}}}\n"
        );
        let at = row + 3;
        sheet += &format!("<row r=\"{at}\">");
        sheet += &cell(&format!("B{at}"), 0, &format!("#{row}"));
        sheet += &format!("<c r=\"C{at}\" t=\"s\"><v>{kind}</v></c>");
        sheet += &[
            cell(&format!("D{at}"), 1, &serial.to_string()),
            cell(&format!("E{at}"), 2, &time_serial.to_string()),
        ]
        .concat();
        sheet += &if size.is_empty() { String::new() } else { cell(&format!("F{at}"), 0, &size) };
        sheet += &[cell(&format!("G{at}"), 0, &y.to_string()), "</row>".to_owned()].concat();
    }
    [csv, lines, sheet]
}

const FIT: &str = "--metric one --landmarks 10 --model m.dpp --target y";

#[test]
fn each_form_gives_the_same_model_and_predictions() {
    let [csv, lines, sheet] = forms();
    let folder = Folder::with("a.csv", &csv);
    let fitted = folder.run(&format!("fit a.csv {FIT} --json")).good().json();
    assert!(fitted["taken"].to_string().contains("day"), "{fitted}");
    let model = folder.bytes("m.dpp");
    let predicted = folder.run("predict m.dpp a.csv").good().out;
    folder.write("a.xlsx", workbook(&sheet, STRINGS));
    folder.write("a.jsonl", &lines);
    folder.write(
        "a.zip",
        archive(&[("__MACOSX/._a.csv", b"x"), ("deep/", b""), ("deep/a.csv", csv.as_bytes())]),
    );
    folder.write("a.ndjson.zip", archive(&[("a.ndjson", lines.as_bytes())]));
    for name in ["a.xlsx", "a.jsonl", "a.zip", "a.ndjson.zip"] {
        // The keys of the first row are all there, so that columns have the order of the CSV.
        folder.run(&format!("fit {name} {FIT}")).good();
        assert!(folder.bytes("m.dpp") == model, "{name}");
        assert_eq!(folder.run(&format!("predict m.dpp {name}")).good().out, predicted, "{name}");
        let piped = folder.run_with_input("predict m.dpp -", &folder.bytes(name)).good().out;
        assert_eq!(piped, predicted, "{name}");
    }
    // A place in a workbook is a row of the sheet.
    let wrong = sheet.replacen("<c r=\"G9\" s=\"0\"><v>", "<c r=\"G9\" s=\"0\" t=\"str\"><v>x", 1);
    folder.write("wrong.xlsx", workbook(&wrong, STRINGS));
    folder
        .run(&format!("fit wrong.xlsx {FIT} --strict --missing drop"))
        .refused(&["line 9, column 6 (\"y\")"]);
}

#[test]
fn sheets_are_named() {
    let sheet = |factor: u32| -> String {
        let rows = (2..30_u32).map(|at| {
            let cells = [
                cell(&format!("A{at}"), 0, &at.to_string()),
                cell(&format!("B{at}"), 0, &(factor * at * at).to_string()),
            ];
            format!("<row r=\"{at}\">{}</row>", cells.concat())
        });
        format!("<row r=\"1\">{}{}</row>{}", cell("A1", 0, "a"), cell("B1", 0, "y"), rows.collect::<String>())
    };
    let (one, two) = (sheet(1), sheet(2));
    let sheets = [("secret", "state=\"hidden\"", &*two), ("one", "", &*one), ("two", "", &*two)];
    let folder = Folder::with("a.xlsx", workbook_of(&sheets, ""));
    let fit =
        |more: &str| folder.run(&format!("fit a.xlsx --landmarks 5 --metric one --keep a --model m {more}"));
    let first = fit("").good();
    assert!(first.err.contains("the sheet \"one\" was read, the first of several; --sheet"), "{}", first.err);
    let first = folder.bytes("m");
    let second = fit("--sheet two").good();
    assert!(!second.err.contains("--sheet"), "{}", second.err);
    assert!(folder.bytes("m") != first);
    let second = folder.bytes("m");
    fit("--sheet secret").good();
    assert!(folder.bytes("m") == second);
    fit("--sheet three")
        .refused(&["no sheet is called \"three\"; the sheets are \"secret\", \"one\", \"two\""]);
    folder.run("predict m a.xlsx --sheet two").good();
    folder.write("a.csv", "a,y\n1,2\n");
    folder.run("predict m a.csv --sheet two").refused(&["a.csv: has no sheets", "(--sheet)"]);
}

/// Run with a gigabyte of address space.
fn within_a_gigabyte(folder: &Folder, arguments: &str) -> Run {
    let script = format!("ulimit -v 1000000; exec {PROGRAM} {arguments}");
    let mut command = folder.program("sh".as_ref(), &["-c", &script]);
    Run::of(&command.env("RAYON_NUM_THREADS", "1").output().expect("a shell"))
}

#[test]
fn hostile_files_end_in_an_error_and_not_in_memory() {
    let [csv, lines, sheet] = forms();
    let zipped = archive(&[("a.csv", csv.as_bytes())]);
    let mut damaged = zipped.clone();
    damaged[80..90].iter_mut().for_each(|byte| *byte ^= 0x55);
    let zeros = vec![b'0'; 100 << 20];
    let row = |at: u32| format!("<row r=\"{at}\">{}</row>", cell(&format!("A{at}"), 0, "1"));
    let wide: String = (1..10_000).map(row).chain([cell("XFD10000", 0, "1")]).collect();
    let claimed = "<sst uniqueCount='9000000000000'><si><t>a</t></si></sst>";
    let (small, large) = (workbook(&row(1), ""), vec![b' '; 100 << 20]);
    let bomb = String::from_utf8(large).expect("spaces");
    let cases: [(&str, Vec<u8>, &[&str]); 19] = [
        ("none.zip", archive(&[]), &["there is no file in the archive"]),
        (
            "two.zip",
            archive(&[("a.csv", b"1"), ("b.csv", b"2")]),
            &["there are 2 files in the archive, \"a.csv\", \"b.csv\"; extract the one"],
        ),
        ("cut.zip", zipped[..zipped.len() / 2].to_vec(), &["the archive cannot be read"]),
        ("damaged.zip", damaged, &["damaged zip data"]),
        ("nested.zip", archive(&[("a.zip", &zipped)]), &["its file is compressed itself"]),
        ("line.zip", archive(&[("a.csv", &zeros)]), &["limit line"]),
        ("empty.zip", archive(&[("a.csv", b"")]), &["the file is empty"]),
        ("array.zip", archive(&[("a.parquet", b"PAR1")]), &["dpp-nystrom-cluster"]),
        (
            "a.parquet",
            b"PAR1".to_vec(),
            &[
                ".parquet is not a supported format; read it with the command dpp-nystrom-cluster, or convert it to CSV",
            ],
        ),
        ("text.xlsx", b"a,b\n1,2\n".to_vec(), &["the archive cannot be read"]),
        ("cut.xlsx", small[..small.len() - 30].to_vec(), &["the archive cannot be read"]),
        ("wide.xlsx", workbook(&wide, ""), &["pass the limit sparse"]),
        ("far.xlsx", workbook(&[row(1), cell("A99999999", 0, "1")].concat(), ""), &["beyond the last row"]),
        ("back.xlsx", workbook(&[row(2), row(1)].concat(), ""), &["not in order"]),
        ("claimed.xlsx", workbook(&row(1), claimed), &["its number of strings is wrong"]),
        ("coded.xlsx", workbook(&row(1), "<\0s\0s\0t\0"), &["its number of strings is wrong"]),
        (
            "bomb.xlsx",
            workbook(&row(1), &bomb),
            &["passes the limit decompressed", "(--limit decompressed=N)"],
        ),
        ("open.xlsx", workbook(&sheet[..sheet.len() / 2], STRINGS), &["the archive cannot be read"]),
        (
            "nested.jsonl",
            lines.replacen("\"oak\"", "{\"of\": \"oak\"}", 1).into(),
            &["line 1: the value of \"tree\" is an object"],
        ),
    ];
    let folder = Folder::new();
    for (name, content, parts) in cases {
        folder.write(name, content);
        let limit = if name == "bomb.xlsx" { "--limit decompressed=100000000" } else { "" };
        within_a_gigabyte(&folder, &format!("fit {name} {FIT} {limit}")).refused(parts);
    }
    folder.write("long.zip", archive(&[("a.csv", ["a,y\n", &"1,2\n".repeat(1 << 20)].concat().as_bytes())]));
    folder.run(&format!("fit long.zip {FIT} --limit decompressed=1000000")).refused(&["limit decompressed"]);
    assert!(!folder.path("m.dpp").exists());
}
