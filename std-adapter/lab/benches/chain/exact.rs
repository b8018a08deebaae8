//! Exact samples: the low-rank form, and the eigenvectors of the whole matrix where there are few rows.

use crate::data::generated;
use crate::report::Report;
use crate::timing::Times;
use crate::{Error, Request};
use dpp_nystrom::landmarks::{ExactKDpp, LowRankKDpp};
use dpp_nystrom_core::{Points, Random, kernel::Linear};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region};
use std::time::Instant;

const COUNTS: [usize; 4] = [2_000, 10_000, 100_000, 1_000_000];
const WIDTH: usize = 128;
const LANDMARKS: usize = 100;

const HEADS: &[&str] = &[
    "       N",
    "first s",
    "further ms",
    "allocated bytes",
    "whole: first s",
    "whole: further ms",
    "further/whole",
];

pub(crate) fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = "exact samples of a c-DPP of N rows of 128 numbers under the linear kernel, c = 100: from the 128 x 128 \
                 matrix, and from the whole one of 2,000 rows";
    let mut table = report.table("exact", title, HEADS);
    let counts = if request.quick { &COUNTS[..3] } else { &COUNTS[..] };
    // What the decomposition allocates once is no part of the first.
    LowRankKDpp::new(&generated::<f64>(COUNTS[0], WIDTH, 1), WIDTH)?;
    for &count in counts {
        let rows: Vec<f64> = generated(count, WIDTH, 1);
        let mut random = Random::seeded(2);
        let region = Region::new(&INSTRUMENTED_SYSTEM);
        let begin = Instant::now();
        let exact = LowRankKDpp::new(&rows, WIDTH)?;
        let sized = exact.with_size(LANDMARKS)?;
        sized.sample(&mut random);
        let (first, allocated) = (begin.elapsed().as_secs_f64(), region.change().bytes_allocated);
        let whole = if count == COUNTS[0] {
            let begin = Instant::now();
            let exact = ExactKDpp::new(&Points::new(&rows, WIDTH, Linear)?)?;
            exact.sample(LANDMARKS, &mut random)?;
            Some((exact, begin.elapsed().as_secs_f64()))
        } else {
            None
        };
        let whole_sized = whole.as_ref().map(|(exact, _)| exact.with_size(LANDMARKS)).transpose()?;
        let (mut one, mut other) = (Random::seeded(3), Random::seeded(3));
        let mut low_rank = |_| {
            sized.sample(&mut one);
            Ok::<(), Error>(())
        };
        let mut of_whole = |_| {
            whole_sized.as_ref().map(|sized| sized.sample(&mut other));
            Ok::<(), Error>(())
        };
        let times =
            Times::interleaved(if request.quick { 11 } else { 61 }, &mut [&mut low_rank, &mut of_whole])?;
        table.row(&[
            count.into(),
            first.into(),
            (times.seconds(0) * 1e3).into(),
            allocated.into(),
            whole.as_ref().map(|(_, seconds)| *seconds).into(),
            whole.as_ref().map(|_| times.seconds(1) * 1e3).into(),
            whole.as_ref().map(|_| times.ratio(0, 1)).into(),
        ]);
    }
    Ok(())
}
