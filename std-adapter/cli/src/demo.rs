//! `dpp-nystrom demo`: the whole job on red wines that a crate ships.
//!
//! 1,599 wines, eleven chemical measurements each, and the quality that tasters gave them (Cortez et
//! al. 2009, `linfa-datasets`).

use crate::bar::Bar;
use crate::error::Error;
use crate::output::{print_line, short, write_column};
use clap::Args;
use dpp_nystrom::pipeline::{self, Landmarks, Params};
use dpp_nystrom::selectors::{Kdpp, Uniform};
use dpp_nystrom::{Error as LibraryError, Model, Ridge, data::Prepared, data::table::Table};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, KernelParams, Precision},
};
use dpp_nystrom_lab::benchmark::{Comparison, Trial, evaluate, table_of_means};
use dpp_nystrom_lab::chart::{Axis, Panel, Scale, draw};
use dpp_nystrom_lab::curves::curves;
use dpp_nystrom_lab::statistics::mean;
use dpp_nystrom_lab::variants::Approximation;
use std::path::{Path, PathBuf};
use std::{fs, sync::Arc};

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder for the landmarks, the model, the predictions and the picture
    #[arg(long, value_name = "DIR", default_value = "dpp-nystrom-demo")]
    pub(crate) out: PathBuf,
}

/// Numbers of landmarks in the picture.
const LANDMARKS: [usize; 4] = [10, 20, 40, 80];
/// The one that the model takes.
const MODEL_LANDMARKS: usize = 40;
const SEEDS: u64 = 5;
const HELD_OUT: usize = 399;
const KERNEL: KernelKind = KernelKind::Gaussian;
const WIDE: Sigma = Sigma::Median(4.0);

pub(crate) fn run(arguments: &Demo) -> Result<(), Error> {
    let table = wines()?;
    fs::create_dir_all(&arguments.out).map_err(|source| LibraryError::write(&arguments.out, source))?;
    print_line(&format!(
        "{} red wines, {} measurements each; the target is their quality.\n\n\
         1. Landmarks: a c-DPP's against uniform ones, {SEEDS} seeds each, {HELD_OUT} wines held out.\n   \
         fro_rel, spec_rel: Frobenius and spectral error / that of the best rank c; trace_fraction: trace error / trace;\n   \
         nrmse: root mean squared error / standard deviation of the training target.\n",
        table.rows(),
        table.dim
    ))?;
    let wide = compare(&table, WIDE, "a wide kernel: sigma = 4 median distances")?;
    let narrow = compare(&table, Sigma::Median(1.0), "a narrow kernel: sigma = 1 median distance")?;
    let picture = arguments.out.join("error.svg");
    draw(&picture, "Approximation error of c landmarks, on 1,200 red wines", &[wide, narrow])?;

    print_line(&format!("2. A model on {MODEL_LANDMARKS} landmarks, and wines it has not seen.\n"))?;
    train_and_predict(&table, &arguments.out)?;
    print_line(&format!(
        "\nWritten to {}: landmarks.csv, model.dpp, predictions.csv, error.svg",
        arguments.out.display()
    ))?;
    Ok(())
}

/// Measures both methods at one bandwidth, prints the means and what they say.
fn compare(table: &Table, bandwidth: Sigma, title: &str) -> Result<Panel, Error> {
    let comparison = Comparison {
        selectors: vec![Arc::new(Kdpp::default()), Arc::new(Uniform)],
        landmarks: LANDMARKS.to_vec(),
        full: false,
        seed: 0,
        seeds: SEEDS,
        rows: table.rows(),
        test: HELD_OUT,
        kernel: KERNEL,
        bandwidth,
        ridge: Ridge::CrossValidated,
        precision: Precision::F64,
        approximation: Approximation::Nystrom,
    };
    let mut trials: Vec<Trial> = Vec::new();
    evaluate(table, &comparison, &Bar, |trial| {
        trials.push(trial);
        Ok(())
    })?;
    print_line(&format!("{title}\n\n{}", table_of_means(&trials)))?;
    print_line(&format!("{}\n", verdict(&trials)))?;
    Ok(Panel {
        title: title.to_owned(),
        x: Axis::new("landmarks c", Scale::Logarithmic),
        y: Axis::new("trace error / trace", Scale::Logarithmic),
        series: curves(&trials, |trial| Some(trial.trace_fraction)),
    })
}

