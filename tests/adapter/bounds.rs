//! Pivoted Cholesky by bounds: its law, its order, and what a smaller set has of a larger one.

use dpp_nystrom_core::kernel::{ChosenKernel, KernelKind};
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Matrix, Points, Random};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_host::simd::{InLanes, Lane, Lanes, indexed::Indexed};
use dpp_nystrom_host::{Error, rng::RngStream, rng::stream};
use dpp_nystrom_tests::ground::{Gram, normal_points};
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::statistics::Fit;
use std::ops::ControlFlow;

const N: usize = 8;
const DRAWS: u64 = 20_000;

#[derive(Clone, Copy, Debug)]
enum Pivots {
    Random(u64),
    Greedy,
    /// With the features of all rows.
    GreedyByFeatures,
}

fn pivot<T: Lane, G: InLanes<T>>(ground: &G, c: usize, pivots: Pivots) -> Result<Vec<usize>, Error> {
    let mut memory = Heap::new(c)?;
    let mut set = Landmarks::new(ground, memory.lend()).map_err(Error::Landmarks)?;
    let lanes = Lanes::new(c, ground.width())?;
    let go_on = &|_| ControlFlow::Continue(());
    match pivots {
        Pivots::Random(seed) => {
            lanes.pivot_by_bounds(&mut set, c, &mut stream(seed, RngStream::Landmarks), go_on)?;
        }
        Pivots::Greedy => lanes.pivot_greedily_by_bounds(&mut set, c, go_on)?,
        Pivots::GreedyByFeatures => lanes.pivot_greedily(&mut set, c, &|| false)?,
    }
    Ok(set.members().to_vec())
}

fn counts<T: Lane>(entries: &[T], law: &Law, c: usize, kind: impl Fn(usize) -> usize) -> Fit {
    let matrix = Matrix::new(entries).unwrap();
    let mut counts = vec![0; law.states.len()];
    for seed in 0..DRAWS {
        let rows = pivot(&Indexed(&matrix), c, Pivots::Random(seed)).unwrap();
        counts[law.index(&rows.into_iter().map(&kind).collect::<Vec<_>>())] += 1;
    }
    Fit::new(&counts, &law.probabilities)
}

/// With few rows the bounds are computed anew in each round.
#[test]
fn pivots_follow_the_enumerated_law() {
    for (gram, c) in [(Gram::well_conditioned(N), 3), (Gram::near_duplicates(N, 40), 3)] {
        let law = Law::of_pivots(&gram.entries, gram.n, c);
        for fit in
            [counts(&gram.to::<f64>(), &law, c, |row| row), counts(&gram.to::<f32>(), &law, c, |row| row)]
        {
            println!("{fit:?}, bound {}", fit.bound());
            assert!(fit.holds(), "{fit:?}");
        }
    }
}

/// Two rows have 225 copies each. Once both are landmarks, nearly all bounds are too high, and a draw in some
/// thirty is accepted, over several rounds. The law of kinds of rows is that of single rows of 15 times the
/// length.
#[test]
fn pivots_follow_the_law_where_most_bounds_are_too_high() {
    const COPIES: usize = 225;
    const C: usize = 4;
    let gram = Gram::well_conditioned(N);
    let length = |row: usize| if row < 2 { 15 } else { 1 };
    let longer: Vec<i64> = (0..N * N).map(|at| length(at / N) * length(at % N) * gram.entries[at]).collect();
    let law = Law::of_pivots(&longer, N, C);
    let kinds: Vec<usize> = (0..2).flat_map(|row| [row; COPIES]).chain(2..N).collect();
    let entry = |i: usize, j: usize| gram.entries[kinds[i] * N + kinds[j]] as f64;
    let count = kinds.len();
    let entries: Vec<f64> = (0..count * count).map(|at| entry(at / count, at % count)).collect();
    let fit = counts(&entries, &law, C, |row| kinds[row]);
    println!("{fit:?}, bound {}", fit.bound());
    assert!(fit.holds(), "{fit:?}");
}

/// Two rows of a large diagonal, of which the one has a small residual given the other, among orthonormal
/// rows.
struct Heavy;

impl Heavy {
    const OTHERS: usize = 300;
    const DIAGONAL: f64 = 1_000.0;
    const RESIDUAL: f64 = 20.0;

    /// Return the probability that both are among `c` rows of pivoted Cholesky.
    fn both(c: usize) -> f64 {
        // The probability of each number of heavy rows; the others are orthonormal rows.
        let mut law = [1.0, 0.0, 0.0];
        for drawn in 0..c {
            let mut next = [0.0; 3];
            for (heavy, probability) in law.into_iter().enumerate().take(drawn + 1) {
                let others = (Self::OTHERS + heavy - drawn) as f64;
                let weight = [2.0 * Self::DIAGONAL, Self::RESIDUAL, 0.0][heavy];
                next[heavy] += probability * others / (others + weight);
                if heavy < 2 {
                    next[heavy + 1] += probability * weight / (others + weight);
                }
            }
            law = next;
        }
        law[2]
    }
}

impl GroundSet<f64> for Heavy {
    fn len(&self) -> usize {
        Self::OTHERS + 2
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        match (i, j) {
            _ if i == j => {
                if i < 2 {
                    Self::DIAGONAL
                } else {
                    1.0
                }
            }
            (0, 1) | (1, 0) => (Self::DIAGONAL * (Self::DIAGONAL - Self::RESIDUAL)).sqrt(),
            _ => 0.0,
        }
    }
}

