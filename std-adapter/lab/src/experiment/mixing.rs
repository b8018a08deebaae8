//! The error along the chain beside the expected error of a c-DPP, and observed mixing beside its bounds.

use super::page::Section;
use super::{Context, Regime, Set, gaussian};
use crate::chart::{Axis, Panel, Scale, Series};
use crate::error::Error;
use crate::rng::{Stream, stream};
use crate::statistics::{distinct, mean, summary};
use crate::text::{aligned, cell, short, short_or_dash, write_csv};
use crate::theory::{Diagnosis, Diagnostics, Effort};
use dpp_nystrom::approximation::{AnyGround, Gram, trace_error};
use dpp_nystrom::core::{Chain, Error as CoreError, GroundSet, Landmarks, Random, Rule, start};
use dpp_nystrom::data::{Prepared, table::Table};
use dpp_nystrom::{Error as LibraryError, Ridge, kernel::Precision, landmarks::slot_chain};
use dpp_nystrom_host::heap::Heap;
use serde::{Deserialize, Serialize};

/// Steps, or tries, after which the error is measured.
const CHECKPOINTS: [u64; 12] = [0, 20, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600];

/// What is measured of the theory.
const EFFORT: Effort = Effort {
    samples: 4,
    triples: 4,
    pairs: 4,
    pair_steps: 100_000,
    chains: 4,
    steps: 10_000,
    delta: 0.05,
    epsilon: 0.01,
};

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
    /// What the theory says of the c-DPP; none if K has a lower rank than c.
    theory: Option<Theory>,
    /// The trace fraction of each walk at each checkpoint; none if its start found too few rows.
    errors: Vec<Option<Vec<f64>>>,
}

/// The mixing that was observed, the bounds on it, and Theorem 1 with Corollary 1 for half the rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Theory {
    /// `(c + 1) e_(c+1) / e_c / tr K`.
    expected: f64,
    /// A lower bound of Theorem 3's α, by sampling.
    alpha: Option<f64>,
    /// Theorem 3's bound at that α, in steps; none if α is 1 or more.
    theorem_3: Option<f64>,
    /// The bound without a condition, in steps.
    unconditional: Option<f64>,
    /// The median of the steps until coupled chains met; none if half of them did not.
    coupling: Option<u64>,
    /// Autocorrelation times of the log-determinant: steps of Algorithm 1, and tries of open slots.
    autocorrelation: [Option<f64>; 2],
    /// The mean of `‖K - K̃‖_F / ‖K - K_k‖_F`, its bound, and the bound that holds with probability .95.
    frobenius: Option<[f64; 3]>,
}

