//! States accumulated on the landmarks of one model, and the model merged from them.

use crate::command::{Folder, assert_close, column, number};
use crate::sample::Sample;
use dpp_nystrom::Model;
use dpp_nystrom::core::{Origin, sign_state};
use dpp_nystrom::data::table::{self, Target};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{
    Ridge,
    regression::{Accumulator, Fleet, MergeLimits, Received},
};
use std::process::Stdio;

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

/// Ten of a hundred devices are hostile, and hold a key of their own: nine in ways that the figures tell, one
/// with an old state.
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
    let bytes = |at: u64, counter: u64| {
        fleet.state(&states[at as usize], Some(Origin { device: at, counter })).unwrap()
    };
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
    let states: Vec<Received> = states.into_iter().map(|sums| Received::of("device", sums)).collect();
    let examined = fleet.examine(&states, MergeLimits::default(), Ridge::Value(1e-4), &NoObserver).unwrap();
    assert!(examined.iter().all(|one| one.outlier.is_none() && one.counted == one.rows), "{examined:#?}");
    for one in &examined {
        assert!(one.features > 0.3 && one.features < 1.01 && one.nrmse < one.target, "{one:?}");
        let others = one.others_nrmse.unwrap();
        assert!((0.5..2.0).contains(&(others / one.nrmse)) && one.influence.unwrap() < 0.2, "{one:?}");
    }
}

/// A fleet of devices that sign: `N.state` is the state 5 of the device `N`.
struct Signed {
    folder: Folder,
    model: Model,
    states: Vec<Accumulator<f32>>,
}

impl Signed {
    fn new(count: usize) -> Self {
        let (folder, model, states) = devices(count);
        let signed = Self { folder, model, states };
        (0..count as u64).for_each(|device| signed.write(&format!("{device}.state"), device, device, 5));
        let keys = (0..count as u64).map(|device| format!("{device},{}\n", hex(device))).collect::<String>();
        signed.folder.write("keys.csv", format!("device,key\n{keys}"));
        signed
    }

    /// Write the numbers of one device as the state of another.
    fn write(&self, file: &str, numbers_of: u64, device: u64, counter: u64) {
        self.write_forged(file, numbers_of, device, counter, |_, _| {});
    }

    fn write_forged(
        &self,
        file: &str,
        of: u64,
        device: u64,
        counter: u64,
        change: impl Fn(&mut u64, &mut [f32]),
    ) {
        let fleet = Fleet::of(&self.model).unwrap();
        let mut bytes = fleet.state(&self.states[of as usize], Some(Origin { device, counter })).unwrap();
        forge(&mut bytes, change);
        sign_state(&mut bytes, &key(device)).unwrap();
        self.folder.write(file, bytes);
    }

    fn merge(&self, words: &str) -> crate::command::Run {
        self.folder.run(&format!("merge {words} --of first.dpp --keys keys.csv --model m.dpp"))
    }
}

