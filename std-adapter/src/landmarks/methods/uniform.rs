//! Rows drawn uniformly: [`dpp_nystrom_core::start::uniform`].

use crate::error::Error;
use crate::landmarks::{Selection, Selector, Start, Task, chain::select_rows, procedure::Procedure};

/// Select rows drawn uniformly (Williams and Seeger 2001). `c²/2` kernel evaluations, works in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

const UNIFORM: Procedure = Procedure::Start(Start::Uniform);

impl Selector for Uniform {
    fn name(&self) -> &'static str {
        "uniform"
    }

    fn in_place(&self) -> Option<Procedure> {
        Some(UNIFORM)
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &UNIFORM)
    }
}
