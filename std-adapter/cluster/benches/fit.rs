//! The engine's fit against a loop by hand over the same Parquet files: one run, minima of several rounds in
//! turn.
//!
//! ```sh
//! cargo bench --profile cluster --config 'profile.cluster.package.dpp-nystrom-cluster.opt-level=3' -p dpp-nystrom-cluster \
//!     --bench fit [-- ROWS LANDMARKS... [--rounds N] [--only engine|loop] [--cv]]
//! ```
//!
//! The loop reads row groups on all threads and accumulates each batch by the same specification, on given
//! landmarks: the engine's pass adds planning, its operators and its queues. A fit adds a survey before it,
//! uniform landmarks and the solution. Both ratios are to the loop, of elapsed time and of processor time,
//! which other programs disturb less.
//!
//! By default the ridge is given; `--cv` keeps ten folds. `--only` runs one of the two, to measure its
//! memory; the peak memory of this process is printed at the end.

use datafusion::arrow::array::{ArrayRef, AsArray, Float64Array, RecordBatch};
use datafusion::arrow::datatypes::Float64Type;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use datafusion::parquet::file::properties::WriterProperties;
use dpp_nystrom::Error;
use dpp_nystrom::kernel::KernelParams;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::pipeline::{Landmarks, Params, fit_batches, select};
use dpp_nystrom::selectors::Uniform;
use dpp_nystrom::{
    Ridge,
    regression::{Accumulator, FitSpec, Folds},
};
use dpp_nystrom_cluster::{Session, SurveyedRows, TableSource};
use rayon::prelude::*;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const FEATURES: usize = 10;

/// Rows to a batch, as the engine's.
const BATCH: usize = 16_384;

/// Rows in files of up to a million, smooth in some features and noisy: `x0` to `x9` and `y`.
fn write(folder: &Path, rows: usize) {
    let files = rows.div_ceil(1_000_000);
    for file in 0..files {
        let (begin, end) = (file * rows / files, (file + 1) * rows / files);
        let mut state = file as u64 + 1;
        let mut uniform = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut columns = vec![Vec::new(); FEATURES + 1];
        for _ in begin..end {
            let row: [f64; FEATURES] = std::array::from_fn(|_| uniform());
            let target = (6.0 * row[0]).sin() + row[1] * row[2] + 0.1 * uniform();
            columns
                .iter_mut()
                .zip(row.into_iter().chain([target]))
                .for_each(|(column, value)| column.push(value));
        }
        let names = (0..FEATURES).map(|feature| format!("x{feature}")).chain(["y".to_owned()]);
        let arrays = columns.into_iter().map(|column| Arc::new(Float64Array::from(column)) as ArrayRef);
        let batch = RecordBatch::try_from_iter(names.zip(arrays)).expect("columns of one length");
        let settings = WriterProperties::builder().set_max_row_group_row_count(Some(1 << 16)).build();
        let out = File::create(folder.join(format!("part-{file}.parquet"))).expect("a new file");
        let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(settings)).expect("a writer");
        writer.write(&batch).expect("rows written");
        writer.close().expect("a file");
    }
}

/// Accumulate all row groups on all threads.
fn by_hand(folder: &Path, spec: &FitSpec) -> Folds {
    let mut groups = Vec::new();
    for entry in folder.read_dir().expect("the folder") {
        let path = entry.expect("a file").path();
        let file = File::open(&path).expect("a file");
        let metadata = ArrowReaderMetadata::load(&file, Default::default()).expect("a Parquet file");
        groups.extend(
            (0..metadata.metadata().num_row_groups()).map(|group| (path.clone(), metadata.clone(), group)),
        );
    }
    let empty = || spec.empty().expect("landmarks");
    groups
        .par_iter()
        .try_fold(empty, |mut folds, (path, metadata, group)| {
            let file = File::open(path).expect("a file");
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                .with_row_groups(vec![*group])
                .with_batch_size(BATCH)
                .build()
                .expect("a reader");
            for batch in reader {
                let batch = batch.expect("rows");
                let columns: Vec<&[f64]> = batch
                    .columns()
                    .iter()
                    .map(|column| &column.as_primitive::<Float64Type>().values()[..])
                    .collect();
                let (target, features) = columns.split_last().expect("columns");
                spec.accumulate(&mut folds, features, target)?;
            }
            Ok::<_, Error>(folds)
        })
        .try_reduce(empty, |mut one, other| {
            spec.merge(&mut one, &other)?;
            Ok(one)
        })
        .expect("a state")
}

/// Return the peak memory of this process in MiB, on Linux.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Return the processor time of all threads of this process in hundredths of a second, on Linux.
fn processor() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = status.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    Some(times.next()?.ok()? + times.next()?.ok()?)
}

/// The least elapsed time and the least processor time of several calls, in seconds.
#[derive(Clone, Copy)]
struct Least {
    elapsed: f64,
    processor: f64,
}

impl Least {
    const NONE: Self = Self { elapsed: f64::INFINITY, processor: f64::INFINITY };

