//! `dpp-nystrom info`.

use crate::error::Error;
use crate::output::{aligned, print_report, row, short, short_or_dash};
use clap::Args;
use dpp_nystrom::data::Map;
use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom::model::{AnyCoefficients, Model};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Info {
    /// A model written by fit
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    features: &'a [String],
    target: &'a str,
    landmarks: usize,
    landmark_rows: &'a [u64],
    /// The map by rows, and how much each feature counts in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<Vec<&'a [f64]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scales: Option<Vec<f64>>,
    kernel: KernelKind,
    sigma: f64,
    #[serde(skip)]
    bandwidth: Option<f64>,
    ridge: f64,
    precision: &'static str,
    trained_on: &'a str,
    trained_rows: u64,
    train_nrmse: f64,
    predict_bytes: usize,
}

pub(crate) fn run(arguments: &Info) -> Result<(), Error> {
    let model = Model::load(&arguments.model)?;
    let report = report(&model);
    print_report(arguments.json, &report, text)
}

fn report(model: &Model) -> Report<'_> {
    let (c, d) = (model.landmarks(), model.scaler.width());
    let map = model.scaler.map.as_ref();
    let (precision, bytes) = match model.coefficients {
        AnyCoefficients::F32(_) => ("f32", dpp_nystrom::core::bytes::<f32>(c, d)),
        AnyCoefficients::F64(_) => ("f64", dpp_nystrom::core::bytes::<f64>(c, d)),
    };
    Report {
        features: &model.feature_names,
        target: &model.target_name,
        landmarks: c,
        landmark_rows: &model.landmark_rows,
        map: map.map(|map| map.values.chunks_exact(model.feature_names.len()).collect()),
        scales: map.map(Map::scales),
        kernel: model.kernel.kind,
        sigma: model.kernel.sigma,
        bandwidth: model.kernel.bandwidth(),
        ridge: model.ridge,
        precision,
        trained_on: &model.trained_on,
        trained_rows: model.trained_rows,
        train_nrmse: model.train_nrmse,
        predict_bytes: bytes.predict,
    }
}

fn text(report: &Report<'_>) -> String {
    let mut rows = vec![
        row("target", report.target),
        row("features", report.features.len()),
        row("landmarks", report.landmarks),
        row("kernel", format!("{:?}", report.kernel)),
        row("bandwidth", short_or_dash(report.bandwidth)),
        row("ridge", short(report.ridge)),
        row("precision", report.precision),
        row("rows", report.trained_rows),
        row("training error", short(report.train_nrmse)),
        row("bytes to predict", report.predict_bytes),
    ];
    if let Some(map) = &report.map {
        rows.insert(4, row("map", format!("{} x {}", map.len(), report.features.len())));
    }
    let mut text = aligned(&["trained on", report.trained_on], &rows);
    let names = report.features.iter();
    let features: Vec<String> = match &report.scales {
        Some(scales) => {
            names.zip(scales).map(|(name, scale)| format!("{name} ({})", short(*scale))).collect()
        }
        None => names.cloned().collect(),
    };
    text.push_str(&format!("\nfeatures: {}\n", features.join(", ")));
    text
}
