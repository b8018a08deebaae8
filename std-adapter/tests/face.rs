//! The library's face: kernels and matrices of one's own beside the built-in Gaussian, numbers that are
//! refused, and fits that are cancelled.

use dpp_nystrom::core::kernel::Kernel;
use dpp_nystrom::core::{Error as CoreError, GroundSet};
use dpp_nystrom::data::store::convert;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::{KernelKind, KernelParams, Metric, Precision};
use dpp_nystrom::landmarks::{ChainKind, Selector, Start, Steps, select};
use dpp_nystrom::observer::{NoObserver, Observer};
use dpp_nystrom::selectors::{
    Auto, Given, Greedy, Kdpp, KdppExact, Kmeans, KmeansPlusPlus, KmeansSnapped, Refined, RefinedRidge,
    RpCholesky, Uniform,
};
use dpp_nystrom::{Dataset, Error, Gaussian, KernelRidge, Nystroem, Ridge, Scale, Sigma, faer};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const ROWS: usize = 300;
const FEATURES: usize = 3;
const SIGMA: f64 = 1.5;

/// The Gaussian kernel, written as a user would.
#[derive(Clone, Copy, Debug)]
struct Own(f64);

impl Kernel<f64> for Own {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let squares: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
        (-squares / (2.0 * self.0 * self.0)).exp()
    }
}

/// Rows and a target that depends on them.
fn rows(count: usize) -> (Vec<f64>, Vec<f64>) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let x: Vec<f64> =
        (0..count).flat_map(|_| [uniform() * 4.0, 10.0 + uniform(), uniform() - 30.0]).collect();
    let y = x.chunks_exact(FEATURES).map(|row| 100.0 + row[0].sin() + (row[1] * row[2]).cos()).collect();
    (x, y)
}

/// Rows to mean 0 and standard deviation 1, by formulas of their own.
fn standardised(x: &[f64]) -> Vec<f64> {
    let count = (x.len() / FEATURES) as f64;
    let mut scaled = x.to_vec();
    for feature in 0..FEATURES {
        let column = || x.iter().skip(feature).step_by(FEATURES);
        let mean = column().sum::<f64>() / count;
        let deviation = (column().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
        scaled
            .iter_mut()
            .skip(feature)
            .step_by(FEATURES)
            .for_each(|value| *value = (*value - mean) / deviation);
    }
    scaled
}

/// The kernel of all pairs of rows.
fn gram(x: &[f64], kernel: Own) -> Vec<f64> {
    let rows = || x.chunks_exact(FEATURES);
    rows().flat_map(|x| rows().map(move |y| kernel.value(x, y))).collect()
}

/// `Φ Φᵀ = K_NC K_CC⁻¹ K_CN`, by elimination with full pivots: for features `φ` of any orthogonal basis.
fn nystrom(k: &[f64], n: usize, landmarks: &[usize]) -> Vec<f64> {
    let mut residual = k.to_vec();
    let mut left = landmarks.to_vec();
    while !left.is_empty() {
        let at = (0..left.len()).max_by(|&a, &b| {
            let diagonal = |at: usize| residual[left[at] * n + left[at]];
            diagonal(a).total_cmp(&diagonal(b))
        });
        let pivot = left.swap_remove(at.unwrap());
        let column: Vec<f64> = (0..n).map(|row| residual[row * n + pivot]).collect();
        for i in 0..n {
            for j in 0..n {
                residual[i * n + j] -= column[i] * column[j] / column[pivot];
            }
        }
    }
    k.iter().zip(&residual).map(|(k, residual)| k - residual).collect()
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "{at}: {found} is not {expected} up to {tolerance}");
    }
}

/// The products `φᵢᵀ φⱼ` of all pairs.
fn products(phi: &[f64], rank: usize) -> Vec<f64> {
    let rows = || phi.chunks_exact(rank);
    rows().flat_map(|x| rows().map(move |y| x.iter().zip(y).map(|(x, y)| x * y).sum())).collect()
}

