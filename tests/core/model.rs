//! Models that take raw rows: compared with the predictor on rows that were standardised by hand, and all
//! inputs that are refused.

use dpp_nystrom_core::kernel::{
    ChosenKernel, Gaussian, Laplace, Linear, Matern32, Matern52, Polynomial, RationalQuadratic,
};
use dpp_nystrom_core::{
    Acceptance, Error, Landmarks, Learner, Model, Nystrom, Parts, Phase, Points, Predictor, Random,
    RidgeRegression, RidgeWorkspace, Scaling, SlotChain, Workspace, start,
};

const MEANS: [f32; 3] = [10.0, -2.0, 7.0];
/// The last feature was constant.
const SCALES: [f32; 3] = [0.5, 4.0, 0.0];
const LANDMARKS: [f32; 6] = [0.5, -1.0, 0.0, 2.0, 0.25, 0.0];
const WEIGHTS: [f32; 2] = [1.5, -0.75];

fn parts() -> Parts<'static, f32> {
    Parts {
        means: &MEANS,
        scaling: Scaling::PerFeature(&SCALES),
        landmarks: &LANDMARKS,
        weights: &WEIGHTS,
        target_mean: 100.0,
        target_scale: 3.0,
    }
}

fn kernels() -> [ChosenKernel<f32>; 7] {
    [
        ChosenKernel::Gaussian(Gaussian::new(1.3).unwrap()),
        ChosenKernel::Laplace(Laplace::new(1.3).unwrap()),
        ChosenKernel::Matern32(Matern32::new(1.3).unwrap()),
        ChosenKernel::Matern52(Matern52::new(1.3).unwrap()),
        ChosenKernel::Polynomial(Polynomial::new(3, 0.5).unwrap()),
        ChosenKernel::Linear(Linear),
        ChosenKernel::RationalQuadratic(RationalQuadratic::new(1.3).unwrap()),
    ]
}

#[test]
fn raw_rows_are_standardised_and_predictions_scaled_back() {
    for kernel in kernels() {
        let model = Model::new(kernel, parts()).unwrap();
        let predictor = Predictor::new(kernel, &LANDMARKS, 3, &WEIGHTS).unwrap();
        assert_eq!(model.features(), 3);
        for raw in [[10.0, -2.0, 7.0], [12.5, -1.75, 7.0], [3.0, 0.0, 1e30], [f32::MAX, -2.0, 7.0]] {
            let standard = [(raw[0] - 10.0) * 0.5, (raw[1] + 2.0) * 4.0, 0.0];
            let expected = 100.0 + 3.0 * predictor.predict(&standard).unwrap();
            // The buffer may be longer than the row, and its content does not matter.
            let found = model.predict(&raw, &mut [f32::NAN; 5]).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{kernel:?} {raw:?}");
        }
    }
}

