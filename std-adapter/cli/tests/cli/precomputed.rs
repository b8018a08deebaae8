//! Kernel matrices in place of rows: against the rows that they are of.

use crate::command::{Folder, assert_close, row_numbers};
use crate::sample::Sample;

const SIGMA: f64 = 2.5;

/// Rows without scaling, `rows.csv`, and their Gaussian kernel, `k.csv`.
fn folder(rows: usize) -> (Folder, Vec<Vec<f64>>) {
    let mut sample = Sample::new(rows, 3);
    let spread = |row: &[f64]| row.iter().zip([1.0, 2.0, 3.0]).map(|(value, by)| value / by).collect();
    sample.features = sample.features.iter().map(|row| spread(row)).collect();
    let folder = Folder::with("rows.csv", sample.csv());
    let kernel = |x: &[f64], y: &[f64]| {
        let square: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
        (-square / (2.0 * SIGMA * SIGMA)).exp()
    };
    let matrix: Vec<Vec<f64>> =
        sample.features.iter().map(|x| sample.features.iter().map(|y| kernel(x, y)).collect()).collect();
    folder.write("k.csv", csv(&matrix));
    (folder, matrix)
}

fn csv(rows: &[Vec<f64>]) -> String {
    let line = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    rows.iter().map(line).collect()
}

fn numbers(text: &str) -> Vec<Vec<f64>> {
    let line = |line: &str| line.split(',').map(|field| field.parse().unwrap()).collect();
    text.lines().skip(1).map(line).collect()
}

#[test]
fn a_matrix_selects_what_its_rows_do() {
    let (folder, _) = folder(150);
    for method in ["kdpp", "uniform", "greedy", "rpcholesky", "refined", "recursive-rls"] {
        let select = |data: &str| {
            folder
                .run(&format!("select {data} --method {method} --landmarks 12 --seed 4 --json"))
                .good()
                .json()
        };
        let rows = select(&format!("rows.csv --scale none --sigma {SIGMA}"));
        let matrix = select("k.csv --kernel precomputed");
        assert_eq!(row_numbers(&matrix, "landmarks"), row_numbers(&rows, "landmarks"), "{method}");
        for key in ["log_det", "trace_error", "trace_fraction"] {
            assert_close(matrix[key].as_f64().unwrap(), rows[key].as_f64().unwrap(), 1e-9);
        }
        assert!(matrix["sigma"].is_null());
    }
    let text = folder.run("select k.csv --kernel precomputed --out chosen.csv").good().out;
    assert!(text.contains("150 x 150"), "{text}");
}

#[test]
fn features_of_a_matrix_are_those_of_its_rows() {
    let (folder, matrix) = folder(120);
    folder.run("select k.csv --kernel precomputed --landmarks 10 --method kdpp --out given.csv").good();
    let fit =
        format!("fit rows.csv --scale none --sigma {SIGMA} --metric one --given given.csv --model m.dpp");
    folder.run(&fit).good();
    folder.run("transform m.dpp rows.csv --out expected.csv").good();
    let given: Vec<usize> = numbers(&folder.text("given.csv")).iter().map(|row| row[0] as usize).collect();
    let of_landmarks: Vec<Vec<f64>> =
        matrix[..40].iter().map(|row| given.iter().map(|&landmark| row[landmark]).collect()).collect();
    folder.write("cross.csv", csv(&of_landmarks));
    let expected = numbers(&folder.text("expected.csv"));
    for (cross, count) in [("k.csv", 120), ("cross.csv", 40)] {
        let transform = format!("transform k.csv {cross} --kernel precomputed --given given.csv --out");
        folder.run(&format!("{transform} phi.csv")).good();
        let found = numbers(&folder.text("phi.csv"));
        assert_eq!((found.len(), found[0].len()), (count, 10));
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        // As an array, which reads back the same.
        folder.run(&format!("{transform} phi.npy")).good();
        folder.run("select phi.npy --target none --kernel linear --landmarks 3").good();
    }
}

#[test]
fn what_is_no_kernel_matrix_is_refused() {
    let (folder, matrix) = folder(30);
    let select = |name: &str| folder.run(&format!("select {name} --kernel precomputed --landmarks 5"));
    let with = |i: usize, j: usize, value: f64| {
        let mut other = matrix.clone();
        other[i][j] = value;
        folder.write("bad.csv", csv(&other));
    };
    with(7, 3, 2.0);
    select("bad.csv").refused(&["bad.csv", "symmetric", "row 7, column 3 (from 0) is 2"]);
    with(7, 7, 0.0);
    select("bad.csv").refused(&["row 7 (from 0)", "the diagonal of a kernel matrix is positive, found 0"]);
    with(7, 3, f64::NAN);
    select("bad.csv").refused(&["bad.csv"]);
    folder.write("bad.csv", csv(&matrix[..29]));
    select("bad.csv").refused(&["29 x 30 numbers", "as many rows as columns"]);
    // Of rank 2, and indefinite.
    let low: Vec<Vec<f64>> = (0..30).map(|i| (0..30).map(|j| 1.0 + f64::from(i * j)).collect()).collect();
    folder.write("low.csv", csv(&low));
    select("low.csv --method greedy").refused(&["2"]);
    let sign: Vec<Vec<f64>> =
        (0..30).map(|i| (0..30).map(|j| if i == j { 1.0 } else { 3.0 }).collect()).collect();
    folder.write("sign.csv", csv(&sign));
    select("sign.csv --method greedy").refused(&["landmarks"]);
    for (option, name) in [
        ("--sigma 2", "--sigma"),
        ("--rows 9", "--rows"),
        ("--scale none", "--scale"),
        ("--tolerance 0.1", "--tolerance"),
    ] {
        folder
            .run(&format!("select k.csv --kernel precomputed {option}"))
            .refused(&["a kernel matrix is taken as it is", name]);
    }
    for command in
        ["fit k.csv --model m.dpp", "tune k.csv --landmarks 5", "evaluate k.csv --methods kdpp --landmarks 5"]
    {
        folder.run(&format!("{command} --kernel precomputed")).refused(&["is for select and transform"]);
    }
    folder.run("select k.csv --kernel precomputed --landmarks 5 --out given.csv").good();
    folder.write("wide.csv", csv(&matrix.iter().map(|row| row[..7].to_vec()).collect::<Vec<_>>()));
    let transform =
        |data: &str| folder.run(&format!("transform k.csv {data} --kernel precomputed --given given.csv"));
    transform("wide.csv").refused(&[
        "wide.csv",
        "7 columns: expected the kernel with all 30 rows of k.csv, or with the 5 landmarks",
    ]);
}