/// Where a selector draws other rows by the same law.
#[derive(Clone, Copy, Default)]
struct Differs {
    /// From a matrix, whose k-means++ measures distances in feature space.
    matrix: bool,
}

/// On pairs alone, a kernel of one's own and a matrix select what the built-in kernel does, and their
/// features and predictions are the same.
fn agrees(differs: Differs, selector: &(impl Selector + Clone + 'static)) {
    const C: usize = 8;
    let (x, y) = rows(ROWS);
    let (new, _) = rows(ROWS + 40);
    let new = &new[ROWS * FEATURES..];
    let data = Dataset::from_rows(&x, FEATURES).unwrap().with_target(&y).unwrap();
    let params = || Nystroem::params(C).selector(selector.clone()).seed(7);
    let own = params().custom_kernel(Own(SIGMA)).fit(&data).unwrap();
    let gaussian = || params().kernel(Gaussian::new(Sigma::Value(SIGMA)));
    let the_same = || Given::new(own.landmarks());
    let built_in = gaussian().fit(&data).unwrap();
    assert_eq!(built_in.landmarks().len(), C);
    assert_eq!(own.landmarks(), built_in.landmarks(), "{selector:?}");
    assert_eq!((own.rank(), built_in.rank()), (C, C));
    assert!(own.kernel().is_none() && built_in.kernel().unwrap().sigma == SIGMA);

    // Features: those of the built-in kernel, and those of an oracle.
    assert_close(&own.transform(new).unwrap(), &built_in.transform(new).unwrap(), 1e-12);
    let scaled = standardised(&x);
    let k = gram(&scaled, Own(SIGMA));
    let approximation = nystrom(&k, ROWS, own.landmarks());
    assert_close(&products(&own.transform(&x).unwrap(), C), &approximation, 1e-9);
    let residual: f64 = (0..ROWS).map(|row| 1.0 - approximation[row * ROWS + row]).sum();
    for error in [own.trace_error(&data), built_in.trace_error(&data)] {
        assert_close(&[error.unwrap()], &[residual / ROWS as f64], 1e-10);
    }

    // Rows that are scaled already, their matrix, and a kernel of one's own on them.
    let unscaled = Dataset::from_rows(&scaled, FEATURES).unwrap().with_target(&y).unwrap();
    let on_rows = params().custom_kernel(Own(SIGMA)).scale(Scale::None).fit(&unscaled).unwrap();
    let matrix = Dataset::from_gram(&k, ROWS).unwrap().with_target(&y).unwrap();
    let on_matrix = if differs.matrix { params().selector(the_same()) } else { params() };
    let on_matrix = on_matrix.fit(&matrix).unwrap();
    assert_eq!(on_rows.landmarks(), built_in.landmarks(), "{selector:?}");
    assert_eq!(on_matrix.landmarks(), on_rows.landmarks(), "{selector:?}");
    assert!(on_matrix.kernel().is_none());
    assert_close(&on_matrix.transform(&k).unwrap(), &on_rows.transform(&scaled).unwrap(), 1e-10);
    let errors = [on_matrix.trace_error(&matrix).unwrap(), on_rows.trace_error(&unscaled).unwrap()];
    assert_close(&errors, &[residual / ROWS as f64; 2], 1e-10);

    for ridge in [Ridge::Value(1e-4), Ridge::CrossValidated] {
        let model = KernelRidge::params(&built_in).ridge(ridge).fit(&data).unwrap();
        let own = KernelRidge::params(&own).ridge(ridge).fit_features(&data).unwrap();
        let on_rows = KernelRidge::params(&on_rows).ridge(ridge).fit_features(&unscaled).unwrap();
        let on_matrix = KernelRidge::params(&on_matrix).ridge(ridge).fit_features(&matrix).unwrap();
        assert_eq!([own.ridge(), on_rows.ridge(), on_matrix.ridge()], [model.ridge; 3]);
        assert_eq!(own.weights().len(), C);
        let expected = model.predict(&x).unwrap();
        // The model's weights are those of the kernel: larger by the condition of K_CC.
        assert_close(&own.predict(&x).unwrap(), &expected, 1e-6);
        assert_close(&on_rows.predict(&scaled).unwrap(), &own.predict(&x).unwrap(), 1e-8);
        assert_close(&on_matrix.predict(&k).unwrap(), &on_rows.predict(&scaled).unwrap(), 1e-10);
    }
}

#[test]
fn a_kernel_and_a_matrix_of_ones_own_are_as_good_as_the_built_in_kernel() {
    let (alike, matrix) = (Differs::default(), Differs { matrix: true });
    let chain = |start| Kdpp::default().start(start).chain(ChainKind::Slot).steps(Steps::Count(500));
    agrees(alike, &chain(Start::Uniform));
    agrees(alike, &chain(Start::Greedy));
    agrees(matrix, &chain(Start::KmeansPlusPlus));
    agrees(alike, &Kdpp::default().start(Start::Uniform));
    agrees(matrix, &Kdpp::default());
    agrees(alike, &Uniform);
    agrees(matrix, &KmeansPlusPlus);
    agrees(alike, &RpCholesky::default());
    agrees(alike, &Greedy);
    agrees(alike, &Given::new([3, 40, 7, 200, 12, 99, 150, 1]));
    agrees(alike, &Refined::default());
    agrees(alike, &RefinedRidge::default());
    agrees(alike, &KdppExact);
    agrees(alike, &Auto::default().budget(Duration::from_millis(100)));
}

/// Brownian motion, with an entry that is not a number.
struct Broken;

impl GroundSet<f64> for Broken {
    fn len(&self) -> usize {
        100
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        if i.max(j) == 70 && i != j { f64::NAN } else { (i.min(j) + 1) as f64 }
    }
}

#[track_caller]
fn needs_a_built_in_kernel<A: std::fmt::Debug>(found: Result<A, Error>, part: &str) {
    let error = found.unwrap_err();
    assert_eq!(error.name(), "BuiltInKernel");
    assert!(error.to_string().contains(part), "{part:?} is not in {error}");
}

#[test]
fn what_needs_a_built_in_kernel_says_so() {
    let (x, y) = rows(60);
    let data = Dataset::from_rows(&x, FEATURES).unwrap().with_target(&y).unwrap();
    let k = gram(&standardised(&x), Own(SIGMA));
    let matrix = Dataset::from_gram(&k, 60).unwrap().with_target(&y).unwrap();
    fn both(selector: &(impl Selector + Clone + 'static), data: &Dataset<'_>, matrix: &Dataset<'_>) {
        let what = format!("the method {}", selector.name());
        let params = || Nystroem::params(5).selector(selector.clone());
        needs_a_built_in_kernel(params().custom_kernel(Own(SIGMA)).fit(data), &what);
        needs_a_built_in_kernel(params().fit(matrix), &what);
    }
    both(&Kmeans, &data, &matrix);
    both(&KmeansSnapped, &data, &matrix);
    // Without a target.
    let bare = Dataset::from_rows(&x, FEATURES).unwrap();
    let found = Nystroem::params(5).selector(RefinedRidge::default()).custom_kernel(Own(SIGMA)).fit(&bare);
    assert!(found.as_ref().is_err_and(|error| error.name() == "NoTarget"));
    // A kernel that is not finite for some rows.
    for selector in
        [Box::new(RpCholesky::default()) as Box<dyn Selector>, Box::new(Greedy), Box::new(Refined::default())]
    {
        let found = select(&Broken, 5, &*selector, 0, &NoObserver);
        let reason = found.unwrap_err().core();
        assert!(matches!(reason, Some(CoreError::NotFinite { .. })), "{reason:?}");
    }

    let own = Nystroem::params(5).selector(Uniform).custom_kernel(Own(SIGMA));
    needs_a_built_in_kernel(own.fit(&matrix), "a kernel matrix");
    let folder = tempfile::tempdir().unwrap();
    let text: String = x.chunks_exact(FEATURES).zip(&y).fold("a,b,c,y\n".to_owned(), |text, (row, y)| {
        text + &format!("{},{},{},{y}\n", row[0], row[1], row[2])
    });
    std::fs::write(folder.path().join("a.csv"), text).unwrap();
    let out = folder.path().join("a.rows");
    convert(&folder.path().join("a.csv"), &Target::Last, Precision::F64, &out, &NoObserver).unwrap();
    needs_a_built_in_kernel(own.fit(&Dataset::open_store(&out).unwrap()), "a row store");
    let map = Nystroem::params(5).selector(Uniform).fit(&matrix).unwrap();
    needs_a_built_in_kernel(KernelRidge::params(&map).fit(&matrix), "a model of a kernel matrix");
}

/// Features and models in a learned map: the map's rows are narrower than those of the data.
#[test]
fn a_learned_map() {
    let (x, y) = rows(ROWS);
    let data = Dataset::from_rows(&x, FEATURES).unwrap().with_target(&y).unwrap();
    let kernel = KernelParams::from(Gaussian::new(Sigma::Median(1.0)));
    let params =
        |rank| Nystroem::params(20).kernel(kernel.with_metric(Metric::Map(Some(rank)))).selector(Uniform);
    let map = params(2).fit(&data).unwrap();
    let model = KernelRidge::params(&map).ridge(Ridge::Value(1e-6)).fit(&data).unwrap();
    let learned = model.scaler.map.clone().unwrap();
    assert_eq!(learned.rank, 2);
    // An oracle on the mapped rows.
    let standard = standardised(&x);
    let along = |row: &[f64], direction: &[f64]| direction.iter().zip(row).map(|(a, u)| a * u).sum::<f64>();
    let directions = learned.values.chunks_exact(FEATURES);
    let mapped: Vec<f64> = standard
        .chunks_exact(FEATURES)
        .flat_map(|row| directions.clone().map(move |direction| along(row, direction)))
        .collect();
    let already = Dataset::from_rows(&mapped, 2).unwrap().with_target(&y).unwrap();
    let given = Given::new(map.landmarks().to_vec());
    let sigma = map.kernel().unwrap().sigma;
    let oracle = Nystroem::params(20)
        .kernel(Gaussian::new(Sigma::Value(sigma)))
        .selector(given)
        .scale(Scale::None)
        .fit(&already)
        .unwrap();
    assert_close(&map.transform(&x).unwrap(), &oracle.transform(&mapped).unwrap(), 1e-6);
    let errors = [map.trace_error(&data).unwrap(), oracle.trace_error(&already).unwrap()];
    assert!((errors[0] - errors[1]).abs() < 1e-9, "{errors:?}");
    let ridge = KernelRidge::params(&oracle).ridge(Ridge::Value(1e-6)).fit_features(&already).unwrap();
    assert_close(&model.predict(&x).unwrap(), &ridge.predict(&mapped).unwrap(), 1e-6);
    assert!(params(4).fit(&data).as_ref().is_err_and(|error| error.name() == "Metric"));
}

/// Unscaled rows, rows in `f32` and the rows of a matrix of faer's.
#[test]
fn rows_are_taken_as_they_are_given() {
    let (x, y) = rows(80);
    let params = || Nystroem::params(6).kernel(Gaussian::new(Sigma::Median(2.0))).selector(Uniform).seed(3);
    let fit = |data: &Dataset<'_>, scale| {
        let map = params().scale(scale).fit(data).unwrap();
        let model = KernelRidge::params(&map).fit(data).unwrap();
        (map, model)
    };
    let data = Dataset::from_rows(&x, FEATURES).unwrap().with_target(&y).unwrap();
    let (map, model) = fit(&data, Scale::Standard);

    // Unscaled, the kernel sees the rows themselves: the features are those of an oracle.
    let (unscaled, plain) = fit(&data, Scale::None);
    let k = gram(&x, Own(unscaled.kernel().unwrap().sigma));
    let approximation = nystrom(&k, 80, unscaled.landmarks());
    assert_close(&products(&unscaled.transform(&x).unwrap(), 6), &approximation, 1e-9);
    assert_ne!(unscaled.kernel(), map.kernel());
    assert_eq!(plain.scaler.means, [0.0; 3]);
    let scaled = standardised(&x);
    let already = Dataset::from_rows(&scaled, FEATURES).unwrap().with_target(&y).unwrap();
    let (already, _) = fit(&already, Scale::None);
    assert_eq!(already.landmarks(), map.landmarks());
    assert_close(&already.transform(&scaled).unwrap(), &map.transform(&x).unwrap(), 1e-10);

    let matrix = faer::Mat::from_fn(80, FEATURES, |row, feature| x[row * FEATURES + feature]);
    let from_matrix = Dataset::from_matrix(matrix.as_ref()).unwrap().with_target(&y).unwrap();
    assert_eq!(fit(&from_matrix, Scale::Standard).1, model);
    let transposed = Dataset::from_matrix(matrix.transpose()).unwrap();
    assert_eq!((transposed.len(), transposed.features()), (FEATURES, 80));
    let owned = Dataset::from_owned(x.clone(), FEATURES).unwrap().with_target(&y).unwrap();
    assert_eq!(fit(&owned, Scale::Standard).1, model);

    // Every f32 is a f64: the same numbers, given so, are the same data.
    let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
    let double = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
    let (x32, y32) = (single(&x), single(&y));
    let (x64, y64) = (double(&x32), double(&y32));
    let views = Dataset::from_rows(&x32, FEATURES).unwrap().with_target(&y32).unwrap();
    let wide = Dataset::from_rows(&x64, FEATURES).unwrap().with_target(&y64).unwrap();
    let (views, wide) = (fit(&views, Scale::Standard).1, fit(&wide, Scale::Standard).1);
    assert_eq!(views, wide);
    assert_ne!(views, model);
}

#[track_caller]
fn refused<A: std::fmt::Debug>(found: Result<A, Error>, reason: CoreError) {
    let error = found.unwrap_err();
    assert_eq!((error.name().as_str(), error.core()), ("Core", Some(reason)));
}

/// Check that a result is an error of this message.
#[track_caller]
fn message<A: std::fmt::Debug>(found: Result<A, Error>, text: &str) {
    assert_eq!(found.unwrap_err().to_string(), text);
}

#[test]
fn numbers_and_shapes_that_are_none_are_refused() {
    let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut wrong = x;
        wrong[3] = bad;
        let at = CoreError::NotFinite { row: 1, column: 1 };
        refused(Dataset::from_rows(&wrong, 2), at);
        refused(Dataset::from_rows(&wrong.map(|value| value as f32), 2), at);
        refused(Dataset::from_owned(wrong.to_vec(), 2), at);
        let matrix = faer::Mat::from_fn(3, 2, |row, column| wrong[row * 2 + column]);
        refused(Dataset::from_matrix(matrix.as_ref()), at);
        refused(Dataset::from_gram(&[1.0, bad, 0.0, 1.0], 2), CoreError::NotFinite { row: 0, column: 1 });
        let target = [0.0, 1.0, bad];
        let data = || Dataset::from_rows(&x, 2).unwrap();
        refused(data().with_target(&target), CoreError::NotFinite { row: 2, column: 2 });
    }
    let ragged = "5 values do not form whole rows of 2 features";
    message(Dataset::from_rows(&x[..5], 2), ragged);
    message(Dataset::from_owned(x[..5].to_vec(), 2), ragged);
    refused(Dataset::from_rows(&x, 0), CoreError::Empty);
    refused(Dataset::from_rows::<f64>(&[], 2), CoreError::Empty);
    message(Dataset::from_gram(&x, 2), "values of the kernel matrix: expected 4, found 6");
    message(
        Dataset::from_gram(&x, usize::MAX),
        &format!("values of the kernel matrix: expected {}, found 6", usize::MAX),
    );
    refused(Dataset::from_gram::<f64>(&[], 0), CoreError::Empty);
    let data = || Dataset::from_rows(&x, 2).unwrap();
    message(data().with_target(&[1.0, 2.0]), "targets: expected 3, found 2");
    message(data().with_target(&[1.0, 2.0, 3.0, 4.0]), "targets: expected 3, found 4");
    message(data().with_names(&["a"], "y"), "names of features: expected 2, found 1");
}

