//! The cost of the chains: `cargo bench -p dpp-nystrom-lab --bench chain [-- arguments]`.
//!
//! | argument | |
//! | --- | --- |
//! | `floor`, `error`, `rows`, `quadrature`, `exact`, `rejection`, `pivots` | only these sections |
//! | `cal.housing-12000`, ... | in `error`, only these rows |
//! | `--quick` | fewer repetitions and seeds |
//! | `--json FILE` | also write every table row as a line of JSON |
//!
//! The timing loop is our own ([`timing`]), because the claims are ratios. On a shared machine a ratio
//! needs both sides timed alternately, one repetition each, and the median over the pairs.
//! Criterion and Divan time one function to its end and then the next, and Criterion writes its samples only
//! to files. One thread: the claims are for one core.

mod data;
mod error;
mod exact;
mod floor;
mod fresh;
mod peak;
mod pivots;
mod quadrature;
mod rejection;
mod report;
mod rows;
mod timing;

use dpp_nystrom::Error;
use report::Report;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::process::ExitCode;

/// Counts allocations; a crate's allocator, since an own one would need unsafe code.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SECTIONS: [&str; 7] = ["floor", "error", "rows", "quadrature", "exact", "rejection", "pivots"];

/// The sections and rows to run.
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
                // Passed by Cargo.
                "--bench" => {}
                "--quick" => request.quick = true,
                "--json" => request.json = Some(arguments.next().ok_or("--json needs a file")?),
                name if SECTIONS.contains(&name) || data::NAMES.contains(&name) => {
                    request.names.push(argument);
                }
                other => {
                    return Err(format!(
                        "invalid argument {other:?}: expected one of {SECTIONS:?} or {:?}",
                        data::NAMES
                    ));
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
    if request.wants("exact") {
        exact::run(request, report)?;
    }
    if request.wants("rejection") {
        rejection::run(request, report)?;
    }
    if request.wants("pivots") {
        pivots::run(request, report)?;
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
    // A pool with only this thread.
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
