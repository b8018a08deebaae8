//! States accumulated on the landmarks of one model, and the model merged from them.

use crate::command::{Folder, assert_close, column, number};
use crate::sample::Sample;
use dpp_nystrom::Model;
use dpp_nystrom::core::{Origin, sign_state};
use dpp_nystrom::data::table::{self, Target};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::{Accumulator, Fleet, Ridge};

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
    folder.write("key", "00".repeat(32));
    folder
        .run("learn first.dpp 0.csv --device 1 --counter 1 --key key --out key")
        .refused(&["would overwrite an input"]);
    folder.write("untargeted.csv", "a,b,c\n1,2,3\n");
    folder.run("learn first.dpp untargeted.csv --out u.state").refused(&["untargeted.csv", "add its column"]);
    assert!(!folder.names().contains(&"m.dpp".to_owned()));
}

/// The model of a fleet, and the states of so many devices, each with 40 rows of its own.
fn devices(count: usize) -> (Folder, Model, Vec<Accumulator<f32>>) {
    let folder = Folder::with("first.csv", Sample::new(300, 3).csv());
    folder.run("fit first.csv --metric one --landmarks 15 --precision f32 --ridge 1e-4 --sigma 2 --model first.dpp").good();
    let whole = Sample::new(40 * count, 3).csv();
    let lines: Vec<&str> = whole.lines().skip(1).collect();
    let model = Model::load(folder.path("first.dpp")).unwrap();
    let fleet = Fleet::of(&model).unwrap();
    let states = lines.chunks(40).map(|lines| {
        folder.write("part.csv", format!("a,b,c,y\n{}\n", lines.join("\n")));
        let table = table::read(&folder.path("part.csv"), &Target::Last).unwrap();
        fleet.accumulate(&table).unwrap()
    });
    let states = states.collect();
    (folder, model, states)
}

fn key(device: u64) -> [u8; 32] {
    std::array::from_fn(|at| (device as u8).wrapping_mul(31).wrapping_add(at as u8))
}

/// Write new numbers and a checksum that goes with them.
fn forge(bytes: &mut [u8], change: impl Fn(&mut u64, &mut [f32])) {
    // Rows are at 36, and the numbers of version 2 after its two sections: R, Qᵀy, residual.
    let mut rows = u64::from_le_bytes(bytes[36..44].try_into().unwrap());
    let mut numbers: Vec<f32> =
        bytes[112..].as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word)).collect();
    change(&mut rows, &mut numbers);
    bytes[36..44].copy_from_slice(&rows.to_le_bytes());
    for (slot, number) in bytes[112..].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
        *slot = number.to_le_bytes();
    }
    let checksum = crc32fast::hash(&bytes[12..]).to_le_bytes();
    bytes[8..12].copy_from_slice(&checksum);
}

