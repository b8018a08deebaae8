//! After many swaps the factor is still that of its matrix, and a call that failed has changed nothing.

use dpp_nystrom_core::{Error, GroundSet, Landmarks, Matrix, Scalar, start};
use dpp_nystrom_tests::ground::{converted, geometric, with_spectrum};
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::snapshot::Snapshot;

const N: usize = 48;
const C: usize = 24;

/// Return `‖L Lᵀ - K‖ / ‖K‖` in the Frobenius norm, computed in `f64`.
fn residual<T: Scalar, G: GroundSet<T>>(landmarks: &Landmarks<'_, T, G>) -> f64 {
    let (mut difference, mut norm) = (0.0, 0.0);
    let rows: Vec<Vec<f64>> = (0..landmarks.len())
        .map(|i| landmarks.factor().row(i).iter().map(|entry| entry.to_f64()).collect())
        .collect();
    for (i, &member) in landmarks.members().iter().enumerate() {
        for (j, &other) in landmarks.members().iter().enumerate() {
            let entry = landmarks.ground().entry(member, other).to_f64();
            let product: f64 = rows[i].iter().zip(&rows[j]).map(|(x, y)| x * y).sum();
            difference += (product - entry).powi(2);
            norm += entry * entry;
        }
    }
    (difference / norm).sqrt()
}

/// Return the effect of `δ ‖K‖` on `log det K`, `δ ‖K‖ tr(K⁻¹)` to first order, from the fresh factor.
fn log_det_condition<T: Scalar, G: GroundSet<T>>(landmarks: &Landmarks<'_, T, G>) -> f64 {
    let count = landmarks.len();
    let mut trace = 0.0;
    for i in 0..count {
        let mut unit = vec![T::ZERO; count];
        unit[i] = T::ONE;
        landmarks.factor().solve(&mut unit).unwrap();
        trace += unit[i].to_f64();
    }
    // The spectra here have norm 1.
    trace
}

/// The residuals that a factor may have, in units of `c ε`. With every swap `c/2` rotations are applied to a
/// row of the factor, and it remains for some `c` swaps: `c²/2` roundings of random sign, which add up to
/// less than `c ε`, independent of the number of swaps. The largest observed is 0.07.
const BOUND: f64 = 0.25;

