//! Chains from uniform starts, and the mixing diagnostics of their log-determinants.

use crate::rng::{Stream, stream};
use crate::statistics::Interval;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::AnyGround;
use dpp_nystrom::core::{Chain, Landmarks, Progress, Random, Rule, Step, start};
use dpp_nystrom::landmarks::convergence::{autocorrelation_time, quarters, split_r_hat};
use dpp_nystrom::landmarks::slot_chain;
use dpp_nystrom::observer::{Observer, go_on};
use dpp_nystrom_host::heap::Heap;
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
    /// The mean of the log-determinant, and its standard error by the effective sample size: NaN if no chain
    /// moved.
    pub log_det: Interval,
    /// Seconds for all chains together, one thread per chain.
    pub seconds: f64,
}

/// One chain's trace: the log-determinant, recorded at a fixed interval.
struct Run {
    log_dets: Vec<f64>,
    progress: Progress,
    seconds: f64,
}

/// Runs a chain from these landmarks for a number of steps, and returns its log-determinants and counts.
type Follow =
    fn(Landmarks<'_, f64, AnyGround<'_>>, u64, Random, &dyn Observer) -> Result<(Vec<f64>, Progress), Error>;

/// Run Algorithm 1 and the slot chain (Metropolis-within-Gibbs with a systematic scan).
pub(super) fn record(
    ground: &AnyGround<'_>,
    c: usize,
    chains: u64,
    steps: u64,
    seed: u64,
    observer: &dyn Observer,
) -> Result<[ChainRecord; 2], Error> {
    let every = |follow: Follow| -> Result<Vec<Run>, Error> {
        let run = |chain| {
            let mut random = stream(seed.wrapping_add(chain), Stream::Chains);
            let mut memory = Heap::new(c)?;
            let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(Error::landmarks)?;
            start::uniform(&mut landmarks, c, &mut random).map_err(Error::landmarks)?;
            let begin = Instant::now();
            let (log_dets, progress) = follow(landmarks, steps, random, observer)?;
            Ok(Run { log_dets, progress, seconds: begin.elapsed().as_secs_f64() })
        };
        (0..chains).into_par_iter().map(run).collect()
    };
    Ok([summary("paper", steps, &every(paper)?), summary("slot", steps, &every(slot)?)])
}

fn paper(
    landmarks: Landmarks<'_, f64, AnyGround<'_>>,
    steps: u64,
    mut random: Random,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, Progress), Error> {
    let mut log_det = landmarks.log_det();
    let mut chain = Chain::new(landmarks, Rule::ALGORITHM_1);
    let mut log_dets = Vec::new();
    for _ in 0..steps {
        go_on(observer)?;
        if let Step::Accepted { .. } = chain.step(&mut random).map_err(Error::landmarks)? {
            log_det = chain.landmarks().log_det();
        }
        log_dets.push(log_det);
    }
    Ok((log_dets, chain.progress()))
}

fn slot(
    landmarks: Landmarks<'_, f64, AnyGround<'_>>,
    steps: u64,
    mut random: Random,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, Progress), Error> {
    let mut chain = slot_chain(landmarks)?;
    let mut log_dets = Vec::new();
    while chain.progress().steps < steps {
        go_on(observer)?;
        chain.step(steps - chain.progress().steps, &mut random).map_err(Error::landmarks)?;
        log_dets.push(chain.log_det());
    }
    Ok((log_dets, chain.progress()))
}

fn summary(chain: &'static str, steps: u64, runs: &[Run]) -> ChainRecord {
    let parts: Vec<&[f64]> = runs.iter().flat_map(|run| quarters(&run.log_dets)).collect();
    let all = parts.concat();
    let entries = all.len() as f64;
    let moves = runs.iter().map(|run| run.log_dets.len()).max().unwrap_or(1);
    let proposed: u64 = runs.iter().map(|run| run.progress.proposed).sum();
    let accepted: u64 = runs.iter().map(|run| run.progress.accepted).sum();
    // The rest is rounding error.
    let parts = if accepted > 0 { parts } else { Vec::new() };
    let effective = autocorrelation_time(&parts).map(|time| entries / time);
    ChainRecord {
        chain,
        chains: runs.len() as u64,
        steps,
        acceptance: accepted as f64 / proposed.max(1) as f64,
        autocorrelation_steps: effective.map(|samples| entries / samples * steps as f64 / moves as f64),
        effective_samples: effective,
        r_hat: Some(split_r_hat(&parts)).filter(|r_hat| r_hat.is_finite()),
        log_det: Interval::effective(&all, effective),
        seconds: runs.iter().map(|run| run.seconds).sum(),
    }
}
