//! The error of a fit on rows that no choice has seen, and what each column adds to it.
//!
//! A tenth of the rows is left out ([`LeftOut`]): metric, rank, kernel, bandwidth and landmarks are chosen
//! without it, wherever they are chosen by targets, and so is the ridge. The error is that of the model of
//! the other rows. The model that is returned has the same metric, kernel, bandwidth and landmarks, and its
//! ridge and weights are those of all rows. Where nothing but the ridge is chosen by targets, the landmarks
//! are selected among all rows, whose targets they do not see.
//!
//! Of fewer than 1,200 rows, two or three tenths are left out of the choices together, and the error on each
//! is that of weights of the other nine. To repeat the choices for each would give the mean error of several
//! metrics, which differ by more than its standard error in so few rows, and not that of the model.

use crate::data::{prepared::Prepared, source::RowSource, table::input::Table};
use crate::error::Error;
use crate::model::Model;
use crate::observer::Observer;
use crate::pipeline::importance::{Tested, importances};
use crate::pipeline::outcome::Outcome;
use crate::regression::{choose::held_out::HeldOut, fit::Without, head::Head, rows::split::LeftOut};
use std::mem;
use std::ops::Range;

/// How a model predicts the rows of a table: itself, or as a device.
pub(super) type Predict<'a> = dyn Fn(&Model, &Table) -> Result<Vec<f64>, Error> + 'a;

/// Measure the errors of models on the rows that they have not seen, and write them to the model of all rows.
///
/// # Errors
/// Those of the source and of predictions.
pub(super) fn test(
    outcome: &mut Outcome<'_>,
    source: &dyn RowSource,
    left_out: Result<&LeftOut, &'static str>,
    predict: &Predict<'_>,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let without = mem::take(&mut outcome.fitted.without);
    let left_out = match left_out {
        Ok(_) if without.is_empty() => Err("the other rows alone determine no weights"),
        left_out => left_out,
    };
    let left_out = match left_out {
        Ok(left_out) => left_out,
        Err(reason) => {
            outcome.untested = Some(reason);
            return Ok(());
        }
    };
    let mut numbers = Vec::new();
    let mut stretches = Vec::new();
    for Without { fold, model } in &without {
        numbers.extend(left_out.rows(*fold));
        stretches.push((model, numbers.len()));
    }
    let mut rows = source.gather(&numbers)?;
    let statistics = rows.statistics.clone();
    statistics.undo(&mut rows.rows);
    rows.recipe = source.recipe().cloned();
    let tested = Tested { rows, stretches };

    let mut outputs = Vec::new();
    let mut begin = 0;
    for &(model, end) in &tested.stretches {
        outputs.extend(predict(model, &table(&tested.rows, begin..end))?);
        begin = end;
    }
    let head = Head::of(&source.columns());
    let (test_error, class_errors) = head.test(&outputs, &tested.rows, seed)?;
    if class_errors.is_some() {
        outcome.fitted.class_errors = class_errors;
    }
    if test_error.is_none() {
        outcome.untested = Some("the rows left out are of one group");
    }
    let model = &mut outcome.fitted.model;
    model.test_error = test_error;
    let temperature = model.classifier.as_ref().map(|classifier| classifier.temperature);
    model.importances = importances(&tested, (head, temperature), seed, observer)?;
    let targets: Vec<_> = tested.rows.targets().collect();
    let value =
        |row: usize| targets.iter().map(move |target| target.mean + target.deviation * target.values[row]);
    let targets = (0..numbers.len()).flat_map(value).collect();
    outcome.held_out = Some(HeldOut { rows: numbers, targets, outputs });
    Ok(())
}

