//! Batches of the engine as columns of finite numbers.

use crate::error::{Error, inside};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::Float64Type;
use datafusion::error::DataFusionError;
use dpp_nystrom::regression::first_not_finite;

/// Return the values of each column; `names` has the columns' names in the order of the arrays.
///
/// # Errors
/// [`Error::Null`], [`Error::NotFinite`]; [`Error::Kind`] for other types than doubles: cast in the query.
pub(crate) fn columns<'a>(
    arrays: &'a [ArrayRef],
    names: &[impl AsRef<str>],
) -> Result<Vec<&'a [f64]>, DataFusionError> {
    let mut columns = Vec::with_capacity(arrays.len());
    for (at, array) in arrays.iter().enumerate() {
        let name = || names.get(at).map(|name| name.as_ref().to_owned()).unwrap_or_default();
        let Some(values) = array.as_primitive_opt::<Float64Type>() else {
            return Err(inside(Error::Kind { name: name(), kind: array.data_type().to_string() }));
        };
        if values.null_count() > 0 {
            return Err(inside(Error::Null(name())));
        }
        let values = &values.values()[..];
        if let Some(row) = first_not_finite(values) {
            return Err(inside(Error::NotFinite { name: name(), value: values[row] }));
        }
        columns.push(values);
    }
    Ok(columns)
}

/// Return the values of columns of one length, row by row.
pub(crate) fn row_major(columns: &[&[f64]]) -> Vec<f64> {
    let count = columns.first().map_or(0, |column| column.len());
    (0..count).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}
