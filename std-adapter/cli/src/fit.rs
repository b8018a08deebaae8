//! `dpp-nystrom fit`.

use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::error::Error;
use crate::fit_report::{FlashReport, Report};
use crate::output::{keep_apart, keep_inputs, note, notes, plain_line, print_report, short};
use crate::source;
use crate::taken::TakenReport;
use crate::tolerance::ToleranceArguments;
use crate::weak::{Dropped, drop_weak, least};
use clap::Args;
use dpp_nystrom::data::RowSource;
use dpp_nystrom::kernel::{Kinds, Metric};
use dpp_nystrom::pipeline::{self, FlashParams, Landmarks, Outcome, Params, with_usual};
use dpp_nystrom::selectors::{Exchanged, Given};
use dpp_nystrom::{Ridge, regression::Checkpoint};
use dpp_nystrom::{landmarks::Selector, landmarks::methods::Method};
use dpp_nystrom_host::atomic_file::{check_writable, write_whole};
use dpp_nystrom_lab::report::{Origin, Subject, Summary};
use dpp_nystrom_lab::selectors;
use dpp_nystrom_options::{MethodArguments, methods};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The maximum number of landmarks: fewer where fewer rows are independent [default: 100 or a quarter of
    /// the rows, whichever is less, doubled while the error on validation rows falls, up to 800]
    #[arg(long, value_name = "C", conflicts_with = "given")]
    pub(crate) landmarks: Option<usize>,
    /// How to choose them
    #[arg(long, value_parser = methods(selectors::methods(), false), default_value = "auto")]
    pub(crate) method: &'static Method,
    #[command(flatten)]
    pub(crate) tolerance: ToleranceArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// One bandwidth for all standardised features, or a scale for each or a linear map of them (of rank R),
    /// learned from the target; auto: whichever has the lowest error on validation rows
    #[arg(long, value_name = "one|scales|map|map:R|auto", default_value = "auto")]
    pub(crate) metric: Metric,
    /// Leave out the columns whose permutation raises the error by less than RISE, such as 1%, unless the
    /// error then rises by more than its standard error; prints the errors with them and without
    #[arg(long, value_name = "RISE", value_parser = least, conflicts_with_all = ["checkpoint", "given"])]
    pub(crate) drop_below: Option<f64>,
    /// Landmarks that may leave the rows: they begin as rows, and move in the same descent as the metric. At
    /// most 100; --method is not used
    #[arg(long, conflicts_with_all = ["given", "tolerance", "method"])]
    pub(crate) free_landmarks: bool,
    /// In place of --landmarks and --metric: the model with the least error, of classes log-loss, whose
    /// prediction takes at most so many bytes of flash, code and constants, on a Cortex-M4F: 2048, 2KiB
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = size,
        conflicts_with_all = ["landmarks", "metric", "given", "tolerance", "free_landmarks", "sigma", "precision", "checkpoint"]
    )]
    pub(crate) flash: Option<usize>,
    /// The ridge γ, which is multiplied by the number of rows: a number, cv (10-fold) or loo (leave-one-out)
    #[arg(long, value_name = "F|cv|loo", default_value = "cv")]
    pub(crate) ridge: Ridge,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(
        long,
        value_name = "ROWS.csv",
        conflicts_with_all = ["tolerance", "tolerance_on", "max_landmarks", "curve"]
    )]
    pub(crate) given: Option<PathBuf>,
    /// Where to write the model
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Write a page on the fit: errors of test rows, residuals, features, landmarks, novelty
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Keep in the model what variances need: c²/2 numbers for c landmarks
    #[arg(long)]
    pub(crate) variance: bool,
    /// Keep what was learned in this file, and resume from it if the fit was cut off
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between two writings of the checkpoint
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "10", requires = "checkpoint")]
    pub(crate) checkpoint_every: Duration,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) method_options: MethodArguments,
}

/// Parse a number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.trim().parse().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    seconds.ok_or_else(|| format!("invalid value {text:?}: expected a number of seconds, 0 or more"))
}

/// Parse a number of bytes.
fn size(text: &str) -> Result<usize, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "KiB" => Some(1 << 10),
        "kB" => Some(1_000),
        "MiB" => Some(1 << 20),
        _ => None,
    };
    number
        .parse::<usize>()
        .ok()
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor))
        .ok_or_else(|| format!("invalid value {text:?}: expected a number of bytes, such as 2048 or 2KiB"))
}

