//! The open-slot chain implements its transition matrix: which numbers it draws and how it uses them, with
//! every evaluator.

use dpp_nystrom_core::{
    Acceptance, Error, Evaluate, GroundSet, Landmarks, Matrix, OneByOne, OpenSlot, Progress, Proposal,
    Random, Scan, SlotChain, TRIES, start,
};
use dpp_nystrom_host::simd::Lane;
use dpp_nystrom_tests::evaluator::{Evaluator, linear};
use dpp_nystrom_tests::ground::{Gram, geometric, with_spectrum};
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::{Counting, Script};
use dpp_nystrom_tests::slot_transition::powers;
use dpp_nystrom_tests::snapshot::Snapshot;
use dpp_nystrom_tests::statistics::{Fit, total_variation};
use rand_core::Rng;
use std::cell::Cell;

const RULES: [Acceptance; 2] = [Acceptance::Barker, Acceptance::Metropolis];

/// Step many times from each state, each time with a fresh chain and the same generator.
fn frozen_states_follow_their_rows<T: Lane>(gram: &Gram, c: usize, steps: usize, seed: u64) {
    let rows: Vec<T> = gram.points();
    let ground = linear(&rows, gram.n);
    let law = Law::new(&gram.to::<f64>(), gram.n, c);
    let mut random = Random::seeded(seed);
    for acceptance in RULES {
        for tries in [1, 2, TRIES] {
            let p = powers(&ground, c, tries, acceptance, &mut OneByOne);
            for mut evaluator in Evaluator::all(c, gram.n) {
                let mut fit = Fit::default();
                let mut farthest = 0.0_f64;
                for (at, state) in law.states.iter().enumerate() {
                    let mut counts = vec![0; law.states.len()];
                    let mut order = state.clone();
                    order.rotate_left(at % c);
                    let mut room = Room::new(c);
                    for _ in 0..steps {
                        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
                        start::given(&mut landmarks, &order).unwrap();
                        let mut chain = SlotChain::new(landmarks, acceptance)
                            .with_scan(Scan::Random)
                            .with_tries(tries)
                            .with_evaluator(&mut evaluator);
                        chain.step(u64::MAX, &mut random).unwrap();
                        counts[law.index(chain.landmarks().members())] += 1;
                    }
                    fit = fit.and(Fit::new(&counts, &p[at]));
                    farthest = farthest.max(total_variation(&counts, &p[at]));
                }
                let context = format!("{}, {acceptance:?}, {tries} tries: {fit:?}", evaluator.name());
                println!("{context}, bound {:.1}, largest total variation {farthest:.4}", fit.bound());
                assert!(fit.holds(), "{context}");
            }
        }
    }
}

#[test]
fn frozen_states_follow_their_rows_in_f64() {
    frozen_states_follow_their_rows::<f64>(&Gram::well_conditioned(6), 3, 4_000, 81);
}

#[test]
fn frozen_states_follow_their_rows_in_f32() {
    frozen_states_follow_their_rows::<f32>(&Gram::well_conditioned(6), 3, 4_000, 82);
}

#[test]
fn frozen_states_follow_their_rows_at_the_edges() {
    for c in [1, 5] {
        frozen_states_follow_their_rows::<f64>(&Gram::well_conditioned(6), c, 4_000, 83);
    }
}

#[test]
fn frozen_states_follow_their_rows_among_near_duplicates() {
    frozen_states_follow_their_rows::<f64>(&Gram::near_duplicates(6, 1 << 18), 3, 4_000, 84);
    frozen_states_follow_their_rows::<f32>(&Gram::near_duplicates(6, 1 << 8), 3, 4_000, 85);
}

/// With ten landmarks a tile of others is full, and tries are rejected early.
#[test]
fn frozen_states_follow_their_rows_with_early_rejection() {
    frozen_states_follow_their_rows::<f64>(&Gram::well_conditioned(12), 10, 1_500, 86);
    frozen_states_follow_their_rows::<f32>(&Gram::well_conditioned(12), 11, 3_000, 87);
}

