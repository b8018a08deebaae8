//! Pivoted Cholesky with the features of all rows, and with bounds of their residuals.

use crate::data::generated;
use crate::report::Report;
use crate::timing::Times;
use crate::{Error, Request};
use dpp_nystrom_core::kernel::{ChosenKernel, KernelKind};
use dpp_nystrom_core::{Landmarks, Points, Random};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_host::simd::Lanes;
use std::{cell::RefCell, ops::ControlFlow};

const ROWS: usize = 100_000;

/// Features, and bandwidths over the median distance of uniform features, some `0.8 √d`.
const CASES: [(usize, f64); 4] = [(8, 1.0), (8, 0.25), (128, 1.0), (128, 0.25)];

/// The largest number of landmarks of greedily pivoted Cholesky.
const GREEDY: usize = 500;

const HEADS: &[&str] = &[
    "  d",
    "sigma/median",
    "    c",
    "residual/trace",
    "random: features s",
    "bounds s",
    "bounds/features",
    "greedy: features s",
    "bounds s",
    "bounds/features",
];

pub(crate) fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = "pivoted Cholesky of 100,000 rows, uniform features, Gaussian kernel, f64: the features of all rows kept, or \
                 bounds of their residuals";
    let mut table = report.table("pivots", title, HEADS);
    let counts: &[usize] = if request.quick { &[100] } else { &[100, 500, 1_000] };
    for (width, multiple) in CASES {
        let rows: Vec<f64> = generated(ROWS, width, 1);
        let sigma = multiple * (2.0 * width as f64 / 3.0).sqrt();
        let kernel: ChosenKernel<f64> = KernelKind::Gaussian.build(sigma)?;
        let ground = Points::new(&rows, width, kernel)?;
        for &c in counts {
            let lanes = Lanes::new(c, width)?;
            let mut left = 0.0;
            let mut pivot = |bounds: bool, greedy: bool, seed: u64| {
                let (mut memory, mut random) = (Heap::new(c)?, Random::seeded(seed));
                let mut set = Landmarks::new(&ground, memory.lend())?;
                match (bounds, greedy) {
                    (false, false) => lanes.pivot(&mut set, c, None, &mut random, &|| false)?,
                    (true, false) => {
                        lanes.pivot_by_bounds(&mut set, c, &mut random, &|_| ControlFlow::Continue(()))?;
                    }
                    (false, true) => lanes.pivot_greedily(&mut set, c, &|| false)?,
                    (true, true) => {
                        lanes.pivot_greedily_by_bounds(&mut set, c, &|_| ControlFlow::Continue(()))?;
                    }
                }
                if left == 0.0 {
                    let mut residuals = vec![0.0; ROWS];
                    lanes.residuals(&set, None, &mut residuals, &|| false)?;
                    left = residuals.iter().sum::<f64>() / ROWS as f64;
                }
                Ok::<(), Error>(())
            };
            let pivot = RefCell::new(&mut pivot);
            let run = |bounds, greedy| {
                let pivot = &pivot;
                move |seed| (pivot.borrow_mut())(bounds, greedy, seed)
            };
            let (repetitions, greedy) = if request.quick { (3, 1) } else { (5, 3) };
            let random =
                Times::interleaved(repetitions, &mut [&mut run(false, false), &mut run(true, false)])?;
            // With the features of all rows the largest number takes minutes.
            let greedy = if c <= GREEDY {
                Some(Times::interleaved(greedy, &mut [&mut run(false, true), &mut run(true, true)])?)
            } else {
                None
            };
            table.row(&[
                width.into(),
                multiple.into(),
                c.into(),
                left.into(),
                random.seconds(0).into(),
                random.seconds(1).into(),
                random.ratio(1, 0).into(),
                greedy.as_ref().map(|times| times.seconds(0)).into(),
                greedy.as_ref().map(|times| times.seconds(1)).into(),
                greedy.as_ref().map(|times| times.ratio(1, 0)).into(),
            ]);
        }
    }
    Ok(())
}