/// The constant constructors create the same kernels as the others.
#[test]
fn constant_kernels_are_the_same() {
    let mut room = [0.0; 3];
    for kernel in kernels() {
        let again = match kernel {
            ChosenKernel::Gaussian(kernel) => {
                Gaussian::from_exponent(kernel.exponent()).map(ChosenKernel::Gaussian)
            }
            ChosenKernel::Laplace(kernel) => Laplace::from_rate(kernel.rate()).map(ChosenKernel::Laplace),
            ChosenKernel::Matern32(kernel) => Matern32::from_rate(kernel.rate()).map(ChosenKernel::Matern32),
            ChosenKernel::Matern52(kernel) => Matern52::from_rate(kernel.rate()).map(ChosenKernel::Matern52),
            ChosenKernel::Polynomial(kernel) => {
                Polynomial::constant(kernel.degree(), kernel.offset()).map(ChosenKernel::Polynomial)
            }
            ChosenKernel::Linear(_) => Ok(ChosenKernel::Linear(Linear)),
            ChosenKernel::RationalQuadratic(kernel) => {
                RationalQuadratic::from_rate(kernel.rate()).map(ChosenKernel::RationalQuadratic)
            }
            other => panic!("{other:?}"),
        };
        let [one, other] = [kernel, again.unwrap()].map(|kernel| {
            Model::new(kernel, parts()).unwrap().predict(&[11.0, -1.9, 7.0], &mut room).unwrap()
        });
        assert_eq!(one.to_bits(), other.to_bits());
    }
    for bad in [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(Gaussian::from_exponent(bad).unwrap_err(), Error::Bandwidth);
        assert_eq!(Laplace::from_rate(bad).unwrap_err(), Error::Bandwidth);
        assert_eq!(Matern32::from_rate(bad).unwrap_err(), Error::Bandwidth);
        assert_eq!(Matern52::from_rate(bad).unwrap_err(), Error::Bandwidth);
        assert_eq!(RationalQuadratic::from_rate(bad).unwrap_err(), Error::Bandwidth);
    }
    assert_eq!(Gaussian::from_exponent(1.0).unwrap_err(), Error::Bandwidth);
    assert_eq!(Laplace::from_rate(-1.0).unwrap_err(), Error::Bandwidth);
    for (degree, offset) in [(0, 1.0), (2, -1.0), (2, f32::NAN), (2, f32::INFINITY)] {
        assert_eq!(Polynomial::constant(degree, offset).unwrap_err(), Error::Polynomial);
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let refused = |parts| Model::new(Linear, parts).unwrap_err();
    assert_eq!(
        refused(Parts { means: &[], scaling: Scaling::PerFeature(&[]), landmarks: &[], ..parts() }),
        Error::Empty
    );
    assert_eq!(refused(Parts { weights: &[], landmarks: &[], ..parts() }), Error::Empty);
    let scaling = Scaling::PerFeature(&SCALES[..2]);
    assert_eq!(refused(Parts { scaling, ..parts() }), Error::Length { expected: 3, found: 2 });
    assert_eq!(
        refused(Parts { landmarks: &LANDMARKS[..5], ..parts() }),
        Error::Length { expected: 6, found: 5 }
    );
    assert_eq!(refused(Parts { weights: &[1.0; 3], ..parts() }), Error::Length { expected: 9, found: 6 });
}

#[test]
fn rows_that_cannot_be_predicted_are_refused() {
    let model = Model::new(Gaussian::new(1.0_f32).unwrap(), parts()).unwrap();
    let refused = |raw: &[f32], room: &mut [f32]| model.predict(raw, room).unwrap_err();
    assert_eq!(refused(&[1.0; 2], &mut [0.0; 3]), Error::Length { expected: 3, found: 2 });
    assert_eq!(refused(&[1.0; 4], &mut [0.0; 4]), Error::Length { expected: 3, found: 4 });
    assert_eq!(refused(&[1.0; 3], &mut [0.0; 2]), Error::Capacity { needed: 3, have: 2 });
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for column in 0..3 {
            let mut raw = [1.0; 3];
            raw[column] = bad;
            assert_eq!(refused(&raw, &mut [0.0; 3]), Error::NotFinite { row: 0, column });
        }
    }
    // Finite, but its difference from the mean overflows.
    assert_eq!(refused(&[1.0, f32::MAX, 1.0], &mut [0.0; 3]), Error::TooLarge { row: 0, column: 1 });
}

/// Five features, a block and the rest of one, to fewer coordinates or as many.
fn map(rank: usize) -> Vec<f32> {
    let mut state = 3_u32;
    let mut uniform = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..5 * rank).map(|_| uniform()).collect()
}

const FIVE: [f32; 5] = [10.0, -2.0, 7.0, 0.5, 100.0];

