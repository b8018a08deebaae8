//! The open-slot chain's law, by enumeration: a step of one, two or three tries is reversible with respect to
//! the c-DPP.
//!
//! `P` uses the residuals and thresholds that the chain computes: the probability of a try is the measure of
//! the `u` for which the production residual exceeds the production threshold of the slot after the tries
//! before it (see `slot_transition`). Where a probability is below the 2⁻³² of a draw, as among
//! near-duplicates, this is the law of ideal draws. near-duplicates, this is the law of ideal draws.

use dpp_nystrom_core::{Acceptance, GroundSet, Landmarks, OpenSlot, start};
use dpp_nystrom_host::simd::Lane;
use dpp_nystrom_tests::determinant::swap_condition;
use dpp_nystrom_tests::evaluator::{Evaluator, linear};
use dpp_nystrom_tests::ground::Gram;
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::slot_transition::{enumerated, powers};
use dpp_nystrom_tests::transition::advance;

const RULES: [Acceptance; 2] = [Acceptance::Barker, Acceptance::Metropolis];

/// Rounding of a ratio in units of `c ε` times its condition, as in the tests of the swap ratio.
const PERTURBATION: f64 = 2.0;

/// Return the row by which a state differs from another, if they differ in one row.
fn entering(state: &[usize], other: &[usize]) -> Option<usize> {
    let mut entering = other.iter().copied().filter(|row| !state.contains(row));
    let first = entering.next()?;
    entering.next().is_none().then_some(first)
}

fn check<T: Lane>(gram: &Gram, c: usize, evaluator: &mut Evaluator<T>) {
    let rows: Vec<T> = gram.points();
    let ground = linear(&rows, gram.n);
    let law = Law::exact(&gram.entries, gram.n, c);
    let pi = &law.probabilities;
    let exact: Vec<f64> = gram.to();
    let n = gram.n;
    // Between two states that differ in one row, a block passes through other occupants of the same slot: the
    // worst of their conditions counts.
    let condition = |state: &[usize], slot: usize| {
        let outside = (0..n).filter(|row| !state.contains(row));
        outside.map(|row| swap_condition(&exact, n, state, slot, row)).fold(0.0, f64::max)
    };
    let conditions: Vec<Vec<f64>> =
        law.states.iter().map(|state| (0..c).map(|slot| condition(state, slot)).collect()).collect();
    for acceptance in RULES {
        for tries in 1..=3 {
            let context = format!("{}, {acceptance:?}, {tries} tries", evaluator.name());
            let p = enumerated(&ground, c, tries, acceptance, evaluator);
            for row in &p {
                assert!(row.iter().all(|probability| (0.0..=1.0 + 1e-14).contains(probability)), "{context}");
                // Some n³ products, whose sums are rounded a few dozen times.
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-13, "{context}");
            }
            // π_i P_ij = π_j P_ji, within the rounding of the ratios on the way: one for each try.
            for (i, state) in law.states.iter().enumerate() {
                for (j, other) in law.states.iter().enumerate().filter(|&(j, _)| j != i) {
                    if entering(state, other).is_none() {
                        assert!(p[i][j] == 0.0, "{context}: only one member may change");
                        continue;
                    }
                    let slot = state.iter().position(|row| !other.contains(row)).unwrap();
                    let worst = conditions[i][slot];
                    let unit = tries as f64 * c as f64 * T::EPSILON.to_f64() * worst;
                    let (forth, back) = (pi[i] * p[i][j], pi[j] * p[j][i]);
                    assert!(forth > 0.0 && back > 0.0, "{context}: {state:?} {other:?}");
                    assert!(
                        (forth - back).abs() <= 2.0 * PERTURBATION * unit * forth.max(back),
                        "{context}: {state:?} {other:?}: {forth} {back}"
                    );
                }
            }
            // πP = π, where the conditions cancel as in the law of the swap chain.
            for (&probability, next) in pi.iter().zip(advance(pi, &p)) {
                let bound = 100.0 * c as f64 * T::EPSILON.to_f64();
                assert!((next - probability).abs() <= bound, "{context}: {probability} {next}");
            }
            // One sequence of tries, or one matrix after the other: the same law. The residual of an occupant
            // that has entered and of one that was there before differ only in rounding.
            let again = powers(&ground, c, tries, acceptance, evaluator);
            for (i, (row, again)) in p.iter().zip(&again).enumerate() {
                let worst = conditions[i].iter().copied().fold(0.0, f64::max);
                let unit = PERTURBATION * tries as f64 * c as f64 * T::EPSILON.to_f64() * worst;
                for (&p, &again) in row.iter().zip(again) {
                    assert!((p - again).abs() <= unit.min(1.0) * p.max(again) + 1e-13, "{context}");
                }
            }
            // Every state is reached within c steps: all swap probabilities are positive.
            let mut reached = vec![0.0; pi.len()];
            reached[0] = 1.0;
            for _ in 0..c {
                let next = advance(&reached, &p);
                for (reached, next) in reached.iter_mut().zip(next) {
                    *reached += next;
                }
            }
            assert!(reached.iter().all(|&mass| mass > 0.0), "{context}");
        }
    }
}

