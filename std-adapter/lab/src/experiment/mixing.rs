//! The error along the chain, beside the expected error of a c-DPP.

use super::page::Section;
use super::{Context, Regime, Set, gaussian};
use crate::chart::{Axis, Panel, Scale, Series};
use crate::error::Error;
use crate::rng::{Stream, stream};
use crate::spectrum::Spectrum;
use crate::statistics::{distinct, summary};
use crate::text::{cell, short, write_csv};
use dpp_nystrom::approximation::{AnyGround, Gram, trace_error};
use dpp_nystrom::core::{Chain, Error as CoreError, GroundSet, Landmarks, Random, Rule, start};
use dpp_nystrom::{Error as LibraryError, data::Prepared, landmarks::slot_chain};
use dpp_nystrom_host::heap::Heap;
use serde::{Deserialize, Serialize};

/// Steps, or tries, after which the error is measured.
const CHECKPOINTS: [u64; 12] = [0, 20, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600];

/// A chain and its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    /// Algorithm 1 from k-means++ seeds, as in the paper.
    PaperSeeds,
    /// Algorithm 1 from uniform rows.
    PaperUniform,
    /// The open-slot chain (Metropolis-within-Gibbs with a systematic scan) from uniform rows.
    SlotUniform,
}

const WALKS: [(Walk, &str); 3] = [
    (Walk::PaperSeeds, "Algorithm 1, k-means++"),
    (Walk::PaperUniform, "Algorithm 1, uniform"),
    (Walk::SlotUniform, "open slots, uniform"),
];

/// The result for one data set, number of rows, number of landmarks and seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Watched {
    sigma: f64,
    /// `(c + 1) e_(c+1) / e_c / tr K`; none if K has rank c.
    expected: Option<f64>,
    /// A lower bound of Theorem 3's α, by sampling.
    alpha: Option<f64>,
    /// The trace fraction of each walk at each checkpoint; none if its start found too few rows.
    errors: Vec<Option<Vec<f64>>>,
}

/// A result and its key.
struct Cell {
    set: String,
    regime: Regime,
    rows: usize,
    c: usize,
    seed: u64,
    watched: Watched,
}

pub(super) fn run(context: &Context<'_>, sets: &[Set]) -> Result<Section, Error> {
    let plan = context.plan;
    let mut cells: Vec<Cell> = Vec::new();
    for set in sets {
        for &regime in set.regimes() {
            // A small set has fewer rows than some of the numbers.
            for rows in distinct(plan.mixing_rows.iter().map(|&rows| rows.min(set.table.rows()))) {
                for seed in plan.seeds() {
                    let name = format!("mixing-{}-{}-{rows}-{seed}", set.name(), regime.name());
                    let all =
                        context.part("", &name, set, &[], || watch(context, set, regime, rows, seed))?;
                    cells.extend(all.into_iter().map(|(c, watched)| Cell {
                        set: set.name().to_owned(),
                        regime,
                        rows,
                        c,
                        seed,
                        watched,
                    }));
                }
            }
        }
    }
    write(context, &cells)?;
    section(context, sets, &cells)
}

/// Run all numbers of landmarks on the same rows.
fn watch(
    context: &Context<'_>,
    set: &Set,
    regime: Regime,
    rows: usize,
    seed: u64,
) -> Result<Vec<(usize, Watched)>, Error> {
    let data = Prepared::new(set.table.clone(), Some(rows), seed)?;
    let kernel = gaussian(context, &data, regime.bandwidth(), seed)?;
    let gram = Gram::new(&data, kernel)?;
    let ground = gram.ground();
    let spectrum = Spectrum::of(ground)?;
    let mut all = Vec::new();
    for &c in context.plan.mixing_landmarks.iter().filter(|&&c| c < rows) {
        let errors = WALKS.map(|(walk, _)| match along(ground, c, walk, seed) {
            Ok(errors) => Ok(Some(errors)),
            Err(error) if matches!(error.core(), Some(CoreError::RankDeficient { .. })) => Ok(None),
            Err(error) => Err(error),
        });
        let errors = errors.into_iter().collect::<Result<_, _>>()?;
        let alpha = super::alpha::lower_bound(ground, c, seed)?;
        let expected = spectrum.expected_trace_fraction(c);
        all.push((c, Watched { sigma: kernel.sigma, expected, alpha, errors }));
    }
    Ok(all)
}

