//! `dpp-nystrom predict`.

use crate::bar::Bar;
use crate::error::Error;
use crate::output::{keep_inputs, note, short, write_column, write_column_in_parts};
use clap::Args;
use dpp_nystrom::{
    Error as LibraryError, data::store::Store, data::table, data::table::Table, model::Model,
    model::export::DeviceModel, observer::Observer,
};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// A model written by fit, or by export as bytes: the latter predicts exactly as the device does
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Raw rows: CSV, TSV, ARFF or NPY, gzipped or not; - is standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Write the predictions to a CSV file instead of standard output
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// Accumulates squared errors of the rows that have a target.
#[derive(Default)]
struct Errors {
    squares: f64,
    targets: u64,
}

pub(crate) fn run(arguments: &Predict) -> Result<(), Error> {
    keep_inputs(arguments.out.as_deref(), &[&arguments.model, &arguments.data])?;
    if DeviceModel::is_one(&arguments.model) {
        return run_device(arguments);
    }
    let model = Model::load(&arguments.model)?;
    let errors = write_column_in_parts(arguments.out.as_deref(), &model.target_name, |put| {
        let (mut errors, mut before) = (Errors::default(), 0);
        let store = Store::is_store(&arguments.data).then(|| Store::open(&arguments.data)).transpose()?;
        Bar.begin("rows", store.as_ref().map_or(0, Store::len) as u64);
        let mut take = |block: Table| {
            let predictions = model.predict_table(&block).map_err(|error| match error {
                LibraryError::Prediction { row } => LibraryError::Prediction { row: before + row },
                other => other,
            })?;
            before += predictions.len();
            Bar.advance(predictions.len() as u64);
            for (prediction, target) in predictions.iter().zip(block.target.iter().flatten()) {
                errors.squares += (prediction - target) * (prediction - target);
                errors.targets += 1;
            }
            predictions.iter().try_for_each(|prediction| put(&prediction.to_string()))
        };
        if let Some(store) = store {
            store.has_features(&model.feature_names)?;
            store.read_blocks(&mut take)?;
        } else {
            let target = Some(model.target_name.as_str());
            table::read_feature_blocks(&arguments.data, &model.feature_names, target, &mut take)?;
        }
        Bar.end();
        Ok(errors)
    })?;
    if errors.targets > 0 {
        let error = (errors.squares / errors.targets as f64).sqrt();
        note(&format!(
            "root mean square error {}, {} of the training target's standard deviation",
            short(error),
            short(error / model.target_deviation)
        ));
    }
    Ok(())
}

/// Predict from exported bytes exactly as a device does. They contain no names: columns are matched by position.
fn run_device(arguments: &Predict) -> Result<(), Error> {
    let model = DeviceModel::read(&arguments.model)?;
    let names: Vec<String> = (0..model.features()?).map(|feature| format!("x{feature}")).collect();
    let rows = table::read_features(&arguments.data, &names, None)?;
    let predictions = model.predict(&rows)?;
    write_column(arguments.out.as_deref(), "prediction", predictions.iter())?;
    if rows.target.is_some() {
        note(&format!("root mean square error {}", short(rows.root_mean_square(&predictions))));
    }
    Ok(())
}
