//! A row store too large to be read into memory: methods that need that report it, and the others work.

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
        ("--method greedy", "the method greedy needs"),
        ("--method kmeans-snapped", "the method kmeans-snapped needs"),
        ("--method diagonal", "the method diagonal needs"),
        ("--method rpcholesky", "the method rpcholesky needs"),
        ("--method kdpp --refine 1", "refinement needs"),
    ] {
        let ways = ["--rows", "auto, kdpp or uniform", "--method rpcholesky --pivot-rows"];
        let parts = [&[what, rows.as_str()], &ways[..]].concat();
        select(options).refused(&parts);
    }
    folder.write("given.csv", "row\n5\n900\n17\n");
    for (options, what) in [
        ("--landmarks 5 --method refined", "the method refined needs"),
        ("--given given.csv --refine 1", "refinement needs"),
        ("--tolerance 0.1", "a tolerance needs"),
    ] {
        let fit = format!("fit --metric one a.rows --sigma 2 --ridge 1e-3 {options} --model m.dpp");
        folder.run(&fit).refused(&[what, &rows, "--rows"]);
    }
    assert!(!folder.path("m.dpp").exists());
    // The options that the error message advises.
    for options in [
        "--method greedy --rows 500",
        "--method uniform",
        "--method rpcholesky --pivot-rows 500",
        "--method kdpp",
    ] {
        let told = select(&format!("{options} --json")).good().json();
        assert_landmarks(&row_numbers(&told, "landmarks"), 5, ROWS);
    }
}
