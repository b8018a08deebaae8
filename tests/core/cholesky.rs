//! The factor compared with an independent one, over sizes and conditions, and after members were added and
//! removed.

use dpp_nystrom_core::{Cholesky, Error, FactorMemory, Scalar, Workspace};
use dpp_nystrom_tests::dense;
use dpp_nystrom_tests::determinant::principal;
use dpp_nystrom_tests::ground::{converted, geometric, with_spectrum};
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::snapshot::{FactorSnapshot, bits};

/// Append the members of a row-major matrix.
fn append_all<T: Scalar>(factor: &mut Cholesky<'_, T>, matrix: &[T], n: usize, members: &[usize]) {
    for (place, &member) in members.iter().enumerate() {
        let column: Vec<T> = members[..place].iter().map(|&other| matrix[other * n + member]).collect();
        factor.append(&column, matrix[member * n + member]).unwrap();
    }
}

fn rows<T: Scalar>(factor: &Cholesky<'_, T>) -> Vec<Vec<f64>> {
    (0..factor.order()).map(|i| factor.row(i).iter().map(|entry| entry.to_f64()).collect()).collect()
}

/// The largest `|L Lᵀ - K|_ij / √(k_ii k_jj)`.
fn residual(rows: &[Vec<f64>], matrix: &[f64]) -> f64 {
    let n = rows.len();
    let mut worst = 0.0_f64;
    for i in 0..n {
        for j in 0..n {
            let product: f64 = rows[i].iter().zip(&rows[j]).map(|(x, y)| x * y).sum();
            let scale = (matrix[i * n + i] * matrix[j * n + j]).sqrt();
            worst = worst.max((product - matrix[i * n + j]).abs() / scale);
        }
    }
    worst
}

/// Higham, *Accuracy and Stability*, theorem 10.3: `|L Lᵀ - K| <= γ_{n+1} |L| |L|ᵀ`, whose entries are at
/// most `√(k_ii k_jj)`. `γ_{n+1}` is `(n + 1) u` for `u = ε/2`, with a margin for the rounding of the
/// residual in `f64`.
fn backward_error<T: Scalar>(n: usize) -> f64 {
    (n + 1) as f64 * (T::EPSILON.to_f64() / 2.0) * 1.01 + n as f64 * f64::EPSILON
}

fn against_faer<T: Scalar>(conditions: &[f64]) {
    for n in (1..=16).chain([21, 32, 33, 48, 63, 64]) {
        for (seed, &condition) in conditions.iter().enumerate() {
            let entries: Vec<T> = converted(&with_spectrum(&geometric(n, condition), seed as u64));
            let exact: Vec<f64> = entries.iter().map(|entry| entry.to_f64()).collect();
            let mut room = Room::new(n);
            let mut factor = Cholesky::new(room.lend().factor).unwrap();
            append_all(&mut factor, &entries, n, &(0..n).collect::<Vec<_>>());
            let appended = rows(&factor);
            assert!(residual(&appended, &exact) <= backward_error::<T>(n), "{n} {condition:e}");

            // The factor itself: a backward error δ moves L by δ κ ‖L‖ at most (Sun 1991), to first
            // order; that of the reference is not larger, and δ in the norm is n times that of an entry.
            let reference = dense::cholesky(&exact, n);
            let mut apart = 0.0;
            let mut norm = 0.0;
            for (i, row) in appended.iter().enumerate() {
                for (j, entry) in row.iter().enumerate() {
                    apart += (entry - reference[i * n + j]).powi(2);
                    norm += reference[i * n + j].powi(2);
                }
            }
            let bound = n as f64 * backward_error::<T>(n) * condition;
            assert!(apart.sqrt() <= 2.0 * bound * norm.sqrt(), "{n} {condition:e}: {apart:e}");

            // log det from the reference: n relative errors of pivots, amplified as above.
            let log_det: f64 = (0..n).map(|i| 2.0 * reference[i * n + i].ln()).sum();
            let slack = 2.0 * n as f64 * bound + T::EPSILON.to_f64() * n as f64 * log_det.abs();
            assert!((factor.log_det().to_f64() - log_det).abs() <= slack, "{n} {condition:e}");

            // The refactored one satisfies the same bound.
            factor.refactor(|i, j| entries[i * n + j]).unwrap();
            assert!(residual(&rows(&factor), &exact) <= backward_error::<T>(n), "{n} {condition:e}");

            solves_to_a_small_residual(&factor, &exact, n);
        }
    }
}