/// Return six orthogonal rows of lengths 1, √2, … √6: K = diag(1, 2, 3, 4, 5, 6) up to the rounding of the
/// square roots.
fn diagonal<T: Lane>() -> Vec<T> {
    (0..36).map(|at| if at % 7 == 0 { T::from_count(at / 7 + 1).sqrt() } else { T::ZERO }).collect()
}

/// Run one step from landmarks 3 and 1, in this order, with exactly these draws.
fn step_by<T: Lane>(acceptance: Acceptance, draws: &[u32]) -> (u32, Vec<usize>) {
    let rows = diagonal::<T>();
    let ground = linear(&rows, 6);
    let mut outcomes = Vec::new();
    for evaluator in Evaluator::all(2, 6) {
        let mut room = Room::new(2);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::given(&mut landmarks, &[3, 1]).unwrap();
        let tries = (draws.len() - 1) / 2;
        let mut chain = SlotChain::new(landmarks, acceptance)
            .with_scan(Scan::Random)
            .with_tries(tries)
            .with_evaluator(evaluator);
        let mut script = Script::new(draws);
        let admitted = chain.step(u64::MAX, &mut script).unwrap();
        assert_eq!(script.left(), 0, "draws were left over");
        let tried = tries as u64;
        let counted = Progress { steps: tried, proposed: tried, accepted: admitted.into(), openings: 1 };
        assert_eq!(chain.progress(), counted);
        outcomes.push((admitted, chain.landmarks().members().to_vec()));
    }
    assert_eq!(outcomes[0], outcomes[1]);
    outcomes.swap_remove(0)
}

fn slot(value: usize) -> u32 {
    Script::choosing(value, 2)
}

fn row(value: usize) -> u32 {
    Script::choosing(value, 6)
}

#[test]
fn every_slot_and_row_is_met() {
    let members = [3, 1];
    for acceptance in RULES {
        for at in 0..2 {
            for entering in 0..6 {
                // u = 0 admits every row but a landmark; the landmark of the slot is last then.
                let outcome = step_by::<f64>(acceptance, &[slot(at), row(entering), 0]);
                let others = members[1 - at];
                if members.contains(&entering) {
                    assert_eq!(outcome, (0, vec![others, members[at]]));
                } else {
                    assert_eq!(outcome, (1, vec![others, entering]));
                }
                assert_eq!(step_by::<f32>(acceptance, &[slot(at), row(entering), 0]), outcome);
            }
        }
        // The first and the last draws. (A draw of 0 is rejected by Lemire's rule for a bound of 6, since 2³²
        // is not a multiple of it: 2³² mod 6 is 4, the remainder of draw 1 is 6.)
        assert_eq!(step_by::<f64>(acceptance, &[0, 1, 0]), (1, vec![1, 0]));
        assert_eq!(step_by::<f64>(acceptance, &[u32::MAX, u32::MAX, 0]), (1, vec![3, 5]));
    }
}

#[test]
fn a_row_that_is_a_landmark_changes_nothing() {
    let entries: Vec<f64> = Gram::well_conditioned(6).points();
    let ground = linear(&entries, 6);
    for mut evaluator in Evaluator::all(3, 6) {
        let mut room = Room::new(3);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::given(&mut landmarks, &[4, 0, 3]).unwrap();
        let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis).unwrap();
        let before = slot.residual();
        // The occupant and the others: with their own residual, or any other.
        for entering in [4, 0, 3] {
            let proposals = [Proposal { entering, uniform: 0.0 }; 3];
            assert_eq!(evaluator.evaluate(&mut slot, &proposals), Ok(0), "{}", evaluator.name());
            let proposals = [Proposal { entering, uniform: 0.0 }];
            let decided = slot.decide(&proposals, &[1.0], &[7.0], |_, _| panic!("no row enters"));
            assert_eq!(decided, Ok(0));
        }
        assert_eq!(slot.residual(), before);
        assert_eq!(slot.others(), [0, 3]);
        let mut rotated = Room::new(3);
        let mut same = Landmarks::new(&ground, rotated.lend()).unwrap();
        start::given(&mut same, &[4, 0, 3]).unwrap();
        OpenSlot::new(&mut same, 0, Acceptance::Metropolis).unwrap();
        assert_eq!(Snapshot::new(&landmarks), Snapshot::new(&same));
    }
}

