//! Ridge regression compared with references in `f64`: exact kernel ridge regression, the paper's normal
//! equations, least squares by QR.

use dpp_nystrom_core::kernel::{Gaussian, Kernel, Matern32};
use dpp_nystrom_core::{
    Error, FeatureWeights, Landmarks, Nystrom, Points, Predictor, RidgeRegression, Scalar,
};
use dpp_nystrom_tests::dense;
use dpp_nystrom_tests::ground::{converted, normal_points};
use dpp_nystrom_tests::room::{self, RidgeRoom, Room};
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::snapshot::bits;

/// Features and targets, row-major.
struct Data<T> {
    rows: Vec<T>,
    dim: usize,
    targets: Vec<T>,
}

impl<T: Scalar> Data<T> {
    /// A smooth function of normal points, with a little noise.
    fn smooth(n: usize, dim: usize, seed: u64) -> Self {
        let rows: Vec<T> = normal_points(n, dim, seed);
        let mut numbers = SplitMix64::seeded(seed ^ 1);
        let targets = rows
            .chunks(dim)
            .map(|row| {
                let signal: f64 = row.iter().map(|x| x.to_f64().sin()).sum();
                T::from_f64(signal + 0.1 * numbers.normal())
            })
            .collect();
        Self { rows, dim, targets }
    }

    /// The same numbers in `f64`, exactly.
    fn wide(&self) -> Data<f64> {
        let wide = |numbers: &[T]| numbers.iter().map(|number| number.to_f64()).collect();
        Data { rows: wide(&self.rows), dim: self.dim, targets: wide(&self.targets) }
    }
}

/// The result of a fit.
struct Fit<T> {
    /// Weights of the features.
    beta: Vec<T>,
    /// Weights of the kernel.
    weights: Vec<T>,
    /// The landmarks that were independent.
    members: Vec<usize>,
    squared_error: T,
}

