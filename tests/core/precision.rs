//! `f32` and `f64` follow the same path from the same seed.
//!
//! This is expected: slots and rows are drawn in integers, and the acceptance compares the same 32 bits,
//! rounded to 24 in `f32`, with a probability that differs by some `c ε` times its condition, here below
//! 10⁻⁵. The paths separate only if a draw falls into that gap: over 500 steps with a probability of a few in
//! a thousand. Separated paths stay separate, so the test also shows that only the comparison depends on the
//! precision.

use dpp_nystrom_core::{Chain, Landmarks, Matrix, Random, Scalar, Step, kernel::Gaussian, start};
use dpp_nystrom_core::{GroundSet, Points, Rule};
use dpp_nystrom_tests::ground::{converted, geometric, normal_points, with_spectrum};
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::transition::RULES;

const STEPS: usize = 500;

fn path<T: Scalar, G: GroundSet<T>>(ground: &G, c: usize, rule: Rule, seed: u64) -> Vec<(Step, Vec<usize>)> {
    let mut random = Random::seeded(seed);
    let mut room = Room::new(c);
    let mut landmarks = Landmarks::new(ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, c, &mut random).unwrap();
    let mut chain = Chain::new(landmarks, rule);
    (0..STEPS).map(|_| (chain.step(&mut random).unwrap(), chain.landmarks().members().to_vec())).collect()
}

#[test]
fn chains_of_a_well_conditioned_matrix_share_their_path() {
    let double = with_spectrum(&geometric(60, 20.0), 51);
    let single: Vec<f32> = converted(&double);
    let (double, single) = (Matrix::new(&double).unwrap(), Matrix::new(&single).unwrap());
    for rule in RULES {
        for seed in 0..4 {
            let path = path(&double, 12, rule, seed);
            let taken = path.iter().filter(|(step, _)| matches!(step, Step::Accepted { .. })).count();
            assert!(taken > 100, "{taken}");
            assert_eq!(path, self::path(&single, 12, rule, seed), "{rule:?}, seed {seed}");
        }
    }
}

#[test]
fn chains_of_points_share_their_path() {
    let single: Vec<f32> = normal_points(60, 4, 52);
    let double: Vec<f64> = single.iter().map(|&feature| f64::from(feature)).collect();
    let single = Points::new(&single, 4, Gaussian::new(1.0_f32).unwrap()).unwrap();
    let double = Points::new(&double, 4, Gaussian::new(1.0_f64).unwrap()).unwrap();
    for rule in RULES {
        for seed in 0..4 {
            assert_eq!(path(&double, 12, rule, seed), path(&single, 12, rule, seed), "{rule:?}, seed {seed}");
        }
    }
}

#[test]
fn starts_of_points_share_their_choice() {
    let single: Vec<f32> = normal_points(60, 4, 53);
    let double: Vec<f64> = single.iter().map(|&feature| f64::from(feature)).collect();
    let single = Points::new(&single, 4, Gaussian::new(1.0_f32).unwrap()).unwrap();
    let double = Points::new(&double, 4, Gaussian::new(1.0_f64).unwrap()).unwrap();
    for seed in 0..20 {
        let (mut room, mut wide_room) = (Room::new(10), Room::new(10));
        let mut landmarks = Landmarks::new(&single, room.lend()).unwrap();
        let mut wide = Landmarks::new(&double, wide_room.lend()).unwrap();
        start::kmeans_plus_plus(&mut landmarks, 10, &mut [0.0; 60], &mut Random::seeded(seed)).unwrap();
        start::kmeans_plus_plus(&mut wide, 10, &mut [0.0; 60], &mut Random::seeded(seed)).unwrap();
        assert_eq!(landmarks.members(), wide.members(), "seed {seed}");
    }
}
