//! Exact samples by rejection: Gaussian kernels at numbers of rows whose matrix cannot be decomposed.

use crate::data::generated;
use crate::report::Report;
use crate::{Error, Request};
use dpp_nystrom::landmarks::{RejectionKDpp, select};
use dpp_nystrom::observer::{NoObserver, Observer};
use dpp_nystrom::selectors::RpCholesky;
use dpp_nystrom_core::{Points, Random, kernel::Gaussian};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const WIDTH: usize = 8;
/// The median distance of the rows.
const MEDIAN: f64 = 2.3;

const HEADS: &[&str] = &[
    "       N",
    "sigma/median",
    "  c",
    "   m",
    "first s",
    "further s",
    "proposals expected",
    "proposals",
    "allocated bytes",
];

/// Counts proposals.
#[derive(Default)]
struct Proposals(AtomicU64);

impl Observer for Proposals {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, steps: u64) {
        self.0.fetch_add(steps, Ordering::Relaxed);
    }
    fn end(&self) {}
}

pub(crate) fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = "exact samples of a c-DPP of N rows of 8 numbers under a Gaussian kernel, by rejection from the features of m rows";
    let mut table = report.table("rejection", title, HEADS);
    let counts: &[usize] = if request.quick { &[20_000] } else { &[100_000] };
    let sizes: &[(usize, usize)] =
        if request.quick { &[(20, 80)] } else { &[(20, 80), (50, 400), (100, 400), (100, 1_600)] };
    for &count in counts {
        for medians in [4.0, 1.0] {
            let rows: Vec<f64> = generated(count, WIDTH, 1);
            let ground = Points::new(&rows, WIDTH, Gaussian::new(MEDIAN * medians)?)?;
            for &(c, m) in sizes {
                let region = Region::new(&INSTRUMENTED_SYSTEM);
                let begin = Instant::now();
                let pivoted = select(&ground, m, &RpCholesky::default(), 1, &NoObserver)?;
                let exact = RejectionKDpp::new(&ground, c, pivoted.landmarks.rows().unwrap_or_default())?;
                let mut random = Random::seeded(2);
                exact.sample(&mut random)?;
                let (first, allocated) = (begin.elapsed().as_secs_f64(), region.change().bytes_allocated);
                let (proposals, begin) = (Proposals::default(), Instant::now());
                let further = if c < 100 { 20 } else { 3 };
                for _ in 0..further {
                    exact.sample_observed(&mut random, &proposals)?;
                }
                let mean = |total: f64| total / f64::from(further);
                table.row(&[
                    count.into(),
                    medians.into(),
                    c.into(),
                    m.into(),
                    first.into(),
                    mean(begin.elapsed().as_secs_f64()).into(),
                    exact.expected_proposals().into(),
                    mean(proposals.0.into_inner() as f64).into(),
                    allocated.into(),
                ]);
            }
        }
    }
    Ok(())
}
