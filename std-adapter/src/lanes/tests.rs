//! Every lane against the core's one-by-one evaluator.

use super::{Lane, Lanes};
use crate::{ChosenKernel, Heap, KernelKind};
use dpp_nystrom_core::{Acceptance, Landmarks, OneByOne, Points, Random, SlotChain, start};

const KERNELS: [KernelKind; 6] = [
    KernelKind::Gaussian,
    KernelKind::Laplace,
    KernelKind::Matern32,
    KernelKind::Matern52,
    KernelKind::Polynomial { degree: 3, offset: 1.0 },
    KernelKind::Linear,
];

fn rows<T: Lane>(count: usize, width: usize) -> Vec<T> {
    let mut state = 1_u32;
    (0..count * width)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            T::from_f64(f64::from(state >> 8) / f64::from(1 << 23) - 1.0)
        })
        .collect()
}

/// Runs the same seed with both evaluators.
fn agree<T: Lane>(kind: KernelKind, c: usize, width: usize, tries: usize, steps: u64) {
    let rows = rows::<T>(400, width);
    let kernel: ChosenKernel<T> = kind.build(0.9).unwrap();
    let ground = Points::new(&rows, width, kernel).unwrap();
    let (mut one, mut many) = (Heap::new(c).unwrap(), Heap::new(c).unwrap());
    let mut random = Random::seeded(5);
    let mut landmarks = Landmarks::new(&ground, one.lend()).unwrap();
    start::uniform(&mut landmarks, c, &mut random).unwrap();
    let members = landmarks.members().to_vec();
    let mut again = Landmarks::new(&ground, many.lend()).unwrap();
    start::given(&mut again, &members).unwrap();

    let (mut random, mut twin) = (random.clone(), random);
    let mut slow =
        SlotChain::new(landmarks, Acceptance::Metropolis).with_tries(tries).with_evaluator(OneByOne);
    let lanes = Lanes::new(c, width).unwrap();
    let mut fast = SlotChain::new(again, Acceptance::Metropolis).with_tries(tries).with_evaluator(lanes);
    slow.run(steps, &mut random).unwrap();
    fast.run(steps, &mut twin).unwrap();
    let context = format!("{kind:?}, c {c}, d {width}, {tries} tries");
    assert!(slow.progress().accepted > 0 || steps < 50, "{context}: nothing moved");
    assert_eq!(slow.progress(), fast.progress(), "{context}");
    assert_eq!(slow.landmarks().members(), fast.landmarks().members(), "{context}");
    let difference = (slow.log_det() - fast.log_det()).to_f64().abs();
    // The two factors differ by the rounding of a few hundred openings.
    let bound = 1e4 * c as f64 * T::EPSILON.to_f64();
    assert!(difference <= bound * slow.log_det().to_f64().abs().max(1.0), "{context}: {difference:e}");
}

#[test]
fn every_kernel_follows_the_core_in_f64() {
    for kind in KERNELS {
        agree::<f64>(kind, 6, 7, 16, 2_000);
    }
}

#[test]
fn every_kernel_follows_the_core_in_f32() {
    for kind in KERNELS {
        agree::<f32>(kind, 4, 7, 16, 400);
    }
}

#[test]
fn every_number_of_landmarks_features_and_tries_follows_the_core() {
    for c in [1, 2, 7, 8, 9, 10, 17, 40] {
        for width in [1, 3, 8] {
            for tries in [1, 5, 16] {
                agree::<f64>(KernelKind::Laplace, c, width, tries, 600);
            }
        }
    }
}
