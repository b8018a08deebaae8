//! `dpp-nystrom evaluate`.

use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::error::Error;
use crate::output::{note, print, print_json};
use crate::source;
use clap::Args;
use dpp_nystrom::approximation::SPECTRUM_ROWS;
use dpp_nystrom::landmarks::methods::{Method, SelectorOption};
use dpp_nystrom::{Ridge, Scale, kernel::KernelParams};
use dpp_nystrom_lab::benchmark::{Comparison, evaluate_classes, table_of_differences, table_of_means};
use dpp_nystrom_lab::selectors;
use dpp_nystrom_lab::variants::Approximation;
use dpp_nystrom_options::{Choice, MethodArguments, methods, one_of};
use std::path::PathBuf;

const APPROXIMATIONS: [Choice<Approximation>; 3] = [
    ("nystrom", "The Nyström method", Approximation::Nystrom),
    (
        "ensemble",
        "The mean of four experts', or of one a landmark if there are fewer (Kumar, Mohri and Talwalkar 2009)",
        Approximation::Ensemble { experts: 4 },
    ),
    ("modified", "The modified Nyström method (Wang and Zhang 2013)", Approximation::Modified),
];

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Methods to compare, separated by commas
    #[arg(long, value_parser = methods(selectors::methods(), true), value_delimiter = ',', required = true)]
    pub(crate) methods: Vec<&'static Method>,
    /// Numbers of landmarks, separated by commas
    #[arg(long, value_name = "C", value_delimiter = ',', required = true)]
    pub(crate) landmarks: Vec<usize>,
    /// How many seeds, from --seed on: each draws its rows, the same for all methods
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// How many of the rows to hold out [default: a quarter]
    #[arg(long, value_name = "N")]
    pub(crate) test: Option<usize>,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The ridge γ, which is multiplied by the number of rows: a number, cv (10-fold) or loo (leave-one-out)
    #[arg(long, value_name = "F|cv|loo", default_value = "cv")]
    pub(crate) ridge: Ridge,
    /// Measure regression on all training rows too, up to 10,000: what landmarks give up
    #[arg(long)]
    pub(crate) full: bool,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(long, value_name = "ROWS.csv")]
    pub(crate) given: Option<PathBuf>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// The approximation made of the landmarks; regression is measured for nystrom alone
    #[arg(long, value_parser = one_of(&APPROXIMATIONS), default_value = "nystrom")]
    pub(crate) approximation: Approximation,
    #[command(flatten)]
    pub(crate) method_options: MethodArguments,
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
        full: arguments.full,
        seed: arguments.source.seed,
        seeds: arguments.seeds,
        rows,
        test,
        kernel: kind,
        bandwidth: sigma,
        ridge: arguments.ridge,
        precision: arguments.kernel.precision,
        approximation: arguments.approximation,
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
        if let Some(differences) = table_of_differences(&trials) {
            print(&format!("\n{differences}"))?;
        }
    }
    Ok(())
}
