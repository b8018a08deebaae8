//! The trace error of landmarks over a source.

use crate::approximation::{
    errors::TraceError, errors::trace_error_in_lanes, errors::trace_error_of_points,
    landmark_set::LandmarkSet,
};
use crate::data::source::RowSource;
use crate::error::Error;
use crate::kernel::spec::KernelSpec;

/// The maximum number of rows on which the trace error of rows outside memory is measured. The standard error
/// is below half a per cent of the standard deviation over rows.
pub(crate) const MEASURED_ROWS: usize = 1 << 16;

/// The maximum number of their values: 128 MiB.
const MEASURED_VALUES: usize = 1 << 24;

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
pub struct MeasuredError {
    /// Over all rows: measured, or extrapolated from a sample.
    pub of_all: TraceError,
    /// The number of rows it was measured on.
    pub rows: usize,
}

/// Measure the trace error of landmarks over a source: over all rows in memory, or over 65,536 rows of a row
/// store, fewer where they have more than 256 features.
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
    let most = (MEASURED_VALUES / source.width().max(1)).clamp(1, MEASURED_ROWS);
    let measured = source.sample(most, seed)?;
    let ground = measured.ground(kernel)?;
    let TraceError { error, fraction } = match source.as_prepared() {
        Some(_) => trace_error_of_points(&ground, &points)?,
        None => trace_error_in_lanes(&ground, &points)?,
    };
    let error = error * (source.len() as f64 / measured.len() as f64);
    Ok(MeasuredError { of_all: TraceError { error, fraction }, rows: measured.len() })
}
