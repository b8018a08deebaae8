//! The program `dpp-nystrom-cluster`.

mod cli;

use clap::Parser;
use std::process::ExitCode;

/// Bytes of a thread's stack: the engine plans queries by recursion.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build() {
        // On a thread with that stack, which the main thread does not have.
        Ok(runtime) => {
            runtime.block_on(async { tokio::spawn(cli::run(arguments)).await.unwrap_or(ExitCode::FAILURE) })
        }
        Err(error) => {
            eprintln!("error: cannot start threads: {error}");
            ExitCode::FAILURE
        }
    }
}