fn hex(device: u64) -> String {
    key(device).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The device of number 0, from its state 0 on: one state of it, and with its key.
#[test]
fn device_0_is_a_device_like_any_other() {
    let signed = Signed::new(4);
    let folder = &signed.folder;
    folder.write("0.key", hex(0));
    folder.run("learn first.dpp part.csv --device 0 --counter 0 --key 0.key --out 0.state").good();
    signed.merge("0.state 1.state 2.state --seen seen.csv").good();
    assert!(folder.text("seen.csv").contains("\n0,0\n"), "{}", folder.text("seen.csv"));
    // Different states of one counter: none of them is taken, and all are named.
    signed.write("again.state", 1, 0, 0);
    let told = signed.merge("0.state again.state 2.state");
    assert!(told.err.contains("refused: again.state: 0.state is another state of device 0"), "{}", told.err);
    told.refused(&["2 of 3", "0.state: again.state is another state of device 0 with the counter 0"]);
    signed.write("later.state", 1, 0, 1);
    signed.merge("later.state 2.state --outliers accept --seen seen.csv").good();
    signed.merge("0.state 2.state --seen seen.csv").refused(&[
        "0.state",
        "device 0",
        "older than its state 1",
    ]);
    // Without an origin there is no device.
    folder.run("learn first.dpp part.csv --out unknown.state").good();
    signed.merge("unknown.state 2.state").refused(&["unknown.state", "does not say which device"]);
    folder.run("merge unknown.state 2.state --outliers accept --of first.dpp --model m.dpp").good();
}

/// Whoever signs the numbers of another device neither keeps them out nor counts them twice, with any counter
/// and in any order.
#[test]
fn a_copied_state_does_not_evict_its_author() {
    let signed = Signed::new(4);
    let folder = &signed.folder;
    signed.merge("0.state 1.state 2.state").good();
    let whole = folder.bytes("m.dpp");
    signed.write("copy.state", 1, 3, 99);
    for (states, named) in [
        ("0.state 1.state copy.state 2.state", "1.state"),
        ("0.state copy.state 1.state 2.state", "copy.state"),
    ] {
        let other = if named == "1.state" { "copy.state" } else { "1.state" };
        signed.merge(states).refused(&[other, "one copied the other", named]);
        let told = signed.merge(&format!("{states} --outliers exclude --seen seen.csv --json")).good();
        assert!(
            told.err.contains(&format!("left out: {other}: it has the numbers of {named}")),
            "{}",
            told.err
        );
        assert_eq!(folder.bytes("m.dpp"), whole, "{states}");
        // Both states were merged.
        assert_eq!(folder.text("seen.csv"), "device,counter\n0,5\n1,5\n2,5\n3,99\n");
    }
}

#[test]
fn keys_are_hexadecimal_and_one_for_each_device() {
    let signed = Signed::new(3);
    let folder = &signed.folder;
    let merge = |keys: &str| {
        folder.write("keys.csv", format!("device,key\n{keys}"));
        signed.merge("0.state 1.state")
    };
    let [zero, one, two] = [0, 1, 2].map(hex);
    let signs = "+1".repeat(32);
    merge(&format!("0,{zero}\n1,{signs}\n")).refused(&[
        "keys.csv",
        "key of device 1",
        "64 hexadecimal digits",
    ]);
    merge(&format!("0,{zero}\n1,{one}é\n")).refused(&["keys.csv", "key of device 1"]);
    merge(&format!("0,{zero}\n+1,{one}\n")).refused(&["keys.csv", "with a number as device"]);
    merge(&format!("0,{zero}\n1,{one}\n0,{two}\n")).refused(&["keys.csv", "device 0 has two lines"]);
    merge(&format!("0,{zero}\n1,{one}\n2,{one}\n")).refused(&["keys.csv", "devices 1 and 2 have one key"]);
    // Capitals are digits too. A key that was withdrawn, and one that was replaced.
    merge(&format!("0,{}\n1,{one}\n", zero.to_uppercase())).good();
    merge(&format!("0,{zero}\n")).refused(&["1.state", "no key for its device, 1", "withdrawn"]);
    merge(&format!("0,{zero}\n1,{two}\n")).refused(&["1.state", "not authentic under the key of device 1"]);
    folder.write("seen.csv", "device,counter\n0,5\n0,7\n");
    signed.merge("0.state --seen seen.csv").refused(&["seen.csv", "device 0 has two lines"]);
}

/// Each output of a merge against each of its inputs and the other outputs.
#[test]
fn no_output_of_a_merge_is_an_input() {
    let signed = Signed::new(3);
    let folder = &signed.folder;
    signed.merge("0.state 1.state --trust 2.state --seen seen.csv").good();
    folder.write("seen.csv.lock", "");
    let all = || folder.names().into_iter().map(|name| (folder.bytes(&name), name)).collect::<Vec<_>>();
    let before = all();
    let merge = |model: &str, seen: &str| {
        folder.run(&format!(
            "merge 0.state 1.state --trust 2.state --of first.dpp --keys keys.csv --model {model} --seen {seen}"
        ))
    };
    for input in ["0.state", "2.state", "first.dpp", "keys.csv"] {
        merge(input, "seen.csv").refused(&[input, "would overwrite an input"]);
        merge("m.dpp", input).refused(&[input, "would overwrite an input"]);
    }
    merge("m.dpp", "m.dpp").refused(&["m.dpp", "two outputs"]);
    merge("new.dpp", "new.dpp").refused(&["new.dpp", "two outputs"]);
    merge("seen.csv.lock", "seen.csv").refused(&["seen.csv.lock", "two outputs"]);
    assert!(all() == before);
}

/// A link to nothing is not a file that does not exist, and the links to a file share its lock.
#[cfg(unix)]
#[test]
fn counters_behind_a_link_are_those_of_its_file() {
    let signed = Signed::new(2);
    let folder = &signed.folder;
    std::os::unix::fs::symlink("real.csv", folder.path("link.csv")).unwrap();
    signed.merge("0.state 1.state --seen link.csv").refused(&["link.csv", "cannot be opened"]);
    folder.write("real.csv", "device,counter\n1,9\n");
    signed.merge("0.state 1.state --seen link.csv").refused(&["1.state", "older than its state 9"]);
    folder.write("real.csv", "device,counter\n1,4\n");
    signed.merge("0.state 1.state --seen link.csv").good();
    assert_eq!(folder.text("real.csv"), "device,counter\n0,5\n1,5\n");
    assert!(
        folder.names().contains(&"real.csv.lock".to_owned())
            && !folder.names().contains(&"link.csv.lock".to_owned())
    );
    // A file that is lost is told, since it protects no more.
    std::fs::remove_file(folder.path("real.csv")).unwrap();
    std::fs::remove_file(folder.path("link.csv")).unwrap();
    let told = signed.merge("0.state 1.state --seen real.csv").good();
    assert!(told.err.contains("real.csv: no such file, and so no counters yet"), "{}", told.err);
}

/// Each of thirty merges at once has a device of its own, and a state of one that all have.
#[test]
fn concurrent_merges_lose_no_counter() {
    let signed = Signed::new(31);
    let folder = &signed.folder;
    let merges = (1..31).map(|device| {
        let words = format!(
            "merge 0.state {device}.state --of first.dpp --keys keys.csv --seen seen.csv --outliers accept --model {device}.dpp --threads 1"
        );
        let words: Vec<&str> = words.split_whitespace().collect();
        folder.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for merge in merges.collect::<Vec<_>>() {
        let output = merge.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let expected: String = (0..31).map(|device| format!("{device},5\n")).collect();
    assert_eq!(folder.text("seen.csv"), format!("device,counter\n{expected}"));
}

/// A device that claims more rows than others is cut and named, one that pulls further than it may is refused
/// and named, and the server's own state is neither.
#[test]
fn what_a_device_counts_for_is_limited_and_told() {
    let signed = Signed::new(12);
    let folder = &signed.folder;
    let all = (0..12).map(|device| format!("{device}.state")).collect::<Vec<_>>().join(" ");
    let honest = signed.merge(&format!("{all} --json")).good().json();
    assert_eq!(number(&honest, "rows"), 480.0);
    let predicted = |model: &str| column(&folder.run(&format!("predict {model} first.csv")).good().out).1;
    let before = predicted("m.dpp");

    // Very many rows, with the same means.
    let multiply_by = |power: i32, rows: &mut u64, numbers: &mut [f32]| {
        let scale = 2_f64.powi(power) / 40.0;
        *rows = 1 << power;
        let end = numbers.len() - 2;
        numbers[..end].iter_mut().for_each(|number| *number = (f64::from(*number) * scale.sqrt()) as f32);
        numbers[end..].iter_mut().for_each(|number| *number = (f64::from(*number) * scale) as f32);
    };
    // More than a regression in single precision may count.
    signed.write_forged("3.state", 3, 3, 6, |rows, numbers| multiply_by(52, rows, numbers));
    assert!(signed.merge(&all).good().err.contains("of its 4503599627370496 rows"));
    signed
        .merge(&format!("{all} --most-rows none --most-influence none --outliers accept"))
        .refused(&["full: over 2^35 effective rows"]);
    signed.write_forged("3.state", 3, 3, 6, |rows, numbers| multiply_by(34, rows, numbers));
    let told = signed.merge(&format!("{all} --json")).good();
    assert!(
        told.err.contains("limited: 3.state counts for 80 of its 17179869184 rows (--most-rows"),
        "{}",
        told.err
    );
    let report = told.json();
    assert_eq!((number(&report, "rows"), number(&report["devices"][3], "counted")), (520.0, 80.0));
    let table = signed.merge(&all).good().out;
    assert!(table.contains("counted") && table.contains("17179869184"), "{table}");
    let moved = |before: &[f64]| {
        let squares: f64 =
            predicted("m.dpp").iter().zip(before).map(|(one, other)| (one - other).powi(2)).sum();
        (squares / 300.0).sqrt() / signed.model.target_deviation
    };
    assert!(moved(&before) < 0.1, "{}", moved(&before));
    // Without a limit the model is that of this device, as it is if the server says that it is its own.
    for words in
        ["--most-rows none --most-influence none --outliers accept", "--trust 3.state --outliers exclude"]
    {
        let told = signed.merge(&format!("{all} --json {words}")).good();
        assert!(number(&told.json(), "rows") > 1.7e10 && !told.err.contains("limited"), "{}", told.err);
    }
    let wider = signed.merge(&format!("{all} --most-rows 3 --json")).good();
    assert_eq!(number(&wider.json()["devices"][3], "counted"), 120.0);
    signed.merge(&format!("{all} --most-rows 0.5")).misused(&["--most-rows", "at least 1"]);
    signed.merge(&format!("{all} --most-influence 0")).misused(&["--most-influence", "positive"]);

    // The slopes of another world in as many rows as all others: refused, unless the median of the devices is
    // taken.
    signed.write("3.state", 3, 3, 7);
    signed.write_forged("5.state", 5, 5, 6, |_, numbers| {
        let end = numbers.len() - 2;
        numbers[end - 15..end].iter_mut().for_each(|number| *number *= -1.8);
    });
    signed.merge(&all).refused(&["5.state"]);
    signed.merge(&format!("{all} --aggregate robust --outliers accept")).good();
    assert!(moved(&before) < 0.3, "{}", moved(&before));
    signed.merge(&format!("{all} --outliers exclude")).good();
    assert!(moved(&before) < 0.1, "{}", moved(&before));
}

/// Nobody knows which of the two is right, unless the server says so.
#[test]
fn of_two_devices_that_contradict_each_other_neither_is_believed() {
    let signed = Signed::new(2);
    let folder = &signed.folder;
    signed.merge("0.state 1.state").good();
    // What 1 says of its targets is twice as large, and the other way round.
    signed.write_forged("1.state", 1, 1, 6, |_, numbers| {
        let end = numbers.len() - 2;
        numbers[end - 15..end].iter_mut().for_each(|number| *number *= -2.0);
    });
    let told = signed.merge("0.state 1.state");
    for device in ["0.state", "1.state"] {
        assert!(told.err.contains(&format!("refused: {device}: it moves the merged model")), "{}", told.err);
    }
    told.refused(&["2 of 2 states are refused"]);
    signed.merge("0.state 1.state --trust 0.state").refused(&["1.state", "moves the merged model"]);
    let before = folder.bytes("m.dpp");
    signed.merge("0.state 1.state --trust 0.state --outliers exclude").good();
    signed.merge("0.state 1.state --outliers exclude").refused(&["at least one row"]);
    assert_ne!(folder.bytes("m.dpp"), before);
}
