//! Tables that are taken as they are: what `fit` does with ids, gaps, dates, units and mixed columns, that it
//! says so everywhere, and that `predict` needs no option.

use crate::command::Folder;
use dpp_nystrom::Model;
use serde_json::Value;

const HEADER: &str = "id,name,sold,price,share,doors,gap,empty,const,kind,y\n";

/// Rows with all that a table may have.
fn row(i: usize) -> String {
    let (month, day) = (1 + i % 12, 1 + i * 3 % 28);
    let gap = if i % 10 == 3 { String::new() } else { format!("{}.5", i * 7 % 13) };
    let (doors, kind) = (["2", "3", "4", "5more"][i % 4], ["a", "b", "c"][i % 3]);
    let price = 1_000 + 37 * (i * 17 % 97);
    format!(
        "{i},person {i},2014-{month:02}-{day:02},\"${},{:03}.50\",{} %,{doors},{gap},,same,{kind},{}\n",
        price / 1_000,
        price % 1_000,
        i % 50,
        price + 100 * (i % 3)
    )
}

fn rows(from: usize, to: usize) -> String {
    HEADER.to_owned() + &(from..to).map(row).collect::<String>()
}

const FIT: &str = "--metric one --landmarks 20 --model m";

#[test]
fn a_table_is_taken_as_it_is_and_all_is_said() {
    let folder = Folder::with("a.csv", rows(0, 80));
    folder.write("new.csv", rows(80, 90).replace(",b,", ",zebra,"));
    let told = folder.run(&format!("fit a.csv {FIT} --report page.html")).good().err;
    let said = [
        "\"id\": an id: whole numbers in constant steps",
        "\"name\": an id: 80 different values",
        "\"empty\": empty",
        "\"const\": \"same\" in every row",
        "--keep",
        "\"sold\": dates or times, taken as month, weekday, days",
        "\"price\": numbers with $ and separators of thousands",
        "\"share\": numbers with %",
        "--words",
        "\"doors\": numbers and words such as \"5more\", taken as words",
        "\"gap\": 8 gaps filled",
        "--missing",
    ];
    let (info, page) = (folder.run("info m").good().out, folder.text("page.html"));
    let page = page.replace("&quot;", "\"");
    for (what, text) in [("standard error", &told), ("info", &info), ("the page", &page)] {
        for part in said {
            assert!(text.contains(part), "{part:?} is not in {what}:\n{text}");
        }
    }
    let json: Value =
        serde_json::from_str(&folder.run(&format!("fit a.csv {FIT} --json")).good().out).unwrap();
    let from_info: Value = serde_json::from_str(&folder.run("info m --json").good().out).unwrap();
    assert_eq!(json["taken"], from_info["taken"]);
    let undo: Vec<(&str, &str)> = json["taken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|taken| (taken["column"].as_str().unwrap(), taken["undo"].as_str().unwrap()))
        .collect();
    let expected = [
        ("id", "--keep id"),
        ("name", "--keep name"),
        ("sold", "--words sold"),
        ("price", "--words price"),
        ("share", "--words share"),
        ("doors", "--strict"),
        ("empty", "--strict"),
        ("const", "--keep const"),
        ("gap", "--missing error"),
    ];
    assert_eq!(undo, expected);
    // What is left out may be absent; unknown words are none of the known, and counted.
    let predicted = folder.run("predict m new.csv").good();
    assert_eq!(predicted.out.lines().count(), 11);
    assert!(predicted.err.contains("3 words are unknown to the model"), "{}", predicted.err);
    folder
        .run("predict m new.csv --unknown error")
        .refused(&["without the value \"zebra\"", "--unknown zero"]);
    let without = rows(80, 90).replace("name,", "").replace("person ", "").replace(",b,", ",zebra,");
    let fields = |line: &str| line.split_once(',').map(|(id, rest)| (id.to_owned(), rest.to_owned()));
    let lines: Vec<String> = without
        .lines()
        .enumerate()
        .map(|(at, line)| match fields(line).unwrap() {
            (_, rest) if at == 0 => rest + "\n",
            (_, rest) => fields(&rest).unwrap().1 + "\n",
        })
        .collect();
    folder.write("less.csv", lines.concat());
    assert_eq!(folder.run("predict m less.csv").good().out, predicted.out);
    // A pipe is read once, and gives the same model but for its name.
    folder.run_with_input(&format!("fit - {FIT}2"), rows(0, 80).as_bytes()).good();
    let [one, other] = ["m", "m2"].map(|name| Model::load(folder.path(name)).unwrap());
    assert_eq!(Model { trained_on: one.trained_on.clone(), ..other }, one);
}

#[test]
fn strict_refuses_what_the_table_needs() {
    let folder = Folder::with("a.csv", rows(0, 80));
    let fit = |options: &str| folder.run(&format!("fit a.csv {FIT} {options}"));
    fit("--strict").refused(&["line 2, column 8 (\"empty\")", "the value is missing"]);
    fit("--missing error").refused(&["column 7 (\"gap\")", "the value is missing", "--missing"]);
    let rest = "--ignore id,name,sold,price,share,empty,const";
    fit(&format!("--strict --missing mean {rest}")).refused(&["\"5more\" is not a number", "--words"]);
    let words = "--ignore name,empty,gap --words doors,price,share,sold";
    fit(&format!("--strict {words}")).good();
    let model = Model::load(folder.path("m")).unwrap();
    assert!(model.feature_names.contains(&"const=same".to_owned()));
    assert!(model.feature_names.contains(&"id".to_owned()));
    // Its unknown words are refused where rows are predicted.
    folder.write("new.csv", rows(0, 10).replace(",b,", ",zebra,"));
    folder.run("predict m new.csv").refused(&["without the value \"zebra\""]);
    folder.run("convert a.csv --out a.rows").refused(&["the value is missing"]);
}

#[test]
fn options_undo_what_is_done() {
    let folder = Folder::with("a.csv", rows(0, 80));
    let names = |options: &str| {
        folder.run(&format!("fit a.csv {FIT} {options}")).good();
        Model::load(folder.path("m")).unwrap().feature_names
    };
    let own = names("");
    for absent in ["id", "const=same", "empty"] {
        assert!(!own.iter().any(|name| name == absent), "{own:?}");
    }
    assert!(names("--keep id,const").contains(&"id".to_owned()));
    assert!(names("--words share").contains(&"share=7 %".to_owned()));
    assert!(!names("--missing mean").contains(&"gap missing".to_owned()));
    assert!(own.contains(&"gap missing".to_owned()));
}

#[test]
fn decimal_commas_and_separators_travel_in_the_model() {
    let rows: String = (0..60).map(|i| format!("{},{}|{}|{}\n", i % 7, i % 10, i % 5, i % 11)).collect();
    let folder = Folder::with("a.csv", format!("a|b|y\n{rows}"));
    folder.run(&format!("fit a.csv {FIT}")).good();
    let told = folder.run(&format!("fit a.csv {FIT}1 --decimal ,")).good().err;
    assert!(!told.contains("the comma is the decimal point"), "{told}");
    let of_own = folder.run("predict m a.csv").good().out;
    assert_eq!(folder.run("predict m1 a.csv").good().out, of_own);
    folder.run("predict m a.csv --decimal .").refused(&["\"0,0\" is not a number"]);
    // The other dialect, where it is told.
    folder.write("point.csv", format!("a|b|y\n{}", rows.replace(',', ".")));
    assert_eq!(folder.run("predict m point.csv --decimal .").good().out, of_own);
    folder.run("predict m point.csv").refused(&["has a point"]);
    folder.run(&format!("fit a.csv {FIT} --strict")).refused(&["is a number with a comma", "--decimal"]);
}

#[test]
fn dates_whose_order_is_open_are_refused_until_it_is_told() {
    let rows: String = (0..60).map(|i| format!("{}/{}/2014,{}\n", 1 + i % 12, 1 + i % 11, i % 13)).collect();
    let folder = Folder::with("a.csv", format!("d,y\n{rows}"));
    folder.run(&format!("fit a.csv {FIT}")).refused(&["may begin with the day or with the month", "--dates"]);
    let names = ["dmy", "mdy"].map(|order| {
        folder.run(&format!("fit a.csv {FIT} --dates {order}")).good();
        folder.run("predict m a.csv").good().out
    });
    assert_ne!(names[0], names[1]);
}
