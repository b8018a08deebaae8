//! A row store too large to be read into memory: what wants it there says so, and the rest works.

use crate::command::{Folder, assert_landmarks, row_numbers};
use crate::sample::Noise;

const WIDTH: usize = 8;

/// One row more than are read into memory.
const ROWS: usize = (1 << 24) / WIDTH + 1;

/// A byte a number on its way in: `WIDTH` features and a target.
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
fn what_wants_its_rows_in_memory_refuses_a_large_store() {
    let folder = Folder::with("a.npy", array());
    folder.run("convert a.npy --precision f32 --out a.rows").good();
    let rows = ROWS.to_string();
    let select = |options: &str| folder.run(&format!("select a.rows --landmarks 5 --sigma 2 {options}"));
    for (options, what) in [
        ("--method greedy", "the method greedy wants"),
        ("--method kmeans-snapped", "the method kmeans-snapped wants"),
        ("--method diagonal", "the method diagonal wants"),
        ("--method rpcholesky", "the method rpcholesky wants"),
        ("--method kdpp --refine 1", "--refine wants"),
    ] {
        let parts = [what, rows.as_str(), "--rows", "auto, kdpp or uniform", "rpcholesky with --pivot-rows"];
        select(options).refused(&parts);
    }
    folder.write("given.csv", "row\n5\n900\n17\n");
    for (options, what) in [
        ("--landmarks 5 --method refined", "the method refined wants"),
        ("--given given.csv --refine 1", "--refine wants"),
        ("--tolerance 0.1", "--tolerance wants"),
    ] {
        let fit = format!("fit a.rows --sigma 2 --ridge 1e-3 {options} --model m.dpp");
        folder.run(&fit).refused(&[what, &rows, "--rows"]);
    }
    assert!(!folder.path("m.dpp").exists());
    // What the refusal advises.
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
