//! The exact sampler and randomly pivoted Cholesky compared with their enumerated laws.

use dpp_nystrom::approximation::trace_error;
use dpp_nystrom::landmarks::{ExactKDpp, LowRankKDpp, select};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::selectors::RpCholesky;
use dpp_nystrom_core::{Error as CoreError, Matrix, Points, Random, kernel::Linear};
use dpp_nystrom_host::simd::Lane;
use dpp_nystrom_tests::ground::{Gram, with_spectrum};
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::statistics::{Fit, mean_and_error, total_variation};
use rand_core::Rng;

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
    let exact = ExactKDpp::new(&Matrix::new(entries).unwrap()).unwrap();
    let included = exact.with_size(c).unwrap().inclusion_probabilities();
    for (row, included) in included.iter().enumerate() {
        let with = law.states.iter().zip(&law.probabilities).filter(|(state, _)| state.contains(&row));
        let expected: f64 = with.map(|(_, probability)| probability).sum();
        // The rounding of an eigenvector, whose eigenvalue may be close to others.
        assert!((included - expected).abs() < 1e-9, "row {row}: {included} {expected}");
    }
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
    let reason = |c| exact.with_size(c).unwrap_err().core().expect("a reason of the core");
    assert_eq!(reason(0), CoreError::Empty);
    assert_eq!(reason(3), CoreError::RankDeficient { rank: 2, landmarks: 3 });
    assert_eq!(reason(9), CoreError::TooManyLandmarks { landmarks: 9, rows: N });
    let sample = exact.sample(2, &mut Random::seeded(1)).unwrap();
    assert!(sample.len() == 2 && sample[0] < sample[1]);
}

/// In one block of draws, of which some are rejected, and in two; in both precisions.
#[test]
fn pivots_follow_the_enumerated_law() {
    fn assert_pivots<T: Lane>(gram: &Gram, n: usize, c: usize) {
        let law = Law::of_pivots(&gram.entries, n, c);
        let entries = gram.to::<T>();
        let matrix = Matrix::new(&entries).unwrap();
        let mut counts = vec![0; law.states.len()];
        for seed in 0..DRAWS / 2 {
            let found = select(&matrix, c, &RpCholesky::default(), seed, &NoObserver).unwrap();
            counts[law.index(found.landmarks.rows().unwrap())] += 1;
        }
        let fit = Fit::new(&counts, &law.probabilities);
        println!("c = {c}: {fit:?}, bound {}", fit.bound());
        assert!(fit.holds(), "{fit:?}");
    }
    for gram in [Gram::well_conditioned(N), Gram::near_duplicates(N, 40)] {
        assert_pivots::<f64>(&gram, N, C);
    }
    assert_pivots::<f32>(&Gram::well_conditioned(N), N, C);
    assert_pivots::<f64>(&Gram::well_conditioned(11), 11, 9);
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
    assert_eq!(error.name(), "SpectrumRows");
    assert!(error.to_string().contains(": 10001, "), "{error}");
    assert!(error.to_string().contains("at most 10000; use fewer"), "{error}");
}

/// The first features of well-conditioned rows: a kernel of rank five.
fn low_rank() -> (Vec<f64>, Vec<f64>) {
    let rows: Vec<f64> = Gram::well_conditioned(N).points();
    let features: Vec<f64> = rows.chunks_exact(N).flat_map(|row| row[..5].to_vec()).collect();
    let product = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    let entries = features.chunks_exact(5).flat_map(|x| features.chunks_exact(5).map(move |y| product(x, y)));
    let entries = entries.collect();
    (features, entries)
}

#[test]
fn samples_of_a_low_rank_form_follow_the_enumerated_law() {
    let (features, entries) = low_rank();
    let exact = LowRankKDpp::new(&features, 5).unwrap();
    assert_eq!(exact.rank(), 5);
    for c in 1..=5 {
        let law = Law::new(&entries, N, c);
        let sized = exact.with_size(c).unwrap();
        let mut random = Random::seeded(60 + c as u64);
        let mut counts = vec![0; law.states.len()];
        for _ in 0..DRAWS {
            counts[law.index(&sized.sample(&mut random))] += 1;
        }
        let fit = Fit::new(&counts, &law.probabilities);
        println!("c = {c}: {fit:?}, bound {}", fit.bound());
        assert!(fit.holds(), "{fit:?}");
        let whole = ExactKDpp::new(&Matrix::new(&entries).unwrap()).unwrap();
        let whole_sized = whole.with_size(c).unwrap();
        assert!((sized.log_normaliser() - whole_sized.log_normaliser()).abs() < 1e-10);
        let pairs = sized.inclusion_probabilities().into_iter().zip(whole_sized.inclusion_probabilities());
        for (one, other) in pairs {
            assert!((one - other).abs() < 1e-9, "{one} {other}");
        }
    }
    assert!(exact.with_size(6).is_err() && exact.with_size(0).is_err());
}

