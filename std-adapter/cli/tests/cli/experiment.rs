//! `experiment`: tables, charts and a page from a folder of data sets.

use crate::command::Folder;
use crate::sample::Sample;
use std::collections::BTreeSet;
use std::fs;

const OPTIONS: &str = "--data sets --quick --methods uniform,kdpp --landmarks 5,10 --seeds 1";

/// All experiments, with fewer rows in the dearest.
const ALL: &str =
    "experiment all --rows 150 --data sets --quick --methods uniform,kdpp --landmarks 5,10 --seeds 1";

fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("sets")).unwrap();
    folder.write("sets/first.csv", Sample::new(140, 3).csv());
    folder.write("sets/second.csv", Sample::new(120, 4).csv());
    folder.write("sets/notes.txt", "no rows");
    folder
}

#[track_caller]
fn assert_same(one: &[String], two: &[String]) {
    for (one, two) in one.iter().zip(two) {
        assert_eq!(one.lines().count(), two.lines().count());
        let apart = one.lines().zip(two.lines()).find(|(one, two)| one != two);
        assert_eq!(apart, None);
    }
}

/// Parse the records of a CSV file, without its header.
fn records(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn all_experiments_write_tables_charts_and_a_page() {
    let folder = folder();
    let run = folder.run(&format!("{ALL} --out out")).good();
    assert!(run.out.contains("the c-DPP's chain has"), "{}", run.out);
    assert!(run.out.contains("Written to out"), "{}", run.out);
    let page = folder.text("out/index.html");
    let pictures: BTreeSet<String> = fs::read_dir(folder.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".svg"))
        .collect();
    let shown: BTreeSet<String> =
        page.split("<img src=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
    assert_eq!(pictures, shown);
    // Three, two and three measures, each for both bandwidths and as an improvement; mixing; trade-off
    // against seconds and evaluations.
    assert_eq!(pictures.len(), 8 * 3 + 2 * 2 + 2 * 2, "{pictures:?}");
    for part in ["first", "second", "uniform, kdpp", "5, 10", "threads", "1 starting at 0"] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    // Sets, bandwidths, methods, numbers of landmarks.
    let trials = folder.text("out/trials.csv");
    assert_eq!(records(&trials).len(), 2 * 2 * 2 * 2);
    for record in records(&trials) {
        for value in &record[5..] {
            assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{record:?}");
        }
    }
    // Algorithm 1 twice and the open-slot chain, at twelve numbers of steps.
    let mixing = folder.text("out/mixing.csv");
    assert_eq!(records(&mixing).len(), 2 * 2 * 2 * 3 * 12);
    assert_eq!(records(&folder.text("out/mixing-theory.csv")).len(), 2 * 2 * 2);
    assert!(folder.text("out/tradeoff.csv").contains("kdpp,tries,3200,0,"));
    // With the two refined methods.
    let subset = folder.text("out/subset.csv");
    assert_eq!(records(&subset).len(), 2 * 2 * 4 * 2);
    for record in records(&folder.text("out/subset-cells.csv")) {
        let mean = |method: &str| {
            let own = records(&subset).into_iter().filter(|trial| trial[..2] == record[..2]);
            let own = own.filter(|trial| trial[2] == method && trial[3] == record[2]);
            let errors: Vec<f64> = own.map(|trial| trial[11].parse().unwrap()).collect();
            errors.iter().sum::<f64>() / errors.len() as f64
        };
        let number = |at: usize| record[at].parse::<f64>().unwrap();
        assert!((number(3) - mean("refined")).abs() < 1e-12, "{record:?}");
        assert!((number(4) - mean("uniform").min(mean("kdpp"))).abs() < 1e-12, "{record:?}");
        assert!(number(3) < number(4) && (number(6) - number(3) / number(4)).abs() < 1e-12);
    }
    // At most as many landmarks as pivoted Cholesky.
    let equal = folder.text("out/subset-equal.csv");
    assert_eq!(records(&equal).len(), 2 * 2);
    for record in records(&equal) {
        let number = |at: usize| record[at].parse::<f64>().unwrap();
        // At the rounding level, errors have no order.
        let rounding = number(4) < 1e-14;
        assert!(number(3) == 10.0 && (rounding || number(5) <= 10.0) && number(6) <= number(4), "{record:?}");
    }
    assert_eq!(records(&folder.text("out/subset-times.csv")).len(), 2 * 2);
    for part in ["Landmarks for an equal error", "refined has the smallest trace error in 8 of 8 cells"] {
        assert!(run.out.contains(part) && page.contains(part), "{part:?} is not in {}", run.out);
    }
}

#[test]
fn the_same_seed_gives_the_same_tables_and_a_stopped_run_resumes() {
    let folder = folder();
    let tables = [
        "trials.csv",
        "mixing.csv",
        "mixing-theory.csv",
        "tradeoff.csv",
        "subset.csv",
        "subset-cells.csv",
        "subset-equal.csv",
    ];
    let all = |out: &str| tables.map(|table| folder.text(&format!("{out}/{table}")));
    folder.run(&format!("{ALL} --out one")).good();
    folder.run(&format!("{ALL} --out two")).good();
    assert_same(&all("one"), &all("two"));
    // As if killed midway: one part is missing, another truncated, and there are no tables.
    fs::remove_file(folder.path("two/parts/trials-first-cv-0.json")).unwrap();
    let cut = folder.text("two/parts/tradeoff-150-second-median-0.json");
    folder.write("two/parts/tradeoff-150-second-median-0.json", &cut[..cut.len() / 2]);
    for table in tables {
        fs::remove_file(folder.path(&format!("two/{table}"))).unwrap();
    }
    let again = folder.run(&format!("{ALL} --out two")).good();
    assert_same(&all("one"), &all("two"));
    let told = |how: &str| again.err.lines().filter(|line| line.ends_with(how)).count();
    assert_eq!((told(": done"), told(": kept")), (2, 22), "{}", again.err);
    // Another seed is another set-up, computed anew.
    folder.run(&format!("experiment approximation {OPTIONS} --seed 1 --out two")).good();
    assert_ne!(folder.text("one/trials.csv"), folder.text("two/trials.csv"));
}

/// Both numbers of rows of the plan are more than the set has.
#[test]
fn a_small_set_is_measured_once_along_the_chain() {
    let folder = Folder::new();
    fs::create_dir(folder.path("sets")).unwrap();
    folder.write("sets/small.csv", Sample::new(60, 3).csv());
    folder.run("experiment mixing --data sets --seeds 1 --out out").good();
    // One number of landmarks is under the number of rows, at both bandwidths.
    assert_eq!(records(&folder.text("out/mixing-theory.csv")).len(), 2);
}

#[test]
fn unreadable_files_are_skipped_and_empty_folders_rejected() {
    let folder = Folder::new();
    folder.run("experiment ridge --data missing --out out").refused(&["missing", "folder"]);
    fs::create_dir(folder.path("empty")).unwrap();
    folder.write("empty/notes.txt", "no rows");
    folder.run("experiment ridge --data empty --out out").refused(&["empty", "CSV"]);
    assert!(!folder.path("out").exists());
    folder.run("experiment nothing --data empty --out out").misused(&["approximation"]);
    folder.run("experiment all --data empty --out out --methods magic").misused(&["magic"]);
    let folder = self::folder();
    folder.write("sets/broken.csv", "a,b\n1,x\n");
    let run = folder.run(&format!("experiment approximation {OPTIONS} --out out")).good();
    assert!(run.err.contains("warning: skipped: ") && run.err.contains("broken.csv"), "{}", run.err);
}

#[test]
fn errors_over_time_have_the_rows_that_were_asked_for() {
    let folder = folder();
    folder.run(&format!("experiment tradeoff {OPTIONS} --rows 90,150 --out out")).good();
    let table = folder.text("out/tradeoff.csv");
    let at = table.lines().next().unwrap().split(',').position(|name| name == "rows").unwrap();
    let rows: BTreeSet<&str> = records(&table).into_iter().map(|record| record[at]).collect();
    assert_eq!(rows, BTreeSet::from(["90", "150"]));
}
