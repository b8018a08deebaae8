//! The stream chain treats each row as documented: it equals the open-slot chain step for step, and it
//! appends, rejects and refuses rows.

use dpp_nystrom_core::kernel::{Gaussian, Kernel, Linear, Polynomial};
use dpp_nystrom_core::{
    Acceptance, Error, FactorMemory, Landmarks, Memory, Offer, Points, Progress, Random, Scalar, Scan,
    SlotChain, StreamChain, Workspace, start,
};
use dpp_nystrom_tests::ground::normal_points;
use dpp_nystrom_tests::script::{Counting, Script, SplitMix64};
use dpp_nystrom_tests::snapshot::{FactorSnapshot, bits};
use dpp_nystrom_tests::stream::{Source, StreamRoom};
use rand_core::Rng;

const RULES: [Acceptance; 2] = [Acceptance::Barker, Acceptance::Metropolis];

/// Everything observable.
fn snapshot<T: Scalar, K: Kernel<T>>(
    chain: &StreamChain<'_, T, K>,
) -> (Vec<u64>, Vec<usize>, FactorSnapshot, Progress) {
    (bits(chain.rows()), chain.members().to_vec(), FactorSnapshot::new(chain.factor()), chain.progress())
}

/// With the same draws, one try per slot and a random scan: bit for bit the chain over stored rows,
/// refactorings included. (The occupant itself is left out: the stream chain cannot distinguish it from a
/// copy.)
fn as_the_open_slot_chain<T: Scalar>() {
    const N: usize = 40;
    const C: usize = 6;
    let source = Source { rows: normal_points::<T>(N, 3, 5), dim: 3 };
    let kernel = || Gaussian::new(T::from_f64(1.2)).unwrap();
    let ground = Points::new(&source.rows, 3, kernel()).unwrap();
    for acceptance in RULES {
        let mut numbers = SplitMix64::seeded(61);
        let (mut memory, mut room) = (Workspace::<T, C>::new(), Workspace::<T, C>::new());
        let mut rows = vec![T::from_f64(f64::NAN); (C + 1) * 3];
        let mut stream = StreamChain::new(kernel(), C, 3, &mut rows, room.lend(), acceptance).unwrap();
        let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
        for row in 10..10 + C {
            stream.offer(source.row(row), &mut Script::new(&[])).unwrap();
            start::given(&mut landmarks, &[row]).unwrap();
        }
        let mut chain = SlotChain::new(landmarks, acceptance).with_tries(1).with_scan(Scan::Random);
        let mut renewals = 0;
        for step in 0..2_000_u64 {
            let slot = numbers.below(C);
            let members = chain.landmarks().members().to_vec();
            let entering = (0..).map(|_| numbers.below(N)).find(|&row| row != members[slot]).unwrap();
            let (slot, row) = (Script::choosing(slot, C), Script::choosing(entering, N));
            let uniform = numbers.next_u32();
            chain.step(1, &mut Script::new(&[slot, row, uniform])).unwrap();
            stream.offer(source.row(entering), &mut Script::new(&[slot, uniform])).unwrap();
            // One chain refactors after a step, the other before the next.
            if (step + 1) % (8 * C as u64) == 0 {
                renewals += 1;
                continue;
            }
            let found: Vec<usize> = stream
                .members()
                .iter()
                .map(|&place| source.number_of(&stream.rows()[place * 3..][..3]))
                .collect();
            assert_eq!(found, chain.landmarks().members(), "{acceptance:?}, step {step}");
            assert_eq!(
                FactorSnapshot::new(stream.factor()),
                FactorSnapshot::new(chain.landmarks().factor()),
                "{acceptance:?}, step {step}"
            );
        }
        assert_eq!(stream.progress().accepted, chain.progress().accepted);
        assert_eq!((stream.progress().steps, stream.progress().proposed), (2_000 + C as u64, 2_000));
        assert!(renewals > 10 && stream.progress().accepted > 100);
    }
}

