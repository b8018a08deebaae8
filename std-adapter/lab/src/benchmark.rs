//! Comparison of selection methods: the same rows, several seeds, and all error measures plotted in the
//! paper.

use crate::rng::{Stream, stream};
use crate::spectrum::Spectrum;
use crate::statistics::{Interval, distinct, mean};
use crate::text::{Column, aligned, short, short_or_dash, table as lines_of};
use crate::variants::Approximation;
use dpp_nystrom::approximation::{Gram, SPECTRUM_ROWS};
use dpp_nystrom::core::Error as CoreError;
use dpp_nystrom::data::{Prepared, table::Table};
use dpp_nystrom::landmarks::{Selection, Selector, Task, check_count, run};
use dpp_nystrom::model::Classified;
use dpp_nystrom::observer::{Named, Observer, go_on};
use dpp_nystrom::pipeline::{self, Landmarks, Params};
use dpp_nystrom::{Error, ErrorKind, Model};
use dpp_nystrom::{
    Ridge,
    regression::{FitParams, choose_bandwidth, fit},
};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, KernelParams, KernelSpec, Precision},
};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The measurements of one selection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The data set's name.
    pub dataset: String,
    /// Rows used, for training and testing together.
    pub rows: usize,
    /// Rows from which landmarks were selected and to which the regression was fitted.
    pub train: usize,
    /// Rows held out.
    pub test: usize,
    /// The method.
    pub method: String,
    /// The number of landmarks c.
    pub landmarks: usize,
    /// The seed.
    pub seed: u64,
    /// `‖K - K̃‖_F / ‖K - K_c‖_F`; absent for more than [`SPECTRUM_ROWS`] rows, and if `K` has rank `c`.
    pub fro_rel: Option<f64>,
    /// `‖K - K̃‖_2 / ‖K - K_c‖_2`; absent if `fro_rel` is.
    pub spec_rel: Option<f64>,
    /// `tr(K - K̃) / tr K`.
    pub trace_fraction: f64,
    /// Root mean square error on the training rows, divided by the standard deviation of the training target.
    pub train_nrmse: Option<f64>,
    /// The same on the held-out rows.
    pub test_nrmse: Option<f64>,
    /// The share of the held-out rows with the right class; absent for numbers, which have the errors above
    /// instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Duration of the selection alone, in seconds.
    pub seconds: f64,
    /// The bandwidth.
    pub sigma: f64,
    /// The ridge.
    pub ridge: Option<f64>,
    /// The approximation measured; absent for the Nyström method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximation: Option<String>,
}

/// The name in trials of regression on all training rows, which landmarks approximate.
pub const ALL_ROWS: &str = "all rows";

/// All rows as landmarks, whatever their number.
#[derive(Debug)]
struct AllRows;

impl Selector for AllRows {
    fn name(&self) -> &'static str {
        ALL_ROWS
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        task.gram.check_whole(ALL_ROWS, "refined")?;
        Ok(Selection::rows((0..task.gram.len()).collect(), f64::NAN))
    }
}

/// The parameters of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The selectors, identified by name in the trials.
    pub selectors: Vec<Arc<dyn Selector>>,
    /// The numbers of landmarks.
    pub landmarks: Vec<usize>,
    /// Whether to measure regression on all training rows too, up to [`SPECTRUM_ROWS`]: the method
    /// [`ALL_ROWS`].
    pub full: bool,
    /// The first seed.
    pub seed: u64,
    /// The number of seeds.
    pub seeds: u64,
    /// The number of rows to use.
    pub rows: usize,
    /// The number of those rows to hold out.
    pub test: usize,
    /// The kernel.
    pub kernel: KernelKind,
    /// Its bandwidth.
    pub bandwidth: Sigma,
    /// The ridge.
    pub ridge: Ridge,
    /// The precision.
    pub precision: Precision,
    /// The approximation. The regression is Nyström's, and is omitted for other approximations.
    pub approximation: Approximation,
}

/// Run each method with each number of landmarks and seed, and pass each trial to `each` as it completes.
///
/// Each seed draws its own rows. A bandwidth is cross-validated for each number of landmarks, with the first
/// selector. Given landmarks are always among the training rows. Without a target the regression is omitted.
///
/// # Errors
/// `ErrorKind::Data` for too few rows, `ErrorKind::Landmarks`, errors of the bandwidth, the
/// selection, the approximation and the regression, and those of `each`.
pub fn evaluate(
    table: &Table,
    comparison: &Comparison,
    observer: &dyn Observer,
    each: impl FnMut(Trial) -> Result<(), Error>,
) -> Result<(), Error> {
    evaluate_classes(table, &[], comparison, observer, each)
}