/// Ten of a hundred devices are hostile, and hold a key of their own: nine in ways that the figures tell, one with an old state.
#[test]
fn forged_states_are_named_and_left_out() {
    let (folder, model, states) = devices(100);
    let fleet = Fleet::of(&model).unwrap();
    let c = model.landmarks();
    let triangle = c * (c + 1) / 2;
    let target = triangle..triangle + c;
    type Forgery<'f> = (&'f str, Box<dyn Fn(&mut u64, &mut [f32]) + 'f>);
    let forgeries: [Forgery<'_>; 8] = [
        ("inconsistent", Box::new(|_, numbers| numbers.iter_mut().for_each(|number| *number *= 1e10))),
        ("inconsistent", Box::new(|rows, _| *rows = u64::MAX)),
        ("inconsistent", Box::new(|rows, _| *rows = 1)),
        ("inconsistent", Box::new(|_, numbers| *numbers.last_mut().unwrap() = -1e6)),
        ("inconsistent", Box::new(|_, numbers| numbers[0] = f32::NAN)),
        ("far from the landmarks", Box::new(|rows, _| *rows *= 1_000_000)),
        (
            "targets are far larger",
            Box::new(|_, numbers| numbers[target.clone()].iter_mut().for_each(|q| *q *= 1e4)),
        ),
        ("far worse", Box::new(|_, numbers| numbers[target.clone()].iter_mut().for_each(|q| *q = -*q))),
    ];
    let write = |device: u64, bytes: &mut Vec<u8>| {
        sign_state(bytes, &key(device)).unwrap();
        folder.write(&format!("{device}.state"), &bytes);
    };
    let bytes =
        |at: u64, counter: u64| fleet.state(&states[at as usize], Origin { device: at, counter }).unwrap();
    let mut keys = String::from("device,key\n");
    for device in 0..100 {
        let hex: String = key(device).iter().map(|byte| format!("{byte:02x}")).collect();
        keys.push_str(&format!("{device},{hex}\n"));
        let mut state = bytes(device, 5);
        if let Some((_, change)) = forgeries.get(device as usize) {
            forge(&mut state, change);
        }
        write(device, &mut state);
    }
    // The state of 50 as one of 8, with its tag; an old state of 9.
    folder.write("8.state", folder.bytes("50.state"));
    write(9, &mut bytes(9, 4));
    folder.write("keys.csv", keys);
    folder.write("seen.csv", "device,counter\n9,5\n");

    let names =
        |range: std::ops::Range<u64>| range.map(|i| format!("{i}.state")).collect::<Vec<_>>().join(" ");
    let merge = |states: &str, more: &str| {
        folder.run(&format!("merge {states} --of first.dpp --keys keys.csv {more}"))
    };
    let all = names(0..100);
    let refused = merge(&all, "--seen seen.csv --model m.dpp");
    let lines = refused.err.lines().filter(|line| line.starts_with("refused: "));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    refused.refused(&["10 of 100 states are refused", "--outliers exclude"]);
    assert_eq!(lines.len(), 10, "{lines:?}");
    let named =
        |file: &str, reason: &str| lines.iter().any(|line| line.contains(file) && line.contains(reason));
    for (device, (reason, _)) in forgeries.iter().enumerate() {
        assert!(named(&format!("{device}.state: "), reason), "{device} {reason}: {lines:#?}");
    }
    // The state that comes second is named.
    assert!(named("50.state: ", "given twice") && named("9.state: ", "replay"), "{lines:#?}");
    assert!(!folder.names().contains(&"m.dpp".to_owned()));
    assert_eq!(folder.text("seen.csv"), "device,counter\n9,5\n");

    let told = merge(&all, "--seen seen.csv --outliers exclude --model m.dpp --json").good();
    assert_eq!(told.err.lines().filter(|line| line.starts_with("left out: ")).count(), 10);
    assert_eq!(number(&told.json(), "states"), 90.0);
    merge(&names(8..9), "--model x.dpp").good();
    let honest = format!("{} {}", names(8..9), names(10..100).replace("50.state ", ""));
    merge(&honest, "--model honest.dpp").good();
    assert_eq!(folder.bytes("m.dpp"), folder.bytes("honest.dpp"));
    assert_eq!(folder.text("seen.csv").lines().count(), 1 + 91);
    // What was merged is not refused again, what is older is.
    merge(&names(20..30), "--seen seen.csv --model x.dpp").good();
    write(20, &mut bytes(20, 4));
    merge(&names(20..30), "--seen seen.csv --model x.dpp").refused(&["20.state", "older"]);

    // Without its key, a state is nobody's.
    write(21, &mut bytes(20, 6));
    merge(&names(21..30), "--model x.dpp").refused(&["21.state", "not authentic"]);
    folder.write("few.csv", "device,key\n1,00\n");
    let few = folder.run("merge 30.state --of first.dpp --keys few.csv --model x.dpp");
    few.refused(&["few.csv", "key of device 1", "64 hexadecimal digits"]);
}

/// Devices differ, and none of these is refused: other inputs, other noise, few rows.
#[test]
fn honest_devices_are_not_outliers() {
    let (_, model, states) = devices(12);
    let fleet = Fleet::of(&model).unwrap();
    let examined = fleet.examine(&states, Ridge::Value(1e-4), &NoObserver).unwrap();
    assert!(examined.iter().all(|one| one.outlier.is_none()), "{examined:#?}");
    for one in &examined {
        assert!(one.features > 0.3 && one.features < 1.01 && one.nrmse < one.target, "{one:?}");
        let others = one.others_nrmse.unwrap();
        assert!((0.5..2.0).contains(&(others / one.nrmse)) && one.influence.unwrap() < 0.2, "{one:?}");
    }
}
