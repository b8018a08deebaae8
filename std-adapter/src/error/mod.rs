//! Errors of the library: what is wrong, where, and what to do.
//!
//! [`Error`] is opaque: its [kind](Error::kind) says what it is about, accessors say where it is, and its
//! text says all of it.

pub(crate) mod cause;
pub(crate) mod checkpoint;
pub(crate) mod export;
pub(crate) mod kind;
pub(crate) mod model;
pub(crate) mod store;
pub(crate) mod table;

pub(crate) use cause::Cause;
pub(crate) use export::ExportProblem;
pub use kind::ErrorKind;
pub(crate) use store::StoreProblem;
pub(crate) use table::{TableError, TableProblem};

use dpp_nystrom_core::Error as CoreError;
use std::path::{Path, PathBuf};
use std::{fmt, io};
use table::Place;

/// An error of this library.
///
/// Its text says what is wrong, where, and what to do. Its [source](std::error::Error::source) is the error
/// of the core, of the operating system or of a user's [`RowSource`](crate::data::RowSource), if there is
/// one.
///
/// ```
/// use dpp_nystrom::data::table::{self, Target};
/// use dpp_nystrom::ErrorKind;
///
/// let missing = table::read("no such file.csv".as_ref(), &Target::Last).unwrap_err();
/// assert_eq!(missing.kind(), ErrorKind::File);
/// assert_eq!(missing.path(), Some("no such file.csv".as_ref()));
/// assert_eq!(missing.advice().as_deref(), Some("check the spelling and the folder"));
/// ```
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(pub(crate) Cause);