/// [`evaluate`] on classes: the target is the index of one of `labels`. Without labels it is a number.
///
/// # Errors
/// Those of [`evaluate`], `ErrorKind::Data` for a single class.
pub fn evaluate_classes(
    table: &Table,
    labels: &[String],
    comparison: &Comparison,
    observer: &dyn Observer,
    mut each: impl FnMut(Trial) -> Result<(), Error>,
) -> Result<(), Error> {
    let total = table.rows();
    let &Comparison { rows, test, .. } = comparison;
    if rows > total || rows == 0 {
        return Err(Error::new(
            ErrorKind::Data,
            format!("{rows} rows requested: expected at least 1 and at most {total}, the number available"),
        ));
    }
    if test >= rows {
        return Err(Error::new(
            ErrorKind::Data,
            format!("{test} rows to test on leave none of the {rows} to train on; hold out fewer"),
        ));
    }
    // Check the arguments before hours of work.
    for &landmarks in &comparison.landmarks {
        check_count(landmarks, rows - test)?;
    }
    for seed in (0..comparison.seeds).map(|further| comparison.seed.wrapping_add(further)) {
        let (mut data, test) = split(table, comparison, seed)?;
        if !labels.is_empty() {
            data.classify(labels);
        }
        let of_seed = OfSeed { comparison, seed, data: &data, test: &test, labels };
        let trials = comparison.landmarks.len() * comparison.selectors.len();
        let (mut trial, mut under, mut under_sigma) = (0, None, f64::NAN);
        for (round, &c) in comparison.landmarks.iter().enumerate() {
            let sigma = bandwidth(&data, comparison, c, seed, observer)?;
            let (gram, spectrum) = match under.take() {
                Some(same) if under_sigma == sigma => under.insert(same),
                _ => {
                    let kernel = KernelSpec { kind: comparison.kernel, sigma };
                    under.insert(decomposed(&data, kernel, observer)?)
                }
            };
            under_sigma = sigma;
            for selector in &comparison.selectors {
                // The number of given rows does not depend on c: measure them once.
                let c = match selector.fixed() {
                    Some(_) if round > 0 => continue,
                    Some(rows) => rows.len(),
                    None => c,
                };
                trial += 1;
                let name = format!("seed {seed}, {trial} of {trials}: {} {c}", selector.name());
                let observer = &Named { outer: observer, name: &name };
                each(of_seed.trial(&**selector, c, gram, spectrum.as_ref(), observer)?)?;
                go_on(observer)?;
            }
        }
        // Under the last bandwidth.
        if let Some((gram, _)) = under.filter(|_| comparison.full) {
            let observer = &Named { outer: observer, name: &format!("seed {seed}: all rows") };
            each(of_seed.trial(&AllRows, data.len(), &gram, None, observer)?)?;
        }
    }
    Ok(())
}

/// The training rows of a seed, the rows held out, and the labels of their classes.
struct OfSeed<'a> {
    comparison: &'a Comparison,
    seed: u64,
    data: &'a Prepared,
    test: &'a Table,
    labels: &'a [String],
}

impl OfSeed<'_> {
    /// Select `c` landmarks and measure them.
    fn trial(
        &self,
        selector: &dyn Selector,
        c: usize,
        gram: &Gram<'_>,
        spectrum: Option<&Spectrum>,
        observer: &dyn Observer,
    ) -> Result<Trial, Error> {
        let &Self { comparison, seed, data, test, labels } = self;
        let &Comparison { ridge, precision, approximation, .. } = comparison;
        let of_task = if let Ridge::Value(gamma) = ridge { Some(gamma) } else { None };
        let selection = run(selector, &Task { gram, c, precision, seed, ridge: of_task, observer })?;
        let (trace, relative) = approximation.errors(gram, spectrum, &selection.landmarks, seed)?;
        let is_nystrom = approximation == Approximation::Nystrom;
        let params = FitParams { kernel: gram.kernel()?, ridge, precision, seed };
        let model = match data.target() {
            Ok(_) if is_nystrom => Some(fit(data, &selection.landmarks, params, None, observer)?.model),
            _ => None,
        };
        let tested = model.as_ref().filter(|_| comparison.test > 0);
        let test_nrmse = match (tested, data.target()) {
            (Some(model), Ok(target)) if model.classifier.is_none() => {
                Some(test.root_mean_square(&model.predict_table(test)?) / target.deviation)
            }
            _ => None,
        };
        Ok(Trial {
            dataset: data.name().to_owned(),
            rows: comparison.rows,
            train: data.len(),
            test: comparison.test,
            method: selector.name().to_owned(),
            landmarks: c,
            seed,
            fro_rel: relative.map(|relative| relative.frobenius),
            spec_rel: relative.map(|relative| relative.spectral),
            trace_fraction: trace.fraction,
            train_nrmse: model.as_ref().map(|model| model.train_nrmse),
            test_nrmse,
            accuracy: tested.map(|model| accuracy(model, labels, test)).transpose()?.flatten(),
            seconds: selection.seconds,
            sigma: gram.kernel()?.sigma,
            ridge: model.as_ref().map(|model| model.ridge),
            approximation: (!is_nystrom).then(|| approximation.to_string()),
        })
    }
}