/// The second heavy row is drawn many times in a round, from a bound that is fifty times too high, and then
/// from one that was lowered.
#[test]
fn rows_that_are_drawn_again_keep_the_law() {
    for c in [20, 30] {
        let both = (0..DRAWS).filter(|&seed| {
            let rows = pivot(&Indexed(&Heavy), c, Pivots::Random(seed)).unwrap();
            rows.contains(&0) && rows.contains(&1)
        });
        let (found, expected) = (both.count() as f64 / DRAWS as f64, Heavy::both(c));
        let deviation = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
        println!(
            "{c} rows: both in {found:.4} of the draws, expected {expected:.4}, deviation {deviation:.4}"
        );
        assert!((found - expected).abs() < 4.0 * deviation, "{found} {expected} {deviation}");
    }
}

#[test]
fn a_smaller_set_is_a_prefix_of_a_larger_one() {
    let rows: Vec<f64> = normal_points(3_000, 3, 5);
    let kernel: ChosenKernel<f64> = KernelKind::Gaussian.build(1.0).unwrap();
    let ground = Points::new(&rows, 3, kernel).unwrap();
    for pivots in [Pivots::Random(3), Pivots::Greedy] {
        let long = pivot(&ground, 160, pivots).unwrap();
        for c in [1, 2, 63, 64, 65, 159] {
            assert_eq!(pivot(&ground, c, pivots).unwrap(), long[..c], "{pivots:?}, {c}");
        }
    }
}

/// The same order as with the features of all rows, in each kernel and precision, also where rows are equal:
/// the first of them is selected.
#[test]
fn greedy_pivots_have_the_order_of_all_features() {
    fn agree<T: Lane>(c: usize, dim: usize) {
        let mut rows: Vec<T> = normal_points(1_500, dim, 7);
        rows.extend_from_within(..600 * dim);
        for &kind in KernelKind::ALL {
            let kernel: ChosenKernel<T> = kind.build(0.8).unwrap();
            let ground = Points::new(&rows, dim, kernel).unwrap();
            let c = if matches!(kind, KernelKind::Gaussian | KernelKind::Laplace) { c } else { dim };
            let expected = pivot(&ground, c, Pivots::GreedyByFeatures).unwrap();
            assert!(expected.iter().all(|&row| row < 1_500), "{kind:?}");
            assert_eq!(pivot(&ground, c, Pivots::Greedy).unwrap(), expected, "{kind:?}");
        }
    }
    agree::<f64>(150, 4);
    agree::<f32>(20, 6);
}

#[test]
fn sets_that_do_not_exist_are_refused() {
    let gram = Gram::well_conditioned(N);
    let entries = gram.to::<f64>();
    let matrix = Matrix::new(&entries).unwrap();
    // Rank 2.
    let low: Vec<f64> = (0..N * N).map(|at| 1.0 + ((at / N) * (at % N)) as f64).collect();
    let low = Matrix::new(&low).unwrap();
    let reason = |found: Result<Vec<usize>, Error>| match found.unwrap_err() {
        Error::Landmarks(reason) => reason,
        other => panic!("{other}"),
    };
    for pivots in [Pivots::Random(1), Pivots::Greedy] {
        assert_eq!(reason(pivot(&Indexed(&matrix), 0, pivots)), CoreError::Empty);
        let too_many = CoreError::TooManyLandmarks { landmarks: 9, rows: N };
        assert_eq!(reason(pivot(&Indexed(&matrix), 9, pivots)), too_many);
        let deficient = CoreError::RankDeficient { rank: 2, landmarks: 3 };
        assert_eq!(reason(pivot(&Indexed(&low), 3, pivots)), deficient);
        let broken = CoreError::NotFinite { row: 5, column: 5 };
        assert_eq!(reason(pivot(&Indexed(&Broken), 3, pivots)), broken);
    }
    // Residuals at the level of rounding, of many rows.
    let rows: Vec<f64> = normal_points(3_000, 2, 9);
    let ground: Points<'_, f64, ChosenKernel<f64>> =
        Points::new(&rows, 2, KernelKind::Linear.build(1.0).unwrap()).unwrap();
    for pivots in [Pivots::Random(1), Pivots::Greedy] {
        let deficient = CoreError::RankDeficient { rank: 2, landmarks: 3 };
        assert_eq!(reason(pivot(&ground, 3, pivots)), deficient);
    }
    let mut memory = Heap::new(3).unwrap();
    let ground = Indexed(&matrix);
    let mut set = Landmarks::new(&ground, memory.lend()).unwrap();
    let lanes = Lanes::new(3, 1).unwrap();
    let stop = |_| ControlFlow::Break(());
    let cancelled = lanes.pivot_by_bounds(&mut set, 3, &mut Random::seeded(1), &stop);
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    assert!(matches!(lanes.pivot_greedily_by_bounds(&mut set, 3, &stop), Err(Error::Cancelled)));
}

/// The diagonal of row 5 is not a number.
struct Broken;

impl GroundSet<f64> for Broken {
    fn len(&self) -> usize {
        N
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        match (i, j) {
            (5, 5) => f64::NAN,
            _ if i == j => 1.0,
            _ => 0.0,
        }
    }
}
