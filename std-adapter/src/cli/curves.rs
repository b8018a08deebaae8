//! Trials as curves over the number of landmarks.

use super::chart::Series;
use super::evaluate::mean;
use dpp_nystrom::Trial;
use dpp_nystrom::methods::METHODS;

/// A method's place in the list of all: it looks the same in every picture.
pub(crate) fn look(method: &str) -> usize {
    METHODS.iter().position(|known| known.name() == method).unwrap_or(METHODS.len())
}

/// The least, mean and greatest of what there is.
pub(crate) fn summary(values: &[f64]) -> Option<[f64; 3]> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    mean(values.iter().copied()).map(|mean| [least, mean, most])
}

/// A curve for each method, in the order in which they come: some value over the number of landmarks, with its
/// spread over the seeds.
pub(crate) fn curves(trials: &[Trial], value: impl Fn(&Trial) -> Option<f64>) -> Vec<Series> {
    let mut names: Vec<&str> = Vec::new();
    let mut numbers: Vec<usize> = trials.iter().map(|trial| trial.landmarks).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for trial in trials {
        if !names.contains(&trial.method.as_str()) {
            names.push(&trial.method);
        }
    }
    let curve = |name: &str| {
        let at = |c: usize| {
            let values: Vec<f64> = trials
                .iter()
                .filter(|trial| trial.method == name && trial.landmarks == c)
                .filter_map(&value)
                .collect();
            summary(&values).map(|summary| (c as f64, summary))
        };
        numbers.iter().filter_map(|&c| at(c)).collect()
    };
    names
        .into_iter()
        .map(|name| Series { name: name.to_owned(), look: look(name), points: curve(name) })
        .collect()
}
