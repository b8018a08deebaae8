//! An open-slot chain that stops between two slots and resumes gives the same results bit for bit.

use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom_core::{Acceptance, Error, Landmarks, Points, Progress, Random, SlotChain, start};
use dpp_nystrom_host::simd::Lane;
use dpp_nystrom_tests::evaluator::Evaluator;
use dpp_nystrom_tests::ground::normal_points;
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::snapshot::Snapshot;

const C: usize = 12;
const DIM: usize = 3;

/// Run these parts, one after the other. If the chain `stops`, only the memory and, as text, the counters and
/// the generator are kept between them.
fn run<T: Lane>(
    evaluator: &mut Evaluator<T>,
    tries: usize,
    parts: &[u64],
    stops: bool,
    openings: impl Fn(u64) -> u64,
) -> (Snapshot, Progress, Random) {
    let rows: Vec<T> = normal_points(60, DIM, 95);
    let kernel = KernelKind::Gaussian.build(1.0).unwrap();
    let ground = Points::new(&rows, DIM, kernel).unwrap();
    let mut room = Room::new(C);
    let mut random = Random::seeded(96);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, C, &mut random).unwrap();
    let mut chain =
        SlotChain::new(landmarks, Acceptance::Barker).with_tries(tries).with_evaluator(&mut *evaluator);
    for (at, &part) in parts.iter().enumerate() {
        if at > 0 && stops {
            let saved = serde_json::to_string(&(chain.progress(), &random)).unwrap();
            room = room.clone();
            let (progress, generator): (Progress, Random) = serde_json::from_str(&saved).unwrap();
            random = generator;
            let progress = Progress { openings: openings(progress.openings), ..progress };
            chain = SlotChain::resume(&ground, C, room.lend(), Acceptance::Barker, progress)
                .unwrap()
                .with_tries(tries)
                .with_evaluator(&mut *evaluator);
        }
        chain.run(part, &mut random).unwrap();
    }
    (Snapshot::new(chain.landmarks()), chain.progress(), random)
}

fn check<T: Lane>() {
    for mut evaluator in Evaluator::<T>::all(C, DIM) {
        let kept = |openings| openings;
        for tries in [1, 5, 16] {
            // 256 slots and more: the chain refactors every 96.
            let slots = |count: u64| count * tries as u64;
            let whole = run(&mut evaluator, tries, &[slots(256)], false, kept);
            assert_eq!((whole.1.steps, whole.1.openings), (slots(256), 256));
            assert!(whole.1.accepted > 30, "{whole:?}");
            let parts = [slots(95), slots(1), 0, slots(1), slots(159)];
            assert_eq!(run(&mut evaluator, tries, &parts, true, kept), whole, "{tries} tries");
        }
        // A part that is not a multiple of the tries cuts its last slot short, resumed or not.
        let parts = [1_234, 1, 0, 1_765];
        assert_eq!(run(&mut evaluator, 16, &parts, true, kept), run(&mut evaluator, 16, &parts, false, kept));
        // The openings are needed: without them the chain refactors at other times.
        let parts = [16 * 90, 16 * 10];
        let forgotten = run(&mut evaluator, 16, &parts, true, |_| 0);
        assert_ne!(forgotten.0, run(&mut evaluator, 16, &parts, true, kept).0);
    }
}

#[test]
fn a_resumed_chain_continues_bit_for_bit() {
    check::<f64>();
    check::<f32>();
}

#[test]
fn memory_of_another_state_is_refused() {
    let rows: Vec<f64> = normal_points(60, DIM, 95);
    let ground = Points::new(&rows, DIM, KernelKind::Gaussian.build::<f64>(1.0).unwrap()).unwrap();
    let mut room = Room::new(C);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, C, &mut Random::seeded(97)).unwrap();
    let resume = |room: &mut Room<f64>| {
        let progress = Progress::default();
        SlotChain::resume(&ground, C, room.lend(), Acceptance::Metropolis, progress).map(drop)
    };
    assert_eq!(resume(&mut room), Ok(()));
    room.landmarks.swap(0, 1);
    assert_eq!(resume(&mut room), Err(Error::ForeignState));
}