fn drifts_no_further<T: Scalar>(condition: f64, seed: u64) {
    let entries: Vec<T> = converted(&with_spectrum(&geometric(N, condition), seed));
    let ground = Matrix::new(&entries).unwrap();
    let unit = C as f64 * T::EPSILON.to_f64();
    let mut numbers = SplitMix64::seeded(seed);
    let mut room = Room::new(C);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, C, &mut numbers).unwrap();
    let mut accepted = 0;
    // Swaps of any ratio: harsher than a chain, which avoids the ill-conditioned.
    for goal in [1_000, 20_000] {
        while accepted < goal {
            let (slot, entering) = (numbers.below(C), numbers.below(N));
            match landmarks.replace(slot, entering) {
                Ok(_) => accepted += 1,
                Err(Error::Duplicate { .. } | Error::NotPositive { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        let drifted = residual(&landmarks);
        let mut fresh_room = Room::new(C);
        let mut fresh = Landmarks::new(&ground, fresh_room.lend()).unwrap();
        start::given(&mut fresh, landmarks.members()).unwrap();
        let log_unit = unit * log_det_condition(&fresh);
        let apart = (landmarks.log_det() - fresh.log_det()).to_f64().abs();
        println!(
            "condition {condition:.0e}, ε {:.0e}, {goal} swaps: residual {:.3} c ε, log det {:.3} c ε tr K⁻¹",
            T::EPSILON.to_f64(),
            drifted / unit,
            apart / log_unit
        );
        assert!(drifted < BOUND * unit, "{drifted}");
        // The rounding of log det itself: 2c logarithms of up to ln(condition)/2.
        let logs = unit * (2.0 + fresh.log_det().to_f64().abs() / C as f64);
        assert!(apart < BOUND * log_unit + logs, "{apart}");
    }
    // Refactoring removes it: the residual is a fresh factor's, bounded by (c + 1) ε/2 √(k_ii k_jj) for each
    // entry. Refactoring twice gives the same bits as once.
    landmarks.refactor().unwrap();
    assert!(residual(&landmarks) < 0.5 * unit, "{}", residual(&landmarks));
    let once = Snapshot::new(&landmarks);
    landmarks.refactor().unwrap();
    assert_eq!(Snapshot::new(&landmarks), once);
    // Refactored landmarks can be swapped like any others.
    let entering = (0..N).find(|&row| !landmarks.contains(row)).unwrap();
    let announced = landmarks.swap(0, entering).unwrap();
    assert!(announced.leaving > T::ZERO);
}

#[test]
fn swaps_do_not_wear_out_the_factor_in_f64() {
    drifts_no_further::<f64>(10.0, 1);
    drifts_no_further::<f64>(1e8, 2);
}

#[test]
fn swaps_do_not_wear_out_the_factor_in_f32() {
    drifts_no_further::<f32>(10.0, 3);
    drifts_no_further::<f32>(1e4, 4);
}

/// A matrix in which one row, if armed, reads as NaN; rows 0 and 6 are the same.
struct Faulty {
    entries: Vec<f64>,
    armed: std::cell::Cell<Option<usize>>,
}

impl Faulty {
    fn new() -> Self {
        let mut entries = with_spectrum(&geometric(8, 10.0), 9);
        for j in 0..8 {
            entries[6 * 8 + j] = entries[j];
        }
        for i in 0..8 {
            entries[i * 8 + 6] = entries[i * 8];
        }
        Self { entries, armed: std::cell::Cell::new(None) }
    }
}

impl GroundSet<f64> for Faulty {
    fn len(&self) -> usize {
        8
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        let armed = self.armed.get();
        if armed == Some(i) || armed == Some(j) { f64::NAN } else { self.entries[i * 8 + j] }
    }
}

/// A call on a set of landmarks whose result, except for errors, is dropped.
type Call<'c> = &'c dyn Fn(&mut Landmarks<'_, f64, Faulty>) -> Result<(), Error>;

#[test]
fn refused_calls_leave_no_trace() {
    let ground = Faulty::new();
    let mut room = Room::new(4);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[5, 0, 3]).unwrap();
    let before = Snapshot::new(&landmarks);
    let mut refused = |expected: Error, call: Call<'_>| {
        assert_eq!(call(&mut landmarks), Err(expected));
        assert_eq!(Snapshot::new(&landmarks), before, "after {expected:?}");
    };
    let past = Error::OutOfRange { index: 8, len: 8 };
    refused(past, &|landmarks| landmarks.push(8));
    refused(past, &|landmarks| landmarks.swap(0, 8).map(drop));
    refused(past, &|landmarks| landmarks.replace(0, 8).map(drop));
    refused(past, &|landmarks| start::given(landmarks, &[1, 8]));
    let slot = Error::OutOfRange { index: 3, len: 3 };
    refused(slot, &|landmarks| landmarks.swap(3, 1).map(drop));
    refused(slot, &|landmarks| landmarks.replace(3, 1).map(drop));
    let double = Error::Duplicate { index: 0 };
    refused(double, &|landmarks| landmarks.push(0));
    refused(double, &|landmarks| landmarks.swap(1, 0).map(drop));
    refused(double, &|landmarks| landmarks.replace(0, 0).map(drop));
    refused(double, &|landmarks| start::given(landmarks, &[4, 0]));
    // Row 6 is a copy of row 0.
    refused(Error::NotPositive { pivot: 3 }, &|landmarks| landmarks.push(6));
    refused(Error::NotPositive { pivot: 2 }, &|landmarks| landmarks.replace(0, 6).map(drop));
    // `given`: row 1 fits, row 6 does not.
    let room_for_two = Error::Capacity { needed: 5, have: 4 };
    refused(room_for_two, &|landmarks| start::given(landmarks, &[1, 2]));
    refused(Error::Empty, &|landmarks| start::uniform(landmarks, 0, &mut SplitMix64::seeded(1)));
    let too_many = Error::TooManyLandmarks { landmarks: 9, rows: 8 };
    refused(too_many, &|landmarks| start::uniform(landmarks, 9, &mut SplitMix64::seeded(1)));
    refused(room_for_two, &|landmarks| start::uniform(landmarks, 5, &mut SplitMix64::seeded(1)));
    refused(room_for_two, &|landmarks| {
        start::kmeans_plus_plus(landmarks, 5, &mut [0.0; 8], &mut SplitMix64::seeded(1))
    });
    refused(Error::Capacity { needed: 8, have: 7 }, &|landmarks| {
        start::kmeans_plus_plus(landmarks, 4, &mut [0.0; 7], &mut SplitMix64::seeded(1))
    });

    // From here on row 1 reads as NaN.
    let mut armed = |row: usize, call: Call<'_>| {
        ground.armed.set(Some(row));
        let result = call(&mut landmarks);
        ground.armed.set(None);
        assert_eq!(Snapshot::new(&landmarks), before);
        result.unwrap_err()
    };
    let unread = Error::NotFinite { row: 1, column: 5 };
    assert_eq!(armed(1, &|landmarks| landmarks.push(1)), unread);
    assert_eq!(armed(1, &|landmarks| landmarks.swap(2, 1).map(drop)), unread);
    assert_eq!(armed(1, &|landmarks| landmarks.replace(2, 1).map(drop)), unread);
    assert_eq!(armed(1, &|landmarks| start::given(landmarks, &[1])), unread);
    // A landmark that can no longer be read: the first two rows of the new factor are complete when the
    // third fails.
    assert_eq!(armed(3, &|landmarks| landmarks.refactor()), Error::NotFinite { row: 2, column: 2 });
    assert_eq!(armed(5, &|landmarks| landmarks.refactor()), Error::NotFinite { row: 0, column: 0 });
}

/// A matrix that becomes singular under the factor: refactoring names the pivot and leaves the factor
/// unchanged.
#[test]
fn refactoring_a_matrix_that_became_singular_keeps_the_factor() {
    struct Shrinking(std::cell::Cell<bool>);
    impl GroundSet<f64> for Shrinking {
        fn len(&self) -> usize {
            4
        }
        fn entry(&self, i: usize, j: usize) -> f64 {
            // Row 2 becomes a copy of row 0.
            let fold = |row: usize| if self.0.get() && row == 2 { 0 } else { row };
            if fold(i) == fold(j) { 2.0 } else { 1.0 }
        }
    }
    let ground = Shrinking(std::cell::Cell::new(false));
    let mut room = Room::new(4);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[1, 0, 2, 3]).unwrap();
    let before = Snapshot::new(&landmarks);
    ground.0.set(true);
    assert_eq!(landmarks.refactor(), Err(Error::NotPositive { pivot: 2 }));
    assert_eq!(Snapshot::new(&landmarks), before);
    ground.0.set(false);
    landmarks.refactor().unwrap();
    // The same matrix in the same order: only the order of summation differs.
    let fresh: f64 = landmarks.log_det();
    assert!((fresh - 5.0_f64.ln()).abs() < 1e-14);
}
