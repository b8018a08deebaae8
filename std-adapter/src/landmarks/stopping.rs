//! When a chain has converged.
//!
//! Two chains run beside each other from unlike starts: the one asked for, and one from randomly pivoted
//! Cholesky, which has read every row (or uniform rows, if pivoted Cholesky is the one asked for). Their
//! log-determinants are recorded, and compared when the run has doubled: the later half of each
//! record is split in two, and the chains have converged when the split R̂ of the four parts (Gelman et al., *Bayesian Data
//! Analysis*, 3rd ed., §11.4) is at most [`CONVERGED`].
//!
//! One chain's record alone would not do. Where a few rare rows carry the error, a chain that proposes
//! uniformly looks settled until it meets them, after about `n` tries; the pivoted one has them from the
//! start, and the two disagree until the other has found them too. (Over more rows than its memory has
//! room for, the pivoted one reads a sample: rows rarer than that can escape both.)

use crate::error::Error;
use crate::landmarks::convergence::split_r_hat;
use crate::observer::Observer;
use dpp_nystrom_core::{Evaluate, GroundSet, Random, Scalar, SlotChain};

/// The largest split R̂ of chains that have converged.
const CONVERGED: f64 = 1.05;

/// Tries before the first look, for each landmark.
const FIRST: u64 = 32;

/// The most tries: at least a million, else as many as ten for each row.
fn most_tries(rows: usize) -> u64 {
    (rows as u64).saturating_mul(10).max(1_000_000)
}

/// A chain with its generator and its record.
pub(crate) struct Recorded<'a, T: Scalar, G: GroundSet<T> + ?Sized, E> {
    pub(crate) chain: SlotChain<'a, T, G, E>,
    pub(crate) random: Random,
    record: Vec<f64>,
}

impl<'a, T: Scalar, G: GroundSet<T> + ?Sized, E: Evaluate<T, G>> Recorded<'a, T, G, E> {
    pub(crate) fn new(chain: SlotChain<'a, T, G, E>, random: Random) -> Self {
        Self { chain, random, record: Vec::new() }
    }

    fn run_to(&mut self, tries: u64) -> Result<(), dpp_nystrom_core::Error> {
        while self.chain.progress().steps < tries {
            let left = tries - self.chain.progress().steps;
            self.chain.step(left, &mut self.random)?;
            self.record.push(self.chain.log_det().to_f64());
        }
        Ok(())
    }

    /// The two quarters of the record that are its later half.
    fn quarters(&self) -> [&[f64]; 2] {
        let (_, later) = self.record.split_at(self.record.len() / 2);
        let (third, fourth) = later.split_at(later.len() / 2);
        [third, fourth]
    }
}

/// Run both until they converge; return whether they did, and not run out of tries.
pub(crate) fn run_until_converged<T, G, E>(
    asked: &mut Recorded<'_, T, G, E>,
    other: &mut Recorded<'_, T, G, E>,
    observer: &dyn Observer,
) -> Result<bool, Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
    E: Evaluate<T, G>,
{
    let landmarks = asked.chain.landmarks();
    let most = most_tries(landmarks.ground().len());
    let mut tries = FIRST * landmarks.len() as u64;
    observer.begin("chains", most);
    let converged = loop {
        asked
            .run_to(tries)
            .and_then(|()| other.run_to(tries))
            .map_err(|reason| Error::Landmarks { reason })?;
        observer.advance(tries / 2);
        let [a, b] = asked.quarters();
        let [c, d] = other.quarters();
        if split_r_hat(&[a, b, c, d]) <= CONVERGED {
            break true;
        }
        if tries >= most {
            break false;
        }
        tries = (2 * tries).min(most);
    };
    observer.end();
    Ok(converged)
}
