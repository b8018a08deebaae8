//! `E tr(K - K̃) = (c + 1) e_{c+1}(K) / e_c(K)` tests the open-slot chain at a realistic size, as it does the
//! swap chain.

use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom_core::{Acceptance, GroundSet, Landmarks, Nystrom, Points, Random, SlotChain, start};
use dpp_nystrom_host::simd::Lane;
use dpp_nystrom_tests::dense::eigenvalues;
use dpp_nystrom_tests::evaluator::Evaluator;
use dpp_nystrom_tests::ground::normal_points;
use dpp_nystrom_tests::law::expected_trace_error;
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::statistics::mean_and_error;

const N: usize = 300;
const C: usize = 20;
const DIM: usize = 3;
/// For a standard error of about half a percent.
const CHAINS: u64 = 800;
/// After 1,000 tries the means have converged.
const TRIES: u64 = 6_000;

/// Return the difference of the mean over independent chains from its expectation, in standard errors.
fn deviation<T: Lane>(evaluator: &mut Evaluator<T>, tries: u64) -> f64 {
    let rows: Vec<T> = normal_points(N, DIM, 41);
    let ground = Points::new(&rows, DIM, KernelKind::Gaussian.build(2.0).unwrap()).unwrap();
    let entries: Vec<f64> = (0..N * N).map(|at| ground.entry(at / N, at % N).to_f64()).collect();
    let expected = expected_trace_error(&eigenvalues(&entries, N), C);
    let mut room = Room::new(C);
    let errors: Vec<f64> = (0..CHAINS)
        .map(|seed| {
            let mut random = Random::seeded(seed);
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::uniform(&mut landmarks, C, &mut random).unwrap();
            let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(&mut *evaluator);
            chain.run(tries, &mut random).unwrap();
            Nystrom::new(chain.landmarks()).trace_error(&mut [T::ZERO; C]).unwrap().to_f64()
        })
        .collect();
    let (mean, error) = mean_and_error(&errors);
    println!("{}: mean {mean:.4} ± {error:.4}, expected {expected:.4}", evaluator.name());
    assert!(error / expected < 0.01, "{error}");
    (mean - expected).abs() / error
}

// Four standard errors: a correct sampler fails for one seed in 15,000.

#[test]
fn the_core_has_the_expected_trace_error() {
    assert!(deviation::<f64>(&mut Evaluator::OneByOne, TRIES) < 4.0);
}

#[test]
fn lanes_have_the_expected_trace_error() {
    assert!(deviation::<f64>(&mut Evaluator::lanes(C, DIM), TRIES) < 4.0);
}

#[test]
fn lanes_in_f32_have_the_expected_trace_error() {
    assert!(deviation::<f32>(&mut Evaluator::lanes(C, DIM), TRIES) < 4.0);
}

/// The checks above are powerful: a tenth of a sweep fails them by far.
#[test]
fn short_chains_do_not_have_the_expected_trace_error() {
    assert!(deviation::<f64>(&mut Evaluator::lanes(C, DIM), 32) > 10.0);
}
