//! The command line `dpp-nystrom`: arguments to calls, results to text. No mathematics.

mod arguments;
mod bar;
mod columns;
mod compiled;
mod conditions;
mod convert;
mod demo;
mod diagnose;
mod error;
mod evaluate;
mod experiment;
mod export;
mod fit;
mod fit_report;
mod fleet;
mod fleet_files;
mod headings;
mod info;
mod manual;
mod output;
mod package;
mod precomputed;
mod predict;
mod select;
mod source;
mod taken;
mod threads;
mod tolerance;
mod transform;
mod tune;
mod weak;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use dpp_nystrom::data::table::FORMATS;
use error::Error;
use std::{io, io::Write, num::NonZeroUsize, process::ExitCode};

/// Landmarks for kernel methods: c-DPP sampling, Nyström approximation, kernel ridge regression.
#[derive(Debug, Parser)]
#[command(name = "dpp-nystrom", version, after_help = ending(), arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Threads that share the work; results do not depend on their number [default: RAYON_NUM_THREADS, or the
    /// number of processors]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  dpp-nystrom demo                                             see it work, no file needed
  dpp-nystrom select houses.csv --landmarks 50 --out rows.csv  fifty diverse rows
  dpp-nystrom fit houses.csv --landmarks 50 --model houses.dpp train on them
  dpp-nystrom predict houses.dpp new.csv --out prices.csv      predict with them
  dpp-nystrom evaluate houses.csv --methods kdpp,uniform --landmarks 20,50 --seeds 3
";

/// Return what the help of the program ends with.
fn ending() -> String {
    format!(
        "{EXAMPLES}\nFiles are {FORMATS}, gzipped or not, or row stores; - is standard input. Rows count from 0.\n\
         Exit status: 0 done, 1 error, 2 wrong usage, 130 interrupted."
    )
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The whole job on built-in rows: select, compare, fit, predict, draw
    #[command(after_help = "\
Example:
  dpp-nystrom demo --out first-look")]
    Demo(demo::Demo),
    /// Choose landmarks among the rows of a file
    #[command(after_help = "\
Examples:
  dpp-nystrom select ailerons.arff --landmarks 50
  dpp-nystrom select ailerons.arff --tolerance 0.05 --method refined --curve curve.svg
  dpp-nystrom select rows.csv.gz --landmarks 100 --sigma median*4 --steps 20000 --json
  dpp-nystrom select pool.csv --landmarks 40 --quality uncertainty --exclude labelled.csv --out label-next.csv
  cat rows.csv | dpp-nystrom select - --landmarks 20 --target none --out landmarks.csv")]
    Select(select::Select),
    /// Train ridge regression on landmarks, and write a model
    #[command(after_help = "\
Examples:
  dpp-nystrom fit ailerons.arff --model ailerons.dpp
  dpp-nystrom fit ailerons.arff --model ailerons.dpp --report ailerons.html
  dpp-nystrom fit ailerons.arff --flash 2KiB --model device.dpp
  dpp-nystrom fit iris.csv --flash 1KiB --model flowers.dpp
  dpp-nystrom fit ailerons.arff --landmarks 50 --metric one --sigma cv --model ailerons.dpp
  dpp-nystrom fit ailerons.arff --landmarks 50 --budget 10s --model ailerons.dpp
  dpp-nystrom fit ailerons.arff --tolerance 0.45 --tolerance-on prediction --model ailerons.dpp
  dpp-nystrom fit rows.csv --given landmarks.csv --ridge 1e-6 --model rows.dpp")]
    Fit(fit::Fit),
    /// Predict with a model
    #[command(after_help = "\
Example:
  dpp-nystrom predict ailerons.dpp new.csv --out predictions.csv

Columns are matched by name, in any order; by position only where neither the file nor the model has names. The target
is used for the error on stderr alone.")]
    Predict(predict::Predict),
    /// Write the features of rows, for another learner
    #[command(after_help = transform::EXAMPLES)]
    Transform(transform::Transform),
    /// Show what a model is
    #[command(after_help = "\
Example:
  dpp-nystrom info ailerons.dpp --json")]
    Info(info::Info),
    /// Bring a model to a device: Rust, C, bytes for its flash, or a library for a framework
    #[command(after_help = export::EXAMPLES)]
    Export(export::Export),
    /// Compare methods over seeds
    #[command(after_help = "\
Examples:
  dpp-nystrom evaluate ailerons.arff --methods kdpp,uniform --landmarks 20,50 --sigma median*4
  dpp-nystrom evaluate rows.csv --methods given,kdpp --given mine.csv --landmarks 30 --json
  dpp-nystrom evaluate rows.csv --methods lev,kmeans --landmarks 30 --approximation modified

Each seed draws its own rows. fro_rel and spec_rel are the Frobenius and the spectral error relative to those of
the best rank c, trace_fraction is the trace error relative to the trace, and nrmse the root mean squared error
relative to the standard deviation of the training target. Of classes, the accuracy on test rows is shown instead.")]
    Evaluate(evaluate::Evaluate),
    /// The paper's figures on a folder of data sets: tables, pictures and a page
    #[command(after_help = "\
Examples:
  dpp-nystrom experiment all --data sets --out figures --quick
  dpp-nystrom experiment approximation --data sets --out figures --methods uniform,kdpp --landmarks 20,50

A run that was stopped goes on where it was. Tables are the same for the same seed; times are in tables of
their own.")]
    Experiment(experiment::Experiment),
    /// What the theory promises for these rows, beside what is measured
    #[command(after_help = diagnose::EXAMPLES)]
    Diagnose(diagnose::Diagnose),
    /// Cross-validate bandwidth and ridge together
    #[command(after_help = tune::EXAMPLES)]
    Tune(tune::Tune),
    /// Write rows that outgrow memory to a row store, which stays on the disk
    #[command(after_help = convert::EXAMPLES)]
    Convert(convert::Convert),
    /// Learn rows as a device does on a model's landmarks, and write what it would send
    #[command(after_help = fleet::LEARN_EXAMPLES)]
    Learn(fleet::Learn),
    /// One model from what many devices have learned
    #[command(after_help = fleet::MERGE_EXAMPLES)]
    Merge(fleet::Merge),
    /// Print what completes commands and options in a shell
    #[command(after_help = "\
Examples:
  dpp-nystrom completions bash > ~/.local/share/bash-completion/completions/dpp-nystrom
  dpp-nystrom completions fish > ~/.config/fish/completions/dpp-nystrom.fish
  dpp-nystrom completions zsh > _dpp-nystrom")]
    Completions(manual::Completions),
    /// Write the manual pages
    #[command(after_help = "\
Example:
  dpp-nystrom manual --out man1")]
    Manual(manual::Manual),
}

