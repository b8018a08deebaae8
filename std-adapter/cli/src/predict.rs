//! `dpp-nystrom predict`.

use crate::bar::Bar;
use crate::choice::{Choice, one_of};
use crate::columns::{MatchArguments, tell};
use crate::error::Error;
use crate::output::{cell_of, keep_inputs, names_record, note, short, write_rows_in_parts};
use clap::Args;
use dpp_nystrom::core::{Assessment, Limits, Rarity, Scalar};
use dpp_nystrom::{
    Error as LibraryError, data::store::Store, data::table::Options, data::table::Reading,
    data::table::Recipe, data::table::Remarks, data::table::Table, model::Confidence, model::Model,
    model::export::DeviceModel, observer::Observer,
};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// A model written by fit, or by export as bytes: the latter predicts exactly as the device does
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Raw rows: CSV, TSV, ARFF, NPY or LIBSVM, gzipped or not, or a row store; - is standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) columns: MatchArguments,
    /// Write the predictions to a CSV file instead of standard output
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Add columns that say how far a prediction can be relied on
    #[arg(long, value_parser = one_of(&COLUMNS), value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) with: Vec<Column>,
    /// Cut predictions to the range of the targets that the model was trained on
    #[arg(long)]
    pub(crate) clamp: bool,
}

/// A column beside the predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Variance,
    Nearest,
    Novelty,
}

const COLUMNS: [Choice<Column>; 3] = [
    ("variance", "variance of a new observation; the model needs fit --variance", Column::Variance),
    (
        "nearest",
        "distance to the nearest landmark, in standard deviations of the features, or as a learned map has it",
        Column::Nearest,
    ),
    (
        "novelty",
        "1 where the distance or the Nyström residual is beyond that of 99 % of the training rows",
        Column::Novelty,
    ),
];

/// Return the rows' predictions, and the other columns as text that begins with a comma.
fn predicted(
    model: &Model,
    arguments: &Predict,
    block: &Table,
) -> Result<(Vec<f64>, Vec<String>), LibraryError> {
    let clamp = |values| if arguments.clamp { model.clamp(values) } else { values };
    if arguments.with.is_empty() {
        return Ok((clamp(model.predict_table(block)?), Vec::new()));
    }
    let limits = model.confidence.as_ref().map(Confidence::limits);
    let assessed = model.assess(&block.features)?;
    let columns = columns(&assessed, limits.as_ref(), &arguments.with);
    Ok((clamp(assessed.into_iter().map(|assessment| assessment.value).collect()), columns))
}

/// Return the columns beside the predictions, as text that begins with a comma.
fn columns<T: Scalar>(
    assessed: &[Assessment<T>],
    limits: Option<&Limits<T>>,
    with: &[Column],
) -> Vec<String> {
    let column = |assessment: &Assessment<T>, column| match column {
        Column::Variance => format!(",{}", assessment.variance.unwrap_or(T::NAN).to_f64()),
        Column::Nearest => format!(",{}", assessment.nearest.to_f64()),
        Column::Novelty => {
            let novel = limits.is_some_and(|limits| limits.is_novel(assessment, Rarity::Hundredth));
            format!(",{}", u8::from(novel))
        }
    };
    assessed.iter().map(|row| with.iter().map(|&with| column(row, with)).collect()).collect()
}

/// Return the name of each column of the output.
fn column_names<'n>(prediction: &'n str, with: &[Column]) -> Vec<&'n str> {
    let others = with.iter().filter_map(|with| COLUMNS.iter().find(|choice| choice.2 == *with));
    std::iter::once(prediction).chain(others.map(|choice| choice.0)).collect()
}

/// Return the header of the output.
fn header(id_names: &[String], names: &[&str]) -> String {
    names_record(id_names.iter().map(String::as_str).chain(names.iter().copied()))
}

/// Return a row of the output: what identifies it, and the rest.
fn with_ids(row: usize, id_names: &[String], ids: &[String], rest: &str) -> String {
    let own = ids.iter().skip(row * id_names.len()).take(id_names.len());
    own.map(|id| cell_of(id) + ",").collect::<String>() + rest
}

