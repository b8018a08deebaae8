//! Every bound of the theory on kernels small enough to enumerate every set of rows: laws, expectations and
//! couplings are enumerated, residuals computed by elimination, determinants by expansion. Some kernels are
//! nearly singular.

use dpp_nystrom::Ridge;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::Table;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{KernelKind, Precision};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom_core::{GroundSet, Matrix, Rule};
use dpp_nystrom_lab::spectrum::Norms;
use dpp_nystrom_lab::theory::bounds;
use dpp_nystrom_lab::theory::contraction::{contraction, enumerated, step_factor, theorem_3, unconditional};
use dpp_nystrom_lab::theory::risk;
use dpp_nystrom_lab::theory::risk::{Noise, Risk};
use dpp_nystrom_lab::theory::{Diagnostics, Effort};
use dpp_nystrom_tests::dense::{eigenvalues, product, solve};
use dpp_nystrom_tests::determinant::{determinant, exact_determinant, principal};
use dpp_nystrom_tests::ground::{Gram, geometric, with_spectrum};
use dpp_nystrom_tests::law::{Law, expected_trace_error};
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::transition::{advance, transition};

/// Return kernels of `n` rows: name, entries, and the relative tolerance for rounding in an expectation.
fn kernels(n: usize) -> Vec<(String, Vec<f64>, f64)> {
    let mut kernels = vec![
        ("integers".to_owned(), Gram::well_conditioned(n).to(), 1e-10),
        ("near duplicates".to_owned(), Gram::near_duplicates(n, 32).to(), 1e-6),
        ("identity".to_owned(), with_spectrum(&vec![1.0; n], 3), 1e-10),
    ];
    for (seed, condition) in [(1, 10.0), (2, 1e3), (3, 1e6), (4, 1e9)] {
        let name = format!("condition {condition:e}");
        kernels.push((
            name,
            with_spectrum(&geometric(n, condition), seed + n as u64),
            1e-15 * condition + 1e-10,
        ));
    }
    for (seed, sigma) in [(1, 0.3), (2, 1.0), (3, 3.0)] {
        let mut random = SplitMix64::seeded(100 * seed + n as u64);
        let points: Vec<f64> = (0..2 * n).map(|_| random.normal()).collect();
        let entry = |i: usize, j: usize| {
            let squares = (0..2).map(|d| (points[2 * i + d] - points[2 * j + d]).powi(2)).sum::<f64>();
            (-squares / (2.0 * sigma * sigma)).exp()
        };
        let entries = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        kernels.push((format!("Gaussian, bandwidth {sigma}"), entries, 1e-7));
    }
    kernels
}

/// Return `K - K̃`, eliminating one landmark after the other.
fn residual(matrix: &[f64], n: usize, members: &[usize]) -> Vec<f64> {
    let mut left = matrix.to_vec();
    for &member in members {
        let row: Vec<f64> = left[member * n..(member + 1) * n].to_vec();
        for i in 0..n {
            let factor = row[i] / row[member];
            for j in 0..n {
                left[i * n + j] -= factor * row[j];
            }
        }
    }
    left
}

fn norms(matrix: &[f64], n: usize) -> Norms {
    Norms {
        frobenius: matrix.iter().map(|x| x * x).sum::<f64>().sqrt(),
        spectral: eigenvalues(matrix, n).into_iter().map(f64::abs).fold(0.0, f64::max),
    }
}

fn descending(matrix: &[f64], n: usize) -> Vec<f64> {
    let mut values: Vec<f64> = eigenvalues(matrix, n).into_iter().map(|value| value.max(0.0)).collect();
    values.reverse();
    values
}

fn expectation(law: &Law, values: impl Iterator<Item = f64>) -> f64 {
    law.probabilities.iter().zip(values).map(|(p, value)| p * value).sum()
}