/// Return the trace fraction at each checkpoint.
fn along(ground: &AnyGround<'_>, c: usize, walk: Walk, seed: u64) -> Result<Vec<f64>, LibraryError> {
    let mut memory = Heap::new(c)?;
    let mut random = stream(seed, Stream::Landmarks);
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(LibraryError::landmarks)?;
    match walk {
        Walk::PaperSeeds => {
            let mut distances = vec![0.0; ground.len()];
            start::kmeans_plus_plus(&mut landmarks, c, &mut distances, &mut random)
                .map_err(LibraryError::landmarks)?;
        }
        _ => start::uniform(&mut landmarks, c, &mut random).map_err(LibraryError::landmarks)?,
    }
    if walk == Walk::SlotUniform {
        let mut chain = slot_chain(landmarks)?;
        at_checkpoints(ground, &mut random, |tries, random| {
            chain.run(tries, random)?;
            Ok(chain.landmarks().members().to_vec())
        })
    } else {
        let mut chain = Chain::new(landmarks, Rule::ALGORITHM_1);
        at_checkpoints(ground, &mut random, |steps, random| {
            chain.run(steps, random)?;
            Ok(chain.landmarks().members().to_vec())
        })
    }
}

fn at_checkpoints(
    ground: &AnyGround<'_>,
    random: &mut Random,
    mut run: impl FnMut(u64, &mut Random) -> Result<Vec<usize>, CoreError>,
) -> Result<Vec<f64>, LibraryError> {
    let mut before = 0;
    let mut errors = Vec::new();
    for checkpoint in CHECKPOINTS {
        let members = run(checkpoint - before, random).map_err(LibraryError::landmarks)?;
        errors.push(trace_error(ground, &members)?.fraction);
        before = checkpoint;
    }
    Ok(errors)
}

/// Write `mixing.csv` and `mixing-theory.csv`.
fn write(context: &Context<'_>, cells: &[Cell]) -> Result<(), Error> {
    let (mut errors, mut theory) = (Vec::new(), Vec::new());
    for Cell { set, regime, rows, c, seed, watched } in cells {
        let key =
            vec![set.clone(), regime.name().to_owned(), rows.to_string(), c.to_string(), seed.to_string()];
        let more = vec![watched.sigma.to_string(), cell(watched.expected), cell(watched.alpha)];
        theory.push([key.clone(), more].concat());
        for ((_, name), along) in WALKS.iter().zip(&watched.errors) {
            for (step, error) in CHECKPOINTS.iter().zip(along.iter().flatten()) {
                let more = vec![(*name).to_owned(), step.to_string(), error.to_string()];
                errors.push([key.clone(), more].concat());
            }
        }
    }
    let key = ["dataset", "bandwidth", "rows", "landmarks", "seed"];
    let header = [&key[..], &["chain", "step", "trace_fraction"]].concat();
    write_csv(&context.out.join("mixing.csv"), &header, &errors)?;
    let header = [&key[..], &["sigma", "expected_trace_fraction", "alpha_lower_bound"]].concat();
    Ok(write_csv(&context.out.join("mixing-theory.csv"), &header, &theory)?)
}