/// Each coordinate is the sum over the features, in their order.
#[test]
fn a_map_is_a_sum_over_the_features() {
    for rank in 1..=5 {
        let map = map(rank);
        let landmarks: Vec<f32> = (0..3 * rank).map(|i| (i as f32).sin()).collect();
        let weights = [1.5, -0.75, 0.25];
        for kernel in kernels() {
            let predictor = Predictor::new(kernel, &landmarks, rank, &weights).unwrap();
            let parts = Parts {
                means: &FIVE,
                scaling: Scaling::Map { rank, rows: &map },
                landmarks: &landmarks,
                weights: &weights,
                target_mean: 100.0,
                target_scale: 3.0,
            };
            let model = Model::new(kernel, parts).unwrap();
            assert_eq!((model.features(), model.width(), model.landmarks().len()), (5, rank, 3 * rank));
            for raw in [FIVE, [11.0, -1.5, 7.25, 0.0, 98.0], [0.0; 5], [1e30, 0.0, -1e30, 3.0, 0.0]] {
                let coordinate =
                    |k: usize| (0..5).fold(0.0, |sum: f32, i| sum + map[5 * k + i] * (raw[i] - FIVE[i]));
                let mapped: Vec<f32> = (0..rank).map(coordinate).collect();
                let mut room = [f32::NAN; 6];
                assert_eq!(model.standardise(&raw, &mut room).unwrap(), mapped);
                let expected = 100.0 + 3.0 * predictor.predict(&mapped).unwrap();
                let found = model.predict(&raw, &mut room).unwrap();
                assert_eq!(found.to_bits(), expected.to_bits(), "{kernel:?} {raw:?}");
                let nearest = model.assess(&raw, &mut room).unwrap().nearest;
                let distance = |landmark: &[f32]| {
                    let pairs = landmark.iter().zip(&mapped);
                    pairs.map(|(x, y)| f64::from(x - y).powi(2)).sum::<f64>().sqrt()
                };
                let least = landmarks.chunks(rank).map(distance).fold(f64::INFINITY, f64::min);
                // Squares of 1e30 overflow.
                assert!(nearest.is_infinite() || (f64::from(nearest) - least).abs() < 1e-5 * (1.0 + least));
            }
            let refused = |raw: &[f32], room: &mut [f32]| model.predict(raw, room).unwrap_err();
            assert_eq!(refused(&FIVE[..4], &mut [0.0; 5]), Error::Length { expected: 5, found: 4 });
            let short = Error::Capacity { needed: rank, have: rank - 1 };
            assert_eq!(refused(&FIVE, &mut vec![0.0; rank - 1]), short);
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for column in 0..5 {
                    let mut raw = FIVE;
                    raw[column] = bad;
                    assert_eq!(refused(&raw, &mut [0.0; 5]), Error::NotFinite { row: 0, column });
                }
            }
        }
    }
}

/// A feature whose entries are zero, as those of a constant feature, and coordinates that overflow.
#[test]
fn coordinates_that_are_not_finite_are_refused() {
    let predict = |rows: &[f32], raw: [f32; 2]| {
        let parts = Parts {
            means: &[0.0, 1.0],
            scaling: Scaling::Map { rank: 1, rows },
            landmarks: &[0.0],
            weights: &[1.0],
            target_mean: 0.0,
            target_scale: 1.0,
        };
        Model::new(Gaussian::new(1.0).unwrap(), parts).unwrap().predict(&raw, &mut [0.0])
    };
    let place = |column| Err(Error::NotFinite { row: 0, column });
    let large = |column| Err(Error::TooLarge { row: 0, column });
    assert_eq!(predict(&[1.0, 0.0], [0.0, 1e30]), Ok(1.0));
    assert_eq!(predict(&[1.0, 0.0], [0.0, f32::INFINITY]), place(1));
    assert_eq!(predict(&[0.0, 1.0], [f32::NAN, 1.0]), place(0));
    assert_eq!(predict(&[2.0, 0.0], [f32::MAX, 1.0]), large(0));
    // Each product is finite.
    assert_eq!(predict(&[1.0, 1.0], [f32::MAX, f32::MAX]), large(1));
    assert_eq!(predict(&[f32::NAN, 1.0], [1.0, 1.0]), large(0));
}

