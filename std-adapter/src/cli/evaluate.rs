//! `dpp-nystrom evaluate`.

use super::arguments::{ApproximationName, Evaluate};
use super::bar::Bar;
use super::output::{aligned, note, print, print_json, short, short_or_dash};
use super::source;
use dpp_nystrom::methods::Options;
use dpp_nystrom::{Approximation, Comparison, Error, SPECTRUM_ROWS, Trial, evaluate};

/// Rows used where nobody says: the paper's.
const ROWS: usize = 4_000;

pub(crate) fn run(arguments: &Evaluate) -> Result<(), Error> {
    let takes_given = arguments.methods.iter().any(|method| method.fixed(&Options::default()).is_some());
    let given = match (&arguments.given, takes_given) {
        (Some(path), true) => source::given(path)?,
        (None, true) => return Err(Error::GivenMissing),
        (Some(_), false) => {
            note("warning: --given is not used; add given to --methods");
            Vec::new()
        }
        (None, false) => Vec::new(),
    };
    arguments.knobs.tell_unused(&arguments.methods);
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
    let comparison = Comparison {
        methods: arguments.methods.clone(),
        options: arguments.knobs.options(&given),
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
    if arguments.json { Ok(()) } else { print(&table_of_means(&trials)) }
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

/// The mean of what there is.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}