fn section(context: &Context<'_>, sets: &[Set], cells: &[Cell]) -> Result<Section, Error> {
    let mut section = Section::new("mixing", "The error along the chain");
    section.tables = vec!["mixing.csv".to_owned(), "mixing-theory.csv".to_owned()];
    for set in sets {
        for regime in Regime::BOTH {
            let own: Vec<&Cell> =
                cells.iter().filter(|cell| cell.set == set.name() && cell.regime == regime).collect();
            let mut keys: Vec<(usize, usize)> = own.iter().map(|cell| (cell.rows, cell.c)).collect();
            keys.sort_unstable();
            keys.dedup();
            let panels: Vec<Panel> = keys.iter().map(|&(rows, c)| panel(&own, rows, c)).collect();
            if panels.is_empty() {
                continue;
            }
            let title = format!("{}, {}", set.name(), regime.title());
            let file = format!("mixing-{}-{}.svg", set.name(), regime.name());
            let caption = format!(
                "{title}: trace error along the chain, mean over the seeds, bars from minimum to maximum; the expected \
                 level of a c-DPP is exact. α in the titles is a lower bound found by sampling and certifies nothing \
                 (Theorem 3 requires α < 1)."
            );
            section.figure(context.out, file, &title, &panels, caption)?;
        }
    }
    section.summary = sentences(cells);
    Ok(section)
}

fn panel(cells: &[&Cell], rows: usize, c: usize) -> Panel {
    let own: Vec<&Watched> =
        cells.iter().filter(|cell| (cell.rows, cell.c) == (rows, c)).map(|cell| &cell.watched).collect();
    let mut series: Vec<Series> = WALKS
        .iter()
        .enumerate()
        .map(|(at, (_, name))| {
            let point = |(step, checkpoint): (usize, &u64)| {
                let values: Vec<f64> = own
                    .iter()
                    .filter_map(|watched| watched.errors[at].as_ref())
                    .map(|errors| errors[step])
                    .collect();
                // Show the start at step one, since step zero has no logarithm.
                summary(&values).map(|summary| ((*checkpoint).max(1) as f64, summary))
            };
            let points = CHECKPOINTS.iter().enumerate().filter_map(point).collect();
            Series { name: (*name).to_owned(), look: at, points }
        })
        .collect();
    let expected: Vec<f64> = own.iter().filter_map(|watched| watched.expected).collect();
    if let Some([_, mean, _]) = summary(&expected) {
        let ends = [1.0, CHECKPOINTS[CHECKPOINTS.len() - 1] as f64];
        let points = ends.map(|at| (at, [mean; 3])).to_vec();
        series.push(Series { name: "c-DPP, expected".to_owned(), look: 13, points });
    }
    let alpha = own.iter().filter_map(|watched| watched.alpha).fold(f64::NEG_INFINITY, f64::max);
    let alpha = if alpha.is_finite() { format!(", α ≥ {}", short(alpha)) } else { String::new() };
    Panel {
        title: format!("N = {rows}, c = {c}{alpha}"),
        x: Axis::new("steps, or tries", Scale::Logarithmic),
        y: Axis::new("trace error / trace", Scale::Logarithmic),
        series,
    }
}

/// Report how soon the chains come within a tenth of the expected error.
fn sentences(cells: &[Cell]) -> Vec<String> {
    WALKS
        .iter()
        .enumerate()
        .map(|(at, (_, name))| {
            let near = |cell: &Cell| {
                let expected = cell.watched.expected?;
                let errors = cell.watched.errors[at].as_ref()?;
                Some(errors.iter().position(|&error| error <= 1.1 * expected).map(|step| CHECKPOINTS[step]))
            };
            let runs: Vec<Option<u64>> = cells.iter().filter_map(near).collect();
            let mut steps: Vec<u64> = runs.iter().copied().flatten().collect();
            steps.sort_unstable();
            let median = steps.get(steps.len() / 2);
            format!(
                "{name}: within 10 % of the c-DPP's expected trace error in {} of {} runs{}.",
                steps.len(),
                runs.len(),
                median.map_or_else(String::new, |steps| format!(
                    ", after at most {steps} steps in the median of these runs"
                ))
            )
        })
        .collect()
}