/// Check that the model holds what is asked for: limits, and what variances need. The advice says how to get each.
fn check(arguments: &Predict, limits: bool, variances: bool, advice: [&'static str; 2]) -> Result<(), Error> {
    let missing = |what, advice| Err(Error::NotInModel { path: arguments.model.clone(), what, advice });
    if !limits && (arguments.clamp || arguments.with.contains(&Column::Novelty)) {
        return missing("limits are", advice[0]);
    }
    if !variances && arguments.with.contains(&Column::Variance) {
        return missing("variances are", advice[1]);
    }
    Ok(())
}

/// Accumulates squared errors of the rows that have a target, in standard deviations of the training target.
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
    let confidence = model.confidence.as_ref();
    let variances = confidence.is_some_and(|confidence| !confidence.triangle.is_empty());
    let advice = ["fit it to rows again", "fit it again with --variance"];
    check(arguments, confidence.is_some(), variances, advice)?;
    let names = column_names(&model.target_name, &arguments.with);
    let recipe = model.recipe();
    let (errors, remarks) = write_rows_in_parts(arguments.out.as_deref(), |put| {
        let (mut errors, mut before, mut remarks) = (Errors::default(), 0, Remarks::default());
        let store = Store::is_store(&arguments.data).then(|| Store::open(&arguments.data)).transpose()?;
        Bar.begin("rows", store.as_ref().map_or(0, Store::len) as u64);
        let mut take = |block: Table, id_names: &[String], ids: &[String]| {
            if before == 0 {
                put(&header(id_names, &names))?;
            }
            if block.rows() == 0 {
                return Ok(());
            }
            let (predictions, columns) =
                predicted(&model, arguments, &block).map_err(|error| match error {
                    LibraryError::Prediction { row } => LibraryError::Prediction { row: before + row },
                    other => other,
                })?;
            before += predictions.len();
            Bar.advance(predictions.len() as u64);
            for (prediction, target) in predictions.iter().zip(block.target.iter().flatten()) {
                let error = (prediction - target) / model.target_deviation;
                errors.squares += error * error;
                errors.targets += 1;
            }
            let columns = columns.iter().map(String::as_str).chain(std::iter::repeat(""));
            predictions.iter().zip(columns).enumerate().try_for_each(|(row, (prediction, others))| {
                put(&with_ids(row, id_names, ids, &format!("{prediction}{others}")))
            })
        };
        if let Some(store) = store {
            store.has_features(&model.feature_names)?;
            store.read_blocks(|block| take(block, &[], &[]))?;
        } else {
            arguments.columns.options().read_blocks_for(&recipe, &arguments.data, |block| {
                remarks.add(block.remarks);
                take(block.table, &block.id_names, &block.ids)
            })?;
        }
        Bar.end();
        Ok((errors, remarks))
    })?;
    tell(&remarks, &recipe);
    if errors.targets > 0 {
        let error = (errors.squares / errors.targets as f64).sqrt();
        note(&format!(
            "root mean square error {}, {} of the training target's standard deviation",
            short(error * model.target_deviation),
            short(error)
        ));
    }
    Ok(())
}

/// Predict from exported bytes exactly as a device does. They contain no names: columns are matched by position.
fn run_device(arguments: &Predict) -> Result<(), Error> {
    let model = DeviceModel::read(&arguments.model)?;
    let names: Vec<String> = (0..model.features()?).map(|feature| format!("x{feature}")).collect();
    let options = Options { by_position: true, ..arguments.columns.options() };
    let Reading { table: rows, id_names, ids, .. } =
        options.read_for(&Recipe::of_names(&names, None), &arguments.data)?;
    note("exported bytes hold no names of features: the first columns are taken in their order");
    let assessed = model.assess(&rows)?;
    let limits = model.limits()?;
    let variances = assessed.iter().all(|assessment| assessment.variance.is_some());
    let advice = ["export it again with --with novelty", "export it again with --with variance"];
    check(arguments, limits.is_some(), variances, advice)?;
    let clamp = |value| limits.filter(|_| arguments.clamp).map_or(value, |limits| limits.clamp(value));
    let predictions: Vec<f64> = assessed.iter().map(|assessment| clamp(assessment.value).into()).collect();
    let others = columns(&assessed, limits.as_ref(), &arguments.with);
    let names = column_names("prediction", &arguments.with);
    write_rows_in_parts(arguments.out.as_deref(), |put| {
        put(&header(&id_names, &names))?;
        predictions.iter().zip(&others).enumerate().try_for_each(|(row, (value, others))| {
            put(&with_ids(row, &id_names, &ids, &format!("{value}{others}")))
        })
    })?;
    if rows.target.is_some() {
        note(&format!("root mean square error {}", short(rows.root_mean_square(&predictions))));
    }
    Ok(())
}
