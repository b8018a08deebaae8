//! Given rows, for comparison with other methods.

use crate::error::Error;
use crate::landmarks::{
    Selection, Selector, Task, chain::select_rows, procedure::InPlace, procedure::Procedure,
};
use dpp_nystrom_core::Error as CoreError;

/// Select the given rows. Rows that depend linearly on preceding ones under the kernel are dropped. `c²/2`
/// kernel evaluations. Works in place.
///
/// ```
/// use dpp_nystrom::selectors::Given;
///
/// let chosen = Given::new([3, 14, 15]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Given {
    rows: Vec<usize>,
}

impl Given {
    /// Select these rows, numbered from 0 as in the file even if only some of its rows are used. Selection
    /// returns an error for a row that is not among those used.
    pub fn new(rows: impl Into<Vec<usize>>) -> Self {
        Self { rows: rows.into() }
    }
}

impl Selector for Given {
    fn name(&self) -> &'static str {
        "given"
    }

    fn in_place(&self) -> Option<InPlace> {
        Some(Procedure::Given(self.rows.clone()).into())
    }

    fn fixed(&self) -> Option<&[usize]> {
        Some(&self.rows)
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let data = task.gram.data()?;
        let place = |&index: &usize| {
            data.row_of(index).ok_or(Error::landmarks(CoreError::OutOfRange { index, len: data.len() }))
        };
        let rows = self.rows.iter().map(place).collect::<Result<_, _>>()?;
        select_rows(task, &Procedure::Given(rows))
    }
}