    fn of<A>(&mut self, work: impl FnOnce() -> A) -> A {
        let (begin, before) = (Instant::now(), processor());
        let result = work();
        self.elapsed = self.elapsed.min(begin.elapsed().as_secs_f64());
        if let Some((before, after)) = before.zip(processor()) {
            self.processor = self.processor.min((after - before) / 100.0);
        }
        result
    }
}

impl std::fmt::Display for Least {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} s ({:.2} s of processors)", self.elapsed, self.processor)
    }
}

fn params(c: usize, ridge: Ridge) -> Params<'static> {
    Params {
        kernel: KernelParams::default(),
        landmarks: Landmarks::Count(c),
        selector: &Uniform,
        ridge,
        seed: 1,
        ..Params::default()
    }
}

/// Return the largest difference of two states, relative to the largest value.
fn difference(one: &Folds, other: &Folds) -> f64 {
    let values = |folds: &Folds| -> Vec<f64> {
        folds.accumulators().iter().flat_map(Accumulator::values).copied().collect()
    };
    let (one, other) = (values(one), values(other));
    let largest = other.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let apart = one.iter().zip(&other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    apart / largest
}

fn main() {
    let mut numbers = Vec::new();
    let (mut rounds, mut only, mut ridge) = (3, None, Ridge::Value(1e-6));
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rounds" => rounds = words.next().and_then(|word| word.parse().ok()).unwrap_or(rounds),
            "--only" => only = words.next(),
            "--cv" => ridge = Ridge::CrossValidated,
            _ => numbers.extend(word.parse::<usize>()),
        }
    }
    let rows = numbers.first().copied().unwrap_or(1_000_000);
    let landmarks = match numbers.get(1..) {
        Some(given) if !given.is_empty() => given.to_vec(),
        _ => vec![50, 512],
    };
    let folder = tempfile::tempdir().expect("a folder");
    // In a process of its own, so that the peak does not include writing.
    if std::env::var_os("FIT_BENCH_ROWS").is_none() {
        write_elsewhere(folder.path(), rows);
    } else {
        let target = std::env::var("FIT_BENCH_ROWS").expect("a folder");
        return write(Path::new(&target), rows);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(32 << 20)
        .build()
        .expect("threads");
    // The pipeline is called on a thread of the runtime.
    runtime.block_on(async {
        let folder = folder.path().to_owned();
        let measured =
            tokio::spawn(async move { measure(&folder, rows, landmarks, rounds, only, ridge).await });
        measured.await.expect("figures");
    });
    if let Some(peak) = peak() {
        println!("peak memory {peak:.0} MiB");
    }
}

async fn measure(
    folder: &Path,
    rows: usize,
    landmarks: Vec<usize>,
    rounds: usize,
    only: Option<String>,
    ridge: Ridge,
) {
    let path = folder.join("part-*.parquet").display().to_string();
    let mut session = Session::in_process(None).expect("a session");
    session.add(&TableSource { name: "t".into(), path }).await.expect("a table");
    let handle = tokio::runtime::Handle::current();
    let wait = |work: &mut dyn FnMut()| tokio::task::block_in_place(work);
    for c in landmarks {
        let params = params(c, ridge);
        let table = session.rows(None, None).await.expect("rows");
        let surveyed =
            SurveyedRows::new(&table, table.survey(16_384, 1).await.expect("a survey")).expect("a sample");
        let selected = select(&surveyed, &params, &NoObserver).expect("landmarks");
        let spec = selected.fit_spec(params.ridge, params.seed).expect("a target");
        let [mut survey, mut fit, mut pass, mut by_loop] = [Least::NONE; 4];
        let mut computed = [None, None];
        for _ in 0..rounds {
            if only.as_deref() != Some("loop") {
                wait(&mut || {
                    computed[0] =
                        Some(pass.of(|| handle.block_on(table.accumulate(&spec)).expect("a state")));
                    fit.of(|| {
                        let found = survey.of(|| handle.block_on(table.survey(16_384, 1)).expect("a survey"));
                        let surveyed = SurveyedRows::new(&table, found).expect("a sample");
                        fit_batches(&surveyed, &params, &NoObserver).expect("a fit").fit_seconds
                    });
                });
            }
            if only.as_deref() != Some("engine") {
                wait(&mut || computed[1] = Some(by_loop.of(|| by_hand(folder, &spec))));
            }
        }
        println!("{rows} x {FEATURES}, c = {c}");
        if let [Some(engine), Some(hand)] = &computed {
            for (name, time) in [("fit", fit), ("pass", pass), ("survey", survey)] {
                let ratios = [time.elapsed / by_loop.elapsed, time.processor / by_loop.processor];
                println!("  {name:6} / loop  {:.2}, of processors {:.2}: {time}", ratios[0], ratios[1]);
            }
            println!("  loop {by_loop}; states {:.1e} apart", difference(engine, hand));
        } else {
            println!("  fit {fit}, pass {pass}, survey {survey}, loop {by_loop}");
        }
    }
}

fn write_elsewhere(folder: &Path, rows: usize) {
    let program = std::env::current_exe().expect("this program");
    let written = std::process::Command::new(program)
        .arg(rows.to_string())
        .env("FIT_BENCH_ROWS", folder)
        .status()
        .expect("a process");
    assert!(written.success(), "rows were not written");
}
