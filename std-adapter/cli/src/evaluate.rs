//! `dpp-nystrom evaluate`.

use crate::arguments::{KernelArguments, Source};
use crate::error::Error;
use crate::method_options::{MethodArguments, methods};
use crate::statistics::mean;
use clap::{Args, ValueEnum};
use dpp_nystrom::approximation::{Approximation, SPECTRUM_ROWS};
use dpp_nystrom::benchmark::evaluate;
use dpp_nystrom::benchmark::{Comparison, Trial};
use dpp_nystrom::landmarks::methods::{Method, SelectorOption};
use dpp_nystrom::regression::Ridge;
use std::path::PathBuf;

use super::source;
use crate::bar::Bar;
use crate::output::{aligned, note, print, print_json, short, short_or_dash};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ApproximationName {
    /// The Nyström method
    Nystrom,
    /// The mean of several experts' (Kumar, Mohri and Talwalkar 2009)
    Ensemble,
    /// The modified Nyström method (Wang and Zhang 2013)
    Modified,
}

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Methods to compare, separated by commas
    #[arg(long, value_parser = methods(true), value_delimiter = ',', required = true)]
    pub(crate) methods: Vec<&'static Method>,
    /// Numbers of landmarks, separated by commas
    #[arg(long, value_name = "C", value_delimiter = ',', required = true, allow_negative_numbers = true)]
    pub(crate) landmarks: Vec<usize>,
    /// How many seeds, from --seed on
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub(crate) seeds: u64,
    /// How many of the rows to hold out [default: a quarter]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) test: Option<usize>,
    #[command(flatten)]
    pub(crate) method_options: MethodArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The ridge γ, which is multiplied by the number of rows: a number, or cv (10-fold)
    #[arg(long, value_name = "F|cv", default_value = "cv", allow_negative_numbers = true)]
    pub(crate) ridge: Ridge,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(long, value_name = "ROWS.csv")]
    pub(crate) given: Option<PathBuf>,
    /// The approximation made of the landmarks; regression is measured for nystrom alone
    #[arg(long, value_enum, default_value_t = ApproximationName::Nystrom)]
    pub(crate) approximation: ApproximationName,
    /// Experts of the ensemble, who share the landmarks out among themselves
    #[arg(long, value_name = "P", default_value_t = 4, allow_negative_numbers = true)]
    pub(crate) experts: usize,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Rows used by default: as in the paper.
const ROWS: usize = 4_000;

pub(crate) fn run(arguments: &Evaluate) -> Result<(), Error> {
    let takes_given = arguments.methods.iter().any(|method| method.uses(SelectorOption::Given));
    let given = match (&arguments.given, takes_given) {
        (Some(path), true) => source::given(path)?,
        (None, true) => return Err(Error::GivenMissing),
        (Some(_), false) => {
            note("warning: --given is not used; add given to --methods");
            Vec::new()
        }
        (None, false) => Vec::new(),
    };
    arguments.method_options.tell_unused(&arguments.methods);
    // Rows that a user chose are counted in the whole.
    let table = match &arguments.given {
        Some(_) => source::read(&arguments.source)?,
        None => source::read_at_most(&arguments.source, arguments.source.rows.unwrap_or(ROWS))?,
    };
    if let Some(path) = &arguments.given {
        source::within(&table, path, &given)?;
    }
    let rows = arguments.source.rows.unwrap_or(ROWS.min(table.rows()));
    let test = arguments.test.unwrap_or(rows / 4);
    if rows.saturating_sub(test) > SPECTRUM_ROWS {
        note(&format!(
            "over {SPECTRUM_ROWS} training rows fro_rel and spec_rel are left out: they need all eigenvalues"
        ));
    }
    let options = arguments.method_options.options(&given);
    let comparison = Comparison {
        selectors: arguments.methods.iter().map(|method| method.selector(&options).into()).collect(),
        landmarks: arguments.landmarks.clone(),
        seed: arguments.source.seed,
        seeds: arguments.seeds,
        rows,
        test,
        kernel: arguments.kernel.kind(),
        bandwidth: arguments.kernel.sigma,
        ridge: arguments.ridge,
        precision: arguments.kernel.precision(),
        approximation: match arguments.approximation {
            ApproximationName::Nystrom => Approximation::Nystrom,
            ApproximationName::Ensemble => Approximation::Ensemble { experts: arguments.experts },
            ApproximationName::Modified => Approximation::Modified,
        },
    };
    let mut trials = Vec::new();
    evaluate(&table, &comparison, &Bar::default(), |trial| {
        if arguments.json {
            print_json(&trial)?;
        } else {
            trials.push(trial);
        }
        Ok(())
    })?;
    if !arguments.json {
        print(&table_of_means(&trials))?;
    }
    Ok(())
}

/// A line for each method and number of landmarks: means over the seeds.
pub(crate) fn table_of_means(trials: &[Trial]) -> String {
    let header = [
        "method",
        "c",
        "seeds",
        "fro_rel",
        "spec_rel",
        "trace_fraction",
        "train_nrmse",
        "test_nrmse",
        "seconds",
        "sigma",
        "ridge",
    ];
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for trial in trials {
        if !groups.contains(&(&trial.method, trial.landmarks)) {
            groups.push((&trial.method, trial.landmarks));
        }
    }
    groups.sort_by_key(|group| group.1);
    let rows: Vec<Vec<String>> = groups
        .into_iter()
        .map(|(method, c)| {
            let group: Vec<&Trial> =
                trials.iter().filter(|trial| trial.method == method && trial.landmarks == c).collect();
            let mean = |of: &dyn Fn(&Trial) -> Option<f64>| mean(group.iter().filter_map(|trial| of(trial)));
            vec![
                method.to_owned(),
                c.to_string(),
                group.len().to_string(),
                short_or_dash(mean(&|trial| trial.fro_rel)),
                short_or_dash(mean(&|trial| trial.spec_rel)),
                short_or_dash(mean(&|trial| Some(trial.trace_fraction))),
                short_or_dash(mean(&|trial| trial.train_nrmse)),
                short_or_dash(mean(&|trial| trial.test_nrmse)),
                short_or_dash(mean(&|trial| Some(trial.seconds))),
                short_or_dash(mean(&|trial| Some(trial.sigma))),
                // Ridges spread over powers of ten.
                mean(&|trial| trial.ridge.map(f64::ln))
                    .map_or_else(|| "-".to_owned(), |log| short(log.exp())),
            ]
        })
        .collect();
    aligned(&header, &rows)
}
