//! Draws of the stream chain follow their law. Every chain gives one draw, so that draws are independent and
//! a chi-square test on their counts is valid.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Acceptance, Random, Scalar, StreamChain, Workspace};
use dpp_nystrom_tests::ground::Gram;
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::statistics::{Fit, total_variation};
use dpp_nystrom_tests::stream::{Source, StreamRoom};

const RULES: [Acceptance; 2] = [Acceptance::Barker, Acceptance::Metropolis];

/// Starting from exact draws of π, a few rows give draws of π, if π is stationary.
fn stationary<T: Scalar>(name: &str, gram: &Gram, c: usize) {
    const DRAWS: usize = 20_000;
    let source = Source { rows: gram.points::<T>(), dim: gram.n };
    let law = Law::new(&gram.to::<f64>(), gram.n, c);
    for acceptance in RULES {
        let (mut numbers, mut random) = (SplitMix64::seeded(81), Random::seeded(82));
        let mut room = StreamRoom::new(c, gram.n);
        let mut counts = vec![0; law.states.len()];
        let mut moved = 0;
        for _ in 0..DRAWS {
            let first = law.state_at(numbers.uniform());
            let mut chain = source.started(&mut room, first, acceptance);
            for _ in 0..12 {
                chain.offer(source.row(numbers.below(gram.n)), &mut random).unwrap();
            }
            let at = law.index(&source.members(&chain));
            counts[at] += 1;
            moved += usize::from(law.states[at] != first);
        }
        let fit = Fit::new(&counts, &law.probabilities);
        let distance = total_variation(&counts, &law.probabilities);
        println!("{name}, {acceptance:?}: {fit:?}, bound {:.1}, {distance:.4}, moved {moved}", fit.bound());
        assert!(fit.holds());
        assert!(moved > DRAWS / 3, "the draws are their starts");
    }
}

#[test]
fn a_few_rows_keep_the_law() {
    stationary::<f64>("well conditioned, f64", &Gram::well_conditioned(6), 3);
    stationary::<f32>("well conditioned, f32", &Gram::well_conditioned(6), 3);
    stationary::<f64>("one landmark", &Gram::well_conditioned(6), 1);
    stationary::<f64>("all but one", &Gram::well_conditioned(6), 5);
}

/// Two landmarks of a stream uniform on [0, 1) have the density `1 - k(x, y)²` up to its integral, defined
/// without a ground set. The chain starts at the first two rows, whose density is 1, and has a burn-in to
/// forget them.
#[test]
fn two_landmarks_of_a_continuous_stream_have_their_density() {
    const CELLS: usize = 6;
    const POINTS: usize = 64;
    const SIGMA: f64 = 0.4;
    const DRAWS: usize = 20_000;
    const ROWS: usize = 60;

    let density = |x: f64, y: f64| 1.0 - (-(x - y).powi(2) / SIGMA.powi(2)).exp();
    let cell = |x: f64| ((x * CELLS as f64) as usize).min(CELLS - 1);
    let fine = CELLS * POINTS;
    let at = |i: usize| (i as f64 + 0.5) / fine as f64;
    // The midpoint rule: the integral of a smooth function to about 10⁻⁶ of it, where the test resolves 10⁻³.
    let mut probabilities = vec![0.0; CELLS * CELLS];
    for i in 0..fine {
        for j in 0..fine {
            probabilities[cell(at(i)) * CELLS + cell(at(j))] += density(at(i), at(j));
        }
    }
    let total: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|probability| *probability /= total);

    for acceptance in RULES {
        let (mut numbers, mut random) = (SplitMix64::seeded(91), Random::seeded(92));
        let mut counts = vec![0; CELLS * CELLS];
        let mut starts = vec![0; CELLS * CELLS];
        for _ in 0..DRAWS {
            let (mut room, mut memory) = ([0.0; 3], Workspace::<f64, 2>::new());
            let kernel = Gaussian::new(SIGMA).unwrap();
            let mut chain = StreamChain::new(kernel, 2, 1, &mut room, memory.lend(), acceptance).unwrap();
            let count = |counts: &mut [u64], chain: &StreamChain<'_, f64, Gaussian<f64>>| {
                counts[cell(chain.rows()[0]) * CELLS + cell(chain.rows()[1])] += 1;
            };
            while chain.len() < 2 {
                chain.offer(&[numbers.uniform()], &mut random).unwrap();
            }
            count(&mut starts, &chain);
            for _ in 0..ROWS {
                chain.offer(&[numbers.uniform()], &mut random).unwrap();
            }
            count(&mut counts, &chain);
        }
        let fit = Fit::new(&counts, &probabilities);
        println!("{acceptance:?}: {fit:?}, bound {:.1}", fit.bound());
        assert!(fit.holds());
        assert!(!Fit::new(&starts, &probabilities).holds(), "the test would see other densities");
    }
}
