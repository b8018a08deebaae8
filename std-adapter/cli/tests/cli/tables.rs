//! Small files as programs write them, each with the table it is read as, or with the option that its error
//! names.

use crate::command::{Folder, Run, column};
use crate::sample::Sample;
use dpp_nystrom::Model;
use dpp_nystrom::data::store::Store;
use dpp_nystrom::data::table::{Missing, Options, Table};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// A file: its name, its bytes, and the options that read it.
type File = (&'static str, &'static str, &'static str);

/// Features, target and rows, the target last.
type Rows = (&'static str, &'static [&'static [f64]]);

const AB: &[&[f64]] = &[&[1.0, 2.5, 3.0], &[4.0, 5.5, 6.0]];

const READ: [(&str, File, Rows); 42] = [
    ("pandas", ("a.csv", "a,b,y\n1,2.5,3\n4,5.5,6\n", ""), ("a b y", AB)),
    ("pandas with its index", ("a.csv", ",a,b,y\n0,1,2.5,3\n1,4,5.5,6\n", "--ignore x0"), ("a b y", AB)),
    ("pandas read back", ("a.csv", "Unnamed: 0,a,b,y\n0,1,2.5,3\n1,4,5.5,6\n", "--ignore 0"), ("a b y", AB)),
    ("pandas, numbered columns", ("a.csv", "0,1,2\n1,2.5,3\n4,5.5,6\n", "--header yes"), ("0 1 2", AB)),
    (
        "a table of years",
        ("a.csv", "2019,2020,2021\n1,2.5,3\n4,5.5,6\n", "--header yes"),
        ("2019 2020 2021", AB),
    ),
    ("numpy.savetxt", ("a.txt", "1.0e+00 2.5e+00 3.0e+00\n4.0e+00 5.5e+00 6.0e+00\n", ""), ("x0 x1 x2", AB)),
    ("numpy.savetxt with a header", ("a.txt", "# a b y\n1 2.5 3\n4 5.5 6\n", ""), ("a b y", AB)),
    ("numpy.savetxt, a header of commas", ("a.csv", "# a,b,y\n1,2.5,3\n4,5.5,6\n", ""), ("a b y", AB)),
    ("comments", ("a.csv", "# made by hand\na,b,y\n# day 1\n1,2.5,3\n# day 2\n4,5.5,6\n", ""), ("a b y", AB)),
    (
        "R write.csv",
        ("a.csv", "\"\",\"a\",\"b\",\"y\"\n\"1\",1,2.5,3\n\"2\",4,5.5,6\n", "--ignore 0"),
        ("a b y", AB),
    ),
    ("R write.csv without row names", ("a.csv", "\"a\",\"b\",\"y\"\n1,2.5,3\n4,5.5,6\n", ""), ("a b y", AB)),
    (
        "R write.table",
        ("a.txt", "\"a\" \"b\" \"y\"\n\"1\" 1 2.5 3\n\"2\" 4 5.5 6\n", "--ignore 0"),
        ("a b y", AB),
    ),
    ("R row names of words", ("a.txt", "a b y\nMazda 1 2.5 3\nFiat 4 5.5 6\n", "--ids 0"), ("a b y", AB)),
    ("R write.csv2", ("a.csv", "\"a\";\"b\";\"y\"\n1;2,5;3\n4;5,5;6\n", "--decimal ,"), ("a b y", AB)),
    ("Excel, European", ("a.csv", "\u{FEFF}a;b;y\r\n1;2,5;3\r\n4;5,5;6\r\n", "--decimal ,"), ("a b y", AB)),
    ("Excel, UTF-8", ("a.csv", "\u{FEFF}a,b,y\r\n1,2.5,3\r\n4,5.5,6\r\n", ""), ("a b y", AB)),
    (
        "Excel, trailing commas",
        ("a.csv", "a,b,y,\r\n1,2.5,3,\r\n4,5.5,6,\r\n,,,\r\n", "--missing drop"),
        ("a b y", AB),
    ),
    ("a last column without a name", ("a.csv", "a,b,\n1,2.5,3\n4,5.5,6\n", ""), ("a b x2", AB)),
    ("Excel for the Macintosh", ("a.csv", "a,b,y\r1,2.5,3\r4,5.5,6\r", ""), ("a b y", AB)),
    ("a spreadsheet's tabs", ("a.tsv", "a\tb, in m\ty\n1\t2.5\t3\n4\t5.5\t6\n", ""), ("a|b, in m|y", AB)),
    ("sqlite .mode csv", ("a.csv", "1,2.5,3\r\n4,5.5,6\r\n", ""), ("x0 x1 x2", AB)),
    ("sqlite .mode csv with headers", ("a.csv", "a,b,y\r\n1,2.5,3\r\n4,5.5,6\r\n", ""), ("a b y", AB)),
    ("sqlite .mode list", ("a.txt", "a|b|y\n1|2.5|3\n4|5.5|6\n", ""), ("a b y", AB)),
    ("psql", ("a.txt", "a|b|y\n1|2.5|3\n4|5.5|6\n", "--separator |"), ("a b y", AB)),
    ("columns of spaces", ("a.dat", "  a     b  y\n  1   2.5  3\n  4   5.5  6\n", ""), ("a b y", AB)),
    (
        "quoted numbers",
        ("a.csv", "\"a\",\"b\",\"y\"\n\"1\",\"2.5\",\"3\"\n\"4\",\"5.5\",\"6\"\n", ""),
        ("a b y", AB),
    ),
    ("a name with a line end", ("a.csv", "\"a\nb\",c,y\n1,2.5,3\n4,5.5,6\n", ""), ("a\nb|c|y", AB)),
    ("LIBSVM", ("a.libsvm", "3 1:1 2:2.5 # first\n6 1:4 2:5.5\n", ""), ("f1 f2 label", AB)),
    (
        "LIBSVM from 0, sparse",
        ("a.svm", "3 0:1\n-1 2:2\n", ""),
        ("f0 f1 f2 label", &[&[1.0, 0.0, 0.0, 3.0], &[0.0, 0.0, 2.0, -1.0]]),
    ),
    ("LIBSVM of another ending", ("a.txt", "3 1:1 2:2.5\n6 1:4 2:5.5\n", "--libsvm"), ("f1 f2 label", AB)),
    (
        "truth values",
        ("a.csv", "a,b,y\nTrue,FALSE,1\nfalse,true,2\n", ""),
        ("a b y", &[&[1.0, 0.0, 1.0], &[0.0, 1.0, 2.0]]),
    ),
    (
        "words",
        ("a.csv", "kind,a,y\nred,1,2\nblue,3,4\nred,5,6\n", ""),
        ("kind=blue kind=red a y", &[&[0.0, 1.0, 1.0, 2.0], &[1.0, 0.0, 3.0, 4.0], &[0.0, 1.0, 5.0, 6.0]]),
    ),
    (
        "codes that are words",
        ("a.csv", "zip,a,y\n007,1,2\n12A,3,4\n", "--words zip"),
        ("zip=007 zip=12A a y", &[&[1.0, 0.0, 1.0, 2.0], &[0.0, 1.0, 3.0, 4.0]]),
    ),
    (
        "gaps of all kinds",
        ("a.csv", "a,b,y\n1,8,1\n?,NA,2\n3,,3\n,NaN,4\nnull,10,5\n", "--missing indicator"),
        (
            "a|a missing|b|b missing|y",
            &[
                &[1.0, 0.0, 8.0, 0.0, 1.0],
                &[2.0, 1.0, 9.0, 1.0, 2.0],
                &[3.0, 0.0, 9.0, 1.0, 3.0],
                &[2.0, 1.0, 9.0, 1.0, 4.0],
                &[2.0, 1.0, 10.0, 0.0, 5.0],
            ],
        ),
    ),
    (
        "gaps among words",
        ("a.csv", "kind,a,y\nred,1,2\n,3,4\nblue,nan,5\nred,5,6\n", "--missing mean"),
        (
            "kind=blue kind=red a y",
            &[
                &[0.0, 1.0, 1.0, 2.0],
                &[1.0 / 3.0, 2.0 / 3.0, 3.0, 4.0],
                &[1.0, 0.0, 3.0, 5.0],
                &[0.0, 1.0, 5.0, 6.0],
            ],
        ),
    ),
    (
        "none among words, and above numbers",
        ("a.csv", "kind,a,y\nnone,None,1\noak,3,2\nnone,-,3\nNA,5,4\n", "--missing mean"),
        (
            "kind=none kind=oak a y",
            &[
                &[1.0, 0.0, 4.0, 1.0],
                &[0.0, 1.0, 3.0, 2.0],
                &[1.0, 0.0, 4.0, 3.0],
                &[2.0 / 3.0, 1.0 / 3.0, 5.0, 4.0],
            ],
        ),
    ),
    (
        "numbers below markers, without the rows that have them",
        (
            "a.csv",
            "i,a,b,y\n1,none,1,1\n2,-,2,2\n3,3,None,3\n4,5,6,4\n5,1,9,5\n6,2,7,6\n7,4,4,7\n",
            "--missing drop --ignore i",
        ),
        ("a b y", &[&[5.0, 6.0, 4.0], &[1.0, 9.0, 5.0], &[2.0, 7.0, 6.0], &[4.0, 4.0, 7.0]]),
    ),
    (
        "a target of numbers below markers",
        ("a.csv", "a,y\n1,none\n2,2\n3,.\n5,4\n", "--missing mean"),
        ("a y", &[&[2.0, 2.0], &[5.0, 4.0]]),
    ),
    (
        "markers of one's own",
        (
            "a.csv",
            "kind,a,y\nnone,-999,1\nNA,3,2\nunknown,-999.0,3\nnone,5,4\n",
            "--missing mean --missing-values -999,unknown",
        ),
        (
            "kind=NA kind=none a y",
            &[
                &[0.0, 1.0, 4.0, 1.0],
                &[1.0, 0.0, 3.0, 2.0],
                &[1.0 / 3.0, 2.0 / 3.0, 4.0, 3.0],
                &[0.0, 1.0, 5.0, 4.0],
            ],
        ),
    ),
    (
        "markers of one's own in ARFF",
        (
            "b.arff",
            "@relation r\n@attribute a real\n@attribute y real\n@data\n1,1\n?,2\n-9,3\n3,4\n",
            "--missing mean --missing-values -9",
        ),
        ("a y", &[&[1.0, 1.0], &[2.0, 2.0], &[2.0, 3.0], &[3.0, 4.0]]),
    ),
    (
        "ARFF",
        (
            "a.arff",
            "% UCI\n@relation r\n@attribute kind {q,p}\n@attribute a real\n@attribute y real\n@data\np,1,2\n?,3,4\nq,5,?\n",
            "--missing drop --allow-loss",
        ),
        ("kind=q kind=p a y", &[&[0.0, 1.0, 1.0, 2.0]]),
    ),
    (
        "chosen columns",
        (
            "a.csv",
            "id,a,b,c,note,y,z\nr1,1,9,2.5,x,3,7\nr2,4,9,5.5,,6,7\n",
            "--columns 1,c --ids id --target y",
        ),
        ("a c y", AB),
    ),
];

/// Files that are refused, and what the message names.
const REFUSED: [(&str, File, &[&str]); 37] = [
    (
        "a point beside decimal commas",
        ("a.csv", "a;y\n950;0,5\n1.050;0,7\n", "--decimal ,"),
        &["\"1.050\" has a point", "line 3", "--decimal"],
    ),
    (
        "points for thousands, then a decimal comma",
        ("a.csv", "a;y\n2.077,50;0,5\n3.000,00;0,7\n", "--decimal ,"),
        &["\"2.077,50\" has a point", "line 2", "--decimal"],
    ),
    ("numbered columns", ("a.csv", "0,1,2\n1,2.5,3\n", ""), &["line 1", "--header yes, --header no"]),
    ("numbered columns and an index", ("a.csv", ",0,1\n0,2.5,3\n1,2,5\n", ""), &["line 1", "--header yes"]),
    ("years", ("a.csv", "2019,2020\n1,2.5\n", ""), &["line 1", "--header yes, --header no"]),
    ("words over words", ("a.csv", "red,1,2\nblue,3,4\n", ""), &["line 1", "--header yes, --header no"]),
    (
        "decimal commas",
        ("a.csv", "a;b;y\n1;2;3\n4;2,5;3\n", ""),
        &["line 3, column 2", "\"2,5\" is not a number", "--decimal ,"],
    ),
    (
        "decimal commas from the first row",
        ("a.csv", "a;b;y\n1,5;2;3\n4;2,5;3\n", ""),
        &["line 2, column 1", "\"1,5\" is a number with a comma", "(--words, --classes", "--decimal ,)"],
    ),
    (
        "a target of decimal commas",
        ("a.csv", "a;b;y\n1;2;3,5\n4;2;3\n", ""),
        &["line 2, column 3", "\"3,5\" is a number with a comma", "--decimal ,"],
    ),
    (
        "thousands",
        ("a.csv", "a,b,y\n1,\"12,345.67\",3\n", ""),
        &["line 2, column 2", "remove it if it separates thousands"],
    ),
    (
        "LIBSVM by another name",
        ("a.txt", "3 1:1 2:2.5\n6 1:4 2:1:2\n", "--libsvm"),
        &["line 2", "\"2:1:2\"", "label index:value"],
    ),
    ("LIBSVM out of order", ("a.svm", "3 2:1 1:2.5\n", ""), &["line 1", "\"1:2.5\"", "ascending"]),
    (
        "a word among numbers",
        ("a.csv", "a,b,y\n1,2,3\n4,low,5\n", ""),
        &["line 3, column 2 (\"b\")", "--words, --ignore"],
    ),
    (
        "a gap",
        ("a.csv", "a,b,y\n1,2,3\n4,,5\n", ""),
        &["line 3, column 2 (\"b\")", "--missing drop, mean or indicator"],
    ),
    ("NaN", ("a.csv", "a,b,y\n1,2,3\n4,NaN,5\n", ""), &["line 3, column 2 (\"b\")", "--missing drop"]),
    (
        "gaps in every row",
        ("a.csv", "a,b,y\n1,,3\n,4,5\n", "--missing drop"),
        &["2 of 2 rows have gaps", "\"a\" (1), \"b\" (1)", "(--missing mean, --ignore, --missing-values)"],
    ),
    (
        "gaps in most rows",
        ("a.csv", "a,b,y\n1,,3\n,,5\n7,2,6\n", "--missing drop"),
        &[
            "2 of 3 rows have gaps",
            "most of them for gaps in \"b\" (2), \"a\" (1)",
            "--missing-values, --allow-loss)",
        ],
    ),
    (
        "a marker of numbers before a number",
        ("a.csv", "a,b,y\nnone,2,3\n4,1,5\n", ""),
        &["line 2, column 1", "\"none\"", "--missing"],
    ),
    (
        "a marker of words",
        ("a.csv", "a,b,y\nred,2,3\nNA,1,5\n", ""),
        &["line 3, column 1", "is missing (\"NA\")"],
    ),
    (
        "a target of nothing but markers",
        ("a.csv", "a,y\n1,none\n2,-\n", "--missing drop"),
        &["line 2, column 2", "is missing (\"none\")"],
    ),
    ("a NUL", ("a.csv", "a,b,y\n1,2,3\n4,\0,5\n", ""), &["line 3 has a NUL"]),
    ("a NUL that is not read", ("a.csv", "a,b,y\n1,2,3\n4,\0,5\n", "--ignore b"), &["line 3 has a NUL"]),
    (
        "a NUL in ARFF",
        ("b.arff", "@relation r\n@attribute a real\n@attribute y real\n@data\n% \0\n1,2\n", ""),
        &["line 5 has a NUL"],
    ),
    (
        "a column of gaps",
        ("a.csv", "a,b,y\n1,,3\n2,,5\n", "--missing mean"),
        &["\"b\" has no value in any row", "--ignore"],
    ),
    (
        "an unknown column",
        ("a.csv", "alpha,b,y\n1,2,3\n", "--ignore Alpha"),
        &["no column is called \"Alpha\" (nearest: \"alpha\")"],
    ),
    (
        "a column past the last",
        ("a.csv", "a,b,y\n1,2,3\n", "--columns 1-3"),
        &["there is no column 3", "counted from 0"],
    ),
    ("another separator", ("a.csv", "a b,y\n1,2\n3,4,5\n", ""), &["line 3", "--separator"]),
    (
        "too many words",
        ("a.csv", "a,kind,y\n1,p,1\n2,q,2\n3,r,3\n", "--limit levels=2"),
        &["line 4", "\"kind\" has more than 2", "--ignore", "--limit levels=N"],
    ),
    (
        "too many columns",
        ("a.csv", "a,b,y\n1,2,3\n", "--limit columns=2"),
        &["columns = 2", "--limit columns=N"],
    ),
    (
        "too long a line",
        ("a.arff", "@relation r\n@attribute a real\n@attribute y real\n@data\n1,2\n", "--limit line=12"),
        &["line 2", "line = 12", "--limit line=N"],
    ),
    (
        "a date in ARFF",
        ("a.arff", "@relation r\n@attribute a date\n@attribute y real\n@data\n1,2\n", ""),
        &["\"a\" has type \"date\"", "--ignore"],
    ),
    (
        "a word in a target of numbers",
        ("a.csv", "a,y\n1,4\n2,high\n", ""),
        &["line 3, column 2 (\"y\")", "is not a number"],
    ),
    ("an unclosed quote", ("a.csv", "a,y\n1,\"2\n3,4\n", ""), &["line 2, column 2 (\"y\")"]),
    (
        "a word above numbers",
        ("a.csv", "a,b,y\nERR,2,3\n1,3,4\n2,4,5\n3,5,6\n", ""),
        &["\"a\" begins with the word \"ERR\"", "--words"],
    ),
    (
        "a word above the numbers of the target",
        ("a.csv", "a,b,y\n1,2,ERR\n1,3,4\n2,4,5\n3,5,6\n", ""),
        &["\"y\" begins with the word \"ERR\"", "--classes"],
    ),
    (
        "a title",
        ("a.csv", "My houses\na,b,y\n1,2,3\n", ""),
        &["line 1", "the next line has 3", "title", "--separator"],
    ),
    ("one column", ("a.csv", "a\n1\n2\n", ""), &["no feature column is left", "--target"]),
];

/// The library's options for those of the command.
fn options(arguments: &str) -> Options {
    let mut options = Options::default();
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let list = |text: &str| text.split(',').map(str::to_owned).collect();
    for pair in words.chunks(2) {
        let value = pair.get(1).copied().unwrap_or_default();
        match pair[0] {
            "--ignore" => options.ignore = list(value),
            "--columns" => options.columns = list(value),
            "--ids" => options.ids = list(value),
            "--words" => options.words = list(value),
            "--target" => options.target = value.parse().unwrap(),
            "--header" => options.header = Some(value == "yes"),
            "--separator" => options.separator = Some(value.as_bytes()[0]),
            "--decimal" => options.decimal_comma = Some(true),
            "--libsvm" => options.libsvm = true,
            "--allow-loss" => options.allow_loss = true,
            "--missing-values" => options.missing_values = Some(list(value)),
            "--missing" => {
                options.missing = match value {
                    "drop" => Missing::Drop,
                    "mean" => Missing::Mean,
                    _ => Missing::Indicator,
                }
            }
            other => panic!("{other}"),
        }
    }
    options
}

#[track_caller]
fn same(what: &str, table: &Table, (names, rows): Rows, tolerance: f64) {
    let found: Vec<&str> = table.feature_names.iter().chain(&table.target_name).map(String::as_str).collect();
    let by = if names.contains('|') { '|' } else { ' ' };
    assert_eq!(found, names.split(by).collect::<Vec<_>>(), "{what}");
    assert_eq!(table.rows(), rows.len(), "{what}");
    for (at, row) in rows.iter().enumerate() {
        let found = table.row(at).iter().chain(table.target.iter().map(|target| &target[at]));
        let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= tolerance;
        assert!(
            found.clone().count() == row.len() && found.zip(*row).all(near),
            "{what}: {:?}",
            table.row(at)
        );
    }
}

#[test]
fn files_of_many_programs_are_read() {
    let folder = Folder::new();
    for (what, (name, bytes, arguments), expected) in READ {
        folder.write(name, bytes);
        let read =
            options(arguments).read(&folder.path(name)).unwrap_or_else(|error| panic!("{what}: {error}"));
        same(what, &read.table, expected, 1e-12);
        // The program, and the rows of a stream, agree.
        folder.run(&format!("convert {name} --out {name}.rows {arguments}")).good();
        let store = Store::open(&folder.path(&format!("{name}.rows"))).unwrap();
        let rows = store.table_of(&(0..store.len()).collect::<Vec<_>>()).unwrap();
        same(what, &rows, expected, 1e-9);
        // What was learned reads the same file alike.
        let again = Options { separator: options(arguments).separator, ..options(arguments) };
        let again = Options { ignore: Vec::new(), columns: Vec::new(), ids: Vec::new(), ..again };
        let again = again.read_for(&read.recipe, &folder.path(name));
        if !what.starts_with("ARFF") && !what.starts_with("a target of") {
            assert_eq!(again.unwrap_or_else(|error| panic!("{what}: {error}")).table, read.table, "{what}");
        }
    }
}

#[test]
fn a_column_has_one_role() {
    let folder = Folder::with("a.csv", "a,g,y\n1,2,3\n4,5,6\n");
    for (options, one, other) in [
        ("--weight g --group g", "the group", "the weight"),
        ("--weight y --target y", "the target", "the weight"),
        ("--group y --target y", "the target", "the group"),
    ] {
        folder.run(&format!("fit a.csv --metric one --landmarks 1 --model m {options}")).refused(&[
            "is named twice",
            one,
            other,
            "--weight",
        ]);
    }
}

#[test]
fn files_that_are_refused_name_the_option_that_reads_them() {
    let folder = Folder::new();
    for (what, (name, bytes, arguments), parts) in REFUSED {
        println!("{what}");
        folder.write(name, bytes);
        folder
            .run(&format!("select {name} --strict --landmarks 1 --sigma 1 {arguments}"))
            .refused(&[&[name], parts].concat());
        folder.run(&format!("convert {name} --out a.rows {arguments}")).refused(&[&[name], parts].concat());
    }
}

#[test]
fn what_is_meant_to_be_words_may_look_like_numbers() {
    let folder = Folder::with("a.csv", "a,b,y\nM1,2,no\n1,3,4\n2,4,5\n3,5,6\n");
    folder.run("convert a.csv --out a.rows --words a --classes").good();
    // Numbers with a sign are told, and mixed words are words.
    let rows: String = (0..40).map(|i| format!("${i}.5,k{},{}\n", i % 3, i * i % 7)).collect();
    folder.write("b.csv", format!("a,b,y\n{rows}"));
    let run = folder.run("select b.csv --strict --landmarks 2 --sigma 1").good();
    assert!(run.err.contains("the column \"a\" has 40 different words in 40 rows"), "{}", run.err);
    assert!(!run.err.contains("the column \"b\""), "{}", run.err);
}

/// A file's own name of the target is believed, wherever it is.
#[test]
fn the_target_is_found_among_columns_in_order() {
    let sample = Sample::new(80, 2);
    let rows = sample.features.iter().zip(&sample.target);
    let text: String = rows.clone().map(|(row, y)| format!("{},{y},{}\n", row[0], row[1])).collect();
    let bare: String = rows.map(|(row, _)| format!("{},{}\n", row[0], row[1])).collect();
    let folder = Folder::with("a.csv", format!("p,y,q\n{text}"));
    folder.run("fit a.csv --metric one --target y --landmarks 10 --model m").good();
    let expected = folder.run("predict m a.csv").good();
    folder.write("bare.csv", bare);
    for (data, options) in [("a.csv", ""), ("bare.csv", "--header no"), ("a.csv", "--ignore y")] {
        let found = folder.run(&format!("predict m {data} --by-position {options}")).good();
        assert_eq!(found.out, expected.out, "{data} {options}");
        assert!(!found.err.contains("is taken for the target"), "{}", found.err);
    }
    // Without its name the last column is the target, and that is said.
    folder.write("b.csv", format!("r,s,t\n{text}"));
    let run = folder.run("predict m b.csv --by-position").good();
    assert!(run.err.contains("\"t\" is taken for the target"), "{}", run.err);
    folder.run("export m --to bytes --out m.bin").good();
    let run = folder.run("predict m.bin b.csv").good();
    assert!(run.err.contains("\"t\" is taken for the target"), "{}", run.err);
}

/// Rows without a target are predicted, and no part of the error.
#[test]
fn some_rows_may_have_a_target() {
    let sample = Sample::new(90, 2);
    let (mut all, mut some, mut known) = ("a,b,y\n".to_owned(), "a,b,y\n".to_owned(), "a,b,y\n".to_owned());
    for (at, (row, y)) in sample.features.iter().zip(&sample.target).enumerate() {
        let line = format!("{},{},{y}\n", row[0], row[1]);
        all += &line;
        if at % 3 == 1 {
            some += &format!("{},{},\n", row[0], row[1]);
        } else {
            some += &line;
            known += &line;
        }
    }
    let folder = Folder::with("all.csv", all);
    folder.write("some.csv", some);
    folder.write("known.csv", known);
    folder.run("fit all.csv --metric one --landmarks 12 --model m").good();
    folder.run("export m --to bytes --out m.bin").good();
    for model in ["m", "m.bin"] {
        let (all, some, known) = (
            folder.run(&format!("predict {model} all.csv")).good(),
            folder.run(&format!("predict {model} some.csv")).good(),
            folder.run(&format!("predict {model} known.csv")).good(),
        );
        assert_eq!(some.out, all.out);
        let error = |text: &str| text.split("root mean square error ").nth(1).unwrap().trim_end().to_owned();
        assert_eq!(error(&some.err), error(&known.err) + " over the 60 of 90 rows whose target is known");
    }
    assert_eq!(folder.run("transform m some.csv").good().out, folder.run("transform m all.csv").good().out);
    // What learns needs a target in each row.
    folder.run("learn m some.csv --out s").refused(&["line 3, column 3 (\"y\"): the value is missing"]);
}

/// Rows with a column of words, gaps, ids and row numbers.
fn everyday() -> String {
    let sample = Sample::new(120, 2);
    let kinds = ["oak", "elm", "fir"];
    let mut text = ",tree,a,id,b,y\n".to_owned();
    for (at, (row, target)) in sample.features.iter().zip(&sample.target).enumerate() {
        let a = if at % 11 == 3 { "NA".to_owned() } else { row[0].to_string() };
        let target = target + [0.0, 2.0, -1.0][at % 3];
        text += &format!("{at},{},{a},\"row \"\"{at}\"\", or so\",{},{target}\n", kinds[at % 3], row[1]);
    }
    text
}

#[test]
fn a_model_remembers_its_columns() {
    let folder = Folder::with("a.csv", everyday());
    let fit = folder
        .run("fit --metric one a.csv --strict --landmarks 20 --ignore 0 --ids id --missing indicator --model m")
        .good();
    assert!(
        fit.err.contains("11 gaps were filled with means") && fit.err.contains("\"tree\" (3 levels)"),
        "{}",
        fit.err
    );
    let model = Model::load(folder.path("m")).unwrap();
    assert_eq!(model.feature_names, ["tree=elm", "tree=fir", "tree=oak", "a", "a missing", "b"]);
    let run = folder.run("predict m a.csv").good();
    assert!(run.err.contains("11 gaps were filled"), "{}", run.err);
    let rows: Vec<&str> = run.out.lines().collect();
    assert_eq!((rows[0], rows.len()), ("id,y", 121));
    assert!(rows[4].starts_with("\"row \"\"3\"\", or so\","), "{}", rows[4]);

    // A device and a reader of the model are told of gaps.
    folder.run("export m --to c --out m.h").good();
    let header = folder.text("m.h");
    assert!(header.contains("    4  a missing, 1 where the value is missing"), "{header}");
    assert!(header.contains("    2  tree=oak, 0.33333334 where the value is missing"), "{header}");
    assert!(folder.run("info m").good().out.contains("filled with means of training"));

    // Another order of columns, and no target, give the same bits; ids may be absent.
    let fields = |line: &str| {
        let record =
            csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes()).into_records().next();
        record.unwrap().unwrap().iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let lines: Vec<Vec<String>> = everyday().lines().map(fields).collect();
    let ordered = |order: &[usize]| -> String {
        let line = |fields: &Vec<String>| {
            order.iter().map(|&at| fields[at].as_str()).collect::<Vec<_>>().join("\t") + "\n"
        };
        lines.iter().map(line).collect()
    };
    folder.write("b.tsv", ordered(&[4, 2, 1]));
    let again = folder.run("predict m b.tsv").good().out;
    let bare = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.rsplit(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(bare(&again), bare(&run.out));
    let named = folder.run("predict m a.csv --ids 0,id").good().out;
    assert!(named.starts_with("x0,id,y\n0,\"row \"\"0\"\", or so\","), "{named}");
    folder.run("predict m b.tsv --ids b").refused(&["\"b\" is a feature of the model"]);

    // A word that was not learned.
    folder.write("c.tsv", ordered(&[4, 2, 1]).replace("oak", "ash"));
    folder.run("predict m c.tsv").refused(&[
        "c.tsv, line 2, column 3 (\"tree\")",
        "without the value \"ash\"",
        "--unknown zero",
    ]);
    let zero = folder.run("predict m c.tsv --unknown zero").good();
    assert!(zero.err.contains("40 words are unknown to the model"), "{}", zero.err);
    assert_ne!(bare(&zero.out), bare(&run.out));

    // The same model from a row store, up to the rounding of its statistics.
    folder.run("convert a.csv --out a.rows --ignore 0 --ids id --missing indicator").good();
    let plain = "--landmarks 20 --method uniform --sigma 2 --ridge 1e-3";
    folder.run(&format!("fit --metric one a.rows {plain} --model s")).good();
    folder
        .run(&format!(
            "fit --metric one a.csv --strict {plain} --ignore 0 --ids id --missing indicator --model u"
        ))
        .good();
    let run = folder.run("predict u a.csv").good();
    folder
        .run("fit --metric one a.rows --landmarks 20 --model t --ignore 0")
        .refused(&["give these options to convert"]);
    let stored = Model::load(folder.path("s")).unwrap();
    assert_eq!(stored.recipe, model.recipe);
    let store = folder.run("predict s a.csv").good().out;
    let off: f64 = column(&bare(&store).join("\n"))
        .1
        .iter()
        .zip(column(&bare(&run.out).join("\n")).1)
        .map(|(one, other)| (one - other).abs())
        .fold(0.0, f64::max);
    assert!(off < 1e-6, "{off}");

    // What is read once cannot be learned in two passes; what is read whole can.
    let text = everyday();
    folder
        .run_with_input("convert - --out p.rows --ignore 0,id", text.as_bytes())
        .refused(&["two passes", "standard input"]);
    folder
        .run_with_input(
            "fit --metric one - --landmarks 20 --ignore 0,id --missing mean --model p",
            text.as_bytes(),
        )
        .good();
}

#[test]
fn rows_with_gaps_are_left_out_and_counted() {
    let folder = Folder::with("a.csv", everyday());
    let run = folder
        .run("fit --metric one a.csv --landmarks 20 --ignore 0 --ids id --missing drop --json --model m")
        .good();
    assert!(run.err.contains("11 rows have gaps and were left out"), "{}", run.err);
    let report = run.json();
    assert_eq!(crate::command::number(&report, "rows"), 109.0);
    // Landmarks are rows of the file.
    let landmarks = crate::command::row_numbers(&report, "landmarks");
    assert!(landmarks.iter().all(|row| row % 11 != 3), "{landmarks:?}");
    let given = |rows: &str| {
        folder.write("given.csv", format!("row\n{rows}"));
        folder.run(
            "fit --metric one a.csv --given given.csv --ignore 0 --ids id --missing drop --model g --json",
        )
    };
    assert_eq!(crate::command::row_numbers(&given("119\n0\n").good().json(), "landmarks"), [119, 0]);
    given("3\n").refused(&["3 is not among the rows used"]);
    let run = folder.run("predict m a.csv").good();
    assert_eq!(run.out.lines().count(), 110);
    assert!(run.err.contains("11 rows have gaps and were left out"), "{}", run.err);
    // A model that was trained without gaps refuses them.
    folder.run("fit --metric one a.csv --strict --landmarks 20 --ignore 0,a --ids id --model n").good();
    folder.write("b.csv", everyday().replace(",elm,", ",,"));
    folder
        .run("predict n b.csv")
        .refused(&["b.csv, line 3, column 2 (\"tree\"): the value is missing", "--missing"]);
}

/// Bytes of a text in UTF-16.
fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn texts_of_other_encodings_are_read_and_told() {
    let text = "größe,farbe,y\n1,grün,2\n3,weiß,4\n5,grün,7\n6,weiß,9\n";
    let folder = Folder::with("utf8.csv", text);
    let usual = "select utf8.csv --landmarks 2 --method uniform --json";
    let landmarks = |run: &Run| crate::command::row_numbers(&run.json(), "landmarks");
    let rows = landmarks(&folder.run(usual).good());
    folder.run("fit utf8.csv --landmarks 2 --metric one --sigma 2 --ridge 0.1 --model m").good();
    let predictions = folder.run("predict m utf8.csv").good().out;
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let with_mark = format!("\u{feff}{text}");
    let files = [
        ("le.csv", utf_16(text, u16::to_le_bytes), "UTF-16LE"),
        ("be.csv", utf_16(text, u16::to_be_bytes), "UTF-16BE"),
        ("le-mark.csv", utf_16(&with_mark, u16::to_le_bytes), "UTF-16LE"),
        ("be-mark.csv", utf_16(&with_mark, u16::to_be_bytes), "UTF-16BE"),
        ("latin.csv", latin, "Windows-1252"),
        ("mark.csv", with_mark.into_bytes(), ""),
    ];
    for (name, bytes, encoding) in files {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&bytes).unwrap();
        folder.write("a.csv.gz", encoder.finish().unwrap());
        folder.write(name, &bytes);
        let told =
            |err: &str| err.contains("encoding of the text") != encoding.is_empty() && err.contains(encoding);
        for run in [
            folder.run(&usual.replace("utf8.csv", name)).good(),
            folder.run(&usual.replace("utf8.csv", "a.csv.gz")).good(),
            folder.run_with_input(&usual.replace("utf8.csv", "-"), &bytes).good(),
        ] {
            assert!(landmarks(&run) == rows && told(&run.err), "{name}: {} {}", run.out, run.err);
        }
        let run = folder.run(&format!("predict m {name}")).good();
        assert!(run.out == predictions && told(&run.err), "{name}: {} {}", run.out, run.err);
    }
    // Of which few characters are ASCII: the mark alone tells.
    let words: String =
        (0..9).map(|row| format!("{},{}\n", ["ш", "щ"][row % 2].repeat(50), row * row)).collect();
    let words = format!("к,y\n{words}");
    folder.write("utf8.csv", &words);
    folder.write("mark.csv", utf_16(&format!("\u{feff}{words}"), u16::to_be_bytes));
    let told = folder.run(&usual.replace("utf8.csv", "mark.csv")).good();
    assert_eq!(landmarks(&told), landmarks(&folder.run(usual).good()));
    assert!(told.err.contains("UTF-16BE"), "{}", told.err);
    // Not text in any of these.
    let lone = utf_16("a,y\n1,2\n3,4\n", u16::to_le_bytes).into_iter().chain([0, 0xD8]).collect::<Vec<u8>>();
    let mixed = [b"a,k,y\n1,\xE9,2\n3,".as_slice(), "é".as_bytes(), b",4\n"].concat();
    for (bytes, why) in [
        (lone, "line 4 cannot be UTF-16LE"),
        (mixed, "line 2: the text is not UTF-8"),
        (b"a,k,y\n1,\x81\x40,2\n3,x,4\n".to_vec(), "line 2: the text is not UTF-8"),
        (b"\xFF\xFE\0\0a\0\0\0".to_vec(), "UTF-32 is not a supported format"),
    ] {
        folder.write("wrong.csv", bytes);
        folder.run("select wrong.csv --landmarks 1").refused(&["wrong.csv", why]);
    }
}

#[test]
fn a_model_remembers_its_markers() {
    let rows = (0..40).map(|at| match at % 8 {
        3 => format!("-999,none,{at}\n"),
        5 => format!("{at},??,{at}\n"),
        _ => format!("{at},oak,{at}\n"),
    });
    let folder = Folder::with("a.csv", "a,tree,y\n".to_owned() + &rows.collect::<String>());
    let options = "--missing mean --missing-values=-999,??";
    let fit =
        folder.run(&format!("fit --metric one a.csv --strict --landmarks 8 {options} --model m")).good();
    assert!(fit.err.contains("10 gaps were filled"), "{}", fit.err);
    folder.run(&format!("convert a.csv {options} --out a.rows")).good();
    folder.run("fit --metric one a.rows --landmarks 8 --model s").good();
    for model in ["m", "s"] {
        let model_of = Model::load(folder.path(model)).unwrap();
        assert_eq!(model_of.feature_names, ["a", "tree=none", "tree=oak"]);
        assert_eq!(model_of.recipe().missing_values, Some(vec!["-999".to_owned(), "??".to_owned()]));
        let run = folder.run(&format!("predict {model} a.csv")).good();
        assert!(run.err.contains("10 gaps were filled"), "{}", run.err);
        // What is usually missing is a word that the model does not know.
        folder.write("b.csv", "a,tree\n1,NA\n");
        folder.run(&format!("predict {model} b.csv")).refused(&["without the value \"NA\""]);
    }
    assert!(folder.run("info m").good().out.contains("empty fields, -999, ??"));
}

#[test]
fn sparse_rows_that_are_mostly_zeros_are_limited_in_memory() {
    let folder = Folder::with("a.svm", "1 1:1 90000:2\n2 3:1\n3 4:1\n");
    folder.run("select a.svm --landmarks 2 --limit sparse=269999").refused(&[
        "3 sparse rows of 90000 features",
        "0.0 GB",
        "sparse = 269999",
        "--limit sparse=N",
    ]);
    folder.run("select a.svm --landmarks 2 --limit sparse=270000 --sigma 1").good();
    folder.run("select a.svm --landmarks 2 --limit sparse=6 --columns f1,f3 --sigma 1").good();
    // Blocks of rows are not held.
    folder.run("convert a.svm --out a.rows --limit sparse=1").good();
}

#[test]
fn many_rows_left_out_are_told_at_the_end() {
    let rows = (0..60).map(|at| match at % 6 {
        1 => format!(",{at},{}\n", at * at % 7),
        _ => format!("{at},{},{}\n", at % 5, at * at % 7),
    });
    let folder = Folder::with("a.csv", "a,b,y\n".to_owned() + &rows.collect::<String>());
    let warning = "warning: 10 of 60 rows have gaps and were left out, most of them for gaps in \"a\" (10)";
    let fit = "fit --metric one a.csv --landmarks 8 --missing drop --model m";
    let run = folder.run(&format!("{fit} --json")).good();
    assert!(run.err.lines().next_back().unwrap().starts_with(warning), "{}", run.err);
    assert!(run.json()["warnings"][0].as_str().unwrap().starts_with(warning), "{}", run.out);
    let run = folder.run("predict m a.csv").good();
    assert!(run.err.lines().next_back().unwrap().starts_with(warning), "{}", run.err);
    let few = folder.run(&format!("{} --missing mean --json", fit.replace(" --missing drop", ""))).good();
    assert!(few.json().get("warnings").is_none(), "{}", few.out);

    // More than half: refused in memory and in blocks, unless it is meant.
    folder.write("b.csv", "a,b,y\n1,,3\n2,,5\n7,2,6\n8,3,7\n9,,1\n");
    folder.run("convert b.csv --missing drop --out b.rows").refused(&[
        "3 of 5 rows",
        "\"b\" (3)",
        "--allow-loss",
    ]);
    assert!(!folder.path("b.rows").exists());
    folder.run("convert b.csv --missing drop --allow-loss --out b.rows").good();
    assert_eq!(Store::open(&folder.path("b.rows")).unwrap().len(), 2);
}

#[test]
fn row_numbers_are_named() {
    let folder = Folder::with("a.csv", everyday());
    for command in [
        "fit --metric one a.csv --landmarks 5 --model m",
        "convert a.csv --out a.rows",
        "select a.csv --landmarks 5",
    ] {
        let warned = "warning: the first column \"x0\" counts the rows and is a feature; leave it out with --ignore x0";
        let run = folder.run(&format!("{command} --strict --missing mean --ignore id")).good();
        assert!(run.err.contains(warned), "{}", run.err);
        let run = folder.run(&format!("{command} --missing mean --ignore id,x0")).good();
        assert!(!run.err.contains("counts the rows"), "{}", run.err);
    }
}

#[test]
fn what_a_file_expands_to_is_limited() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"a,y\n").unwrap();
    encoder.write_all(&b"1,2\n2,3\n".repeat(500_000)).unwrap();
    let folder = Folder::with("a.csv.gz", encoder.finish().unwrap());
    folder.run("select a.csv.gz --landmarks 1 --limit decompressed=1000000").refused(&[
        "a.csv.gz",
        "decompressed = 1000000",
        "--limit decompressed=N",
    ]);
    // A line, and a record whose quote is not closed.
    for start in ["", "1,\""] {
        folder.write("long.csv", format!("a,y\n1,2\n{start}{}\n3,4\n", "7".repeat(2_000_000)));
        folder.run("select long.csv --landmarks 1 --limit line=100000").refused(&[
            "line 3",
            "line = 100000",
            "--limit line=N",
        ]);
    }
    folder
        .run("select long.csv --landmarks 1 --limit rows=5")
        .misused(&["line=N, columns=N, levels=N, classes=N, decompressed=N or sparse=N"]);
}

/// Comments of exported files name which input is which level, and what it is where the value is missing.
#[test]
fn exports_name_levels() {
    let folder = Folder::with("a.csv", everyday().replace("elm", "elm */ \\ \u{202e}"));
    folder.run("fit --metric one a.csv --landmarks 5 --ignore 0,id --missing mean --model m").good();
    for form in ["c", "rust"] {
        folder.run(&format!("export m --to {form} --out m.txt")).good();
        let text = folder.text("m.txt");
        assert_eq!(text.matches(" where the value is missing\n").count(), 5, "{form}: {text}");
        for (at, name) in ["tree=elm _/ _ _", "tree=fir", "tree=oak", "a", "b"].iter().enumerate() {
            assert!(text.contains(&format!("{at:>5}  {name}, ")), "{form} {name}: {text}");
        }
    }
}
