//! What the chains cost: `cargo bench -p dpp-nystrom --bench chain [-- arguments]`.
//!
//! | argument | |
//! | --- | --- |
//! | `floor`, `error`, `rows`, `quadrature` | these sections alone |
//! | `cal.housing-12000`, ... | of `error`, these rows alone |
//! | `--quick` | fewer repetitions and seeds |
//! | `--json FILE` | every line of the tables as a line of JSON too |
//!
//! The timing loop is our own ([`timing`]): what is claimed are ratios, and on a machine that others use
//! too, a ratio needs both sides timed in turn, a repetition each, and its median taken over the pairs.
//! Criterion and Divan time one function to its end and then the next, and Criterion hands its samples to
//! files only. One thread: the claims are for one core.

mod data;
mod error;
mod floor;
mod fresh;
mod peak;
mod quadrature;
mod report;
mod rows;
mod timing;

use dpp_nystrom::Error;
use report::Report;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::process::ExitCode;

/// Counts what is allocated; the crate's, since this project has no unsafe code of its own.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SECTIONS: [&str; 4] = ["floor", "error", "rows", "quadrature"];

/// What to run.
struct Request {
    names: Vec<String>,
    quick: bool,
    json: Option<String>,
}

impl Request {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self { names: Vec::new(), quick: false, json: None };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                // Cargo's own.
                "--bench" => {}
                "--quick" => request.quick = true,
                "--json" => request.json = Some(arguments.next().ok_or("--json needs a file")?),
                name if SECTIONS.contains(&name) || data::NAMES.contains(&name) => {
                    request.names.push(argument);
                }
                other => {
                    return Err(format!("{other}: no section, none of {SECTIONS:?} or {:?}", data::NAMES));
                }
            }
        }
        Ok(request)
    }

    fn wants(&self, section: &str) -> bool {
        !self.names.iter().any(|name| SECTIONS.contains(&name.as_str()))
            || self.names.iter().any(|name| name == section)
    }

    fn wants_rows(&self, rows: &str) -> bool {
        !self.names.iter().any(|name| data::NAMES.contains(&name.as_str()))
            || self.names.iter().any(|name| name == rows)
    }
}

fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    if request.wants("floor") {
        floor::run(request, report)?;
    }
    if request.wants("error") {
        error::run(request, report)?;
    }
    if request.wants("rows") {
        rows::run(request, report)?;
    }
    if request.wants("quadrature") {
        quadrature::run(request, report)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let request = match Request::from_arguments(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let mut report = Report::default();
    // A pool of this one thread: no other takes part.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    let outcome = match pool {
        Ok(pool) => pool.install(|| run(&request, &mut report)).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let written = match &request.json {
        Some(path) => std::fs::write(path, report.json()).map_err(|error| format!("{path}: {error}")),
        None => Ok(()),
    };
    if let Err(message) = outcome.and(written) {
        eprintln!("{message}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
