//! Where a c-DPP wins and where it loses, derived from the trials.

use super::Regime;
use crate::benchmark::Trial;
use crate::chart::Series;
use crate::curves::look;
use crate::statistics::{distinct, mean, summary};

/// An error measure of a trial; lower is better.
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) of: fn(&Trial) -> Option<f64>,
}

/// Return the mean over the seeds for one method, data set and number of landmarks.
fn cell(trials: &[Trial], metric: &Metric, method: &str, set: &str, c: usize) -> Option<f64> {
    let own = trials.iter().filter(|t| t.method == method && t.dataset == set && t.landmarks == c);
    mean(own.filter_map(metric.of))
}

/// Return the methods, data sets and numbers of landmarks of the trials.
fn keys(trials: &[Trial]) -> (Vec<&str>, Vec<&str>, Vec<usize>) {
    (
        distinct(trials.iter().map(|trial| trial.method.as_str())),
        distinct(trials.iter().map(|trial| trial.dataset.as_str())),
        distinct(trials.iter().map(|trial| trial.landmarks)),
    )
}

/// Return each method's reduction of uniform's error, in percent, over the data sets.
pub(super) fn improvement(trials: &[Trial], metric: &Metric) -> Vec<Series> {
    let (methods, sets, counts) = keys(trials);
    let others = methods.into_iter().filter(|&method| method != "uniform");
    others
        .map(|method| {
            let at = |c: usize| {
                let of = |set: &&str| {
                    let uniform = cell(trials, metric, "uniform", set, c)?;
                    Some(100.0 * (1.0 - cell(trials, metric, method, set, c)? / uniform))
                };
                let over: Vec<f64> = sets.iter().filter_map(of).collect();
                summary(&over).map(|summary| (c as f64, summary))
            };
            let points = counts.iter().filter_map(|&c| at(c)).collect();
            Series { name: method.to_owned(), look: look(method), points }
        })
        .collect()
}

/// Return one sentence per number of landmarks.
pub(super) fn sentences(trials: &[Trial], metric: &Metric, regime: Regime) -> Vec<String> {
    let (methods, sets, counts) = keys(trials);
    let mut sentences = Vec::new();
    for c in counts {
        let of = |method: &str| -> Vec<(f64, &str)> {
            sets.iter().filter_map(|&set| cell(trials, metric, method, set, c).map(|v| (v, set))).collect()
        };
        let (kdpp, uniform) = (of("kdpp"), of("uniform"));
        let pairs: Vec<(f64, f64)> = kdpp
            .iter()
            .filter_map(|&(ours, set)| {
                uniform.iter().find(|other| other.1 == set).map(|&(theirs, _)| (ours, theirs))
            })
            .collect();
        let Some(change) = mean(pairs.iter().map(|(ours, theirs)| 100.0 * (1.0 - ours / theirs))) else {
            continue;
        };
        let wins = pairs.iter().filter(|(ours, theirs)| ours < theirs).count();
        let best: Vec<&str> = sets
            .iter()
            .filter_map(|set| {
                let measured = methods
                    .iter()
                    .filter_map(|method| cell(trials, metric, method, set, c).map(|v| (v, *method)));
                measured.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, method)| method)
            })
            .collect();
        let leaders: Vec<String> = distinct(best.iter().copied())
            .into_iter()
            .map(|method| format!("{method} {}", best.iter().filter(|&&other| other == method).count()))
            .collect();
        sentences.push(format!(
            "{}, c = {c}, {}: the c-DPP's chain has {:.0} % {} than uniform on average, less on {wins} of {} sets; lowest: {}.",
            regime.title(),
            metric.title,
            change.abs(),
            if change < 0.0 { "more" } else { "less" },
            pairs.len(),
            leaders.join(", ")
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::{Metric, improvement, sentences};
    use crate::benchmark::Trial;
    use crate::experiment::Regime;

    fn trial(dataset: &str, method: &str, seed: u64, trace_fraction: f64) -> Trial {
        Trial {
            dataset: dataset.to_owned(),
            rows: 10,
            train: 10,
            test: 0,
            method: method.to_owned(),
            landmarks: 5,
            seed,
            fro_rel: None,
            spec_rel: None,
            trace_fraction,
            train_nrmse: None,
            test_nrmse: None,
            accuracy: None,
            seconds: 0.0,
            sigma: 1.0,
            ridge: None,
            approximation: None,
        }
    }

    #[test]
    fn means_are_taken_over_seeds_and_then_over_sets() {
        let trials = [
            trial("a", "uniform", 0, 0.3),
            trial("a", "uniform", 1, 0.5),
            trial("a", "kdpp", 0, 0.1),
            trial("a", "kdpp", 1, 0.3),
            trial("b", "uniform", 0, 0.1),
            trial("b", "kdpp", 0, 0.12),
            trial("b", "lev", 0, 0.11),
        ];
        let metric = Metric { name: "trace", title: "the error", of: |trial| Some(trial.trace_fraction) };
        let series = improvement(&trials, &metric);
        assert_eq!(series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>(), ["kdpp", "lev"]);
        // a: 1 - 0.2/0.4; b: 1 - 0.12/0.1.
        let (c, [least, mean, most]) = series[0].points[0];
        assert_eq!(c, 5.0);
        for (found, expected) in [(least, -20.0), (mean, 15.0), (most, 50.0)] {
            assert!((found - expected).abs() < 1e-9);
        }
        let said = sentences(&trials, &metric, Regime::Median).concat();
        for part in ["15 % less", "less on 1 of 2 sets", "lowest: kdpp 1, uniform 1"] {
            assert!(said.contains(part), "{part:?} is not in {said:?}");
        }
    }
}
