//! The chain implements its transition matrix: which numbers it draws and how it uses them.

use dpp_nystrom_core::{
    Acceptance, Chain, GroundSet, Landmarks, Matrix, Random, Rule, Scalar, Step, Workspace, start,
};
use dpp_nystrom_tests::ground::{Gram, converted};
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::{Counting, Script, SplitMix64};
use dpp_nystrom_tests::snapshot::Snapshot;
use dpp_nystrom_tests::statistics::{Fit, total_variation};
use dpp_nystrom_tests::transition::{RULES, transition};
use rand_core::Rng;

const STEPS: u64 = 10_000;

/// Step many times from each state, each time with a fresh chain and the same generator.
fn frozen_states_follow_their_rows<T: Scalar>(gram: &Gram, c: usize, rule: Rule, random: &mut impl Rng) {
    let entries: Vec<T> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let law = Law::exact(&gram.entries, gram.n, c);
    let p = transition(&ground, c, rule);
    let mut fit = Fit::default();
    let mut farthest = 0.0_f64;
    for (at, state) in law.states.iter().enumerate() {
        let mut counts = vec![0; law.states.len()];
        // The order of the members is part of the state's representation, not of its law.
        let mut order = state.clone();
        order.rotate_left(at % c);
        let mut room = Room::new(c);
        for _ in 0..STEPS {
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::given(&mut landmarks, &order).unwrap();
            let mut chain = Chain::new(landmarks, rule);
            chain.step(random).unwrap();
            counts[law.index(chain.landmarks().members())] += 1;
        }
        fit = fit.and(Fit::new(&counts, &p[at]));
        farthest = farthest.max(total_variation(&counts, &p[at]));
    }
    println!("{rule:?}: {fit:?}, bound {:.1}, largest total variation {farthest:.4}", fit.bound());
    assert!(fit.holds(), "{rule:?}: {fit:?}");
}

#[test]
fn frozen_states_follow_their_rows_in_f64() {
    for rule in RULES {
        frozen_states_follow_their_rows::<f64>(&Gram::well_conditioned(6), 3, rule, &mut Random::seeded(11));
    }
}

#[test]
fn frozen_states_follow_their_rows_in_f32() {
    for rule in RULES {
        frozen_states_follow_their_rows::<f32>(&Gram::well_conditioned(6), 3, rule, &mut Random::seeded(12));
    }
}

#[test]
fn frozen_states_follow_their_rows_at_the_edges() {
    let gram = Gram::well_conditioned(6);
    for c in [1, 5] {
        frozen_states_follow_their_rows::<f64>(&gram, c, Rule::METROPOLIS, &mut Random::seeded(13));
        frozen_states_follow_their_rows::<f64>(&gram, c, Rule::ALGORITHM_1, &mut Random::seeded(13));
    }
}

#[test]
fn frozen_states_follow_their_rows_among_near_duplicates() {
    let gram = Gram::near_duplicates(6, 1 << 18);
    for rule in RULES {
        frozen_states_follow_their_rows::<f64>(&gram, 3, rule, &mut Random::seeded(14));
    }
}

#[test]
fn frozen_states_follow_their_rows_under_another_generator() {
    let gram = Gram::well_conditioned(6);
    frozen_states_follow_their_rows::<f64>(&gram, 3, Rule::ALGORITHM_1, &mut SplitMix64::seeded(15));
}

/// The two draws on either side of the threshold of a lazy step, which is decided by the high bit.
const TAILS: u32 = 0x7fff_ffff;
const HEADS: u32 = 0x8000_0000;

/// Run one step from landmarks {1, 3} of diag(1, 2, 3, 4, 5): rows 0, 2 and 4 are candidates.
fn step_by<T: Scalar>(rule: Rule, draws: &[u32]) -> (Step, Vec<usize>) {
    let diagonal = [1.0, 2.0, 3.0, 4.0, 5.0];
    let mut matrix = vec![0.0; 25];
    for (i, &entry) in diagonal.iter().enumerate() {
        matrix[i * 5 + i] = entry;
    }
    let matrix: Vec<T> = converted(&matrix);
    let ground = Matrix::new(&matrix).unwrap();
    let mut memory = Workspace::<T, 2>::new();
    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
    start::given(&mut landmarks, &[3, 1]).unwrap();
    let before = Snapshot::new(&landmarks);
    let mut chain = Chain::new(landmarks, rule);
    let mut script = Script::new(draws);
    let step = chain.step(&mut script).unwrap();
    assert_eq!(script.left(), 0, "draws were left over");
    let progress = chain.progress();
    let counted = match step {
        Step::Held => (1, 0, 0),
        Step::Rejected => (1, 1, 0),
        Step::Accepted { .. } => (1, 1, 1),
    };
    assert_eq!((progress.steps, progress.proposed, progress.accepted), counted);
    if !matches!(step, Step::Accepted { .. }) {
        assert_eq!(Snapshot::new(chain.landmarks()), before);
    }
    (step, chain.landmarks().members().to_vec())
}

