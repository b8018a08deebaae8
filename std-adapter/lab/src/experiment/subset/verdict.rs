//! Refinement compared with the best other method of each cell: a data set, a bandwidth and a number of
//! landmarks.

use super::OURS;
use crate::benchmark::Trial;
use crate::experiment::{Regime, trials::Trials, trials::flat};
use crate::statistics::{distinct, mean};
use crate::text::{Column, short, table};

/// Means over the seeds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) set: String,
    pub(super) regime: Regime,
    pub(super) c: usize,
    /// The trace fraction of `refined`.
    pub(super) trace: f64,
    /// The other method with the smallest trace fraction, and its trace fraction.
    pub(super) rival: (String, f64),
    /// The same for the Frobenius error relative to the best rank-c error, where it exists.
    pub(super) frobenius: Option<f64>,
    pub(super) frobenius_rival: Option<(String, f64)>,
}

impl Cell {
    /// Return the ratio of trace fractions; below one if `refined` has a smaller error than every other
    /// method.
    pub(super) fn ratio(&self) -> f64 {
        self.trace / self.rival.1
    }
}

/// Return the mean over a method's trials in a cell.
fn of(
    all: &[Trials],
    key: (Regime, &str, usize),
    method: &str,
    value: impl Fn(&Trial) -> Option<f64>,
) -> Option<f64> {
    let own = flat(all).filter(|(regime, trial)| {
        (*regime, trial.dataset.as_str(), trial.landmarks) == key && trial.method == method
    });
    mean(own.filter_map(|(_, trial)| value(trial)))
}

fn keys(all: &[Trials]) -> Vec<(Regime, &str, usize)> {
    distinct(flat(all).map(|(regime, trial)| (regime, trial.dataset.as_str(), trial.landmarks)))
}

fn methods(all: &[Trials]) -> Vec<&str> {
    distinct(flat(all).map(|(_, trial)| trial.method.as_str()))
}

/// Return every cell that has `refined` and another method.
pub(super) fn cells(all: &[Trials]) -> Vec<Cell> {
    let methods = methods(all);
    let rivals = || methods.iter().filter(|method| !OURS.contains(method));
    keys(all)
        .into_iter()
        .filter_map(|key| {
            let least = |value: fn(&Trial) -> Option<f64>| {
                let measured = rivals()
                    .filter_map(|method| of(all, key, method, value).map(|v| ((*method).to_owned(), v)));
                measured.min_by(|one, other| one.1.total_cmp(&other.1))
            };
            let trace = |trial: &Trial| Some(trial.trace_fraction);
            Some(Cell {
                set: key.1.to_owned(),
                regime: key.0,
                c: key.2,
                trace: of(all, key, "refined", trace)?,
                rival: least(trace)?,
                frobenius: of(all, key, "refined", |trial| trial.fro_rel),
                frobenius_rival: least(|trial| trial.fro_rel),
            })
        })
        .collect()
}

/// A method, its mean test error, and the mean of its test error relative to that of all methods in a cell.
type Relative<'a> = (&'a str, f64, f64);

/// Return test errors of each method, relative to the mean over all methods in the cell.
fn relative(all: &[Trials], c: usize) -> Vec<Relative<'_>> {
    let methods = methods(all);
    let keys: Vec<_> = keys(all).into_iter().filter(|key| key.2 == c).collect();
    let value = |trial: &Trial| trial.test_nrmse;
    let mut relative: Vec<Relative<'_>> = methods
        .iter()
        .filter_map(|&method| {
            let errors = || keys.iter().filter_map(|&key| of(all, key, method, value));
            let ratios = keys.iter().filter_map(|&key| {
                let usual = mean(methods.iter().filter_map(|other| of(all, key, other, value)))?;
                Some(of(all, key, method, value)? / usual)
            });
            Some((method, mean(errors())?, mean(ratios)?))
        })
        .collect();
    relative.sort_by(|one, other| one.2.total_cmp(&other.2));
    relative
}

fn landmark_counts(all: &[Trials]) -> Vec<usize> {
    let mut counts = distinct(flat(all).map(|(_, trial)| trial.landmarks));
    counts.sort_unstable();
    counts
}

