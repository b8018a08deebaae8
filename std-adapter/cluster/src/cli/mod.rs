//! The command line: one file a command, and what they share.

mod arguments;
mod fit;
mod output;
mod predict;
mod select;

pub(crate) use arguments::Arguments;

use arguments::Command;
use dpp_nystrom_cluster::Error;
use std::process::ExitCode;

/// Run the command. Exit codes: 0 success; 1 an error, printed on stderr; 2 (of the argument parser) wrong
/// usage.
pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    let role = matches!(arguments.command, Command::Scheduler(_) | Command::Executor(_));
    // A part of a cluster logs what it does; a client prints its one error itself.
    let level = if role { "info,datafusion=warn" } else { "error,ballista=off,ballista_core=off" };
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(level)).init();
    let done: Result<(), Error> = match arguments.command {
        Command::Fit(arguments) => fit::run(&arguments).await,
        Command::Select(arguments) => select::run(&arguments).await,
        Command::Predict(arguments) => predict::run(&arguments).await,
        Command::Scheduler(scheduler) => scheduler.run().await,
        Command::Executor(executor) => executor.run().await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
