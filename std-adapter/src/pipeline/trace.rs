//! The trace error of landmarks over a source.

use crate::approximation::{
    errors::TraceError, errors::trace_error_in_lanes, errors::trace_error_of_points,
    landmark_set::LandmarkSet,
};
use crate::data::prepared::{Prepared, draw};
use crate::data::source::RowSource;
use crate::error::Error;
use crate::kernel::spec::KernelSpec;
use std::borrow::Cow;

/// The maximum number of rows outside memory on which the trace error is measured. The standard error is
/// below half a per cent of the standard deviation over rows.
const MEASURED_ROWS: usize = 1 << 16;

/// The maximum number of their values: 128 MiB.
const MEASURED_VALUES: usize = 1 << 24;

/// The maximum of rows times the square of the number of landmarks, in or outside memory: some three seconds
/// of one core.
const MEASURED_WORK: u64 = 1 << 35;

/// The number of rows on which the error is measured whatever that costs. The standard error is below 1.6 %
/// of the standard deviation over rows.
const FEWEST_MEASURED: usize = 1 << 12;

/// Return the rows on which the trace error of `landmarks` landmarks is measured: all of them in memory, or
/// some drawn at random outside it, or where all are too much work.
///
/// # Errors
/// Those of the source.
pub(crate) fn measured_rows(
    source: &dyn RowSource,
    landmarks: usize,
    seed: u64,
) -> Result<Cow<'_, Prepared>, Error> {
    let affordable = MEASURED_WORK / (landmarks as u64).saturating_pow(2).max(1);
    let affordable = usize::try_from(affordable).unwrap_or(usize::MAX).max(FEWEST_MEASURED);
    let Some(rows) = source.as_prepared() else {
        let most = (MEASURED_VALUES / source.width().max(1)).clamp(1, MEASURED_ROWS);
        return source.sample(most.min(affordable), seed);
    };
    match draw(rows.len(), rows.len().min(affordable), seed)? {
        Some(drawn) => RowSource::gather(rows, &drawn).map(Cow::Owned),
        None => Ok(Cow::Borrowed(rows)),
    }
}

/// The trace error over a source, measured on all rows or estimated from a sample.
///
/// ```
/// use dpp_nystrom::approximation::LandmarkSet;
/// use dpp_nystrom::kernel::{KernelKind, KernelSpec};
/// use dpp_nystrom::{Dataset, Scale, pipeline::trace_error};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let source = data.source(Scale::Standard)?;
/// let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
/// let measured = trace_error(source.as_rows(), &LandmarkSet::Indices(vec![10, 50, 90]), kernel, 0)?;
/// assert!(measured.rows == 100 && measured.of_all.fraction < 0.1);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeasuredError {
    /// Over all rows: measured, or extrapolated from a sample.
    pub of_all: TraceError,
    /// The number of rows it was measured on.
    pub rows: usize,
}

/// Measure the trace error of landmarks over a source: over all rows in memory, or over 65,536 rows of a row
/// store, fewer where they have more than 256 features. N rows and c landmarks of which N c² exceeds 2³⁵ are
/// measured on 2³⁵ / c² rows, at least 4,096.
///
/// # Errors
/// `ErrorKind::Landmarks`, `ErrorKind::Memory`, and errors of the source.
pub fn trace_error(
    source: &dyn RowSource,
    landmarks: &LandmarkSet,
    kernel: KernelSpec,
    seed: u64,
) -> Result<MeasuredError, Error> {
    let points = landmarks.features(source)?;
    let measured = measured_rows(source, landmarks.count(source.width()), seed)?;
    let ground = measured.ground(kernel)?;
    let TraceError { error, fraction } = match measured {
        Cow::Borrowed(_) => trace_error_of_points(&ground, &points)?,
        Cow::Owned(_) => trace_error_in_lanes(&ground, &points)?,
    };
    let error = error * (source.len() as f64 / measured.len() as f64);
    Ok(MeasuredError { of_all: TraceError { error, fraction }, rows: measured.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows in memory are measured as long as N c² is at most 2³⁵, then as many as that allows, at least
    /// 4,096, each with its own number.
    #[test]
    fn measures_the_rows_that_the_work_allows() {
        let rows = Prepared::unscaled((0..40_000).map(f64::from).collect(), 2);
        let measured = |landmarks| measured_rows(&rows, landmarks, 1).unwrap();
        assert!(matches!(measured(1_000), Cow::Borrowed(all) if all.len() == 20_000));
        assert_eq!(measured(2_000).len(), 8_589);
        let fewest = measured(1_000_000);
        assert_eq!(fewest.len(), 4_096);
        let in_place = |row: usize| fewest.rows[2 * row] == 2.0 * fewest.number(row) as f64;
        assert!((0..4_096).all(in_place));
    }
}