#[test]
fn rows_of_another_width_are_refused() {
    let (x, y) = rows(60);
    let data = Dataset::from_rows(&x, FEATURES).unwrap().with_target(&y).unwrap();
    let params = || Nystroem::params(5).selector(Uniform);
    let map = params().fit(&data).unwrap();
    let own = params().custom_kernel(Own(SIGMA)).fit(&data).unwrap();
    let model = KernelRidge::params(&map).fit(&data).unwrap();
    let features = KernelRidge::params(&own).fit_features(&data).unwrap();
    let ragged = "7 values do not form whole rows of 3 features";
    message(map.transform(&x[..7]), ragged);
    message(own.transform(&x[..7]), ragged);
    message(model.predict(&x[..7]), ragged);
    message(features.predict(&x[..7]), ragged);
    assert!(map.transform(&[]).unwrap().is_empty());
    assert!(model.predict(&[]).unwrap().is_empty());

    // Data of other features. Of 180 numbers, rows of 1, 2 and 5 are whole.
    for width in [1, 2, 5] {
        let targets = vec![1.0; x.len() / width - 1].into_iter().chain([2.0]).collect::<Vec<f64>>();
        let other = Dataset::from_rows(&x, width).unwrap().with_target(&targets).unwrap();
        let length = format!("features: expected {FEATURES}, found {width}");
        message(map.trace_error(&other), &length);
        message(own.trace_error(&other), &length);
        message(KernelRidge::params(&map).fit(&other), &length);
        message(KernelRidge::params(&own).fit_features(&other), &length);
    }
    let k = gram(&standardised(&x), Own(SIGMA));
    let matrix = Dataset::from_gram(&k, 60).unwrap();
    let map = params().fit(&matrix).unwrap();
    message(map.transform(&k[..90]), "90 values do not form whole rows of 60 features");
    // The kernel of each point with itself is not known where there are more points than rows of the matrix.
    let twice = [&k[..], &k[..]].concat();
    let more = Dataset::from_rows(&twice, 60).unwrap();
    message(map.trace_error(&more), "rows of the kernel matrix: expected 60, found 120");

    // Rows that hold NaN.
    let mut bad = x[..6].to_vec();
    bad[4] = f64::NAN;
    assert!(own.transform(&bad).is_err());
    assert!(model.predict(&bad).is_err());
    assert!(features.predict(&bad).is_err());
}