#[test]
fn a_draw_is_compared_with_the_probability() {
    fn check<T: Lane>() {
        // Row 0 for row 3: r = 1/4, so 1/5 under Barker and 1/4 under Metropolis.
        for (acceptance, probability) in [(Acceptance::Barker, 0.2), (Acceptance::Metropolis, 0.25)] {
            let draw = |share: f64| (share * 4_294_967_296.0) as u32;
            let refused = (0, vec![1, 3]);
            // The square roots round: a few units of f32 to either side.
            let draws = |u| [slot(0), row(0), u];
            assert_eq!(step_by::<T>(acceptance, &draws(draw(probability + 2e-6))), refused);
            assert_eq!(step_by::<T>(acceptance, &draws(draw(probability - 2e-6))), (1, vec![1, 0]));
            assert_eq!(step_by::<T>(acceptance, &draws(u32::MAX)), refused);
        }
        // An improvement: Metropolis accepts it for every u, Barker does not when u is near 1.
        let draws = [slot(1), row(5), u32::MAX];
        assert_eq!(step_by::<T>(Acceptance::Metropolis, &draws), (1, vec![3, 5]));
        assert_eq!(step_by::<T>(Acceptance::Barker, &draws), (0, vec![3, 1]));
    }
    check::<f64>();
    check::<f32>();
}

/// Each try is compared with the occupant at that point, and has a `u` of its own.
#[test]
fn tries_follow_one_another() {
    let u = |share: f64| (share * 4_294_967_296.0) as u32;
    let metropolis = |draws: &[u32]| {
        let outcome = step_by::<f64>(Acceptance::Metropolis, draws);
        assert_eq!(step_by::<f32>(Acceptance::Metropolis, draws), outcome);
        outcome
    };
    // Row 1 has length² 2. Row 5 (6) enters; then row 0 (1) needs u < 1/6, not 1/2.
    assert_eq!(metropolis(&[slot(1), row(5), u(0.9), row(0), u(0.3)]), (1, vec![3, 5]));
    assert_eq!(metropolis(&[slot(1), row(5), u(0.9), row(0), u(0.1)]), (2, vec![3, 0]));
    // Row 0 (1) is rejected and leaves row 1: row 0 again needs u < 1/2.
    assert_eq!(metropolis(&[slot(1), row(0), u(0.6), row(0), u(0.4)]), (1, vec![3, 0]));
    // Down to row 0 (1), then any row enters; and the row that has left may return.
    assert_eq!(metropolis(&[slot(1), row(0), u(0.4), row(1), u(0.99)]), (2, vec![3, 1]));
    // The largest number of tries: only the last row enters.
    let mut draws = vec![slot(1)];
    for _ in 0..TRIES - 1 {
        draws.extend([row(0), u(0.7)]);
    }
    draws.extend([row(4), u(0.99)]);
    assert_eq!(metropolis(&draws), (1, vec![3, 4]));
}

