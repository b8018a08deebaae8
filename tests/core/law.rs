//! The chain's law, by enumeration: its transition matrix is reversible with respect to the c-DPP and reaches
//! every state. `P` is built from the acceptance function that the chain calls.

use dpp_nystrom_core::{Matrix, Scalar};
use dpp_nystrom_tests::determinant::swap_condition;
use dpp_nystrom_tests::ground::Gram;
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::transition::{RULES, advance, transition};

/// Rounding of a ratio in units of `c ε` times its condition, as in the tests of the swap ratio.
const PERTURBATION: f64 = 2.0;

fn check<T: Scalar>(gram: &Gram, c: usize) {
    let entries: Vec<T> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let law = Law::exact(&gram.entries, gram.n, c);
    let pi = &law.probabilities;
    let exact: Vec<f64> = gram.to();
    for rule in RULES {
        let p = transition(&ground, c, rule);
        // A row's diagonal is one minus the others, up to the rounding of a dozen additions, and must not be
        // negative.
        for row in &p {
            assert!(row.iter().all(|&probability| (-1e-14..=1.0).contains(&probability)), "{rule:?}");
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
        if rule.lazy {
            // Up to the rounding of the sum of the other entries.
            assert!((0..p.len()).all(|i| p[i][i] >= 0.5 - 1e-14), "a lazy chain holds half the time");
        }
        // π_i P_ij = π_j P_ji, within the rounding of the two ratios that enter.
        for (i, state) in law.states.iter().enumerate() {
            for (j, other) in law.states.iter().enumerate() {
                let entering: Vec<usize> = other.iter().copied().filter(|row| !state.contains(row)).collect();
                let &[entering] = entering.as_slice() else {
                    assert!(i == j || p[i][j] == 0.0, "only one member may change");
                    continue;
                };
                let slot = state.iter().position(|row| !other.contains(row)).unwrap();
                let unit =
                    c as f64 * T::EPSILON.to_f64() * swap_condition(&exact, gram.n, state, slot, entering);
                let (forth, back) = (pi[i] * p[i][j], pi[j] * p[j][i]);
                assert!(forth > 0.0 && back > 0.0, "{rule:?} {state:?} {other:?}");
                assert!(
                    (forth - back).abs() <= 2.0 * PERTURBATION * unit * forth.max(back),
                    "{rule:?} {state:?} {other:?}: {forth} {back}"
                );
            }
        }
        // πP = π. The conditions cancel: a state whose ratios are ill-conditioned is less probable by the
        // same factor. There remain a few c ε of each entry's own flow, which is at most one.
        for (&probability, next) in pi.iter().zip(advance(pi, &p)) {
            let bound = 100.0 * c as f64 * T::EPSILON.to_f64();
            assert!((next - probability).abs() <= bound, "{rule:?}: {probability} {next}");
        }
        // Every state is reached from the first, and by reversibility the first from every state. All swap
        // probabilities are positive, so c steps suffice.
        let mut reached = vec![0.0; pi.len()];
        reached[0] = 1.0;
        for _ in 0..c {
            let next = advance(&reached, &p);
            for (reached, next) in reached.iter_mut().zip(next) {
                *reached += next;
            }
        }
        assert!(reached.iter().all(|&mass| mass > 0.0), "{rule:?}");
    }
}

#[test]
fn reversible_on_well_conditioned_rows() {
    for (n, c) in [(6, 3), (8, 3)] {
        check::<f64>(&Gram::well_conditioned(n), c);
        check::<f32>(&Gram::well_conditioned(n), c);
    }
}

#[test]
fn reversible_on_near_duplicates() {
    check::<f64>(&Gram::near_duplicates(6, 1 << 18), 3);
    check::<f32>(&Gram::near_duplicates(6, 1 << 8), 3);
}

#[test]
fn reversible_with_one_landmark_or_all_but_one() {
    for c in [1, 5] {
        check::<f64>(&Gram::well_conditioned(6), c);
        check::<f32>(&Gram::well_conditioned(6), c);
    }
}

#[test]
fn barker_and_metropolis_at_one_pair_computed_by_hand() {
    // K = diag(1, 3), c = 1: r = 3 from row 0 to row 1, one third back; one pair to propose.
    let matrix = [1.0, 0.0, 0.0, 3.0];
    let ground = Matrix::new(&matrix).unwrap();
    let expected = [
        [[5.0 / 8.0, 3.0 / 8.0], [1.0 / 8.0, 7.0 / 8.0]],
        [[1.0 / 4.0, 3.0 / 4.0], [1.0 / 4.0, 3.0 / 4.0]],
        [[1.0 / 2.0, 1.0 / 2.0], [1.0 / 6.0, 5.0 / 6.0]],
        [[0.0, 1.0], [1.0 / 3.0, 2.0 / 3.0]],
    ];
    for (rule, expected) in RULES.into_iter().zip(expected) {
        let p = transition(&ground, 1, rule);
        for (row, expected) in p.iter().flatten().zip(expected.iter().flatten()) {
            // Three operations on numbers under 3.
            assert!((row - expected).abs() < 1e-15, "{rule:?}: {p:?}");
        }
    }
}
