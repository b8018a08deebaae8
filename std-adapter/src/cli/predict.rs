//! `dpp-nystrom predict`.

use super::arguments::Predict;
use super::output::{keep_inputs, note, short, write_column};
use dpp_nystrom::export::DeviceModel;
use dpp_nystrom::table;
use dpp_nystrom::{Error, model_file, root_mean_square};

pub(crate) fn run(arguments: &Predict) -> Result<(), Error> {
    keep_inputs(arguments.out.as_deref(), &[&arguments.model, &arguments.data])?;
    if DeviceModel::is_one(&arguments.model) {
        return run_device(arguments);
    }
    let model = model_file::load(&arguments.model)?;
    let rows = table::read_features(&arguments.data, &model.feature_names, Some(&model.target_name))?;
    let predictions = model.predict(&rows)?;
    write_column(arguments.out.as_deref(), &model.target_name, predictions.iter())?;
    if rows.target.is_some() {
        let error = root_mean_square(&predictions, &rows);
        note(&format!(
            "root mean square error {}, {} of the training target's standard deviation",
            short(error),
            short(error / model.target_deviation)
        ));
    }
    Ok(())
}

/// What a device answers from these bytes, bit for bit. They hold no names: columns are found by place.
fn run_device(arguments: &Predict) -> Result<(), Error> {
    let model = DeviceModel::read(&arguments.model)?;
    let names: Vec<String> = (0..model.width()?).map(|feature| format!("x{feature}")).collect();
    let rows = table::read_features(&arguments.data, &names, None)?;
    let predictions = model.predict(&rows)?;
    write_column(arguments.out.as_deref(), "prediction", predictions.iter())?;
    if rows.target.is_some() {
        note(&format!("root mean square error {}", short(root_mean_square(&predictions, &rows))));
    }
    Ok(())
}
