//! A device that is left alone: `f32` against `f64` after so many rows that one triangle in `f32` would have
//! lost them, under any forgetting, and where no rows arrive.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Error, Exchange, FeatureWeights, Landmarks, Learner, Nystrom, Origin, Points, Random, RidgeRegression,
    Scalar, Standard, state_bytes, state_bytes_forgotten, state_bytes_of,
};
use dpp_nystrom_tests::room::{RidgeRoom, Room, solve_target, squared_error};
use dpp_nystrom_tests::script::SplitMix64;
use rand_core::Rng;

const C: usize = 16;
const D: usize = 4;
const GAMMA: f64 = 1e-6;
/// The rows that a triangle in `f32` takes.
const APART: usize = f32::ROWS_APART as usize;
type Device = Learner<C, D>;

/// Return a reading of four features of deviation 1, and a function of them with noise of deviation 0.34.
fn reading(numbers: &mut SplitMix64) -> ([f32; D], f32) {
    let uniform = |bits: u64| (bits & 0xFFFF) as f32 * (3.4641 / 65_536.0) - 1.732;
    let (first, second) = (numbers.next_u64(), numbers.next_u64());
    let row = [first, first >> 16, first >> 32, first >> 48].map(uniform);
    let noise = uniform(second) + uniform(second >> 16) + uniform(second >> 32);
    let [a, b, c, d] = row;
    (row, (1.3 * a).sin() + 0.5 * b * c + 0.3 * d * d + 0.196 * noise)
}

/// Return a device with landmarks, whose features are standard.
fn device() -> Device {
    let mut numbers = SplitMix64::seeded(1);
    let table: Vec<[f32; D]> = (0..400).map(|_| reading(&mut numbers).0).collect();
    let standard = Standard { means: [0.0; D], scales: [1.0; D], target_mean: 0.0, target_scale: 1.0 };
    let mut learner = Device::new();
    learner.start_scaled(Gaussian::new(3.0).unwrap(), &standard).unwrap();
    assert_eq!(learner.select(&table, &mut Random::seeded(7)).unwrap(), C);
    learner
}

/// Return the features and the targets of some rows, on the landmarks of [`device`].
fn features(seed: u64, count: usize) -> Vec<([f32; C], f32)> {
    let rows = device().rows().as_flattened().to_vec();
    let ground = Points::new(&rows, D, Gaussian::new(3.0_f32).unwrap()).unwrap();
    let mut room = Room::new(C);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    (0..C).for_each(|at| landmarks.push(at).unwrap());
    let nystrom = Nystrom::new(&landmarks);
    let mut numbers = SplitMix64::seeded(seed);
    let features = |_| {
        let ((row, target), mut phi) = (reading(&mut numbers), [0.0; C]);
        ground.column_at(&row, landmarks.members(), &mut phi).unwrap();
        nystrom.transform(&mut phi).unwrap();
        (phi, target)
    };
    (0..count).map(features).collect()
}

fn bits(numbers: impl Iterator<Item = f32>) -> Vec<u32> {
    numbers.map(f32::to_bits).collect()
}

fn add<T: Scalar>(ridge: &mut RidgeRegression<'_, T>, rows: &[([f32; C], f32)]) {
    let wide = |value: f32| T::from_f64(f64::from(value));
    rows.iter().for_each(|(phi, target)| ridge.add(&phi.map(wide), wide(*target)).unwrap());
}

/// The errors of weights on rows that were not learned, and how far their predictions are apart: roots of
/// means of squares.
fn compare(found: &[f32], expected: &[f64]) -> [f64; 3] {
    let mut sums = [0.0; 3];
    let test = features(99, 5_000);
    for (phi, target) in &test {
        let found: f64 = phi.iter().zip(found).map(|(phi, w)| f64::from(*phi) * f64::from(*w)).sum();
        let expected: f64 = phi.iter().zip(expected).map(|(phi, w)| f64::from(*phi) * w).sum();
        let target = f64::from(*target);
        for (sum, error) in sums.iter_mut().zip([found - target, expected - target, found - expected]) {
            *sum += error * error;
        }
    }
    sums.map(|sum| (sum / test.len() as f64).sqrt())
}