/// Fit with the production code alone; dependent landmarks are left out.
fn fit<T: Scalar, K: Kernel<T> + Copy>(data: &Data<T>, kernel: K, landmarks: &[usize], ridge: T) -> Fit<T> {
    let ground = Points::new(&data.rows, data.dim, kernel).unwrap();
    let mut room = Room::new(landmarks.len());
    let mut chosen = Landmarks::new(&ground, room.lend()).unwrap();
    for &landmark in landmarks {
        match chosen.push(landmark) {
            Ok(()) | Err(Error::NotPositive { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let c = chosen.len();
    let nystrom = Nystrom::new(&chosen);
    let mut ridge_room = RidgeRoom::new(c);
    let mut learned = RidgeRegression::new(c, ridge_room.lend()).unwrap();
    let mut phi = vec![T::ZERO; c];
    for (i, &target) in data.targets.iter().enumerate() {
        nystrom.features(i, &mut phi).unwrap();
        learned.add(&phi, target).unwrap();
    }
    assert_eq!(learned.rows(), data.targets.len() as u64);
    let mut beta = vec![T::ZERO; c];
    room::solve(&mut learned, ridge, &mut beta).unwrap();
    let squared_error = room::squared_error(&learned, 0, &beta).unwrap();
    let mut weights = vec![T::ZERO; c];
    nystrom.kernel_weights(FeatureWeights::new(&mut beta.clone()), &mut weights).unwrap();
    Fit { beta, weights, members: chosen.members().to_vec(), squared_error }
}

/// Return the predictions of a fit at points, by the production code.
fn predictions<T: Scalar, K: Kernel<T> + Copy>(
    fit: &Fit<T>,
    data: &Data<T>,
    kernel: K,
    at: &[T],
) -> Vec<f64> {
    let dim = data.dim;
    let landmarks: Vec<T> =
        fit.members.iter().flat_map(|&member| data.rows[member * dim..(member + 1) * dim].to_vec()).collect();
    let model = Predictor::new(kernel, &landmarks, dim, &fit.weights).unwrap();
    at.chunks(dim).map(|x| model.predict(x).unwrap().to_f64()).collect()
}

/// `K` between rows and landmarks, row-major.
fn kernel_matrix<K: Kernel<f64>>(kernel: K, rows: &[f64], landmarks: &[f64], dim: usize) -> Vec<f64> {
    rows.chunks(dim)
        .flat_map(|x| landmarks.chunks(dim).map(move |y| (x, y)))
        .map(|(x, y)| kernel.value(x, y))
        .collect()
}

fn largest_difference(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn all_rows_as_landmarks_is_exact_kernel_ridge_regression() {
    const N: usize = 40;
    let data = Data::<f64>::smooth(N, 2, 101);
    let fresh: Vec<f64> = normal_points(15, 2, 102);
    let kernel = Matern32::new(0.7).unwrap();
    let all: Vec<usize> = (0..N).collect();
    for ridge in [1e-6, 1e-3, 1.0] {
        let mut system = kernel_matrix(kernel, &data.rows, &data.rows, 2);
        for i in 0..N {
            // The regularisation is multiplied by the number of rows.
            system[i * N + i] += N as f64 * ridge;
        }
        let alpha = dense::solve(&system, N, &data.targets);
        let exact = |at: &[f64]| dense::product(&kernel_matrix(kernel, at, &data.rows, 2), N, &alpha, 1);
        let fit = fit(&data, kernel, &all, ridge);
        for at in [&data.rows, &fresh] {
            let apart = largest_difference(&predictions(&fit, &data, kernel, at), &exact(at));
            // Targets of 1, the root of a condition of some 10⁵: a thousand ε, c times.
            assert!(apart < 1e-11, "{ridge:e}: {apart:e}");
        }
        // And the weights, (K + NγI)⁻¹y, in the landmarks' order.
        let scale = alpha.iter().fold(0.0_f64, |most, alpha| most.max(alpha.abs()));
        assert!(largest_difference(&fit.weights, &alpha) < 1e-9 * scale);
    }
}

/// Solve the paper's `(K_{C,·} K_{·,C} + Nγ K_CC) w = K_{C,·} y` in `f64`.
fn normal_equations<K: Kernel<f64> + Copy>(
    data: &Data<f64>,
    kernel: K,
    members: &[usize],
    ridge: f64,
) -> Vec<f64> {
    let c = members.len();
    let dim = data.dim;
    let landmarks: Vec<f64> =
        members.iter().flat_map(|&member| data.rows[member * dim..(member + 1) * dim].to_vec()).collect();
    let tall = kernel_matrix(kernel, &data.rows, &landmarks, dim);
    let inner = kernel_matrix(kernel, &landmarks, &landmarks, dim);
    let mut system = vec![0.0; c * c];
    let mut right = vec![0.0; c];
    let penalty = data.targets.len() as f64 * ridge;
    for (row, target) in tall.chunks(c).zip(&data.targets) {
        for i in 0..c {
            right[i] += row[i] * target;
            for j in 0..c {
                system[i * c + j] += row[i] * row[j];
            }
        }
    }
    for (entry, inner) in system.iter_mut().zip(&inner) {
        *entry += penalty * inner;
    }
    dense::solve(&system, c, &right)
}

const SPREAD: [usize; 12] = [0, 3, 14, 15, 22, 31, 48, 57, 60, 71, 83, 95];

#[test]
fn well_conditioned_landmarks_satisfy_the_papers_normal_equations() {
    let data = Data::<f64>::smooth(100, 3, 103);
    let kernel = Gaussian::new(0.8).unwrap();
    for ridge in [1e-8, 1e-4, 1e-1] {
        let fit = fit(&data, kernel, &SPREAD, ridge);
        let reference = normal_equations(&data, kernel, &SPREAD, ridge);
        let scale = reference.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
        // Their condition here is some 10³.
        assert!(largest_difference(&fit.weights, &reference) < 1e-11 * scale, "{ridge:e}");
    }
    // The same in f32, to its own ε; the regularisation must have an effect, and N with it.
    let single = Data::<f32>::smooth(100, 3, 103);
    let narrow = Gaussian::new(0.8_f32).unwrap();
    let fit = fit(&single, narrow, &SPREAD, 1e-2);
    let weights: Vec<f64> = fit.weights.iter().map(|&weight| f64::from(weight)).collect();
    let wide = Gaussian::new(f64::from(0.8_f32)).unwrap();
    let reference = normal_equations(&single.wide(), wide, &SPREAD, f64::from(1e-2_f32));
    assert!(largest_difference(&weights, &reference) < 1e-4);
}

/// Minimise `‖Φβ - y‖² + Nγ‖β‖²` by QR of `[Φ; √(Nγ) I]`.
fn regularised<T: Scalar>(features: &[T], c: usize, targets: &[T], ridge: f64) -> Vec<f64> {
    let penalty = (targets.len() as f64 * ridge).sqrt();
    let mut tall: Vec<f64> = features.iter().map(|entry| entry.to_f64()).collect();
    let mut right: Vec<f64> = targets.iter().map(|target| target.to_f64()).collect();
    for i in 0..c {
        tall.extend((0..c).map(|j| if i == j { penalty } else { 0.0 }));
        right.push(0.0);
    }
    dense::least_squares(&tall, c, &right)
}

fn squared_error<T: Scalar>(features: &[T], c: usize, targets: &[T], beta: &[T]) -> f64 {
    features
        .chunks(c)
        .zip(targets)
        .map(|(row, target)| {
            let prediction: f64 = row.iter().zip(beta).map(|(phi, beta)| phi.to_f64() * beta.to_f64()).sum();
            (prediction - target.to_f64()).powi(2)
        })
        .sum()
}

fn learn<'a, T: Scalar>(
    room: &'a mut RidgeRoom<T>,
    features: &[T],
    c: usize,
    targets: &[T],
) -> RidgeRegression<'a, T> {
    let mut ridge = RidgeRegression::new(c, room.lend()).unwrap();
    for (row, &target) in features.chunks(c).zip(targets) {
        ridge.add(row, target).unwrap();
    }
    ridge
}

fn random_problem<T: Scalar>(n: usize, c: usize, seed: u64) -> (Vec<T>, Vec<T>) {
    let features: Vec<T> = normal_points(n, c, seed);
    let mut numbers = SplitMix64::seeded(seed + 1);
    let targets = features.chunks(c).map(|row| T::from_f64(row[0].to_f64() + numbers.normal())).collect();
    (features, targets)
}

fn merged_parts_are_one_pass<T: Scalar>(bound: f64) {
    let (n, c) = (210, 9);
    let (features, targets) = random_problem::<T>(n, c, 104);
    for ridge in [0.0, 1e-3] {
        let mut room = RidgeRoom::new(c);
        let mut whole = learn(&mut room, &features, c, &targets);
        let mut expected = vec![T::ZERO; c];
        room::solve(&mut whole, T::from_f64(ridge), &mut expected).unwrap();
        let reference = regularised(&features, c, &targets, ridge);
        for (beta, reference) in expected.iter().zip(&reference) {
            assert!((beta.to_f64() - reference).abs() < bound, "{beta} {reference}");
        }
        let explained = room::squared_error(&whole, 0, &expected).unwrap().to_f64();
        let direct = squared_error(&features, c, &targets, &expected);
        assert!((explained / direct - 1.0).abs() < bound, "{explained} {direct}");
        // Parts of unequal size, one of them empty and one with fewer rows than features.
        for cuts in [vec![0, 117, n], vec![0, 3, 40, 40, 99, 100, 180, n]] {
            let mut rooms: Vec<RidgeRoom<T>> = cuts.windows(2).map(|_| RidgeRoom::new(c)).collect();
            let mut total_room = RidgeRoom::new(c);
            let mut total = RidgeRegression::new(c, total_room.lend()).unwrap();
            for (room, cut) in rooms.iter_mut().zip(cuts.windows(2)) {
                let part = learn(room, &features[cut[0] * c..cut[1] * c], c, &targets[cut[0]..cut[1]]);
                total.merge(&part).unwrap();
            }
            assert_eq!(total.rows(), n as u64);
            let mut beta = vec![T::ZERO; c];
            room::solve(&mut total, T::from_f64(ridge), &mut beta).unwrap();
            for (beta, expected) in beta.iter().zip(&expected) {
                let apart = (beta.to_f64() - expected.to_f64()).abs();
                assert!(apart <= bound * (1.0 + expected.to_f64().abs()), "{beta} {expected}");
            }
            let merged = room::squared_error(&total, 0, &expected).unwrap().to_f64();
            assert!((merged / explained - 1.0).abs() < bound, "{merged} {explained}");
        }
    }
}

#[test]
fn merged_parts_are_one_pass_over_all_rows() {
    // A few hundred rotations of well-conditioned rows: as many ε, with a margin of ten.
    merged_parts_are_one_pass::<f64>(1e-11);
    merged_parts_are_one_pass::<f32>(1e-4);
}

#[test]
fn the_squared_error_is_that_of_any_weights() {
    let (features, targets) = random_problem::<f64>(50, 4, 105);
    let mut room = RidgeRoom::new(4);
    let ridge = learn(&mut room, &features, 4, &targets);
    for beta in [[0.0; 4], [1.0, -2.0, 0.5, 3.0], [1e6, 0.0, 0.0, 0.0]] {
        let direct = squared_error(&features, 4, &targets, &beta);
        let returned = room::squared_error(&ridge, 0, &beta).unwrap();
        // Sums of 50 positive terms.
        assert!((returned / direct - 1.0).abs() < 1e-13, "{returned} {direct}");
    }
    // Also on the rows of another fit in the production code: no shared features.
    let data = Data::<f64>::smooth(60, 2, 106);
    let kernel = Gaussian::new(1.0).unwrap();
    let fit = fit(&data, kernel, &[0, 7, 33, 41], 1e-4);
    let direct: f64 = predictions(&fit, &data, kernel, &data.rows)
        .iter()
        .zip(&data.targets)
        .map(|(prediction, target)| (prediction - target).powi(2))
        .sum();
    assert!((fit.squared_error / direct - 1.0).abs() < 1e-12);
    assert_eq!(fit.beta.len(), 4);
}

#[test]
fn a_solution_does_not_disturb_what_follows() {
    let (features, targets) = random_problem::<f32>(60, 5, 107);
    let mut solve_between = RidgeRoom::new(5);
    let mut in_one = RidgeRoom::new(5);
    let mut between = learn(&mut solve_between, &features[..30 * 5], 5, &targets[..30]);
    let mut one = learn(&mut in_one, &features[..30 * 5], 5, &targets[..30]);
    let mut beta = [0.0; 5];
    room::solve(&mut between, 0.0, &mut beta).unwrap();
    room::solve(&mut between, 0.5, &mut beta).unwrap();
    // Solutions that fail change nothing either.
    assert!(room::solve(&mut between, f32::NAN, &mut beta).is_err());
    for (row, &target) in features.chunks(5).zip(&targets).skip(30) {
        between.add(row, target).unwrap();
        one.add(row, target).unwrap();
        // Features that are refused change nothing either.
        assert!(between.add(&[1.0, 2.0, f32::NAN, 0.0, 0.0], 1.0).is_err());
        assert!(between.add(row, f32::INFINITY).is_err());
        assert!(between.add(&row[1..], 1.0).is_err());
    }
    let (mut of_between, mut of_one) = ([0.0; 5], [0.0; 5]);
    room::solve(&mut between, 1e-3, &mut of_between).unwrap();
    room::solve(&mut one, 1e-3, &mut of_one).unwrap();
    assert_eq!(bits(&of_between), bits(&of_one));
    assert_eq!((between.rows(), one.rows()), (60, 60));
    let errors =
        [room::squared_error(&between, 0, &of_one).unwrap(), room::squared_error(&one, 0, &of_one).unwrap()];
    assert_eq!(errors[0].to_bits(), errors[1].to_bits());
    // Solving twice gives the same weights: the copy is computed again.
    room::solve(&mut between, 1e-3, &mut of_between).unwrap();
    assert_eq!(bits(&of_between), bits(&of_one));
    // Merging an accumulator that was solved merges its triangle, not the solution's.
    let (mut first, mut second) = (RidgeRoom::new(5), RidgeRoom::new(5));
    let (mut first, mut second) =
        (RidgeRegression::new(5, first.lend()).unwrap(), RidgeRegression::new(5, second.lend()).unwrap());
    let mut never_solved = RidgeRoom::new(5);
    first.merge(&between).unwrap();
    second.merge(&learn(&mut never_solved, &features, 5, &targets)).unwrap();
    room::solve(&mut first, 0.0, &mut of_between).unwrap();
    room::solve(&mut second, 0.0, &mut of_one).unwrap();
    assert_eq!(bits(&of_between), bits(&of_one));
}

/// A naive `f32` solver of the paper's normal equations: products summed, then Cholesky.
fn naive_f32<K: Kernel<f32> + Copy>(data: &Data<f32>, kernel: K, members: &[usize], ridge: f32) -> Vec<f32> {
    let c = members.len();
    let row = |i: usize| &data.rows[i * data.dim..(i + 1) * data.dim];
    let mut system = vec![0.0_f32; c * c];
    let mut right = vec![0.0_f32; c];
    for (n, &target) in data.targets.iter().enumerate() {
        let entries: Vec<f32> = members.iter().map(|&member| kernel.value(row(member), row(n))).collect();
        for i in 0..c {
            right[i] += entries[i] * target;
            for j in 0..c {
                system[i * c + j] += entries[i] * entries[j];
            }
        }
    }
    let penalty = data.targets.len() as f32 * ridge;
    for i in 0..c {
        for j in 0..c {
            system[i * c + j] += penalty * kernel.value(row(members[i]), row(members[j]));
        }
    }
    elimination_f32(system, right)
}

/// Gaussian elimination with partial pivoting, all in `f32`: the most forgiving naive solver.
fn elimination_f32(mut system: Vec<f32>, mut right: Vec<f32>) -> Vec<f32> {
    let c = right.len();
    for k in 0..c {
        let pivot =
            (k..c).max_by(|&i, &j| system[i * c + k].abs().total_cmp(&system[j * c + k].abs())).unwrap();
        right.swap(k, pivot);
        for j in 0..c {
            system.swap(k * c + j, pivot * c + j);
        }
        for i in k + 1..c {
            let factor = system[i * c + k] / system[k * c + k];
            for j in k..c {
                system[i * c + j] -= factor * system[k * c + j];
            }
            right[i] -= factor * right[k];
        }
    }
    for k in (0..c).rev() {
        let known: f32 = (k + 1..c).map(|j| system[k * c + j] * right[j]).sum();
        right[k] = (right[k] - known) / system[k * c + k];
    }
    right
}

/// Points in pairs `distance` apart under bandwidth 1, so that `K_CC` of the pairs is nearly singular, and
/// other points.
fn paired(distance: f64, seed: u64) -> Data<f32> {
    let mut data = Data::<f32>::smooth(120, 2, seed);
    for pair in 0..6 {
        let at = pair * 4;
        data.rows[at + 2] = data.rows[at] + distance as f32;
        data.rows[at + 3] = data.rows[at + 1];
    }
    data
}

const PAIRS: [usize; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// Return the largest error at forty new points of a fit in `f32`, of the naive one on the same landmarks,
/// and of the naive one on all of [`PAIRS`]. The reference is a fit in `f64` on the landmarks that `f32` can
/// distinguish: a function of the difference of two equal rows cannot be represented, which is not an error
/// of the solver.
fn errors_of_pairs(distance: f64, ridge: f32) -> (Fit<f32>, [f64; 3]) {
    let (kernel, wide_kernel) = (Gaussian::new(1.0_f32).unwrap(), Gaussian::new(1.0_f64).unwrap());
    let data = paired(distance, 108);
    let wide = data.wide();
    let fresh: Vec<f32> = normal_points(40, 2, 109);
    let wide_fresh: Vec<f64> = fresh.iter().map(|&feature| f64::from(feature)).collect();
    let fit = fit(&data, kernel, &PAIRS, ridge);
    let reference = self::fit(&wide, wide_kernel, &fit.members, f64::from(ridge));
    let reference = predictions(&reference, &wide, wide_kernel, &wide_fresh);
    let naive = |members: &[usize]| {
        let weights = naive_f32(&data, kernel, members, ridge);
        let naive = Fit { beta: Vec::new(), weights, members: members.to_vec(), squared_error: 0.0 };
        largest_difference(&predictions(&naive, &data, kernel, &fresh), &reference)
    };
    let error = largest_difference(&predictions(&fit, &data, kernel, &fresh), &reference);
    let errors = [error, naive(&fit.members), naive(&PAIRS)];
    println!("distance {distance:e}, ridge {ridge:e}, {} landmarks: {errors:?}", fit.members.len());
    (fit, errors)
}

#[test]
fn nearly_singular_landmarks_in_f32_predict_like_the_reference() {
    for (distance, ridges) in [
        (1e-3, [1e-10, 1e-6, 1e-3]),
        (3e-3, [1e-10, 1e-6, 1e-3]),
        (1e-2, [1e-10, 1e-6, 1e-4]),
        (3e-2, [1e-10, 1e-8, 1e-6]),
    ] {
        for ridge in ridges {
            let (fit, [error, naive, _]) = errors_of_pairs(distance, ridge);
            assert!(fit.members.len() > 6, "nothing is nearly singular");
            // Entries of the kernel are rounded by ε/2 and divided by a pivot that may be as small as √(c ε):
            // the accuracy of features and predictions is about √ε ‖β‖.
            let norm = f64::from(fit.beta.iter().map(|beta| beta * beta).sum::<f32>().sqrt());
            let bound = 8.0 * f64::from(f32::EPSILON).sqrt() * norm;
            assert!(error < bound, "{error:e} {bound:e}");
            // Sums of products in the same precision exceed the bound by far: the test is sharp.
            assert!(naive > 20.0 * bound, "{naive:e} {bound:e}");
        }
    }
}

#[test]
fn landmarks_that_f32_cannot_tell_apart_are_left_out_and_cost_nothing() {
    for ridge in [1e-10, 1e-6, 1e-4] {
        // At 10⁻⁴ bandwidths the entry rounds to one: one landmark of each pair remains.
        let (fit, [error, _, naive]) = errors_of_pairs(1e-4, ridge);
        assert_eq!(fit.members, [0, 2, 4, 6, 8, 10]);
        // Well conditioned, so some ten ε; with both of each pair naive equations are far off.
        assert!(error < 1e-5, "{error:e}");
        assert!(naive > 1e-3, "{naive:e}");
    }
}

/// A regularisation of 10⁻¹⁰ in `f32`, as large as the smallest squared singular value: it halves that
/// component, and a sum of products would have lost it.
#[test]
fn a_tiny_ridge_counts_in_f32() {
    const C: usize = 6;
    const N: usize = 200;
    const RIDGE: f64 = 1e-10;
    let singular = [1.0, 0.1, 0.03, 0.01, 1e-3, 1e-5];
    let u = dense::orthonormal(&normal_points::<f64>(N, C, 110), N, C);
    let v = dense::orthonormal(&normal_points::<f64>(C, C, 111), C, C);
    let root = (N as f64).sqrt();
    let scaled: Vec<f64> = u.iter().enumerate().map(|(at, u)| u * singular[at % C] * root).collect();
    let transposed: Vec<f64> = (0..C * C).map(|at| v[at % C * C + at / C]).collect();
    let features: Vec<f32> = converted(&dense::product(&scaled, C, &transposed, C));
    // Every component of the weights is one without regularisation.
    let targets: Vec<f32> = scaled.chunks(C).map(|row| row.iter().sum::<f64>() as f32).collect();
    let along = |beta: &[f64]| -> f64 { (0..C).map(|i| v[i * C + C - 1] * beta[i]).sum() };

    let mut room = RidgeRoom::new(C);
    let mut ridge = learn(&mut room, &features, C, &targets);
    let mut beta = [0.0_f32; C];
    room::solve(&mut ridge, RIDGE as f32, &mut beta).unwrap();
    let beta = beta.map(f64::from);
    let reference = regularised(&features, C, &targets, RIDGE);
    let apart = largest_difference(&beta, &reference);

    let mut system = vec![0.0_f32; C * C];
    let mut right = vec![0.0_f32; C];
    for (row, target) in features.chunks(C).zip(&targets) {
        for i in 0..C {
            right[i] += row[i] * target;
            for j in 0..C {
                system[i * C + j] += row[i] * row[j];
            }
        }
    }
    for i in 0..C {
        system[i * C + i] += N as f32 * RIDGE as f32;
    }
    let naive: Vec<f64> = elimination_f32(system, right).iter().map(|&beta| f64::from(beta)).collect();
    let naive_apart = largest_difference(&naive, &reference);
    println!("last component {}, apart {apart:e}, naive {naive_apart:e}", along(&beta));
    // The regularisation halves the component, and N counts: λ² / (λ² + γ).
    assert!((along(&reference) - 0.5).abs() < 1e-3);
    // Rows are perturbed by ten ε or so, 10⁵ times less than the singular value.
    assert!(apart < 0.05, "{apart:e}");
    assert!(naive_apart > 0.5, "{naive_apart:e}");
    // Without regularisation the component is complete: the effect was the regularisation's.
    let mut plain = [0.0_f32; C];
    room::solve(&mut ridge, 0.0, &mut plain).unwrap();
    assert!((along(&plain.map(f64::from)) - 1.0).abs() < 0.1, "{plain:?}");
}

/// Two clusters so far apart that the kernel between them is tiny, from 8 to 20 bandwidths: its square is
/// normal, subnormal or zero in `f32`, and rows must be learned equally well in all three cases.
#[test]
fn rows_far_from_a_landmark_are_learned() {
    let kernel = Gaussian::new(1.0_f32).unwrap();
    for far in [8.0_f32, 9.5, 9.9, 10.0, 10.1, 10.2, 10.3, 12.0, 14.0, 20.0] {
        let mut data = Data::<f32>::smooth(60, 1, 112);
        for (i, row) in data.rows.iter_mut().enumerate() {
            *row = *row * 0.05 + if i < 30 { far } else { 0.0 };
        }
        // The first landmark is far from the rows that come first.
        let landmarks = [45, 3, 8];
        let narrow = fit(&data, kernel, &landmarks, 1e-6);
        let wide = fit(&data.wide(), Gaussian::new(1.0).unwrap(), &landmarks, f64::from(1e-6_f32));
        for (beta, reference) in narrow.beta.iter().zip(&wide.beta) {
            // Two near landmarks: a condition of some hundred, times ε.
            let apart = (f64::from(*beta) / reference - 1.0).abs();
            assert!(apart < 1e-4, "{far}: {beta} {reference}");
        }
        assert!((f64::from(narrow.squared_error) / wide.squared_error - 1.0).abs() < 1e-4, "{far}");
    }
}

/// A feature whose square underflows is negligible beside the others and must not affect them.
fn a_tiny_feature_disturbs_nothing<T: Scalar>(exponents: std::ops::RangeInclusive<i32>, bound: f64) {
    let (features, targets) = random_problem::<T>(40, 2, 113);
    let reference = regularised(&features, 2, &targets, 1e-3);
    for exponent in exponents {
        for mantissa in [1.0, 2.3, 4.7] {
            let tiny = T::from_f64(mantissa * 10.0_f64.powi(exponent));
            let mut room = RidgeRoom::new(3);
            let mut ridge = RidgeRegression::new(3, room.lend()).unwrap();
            for (row, &target) in features.chunks(2).zip(&targets) {
                ridge.add(&[tiny, row[0], row[1]], target).unwrap();
            }
            let mut beta = [T::ZERO; 3];
            room::solve(&mut ridge, T::from_f64(1e-3), &mut beta).unwrap();
            for (beta, reference) in beta[1..].iter().zip(&reference) {
                assert!((beta.to_f64() - reference).abs() < bound, "{tiny:?}: {beta} {reference}");
            }
        }
    }
}

#[test]
fn a_feature_whose_square_underflows_disturbs_nothing() {
    // Forty rows of a condition below ten: a few hundred ε.
    a_tiny_feature_disturbs_nothing::<f32>(-30..=-15, 1e-4);
    a_tiny_feature_disturbs_nothing::<f64>(-175..=-150, 1e-12);
}

/// Features whose squares underflow, or overflow, all together.
#[test]
fn features_of_any_magnitude_are_learned() {
    let (features, targets) = random_problem::<f32>(40, 3, 114);
    let reference = regularised(&features, 3, &targets, 0.0);
    for magnitude in [1e-30_f32, 1e-24, 1e-21, 1e-10, 1e10, 1e17, 1e20, 1e30] {
        let scaled: Vec<f32> = features.iter().map(|feature| feature * magnitude).collect();
        let mut room = RidgeRoom::new(3);
        let mut ridge = learn(&mut room, &scaled, 3, &targets);
        let mut beta = [0.0; 3];
        assert_eq!(room::solve(&mut ridge, 0.0, &mut beta), Ok(()), "{magnitude:e}");
        for (beta, reference) in beta.iter().zip(&reference) {
            let unscaled = f64::from(*beta) * f64::from(magnitude);
            // Forty rows of a condition below ten: a few hundred ε.
            assert!((unscaled - reference).abs() < 1e-4, "{magnitude:e}: {unscaled} {reference}");
        }
    }
}

#[test]
fn without_regularisation_only_a_determined_solution_is_returned() {
    let mut room = RidgeRoom::<f64>::new(3);
    let mut ridge = RidgeRegression::new(3, room.lend()).unwrap();
    let mut beta = [f64::NAN; 3];
    ridge.add(&[2.0, 0.0, 1.0], 1.0).unwrap();
    // One row: the second feature is the first that it leaves undetermined.
    assert_eq!(room::solve(&mut ridge, 0.0, &mut beta), Err(Error::NotPositive { pivot: 1 }));
    ridge.add(&[0.0, 1.0, 1.0], 2.0).unwrap();
    // A copy of a row determines nothing.
    ridge.add(&[0.0, 1.0, 1.0], 2.0).unwrap();
    assert_eq!(room::solve(&mut ridge, 0.0, &mut beta), Err(Error::NotPositive { pivot: 2 }));
    // Any regularisation suffices: the solution of least norm in the limit of zero.
    room::solve(&mut ridge, 1e-9, &mut beta).unwrap();
    let least = [0.0, 1.0, 1.0];
    let fits = |beta: &[f64]| (2.0 * beta[0] + beta[2] - 1.0).abs() + (beta[1] + beta[2] - 2.0).abs();
    assert!(fits(&beta) < 1e-8 && largest_difference(&beta, &least) < 1e-7, "{beta:?}");
    ridge.add(&[1.0, 1.0, 0.0], 3.0).unwrap();
    room::solve(&mut ridge, 0.0, &mut beta).unwrap();
    // 2a + c = 1, b + c = 2, a + b = 3: a = 2/3, b = 7/3, c = -1/3, and no error remains.
    assert!(largest_difference(&beta, &[2.0 / 3.0, 7.0 / 3.0, -1.0 / 3.0]) < 1e-14, "{beta:?}");
    assert!(room::squared_error(&ridge, 0, &beta).unwrap() < 1e-28);
    // Targets of zero have weights of zero.
    let mut room = RidgeRoom::<f64>::new(1);
    let mut ridge = RidgeRegression::new(1, room.lend()).unwrap();
    ridge.add(&[0.0], 5.0).unwrap();
    let mut beta = [1.0];
    assert_eq!(room::solve(&mut ridge, 0.0, &mut beta), Err(Error::NotPositive { pivot: 0 }));
    room::solve(&mut ridge, 1.0, &mut beta).unwrap();
    assert_eq!((beta, room::squared_error(&ridge, 0, &beta).unwrap()), ([0.0], 25.0));
}

#[test]
fn the_ridge_is_multiplied_by_the_rows_at_a_point_computed_by_hand() {
    // Two rows of one feature: (1·1 + 2·3) / (1 + 4 + 2γ), γ = 1/2.
    let mut room = RidgeRoom::<f64>::new(1);
    let mut ridge = RidgeRegression::new(1, room.lend()).unwrap();
    ridge.add(&[1.0], 1.0).unwrap();
    ridge.add(&[2.0], 3.0).unwrap();
    let mut beta = [0.0];
    room::solve(&mut ridge, 0.5, &mut beta).unwrap();
    assert!((beta[0] - 7.0 / 6.0).abs() < 1e-15, "{beta:?}");
    // Merged rows count as well: 14 / (10 + 4γ).
    let mut other_room = RidgeRoom::new(1);
    let mut other = RidgeRegression::new(1, other_room.lend()).unwrap();
    other.merge(&ridge).unwrap();
    other.merge(&ridge).unwrap();
    assert_eq!(other.rows(), 4);
    room::solve(&mut other, 0.5, &mut beta).unwrap();
    assert!((beta[0] - 14.0 / 12.0).abs() < 1e-15, "{beta:?}");
}

/// The numbers of an accumulator restore all of it: later rows and all results are the same bit for bit.
fn numbers_bring_everything_back<T: Scalar>() {
    let data = Data::<T>::smooth(60, 5, 3);
    let (before, after) = data.rows.split_at(25 * 5);
    let mut rooms = [RidgeRoom::new(5), RidgeRoom::new(5), RidgeRoom::new(5)];
    let [room, other_room, stale_room] = &mut rooms;
    let mut ridge = RidgeRegression::new(5, room.lend()).unwrap();
    for (row, &target) in before.chunks(5).zip(&data.targets) {
        ridge.add(row, target).unwrap();
    }
    let kept: Vec<T> = ridge.numbers().unwrap().collect();
    assert_eq!(kept.len(), RidgeRegression::<T>::numbers_kept(5));
    // The earlier state is replaced.
    let mut restored = RidgeRegression::new(5, other_room.lend()).unwrap();
    restored.add(&[T::ONE; 5], T::ONE).unwrap();
    restored.restore(ridge.rows(), &kept).unwrap();
    let mut weights = [[T::ZERO; 5]; 2];
    for (ridge, weights) in [&mut ridge, &mut restored].into_iter().zip(&mut weights) {
        for (row, &target) in after.chunks(5).zip(&data.targets[25..]) {
            ridge.add(row, target).unwrap();
        }
        room::solve(ridge, T::from_f64(1e-3), weights).unwrap();
    }
    assert_eq!(bits(&weights[0]), bits(&weights[1]));
    assert_eq!(ridge.rows(), restored.rows());
    assert_eq!(room::squared_error(&ridge, 0, &weights[0]), room::squared_error(&restored, 0, &weights[0]));
    // SplitMix64 of another dimension, and NaN, change nothing.
    let mut stale = RidgeRegression::new(4, stale_room.lend()).unwrap();
    let expected = RidgeRegression::<T>::numbers_kept(4);
    assert_eq!(stale.restore(1, &kept), Err(Error::Length { expected, found: kept.len() }));
    let numbers: Vec<T> = restored.numbers().unwrap().collect();
    for at in [0, 7, kept.len() - 1] {
        let mut broken = kept.clone();
        broken[at] = T::from_f64(f64::NAN);
        assert_eq!(restored.restore(9, &broken), Err(Error::NotFinite { row: 0, column: at }));
    }
    assert_eq!(bits(&numbers), bits(&restored.numbers().unwrap().collect::<Vec<_>>()));
    assert_eq!(restored.rows(), 60);
}

#[test]
fn numbers_bring_everything_back_in_f32() {
    numbers_bring_everything_back::<f32>();
}

#[test]
fn numbers_bring_everything_back_in_f64() {
    numbers_bring_everything_back::<f64>();
}

#[test]
fn odd_inputs_are_refused() {
    let mut room = RidgeRoom::<f32>::new(3);
    assert_eq!(RidgeRegression::new(0, room.lend()).unwrap_err(), Error::Empty);
    assert_eq!(RidgeRegression::new(4, room.lend()).unwrap_err(), Error::Capacity { needed: 4, have: 3 });
    let mut short = room.clone();
    short.square.truncate(8);
    assert_eq!(RidgeRegression::new(3, short.lend()).unwrap_err(), Error::Capacity { needed: 9, have: 8 });
    for shorten in [
        |room: &mut RidgeRoom<f32>| room.diagonal.truncate(2),
        |room: &mut RidgeRoom<f32>| room.targets.truncate(2),
        |room: &mut RidgeRoom<f32>| room.row.truncate(2),
        |room: &mut RidgeRoom<f32>| room.solution.truncate(2),
    ] {
        let mut short = room.clone();
        shorten(&mut short);
        assert_eq!(
            RidgeRegression::new(3, short.lend()).unwrap_err(),
            Error::Capacity { needed: 3, have: 2 }
        );
    }
    // More memory than needed is accepted.
    let mut ridge = RidgeRegression::new(2, room.lend()).unwrap();
    let mut beta = [7.0; 2];
    assert_eq!(ridge.features(), 2);
    assert_eq!(room::solve(&mut ridge, 1.0, &mut beta), Err(Error::NoRows));
    assert_eq!(room::squared_error(&ridge, 0, &beta), Ok(0.0));
    assert_eq!(ridge.add(&[1.0], 1.0), Err(Error::Length { expected: 2, found: 1 }));
    assert_eq!(ridge.add(&[1.0, f32::NAN], 1.0), Err(Error::NotFinite { row: 0, column: 1 }));
    assert_eq!(ridge.add(&[1.0, 1.0], f32::NAN), Err(Error::NotFinite { row: 0, column: 2 }));
    ridge.add(&[1.0, 2.0], 1.0).unwrap();
    assert_eq!(ridge.add(&[f32::INFINITY, 1.0], 1.0), Err(Error::NotFinite { row: 1, column: 0 }));
    assert_eq!(ridge.rows(), 1);
    for gamma in [-1.0, -f32::MIN_POSITIVE, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(room::solve(&mut ridge, gamma, &mut beta), Err(Error::Ridge));
    }
    assert_eq!(room::squared_error(&ridge, 0, &[1.0; 3]), Err(Error::Length { expected: 2, found: 3 }));
    let mut other_room = RidgeRoom::<f32>::new(3);
    let other = RidgeRegression::new(3, other_room.lend()).unwrap();
    assert_eq!(ridge.merge(&other), Err(Error::Length { expected: 2, found: 3 }));
    assert_eq!(ridge.rows(), 1);

    let kernel = Gaussian::new(1.0_f32).unwrap();
    let model = |landmarks: &'static [f32], dim, weights: &'static [f32]| {
        Predictor::new(kernel, landmarks, dim, weights).map(|model| model.features())
    };
    assert_eq!(model(&[0.0, 1.0], 1, &[1.0, 2.0]), Ok(1));
    assert_eq!(model(&[0.0, 1.0], 0, &[1.0]), Err(Error::Empty));
    assert_eq!(model(&[], 1, &[]), Err(Error::Empty));
    assert_eq!(model(&[0.0], 1, &[1.0, 2.0]), Err(Error::Length { expected: 2, found: 1 }));
    let model = Predictor::new(kernel, &[0.0, 1.0], 2, &[1.0]).unwrap();
    assert_eq!(model.predict(&[1.0]), Err(Error::Length { expected: 2, found: 1 }));
    assert_eq!(model.predict(&[0.0, 1.0]), Ok(1.0));
}

/// A device solves again from time to time: a failure must not cost it the weights that it predicts with.
#[test]
fn a_failed_solve_leaves_the_callers_weights() {
    let kernel = Gaussian::new(1.0).unwrap();
    let ground = Points::new(&[0.0_f32, 1.0], 1, kernel).unwrap();
    let mut room = Room::new(2);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    dpp_nystrom_core::start::given(&mut landmarks, &[0, 1]).unwrap();
    let nystrom = Nystrom::new(&landmarks);
    let mut weights = [3.0, -4.0];

    // One row leaves two weights undetermined without a regularisation.
    let mut ridge_room = RidgeRoom::new(2);
    let mut ridge = learn(&mut ridge_room, &[1.0, 0.5], 2, &[1.0]);
    let failed = ridge.solve(0.0).and_then(|found| nystrom.kernel_weights(found.weights, &mut weights));
    assert_eq!((failed, weights), (Err(Error::NotPositive { pivot: 1 }), [3.0, -4.0]));
    // A target so large that the weights overflow, of the features and of the kernel.
    let mut ridge_room = RidgeRoom::new(2);
    let mut ridge = learn(&mut ridge_room, &[1e-20, 0.0, 0.0, 1e-20], 2, &[f32::MAX, 1.0]);
    assert_eq!(ridge.solve(0.0).err(), Some(Error::NotFinite { row: 2, column: 0 }));
    let mut ridge_room = RidgeRoom::new(2);
    let mut ridge = learn(&mut ridge_room, &[0.5, 0.0, 0.0, 0.5], 2, &[1.0, f32::MAX / 2.0]);
    let failed = ridge.solve(0.0).and_then(|found| nystrom.kernel_weights(found.weights, &mut weights));
    assert_eq!((failed, weights), (Err(Error::NotFinite { row: 0, column: 0 }), [3.0, -4.0]));
    // And it goes on.
    ridge.forget(0.5).unwrap();
    nystrom
        .kernel_weights(
            learn(&mut RidgeRoom::new(2), &[1.0, 0.0], 2, &[1.0]).solve(1.0).unwrap().weights,
            &mut weights,
        )
        .unwrap();
    assert_ne!(weights, [3.0, -4.0]);
}

/// Forgetting is weighting: compare with rows that are multiplied by the roots of their weights.
#[test]
fn forgetting_weights_each_row_by_its_age() {
    const LAMBDA: f64 = 0.9;
    let data = Data::<f64>::smooth(40, 5, 9);
    let weight = |age: usize| LAMBDA.powi(age as i32);
    let (mut one, mut two) = (RidgeRoom::new(5), RidgeRoom::new(5));
    let mut forgetful = RidgeRegression::new(5, one.lend()).unwrap();
    let mut weighted = RidgeRegression::new(5, two.lend()).unwrap();
    let mut effective = 0.0;
    for (i, (row, &target)) in data.rows.chunks(5).zip(&data.targets).enumerate() {
        forgetful.forget(LAMBDA).unwrap();
        forgetful.add(row, target).unwrap();
        let root = weight(39 - i).sqrt();
        let row: Vec<f64> = row.iter().map(|value| value * root).collect();
        weighted.add(&row, target * root).unwrap();
        effective += weight(39 - i);
    }
    assert!((forgetful.effective_rows() - effective).abs() < 1e-12);
    assert_eq!(forgetful.rows(), 40);
    let (mut found, mut expected) = ([0.0; 5], [0.0; 5]);
    room::solve(&mut forgetful, 1e-3, &mut found).unwrap();
    // γ is multiplied by the effective number of rows there, and by 40 here.
    room::solve(&mut weighted, 1e-3 * effective / 40.0, &mut expected).unwrap();
    assert!(largest_difference(&found, &expected) < 1e-12, "{found:?} {expected:?}");
    let errors = [&forgetful, &weighted].map(|ridge| room::squared_error(ridge, 0, &found).unwrap());
    assert!((errors[0] / errors[1] - 1.0).abs() < 1e-12, "{errors:?}");
    for lambda in [0.0, -1.0, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(forgetful.forget(lambda), Err(Error::Forgetting));
    }
}
