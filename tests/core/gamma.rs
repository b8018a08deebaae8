//! The γ that is chosen: not too small for rows unlike those learned, and accepted by the solution.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Error, Learner, Phase, Random, RidgeRegression, Scalar, Standard};
use dpp_nystrom_tests::room::RidgeRoom;
use dpp_nystrom_tests::script::SplitMix64;
use rand_core::Rng;

/// 2⁻²⁰, of the mean `k(x, x)`.
const LEAST: f64 = 1.0 / 1_048_576.0;

/// Random regressions of features and targets of any magnitude, of which rows are forgotten: what is chosen
/// is solved with, and keeps the weights below `‖y‖/(2√λ)`. Only squares outside the precision are refused.
fn what_is_chosen_is_accepted<T: Scalar>(decades: f64) {
    let mut numbers = SplitMix64::seeded(120);
    let mut outcomes = [0; 3];
    for _ in 0..3_000 {
        let (c, n) = (1 + numbers.below(5), 1 + numbers.below(40));
        let size = |numbers: &mut SplitMix64| 10.0_f64.powf(decades * (2.0 * numbers.uniform() - 1.0));
        let (of_features, of_targets) = (size(&mut numbers), size(&mut numbers));
        // Exact targets, noise alone, and zeros.
        let (slope, noise) = [(1.0, 0.0), (1.0, 0.1), (0.0, 1.0), (0.0, 0.0)][numbers.below(4)];
        let lambda = T::from_f64([1.0, 0.98, 0.5][numbers.below(3)]);
        // Rows leave the landmarks, or stay.
        let decay = [1.0, 0.01][numbers.below(2)];
        let mut room = RidgeRoom::new(c);
        let mut ridge = RidgeRegression::<T>::new(c, room.lend()).unwrap();
        let (mut squares, mut features) = (0.0, vec![T::ZERO; c]);
        for row in 0..n {
            let scale = of_features * f64::powi(decay, row as i32);
            features.iter_mut().for_each(|slot| *slot = T::from_f64(scale * numbers.normal()));
            let along = features[0].to_f64() / of_features;
            let target = T::from_f64(of_targets * (slope * along + noise * numbers.normal()));
            ridge.forget(lambda).unwrap();
            squares = squares * lambda.to_f64() + target.to_f64().powi(2);
            ridge.add(&features, target).unwrap();
        }
        let gamma = match ridge.choose_gamma() {
            Ok(gamma) => gamma,
            Err(Error::NotPositive { pivot: 0 }) => {
                // Of the last row, where all before it are forgotten.
                let last = of_features.log10() + decay.log10() * n as f64;
                assert!(last < -0.4 * decades || of_features.log10() > 0.4 * decades, "{of_features:e}");
                outcomes[1] += 1;
                continue;
            }
            Err(error) => {
                assert!(
                    matches!(error, Error::NotFinite { .. }) && of_targets.log10() > 0.7 * decades,
                    "{error}"
                );
                outcomes[2] += 1;
                continue;
            }
        };
        let root = 2.0 * (ridge.effective_rows() * gamma).to_f64().sqrt();
        let solution = ridge.solve(gamma).unwrap_or_else(|error| panic!("{gamma:?}: {error}"));
        let norm = solution.weights.iter().map(|weight| (root * weight.to_f64()).powi(2)).sum::<f64>();
        assert!(norm <= squares * 1.01, "{norm:e} {root:e} {squares:e}");
        outcomes[0] += 1;
    }
    println!("chosen, refused for features, for targets: {outcomes:?}");
    assert!(outcomes[0] > 1_500 && outcomes[1] > 100, "{outcomes:?}");
}

#[test]
fn what_is_chosen_is_accepted_in_f32() {
    what_is_chosen_is_accepted::<f32>(25.0);
}

#[test]
fn what_is_chosen_is_accepted_in_f64() {
    what_is_chosen_is_accepted::<f64>(200.0);
}

fn uniform<T: Scalar>(random: &mut Random) -> T {
    T::from_f64(2.0 * f64::from(random.next_u32()) / f64::from(u32::MAX) - 1.0)
}

