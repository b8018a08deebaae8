//! The same result from every engine, format and partition of the rows, and from the adapter alone.

use crate::nodes::Nodes;
use crate::rows::{NAMES, csv, json, parquet, parts, path, row};
use dpp_nystrom::kernel::KernelParams;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::pipeline::{Landmarks, Params, fit_batches, select};
use dpp_nystrom::selectors::Kdpp;
use dpp_nystrom::{
    Ridge,
    regression::{Accumulator, BatchSource, FitSpec, Folds},
};
use dpp_nystrom_cluster::{Error, Session, Survey, SurveyedRows, TableSource};

const ROWS: usize = 20_000;

/// What one engine computes from a table.
pub(crate) struct Computed {
    pub(crate) survey: Survey,
    pub(crate) spec: FitSpec,
    pub(crate) folds: Folds,
}

pub(crate) fn table(path: impl std::fmt::Display) -> TableSource {
    TableSource { name: "t".into(), path: path.to_string() }
}

fn params(selector: &Kdpp, landmarks: usize) -> Params<'_> {
    Params {
        kernel: KernelParams::default(),
        landmarks: Landmarks::Count(landmarks),
        selector,
        seed: 7,
        ..Params::default()
    }
}

pub(crate) async fn compute(mut session: Session, source: &TableSource, landmarks: usize) -> Computed {
    session.add(source).await.unwrap();
    // JSON does not order columns.
    let sql = "select depth, \"Slope\", \"wind speed\", yield from t";
    let rows = session.rows(Some(sql), None).await.unwrap();
    let survey = rows.survey(2_000, 7).await.unwrap();
    let source = SurveyedRows::new(&rows, survey).unwrap();
    let kdpp = Kdpp::default();
    let selected = select(&source, &params(&kdpp, landmarks), &NoObserver).unwrap();
    let spec = selected.fit_spec(Ridge::CrossValidated, 7).unwrap();
    let folds = rows.accumulate(&spec).await.unwrap();
    Computed { survey: source.survey().clone(), spec, folds }
}

/// Landmarks are the same, and states agree to 10⁻⁹ of their largest number, fold by fold.
pub(crate) fn assert_same(found: &Computed, expected: &Computed) {
    assert_eq!(found.survey.scaler, expected.survey.scaler);
    assert_eq!(found.survey.target_scaler, expected.survey.target_scaler);
    assert!(found.survey.sample == expected.survey.sample, "another sample");
    assert!(found.spec == expected.spec, "other landmarks");
    assert_same_state(&found.folds, &expected.folds);
}

pub(crate) fn assert_same_state(found: &Folds, expected: &Folds) {
    assert_eq!(found.rows(), expected.rows());
    let (found, expected) = (found.accumulators(), expected.accumulators());
    assert_eq!(found.len(), expected.len());
    for (found, expected) in
        found.iter().map(Accumulator::values).zip(expected.iter().map(Accumulator::values))
    {
        assert_eq!(found.len(), expected.len());
        let largest = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let apart = found.iter().zip(expected).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
        assert!(apart <= 1e-9 * largest, "{apart:e} of {largest:e}");
    }
}

