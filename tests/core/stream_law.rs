//! The law of the stream chain, by enumeration: over rows that are streamed with replacement it is reversible
//! with respect to their c-DPP, uniform or weighted.
//!
//! `P` consists of production steps alone: the probability of a slot, a row and a landmark is the share of
//! the 2³² draws for the acceptance with which the row is admitted. The enumeration around it is the chain's
//! definition.

use dpp_nystrom_core::{Acceptance, Scalar};
use dpp_nystrom_tests::determinant::swap_condition;
use dpp_nystrom_tests::ground::Gram;
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::stream::Source;
use dpp_nystrom_tests::transition::advance;

const RULES: [Acceptance; 2] = [Acceptance::Barker, Acceptance::Metropolis];

/// Rounding of a ratio in units of `c ε` times its condition, as in the tests of the swap ratio.
const PERTURBATION: f64 = 2.0;

/// Return `P` over the law's states, for rows with these probabilities.
fn transition<T: Scalar>(
    source: &Source<T>,
    law: &Law,
    weights: &[f64],
    acceptance: Acceptance,
) -> Vec<Vec<f64>> {
    let draws = (1_u64 << 32) as f64;
    let mut matrix = vec![vec![0.0; law.states.len()]; law.states.len()];
    for (from, state) in law.states.iter().enumerate() {
        let mut members = state.clone();
        // The order of the members is part of the state's representation, not of its law.
        members.rotate_left(from % state.len());
        for slot in 0..members.len() {
            for (entering, &weight) in weights.iter().enumerate() {
                let admitted = source.draws_that_admit(&members, slot, entering, acceptance) as f64 / draws;
                let share = weight / members.len() as f64;
                matrix[from][from] += share * (1.0 - admitted);
                if members.iter().enumerate().any(|(at, &row)| at != slot && row == entering) {
                    assert_eq!(admitted, 0.0, "row {entering} is a landmark in another slot: {members:?}");
                    continue;
                }
                let mut next = members.clone();
                next[slot] = entering;
                matrix[from][law.index(&next)] += share * admitted;
            }
        }
    }
    matrix
}

fn check<T: Scalar>(gram: &Gram, c: usize, weights: &[f64]) {
    let n = gram.n;
    let source = Source { rows: gram.points::<T>(), dim: n };
    let exact: Vec<f64> = gram.to();
    // det of √p_i k(i, j) √p_j over C is det K_CC · Π p_i.
    let weighted: Vec<f64> =
        (0..n * n).map(|at| exact[at] * (weights[at / n] * weights[at % n]).sqrt()).collect();
    let law = Law::new(&weighted, n, c);
    let pi = &law.probabilities;
    // A draw is a multiple of 2⁻³², of 2⁻²⁴ in f32.
    let grain = if T::EPSILON.to_f64() > 1e-10 { 2.0_f64.powi(-24) } else { 2.0_f64.powi(-32) };
    for acceptance in RULES {
        let p = transition(&source, &law, weights, acceptance);
        for row in &p {
            assert!(row.iter().all(|probability| (0.0..=1.0 + 1e-14).contains(probability)));
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        }
        for (i, state) in law.states.iter().enumerate() {
            for (j, other) in law.states.iter().enumerate().filter(|&(j, _)| j != i) {
                let entering: Vec<usize> = other.iter().copied().filter(|row| !state.contains(row)).collect();
                if entering.len() > 1 {
                    assert_eq!(p[i][j], 0.0, "one member may change");
                    continue;
                }
                let slot = state.iter().position(|row| !other.contains(row)).unwrap();
                let condition = swap_condition(&exact, n, state, slot, entering[0]);
                let rounding = 2.0 * PERTURBATION * c as f64 * T::EPSILON.to_f64() * condition;
                let (forth, back) = (pi[i] * p[i][j], pi[j] * p[j][i]);
                let largest = weights.iter().copied().fold(0.0, f64::max) / c as f64;
                let bound = rounding * forth.max(back) + 2.0 * grain * largest * (pi[i] + pi[j]);
                assert!(forth > 0.0 && back > 0.0, "{acceptance:?}: {state:?} {other:?}");
                assert!((forth - back).abs() <= bound, "{acceptance:?}: {state:?} {other:?}: {forth} {back}");
            }
        }
        for (&probability, next) in pi.iter().zip(advance(pi, &p)) {
            let bound = 100.0 * c as f64 * T::EPSILON.to_f64() + 2.0 * grain;
            assert!((next - probability).abs() <= bound, "{acceptance:?}: {probability} {next}");
        }
        // Every state is reached within c steps.
        let mut reached = vec![0.0; pi.len()];
        reached[0] = 1.0;
        for _ in 0..c {
            let next = advance(&reached, &p);
            reached.iter_mut().zip(next).for_each(|(reached, next)| *reached += next);
        }
        assert!(reached.iter().all(|&mass| mass > 0.0), "{acceptance:?}");
    }
}

fn uniform(n: usize) -> Vec<f64> {
    vec![1.0 / n as f64; n]
}

#[test]
fn reversible_for_the_c_dpp_of_rows_that_come_equally_often() {
    for (n, c) in [(6, 3), (6, 1), (6, 5), (7, 3)] {
        check::<f64>(&Gram::well_conditioned(n), c, &uniform(n));
        check::<f32>(&Gram::well_conditioned(n), c, &uniform(n));
    }
}

#[test]
fn reversible_on_near_duplicates() {
    check::<f64>(&Gram::near_duplicates(6, 1 << 8), 3, &uniform(6));
    check::<f32>(&Gram::near_duplicates(6, 1 << 4), 3, &uniform(6));
}

/// `Pr(C) ∝ det K_CC · Π P(x_i)`.
#[test]
fn reversible_for_the_weighted_c_dpp_of_rows_that_come_unequally_often() {
    let weights = [0.3, 0.05, 0.2, 0.1, 0.25, 0.1];
    check::<f64>(&Gram::well_conditioned(6), 3, &weights);
    check::<f32>(&Gram::well_conditioned(6), 3, &weights);
}