/// One try can be accepted among many that cannot, at every position: in each SIMD lane.
#[test]
fn every_try_has_its_own_row_and_number() {
    fn check<T: Lane>() {
        const C: usize = 20;
        const N: usize = C + TRIES;
        let rows: Vec<T> = Gram::well_conditioned(N).points();
        let ground = linear(&rows, N);
        for mut evaluator in Evaluator::all(C, N) {
            for lucky in 0..TRIES {
                let mut room = Room::new(C);
                let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
                start::given(&mut landmarks, &(0..C).collect::<Vec<_>>()).unwrap();
                let mut chain = SlotChain::new(landmarks, Acceptance::Barker)
                    .with_scan(Scan::Random)
                    .with_evaluator(&mut evaluator);
                let leaving = lucky % C;
                let mut draws = vec![Script::choosing(leaving, C)];
                for at in 0..TRIES {
                    // u -> 1 rejects all under Barker's rule.
                    let u = if at == lucky { 0 } else { u32::MAX };
                    draws.extend([Script::choosing(C + at, N), u]);
                }
                assert_eq!(chain.step(u64::MAX, &mut Script::new(&draws)), Ok(1), "lane {lucky}");
                let mut expected: Vec<usize> = (0..C).filter(|&member| member != leaving).collect();
                expected.push(C + lucky);
                assert_eq!(chain.landmarks().members(), expected);
                // The new row of the factor is this row's own substitution.
                let mut fresh_room = Room::new(C);
                let mut fresh = Landmarks::new(&ground, fresh_room.lend()).unwrap();
                start::given(&mut fresh, &expected).unwrap();
                let entries = chain.landmarks().factor().row(C - 1).iter().zip(fresh.factor().row(C - 1));
                // The matrix has the condition 5·10³, its parts less; another row would be off by units.
                for (entry, expected) in entries {
                    let difference = (*entry - *expected).to_f64().abs();
                    assert!(difference < 1e4 * T::EPSILON.to_f64() * 20.0, "lane {lucky}: {difference:e}");
                }
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

/// The rows (1, 0), (1, h) and (0, 1): h² is the residual of the second given the first.
#[test]
fn nothing_at_or_under_the_floor_is_admitted_even_at_u_zero() {
    fn check<T: Lane>(under: f64, over: f64) {
        for (h, admitted) in [(0.0, 0), (under, 0), (over, 1)] {
            let rows: Vec<T> = [1.0, 0.0, 1.0, h, 0.0, 1.0].map(T::from_f64).to_vec();
            let ground = linear(&rows, 2);
            let floor = T::from_count(2) * T::EPSILON * ground.diagonal(1);
            let residual = ground.diagonal(1) - T::ONE;
            assert_eq!(u32::from(residual > floor), admitted);
            assert!(h == 0.0 || residual > T::ZERO);
            for acceptance in RULES {
                for evaluator in Evaluator::all(2, 2) {
                    let mut room = Room::new(2);
                    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
                    start::given(&mut landmarks, &[2, 0]).unwrap();
                    let mut chain =
                        SlotChain::new(landmarks, acceptance).with_tries(1).with_evaluator(evaluator);
                    chain = chain.with_scan(Scan::Random);
                    // Row 2 leaves, row 1 is proposed beside row 0.
                    let draws = [Script::choosing(0, 2), Script::choosing(1, 3), 0];
                    assert_eq!(chain.step(1, &mut Script::new(&draws)), Ok(admitted), "{h}");
                }
            }
        }
    }
    // The bound is two ε: h² is one of them or four, in f32 two or eight.
    check::<f64>(2.0_f64.powi(-26), 2.0_f64.powi(-25));
    check::<f32>(2.0_f64.powi(-11), 2.0_f64.powi(-10));
}

#[test]
fn a_step_draws_two_numbers_for_each_try_and_one_for_a_random_slot() {
    let entries: Vec<f64> = Gram::well_conditioned(8).points();
    let ground = linear(&entries, 8);
    for (scan, slots) in [(Scan::Systematic, 0), (Scan::Random, 1)] {
        for tries in [1, 2, 5, TRIES] {
            for evaluator in Evaluator::all(4, 8) {
                let mut room = Room::new(4);
                let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
                start::given(&mut landmarks, &[0, 2, 4, 6]).unwrap();
                let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis)
                    .with_scan(scan)
                    .with_tries(tries)
                    .with_evaluator(evaluator);
                let mut random = Counting::new(Random::seeded(88));
                // Four slots and eight rows: nothing is rejected for powers of two.
                for step in 1..=500 {
                    chain.step(u64::MAX, &mut random).unwrap();
                    assert_eq!(random.draws, step * (slots + 2 * tries as u64));
                }
                let progress = chain.progress();
                assert_eq!((progress.steps, progress.proposed), (500 * tries as u64, 500 * tries as u64));
                assert_eq!(chain.progress().openings, 500);
                assert!(progress.accepted > 100 && progress.accepted < progress.proposed);
            }
        }
    }
}

/// A systematic scan differs from a random one in the order of the slots alone: each step is that of a random
/// scan that has drawn the slot whose landmark was opened longest ago. A resumed chain knows which that is.
#[test]
fn a_systematic_scan_opens_the_slot_that_has_waited_longest() {
    const C: usize = 5;
    let entries: Vec<f64> = Gram::well_conditioned(8).points();
    let ground = linear(&entries, 8);
    let (mut room, mut other_room) = (Room::new(C), Room::new(C));
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    let mut others = Landmarks::new(&ground, other_room.lend()).unwrap();
    start::given(&mut landmarks, &[6, 3, 0, 7, 2]).unwrap();
    start::given(&mut others, &[6, 3, 0, 7, 2]).unwrap();
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_tries(3);
    let mut drawn = SlotChain::new(others, Acceptance::Metropolis).with_scan(Scan::Random).with_tries(3);
    let mut random = Random::seeded(92);
    // The place of each slot's landmark; slots are named by their first place.
    let mut waiting: Vec<usize> = (0..C).collect();
    let mut opened = [0; C];
    for step in 0..10 * C {
        let at = opened.iter().enumerate().filter(|&(_, &times)| times == step / C).map(|(slot, _)| slot);
        let at: Vec<usize> = at.collect();
        let draws: Vec<u32> = (0..6).map(|_| random.next_u32()).collect();
        let place = C - 1 - step % C;
        let slot = waiting.remove(place);
        assert!(at.contains(&slot), "step {step} opens slot {slot} again");
        opened[slot] += 1;
        waiting.push(slot);
        let mut with_slot = vec![Script::choosing(place, C)];
        with_slot.extend(&draws);
        let expected = drawn.step(u64::MAX, &mut Script::new(&with_slot));
        if step == 17 {
            let (progress, rule) = (chain.progress(), Acceptance::Metropolis);
            chain = SlotChain::resume(&ground, C, room.lend(), rule, progress).unwrap().with_tries(3);
        }
        assert_eq!(chain.step(u64::MAX, &mut Script::new(&draws)), expected);
        assert_eq!(Snapshot::new(chain.landmarks()), Snapshot::new(drawn.landmarks()));
    }
    assert_eq!(opened, [10; C]);
}

#[test]
fn a_run_makes_exactly_so_many_tries() {
    let entries: Vec<f64> = Gram::well_conditioned(8).points();
    let ground = linear(&entries, 8);
    for (tries, asked, openings) in
        [(32, 100, 4), (32, 96, 3), (16, 100, 7), (16, 1, 1), (16, 0, 0), (3, 100, 34), (1, 9, 9)]
    {
        for evaluator in Evaluator::all(4, 8) {
            let mut room = Room::new(4);
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::given(&mut landmarks, &[0, 2, 4, 6]).unwrap();
            let mut chain =
                SlotChain::new(landmarks, Acceptance::Barker).with_tries(tries).with_evaluator(evaluator);
            let mut random = Counting::new(Random::seeded(89));
            for rounds in 1..=3 {
                let progress = chain.run(asked, &mut random).unwrap();
                assert_eq!((progress.steps, progress.proposed), (rounds * asked, rounds * asked));
                assert_eq!(
                    (chain.progress().openings, random.draws),
                    (rounds * openings, rounds * 2 * asked)
                );
            }
        }
    }
}

#[test]
fn tries_to_a_slot_are_at_least_one_and_at_most_so_many() {
    let entries: Vec<f64> = Gram::well_conditioned(8).to();
    let ground = Matrix::new(&entries).unwrap();
    for (asked, given) in [(0, 1), (1, 1), (TRIES, 32), (TRIES + 1, 32), (usize::MAX, 32)] {
        let mut room = Room::new(2);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::given(&mut landmarks, &[0, 2]).unwrap();
        let mut chain = SlotChain::new(landmarks, Acceptance::Barker).with_tries(asked);
        chain.step(u64::MAX, &mut Random::seeded(90)).unwrap();
        assert_eq!(chain.progress().steps, given);
    }
}

#[test]
fn with_nothing_to_swap_the_chain_holds_and_draws_nothing() {
    let ground = Matrix::new(&[2.0, 1.0, 1.0, 2.0]).unwrap();
    for members in [&[][..], &[1, 0]] {
        let mut room = Room::<f64>::new(2);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::given(&mut landmarks, members).unwrap();
        let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
        let progress = chain.run(37, &mut Script::new(&[])).unwrap();
        assert_eq!((progress.steps, progress.proposed, progress.accepted), (37, 0, 0));
        assert_eq!((chain.landmarks().members(), chain.progress().openings), (members, 0));
    }
}

/// A matrix that counts the entries that were read, and reads as NaN in one row if armed.
struct Watched<'a> {
    inner: Matrix<'a, f64>,
    read: Cell<usize>,
    armed: Cell<Option<usize>>,
}

impl GroundSet<f64> for Watched<'_> {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.read.set(self.read.get() + 1);
        let armed = self.armed.get();
        if armed == Some(i) || armed == Some(j) { f64::NAN } else { self.inner.entry(i, j) }
    }
}