/// Return the share of rows with the right class; none for a model of numbers.
fn accuracy(model: &Model, labels: &[String], test: &Table) -> Result<Option<f64>, Error> {
    let (Some(classifier), Some(target)) = (&model.classifier, &test.target) else { return Ok(None) };
    let found = model.classify(&test.features)?;
    let is_right = |(found, own): &(&Classified, &f64)| {
        classifier.classes.labels.get(found.index) == labels.get(**own as usize)
    };
    let weight = |row: usize| test.weights.as_ref().map_or(1.0, |weights| weights[row]);
    let rows = found.iter().zip(target).enumerate().filter(|(_, row)| is_right(row));
    let right: f64 = rows.map(|(row, _)| weight(row)).sum();
    Ok(Some(right / (0..target.len()).map(weight).sum::<f64>()))
}

/// Return the bandwidth for this number of landmarks. If it is cross-validated, it is that of a fit with the
/// first method.
fn bandwidth(
    data: &Prepared,
    comparison: &Comparison,
    c: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<f64, Error> {
    let &Comparison { kernel: kind, bandwidth: sigma, ridge, precision, .. } = comparison;
    let validated = sigma == Sigma::CrossValidated && kind.has_bandwidth();
    let Some(selector) = comparison.selectors.first().filter(|_| validated) else {
        return Ok(choose_bandwidth(sigma, kind, data, seed, observer)?.sigma);
    };
    let landmarks = Landmarks::Count(selector.fixed().map_or(c, <[_]>::len));
    let kernel = KernelParams { sigma, ..kind.into() };
    let params =
        Params { kernel, landmarks, selector: &**selector, ridge, precision, seed, ..Params::default() };
    Ok(pipeline::select(data, &params, observer)?.kernel.sigma)
}

/// Return the rows under a kernel, with all eigenvalues unless there are too many rows.
fn decomposed<'a>(
    data: &'a Prepared,
    kernel: KernelSpec,
    observer: &dyn Observer,
) -> Result<(Gram<'a>, Option<Spectrum>), Error> {
    let gram = Gram::new(data, kernel)?;
    if data.len() > SPECTRUM_ROWS {
        return Ok((gram, None));
    }
    observer.begin("eigenvalues", 1);
    let matrix = gram.matrix()?.clone();
    go_on(observer)?;
    let spectrum = Spectrum::of_matrix(matrix)?;
    observer.end();
    Ok((gram, Some(spectrum)))
}

/// Return the standardised training rows and the raw held-out rows.
fn split(table: &Table, comparison: &Comparison, seed: u64) -> Result<(Prepared, Table), Error> {
    let mut given: Vec<usize> =
        comparison.selectors.iter().filter_map(|selector| selector.fixed()).flatten().copied().collect();
    given.sort_unstable();
    given.dedup();
    if let Some(&index) = given.iter().find(|&&row| row >= table.rows()) {
        return Err(Error::landmarks(CoreError::OutOfRange { index, len: table.rows() }));
    }
    let training = comparison.rows - comparison.test;
    if given.len() > training {
        return Err(Error::landmarks(CoreError::TooManyLandmarks { landmarks: given.len(), rows: training }));
    }
    let mut others: Vec<usize> = (0..table.rows()).filter(|row| given.binary_search(row).is_err()).collect();
    others.shuffle(&mut stream(seed, Stream::Rows));
    let (fill, rest) = others.split_at(training - given.len());
    let mut train_rows = [&given[..], fill].concat();
    train_rows.sort_unstable();
    let mut test_rows = rest[..comparison.test].to_vec();
    test_rows.sort_unstable();
    let part = |rows: &[usize]| {
        let mut part = table.clone();
        part.keep(rows);
        part
    };
    let data = Prepared::new(part(&train_rows), None, seed)?.numbered_as(&train_rows)?;
    Ok((data, part(&test_rows)))
}

