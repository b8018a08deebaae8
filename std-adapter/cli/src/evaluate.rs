//! `dpp-nystrom evaluate`.

use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::error::Error;
use crate::output::{Column, note, print, print_json, short_or_dash, table};
use crate::source;
use crate::statistics::{distinct, mean};
use clap::Args;
use dpp_nystrom::approximation::{Approximation, SPECTRUM_ROWS};
use dpp_nystrom::benchmark::{Comparison, Trial, evaluate_classes};
use dpp_nystrom::data::Scale;
use dpp_nystrom::landmarks::methods::{Method, SelectorOption};
use dpp_nystrom::{kernel::KernelParams, regression::Ridge};
use dpp_nystrom_options::{Choice, one_of};
use dpp_nystrom_options::{MethodArguments, methods};
use std::path::PathBuf;

const APPROXIMATIONS: [Choice<Approximation>; 3] = [
    ("nystrom", "The Nyström method", Approximation::Nystrom),
    (
        "ensemble",
        "The mean of several experts' (Kumar, Mohri and Talwalkar 2009)",
        Approximation::Ensemble { experts: 4 },
    ),
    ("modified", "The modified Nyström method (Wang and Zhang 2013)", Approximation::Modified),
];

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Methods to compare, separated by commas
    #[arg(long, value_parser = methods(true), value_delimiter = ',', required = true)]
    pub(crate) methods: Vec<&'static Method>,
    /// Numbers of landmarks, separated by commas
    #[arg(long, value_name = "C", value_delimiter = ',', required = true)]
    pub(crate) landmarks: Vec<usize>,
    /// How many seeds, from --seed on
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// How many of the rows to hold out [default: a quarter]
    #[arg(long, value_name = "N")]
    pub(crate) test: Option<usize>,
    #[command(flatten)]
    pub(crate) method_options: MethodArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The ridge γ, which is multiplied by the number of rows: a number, cv (10-fold) or loo (leave-one-out)
    #[arg(long, value_name = "F|cv|loo", default_value = "cv")]
    pub(crate) ridge: Ridge,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(long, value_name = "ROWS.csv")]
    pub(crate) given: Option<PathBuf>,
    /// The approximation made of the landmarks; regression is measured for nystrom alone
    #[arg(long, value_parser = one_of(&APPROXIMATIONS), default_value = "nystrom")]
    pub(crate) approximation: Approximation,
    /// Experts of the ensemble, who share the landmarks out among themselves
    #[arg(long, value_name = "P", default_value_t = 4)]
    pub(crate) experts: usize,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Rows used by default: as in the paper.
const ROWS: usize = 4_000;

pub(crate) fn run(arguments: &Evaluate) -> Result<(), Error> {
    if arguments.source.table.keeps_together() {
        return Err(Error::Apart("evaluate"));
    }
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
    if takes_given {
        // Rows of weight 0 are left out, and the others would have other numbers.
        arguments.source.table.refuse_weights("evaluate --given")?;
    }
    if arguments.source.scale != Scale::Standard {
        return Err(Error::Scale);
    }
    arguments.method_options.unused(&arguments.methods).iter().for_each(|warning| note(warning));
    // Rows that a user chose are counted in the whole.
    let (table, labels, given) = match &arguments.given {
        Some(path) => {
            let (table, labels, dropped) = source::read(&arguments.source)?;
            let given = source::kept(table.rows(), &dropped, path, &given)?;
            (table, labels, given)
        }
        None => {
            let rows = arguments.source.rows.unwrap_or(ROWS);
            let (table, labels) = source::read_at_most(&arguments.source, rows)?;
            (table, labels, given)
        }
    };
    let rows = arguments.source.rows.unwrap_or(ROWS.min(table.rows()));
    let test = arguments.test.unwrap_or(rows / 4);
    if let (Some(&landmarks), Some(train)) = (arguments.landmarks.iter().max(), rows.checked_sub(test))
        && landmarks > train
        && train > 0
    {
        return Err(Error::HeldOut { landmarks, rows, test });
    }
    if rows.saturating_sub(test) > SPECTRUM_ROWS {
        note(&format!(
            "over {SPECTRUM_ROWS} training rows fro_rel and spec_rel are left out: they need all eigenvalues"
        ));
    }
    let options = arguments.method_options.options(&given);
    let KernelParams { kind, sigma, .. } = arguments.kernel.params()?;
    let comparison = Comparison {
        selectors: arguments.methods.iter().map(|method| method.selector(&options).into()).collect(),
        landmarks: arguments.landmarks.clone(),
        seed: arguments.source.seed,
        seeds: arguments.seeds,
        rows,
        test,
        kernel: kind,
        bandwidth: sigma,
        ridge: arguments.ridge,
        precision: arguments.kernel.precision,
        approximation: match arguments.approximation {
            Approximation::Ensemble { .. } => Approximation::Ensemble { experts: arguments.experts },
            other => other,
        },
    };
    let mut trials = Vec::new();
    evaluate_classes(&table, &labels, &comparison, &Bar, |trial| {
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
    let mut groups = distinct(trials.iter().map(|trial| (trial.landmarks, trial.method.as_str())));
    groups.sort_by_key(|group| group.0);
    let groups: Vec<Vec<&Trial>> = groups
        .into_iter()
        .map(|group| {
            trials.iter().filter(|trial| (trial.landmarks, trial.method.as_str()) == group).collect()
        })
        .collect();
    let columns: [Column<Vec<&Trial>>; 12] = [
        ("method", |group| group[0].method.clone()),
        ("c", |group| group[0].landmarks.to_string()),
        ("seeds", |group| group.len().to_string()),
        ("fro_rel", |group| short_mean(group, |trial| trial.fro_rel)),
        ("spec_rel", |group| short_mean(group, |trial| trial.spec_rel)),
        ("trace_fraction", |group| short_mean(group, |trial| Some(trial.trace_fraction))),
        ("train_nrmse", |group| short_mean(group, |trial| trial.train_nrmse)),
        ("test_nrmse", |group| short_mean(group, |trial| trial.test_nrmse)),
        ("accuracy", |group| short_mean(group, |trial| trial.accuracy)),
        ("seconds", |group| short_mean(group, |trial| Some(trial.seconds))),
        ("sigma", |group| short_mean(group, |trial| Some(trial.sigma))),
        // Ridges spread over powers of ten.
        ("ridge", |group| {
            let logarithms = group.iter().filter_map(|trial| trial.ridge.map(f64::ln));
            short_or_dash(mean(logarithms).map(f64::exp))
        }),
    ];
    // Numbers have no accuracy, and classes have no other.
    let has_classes = trials.iter().any(|trial| trial.accuracy.is_some());
    let shown = |name: &str| if has_classes { !name.ends_with("_nrmse") } else { name != "accuracy" };
    let columns: Vec<Column<Vec<&Trial>>> = columns.into_iter().filter(|column| shown(column.0)).collect();
    table(&columns, &groups)
}

fn short_mean(group: &[&Trial], of: impl Fn(&Trial) -> Option<f64>) -> String {
    short_or_dash(mean(group.iter().filter_map(|trial| of(trial))))
}