/// A try that cannot be accepted stops at the first block of others.
#[test]
fn a_rejected_try_reads_fewer_entries() {
    const C: usize = 41;
    let entries = with_spectrum(&geometric(60, 1e3), 91);
    let inner = Matrix::new(&entries).unwrap();
    let ground = Watched { inner, read: Cell::new(0), armed: Cell::new(None) };
    let mut room = Room::new(C);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &(0..C).collect::<Vec<_>>()).unwrap();
    let mut slot = OpenSlot::new(&mut landmarks, 3, Acceptance::Barker).unwrap();
    let mut read = |uniform: f64| {
        ground.read.set(0);
        let admitted = slot.try_one(Proposal { entering: 50, uniform }).unwrap();
        (admitted, ground.read.get())
    };
    // The diagonal, and one entry with each other.
    assert_eq!(read(1.0 - 2.0_f64.powi(-32)), (false, 1 + 8));
    assert_eq!(read(0.0), (true, 1 + C - 1));
}

#[test]
fn a_step_that_reads_nan_keeps_the_landmarks() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let inner = Matrix::new(&entries).unwrap();
    let ground = Watched { inner, read: Cell::new(0), armed: Cell::new(None) };
    let mut room = Room::new(3);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[0, 1, 2]).unwrap();
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_scan(Scan::Random).with_tries(1);
    let before = chain.progress();
    let mut step = |armed, entering| {
        ground.armed.set(armed);
        let script = [Script::choosing(0, 3), Script::choosing(entering, 6), 0];
        let outcome = chain.step(1, &mut Script::new(&script));
        (outcome, chain.landmarks().members().to_vec(), chain.progress())
    };
    let unread = Err(Error::NotFinite { row: 4, column: 4 });
    assert_eq!(step(Some(4), 4), (unread, vec![1, 2, 0], before));
    // The chain continues with another row.
    let after = Progress { steps: 1, proposed: 1, accepted: 1, openings: 1 };
    assert_eq!(step(None, 5), (Ok(1), vec![2, 0, 5], after));
}

#[test]
fn slots_and_rows_out_of_range_are_refused() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let ground = Matrix::new(&entries).unwrap();
    let mut room = Room::new(3);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[0, 1, 2]).unwrap();
    let before = Snapshot::new(&landmarks);
    let past = OpenSlot::new(&mut landmarks, 3, Acceptance::Barker).map(drop);
    assert_eq!(past, Err(Error::OutOfRange { index: 3, len: 3 }));
    assert_eq!(Snapshot::new(&landmarks), before);
    let mut slot = OpenSlot::new(&mut landmarks, 2, Acceptance::Barker).unwrap();
    let proposal = Proposal { entering: 6, uniform: 0.0 };
    assert_eq!(slot.try_one(proposal), Err(Error::OutOfRange { index: 6, len: 6 }));
    assert_eq!(Snapshot::new(&landmarks), before);
}
