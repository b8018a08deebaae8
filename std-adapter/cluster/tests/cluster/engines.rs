//! The same answer from every engine, format and way of dealing out rows, and that of the adapter alone.

use crate::nodes::Nodes;
use crate::rows::{NAMES, csv, json, parquet, parts, path, row};
use dpp_nystrom::kernel::{Bandwidth, KernelKind};
use dpp_nystrom::landmarks::methods::find;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::Ridge;
use dpp_nystrom::regression::{FitSpec, Learned};
use dpp_nystrom_cluster::{Choice, Session, Survey, TableSource, Wanted, choose};

const ROWS: usize = 20_000;

/// What one engine makes of a table.
pub(crate) struct Answer {
    pub(crate) survey: Survey,
    pub(crate) choice: Choice,
    pub(crate) learned: Learned,
}

pub(crate) fn table(path: impl std::fmt::Display) -> TableSource {
    TableSource { name: "t".into(), path: path.to_string() }
}

pub(crate) async fn answer(mut session: Session, source: &TableSource, landmarks: usize) -> Answer {
    session.add(source).await.unwrap();
    // In an order of our own: JSON has none.
    let sql = "select depth, \"Slope\", \"wind speed\", yield from t";
    let rows = session.rows(Some(sql), None).await.unwrap();
    let survey = rows.survey(2_000, 7).await.unwrap();
    let wanted = Wanted {
        landmarks,
        method: find("kdpp").unwrap(),
        kernel: KernelKind::Gaussian,
        bandwidth: Bandwidth::Median(1.0),
        ridge: Ridge::CrossValidated,
        seed: 7,
    };
    let choice = choose(&survey, &wanted, &NoObserver).unwrap();
    let learned = rows.learn(&choice.lesson).await.unwrap();
    Answer { survey, choice, learned }
}

/// Landmarks are the same, and states agree to 10⁻⁹ of their largest number, fold by fold.
pub(crate) fn assert_same(found: &Answer, expected: &Answer) {
    assert_eq!(found.survey.features, expected.survey.features);
    assert_eq!(found.survey.target, expected.survey.target);
    assert!(found.survey.sample == expected.survey.sample, "another sample");
    assert!(found.choice.lesson == expected.choice.lesson, "other landmarks");
    assert_same_state(&found.learned, &expected.learned);
}

pub(crate) fn assert_same_state(found: &Learned, expected: &Learned) {
    assert_eq!(found.rows(), expected.rows());
    assert_eq!(found.numbers().count(), expected.numbers().count());
    for (found, expected) in found.numbers().zip(expected.numbers()) {
        let largest = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let apart = found.iter().zip(expected).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
        assert!(apart <= 1e-9 * largest, "{apart:e} of {largest:e}");
    }
}

/// The adapter's own answer to the same lesson, rows in their order.
fn by_hand(lesson: &FitSpec, rows: usize) -> Learned {
    let mut learned = lesson.empty().unwrap();
    let mut columns: [Vec<f64>; 4] = Default::default();
    for i in 0..rows {
        for (column, value) in columns.iter_mut().zip(row(i)) {
            column.push(value);
        }
    }
    let [a, b, c, y] = &columns;
    lesson.learn(&mut learned, &[a, b, c], y).unwrap();
    learned
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_answers_as_the_adapter_does_whatever_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let whole = path(&folder, "whole.parquet");
    parquet(&whole, 0..ROWS);
    let first = answer(Session::in_process(Some(1)).unwrap(), &table(whole.display()), 40).await;
    assert_eq!(first.survey.rows, ROWS as u64);
    assert_eq!(first.survey.feature_names, NAMES[..3]);
    assert_same_state(&first.learned, &by_hand(&first.choice.lesson, ROWS));

    csv(&path(&folder, "whole.csv"), 0..ROWS);
    json(&path(&folder, "whole.json"), 0..ROWS);
    let glob = parts(folder.path(), 3, ROWS);
    let sources = [
        table(path(&folder, "whole.csv").display()),
        table(path(&folder, "whole.json").display()),
        table(glob),
    ];
    for source in sources {
        let other = answer(Session::in_process(Some(3)).unwrap(), &source, 40).await;
        assert_same(&other, &first);
    }

    let training = |answer: &Answer| {
        answer.choice.lesson.conclude(&answer.learned, Ridge::CrossValidated, "t", &NoObserver).unwrap()
    };
    let model = training(&first).model;
    // The noise is a fifteenth of the target's deviation.
    assert!((0.03..0.12).contains(&model.train_nrmse), "{}", model.train_nrmse);
    assert_eq!(model.trained_rows, ROWS as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_answers_as_one_process_does() {
    let folder = tempfile::tempdir().unwrap();
    let glob = parts(folder.path(), 5, ROWS);
    let expected = answer(Session::in_process(None).unwrap(), &table(&glob), 40).await;
    let nodes = Nodes::start(2);
    let found = answer(nodes.session().await, &table(&glob), 40).await;
    assert_same(&found, &expected);

    // Predictions are computed there too.
    let training =
        expected.choice.lesson.conclude(&expected.learned, Ridge::Value(1e-6), "t", &NoObserver).unwrap();
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
