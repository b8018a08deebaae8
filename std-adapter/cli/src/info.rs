//! `dpp-nystrom info`.

use crate::error::Error;
use crate::export::name_of_numbers;
use crate::output::{aligned, keep_inputs, listed, plain_line, print_report, row, short, short_or_dash};
use crate::taken::{TakenReport, UNDO};
use clap::Args;
use dpp_nystrom::data::table::Missing;
use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom::{
    Model,
    model::{
        AnyCoefficients, Importance, PERMUTATIONS,
        export::{Bundle, With},
    },
};
use dpp_nystrom_host::atomic_file::check_writable;
use dpp_nystrom_lab::chart::draw_bars;
use dpp_nystrom_lab::report::{TestReport, groups, ranked};
use serde::Serialize;
use std::path::PathBuf;

/// Features named for each direction of a map.
const STRONGEST: usize = 5;

/// What an importance is.
const IMPORTANCE: &str = "rise of the error, %";

#[derive(Debug, Args)]
pub(crate) struct Info {
    /// A model written by fit
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Draw the importances of the columns: by how much the error rises where each is permuted
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) chart: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    features: &'a [String],
    target: &'a str,
    /// The names of all targets, of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<String>,
    /// The classes and the temperature of their probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    landmarks: usize,
    landmark_rows: &'a [u64],
    /// The map by rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<Vec<&'a [f64]>>,
    /// The bound of each clipped feature, in the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<&'a [f64]>,
    /// The inverse length-scale of each feature in the learned metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    scales: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<TestReport>,
    /// The rise of the error where each column is permuted, over the error.
    importances: Option<&'a [Importance]>,
    /// The rows that were permuted.
    #[serde(skip_serializing_if = "Option::is_none")]
    importance_rows: Option<u64>,
    kernel: KernelKind,
    sigma: f64,
    #[serde(skip)]
    bandwidth: Option<f64>,
    ridge: f64,
    precision: &'static str,
    trained_on: &'a str,
    trained_rows: u64,
    /// The column that weighted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<&'a str>,
    /// What is done with gaps, unless they are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Missing>,
    /// Whether features tell the gaps of some columns.
    #[serde(skip)]
    tells_gaps: bool,
    /// What stands for a gap, if not what usually does.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_values: Option<Vec<String>>,
    /// What became of columns that were not read as they stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taken: Vec<TakenReport>,
    #[serde(skip)]
    taken_groups: Vec<Vec<String>>,
    train_nrmse: f64,
    /// The integers in which it is exported, if they were chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    export_numbers: Option<&'static str>,
    /// Bytes of constants on a device, as `export` counts them; `None` if it cannot be exported.
    #[serde(skip_serializing_if = "Option::is_none")]
    export_bytes: Option<usize>,
    /// The CRC-32 of the model in single precision, which a header in C names.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

pub(crate) fn run(arguments: &Info) -> Result<(), Error> {
    let model = Model::load(&arguments.model)?;
    let report = report(&model);
    if let Some(path) = &arguments.chart {
        keep_inputs(Some(path), &[&arguments.model])?;
        check_writable(path)?;
        let Some(importances) = &model.importances else {
            return Err(Error::NotInModel {
                path: arguments.model.clone(),
                what: "the importances of columns are",
                advice: "fit measures them on rows that it leaves out, learn and merge do not",
            });
        };
        let title = format!("Importance of columns of {} for {}", model.trained_on, report.target);
        let ranked = importances.ranked();
        let bars: Vec<(&str, f64)> =
            ranked.iter().map(|column| (&*column.column, 100.0 * column.rise.max(0.0))).collect();
        draw_bars(path, &title, IMPORTANCE, &bars)?;
    }
    print_report(arguments.json, &report, text)
}

fn report(model: &Model) -> Report<'_> {
    let outputs = model.each_output();
    let bundle = Bundle::of(&outputs, model.quantise, With::default()).ok();
    let digest = bundle.as_ref().and_then(Bundle::digest);
    let map = model.scaler.map.as_ref();
    let classifier = model.classifier.as_ref();
    let several = model.outputs() > 1 && classifier.is_none();
    let precision = match model.coefficients {
        AnyCoefficients::F32(_) => "f32",
        AnyCoefficients::F64(_) => "f64",
    };
    Report {
        features: &model.feature_names,
        target: classifier.map_or(&model.target_name, |classifier| &classifier.classes.column),
        targets: if several { model.targets().map(|target| target.name).collect() } else { Vec::new() },
        classes: classifier.map(|classifier| &classifier.classes.labels[..]),
        temperature: classifier.map(|classifier| classifier.temperature),
        landmarks: model.landmarks(),
        landmark_rows: &model.landmark_rows,
        map: map.map(|map| map.values.chunks_exact(model.feature_names.len()).collect()),
        bounds: model.scaler.bounds.as_deref(),
        scales: model.scales.as_deref(),
        test: TestReport::of(model),
        importances: model.importances.as_ref().map(|measured| &measured.columns[..]),
        importance_rows: model.importances.as_ref().map(|measured| measured.rows),
        kernel: model.kernel.kind,
        sigma: model.kernel.sigma,
        bandwidth: model.kernel.bandwidth(),
        ridge: model.ridge,
        precision,
        trained_on: &model.trained_on,
        trained_rows: model.trained_rows,
        weight: model.weight(),
        missing: Some(model.recipe().missing).filter(|missing| *missing != Missing::Error),
        tells_gaps: model.recipe().columns.iter().any(|column| column.indicator),
        missing_values: model.recipe().missing_values,
        taken: TakenReport::of(&model.recipe()),
        taken_groups: groups(&model.recipe(), &UNDO),
        train_nrmse: model.train_nrmse,
        export_numbers: model.quantise.map(|bits| name_of_numbers(Some(bits))),
        export_bytes: bundle.as_ref().map(Bundle::c_bytes),
        digest: digest.map(|digest| format!("{digest:08x}")),
    }
}