/// What the choice of landmarks changed, from the numbers.
fn verdict(trials: &[Trial]) -> String {
    let error = |method: &str| {
        let chosen =
            trials.iter().filter(|trial| trial.method == method && trial.landmarks == MODEL_LANDMARKS);
        mean(chosen.map(|trial| trial.trace_fraction)).unwrap_or(f64::NAN)
    };
    let (kdpp, uniform) = (error("kdpp"), error("uniform"));
    let change = 100.0 * (1.0 - kdpp / uniform);
    if change > 10.0 {
        format!(
            "Here the choice matters to the approximation: at c = {MODEL_LANDMARKS} the c-DPP's landmarks leave {change:.0} % less of \
             the trace than uniform ones."
        )
    } else {
        format!(
            "Here it matters little: at c = {MODEL_LANDMARKS} the c-DPP's landmarks leave {:.0} % {} of the trace \
             than uniform ones, which leave {:.1} % of it: with so flat a spectrum no {MODEL_LANDMARKS} rows do well.",
            change.abs(),
            if change < 0.0 { "more" } else { "less" },
            100.0 * uniform
        )
    }
}

fn train_and_predict(table: &Table, out: &Path) -> Result<(), Error> {
    let test = part(table, table.rows() - HELD_OUT..table.rows());
    let data = Prepared::new(part(table, 0..table.rows() - HELD_OUT), None, 0)?;
    let params = Params {
        kernel: KernelParams { sigma: WIDE, ..KERNEL.into() },
        landmarks: Landmarks::Count(MODEL_LANDMARKS),
        selector: &Kdpp::default(),
        ..Params::default()
    };
    let outcome = pipeline::fit(&data, &params, None, &Bar)?;
    let selection = &outcome.selected.selection;
    let rows = selection.landmarks.rows().unwrap_or_default();
    write_column(Some(&out.join("landmarks.csv")), "row", rows.iter())?;
    let path = out.join("model.dpp");
    outcome.fitted.model.save(&path)?;

    // As a device or another day would: from the file.
    let model = Model::load(&path)?;
    let predictions = model.predict_table(&test)?;
    write_column(Some(&out.join("predictions.csv")), &model.target_name, predictions.iter())?;
    let error = test.root_mean_square(&predictions);
    let mean_alone = test.root_mean_square(&vec![model.target_mean; test.rows()]);
    print_line(&format!(
        "selected in {} s, ridge {} by 10-fold cross-validation; root mean square error on {HELD_OUT} wines: {}, \
         against {} for the mean quality alone",
        short(selection.seconds),
        short(model.ridge),
        short(error),
        short(mean_alone)
    ))?;
    Ok(())
}

/// Some of a table's rows.
fn part(table: &Table, rows: std::ops::Range<usize>) -> Table {
    let mut part = table.clone();
    part.keep(&rows.collect::<Vec<_>>());
    part
}

fn wines() -> Result<Table, Error> {
    let wines = linfa_datasets::winequality();
    let features: Vec<f64> = wines.records.iter().copied().collect();
    let target: Vec<f64> = wines.targets.iter().map(|&quality| quality as f64).collect();
    let dim = wines.records.ncols();
    if dim == 0 || features.len() != dim * target.len() || target.len() <= HELD_OUT {
        return Err(Error::BuiltIn);
    }
    Ok(Table {
        name: "winequality".to_owned(),
        feature_names: wines.feature_names().to_vec(),
        dim,
        features,
        target: Some(target),
        target_name: Some("quality".to_owned()),
        weights: None,
    })
}
