//! The open-slot chain's transition matrix.
//!
//! Two numbers of every try come from the production code: the residual of a row that enters, read from the
//! slot after it was admitted at `u = 0`, and the threshold that the slot requires this residual to exceed.
//! The probability of a try is the measure of the `u` in [0, 1) for which it does. The enumeration of slots,
//! rows and sequences of tries is the definition of the chain and shares no code with it.

use crate::room::Room;
use crate::subsets::{index_of, subsets};
use dpp_nystrom_core::{Acceptance, Evaluate, GroundSet, Landmarks, OpenSlot, Proposal, Scalar, start};

/// The opened slots of one state, which are built again for every query.
struct Openings<'t, T, G, E> {
    ground: &'t G,
    evaluator: &'t mut E,
    acceptance: Acceptance,
    members: Vec<usize>,
    slot: usize,
    room: Room<T>,
}

impl<T: Scalar, G: GroundSet<T>, E: Evaluate<T, G>> Openings<'_, T, G, E> {
    /// Open the slot, admit these rows one after the other, and call `ask`.
    fn ask<A>(&mut self, entered: &[usize], ask: impl FnOnce(&mut OpenSlot<'_, '_, T, G>, &mut E) -> A) -> A {
        let mut landmarks = Landmarks::new(self.ground, self.room.lend()).expect("a ground set with rows");
        start::given(&mut landmarks, &self.members).expect("a state that is not singular");
        let mut slot = OpenSlot::new(&mut landmarks, self.slot, self.acceptance).expect("a slot there is");
        for &entering in entered {
            let proposal = Proposal { entering, uniform: T::ZERO };
            assert_eq!(self.evaluator.evaluate(&mut slot, &[proposal]), Ok(1), "row {entering}");
        }
        ask(&mut slot, self.evaluator)
    }

    /// Return the measure of the `u` for which a row is admitted after these.
    fn probability(&mut self, entered: &[usize], entering: usize) -> f64 {
        let residual = self.ask(entered, |slot, evaluator| {
            let proposal = Proposal { entering, uniform: T::ZERO };
            let admitted = evaluator.evaluate(slot, &[proposal]).expect("entries are finite");
            (admitted == 1).then(|| slot.residual())
        });
        let diagonal = self.ground.diagonal(entering);
        residual.map_or(0.0, |residual| {
            self.ask(entered, |slot, _| measure(|uniform| residual > slot.threshold(uniform, diagonal)))
        })
    }

    /// Add the law of the occupant after `tries` more tries, times `share`. A rejection leads to the same
    /// slot whichever row it was, and is followed once.
    fn follow(&mut self, entered: &mut Vec<usize>, tries: usize, share: f64, law: &mut [f64]) {
        if tries == 0 {
            law[entered.last().copied().unwrap_or(self.members[self.slot])] += share;
            return;
        }
        let rows = self.ground.len();
        let mut rejected = 0.0;
        for entering in 0..rows {
            let probability = self.probability(entered, entering);
            rejected += (1.0 - probability) / rows as f64;
            if probability > 0.0 {
                entered.push(entering);
                self.follow(entered, tries - 1, share * probability / rows as f64, law);
                entered.pop();
            }
        }
        self.follow(entered, tries - 1, share * rejected, law);
    }

    /// Return one try's matrix over the rows as occupants. A row that cannot enter leaves the occupant.
    fn one_try(&mut self) -> Vec<Vec<f64>> {
        let rows = self.ground.len();
        let occupant = self.members[self.slot];
        let may_enter: Vec<bool> = (0..rows).map(|row| self.probability(&[], row) > 0.0).collect();
        let mut matrix = vec![vec![0.0; rows]; rows];
        for from in 0..rows {
            matrix[from][from] = 1.0;
            if from == occupant || may_enter[from] {
                let entered = if from == occupant { vec![] } else { vec![from] };
                for to in 0..rows {
                    let probability = self.probability(&entered, to) / rows as f64;
                    matrix[from][to] += probability;
                    matrix[from][from] -= probability;
                }
            }
        }
        matrix
    }
}

