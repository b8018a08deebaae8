//! The time of refinement relative to that of the pivoted Cholesky from which it starts.

use crate::error::Error;
use crate::experiment::{Context, Set, gaussian};
use crate::statistics::mean;
use crate::text::{self, Column, short};
use dpp_nystrom::Sigma;
use dpp_nystrom::approximation::Gram;
use dpp_nystrom::landmarks::{self, Selector, Task};
use dpp_nystrom::selectors::{Refined, RpCholesky};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Numbers of rows and of landmarks.
const SIZES: [(usize, usize); 2] = [(4_000, 50), (100_000, 50)];
const QUICK: [(usize, usize); 2] = [(1_000, 20), (5_000, 20)];

/// Timed runs of each method in turn, after one warm-up run. The minimum is reported, since other load can
/// only add time.
const RUNS: usize = 15;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timed {
    rows: usize,
    landmarks: usize,
    /// The minimum over the runs, in seconds.
    pivoted: f64,
    refined: f64,
}

pub(super) struct Times {
    set: String,
    timed: Timed,
}

impl Times {
    fn ratio(&self) -> f64 {
        self.timed.refined / self.timed.pivoted
    }
}

pub(super) fn run(context: &Context<'_>, sets: &[Set], quick: bool) -> Result<Vec<Times>, Error> {
    let mut all = Vec::new();
    for set in sets {
        for (rows, landmarks) in if quick { QUICK } else { SIZES } {
            let name = format!("times-{}-{rows}", set.name());
            let sizes = ("sizes", json!([rows, landmarks]));
            let timed = context.part("", &name, set, &[sizes], || one(context, set, rows, landmarks))?;
            all.push(Times { set: set.name().to_owned(), timed });
        }
    }
    Ok(all)
}

fn one(context: &Context<'_>, set: &Set, rows: usize, c: usize) -> Result<Timed, Error> {
    let seed = context.plan.seed;
    let data = set.rows(rows, seed)?;
    let gram = Gram::new(&data, gaussian(context, &data, Sigma::Median(1.0), seed)?)?;
    let task = Task { seed, ..Task::new(&gram, c) };
    let mut least = [f64::INFINITY; 2];
    for run in 0..=RUNS {
        let selectors: [&dyn Selector; 2] = [&RpCholesky::default(), &Refined::default()];
        for (selector, least) in selectors.into_iter().zip(&mut least) {
            let seconds = landmarks::run(selector, &task)?.seconds;
            if run > 0 {
                *least = least.min(seconds);
            }
        }
    }
    let [pivoted, refined] = least;
    Ok(Timed { rows, landmarks: c, pivoted, refined })
}

/// Write `subset-times.csv`.
pub(super) fn write(context: &Context<'_>, all: &[Times]) -> Result<(), Error> {
    let columns: [Column<Times>; 6] = [
        ("dataset", |times| times.set.clone()),
        ("rows", |times| times.timed.rows.to_string()),
        ("landmarks", |times| times.timed.landmarks.to_string()),
        ("rpcholesky_seconds", |times| times.timed.pivoted.to_string()),
        ("refined_seconds", |times| times.timed.refined.to_string()),
        ("ratio", |times| times.ratio().to_string()),
    ];
    context.write("subset-times.csv", &columns, all)
}

pub(super) fn table(all: &[Times]) -> String {
    let columns: [Column<Times>; 6] = [
        ("data set", |times| times.set.clone()),
        ("rows", |times| times.timed.rows.to_string()),
        ("c", |times| times.timed.landmarks.to_string()),
        ("rpcholesky, s", |times| short(times.timed.pivoted)),
        ("refined, s", |times| short(times.timed.refined)),
        ("ratio", |times| format!("{:.1}", times.ratio())),
    ];
    format!("Seconds, minimum of {RUNS} runs in turn\n\n{}", text::table(&columns, all))
}

pub(super) fn sentences(all: &[Times]) -> Vec<String> {
    let mut sizes: Vec<(usize, usize)> =
        all.iter().map(|times| (times.timed.rows, times.timed.landmarks)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
        .into_iter()
        .filter_map(|(rows, landmarks)| {
            let own = || all.iter().filter(move |times| times.timed.rows == rows);
            let ratios = || own().map(Times::ratio);
            let most = ratios().fold(0.0, f64::max);
            Some(format!(
                "At N = {rows} and c = {landmarks} refined takes {:.1} times as long as pivoted Cholesky on average, {most:.1} \
                 times at most.",
                mean(ratios())?
            ))
        })
        .collect()
}
