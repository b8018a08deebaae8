//! The exact sampler by rejection compared with enumerated laws, and with the exact one of the whole matrix.

use dpp_nystrom::approximation::trace_error;
use dpp_nystrom::landmarks::{ExactKDpp, RejectionKDpp, select};
use dpp_nystrom::observer::{NoObserver, Observer};
use dpp_nystrom::selectors::{KdppExact, RpCholesky};
use dpp_nystrom::{ErrorKind, approximation::SPECTRUM_ROWS};
use dpp_nystrom_core::{Error as CoreError, GroundSet, Matrix, Points, Random, kernel::Gaussian};
use dpp_nystrom_tests::ground::{Gram, with_spectrum};
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::statistics::{Fit, mean_and_error};
use rand_core::Rng;
use std::sync::atomic::{AtomicU64, Ordering};

const N: usize = 8;
const DRAWS: u64 = 6_000;

/// Counts proposals.
#[derive(Default)]
struct Proposals(AtomicU64);

impl Observer for Proposals {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, steps: u64) {
        self.0.fetch_add(steps, Ordering::Relaxed);
    }
    fn end(&self) {}
}

fn assert_law(entries: &[f64], law: &Law, c: usize, landmarks: &[usize]) {
    let matrix = Matrix::new(entries).unwrap();
    let exact = RejectionKDpp::new(&matrix, c, landmarks).unwrap();
    let (mut random, proposals) = (Random::seeded(81 + c as u64), Proposals::default());
    let mut counts = vec![0; law.states.len()];
    for _ in 0..DRAWS {
        let sample = exact.sample_observed(&mut random, &proposals).unwrap();
        assert!(sample.is_sorted_by(|one, next| one < next), "{sample:?}");
        counts[law.index(&sample)] += 1;
    }
    let fit = Fit::new(&counts, &law.probabilities);
    let proposals = proposals.0.into_inner() as f64 / DRAWS as f64;
    println!("c = {c}, m = {}: {fit:?}, bound {}", landmarks.len(), fit.bound());
    println!("proposals {proposals:.2}, expected at least {:.2}", exact.expected_proposals());
    assert!(fit.holds(), "{fit:?}");
    // The expected number is exact but for the part of e_c that the landmarks do not tell.
    assert!(proposals > 0.95 * exact.expected_proposals() && proposals > 1.05, "{proposals}");
}

#[test]
fn samples_follow_the_enumerated_law() {
    let gram = Gram::well_conditioned(N);
    for (c, landmarks) in
        [(1, &[3][..]), (2, &[0, 5]), (2, &[7, 1, 2, 4]), (3, &[6, 0, 3]), (5, &[0, 1, 2, 3, 4, 7])]
    {
        assert_law(&gram.to::<f64>(), &Law::exact(&gram.entries, N, c), c, landmarks);
    }
}

/// All rows are landmarks, and there is no rest.
#[test]
fn samples_from_the_kernel_itself_follow_the_law() {
    let gram = Gram::well_conditioned(N);
    let all: Vec<usize> = (0..N).collect();
    assert_law(&gram.to::<f64>(), &Law::exact(&gram.entries, N, 3), 3, &all);
}

/// Eigenvalues over ten powers of ten; the landmarks leave out what one, or half, of a sample is drawn from.
#[test]
fn steep_and_flat_spectra_follow_their_laws() {
    let steep: Vec<f64> = (0..N).map(|k| 10.0_f64.powf(-1.4 * k as f64)).collect();
    for landmarks in [&[2, 5, 6][..], &[2, 5, 6, 1, 0]] {
        let entries = with_spectrum(&steep, 5);
        assert_law(&entries, &Law::new(&entries, N, 3), 3, landmarks);
    }
    let flat: Vec<f64> = (0..N).map(|k| 1.0 + 0.1 * k as f64).collect();
    let entries = with_spectrum(&flat, 6);
    assert_law(&entries, &Law::new(&entries, N, 4), 4, &[0, 3, 4, 7]);
    let gram = Gram::near_duplicates(N, 40);
    assert_law(&gram.to::<f64>(), &Law::exact(&gram.entries, N, 3), 3, &[0, 1, 2, 3]);
}