/// Format a line for each method and number of landmarks: means over the seeds.
pub fn table_of_means(trials: &[Trial]) -> String {
    let mut groups = distinct(trials.iter().map(|trial| (trial.landmarks, trial.method.as_str())));
    groups.sort_by_key(|group| group.0);
    let groups: Vec<Vec<&Trial>> = groups
        .into_iter()
        .map(|group| {
            trials.iter().filter(|trial| (trial.landmarks, trial.method.as_str()) == group).collect()
        })
        .collect();
    let columns: [Column<Vec<&Trial>>; 12] = [
        ("method", |group| group[0].method.clone()),
        ("c", |group| group[0].landmarks.to_string()),
        ("seeds", |group| group.len().to_string()),
        ("fro_rel", |group| short_mean(group, |trial| trial.fro_rel)),
        ("spec_rel", |group| short_mean(group, |trial| trial.spec_rel)),
        ("trace_fraction", |group| short_mean(group, |trial| Some(trial.trace_fraction))),
        ("train_nrmse", |group| short_mean(group, |trial| trial.train_nrmse)),
        ("test_nrmse", |group| short_mean(group, |trial| trial.test_nrmse)),
        ("accuracy", |group| short_mean(group, |trial| trial.accuracy)),
        ("seconds", |group| short_mean(group, |trial| Some(trial.seconds))),
        ("sigma", |group| short_mean(group, |trial| Some(trial.sigma))),
        // Ridges spread over powers of ten.
        ("ridge", |group| {
            let logarithms = group.iter().filter_map(|trial| trial.ridge.map(f64::ln));
            short_or_dash(mean(logarithms).map(f64::exp))
        }),
    ];
    // Numbers have no accuracy, and classes have no other.
    let has_classes = trials.iter().any(|trial| trial.accuracy.is_some());
    let shown = |name: &str| if has_classes { !name.ends_with("_nrmse") } else { name != "accuracy" };
    let columns: Vec<Column<Vec<&Trial>>> = columns.into_iter().filter(|column| shown(column.0)).collect();
    lines_of(&columns, &groups)
}

/// Format for each number of landmarks how much more each method measured than the first one: on the rows of
/// one seed, which all methods share, the mean over the seeds and its standard error. None for one seed or
/// one method.
pub fn table_of_differences(trials: &[Trial]) -> Option<String> {
    let first = trials.first()?.method.as_str();
    type Measure = fn(&Trial) -> Option<f64>;
    let measures: [(&str, Measure); 3] = [
        ("trace_fraction", |trial| Some(trial.trace_fraction)),
        ("test_nrmse", |trial| trial.test_nrmse),
        ("accuracy", |trial| trial.accuracy),
    ];
    let measures: Vec<_> =
        measures.into_iter().filter(|(_, of)| trials.iter().any(|trial| of(trial).is_some())).collect();
    let mut groups = distinct(trials.iter().map(|trial| (trial.landmarks, trial.method.as_str())));
    groups.sort_by_key(|group| group.0);
    let mut rows = Vec::new();
    for (landmarks, method) in groups.into_iter().filter(|group| group.1 != first) {
        let of = |method| {
            trials.iter().filter(move |trial| (trial.landmarks, trial.method.as_str()) == (landmarks, method))
        };
        let pairs: Vec<(&Trial, &Trial)> = of(method)
            .filter_map(|own| Some((own, of(first).find(|other| other.seed == own.seed)?)))
            .collect();
        if pairs.len() < 2 {
            continue;
        }
        let difference = |measure: Measure| {
            let differences = pairs.iter().filter_map(|(own, other)| Some(measure(own)? - measure(other)?));
            let Interval { mean, error } = Interval::of(differences);
            if mean.is_nan() { "-".to_owned() } else { format!("{} +- {}", short(mean), short(error)) }
        };
        let cells = measures.iter().map(|&(_, measure)| difference(measure));
        rows.push([method.to_owned(), landmarks.to_string()].into_iter().chain(cells).collect());
    }
    let head: Vec<&str> =
        ["method", "c"].into_iter().chain(measures.iter().map(|measure| measure.0)).collect();
    (!rows.is_empty()).then(|| {
        format!(
            "Difference to {first} on the same rows: means over the seeds +- standard errors\n\n{}",
            aligned(&head, &rows)
        )
    })
}

fn short_mean(group: &[&Trial], of: impl Fn(&Trial) -> Option<f64>) -> String {
    short_or_dash(mean(group.iter().filter_map(|trial| of(trial))))
}