#[test]
fn it_is_the_open_slot_chain_bit_for_bit() {
    as_the_open_slot_chain::<f64>();
    as_the_open_slot_chain::<f32>();
}

#[test]
fn the_first_independent_rows_join_without_a_draw() {
    let mut room = StreamRoom::<f64>::new(3, 3);
    let mut chain = room.chain(3, 3, Acceptance::Metropolis);
    assert!(chain.is_empty() && chain.rows().is_empty() && chain.log_det() == 0.0);
    let mut none = Script::new(&[]);
    let mut offer = |row: [f64; 3]| chain.offer(&row, &mut none).unwrap();
    assert_eq!(offer([0.0; 3]), Offer::Declined);
    assert_eq!(offer([2.0, 0.0, 0.0]), Offer::Joined { place: 0 });
    assert_eq!(offer([2.0, 0.0, 0.0]), Offer::Declined);
    assert_eq!(offer([1.0, 1.0, 0.0]), Offer::Joined { place: 1 });
    assert_eq!(offer([5.0, -3.0, 0.0]), Offer::Declined);
    assert_eq!(offer([0.0, 0.0, 1.0]), Offer::Joined { place: 2 });
    assert_eq!(chain.rows(), [2.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!((chain.members(), chain.len()), (&[0, 1, 2][..], 3));
    // det of the Gram matrix: the square of the triangle's 2 · 1 · 1.
    assert!((chain.log_det() - 4.0_f64.ln()).abs() < 1e-15);
    let progress = chain.progress();
    assert_eq!((progress.steps, progress.proposed, progress.accepted), (6, 0, 0));
}

/// Orthogonal rows: the ratio of a row along one landmark is the ratio of their squares.
#[test]
fn a_row_is_tried_at_the_slot_drawn_against_the_ratio() {
    for slot in 0..3 {
        for (acceptance, probability) in [(Acceptance::Metropolis, 0.25), (Acceptance::Barker, 0.2)] {
            let offer = |draw: u32| {
                let source = Source { rows: vec![2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0], dim: 3 };
                let mut room = StreamRoom::<f64>::new(3, 3);
                let mut chain = source.started(&mut room, &[0, 1, 2], acceptance);
                let mut row = [0.0; 3];
                row[slot] = 1.0;
                let mut script = Script::new(&[Script::choosing(slot, 3), draw]);
                let offer = chain.offer(&row, &mut script).unwrap();
                let after = chain.rows().to_vec();
                (offer, after, chain.members().to_vec(), chain.log_det())
            };
            let border = (probability * 4_294_967_296.0) as u32;
            let (offered, rows, members, log_det) = offer(border - 1_000);
            assert_eq!(offered, Offer::Replaced { place: slot });
            assert_eq!(rows[slot * 4], 1.0);
            assert_eq!(members.last(), Some(&slot));
            assert!((log_det - 16.0_f64.ln()).abs() < 1e-14);
            let (offered, rows, _, log_det) = offer(border + 1_000);
            assert_eq!(offered, Offer::Declined);
            assert_eq!(rows[slot * 4], 2.0);
            assert!((log_det - 64.0_f64.ln()).abs() < 1e-14);
        }
    }
}

#[test]
fn a_copy_of_another_landmark_is_declined_and_one_of_the_occupant_changes_nothing() {
    let source = Source { rows: normal_points::<f64>(4, 4, 3), dim: 4 };
    for acceptance in RULES {
        for slot in 0..4 {
            for copied in 0..4 {
                let mut room = StreamRoom::new(4, 4);
                let mut chain = source.started(&mut room, &[0, 1, 2, 3], acceptance);
                let before = (chain.rows().to_vec(), chain.log_det());
                let mut script = Script::new(&[Script::choosing(slot, 4), 0]);
                let offer = chain.offer(source.row(copied), &mut script).unwrap();
                assert_eq!(offer == Offer::Declined, slot != copied);
                assert_eq!(chain.rows(), before.0);
                assert!((chain.log_det() - before.1).abs() < 1e-12);
            }
        }
    }
}

/// After an error a chain continues as a twin without the error.
#[test]
fn an_error_leaves_landmarks_counters_and_generator() {
    let source = Source { rows: normal_points::<f32>(200, 2, 4), dim: 2 };
    // The cube of 1e30 is infinite in f32.
    let kernel = || Polynomial::new(3, 1.0_f32).unwrap();
    let acceptance = Acceptance::Metropolis;
    for full in [false, true] {
        let (mut rows, mut twin_rows) = ([f32::NAN; 10], [f32::NAN; 10]);
        let (mut memory, mut twin_memory) = (Workspace::<f32, 4>::new(), Workspace::<f32, 4>::new());
        let mut chain = StreamChain::new(kernel(), 4, 2, &mut rows, memory.lend(), acceptance).unwrap();
        let mut twin =
            StreamChain::new(kernel(), 4, 2, &mut twin_rows, twin_memory.lend(), acceptance).unwrap();
        let (mut random, mut twin_random) =
            (Counting::new(Random::seeded(3)), Counting::new(Random::seeded(3)));
        let first = if full { 20 } else { 2 };
        for row in 0..first {
            chain.offer(source.row(row), &mut random).unwrap();
            twin.offer(source.row(row), &mut twin_random).unwrap();
        }
        assert_eq!(chain.len() == 4, full);
        let refused = [
            (&[1.0][..], Error::Length { expected: 2, found: 1 }),
            (&[1.0, 2.0, 3.0], Error::Length { expected: 2, found: 3 }),
            (&[f32::NAN, 0.0], Error::NotFinite { row: first, column: 0 }),
            (&[0.0, f32::INFINITY], Error::NotFinite { row: first, column: 1 }),
        ];
        for (row, error) in refused {
            assert_eq!(chain.offer(row, &mut random), Err(error));
            assert_eq!(snapshot(&chain), snapshot(&twin));
            assert_eq!(random.draws, twin_random.draws);
        }
        for row in first..100 {
            assert_eq!(
                chain.offer(source.row(row), &mut random),
                twin.offer(source.row(row), &mut twin_random)
            );
        }
        assert_eq!(snapshot(&chain), snapshot(&twin));
        // A kernel value that is not finite is found after the slot was opened: the same landmarks, in
        // another order.
        let before = (bits(chain.rows()), chain.log_det(), chain.progress());
        let offer = chain.offer(&[1e30, 0.0], &mut random);
        assert!(matches!(offer, Err(Error::NotFinite { row: 100, .. })), "{offer:?}");
        assert_eq!((bits(chain.rows()), chain.progress()), (before.0, before.2));
        assert!((chain.log_det() - before.1).abs() < 1e-4);
        for row in 100..200 {
            chain.offer(source.row(row), &mut random).unwrap();
        }
        assert_eq!(chain.progress().steps, 200);
    }
}

#[test]
fn too_little_memory_is_refused_with_what_is_needed() {
    fn refused(c: usize, dim: usize, rows: usize, square: usize, rotations: usize, indices: usize) -> Error {
        let (mut rows, mut square, mut column) = (vec![0.0_f64; rows], vec![0.0; square], vec![0.0; 3]);
        let (mut rotations, mut landmarks) = (vec![[0.0; 2]; rotations], vec![0; indices]);
        let factor = FactorMemory { square: &mut square, column: &mut column, rotations: &mut rotations };
        let memory = Memory { factor, landmarks: &mut landmarks };
        StreamChain::new(Linear, c, dim, &mut rows, memory, Acceptance::Metropolis).unwrap_err()
    }
    assert_eq!(refused(0, 2, 8, 9, 3, 3), Error::Empty);
    assert_eq!(refused(3, 0, 8, 9, 3, 3), Error::Empty);
    assert_eq!(refused(3, 2, 5, 9, 3, 3), Error::Capacity { needed: 6, have: 5 });
    assert_eq!(refused(3, 2, 8, 8, 3, 3), Error::Capacity { needed: 9, have: 8 });
    assert_eq!(refused(3, 2, 8, 9, 2, 3), Error::Capacity { needed: 3, have: 2 });
    assert_eq!(refused(3, 2, 8, 9, 3, 2), Error::Capacity { needed: 3, have: 2 });
    assert_eq!(refused(4, 2, 10, 9, 3, 4), Error::Capacity { needed: 4, have: 3 });
    assert_eq!(refused(usize::MAX, 2, 10, 9, 3, 4), Error::Capacity { needed: usize::MAX, have: 10 });
}

/// Additional memory of every kind, and memory on the heap, change nothing.
#[test]
fn memory_to_spare_changes_nothing() {
    let source = Source { rows: normal_points::<f32>(600, 3, 8), dim: 3 };
    let kernel = || Gaussian::new(1.0_f32).unwrap();
    fn run<'a>(
        source: &Source<f32>,
        mut chain: StreamChain<'a, f32, Gaussian<f32>>,
    ) -> (Vec<u64>, Vec<usize>, Vec<Vec<u64>>) {
        let mut random = Random::seeded(9);
        for row in 0..600 {
            chain.offer(source.row(row), &mut random).unwrap();
        }
        let factor = (0..chain.len()).map(|i| bits(chain.factor().row(i))).collect();
        (bits(chain.rows()), chain.members().to_vec(), factor)
    }
    let (mut rows, mut memory) = ([f32::NAN; 18], Workspace::<f32, 5>::new());
    let acceptance = Acceptance::Metropolis;
    let exact = run(&source, StreamChain::new(kernel(), 5, 3, &mut rows, memory.lend(), acceptance).unwrap());
    let (mut rows, mut memory) = (vec![f32::NAN; 50], dpp_nystrom_host::heap::Heap::new(12).unwrap());
    let spare = run(&source, StreamChain::new(kernel(), 5, 3, &mut rows, memory.lend(), acceptance).unwrap());
    assert_eq!(exact, spare);
    assert!(rows[18..].iter().all(|number| number.is_nan()), "only c + 1 rows are written");
}

/// After many rows the factor is that of the landmarks, within the rounding between refactorings.
fn does_not_drift<T: Scalar>() {
    const C: usize = 12;
    let mut numbers = SplitMix64::seeded(17);
    let kernel = Gaussian::new(T::from_f64(1.0)).unwrap();
    let (mut rows, mut memory) = (vec![T::ZERO; (C + 1) * 3], Workspace::<T, C>::new());
    let mut chain = StreamChain::new(kernel, C, 3, &mut rows, memory.lend(), Acceptance::Metropolis).unwrap();
    let mut random = Random::seeded(18);
    for _ in 0..20_000 {
        let row = [(); 3].map(|()| T::from_f64(numbers.normal()));
        chain.offer(&row, &mut random).unwrap();
    }
    assert!(chain.progress().accepted > 1_000);
    let ground = Points::new(chain.rows(), 3, kernel).unwrap();
    let mut fresh_memory = Workspace::<T, C>::new();
    let mut fresh = Landmarks::new(&ground, fresh_memory.lend()).unwrap();
    start::given(&mut fresh, chain.members()).unwrap();
    for i in 0..C {
        for (kept, new) in chain.factor().row(i).iter().zip(fresh.factor().row(i)) {
            // Some hundred rotations and their pivots, none below a tenth here.
            let bound = 100.0 * C as f64 * T::EPSILON.to_f64();
            assert!((kept.to_f64() - new.to_f64()).abs() <= bound, "{kept} {new}");
        }
    }
}

#[test]
fn twenty_thousand_rows_leave_the_factor_of_the_landmarks() {
    does_not_drift::<f64>();
    does_not_drift::<f32>();
}
