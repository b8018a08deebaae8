//! The exact sampler compared with the enumerated law.

use dpp_nystrom::Error;
use dpp_nystrom::landmarks::ExactKDpp;
use dpp_nystrom_core::{Error as CoreError, Matrix, Random};
use dpp_nystrom_tests::ground::{Gram, with_spectrum};
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::statistics::{Fit, total_variation};

const N: usize = 8;
const C: usize = 3;
const DRAWS: u64 = 40_000;

fn counts(entries: &[f64], law: &Law, c: usize, seed: u64) -> Vec<u64> {
    let exact = ExactKDpp::new(&Matrix::new(entries).unwrap()).unwrap();
    let sized = exact.with_size(c).unwrap();
    let mut random = Random::seeded(seed);
    let mut counts = vec![0; law.states.len()];
    for _ in 0..DRAWS {
        let sample = sized.sample(&mut random);
        assert!(sample.is_sorted_by(|one, next| one < next), "{sample:?}");
        counts[law.index(&sample)] += 1;
    }
    counts
}

/// Check the frequencies of every set of rows, every row and every pair.
fn assert_law(entries: &[f64], law: &Law, c: usize, seed: u64) {
    let counts = counts(entries, law, c, seed);
    let fit = Fit::new(&counts, &law.probabilities);
    println!("c = {c}: {fit:?}, bound {}, tv {}", fit.bound(), total_variation(&counts, &law.probabilities));
    assert!(fit.holds(), "{fit:?}");
    let total = DRAWS as f64;
    for i in 0..N {
        for j in 0..=i {
            let holds = |state: &&Vec<usize>| state.contains(&i) && state.contains(&j);
            let expected: f64 = law
                .states
                .iter()
                .zip(&law.probabilities)
                .filter(|(state, _)| holds(state))
                .map(|(_, p)| p)
                .sum();
            let found: u64 =
                law.states.iter().zip(&counts).filter(|(state, _)| holds(state)).map(|(_, n)| n).sum();
            let deviation = (total * expected * (1.0 - expected)).sqrt();
            // 36 frequencies, each within 4.5 standard deviations: about one seed in 4,000 fails.
            let off = (found as f64 - total * expected).abs();
            assert!(off <= 4.5 * deviation + 1e-6, "rows {i} {j}: {found} of {total}, expected {expected}");
        }
    }
}

#[test]
fn samples_follow_the_enumerated_law() {
    let gram = Gram::well_conditioned(N);
    assert_law(&gram.to::<f64>(), &Law::exact(&gram.entries, N, C), C, 11);
}

#[test]
fn every_size_follows_its_law() {
    let gram = Gram::well_conditioned(N);
    for c in [1, 2, 5, 7, 8] {
        assert_law(&gram.to::<f64>(), &Law::exact(&gram.entries, N, c), c, 12 + c as u64);
    }
}

/// Eigenvalues over twelve powers of ten, which must not affect the residuals of phase 2.
#[test]
fn a_decaying_spectrum_follows_its_law() {
    let spectrum: Vec<f64> = (0..N).map(|k| 10.0_f64.powf(-1.7 * k as f64)).collect();
    let entries = with_spectrum(&spectrum, 5);
    assert_law(&entries, &Law::new(&entries, N, C), C, 21);
}

#[test]
fn sizes_above_the_rank_are_rejected() {
    // Rank 2.
    let entries: Vec<f64> = (0..N * N).map(|at| 1.0 + ((at / N) * (at % N)) as f64).collect();
    let exact = ExactKDpp::new(&Matrix::new(&entries).unwrap()).unwrap();
    assert_eq!(exact.rank(), 2);
    let reason = |c| match exact.with_size(c).unwrap_err() {
        Error::Landmarks { reason } => reason,
        error => panic!("{error}"),
    };
    assert_eq!(reason(0), CoreError::Empty);
    assert_eq!(reason(3), CoreError::RankDeficient { rank: 2, landmarks: 3 });
    assert_eq!(reason(9), CoreError::TooManyLandmarks { landmarks: 9, rows: N });
    let sample = exact.sample(2, &mut Random::seeded(1)).unwrap();
    assert!(sample.len() == 2 && sample[0] < sample[1]);
}

/// The covariance of Brownian motion: more rows than the limit of a decomposition, none of them stored.
struct Long;

impl dpp_nystrom_core::GroundSet<f64> for Long {
    fn len(&self) -> usize {
        dpp_nystrom::approximation::SPECTRUM_ROWS + 1
    }
    fn entry(&self, i: usize, j: usize) -> f64 {
        (i.min(j) + 1) as f64
    }
}

#[test]
fn too_many_rows_are_rejected() {
    let error = ExactKDpp::new(&Long).unwrap_err();
    assert!(matches!(error, Error::SpectrumRows { rows: 10_001, most: 10_000 }));
    assert!(error.to_string().contains("at most 10000; use fewer"), "{error}");
}
