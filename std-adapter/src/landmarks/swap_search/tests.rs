//! Tests of refinement: monotone error, unbiased sums, the exact sweep, and the limits of its options.

use crate::approximation::trace_error;
use crate::kernel::KernelKind;
use crate::landmarks::{Refinement, swap_search::draw, swap_search::refine};
use crate::observer::NoObserver;
use dpp_nystrom_core::{GroundSet, Points, Scalar};
use dpp_nystrom_host::elimination::{residuals, trace_residual};
use dpp_nystrom_host::rng::{RngStream, stream};
use dpp_nystrom_host::simd::lane::Ground;
use rand_core::Rng;
use std::time::Duration;

const WIDTH: usize = 3;

fn numbers(count: usize) -> Vec<f64> {
    let mut random = stream(1, RngStream::Rows);
    (0..count).map(|_| f64::from_draw(random.next_u32())).collect()
}

fn ground(rows: &[f64], sigma: f64) -> Ground<'_, f64> {
    Points::new(rows, WIDTH, KernelKind::Gaussian.build(sigma).unwrap()).unwrap()
}

#[test]
fn sums_over_drawn_rows_are_unbiased() {
    const DRAWS: u64 = 4_000;
    let residuals: Vec<f64> = numbers(400).iter().map(|u| u.powi(9)).collect();
    let landmarks = [7, 80, 3];
    let value = |row: usize| (1.0 + (row as f64).sin()) * (0.1 + residuals[row]);
    let free = (0..400).filter(|row| !landmarks.contains(row));
    let whole: f64 = free.map(value).sum();
    let (mut sums, mut count) = (Vec::new(), 0);
    for seed in 0..DRAWS {
        let drawn = draw(&landmarks, None, &residuals, 40, &mut stream(seed, RngStream::Refinement));
        assert!(drawn.rows.iter().all(|row| !landmarks.contains(row)));
        sums.push(drawn.rows.iter().zip(&drawn.weights).map(|(&row, w)| w * value(row)).sum::<f64>());
        count += drawn.rows.len();
    }
    let mean = sums.iter().sum::<f64>() / DRAWS as f64;
    let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (DRAWS - 1) as f64;
    let deviation = (variance / DRAWS as f64).sqrt();
    // A normal variable is beyond four standard deviations once in 16,000 times.
    assert!((mean - whole).abs() < 4.0 * deviation, "{mean} of {whole}, deviation {deviation}");
    assert!(deviation < 0.01 * whole, "too wide a net to catch anything");
    let count = count as f64 / DRAWS as f64;
    assert!((30.0..=41.0).contains(&count), "{count}");
}

/// A row with half of the total residual is always drawn, and the others at least in proportion to their
/// residuals.
#[test]
fn rows_that_carry_the_error_are_drawn() {
    const DRAWS: u64 = 2_000;
    let mut residuals = vec![0.1; 1_000];
    (residuals[400], residuals[401]) = (99.8, 5.0);
    let total: f64 = residuals.iter().sum();
    let mut often = [0.0; 3];
    for seed in 0..DRAWS {
        let drawn = draw(&[1, 2], None, &residuals, 20, &mut stream(seed, RngStream::Refinement));
        for (count, row) in often.iter_mut().zip([400, 401, 7]) {
            if let Some(at) = drawn.rows.iter().position(|&drawn| drawn == row) {
                *count += 1.0;
                let share = (20.0 * (0.5 / 1_000.0 + 0.5 * residuals[row] / total)).min(1.0);
                assert!((drawn.weights[at] - 1.0 / share).abs() < 1e-9, "{row}");
            }
        }
    }
    // 20 (1/2000 + 5/2 Σ) and 20 (1/2000 + 0.1/2 Σ) of the draws.
    for (count, share) in often.iter().zip([1.0, 0.01 + 50.0 / total, 0.01 + 1.0 / total]) {
        let deviation = (share * (1.0 - share) / DRAWS as f64).sqrt();
        assert!((count / DRAWS as f64 - share).abs() <= 4.0 * deviation, "{count} of {DRAWS}, {share}");
    }
}

