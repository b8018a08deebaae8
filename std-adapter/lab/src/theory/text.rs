//! A diagnosis as text: each bound beside the measured quantity.

use crate::text::{Column, aligned, listed, row, short, short_or_dash, table};
use crate::theory::{ChainRecord, Contraction, Diagnosis, Interval, Regression, TargetRank};
use dpp_nystrom::landmarks::convergence::Convergence;
use std::fmt;

fn with_error(interval: Interval) -> String {
    format!("{} +- {}", short(interval.mean), short(interval.error))
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = vec![summary(self)];
        if !self.target_ranks.is_empty() {
            parts.push(target_ranks(self));
        }
        parts.push(match &self.regression {
            Some(regression) => risks(regression, self),
            None => "Theorem 2 is omitted: it needs a target.\n".to_owned(),
        });
        parts.extend([mixing(self), chains(self)]);
        f.write_str(&parts.join("\n"))
    }
}

fn summary(found: &Diagnosis) -> String {
    let rows = [
        row("rows", found.rows),
        row("rank", found.rank),
        row("bandwidth", short(found.sigma)),
        row("log e_c", short(found.log_e_c)),
        row("log e_(c+1)", short_or_dash(found.log_e_next)),
        row("expected trace error (c+1) e_(c+1)/e_c", short(found.expected_trace_error)),
        row(&format!("mean over {} exact samples", found.samples), with_error(found.trace_error)),
        row("expected trace error / trace", short(found.expected_trace_fraction)),
        row(
            &format!("the same of the best approximation of rank {}", found.landmarks),
            short(found.least_trace_fraction),
        ),
        row(
            &format!("the same of {} uniform sets, their mean", found.samples),
            with_error(found.uniform_trace_fraction),
        ),
        row(
            "eigenvalues with .9, .99 and .999 of the trace",
            found.trace_ranks.map(|rank| rank.to_string()).join(", "),
        ),
    ];
    listed(&["landmarks", &found.landmarks.to_string()], &rows)
}

/// Return the first, middle and last `k`, and the one with Theorem 1's smallest bound.
fn shown(ranks: &[TargetRank]) -> Vec<&TargetRank> {
    let absolute = |rank: &TargetRank| rank.frobenius_bound / rank.frobenius_trivial;
    let best = ranks.iter().min_by(|one, other| absolute(one).total_cmp(&absolute(other)));
    let mut shown: Vec<&TargetRank> =
        [ranks.first(), best, ranks.get(ranks.len() / 2), ranks.last()].into_iter().flatten().collect();
    shown.sort_by_key(|rank| rank.k);
    shown.dedup_by_key(|rank| rank.k);
    shown
}

fn target_ranks(found: &Diagnosis) -> String {
    let ratio = found.expected_trace_error / (found.landmarks + 1) as f64;
    let head = ["k", "e_(c+1)/e_c", "Lemma 1", "norm", "measured", "Theorem 1", "Corollary 1", "trivial"];
    let line = |first: [String; 3], norm: &str, measured: Interval, bounds: [f64; 3]| -> Vec<String> {
        let marked = bounds.map(|bound| short(bound) + if bound > bounds[2] { "*" } else { "" });
        first.into_iter().chain([norm.to_owned(), with_error(measured)]).chain(marked).collect()
    };
    let mut rows = Vec::new();
    for rank in shown(&found.target_ranks) {
        let first = [rank.k.to_string(), short(ratio), short(rank.lemma_1)];
        let bounds = [rank.frobenius_bound, rank.frobenius_corollary, rank.frobenius_trivial];
        rows.push(line(first, "Frobenius", rank.frobenius, bounds));
        let bounds = [rank.spectral_bound, rank.spectral_corollary, rank.spectral_trivial];
        rows.push(line(Default::default(), "spectral", rank.spectral, bounds));
    }
    aligned(&head, &rows)
        + &format!(
            "\nk: the first, the middle, the last, and that of Theorem 1's least bound beside the trivial one. Lemma 1 bounds\n\
             e_(c+1)/e_c. Errors are norms of K - K~ over those of K - K_k. Theorem 1 bounds their mean, Corollary 1 a fraction {} of all\n\
             samples, and the trivial bound, K over K - K_k, every sample. *: weaker than the trivial bound.\n",
            1.0 - found.delta
        )
}