/// The formula in doubles, with a map and without, near the mean and where a square would overflow.
#[test]
fn features_are_clipped_before_a_map() {
    const NUMBERS: [f32; 12] = [0.5, 4.0, 0.0, 0.25, 2.0, 0.0, 2.0, -1.0, 3.0, 0.5, 1.5, -2.0];
    let model = |rank, numbers: &'static [f32], landmarks: &'static [f32]| {
        let parts = Parts { scaling: Scaling::Clipped { rank, numbers }, landmarks, ..parts() };
        Model::new(Linear, parts)
    };
    let plain = model(None, &NUMBERS[..6], &LANDMARKS).unwrap();
    let mapped = model(Some(2), &NUMBERS, &LANDMARKS[..4]).unwrap();
    assert_eq!((plain.width(), mapped.width()), (3, 2));
    for raw in
        [[10.0, -2.0, 7.0], [11.5, -1.0, 7.0], [-90.0, 6.0, 7.0], [1e20, -1e25, 7.0], [10.0, 1e12, 7.0]]
    {
        let clipped = [0, 1, 2].map(|i: usize| {
            let standard = f64::from(raw[i] - MEANS[i]) * f64::from(NUMBERS[i]);
            standard / (standard * f64::from(NUMBERS[3 + i])).hypot(1.0)
        });
        let near = |found: &[f32], expected: &[f64]| {
            let all = found.iter().zip(expected).all(|(one, other)| (f64::from(*one) - other).abs() < 1e-5);
            assert!(all && found.len() == expected.len(), "{raw:?}: {found:?} {expected:?}");
        };
        near(plain.standardise(&raw, &mut [0.0; 3]).unwrap(), &clipped);
        let row = |k: usize| (0..3).map(|i| f64::from(NUMBERS[6 + 3 * k + i]) * clipped[i]).sum::<f64>();
        near(mapped.standardise(&raw, &mut [0.0; 2]).unwrap(), &[row(0), row(1)]);
    }
    for (raw, error) in [
        ([10.0, f32::NAN, 7.0], Error::NotFinite { row: 0, column: 1 }),
        ([10.0, -2.0, f32::INFINITY], Error::NotFinite { row: 0, column: 2 }),
        ([10.0, f32::MAX, 7.0], Error::TooLarge { row: 0, column: 1 }),
        // In standard deviations it is finite, and in bounds not.
        ([10.0, f32::MAX / 5.0, 7.0], Error::TooLarge { row: 0, column: 1 }),
    ] {
        assert_eq!(plain.predict(&raw, &mut [0.0; 3]), Err(error));
        assert_eq!(mapped.predict(&raw, &mut [0.0; 2]), Err(error));
    }
    // The last feature was constant, and that is known beside a map too.
    assert_eq!(mapped.assess(&[10.0, -2.0, 8.0], &mut [0.0; 2]).unwrap().nearest, f32::INFINITY);
    let length = |expected, found| Some(Error::Length { expected, found });
    assert_eq!(model(None, &NUMBERS, &LANDMARKS).err(), length(6, 12));
    assert_eq!(model(Some(2), &NUMBERS[..11], &LANDMARKS[..4]).err(), length(12, 11));
    assert_eq!(model(Some(4), &NUMBERS, &LANDMARKS).err(), length(3, 4));
    assert_eq!(model(Some(0), &NUMBERS, &LANDMARKS).err(), Some(Error::Empty));
    let mut learner = Learner::<2, 3, Linear>::new();
    assert_eq!(learner.start_from(&plain), Err(Error::Map));
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let refused = |rank, rows| {
        let parts = Parts { scaling: Scaling::Map { rank, rows }, ..parts() };
        Model::new(Linear, parts).unwrap_err()
    };
    assert_eq!(refused(0, &[]), Error::Empty);
    let none = Parts { means: &[], scaling: Scaling::Map { rank: 1, rows: &[] }, ..parts() };
    assert_eq!(Model::new(Linear, none).unwrap_err(), Error::Empty);
    assert_eq!(refused(4, &[1.0; 12]), Error::Length { expected: 3, found: 4 });
    assert_eq!(refused(2, &[1.0; 5]), Error::Length { expected: 6, found: 5 });
    assert_eq!(refused(2, &[1.0; 6]), Error::Length { expected: 4, found: 6 }); // the landmarks have three
    assert_eq!(refused(usize::MAX, &[1.0; 3]), Error::Length { expected: 3, found: usize::MAX });
}