/// Row 40 is a copy of row 3, so that it adds no feature to row 3.
#[test]
fn given_rows_that_depend_on_others_are_dropped() {
    let (mut x, _) = rows(60);
    x.copy_within(3 * FEATURES..4 * FEATURES, 40 * FEATURES);
    let data = Dataset::from_rows(&x, FEATURES).unwrap();
    let k = gram(&standardised(&x), Own(SIGMA));
    let matrix = Dataset::from_gram(&k, 60).unwrap();
    let params = || Nystroem::params(4).selector(Given::new([3, 7, 40, 50]));
    let kernel = Gaussian::new(Sigma::Value(SIGMA));
    let own = params().custom_kernel(Own(SIGMA)).fit(&data).unwrap();
    assert_eq!((own.landmarks(), own.rank()), (&[3, 7, 50][..], 3));
    for map in [params().kernel(kernel).fit(&data).unwrap(), params().fit(&matrix).unwrap()] {
        assert_eq!((map.landmarks(), map.rank()), (&[3, 7, 50][..], 3));
    }
}

#[test]
fn what_lacks_a_target_is_not_fitted() {
    let (x, _) = rows(60);
    let data = || Dataset::from_rows(&x, FEATURES).unwrap();
    let map = Nystroem::params(5).selector(Uniform).fit(&data()).unwrap();
    let params = KernelRidge::params(&map);
    assert!(params.fit(&data()).as_ref().is_err_and(|error| error.name() == "NoTarget"));
    assert!(params.fit_features(&data()).as_ref().is_err_and(|error| error.name() == "NoTarget"));
    let constant = data().with_target(&[4.0; 60]).unwrap();
    assert!(params.fit(&constant).as_ref().is_err_and(|error| error.name() == "ConstantTarget"));
    assert!(params.fit_features(&constant).as_ref().is_err_and(|error| error.name() == "ConstantTarget"));
}