/// Higham, theorem 10.4: the solution is exact for a matrix perturbed by `γ_{3n+1} |L| |L|ᵀ`.
fn solves_to_a_small_residual<T: Scalar>(factor: &Cholesky<'_, T>, matrix: &[f64], n: usize) {
    let mut numbers = SplitMix64::seeded(n as u64);
    let right: Vec<T> = (0..n).map(|_| T::from_f64(numbers.normal())).collect();
    let mut x = right.clone();
    factor.solve(&mut x).unwrap();
    let x: Vec<f64> = x.iter().map(|entry| entry.to_f64()).collect();
    let gamma = (3 * n + 1) as f64 * T::EPSILON.to_f64() / 2.0 * 1.01 + n as f64 * f64::EPSILON;
    // Σ_j √k_jj |x_j| is the same for all rows.
    let scale: f64 = x.iter().enumerate().map(|(j, x)| matrix[j * n + j].sqrt() * x.abs()).sum();
    for (i, row) in matrix.chunks(n).enumerate() {
        let product: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
        let bound = gamma * matrix[i * n + i].sqrt() * scale;
        assert!((product - right[i].to_f64()).abs() <= bound, "{n}");
    }
    // The two halves give the same bits as the whole.
    let mut halves = right.clone();
    factor.solve_lower(&mut halves).unwrap();
    factor.solve_upper(&mut halves).unwrap();
    let mut whole = right;
    factor.solve(&mut whole).unwrap();
    assert_eq!(bits(&halves), bits(&whole));
}

#[test]
fn the_factor_is_the_reference_in_f64() {
    against_faer::<f64>(&[1.0, 1e2, 1e4, 1e8, 1e12]);
}

#[test]
fn the_factor_is_the_reference_in_f32() {
    against_faer::<f32>(&[1.0, 1e2, 1e4, 1e5]);
}

/// Add and remove random members, and compare with a plain list.
fn through_comings_and_goings<T: Scalar>(condition: f64) {
    const N: usize = 20;
    const CAPACITY: usize = 12;
    let entries: Vec<T> = converted(&with_spectrum(&geometric(N, condition), 7));
    let exact: Vec<f64> = entries.iter().map(|entry| entry.to_f64()).collect();
    let mut numbers = SplitMix64::seeded(8);
    let mut room = Room::new(CAPACITY);
    let mut factor = Cholesky::new(room.lend().factor).unwrap();
    let mut members: Vec<usize> = Vec::new();
    let mut calls = [0; 5];
    for call in 0..4_000 {
        let outside = loop {
            let row = numbers.below(N);
            if !members.contains(&row) {
                break row;
            }
        };
        let column: Vec<T> = members.iter().map(|&member| entries[member * N + outside]).collect();
        let diagonal = entries[outside * N + outside];
        let kind = numbers.below(5);
        let place = if members.is_empty() { 0 } else { numbers.below(members.len()) };
        match kind {
            0 | 1 if members.len() < CAPACITY => {
                factor.append(&column, diagonal).unwrap();
                members.push(outside);
            }
            2 if !members.is_empty() => {
                factor.remove(place).unwrap();
                members.remove(place);
            }
            3 if !members.is_empty() => {
                factor.move_to_last(place).unwrap();
                let moved = members.remove(place);
                members.push(moved);
            }
            4 if !members.is_empty() => {
                let before = factor.log_det().to_f64();
                let swap = factor.replace(place, &column, diagonal).unwrap();
                members.remove(place);
                members.push(outside);
                let moved = factor.log_det().to_f64() - before;
                let slack = T::EPSILON.to_f64() * (16 * CAPACITY) as f64 * (1.0 + before.abs());
                assert!((moved - swap.log_ratio().to_f64()).abs() < slack, "{call}");
            }
            _ => continue,
        }
        calls[kind] += 1;
        assert_eq!(factor.order(), members.len());
        assert!((0..members.len()).all(|i| factor.pivot(i) > T::ZERO && factor.row(i).len() == i + 1));
        // A member remains for some twenty calls, each of which applies c/2 rotations to its row: a random
        // walk of 100 steps of ε/2, well within twice the bound of a fresh factor.
        let of_members = principal(&exact, N, &members);
        let error = residual(&rows(&factor), &of_members);
        assert!(error <= 2.0 * backward_error::<T>(CAPACITY), "{call}: {error:e}");
    }
    assert!(calls.iter().all(|&count| count > 300), "{calls:?}");
}

#[test]
fn members_come_and_go() {
    through_comings_and_goings::<f64>(10.0);
    through_comings_and_goings::<f64>(1e10);
    through_comings_and_goings::<f32>(10.0);
    through_comings_and_goings::<f32>(1e4);
}