/// The next value of a flow from the last four, of which it is a linear function, and then an outage. The
/// likelihood alone takes γ down to the rounding error, and predictions to hundreds of deviations.
fn targets_without_noise_are_safe_in_an_outage<T: Scalar>(rounding: f64) {
    let mut random = Random::seeded(7);
    let mut learner = Box::new(Learner::<16, 4, Gaussian<T>, T>::new());
    learner.start(Gaussian::new(T::from_f64(6.0)).unwrap());
    let mut time = 0;
    let mut row = || -> ([T; 4], T) {
        time += 1;
        let flow = |at: i32| T::from_f64((f64::from(at) * 0.3).sin() + 0.3 * (f64::from(at) * 0.071).sin());
        (std::array::from_fn(|lag| flow(time + lag as i32)), flow(time + 4))
    };
    for _ in 0..100 {
        let (features, target) = row();
        learner.scale(&features, target).unwrap();
    }
    learner.freeze_scaling().unwrap();
    for _ in 0..256 {
        learner.offer(&row().0, &mut random).unwrap();
    }
    learner.freeze_landmarks().unwrap();
    for _ in 0..1_000 {
        let (features, target) = row();
        learner.learn(&features, target).unwrap();
    }
    let gamma = learner.choose_gamma().unwrap();
    let error = learner.solve(gamma).unwrap().to_f64();
    println!("γ {gamma:?}, error on the rows learned {error:e}");
    assert!(gamma.to_f64() >= LEAST * (1.0 - rounding) && gamma.to_f64() < 2.0 * LEAST, "{gamma:?}");
    assert!(error < 0.01, "{error}");
    // Sensors fail one after the other: the flow of some lags is 0, or the least that was ever seen.
    let (features, _) = row();
    for failed in 1..15 {
        for value in [0.0, -2.0, -4.0] {
            let value = T::from_f64(value);
            let broken =
                std::array::from_fn(|lag| if failed >> lag & 1 == 1 { value } else { features[lag] });
            let predicted = learner.predict(&broken).unwrap().to_f64();
            println!("{failed:04b} {value}: {predicted}");
            assert!(predicted.abs() < 20.0, "{failed:04b} {value}: {predicted}");
        }
    }
}

#[test]
fn targets_without_noise_are_safe_in_an_outage_in_f32() {
    targets_without_noise_are_safe_in_an_outage::<f32>(1e-5);
}

#[test]
fn targets_without_noise_are_safe_in_an_outage_in_f64() {
    targets_without_noise_are_safe_in_an_outage::<f64>(1e-12);
}

/// A clock among the features leaves all landmarks, and what was learned near them is forgotten.
fn rows_that_left_the_landmarks_are_solved<T: Scalar>() {
    let standard = Standard {
        means: [T::ZERO; 2],
        scales: [T::ONE; 2],
        target_mean: T::from_f64(3.0),
        target_scale: T::ONE,
    };
    let mut random = Random::seeded(7);
    let mut learner = Box::new(Learner::<8, 2, Gaussian<T>, T>::new());
    learner.start_scaled(Gaussian::new(T::from_f64(1.5)).unwrap(), &standard).unwrap();
    for _ in 0..100 {
        learner.offer(&[uniform(&mut random), uniform(&mut random)], &mut random).unwrap();
    }
    learner.freeze_landmarks().unwrap();
    let mut least = T::ONE;
    // Until not even a square of what was learned near the landmarks is left, in `f64` either.
    for at in 0..12_000 {
        let row = [T::from_f64(f64::from(at) / 120.0), uniform(&mut random)];
        learner.forget(T::from_f64(0.9)).unwrap();
        learner.learn(&row, T::from_f64(3.0) + row[1]).unwrap();
        let gamma = learner.choose_gamma().unwrap_or_else(|error| panic!("row {at}: {error}"));
        learner.solve(gamma).unwrap_or_else(|error| panic!("row {at}, γ {gamma:?}: {error}"));
        least = if gamma < least { gamma } else { least };
        let assessment = learner.assess(&row).unwrap();
        assert!((assessment.value.to_f64() - 3.0).abs() < 2.0, "row {at}: {}", assessment.value);
        assert!(assessment.variance.is_some_and(|variance| variance.is_finite()), "row {at}");
    }
    assert!(least.to_f64() >= LEAST * 0.9999, "{least:?}");
    assert_eq!(learner.phase(), Phase::Predicting);
    // Far from all that a landmark knows: the mean, the deviation of the targets, and a row that is novel.
    let far = learner.assess(&[T::from_f64(100.0), T::ZERO]).unwrap();
    assert!(far.residual > Some(T::from_f64(0.999)) && (far.value.to_f64() - 3.0).abs() < 1e-3);
    let deviation = far.variance.unwrap().to_f64().sqrt();
    assert!((0.4..0.8).contains(&deviation), "{deviation}"); // of the targets: 0.58
}

#[test]
fn rows_that_left_the_landmarks_are_solved_in_f32() {
    rows_that_left_the_landmarks_are_solved::<f32>();
}

#[test]
fn rows_that_left_the_landmarks_are_solved_in_f64() {
    rows_that_left_the_landmarks_are_solved::<f64>();
}