fn text(report: &Report<'_>) -> String {
    let mut rows = vec![
        row(
            "target",
            if report.targets.is_empty() { report.target.to_owned() } else { report.targets.join(", ") },
        ),
        row(
            "features",
            match (report.features.len(), report.bounds) {
                (count, None) => count.to_string(),
                (count, Some(_)) => format!("{count}, clipped smoothly"),
            },
        ),
        row(
            "landmarks",
            match report.landmark_rows {
                [] => format!("{} (points, not rows)", report.landmarks),
                _ => report.landmarks.to_string(),
            },
        ),
        row("kernel", format!("{:?}", report.kernel)),
        row("bandwidth", short_or_dash(report.bandwidth)),
        row("ridge", short(report.ridge)),
        row("precision", report.precision),
        row("rows", report.trained_rows),
        row(
            "test error",
            report.test.as_ref().map_or("- (it was not measured)".to_owned(), TestReport::words),
        ),
        row("training error", short(report.train_nrmse)),
        row("bytes of constants in C", report.export_bytes.map_or("-".to_owned(), |bytes| bytes.to_string())),
        row("digest", report.digest.as_deref().unwrap_or("-")),
    ];
    if let Some(numbers) = report.export_numbers {
        rows.push(row("numbers of an export", format!("{numbers}, as fit --flash chose")));
    }
    if let Some(classes) = report.classes {
        rows.insert(1, row("classes", classes.join(", ")));
        rows.insert(2, row("temperature", short_or_dash(report.temperature)));
    }
    if let Some(weight) = report.weight {
        rows.push(row("weights", weight));
    }
    let gaps = report.missing.map(|missing| match missing {
        Missing::Drop => "rows with one are left out",
        Missing::Indicator if report.tells_gaps => "filled with means of training, and a feature tells them",
        Missing::Indicator => "filled with means of training; none were there, so that no feature tells them",
        _ => "filled with means of training",
    });
    rows.extend(gaps.map(|gaps| row("missing values", gaps)));
    if let Some(markers) = &report.missing_values {
        rows.push(row("markers of missing values", format!("empty fields, {}", markers.join(", "))));
    }
    rows.extend(report.taken_groups.iter().cloned());
    if let Some(map) = &report.map {
        rows.insert(4, row("map", format!("{} x {}", map.len(), report.features.len())));
    }
    let mut text = listed(&["trained on", report.trained_on], &rows);
    text.push('\n');
    match (report.importances, report.importance_rows) {
        (Some(columns), Some(rows)) => {
            text.push_str(&aligned(&["column", "importance", "deviation"], &ranked(columns)));
            text.push_str(&format!(
                "\nAn importance is the rise of the error where the column is permuted, over the error: the mean of {PERMUTATIONS} permutations of {rows} \
                 rows that no choice has seen.\n"
            ));
        }
        _ => text.push_str("No importance of columns was measured: fit does so, on rows that it leaves out; learn and merge do not.\n"),
    }
    let Some(scales) = report.scales else {
        text.push_str(&format!("\nfeatures: {}\n", plain_line(&report.features.join(", "))));
        return text;
    };
    let mut by_scale: Vec<(&String, f64)> = report.features.iter().zip(scales.iter().copied()).collect();
    by_scale.sort_by(|one, other| other.1.total_cmp(&one.1));
    let lines = by_scale.into_iter().map(|(name, scale)| vec![name.clone(), short(scale)]);
    text.push('\n');
    text.push_str(&aligned(&["feature", "inverse length-scale"], &lines.collect::<Vec<_>>()));
    for (at, direction) in report.map.iter().flatten().enumerate() {
        text.push_str(&format!("\ndirection {}: {}", at + 1, strongest(direction, report.features)));
    }
    if report.map.is_some() {
        text.push('\n');
    }
    text
}

/// Return the features with the largest entries of a direction, as a signed sum.
fn strongest(direction: &[f64], names: &[String]) -> String {
    let mut entries: Vec<(&f64, &String)> = direction.iter().zip(names).collect();
    entries.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    let term = |(entry, name): &(&f64, &String)| {
        format!("{} {} {}", if **entry < 0.0 { "-" } else { "+" }, short(entry.abs()), plain_line(name))
    };
    entries.iter().take(STRONGEST).map(term).collect::<Vec<_>>().join(" ")
}
