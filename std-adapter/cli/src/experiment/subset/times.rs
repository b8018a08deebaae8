//! The time of refinement relative to that of the pivoted Cholesky from which it starts.

use crate::bar::Bar;
use crate::error::Error;
use crate::experiment::{Context, Set, write_csv};
use crate::output::{aligned, note, short};
use crate::statistics::mean;
use dpp_nystrom::approximation::Gram;
use dpp_nystrom::core::Scalar;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::Table;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{KernelKind, Sigma};
use dpp_nystrom::landmarks;
use dpp_nystrom::landmarks::{Selector, Task};
use dpp_nystrom::regression::choose_bandwidth;
use dpp_nystrom::rng::{RngStream, stream};
use dpp_nystrom::selectors::{Refined, RpCholesky};
use rand_core::Rng;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Numbers of rows and of landmarks.
const SIZES: [(usize, usize); 2] = [(4_000, 50), (100_000, 50)];
const QUICK: [(usize, usize); 2] = [(1_000, 20), (5_000, 20)];

/// Timed runs of each method in turn, after one warm-up run. The minimum is reported, since other load can only add
/// time.
const RUNS: usize = 15;

/// Standard deviation of the noise added to copies of a row, in standard deviations of the feature.
const NOISE: f64 = 0.05;

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

pub(super) fn run(context: &Context<'_>, sets: &[Set], quick: bool) -> Result<Vec<Times>, Error> {
    let mut all = Vec::new();
    for set in sets {
        for (rows, landmarks) in if quick { QUICK } else { SIZES } {
            let name = format!("times-{}-{rows}", set.name());
            let setup = json!({ "plan": context.plan, "data": set.digest, "sizes": [rows, landmarks] });
            let work = || one(context, set, rows, landmarks);
            let (timed, kept) = context.parts.get(&name, &setup, work)?;
            all.push(Times { set: set.name().to_owned(), timed });
            let how = if kept { "kept" } else { "done" };
            note(&format!("times: {}, {rows} rows: {how}", set.name()));
        }
    }
    Ok(all)
}

fn one(context: &Context<'_>, set: &Set, rows: usize, c: usize) -> Result<Timed, Error> {
    let seed = context.plan.seed;
    let data = if set.table.rows() < rows {
        Prepared::new(grown(set, rows, seed)?, None, seed)?
    } else {
        Prepared::new(set.table.clone(), Some(rows), seed)?
    };
    let kernel = KernelKind::Gaussian;
    let sigma = choose_bandwidth(Sigma::Median(1.0), kernel, &data, seed, &Bar::default())?.sigma;
    let gram = Gram::new(&data, KernelSpec { kind: kernel, sigma })?;
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

/// Repeat the rows, each copy with its own noise, up to the requested number.
fn grown(set: &Set, rows: usize, seed: u64) -> Result<Table, Error> {
    let own = Prepared::new(set.table.clone(), None, seed)?;
    let mut random = stream(seed, RngStream::Rows);
    // A sum of four uniform variates, of variance one.
    let mut noise = || {
        let sum: f64 = (0..4).map(|_| f64::from_draw(random.next_u32())).sum();
        (sum - 2.0) * 3.0_f64.sqrt()
    };
    let values = own.rows.iter().cycle().take(rows * own.dim);
    let features = values.map(|value| value + NOISE * noise()).collect();
    Ok(Table {
        name: set.table.name.clone(),
        feature_names: set.table.feature_names.clone(),
        dim: own.dim,
        features,
        target: None,
        target_name: None,
    })
}

/// Write `subset-times.csv`.
pub(super) fn write(context: &Context<'_>, all: &[Times]) -> Result<(), Error> {
    let header = ["dataset", "rows", "landmarks", "rpcholesky_seconds", "refined_seconds", "ratio"];
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|Times { set, timed }| {
            vec![
                set.clone(),
                timed.rows.to_string(),
                timed.landmarks.to_string(),
                timed.pivoted.to_string(),
                timed.refined.to_string(),
                (timed.refined / timed.pivoted).to_string(),
            ]
        })
        .collect();
    Ok(write_csv(&context.out.join("subset-times.csv"), &header, &rows)?)
}

pub(super) fn table(all: &[Times]) -> String {
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|Times { set, timed }| {
            vec![
                set.clone(),
                timed.rows.to_string(),
                timed.landmarks.to_string(),
                short(timed.pivoted),
                short(timed.refined),
                format!("{:.1}", timed.refined / timed.pivoted),
            ]
        })
        .collect();
    let header = ["data set", "rows", "c", "rpcholesky, s", "refined, s", "ratio"];
    format!("Seconds, minimum of {RUNS} runs in turn\n\n{}", aligned(&header, &rows))
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
            let ratios = || own().map(|times| times.timed.refined / times.timed.pivoted);
            let most = ratios().fold(0.0, f64::max);
            Some(format!(
                "At N = {rows} and c = {landmarks} refined takes {:.1} times as long as pivoted Cholesky on average, {most:.1} \
                 times at most.",
                mean(ratios())?
            ))
        })
        .collect()
}
