//! The approximation compared with `K_{·,C} K_CC† K_{C,·}` from an independent pseudo-inverse.

use dpp_nystrom_core::kernel::{Gaussian, Linear};
use dpp_nystrom_core::{Error, FeatureWeights, GroundSet, Landmarks, Matrix, Nystrom, Points, Scalar, start};
use dpp_nystrom_tests::dense::{product, pseudo_inverse};
use dpp_nystrom_tests::determinant::principal;
use dpp_nystrom_tests::ground::normal_points;
use dpp_nystrom_tests::room::Room;

const N: usize = 24;

/// Return `K̃` of these landmarks, repeated and dependent ones included.
fn reference(matrix: &[f64], n: usize, landmarks: &[usize]) -> Vec<f64> {
    let c = landmarks.len();
    let inverse = pseudo_inverse(&principal(matrix, n, landmarks), c, 1e-10);
    let columns: Vec<f64> = (0..n).flat_map(|i| landmarks.iter().map(move |&j| matrix[i * n + j])).collect();
    let across: Vec<f64> =
        landmarks.iter().flat_map(|&i| matrix[i * n..(i + 1) * n].iter().copied()).collect();
    product(&product(&columns, c, &inverse, c), c, &across, n)
}

/// Push the independent rows and skip the others.
fn push_independent<T: Scalar, G: GroundSet<T>>(landmarks: &mut Landmarks<'_, T, G>, rows: &[usize]) {
    for &row in rows {
        match landmarks.push(row) {
            Ok(()) | Err(Error::NotPositive { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn agrees_with_the_reference<T: Scalar, G: GroundSet<T>>(
    ground: &G,
    rows: &[usize],
    rank: usize,
    bound: f64,
) {
    let n = ground.len();
    // With the production code's own entries: the rounding of the kernel is not under test.
    let matrix: Vec<f64> = (0..n * n).map(|at| ground.entry(at / n, at % n).to_f64()).collect();
    let expected = reference(&matrix, n, rows);
    let mut room = Room::new(rows.len());
    let mut landmarks = Landmarks::new(ground, room.lend()).unwrap();
    push_independent(&mut landmarks, rows);
    let nystrom = Nystrom::new(&landmarks);
    assert_eq!(nystrom.rank(), rank);
    let mut features = vec![vec![T::ZERO; rank]; n];
    for (i, phi) in features.iter_mut().enumerate() {
        nystrom.features(i, phi).unwrap();
    }
    let largest = (0..n).map(|i| matrix[i * n + i]).fold(0.0, f64::max);
    let mut trace = 0.0;
    for i in 0..n {
        for j in 0..n {
            let entry = nystrom.entry(&features[i], &features[j]).unwrap().to_f64();
            let apart = (entry - expected[i * n + j]).abs();
            assert!(apart < bound * largest, "{i} {j}: {entry} {}", expected[i * n + j]);
        }
        let mut phi = vec![T::ZERO; rank];
        let residual = nystrom.residual(i, &mut phi).unwrap().to_f64();
        assert!((residual - (matrix[i * n + i] - expected[i * n + i])).abs() < bound * largest);
        assert!(residual >= 0.0);
        assert_eq!(phi, features[i], "the features are left behind");
        trace += residual;
    }
    let error = nystrom.trace_error(&mut vec![T::ZERO; rank]).unwrap().to_f64();
    // The same residuals summed in T with compensation: two roundings.
    assert!((error - trace).abs() <= 2.0 * T::EPSILON.to_f64() * trace, "{error} {trace}");
}

#[test]
fn independent_landmarks_give_the_approximation() {
    let rows: Vec<f64> = normal_points(N, 3, 91);
    let ground = Points::new(&rows, 3, Gaussian::new(1.0).unwrap()).unwrap();
    // Conditions of K_CC are below 10³, so both sides may be off by 10³ c ε.
    agrees_with_the_reference(&ground, &[3, 20, 0, 11, 7, 15], 6, 1e-12);
    agrees_with_the_reference(&ground, &[5], 1, 1e-12);
    let all: Vec<usize> = (0..N).collect();
    // All rows: K itself, residual zero; the condition is some 10⁶.
    agrees_with_the_reference(&ground, &all, N, 1e-9);
    let single: Vec<f32> = normal_points(N, 3, 91);
    let ground = Points::new(&single, 3, Gaussian::new(1.0_f32).unwrap()).unwrap();
    agrees_with_the_reference(&ground, &[3, 20, 0, 11, 7, 15], 6, 1e-4);
}

/// Eight rows of integers in four dimensions: 3 is a copy of row 0, 4 the sum of 0 and 1, 7 zero.
fn dependent_rows<T: Scalar>() -> Vec<T> {
    let rows = [
        [2, 0, 1, 1],
        [1, 3, 0, -1],
        [0, 1, 2, 0],
        [2, 0, 1, 1],
        [3, 3, 1, 0],
        [1, -1, 1, 3],
        [-2, 1, 0, 1],
        [0, 0, 0, 0],
    ];
    rows.iter()
        .flat_map(|x| rows.iter().map(move |y| x.iter().zip(y).map(|(x, y)| x * y).sum::<i32>()))
        .map(|entry| T::from_f64(f64::from(entry)))
        .collect()
}

#[test]
fn a_dependent_landmark_left_out_is_the_pseudo_inverse() {
    let (double, single) = (dependent_rows::<f64>(), dependent_rows::<f32>());
    let (double, single) = (Matrix::new(&double).unwrap(), Matrix::new(&single).unwrap());
    for (rows, rank) in [
        (&[0, 3, 1, 4, 2][..], 3),
        (&[4, 3, 1, 0], 2),
        (&[7, 3, 0], 1),
        // More landmarks than the rank of the matrix: K itself.
        (&[7, 6, 5, 4, 3, 2, 1, 0], 4),
    ] {
        agrees_with_the_reference(&double, rows, rank, 1e-12);
        // Conditions below 100: 100 c ε.
        agrees_with_the_reference(&single, rows, rank, 1e-4);
    }
}

/// Under a kernel of rank two a third landmark is rounding error. Where its pivot is just above the bound it
/// is accepted and does no harm: its features are the error divided by the square root of the error, about
/// `√ε`.
#[test]
fn a_landmark_of_noise_does_no_harm() {
    let mut taken = 0;
    for seed in 0..50 {
        let rows: Vec<f64> = normal_points(40, 2, seed);
        let ground = Points::new(&rows, 2, Linear).unwrap();
        let mut room = Room::new(3);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        let mut row = 0;
        while landmarks.len() < 3 && row < 40 {
            push_independent(&mut landmarks, &[row]);
            row += 1;
        }
        let rank = landmarks.len();
        taken += usize::from(rank == 3);
        // The condition of the pair, not the rounding error, determines the accuracy: the worst of these is
        // 10⁴.
        let (mut phi, mut other) = (vec![0.0; rank], vec![0.0; rank]);
        let nystrom = Nystrom::new(&landmarks);
        for i in 0..40 {
            nystrom.features(i, &mut phi).unwrap();
            nystrom.features((i * 7 + 3) % 40, &mut other).unwrap();
            let entry = ground.entry(i, (i * 7 + 3) % 40);
            let apart = (nystrom.entry(&phi, &other).unwrap() - entry).abs();
            assert!(apart < 1e-10, "seed {seed}: {apart:e}");
        }
    }
    assert!(taken > 0, "no pivot was just above the bound, so nothing was tested");
}

#[test]
fn no_landmarks_approximate_nothing() {
    let entries = dependent_rows::<f64>();
    let ground = Matrix::new(&entries).unwrap();
    let mut room = Room::new(0);
    let landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    let nystrom = Nystrom::new(&landmarks);
    assert_eq!(nystrom.rank(), 0);
    assert_eq!(nystrom.residual(0, &mut []).unwrap(), ground.diagonal(0));
    let trace: f64 = (0..8).map(|i| ground.diagonal(i)).sum();
    assert_eq!(nystrom.trace_error(&mut []).unwrap(), trace);
}

#[test]
fn a_new_point_has_the_features_of_its_kernel_column() {
    let rows: Vec<f64> = normal_points(N, 3, 92);
    let ground = Points::new(&rows, 3, Gaussian::new(1.0).unwrap()).unwrap();
    let mut room = Room::new(5);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[2, 9, 4, 17, 21]).unwrap();
    let nystrom = Nystrom::new(&landmarks);
    // A row of the set, passed as a new point, has the same features bit for bit.
    let (mut as_row, mut as_point) = ([0.0; 5], [0.0; 5]);
    nystrom.features(13, &mut as_row).unwrap();
    ground.column_at(ground.row(13), landmarks.members(), &mut as_point).unwrap();
    nystrom.transform(&mut as_point).unwrap();
    assert_eq!(as_row, as_point);
    // φᵀβ = k_Cᵀw for w = L⁻ᵀβ.
    let beta = [0.3, -1.0, 2.0, 0.7, -0.2];
    let mut weights = [0.0; 5];
    nystrom.kernel_weights(FeatureWeights::new(&mut beta.clone()), &mut weights).unwrap();
    for i in 0..N {
        let mut column = [0.0; 5];
        ground.column(i, landmarks.members(), &mut column);
        let mut phi = column;
        nystrom.transform(&mut phi).unwrap();
        let by_features: f64 = phi.iter().zip(beta).map(|(phi, beta)| phi * beta).sum();
        let by_kernel: f64 = column.iter().zip(weights).map(|(k, w)| k * w).sum();
        // Weights below 10: a hundred ε for two triangular solves of five.
        assert!((by_features - by_kernel).abs() < 1e-13, "{by_features} {by_kernel}");
    }
}

#[test]
fn odd_inputs_are_refused() {
    struct Holed;
    impl GroundSet<f64> for Holed {
        fn len(&self) -> usize {
            4
        }
        fn entry(&self, i: usize, j: usize) -> f64 {
            match (i.min(j), i.max(j)) {
                (1, 3) => f64::NAN,
                (i, j) if i == j => 2.0,
                _ => 1.0,
            }
        }
    }
    let mut room = Room::new(2);
    let mut landmarks = Landmarks::new(&Holed, room.lend()).unwrap();
    start::given(&mut landmarks, &[0, 1]).unwrap();
    let nystrom = Nystrom::new(&landmarks);
    let mut phi = [0.0; 2];
    assert_eq!(nystrom.features(4, &mut phi), Err(Error::OutOfRange { index: 4, len: 4 }));
    assert_eq!(nystrom.features(usize::MAX, &mut phi), Err(Error::OutOfRange { index: usize::MAX, len: 4 }));
    assert_eq!(nystrom.features(3, &mut phi), Err(Error::NotFinite { row: 3, column: 1 }));
    assert_eq!(nystrom.trace_error(&mut phi), Err(Error::NotFinite { row: 3, column: 1 }));
    for mut wrong in [vec![], vec![0.0], vec![0.0; 3]] {
        let error = Error::Length { expected: 2, found: wrong.len() };
        assert_eq!(nystrom.features(2, &mut wrong), Err(error));
        assert_eq!(nystrom.residual(2, &mut wrong), Err(error));
        assert_eq!(nystrom.trace_error(&mut wrong), Err(error));
        assert_eq!(nystrom.transform(&mut wrong), Err(error));
        let mut right = [0.0; 2];
        assert_eq!(nystrom.kernel_weights(FeatureWeights::new(&mut right), &mut wrong), Err(error));
        assert_eq!(nystrom.kernel_weights(FeatureWeights::new(&mut wrong), &mut right), Err(error));
    }
    // A landmark's own residual is only rounding.
    assert!(nystrom.residual(0, &mut phi).unwrap() < 1e-15);
}