/// A sweep over all rows ends where no exchange of a landmark for a row lowers the error.
#[test]
fn sweeps_over_all_rows_end_in_a_local_optimum() {
    let rows = numbers(90 * WIDTH);
    for sigma in [0.3, 0.8] {
        let ground = ground(&rows, sigma);
        let start = [4, 9, 17, 33, 2, 71, 50];
        let once = Refinement { sweeps: 1, sample: Some(usize::MAX), ..Refinement::default() };
        let run = |start: &[usize], refinement| {
            refine(&ground, start, refinement, &mut stream(0, RngStream::Refinement), &NoObserver).unwrap()
        };
        let refined = run(&start, once);
        let outcome = refined.outcome;
        assert!(outcome.sweeps == 1 && outcome.exchanges >= 3, "{outcome:?}");
        assert!((outcome.before - trace_residual(&ground, &start)).abs() < 1e-9);
        assert!((outcome.after - trace_residual(&ground, &refined.landmarks)).abs() < 1e-9);
        assert!(outcome.after < 0.8 * outcome.before, "{outcome:?}");
        // Sweeps stop once no exchange reduces the error.
        let rest = run(&start, Refinement { sweeps: 1_000, ..once });
        assert!(rest.outcome.after <= outcome.after && rest.outcome.sweeps < 100, "{:?}", rest.outcome);
        for leaving in 0..start.len() {
            for entering in (0..ground.len()).filter(|row| !rest.landmarks.contains(row)) {
                let mut other = rest.landmarks.clone();
                other[leaving] = entering;
                let error = trace_residual(&ground, &other);
                assert!(error > rest.outcome.after * (1.0 - 1e-6), "{leaving} {entering}: {error}");
            }
        }
    }
}

#[test]
fn the_outcome_is_never_worse_than_the_start() {
    let mut rows = numbers(300 * WIDTH);
    // Duplicates of rows, and perturbed duplicates.
    for at in 0..60 {
        for feature in 0..WIDTH {
            rows[(at + 100) * WIDTH + feature] = rows[at * WIDTH + feature];
            rows[(at + 200) * WIDTH + feature] = rows[at * WIDTH + feature] + 1e-4;
        }
    }
    for sigma in [0.05, 0.5, 5.0, 100.0] {
        let ground = ground(&rows, sigma);
        for (sample, start) in [
            (3, vec![0, 1, 2, 3, 4, 5, 6, 7]),
            (3, vec![0, 200, 1, 201, 2, 202, 7, 8]),
            (20, vec![0, 100, 1, 101, 2, 102, 3, 103]),
            (300, vec![290, 280, 270]),
        ] {
            let refinement = Refinement { sweeps: 4, sample: Some(sample), ..Refinement::default() };
            for seed in 0..5 {
                let refined = refine(
                    &ground,
                    &start,
                    refinement,
                    &mut stream(seed, RngStream::Refinement),
                    &NoObserver,
                );
                let refined = match refined {
                    Ok(refined) => refined,
                    // The kernel is so wide that no eight rows are independent.
                    Err(error) => {
                        assert!(sigma > 10.0, "{sigma} {start:?}: {error}");
                        continue;
                    }
                };
                let (before, after) = (
                    trace_error(&ground, &start).unwrap().error,
                    trace_error(&ground, &refined.landmarks).unwrap().error,
                );
                // Two implementations of the exponential differ by 1e-16, multiplied by the condition number
                // of the landmarks' matrix: a row 1e-4 from another leaves pivots down to 1e-12, and changes
                // the fourth digit of a residual.
                let rounding = 1e-8 + 1e-3 * after;
                assert!(refined.outcome.after <= refined.outcome.before, "{sigma} {start:?}");
                assert!(after <= before + rounding, "{sigma} {start:?}: {before:e} {after:e}");
                assert!(
                    (refined.outcome.after - after).abs() <= rounding,
                    "{sigma} {start:?}: {after:e} and not {:e}, {:?}",
                    refined.outcome.after,
                    refined.landmarks
                );
                assert!(refined.landmarks.is_sorted() && refined.landmarks.len() == start.len());
            }
        }
    }
}