fn risks(found: &Regression, all: &Diagnosis) -> String {
    let rows = [
        ["bias", &short(found.bias), &with_error(found.nystrom_bias), ""],
        ["variance", &short(found.variance), &with_error(found.nystrom_variance), ""],
        ["square root of the risk ratio", "", &with_error(found.root_ratio), &short(found.bound)],
    ]
    .map(|cells| cells.map(str::to_owned).to_vec());
    aligned(&["risk of ridge regression", "K", "K~", "Theorem 2"], &rows)
        + &format!(
            "\nIn units of the target's variance. Ridge {}. The fit on all rows stands in for the true function; the noise\n\
             variance, {} in every row, is the sum of its squared residuals over {} degrees of freedom. With\n\
             probability {} the square root of the ratio of biases is below {}{} (Corollary 2); it is always\n\
             below {} (trivial).\n",
            short(found.ridge),
            short(found.noise),
            short(found.residual_freedom),
            1.0 - all.delta,
            short(found.corollary),
            if found.corollary > found.trivial { "*" } else { "" },
            short(found.trivial)
        )
}

fn mixing(found: &Diagnosis) -> String {
    let mut rows = Vec::new();
    match &found.contraction {
        Some(contraction) => contraction_rows(contraction, found, &mut rows),
        None => rows.push(row("alpha", "-")),
    }
    let meeting = &found.meeting;
    rows.push(row(
        &format!("pairs of coupled chains that met in {} steps", meeting.limit),
        format!("{} of {}", meeting.met, meeting.pairs),
    ));
    let median =
        meeting.median.map_or_else(|| format!("over {}", meeting.limit), |median| median.to_string());
    rows.push(row("median steps to meet", median));
    aligned(&["mixing of Algorithm 1", ""], &rows)
        + "\nBoth chains of a pair start from uniform rows: the steps to meet are no bound on the mixing time and no\n\
           estimate of it.\n"
}

fn contraction_rows(contraction: &Contraction, found: &Diagnosis, rows: &mut Vec<Vec<String>>) {
    let steps = |steps: Option<f64>| steps.map_or_else(|| "none: alpha >= 1".to_owned(), short);
    let epsilon = found.epsilon;
    if contraction.alpha_is_exact {
        rows.push(row("alpha, maximum over all states", short(contraction.alpha)));
        rows.push(row(&format!("Theorem 3: steps to {epsilon}"), steps(contraction.theorem_3)));
    } else {
        let name = format!("alpha, lower bound from {} triples (S, r, t)", contraction.triples);
        rows.push(row(&name, short(contraction.alpha)));
        rows.push(row("mean over these triples", short_or_dash(contraction.alpha_mean)));
        let name = format!("Theorem 3: steps to {epsilon}, at that lower bound (certifies nothing)");
        rows.push(row(&name, steps(contraction.theorem_3)));
    }
    let factor = format!("{:.8}", contraction.step_factor);
    rows.push(row(
        "factor of the expected distance in a step, at that alpha (1 or more: no contraction)",
        factor,
    ));
    let name = format!("steps to {epsilon} from a uniform start, unconditional (after Hermon and Salez)");
    rows.push(row(&name, short(contraction.unconditional)));
}

fn chains(found: &Diagnosis) -> String {
    let columns: [Column<ChainRecord>; 9] = [
        ("chain", |chain| chain.chain.to_owned()),
        ("chains", |chain| chain.chains.to_string()),
        ("steps", |chain| chain.steps.to_string()),
        ("acceptance", |chain| short(chain.acceptance)),
        ("autocorrelation", |chain| short_or_dash(chain.autocorrelation_steps)),
        ("effective", |chain| short_or_dash(chain.effective_samples)),
        ("split R-hat", |chain| {
            short_or_dash(chain.r_hat)
                + if chain.r_hat.is_none_or(|r_hat| r_hat > Convergence::LIMIT) { "*" } else { "" }
        }),
        ("log-det", |chain| with_error(chain.log_det)),
        ("seconds", |chain| short(chain.seconds)),
    ];
    table(&columns, &found.chains)
        + &format!(
            "\nStatistics of the log-determinant, without the first half of each chain (burn-in): integrated\n\
             autocorrelation time in steps (Geyer's initial monotone sequence over all chains), effective sample size,\n\
             split R-hat (*: above {}, the chains do not agree), mean. Its mean over the exact samples is {}.\n\
             Seconds are for all chains together.\n",
            Convergence::LIMIT,
            with_error(found.log_det)
        )
}
