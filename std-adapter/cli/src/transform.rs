//! `dpp-nystrom transform`.

use crate::bar::Bar;
use crate::columns::{MatchArguments, tell};
use crate::error::Error;
use crate::output::{keep_inputs, names_record, write_rows_in_parts};
use crate::predict::with_ids;
use clap::Args;
use dpp_nystrom::data::table::{Reading, Remarks, Table};
use dpp_nystrom::{Nystroem, atomic_file::write_whole, data::store::Store, model::Model, observer::Observer};
use npyz::WriterBuilder;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const EXAMPLES: &str = "\
Examples:
  dpp-nystrom transform houses.dpp new.csv --out features.npy
  dpp-nystrom transform houses.dpp new.csv --ids id --out features.csv

A row becomes the features φ = L⁻¹ k_C of the model's landmarks, one for each that is independent: any linear learner on them is
one with the kernel. Their products are the Nyström approximation of the kernel matrix.";

#[derive(Debug, Args)]
pub(crate) struct Transform {
    /// A model written by fit
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Raw rows: CSV, TSV, ARFF, NPY or LIBSVM, gzipped or not, or a row store; - is standard input
    #[arg(value_name = "DATA")]
    data: PathBuf,
    #[command(flatten)]
    columns: MatchArguments,
    /// Where to write the features, as CSV or, by its ending .npy, as an array of 64-bit numbers [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Transform) -> Result<(), Error> {
    let out = arguments.out.as_deref();
    keep_inputs(out, &[&arguments.model, &arguments.data])?;
    let model = Model::load(&arguments.model)?;
    let map = Nystroem::of_model(&model)?;
    match out.filter(|path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))) {
        Some(path) => array(arguments, &model, &map, path),
        None => text(arguments, &model, &map),
    }
}

/// Write a row for each row as soon as its block is read.
fn text(arguments: &Transform, model: &Model, map: &Nystroem) -> Result<(), Error> {
    let names: Vec<String> = (0..map.rank()).map(|feature| format!("phi{feature}")).collect();
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
            arguments.columns.options().read_blocks_for(&recipe, &arguments.data, |block| {
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
        let Reading { table, remarks, .. } =
            arguments.columns.options().read_for(&recipe, &arguments.data)?;
        tell(&remarks, &recipe);
        table.features
    };
    let features = map.transform(&rows)?;
    let shape = [(features.len() / map.rank()) as u64, map.rank() as u64];
    write_whole(path, |file| {
        let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
        let mut writer = options.writer(file).begin_nd()?;
        writer.extend(features)?;
        writer.finish().map_err(io::Error::other)
    })?;
    Ok(())
}
