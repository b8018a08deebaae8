//! Invalid files, each rejected with what is wrong, where, and what to do; and files that are unusual but
//! valid.

use crate::command::{Folder, number, row_numbers};
use crate::sample::{Sample, npy};
use std::time::{Duration, Instant};

/// Run every command that reads rows on this file.
#[track_caller]
fn refused_by_all(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = Folder::with("good.csv", Sample::new(30, 2).csv());
    folder.run("fit --metric one good.csv --strict --landmarks 3 --model m").good();
    folder.write(name, content);
    for command in [
        format!("select {name} --strict --landmarks 2"),
        format!("fit --metric one {name} --strict --landmarks 2 --model new"),
        format!("evaluate {name} --strict --methods kdpp --landmarks 2"),
        format!("predict m {name} --out p.csv {}", if name.ends_with(".npy") { "--by-position" } else { "" }),
    ] {
        folder.run(&command).refused(&[&[name], parts].concat());
    }
    assert_eq!(folder.names().len(), 3, "nothing was written: {:?}", folder.names());
}

#[test]
fn what_is_not_a_number() {
    for value in ["inf", "-inf", "Infinity", "1e999"] {
        let text = format!("a,b,y\n1,2,3\n4,{value},6\n7,8,9\n");
        refused_by_all(
            "bad.csv",
            text,
            &["line 3, column 2 (\"b\")", value, "is not a finite number; replace it"],
        );
    }
    for value in ["red", "1,5", "0x10", "1 000", "--3"] {
        let text = format!("a,b,y\n1,2,3\n4,\"{value}\",6\n");
        refused_by_all("bad.csv", text, &["line 3, column 2 (\"b\")", value, "is not a number", "remove it"]);
    }
    for value in ["", "NA", "?", "nan", "NaN"] {
        let text = format!("a,b,y\n1,2,3\n4,{value},6\n");
        refused_by_all("bad.csv", text, &["line 3, column 2 (\"b\")", "the value is missing", "fill it in"]);
    }
    let data: Vec<u8> =
        [1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0].iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
    refused_by_all(
        "bad.npy",
        npy("(2, 3)", &data),
        &["row 2, column 2: NaN is not a finite number", "remove the row"],
    );
}

#[test]
fn rows_that_do_not_fit() {
    refused_by_all(
        "bad.csv",
        "a,b,y\n1,2,3\n4,5\n",
        &["line 3: expected 3 fields, found 2; complete the row"],
    );
    refused_by_all("bad.csv", "a,b,y\n1,2,3\n4,5,6,7\n", &["line 3: expected 3 fields, found 4"]);
    refused_by_all("bad.csv", "a,b,a\n1,2,3\n", &["columns 1 and 3 are both called \"a\"; rename one"]);
}

#[test]
fn files_without_rows() {
    refused_by_all("bad.csv", "", &["the file is empty; give one with at least one row of numbers"]);
    refused_by_all("bad.csv", "\n\n  \n", &["the file is empty"]);
    refused_by_all("bad.csv", "a,b,y\n", &["there are no rows after the header; add at least one row"]);
    refused_by_all("bad.npy", npy("(0, 3)", &[]), &["no rows"]);
}

#[test]
fn files_of_another_kind() {
    refused_by_all(
        "bad.ods",
        "PK\x03\x04",
        &[".ods is not a supported format; convert it to CSV, TSV, XLSX, JSON lines, ARFF, NPY or LIBSVM"],
    );
    refused_by_all("bad.npy", "a,b\n1,2\n", &["malformed NPY", "numpy.save"]);
    refused_by_all(
        "bad.csv.gz",
        b"\x1f\x8b\x08\x00cut",
        &["damaged gzip data", "fetch or compress the file again"],
    );
    refused_by_all("bad.csv", b"a,b,y\n1,2,\x81\xff\n", &["line 2: the text is not UTF-8; save the file"]);
}

