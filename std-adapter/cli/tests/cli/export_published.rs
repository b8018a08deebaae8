//! Exported models on real data: the loss of accuracy of integers and 8 bits on test rows, and the C header
//! compared with `predict`.

use crate::command::{Folder, column};
use crate::export::single;
use crate::export_c::predictions;
use crate::published::file;
use dpp_nystrom::Model;
use dpp_nystrom::approximation::Gram;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::{Table, Target};
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::landmarks::{Task, run};
use dpp_nystrom::model::export::{Bits, Exported};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::selectors::Kdpp;
use dpp_nystrom::{
    Ridge,
    regression::{FitParams, choose_bandwidth, fit},
};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, Precision},
};

/// Return every `step`-th row from `first` on.
fn part(table: &Table, first: usize, step: usize) -> Table {
    let rows = (first..table.rows()).step_by(step);
    Table {
        features: rows.clone().flat_map(|row| table.row(row).to_vec()).collect(),
        target: table.target.as_ref().map(|target| rows.map(|row| target[row]).collect()),
        ..table.clone()
    }
}

fn fitted(training: Table, medians: f64) -> Model {
    let data = Prepared::new(training, Some(2_000), 0).unwrap();
    let kernel = KernelKind::Gaussian;
    let sigma = choose_bandwidth(Sigma::Median(medians), kernel, &data, 0, &NoObserver).unwrap().sigma;
    let setting = FitParams {
        kernel: KernelSpec { kind: kernel, sigma },
        ridge: Ridge::CrossValidated,
        precision: Precision::F64,
        seed: 0,
    };
    let gram = Gram::new(&data, setting.kernel).unwrap();
    let selection = run(&Kdpp::default(), &Task::new(&gram, 32)).unwrap();
    fit(&data, &selection.landmarks, FitParams { ridge: Ridge::CrossValidated, ..setting }, None, &NoObserver)
        .unwrap()
        .model
}

/// Compares the test error, since what matters is not single predictions but the quality of the model.
#[test]
fn quantised_models_predict_as_well() {
    for set in ["cal.housing", "bank8FM", "cpu.act"] {
        let Some(path) = file("quantised_models_predict_as_well", set) else { return };
        let table = table::read(&path, &Target::Last).unwrap();
        let held_out = part(&table, 1, 2);
        for medians in [1.0, 4.0] {
            let model = fitted(part(&table, 0, 2), medians);
            let error = |bits| {
                let predictions = Exported::of(&model, bits).unwrap().predict(&held_out).unwrap();
                held_out.root_mean_square(&predictions)
            };
            let single = error(None);
            for (bits, most) in [(Bits::Sixteen, 1.001), (Bits::Eight, 1.02)] {
                let ratio = error(Some(bits)) / single;
                println!(
                    "{set}, {medians} medians, {bits:?}: {ratio:.5} of single precision's error {single:.4}"
                );
                assert!(ratio <= most, "{set} {medians} {bits:?}: {ratio}");
            }
        }
    }
}

/// Single precision in C is the core's, and differs from double precision by what export reports.
#[test]
fn a_header_of_real_data_predicts_what_predict_does() {
    let Some(path) = file("a_header_of_real_data_predicts_what_predict_does", "cal.housing") else { return };
    let folder = Folder::new();
    let path = path.canonicalize().unwrap();
    folder
        .run(&format!(
            "fit --metric one {} --rows 2000 --landmarks 32 --sigma median*4 --model m",
            path.display()
        ))
        .good();
    let report =
        folder.run(&format!("export m --to c --out m.h --data {} --json", path.display())).good().json();
    let own = column(&folder.run(&format!("predict m {}", path.display())).good().out).1;
    let model = Model::load(folder.path("m")).unwrap();
    let table = part(&table::read(&path, &Target::Last).unwrap(), 0, 20);
    let exported = Exported::of(&model, None).unwrap();
    let rows: Vec<Vec<f32>> = (0..table.rows()).map(|row| single(table.row(row))).collect();
    let Some(found) = predictions(&folder, "m", &rows) else { return };
    let largest = report["largest_difference"].as_f64().unwrap();
    for ((row, found), own) in rows.iter().zip(found).zip(own.into_iter().step_by(20)) {
        assert_eq!(found.to_bits(), exported.predict_row(row).unwrap().to_bits());
        assert!((f64::from(found) - own).abs() <= largest, "{found} is not {own} up to {largest}");
    }
}