#[test]
fn the_ends_of_the_ranges() {
    let rows = numbers(60 * WIDTH);
    let ground = ground(&rows, 0.2);
    let run = |start: &[usize], refinement| {
        refine(&ground, start, refinement, &mut stream(3, RngStream::Refinement), &NoObserver).unwrap()
    };
    let all: Vec<usize> = (0..60).collect();
    let usual = Refinement::default();
    assert_eq!(run(&all, usual).landmarks, all);
    assert_eq!(run(&all, usual).outcome.exchanges, 0);
    // The row omitted from the best N - 1 landmarks is the one with the smallest residual given the others.
    let missed_of = |v: usize| {
        let others: Vec<usize> = all.iter().copied().filter(|&row| row != v).collect();
        residuals(&ground, &others)[v][v]
    };
    let least = all.iter().copied().min_by(|&v, &w| missed_of(v).total_cmp(&missed_of(w))).unwrap();
    let one_less = run(&all[1..], Refinement { sweeps: 100, ..usual }).landmarks;
    let left_out: Vec<usize> = all.iter().copied().filter(|row| !one_less.contains(row)).collect();
    assert_eq!(left_out.len(), 1);
    assert!(missed_of(left_out[0]) <= missed_of(0));
    assert!(missed_of(left_out[0]) >= missed_of(least));
    // One landmark: the best single row.
    let columns = residuals(&ground, &[]);
    let drop = |v: usize| columns[v].iter().map(|entry| entry * entry).sum::<f64>();
    let best = all.iter().copied().max_by(|&v, &w| drop(v).total_cmp(&drop(w))).unwrap();
    assert_eq!(run(&[40], usual).landmarks, [best]);
    // A zero budget allows no sweep.
    let none = run(&[1, 2, 3], Refinement { budget: Some(Duration::ZERO), ..usual });
    assert_eq!((none.landmarks, none.outcome.sweeps), (vec![1, 2, 3], 0));
    assert_eq!(none.outcome.before.to_bits(), none.outcome.after.to_bits());
    // A budget ends a search that sweeps do not: sampled sweeps have no exact stopping criterion.
    let brief =
        Refinement { sweeps: u64::MAX, sample: Some(10), budget: Some(Duration::from_millis(50)), ..usual };
    let stopped = run(&[1, 2, 3], brief);
    assert!(stopped.outcome.sweeps > 0 && stopped.outcome.after <= stopped.outcome.before);
    // The same seed selects the same rows.
    let few = Refinement { sample: Some(8), ..usual };
    assert_eq!(run(&[1, 2, 3], few), run(&[1, 2, 3], few));
}

#[test]
fn a_sample_of_the_rows_stands_for_all() {
    let rows = numbers(900 * WIDTH);
    let ground = ground(&rows, 0.4);
    let start = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    let refinement = Refinement { sweeps: 3, sample: Some(60), rows: 300, ..Refinement::default() };
    let run = |refinement| {
        refine(&ground, &start, refinement, &mut stream(2, RngStream::Refinement), &NoObserver).unwrap()
    };
    let some = run(refinement);
    assert_eq!(some.outcome.measured, 300);
    // A third of the rows has about a third of the total residual.
    let trace = trace_residual(&ground, &start);
    assert!((some.outcome.before / trace - 1.0 / 3.0).abs() < 0.05, "{} of {trace}", some.outcome.before);
    assert!(trace_residual(&ground, &some.landmarks) < 0.9 * trace);
    let all = run(Refinement { rows: 900, ..refinement });
    assert_eq!(all.outcome.measured, 900);
    assert!((all.outcome.before / trace - 1.0).abs() < 1e-9);
    // At least as many rows as landmarks are measured.
    let few = run(Refinement { rows: 1, ..refinement });
    assert_eq!((few.outcome.measured, few.landmarks.len()), (10, 10));
}
