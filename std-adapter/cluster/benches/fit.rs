//! The engine's fit against a loop by hand over the same Parquet files: one run, minima of several rounds in turn.
//!
//! `cargo bench --profile cluster -p dpp-nystrom-cluster --bench fit [-- ROWS LANDMARKS... [--rounds N] [--only engine|loop]]`
//!
//! The loop reads row groups on all threads and accumulates each batch by the same specification: the engine adds planning,
//! its operators and its queues. `--only` runs one of the two, to measure its memory; the peak memory of this process is
//! printed at the end.

use datafusion::arrow::array::{ArrayRef, AsArray, Float64Array, RecordBatch};
use datafusion::arrow::datatypes::Float64Type;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use datafusion::parquet::file::properties::WriterProperties;
use dpp_nystrom::Error;
use dpp_nystrom::kernel::{KernelParams, Precision};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::pipeline::{Landmarks, Params, select};
use dpp_nystrom::regression::{Accumulator, FitSpec, Folds, Ridge};
use dpp_nystrom::selectors::Uniform;
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

fn main() {
    let mut numbers = Vec::new();
    let (mut rounds, mut only) = (3, None);
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rounds" => rounds = words.next().and_then(|word| word.parse().ok()).unwrap_or(rounds),
            "--only" => only = words.next(),
            _ => numbers.extend(word.parse::<usize>()),
        }
    }
    let rows = numbers.first().copied().unwrap_or(1_000_000);
    let landmarks = match numbers.get(1..) {
        Some(given) if !given.is_empty() => given.to_vec(),
        _ => vec![64, 512],
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
    let path = folder.path().join("part-*.parquet").display().to_string();
    for c in landmarks {
        let (spec, session) = runtime.block_on(async {
            let mut session = Session::in_process(None).expect("a session");
            session.add(&TableSource { name: "t".into(), path: path.clone() }).await.expect("a table");
            let rows = session.rows(None, None).await.expect("rows");
            let survey = rows.survey(4_096, 1).await.expect("a survey");
            let params = Params {
                kernel: KernelParams::default(),
                landmarks: Landmarks::Count(c),
                selector: &Uniform,
                ridge: Ridge::Value(1e-6),
                precision: Precision::F64,
                seed: 1,
            };
            let source = SurveyedRows::new(&rows, survey);
            let selected = select(&source, &params, &NoObserver).expect("landmarks");
            let spec = selected.fit_spec(params.ridge, params.seed).expect("a target");
            drop(selected);
            drop(source);
            drop(rows);
            (spec, session)
        });
        let mut best = [f64::INFINITY; 2];
        let mut computed = [None, None];
        for _ in 0..rounds {
            if only.as_deref() != Some("loop") {
                let begin = Instant::now();
                let folds = runtime.block_on(async {
                    session.rows(None, None).await.expect("rows").accumulate(&spec).await.expect("a state")
                });
                best[0] = best[0].min(begin.elapsed().as_secs_f64());
                computed[0] = Some(folds);
            }
            if only.as_deref() != Some("engine") {
                let begin = Instant::now();
                computed[1] = Some(by_hand(folder.path(), &spec));
                best[1] = best[1].min(begin.elapsed().as_secs_f64());
            }
        }
        if let [Some(engine), Some(hand)] = &computed {
            let values = |folds: &Folds| {
                folds.accumulators().iter().flat_map(Accumulator::values).copied().collect::<Vec<f64>>()
            };
            let (engine, hand) = (values(engine), values(hand));
            let largest = hand.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let apart = engine.iter().zip(&hand).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
            println!(
                "{rows} x {FEATURES}, c = {c}: engine {:.2} s, loop {:.2} s, ratio {:.2}; states {:.1e} apart",
                best[0],
                best[1],
                best[0] / best[1],
                apart / largest
            );
        } else {
            println!("{rows} x {FEATURES}, c = {c}: {:.2} s", best[0].min(best[1]));
        }
    }
    if let Some(peak) = peak() {
        println!("peak memory {peak:.0} MiB");
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