pub(crate) fn run(arguments: &Fit) -> Result<(), Error> {
    let given = arguments.given.as_deref().map(source::given).transpose()?;
    keep_files(arguments)?;
    let selector = selector(arguments, given.as_deref());
    let seed = arguments.source.seed;
    let source = source::open(&arguments.source)?;
    if arguments.variance && !source.columns().further.is_empty() {
        return Err(Error::SeveralTargets("--variance"));
    }
    tell_few_values(&*source);
    let landmarks = landmarks(arguments, &*source, given.as_deref())?;
    let params = Params {
        kernel: arguments.kernel.with_metric(arguments.metric)?,
        landmarks,
        selector: &*selector,
        ridge: arguments.ridge,
        precision: arguments.kernel.precision,
        seed,
        ..Params::default()
    };
    let without = arguments.drop_below.map(|least| drop_weak(least, &*source, &params)).transpose()?;
    let (source, dropped) = match without.flatten() {
        Some((Some(rows), dropped)) => (Box::new(rows) as Box<dyn RowSource>, Some(dropped)),
        Some((None, dropped)) => (source, Some(dropped)),
        None => (source, None),
    };
    let every = arguments.checkpoint_every;
    let mut checkpoint = arguments.checkpoint.clone().map(|path| Checkpoint::new(path, every));
    let (outcome, flash) = match arguments.flash {
        Some(_) if params.kernel.kinds == Kinds::Any => return Err(Error::OneKernelInFlash),
        Some(bytes) => {
            let kernel = params.kernel.kind;
            let flash = FlashParams { bytes, kernel, selector: &*selector, ridge: arguments.ridge, seed };
            let found = pipeline::fit_in_flash(&*source, &flash, &Bar)?;
            let report = FlashReport::of(bytes, &found);
            (found.outcome, Some(report))
        }
        None => {
            let mut fit = |params: &Params<'_>| pipeline::fit(&*source, params, checkpoint.as_mut(), &Bar);
            let outcome = match params.landmarks {
                Landmarks::Usual if arguments.free_landmarks => {
                    let count = with_usual(source.len(), Ok)?;
                    fit(&Params { landmarks: Landmarks::Free(count), ..params.clone() })
                }
                _ => fit(&params),
            }?;
            (outcome, None)
        }
    };
    tell(&outcome, checkpoint.as_ref());
    let is_number = matches!(params.landmarks, Landmarks::Usual | Landmarks::Count(_) | Landmarks::Free(_));
    if is_number && arguments.given.is_none() && flash.is_none() {
        source::tell_fewer(&outcome.selected, arguments.landmarks)?;
    }
    let mut model = outcome.fitted.model.clone();
    if arguments.variance && model.confidence.is_none() {
        return Err(Error::NoVariances);
    }
    if !arguments.variance
        && let Some(confidence) = &mut model.confidence
    {
        confidence.triangle.clear();
    }
    model.save(&arguments.model)?;
    if let Some(checkpoint) = checkpoint {
        checkpoint.remove()?;
    }
    let report = report_of(arguments, &outcome, selector.name(), flash, dropped)?;
    if let Some(path) = &arguments.report {
        let data = &arguments.source.data;
        let name = data.file_name().unwrap_or(data.as_os_str()).to_string_lossy();
        let origin = Origin {
            rows: Some(&name),
            choices: &report.choices(data, &model),
            again: ("command", &command()),
            notes: &notes(),
        };
        let page = Subject::of(&outcome, &*source)?.page(&outcome.fitted.model, &origin)?;
        write_whole(path, |file| file.write_all(page.as_bytes()))?;
    }
    print_report(arguments.json, &report, Report::text)
}

/// Refuse outputs that are inputs, or each other, or cannot be written.
fn keep_files(arguments: &Fit) -> Result<(), Error> {
    let inputs = [&arguments.source.data].into_iter().chain(&arguments.given);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    let outputs = [
        Some(&arguments.model),
        arguments.tolerance.curve.as_ref(),
        arguments.checkpoint.as_ref(),
        arguments.report.as_ref(),
    ];
    keep_apart(outputs.into_iter().flatten())?;
    for output in outputs.into_iter().flatten() {
        keep_inputs(Some(output), &inputs)?;
        check_writable(output)?;
    }
    Ok(())
}

/// Return what selects the landmarks: a method, or the rows given, which exchanges may improve.
fn selector(arguments: &Fit, given: Option<&[usize]>) -> Box<dyn Selector> {
    let options = arguments.method_options.options(&[]);
    let Some(rows) = given else {
        arguments.method_options.unused(&[arguments.method]).iter().for_each(|warning| note(warning));
        return arguments.method.selector(&options);
    };
    let rows = Given::new(rows.to_vec());
    match options.refinement {
        Some(refinement) => Box::new(Exchanged::new(rows, refinement)),
        None => Box::new(rows),
    }
}

