//! Rows made up for tests, in files.

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) const NAMES: [&str; 4] = ["depth", "Slope", "wind speed", "yield"];

/// Row `i`: three features of very different size, and a target with noise that no model explains.
pub(crate) fn row(i: usize) -> [f64; 4] {
    let unit = |salt: u64| {
        let mixed = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (salt << 17));
        ((mixed ^ (mixed >> 31)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (a, b, c, noise) = (unit(1), unit(2), unit(3), unit(4) - 0.5);
    let target = (6.0 * a).sin() + b * c + 0.1 * noise;
    [1e4 + 20.0 * a, b * 1e-3, 50.0 * c, 3.0 + 2.0 * target]
}

fn columns(rows: Range<usize>) -> [Vec<f64>; 4] {
    let mut columns: [Vec<f64>; 4] = Default::default();
    for i in rows {
        for (column, value) in columns.iter_mut().zip(row(i)) {
            column.push(value);
        }
    }
    columns
}

pub(crate) fn parquet(path: &Path, rows: Range<usize>) {
    let columns = columns(rows).map(|column| Arc::new(Float64Array::from(column)) as ArrayRef);
    parquet_of(path, NAMES.into_iter().zip(columns));
}

/// A file of these columns, 5,000 rows to a group.
pub(crate) fn parquet_of(path: &Path, columns: impl IntoIterator<Item = (&'static str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let settings = WriterProperties::builder().set_max_row_group_row_count(Some(5_000)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(settings)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// `part-0.parquet` and so on, and the glob that names them.
pub(crate) fn parts(folder: &Path, count: usize, rows: usize) -> String {
    for part in 0..count {
        let rows = part * rows / count..(part + 1) * rows / count;
        parquet(&folder.join(format!("part-{part}.parquet")), rows);
    }
    folder.join("part-*.parquet").display().to_string()
}

pub(crate) fn csv(path: &Path, rows: Range<usize>) {
    let mut file = File::create(path).unwrap();
    writeln!(file, "{}", NAMES.join(",")).unwrap();
    for i in rows {
        let [a, b, c, y] = row(i);
        writeln!(file, "{a:?},{b:?},{c:?},{y:?}").unwrap();
    }
}

pub(crate) fn json(path: &Path, rows: Range<usize>) {
    let mut file = File::create(path).unwrap();
    for i in rows {
        let pairs: Vec<String> =
            NAMES.iter().zip(row(i)).map(|(name, value)| format!("{name:?}: {value:?}")).collect();
        writeln!(file, "{{{}}}", pairs.join(", ")).unwrap();
    }
}

pub(crate) fn path(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}
