//! Chains from uniform starts, and the mixing diagnostics of their log-determinants.

use crate::approximation::features::Ground;
use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::convergence::{autocorrelation_time, mean, split_r_hat};
use crate::rng::{RngStream, stream};
use crate::simd::lanes::Lanes;
use dpp_nystrom_core::{
    Acceptance, Chain, Error as CoreError, Landmarks, Progress, Rule, SlotChain, Step, start,
};
use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// Several chains of one kind, with the first half of each discarded as burn-in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainRecord {
    /// `paper` for Algorithm 1, or `slot`.
    pub chain: &'static str,
    /// Number of chains.
    pub chains: u64,
    /// Steps per chain; tries, for the slot chain.
    pub steps: u64,
    /// Accepted swaps over proposed ones.
    pub acceptance: f64,
    /// Integrated autocorrelation time of the log-determinant, in steps, by Geyer's initial monotone sequence
    /// over all chains; none if no chain moved.
    pub autocorrelation_steps: Option<f64>,
    /// Effective sample size: recorded entries over their autocorrelation time.
    pub effective_samples: Option<f64>,
    /// Split R̂ of the log-determinant; none if it is infinite or no chain moved.
    pub r_hat: Option<f64>,
    /// The mean of the log-determinant.
    pub log_det: f64,
    /// Seconds for all chains together, one thread per chain.
    pub seconds: f64,
}

/// One chain's trace: the log-determinant, recorded at a fixed interval.
struct Run {
    log_dets: Vec<f64>,
    proposed: u64,
    accepted: u64,
    seconds: f64,
}

impl Run {
    fn new(log_dets: Vec<f64>, progress: Progress, begin: Instant) -> Self {
        let Progress { proposed, accepted, .. } = progress;
        Self { log_dets, proposed, accepted, seconds: begin.elapsed().as_secs_f64() }
    }
}

/// Run Algorithm 1 and the slot chain (Metropolis-within-Gibbs with a systematic scan).
pub(crate) fn record(
    ground: &Ground<'_>,
    c: usize,
    chains: u64,
    steps: u64,
    seed: u64,
) -> Result<[ChainRecord; 2], Error> {
    let every = |run: &(dyn Fn(u64) -> Result<Run, Error> + Sync)| -> Result<Vec<Run>, Error> {
        (0..chains).into_par_iter().map(|chain| run(seed.wrapping_add(chain))).collect()
    };
    let paper = every(&|seed| paper(ground, c, steps, seed))?;
    let slot = every(&|seed| slot(ground, c, steps, seed))?;
    Ok([summary("paper", steps, &paper), summary("slot", steps, &slot)])
}

fn refused(reason: CoreError) -> Error {
    Error::Landmarks { reason }
}

fn paper(ground: &Ground<'_>, c: usize, steps: u64, seed: u64) -> Result<Run, Error> {
    let mut random = stream(seed, RngStream::Chains);
    let mut memory = Heap::new(c)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    start::uniform(&mut landmarks, c, &mut random).map_err(refused)?;
    let begin = Instant::now();
    let mut log_det = landmarks.log_det();
    let mut chain = Chain::new(landmarks, Rule::ALGORITHM_1);
    let mut log_dets = Vec::new();
    for _ in 0..steps {
        if let Step::Accepted { .. } = chain.step(&mut random).map_err(refused)? {
            log_det = chain.landmarks().log_det();
        }
        log_dets.push(log_det);
    }
    Ok(Run::new(log_dets, chain.progress(), begin))
}

fn slot(ground: &Ground<'_>, c: usize, steps: u64, seed: u64) -> Result<Run, Error> {
    let mut random = stream(seed, RngStream::Chains);
    let mut memory = Heap::new(c)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    start::uniform(&mut landmarks, c, &mut random).map_err(refused)?;
    let begin = Instant::now();
    let lanes = Lanes::new(c, ground.features())?;
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(lanes);
    let mut log_dets = Vec::new();
    while chain.progress().steps < steps {
        chain.step(steps - chain.progress().steps, &mut random).map_err(refused)?;
        log_dets.push(chain.log_det());
    }
    Ok(Run::new(log_dets, chain.progress(), begin))
}

fn summary(chain: &'static str, steps: u64, runs: &[Run]) -> ChainRecord {
    let mut parts: Vec<&[f64]> = Vec::new();
    for run in runs {
        let (_, later) = run.log_dets.split_at(run.log_dets.len() / 2);
        let (third, fourth) = later.split_at(later.len() / 2);
        parts.extend([third, fourth]);
    }
    let log_det = mean(&parts.concat());
    let entries: usize = parts.iter().map(|part| part.len()).sum();
    let moves = runs.iter().map(|run| run.log_dets.len()).max().unwrap_or(1);
    let (proposed, accepted) = runs
        .iter()
        .fold((0, 0), |(proposed, accepted), run| (proposed + run.proposed, accepted + run.accepted));
    // The rest is rounding error.
    let parts = if accepted > 0 { parts } else { Vec::new() };
    let time = autocorrelation_time(&parts);
    ChainRecord {
        chain,
        chains: runs.len() as u64,
        steps,
        acceptance: accepted as f64 / proposed.max(1) as f64,
        autocorrelation_steps: time.map(|time| time * steps as f64 / moves as f64),
        effective_samples: time.map(|time| entries as f64 / time),
        r_hat: Some(split_r_hat(&parts)).filter(|r_hat| r_hat.is_finite()),
        log_det,
        seconds: runs.iter().map(|run| run.seconds).sum(),
    }
}
