//! `E tr(K - K̃) = (c + 1) e_{c+1}(K) / e_c(K)` for landmarks of the c-DPP: exact, and computable from
//! eigenvalues alone, so that it tests the sampler at a realistic size.

use dpp_nystrom_core::{
    Acceptance, Chain, GroundSet, Landmarks, Matrix, Nystrom, Points, Random, Rule, Scalar, kernel::Gaussian,
    start,
};
use dpp_nystrom_tests::dense::eigenvalues;
use dpp_nystrom_tests::ground::{Gram, converted, normal_points};
use dpp_nystrom_tests::law::{Law, expected_trace_error};
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::statistics::mean_and_error;

const N: usize = 300;
const C: usize = 20;
/// For a standard error of about half a percent.
const CHAINS: u64 = 800;
/// Twice the burn-in of the means: after 3,000 steps they have converged.
const STEPS: u64 = 6_000;

/// Return Gaussian entries, bandwidth 2, of 300 normal points in three dimensions. The spectrum decays from
/// 173 to 0.2 over the first 25 eigenvalues.
fn gaussian_matrix() -> Vec<f64> {
    let rows: Vec<f64> = normal_points(N, 3, 41);
    let points = Points::new(&rows, 3, Gaussian::new(2.0).unwrap()).unwrap();
    (0..N * N).map(|at| points.entry(at / N, at % N)).collect()
}

/// Return the trace errors of independent chains of `steps` steps.
fn trace_errors<T: Scalar>(entries: &[f64], rule: Rule, steps: u64) -> Vec<f64> {
    let entries: Vec<T> = converted(entries);
    let ground = Matrix::new(&entries).unwrap();
    let mut room = Room::new(C);
    (0..CHAINS)
        .map(|seed| {
            let mut random = Random::seeded(seed);
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::uniform(&mut landmarks, C, &mut random).unwrap();
            let mut chain = Chain::new(landmarks, rule);
            chain.run(steps, &mut random).unwrap();
            Nystrom::new(chain.landmarks()).trace_error(&mut [T::ZERO; C]).unwrap().to_f64()
        })
        .collect()
}

/// Return the difference of the mean from its expectation in standard errors, and the relative standard
/// error.
fn deviation(errors: &[f64], expected: f64) -> (f64, f64) {
    let (mean, error) = mean_and_error(errors);
    println!("mean {mean:.4} ± {error:.4}, expected {expected:.4}");
    ((mean - expected).abs() / error, error / expected)
}

fn chains_have_the_expected_trace_error<T: Scalar>(rule: Rule) {
    let entries = gaussian_matrix();
    let expected = expected_trace_error(&eigenvalues(&entries, N), C);
    let (deviations, error) = deviation(&trace_errors::<T>(&entries, rule, STEPS), expected);
    // Four standard errors: a correct sampler fails for one seed in 15,000.
    assert!(deviations < 4.0, "{deviations}");
    assert!(error < 0.01, "{error}");
}

#[test]
fn metropolis_chains_have_the_expected_trace_error() {
    chains_have_the_expected_trace_error::<f64>(Rule::METROPOLIS);
}

#[test]
fn metropolis_chains_in_f32_have_the_expected_trace_error() {
    chains_have_the_expected_trace_error::<f32>(Rule::METROPOLIS);
}

#[test]
fn barker_chains_have_the_expected_trace_error() {
    chains_have_the_expected_trace_error::<f64>(Rule { acceptance: Acceptance::Barker, lazy: false });
}

/// The checks above are powerful: the starts alone fail them by far.
#[test]
fn uniform_samples_do_not_have_the_expected_trace_error() {
    let entries = gaussian_matrix();
    let expected = expected_trace_error(&eigenvalues(&entries, N), C);
    let (deviations, _) = deviation(&trace_errors::<f64>(&entries, Rule::METROPOLIS, 0), expected);
    assert!(deviations > 10.0, "{deviations}");
}

#[test]
fn the_identity_is_exact_by_enumeration() {
    let (n, c) = (8, 3);
    let gram = Gram::well_conditioned(n);
    let entries: Vec<f64> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let law = Law::exact(&gram.entries, n, c);
    let mut mean = 0.0;
    let mut uniform = 0.0;
    for (state, probability) in law.states.iter().zip(&law.probabilities) {
        let mut room = Room::new(c);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::given(&mut landmarks, state).unwrap();
        let error = Nystrom::new(&landmarks).trace_error(&mut [0.0; 3]).unwrap();
        mean += probability * error;
        uniform += error / law.states.len() as f64;
    }
    let expected = expected_trace_error(&eigenvalues(&entries, n), c);
    // Eigenvalues and 56 trace errors, each to some 10 ε of the trace, which is 10 times the error.
    assert!((mean / expected - 1.0).abs() < 1e-12, "{mean} {expected}");
    assert!((uniform / expected - 1.0).abs() > 0.01, "{uniform} {expected}");
}