fn check_all<T: Lane>(gram: &Gram, c: usize) {
    for mut evaluator in Evaluator::all(c, gram.n) {
        check::<T>(gram, c, &mut evaluator);
    }
}

#[test]
fn reversible_on_well_conditioned_rows() {
    for (n, c) in [(6, 3), (8, 3)] {
        check_all::<f64>(&Gram::well_conditioned(n), c);
        check_all::<f32>(&Gram::well_conditioned(n), c);
    }
}

#[test]
fn reversible_on_near_duplicates() {
    check_all::<f64>(&Gram::near_duplicates(6, 1 << 18), 3);
    check_all::<f32>(&Gram::near_duplicates(6, 1 << 8), 3);
}

#[test]
fn reversible_with_one_landmark_or_all_but_one() {
    for c in [1, 5] {
        check_all::<f64>(&Gram::well_conditioned(6), c);
        check_all::<f32>(&Gram::well_conditioned(6), c);
    }
}

/// The measure is that of an interval from 0 only if the threshold does not decrease in `u`. It is never
/// below the rounding error.
#[test]
fn the_threshold_rises_with_u_from_the_floor() {
    fn check<T: Lane>() {
        let gram = Gram::well_conditioned(6);
        let rows: Vec<T> = gram.points();
        let ground = linear(&rows, 6);
        for acceptance in RULES {
            let mut room = Room::new(3);
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::given(&mut landmarks, &[4, 0, 3]).unwrap();
            let slot = OpenSlot::new(&mut landmarks, 1, acceptance).unwrap();
            let diagonal = ground.diagonal(2);
            let floor = T::from_count(3) * T::EPSILON * diagonal;
            assert_eq!(slot.threshold(T::ZERO, diagonal), floor);
            let mut before = floor;
            for draw in (0..1 << 12).map(|step| (step << 20) | 0xf_ffff) {
                let uniform = T::from_draw(draw);
                let threshold = slot.threshold(uniform, diagonal);
                assert!(threshold >= before && threshold.is_finite(), "{acceptance:?}, {uniform}");
                // u < probability solved for the residual: two or three roundings.
                let asked = match acceptance {
                    Acceptance::Barker => uniform.to_f64() / (1.0 - uniform.to_f64()),
                    Acceptance::Metropolis => uniform.to_f64(),
                } * slot.residual().to_f64();
                let bound = 4.0 * T::EPSILON.to_f64() * asked;
                assert!((threshold.to_f64() - asked).abs() <= bound.max(floor.to_f64()), "{uniform}");
                before = threshold;
            }
        }
    }
    check::<f64>();
    check::<f32>();
}
