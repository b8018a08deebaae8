//! Theorem 3's coupling, run until two chains of Algorithm 1 meet.
//!
//! Two sets of `c` rows occupy `c` slots each; rows in both sets occupy the same slot. Both chains share the
//! lazy coin, the slot and the uniform variate. A row drawn outside the first set is proposed to both; if it
//! already occupies slot `j` of the second set, the second chain proposes the row in slot `j` of the first.
//! Each chain alone is Algorithm 1. For neighbouring sets these are the cases C1 to C4 of the paper's proof,
//! which needs no others; sets further apart follow the same rule.
//!
//! In case C1 each chain proposes the row that the other would give up, and the two must not both move, which
//! the paper overlooks. With `u` for one chain and `1 - u` for the other exactly one moves, since
//! `q_R + q_T = 1` for `q = r/(1 + r)`.

use crate::rng::{Stream, stream};
use dpp_nystrom::Error;
use dpp_nystrom::core::{Acceptance, Error as CoreError, GroundSet, Landmarks, Random, start};
use dpp_nystrom_host::heap::Heap;
use rand::RngExt;
use rand_core::Rng;
use rayon::prelude::*;

/// Return the steps that each pair of chains took to meet from two uniform starts; none for a pair that had
/// not met after `limit` steps. A step evaluates two swaps, `O(c²)`. Pair `i` depends only on `seed` and `i`.
///
/// # Errors
/// `ErrorKind::Landmarks` if no start can be found or the ground set is not finite, `ErrorKind::Memory`.
pub fn coalescence_times<G: GroundSet<f64> + Sync + ?Sized>(
    ground: &G,
    c: usize,
    pairs: u64,
    limit: u64,
    seed: u64,
) -> Result<Vec<Option<u64>>, Error> {
    (0..pairs)
        .into_par_iter()
        .map(|pair| {
            let mut random = stream(seed.wrapping_add(pair), Stream::Coupling);
            let (mut one, mut other) = (Heap::new(c)?, Heap::new(c)?);
            let mut landmarks = Landmarks::new(ground, one.lend()).map_err(Error::landmarks)?;
            start::uniform(&mut landmarks, c, &mut random).map_err(Error::landmarks)?;
            let mut others = Landmarks::new(ground, other.lend()).map_err(Error::landmarks)?;
            start::uniform(&mut others, c, &mut random).map_err(Error::landmarks)?;
            let mut coupled = Coupled::new(landmarks, others);
            for step in 0..limit {
                if coupled.distance() == 0 {
                    return Ok(Some(step));
                }
                coupled.step(&mut random).map_err(Error::landmarks)?;
            }
            Ok((coupled.distance() == 0).then_some(limit))
        })
        .collect()
}

/// Two chains, and the slots of their rows.
struct Coupled<'a, G: ?Sized> {
    chains: [Landmarks<'a, f64, G>; 2],
    slots: [Vec<usize>; 2],
}

impl<'a, G: GroundSet<f64> + ?Sized> Coupled<'a, G> {
    fn new(one: Landmarks<'a, f64, G>, other: Landmarks<'a, f64, G>) -> Self {
        let slots = [one.members().to_vec(), other.members().to_vec()];
        let mut coupled = Self { chains: [one, other], slots };
        coupled.align();
        coupled
    }

    /// Return how many rows of one set are not in the other.
    fn distance(&self) -> usize {
        let [mine, others] = &self.slots;
        mine.iter().zip(others).filter(|(row, other)| row != other).count()
    }

    fn step(&mut self, random: &mut Random) -> Result<(), CoreError> {
        let (c, rows) = (self.slots[0].len(), self.chains[0].ground().len());
        if c == rows || random.next_u32() >> 31 == 0 {
            return Ok(());
        }
        let slot = random.random_range(0..c);
        let entering = loop {
            let row = random.random_range(0..rows);
            if !self.slots[0].contains(&row) {
                break row;
            }
        };
        let [mine, others] = &self.slots;
        let at = others.iter().position(|&row| row == entering);
        let partner = at.map_or(entering, |at| mine[at]);
        let crossing = at == Some(slot);
        let u: f64 = random.random();
        let uniforms = [u, if crossing { 1.0 - u } else { u }];
        let mut moved = false;
        for (side, entering) in [entering, partner].into_iter().enumerate() {
            moved |= self.try_swap(side, slot, entering, uniforms[side])?;
        }
        if moved {
            self.align();
        }
        Ok(())
    }

    fn try_swap(
        &mut self,
        side: usize,
        slot: usize,
        entering: usize,
        uniform: f64,
    ) -> Result<bool, CoreError> {
        let (chain, slots) = (&mut self.chains[side], &mut self.slots[side]);
        let place = chain.members().iter().position(|&row| row == slots[slot]).unwrap_or(0);
        let taken = uniform < chain.swap(place, entering)?.probability(Acceptance::Barker);
        if taken {
            chain.replace(place, entering)?;
            slots[slot] = entering;
        }
        Ok(taken)
    }