/// Solve both; the errors on rows that were not learned agree within 10⁻⁴, predictions within 10⁻³, and what
/// the regressions say of their error within 10⁻⁴.
fn assert_agree(single: &mut RidgeRegression<'_, f32>, double: &mut RidgeRegression<'_, f64>, scale: f64) {
    let (mut found, mut expected) = ([0.0; C], [0.0; C]);
    solve_target(single, 0, GAMMA as f32, &mut found).unwrap();
    solve_target(double, 0, GAMMA, &mut expected).unwrap();
    let [f, d, apart] = compare(&found, &expected);
    let (rows, wide) = (f64::from(single.effective_rows()), scale * double.effective_rows());
    let trained = |error: f64, rows: f64| (error / rows).sqrt();
    let of_single = trained(f64::from(squared_error(single, 0, &found).unwrap()), rows);
    let of_double = trained(scale * squared_error(double, 0, &expected).unwrap(), wide);
    println!(
        "{} rows, N {rows:e}: {f:.6} {d:.6}, apart {apart:.1e}, trained {of_single} {of_double}",
        single.rows()
    );
    assert!((rows / wide - 1.0).abs() < 1e-5, "{rows} {wide}");
    assert!((f / d - 1.0).abs() < 1e-4 && apart < 1e-3, "{f} {d} {apart:e}");
    assert!((of_single / of_double - 1.0).abs() < 1e-4, "{of_single} {of_double}");
}

/// 4·10⁷ rows, or those that `ROWS` says: 2¹⁶ of them over and over, so that `f64` needs to learn them once.
/// Of 10⁷ it would not be seen if the compensation of the residual sum of squares were rounded away.
#[test]
fn forty_million_rows_are_learned_as_in_double_precision() {
    let most = std::env::var("ROWS").map_or(40_000_000, |rows| rows.parse::<u64>().unwrap());
    let rows = features(2, 1 << 16);
    let (mut narrow, mut wide) = (RidgeRoom::new(C), RidgeRoom::new(C));
    let mut single = RidgeRegression::new(C, narrow.lend()).unwrap();
    let mut double = RidgeRegression::new(C, wide.lend()).unwrap();
    add(&mut double, &rows);
    let passes = most.div_ceil(1 << 16);
    (0..passes).for_each(|_| add(&mut single, &rows));
    assert_agree(&mut single, &mut double, passes as f64);
}

#[test]
fn any_forgetting_agrees_with_double_precision() {
    let rows = features(2, 1 << 16);
    for lambda in [0.9_f32, 0.99, 0.999, 0.999_9, 0.999_99, 0.999_999, 0.999_999_9, 0.999_999_94, 0.6, 0.3] {
        let (mut narrow, mut wide) = (RidgeRoom::new(C), RidgeRoom::new(C));
        let mut single = RidgeRegression::new(C, narrow.lend()).unwrap();
        let mut double = RidgeRegression::new(C, wide.lend()).unwrap();
        let needed = (3.0 / (1.0 - lambda)) as usize;
        for row in rows.iter().cycle().take(needed.clamp(100_000, 2_000_000)) {
            single.forget(lambda).unwrap();
            double.forget(f64::from(lambda)).unwrap();
            add(&mut single, core::slice::from_ref(row));
            add(&mut double, core::slice::from_ref(row));
        }
        assert_agree(&mut single, &mut double, 1.0);
    }
}

/// The learner keeps its earlier rows beside its factor: whatever is called between them, they are those of a
/// regression.
#[test]
fn a_learner_keeps_its_earlier_rows() {
    let mut learner = device();
    let mut room = RidgeRoom::new(C);
    let mut ridge = RidgeRegression::new(C, room.lend()).unwrap();
    // The landmarks are in the order of the learner's factor in neither: compare predictions.
    let rows = features(2, 3 * APART);
    let mut numbers = SplitMix64::seeded(2);
    for (at, (phi, target)) in rows.iter().enumerate() {
        let (row, same) = reading(&mut numbers);
        assert_eq!(*target, same);
        learner.learn(&row, *target).unwrap();
        ridge.add(phi, *target).unwrap();
        if at % 10_000 == 0 && at > 0 {
            learner.residual(&row).unwrap();
            learner.solve(GAMMA as f32).unwrap();
            let _ = ridge.solve(GAMMA as f32).unwrap();
            assert!(learner.assess(&row).unwrap().variance.is_some());
        }
    }
    let trained = learner.solve(GAMMA as f32).unwrap();
    let squared_error = ridge.solve(GAMMA as f32).unwrap().squared_error;
    assert!((trained / (squared_error / rows.len() as f32).sqrt() - 1.0).abs() < 1e-5, "{trained}");
}

