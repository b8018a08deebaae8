//! Every swap ratio is the quotient of two determinants.
//!
//! The determinants of integer Gram matrices are exact, so the error of a ratio from a Cholesky factor is
//! rounding alone: the factor is exact for a matrix perturbed by a small multiple of `c ε √(k_ii k_jj)`, and
//! `swap_condition` is the effect of that on the ratio.

use dpp_nystrom_core::{Acceptance, GroundSet, Landmarks, Matrix, Points, Scalar, kernel::Gaussian, start};
use dpp_nystrom_tests::determinant::{determinant, exact_determinant, principal, swap_condition};
use dpp_nystrom_tests::ground::{Gram, normal_points};
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::snapshot::Snapshot;
use dpp_nystrom_tests::subsets::subsets;

/// The backward error of a factor's row of up to `c` rotations and of a forward substitution of up to `c`
/// terms, in units of `c ε`. The largest observed here is 0.6.
const PERTURBATION: f64 = 2.0;

/// Visit every state in two orders of its members, every slot and every candidate.
fn for_every_swap<T: Scalar, G: GroundSet<T>>(
    ground: &G,
    c: usize,
    mut visit: impl FnMut(&mut Landmarks<'_, T, G>, usize, usize),
) {
    for state in subsets(ground.len(), c) {
        let mut rotated = state.clone();
        rotated.reverse();
        rotated.rotate_left(1);
        for order in [state, rotated] {
            let mut room = Room::new(c);
            let mut landmarks = Landmarks::new(ground, room.lend()).unwrap();
            start::given(&mut landmarks, &order).unwrap();
            for slot in 0..c {
                for entering in (0..ground.len()).filter(|row| !order.contains(row)) {
                    visit(&mut landmarks, slot, entering);
                }
            }
        }
    }
}

/// Return the largest error of a ratio, in units of its bound.
fn worst<T: Scalar, G: GroundSet<T>>(
    ground: &G,
    c: usize,
    matrix: &[f64],
    exact_ratio: impl Fn(&[usize], &[usize]) -> f64,
) -> f64 {
    let mut worst = 0.0_f64;
    for_every_swap(ground, c, |landmarks, slot, entering| {
        let before = landmarks.members().to_vec();
        let mut after = before.clone();
        after[slot] = entering;
        let exact = exact_ratio(&before, &after);
        let swap = landmarks.swap(slot, entering).unwrap();
        let unit =
            c as f64 * T::EPSILON.to_f64() * swap_condition(matrix, ground.len(), &before, slot, entering);
        worst = worst.max((swap.ratio().to_f64() / exact - 1.0).abs() / unit);
        // The logarithm of the quotient, up to the rounding of its own two logarithms.
        let logs = T::EPSILON.to_f64()
            * (4.0 + swap.entering.to_f64().ln().abs() + swap.leaving.to_f64().ln().abs());
        assert!((swap.log_ratio().to_f64() - swap.ratio().to_f64().ln()).abs() <= logs);
    });
    worst
}

fn against_integers<T: Scalar>(gram: &Gram, c: usize) {
    let entries: Vec<T> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let worst = worst(&ground, c, &gram.to::<f64>(), |before, after| {
        let of = |members: &[usize]| exact_determinant(&principal(&gram.entries, gram.n, members), c) as f64;
        of(after) / of(before)
    });
    println!("n = {}, c = {c}: {worst:.3} c ε condition", gram.n);
    assert!(worst < PERTURBATION, "{worst}");
}

#[test]
fn ratios_are_quotients_of_exact_determinants() {
    for (n, c) in [(6, 3), (8, 3), (6, 1), (6, 5), (7, 4)] {
        against_integers::<f64>(&Gram::well_conditioned(n), c);
        against_integers::<f32>(&Gram::well_conditioned(n), c);
    }
}

#[test]
fn ratios_of_near_duplicates_are_quotients_of_exact_determinants() {
    // A residual is 10⁻⁵ of its diagonal in f32, 10⁻¹¹ in f64: 30 and 10⁴ times ε.
    against_integers::<f32>(&Gram::near_duplicates(6, 1 << 8), 3);
    against_integers::<f64>(&Gram::near_duplicates(6, 1 << 18), 3);
    against_integers::<f64>(&Gram::near_duplicates(8, 1 << 18), 3);
}

#[test]
fn a_well_conditioned_ratio_is_right_to_a_few_units_in_the_last_place() {
    // The relative bound without a condition number, so that a fault in `swap_condition` cannot hide one of
    // the code: at n = 6, c = 3 conditions are below 500.
    let gram = Gram::well_conditioned(6);
    let entries: Vec<f64> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    for_every_swap(&ground, 3, |landmarks, slot, entering| {
        let mut after = landmarks.members().to_vec();
        let before = determinant(&principal(&entries, 6, &after), 3);
        after[slot] = entering;
        let exact = determinant(&principal(&entries, 6, &after), 3) / before;
        let ratio = landmarks.swap(slot, entering).unwrap().ratio();
        assert!((ratio / exact - 1.0).abs() < 1e-13, "{ratio} {exact}");
    });
}

fn against_gaussian<T: Scalar>(bandwidth: f64) {
    let rows: Vec<T> = normal_points(8, 2, 5);
    let ground = Points::new(&rows, 2, Gaussian::new(T::from_f64(bandwidth)).unwrap()).unwrap();
    // With the production code's own entries: the rounding of the kernel is not under test.
    let matrix: Vec<f64> = (0..64).map(|at| ground.entry(at / 8, at % 8).to_f64()).collect();
    let worst = worst(&ground, 3, &matrix, |before, after| {
        let of = |members: &[usize]| determinant(&principal(&matrix, 8, members), 3);
        of(after) / of(before)
    });
    // The oracle's own elimination in f64 has the same error.
    assert!(worst < 2.0 * PERTURBATION, "{worst}");
}

#[test]
fn ratios_under_a_kernel_are_quotients_of_determinants() {
    against_gaussian::<f64>(1.0);
    against_gaussian::<f64>(10.0);
    against_gaussian::<f32>(1.0);
    against_gaussian::<f32>(3.0);
}

#[test]
fn proposing_a_swap_changes_nothing() {
    let entries: Vec<f64> = Gram::near_duplicates(6, 1 << 18).to();
    let ground = Matrix::new(&entries).unwrap();
    for_every_swap(&ground, 3, |landmarks, slot, entering| {
        let before = Snapshot::new(landmarks);
        let first = landmarks.swap(slot, entering).unwrap();
        assert_eq!(Snapshot::new(landmarks), before);
        assert_eq!(landmarks.swap(slot, entering), Ok(first));
    });
}

/// `log det` changes by the computed ratio. No condition enters: the rotations preserve the product of the
/// pivots, so that only `c` relative errors of a few ε and the rounding of the sum of logarithms remain.
fn announced_is_what_happens<T: Scalar>(gram: &Gram, c: usize) {
    let entries: Vec<T> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    for state in subsets(gram.n, c) {
        for slot in 0..c {
            for entering in (0..gram.n).filter(|row| !state.contains(row)) {
                let mut room = Room::new(c);
                let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
                start::given(&mut landmarks, &state).unwrap();
                let looked = landmarks.swap(slot, entering).unwrap();
                let before = landmarks.log_det().to_f64();
                let swap = landmarks.replace(slot, entering).unwrap();
                assert_eq!(swap, looked);
                let moved = landmarks.log_det().to_f64() - before;
                let announced = swap.log_ratio().to_f64();
                let bound = T::EPSILON.to_f64() * (16 * c) as f64 * (1.0 + before.abs());
                assert!((moved - announced).abs() < bound, "{moved} {announced}");
                // The entering row is the last landmark, those after the leaving one moved down.
                let mut members = state.clone();
                members.remove(slot);
                members.push(entering);
                assert_eq!(landmarks.members(), members);
                assert_eq!(landmarks.factor().pivot(c - 1), swap.entering.sqrt());
            }
        }
    }
}

#[test]
fn a_replacement_does_what_was_announced() {
    for c in [1, 3, 5] {
        announced_is_what_happens::<f64>(&Gram::well_conditioned(6), c);
        announced_is_what_happens::<f32>(&Gram::well_conditioned(6), c);
    }
    announced_is_what_happens::<f64>(&Gram::near_duplicates(6, 1 << 18), 3);
    announced_is_what_happens::<f32>(&Gram::near_duplicates(6, 1 << 8), 3);
}

#[test]
fn a_dependent_row_has_ratio_zero_and_is_never_accepted() {
    // Row 3 is a copy of row 0, row 4 the sum of rows 0 and 1.
    let rows = [[2, 0, 1], [1, 3, 0], [0, 1, 2], [2, 0, 1], [3, 3, 1]];
    let entries: Vec<f64> = rows
        .iter()
        .flat_map(|x| rows.iter().map(move |y| f64::from(x.iter().zip(y).map(|(x, y)| x * y).sum::<i32>())))
        .collect();
    let ground = Matrix::new(&entries).unwrap();
    let mut room = Room::new(3);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[2, 0, 1]).unwrap();
    let before = Snapshot::new(&landmarks);
    for entering in [3, 4] {
        // Slot 0 leaves: rows 0 and 1 remain, and both candidates depend on them.
        let swap = landmarks.swap(0, entering).unwrap();
        assert_eq!((swap.entering, swap.ratio(), swap.log_ratio()), (0.0, 0.0, f64::NEG_INFINITY));
        assert_eq!(swap.probability(Acceptance::Metropolis), 0.0);
        assert_eq!(swap.probability(Acceptance::Barker), 0.0);
        assert!(landmarks.replace(0, entering).is_err());
        assert_eq!(Snapshot::new(&landmarks), before);
    }
    // A copy may replace its original: nothing changes but the index.
    let swap = landmarks.swap(1, 3).unwrap();
    assert!((swap.ratio() - 1.0).abs() < 1e-14);
}

