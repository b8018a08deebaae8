//! A chain that stops and resumes gives the same results bit for bit as one that does not stop. Memory with
//! another state is refused.

use dpp_nystrom_core::{Acceptance, GroundSet, Matrix};
use dpp_nystrom_core::{
    Chain, Error, Landmarks, Points, Progress, Random, Rule, Scalar, SlotChain, kernel::Gaussian, start,
};
use dpp_nystrom_tests::ground::{Gram, normal_points};
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::snapshot::Snapshot;
use dpp_nystrom_tests::transition::RULES;
use rand_core::Rng;

const C: usize = 8;

/// Run without a stop, or in parts between which only the memory and, as text, the counters, the rule and the
/// generator are kept.
fn run<T: Scalar>(rule: Rule, parts: &[u64]) -> (Snapshot, Progress, Random) {
    let rows: Vec<T> = normal_points(40, 3, 61);
    let ground = Points::new(&rows, 3, Gaussian::new(T::ONE).unwrap()).unwrap();
    let mut room = Room::new(C);
    let mut random = Random::seeded(62);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, C, &mut random).unwrap();
    let mut chain = Chain::new(landmarks, rule);
    for (at, &steps) in parts.iter().enumerate() {
        if at > 0 {
            let progress = serde_json::to_string(&chain.progress()).unwrap();
            let rule = serde_json::to_string(&chain.rule()).unwrap();
            let state = serde_json::to_string(&random).unwrap();
            room = room.clone();
            random = serde_json::from_str(&state).unwrap();
            let rule = serde_json::from_str(&rule).unwrap();
            let progress = serde_json::from_str(&progress).unwrap();
            chain = Chain::resume(&ground, C, room.lend(), rule, progress).unwrap();
        }
        chain.run(steps, &mut random).unwrap();
    }
    assert_eq!(chain.rule(), rule);
    (Snapshot::new(chain.landmarks()), chain.progress(), random)
}

#[test]
fn a_resumed_chain_continues_bit_for_bit() {
    for rule in RULES {
        let whole = run::<f64>(rule, &[3_000]);
        assert_eq!(whole.1.steps, 3_000);
        assert!(whole.1.accepted > 100);
        assert_eq!(run::<f64>(rule, &[1_234, 1, 0, 1_765]), whole);
        assert_eq!(run::<f32>(rule, &[3_000]), run::<f32>(rule, &[1, 2_999]));
    }
}

#[test]
fn what_is_saved_is_plain() {
    let rule = Rule { acceptance: Acceptance::Barker, lazy: true };
    assert_eq!(serde_json::to_string(&rule).unwrap(), r#"{"acceptance":"Barker","lazy":true}"#);
    let progress = Progress { steps: 3, proposed: 2, accepted: 1, openings: 4 };
    let text = r#"{"steps":3,"proposed":2,"accepted":1,"openings":4}"#;
    assert_eq!(serde_json::to_string(&progress).unwrap(), text);
    // The openings may be missing, for a chain that opens no slots.
    let without: Progress = serde_json::from_str(r#"{"steps":3,"proposed":2,"accepted":1}"#).unwrap();
    assert_eq!(without, Progress { openings: 0, ..progress });
    // Counters above 2⁵³, which a float would round.
    let progress = Progress { steps: u64::MAX, proposed: u64::MAX - 1, accepted: 0, openings: 0 };
    let back: Progress = serde_json::from_str(&serde_json::to_string(&progress).unwrap()).unwrap();
    assert_eq!(back, progress);
}

/// Formats without names of fields, as devices use them.
#[test]
fn what_is_saved_is_read_from_a_format_without_names() {
    let mut random = Random::seeded(7);
    random.next_u32();
    let bytes = postcard::to_allocvec(&random).unwrap();
    assert_eq!(postcard::from_bytes::<Random>(&bytes).as_ref(), Ok(&random));
    let progress = Progress { steps: 3, proposed: 2, accepted: 1, openings: 4 };
    let bytes = postcard::to_allocvec(&progress).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(progress));
}

/// An array of rows on a card, which has no row past its end to answer for.
#[derive(Debug)]
struct Card([f64; 6]);

impl GroundSet<f64> for Card {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        (self.0[i] - self.0[j]).abs().mul_add(-1.0, 20.0)
    }
}

#[test]
fn memory_of_rows_past_the_end_is_refused_without_asking_for_them() {
    let ground = Card([0.0, 1.0, 3.0, 4.0, 7.0, 9.0]);
    for past in [6, usize::MAX] {
        for at in 0..3 {
            let mut room = Room::new(3);
            start::given(&mut Landmarks::new(&ground, room.lend()).unwrap(), &[4, 1, 2]).unwrap();
            assert!(Landmarks::resume(&ground, 3, room.lend()).is_ok());
            room.landmarks[at] = past;
            assert_eq!(Landmarks::resume(&ground, 3, room.lend()).unwrap_err(), Error::ForeignState);
        }
    }
}

#[test]
fn counters_that_no_chain_can_have_are_refused() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let ground = Matrix::new(&entries).unwrap();
    let sound = Progress { steps: 9, proposed: 8, accepted: 7, openings: 0 };
    let resumed = |progress| {
        let mut room = filled(&entries);
        let slots = SlotChain::resume(&ground, 3, room.lend(), Acceptance::Barker, progress).map(drop);
        assert_eq!(Chain::resume(&ground, 3, room.lend(), Rule::METROPOLIS, progress).map(drop), slots);
        slots
    };
    assert_eq!(resumed(sound), Ok(()));
    for progress in [
        Progress { steps: u64::MAX, ..sound },
        Progress { openings: u64::MAX, ..sound },
        Progress { proposed: 10, ..sound },
        Progress { accepted: 9, ..sound },
    ] {
        assert_eq!(resumed(progress), Err(Error::ForeignState), "{progress:?}");
    }
}