impl Error {
    /// Create an error from one of the caller's own, for a [`Selector`](crate::landmarks::Selector) or a
    /// [`RowSource`](crate::data::RowSource): its text is that of `source`.
    ///
    /// ```
    /// use dpp_nystrom::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::Data, "row 3 is a duplicate; remove it");
    /// assert_eq!(error.kind(), ErrorKind::Data);
    /// assert_eq!(error.advice().as_deref(), Some("remove it"));
    /// ```
    pub fn new(kind: ErrorKind, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Cause::Other(kind, source.into()))
    }

    /// Create the error of landmarks that cannot be selected, for the core's reason.
    ///
    /// ```
    /// use dpp_nystrom::core::Error as CoreError;
    /// use dpp_nystrom::{Error, ErrorKind};
    ///
    /// let error = Error::landmarks(CoreError::RankDeficient { rank: 3, landmarks: 8 });
    /// assert_eq!(error.kind(), ErrorKind::Landmarks);
    /// assert_eq!(error.core(), Some(CoreError::RankDeficient { rank: 3, landmarks: 8 }));
    /// ```
    pub fn landmarks(reason: CoreError) -> Self {
        Self(Cause::Landmarks { reason })
    }

    /// Create the error of a regression that cannot be solved, for the core's reason.
    pub fn regression(reason: CoreError) -> Self {
        Self(Cause::Regression { reason })
    }

    /// Create the error of a parameter that is not in the range `1..=most`.
    ///
    /// ```
    /// use dpp_nystrom::{Error, ErrorKind};
    ///
    /// let error = Error::out_of_range("rank", 9, 4);
    /// assert_eq!((error.kind(), error.subject()), (ErrorKind::Argument, Some("rank")));
    /// ```
    pub fn out_of_range(option: &'static str, value: usize, most: usize) -> Self {
        Self(Cause::OutOfRange { option, value, most })
    }

    /// Create the error of a file that cannot be opened for reading.
    ///
    /// ```
    /// use dpp_nystrom::{Error, ErrorKind};
    /// use std::io;
    ///
    /// let error = Error::open("rows.csv", io::ErrorKind::PermissionDenied.into());
    /// assert_eq!((error.kind(), error.io()), (ErrorKind::File, Some(io::ErrorKind::PermissionDenied)));
    /// ```
    pub fn open(path: impl Into<PathBuf>, source: io::Error) -> Self {
        TableError::new(path, TableProblem::Open(source)).into()
    }

    /// Create the error of a file that cannot be written; `-` is standard output.
    ///
    /// ```
    /// use dpp_nystrom::{Error, ErrorKind};
    /// use std::io;
    ///
    /// let error = Error::write("model.dpp", io::ErrorKind::StorageFull.into());
    /// assert_eq!((error.kind(), error.path()), (ErrorKind::File, Some("model.dpp".as_ref())));
    /// ```
    pub fn write(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self(Cause::Write { path: path.into(), source })
    }

    /// Return what the error is about.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind()
    }

    /// Return the core's reason, if it is one.
    pub fn core(&self) -> Option<CoreError> {
        match self.0 {
            Cause::Core(reason) | Cause::Landmarks { reason } | Cause::Regression { reason } => Some(reason),
            Cause::DeviceModel { problem, .. } | Cause::Export(ExportProblem::Device(problem)) => {
                Some(problem)
            }
            _ => None,
        }
    }

    /// Return the caller's own error that [`new`](Self::new) took.
    ///
    /// # Errors
    /// This error, if it is another.
    ///
    /// ```
    /// use dpp_nystrom::{Error, ErrorKind};
    /// use std::io;
    ///
    /// let timeout = Error::new(ErrorKind::Other, io::Error::from(io::ErrorKind::TimedOut));
    /// let own = timeout.into_inner()?.downcast::<io::Error>();
    /// assert_eq!(own.map(|own| own.kind()).ok(), Some(io::ErrorKind::TimedOut));
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn into_inner(self) -> Result<Box<dyn std::error::Error + Send + Sync>, Self> {
        match self.0 {
            Cause::Other(_, source) => Ok(source),
            cause => Err(Self(cause)),
        }
    }

    /// Count the row of an error in a block of rows among all rows, `before` of which come before the block.
    ///
    /// ```
    /// use dpp_nystrom::Dataset;
    ///
    /// let error = Dataset::from_rows(&[1.0, f64::NAN], 1).unwrap_err();
    /// assert_eq!(error.after_rows(4_096).row(), Some(4_097)); // of the file, in blocks of 4,096 rows
    /// ```
    #[must_use]
    pub fn after_rows(mut self, before: usize) -> Self {
        if let Cause::Prediction { row } | Cause::Core(CoreError::NotFinite { row, .. }) = &mut self.0 {
            *row += before;
        }
        self
    }

    /// Return the operating system's reason why a file cannot be opened, read or written.
    ///
    /// ```
    /// use dpp_nystrom::Model;
    /// use std::io;
    ///
    /// let missing = Model::load("no such model").unwrap_err();
    /// assert_eq!(missing.io(), Some(io::ErrorKind::NotFound));
    /// ```
    pub fn io(&self) -> Option<io::ErrorKind> {
        match &self.0 {
            Cause::Write { source, .. } => Some(source.kind()),
            Cause::Table(error) => match &error.problem {
                TableProblem::Open(source) | TableProblem::Read(source) => Some(source.kind()),
                TableProblem::Directory => Some(io::ErrorKind::IsADirectory),
                _ => None,
            },
            _ => None,
        }
    }

    /// Return the name of the problem, `NotANumber` for example: finer than the [kind](Self::kind), for a
    /// program that advises in words of its own. A name is not reused for something else.
    ///
    /// ```
    /// use dpp_nystrom::Dataset;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("houses.csv");
    /// std::fs::write(&path, "rooms,price\n3,210\n4,1oo\n5,350\n")?;
    /// let error = Dataset::read(&path).unwrap_err();
    /// assert_eq!((error.name().as_str(), error.subject()), ("NotANumber", Some("1oo")));
    /// assert_eq!((error.line(), error.column(), error.path()), (Some(3), Some("price"), Some(path.as_path())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(&self) -> String {
        let debug = match &self.0 {
            Cause::Table(error) => match error.problem {
                TableProblem::Dropped { dropped, rows, .. } if dropped == rows => "AllDropped".to_owned(),
                ref problem => format!("{problem:?}"),
            },
            Cause::Export(problem) => format!("Export{problem:?}"),
            Cause::Model { problem, .. } | Cause::ModelBytes(problem) => format!("Model{problem:?}"),
            Cause::Store { problem, .. } => format!("Store{problem:?}"),
            Cause::Checkpoint { problem, .. } => format!("Checkpoint{problem:?}"),
            cause => format!("{cause:?}"),
        };
        debug.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_owned()
    }

    /// Return the file, as it was named; `-` is a standard stream.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Cause::Table(TableError { path, .. })
            | Cause::DeviceModel { path, .. }
            | Cause::StoreColumns { path }
            | Cause::Model { path, .. }
            | Cause::Checkpoint { path, .. }
            | Cause::Store { path, .. }
            | Cause::Write { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Return the line of a text, or the row of an array in a file, from 1.
    pub fn line(&self) -> Option<u64> {
        match &self.0 {
            Cause::Table(error) => match error.place {
                Place::Whole | Place::Cell(..) => None,
                Place::Line(line) | Place::Field(line, ..) | Place::Entry(line, _) => Some(line),
            },
            _ => None,
        }
    }

    /// Return the row, from 0, among the rows given or in a row store.
    pub fn row(&self) -> Option<usize> {
        match self.0 {
            Cause::Table(TableError { place: Place::Cell(row, _), .. }) => usize::try_from(row).ok(),
            Cause::Weight { row, .. }
            | Cause::Unlabelled { row, .. }
            | Cause::Prediction { row }
            | Cause::Store {
                problem: StoreProblem::NotFinite { row, .. } | StoreProblem::NoClass { row },
                ..
            }
            | Cause::Export(ExportProblem::Row { row, .. })
            | Cause::Core(CoreError::NotFinite { row, .. })
            | Cause::Landmarks { reason: CoreError::NotFinite { row, .. } } => Some(row),
            _ => None,
        }
    }

    /// Return the name of the column or feature.
    pub fn column(&self) -> Option<&str> {
        match &self.0 {
            Cause::Table(TableError { place: Place::Field(_, _, name) | Place::Cell(_, name), .. }) => {
                Some(name)
            }
            Cause::Table(error) => error.problem.column(),
            Cause::Spread { column: name }
            | Cause::ConstantTarget { name }
            | Cause::OneClass { name }
            | Cause::Store { problem: StoreProblem::NotFinite { column: name, .. }, .. }
            | Cause::Export(
                ExportProblem::Row { feature: name, .. } | ExportProblem::Spread { feature: name, .. },
            ) => Some(name),
            _ => None,
        }
    }

    /// Return what is wrong by its own name: the value as it is written, or the parameter or limit that is
    /// passed.
    pub fn subject(&self) -> Option<&str> {
        match &self.0 {
            Cause::Table(error) => error.problem.subject(),
            Cause::OutOfRange { option, .. } => Some(option),
            Cause::InMemory { what, .. } => Some(what),
            Cause::Export(ExportProblem::Confidence { what, .. }) => Some(what),
            Cause::Unweighted { what } | Cause::SeveralTargets { what } | Cause::Length { what, .. } => {
                Some(what)
            }
            _ => None,
        }
    }

    /// Return what to do about it: what follows the last semicolon of the text.
    pub fn advice(&self) -> Option<String> {
        self.to_string().rsplit_once("; ").map(|(_, advice)| advice.to_owned())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<CoreError> for Error {
    fn from(error: CoreError) -> Self {
        Self(Cause::Core(error))
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        Self(Cause::Table(error))
    }
}

impl From<dpp_nystrom_host::Error> for Error {
    fn from(error: dpp_nystrom_host::Error) -> Self {
        use dpp_nystrom_host::Error as Host;
        Self(match error {
            Host::Cancelled => Cause::Cancelled,
            Host::Core(reason) => Cause::Core(reason),
            Host::Landmarks(reason) => Cause::Landmarks { reason },
            Host::Memory { bytes } => Cause::Memory { bytes },
            Host::Write { path, source } => Cause::Write { path, source },
        })
    }
}

impl From<ExportProblem> for Error {
    fn from(problem: ExportProblem) -> Self {
        Self(Cause::Export(problem))
    }
}

/// Check that values form whole rows.
pub(crate) fn check_rows(values: usize, features: usize) -> Result<(), Error> {
    if values.is_multiple_of(features.max(1)) {
        Ok(())
    } else {
        Err(Error(Cause::Ragged { values, features }))
    }
}

/// Check that there are as many as expected.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error(Cause::Length { what, expected, found })) }
}

#[cfg(test)]
mod tests {
    use super::{Cause, CoreError, Error, ErrorKind, Place, StoreProblem, TableError, TableProblem};
    use std::error::Error as _;
    use std::io;

    #[test]
    fn accessors_say_what_the_text_says() {
        let place = Place::Field(3, 2, "area".into());
        let error = Error::from(TableError {
            path: "a.csv".into(),
            place,
            problem: TableProblem::NotANumber("1,5".into()),
        });
        assert_eq!((error.kind(), error.name().as_str()), (ErrorKind::Table, "NotANumber"));
        assert_eq!(
            (error.path(), error.line(), error.column()),
            (Some("a.csv".as_ref()), Some(3), Some("area"))
        );
        assert_eq!((error.subject(), error.row(), error.io()), (Some("1,5"), None, None));
        assert!(
            error.to_string().starts_with("a.csv, line 3, column 2 (\"area\"): \"1,5\" is not a number;")
        );

        let problem = StoreProblem::NotFinite { row: 7, column: "y".into() };
        let error = Error(Cause::Store { path: "a.rows".into(), problem });
        assert_eq!((error.kind(), error.name().as_str()), (ErrorKind::Format, "StoreNotFinite"));
        assert_eq!((error.row(), error.column()), (Some(7), Some("y")));
        assert_eq!(error.advice().as_deref(), Some("convert the rows again"));

        let error = Error::open("none", io::ErrorKind::NotFound.into());
        assert_eq!((error.kind(), error.io()), (ErrorKind::File, Some(io::ErrorKind::NotFound)));
        assert_eq!(error.name(), "Open");
    }

    #[test]
    fn reasons_of_the_core_and_of_callers_are_kept() {
        let reason = CoreError::NotFinite { row: 2, column: 0 };
        let error = Error::from(reason).after_rows(100);
        assert_eq!((error.kind(), error.row()), (ErrorKind::Data, Some(102)));
        assert_eq!(error.core(), Some(CoreError::NotFinite { row: 102, column: 0 }));
        let error = Error::landmarks(CoreError::Empty);
        assert_eq!((error.kind(), error.core()), (ErrorKind::Landmarks, Some(CoreError::Empty)));
        assert!(error.source().is_some_and(|source| source.downcast_ref() == Some(&CoreError::Empty)));
        let own = Error::new(ErrorKind::Other, io::Error::from(io::ErrorKind::TimedOut));
        assert_eq!(own.name(), "Other");
        let inner = own.into_inner().unwrap().downcast::<io::Error>().unwrap();
        assert_eq!(inner.kind(), io::ErrorKind::TimedOut);
        assert!(Error::landmarks(CoreError::Empty).into_inner().is_err());
    }
}
