//! `dpp-nystrom experiment`.

use crate::bar::Bar;
use crate::error::Error;
use crate::output::{note, print_line};
use clap::Args;
use dpp_nystrom::landmarks::methods::Method;
use dpp_nystrom_lab::experiment::{self, Figures, Request};
use dpp_nystrom_lab::selectors;
use dpp_nystrom_options::{Choice, methods, one_of};
use std::path::PathBuf;

const FIGURES: [Choice<Figures>; 6] = [
    ("approximation", "Approximation error of the kernel matrix, by method", Figures::Approximation),
    ("ridge", "Prediction error of ridge regression on the landmarks", Figures::Ridge),
    ("mixing", "The error along the chain, and observed mixing beside its bounds", Figures::Mixing),
    ("tradeoff", "Error against time and against kernel evaluations", Figures::Tradeoff),
    ("subset", "Landmarks refined by swaps, compared with other row selections", Figures::Subset),
    ("all", "All of them", Figures::All),
];

#[derive(Debug, Args)]
pub(crate) struct Experiment {
    /// Which figures to make
    #[arg(value_parser = one_of(&FIGURES))]
    kind: Figures,
    /// Folder of data sets, gzipped or not; the last column is the target
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Folder for tables, charts and index.html
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Run for minutes instead of hours: fewer rows, methods, landmarks and seeds
    #[arg(long)]
    quick: bool,
    /// Methods to compare, separated by commas [default: those of the paper and some others]
    #[arg(long, value_parser = methods(selectors::methods(), false), value_delimiter = ',')]
    methods: Vec<&'static Method>,
    /// Numbers of landmarks, separated by commas [default: 20,50,100,200; quick: 10,20,50;
    /// subset: 20,50,100; quick: 10,20]
    #[arg(long, value_name = "C", value_delimiter = ',')]
    landmarks: Vec<usize>,
    /// Numbers of rows of tradeoff, separated by commas; of more than a set has, rows are copied with noise
    /// [default: 4000,10000,1000000; quick: 1000]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    rows: Vec<usize>,
    /// Number of seeds, starting at --seed [default: 3; quick: 2]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// First seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(crate) fn run(arguments: &Experiment) -> Result<(), Error> {
    let request = Request {
        figures: arguments.kind,
        data: arguments.data.clone(),
        out: arguments.out.clone(),
        quick: arguments.quick,
        methods: arguments.methods.clone(),
        landmarks: arguments.landmarks.clone(),
        rows: arguments.rows.clone(),
        seeds: arguments.seeds,
        seed: arguments.seed,
    };
    for line in experiment::run(&request, &Bar, &note)? {
        print_line(&line)?;
    }
    Ok(())
}
