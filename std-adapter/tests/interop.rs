//! Arrays of `ndarray` and the traits of `linfa`: the same bits as the methods that take slices.

use dpp_nystrom::interop::linfa::{Error as LinfaError, FeatureMap, FittedMap, FittedModel, RidgeOnMap};
use dpp_nystrom::selectors::{Kdpp, Uniform};
use dpp_nystrom::{Dataset, Error, Gaussian, KernelRidge, Nystroem, Ridge, Sigma};
use linfa::traits::{Fit, Predict, Transformer};
use ndarray::{Array1, Array2, ArrayBase, Data, Ix2, ShapeBuilder, Slice};

const ROWS: usize = 120;
const FEATURES: usize = 3;

const EVERY_OTHER: Slice = Slice { start: 0, end: None, step: 2 };
const BACKWARDS: Slice = Slice { start: 0, end: None, step: -1 };

fn rows() -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((ROWS, FEATURES), |(row, feature)| {
        (row as f64 * (1.7 + feature as f64)).sin() * (feature + 1) as f64 + 0.01 * row as f64
    });
    let y = x.rows().into_iter().map(|row| 7.0 + row[0] * row[1] + row[2].cos()).collect();
    (x, y)
}

fn params() -> dpp_nystrom::NystroemParams {
    Nystroem::params(9).kernel(Gaussian::new(Sigma::Median(2.0))).selector(Kdpp::default()).seed(5)
}

fn bits<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<u64> {
    values.into_iter().map(|value| value.to_bits()).collect()
}

/// The same rows in other layouts: by columns, every other row and column of a larger array, backwards twice.
fn layouts(x: &Array2<f64>) -> Vec<(&'static str, Array2<f64>)> {
    let mut columns = Array2::zeros((ROWS, FEATURES).f());
    columns.assign(x);
    assert!(columns.as_slice().is_none());
    vec![("rows", x.clone()), ("columns", columns)]
}

#[test]
fn arrays_in_any_layout_are_the_same_rows() {
    let (x, y) = rows();
    let (values, targets) = (x.as_slice().unwrap(), y.as_slice().unwrap());
    let data = Dataset::from_rows(values, FEATURES).unwrap().with_target(targets).unwrap();
    let map = params().fit(&data).unwrap();
    let model = KernelRidge::params(&map).fit(&data).unwrap();
    let (phi, predicted) = (map.transform(values).unwrap(), model.predict(values).unwrap());

    let mut wide = Array2::from_elem((2 * ROWS, 2 * FEATURES), f64::NAN);
    wide.slice_each_axis_mut(|_| EVERY_OTHER).assign(&x);
    let mut backwards = Array2::zeros((ROWS, FEATURES));
    backwards.slice_each_axis_mut(|_| BACKWARDS).assign(&x);
    let by_column = &layouts(&x)[1].1;
    let views = [
        ("rows", x.view()),
        ("columns", by_column.view()),
        ("steps", wide.slice_each_axis(|_| EVERY_OTHER)),
        ("backwards", backwards.slice_each_axis(|_| BACKWARDS)),
    ];
    for (layout, view) in views {
        assert_eq!(view.as_slice().is_some(), layout == "rows");
        assert_eq!(view, x);
        let data = Dataset::from_array(view).unwrap().with_target(targets).unwrap();
        assert_eq!((data.len(), data.features()), (ROWS, FEATURES));
        let found = params().fit(&data).unwrap();
        assert_eq!(found.landmarks(), map.landmarks(), "{layout}");
        assert_eq!(KernelRidge::params(&found).fit(&data).unwrap(), model, "{layout}");
        let features = map.transform_array(view).unwrap();
        assert_eq!(features.dim(), (ROWS, map.rank()));
        assert_eq!(bits(&features), bits(&phi), "{layout}");
        assert_eq!(bits(&model.predict_array(view).unwrap()), bits(&predicted), "{layout}");
    }
}