fn slot(value: usize) -> u32 {
    Script::choosing(value, 2)
}

fn row(value: usize) -> u32 {
    Script::choosing(value, 3)
}

#[test]
fn the_coin_is_the_first_draw_of_a_lazy_rule_and_no_draw_of_the_other() {
    let lazy = Rule { acceptance: Acceptance::Metropolis, lazy: true };
    assert_eq!(step_by::<f64>(lazy, &[TAILS]), (Step::Held, vec![3, 1]));
    assert_eq!(step_by::<f64>(lazy, &[0]), (Step::Held, vec![3, 1]));
    let swapped = (Step::Accepted { leaving: 1, entering: 4 }, vec![3, 4]);
    assert_eq!(step_by::<f64>(lazy, &[HEADS, slot(1), row(2), u32::MAX]), swapped);
    assert_eq!(step_by::<f64>(lazy, &[u32::MAX, slot(1), row(2), u32::MAX]), swapped);
    assert_eq!(step_by::<f64>(Rule::METROPOLIS, &[slot(1), row(2), u32::MAX]), swapped);
}

#[test]
fn every_slot_and_candidate_is_met() {
    let members = [3, 1];
    let outside = [0, 2, 4];
    for (at, &leaving) in members.iter().enumerate() {
        for (rank, &entering) in outside.iter().enumerate() {
            // u = 0 is below every positive probability.
            let (step, after) = step_by::<f64>(Rule::METROPOLIS, &[slot(at), row(rank), 0]);
            assert_eq!(step, Step::Accepted { leaving, entering });
            assert_eq!(after, [members[1 - at], entering]);
        }
    }
    // The first and the last draws: 2³² - 1 is the last candidate. (A draw of 0 is rejected by Lemire's rule
    // for a bound of 3, since 2³² is not a multiple of it; 1 is the first that is kept.)
    let first = (Step::Accepted { leaving: 3, entering: 0 }, vec![1, 0]);
    assert_eq!(step_by::<f64>(Rule::METROPOLIS, &[0, 1, 0]), first);
    assert_eq!(step_by::<f64>(Rule::METROPOLIS, &[0, 0, 1, 0]), first);
    let last = (Step::Accepted { leaving: 1, entering: 4 }, vec![3, 4]);
    assert_eq!(step_by::<f64>(Rule::METROPOLIS, &[u32::MAX, u32::MAX, 0]), last);
}

/// Return the smallest draw that rejects a swap of this probability, with the resolution of `T`.
fn border(probability: f64, unit: u32) -> u32 {
    ((probability * 4_294_967_296.0 / f64::from(unit)).ceil() as u32) * unit
}

fn acceptance_has_its_border<T: Scalar>(unit: u32) {
    let barker = Rule { acceptance: Acceptance::Barker, lazy: false };
    let draws = |u| [slot(0), row(0), u];
    // Row 0 for row 3: r = 1/4, so 1/5 under Barker and 1/4 under Metropolis.
    for (rule, probability) in [(barker, 0.2), (Rule::METROPOLIS, 0.25)] {
        let refused = border(probability, unit);
        assert_eq!(step_by::<T>(rule, &draws(refused + unit)).0, Step::Rejected);
        assert_eq!(
            step_by::<T>(rule, &draws(refused - unit - 1)).0,
            Step::Accepted { leaving: 3, entering: 0 },
            "{rule:?}"
        );
        assert_eq!(step_by::<T>(rule, &draws(u32::MAX)).0, Step::Rejected);
    }
    // 1/4 is exact: u = 1/4 is rejected, and the draw before it accepted.
    assert_eq!(step_by::<T>(Rule::METROPOLIS, &draws(1 << 30)).0, Step::Rejected);
    let taken = Step::Accepted { leaving: 3, entering: 0 };
    assert_eq!(step_by::<T>(Rule::METROPOLIS, &draws((1 << 30) - 1)).0, taken);
    // An improvement: Metropolis accepts it for every u, Barker does not when u is near 1.
    let draws = [slot(1), row(2), u32::MAX];
    assert_eq!(step_by::<T>(Rule::METROPOLIS, &draws).0, Step::Accepted { leaving: 1, entering: 4 });
    assert_eq!(step_by::<T>(barker, &draws).0, Step::Rejected);
}

