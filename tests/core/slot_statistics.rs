//! Draws of the open-slot chain follow the c-DPP. Every chain gives one draw, so that draws are independent
//! and a chi-square test on their counts is valid.

use dpp_nystrom_core::{Acceptance, Landmarks, Random, Scan, SlotChain, start};
use dpp_nystrom_host::simd::Lane;
use dpp_nystrom_tests::evaluator::{Evaluator, linear};
use dpp_nystrom_tests::ground::Gram;
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::statistics::{Fit, total_variation};

const DRAWS: usize = 20_000;

/// Three slots: two with all their tries, and one that is cut short.
const TRIES: u64 = 2 * dpp_nystrom_core::TRIES as u64 + 7;

/// Starting from exact draws of π, in an order drawn uniformly, a few steps give draws of π, if π is
/// stationary. (In ascending order a systematic scan would open the largest row first: a choice that depends
/// on the set.)
fn stationary<T: Lane>(name: &str, gram: &Gram, c: usize) {
    let rows: Vec<T> = gram.points();
    let ground = linear(&rows, gram.n);
    let law = Law::new(&gram.to::<f64>(), gram.n, c);
    let scans = [Scan::Systematic, Scan::Random];
    for (acceptance, scan) in
        [Acceptance::Barker, Acceptance::Metropolis].map(|a| scans.map(|s| (a, s))).concat()
    {
        for mut evaluator in Evaluator::all(c, gram.n) {
            let mut numbers = SplitMix64::seeded(71);
            let mut random = Random::seeded(72);
            let mut room = Room::new(c);
            let mut counts = vec![0; law.states.len()];
            let mut moved = 0;
            for _ in 0..DRAWS {
                let first = law.state_at(numbers.uniform());
                let mut order = first.to_vec();
                for place in (1..c).rev() {
                    order.swap(place, numbers.below(place + 1));
                }
                let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
                start::given(&mut landmarks, &order).unwrap();
                let mut chain =
                    SlotChain::new(landmarks, acceptance).with_scan(scan).with_evaluator(&mut evaluator);
                chain.run(TRIES, &mut random).unwrap();
                let at = law.index(chain.landmarks().members());
                counts[at] += 1;
                moved += usize::from(law.states[at] != first);
            }
            let fit = Fit::new(&counts, &law.probabilities);
            println!(
                "{name}, {}, {acceptance:?}, {scan:?}: {fit:?}, bound {:.1}, total variation {:.4}, moved {moved}",
                evaluator.name(),
                fit.bound(),
                total_variation(&counts, &law.probabilities)
            );
            assert!(fit.holds());
            assert!(moved > DRAWS / 3, "the draws are their starts");
        }
    }
}

#[test]
fn a_few_steps_keep_the_law() {
    stationary::<f64>("well conditioned, f64", &Gram::well_conditioned(6), 3);
    stationary::<f32>("well conditioned, f32", &Gram::well_conditioned(6), 3);
}

#[test]
fn a_few_steps_keep_the_law_of_near_duplicates() {
    stationary::<f64>("near duplicates, f64", &Gram::near_duplicates(6, 1 << 18), 3);
    stationary::<f32>("near duplicates, f32", &Gram::near_duplicates(6, 1 << 8), 3);
}

#[test]
fn a_few_steps_keep_the_law_of_one_landmark_and_of_all_but_one() {
    stationary::<f64>("one landmark", &Gram::well_conditioned(6), 1);
    stationary::<f64>("all but one", &Gram::well_conditioned(6), 5);
}

/// Nine landmarks fill a tile: tries are rejected before all of them are used.
#[test]
fn a_few_steps_keep_the_law_of_ten_landmarks() {
    stationary::<f64>("ten landmarks, f64", &Gram::well_conditioned(12), 10);
    stationary::<f32>("ten landmarks, f32", &Gram::well_conditioned(12), 10);
}
