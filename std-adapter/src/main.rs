//! The command line `dpp-nystrom`: arguments to calls, results to text. No mathematics.

mod cli;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(cli::Arguments::parse())
}
