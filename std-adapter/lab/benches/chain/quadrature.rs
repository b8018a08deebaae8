//! A swap decided by quadrature, compared with the factor that a chain keeps and with a new factorisation.
//!
//! Quadrature receives the kernel matrix and the range of its eigenvalues, which is computed once for all
//! proposals up to an accepted one. The kept factor computes the kernel entries that it needs; the new
//! factorisation reads the matrix. Swaps are drawn as by the chain, at landmarks that it reached.

use crate::data::generated;
use crate::report::Report;
use crate::timing::Times;
use crate::{Error, Request};
use dpp_nystrom::kernel::{KernelKind, median_distance};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{
    Acceptance, Error as CoreError, GroundSet, Landmarks, Matrix, Points, Random, Scalar, SlotChain, start,
};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_lab::theory::quadrature::{Range, Side, decide};
use rand_core::Rng;

const ROWS: usize = 3_000;
const WIDTH: usize = 8;

const HEADS: &[&str] = &[
    "   c",
    "sigma",
    "products",
    "undecided",
    "quadrature us",
    "kept factor us",
    "factor anew us",
    "over kept",
    "over anew",
];

/// A swap, with the kernel matrix of the remaining members.
struct Proposed {
    slot: usize,
    entering: usize,
    threshold: f64,
    matrix: Vec<f64>,
    range: Range,
    enters: Vec<f64>,
    leaves: Vec<f64>,
}

fn refused(reason: CoreError) -> Error {
    Error::landmarks(reason)
}

pub(crate) fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = "a swap decided by Gauss-Radau bounds, by the chain's factor, and by a new factorisation; generated \
                 rows, sigma in medians";
    let mut table = report.table("quadrature", title, HEADS);
    let rows: Vec<f64> = generated(ROWS, WIDTH, 1);
    for medians in [0.3, 1.0, 3.0] {
        let median = median_distance(&generated::<f64>(1_000, WIDTH, 1), WIDTH, KernelKind::Gaussian, 0)?;
        let kernel: ChosenKernel<f64> = KernelKind::Gaussian.build(medians * median)?;
        let ground = Points::new(&rows, WIDTH, kernel)?;
        for c in [20, 50, 100, 200, 400, 800] {
            if request.quick && c > 200 {
                continue;
            }
            let mut random = Random::seeded(2);
            let mut memory = Heap::new(c)?;
            let mut landmarks = Landmarks::new(&ground, memory.lend()).map_err(refused)?;
            start::uniform(&mut landmarks, c, &mut random).map_err(refused)?;
            let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
            chain.run(4 * c as u64, &mut random).map_err(refused)?;
            let mut landmarks = chain.into_landmarks();
            let swaps: Vec<Proposed> =
                (0..12).map(|_| proposed(&mut landmarks, &mut random)).collect::<Result<_, _>>()?;

            let (mut products, mut undecided) = (0, 0);
            for swap in &swaps {
                let decision = by_quadrature(swap)?;
                products += decision.products;
                undecided += usize::from(decision.exceeds.is_none());
            }
            let mut fresh = Heap::new(c - 1)?;
            let all: Vec<usize> = (0..c - 1).collect();
            let repetitions = if request.quick { 3 } else { 7 };
            let times = Times::interleaved::<Error>(
                repetitions,
                &mut [
                    &mut |_| swaps.iter().try_for_each(|swap| by_quadrature(swap).map(drop)),
                    &mut |_| {
                        let mut taken = |swap: &Proposed| landmarks.swap(swap.slot, swap.entering).map(drop);
                        swaps.iter().try_for_each(&mut taken).map_err(refused)
                    },
                    &mut |_| {
                        swaps
                            .iter()
                            .try_for_each(|swap| {
                                let matrix = Matrix::new(&swap.matrix)?;
                                let mut anew = Landmarks::new(&matrix, fresh.lend())?;
                                start::given(&mut anew, &all)?;
                                for column in [&swap.enters, &swap.leaves] {
                                    anew.factor().solve_lower(&mut column.clone())?;
                                }
                                Ok(())
                            })
                            .map_err(refused)
                    },
                ],
            )?;
            let each = 1e6 / swaps.len() as f64;
            table.row(&[
                c.into(),
                medians.into(),
                (products as f64 / swaps.len() as f64).into(),
                undecided.into(),
                (times.seconds(0) * each).into(),
                (times.seconds(1) * each).into(),
                (times.seconds(2) * each).into(),
                times.ratio(0, 1).into(),
                times.ratio(0, 2).into(),
            ]);
        }
    }
    Ok(())
}

fn by_quadrature(swap: &Proposed) -> Result<dpp_nystrom_lab::theory::quadrature::Decision, Error> {
    // The kernel is a function of distance: its diagonal is one.
    let [entering, leaving] =
        [&swap.enters, &swap.leaves].map(|column| Side { diagonal: 1.0, column: column.as_slice() });
    decide(&swap.matrix, swap.range, entering, leaving, swap.threshold).map_err(Error::from)
}

fn proposed<G: GroundSet<f64>>(
    landmarks: &mut Landmarks<'_, f64, G>,
    random: &mut Random,
) -> Result<Proposed, Error> {
    let (c, ground) = (landmarks.len(), landmarks.ground());
    loop {
        let slot = random.next_u32() as usize % c;
        let entering = random.next_u32() as usize % ground.len();
        if landmarks.contains(entering) {
            continue;
        }
        let threshold = Acceptance::Metropolis.threshold(f64::from_draw(random.next_u32()), 1.0);
        let leaving = landmarks.members()[slot];
        let stay: Vec<usize> =
            landmarks.members().iter().copied().filter(|&member| member != leaving).collect();
        let column = |row: usize| stay.iter().map(|&member| ground.entry(row, member)).collect();
        let matrix: Vec<f64> =
            stay.iter().flat_map(|&i| stay.iter().map(move |&j| ground.entry(i, j))).collect();
        return Ok(Proposed {
            slot,
            entering,
            threshold,
            range: Range::of(&matrix, landmarks.factor()),
            matrix,
            enters: column(entering),
            leaves: column(leaving),
        });
    }
}
