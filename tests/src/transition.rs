//! The chain's transition matrix, from the acceptance function that the chain calls.

use crate::room::Room;
use crate::subsets::{index_of, subsets};
use dpp_nystrom_core::{Acceptance, GroundSet, Landmarks, Rule, Scalar, start};

/// All rules.
pub const RULES: [Rule; 4] = [
    Rule::ALGORITHM_1,
    Rule { acceptance: Acceptance::Barker, lazy: false },
    Rule { acceptance: Acceptance::Metropolis, lazy: true },
    Rule::METROPOLIS,
];

/// Return `P` over [`subsets`], row by row: `P(Y, Y∪v\u) = ½^lazy · accept(u, v) / (c (n - c))`, and the
/// remainder on the diagonal.
///
/// # Panics
/// When a state of the ground set is singular, or there is nothing to swap.
pub fn transition<T, G>(ground: &G, c: usize, rule: Rule) -> Vec<Vec<f64>>
where
    T: Scalar,
    G: GroundSet<T>,
{
    let n = ground.len();
    let states = subsets(n, c);
    let share = if rule.lazy { 0.5 } else { 1.0 } / (c * (n - c)) as f64;
    let mut matrix = vec![vec![0.0; states.len()]; states.len()];
    for (from, state) in states.iter().enumerate() {
        let mut room = Room::new(c);
        let mut landmarks = Landmarks::new(ground, room.lend()).expect("a ground set with rows");
        start::given(&mut landmarks, state).expect("a state that is not singular");
        for slot in 0..c {
            for entering in (0..n).filter(|row| !state.contains(row)) {
                let swap = landmarks.swap(slot, entering).expect("a swap within range");
                let mut next = state.clone();
                next[slot] = entering;
                matrix[from][index_of(&states, &next)] += share * swap.probability(rule.acceptance).to_f64();
            }
        }
        let leaving: f64 = matrix[from].iter().sum();
        matrix[from][from] = 1.0 - leaving;
    }
    matrix
}

/// Return the law after one more step.
pub fn advance(law: &[f64], transition: &[Vec<f64>]) -> Vec<f64> {
    let mut next = vec![0.0; law.len()];
    for (probability, row) in law.iter().zip(transition) {
        for (next, p) in next.iter_mut().zip(row) {
            *next += probability * p;
        }
    }
    next
}