/// Format one line per method and number of landmarks.
pub(super) fn predictions(all: &[Trials]) -> String {
    let counts = landmark_counts(all).into_iter();
    let errors: Vec<_> =
        counts.flat_map(|c| relative(all, c).into_iter().map(move |error| (c, error))).collect();
    let columns: [Column<(usize, Relative<'_>)>; 4] = [
        ("method", |(_, (method, ..))| (*method).to_owned()),
        ("c", |(c, _)| c.to_string()),
        ("test error", |(_, (_, error, _))| short(*error)),
        ("relative to the mean", |(_, (.., ratio))| format!("{ratio:.4}")),
    ];
    format!("Test error, means over sets, bandwidths and seeds\n\n{}", table(&columns, &errors))
}

pub(super) fn sentences(cells: &[Cell], all: &[Trials]) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(ratio) = mean(cells.iter().map(Cell::ratio)) {
        let lowest = cells.iter().filter(|cell| cell.ratio() < 1.0).count();
        sentences.push(format!(
            "refined has the smallest trace error in {lowest} of {} cells (set, bandwidth, c), {:.1} % {} than the best other \
             method of each on average.",
            cells.len(),
            100.0 * (1.0 - ratio).abs(),
            if ratio < 1.0 { "less" } else { "more" }
        ));
    }
    let pairs: Vec<(f64, f64)> =
        cells.iter().filter_map(|cell| Some((cell.frobenius?, cell.frobenius_rival.as_ref()?.1))).collect();
    let (ours, theirs) = (mean(pairs.iter().map(|pair| pair.0)), mean(pairs.iter().map(|pair| pair.1)));
    if let (Some(ours), Some(theirs)) = (ours, theirs) {
        sentences.push(format!(
            "Frobenius error over the best: {ours:.3} for refined on average, {theirs:.3} for the best other method of each cell; \
             lower in {} of {}.",
            pairs.iter().filter(|(ours, theirs)| ours < theirs).count(),
            pairs.len()
        ));
    }
    for c in landmark_counts(all) {
        let order = relative(all, c);
        let leaders: Vec<String> =
            order.iter().take(3).map(|(method, _, ratio)| format!("{method} {ratio:.3}")).collect();
        if let Some(at) = order.iter().position(|entry| entry.0 == "refined-ridge") {
            sentences.push(format!(
                "Test error at c = {c}, relative to the mean of all methods in the cell: refined-ridge ranks {} of {}; lowest: {}.",
                at + 1,
                order.len(),
                leaders.join(", ")
            ));
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::{Trials, cells, sentences};
    use crate::benchmark::Trial;
    use crate::experiment::Regime;

    fn trial(dataset: &str, method: &str, seed: u64, errors: (f64, Option<f64>, f64)) -> Trial {
        let (trace_fraction, fro_rel, test) = errors;
        Trial {
            dataset: dataset.to_owned(),
            rows: 10,
            train: 8,
            test: 2,
            method: method.to_owned(),
            landmarks: 5,
            seed,
            fro_rel,
            spec_rel: None,
            trace_fraction,
            train_nrmse: None,
            test_nrmse: Some(test),
            accuracy: None,
            seconds: 0.0,
            sigma: 1.0,
            ridge: None,
            approximation: None,
        }
    }

    #[test]
    fn the_best_rival_is_that_of_the_means_and_refined_ridge_is_none() {
        let trials = vec![
            trial("a", "refined", 0, (0.2, Some(1.0), 0.5)),
            trial("a", "refined", 1, (0.4, Some(3.0), 0.5)),
            trial("a", "refined-ridge", 0, (0.01, Some(0.1), 0.4)),
            trial("a", "lev", 0, (0.1, Some(4.0), 0.6)),
            trial("a", "lev", 1, (0.9, Some(7.0), 0.6)),
            trial("a", "greedy", 0, (0.6, Some(2.0), 0.5)),
            trial("a", "greedy", 1, (0.2, Some(8.0), 0.5)),
            trial("b", "refined", 0, (0.3, None, 0.5)),
            trial("b", "lev", 0, (0.2, None, 0.5)),
            trial("b", "refined-ridge", 0, (0.2, None, 0.5)),
        ];
        let all = [Trials { regime: Regime::Median, trials, full: Vec::new() }];
        let cells = cells(&all);
        assert_eq!(cells.len(), 2);
        let (name, least) = &cells[0].rival;
        assert_eq!(name, "greedy");
        assert!((cells[0].trace - 0.3).abs() < 1e-12 && (least - 0.4).abs() < 1e-12);
        assert_eq!(cells[0].frobenius_rival.as_ref().unwrap().0, "greedy");
        assert_eq!(cells[1].frobenius, None);
        let said = sentences(&cells, &all).join("\n");
        // 0.75 and 1.5.
        for part in [
            "in 1 of 2 cells",
            "12.5 % more",
            "2.000 for refined",
            "5.000 for the best other method",
            "refined-ridge ranks 1 of 4",
        ] {
            assert!(said.contains(part), "{part:?} is not in {said:?}");
        }
    }
}
