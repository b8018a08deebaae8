//! Kernel matrices from files.

use crate::arguments::{KernelArguments, Source};
use crate::error::Error;
use dpp_nystrom::data::table::{Options, Reading, Table, Target};
use dpp_nystrom::selectors::Given;
use dpp_nystrom::{Dataset, Error as LibraryError, Nystroem, Scale};
use std::path::Path;

/// By how much entries beside each other may differ, in the geometric mean of their rows' diagonal entries:
/// rounding of matrices that were computed in single precision.
const ROUNDING: f64 = 1e-5;

/// Read a kernel matrix that is given in place of rows.
pub(crate) fn matrix(source: &Source, kernel: &KernelArguments) -> Result<(Vec<f64>, usize), Error> {
    let unused = [
        (source.table.is_given() || source.table.columns.target != Target::Last, "the options of columns"),
        (source.rows.is_some(), "--rows"),
        (source.scale != Scale::Standard, "--scale"),
        (kernel.has_sigma(), "--sigma"),
    ];
    if let Some((_, options)) = unused.into_iter().find(|(is_given, _)| *is_given) {
        return Err(Error::OfRows(options));
    }
    read_matrix(&source.data)
}

/// Read a kernel matrix: square, symmetric, with a positive diagonal.
pub(crate) fn read_matrix(path: &Path) -> Result<(Vec<f64>, usize), Error> {
    let table = read(path)?;
    let (rows, columns, matrix) = (table.rows(), table.dim, table.features);
    let refused = |problem| Error::KernelMatrix { path: path.to_owned(), problem };
    if rows != columns {
        return Err(refused(format!(
            "{rows} x {columns} numbers: a kernel matrix has as many rows as columns; for rows of features name another --kernel"
        )));
    }
    let entry = |i: usize, j: usize| matrix[i * rows + j];
    if let Some(row) = (0..rows).find(|&row| !(entry(row, row) > 0.0)) {
        let text = format!(
            "row {row} (from 0): the diagonal of a kernel matrix is positive, found {}",
            entry(row, row)
        );
        return Err(refused(text));
    }
    let differ = |i: usize, j: usize| {
        (entry(i, j) - entry(j, i)).abs() > ROUNDING * entry(i, i).sqrt() * entry(j, j).sqrt()
    };
    if let Some((i, j)) = (0..rows).flat_map(|i| (0..i).map(move |j| (i, j))).find(|&(i, j)| differ(i, j)) {
        let (below, above) = (entry(i, j), entry(j, i));
        let text = format!(
            "a kernel matrix is symmetric: row {i}, column {j} (from 0) is {below}, and row {j}, column {i} is {above}"
        );
        return Err(refused(text));
    }
    Ok((matrix, rows))
}

/// Read an array of numbers.
pub(crate) fn read(path: &Path) -> Result<Table, Error> {
    let options = Options { target: Target::None, header: Some(false), ..Options::default() };
    let Reading { table, recipe, .. } = options.read(path)?;
    match recipe.columns.iter().find(|column| column.levels.is_some()) {
        Some(column) => Err(Error::KernelMatrix {
            path: path.to_owned(),
            problem: format!("column {:?} has words: give numbers alone, without a header", column.name),
        }),
        None => Ok(table),
    }
}

/// Return the feature map of these rows of a kernel matrix.
pub(crate) fn map(matrix: &[f64], rows: usize, landmarks: &[usize]) -> Result<Nystroem, LibraryError> {
    let params = Nystroem::params(landmarks.len()).selector(Given::new(landmarks));
    params.fit(&Dataset::from_gram(matrix, rows)?)
}