/// Cancels when it is asked for the first time, and counts how often it is told of anything after that.
#[derive(Debug, Default)]
struct Cancels {
    asked: AtomicU64,
    after: AtomicU64,
}

impl Cancels {
    fn told(&self) {
        self.after.fetch_add(u64::from(self.asked.load(Ordering::SeqCst) > 0), Ordering::SeqCst);
    }
}

impl Observer for Cancels {
    fn begin(&self, _: &str, _: u64) {
        self.told();
    }

    fn advance(&self, _: u64) {
        self.told();
    }

    fn end(&self) {
        self.told();
    }

    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst);
        true
    }
}

#[track_caller]
fn is_cancelled<A: std::fmt::Debug>(fit: impl FnOnce(&Cancels) -> Result<A, Error>) {
    let observer = Cancels::default();
    let found = fit(&observer);
    assert!(found.as_ref().is_err_and(|error| error.name() == "Cancelled"), "{found:?}");
    assert_eq!((observer.asked.into_inner(), observer.after.into_inner()), (1, 0));
}

#[test]
fn a_fit_is_cancelled() {
    let (x, y) = rows(ROWS);
    let data = Dataset::from_rows(&x, FEATURES).unwrap().with_target(&y).unwrap();
    let k = gram(&standardised(&x), Own(SIGMA));
    let matrix = Dataset::from_gram(&k, ROWS).unwrap();
    let params = || Nystroem::params(10).kernel(KernelKind::Gaussian);
    is_cancelled(|observer| params().selector(Kdpp::default()).fit_observed(&data, observer));
    is_cancelled(|observer| {
        params().selector(Kdpp::default().steps(Steps::Count(5_000))).fit_observed(&data, observer)
    });
    is_cancelled(|observer| params().selector(Kdpp::default()).fit_observed(&matrix, observer));
    let own = || Nystroem::params(10).selector(Kdpp::default()).custom_kernel(Own(SIGMA));
    is_cancelled(|observer| own().fit_observed(&data, observer));
    is_cancelled(|observer| params().selector(Refined::default()).fit_observed(&data, observer));
    is_cancelled(|observer| params().selector(Auto::default()).fit_observed(&data, observer));
    is_cancelled(|observer| params().selector(Kmeans).fit_observed(&data, observer));
    is_cancelled(|observer| {
        params().kernel(Gaussian::new(Sigma::CrossValidated)).selector(Uniform).fit_observed(&data, observer)
    });
    let map = params().selector(Uniform).fit(&data).unwrap();
    for ridge in [Ridge::Value(1e-3), Ridge::CrossValidated] {
        is_cancelled(|observer| KernelRidge::params(&map).ridge(ridge).fit_observed(&data, observer));
    }
}