#[test]
fn a_draw_is_compared_with_the_probability() {
    acceptance_has_its_border::<f64>(1);
    acceptance_has_its_border::<f32>(1 << 8);
}

#[test]
fn a_dependent_row_is_refused_even_at_u_zero() {
    let matrix = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let ground = Matrix::new(&matrix).unwrap();
    for acceptance in [Acceptance::Barker, Acceptance::Metropolis] {
        let mut memory = Workspace::<f64, 2>::new();
        let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
        start::given(&mut landmarks, &[0, 2]).unwrap();
        let mut chain = Chain::new(landmarks, Rule { acceptance, lazy: false });
        // Row 1 is a copy of row 0; row 2 leaves.
        let mut script = Script::new(&[Script::choosing(1, 2), Script::choosing(0, 1), 0]);
        assert_eq!(chain.step(&mut script), Ok(Step::Rejected));
    }
}

#[test]
fn a_step_draws_three_numbers_and_one_more_for_the_coin() {
    let entries: Vec<f64> = Gram::well_conditioned(8).to();
    let ground = Matrix::new(&entries).unwrap();
    for rule in RULES {
        let mut memory = Workspace::<f64, 4>::new();
        let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
        start::given(&mut landmarks, &[0, 2, 4, 6]).unwrap();
        let mut chain = Chain::new(landmarks, rule);
        let mut random = Counting::new(Random::seeded(3));
        // Four slots and four candidates: nothing is rejected for a power of two.
        let mut expected = 0;
        for _ in 0..1_000 {
            let step = chain.step(&mut random).unwrap();
            expected += u64::from(rule.lazy) + if step == Step::Held { 0 } else { 3 };
            assert_eq!(random.draws, expected, "{rule:?}");
        }
        let progress = chain.progress();
        assert_eq!(progress.steps, 1_000);
        assert_eq!(progress.proposed * 3 + u64::from(rule.lazy) * 1_000, random.draws);
        if rule.lazy {
            // A fair coin: standard deviation 16, five of them.
            assert!(progress.proposed.abs_diff(500) < 80, "{progress:?}");
        } else {
            assert_eq!(progress.proposed, 1_000);
        }
    }
}

#[test]
fn with_nothing_to_swap_the_chain_holds_and_draws_nothing() {
    let matrix = [2.0, 1.0, 1.0, 2.0];
    let ground = Matrix::new(&matrix).unwrap();
    for members in [&[][..], &[1, 0]] {
        for rule in RULES {
            let mut memory = Workspace::<f64, 2>::new();
            let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
            start::given(&mut landmarks, members).unwrap();
            let mut chain = Chain::new(landmarks, rule);
            let progress = chain.run(5, &mut Script::new(&[])).unwrap();
            assert_eq!((progress.steps, progress.proposed, progress.accepted), (5, 0, 0));
            assert_eq!(chain.landmarks().members(), members);
        }
    }
}

/// Returns NaN for one pair of rows.
struct Broken<'a> {
    inner: Matrix<'a, f64>,
    pair: [usize; 2],
}

impl GroundSet<f64> for Broken<'_> {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        if [i, j] == self.pair || [j, i] == self.pair { f64::NAN } else { self.inner.entry(i, j) }
    }
}

#[test]
fn a_step_that_reads_nan_changes_only_the_generator() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    for (pair, place) in [([1, 4], (4, 1)), ([4, 4], (4, 4))] {
        let ground = Broken { inner: Matrix::new(&entries).unwrap(), pair };
        let mut memory = Workspace::<f64, 3>::new();
        let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
        start::given(&mut landmarks, &[0, 1, 2]).unwrap();
        let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
        let (before, progress) = (Snapshot::new(chain.landmarks()), chain.progress());
        // Slot 0 leaves, row 4 enters: the second of rows 3, 4 and 5.
        let mut script = Script::new(&[Script::choosing(0, 3), Script::choosing(1, 3), 0]);
        let error = chain.step(&mut script).unwrap_err();
        assert_eq!(error, dpp_nystrom_core::Error::NotFinite { row: place.0, column: place.1 });
        assert_eq!((Snapshot::new(chain.landmarks()), chain.progress()), (before, progress));
        // The chain continues with another row.
        let mut script = Script::new(&[Script::choosing(0, 3), Script::choosing(2, 3), 0]);
        assert_eq!(chain.step(&mut script), Ok(Step::Accepted { leaving: 0, entering: 5 }));
    }
}
