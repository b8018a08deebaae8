//! Tests on the data sets of the paper: the chain's law at a realistic size, and its gain over uniform
//! rows. The folder is the one that `DPP_NYSTROM_DATA` names, or else `../shared/data` from the root of
//! the workspace.

use crate::command::{Folder, assert_landmarks, number, row_numbers};
use dpp_nystrom::approximation::{Gram, trace_error};
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::landmarks::{ChainKind, ExactKDpp, Selector, Start, Steps, Task, run};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::selectors::{Kdpp, KmeansPlusPlus, Uniform};
use dpp_nystrom::{
    Ridge,
    regression::{FitParams, choose_bandwidth},
};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, Precision},
};
use dpp_nystrom_core::{Random, Rule};
use dpp_nystrom_lab::spectrum::Spectrum;
use rayon::prelude::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::path::{Path, PathBuf};

pub(crate) const SETS: [&str; 6] = ["abalone", "ailerons", "bank8FM", "cal.housing", "cpu.act", "cpu.small"];
const LANDMARKS: usize = 50;

/// Independent selections, for a standard error of a quarter of a percent.
const RUNS: u64 = 400;

/// Return the file of a data set, if it exists.
pub(crate) fn file(test: &str, set: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DPP_NYSTROM_DATA")
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join(format!("{set}.arff"));
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {test}: no data folder with {set}.arff (DPP_NYSTROM_DATA names it)");
    None
}

/// `rows` of a data set, all if it has fewer, and the kernel's setting at so many medians.
pub(crate) fn prepared(path: &Path, rows: usize, medians: f64) -> (Prepared, FitParams) {
    let table = table::read(path, &Target::Last).unwrap();
    let sample = (table.rows() > rows).then_some(rows);
    let data = Prepared::new(table, sample, 0).unwrap();
    let kernel = KernelKind::Gaussian;
    let sigma = choose_bandwidth(Sigma::Median(medians), kernel, &data, 0, &NoObserver).unwrap().sigma;
    (
        data,
        FitParams {
            kernel: KernelSpec { kind: kernel, sigma },
            ridge: Ridge::CrossValidated,
            precision: Precision::F64,
            seed: 0,
        },
    )
}

/// Return `ln(exp(x) + exp(y))`.
fn log_sum(x: f64, y: f64) -> f64 {
    let (more, less) = if x > y { (x, y) } else { (y, x) };
    if less == f64::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
}

/// Return `(c + 1) e_{c+1} / e_c` of elementary symmetric polynomials, on the log scale because they
/// overflow.
fn expected_trace_error(eigenvalues: &[f64], c: usize) -> f64 {
    let mut logs = vec![f64::NEG_INFINITY; c + 2];
    logs[0] = 0.0;
    for value in eigenvalues {
        for k in (1..logs.len()).rev() {
            logs[k] = log_sum(logs[k], logs[k - 1] + value.ln());
        }
    }
    (c + 1) as f64 * (logs[c + 1] - logs[c]).exp()
}

#[test]
fn symmetric_polynomials() {
    // e_1 = 6, e_2 = 11, e_3 = 6.
    assert!((expected_trace_error(&[1.0, 2.0, 3.0], 1) - 2.0 * 11.0 / 6.0).abs() < 1e-14);
    assert!((expected_trace_error(&[3.0, 2.0, 1.0, 0.0], 2) - 3.0 * 6.0 / 11.0).abs() < 1e-14);
    assert_eq!(expected_trace_error(&[3.0, 2.0, 0.0], 2), 0.0);
}

/// How many standard errors the mean trace error of independent selections is from what is expected.
fn deviation(data: &Prepared, setting: FitParams, selector: &dyn Selector, expected: f64) -> f64 {
    let errors: Vec<f64> = (0..RUNS)
        .into_par_iter()
        .map(|seed| {
            let gram = Gram::new(data, setting.kernel).unwrap();
            let selection = run(selector, &Task { seed, ..Task::new(&gram, LANDMARKS) }).unwrap();
            gram.trace_error(&selection.landmarks).unwrap().error
        })
        .collect();
    standard_errors(&format!("{selector:?}"), &errors, expected)
}

/// Return the distance of the mean of independent values from `expected`, in standard errors.
fn standard_errors(name: &str, errors: &[f64], expected: f64) -> f64 {
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let variance = errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    println!("{name}: mean {mean:.4} ± {error:.4}, expected {expected:.4}");
    // A small standard error, so that the comparison is meaningful.
    assert!(error < 0.01 * expected, "{error}");
    (mean - expected).abs() / error
}