/// Create landmarks of one ground set, and resume them on another.
fn resumed_on<'a, T: Scalar>(
    room: &'a mut Room<T>,
    ground: &'a Matrix<'a, T>,
    count: usize,
) -> Result<Landmarks<'a, T, Matrix<'a, T>>, Error> {
    Landmarks::resume(ground, count, room.lend())
}

/// Memory that holds rows 4, 1 and 2 of `entries`.
fn filled(entries: &[f64]) -> Room<f64> {
    let ground = Matrix::new(entries).unwrap();
    let mut room = Room::new(3);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[4, 1, 2]).unwrap();
    room
}

#[test]
fn memory_that_holds_no_state_is_refused() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let ground = Matrix::new(&entries).unwrap();
    let refused = |mut room: Room<f64>, count| resumed_on(&mut room, &ground, count).unwrap_err();
    let foreign = Error::ForeignState;
    // The state itself, and a prefix of it, are accepted.
    for count in 0..=3 {
        let mut room = filled(&entries);
        assert_eq!(resumed_on(&mut room, &ground, count).unwrap().members(), &[4, 1, 2][..count]);
    }
    // More than the capacity of the memory.
    assert_eq!(refused(filled(&entries), 4), Error::Capacity { needed: 4, have: 3 });
    // Never written, or zeroed.
    assert_eq!(refused(Room::new(3), 3), foreign);
    let mut zeroed = Room::new(3);
    zeroed.square.fill(0.0);
    zeroed.landmarks.copy_from_slice(&[0, 1, 2]);
    assert_eq!(refused(zeroed, 3), foreign);
    // Members past the end, repeated, or others.
    for members in [[4, 1, 6], [4, 1, usize::MAX], [4, 1, 1], [1, 4, 2], [4, 1, 3]] {
        let mut room = filled(&entries);
        room.landmarks.copy_from_slice(&members);
        assert_eq!(refused(room, 3), foreign, "{members:?}");
    }
    // A factor with an entry that is NaN or infinite, a pivot that is not positive, a row scaled.
    for (at, value) in [(3, f64::NAN), (6, f64::INFINITY), (4, 0.0), (8, -1.0), (0, 1e-3), (7, 100.0)] {
        let mut room = filled(&entries);
        room.square[at] = value;
        assert_eq!(refused(room, 3), foreign, "entry {at}");
    }
    // The upper triangle is scratch: it may hold anything.
    let mut room = filled(&entries);
    room.square[1] = f64::NAN;
    assert!(resumed_on(&mut room, &ground, 3).is_ok());
}

#[test]
fn the_memory_of_another_ground_set_is_refused() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let other: Vec<f64> = Gram::near_duplicates(6, 100).to();
    let other = Matrix::new(&other).unwrap();
    let mut room = filled(&entries);
    assert_eq!(resumed_on(&mut room, &other, 3).unwrap_err(), Error::ForeignState);
    // Too few rows.
    let few = Matrix::new(&entries[..4]).unwrap();
    let mut room = filled(&entries);
    assert_eq!(resumed_on(&mut room, &few, 3).unwrap_err(), Error::ForeignState);
}

/// Under a Gaussian kernel every diagonal entry is one: the diagonal alone distinguishes neither ground sets
/// nor members.
#[test]
fn the_memory_of_other_points_under_a_kernel_of_constant_diagonal_is_refused() {
    let rows: Vec<f64> = normal_points(20, 2, 63);
    let others: Vec<f64> = normal_points(20, 2, 64);
    let kernel = Gaussian::new(1.0).unwrap();
    let (ground, other) = (Points::new(&rows, 2, kernel).unwrap(), Points::new(&others, 2, kernel).unwrap());
    let narrow = Points::new(&rows, 2, Gaussian::new(0.5).unwrap()).unwrap();
    let mut room = Room::new(C);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, C, &mut Random::seeded(65)).unwrap();
    let members = landmarks.members().to_vec();
    assert!(Landmarks::resume(&ground, C, room.clone().lend()).is_ok());
    assert_eq!(Landmarks::resume(&other, C, room.clone().lend()).unwrap_err(), Error::ForeignState);
    assert_eq!(Landmarks::resume(&narrow, C, room.clone().lend()).unwrap_err(), Error::ForeignState);
    let mut exchanged = room.clone();
    exchanged.landmarks.swap(0, C - 1);
    assert_eq!(Landmarks::resume(&ground, C, exchanged.lend()).unwrap_err(), Error::ForeignState);
    let mut replaced = room.clone();
    replaced.landmarks[3] = (0..20).find(|row| !members.contains(row)).unwrap();
    assert_eq!(Landmarks::resume(&ground, C, replaced.lend()).unwrap_err(), Error::ForeignState);
}

/// The rounding of a long chain must not make its own memory foreign.
#[test]
fn a_worn_factor_still_resumes() {
    let rows: Vec<f32> = normal_points(60, 2, 66);
    let ground = Points::new(&rows, 2, Gaussian::new(1.5_f32).unwrap()).unwrap();
    let mut room = Room::new(16);
    let mut random = Random::seeded(67);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, 16, &mut random).unwrap();
    let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
    let progress = chain.run(50_000, &mut random).unwrap();
    assert!(progress.accepted > 5_000, "{progress:?}");
    assert!(Chain::resume(&ground, 16, room.lend(), Rule::METROPOLIS, progress).is_ok());
}