/// Many rows: the mean of the trace error, how often each row is in a sample, and the estimate of it.
#[test]
fn many_samples_have_the_expected_trace_and_rows() {
    const ROWS: usize = 2_000;
    const SIZE: usize = 12;
    let samples = if cfg!(debug_assertions) { 400 } else { 1_000 };
    let mut random = Random::seeded(91);
    // Rows in a corner are ten times as dense.
    let mut uniform = || f64::from(random.next_u32()) / 4_294_967_296.0;
    let rows: Vec<f64> = (0..2 * ROWS).map(|at| uniform() * if at % 8 < 6 { 1.0 } else { 4.0 }).collect();
    let ground = Points::new(&rows, 2, Gaussian::new(1.0).unwrap()).unwrap();
    let pivoted = select(&ground, 3 * SIZE, &RpCholesky::default(), 5, &NoObserver).unwrap();
    let exact = RejectionKDpp::new(&ground, SIZE, pivoted.landmarks.rows().unwrap()).unwrap();
    let whole = ExactKDpp::new(&ground).unwrap();
    let included = whole.with_size(SIZE).unwrap().inclusion_probabilities();
    let estimated = exact.estimated_inclusion_probabilities();
    let sum: f64 = estimated.iter().sum();
    assert!((sum - SIZE as f64).abs() < 1e-6, "{sum}");
    let off =
        included.iter().zip(estimated).map(|(one, other)| (one / other - 1.0).abs()).fold(0.0, f64::max);
    println!("estimated probabilities: off by {off:.4} at most");
    assert!(off < 0.05, "{off}");
    let (mut errors, mut counts, mut random) = (Vec::new(), vec![0.0; ROWS], Random::seeded(92));
    for _ in 0..samples {
        let rows = exact.sample(&mut random).unwrap();
        rows.iter().for_each(|&row| counts[row] += 1.0);
        errors.push(trace_error(&ground, &rows).unwrap().error);
    }
    let (mean, deviation) = mean_and_error(&errors);
    let expected = whole.expected_trace_error(SIZE).unwrap();
    println!("trace error {mean:.4} ± {deviation:.4}, expected {expected:.4}");
    assert!((mean - expected).abs() < 4.5 * deviation, "{mean} {deviation} {expected}");
    // Counts of rows are nearly independent, and binomial.
    let samples = f64::from(samples);
    let statistic: f64 = counts
        .iter()
        .zip(&included)
        .map(|(count, p)| (count - samples * p).powi(2) / (samples * p * (1.0 - p)))
        .sum();
    println!("rows: {statistic:.0} of {ROWS}");
    assert!((statistic - ROWS as f64).abs() < 4.5 * (2.0 * ROWS as f64).sqrt(), "{statistic}");
}

/// The method takes more rows than the limit of a decomposition; the landmarks change no sample's law, and
/// random numbers are those of the seed.
#[test]
fn the_method_samples_from_many_rows() {
    let rows: Vec<f64> = (0..SPECTRUM_ROWS + 500).map(|i| (i as f64).sqrt()).collect();
    let ground = Points::new(&rows, 1, Gaussian::new(5.0).unwrap()).unwrap();
    let of = |seed| {
        let selection = select(&ground, 6, &KdppExact, seed, &NoObserver).unwrap();
        selection.landmarks.rows().unwrap().to_vec()
    };
    assert!(of(1) == of(1) && of(1) != of(2) && of(3).len() == 6);
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    // Rank 2.
    let entries: Vec<f64> = (0..N * N).map(|at| 1.0 + ((at / N) * (at % N)) as f64).collect();
    let matrix = Matrix::new(&entries).unwrap();
    let reason = |c, landmarks: &[usize]| RejectionKDpp::new(&matrix, c, landmarks).unwrap_err().core();
    assert_eq!(reason(3, &[0, 1, 2, 3]), Some(CoreError::RankDeficient { rank: 2, landmarks: 3 }));
    assert_eq!(reason(2, &[4]), Some(CoreError::RankDeficient { rank: 1, landmarks: 2 }));
    assert_eq!(reason(0, &[4]), Some(CoreError::Empty));
    assert_eq!(reason(9, &[4]), Some(CoreError::TooManyLandmarks { landmarks: 9, rows: N }));
    /// All rows are orthogonal, but one is not a number.
    #[derive(Debug)]
    struct Hole;
    impl GroundSet<f64> for Hole {
        fn len(&self) -> usize {
            N
        }
        fn entry(&self, i: usize, j: usize) -> f64 {
            if i == 6 && j == 6 { f64::NAN } else { f64::from(u8::from(i == j)) }
        }
    }
    let error = RejectionKDpp::new(&Hole, 2, &[0, 1, 2]).unwrap_err();
    assert_eq!(error.core(), Some(CoreError::NotFinite { row: 6, column: 6 }));
    /// Orthogonal rows, of which many are asked for.
    #[derive(Debug)]
    struct Flat;
    impl GroundSet<f64> for Flat {
        fn len(&self) -> usize {
            3_000
        }
        fn entry(&self, i: usize, j: usize) -> f64 {
            f64::from(u8::from(i == j))
        }
    }
    let landmarks: Vec<usize> = (0..400).collect();
    let exact = RejectionKDpp::new(&Flat, 400, &landmarks).unwrap();
    let error = exact.sample(&mut Random::seeded(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("an exact sample of 400 rows takes some"), "{error}");
}