impl Theory {
    fn of(diagnosis: &Diagnosis) -> Self {
        let contraction = diagnosis.contraction;
        let half = diagnosis.target_ranks.iter().find(|at| at.k == (diagnosis.landmarks / 2).max(1));
        let autocorrelation = [0, 1].map(|at| diagnosis.chains.get(at)?.autocorrelation_steps);
        Self {
            expected: diagnosis.expected_trace_fraction,
            alpha: contraction.map(|contraction| contraction.alpha),
            theorem_3: contraction.and_then(|contraction| contraction.theorem_3),
            unconditional: contraction.map(|contraction| contraction.unconditional),
            coupling: diagnosis.meeting.median,
            autocorrelation,
            frobenius: half.map(|at| [at.frobenius.mean, at.frobenius_bound, at.frobenius_corollary]),
        }
    }
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
    // Without the target, of which nothing is diagnosed here.
    let data = Prepared::new(Table { target: None, ..set.table.clone() }, Some(rows), seed)?;
    let gram = Gram::new(&data, kernel)?;
    let ground = gram.ground();
    let diagnostics = Diagnostics::new(&data, kernel, Precision::F64, seed, context.observer)?;
    let mut all = Vec::new();
    for &c in context.plan.mixing_landmarks.iter().filter(|&&c| c < rows) {
        let errors = WALKS.map(|(walk, _)| match along(ground, c, walk, seed) {
            Ok(errors) => Ok(Some(errors)),
            Err(error) if matches!(error.core(), Some(CoreError::RankDeficient { .. })) => Ok(None),
            Err(error) => Err(error),
        });
        let errors = errors.into_iter().collect::<Result<_, _>>()?;
        let theory = match diagnostics.check(c) {
            Ok(()) => {
                let ridge = Ridge::Value(1.0);
                Some(Theory::of(&diagnostics.of(c, ridge, &EFFORT, context.observer)?))
            }
            Err(_) => None,
        };
        all.push((c, Watched { sigma: kernel.sigma, theory, errors }));
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

/// A column of the theory's table.
type Quantity = (&'static str, fn(&Theory) -> Option<f64>);

const THEORY: [Quantity; 10] = [
    ("expected_trace_fraction", |theory| Some(theory.expected)),
    ("coupling_steps", |theory| theory.coupling.map(|steps| steps as f64)),
    ("autocorrelation_steps", |theory| theory.autocorrelation[0]),
    ("autocorrelation_tries", |theory| theory.autocorrelation[1]),
    ("alpha_lower_bound", |theory| theory.alpha),
    ("theorem_3_steps", |theory| theory.theorem_3),
    ("unconditional_steps", |theory| theory.unconditional),
    ("frobenius", |theory| theory.frobenius.map(|at| at[0])),
    ("theorem_1", |theory| theory.frobenius.map(|at| at[1])),
    ("corollary_1", |theory| theory.frobenius.map(|at| at[2])),
];

/// Format a line for each set, bandwidth and size: means over the seeds.
fn table(cells: &[Cell]) -> String {
    let key = |cell: &Cell| (cell.set.clone(), cell.regime, cell.rows, cell.c);
    let rows: Vec<Vec<String>> = distinct(cells.iter().map(key))
        .into_iter()
        .map(|own| {
            let (set, regime, rows, c) = own.clone();
            let of = |value: fn(&Theory) -> Option<f64>| {
                let theories = cells.iter().filter(|cell| key(cell) == own);
                short_or_dash(mean(
                    theories.filter_map(|cell| cell.watched.theory.as_ref()).filter_map(value),
                ))
            };
            let mut row = vec![set, regime.name().to_owned(), rows.to_string(), c.to_string()];
            row.extend(THEORY[1..].iter().map(|(_, value)| of(*value)));
            row
        })
        .collect();
    let header = [
        "data set",
        "sigma",
        "N",
        "c",
        "met after",
        "tau, steps",
        "tau, tries",
        "alpha >=",
        "theorem 3",
        "unconditional",
        "Frobenius, k = c/2",
        "theorem 1",
        "corollary 1",
    ];
    format!(
        "Steps until coupled chains met, autocorrelation times of the log-determinant, and bounds on the mixing time; the \
         Frobenius error over the best of rank c/2, and its bounds. Means over the seeds; - where there is none\n\n{}",
        aligned(&header, &rows)
    )
}

/// Write `mixing.csv` and `mixing-theory.csv`.
fn write(context: &Context<'_>, cells: &[Cell]) -> Result<(), Error> {
    let (mut errors, mut theory) = (Vec::new(), Vec::new());
    for Cell { set, regime, rows, c, seed, watched } in cells {
        let key =
            vec![set.clone(), regime.name().to_owned(), rows.to_string(), c.to_string(), seed.to_string()];
        let mut more = vec![watched.sigma.to_string()];
        more.extend(THEORY.iter().map(|(_, value)| cell(watched.theory.as_ref().and_then(value))));
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
    let header: Vec<&str> =
        key.into_iter().chain(["sigma"]).chain(THEORY.iter().map(|(name, _)| *name)).collect();
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
    section.text = vec![table(cells)];
    section.summary = sentences(cells);
    Ok(section)
}

fn panel(cells: &[&Cell], rows: usize, c: usize) -> Panel {
    let own: Vec<&Watched> =
        cells.iter().filter(|cell| (cell.rows, cell.c) == (rows, c)).map(|cell| &cell.watched).collect();
    let theories = || own.iter().filter_map(|watched| watched.theory.as_ref());
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
    let expected: Vec<f64> = theories().map(|theory| theory.expected).collect();
    if let Some([_, mean, _]) = summary(&expected) {
        let ends = [1.0, CHECKPOINTS[CHECKPOINTS.len() - 1] as f64];
        let points = ends.map(|at| (at, [mean; 3])).to_vec();
        series.push(Series { name: "c-DPP, expected".to_owned(), look: 13, points });
    }
    let alpha = theories().filter_map(|theory| theory.alpha).fold(f64::NEG_INFINITY, f64::max);
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
                let expected = cell.watched.theory.as_ref()?.expected;
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
