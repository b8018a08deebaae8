//! Invalid arguments. Errors visible in the arguments alone are wrong usage, status 2; errors that
//! depend on the rows have status 1.

use crate::command::{Folder, number};
use crate::sample::{Sample, row_list};

fn folder() -> Folder {
    Folder::with("a.csv", Sample::new(60, 3).csv())
}

#[test]
fn numbers_of_landmarks() {
    let folder = folder();
    for (command, rows) in [
        ("select a.csv", Some("60 rows; use fewer")),
        ("fit --metric one a.csv --model m", None),
        ("evaluate a.csv --methods kdpp", Some("45 rows: 15 of 60 are held out; use fewer")),
        ("evaluate a.csv --methods uniform", Some("45 rows: 15 of 60 are held out; use fewer")),
    ] {
        let told = folder.run(&format!("{command} --landmarks 61"));
        match rows {
            Some(rows) => told.refused(&["61 landmarks asked for, but there are only ", rows]),
            // A fit goes on with those that there are.
            None => {
                let told = told.good();
                assert!(told.err.contains("landmarks of the 61 asked for"), "{}", told.err);
            }
        }
        folder.run(&format!("{command} --landmarks 0")).refused(&["use at least one landmark"]);
        for value in ["-1", "2.5", "many", "99999999999999999999999999"] {
            folder.run(&format!("{command} --landmarks {value}")).misused(&["--landmarks <C>", value]);
        }
    }
    folder
        .run(&format!("select a.csv --landmarks {}", u64::MAX))
        .refused(&["landmarks asked for, but there are only 60 rows"]);
    // Reported before the first trial.
    folder.run("evaluate a.csv --methods kdpp --landmarks 5,46 --json").refused(&["46 landmarks asked for"]);
    folder.run("evaluate a.csv --methods kdpp --landmarks 5,0 --json").refused(&["at least one landmark"]);
}

#[test]
fn bandwidths() {
    let folder = folder();
    for command in ["select a.csv", "fit --metric one a.csv --model m", "evaluate a.csv --methods kdpp"] {
        for value in
            ["0", "-1", "nan", "inf", "-inf", "garbage", "median*0", "median*-4", "median*", "4*median"]
        {
            // A word that begins with a minus and is not a number is parsed as an option.
            let part = if value == "-inf" {
                "--sigma"
            } else {
                "expected a positive number, median, median*F or cv"
            };
            folder.run(&format!("{command} --landmarks 5 --sigma={value}")).misused(&[value, part]);
            if value != "-inf" {
                folder.run(&format!("{command} --landmarks 5 --sigma {value}")).misused(&[value, part]);
            }
        }
        for value in ["1e-200", "1e200", "median*1e300"] {
            folder.run(&format!("{command} --landmarks 5 --sigma {value}")).refused(&[
                "invalid bandwidth",
                "e",
                "expected a positive number whose square",
            ]);
        }
        folder
            .run(&format!("{command} --landmarks 5 --sigma 1e-30 --precision f32"))
            .refused(&["invalid bandwidth 1e-30: expected"]);
    }
    // Close to the identity, which is a kernel matrix.
    folder.run("select a.csv --landmarks 5 --sigma 1e-30").good();
}

#[test]
fn ridges() {
    let folder = folder();
    for command in ["fit --metric one a.csv --model m", "evaluate a.csv --methods kdpp --seeds 1"] {
        for value in ["0", "-1", "-1e-6", "nan", "inf", "garbage", ""] {
            folder
                .run(&format!("{command} --landmarks 5 --ridge={value}"))
                .misused(&["--ridge", "expected a positive number, cv or loo"]);
        }
        folder.run(&format!("{command} --landmarks 5 --ridge -1")).misused(&["invalid ridge \"-1\""]);
        for precision in ["f64", "f32"] {
            folder.run(&format!("{command} --landmarks 5 --ridge 1e308 --precision {precision}")).refused(&[
                "ridge regression: the ridge must be a finite number",
                "multiplied by the number of rows",
            ]);
        }
        // The regression is in double precision whatever the precision of the rows.
        for (value, precision) in [("1e-300", "f64"), ("1e300", "f64"), ("1e300", "f32")] {
            folder.run(&format!("{command} --landmarks 5 --ridge {value} --precision {precision}")).good();
        }
    }
}