#[test]
fn moving_the_last_to_the_last_changes_nothing_and_past_the_end_is_an_error() {
    let entries = with_spectrum(&geometric(5, 100.0), 3);
    let mut room = Room::new(5);
    let mut factor = Cholesky::new(room.lend().factor).unwrap();
    append_all(&mut factor, &entries, 5, &[0, 1, 2, 3, 4]);
    let before = FactorSnapshot::new(&factor);
    factor.move_to_last(4).unwrap();
    assert_eq!(FactorSnapshot::new(&factor), before);
    for index in [5, usize::MAX] {
        assert_eq!(factor.move_to_last(index), Err(Error::OutOfRange { index, len: 5 }));
        assert_eq!(factor.remove(index), Err(Error::OutOfRange { index, len: 5 }));
    }
    factor.truncate(5);
    factor.truncate(usize::MAX);
    assert_eq!(FactorSnapshot::new(&factor), before);
}

#[test]
fn a_truncated_factor_is_that_of_the_first_members_bit_for_bit() {
    let entries = with_spectrum(&geometric(5, 100.0), 4);
    let mut room = Room::new(5);
    let mut factor = Cholesky::new(room.lend().factor).unwrap();
    append_all(&mut factor, &entries, 5, &[4, 1, 3]);
    let three = FactorSnapshot::new(&factor);
    factor.append(&[entries[4], entries[1], entries[3]], entries[0]).unwrap();
    factor.truncate(3);
    assert_eq!(FactorSnapshot::new(&factor), three);
    // Removing the last is the same.
    factor.append(&[entries[4], entries[1], entries[3]], entries[0]).unwrap();
    factor.remove(3).unwrap();
    assert_eq!(FactorSnapshot::new(&factor), three);
}

/// Identity, with the row at `place` made dependent on the one before it (or zero, at place 0).
fn singular_at(place: usize, n: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        matrix[i * n + i] = 1.0;
    }
    if place == 0 {
        matrix[0] = 0.0;
    } else {
        matrix[place * n + place - 1] = 1.0;
        matrix[(place - 1) * n + place] = 1.0;
    }
    matrix
}

#[test]
fn the_pivot_in_the_error_is_the_dependent_one() {
    const N: usize = 6;
    for place in 0..N {
        let entries = singular_at(place, N);
        let mut room = Room::new(N);
        let mut factor = Cholesky::new(room.lend().factor).unwrap();
        append_all(&mut factor, &entries, N, &(0..place).collect::<Vec<_>>());
        let column: Vec<f64> = (0..place).map(|i| entries[i * N + place]).collect();
        let before = FactorSnapshot::new(&factor);
        let refused = factor.append(&column, entries[place * N + place]);
        assert_eq!(refused, Err(Error::NotPositive { pivot: place }));
        assert_eq!(FactorSnapshot::new(&factor), before);

        // The same, refactoring an identity to it.
        let mut room = Room::new(N);
        let mut factor = Cholesky::new(room.lend().factor).unwrap();
        for order in 0..N {
            factor.append(&vec![0.0; order], 1.0).unwrap();
        }
        let before = FactorSnapshot::new(&factor);
        let refused = factor.refactor(|i, j| entries[i * N + j]);
        assert_eq!(refused, Err(Error::NotPositive { pivot: place }));
        assert_eq!(FactorSnapshot::new(&factor), before);
    }
    // An entering member that depends on those that remain is at the last place.
    let mut room = Room::new(3);
    let mut factor = Cholesky::new(room.lend().factor).unwrap();
    append_all(&mut factor, &singular_at(2, 3), 3, &[0, 2]);
    let before = FactorSnapshot::new(&factor);
    assert_eq!(factor.replace(0, &[0.0, 1.0], 1.0), Err(Error::NotPositive { pivot: 1 }));
    assert_eq!(FactorSnapshot::new(&factor), before);
}

/// Pivots on both sides of the bound `(k + 1) ε k(v, v)`: rounding errors are refused, small numbers are not.
fn the_floor_is_where_rounding_is<T: Scalar>() {
    let unit = T::EPSILON.to_f64();
    for (factor_of_floor, fits) in [(0.5, false), (2.0, true)] {
        let mut room = Room::new(2);
        let mut factor = Cholesky::<T>::new(room.lend().factor).unwrap();
        // [1, 1; 1, 1 + s]: the residual is s, and 1 + s is a number for s a multiple of ε.
        let s = 2.0 * factor_of_floor * unit;
        factor.append(&[], T::ONE).unwrap();
        assert_eq!(factor.append(&[T::ONE], T::from_f64(1.0 + s)).is_ok(), fits, "{factor_of_floor}");
    }
    // The bound is relative: a matrix of tiny entries is factored like any other.
    let mut room = Room::new(2);
    let mut factor = Cholesky::<T>::new(room.lend().factor).unwrap();
    factor.append(&[], T::from_f64(1e-30)).unwrap();
    factor.append(&[T::from_f64(0.5e-30)], T::from_f64(1e-30)).unwrap();
    assert_eq!(factor.order(), 2);
}

