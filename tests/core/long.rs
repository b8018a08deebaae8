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

/// Add rows, the latest first, in `f64` and without forgetting: each times the root of what it counts, which
/// is `last` for the latest and λ times less for each before it.
fn add_discounted<'r, const K: usize>(
    ridge: &mut RidgeRegression<'_, f64>,
    rows: impl Iterator<Item = &'r ([f32; C], f32)>,
    lambda: f32,
    last: f64,
    targets: impl Fn(f32) -> [f32; K],
) {
    let (mut counts, mut effective) = (last, 0.0);
    for (phi, target) in rows {
        let times_root = |value: f32| counts.sqrt() * f64::from(value);
        ridge.add_row(&phi.map(times_root), &targets(*target).map(times_root)).unwrap();
        effective += counts;
        counts *= f64::from(lambda);
        // What is left is rounding error.
        if counts < 1e-24 {
            break;
        }
    }
    ridge.count_as(effective).unwrap();
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
        let count = ((3.0 / (1.0 - lambda)) as usize).clamp(100_000, 2_000_000);
        for row in rows.iter().cycle().take(count) {
            single.forget(lambda).unwrap();
            add(&mut single, core::slice::from_ref(row));
        }
        let latest_first = (0..count).rev().map(|at| &rows[at % rows.len()]);
        add_discounted(&mut double, latest_first, lambda, 1.0, |target| [target]);
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
    assert!(moved > 1e-2 && apart < 1e-4, "{moved:e} {apart:e}");
    learn(&mut single, 3, 0.999_99, APART);
    learn(&mut double, 3, 0.999_99, APART);
    assert!(self::apart(&single, &double) < 1e-4);
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

/// Forgetting by a regression with several targets, over a fold, against one in `f64`; and its state.
#[test]
fn states_and_merges_take_all_levels_along() {
    const TARGETS: usize = 3;
    let rows = features(2, APART + 5_000);
    let further = || vec![f32::NAN; RidgeRegression::<f32>::further_numbers(C, TARGETS)];
    let mut rooms: [_; 4] = std::array::from_fn(|_| (RidgeRoom::<f32>::new(C), further()));
    let mut ridges: Vec<_> = rooms
        .iter_mut()
        .map(|(room, further)| RidgeRegression::with_targets(C, TARGETS, room.lend(), further).unwrap())
        .collect();
    let mut wide = (RidgeRoom::<f64>::new(C), vec![0.0; RidgeRegression::<f64>::further_numbers(C, TARGETS)]);
    let mut double = RidgeRegression::with_targets(C, TARGETS, wide.0.lend(), &mut wide.1).unwrap();
    let [one, other, sum, read] = &mut ridges[..] else { unreachable!() };
    let targets = |target: f32| [target, -target, 2.0 * target + 1.0];
    let lambda = 0.999_98_f32;
    for ridge in [&mut *one, &mut *other] {
        for (phi, target) in &rows {
            ridge.forget(lambda).unwrap();
            ridge.add_row(phi, &targets(*target)).unwrap();
        }
    }
    // Two whose discounts differ, each over a fold.
    other.forget(0.7).unwrap();
    add_discounted(&mut double, rows.iter().rev(), lambda, 1.0 + f64::from(0.7_f32), targets);
    assert_eq!(one.numbers().err(), Some(Error::Unsettled));
    sum.merge(one).unwrap();
    sum.merge(other).unwrap();
    assert_eq!(sum.rows(), 2 * rows.len() as u64);
    assert_agree(sum, &mut double, 1.0);
    for k in 0..TARGETS {
        let (mut found, mut expected) = ([0.0; C], [0.0; C]);
        solve_target(sum, k, GAMMA as f32, &mut found).unwrap();
        solve_target(&mut double, k, GAMMA, &mut expected).unwrap();
        assert!(compare(&found, &expected)[2] < 1e-3, "{k}");
        let errors = [
            f64::from(squared_error(sum, k, &found).unwrap()),
            double.squared_error_of(k, &FeatureWeights::new(&mut expected)).unwrap(),
        ];
        assert!((errors[0] / errors[1] - 1.0).abs() < 1e-4, "{k}: {errors:?}");
    }

    let length = state_bytes_of::<f32>(C, TARGETS) + state_bytes_forgotten::<f32>();
    assert!(length > state_bytes::<f32>(C));
    let mut bytes = vec![0; length];
    assert_eq!(one.write_state_from(Origin { device: 0, counter: 0 }, 7, &mut bytes).unwrap(), length);
    read.read_state(7, &bytes).unwrap();
    assert!(read.numbers().unwrap().eq(one.numbers().unwrap()));
    let effective = one.effective_rows();
    assert_eq!(read.effective_rows(), effective);
    for ridge in [&mut *one, &mut *read] {
        for (phi, target) in rows.iter().take(100) {
            ridge.forget(lambda).unwrap();
            ridge.add_row(phi, &targets(*target)).unwrap();
        }
        ridge.settle().unwrap();
    }
    assert_eq!(bits(one.numbers().unwrap()), bits(read.numbers().unwrap()));
}

/// What a solution says is the same before and after the triangles are folded, and one row is enough to see
/// it.
#[test]
fn solutions_read_both_triangles() {
    let rows = features(2, APART + 300);
    let mut room = RidgeRoom::<f32>::new(C);
    let mut ridge = RidgeRegression::new(C, room.lend()).unwrap();
    add(&mut ridge, &rows);
    let mut weights = [[0.0; C]; 2];
    let mut said = [[0.0; 3]; 2];
    for (weights, said) in weights.iter_mut().zip(&mut said) {
        solve_target(&mut ridge, 0, 1e-4, weights).unwrap();
        let variance = ridge.variance(0.1, &mut rows[0].0.clone()).unwrap();
        *said = [squared_error(&ridge, 0, weights).unwrap(), ridge.effective_rows(), variance];
        ridge.settle().unwrap();
    }
    assert!(said[0].iter().zip(&said[1]).all(|(one, other)| (one / other - 1.0).abs() < 1e-4), "{said:?}");
    assert!(compare(&weights[0], &weights[1].map(f64::from))[2] < 1e-4);
}

/// The sensor delivers nothing, and the device forgets at each tick.
#[test]
fn forgetting_without_rows_is_refused_by_name() {
    let mut learner = device();
    let mut numbers = SplitMix64::seeded(2);
    for _ in 0..1_000 {
        let (row, target) = reading(&mut numbers);
        learner.forget(0.99).unwrap();
        learner.learn(&row, target).unwrap();
    }
    learner.solve(GAMMA as f32).unwrap();
    let row = [0.1, -0.2, 0.3, 0.4];
    let before = learner.predict(&row).unwrap();
    let mut refused = 0;
    for _ in 0..30_000 {
        assert!(matches!(learner.learn(&[f32::NAN; D], 1.0), Err(Error::NotFinite { .. })));
        match learner.forget(0.99) {
            Ok(()) => assert_eq!(refused, 0),
            Err(error) => {
                assert_eq!(error, Error::Forgotten);
                refused += 1;
            }
        }
        let trained = learner.solve(GAMMA as f32).unwrap();
        assert!(trained > 0.1 && trained < 1.0, "{trained}");
    }
    // 99.99 rows to 1/16 takes 734 ticks.
    assert_eq!(30_000 - refused, 734);
    assert!(learner.effective_rows() >= 0.0625 && learner.effective_rows() < 0.064);
    assert!((learner.predict(&row).unwrap() - before).abs() < 1e-3);
    for _ in 0..1_000 {
        let (row, target) = reading(&mut numbers);
        learner.learn(&row, target).unwrap();
        learner.forget(0.99).unwrap();
    }
    assert!(learner.solve(GAMMA as f32).unwrap() < 0.5);
}

#[test]
fn what_is_full_or_empty_says_so() {
    let mut rooms = [RidgeRoom::<f32>::new(2), RidgeRoom::new(2)];
    let [room, other] = &mut rooms;
    let mut ridge = RidgeRegression::new(2, room.lend()).unwrap();
    assert_eq!(ridge.forget(0.5), Ok(()));
    ridge.add(&[1.0, 0.5], 2.0).unwrap();
    let kept: Vec<f32> = ridge.numbers().unwrap().collect();
    ridge.restore((1 << 35) - 1, &kept).unwrap();
    ridge.count_as(34_000_000_000.0).unwrap();
    ridge.add(&[0.3, 0.5], 1.0).unwrap();
    ridge.restore(1 << 35, &kept).unwrap();
    let numbers: Vec<f32> = ridge.numbers().unwrap().collect();
    assert_eq!(ridge.add(&[0.3, 0.5], 1.0), Err(Error::RowCount));
    assert_eq!((ridge.rows(), numbers), (1 << 35, ridge.numbers().unwrap().collect()));
    let mut small = RidgeRegression::new(2, other.lend()).unwrap();
    small.add(&[0.3, 0.5], 1.0).unwrap();
    ridge.count_as(f32::MAX).unwrap();
    assert_eq!(small.merge(&ridge), Err(Error::RowCount));
    ridge.count_as(3e10).unwrap();
    // With some forgotten there is room.
    ridge.forget(0.9).unwrap();
    ridge.add(&[0.3, 0.5], 1.0).unwrap();

    // No solution is NaN.
    small.count_as(0.0).unwrap();
    assert_eq!(small.solve(1.0).err(), Some(Error::NoRows));
    assert_eq!(small.forget(0.5), Err(Error::Forgotten));
    small.count_as(1.0).unwrap();
    assert_eq!(small.solve(f32::MIN_POSITIVE / 4.0).err(), Some(Error::Ridge));
    small.add(&[0.3, -0.5], 1e25).unwrap();
    small.add(&[0.3, -0.5], -1e25).unwrap();
    assert_eq!(small.solve(1.0).err(), Some(Error::NotFinite { row: 3, column: 2 }));
    // A discount makes a row larger than a number can be.
    let kept = [0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0];
    small.restore(2, &kept).unwrap();
    small.forget(0.5).unwrap();
    assert_eq!(small.add(&[0.0, f32::MAX], 0.0), Err(Error::NotFinite { row: 2, column: 1 }));
}