#[test]
fn lemma_1_theorem_1_and_corollary_1_hold() {
    let mut checked = 0;
    for n in 6..=8 {
        for (name, matrix, off) in kernels(n) {
            let values = descending(&matrix, n);
            for c in 1..n {
                let law = Law::new(&matrix, n, c);
                let residuals: Vec<Vec<f64>> =
                    law.states.iter().map(|state| residual(&matrix, n, state)).collect();
                let expected = expected_trace_error(&values, c);
                let traces = residuals.iter().map(|left| (0..n).map(|i| left[i * (n + 1)]).sum());
                let mean = expectation(&law, traces);
                let slack = off * mean + 1e-13 * values[0];
                assert!((mean - expected).abs() <= slack, "{name}, {n}, {c}: {mean} {expected}");
                let errors: Vec<Norms> = residuals.iter().map(|left| norms(left, n)).collect();
                for k in 1..=c {
                    let lemma = bounds::lemma_1(&values, c, k);
                    let ratio = expected / (c + 1) as f64;
                    assert!(
                        ratio <= lemma * (1.0 + off) + 1e-13 * values[0],
                        "{name}, {n}, {c}, {k}: {ratio} {lemma}"
                    );
                    let best = Norms::best(&values, k);
                    if best.spectral < 1e-12 * values[0] {
                        continue;
                    }
                    let bound = bounds::theorem_1(n, c, k);
                    let frobenius =
                        expectation(&law, errors.iter().map(|norms| norms.frobenius / best.frobenius));
                    let spectral =
                        expectation(&law, errors.iter().map(|norms| norms.spectral / best.spectral));
                    assert!(
                        frobenius <= bound.frobenius && spectral <= bound.spectral,
                        "{name}, {n}, {c}, {k}"
                    );
                    corollary_1_holds(&values, c, k, &law, &errors);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 500, "{checked}");
}

fn corollary_1_holds(values: &[f64], c: usize, k: usize, law: &Law, errors: &[Norms]) {
    let (best, trivial) = (Norms::best(values, k), bounds::corollary_1_trivial(values, k));
    for delta in [0.01, 0.5, 0.95, 0.999] {
        let bound = bounds::corollary_1(values, c, k, delta);
        let over = |exceeds: &dyn Fn(&Norms) -> bool| {
            expectation(law, errors.iter().map(|norms| f64::from(u8::from(exceeds(norms)))))
        };
        assert!(over(&|norms| norms.frobenius / best.frobenius > bound.frobenius) <= delta);
        assert!(over(&|norms| norms.spectral / best.spectral > bound.spectral) <= delta);
        if bounds::is_vacuous(c, delta) {
            assert!(bound.frobenius >= trivial.frobenius && bound.spectral >= trivial.spectral);
        }
    }
    for norms in errors {
        assert!(norms.frobenius / best.frobenius <= trivial.frobenius * (1.0 + 1e-9));
        assert!(norms.spectral / best.spectral <= trivial.spectral * (1.0 + 1e-9));
    }
}

/// Return `M (M + μ I)⁻¹ v` and `(M + μ I)⁻¹ v`.
fn shrunk(matrix: &[f64], n: usize, penalty: f64, v: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut shifted = matrix.to_vec();
    (0..n).for_each(|i| shifted[i * (n + 1)] += penalty);
    let x = solve(&shifted, n, v);
    (product(matrix, n, &x, 1), x)
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum()
}

/// Return the risk by its definition, column by column.
fn risk_of(matrix: &[f64], n: usize, noise: Noise<'_>) -> Risk {
    let penalty = n as f64 * noise.ridge;
    let (_, x) = shrunk(matrix, n, penalty, noise.signal);
    let columns = (0..n).map(|column| {
        let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == column))).collect();
        squares(&shrunk(matrix, n, penalty, &unit).0)
    });
    Risk {
        bias: n as f64 * noise.ridge * noise.ridge * squares(&x),
        variance: noise.variance / n as f64 * columns.sum::<f64>(),
    }
}