    /// Move rows that are in both sets into the same slots.
    fn align(&mut self) {
        let [mine, others] = &mut self.slots;
        for (slot, row) in mine.iter().enumerate() {
            if let Some(at) = others.iter().position(|other| other == row) {
                others.swap(slot, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Coupled, coalescence_times};
    use dpp_nystrom::core::{Landmarks, Matrix, Points, Random, kernel::Gaussian, start};
    use dpp_nystrom_host::heap::Heap;
    use rand_core::Rng;

    const ROWS: [f64; 6] = [0.0, 0.3, 1.0, 1.4, 2.2, 3.0];

    /// Each side alone is Algorithm 1: the frequencies of its sets after one step from `R` and `T` are the
    /// chain's.
    #[test]
    fn each_side_is_the_chain_and_the_distance_contracts() {
        let ground = Points::new(&ROWS, 1, Gaussian::new(0.8).unwrap()).unwrap();
        let (of_r, of_t) = ([0, 2, 4], [0, 3, 5]);
        let draws = 200_000;
        let mut random = Random::seeded(5);
        let mut moves = [[[0_u32; 6]; 6]; 2];
        let (mut one, mut other) = (Heap::new(3).unwrap(), Heap::new(3).unwrap());
        for _ in 0..draws {
            let mut landmarks = Landmarks::new(&ground, one.lend()).unwrap();
            start::given(&mut landmarks, &of_r).unwrap();
            let mut others = Landmarks::new(&ground, other.lend()).unwrap();
            start::given(&mut others, &of_t).unwrap();
            let mut coupled = Coupled::new(landmarks, others);
            assert_eq!(coupled.distance(), 2);
            coupled.step(&mut random).unwrap();
            for (side, before) in [of_r, of_t].iter().enumerate() {
                let after = &coupled.slots[side];
                let gone = before.iter().find(|row| !after.contains(row));
                let come = after.iter().find(|row| !before.contains(row));
                if let (Some(&gone), Some(&come)) = (gone, come) {
                    moves[side][gone][come] += 1;
                }
                let mut members = coupled.chains[side].members().to_vec();
                let mut slots = after.clone();
                members.sort_unstable();
                slots.sort_unstable();
                assert_eq!(members, slots);
            }
        }
        for (side, before) in [of_r, of_t].iter().enumerate() {
            let mut landmarks = Landmarks::new(&ground, one.lend()).unwrap();
            start::given(&mut landmarks, before).unwrap();
            for (place, &gone) in before.iter().enumerate() {
                for come in (0..6).filter(|row| !before.contains(row)) {
                    let swap = landmarks.swap(place, come).unwrap();
                    let p = swap.probability(dpp_nystrom::core::Acceptance::Barker) / 18.0;
                    let expected = f64::from(draws) * p;
                    let off = (f64::from(moves[side][gone][come]) - expected).abs();
                    // Eighteen frequencies within 4.5 standard deviations.
                    assert!(off < 4.5 * expected.sqrt(), "{side}: {gone} to {come}, {off} of {expected}");
                }
            }
        }
    }

    /// In case C1 exactly one of the chains moves, unless the coin holds both, and they meet.
    #[test]
    fn crossing_sets_meet() {
        let entries = [1.0, 0.5, 0.5, 1.0];
        let ground = Matrix::new(&entries).unwrap();
        let mut random = Random::seeded(1);
        for _ in 0..200 {
            let (mut one, mut other) = (Heap::new(1).unwrap(), Heap::new(1).unwrap());
            let mut landmarks = Landmarks::new(&ground, one.lend()).unwrap();
            start::given(&mut landmarks, &[0]).unwrap();
            let mut others = Landmarks::new(&ground, other.lend()).unwrap();
            start::given(&mut others, &[1]).unwrap();
            let mut coupled = Coupled::new(landmarks, others);
            let mut once = random.clone();
            once.next_u32();
            coupled.step(&mut random).unwrap();
            let held = random == once;
            assert_eq!(coupled.distance(), usize::from(held));
        }
    }

    #[test]
    fn chains_meet_and_stay_within_the_limit() {
        let ground = Points::new(&ROWS, 1, Gaussian::new(0.8).unwrap()).unwrap();
        let times = coalescence_times(&ground, 3, 20, 100_000, 3).unwrap();
        assert!(times.iter().all(Option::is_some), "{times:?}");
        assert_eq!(times, coalescence_times(&ground, 3, 20, 100_000, 3).unwrap());
        let short = coalescence_times(&ground, 3, 20, 1, 3).unwrap();
        for (time, short) in times.iter().zip(short) {
            assert_eq!(short, time.filter(|&time| time <= 1));
        }
    }
}
