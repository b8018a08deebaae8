//! The options of the methods, and warnings of those that a method does not use.

use crate::choice::{Choice, one_of};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dpp_nystrom::core::Rule;
use dpp_nystrom::landmarks::methods::{METHODS, Method, SelectorOption, SelectorOptions};
use dpp_nystrom::landmarks::{ChainKind, Refinement, Steps};
use std::time::Duration;

/// Options of the methods.
#[derive(Debug, Args)]
pub struct MethodArguments {
    /// Steps of the chain: a number, or auto, until it has converged (paper and metropolis: 3000) [default:
    /// auto]
    #[arg(long, value_name = "N|auto")]
    steps: Option<Steps>,
    /// Which chain: slot is the fast one, paper is Algorithm 1, metropolis moves more often [default: slot]
    #[arg(long, value_parser = one_of(&CHAINS))]
    chain: Option<ChainKind>,
    /// Let pivoted Cholesky look at so many rows drawn at random [default: all; as the start of refined: as
    /// many as fit in 32 MiB]
    #[arg(long, value_name = "M")]
    pivot_rows: Option<usize>,
    /// Refine the rows of any method: exchange them for better ones in so many sweeps [default of refined: 3]
    #[arg(long, value_name = "SWEEPS", value_parser = clap::value_parser!(u64).range(1..))]
    refine: Option<u64>,
    /// Candidates that refinement draws for a sweep [default: 700, or three a landmark if that is more]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    refine_sample: Option<u32>,
    /// Rows up to which refinement measures the error on all of them; of more, on so many [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    refine_rows: Option<u32>,
    /// What auto may spend: 500ms, 10s; counted in operations of a core, so that the same seed gives the same
    /// rows on any machine [default: ten times that of a pass over the rows, 100ms to 1s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
}

const CHAINS: [Choice<ChainKind>; 3] = [
    ("slot", "", ChainKind::Slot),
    ("paper", "", ChainKind::Swap(Rule::ALGORITHM_1)),
    ("metropolis", "", ChainKind::Swap(Rule::METROPOLIS)),
];

/// A time: a number of seconds or milliseconds with its unit.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or_default(), 1.0),
    };
    number
        .parse()
        .ok()
        .and_then(|number: f64| Duration::try_from_secs_f64(number * unit).ok())
        .ok_or_else(|| format!("invalid time {text:?}: expected a number with its unit, as 500ms or 2s"))
}

/// The values of an argument that names one of these methods; `given` among them or not.
pub fn methods(
    known: impl Iterator<Item = &'static Method>,
    given: bool,
) -> impl TypedValueParser<Value = &'static Method> {
    let known: Vec<_> = known.filter(|method| given || !method.uses(SelectorOption::Given)).collect();
    let values = known.iter().map(|method| PossibleValue::new(method.name).help(method.help));
    PossibleValuesParser::new(values)
        .try_map(move |name| known.iter().copied().find(|method| method.name == name).ok_or("no method"))
}

impl MethodArguments {
    /// Return how rows are to be refined, if an option says so.
    pub fn refinement(&self) -> Option<Refinement> {
        let Self { refine, refine_sample, refine_rows, .. } = *self;
        let usual = Refinement::default();
        let asked = refine.is_some() || refine_sample.is_some() || refine_rows.is_some();
        asked.then(|| Refinement {
            sweeps: refine.unwrap_or(usual.sweeps),
            sample: refine_sample.map(|sample| sample as usize),
            rows: refine_rows.map_or(usual.rows, |rows| rows as usize),
            ..usual
        })
    }

    /// Return the options, with the rows of the method `given`.
    pub fn options(&self, given: &[usize]) -> SelectorOptions {
        let Self { chain, steps, pivot_rows, budget, .. } = *self;
        SelectorOptions {
            chain: chain.unwrap_or_default(),
            steps: steps.unwrap_or_default(),
            pivot_rows,
            refinement: self.refinement(),
            budget,
            given: given.to_vec(),
            ..SelectorOptions::default()
        }
    }

    /// Return a warning for each option given that none of these methods uses.
    pub fn unused(&self, methods: &[&Method]) -> Vec<String> {
        let options = [
            ("--steps", self.steps.is_some(), SelectorOption::Steps),
            ("--chain", self.chain.is_some(), SelectorOption::Chain),
            ("--pivot-rows", self.pivot_rows.is_some(), SelectorOption::PivotRows),
            ("--budget", self.budget.is_some(), SelectorOption::Budget),
        ];
        let given = options.into_iter().filter(|(_, is_given, _)| *is_given);
        given
            .filter(|&(_, _, option)| !methods.iter().any(|method| method.uses(option)))
            .map(|(name, _, option)| {
                let names = |methods: &mut dyn Iterator<Item = &Method>| {
                    methods.map(|method| method.name).collect::<Vec<_>>().join(", ")
                };
                let (these, others) = (
                    names(&mut methods.iter().copied()),
                    names(&mut METHODS.iter().filter(|method| method.uses(option))),
                );
                format!("warning: {name} is not used by {these}; it is an option of {others}")
            })
            .collect()
    }
}
