//! The chains of a c-DPP: [`crate::landmarks::chain`] and those of the core crate.

use crate::error::Error;
use crate::landmarks::{
    ChainKind, Selection, Selector, Start, Steps, Task, chain::select_rows, procedure::InPlace,
    procedure::Procedure,
};

/// Sample a c-DPP, with probability proportional to `det K_CC` over sets of c rows, by a Markov chain (Li,
/// Jegelka and Sra 2016).
///
/// c kernel evaluations per proposal, in addition to those of the start; `c²` numbers. Works in place.
///
/// ```
/// use dpp_nystrom::landmarks::{Start, Steps};
/// use dpp_nystrom::selectors::Kdpp;
///
/// let short = Kdpp::default().start(Start::Uniform).steps(Steps::Count(1_000));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Kdpp {
    start: Start,
    chain: ChainKind,
    steps: Steps,
}

impl Kdpp {
    /// Start the chain from these rows. Default: [`Start::KmeansPlusPlus`].
    pub const fn start(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// Run this kind of chain. Default: [`ChainKind::Slot`].
    pub const fn chain(self, chain: ChainKind) -> Self {
        Self { chain, ..self }
    }

    /// Run this many steps. Default: [`Steps::Auto`].
    pub const fn steps(self, steps: Steps) -> Self {
        Self { steps, ..self }
    }

    fn procedure(&self) -> Procedure {
        let Self { start, chain, steps } = *self;
        Procedure::Kdpp { start, chain, steps }
    }
}

impl Selector for Kdpp {
    fn name(&self) -> &'static str {
        "kdpp"
    }

    fn in_place(&self) -> Option<InPlace> {
        Some(self.procedure().into())
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &self.procedure())
    }
}