/// Declared lengths neither allocate memory nor cause a wait.
#[test]
fn an_array_shorter_than_declared() {
    let begin = Instant::now();
    for shape in ["(1152921504606846976, 3)", "(3, 1152921504606846976)", "(4294967296, 4294967296)"] {
        refused_by_all(
            "bad.npy",
            npy(shape, &[0; 48]),
            &["the header declares", "but the data ends after 6; fetch"],
        );
    }
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn directories_and_missing_files() {
    let folder = Folder::with("good.csv", Sample::new(30, 2).csv());
    folder.run("fit --metric one good.csv --landmarks 3 --model m").good();
    std::fs::create_dir(folder.path("folder")).unwrap();
    for command in
        ["select DATA --landmarks 2", "evaluate DATA --methods kdpp --landmarks 2", "predict m DATA"]
    {
        folder
            .run(&command.replace("DATA", "folder"))
            .refused(&["folder: is a directory; name a file in it"]);
        folder
            .run(&command.replace("DATA", "nowhere.csv"))
            .refused(&["nowhere.csv: cannot be opened", "check the spelling and the folder"]);
    }
    for command in ["info MODEL", "predict MODEL good.csv"] {
        folder
            .run(&command.replace("MODEL", "folder"))
            .refused(&["folder: is a directory; name a file in it"]);
        folder
            .run(&command.replace("MODEL", "nowhere"))
            .refused(&["nowhere: cannot be opened", "check the spelling"]);
    }
    for rows in ["folder", "nowhere.csv"] {
        folder.run(&format!("fit --metric one good.csv --given {rows} --model n")).refused(&[rows]);
    }
}

#[test]
fn a_missing_target() {
    let folder = Folder::with("a.csv", Sample::new(30, 2).csv());
    let commands = ["select a.csv --landmarks 2", "fit --metric one a.csv --landmarks 2 --model m"];
    for command in commands {
        folder
            .run(&format!("{command} --target price"))
            .refused(&["a.csv: no column is called \"price\"; choose the target among \"a\", \"b\", \"y\""]);
        folder.run(&format!("{command} --target 3")).refused(&[
            "a.csv: there is no target column 3: the file has 3 columns, counted from 0; choose a smaller index",
        ]);
        folder.run(&format!("{command} --target -1")).refused(&["no column is called \"-1\""]);
    }
    folder
        .run("fit --metric one a.csv --landmarks 2 --model m --target none")
        .refused(&["no target: regression needs one; name its column with --target"]);
    folder
        .run("select a.csv --landmarks 2 --sigma cv --target none")
        .refused(&["no target: regression needs one"]);
    folder.write("kinds.arff", "@relation r\n@attribute x real\n@attribute kind {p,q}\n@data\n1,p\n2,q\n");
    folder
        .run("convert kinds.arff --target x,kind --out kinds.rows")
        .refused(&["line 3: the target \"kind\" is nominal", "choose another column"]);
}

#[test]
fn equal_rows_count_once() {
    let folder = Folder::with("same.csv", format!("a,b,y\n{}", "1,2,3\n".repeat(20)));
    for command in ["select same.csv --landmarks 1", "evaluate same.csv --methods kdpp --landmarks 1"] {
        folder
            .run(command)
            .refused(&["the median distance between rows is zero", "give the bandwidth as a number"]);
    }
    folder.write("two.csv", format!("a,y\n{}{}", "1,3\n".repeat(20), "2,4\n".repeat(3)));
    let two = folder.run("select two.csv --landmarks 2 --json").good().json();
    assert_eq!(number(&two, "trace_error"), 0.0);
    let one = folder.run("select same.csv --landmarks 1 --sigma 1 --json").good().json();
    assert_eq!(number(&one, "trace_error"), 0.0);
    for options in [
        "",
        "--method uniform",
        "--method kmeans++",
        "--method rpcholesky",
        "--precision f32",
        "--chain paper",
    ] {
        folder.run(&format!("select same.csv --landmarks 2 --sigma 1 {options}")).refused(&[
            "only 1 rows are independent",
            "2 landmarks asked for; use fewer",
            "duplicate rows count once",
        ]);
    }
    folder
        .run("fit --metric one same.csv --landmarks 1 --sigma 1 --model m")
        .refused(&["the target \"y\" is constant; name another column"]);
    // Five different rows among fifty.
    let few: String = (0..50).map(|i| format!("{},{},{i}\n", i % 5, i % 5 * 3 % 7)).collect();
    folder.write("few.csv", format!("a,b,y\n{few}"));
    let report = folder.run("select few.csv --landmarks 5 --json").good().json();
    let mut kinds: Vec<usize> = row_numbers(&report, "landmarks").iter().map(|row| row % 5).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [0, 1, 2, 3, 4]);
    folder
        .run("select few.csv --landmarks 6")
        .refused(&["only 5 rows are independent", "6 landmarks asked for"]);
    folder
        .run("evaluate few.csv --methods kdpp --landmarks 6 --test 0")
        .refused(&["only 5 rows are independent"]);
}

#[test]
fn fewer_independent_features_than_landmarks() {
    let folder = Folder::with("a.csv", Sample::new(100, 3).csv());
    for options in ["", "--method uniform", "--method kmeans++", "--method rpcholesky", "--chain paper"] {
        // Rank 3; rounding may admit a fourth row.
        folder
            .run(&format!("select a.csv --kernel linear --landmarks 12 {options}"))
            .refused(&["rows are independent under this kernel, 12 landmarks asked for", "another kernel"]);
    }
    folder
        .run("select a.csv --sigma 1e9 --landmarks 12")
        .refused(&["rows are independent", "a smaller bandwidth"]);
}

