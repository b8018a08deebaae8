//! Descriptions of the procedures of [`crate::landmarks::chain`]: those that need no more of the rows than entries of
//! the kernel matrix, and so run on any ground set.

use dpp_nystrom_core::Rule;
use std::fmt;
use std::str::FromStr;

/// A procedure that selects from any ground set.
#[derive(Clone, Debug, PartialEq)]
pub enum Procedure {
    /// The chain of a c-DPP, from a start.
    Kdpp {
        /// Where it starts.
        start: Start,
        /// Which chain.
        chain: ChainKind,
        /// How many steps.
        steps: Steps,
    },
    /// A start alone.
    Start(Start),
    /// These rows.
    Given(Vec<usize>),
}

/// Which chain: all have the same stationary law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChainKind {
    /// The open-slot chain with Metropolis' acceptance, its proposals evaluated in vector lanes. The fastest.
    #[default]
    Slot,
    /// One swap at a time: Algorithm 1 of Li, Jegelka and Sra (2016), or Metropolis' rule.
    Swap(Rule),
}

/// How long a chain runs.
///
/// ```
/// use dpp_nystrom::landmarks::Steps;
///
/// assert_eq!("auto".parse(), Ok(Steps::Auto));
/// assert_eq!("3000".parse(), Ok(Steps::Count(3_000)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steps {
    /// Until it and another chain from a different start have converged: the split R̂ of their log-determinants is at
    /// most 1.05. For [`ChainKind::Swap`], 3,000 as in the paper.
    #[default]
    Auto,
    /// This many: proposals of the open-slot chain, steps of the others.
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
                .map_err(|_| format!("{text:?} is no number of steps: give a whole number or auto")),
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The seeds of k-means++, as in the paper. A chain over more than 65,536 rows starts from the seeds of that many
    /// rows drawn at random.
    #[default]
    KmeansPlusPlus,
    /// Rows drawn uniformly.
    Uniform,
    /// Randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022): each row drawn in proportion to its residual.
    Pivoted {
        /// Pivot among this many rows drawn at random; `None`: among all rows.
        rows: Option<usize>,
    },
    /// Greedily pivoted Cholesky (Fine and Scheinberg 2002): the row with the largest residual next. Deterministic.
    Greedy,
}

/// A selector that runs on any ground set, by [`select`](crate::landmarks::select()).
pub trait GroundSelector {
    /// Describe the procedure.
    #[doc(hidden)]
    fn procedure(&self) -> Procedure;
}
