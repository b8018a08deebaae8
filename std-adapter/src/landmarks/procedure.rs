//! Descriptions of the procedures of [`crate::landmarks::chain`], which need only entries of the kernel
//! matrix and so run on any ground set.

use crate::landmarks::Refinement;
use dpp_nystrom_core::Rule;
use std::{fmt, str::FromStr};

/// A selection procedure for any ground set.
#[derive(Clone, Debug, PartialEq)]
pub enum Procedure {
    /// A chain whose stationary law is the c-DPP.
    Kdpp {
        /// The first landmarks.
        start: Start,
        /// The kind of chain.
        chain: ChainKind,
        /// The number of steps.
        steps: Steps,
    },
    /// A start, without a chain.
    Start(Start),
    /// The given rows, without those that depend on preceding ones.
    Given(Vec<usize>),
}

/// A procedure that reads rows where they are stored, in their precision, and the exchanges that follow it.
#[derive(Clone, Debug, PartialEq)]
pub struct InPlace {
    /// What selects the rows.
    pub procedure: Procedure,
    /// How they are exchanged, in `f64`; none if they are kept.
    pub refinement: Option<Refinement>,
}

impl From<Procedure> for InPlace {
    fn from(procedure: Procedure) -> Self {
        Self { procedure, refinement: None }
    }
}

/// The kind of chain. All kinds have the same stationary law.
///
/// ```
/// use dpp_nystrom::core::Rule;
/// use dpp_nystrom::landmarks::{ChainKind, Steps};
/// use dpp_nystrom::{Dataset, Nystroem, selectors::Kdpp};
///
/// let x: Vec<f64> = (0..100).map(f64::from).collect();
/// let paper = Kdpp::default().chain(ChainKind::Swap(Rule::ALGORITHM_1)).steps(Steps::Count(3_000));
/// let map = Nystroem::params(5).selector(paper).fit(&Dataset::from_rows(&x, 1)?)?;
/// assert_eq!(map.selection().steps, 3_000);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChainKind {
    /// The open-slot chain, a Gibbs chain over the slots: Metropolis-within-Gibbs with a systematic scan.
    /// Proposals are evaluated in vector lanes. The fastest kind.
    #[default]
    Slot,
    /// One swap per step: Algorithm 1 of Li, Jegelka and Sra (2016), or the same swap with Metropolis' rule.
    Swap(Rule),
}

/// The length of a chain.
///
/// ```
/// use dpp_nystrom::landmarks::Steps;
///
/// assert_eq!("auto".parse(), Ok(Steps::Auto));
/// assert_eq!("3000".parse(), Ok(Steps::Count(3_000)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steps {
    /// Until the chain and a second chain from a different start have converged: the split R̂ of their
    /// log-determinants is at most 1.05. For [`ChainKind::Swap`], 3,000 steps as in the paper.
    #[default]
    Auto,
    /// This many: proposals for the open-slot chain, steps for the others.
    Count(u64),
}

impl FromStr for Steps {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            other => other
                .parse()
                .map(Self::Count)
                .map_err(|_| format!("invalid number of steps {text:?}: expected a whole number or auto")),
        }
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

/// The first landmarks of a chain.
///
/// ```
/// use dpp_nystrom::landmarks::{Start, Steps};
/// use dpp_nystrom::{Dataset, Nystroem, selectors::Kdpp};
///
/// let x: Vec<f64> = (0..100).map(f64::from).collect();
/// let pivoted = Kdpp::default().start(Start::Greedy).steps(Steps::Count(0)); // the start alone
/// let map = Nystroem::params(2).selector(pivoted).fit(&Dataset::from_rows(&x, 1)?)?;
/// assert_eq!((map.rank(), map.selection().accepted), (2, 0));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The seeds of k-means++, as in the paper. With more than 65,536 rows, seeds from a random sample of
    /// 65,536 rows.
    #[default]
    KmeansPlusPlus,
    /// Rows drawn uniformly.
    Uniform,
    /// Randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022): each row drawn in proportion to its
    /// residual.
    Pivoted {
        /// Pivot among this many rows drawn at random; `None`: among all rows.
        rows: Option<usize>,
    },
    /// Greedily pivoted Cholesky (Fine and Scheinberg 2001): always the row with the largest residual.
    /// Deterministic.
    Greedy,
}