/// Return some of the rows as a table.
fn table(rows: &Prepared, range: Range<usize>) -> Table {
    Table {
        name: rows.name.clone(),
        feature_names: rows.feature_names.clone(),
        dim: rows.dim,
        features: rows.rows[range.start * rows.dim..range.end * rows.dim].to_vec(),
        target: None,
        target_name: None,
        weights: None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::data::prepared::{Prepared, StandardTarget};
    use crate::data::weights::Weights;
    use crate::kernel::{
        bandwidth::Sigma, kind::KernelKind, metric::Metric, params::KernelParams, precision::Precision,
    };
    use crate::landmarks::methods::{refined_ridge::RefinedRidge, rpcholesky::RpCholesky};
    use crate::landmarks::selector::Selector;
    use crate::landmarks::tolerance::{Criterion, Tolerance};
    use crate::observer::NoObserver;
    use crate::pipeline::{FlashParams, Landmarks, Params, fit, fit_in_flash};
    use crate::regression::{ridge::Ridge, rows::split::LeftOut};

    /// Rows of three features, of which the target depends on two, and noise.
    pub(in crate::pipeline) fn rows(count: usize) -> Prepared {
        let value = |i: usize| ((i as f64 * 0.754_877_666_246_7).fract() - 0.5) * 3.4;
        let mut data = Prepared::unscaled((0..3 * count).map(|i| value(i * i % 7_919)).collect(), 3);
        let target = |(i, row): (usize, &[f64])| (2.0 * row[0]).sin() + row[1] + 0.1 * value(i * i + 3);
        let targets = data.rows.chunks_exact(3).enumerate().map(target).collect();
        data.feature_names = ["a", "b", "c"].map(String::from).to_vec();
        data.target = Some(StandardTarget::of("y".into(), targets, Weights::default()).unwrap());
        data
    }

    pub(in crate::pipeline) fn params(selector: &dyn Selector, kernel: KernelParams) -> Params<'_> {
        Params { kernel, landmarks: Landmarks::Count(12), selector, seed: 5, ..Params::default() }
    }

    /// Turn the sign of the targets of the first part that is left out. Its predictions stay the same, bit
    /// for bit, and so do those of a rerun with other targets there; the error does not.
    #[test]
    fn no_choice_sees_the_rows_left_out() {
        let data = rows(240);
        let mut turned = data.clone();
        let left_out = LeftOut::of(&data, 5).unwrap();
        let own = left_out.rows(left_out.parts[0]);
        own.iter().for_each(|&row| turned.target.as_mut().unwrap().values[row] *= -1.0);
        let (plain, by_targets) = (RpCholesky::default(), RefinedRidge::default());
        let kernel = KernelParams::from(KernelKind::Gaussian);
        let scales = kernel.with_metric(Metric::Scales);
        let any = KernelParams { kinds: crate::kernel::Kinds::Any, ..scales };
        let cv = KernelParams { sigma: Sigma::CrossValidated, ..kernel };
        let within =
            Tolerance { error: 0.3, criterion: Criterion::Prediction(Ridge::CrossValidated), most: 60 };
        let of = |selector, kernel| params(selector, kernel);
        let cases = [
            of(&plain, kernel),
            Params { ridge: Ridge::Value(1e-4), ..of(&plain, kernel) },
            Params { ridge: Ridge::LeaveOneOut, ..of(&plain, kernel) },
            of(&plain, kernel.with_metric(Metric::Auto)),
            of(&plain, any),
            of(&plain, cv),
            of(&plain, KernelParams { sigma: Sigma::CrossValidated, ..scales }),
            of(&by_targets, kernel),
            Params { landmarks: Landmarks::Usual, ..of(&plain, scales) },
            Params { landmarks: Landmarks::Free(4), ..of(&plain, scales) },
            Params { landmarks: Landmarks::Within(within), ..of(&plain, kernel) },
        ];
        for (case, params) in cases.iter().enumerate() {
            let [before, after] = [&data, &turned].map(|rows| fit(rows, params, None, &NoObserver).unwrap());
            let [one, other] = [&before, &after].map(|outcome| outcome.held_out.as_ref().unwrap());
            assert_eq!(one.rows[..own.len()], own, "{case}");
            assert_eq!(one.outputs[..own.len()], other.outputs[..own.len()], "{case}");
            assert_ne!(before.fitted.model.coefficients, after.fitted.model.coefficients, "{case}");
            let [before, after] = [before, after].map(|outcome| outcome.fitted.model.test_error.unwrap());
            assert_eq!(before.rows, 72);
            assert!(after.error.value > 1.2 * before.error.value, "{case}: {before:?} {after:?}");
        }
        let flash = FlashParams {
            bytes: 1_200,
            kernel: KernelKind::Gaussian,
            selector: &plain,
            ridge: Ridge::CrossValidated,
            seed: 5,
        };
        let [one, other] = [&data, &turned]
            .map(|rows| fit_in_flash(rows, &flash, &NoObserver).unwrap().outcome.held_out.unwrap());
        assert_eq!(one.rows.len(), 72);
        assert_eq!(one.outputs[..own.len()], other.outputs[..own.len()]);
    }

    /// The model without a fold is that of the other rows on the same landmarks.
    #[test]
    fn the_error_is_that_of_a_model_of_the_other_rows() {
        let data = rows(2_000);
        let selector = RpCholesky::default();
        let params = Params {
            ridge: Ridge::Value(1e-4),
            ..params(&selector, KernelParams::from(KernelKind::Gaussian))
        };
        let outcome = fit(&data, &params, None, &NoObserver).unwrap();
        let (model, held) = (&outcome.fitted.model, outcome.held_out.as_ref().unwrap());
        let left_out = LeftOut::of(&data, params.seed).unwrap();
        let others = crate::data::source::RowSource::gather(&data, &left_out.seen()).unwrap();
        let landmarks = crate::approximation::LandmarkSet::Points(model.coefficients.to_f64().landmarks);
        let fit_params = crate::regression::FitParams {
            kernel: model.kernel,
            ridge: params.ridge,
            precision: Precision::F64,
            seed: 0,
        };
        let expected =
            crate::regression::fit(&others, &landmarks, fit_params, None, &NoObserver).unwrap().model;
        let rows = data.gather::<f64>(&held.rows).unwrap();
        let expected = expected.predict(&rows).unwrap();
        let mut squares = 0.0;
        for ((expected, found), target) in expected.iter().zip(&held.outputs).zip(&held.targets) {
            assert!((expected - found).abs() < 1e-8, "{expected} {found}");
            squares += (expected - target).powi(2);
        }
        let error = (squares / held.rows.len() as f64).sqrt() / model.target_deviation;
        let found = model.test_error.as_ref().unwrap();
        assert!((found.error.value - error).abs() < 1e-9, "{found:?} {error}");
        assert!(found.error.standard_error < 0.2 * error);
        // Of three columns the target depends on two.
        let importances = model.importances.as_ref().unwrap();
        let ranked: Vec<&str> = importances.ranked().iter().map(|column| &*column.column).collect();
        assert_eq!(ranked[2], "c");
        assert!(
            importances.columns[1].rise > 0.5 && importances.columns[2].rise.abs() < 0.1,
            "{importances:?}"
        );
    }
}