/// Accumulate rows in their order, without an engine.
fn by_hand(spec: &FitSpec, rows: usize) -> Folds {
    let mut folds = spec.empty().unwrap();
    let mut columns: [Vec<f64>; 4] = Default::default();
    for i in 0..rows {
        for (column, value) in columns.iter_mut().zip(row(i)) {
            column.push(value);
        }
    }
    let [a, b, c, y] = &columns;
    spec.accumulate(&mut folds, &[a, b, c], y).unwrap();
    folds
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_computes_what_the_adapter_does_from_any_format() {
    let folder = tempfile::tempdir().unwrap();
    let whole = path(&folder, "whole.parquet");
    parquet(&whole, 0..ROWS);
    let first = compute(Session::in_process(Some(1)).unwrap(), &table(whole.display()), 40).await;
    assert_eq!(first.survey.rows, ROWS as u64);
    assert_eq!(first.survey.feature_names, NAMES[..3]);
    assert_same_state(&first.folds, &by_hand(&first.spec, ROWS));

    csv(&path(&folder, "whole.csv"), 0..ROWS);
    json(&path(&folder, "whole.json"), 0..ROWS);
    let glob = parts(folder.path(), 3, ROWS);
    let sources = [
        table(path(&folder, "whole.csv").display()),
        table(path(&folder, "whole.json").display()),
        table(glob),
    ];
    for source in sources {
        let other = compute(Session::in_process(Some(3)).unwrap(), &source, 40).await;
        assert_same(&other, &first);
    }

    let model = first.spec.conclude(&first.folds, Ridge::CrossValidated, "t", &NoObserver).unwrap().model;
    // The noise is a fifteenth of the target's deviation.
    assert!((0.03..0.12).contains(&model.train_nrmse), "{}", model.train_nrmse);
    assert_eq!(model.trained_rows, ROWS as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_computes_what_one_process_does() {
    let folder = tempfile::tempdir().unwrap();
    let glob = parts(folder.path(), 5, ROWS);
    let expected = compute(Session::in_process(None).unwrap(), &table(&glob), 40).await;
    let nodes = Nodes::start(2);
    let found = compute(nodes.session().await, &table(&glob), 40).await;
    assert_same(&found, &expected);

    // Predictions are computed there too.
    let training = expected.spec.conclude(&expected.folds, Ridge::Value(1e-6), "t", &NoObserver).unwrap();
    let mut sums = Vec::new();
    for mut session in [Session::in_process(None).unwrap(), nodes.session().await] {
        session.add(&table(&glob)).await.unwrap();
        let rows = session.rows_for(None, &training.model).await.unwrap();
        let mut predictions = rows.predict(&training.model, "guess").await.unwrap();
        let (mut count, mut sum) = (0, 0.0);
        while let Some(batch) = predictions.next().await {
            let batch = batch.unwrap();
            let guesses = batch.column_by_name("guess").unwrap();
            let guesses = datafusion::arrow::array::AsArray::as_primitive::<
                datafusion::arrow::datatypes::Float64Type,
            >(guesses);
            count += guesses.values().len();
            sum += guesses.values().iter().map(|value| value * value).sum::<f64>();
        }
        sums.push((count, sum));
    }
    assert_eq!((sums[0].0, sums[1].0), (ROWS, ROWS));
    assert!((sums[0].1 / sums[1].1 - 1.0).abs() < 1e-12, "{sums:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pipeline_fits_what_its_steps_fit_and_passes_errors_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.parquet");
    parquet(&file, 0..ROWS);
    let expected = compute(Session::in_process(Some(1)).unwrap(), &table(file.display()), 40).await;
    let mut session = Session::in_process(Some(1)).unwrap();
    session.add(&table(file.display())).await.unwrap();
    let rows = session.rows(None, None).await.unwrap();
    let source = SurveyedRows::new(&rows, rows.survey(2_000, 7).await.unwrap()).unwrap();
    let kdpp = Kdpp::default();
    let outcome = fit_batches(&source, &params(&kdpp, 40), &NoObserver).unwrap();
    let fitted = expected.spec.conclude(&expected.folds, Ridge::CrossValidated, "t", &NoObserver).unwrap();
    assert_eq!(outcome.fitted.model, fitted.model);
    assert_eq!(outcome.selected.trace_error(0).unwrap().rows, 2_000);

    std::fs::remove_file(&file).unwrap();
    let error = Error::from(fit_batches(&source, &params(&kdpp, 40), &NoObserver).unwrap_err());
    assert!(matches!(error, Error::NoRows), "{error}");
    let elsewhere = std::thread::scope(|scope| {
        let refused = || source.accumulate(&expected.spec, &NoObserver).map(drop);
        scope.spawn(refused).join().unwrap().unwrap_err()
    });
    assert!(matches!(Error::from(elsewhere), Error::Runtime));
}
