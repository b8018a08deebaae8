//! Trials as curves over the number of landmarks.

use crate::benchmark::Trial;
use crate::chart::Series;
use crate::selectors::methods;
use crate::statistics::{distinct, summary};

/// Return a method's index in the list of all, so that it looks the same in every picture.
pub fn look(method: &str) -> usize {
    methods().position(|known| known.name == method).unwrap_or_else(|| methods().count())
}

/// Return one curve per method, in order of appearance: a value over the number of landmarks, with its range
/// over the seeds.
pub fn curves(trials: &[Trial], value: impl Fn(&Trial) -> Option<f64>) -> Vec<Series> {
    let mut counts: Vec<usize> = trials.iter().map(|trial| trial.landmarks).collect();
    counts.sort_unstable();
    counts.dedup();
    let curve = |name: &str| {
        let at = |c: usize| {
            let values: Vec<f64> = trials
                .iter()
                .filter(|trial| trial.method == name && trial.landmarks == c)
                .filter_map(&value)
                .collect();
            summary(&values).map(|summary| (c as f64, summary))
        };
        counts.iter().filter_map(|&c| at(c)).collect()
    };
    distinct(trials.iter().map(|trial| &trial.method))
        .into_iter()
        .map(|name| Series { name: name.clone(), look: look(name), points: curve(name) })
        .collect()
}
