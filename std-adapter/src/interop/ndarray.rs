//! Conversions from and to arrays of `ndarray` 0.16. Arrays in standard layout are borrowed, others are
//! copied.

use crate::data::dataset::Dataset;
use crate::error::{Error, check_length};
use crate::estimators::nystroem::Nystroem;
use crate::model::trained::Model;
use dpp_nystrom_core::Error as CoreError;
use dpp_nystrom_core::kernel::Kernel;
use ndarray::{Array1, Array2, ArrayBase, ArrayView2, Data, Ix2};
use std::borrow::Cow;

/// Return the values of an array, row-major.
pub(crate) fn row_major<D: Data<Elem = f64>>(rows: &ArrayBase<D, Ix2>) -> Cow<'_, [f64]> {
    match rows.as_slice() {
        Some(values) => Cow::Borrowed(values),
        None => Cow::Owned(rows.iter().copied().collect()),
    }
}

impl<'a> Dataset<'a> {
    /// Create a data set from an array, one observation per row.
    ///
    /// ```
    /// use dpp_nystrom::Dataset;
    /// use ndarray::array;
    ///
    /// let x = array![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]];
    /// assert_eq!(Dataset::from_array(x.view())?.len(), 3);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`from_rows`](Self::from_rows).
    pub fn from_array(rows: ArrayView2<'a, f64>) -> Result<Self, Error> {
        let features = rows.ncols();
        match rows.to_slice() {
            Some(values) => Self::from_rows(values, features),
            None => Dataset::from_owned(rows.iter().copied().collect(), features),
        }
    }
}

impl<K: Kernel<f64> + Clone + Sync> Nystroem<K> {
    /// [`transform`](Self::transform) an array's rows into an array of [`rank`](Self::rank) columns.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for a different number of columns; those of [`transform`](Self::transform).
    pub fn transform_array(&self, rows: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
        check_length("columns", self.columns.features(), rows.ncols())?;
        let features = self.transform(&row_major(&rows))?;
        Array2::from_shape_vec((rows.nrows(), self.rank()), features).map_err(|_| CoreError::Internal.into())
    }
}

impl Model {
    /// [`predict`](Self::predict) the targets of an array's rows.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for a different number of columns; those of [`predict`](Self::predict).
    pub fn predict_array(&self, rows: ArrayView2<'_, f64>) -> Result<Array1<f64>, Error> {
        check_length("columns", self.feature_names.len(), rows.ncols())?;
        Ok(self.predict(&row_major(&rows))?.into())
    }
}
