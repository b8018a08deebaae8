//! `learn` and `merge` compared with a fit of the same rows and with cross-validation by hand.

use crate::command::{Folder, assert_close, column, number};
use crate::sample::Sample;
use dpp_nystrom::{Model, model::AnyCoefficients};

/// Create the halves `0.csv` and `1.csv` of `first.csv`, a model of all rows, and the state of each half.
fn folder() -> Folder {
    let csv = Sample::new(300, 3).csv();
    let folder = Folder::with("first.csv", &csv);
    folder
        .run("fit --metric one first.csv --landmarks 15 --precision f32 --ridge 1e-2 --sigma 2 --model first.dpp")
        .good();
    let lines: Vec<&str> = csv.lines().skip(1).collect();
    for (part, lines) in [&lines[..110], &lines[110..]].into_iter().enumerate() {
        folder.write(&format!("{part}.csv"), format!("a,b,c,y\n{}\n", lines.join("\n")));
        folder.run(&format!("learn first.dpp {part}.csv --out {part}.state")).good();
    }
    folder
}

fn landmarks(model: &Model) -> Vec<(u64, Vec<f32>)> {
    let AnyCoefficients::F32(numbers) = &model.coefficients else { panic!("double precision") };
    let points = numbers.landmarks.chunks(model.feature_names.len()).map(<[f32]>::to_vec);
    let mut landmarks: Vec<_> = model.landmark_rows.iter().copied().zip(points).collect();
    landmarks.sort_by_key(|(row, _)| *row);
    landmarks
}

/// Merging the states of the halves gives back the model of the whole.
#[test]
fn a_model_merged_from_its_own_training_rows_is_unchanged() {
    let folder = folder();
    folder.run("merge 1.state 0.state --of first.dpp --model again.dpp").good();
    let model = |name: &str| Model::load(folder.path(name)).unwrap();
    let (first, again) = (model("first.dpp"), model("again.dpp"));
    assert_eq!((again.trained_rows, again.ridge), (300, 1e-2));
    assert_close(again.train_nrmse, first.train_nrmse, 1e-4);
    assert_eq!((landmarks(&again), again.landmarks()), (landmarks(&first), 15));
    let predicted = |model: &str| column(&folder.run(&format!("predict {model} first.csv")).good().out).1;
    for (again, first) in predicted("again.dpp").iter().zip(predicted("first.dpp")) {
        assert!((again - first).abs() < 1e-3, "{again} {first}");
    }
}

#[test]
fn validation_predicts_each_device_from_the_others() {
    let folder = folder();
    let told =
        folder.run("merge 0.state 1.state --of first.dpp --ridge cv --model m.dpp --json").good().json();
    let deviation = Model::load(folder.path("first.dpp")).unwrap().target_deviation;
    let mut squares = 0.0;
    for (from, to) in [(0, 1), (1, 0)] {
        let ridge = number(&told, "ridge");
        folder.run(&format!("merge {from}.state --of first.dpp --ridge {ridge} --model one.dpp")).good();
        let predicted = column(&folder.run(&format!("predict one.dpp {to}.csv")).good().out).1;
        let rows = folder.text(&format!("{to}.csv"));
        for (row, predicted) in rows.lines().skip(1).zip(predicted) {
            let target: f64 = row.rsplit(',').next().unwrap().parse().unwrap();
            squares += ((target - predicted) / deviation).powi(2);
        }
    }
    assert_close(number(&told, "cv_nrmse"), (squares / 300.0).sqrt(), 1e-3);
}
