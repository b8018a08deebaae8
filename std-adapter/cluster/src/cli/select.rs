//! `dpp-nystrom-cluster select`.

use super::arguments::Select;
use super::fit::{note_selection, survey};
use super::output::{Spinner, note, print, print_json};
use dpp_nystrom::Ridge;
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::pipeline;
use dpp_nystrom_cluster::{Error, Survey};
use dpp_nystrom_host::atomic_file::{check_writable, write_whole};
use serde::Serialize;
use std::iter;

#[derive(Serialize)]
struct Report<'a> {
    method: &'a str,
    landmarks: usize,
    rows: u64,
    candidates: usize,
    dim: usize,
    sigma: f64,
    log_det: f64,
    /// Features and target in their own units; the columns are named in `columns`.
    points: Vec<Vec<f64>>,
    columns: Vec<&'a str>,
    survey_seconds: f64,
    select_seconds: f64,
    seed: u64,
}

pub(crate) async fn run(arguments: &Select) -> Result<(), Error> {
    if let Some(out) = &arguments.out {
        check_writable(out)?;
    }
    let selection = &arguments.selection;
    let session = arguments.source.session().await?;
    let rows = session.rows(arguments.source.sql(), selection.target.as_deref()).await?;
    let (rows, survey_seconds) = survey(&rows, selection).await?;
    let selector = selection.selector();
    let params = selection.params(arguments.landmarks, Ridge::CrossValidated, &*selector);
    let selected = pipeline::select(&rows, &params, &Spinner::new("landmarks"))?;
    note_selection(&selected.selection);
    let survey = rows.survey();
    let mut columns: Vec<&str> = survey.feature_names.iter().map(String::as_str).collect();
    let points: Vec<Vec<f64>> = match &selected.selection.landmarks {
        LandmarkSet::Indices(rows) => {
            columns.push(&survey.target_name);
            rows.iter().map(|&row| row_of(survey, row)).collect()
        }
        // Points have no target.
        LandmarkSet::Points(points) => {
            let mut points = points.clone();
            survey.scaler.undo(&mut points);
            points.chunks(columns.len()).map(<[f64]>::to_vec).collect()
        }
    };
    let text = csv(&columns, &points);
    match &arguments.out {
        Some(out) => write_whole(out, |file| file.write_all(text.as_bytes()))?,
        None if !arguments.json => print(&text)?,
        None => {}
    }
    note(&format!("{} landmarks among {} rows of {}", points.len(), survey.targets.len(), survey.rows));
    if arguments.json {
        print_json(&Report {
            method: selection.method.name,
            landmarks: points.len(),
            rows: survey.rows,
            candidates: survey.targets.len(),
            dim: survey.feature_names.len(),
            sigma: selected.kernel.sigma,
            log_det: selected.selection.log_det,
            points,
            columns,
            survey_seconds,
            select_seconds: selected.selection.seconds,
            seed: selection.seed,
        })?;
    }
    Ok(())
}

/// Return a row of the sample in its own units, with its target.
fn row_of(survey: &Survey, row: usize) -> Vec<f64> {
    let dim = survey.feature_names.len();
    let mut values = survey.sample[row * dim..(row + 1) * dim].to_vec();
    values.push(survey.targets[row]);
    values
}

fn csv(columns: &[&str], points: &[Vec<f64>]) -> String {
    let quoted = |name: &str| match name.contains([',', '"', '\n']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    };
    let head: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    let rows = points.iter().map(|point| point.iter().map(f64::to_string).collect());
    iter::once(head).chain(rows).map(|row: Vec<String>| row.join(",") + "\n").collect()
}