/// A learner in a precision on the landmarks of [`device`].
fn device_of<T: Scalar>() -> Learner<C, D, Gaussian<T>, T> {
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    let standard = Standard { means: [zero; D], scales: [one; D], target_mean: zero, target_scale: one };
    let mut learner = Learner::new();
    learner.start_scaled(Gaussian::new(T::from_f64(3.0)).unwrap(), &standard).unwrap();
    for row in device().rows() {
        learner.offer(&narrow(*row), &mut Random::seeded(7)).unwrap();
    }
    learner.freeze_landmarks().unwrap();
    learner
}

fn narrow<T: Scalar>(row: [f32; D]) -> [T; D] {
    row.map(|value| T::from_f64(f64::from(value)))
}

fn learn<T: Scalar>(learner: &mut Learner<C, D, Gaussian<T>, T>, seed: u64, lambda: f32, count: usize) {
    let mut numbers = SplitMix64::seeded(seed);
    for _ in 0..count {
        let (row, target) = reading(&mut numbers);
        learner.forget(T::from_f64(f64::from(lambda))).unwrap();
        learner.learn(&narrow(row), T::from_f64(f64::from(target))).unwrap();
    }
    learner.solve(T::from_f64(GAMMA)).unwrap();
}

/// How far the predictions of two learners are apart: the root of the mean square.
fn apart<T: Scalar>(one: &Device, other: &Learner<C, D, Gaussian<T>, T>) -> f64 {
    let mut numbers = SplitMix64::seeded(98);
    let squares = (0..500).map(|_| {
        let row = reading(&mut numbers).0;
        (f64::from(one.predict(&row).unwrap()) - other.predict(&narrow(row)).unwrap().to_f64()).powi(2)
    });
    (squares.sum::<f64>() / 500.0).sqrt()
}

/// An exchange takes the earlier rows along, and leaves what it leaves in `f64`, where there is one triangle.
#[test]
fn an_exchange_takes_all_levels_along() {
    let (mut single, mut double) = (device_of::<f32>(), device_of::<f64>());
    learn(&mut single, 2, 0.999_99, 2 * APART + 300);
    learn(&mut double, 2, 0.999_99, 2 * APART + 300);
    println!("before an exchange: apart {:.1e}", apart(&single, &double));
    assert!(apart(&single, &double) < 1e-4);
    let before = single.clone();
    // A row that no landmark explains.
    let far = [4.0; D];
    let places = (0..=2 * C).filter_map(|_| {
        let exchanges = (single.exchange(&far).unwrap(), double.exchange(&narrow(far)).unwrap());
        assert_eq!(exchanges.0, exchanges.1);
        matches!(exchanges.0, Exchange::Replaced { .. }).then_some(())
    });
    assert_eq!(places.count(), 1);
    let (moved, apart) = (apart(&before, &single), apart(&single, &double));
    println!("after: moved {moved:.1e}, apart {apart:.1e}");
    assert!(apart < 0.1 * moved && apart < 1e-3, "{moved:e} {apart:e}");
    learn(&mut single, 3, 0.999_99, APART);
    learn(&mut double, 3, 0.999_99, APART);
    assert!(self::apart(&single, &double) < 1e-3);
}

/// What is saved goes on bit for bit as the one that saved it, and up to rounding as one that was never
/// saved.
#[test]
fn a_learner_that_is_saved_goes_on_as_its_reader() {
    let (mut never, mut other) = (device_of::<f32>(), Device::new());
    learn(&mut never, 2, 0.999_99, APART + 300);
    let mut saved = never.clone();
    let mut bytes = [0; Device::STATE];
    saved.write_state([0; 16], &mut bytes).unwrap();
    other.read_state(Gaussian::new(3.0).unwrap(), &bytes).unwrap();
    for learner in [&mut never, &mut saved, &mut other] {
        learn(learner, 3, 0.999_99, APART + 10);
    }
    let weights = [&saved, &other].map(|learner| bits(learner.model().unwrap().weights().iter().copied()));
    assert_eq!(weights[0], weights[1]);
    let apart = apart(&never, &saved);
    println!("saved and never saved: apart {apart:.1e}");
    assert!(apart < 1e-4, "{apart:e}");
    assert_eq!([&never, &saved, &other].map(|learner| learner.learned() as usize), [2 * APART + 310; 3]);
}
