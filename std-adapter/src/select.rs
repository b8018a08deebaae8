//! Landmarks from rows.

use crate::heap::zeros;
use crate::meter::Meter;
use crate::seeds::{Stream, stream};
use crate::{Error, Heap};
use dpp_nystrom_core::{Chain, GroundSet, Landmarks, Random, Rule, Scalar, start};
use std::time::Instant;

/// Steps between two looks at the meter.
const STRIDE: u64 = 1_024;

/// How landmarks are selected.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// The chain of a c-DPP, from a start.
    Kdpp {
        /// Where it starts.
        start: Start,
        /// Which chain.
        rule: Rule,
        /// How many steps.
        steps: u64,
    },
    /// A start alone: rows drawn uniformly, or k-means++ seeds.
    Start(Start),
    /// These rows.
    Given(Vec<usize>),
}

/// A first set of landmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The seeds of k-means++, as the paper starts.
    KmeansPlusPlus,
    /// Rows drawn uniformly.
    Uniform,
}

/// What was selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The rows, counted from 0, in ascending order.
    pub landmarks: Vec<usize>,
    /// `log det K_CC`.
    pub log_det: f64,
    /// Steps taken.
    pub steps: u64,
    /// Swaps accepted.
    pub accepted: u64,
    /// Seconds for the start and the steps.
    pub seconds: f64,
}

/// Selects `c` landmarks of a ground set; ground sets of any storage, `f32` or `f64`.
///
/// # Errors
/// [`Error::Landmarks`] with the core's reason, [`Error::Memory`].
pub fn select<T, G>(
    ground: &G,
    c: usize,
    method: &Method,
    seed: u64,
    meter: &dyn Meter,
) -> Result<Selection, Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
{
    if c > ground.len() {
        let reason = dpp_nystrom_core::Error::TooManyLandmarks { landmarks: c, rows: ground.len() };
        return Err(Error::Landmarks { reason });
    }
    let begin = Instant::now();
    let mut random = stream(seed, Stream::Landmarks);
    let mut memory = Heap::new(c)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    let mut progress = Default::default();
    match method {
        Method::Kdpp { start, rule, steps } => {
            first(&mut landmarks, c, *start, &mut random)?;
            let mut chain = Chain::new(landmarks, *rule);
            meter.begin("chain", *steps);
            let mut left = *steps;
            while left > 0 {
                let steps = left.min(STRIDE);
                progress = chain.run(steps, &mut random).map_err(refused)?;
                meter.advance(steps);
                left -= steps;
            }
            meter.end();
            landmarks = chain.into_landmarks();
        }
        Method::Start(start) => first(&mut landmarks, c, *start, &mut random)?,
        Method::Given(rows) => start::given(&mut landmarks, rows).map_err(refused)?,
    }
    let seconds = begin.elapsed().as_secs_f64();
    let log_det = landmarks.log_det().to_f64();
    let mut landmarks = landmarks.members().to_vec();
    landmarks.sort_unstable();
    Ok(Selection { landmarks, log_det, steps: progress.steps, accepted: progress.accepted, seconds })
}

fn first<T, G>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    start: Start,
    random: &mut Random,
) -> Result<(), Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
{
    match start {
        Start::Uniform => start::uniform(landmarks, c, random),
        Start::KmeansPlusPlus => {
            let mut distances = zeros(landmarks.ground().len(), T::ZERO)?;
            start::kmeans_plus_plus(landmarks, c, &mut distances, random)
        }
    }
    .map_err(refused)
}

fn refused(reason: dpp_nystrom_core::Error) -> Error {
    Error::Landmarks { reason }
}