/// Many rows: the mean of the trace error, and how often each row is in a sample.
#[test]
fn many_samples_of_a_low_rank_form_have_the_expected_trace_and_rows() {
    const ROWS: usize = 2_000;
    const DIM: usize = 150;
    const SIZE: usize = 100;
    const SAMPLES: usize = 1_000;
    let mut random = Random::seeded(71);
    let mut normal = || (0..12).map(|_| f64::from(random.next_u32()) / 4_294_967_296.0).sum::<f64>() - 6.0;
    let features: Vec<f64> = (0..ROWS)
        .flat_map(|i| (0..DIM).map(|k| (i, k)).collect::<Vec<_>>())
        .map(|(i, k)| (1.0 + (i % 5) as f64) * 0.98_f64.powi(k as i32) * normal())
        .collect();
    let exact = LowRankKDpp::new(&features, DIM).unwrap();
    let sized = exact.with_size(SIZE).unwrap();
    let included = sized.inclusion_probabilities();
    assert!((included.iter().sum::<f64>() - SIZE as f64).abs() < 1e-8);
    let ground = Points::new(&features, DIM, Linear).unwrap();
    let (mut errors, mut counts, mut random) = (Vec::new(), vec![0.0; ROWS], Random::seeded(72));
    for sample in 0..SAMPLES {
        let rows = sized.sample(&mut random);
        rows.iter().for_each(|&row| counts[row] += 1.0);
        // Trace errors take longer than samples.
        if sample % 5 == 0 {
            errors.push(trace_error(&ground, &rows).unwrap().error);
        }
    }
    let (mean, deviation) = mean_and_error(&errors);
    let expected = exact.expected_trace_error(SIZE).unwrap();
    println!("trace error {mean:.4} ± {deviation:.4}, expected {expected:.4}");
    assert!((mean - expected).abs() < 4.5 * deviation, "{mean} {deviation} {expected}");
    // Counts of rows are nearly independent, and binomial.
    let statistic: f64 = counts
        .iter()
        .zip(&included)
        .map(|(count, p)| (count - SAMPLES as f64 * p).powi(2) / (SAMPLES as f64 * p * (1.0 - p)))
        .sum();
    println!("rows: {statistic:.0} of {ROWS}");
    assert!((statistic - ROWS as f64).abs() < 4.5 * (2.0 * ROWS as f64).sqrt(), "{statistic}");
}

/// DPPy returned sets that are too small, or failed, where the stable rank is near c (its threads 58 and 80).
#[test]
fn samples_are_whole_where_the_rank_is_near_the_size() {
    let mut random = Random::seeded(73);
    // A rank of exactly c, by equal rows, and eigenvalues that fall to the rounding error behind c.
    let equal: Vec<f64> =
        (0..60).flat_map(|i| (0..6).map(move |k| f64::from(u8::from(i % 6 == k)))).collect();
    let exact = LowRankKDpp::new(&equal, 6).unwrap();
    for _ in 0..200 {
        let sample = exact.with_size(6).unwrap().sample(&mut random);
        let kinds: std::collections::BTreeSet<usize> = sample.iter().map(|row| row % 6).collect();
        assert_eq!((sample.len(), kinds.len()), (6, 6));
    }
    assert!(exact.with_size(7).is_err());
    let steep: Vec<f64> = (0..40)
        .flat_map(|i| (0..8).map(move |k| 10.0_f64.powi(-k) * (f64::from(i * (k + 3) * 7 % 41) / 41.0 - 0.5)))
        .collect();
    let exact = LowRankKDpp::new(&steep, 8).unwrap();
    for c in 1..=exact.rank() {
        let sample = exact.with_size(c).unwrap().sample(&mut random);
        assert!(sample.len() == c && sample.is_sorted_by(|one, next| one < next), "{sample:?}");
    }
    let entries: Vec<f64> = {
        let product = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
        steep.chunks_exact(8).flat_map(|x| steep.chunks_exact(8).map(move |y| product(x, y))).collect()
    };
    let whole = ExactKDpp::new(&Matrix::new(&entries).unwrap()).unwrap();
    for c in 1..=whole.rank() {
        let sample = whole.sample(c, &mut random).unwrap();
        assert!(sample.len() == c && sample.is_sorted_by(|one, next| one < next), "{sample:?}");
    }
}

#[test]
fn features_that_cannot_be_decomposed_are_refused() {
    for (features, dim) in
        [(vec![0.0; 6], 2), (vec![1.0, f64::NAN], 1), (vec![1e200; 4], 2), (vec![1.0; 5], 2), (vec![], 1)]
    {
        assert!(LowRankKDpp::new(&features, dim).is_err(), "{features:?}");
    }
}
