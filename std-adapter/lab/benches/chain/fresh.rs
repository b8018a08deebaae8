//! Algorithm 1 with fresh determinants: every proposal factors `K_YY`, `c³/6` multiply-adds.
//!
//! The entries of `K_YY` are stored, so that a step evaluates only `c` kernel entries.

use dpp_nystrom_core::{Acceptance, Cholesky, Error as CoreError, GroundSet, Random, Scalar, Swap};
use dpp_nystrom_host::heap::Heap;
use rand_core::Rng;

pub(crate) struct Fresh<'g, G> {
    ground: &'g G,
    members: Vec<usize>,
    /// The lower triangle of `K_YY`, row by row.
    entries: Vec<Vec<f64>>,
    memory: Heap<f64>,
    log_det: f64,
}

impl<'g, G: GroundSet<f64>> Fresh<'g, G> {
    pub(crate) fn new(ground: &'g G, members: &[usize]) -> Result<Self, dpp_nystrom::Error> {
        let entries = members
            .iter()
            .enumerate()
            .map(|(at, &row)| members[..at].iter().map(|&other| ground.entry(row, other)).collect())
            .collect();
        let memory = Heap::new(members.len())?;
        let mut fresh = Self { ground, members: members.to_vec(), entries, memory, log_det: 0.0 };
        fresh.log_det = fresh.determinant().map_err(dpp_nystrom::Error::landmarks)?;
        Ok(fresh)
    }

    fn determinant(&mut self) -> Result<f64, CoreError> {
        let mut factor = Cholesky::new(self.memory.lend().factor)?;
        for (row, &member) in self.entries.iter().zip(&self.members) {
            factor.append(row, self.ground.diagonal(member))?;
        }
        Ok(factor.log_det())
    }

    /// Make one lazy step with acceptance `r/(1 + r)`.
    pub(crate) fn step(&mut self, random: &mut Random) {
        if random.next_u32() >> 31 == 0 {
            return;
        }
        let slot = random.next_u32() as usize % self.members.len();
        let entering = random.next_u32() as usize % self.ground.len();
        let uniform = f64::from_draw(random.next_u32());
        if self.members.contains(&entering) {
            return;
        }
        let leaving = self.members[slot];
        let mut column = vec![0.0; self.members.len()];
        for (entry, &member) in column.iter_mut().zip(&self.members) {
            *entry = self.ground.entry(entering, member);
        }
        self.members[slot] = entering;
        self.swap_entries(slot, &mut column);
        let log_det = self.determinant().unwrap_or(f64::NEG_INFINITY);
        let swap = Swap { entering: (log_det - self.log_det).exp(), leaving: 1.0 };
        if uniform < swap.probability(Acceptance::Barker) {
            self.log_det = log_det;
        } else {
            self.swap_entries(slot, &mut column);
            self.members[slot] = leaving;
        }
    }

    /// Swap a member's entries with the others for those in `column`.
    fn swap_entries(&mut self, slot: usize, column: &mut [f64]) {
        for (at, entry) in column.iter_mut().enumerate() {
            if at != slot {
                std::mem::swap(&mut self.entries[at.max(slot)][at.min(slot)], entry);
            }
        }
    }
}
