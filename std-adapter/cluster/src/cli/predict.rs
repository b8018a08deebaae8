//! `dpp-nystrom-cluster predict`.

use super::arguments::Predict;
use super::output::{Spinner, note, short};
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::parquet::arrow::ArrowWriter;
use dpp_nystrom::Error as AdapterError;
use dpp_nystrom::Model;
use dpp_nystrom_cluster::Error;
use dpp_nystrom_host::atomic_file::{check_writable, replace_with};
use std::io;

pub(crate) async fn run(arguments: &Predict) -> Result<(), Error> {
    check_writable(&arguments.out)?;
    let model = Model::load(&arguments.model)?;
    let session = arguments.source.session().await?;
    let rows = session.rows_for(arguments.source.sql(), &model).await?;
    let target = rows.target_name.clone();
    let spinner = Spinner::new("rows");
    let mut predictions = rows.predict(&model, &arguments.column).await?;

    let failed = |source| AdapterError::write(&arguments.out, source);
    let pending = replace_with(&arguments.out)?;
    let written = |error: datafusion::parquet::errors::ParquetError| failed(io::Error::other(error));
    let mut writer =
        ArrowWriter::try_new(pending.file().map_err(failed)?, predictions.schema(), None).map_err(written)?;
    let (mut count, mut squares, mut targets) = (0, 0.0, 0_u64);
    while let Some(batch) = predictions.next().await {
        let batch = batch?;
        count += batch.num_rows();
        if let Some(target) = &target {
            let (sum, known) = squared_errors(&batch, target, &arguments.column)?;
            squares += sum;
            targets += known;
        }
        writer.write(&batch).map_err(written)?;
    }
    writer.close().map_err(written)?;
    pending.persist().map_err(failed)?;
    drop(spinner);
    note(&format!("{count} rows"));
    if targets > 0 {
        let error = (squares / targets as f64).sqrt();
        note(&format!(
            "root mean square error {}, {} of the training target's standard deviation",
            short(error),
            short(error / model.target_deviation)
        ));
    }
    Ok(())
}

/// Return the sum over the rows with a known target, and their number.
fn squared_errors(batch: &RecordBatch, target: &str, prediction: &str) -> Result<(f64, u64), Error> {
    let column = |name: &str| match batch.column_by_name(name) {
        Some(column) => Ok(cast(column, &DataType::Float64)?),
        None => Err(Error::Malformed),
    };
    // A target that is not numeric is another than the model's.
    let (Ok(targets), Ok(predictions)) = (column(target), column(prediction)) else { return Ok((0.0, 0)) };
    let targets = targets.as_primitive::<Float64Type>();
    let predictions = predictions.as_primitive::<Float64Type>();
    let known = targets.iter().zip(predictions.iter()).filter_map(|(target, prediction)| {
        let error = target? - prediction?;
        error.is_finite().then_some(error * error)
    });
    Ok(known.fold((0.0, 0), |(sum, count), square| (sum + square, count + 1)))
}
