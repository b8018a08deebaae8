//! The trace error of landmarks over a source.

use crate::approximation::{errors::TraceError, errors::trace_error_of_points, landmark_set::LandmarkSet};
use crate::data::source::RowSource;
use crate::error::Error;
use crate::kernel::spec::KernelSpec;

/// The maximum number of rows on which the trace error of rows outside memory is measured. The standard error
/// is below half a per cent of the standard deviation over rows.
pub(crate) const MEASURED_ROWS: usize = 1 << 16;

/// The trace error over a source, measured on all rows or estimated from a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredError {
    /// Over all rows: measured, or extrapolated from a sample.
    pub of_all: TraceError,
    /// The number of rows it was measured on.
    pub rows: usize,
}

/// Measure the trace error of landmarks over a source: over all rows in memory, or over 65,536 rows of a row
/// store.
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
    let measured = source.sample(MEASURED_ROWS, seed)?;
    let TraceError { error, fraction } = trace_error_of_points(&measured.ground(kernel)?, &points)?;
    let error = error * (source.len() as f64 / measured.len() as f64);
    Ok(MeasuredError { of_all: TraceError { error, fraction }, rows: measured.len() })
}
