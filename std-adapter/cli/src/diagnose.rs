//! `dpp-nystrom diagnose`.

use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::error::Error;
use crate::output::{print, print_json};
use crate::source;
use clap::Args;
use dpp_nystrom::Ridge;
use dpp_nystrom_lab::theory::{Diagnostics, Effort};

/// Default number of rows, as for evaluate.
const ROWS: usize = 4_000;

pub(crate) const EXAMPLES: &str = "\
Examples:
  dpp-nystrom diagnose ailerons.arff --landmarks 20,50 --rows 1000
  dpp-nystrom diagnose rows.csv --landmarks 30 --sigma median*4 --ridge 1e-6 --json

K is the kernel matrix, K~ its Nystrom approximation, K_k its best rank-k approximation, e_c an elementary
symmetric polynomial of its eigenvalues. All eigenvectors are computed, in f64, of up to 10000 rows, with
40 bytes x rows^2. Proved bounds are shown beside measured values; +- is a standard error.";

#[derive(Debug, Args)]
pub(crate) struct Diagnose {
    #[command(flatten)]
    source: Source,
    /// Numbers of landmarks, separated by commas
    #[arg(long, value_name = "C", value_delimiter = ',', required = true)]
    landmarks: Vec<usize>,
    #[command(flatten)]
    kernel: KernelArguments,
    /// Regularisation γ (the ridge) of Theorem 2, multiplied by the number of rows: a number, cv (10-fold) or
    /// loo (leave-one-out)
    #[arg(long, value_name = "F|cv|loo", default_value = "cv")]
    ridge: Ridge,
    /// Number of exact samples
    #[arg(long, value_name = "N", default_value_t = Effort::default().samples,
        value_parser = clap::value_parser!(u64).range(2..))]
    samples: u64,
    /// Triples (S, r, t), a state and the rows of two swaps, from which alpha is bounded from below
    #[arg(long, value_name = "N", default_value_t = Effort::default().triples,
        value_parser = clap::value_parser!(u64).range(1..))]
    triples: u64,
    /// Pairs of coupled chains
    #[arg(long, value_name = "N", default_value_t = Effort::default().pairs,
        value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
    /// Steps after which coupled chains that have not met are abandoned
    #[arg(long, value_name = "N", default_value_t = Effort::default().pair_steps,
        value_parser = clap::value_parser!(u64).range(1..))]
    pair_steps: u64,
    /// Chains of each kind
    #[arg(long, value_name = "N", default_value_t = Effort::default().chains,
        value_parser = clap::value_parser!(u64).range(4..))]
    chains: u64,
    /// Steps per chain; the first half is discarded as burn-in
    #[arg(long, value_name = "N", default_value_t = Effort::default().steps,
        value_parser = clap::value_parser!(u64).range(256..))]
    steps: u64,
    /// Probability with which the corollaries may fail
    #[arg(long, value_name = "F", default_value_t = Effort::default().delta, value_parser = share)]
    delta: f64,
    /// Total variation distance from the c-DPP that counts as mixed
    #[arg(long, value_name = "F", default_value_t = Effort::default().epsilon, value_parser = share)]
    epsilon: f64,
    /// Print one JSON object per line, one for each number of landmarks
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err(format!("invalid fraction {text:?}: expected a number between 0 and 1")),
    }
}

pub(crate) fn run(arguments: &Diagnose) -> Result<(), Error> {
    let observer = Bar;
    let seed = arguments.source.seed;
    arguments.source.table.refuse_weights("diagnose")?;
    let data = source::at_most(&arguments.source, ROWS)?;
    let kernel = source::kernel(&data, &arguments.kernel, seed, &observer)?;
    let diagnostics = Diagnostics::new(&data, kernel, arguments.kernel.precision, seed, &observer)?;
    let effort = Effort {
        samples: arguments.samples,
        triples: arguments.triples,
        pairs: arguments.pairs,
        pair_steps: arguments.pair_steps,
        chains: arguments.chains,
        steps: arguments.steps,
        delta: arguments.delta,
        epsilon: arguments.epsilon,
    };
    // Check all sizes before minutes of work.
    for &c in &arguments.landmarks {
        diagnostics.check(c)?;
    }
    for (at, &c) in arguments.landmarks.iter().enumerate() {
        let diagnosis = diagnostics.of(c, arguments.ridge, &effort, &observer)?;
        if arguments.json {
            print_json(&diagnosis)?;
        } else {
            let gap = if at == 0 { "" } else { "\n" };
            print(&format!("{gap}{diagnosis}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_lie_between_none_and_all() {
        assert_eq!(share("0.05"), Ok(0.05));
        for text in ["0", "1", "-0.1", "nan", "inf", "x", ""] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