/// Return the measure of the `u` in [0, 1) up to which something holds, if it holds for 0. After sixty
/// bisections the interval has no number inside near one, and a length below 2⁻⁶⁰ elsewhere.
fn measure<T: Scalar>(holds: impl Fn(T) -> bool) -> f64 {
    let (mut low, mut high) = (T::ZERO, T::ONE);
    if !holds(low) {
        return 0.0;
    }
    for _ in 0..60 {
        let middle = (low + high) / T::from_count(2);
        if !(low < middle && middle < high) {
            break;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high.to_f64()
}

/// Return `P` of one step of `tries` tries over [`subsets`], by enumerating every sequence of tries.
///
/// # Panics
/// When a state of the ground set is singular.
pub fn enumerated<T, G, E>(
    ground: &G,
    c: usize,
    tries: usize,
    acceptance: Acceptance,
    evaluator: &mut E,
) -> Vec<Vec<f64>>
where
    T: Scalar,
    G: GroundSet<T>,
    E: Evaluate<T, G>,
{
    mixture(ground, c, acceptance, evaluator, |openings: &mut Openings<'_, T, G, E>| {
        let mut law = vec![0.0; openings.ground.len()];
        openings.follow(&mut Vec::new(), tries, 1.0, &mut law);
        law
    })
}

/// [`enumerated`] with powers of one try's matrix instead of sequences, for any number of tries.
///
/// # Panics
/// When a state of the ground set is singular.
pub fn powers<T, G, E>(
    ground: &G,
    c: usize,
    tries: usize,
    acceptance: Acceptance,
    evaluator: &mut E,
) -> Vec<Vec<f64>>
where
    T: Scalar,
    G: GroundSet<T>,
    E: Evaluate<T, G>,
{
    mixture(ground, c, acceptance, evaluator, |openings: &mut Openings<'_, T, G, E>| {
        let matrix = openings.one_try();
        let mut law = vec![0.0; matrix.len()];
        law[openings.members[openings.slot]] = 1.0;
        for _ in 0..tries {
            law = crate::transition::advance(&law, &matrix);
        }
        law
    })
}

/// Return the mean over the slots of the law of the occupant.
fn mixture<T, G, E>(
    ground: &G,
    c: usize,
    acceptance: Acceptance,
    evaluator: &mut E,
    mut occupant: impl FnMut(&mut Openings<'_, T, G, E>) -> Vec<f64>,
) -> Vec<Vec<f64>>
where
    T: Scalar,
    G: GroundSet<T>,
    E: Evaluate<T, G>,
{
    let states = subsets(ground.len(), c);
    let mut matrix = vec![vec![0.0; states.len()]; states.len()];
    for (from, state) in states.iter().enumerate() {
        for slot in 0..c {
            let mut members = state.clone();
            // The order of the members is part of the state's representation, not of its law.
            members.rotate_left(from % c);
            let mut openings = Openings {
                ground,
                evaluator: &mut *evaluator,
                acceptance,
                members: members.clone(),
                slot,
                room: Room::new(c),
            };
            let law = occupant(&mut openings);
            for (row, probability) in law.into_iter().enumerate().filter(|&(_, p)| p > 0.0) {
                members[slot] = row;
                matrix[from][index_of(&states, &members)] += probability / c as f64;
            }
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::{enumerated, measure, powers};
    use dpp_nystrom_core::{Acceptance, Matrix, OneByOne};

    #[test]
    fn a_measure_is_found_to_the_last_bit() {
        assert_eq!(measure(|u: f64| u < 0.3), 0.3);
        assert_eq!(measure(|u: f32| u <= 0.0), 2.0_f64.powi(-60));
        assert_eq!((measure(|_: f32| false), measure(|_: f64| true)), (0.0, 1.0));
    }

    #[test]
    fn one_and_two_tries_at_one_pair_computed_by_hand() {
        // K = diag(1, 3), c = 1: a try draws the other row half the time and accepts it with probability
        // 1 or 1/3 (Metropolis), 3/4 or 1/4 (Barker). Two tries are the square.
        let matrix = [1.0, 0.0, 0.0, 3.0];
        let ground = Matrix::new(&matrix).unwrap();
        let expected = [
            (Acceptance::Metropolis, 1, [1.0 / 2.0, 1.0 / 2.0, 1.0 / 6.0, 5.0 / 6.0]),
            (Acceptance::Metropolis, 2, [1.0 / 3.0, 2.0 / 3.0, 2.0 / 9.0, 7.0 / 9.0]),
            (Acceptance::Barker, 1, [5.0 / 8.0, 3.0 / 8.0, 1.0 / 8.0, 7.0 / 8.0]),
            (Acceptance::Barker, 2, [7.0 / 16.0, 9.0 / 16.0, 3.0 / 16.0, 13.0 / 16.0]),
        ];
        for (acceptance, tries, expected) in expected {
            let enumerated = enumerated(&ground, 1, tries, acceptance, &mut OneByOne).concat();
            let powers = powers(&ground, 1, tries, acceptance, &mut OneByOne).concat();
            for ((enumerated, power), expected) in enumerated.iter().zip(powers).zip(expected) {
                // Some ten operations on numbers up to one.
                assert!((enumerated - expected).abs() < 1e-15 && (power - expected).abs() < 1e-15);
            }
        }
    }
}