#[test]
fn constant_columns() {
    let constant_target: String = (0..40).map(|i| format!("{i},{},7\n", i * i % 13)).collect();
    let folder = Folder::with("a.csv", format!("a,b,y\n{constant_target}"));
    folder.run("select a.csv --landmarks 4").good();
    for command in [
        "fit --metric one a.csv --landmarks 4 --model m",
        "fit --metric one a.csv --landmarks 4 --sigma cv --model m",
    ]
    .into_iter()
    .chain([
        "evaluate a.csv --methods uniform --landmarks 4",
        "fit --metric one a.csv --landmarks 4 --ridge 1e-3 --model m",
    ]) {
        folder.run(command).refused(&["the target \"y\" is constant"]);
    }
    assert_eq!(folder.names(), ["a.csv"]);
    // All features are constant: the kernel sees a single point.
    let constant_features: String = (0..40).map(|i| format!("1,2.5,{i}\n")).collect();
    folder.write("a.csv", format!("a,b,y\n{constant_features}"));
    folder.run("select a.csv --landmarks 4").refused(&["the median distance between rows is zero"]);
    folder.run("fit --metric one a.csv --landmarks 1 --sigma 1 --model m").good();
    let predicted = folder.run("predict m a.csv").good().out;
    assert!(
        predicted.lines().skip(1).all(|line| (line.parse::<f64>().unwrap() - 19.5).abs() < 1e-9),
        "{predicted}"
    );
    // A constant feature beside one that varies is ignored, in predictions too.
    let one_constant: String = (0..40).map(|i| format!("1,{i},{}\n", i * i)).collect();
    folder.write("a.csv", format!("a,b,y\n{one_constant}"));
    folder.run("fit --metric one a.csv --landmarks 8 --model m").good();
    let expected = folder.run("predict m a.csv").good().out;
    folder.write("b.csv", folder.text("a.csv").replace("\n1,", "\n99,"));
    assert_eq!(folder.run("predict m b.csv").good().out, expected);
}

#[test]
fn very_few_rows_and_columns() {
    let folder = Folder::with("one.csv", "a,b,y\n1,2,3\n");
    folder
        .run("select one.csv --landmarks 1")
        .refused(&["or there is only one; give the bandwidth as a number"]);
    let report = folder.run("select one.csv --landmarks 1 --sigma 1 --json").good().json();
    assert_eq!(row_numbers(&report, "landmarks"), [0]);
    folder
        .run("fit --metric one one.csv --landmarks 1 --sigma 1 --model m")
        .refused(&["is constant; name another column"]);
    folder
        .run("evaluate one.csv --methods kdpp --landmarks 1 --sigma 1 --test 1")
        .refused(&["1 rows to test on leave none of the 1 to train on; hold out fewer"]);

    folder.write("two.csv", "a,b,y\n1,2,3\n2,3,5\n");
    let report = folder.run("select two.csv --landmarks 2 --json").good().json();
    assert_eq!(row_numbers(&report, "landmarks"), [0, 1]);
    folder.run("fit --metric one two.csv --landmarks 2 --ridge 1e-9 --model m").good();
    let predicted = folder.run("predict m two.csv").good().out;
    let values: Vec<f64> = predicted.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert!((values[0] - 3.0).abs() < 1e-6 && (values[1] - 5.0).abs() < 1e-6, "{values:?}");
    folder.run("fit --metric one two.csv --landmarks 1 --model m").good();
    folder.run("evaluate two.csv --methods kdpp --landmarks 1 --seeds 1").good();

    folder.write("column.csv", "a\n1\n2\n4\n");
    folder
        .run("select column.csv --landmarks 2")
        .refused(&["column.csv: no feature column is left", "choose the target `none`"]);
    let report = folder.run("select column.csv --landmarks 2 --target none --json").good().json();
    assert_eq!((number(&report, "dim"), number(&report, "rows")), (1.0, 3.0));
}

/// The squares of these values overflow or underflow; the rows are valid nevertheless.
#[test]
fn very_large_and_very_small_values() {
    let sample = Sample::new(60, 2);
    let folder = Folder::with("a.csv", sample.csv());
    let expected = folder.run("fit --metric one a.csv --landmarks 8 --model m --json").good().json();
    for scale in [2.0_f64.powi(900), 2.0_f64.powi(-900)] {
        let mut scaled = sample.clone();
        scaled.features.iter_mut().for_each(|row| row[1] *= scale);
        scaled.target.iter_mut().for_each(|target| *target *= scale);
        folder.write("scaled.csv", scaled.csv());
        let report = folder.run("fit --metric one scaled.csv --landmarks 8 --model m --json").good().json();
        for key in ["landmarks", "sigma", "ridge", "train_nrmse"] {
            assert_eq!(report[key], expected[key], "{scale} {key}");
        }
        folder.run("info m").good();
        let predicted = folder.run("predict m scaled.csv").good();
        assert_eq!(predicted.out.lines().count(), 61);
    }
    folder.write("vast.csv", "a,b,y\n1e308,2,3\n-1.7e308,3,5\n1.7e308,1,2\n");
    folder.run("select vast.csv --landmarks 2").refused(&[
        "column \"a\": the values are not finite, or so large that their standard deviation or a prediction of them overflows",
        "divide them by a power of ten",
    ]);
    // A target that leaves no room for predictions.
    let rows = (0..60).map(|at| format!("{at},{}1.7e308\n", if at % 3 == 0 { "-" } else { "" }));
    folder.write("far.csv", "a,y\n".to_owned() + &rows.collect::<String>());
    for command in ["fit --metric one far.csv --landmarks 8 --model m", "convert far.csv --out far.rows"] {
        folder.run(command).refused(&["column \"y\"", "a prediction of them overflows"]);
    }
}