#[test]
fn arrays_of_the_wrong_shape_are_refused() {
    use dpp_nystrom::core::Error as CoreError;
    let (x, y) = rows();
    let data = Dataset::from_array(x.view()).unwrap().with_target(y.as_slice().unwrap()).unwrap();
    let map = params().selector(Uniform).fit(&data).unwrap();
    let model = KernelRidge::params(&map).fit(&data).unwrap();
    // As many numbers as whole rows have, in rows of another width.
    for width in [1, 2, 6, 9] {
        let other = Array2::<f64>::ones((6, width));
        let refused = |found: Result<(), Error>| {
            let length = format!("columns: expected {FEATURES}, found {width}");
            assert_eq!(found.unwrap_err().to_string(), length);
        };
        refused(map.transform_array(other.view()).map(|_| ()));
        refused(model.predict_array(other.view()).map(|_| ()));
    }
    let mut bad = x.clone();
    bad[[4, 1]] = f64::NAN;
    let at = CoreError::NotFinite { row: 4, column: 1 };
    for view in [bad.view(), layouts(&bad)[1].1.view()] {
        assert!(Dataset::from_array(view).is_err_and(|error| error.core() == Some(at)));
    }
    let none = Dataset::from_array(Array2::zeros((0, 3)).view()).map(|data| data.len());
    assert_eq!(none.unwrap_err().core(), Some(CoreError::Empty));
    let none = Dataset::from_array(Array2::zeros((3, 0)).view()).map(|data| data.len());
    assert_eq!(none.unwrap_err().core(), Some(CoreError::Empty));
    assert_eq!(map.transform_array(Array2::zeros((0, 3)).view()).unwrap().dim(), (0, map.rank()));
}

/// `Fit`, `Transformer` and `Predict`, by their bounds alone.
fn by_traits<D: Data<Elem = f64>>(
    records: ArrayBase<D, Ix2>,
    y: &Array1<f64>,
    ridge: Ridge,
) -> (FittedMap, Array2<f64>, FittedModel, Array1<f64>) {
    let data = linfa::DatasetBase::new(records, y.clone());
    let map = params_of_linfa().fit(&data).unwrap();
    let phi: Array2<f64> = map.transform(data.records().view());
    let model = RidgeOnMap::new(&map.0).ridge(ridge).fit(&data).unwrap();
    let predicted: Array1<f64> = model.predict(data.records());
    (map, phi, model, predicted)
}

fn params_of_linfa() -> FeatureMap {
    FeatureMap(params())
}

#[test]
fn the_traits_of_linfa_do_what_the_methods_do() {
    let (x, y) = rows();
    let values = x.as_slice().unwrap();
    let data = Dataset::from_rows(values, FEATURES).unwrap().with_target(y.as_slice().unwrap()).unwrap();
    for ridge in [Ridge::CrossValidated, Ridge::Value(1e-3)] {
        let map = params().fit(&data).unwrap();
        let model = KernelRidge::params(&map).ridge(ridge).fit(&data).unwrap();
        let (phi, predicted) = (map.transform(values).unwrap(), model.predict(values).unwrap());
        for (layout, records) in layouts(&x) {
            for found in [by_traits(records.view(), &y, ridge), by_traits(records.clone(), &y, ridge)] {
                let (found_map, found_phi, found_model, found_predicted) = found;
                assert_eq!(found_map.0.landmarks(), map.landmarks(), "{layout}");
                assert_eq!(bits(&found_phi), bits(&phi), "{layout}");
                assert_eq!(found_model.0, model, "{layout}");
                assert_eq!(bits(&found_predicted), bits(&predicted), "{layout}");
            }
        }
    }
}

#[test]
fn the_traits_of_linfa_return_errors_and_panic_with_them() {
    let (x, y) = rows();
    let mut bad = x.clone();
    bad[[1, 2]] = f64::INFINITY;
    let refused = params_of_linfa().fit(&linfa::Dataset::new(bad, y.clone()));
    assert!(matches!(&refused, Err(LinfaError::Fit(error)) if error.name() == "Core"), "{refused:?}");
    let map = params_of_linfa().fit(&linfa::Dataset::new(x.clone(), y.clone())).unwrap();
    let constant = linfa::Dataset::new(x.clone(), Array1::ones(ROWS));
    let refused = RidgeOnMap::new(&map.0).fit(&constant);
    let constant = |error: &_| matches!(error, LinfaError::Fit(error) if error.name() == "ConstantTarget");
    assert!(refused.as_ref().is_err_and(constant), "{refused:?}");
    let narrow = Array2::<f64>::ones((6, 2));
    let panicked = std::panic::catch_unwind(|| map.transform(narrow.view()));
    assert!(panicked.is_err());
    // Without rows there is nothing to predict.
    let model = RidgeOnMap::new(&map.0).fit(&linfa::Dataset::new(x, y)).unwrap();
    assert_eq!(model.predict(&Array2::zeros((0, FEATURES))).len(), 0);
}