/// Selection, regression and prediction on a device are those on rows that were mapped before.
#[test]
fn a_device_learns_on_a_model_with_a_map() {
    const RANK: usize = 2;
    let map = map(RANK);
    let kernel = Gaussian::new(1.5_f32).unwrap();
    let (landmarks, target) = ([0.5, 0.0, -1.0, 1.0, 2.0, 0.25, -0.5, -2.0], (4.0, 2.0));
    let parts = Parts {
        means: &FIVE,
        scaling: Scaling::Map { rank: RANK, rows: &map },
        landmarks: &landmarks,
        weights: &[0.0; 4],
        target_mean: target.0,
        target_scale: target.1,
    };
    let model = Model::new(kernel, parts).unwrap();
    let plain = Parts { means: &[0.0; RANK], scaling: Scaling::PerFeature(&[1.0; RANK]), ..parts };
    let plain = Model::new(kernel, plain).unwrap();

    let ground = Points::new(model.landmarks(), model.width(), model.kernel()).unwrap();
    let mut memories = [Workspace::<f32, 4>::new(), Workspace::new()];
    let mut ridges = [RidgeWorkspace::<f32, 4>::new(), RidgeWorkspace::new()];
    let [first, second] = &mut memories;
    let mut landmarks = Landmarks::new(&ground, first.lend()).unwrap();
    start::given(&mut landmarks, &[0, 1, 2]).unwrap();
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
    chain.run(100, &mut Random::seeded(7)).unwrap();
    let members = chain.into_landmarks().members().to_vec();
    let mut chosen = Landmarks::new(&ground, second.lend()).unwrap();
    start::given(&mut chosen, &members).unwrap();
    // With another map the same landmarks are others to a server.
    let mut turned = map.clone();
    turned.swap(0, 1);
    let turned = Parts { scaling: Scaling::Map { rank: RANK, rows: &turned }, ..parts };
    let turned = Model::new(kernel, turned).unwrap().digest(chosen.factor());
    assert_ne!(model.digest(chosen.factor()), turned);

    let nystrom = Nystrom::new(&chosen);
    let [mapped, before] = &mut ridges;
    let mut regressions = [mapped, before].map(|ridge| RidgeRegression::new(3, ridge.lend()).unwrap());
    let row = |i: usize| -> [f32; 5] { std::array::from_fn(|j| FIVE[j] + ((3 * i + 7 * j) as f32).sin()) };
    let y = |row: &[f32; 5]| 4.0 + (row[0] - row[3] - 9.5).sin();
    for i in 0..60 {
        let (mut room, mut phi) = ([0.0; RANK], [0.0; 3]);
        let z: [f32; RANK] =
            std::array::from_fn(|k| (0..5).fold(0.0, |sum, j| sum + map[5 * k + j] * (row(i)[j] - FIVE[j])));
        for ((model, raw), ridge) in [(&model, &row(i)[..]), (&plain, &z)].iter().zip(&mut regressions) {
            let standard = model.standardise(raw, &mut room).unwrap();
            ground.column_at(standard, chosen.members(), &mut phi).unwrap();
            nystrom.transform(&mut phi).unwrap();
            ridge.add(&phi, model.standard_target(y(&row(i)))).unwrap();
        }
    }
    let mut weights = [[0.0; 4]; 2];
    for (ridge, weights) in regressions.iter_mut().zip(&mut weights) {
        let mut solution = [0.0; 3];
        nystrom.kernel_weights(ridge.solve(1e-4).unwrap().weights, &mut solution).unwrap();
        members.iter().zip(solution).for_each(|(&member, weight)| weights[member] = weight);
    }
    assert_eq!(weights[0], weights[1]);
    let learned = model.with_weights(&weights[0]).unwrap();
    let error = |predict: &dyn Fn(&[f32; 5]) -> f32| {
        (60..160).map(|i| (predict(&row(i)) - y(&row(i))).powi(2)).sum::<f32>() / 100.0
    };
    let found = error(&|row| learned.predict(row, &mut [0.0; RANK]).unwrap());
    assert!(found < 0.8 * error(&|_| 4.0), "{found}");

    let mut learner = Learner::<4, 5>::new();
    assert_eq!(learner.start_from(&model), Err(Error::Map));
    assert_eq!(learner.phase(), Phase::Idle);
}