/// Four pairs of equal points: the residual of a row whose equal remains is only rounding, of either sign,
/// and must count as zero.
fn the_equal_of_a_landmark_has_no_ratio<T: Scalar>() {
    let rows: Vec<T> = normal_points(4, 3, 6);
    let rows: Vec<T> = rows.chunks(3).flat_map(|row| [row, row].concat()).collect();
    let ground = Points::new(&rows, 3, Gaussian::new(T::from_f64(1.5)).unwrap()).unwrap();
    let mut seen = 0;
    for c in [2, 3, 4] {
        for state in subsets(8, c) {
            if state.windows(2).any(|pair| pair[0] / 2 == pair[1] / 2) {
                continue;
            }
            let mut room = Room::new(c);
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::given(&mut landmarks, &state).unwrap();
            for slot in 0..c {
                for entering in (0..8).filter(|row| !state.contains(row)) {
                    let swap = landmarks.swap(slot, entering).unwrap();
                    let equal = state.iter().position(|&member| member / 2 == entering / 2);
                    let dependent = equal.is_some_and(|place| place != slot);
                    seen += usize::from(dependent);
                    assert_eq!(swap.entering == T::ZERO, dependent, "{state:?} {slot} {entering}: {swap:?}");
                }
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn a_residual_of_rounding_counts_as_zero() {
    the_equal_of_a_landmark_has_no_ratio::<f64>();
    the_equal_of_a_landmark_has_no_ratio::<f32>();
}
