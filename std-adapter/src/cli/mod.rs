//! One file a command, beside what they share.

mod arguments;
mod bar;
mod chart;
mod curves;
mod demo;
mod diagnose;
mod evaluate;
mod experiment;
mod export;
mod fit;
mod info;
mod output;
mod predict;
mod select;
mod source;
mod surface;
mod tune;

pub(crate) use arguments::Arguments;

use arguments::Command;
use dpp_nystrom::Error;
use std::io;
use std::process::ExitCode;

/// Runs the command. 0: done; 1: an error, told on stderr; 2 (from the argument parser): wrong usage.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let done = match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Select(arguments) => select::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Experiment(arguments) => experiment::run(&arguments),
        Command::Diagnose(arguments) => diagnose::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough.
        Err(Error::Write { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
