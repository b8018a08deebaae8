//! `dpp-nystrom predict`.

use crate::arguments::readable;
use crate::bar::Bar;
use crate::columns::{MatchArguments, tell};
use crate::error::Error;
use crate::output::{
    cell_of, inert, is_array, keep_inputs, names_record, note, short, write_array, write_rows_in_parts,
};
use clap::Args;
use dpp_nystrom::core::{Assessment, Class, Limits, Rarity, Scalar};
use dpp_nystrom::{
    Error as LibraryError, Model,
    data::store::Store,
    data::table::{Options, Reading, Recipe, Remarks, Table},
    model::export::DeviceModel,
    model::{Classified, Confidence},
    observer::Observer,
    regression::ClassTally,
};
use dpp_nystrom_host::atomic_file::check_writable;
use dpp_nystrom_lab::report::ClassReport;
use dpp_nystrom_options::{Choice, one_of};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// A model written by fit, or by export as bytes: the latter predicts exactly as the device does
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[arg(value_name = "DATA", help = readable("Raw rows"))]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) columns: MatchArguments,
    /// Write the predictions to a CSV file instead of standard output, or by its ending .npy to an array of
    /// 64-bit numbers: of classes the place of the class in the model's list, from 0, and without ids
    #[arg(long, value_name = "FILE.csv|FILE.npy")]
    pub(crate) out: Option<PathBuf>,
    /// Add columns that say how far a prediction can be relied on: variance, nearest and novelty for models
    /// of one target that is a number, probabilities for classes
    #[arg(long, value_parser = one_of(&COLUMNS), value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) with: Vec<Column>,
    /// Cut predictions to the range of the targets that the model was trained on
    #[arg(long)]
    pub(crate) clamp: bool,
}

/// A column beside the predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Probabilities,
    Variance,
    Nearest,
    Novelty,
}

