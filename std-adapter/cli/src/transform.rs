//! `dpp-nystrom transform`.

use crate::arguments::readable;
use crate::bar::Bar;
use crate::columns::{MatchArguments, tell};
use crate::error::Error;
use crate::output::{is_array, keep_inputs, names_record, write_array, write_rows_in_parts};
use crate::precomputed;
use crate::predict::with_ids;
use crate::source;
use clap::Args;
use dpp_nystrom::data::table::{Options, Reading, Remarks, Table};
use dpp_nystrom::{Model, Nystroem, data::store::Store, observer::Observer};
use std::path::{Path, PathBuf};

pub(crate) const EXAMPLES: &str = "\
Examples:
  dpp-nystrom transform houses.dpp new.csv --out features.npy
  dpp-nystrom transform houses.dpp new.csv --ids id --out features.csv
  dpp-nystrom select K.npy --kernel precomputed --landmarks 50 --out rows.csv
  dpp-nystrom transform K.npy cross.npy --kernel precomputed --given rows.csv --out features.npy

A row becomes the features φ = L⁻¹ k_C of the model's landmarks, one for each that is independent. Their inner products are the
Nyström approximation of the kernel matrix: a linear model on them is a kernel model.";

#[derive(Debug, Args)]
pub(crate) struct Transform {
    /// A model written by fit; with --kernel precomputed, a kernel matrix
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// With --kernel precomputed, the kernel of other rows (DATA) with all rows of the matrix, or with the
    /// landmarks alone, in their order
    #[arg(long, value_name = "precomputed", value_parser = ["precomputed"], requires = "given")]
    kernel: Option<String>,
    /// Landmarks of a kernel matrix: a CSV file of row numbers, as select --out writes
    #[arg(long, value_name = "ROWS.csv", requires = "kernel")]
    given: Option<PathBuf>,
    #[arg(value_name = "DATA", help = readable("Raw rows"))]
    data: PathBuf,
    #[command(flatten)]
    columns: MatchArguments,
    /// Where to write the features, as CSV or, by its ending .npy, as an array of 64-bit numbers [default:
    /// standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Transform) -> Result<(), Error> {
    let out = arguments.out.as_deref();
    keep_inputs(out, &[&arguments.model, &arguments.data])?;
    if let Some(given) = &arguments.given {
        keep_inputs(out, &[given])?;
        return of_matrix(arguments, given);
    }
    let model = Model::load(&arguments.model)?;
    let map = Nystroem::of_model(&model)?;
    match out.filter(|path| is_array(path)) {
        Some(path) => array(arguments, &model, &map, path),
        None => text(arguments, &model, &map),
    }
}

/// Transform rows that are given by their kernel with the rows of a matrix, or with the landmarks.
fn of_matrix(arguments: &Transform, given: &Path) -> Result<(), Error> {
    let Transform { model: path, data, out, .. } = arguments;
    let (matrix, rows) = precomputed::read_matrix(path)?;
    let landmarks = source::given(given)?;
    source::kept(rows, &[], given, &landmarks)?;
    let map = precomputed::map(&matrix, rows, &landmarks)?;
    let cross = precomputed::read(data)?;
    let features = match cross.dim {
        width if width == rows => map.transform(&cross.features)?,
        width if width == landmarks.len() => {
            // Of a row of the whole kernel, the map reads the landmarks.
            let mut whole = vec![0.0; rows];
            let row = |row: &[f64]| {
                landmarks.iter().zip(row).for_each(|(&landmark, value)| whole[landmark] = *value);
                map.transform(&whole)
            };
            cross.features.chunks_exact(width).map(row).collect::<Result<Vec<_>, _>>()?.concat()
        }
        width => {
            let problem = format!(
                "{width} columns: expected the kernel with all {rows} rows of {}, or with the {} landmarks",
                path.display(),
                landmarks.len()
            );
            return Err(Error::KernelMatrix { path: data.clone(), problem });
        }
    };
    if let Some(path) = out.as_deref().filter(|path| is_array(path)) {
        return Ok(write_array(path, features, map.rank())?);
    }
    Ok(write_rows_in_parts(out.as_deref(), |put| {
        put(&names_record(names(map.rank()).iter().map(String::as_str)))?;
        features.chunks_exact(map.rank()).try_for_each(|phi| {
            let numbers: Vec<String> = phi.iter().map(f64::to_string).collect();
            put(&numbers.join(","))
        })
    })?)
}

fn names(rank: usize) -> Vec<String> {
    (0..rank).map(|feature| format!("phi{feature}")).collect()
}

/// Write a row for each row as soon as its block is read.
fn text(arguments: &Transform, model: &Model, map: &Nystroem) -> Result<(), Error> {
    let names = names(map.rank());
    let recipe = model.recipe();
    let remarks = write_rows_in_parts(arguments.out.as_deref(), |put| {
        let (mut remarks, mut begun) = (Remarks::default(), false);
        Bar.begin("rows", 0);
        let mut take = |block: &Table, id_names: &[String], ids: &[String]| {
            if !begun {
                put(&names_record(id_names.iter().chain(&names).map(String::as_str)))?;
                begun = true;
            }
            Bar.advance(block.rows() as u64);
            let features = map.transform(&block.features)?;
            features.chunks_exact(map.rank()).enumerate().try_for_each(|(row, phi)| {
                let numbers: Vec<String> = phi.iter().map(f64::to_string).collect();
                put(&with_ids(row, id_names, ids, &numbers.join(",")))
            })
        };
        if Store::is_store(&arguments.data) {
            let store = Store::open(&arguments.data)?;
            store.has_features(&model.feature_names)?;
            store.read_blocks(|block| take(&block, &[], &[]))?;
        } else {
            let options = Options { partly_labelled: true, ..arguments.columns.options(&recipe) };
            options.read_blocks_for(&recipe, &arguments.data, |block| {
                remarks.add(block.remarks);
                take(&block.table, &block.id_names, &block.ids)
            })?;
        }
        Bar.end();
        Ok(remarks)
    })?;
    tell(&remarks, &recipe);
    Ok(())
}

/// Write an array, whose header has the number of rows: they are read first.
fn array(arguments: &Transform, model: &Model, map: &Nystroem, path: &Path) -> Result<(), Error> {
    let recipe = model.recipe();
    let rows = if Store::is_store(&arguments.data) {
        let store = Store::open(&arguments.data)?;
        store.has_features(&model.feature_names)?;
        store.verify()?;
        store.table_of(&(0..store.len()).collect::<Vec<_>>())?.features
    } else {
        let options = Options { partly_labelled: true, ..arguments.columns.options(&recipe) };
        let Reading { table, remarks, .. } = options.read_for(&recipe, &arguments.data)?;
        tell(&remarks, &recipe);
        table.features
    };
    Ok(write_array(path, map.transform(&rows)?, map.rank())?)
}