#[test]
fn kernels() {
    let folder = folder();
    let command = "select a.csv --landmarks 5 --kernel";
    folder.run(&format!("{command} cubic")).misused(&["'cubic'", "gaussian, laplace, matern32, matern52"]);
    folder
        .run(&format!("{command} polynomial --degree 0"))
        .refused(&["the degree must be at least 1 and the offset a finite number, not negative"]);
    folder
        .run(&format!("{command} polynomial --degree 4000000000"))
        .refused(&["not a finite number", "scale the features, or use another kernel"]);
    for value in ["-1", "1.5", "x", "4294967296"] {
        folder.run(&format!("{command} polynomial --degree {value}")).misused(&["--degree", value]);
    }
}

#[test]
fn seconds_between_checkpoints() {
    let folder = folder();
    for value in ["-1", "nan", "inf", "soon"] {
        folder
            .run(&format!(
                "fit --metric one a.csv --landmarks 5 --model m --checkpoint c --checkpoint-every {value}"
            ))
            .misused(&[value, "a number of seconds, 0 or more"]);
    }
}

#[test]
fn numbers_of_rows() {
    let folder = folder();
    for command in ["select a.csv", "fit --metric one a.csv --model m", "evaluate a.csv --methods kdpp"] {
        for rows in ["0", "61"] {
            folder.run(&format!("{command} --landmarks 5 --rows {rows}")).refused(&[&format!(
                "{rows} rows requested: expected at least 1 and at most 60, the number available"
            )]);
        }
        folder.run(&format!("{command} --landmarks 5 --rows -3")).misused(&["--rows", "'-3'"]);
    }
    folder.run("select a.csv --landmarks 21 --rows 20").refused(&["there are only 20 rows"]);
    let command = "evaluate a.csv --methods kdpp --landmarks 5";
    for (options, test, rows) in
        [("--test 60", 60, 60), ("--test 99", 99, 60), ("--rows 30 --test 30", 30, 30)]
    {
        folder.run(&format!("{command} {options}")).refused(&[&format!(
            "{test} rows to test on leave none of the {rows} to train on; hold out fewer"
        )]);
    }
    folder
        .run(&format!("{command} --test 56"))
        .refused(&["5 landmarks asked for, but there are only 4 rows"]);
    for options in ["--test -1", "--seeds 0", "--seeds -1", "--seeds x", "--seed -1", "--seed 1.5"] {
        let (name, value) = options.split_once(' ').unwrap();
        folder.run(&format!("{command} {options}")).misused(&[name, value]);
    }
    for value in ["-1", "many", "1.5"] {
        folder.run(&format!("select a.csv --landmarks 5 --steps {value}")).misused(&[
            "--steps",
            value,
            "expected a whole number or auto",
        ]);
    }
}

