//! Columns that hardly matter to the error.

use crate::data::{prepared::Prepared, source::RowSource};
use crate::error::Error;
use crate::model::{Estimate, Importance};
use crate::observer::Observer;
use crate::pipeline::{params::Landmarks, params::Params, regress::fit};
use crate::regression::rows::split::LeftOut;

/// Columns of small importance, and the errors of fits with them and without.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, weak_columns};
/// use dpp_nystrom::{Dataset, Gaussian, Scale, Sigma, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..400).flat_map(|row| [f64::from(row % 20) / 2.0, f64::from(row / 20)]).collect();
/// let y: Vec<f64> = x.chunks(2).map(|row| row[0].sin()).collect(); // of the first feature alone
/// let data = Dataset::from_rows(&x, 2)?.with_target(&y)?.with_names(&["used", "unused"], "y")?;
/// let source = data.source(Scale::Standard)?;
/// let rows = source.as_rows().as_prepared().expect("rows in memory");
/// let kernel = KernelParams::from(Gaussian::new(Sigma::Median(0.5)));
/// let params = Params { landmarks: Landmarks::Count(10), kernel, ..Params::default() };
/// let Ok(weak) = weak_columns(rows, &params, 0.05, &NoObserver)? else { panic!("a weak column") };
/// assert!(weak.columns[0].column == "unused" && weak.can_go());
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeakColumns {
    /// Their places in [`Prepared::table_columns`].
    pub places: Vec<usize>,
    /// Their importances.
    pub columns: Vec<Importance>,
    /// The error of a fit with all columns, as [`TestError`](crate::model::TestError); of classes, the
    /// log-loss.
    pub with: Estimate,
    /// The error without them, on the same rows.
    pub without: Estimate,
}

impl WeakColumns {
    /// Whether the error does not rise by more than its standard error without the columns.
    pub fn can_go(&self) -> bool {
        self.without.value <= self.with.value + self.with.standard_error
    }
}

/// Find the columns whose permutation raises the error by less than `least`, over the error itself, and fit
/// without them.
///
/// The rows on which a [`fit`] to all of these measures its test error are left out, so that they have no
/// part in the choice of columns. Two fits to the others, with a test error of their own. `Err` within says
/// why there is nothing to leave out.
///
/// # Errors
/// Those of [`fit`].
pub fn weak_columns(
    rows: &Prepared,
    params: &Params<'_>,
    least: f64,
    observer: &dyn Observer,
) -> Result<Result<WeakColumns, &'static str>, Error> {
    RowSource::check(rows)?;
    if matches!(params.landmarks, Landmarks::Rows(_)) {
        return Ok(Err("the landmarks are given as rows"));
    }
    let left_out = match LeftOut::of(rows, params.seed) {
        Ok(left_out) => left_out,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut inner = RowSource::gather(rows, &left_out.seen())?;
    inner.recipe.clone_from(&rows.recipe);
    let landmarks = match params.landmarks {
        Landmarks::Count(count) => Landmarks::Count(count.min(inner.len() / 2).max(1)),
        ref landmarks => landmarks.clone(),
    };
    let params = Params { landmarks, ..params.clone() };
    let error = |rows: &Prepared| -> Result<_, Error> {
        let model = fit(rows, &params, None, observer)?.fitted.model;
        Ok((model.test_error.map(|test| test.log_loss.unwrap_or(test.error)), model.importances))
    };
    let (Some(with), Some(importances)) = error(&inner)? else {
        return Ok(Err("their importances cannot be measured on so few rows"));
    };
    let weak = importances.columns.iter().cloned().enumerate().filter(|(_, column)| column.rise < least);
    let (places, columns): (Vec<usize>, Vec<Importance>) = weak.unzip();
    match places.len() {
        0 => return Ok(Err("the error rises by more where any column is permuted")),
        all if all == importances.columns.len() => return Ok(Err("none would be left")),
        _ => {}
    }
    let (without, _) = error(&inner.without(&places)?)?;
    Ok(without
        .map(|without| WeakColumns { places, columns, with, without })
        .ok_or("the error without them is not known"))
}

#[cfg(test)]
mod tests {
    use super::weak_columns;
    use crate::data::prepared::Prepared;
    use crate::error::ErrorKind;
    use crate::kernel::{kind::KernelKind, params::KernelParams};
    use crate::landmarks::methods::rpcholesky::RpCholesky;
    use crate::observer::NoObserver;
    use crate::pipeline::params::{Landmarks, Params};
    use crate::pipeline::tested::tests::{params, rows};
    use crate::regression::rows::split::LeftOut;

    /// Neither the columns nor the errors by which they go depend on the rows on which the test error is
    /// measured.
    #[test]
    fn columns_are_not_chosen_by_the_rows_left_out() {
        let data = rows(240);
        let mut turned = data.clone();
        let left_out = LeftOut::of(&data, 5).unwrap();
        let values = &mut turned.target.as_mut().unwrap().values;
        left_out.parts.iter().flat_map(|&part| left_out.rows(part)).for_each(|row| values[row] *= -1.0);
        let selector = RpCholesky::default();
        let params = params(&selector, KernelParams::from(KernelKind::Gaussian));
        let [one, other] =
            [&data, &turned].map(|rows| weak_columns(rows, &params, 0.2, &NoObserver).unwrap().unwrap());
        assert_eq!(one.places, [2]);
        assert_eq!(one, other);
        let given = Params { landmarks: Landmarks::Rows(vec![10, 50, 90]), ..params };
        assert!(weak_columns(&data, &given, 0.2, &NoObserver).unwrap().is_err());
        let groups = Prepared { groups: Some(vec![0, 1]), ..data };
        assert_eq!(weak_columns(&groups, &given, 0.2, &NoObserver).unwrap_err().kind(), ErrorKind::Argument);
    }
}