/// `E tr(K - K̃) = (c + 1) e_{c+1}(K) / e_c(K)` holds under the law `Pr(C) ∝ det K_CC`, and under none of the
/// other laws tested here.
#[test]
fn the_chain_satisfies_the_trace_identity_on_real_rows() {
    let Some(path) = file("the_chain_satisfies_the_trace_identity_on_real_rows", "ailerons") else { return };
    let (data, setting) = prepared(&path, 1_000, 1.0);
    let ground = data.ground(setting.kernel).unwrap();
    let expected = expected_trace_error(Spectrum::of(&ground).unwrap().eigenvalues(), LANDMARKS);
    let kdpp = |chain, steps| Kdpp::default().start(Start::Uniform).chain(chain).steps(steps);
    let long = Steps::Count(6_000);
    let metropolis = ChainKind::Swap(Rule::METROPOLIS);
    // Long enough: the mean is stable after a quarter of the steps. And as long as the program itself
    // runs by default.
    for method in [kdpp(metropolis, long), kdpp(ChainKind::Slot, long), kdpp(ChainKind::Slot, Steps::Auto)] {
        let off = deviation(&data, setting, &method, expected);
        assert!(off < 3.0, "{method:?} {off}");
    }
    // The check can fail, though uniform rows miss only a few hundredths more here.
    let starts: [&dyn Selector; 2] = [&Uniform, &KmeansPlusPlus];
    for method in starts {
        let off = deviation(&data, setting, method, expected);
        assert!(off > 6.0, "{method:?} {off}");
    }
}

/// The same for exact samples; one decomposition is used for all of them.
#[test]
fn exact_samples_satisfy_the_trace_identity_on_real_rows() {
    let Some(path) = file("exact_samples_satisfy_the_trace_identity_on_real_rows", "ailerons") else {
        return;
    };
    let (data, setting) = prepared(&path, 1_000, 1.0);
    let ground = data.ground(setting.kernel).unwrap();
    let exact = ExactKDpp::new(&ground).unwrap();
    let expected = expected_trace_error(exact.eigenvalues(), LANDMARKS);
    assert!((exact.expected_trace_error(LANDMARKS).unwrap() / expected - 1.0).abs() < 1e-10);
    let sized = exact.with_size(LANDMARKS).unwrap();
    let samples: Vec<Vec<usize>> = (0..RUNS).map(|seed| sized.sample(&mut Random::seeded(seed))).collect();
    assert_landmarks(&samples[0], LANDMARKS, data.len());
    let errors: Vec<f64> =
        samples.par_iter().map(|landmarks| trace_error(&ground, landmarks).unwrap().error).collect();
    let off = standard_errors("exact", &errors, expected);
    assert!(off < 3.0, "{off}");
    // The check can fail: uniform rows have a smaller error than the c-DPP here.
    let uniform: Vec<f64> = (0..RUNS)
        .into_par_iter()
        .map(|seed| {
            let gram = Gram::new(&data, setting.kernel).unwrap();
            let selection = run(&Uniform, &Task { seed, ..Task::new(&gram, LANDMARKS) }).unwrap();
            gram.trace_error(&selection.landmarks).unwrap().error
        })
        .collect();
    let off = standard_errors("uniform", &uniform, expected);
    assert!(off > 6.0, "{off}");
}

#[test]
fn every_set_is_selected_from() {
    for set in SETS {
        let Some(path) = file("every_set_is_selected_from", set) else { continue };
        let folder = Folder::new();
        let rows = table::read(&path, &Target::Last).unwrap().rows();
        let used = rows.min(4_000);
        for sigma in ["median", "median*4"] {
            let path = path.display();
            let command = format!(
                "select {path} --rows {used} --landmarks {LANDMARKS} --steps 3000 --sigma {sigma} --json"
            );
            let report = folder.run(&command).good().json();
            assert_landmarks(&row_numbers(&report, "landmarks"), LANDMARKS, rows);
            assert_eq!((number(&report, "rows"), number(&report, "steps")), (used as f64, 3000.0));
            for key in ["sigma", "log_det", "trace_error", "trace_fraction", "seconds"] {
                assert!(number(&report, key).is_finite());
            }
            assert!((0.0..1.0).contains(&number(&report, "trace_fraction")), "{set} {report}");
        }
    }
}

#[test]
fn the_chain_has_a_smaller_error_than_uniform_rows() {
    for set in SETS {
        let Some(path) = file("the_chain_has_a_smaller_error_than_uniform_rows", set) else { continue };
        let (data, setting) = prepared(&path, 4_000, 4.0);
        let gram = Gram::new(&data, setting.kernel).unwrap();
        let mean = |selector: &dyn Selector| {
            let fractions = (0..5).map(|seed| {
                let selection = run(selector, &Task { seed, ..Task::new(&gram, LANDMARKS) }).unwrap();
                gram.trace_error(&selection.landmarks).unwrap().fraction
            });
            fractions.sum::<f64>() / 5.0
        };
        let uniform = mean(&Uniform);
        for chain in [ChainKind::Slot, ChainKind::Swap(Rule::ALGORITHM_1)] {
            let kdpp = mean(&Kdpp::default().chain(chain).steps(Steps::Count(3_000)));
            println!("{set}: {chain:?} {kdpp:.3e}, uniform {uniform:.3e}");
            assert!(kdpp < uniform, "{set} {chain:?}: {kdpp} {uniform}");
        }
    }
}
