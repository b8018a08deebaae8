//! A row store too large to be read into memory: methods that need that report it, and the others work. A
//! store that is not scaled.

use crate::command::{Folder, assert_landmarks, row_numbers};
use crate::sample::Noise;

const WIDTH: usize = 8;

/// One row more than fits the limit.
const ROWS: usize = (1 << 24) / WIDTH + 1;

/// Build an array of one byte per value: `WIDTH` features and a target.
fn array() -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({ROWS}, {}), }}\n", WIDTH + 1);
    let length = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    let mut noise = Noise(1);
    let numbers = (0..ROWS * (WIDTH + 1)).map(|_| (noise.bits() >> 56) as u8);
    let mut bytes = [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes()].concat();
    bytes.extend(numbers);
    bytes
}

#[test]
fn methods_that_need_rows_in_memory_reject_a_large_store() {
    let folder = Folder::with("a.npy", array());
    folder.run("convert a.npy --precision f32 --out a.rows").good();
    let rows = ROWS.to_string();
    let select = |options: &str| folder.run(&format!("select a.rows --landmarks 5 --sigma 2 {options}"));
    for (options, what) in [
        ("--method kmeans-snapped", "the method kmeans-snapped needs"),
        ("--method diagonal", "the method diagonal needs"),
        ("--method kmeans-snapped --refine 1", "refinement needs"),
        ("--method greedy --include 7", "rows to include or exclude, needs"),
    ] {
        let parts =
            [what, rows.as_str(), "draw some of them", "auto, kdpp, rpcholesky, greedy, refined or uniform"];
        select(options).refused(&parts);
    }
    for (options, what) in [
        ("--landmarks 5 --method refined-ridge", "the method refined-ridge needs"),
        ("--tolerance 0.1", "a tolerance needs"),
    ] {
        let fit = format!("fit --metric one a.rows --sigma 2 --ridge 1e-3 {options} --model m.dpp");
        folder.run(&fit).refused(&[what, &rows, "--rows"]);
    }
    let fit = "fit a.rows --landmarks 5 --method uniform --sigma 2 --ridge 1e-3 --model m.dpp";
    folder.run(&format!("{fit} --metric scales")).refused(&[
        "cannot learn a metric of a store",
        &rows,
        "(--rows N, --metric one)",
    ]);
    assert!(!folder.path("m.dpp").exists());
    let run = folder.run(fit).good();
    assert!(
        run.err.contains("warning: no metric was learned") && run.err.contains("--rows 100000"),
        "{}",
        run.err
    );
    assert!(!folder.run(&format!("{fit} --metric one")).good().err.contains("no metric"));
    // The options that the error message advises.
    for options in [
        "--method kmeans-snapped --rows 500",
        "--method uniform",
        "--method rpcholesky",
        "--method rpcholesky --pivot-rows 500",
        "--method greedy",
        "--method kdpp",
    ] {
        let told = select(&format!("{options} --json")).good().json();
        assert_landmarks(&row_numbers(&told, "landmarks"), 5, ROWS);
    }
    // Exchanges lower the error on a sample of the rows, in each way to ask for them.
    folder.write("given.csv", "row\n5\n900\n17\n1000000\n2000\n");
    for options in ["--method refined", "--method kdpp --refine 1", "--method uniform --refine 1"] {
        let told = select(&format!("{options} --refine-rows 5000 --json")).good().json();
        assert_landmarks(&row_numbers(&told, "landmarks"), 5, ROWS);
        let refinement = &told["refinement"];
        assert_eq!(refinement["measured_rows"], 5_000);
        let [before, after] = ["trace_error_before", "trace_error_after"]
            .map(|name| refinement[name].as_f64().expect("a number"));
        assert!(after < before, "{options}: {before} {after}");
    }
    let fit = "fit --metric one a.rows --sigma 2 --ridge 1e-3 --given given.csv --refine 1 --refine-rows 5000 --model m.dpp";
    folder.run(fit).good();
}

/// As many rows as take bounds in place of features, at the precision of the store, without scaling: the same
/// rows as in memory.
#[test]
fn a_store_selects_in_place_what_its_file_does_in_memory() {
    const COUNT: usize = (1 << 15) + 100;
    let mut noise = Noise(3);
    let mut text = String::from("a,b,c\n");
    for _ in 0..COUNT {
        // Multiples of 1/16, exact in both precisions.
        let mut value = || f64::from((noise.bits() >> 56) as u8) / 16.0 - 8.0;
        text.push_str(&format!("{},{},{}\n", value(), value(), value()));
    }
    let folder = Folder::with("a.csv", text.into_bytes());
    for precision in ["f32", "f64"] {
        let convert = "convert a.csv --target none --scale none";
        folder.run(&format!("{convert} --precision {precision} --out {precision}.rows")).good();
    }
    folder.run("convert a.csv --target none --precision f32 --out scaled.rows").good();
    folder.run("select scaled.rows --scale none --landmarks 5").refused(&["scaled.rows", "--scale"]);
    folder.run("select f32.rows --scale robust --landmarks 5").refused(&["f32.rows", "--scale"]);
    folder.run("convert a.csv --scale robust --out no.rows").misused(&["standard, none"]);
    for method in ["greedy", "rpcholesky", "refined", "kdpp --steps 500"] {
        let select = |data: &str, options: &str| {
            let options = format!("--method {method} --landmarks 12 --sigma 4 --json {options}");
            row_numbers(&folder.run(&format!("select {data} {options}")).good().json(), "landmarks")
        };
        let expected = select("a.csv", "--scale none --target none");
        assert_eq!(select("f64.rows", ""), expected, "{method}");
        assert_eq!(select("f64.rows", "--scale none"), expected, "{method}");
        // Exchanged in double precision; the others select in that of the store.
        if method == "refined" {
            assert_eq!(select("f32.rows", ""), expected, "{method}");
        }
        // Read into memory, the rows of a store that is not scaled are not scaled either.
        let read = select("f64.rows", &format!("--rows {COUNT}"));
        assert_eq!(read, expected, "{method}");
    }
}