/// Return which landmarks are wanted.
fn landmarks(arguments: &Fit, source: &dyn RowSource, given: Option<&[usize]>) -> Result<Landmarks, Error> {
    if let (Some(given), Some(path)) = (given, &arguments.given) {
        let rows = source::among(source, path, given)?;
        let refines = arguments.method_options.options(&[]).refinement.is_some();
        return Ok(if refines { Landmarks::Count(rows.len()) } else { Landmarks::Rows(rows) });
    }
    Ok(match arguments.tolerance.wanted(arguments.landmarks, source.len(), arguments.ridge) {
        Landmarks::Count(count) if arguments.free_landmarks => Landmarks::Free(count),
        wanted => wanted,
    })
}

/// Tell what a user may not expect of a fit.
fn tell(outcome: &Outcome<'_>, checkpoint: Option<&Checkpoint>) {
    source::tell(&outcome.selected);
    if let Some(resumed) = checkpoint.map(Checkpoint::resumed).filter(|&rows| rows > 0) {
        note(&format!("resumed: {resumed} rows had been accumulated before the fit was cut off"));
    }
    let fitted = &outcome.fitted;
    let error = fitted.model.test_error.as_ref().map(|test| test.error.value).or(fitted.validation_nrmse);
    if let Some(error) = error.filter(|&error| error >= 1.0 && fitted.model.classifier.is_none()) {
        note(&format!(
            "warning: the error on rows held out is {}, in standard deviations of the target: the model predicts no better than the \
             target's mean",
            short(error)
        ));
    }
    let selected = &outcome.selected;
    let not_learned = selected.metric.as_ref().is_some_and(|metric| metric.reason.is_some());
    if not_learned && selected.source().as_prepared().is_none() {
        note(
            "warning: no metric was learned, since the store has more than 2^24 values, and the error may be several times higher for \
             that: compare it with that of --rows 100000, a sample of the rows, or fit the file that the store was made of",
        );
    }
    if fitted.dependent > 0 {
        note(&format!(
            "{} of {} landmarks depend on others under this kernel, and were left out",
            fitted.dependent,
            fitted.dependent + fitted.model.landmarks()
        ));
    }
}

fn report_of<'a>(
    arguments: &'a Fit,
    outcome: &'a Outcome<'_>,
    selector: &'a str,
    flash: Option<FlashReport>,
    dropped: Option<Dropped>,
) -> Result<Report<'a>, Error> {
    let free = arguments.free_landmarks || flash.as_ref().is_some_and(FlashReport::is_free);
    let method = match &flash {
        Some(flash) if flash.is_line() => "line",
        _ if free => "free",
        _ => selector,
    };
    Ok(Report {
        model: &arguments.model,
        report: arguments.report.as_deref(),
        summary: Summary::of(outcome, method, arguments.ridge == Ridge::LeaveOneOut),
        curve: arguments.tolerance.curve(&outcome.selected, selector)?,
        dropped,
        flash,
        taken: TakenReport::of(&outcome.fitted.model.recipe()),
        seed: arguments.source.seed,
    })
}

/// Tell how to learn classes from a target that has but a few different numbers.
fn tell_few_values(source: &dyn RowSource) {
    const FEW: usize = 3;
    let Some(rows) =
        source.as_prepared().filter(|rows| rows.classes().is_none() && rows.targets().count() < 2)
    else {
        return;
    };
    let mut seen: Vec<f64> = Vec::new();
    for value in rows.targets().flat_map(|target| &target.values) {
        if !seen.contains(value) {
            seen.push(*value);
        }
        if seen.len() > FEW {
            return;
        }
    }
    if let 2.. = seen.len() {
        note(&format!(
            "the target has {} different values, learned as numbers; --classes learns them as classes",
            seen.len()
        ));
    }
}

/// Return the command that runs, as a shell reads it.
fn command() -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| quoted(&argument.to_string_lossy()));
    std::iter::once("dpp-nystrom".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Quote an argument for a shell. What a page or a terminal would obey is escaped as bash reads it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    if plain_line(argument) == argument {
        return format!("'{}'", argument.replace('\'', "'\\''"));
    }
    let escaped = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if plain_line(&c.to_string()) != c.to_string() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("$'{}'", argument.chars().map(escaped).collect::<String>())
}
