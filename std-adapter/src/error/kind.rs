//! Kinds of errors.

/// What an [`Error`](crate::Error) is about, and so who can do something about it.
///
/// ```
/// use dpp_nystrom::{Dataset, ErrorKind, LandmarkRidge};
///
/// let column = [1.0, 1.0, 1.0];
/// let data = Dataset::from_rows(&column, 1)?.with_target(&column)?;
/// let error = LandmarkRidge::default().fit(&data).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Data); // the target is constant
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A parameter is out of range, or does not fit the rows or the model.
    Argument,
    /// The observer asked to stop.
    Cancelled,
    /// The rows, targets or weights cannot be used as they are: not finite, constant, too few.
    Data,
    /// A model cannot be exported to a device.
    Export,
    /// A file cannot be opened, read or written.
    File,
    /// A model, row store, checkpoint or state is damaged, of another version or of another kind.
    Format,
    /// No such landmarks: the rows are dependent, or the tolerance is out of reach.
    Landmarks,
    /// Out of memory.
    Memory,
    /// An error of the caller's own.
    Other,
    /// The regression cannot be solved.
    Regression,
    /// A file of rows does not hold what is expected.
    Table,
    /// The method or the data do not allow what was asked for.
    Unsupported,
}
