//! Draws follow the c-DPP. Every chain gives one draw, so draws are independent and a chi-square test on
//! their counts is valid; it is not valid along a path.

use dpp_nystrom_core::{Chain, Landmarks, Matrix, Random, Rule, Scalar, start};
use dpp_nystrom_tests::ground::Gram;
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::statistics::{Fit, total_variation};
use dpp_nystrom_tests::transition::{RULES, advance, transition};

fn report(name: &str, rule: Rule, counts: &[u64], law: &Law) -> Fit {
    let fit = Fit::new(counts, &law.probabilities);
    let distance = total_variation(counts, &law.probabilities);
    println!("{name}, {rule:?}: {fit:?}, bound {:.1}, total variation {distance:.4}", fit.bound());
    fit
}

/// Starting from exact draws of π, eight steps give draws of π, if π is stationary.
fn stationary<T: Scalar>(name: &str, gram: &Gram, c: usize, draws: usize) {
    let entries: Vec<T> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let law = Law::exact(&gram.entries, gram.n, c);
    for rule in RULES {
        let mut numbers = SplitMix64::seeded(21);
        let mut random = Random::seeded(22);
        let mut room = Room::new(c);
        let mut counts = vec![0; law.states.len()];
        for _ in 0..draws {
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::given(&mut landmarks, law.state_at(numbers.uniform())).unwrap();
            let mut chain = Chain::new(landmarks, rule);
            chain.run(8, &mut random).unwrap();
            counts[law.index(chain.landmarks().members())] += 1;
        }
        assert!(report(name, rule, &counts, &law).holds());
    }
}

#[test]
fn eight_steps_keep_the_law() {
    stationary::<f64>("well conditioned, f64", &Gram::well_conditioned(6), 3, 40_000);
    stationary::<f32>("well conditioned, f32", &Gram::well_conditioned(6), 3, 40_000);
}

#[test]
fn eight_steps_keep_the_law_of_near_duplicates() {
    stationary::<f64>("near duplicates, f64", &Gram::near_duplicates(6, 1 << 18), 3, 40_000);
    stationary::<f32>("near duplicates, f32", &Gram::near_duplicates(6, 1 << 8), 3, 40_000);
}

#[test]
fn eight_steps_keep_the_law_of_one_landmark_and_of_all_but_one() {
    stationary::<f64>("one landmark", &Gram::well_conditioned(6), 1, 40_000);
    stationary::<f64>("all but one", &Gram::well_conditioned(6), 5, 40_000);
}

/// Long runs from uniform starts, each with a seed of its own.
#[test]
fn long_runs_of_different_seeds_follow_the_law() {
    const STEPS: u64 = 150;
    const RUNS: u64 = 20_000;
    let gram = Gram::well_conditioned(6);
    let entries: Vec<f64> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let law = Law::exact(&gram.entries, 6, 3);
    for rule in RULES {
        // Long enough: the exact law, advanced from the worst start, is then so close to π that 20,000 draws
        // could not distinguish them (they resolve 10⁻²).
        let p = transition(&ground, 3, rule);
        for start in 0..law.states.len() {
            let mut ahead = vec![0.0; law.states.len()];
            ahead[start] = 1.0;
            for _ in 0..STEPS {
                ahead = advance(&ahead, &p);
            }
            let distance: f64 =
                ahead.iter().zip(&law.probabilities).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
            assert!(distance < 1e-3, "{rule:?}: {distance}");
        }
        let mut room = Room::new(3);
        let mut counts = vec![0; law.states.len()];
        for seed in 0..RUNS {
            let mut random = Random::seeded(seed);
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::uniform(&mut landmarks, 3, &mut random).unwrap();
            let mut chain = Chain::new(landmarks, rule);
            chain.run(STEPS, &mut random).unwrap();
            counts[law.index(chain.landmarks().members())] += 1;
        }
        assert!(report("long runs", rule, &counts, &law).holds());
    }
}

/// The test above is powerful: draws of a uniform start fail it by far.
#[test]
fn uniform_starts_alone_fail() {
    let gram = Gram::well_conditioned(6);
    let entries: Vec<f64> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let law = Law::exact(&gram.entries, 6, 3);
    let mut room = Room::new(3);
    let mut counts = vec![0; law.states.len()];
    for seed in 0..20_000 {
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::uniform(&mut landmarks, 3, &mut Random::seeded(seed)).unwrap();
        counts[law.index(landmarks.members())] += 1;
    }
    let fit = Fit::new(&counts, &law.probabilities);
    assert!(fit.statistic > 10.0 * fit.bound(), "{fit:?}");
}
