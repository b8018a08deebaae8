//! The time of a try as the number of rows grows: only the cache misses increase.

use crate::data::generated;
use crate::report::Report;
use crate::timing::Times;
use crate::{Error, Request};
use dpp_nystrom::kernel::{KernelKind, median_distance};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{Acceptance, Error as CoreError, Landmarks, Points, Random, SlotChain, start};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_host::simd::Lanes;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region};

const COUNTS: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
const WIDTH: usize = 8;
const LANDMARKS: usize = 50;
const TRIES: u64 = 16_384;

const HEADS: &[&str] = &["time/10^4", "       N", "chain ns", "accepted", "allocated bytes"];

fn refused(reason: CoreError) -> Error {
    Error::landmarks(reason)
}

pub(crate) fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = "time to a try as the rows grow, and bytes allocated beside them by start and chain together; d = 8, \
                 c = 50, f32, sigma = 1 median";
    let mut table = report.table("rows", title, HEADS);
    let rows: Vec<f32> = generated(COUNTS[3], WIDTH, 1);
    let sigma = median_distance(&generated::<f64>(1_000, WIDTH, 1), WIDTH, KernelKind::Gaussian, 0)?;
    let kernel: ChosenKernel<f32> = KernelKind::Gaussian.build(sigma)?;
    let mut grounds = Vec::new();
    for count in COUNTS {
        grounds.push(Points::new(&rows[..count * WIDTH], WIDTH, kernel)?);
    }
    let mut allocated = Vec::new();
    let mut memories = Vec::new();
    for _ in COUNTS {
        memories.push(Heap::new(LANDMARKS)?);
    }
    for ground in &grounds {
        let region = Region::new(&INSTRUMENTED_SYSTEM);
        let mut memory = Heap::new(LANDMARKS)?;
        let mut random = Random::seeded(2);
        let mut chain = chain(ground, &mut memory, &mut random)?;
        chain.run(TRIES, &mut random).map_err(refused)?;
        allocated.push(region.change().bytes_allocated);
    }
    let mut chains = Vec::new();
    for (ground, memory) in grounds.iter().zip(&mut memories) {
        let mut random = Random::seeded(2);
        let chain = chain(ground, memory, &mut random)?;
        chains.push((chain, random));
    }
    let mut candidates: Vec<_> = chains
        .iter_mut()
        .map(|(chain, random)| move |_| chain.run(TRIES, random).map(drop).map_err(refused))
        .collect();
    let mut candidates: Vec<&mut dyn FnMut(u64) -> Result<(), Error>> =
        candidates.iter_mut().map(|candidate| candidate as _).collect();
    let times = Times::interleaved(if request.quick { 11 } else { 61 }, &mut candidates)?;
    for (at, ((chain, _), count)) in chains.iter().zip(COUNTS).enumerate() {
        let progress = chain.progress();
        table.row(&[
            times.ratio(at, 0).into(),
            count.into(),
            (times.seconds(at) * 1e9 / TRIES as f64).into(),
            (progress.accepted as f64 / progress.proposed as f64).into(),
            allocated[at].into(),
        ]);
    }
    Ok(())
}

type Ground<'g> = Points<'g, f32, ChosenKernel<f32>>;

fn chain<'g>(
    ground: &'g Ground<'g>,
    memory: &'g mut Heap<f32>,
    random: &mut Random,
) -> Result<SlotChain<'g, f32, Ground<'g>, Lanes<f32>>, Error> {
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    start::uniform(&mut landmarks, LANDMARKS, random).map_err(refused)?;
    let lanes = Lanes::new(LANDMARKS, WIDTH)?;
    Ok(SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(lanes))
}