#[test]
fn noise_is_no_pivot() {
    the_floor_is_where_rounding_is::<f32>();
    the_floor_is_where_rounding_is::<f64>();
}

#[test]
fn odd_inputs_are_refused_and_nothing_panics() {
    let mut room = Room::new(2);
    let mut factor = Cholesky::<f64>::new(room.lend().factor).unwrap();
    let length = |expected, found| Error::Length { expected, found };
    assert_eq!(factor.append(&[1.0], 1.0), Err(length(0, 1)));
    assert_eq!(factor.swap(0, &[], 1.0), Err(Error::OutOfRange { index: 0, len: 0 }));
    assert_eq!(factor.replace(0, &[], 1.0), Err(Error::OutOfRange { index: 0, len: 0 }));
    assert_eq!(factor.remove(0), Err(Error::OutOfRange { index: 0, len: 0 }));
    assert_eq!(factor.move_to_last(0), Err(Error::OutOfRange { index: 0, len: 0 }));
    factor.refactor(|_, _| f64::NAN).unwrap();
    factor.solve(&mut []).unwrap();
    assert_eq!((factor.log_det(), factor.pivot(0), factor.row(0)), (0.0, 0.0, &[][..]));
    for diagonal in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(factor.append(&[], diagonal), Err(Error::NotFinite { row: 0, column: 0 }));
    }
    for diagonal in [0.0, -0.0, -1.0, -f64::MAX] {
        assert_eq!(factor.append(&[], diagonal), Err(Error::NotPositive { pivot: 0 }));
    }
    factor.append(&[], 2.0).unwrap();
    factor.append(&[1.0], 2.0).unwrap();
    let before = FactorSnapshot::new(&factor);
    assert_eq!(factor.append(&[0.0, 0.0], 1.0), Err(Error::Capacity { needed: 3, have: 2 }));
    assert_eq!(factor.append(&[0.0], 1.0), Err(length(2, 1)));
    assert_eq!(factor.swap(0, &[0.0], 1.0), Err(length(2, 1)));
    assert_eq!(factor.swap(2, &[0.0, 0.0], 1.0), Err(Error::OutOfRange { index: 2, len: 2 }));
    assert_eq!(factor.swap(0, &[0.0, f64::NAN], 1.0), Err(Error::NotFinite { row: 2, column: 1 }));
    assert_eq!(factor.replace(0, &[0.0, 0.0], f64::NAN), Err(Error::NotFinite { row: 2, column: 2 }));
    assert_eq!(factor.refactor(|_, _| f64::INFINITY), Err(Error::NotFinite { row: 0, column: 0 }));
    // Entries so large that a square overflows: refused, not factored to infinities.
    assert!(factor.replace(0, &[1e200, 1e200], 1e200).is_err());
    for mut wrong in [vec![], vec![1.0], vec![1.0; 3]] {
        let found = wrong.len();
        assert_eq!(factor.solve(&mut wrong), Err(length(2, found)));
        assert_eq!(factor.solve_lower(&mut wrong), Err(length(2, found)));
        assert_eq!(factor.solve_upper(&mut wrong), Err(length(2, found)));
        assert_eq!(wrong, vec![1.0; found]);
    }
    assert_eq!(FactorSnapshot::new(&factor), before);
}

#[test]
fn memory_is_checked_where_it_enters() {
    let memory = |square: usize, column: usize, rotations: usize| {
        let mut square = vec![0.0_f32; square];
        let mut column = vec![0.0_f32; column];
        let mut rotations = vec![[0.0_f32; 2]; rotations];
        let memory = FactorMemory { square: &mut square, column: &mut column, rotations: &mut rotations };
        Cholesky::new(memory).map(|factor| factor.capacity())
    };
    assert_eq!(memory(9, 3, 3), Ok(3));
    assert_eq!(memory(100, 3, 5), Ok(3));
    assert_eq!(memory(8, 3, 3), Err(Error::Capacity { needed: 9, have: 8 }));
    assert_eq!(memory(9, 3, 2), Err(Error::Capacity { needed: 3, have: 2 }));
    assert_eq!(memory(0, 0, 0), Ok(0));

    // A factor without capacity refuses members and does everything else.
    let mut none = Workspace::<f64, 0>::new();
    let mut factor = Cholesky::new(none.lend().factor).unwrap();
    assert_eq!(factor.append(&[], 1.0), Err(Error::Capacity { needed: 1, have: 0 }));
    assert!(factor.replace(0, &[], 1.0).is_err());
    factor.refactor(|_, _| 1.0).unwrap();
    assert_eq!(factor.remove(0), Err(Error::OutOfRange { index: 0, len: 0 }));
    assert_eq!(factor.move_to_last(0), Err(Error::OutOfRange { index: 0, len: 0 }));
    assert_eq!(factor.log_det(), 0.0);
}
