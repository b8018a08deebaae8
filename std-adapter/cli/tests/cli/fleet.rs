//! States accumulated on the landmarks of one model, and the model merged from them.

use crate::command::{Folder, assert_close, column, number};
use crate::sample::Sample;
use dpp_nystrom::Model;

/// Create `whole.csv`, its rows split into `parts` files, and a model of another 300 rows.
fn fleet(parts: usize) -> Folder {
    fleet_with(parts, "--metric one")
}

fn fleet_with(parts: usize, options: &str) -> Folder {
    let folder = Folder::with("first.csv", Sample::new(300, 3).csv());
    folder
        .run(&format!(
            "fit first.csv --landmarks 15 --precision f32 --ridge 1e-4 --sigma 2 --model first.dpp {options}"
        ))
        .good();
    let whole = Sample::new(1_000, 3).csv();
    folder.write("whole.csv", &whole);
    let lines: Vec<&str> = whole.lines().skip(1).collect();
    for (part, lines) in lines.chunks(1_000_usize.div_ceil(parts)).enumerate() {
        folder.write(&format!("{part}.csv"), format!("a,b,c,y\n{}\n", lines.join("\n")));
        folder.run(&format!("learn first.dpp {part}.csv --out {part}.state")).good();
    }
    folder
}

#[test]
fn a_merged_model_is_that_of_all_rows() {
    merged_is_whole(&fleet(3));
}

/// The devices learn in the rows that their model's map makes of theirs.
#[test]
fn a_merged_model_with_a_map_is_that_of_all_rows() {
    let folder = fleet_with(3, "--metric map:2");
    merged_is_whole(&folder);
    let scaler = |name| Model::load(folder.path(name)).unwrap().scaler;
    assert!(scaler("first.dpp").map.is_some());
    assert_eq!(scaler("first.dpp"), scaler("parts.dpp"));
}

fn merged_is_whole(folder: &Folder) {
    folder.run("learn first.dpp whole.csv --out whole.state").good();
    let merge = |states: &str, model: &str| {
        folder.run(&format!("merge {states} --of first.dpp --model {model} --json")).good().json()
    };
    let parts = merge("0.state 1.state 2.state", "parts.dpp");
    let whole = merge("whole.state", "one.dpp");
    assert_eq!((number(&parts, "rows"), number(&parts, "states")), (1_000.0, 3.0));
    assert_eq!(number(&parts, "ridge"), 1e-4);
    assert_close(number(&parts, "train_nrmse"), number(&whole, "train_nrmse"), 1e-4);
    let predicted = |model: &str| column(&folder.run(&format!("predict {model} whole.csv")).good().out).1;
    let (parts, one) = (predicted("parts.dpp"), predicted("one.dpp"));
    for (part, one) in parts.iter().zip(&one) {
        assert!((part - one).abs() < 1e-3, "{part} {one}");
    }
    // The order of the states does not matter, up to rounding.
    merge("2.state 0.state 1.state", "again.dpp");
    for (again, one) in predicted("again.dpp").iter().zip(&one) {
        assert!((again - one).abs() < 1e-3, "{again} {one}");
    }
    // It has more training rows than the first.
    let error = |model: &str| {
        let told = folder.run(&format!("predict {model} whole.csv")).good().err;
        let number = told.split_once("root mean square error ").expect(&told).1.split(',').next().unwrap();
        number.parse::<f64>().unwrap()
    };
    assert!(error("parts.dpp") < error("first.dpp"));
}

#[test]
fn the_ridge_is_cross_validated_over_devices() {
    let folder = fleet(4);
    let told = folder
        .run("merge 0.state 1.state 2.state 3.state --of first.dpp --ridge cv --model m.dpp --json")
        .good()
        .json();
    assert!(number(&told, "cv_nrmse") > number(&told, "train_nrmse"));
    folder
        .run("merge 0.state --of first.dpp --ridge cv --model n.dpp")
        .refused(&["too few to cross-validate", "give the ridge as a number"]);
}

#[test]
fn states_of_other_landmarks_are_rejected() {
    let folder = fleet(2);
    folder
        .run("fit --metric one whole.csv --landmarks 15 --precision f32 --ridge 1e-4 --model other.dpp")
        .good();
    folder.run("learn other.dpp 0.csv --out other.state").good();
    let merge = |states: &str| folder.run(&format!("merge {states} --of first.dpp --model m.dpp"));
    merge("0.state other.state").refused(&["other.state", "other landmarks"]);
    merge("0.state 1.state 0.state").refused(&["0.state", "given twice"]);
    merge("0.state none.state").refused(&["none.state", "cannot be opened"]);
    merge("0.state first.csv").refused(&["first.csv", "state of a ridge regression: another format"]);
    let whole = folder.bytes("0.state");
    for (at, part) in [(8, "checksum"), (12, ""), (40, "checksum"), (whole.len() - 1, "checksum")] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        folder.write("damaged.state", bytes);
        merge("1.state damaged.state").refused(&["damaged.state", part]);
    }
    folder.write("short.state", &whole[..whole.len() - 1]);
    merge("1.state short.state").refused(&["short.state", "state of a ridge regression: truncated"]);
    folder.write("long.state", [&whole[..], &[0]].concat());
    merge("1.state long.state").refused(&["long.state"]);
    folder
        .run("merge 0.state 1.state --of first.dpp --model first.dpp")
        .refused(&["first.dpp", "would overwrite an input"]);
    folder.run("learn first.dpp 0.csv --out 0.csv").refused(&["would overwrite an input"]);
    folder.write("untargeted.csv", "a,b,c\n1,2,3\n");
    folder.run("learn first.dpp untargeted.csv --out u.state").refused(&["no target: regression needs one"]);
    assert!(!folder.names().contains(&"m.dpp".to_owned()));
}