impl Command {
    fn name(&self) -> &'static str {
        match self {
            Self::Demo(_) => "demo",
            Self::Select(_) => "select",
            Self::Fit(_) => "fit",
            Self::Predict(_) => "predict",
            Self::Transform(_) => "transform",
            Self::Info(_) => "info",
            Self::Export(_) => "export",
            Self::Evaluate(_) => "evaluate",
            Self::Experiment(_) => "experiment",
            Self::Diagnose(_) => "diagnose",
            Self::Tune(_) => "tune",
            Self::Convert(_) => "convert",
            Self::Learn(_) => "learn",
            Self::Merge(_) => "merge",
            Self::Completions(_) => "completions",
            Self::Manual(_) => "manual",
        }
    }
}

/// Return the program's commands and options.
fn program() -> clap::Command {
    // A negative number is the value of the option before it, whose parser says what is wrong with it.
    Arguments::command().mut_subcommands(|command| {
        headings::organised(command).mut_args(|argument| {
            let takes_value = argument.get_action().takes_values() && !argument.is_positional();
            argument.allow_negative_numbers(takes_value)
        })
    })
}

fn main() -> ExitCode {
    // Before the arguments: parsing them allocates too.
    #[cfg(unix)]
    dpp_nystrom_mapped::exit_on_abort(
        "error: out of memory, unless the line above says otherwise; use fewer landmarks or rows (--landmarks, --rows, --precision)\n",
    );
    // A matrix for which there is no memory panics.
    #[cfg(unix)]
    std::panic::set_hook({
        let usual = std::panic::take_hook();
        Box::new(move |info| {
            usual(info);
            if info.payload().downcast_ref::<String>().is_some_and(|message| message.contains("AllocError")) {
                std::process::abort();
            }
        })
    });
    match program().try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => run(arguments),
        Err(asked) => {
            // Help, the version or wrong usage.
            let status = u8::try_from(asked.exit_code()).unwrap_or(1);
            match asked.print().and_then(|()| io::stdout().flush()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    output::note(&format!("error: the standard output cannot be written: {error}"));
                    ExitCode::FAILURE
                }
                _ => ExitCode::from(status),
            }
        }
    }
}

/// Runs the command. 0: done; 1: an error, told on stderr; 2 (from the argument parser): wrong usage.
fn run(arguments: Arguments) -> ExitCode {
    let name = arguments.command.name();
    bar::start(name);
    if let Err(error) = threads::start(arguments.threads.map(NonZeroUsize::get)) {
        output::note(&format!("error: threads cannot be started: {error}; leave the program more memory"));
        return ExitCode::FAILURE;
    }
    let done = match arguments.command {
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Select(arguments) => select::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Learn(arguments) => fleet::learn(&arguments),
        Command::Merge(arguments) => fleet::merge(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, program()),
        Command::Manual(arguments) => manual::manual(&arguments, program()),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Transform(arguments) => transform::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Experiment(arguments) => experiment::run(&arguments),
        Command::Diagnose(arguments) => diagnose::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
    };
    bar::finish();
    match done {
        Ok(()) => {
            output::repeat_warnings();
            ExitCode::SUCCESS
        }
        // Whoever read our output has seen enough.
        Err(Error::Library(error)) if error.io() == Some(io::ErrorKind::BrokenPipe) => ExitCode::SUCCESS,
        Err(error) => {
            let program = program();
            output::note(&format!(
                "error: {}",
                error.told(program.find_subcommand(name).unwrap_or(&program))
            ));
            ExitCode::FAILURE
        }
    }
}
