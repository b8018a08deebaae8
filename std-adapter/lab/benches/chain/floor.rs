//! Nanoseconds per try compared with the minimum arithmetic of a full try.
//!
//! The floor is the time of a full try's operations at the measured peak rate: for each of the `c - 1` others
//! a kernel entry (`d` subtractions, `d` multiply-adds, and the operations of the exponential with [`Lane`]'s
//! constants), and the substitution's `(c - 1)(c - 2)/2 + 2(c - 1)` multiply-adds. It excludes opening slots
//! and drawing rows. `full` tries use one open slot, and the last candidate of every block has a uniform
//! variate of zero, so that no block stops early; `chain` includes everything: early rejection, opening
//! slots, random numbers and refactoring.

use crate::data::generated;
use crate::peak::multiply_adds;
use crate::report::{Report, Table};
use crate::timing::Times;
use crate::{Error, Request};
use dpp_nystrom::kernel::{KernelKind, median_distance};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{
    Acceptance, Error as CoreError, Evaluate, Landmarks, OpenSlot, Points, Progress, Proposal, Random,
    SlotChain, TRIES, start,
};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_host::simd::{Lane, Lanes};
use pulp::Arch;
use rand_core::Rng;

const ROWS: usize = 12_000;

/// Operations of the exponential besides its polynomial: a product, a maximum, four to reduce, three to
/// scale.
const REDUCTION: usize = 9;

const HEADS: &[&str] = &[
    "chain/floor",
    "full/floor",
    "   c",
    " d",
    "sigma",
    "numbers",
    "floor ns",
    "chain ns",
    "full ns",
    "accepted",
    "peak fma/ns",
];

/// Return the operations of a full try.
fn operations<T: Lane>(c: usize, d: usize) -> f64 {
    let others = c - 1;
    let entry = 2 * d + REDUCTION + T::TAYLOR.len() - 1;
    (others * entry + others * (others - 1) / 2 + 2 * others) as f64
}

pub(crate) fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = "time to a try of the slot chain over that of its arithmetic at the measured peak; generated rows, \
                 sigma in medians";
    let mut table = report.table("floor", title, HEADS);
    for (d, medians) in [(8, 1.0), (8, 3.0), (40, 1.0)] {
        for c in [16, 50, 200, 1_000] {
            if medians > 1.0 && c > 50 {
                continue;
            }
            case::<f32>(request, &mut table, c, d, medians, "f32")?;
            case::<f64>(request, &mut table, c, d, medians, "f64")?;
        }
    }
    Ok(())
}

fn refused(reason: CoreError) -> Error {
    Error::landmarks(reason)
}

fn case<T: Lane>(
    request: &Request,
    table: &mut Table<'_>,
    c: usize,
    d: usize,
    medians: f64,
    numbers: &str,
) -> Result<(), Error> {
    let sigma = medians * median_distance(&generated::<f64>(1_000, d, 1), d, KernelKind::Gaussian, 0)?;
    let rows: Vec<T> = generated(ROWS, d, 1);
    let kernel: ChosenKernel<T> = KernelKind::Gaussian.build(sigma)?;
    let ground = Points::new(&rows, d, kernel)?;
    let mut random = Random::seeded(2);
    let (mut memory, mut other_memory) = (Heap::new(c)?, Heap::new(c)?);
    let mut landmarks = Landmarks::new(&ground, memory.lend()).map_err(refused)?;
    start::uniform(&mut landmarks, c, &mut random).map_err(refused)?;
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(Lanes::<T>::new(c, d)?);
    chain.run(40 * c as u64, &mut random).map_err(refused)?;

    // A second copy of the landmarks, for tries at one slot.
    let members = chain.landmarks().members().to_vec();
    let mut again = Landmarks::new(&ground, other_memory.lend()).map_err(refused)?;
    start::given(&mut again, &members).map_err(refused)?;
    let mut open = OpenSlot::new(&mut again, c - 1, Acceptance::Metropolis).map_err(refused)?;
    let mut lanes = Lanes::<T>::new(c, d)?;
    let mut other_random = Random::seeded(3);

    let operations = operations::<T>(c, d);
    // About a millisecond at the floor's rate, and some opened slots.
    let tries = ((4e7 / operations) as u64).clamp(128, 16_384) / TRIES as u64 * TRIES as u64;
    let before = chain.progress();
    let arch = Arch::new();
    let rounds = 20_000;
    let made = multiply_adds::<T>(arch, 1) as f64 * rounds as f64;
    let repetitions = if request.quick { 11 } else { 41 };
    let times = Times::interleaved(
        repetitions,
        &mut [
            &mut |_| {
                multiply_adds::<T>(arch, rounds);
                Ok(())
            },
            &mut |_| chain.run(tries, &mut random).map(drop),
            &mut |_| {
                for _ in 0..tries / TRIES as u64 {
                    let mut proposals = [Proposal::default(); TRIES];
                    for proposal in &mut proposals {
                        let entering = other_random.next_u32() as usize % ROWS;
                        *proposal = Proposal { entering, uniform: T::ONE - T::EPSILON };
                    }
                    proposals[TRIES - 1].uniform = T::ZERO;
                    lanes.evaluate(&mut open, &proposals)?;
                }
                Ok::<(), CoreError>(())
            },
        ],
    )
    .map_err(refused)?;
    let progress = chain.progress();
    let per_try = 1e9 / tries as f64;
    // Time of the tries at the peak rate, over the time of the peak measurement.
    let floor = tries as f64 * operations / made;
    table.row(&[
        (times.ratio(1, 0) / floor).into(),
        (times.ratio(2, 0) / floor).into(),
        c.into(),
        d.into(),
        medians.into(),
        numbers.into(),
        (times.seconds(0) * floor * per_try).into(),
        (times.seconds(1) * per_try).into(),
        (times.seconds(2) * per_try).into(),
        share(before, progress).into(),
        (made / times.seconds(0) / 1e9).into(),
    ]);
    Ok(())
}

fn share(before: Progress, after: Progress) -> f64 {
    (after.accepted - before.accepted) as f64 / (after.proposed - before.proposed) as f64
}
