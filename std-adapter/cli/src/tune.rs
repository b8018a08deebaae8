//! `dpp-nystrom tune`.

use crate::arguments::{KindArguments, Source, positive};
use crate::bar::Bar;
use crate::error::Error;
use crate::output::{
    aligned, cell, keep_apart, keep_inputs, note, print_report, short, short_or_dash, write_csv,
};
use crate::source;
use clap::Args;
use dpp_nystrom::regression::{SIGMA_GRID, ridge_grid};
use dpp_nystrom_lab::tune::{Grid, Regressor, Surface, tune};
use serde::Serialize;
use std::path::PathBuf;

/// Default numbers of rows: as for evaluate, and for a full regression what takes about a minute.
const ROWS: usize = 4_000;
const FULL_ROWS: usize = 1_000;

/// Bandwidths added around or beyond the best of the default ones.
const FURTHER: usize = 3;

pub(crate) const EXAMPLES: &str = "\
Examples:
  dpp-nystrom tune ailerons.arff --landmarks 100 --svg surface.svg --out surface.csv
  dpp-nystrom tune rows.csv --full --rows 500 --sigmas 0.5,1,2,4 --ridges 1e-6,1e-5,1e-4,1e-3

Ridge regression predicts every row from the nine folds that do not contain it. Landmarks are rows drawn uniformly.
Errors are in standard deviations of the target. Pass the result to fit with --metric one --sigma F --ridge F.";

#[derive(Debug, Args)]
pub(crate) struct Tune {
    #[command(flatten)]
    source: Source,
    /// Number of landmarks of the regression
    #[arg(long, value_name = "C", required_unless_present = "full", conflicts_with = "full")]
    landmarks: Option<usize>,
    /// Regress on all rows instead, 1000 unless --rows is given; cubic in the rows
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    kernel: KindArguments,
    /// Bandwidths to try, in multiples of the median distance [default: 0.25 to 64, in powers of 2,
    /// and three around the best]
    #[arg(long, value_name = "F", value_delimiter = ',', value_parser = positive)]
    sigmas: Vec<f64>,
    /// Ridges to try [default: 1e-10 to 10, in half powers of 10]
    #[arg(long, value_name = "F", value_delimiter = ',', value_parser = positive)]
    ridges: Vec<f64>,
    /// Write every error to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Draw the errors as a heat map
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    rows: usize,
    /// None for a full regression.
    landmarks: Option<usize>,
    sigma: f64,
    ridge: f64,
    cv_nrmse: f64,
    sigma_at_edge: bool,
    ridge_at_edge: bool,
    seed: u64,
    surface: &'a Surface,
}

pub(crate) fn run(arguments: &Tune) -> Result<(), Error> {
    keep_apart(arguments.out.iter().chain(&arguments.svg))?;
    for output in [&arguments.out, &arguments.svg] {
        keep_inputs(output.as_deref(), &[&arguments.source.data])?;
    }
    let seed = arguments.source.seed;
    let usual = if arguments.full { FULL_ROWS } else { ROWS };
    let data = source::at_most(&arguments.source, usual)?;
    let regressor = match arguments.landmarks {
        Some(landmarks) => Regressor::Nystrom { landmarks },
        None => Regressor::Full,
    };
    let or = |given: &[f64], usual: Vec<f64>| if given.is_empty() { usual } else { given.to_vec() };
    let multiples = or(&arguments.sigmas, SIGMA_GRID.to_vec());
    let further = if arguments.sigmas.is_empty() { FURTHER } else { 0 };
    let ridges = or(&arguments.ridges, ridge_grid().collect());
    let grid = Grid { multiples: &multiples, further, ridges: &ridges };
    let surface = tune(&data, arguments.kernel.kind()?, regressor, grid, seed, &Bar)?;
    warn(&surface);
    if let Some(path) = &arguments.out {
        // The error is empty where the equations could not be solved.
        let lines = surface.sigmas.iter().zip(&surface.errors).flat_map(|(sigma, errors)| {
            let cells = surface.ridges.iter().zip(errors);
            cells.map(move |(ridge, error)| [sigma.to_string(), ridge.to_string(), cell(*error)])
        });
        write_csv(path, &["sigma", "ridge", "nrmse"], lines)?;
    }
    if let Some(path) = &arguments.svg {
        let on = match regressor {
            Regressor::Full => "all rows".to_owned(),
            Regressor::Nystrom { landmarks } => format!("{landmarks} landmarks"),
        };
        surface.draw(path, &format!("{}: {} rows, ridge regression on {on}", data.name(), data.len()))?;
    }
    let report = Report {
        dataset: data.name(),
        rows: data.len(),
        landmarks: arguments.landmarks,
        sigma: surface.sigmas[surface.best_sigma],
        ridge: surface.ridges[surface.best_ridge],
        cv_nrmse: surface.least(),
        sigma_at_edge: surface.sigma_at_edge(),
        ridge_at_edge: surface.ridge_at_edge(),
        seed,
        surface: &surface,
    };
    print_report(arguments.json, &report, text)
}

fn warn(surface: &Surface) {
    let grids = [
        (surface.sigma_at_edge(), "bandwidth", "--sigmas", &surface.sigmas, surface.best_sigma),
        (surface.ridge_at_edge(), "ridge", "--ridges", &surface.ridges, surface.best_ridge),
    ];
    for (at_edge, name, option, grid, best) in grids {
        if at_edge {
            note(&format!(
                "warning: the best {name}, {}, is at the edge of the grid ({} to {}); the optimum may lie outside, \
                 extend the grid with {option}",
                short(grid[best]),
                short(grid[0]),
                short(grid[grid.len() - 1])
            ));
        }
    }
}

/// Format one line per bandwidth, with its best ridge.
fn text(report: &Report<'_>) -> String {
    let surface = report.surface;
    let least = |errors: &[Option<f64>]| {
        let solved = errors.iter().enumerate().filter_map(|(at, error)| error.map(|error| (at, error)));
        solved.min_by(|one, other| one.1.total_cmp(&other.1))
    };
    let rows: Vec<Vec<String>> = surface
        .sigmas
        .iter()
        .zip(&surface.errors)
        .enumerate()
        .map(|(at, (&sigma, errors))| {
            let found = least(errors);
            vec![
                short(sigma),
                short_or_dash(surface.median.map(|median| sigma / median)),
                short_or_dash(found.map(|(ridge, _)| surface.ridges[ridge])),
                short_or_dash(found.map(|(_, error)| error)),
                if at == surface.best_sigma { "minimum".to_owned() } else { String::new() },
            ]
        })
        .collect();
    aligned(&["bandwidth", "in medians", "best ridge", "10-fold error", ""], &rows)
        + &format!("\n--metric one --sigma {} --ridge {:e}\n", report.sigma, report.ridge)
}