#[test]
fn theorem_2_and_corollary_2_hold_for_white_noise() {
    let mut random = SplitMix64::seeded(8);
    let mut checked = 0;
    for n in 6..=8 {
        for (name, matrix, off) in kernels(n) {
            let ground = Matrix::new(&matrix).unwrap();
            let values = descending(&matrix, n);
            let trace: f64 = values.iter().sum();
            for c in 1..n {
                let law = Law::new(&matrix, n, c);
                let expected = expected_trace_error(&values, c);
                for (variance, ridge) in [(0.0, 1e-2), (1.0, 1e-4), (0.3, 1.0), (1e4, 1e-2)] {
                    let signal: Vec<f64> = (0..n).map(|_| random.normal()).collect();
                    let noise = Noise { signal: &signal, variance, ridge };
                    let exact = risk::full(&ground, noise).unwrap();
                    let oracle = risk_of(&matrix, n, noise);
                    let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * (x.abs() + y.abs());
                    assert!(
                        close(exact.bias, oracle.bias) && close(exact.variance, oracle.variance),
                        "{name}"
                    );
                    let risks: Vec<Risk> = law
                        .states
                        .iter()
                        .map(|state| {
                            let found = risk::nystrom(&ground, state, noise).unwrap();
                            let left = residual(&matrix, n, state);
                            let kept: Vec<f64> = matrix.iter().zip(&left).map(|(k, left)| k - left).collect();
                            let oracle = risk_of(&kept, n, noise);
                            let slack = (1e3 * off + 1e-8) * (oracle.total() + 1e-3);
                            assert!(
                                (found.bias - oracle.bias).abs() <= slack,
                                "{name}: {found:?} {oracle:?}"
                            );
                            assert!(
                                (found.variance - oracle.variance).abs() <= slack,
                                "{name}: {found:?} {oracle:?}"
                            );
                            found
                        })
                        .collect();
                    let ratios = risks.iter().map(|risk| (risk.total() / exact.total()).sqrt());
                    let (mean, bound) = (expectation(&law, ratios), risk::theorem_2(expected, n, ridge));
                    assert!(mean <= bound * (1.0 + 1e-9), "{name}, {n}, {c}: {mean} {bound}");
                    let trivial = risk::corollary_2_trivial(trace, n, ridge);
                    for delta in [0.05, 0.999] {
                        let corollary = risk::corollary_2(expected, trace, n, ridge, c, delta);
                        let roots = risks.iter().map(|risk| (risk.bias / exact.bias).sqrt());
                        let over = expectation(&law, roots.map(|root| f64::from(u8::from(root > corollary))));
                        assert!(over <= delta);
                        assert!(!bounds::is_vacuous(c, delta) || corollary >= trivial);
                    }
                    for risk in &risks {
                        assert!((risk.bias / exact.bias).sqrt() <= trivial * (1.0 + 1e-9));
                        assert!(risk.variance <= exact.variance * (1.0 + 1e-9));
                    }
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 500, "{checked}");
}

/// A counterexample, the reason why the interface takes white noise only: for three rows, two landmarks and
/// noise of rank one the expectation is 1.232, and Theorem 2 as printed gives 1.00002.
#[test]
fn theorem_2_is_false_for_other_noise() {
    let (n, c, penalty) = (3, 2, 51.28);
    let b = [[0.01, 0.01, -0.01], [0.12, -0.16, -0.08], [0.14, -0.04, 0.13]];
    let f = [-0.895, -1.0, 0.646];
    let matrix: Vec<f64> = (0..n * n).map(|at| (0..n).map(|k| b[k][at / n] * b[k][at % n]).sum()).collect();
    let law = Law::new(&matrix, n, c);
    // With z = 0 and F = f fᵀ the risk is ‖M (M + Nγ I)⁻¹ f‖² / N.
    let exact = squares(&shrunk(&matrix, n, penalty, &f).0);
    let ratios = law.states.iter().map(|state| {
        let left = residual(&matrix, n, state);
        let kept: Vec<f64> = matrix.iter().zip(&left).map(|(k, left)| k - left).collect();
        (squares(&shrunk(&kept, n, penalty, &f).0) / exact).sqrt()
    });
    let mean = expectation(&law, ratios);
    let expected = expected_trace_error(&descending(&matrix, n), c);
    let printed = risk::theorem_2(expected, n, penalty / n as f64);
    assert!((mean - 1.232).abs() < 5e-4, "{mean}");
    assert!((printed - 1.000_02).abs() < 5e-6, "{printed}");
}

/// Two neighbouring states in the coupling's slots: `S`, and `r` or `t` in the last slot.
struct Neighbours<'a> {
    gram: &'a Gram,
    shared: Vec<usize>,
    r: usize,
    t: usize,
}

impl Neighbours<'_> {
    fn determinant(&self, members: &[usize]) -> f64 {
        exact_determinant(&principal(&self.gram.entries, self.gram.n, members), members.len()) as f64
    }

    fn states(&self) -> [Vec<usize>; 2] {
        [self.r, self.t].map(|last| [self.shared.as_slice(), &[last]].concat())
    }

    /// Return `q`, from determinants of integer matrices.
    fn probability(&self, state: &[usize], slot: usize, entering: usize) -> f64 {
        let mut next = state.to_vec();
        next[slot] = entering;
        let (after, before) = (self.determinant(&next), self.determinant(state));
        after / (after + before)
    }

    /// Return the expected distance after one step, with `1 - u` for the second chain in case C1 and with the
    /// same `u`.
    fn expected_distance(&self) -> (f64, f64) {
        let states = self.states();
        let (n, c) = (self.gram.n, self.shared.len() + 1);
        let share = 0.5 / (c * (n - c)) as f64;
        let (mut reflected, mut same) = (0.5, 0.5);
        for slot in 0..c {
            for entering in (0..n).filter(|row| !states[0].contains(row)) {
                let partner = if entering == self.t { self.r } else { entering };
                let of_r = self.probability(&states[0], slot, entering);
                let of_t = self.probability(&states[1], slot, partner);
                let crossing = slot == c - 1 && entering == self.t;
                // The probability of `u` for which both chains move.
                let together = of_r.min(of_t);
                let both = if crossing { (of_r + of_t - 1.0).max(0.0) } else { together };
                reflected += share * self.mean_distance(slot, [entering, partner], of_r, of_t, both);
                same += share * self.mean_distance(slot, [entering, partner], of_r, of_t, together);
            }
        }
        (reflected, same)
    }

    fn mean_distance(&self, slot: usize, entering: [usize; 2], of_r: f64, of_t: f64, both: f64) -> f64 {
        let outcomes = [
            (both, [true, true]),
            (of_r - both, [true, false]),
            (of_t - both, [false, true]),
            (1.0 - of_r - of_t + both, [false, false]),
        ];
        let distance = |moved: [bool; 2]| {
            let mut states = self.states();
            for side in 0..2 {
                if moved[side] {
                    states[side][slot] = entering[side];
                }
            }
            states[0].iter().filter(|row| !states[1].contains(row)).count() as f64
        };
        outcomes.into_iter().map(|(share, moved)| share * distance(moved)).sum()
    }
}

/// One step of the coupling takes neighbours to the expected distance `1 - (1 - α(S, r, t))/(2c(N - c))`,
/// exactly.
#[test]
fn the_coupling_contracts_by_the_factor_of_alpha() {
    for n in 6..=8 {
        for (gram, tolerance) in [(Gram::well_conditioned(n), 1e-12), (Gram::near_duplicates(n, 8), 1e-9)] {
            let entries: Vec<f64> = gram.to();
            let ground = Matrix::new(&entries).unwrap();
            for c in 1..n {
                let mut most = f64::NEG_INFINITY;
                let mut worse = 0;
                for set in (0_u32..1 << n).filter(|set| set.count_ones() as usize == c - 1) {
                    let (shared, outside): (Vec<usize>, Vec<usize>) =
                        (0..n).partition(|row| set >> row & 1 == 1);
                    for (at, &r) in outside.iter().enumerate() {
                        for &t in &outside[..at] {
                            let alpha = contraction(&ground, &shared, r, t).unwrap().unwrap();
                            let neighbours = Neighbours { gram: &gram, shared: shared.clone(), r, t };
                            let (reflected, same) = neighbours.expected_distance();
                            let beta = step_factor(alpha, n, c);
                            assert!(
                                (reflected - beta).abs() <= tolerance,
                                "{n} {c} {shared:?} {r} {t}: {reflected} {beta}"
                            );
                            worse += u32::from(same > beta + 1e-3);
                            most = most.max(alpha);
                            assert!(alpha >= -((n - 2) as f64) - 1e-9);
                        }
                    }
                }
                // With the same `u` for both chains in case C1, as in the paper, this does not hold.
                assert!(worse > 0, "{n} {c}");
                assert_eq!(enumerated(&ground, c).unwrap().unwrap(), most);
            }
        }
    }
}

/// Return the law of a chain after `steps` steps from each start, by repeated squaring.
fn power(matrix: &[Vec<f64>], mut steps: u64) -> Vec<Vec<f64>> {
    let times = |a: &[Vec<f64>], b: &[Vec<f64>]| a.iter().map(|row| advance(row, b)).collect::<Vec<_>>();
    let size = matrix.len();
    let mut result: Vec<Vec<f64>> =
        (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut square = matrix.to_vec();
    while steps > 0 {
        if steps & 1 == 1 {
            result = times(&result, &square);
        }
        square = times(&square, &square);
        steps >>= 1;
    }
    result
}

fn distance(law: &[f64], other: &[f64]) -> f64 {
    law.iter().zip(other).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0
}

fn divergence(law: &[f64], other: &[f64]) -> f64 {
    law.iter().zip(other).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * (p / q).ln()).sum()
}

#[test]
fn the_chain_mixes_within_both_bounds() {
    let mut random = SplitMix64::seeded(2);
    let (mut conditional, mut contracted) = (0, f64::INFINITY);
    for n in 6..=7 {
        let mut grams: Vec<(Vec<f64>, Law)> = Vec::new();
        for c in 1..n {
            for gram in [Gram::well_conditioned(n), Gram::near_duplicates(n, 8)] {
                grams.push((gram.to(), Law::exact(&gram.entries, n, c)));
            }
            let identity = with_spectrum(&vec![1.0; n], 1);
            let law = Law::new(&identity, n, c);
            grams.push((identity, law));
        }
        for (entries, law) in grams {
            let c = law.states[0].len();
            let ground = Matrix::new(&entries).unwrap();
            let chain = transition(&ground, c, Rule::ALGORITHM_1);
            let alpha = enumerated(&ground, c).unwrap().unwrap();
            for epsilon in [0.25, 0.01, 1e-4] {
                if let Some(steps) = theorem_3(alpha, n, c, epsilon) {
                    conditional += 1;
                    for row in power(&chain, steps.ceil() as u64) {
                        assert!(distance(&row, &law.probabilities) <= epsilon, "{n} {c} {alpha}");
                    }
                }
                for (start, probability) in law.probabilities.iter().enumerate() {
                    let steps = unconditional(-probability.ln(), n, c, epsilon).ceil() as u64;
                    let row = &power(&chain, steps)[start];
                    assert!(distance(row, &law.probabilities) <= epsilon, "{n} {c}: {start}");
                }
            }
            // Relative entropy contracts in one step, from laws near the stationary one and far from it.
            let factor = 1.0 - 1.0 / (2 * c * (n - c)) as f64;
            for trial in 0..200 {
                let sharpness = [0.01, 0.3, 2.0, 8.0][trial % 4];
                let mut start: Vec<f64> =
                    law.probabilities.iter().map(|p| p * (sharpness * random.normal()).exp()).collect();
                let total: f64 = start.iter().sum();
                start.iter_mut().for_each(|p| *p /= total);
                let before = divergence(&start, &law.probabilities);
                let after = divergence(&advance(&start, &chain), &law.probabilities);
                assert!(after <= factor * before * (1.0 + 1e-9) + 1e-13, "{n} {c}: {after} {before}");
                contracted = contracted.min((1.0 - after / before) / (1.0 - factor));
            }
        }
    }
    println!("the smallest contraction in a step is {contracted:.3} of the bound");
    assert!(conditional > 50, "{conditional}");
}

/// Nine rows, of which every set of three is enumerated: the measurements of chains and samples agree with
/// the law within the errors given by their effective sample sizes.
#[test]
fn a_diagnosis_agrees_with_the_enumerated_law() {
    let (n, c) = (9, 3);
    let mut random = SplitMix64::seeded(17);
    let table = Table {
        name: "normal".to_owned(),
        feature_names: vec!["a".to_owned(), "b".to_owned()],
        dim: 2,
        features: (0..2 * n).map(|_| random.normal()).collect(),
        target: Some((0..n).map(|_| random.normal()).collect()),
        target_name: Some("y".to_owned()),
        weights: None,
    };
    let data = Prepared::new(table, None, 0).unwrap();
    let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
    let ground = data.ground(kernel).unwrap();
    let matrix: Vec<f64> = (0..n * n).map(|at| ground.entry(at / n, at % n)).collect();
    let law = Law::new(&matrix, n, c);
    let log_dets: Vec<f64> =
        law.states.iter().map(|state| determinant(&principal(&matrix, n, state), c).ln()).collect();
    let mean = expectation(&law, log_dets.iter().copied());
    let deviation = expectation(&law, log_dets.iter().map(|log| (log - mean).powi(2))).sqrt();
    let effort = Effort { samples: 400, steps: 40_000, pairs: 40, ..Effort::default() };
    let diagnostics = Diagnostics::new(&data, kernel, Precision::F64, 5, &NoObserver).unwrap();
    let found = diagnostics.of(c, Ridge::Value(1e-2), &effort, &NoObserver).unwrap();
    for chain in &found.chains {
        let size = chain.effective_samples.unwrap();
        let error = deviation / size.sqrt();
        let off = (chain.log_det.mean - mean).abs() / error;
        println!("{}: {off:.2} standard errors, effective sample size {size:.0}", chain.chain);
        // A deviation from as many effective samples is off by some 1/sqrt(2 size): four of these.
        assert!(size > 1_000.0, "{chain:?}");
        assert!((chain.log_det.error / error - 1.0).abs() < 4.0 / (2.0 * size).sqrt(), "{chain:?}: {error}");
        assert!(off < 4.0 && chain.r_hat.unwrap() < 1.02, "{chain:?}");
    }
    assert!((found.log_det.mean - mean).abs() < 4.0 * found.log_det.error);
    assert!((found.trace_error.mean - found.expected_trace_error).abs() < 4.0 * found.trace_error.error);
    let contraction = found.contraction.unwrap();
    let alpha = enumerated(&Matrix::new(&matrix).unwrap(), c).unwrap().unwrap();
    assert!(contraction.alpha_is_exact && (contraction.alpha - alpha).abs() < 1e-9);
    assert_eq!((found.meeting.met, found.target_ranks.len()), (40, c));
}
