//! Convergence check for the chains of a c-DPP.
//!
//! Two chains run side by side from different starts: the requested one, and one from randomly pivoted
//! Cholesky, which reads every row. If the requested start is pivoted Cholesky, the second chain starts from
//! uniform rows. The log-determinant of each chain is recorded. Whenever the run length has doubled, the
//! later half of each record is split in two. The chains have converged when the split R̂ of the four parts
//! (Gelman et al., *Bayesian Data Analysis*, 3rd ed., §11.4) is at most [`Convergence::LIMIT`].
//!
//! The record of a single chain is not enough. If the error is concentrated in a few rare rows, a chain with
//! uniform proposals looks stationary until it proposes them, after about `n` tries. The chain from the
//! pivoted start contains them from the beginning, so the two disagree until the other has found them too. If
//! there are too many rows for its memory, the pivoted start reads a sample; both chains can then fail to
//! find rows too rare for the sample.

use crate::error::Error;
use crate::landmarks::convergence::{Convergence, quarters, split_r_hat};
use crate::observer::{Observer, go_on};
use dpp_nystrom_core::{Acceptance, Evaluate, GroundSet, Landmarks, Random, Scalar, SlotChain};

/// Tries per landmark before the first check.
const FIRST: u64 = 32;

/// A chain with its generator and the record of its log-determinants.
pub(crate) struct Recorded<'a, T: Scalar, G: GroundSet<T> + ?Sized, E> {
    pub(crate) chain: SlotChain<'a, T, G, E>,
    random: Random,
    pub(crate) record: Vec<f64>,
}

impl<'a, T: Scalar, G: GroundSet<T> + ?Sized, E: Evaluate<T, G>> Recorded<'a, T, G, E> {
    pub(crate) fn new(landmarks: Landmarks<'a, T, G>, evaluator: E, random: Random) -> Self {
        let chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(evaluator);
        Self { chain, random, record: Vec::new() }
    }

    /// Run up to this number of tries in total.
    pub(crate) fn run_to(&mut self, tries: u64, observer: &dyn Observer) -> Result<(), Error> {
        while self.chain.progress().steps < tries {
            go_on(observer)?;
            let left = tries - self.chain.progress().steps;
            self.chain.step(left, &mut self.random).map_err(Error::landmarks)?;
            self.record.push(self.chain.log_det().to_f64());
        }
        Ok(())
    }
}

/// Run both chains until they converge, or to the maximum number of tries.
pub(crate) fn run_until_converged<T: Scalar, G: GroundSet<T> + ?Sized, E: Evaluate<T, G>>(
    asked: &mut Recorded<'_, T, G, E>,
    other: &mut Recorded<'_, T, G, E>,
    observer: &dyn Observer,
) -> Result<Convergence, Error> {
    let landmarks = asked.chain.landmarks();
    // The maximum number of tries: ten per row, and at least a million.
    let most = (landmarks.ground().len() as u64).saturating_mul(10).max(1_000_000);
    let mut tries = FIRST * landmarks.len() as u64;
    observer.begin("chains", most);
    let convergence = loop {
        asked.run_to(tries, observer)?;
        other.run_to(tries, observer)?;
        observer.advance(tries / 2);
        let parts = [quarters(&asked.record), quarters(&other.record)];
        let r_hat = split_r_hat(parts.as_flattened());
        let converged = r_hat <= Convergence::LIMIT;
        if converged || tries >= most {
            break Convergence { converged, r_hat };
        }
        tries = (2 * tries).min(most);
    };
    observer.end();
    Ok(convergence)
}