const COLUMNS: [Choice<Column>; 4] = [
    ("probabilities", "of classes, the probability of each", Column::Probabilities),
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

/// What is written of a row.
struct Line {
    /// The index of its class, before the numbers.
    class: Option<usize>,
    numbers: Vec<f64>,
}

impl Line {
    /// Return the fields.
    fn text(&self, labels: &[String]) -> String {
        let class = self.class.map(|class| cell_of(&inert(&labels[class])));
        let fields: Vec<String> = class.into_iter().chain(self.numbers.iter().map(f64::to_string)).collect();
        fields.join(",")
    }

    /// Return the entries of an array.
    fn entries(&self) -> Vec<f64> {
        self.class.map(|class| class as f64).into_iter().chain(self.numbers.iter().copied()).collect()
    }
}

/// Takes a line of text, and the entries of an array that stand for it.
type Put<'a> = dyn FnMut(&str, &[f64]) -> Result<(), LibraryError> + 'a;

/// Write what `make` puts: an array of so many columns if the path ends so, or else text.
fn write_predictions<A>(
    path: Option<&Path>,
    columns: usize,
    make: impl FnOnce(&mut Put<'_>) -> Result<A, LibraryError>,
) -> Result<A, LibraryError> {
    let Some(path) = path.filter(|path| is_array(path)) else {
        return write_rows_in_parts(path, |put| make(&mut |text, _| put(text)));
    };
    check_writable(path)?;
    let mut all = Vec::new();
    let made = make(&mut |_, entries| {
        all.extend_from_slice(entries);
        Ok(())
    })?;
    write_array(path, all, columns)?;
    Ok(made)
}

/// Return a line for each row: predictions, or a class with its probability and margin, and the other
/// columns; and count errors.
fn predicted(
    model: &Model,
    arguments: &Predict,
    block: &Table,
    further: &[Vec<f64>],
    errors: &mut Errors,
) -> Result<Vec<Line>, LibraryError> {
    let limits = model.confidence.as_ref().map(Confidence::limits);
    let clamp = |values| if arguments.clamp { model.clamp(values) } else { values };
    let (predictions, others) = if arguments.with.iter().all(|with| *with == Column::Probabilities) {
        (clamp(model.predict_table(block)?), Vec::new())
    } else {
        let assessed = model.assess(&block.features)?;
        let columns = columns(&assessed, limits.as_ref(), &arguments.with);
        (clamp(assessed.into_iter().map(|assessment| assessment.value).collect()), columns)
    };
    let others = others.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
    let targets = || block.target.iter().chain(further);
    let line = |((row, outputs), others): ((usize, &[f64]), &[f64])| {
        let Some(classifier) = &model.classifier else {
            let own = outputs.iter().zip(targets()).zip(model.targets());
            let known = own.zip(&mut errors.squares).filter(|(((_, target), _), _)| !target[row].is_nan());
            for (((output, target), column), (squares, count)) in known {
                *squares += ((output - target[row]) / column.deviation).powi(2);
                *count += 1;
            }
            return Ok(Line { class: None, numbers: [outputs, others].concat() });
        };
        let Classified { index, probability, margin } = classifier.classify(outputs)?;
        // The class of a row that the model does not know is past the last.
        let own = block.target.as_ref().map(|target| target[row]).filter(|target| !target.is_nan());
        if let Some(own) = own.map(|own| own as usize).filter(|&own| own < outputs.len()) {
            errors.labelled += 1;
            errors.classes.add(own, index, -classifier.log_probability(outputs, own)?);
        }
        let mut numbers = vec![probability, margin];
        if arguments.with.contains(&Column::Probabilities) {
            for class in 0..outputs.len() {
                numbers.push(classifier.log_probability(outputs, class)?.exp());
            }
        }
        Ok(Line { class: Some(index), numbers })
    };
    predictions.chunks_exact(model.outputs()).enumerate().zip(others).map(line).collect()
}

/// Return the columns beside the predictions.
fn columns<T: Scalar>(
    assessed: &[Assessment<T>],
    limits: Option<&Limits<T>>,
    with: &[Column],
) -> Vec<Vec<f64>> {
    let column = |assessment: &Assessment<T>, column| match column {
        // No row of classes is assessed.
        Column::Probabilities => f64::NAN,
        Column::Variance => assessment.variance.unwrap_or(T::NAN).to_f64(),
        Column::Nearest => assessment.nearest.to_f64(),
        Column::Novelty => {
            let novel = limits.is_some_and(|limits| limits.is_novel(assessment, Rarity::Hundredth));
            f64::from(u8::from(novel))
        }
    };
    assessed.iter().map(|row| with.iter().map(|&with| column(row, with)).collect()).collect()
}

/// Return the name of each column of the output.
fn column_names(predictions: Vec<String>, labels: &[String], with: &[Column]) -> Vec<String> {
    let mut names = predictions;
    for column in with {
        match column {
            Column::Probabilities => {
                names.extend(labels.iter().map(|label| format!("probability of {label}")));
            }
            other => {
                let own = COLUMNS.iter().filter(|choice| choice.2 == *other);
                names.extend(own.map(|choice| choice.0.to_owned()));
            }
        }
    }
    names
}

/// Return the names of what a model predicts.
fn predictions_of(model: &Model) -> Vec<String> {
    match &model.classifier {
        Some(classifier) => {
            vec![classifier.classes.column.clone(), "probability".to_owned(), "margin".to_owned()]
        }
        None => model.targets().map(|target| target.name).collect(),
    }
}

/// Return the header of the output.
fn header(id_names: &[String], names: &[String]) -> String {
    names_record(id_names.iter().chain(names).map(String::as_str))
}

/// Return a row of the output: what identifies it, and the rest.
pub(crate) fn with_ids(row: usize, id_names: &[String], ids: &[String], rest: &str) -> String {
    let own = ids.iter().skip(row * id_names.len()).take(id_names.len());
    own.map(|id| cell_of(id) + ",").collect::<String>() + rest
}

/// Check that the model holds what is asked for: limits, what variances need, and classes. The advice says
/// how to get the first two.
fn check(
    arguments: &Predict,
    [limits, variances, classes]: [bool; 3],
    advice: [&'static str; 2],
) -> Result<(), Error> {
    let missing = |what, advice| Err(Error::NotInModel { path: arguments.model.clone(), what, advice });
    if !limits && (arguments.clamp || arguments.with.contains(&Column::Novelty)) {
        return missing("limits are", advice[0]);
    }
    if !variances && arguments.with.contains(&Column::Variance) {
        return missing("variances are", advice[1]);
    }
    if !classes && arguments.with.contains(&Column::Probabilities) {
        return missing("classes are", "--with probabilities is for a model of classes that fit wrote");
    }
    Ok(())
}

/// The errors of the rows that have targets.
struct Errors {
    /// The sum of squares for each target, in standard deviations of the training target, and the number of
    /// rows that have it.
    squares: Vec<(f64, u64)>,
    classes: ClassTally,
    /// The number of rows of a known class, and of all rows.
    labelled: u64,
    rows: u64,
}

impl Errors {
    fn of(model: &Model) -> Self {
        let outputs = model.outputs();
        Self { squares: vec![(0.0, 0); outputs], classes: ClassTally::new(outputs), labelled: 0, rows: 0 }
    }

    /// Tell them, if there are any.
    fn tell(self, model: &Model) {
        let errors = self.classes.errors();
        let rows = self.rows;
        // The rows to predict need no weights.
        let once = if model.weight().is_some() { ", each row counted once" } else { "" };
        let among = |known: u64| match known < rows {
            true => format!(" over the {known} of {rows} rows whose target is known{once}"),
            false => once.to_owned(),
        };
        if let Some(report) = ClassReport::of(model, errors.as_ref()) {
            note(&(report.line() + &among(self.labelled)));
        }
        let several = if model.outputs() > 1 { Some(()) } else { None };
        for (target, (squares, known)) in
            model.targets().zip(self.squares).filter(|(_, (_, known))| *known > 0)
        {
            let error = (squares / known as f64).sqrt();
            let name = several.map_or_else(String::new, |()| format!("{}: ", target.name));
            note(&format!(
                "{name}root mean square error {}, {} of the training target's standard deviation{}",
                short(error * target.deviation),
                short(error),
                among(known)
            ));
        }
    }
}

pub(crate) fn run(arguments: &Predict) -> Result<(), Error> {
    keep_inputs(arguments.out.as_deref(), &[&arguments.model, &arguments.data])?;
    if DeviceModel::is_one(&arguments.model) {
        return run_device(arguments);
    }
    let model = Model::load(&arguments.model)?;
    let confidence = model.confidence.as_ref();
    let variances = confidence.is_some_and(|confidence| !confidence.triangle.is_empty());
    let one = model.targets().count() == 1 && model.classifier.is_none();
    let variance =
        if one { "fit it again with --variance" } else { "variances are of one target that is a number" };
    let advice = ["fit it to rows again", variance];
    if !one && (arguments.clamp || arguments.with.contains(&Column::Novelty)) {
        let what = "an assessment of predictions (--with novelty, --clamp)";
        return Err(Error::SeveralTargets(what));
    }
    let labels = model.classifier.as_ref().map_or(&[][..], |classifier| &classifier.classes.labels);
    check(arguments, [confidence.is_some(), variances, !labels.is_empty()], advice)?;
    let names = column_names(predictions_of(&model), labels, &arguments.with);
    let recipe = model.recipe();
    let (errors, remarks) = write_predictions(arguments.out.as_deref(), names.len(), |put| {
        let (mut errors, mut before, mut remarks) = (Errors::of(&model), 0, Remarks::default());
        let store = Store::is_store(&arguments.data).then(|| Store::open(&arguments.data)).transpose()?;
        Bar.begin("rows", store.as_ref().map_or(0, Store::len) as u64);
        let mut take = |block: Table, further: &[Vec<f64>], id_names: &[String], ids: &[String]| {
            if before == 0 {
                put(&header(id_names, &names), &[])?;
            }
            if block.rows() == 0 {
                return Ok(());
            }
            let lines = predicted(&model, arguments, &block, further, &mut errors);
            let lines = lines.map_err(|error: LibraryError| error.after_rows(before))?;
            before += lines.len();
            errors.rows += lines.len() as u64;
            Bar.advance(lines.len() as u64);
            let mut lines = lines.iter().enumerate();
            lines.try_for_each(|(row, line)| {
                put(&with_ids(row, id_names, ids, &line.text(labels)), &line.entries())
            })
        };
        if let Some(store) = store {
            store.has_features(&model.feature_names)?;
            let classes = classes_of(&store, &model);
            let has_target = has_target_of(&store, &model);
            store.read_blocks(|mut block| {
                block.target = block.target.filter(|_| has_target);
                for target in block.target.iter_mut().flatten().filter(|_| !classes.is_empty()) {
                    *target = classes[*target as usize] as f64;
                }
                take(block, &[], &[], &[])
            })?;
        } else {
            let options = Options { partly_labelled: true, ..arguments.columns.options(&recipe) };
            options.read_blocks_for(&recipe, &arguments.data, |block| {
                remarks.add(block.remarks);
                take(block.table, &block.further, &block.id_names, &block.ids)
            })?;
        }
        Bar.end();
        Ok((errors, remarks))
    })?;
    tell(&remarks, &recipe);
    errors.tell(&model);
    Ok(())
}

/// Whether the target of a store is what the model predicts. Say so if it is not.
fn has_target_of(store: &Store, model: &Model) -> bool {
    let Some(target) = &store.description().target else { return false };
    let classes = model.classifier.as_ref().map(|classifier| &classifier.classes);
    let wanted = classes.map_or(&model.target_name, |classes| &classes.column);
    let same_kind = classes.is_none() == store.description().classes.is_empty();
    if target.name == *wanted && same_kind {
        return true;
    }
    let [stored, predicted] = match (same_kind, &classes) {
        (true, _) => ["", ""],
        (false, Some(_)) => [", a number", ", a class"],
        (false, None) => [", a class", ", a number"],
    };
    note(&format!(
        "no errors are measured: the store's target is {:?}{stored}, and the model predicts {wanted:?}{predicted}",
        target.name
    ));
    false
}

/// Return the class of a model for each of a store: past the last for a label that the model does not know.
fn classes_of(store: &Store, model: &Model) -> Vec<usize> {
    let known = model.classifier.as_ref().map_or(&[][..], |classifier| &classifier.classes.labels);
    let place = |label| known.iter().position(|other| *other == label).unwrap_or(known.len());
    store.labels().into_iter().map(place).collect()
}

/// Predict from exported bytes exactly as a device does. They contain no names: columns are matched by
/// position.
fn run_device(arguments: &Predict) -> Result<(), Error> {
    let model = DeviceModel::read(&arguments.model)?;
    let names: Vec<String> = (0..model.features()?).map(|feature| format!("x{feature}")).collect();
    let recipe = Recipe::of_names(&names, None);
    let own = arguments.columns.options(&recipe);
    let options = Options { by_position: true, partly_labelled: true, ..own };
    let Reading { table: rows, id_names, ids, remarks, recipe, .. } =
        options.read_for(&recipe, &arguments.data)?;
    note("exported bytes hold no names of features: the first columns are taken in their order");
    tell(&remarks, &recipe);
    if model.outputs()? > 1 {
        return run_outputs(arguments, &model, &rows, (&id_names, &ids));
    }
    let assessed = model.assess(&rows)?;
    let limits = model.limits()?;
    let variances = assessed.iter().all(|assessment| assessment.variance.is_some());
    let advice = ["export it again with --with novelty", "export it again with --with variance"];
    check(arguments, [limits.is_some(), variances, false], advice)?;
    let clamp = |value| limits.filter(|_| arguments.clamp).map_or(value, |limits| limits.clamp(value));
    let predictions: Vec<f64> = assessed.iter().map(|assessment| clamp(assessment.value).into()).collect();
    let others = columns(&assessed, limits.as_ref(), &arguments.with);
    let names = column_names(vec!["prediction".to_owned()], &[], &arguments.with);
    write_predictions(arguments.out.as_deref(), names.len(), |put| {
        put(&header(&id_names, &names), &[])?;
        predictions.iter().zip(&others).enumerate().try_for_each(|(row, (value, others))| {
            let line = Line { class: None, numbers: [&[*value], &others[..]].concat() };
            put(&with_ids(row, &id_names, &ids, &line.text(&[])), &line.entries())
        })
    })?;
    if let Some(target) = &rows.target {
        let known = target.iter().zip(&predictions).filter(|(target, _)| !target.is_nan());
        let (known, predictions): (Vec<f64>, Vec<f64>) = known.unzip();
        let among = match known.len() < rows.rows() {
            true => format!(" over the {} of {} rows whose target is known", known.len(), rows.rows()),
            false => String::new(),
        };
        let error = Table { target: Some(known), ..rows }.root_mean_square(&predictions);
        note(&format!("root mean square error {}{among}", short(error)));
    }
    Ok(())
}

/// Write all outputs of exported bytes, and what a device takes for the class: the place of the largest, from
/// 0, and by how much it exceeds the second.
fn run_outputs(
    arguments: &Predict,
    model: &DeviceModel,
    rows: &Table,
    (id_names, ids): (&[String], &[String]),
) -> Result<(), Error> {
    if arguments.clamp || !arguments.with.is_empty() {
        return Err(Error::SeveralTargets("an assessment of predictions (--with, --clamp)"));
    }
    let outputs = model.outputs()?;
    let predicted = model.predict(rows)?;
    let own = (0..outputs).map(|output| format!("output {output}"));
    let names: Vec<String> = own.chain(["largest", "margin"].map(str::to_owned)).collect();
    write_predictions(arguments.out.as_deref(), names.len(), |put| {
        put(&header(id_names, &names), &[])?;
        predicted.chunks_exact(outputs).enumerate().try_for_each(|(row, own)| {
            // In the arithmetic of the device, whose numbers these are.
            let singles: Vec<f32> = own.iter().map(|&output| output as f32).collect();
            let Class { index, margin } = Class::of(&singles)?;
            let line = Line { class: None, numbers: [own, &[index as f64, f64::from(margin)]].concat() };
            put(&with_ids(row, id_names, ids, &line.text(&[])), &line.entries())
        })
    })?;
    note(
        "exported bytes do not tell classes from targets: where outputs are classes, `largest` is the place of the class",
    );
    Ok(())
}
