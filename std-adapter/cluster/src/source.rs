//! Rows that stay with the engine, as a source for [`dpp_nystrom::pipeline`].
//!
//! Landmarks are selected from the sample of a [`Survey`], which contains each row with the same probability:
//! their approximation error on the sample estimates that on all rows. The regression accumulates all rows
//! where they are.

use crate::error::Error;
use crate::session::Rows;
use crate::survey::Survey;
use dpp_nystrom::Error as AdapterError;
use dpp_nystrom::data::{Columns, Prepared, RowSlices, RowSource};
use dpp_nystrom::observer::Observer;
use dpp_nystrom::regression::{BatchSource, FitSpec, Folds};
use std::borrow::Cow;
use std::fmt;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// The rows of a query with their survey.
///
/// Row numbers, as of landmarks, count the rows of the sample. The pipeline is synchronous and the engine is
/// not: [`accumulate`](BatchSource::accumulate) blocks the thread that calls it, which must belong to a
/// multi-threaded runtime.
pub struct SurveyedRows<'r> {
    rows: &'r Rows<'r>,
    survey: Survey,
    sample: Prepared,
}

impl<'r> SurveyedRows<'r> {
    /// Join rows and their survey.
    ///
    /// # Errors
    /// Those of [`Survey::prepared`].
    pub fn new(rows: &'r Rows<'r>, survey: Survey) -> Result<Self, AdapterError> {
        let sample = survey.prepared(rows.name())?;
        Ok(Self { rows, survey, sample })
    }

    /// Return the survey.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }
}

impl fmt::Debug for SurveyedRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SurveyedRows").field("survey", &self.survey).finish_non_exhaustive()
    }
}

impl RowSource for SurveyedRows<'_> {
    fn columns(&self) -> Columns {
        self.sample.columns()
    }

    fn len(&self) -> usize {
        self.survey.rows as usize
    }

    fn slices(&self) -> Option<RowSlices<'_>> {
        None
    }

    fn gather(&self, rows: &[usize]) -> Result<Prepared, AdapterError> {
        RowSource::gather(&self.sample, rows)
    }

    /// Return the whole sample, so that bandwidth and landmarks come from the same rows.
    fn sample(&self, _: usize, _: u64) -> Result<Cow<'_, Prepared>, AdapterError> {
        Ok(Cow::Borrowed(&self.sample))
    }

    fn in_memory(&self, _: &str, _: u64) -> Result<Cow<'_, Prepared>, AdapterError> {
        Ok(Cow::Borrowed(&self.sample))
    }

    fn checksum(&self) -> u32 {
        self.sample.checksum()
    }
}

impl BatchSource for SurveyedRows<'_> {
    /// Run the engine's aggregate.
    ///
    /// # Errors
    /// `ErrorKind::Other` with those of [`Rows::accumulate`], and with [`Error::Runtime`] outside a
    /// multi-threaded runtime.
    fn accumulate(&self, spec: &FitSpec, observer: &dyn Observer) -> Result<Folds, AdapterError> {
        let runtime = Handle::try_current().ok();
        let runtime = runtime.filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
        let runtime = runtime.ok_or(Error::Runtime)?;
        observer.begin("rows", 0);
        let folds = block_in_place(|| runtime.block_on(self.rows.accumulate(spec)));
        observer.end();
        Ok(folds?)
    }
}