#[test]
fn given_row_indices() {
    let folder = folder();
    let cases = [
        ("row\n3\n1.5\n", "mine.csv, entry 2: 1.5 is not a row number; rows count from 0"),
        ("row\n-1\n", "mine.csv, entry 1: -1 is not a row number; rows count from 0"),
        ("row\n1e20\n", "entry 1: 100000000000000000000 is not a row number"),
        ("row\n3\n4\n3\n", "mine.csv, entry 3: 3 is there twice; remove one"),
        ("row\nfirst\n", "mine.csv, line 2, column 1 (\"row\"): \"first\" is not a number"),
        ("row\nnan\n", "mine.csv, line 2, column 1 (\"row\"): the value is missing (\"nan\")"),
        ("row\n", "mine.csv: there are no rows after the header"),
        ("", "mine.csv: the file is empty"),
    ];
    for (text, message) in cases {
        folder.write("mine.csv", text);
        folder.run("fit --metric one a.csv --given mine.csv --model m").refused(&[message]);
        folder.run("evaluate a.csv --methods given --given mine.csv --landmarks 5").refused(&[message]);
    }
    folder.write("mine.csv", row_list(&[0, 60]));
    folder.run("fit --metric one a.csv --given mine.csv --model m").refused(&[
        "mine.csv, entry 2: 60 is not among the rows used; rows count from 0, and --rows leaves some out",
    ]);
    folder
        .run("evaluate a.csv --methods given --given mine.csv --landmarks 5")
        .refused(&["mine.csv, entry 2: 60 is past the last row of the data; rows count from 0"]);
    folder.write("mine.csv", row_list(&(0..60).collect::<Vec<_>>()));
    folder
        .run("fit --metric one a.csv --given mine.csv --rows 20 --model m")
        .refused(&["is not among the rows used", "--rows leaves some out"]);
    folder
        .run("evaluate a.csv --methods given --given mine.csv --landmarks 5 --test 10")
        .refused(&["60 landmarks asked for, but there are only 50 rows"]);
    folder
        .run("evaluate a.csv --methods kdpp,given --landmarks 5")
        .refused(&["the method given needs row indices; name a CSV file of them with --given"]);
    folder
        .run("fit --metric one a.csv --given mine.csv --landmarks 5 --model m")
        .misused(&["--given", "--landmarks"]);
    assert_eq!(folder.names(), ["a.csv", "mine.csv"]);
}

#[test]
fn unknown_commands_options_and_values() {
    let folder = folder();
    folder.run("choose a.csv").misused(&["unrecognized subcommand 'choose'", "Usage:"]);
    for command in [
        "select a.csv --landmarks 5",
        "fit --metric one a.csv --landmarks 5 --model m",
        "predict m a.csv",
        "info m",
    ] {
        folder
            .run(&format!("{command} --frobnicate"))
            .misused(&["unexpected argument '--frobnicate'", "--help"]);
        folder.run(&format!("{command} surplus")).misused(&["unexpected argument 'surplus'"]);
    }
    folder
        .run("select a.csv --landmarks 5 --method given")
        .misused(&["'given'", "kdpp, kdpp-exact, uniform, kmeans++, rpcholesky"]);
    folder
        .run("select a.csv --landmarks 5 --method greediest")
        .misused(&["'greediest'", "kdpp, kdpp-exact, uniform, kmeans++, rpcholesky"]);
    folder.run("select a.csv --landmarks 5 --chain gibbs").misused(&["'gibbs'", "slot, paper, metropolis"]);
    folder.run("select a.csv --landmarks 5 --precision f16").misused(&["'f16'", "f64, f32"]);
    folder.run("evaluate a.csv --landmarks 5 --methods kdpp,greediest").misused(&["'greediest'", "given"]);
    folder.run("select --landmarks 5").misused(&["<DATA>"]);
    folder.run("fit --metric one a.csv --landmarks 5").misused(&["--model <FILE>"]);
    folder.run("predict m").misused(&["<DATA>"]);
    folder.run("info").misused(&["<MODEL>"]);
    folder.run("evaluate a.csv --landmarks 5").misused(&["--methods"]);
    folder.run("evaluate a.csv --methods kdpp").misused(&["--landmarks"]);
    assert_eq!(folder.names(), ["a.csv"]);
}

#[test]
fn extreme_but_good() {
    let folder = folder();
    let report = folder.run(&format!("select a.csv --landmarks 5 --seed {} --json", u64::MAX)).good().json();
    assert_eq!(report["seed"], u64::MAX);
    let one = folder.run("select a.csv --landmarks 1 --json").good().json();
    assert!(number(&one, "trace_fraction") > 0.0 && number(&one, "log_det") == 0.0, "{one}");
}
