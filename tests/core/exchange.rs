//! Exchanging landmarks with each row, beside other cadences and none: streams that stay as they are, whose
//! target drifts, or whose rows move.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Exchange, Learner, Random, Scalar};
use rand_core::Rng;

const C: usize = 16;
const D: usize = 4;
const ROWS: usize = 10_000;
const SEEDS: u64 = 8;
/// Rows between two calls of `exchange`; 0 for none.
const CADENCES: [usize; 5] = [0, 1, 10, 100, 500];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stream {
    /// Nothing changes.
    Still,
    /// The target turns from one function to another.
    Drift,
    /// Two of the features move away, by five deviations.
    Move,
}

struct Numbers(Random);

impl Numbers {
    fn normal(&mut self) -> f64 {
        let mut unit = || (f64::from(self.0.next_u32()) + 0.5) / 4_294_967_296.0;
        (-2.0 * unit().ln()).sqrt() * (core::f64::consts::TAU * unit()).cos()
    }

    /// The row at a time, and its target without noise.
    fn read(&mut self, stream: Stream, time: usize) -> ([f64; D], f64) {
        let share = time as f64 / ROWS as f64;
        let moved = if stream == Stream::Move { 5.0 * share } else { 0.0 };
        let x: [f64; D] = std::array::from_fn(|i| self.normal() + if i < 2 { moved } else { 0.0 });
        let angle = if stream == Stream::Drift { 5.0 * share } else { 0.0 };
        (x, angle.cos() * x[0].sin() + angle.sin() * x[1].cos() * x[2].sin() + 0.15 * x[3])
    }
}

fn narrow<T: Scalar>(row: &[f64; D]) -> [T; D] {
    row.map(T::from_f64)
}

/// The squared error of predictions after the first thousand rows, before each 20th is learned, and the
/// number of exchanges.
fn run<T: Scalar>(stream: Stream, lambda: f64, every: usize, seed: u64) -> (f64, u32) {
    let mut learner = Learner::<C, D, Gaussian<T>, T>::new();
    let (mut random, mut numbers) = (Random::seeded(seed), Numbers(Random::seeded(1_000 + seed)));
    learner.start(Gaussian::new(T::from_f64(3.0)).unwrap());
    for _ in 0..100 {
        let (row, target) = numbers.read(stream, 0);
        learner.scale(&narrow(&row), T::from_f64(target)).unwrap();
    }
    learner.freeze_scaling().unwrap();
    for _ in 0..300 {
        learner.offer(&narrow(&numbers.read(stream, 0).0), &mut random).unwrap();
    }
    learner.freeze_landmarks().unwrap();
    let (mut squares, mut exchanged) = (0.0, 0);
    for time in 0..ROWS {
        let (row, target) = numbers.read(stream, time);
        let row = narrow(&row);
        if time >= 1_000 && time % 20 == 0 {
            learner.solve(T::from_f64(1e-5)).unwrap();
            squares += (learner.predict(&row).unwrap().to_f64() - target).powi(2);
        }
        learner.forget(T::from_f64(lambda)).unwrap();
        learner.learn(&row, T::from_f64(target + 0.1 * numbers.normal())).unwrap();
        if every > 0 && time % every == every - 1 {
            let exchange = learner.exchange(&row).unwrap();
            exchanged += u32::from(matches!(exchange, Exchange::Replaced { .. }));
        }
    }
    (squares / (ROWS / 20) as f64, exchanged)
}

fn with_each_row<T: Scalar>(stream: Stream) {
    for lambda in [0.99, 0.999, 1.0] {
        let results = CADENCES.map(|every| {
            let runs: Vec<_> = (0..SEEDS).map(|seed| run::<T>(stream, lambda, every, seed)).collect();
            let mean = runs.iter().map(|run| run.0).sum::<f64>() / SEEDS as f64;
            (mean.sqrt(), runs.iter().map(|run| run.1).sum::<u32>() / SEEDS as u32)
        });
        println!(
            "{stream:?}, lambda {lambda}: error (exchanges) for calls each {CADENCES:?} rows {results:.3?}"
        );
        let best = results.iter().map(|result| result.0).fold(f64::MAX, f64::min);
        let [(never, _), (each, exchanges), ..] = results;
        assert!(each <= 1.05 * best, "{stream:?} {lambda}: {each} {best}");
        if stream == Stream::Move {
            assert!(each < 0.9 * never && exchanges > 10, "{lambda}: {each} {never}, {exchanges} exchanges");
        } else {
            assert!(exchanges < 10, "{lambda}: {exchanges} exchanges");
        }
    }
}

#[test]
fn of_a_stream_that_stays() {
    with_each_row::<f32>(Stream::Still);
    with_each_row::<f64>(Stream::Still);
}

#[test]
fn of_a_target_that_drifts() {
    with_each_row::<f32>(Stream::Drift);
    with_each_row::<f64>(Stream::Drift);
}

#[test]
fn of_rows_that_move() {
    with_each_row::<f32>(Stream::Move);
    with_each_row::<f64>(Stream::Move);
}

/// What an exchange says of each row.
#[test]
fn reasons_to_decline() {
    let mut learner = Learner::<2, 1>::new();
    let (mut random, standard) = (
        Random::seeded(1),
        dpp_nystrom_core::Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 },
    );
    learner.start_scaled(Gaussian::new(1.0).unwrap(), &standard).unwrap();
    learner.select(&[[-1.0], [1.0]], &mut random).unwrap();
    let learn = |learner: &mut Learner<2, 1>, rows: &[f32]| {
        rows.iter().for_each(|&x| learner.learn(&[x], x).unwrap());
    };
    learn(&mut learner, &[-1.0, 1.0, 0.9]);
    assert_eq!(learner.exchange(&[3.0]), Ok(Exchange::FewRows));
    learn(&mut learner, &[-0.9, -1.1, 1.1]);
    assert_eq!(learner.exchange(&[1.0]), Ok(Exchange::Dependent));
    // A row like no other gains nothing.
    for row in [9.0, -1.0, 1.0, 0.9] {
        assert_eq!(learner.exchange(&[row]), Ok(Exchange::OnTrial));
    }
    assert_eq!(learner.exchange(&[-0.9]), Ok(Exchange::NoGain));
    // One that all others are like does, where a landmark is of no use any more.
    learner.forget(0.5).unwrap();
    learn(&mut learner, &[1.0; 20]);
    for row in [4.0, 4.1, 3.9, 4.0] {
        assert_eq!(learner.exchange(&[row]), Ok(Exchange::OnTrial));
    }
    let place = learner.rows().iter().position(|row| row[0] == -1.0).unwrap();
    assert_eq!(learner.exchange(&[4.0]), Ok(Exchange::Replaced { place }));
    assert_eq!(learner.rows()[place], [4.0]);
    let progress = learner.progress();
    assert_eq!((progress.proposed, progress.accepted), (2, 1));
    assert_eq!(learner.exchange(&[4.0]), Ok(Exchange::Dependent));
}
