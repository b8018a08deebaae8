//! Rows with a quality, rows that are included in any case, and rows that are excluded, for any method.

use crate::approximation::{AnyGround, Conditional, Gram, conditional::check_quality};
use crate::error::{Cause, Error, check_length};
use crate::landmarks::selection::log_det;
use crate::landmarks::selector::run;
use crate::landmarks::{Needs, Selection, Selector, Task};
use dpp_nystrom_core::Error as CoreError;
use std::collections::HashSet;

/// Select with another selector under `L = diag(q) K diag(q)`, given rows that are included, and among those
/// that are not excluded.
///
/// Rows of a high quality q are preferred: a c-DPP selects a set C with probability proportional to
/// `Π q_i² · det K_CC` (Kulesza and Taskar 2012). Methods that lower the trace error lower that of L. With
/// rows to include, the law is that given that they are among the landmarks, and the other methods select the
/// rest after them; a chain never exchanges them. Excluded rows, and those of quality zero, are not selected
/// and do not count in the trace error of L.
///
/// [`Greedy`](crate::selectors::Greedy) with a quality is the fast greedy MAP inference of a DPP (Chen, Zhang
/// and Zhou 2018). The selector computes in `f64`, in memory; for a included rows it stores `N (a + 2)` more
/// numbers and takes a more multiply-adds per kernel entry.
///
/// Returns an error with methods that select points, or by the target.
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, selectors::{Conditioned, Kdpp}};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let quality: Vec<f64> = (0..100).map(|i| if i < 50 { 1.0 } else { 3.0 }).collect();
/// let selector = Conditioned::new(Kdpp::default()).quality(quality).include([7]).exclude([50, 51]);
/// let map = Nystroem::params(5).selector(selector).fit(&Dataset::from_rows(&x, 1)?)?;
/// assert!(map.landmarks().contains(&7) && !map.landmarks().contains(&50));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct Conditioned {
    selector: Box<dyn Selector>,
    quality: Option<Vec<f64>>,
    include: Vec<usize>,
    exclude: Vec<usize>,
}

impl Conditioned {
    /// Select with this selector.
    pub fn new(selector: impl Selector + 'static) -> Self {
        Self { selector: Box::new(selector), quality: None, include: Vec::new(), exclude: Vec::new() }
    }

    /// Prefer rows by quality: one number for each row of the data set, in its order, finite and not
    /// negative. Default: all equal.
    pub fn quality(self, quality: impl Into<Option<Vec<f64>>>) -> Self {
        Self { quality: quality.into(), ..self }
    }

    /// Include these rows, whatever their quality. They count as landmarks, and are the first in
    /// [`Selection::order`]. Numbered from 0 as in the data set, even if only some of its rows are used.
    pub fn include(self, rows: impl Into<Vec<usize>>) -> Self {
        Self { include: rows.into(), ..self }
    }

    /// Exclude these rows, numbered likewise. Where only some rows are used, the others are ignored.
    pub fn exclude(self, rows: impl Into<Vec<usize>>) -> Self {
        Self { exclude: rows.into(), ..self }
    }

    /// Check the lists, and return the rows to include.
    fn included(&self, task: &Task<'_>) -> Result<Vec<usize>, Error> {
        let (excluded, mut seen) = (self.exclude.iter().collect::<HashSet<_>>(), HashSet::new());
        for &row in &self.include {
            if excluded.contains(&row) {
                return Err(Error(Cause::IncludedAndExcluded { row }));
            }
            if !seen.insert(row) {
                return Err(Error::landmarks(CoreError::Duplicate { index: row }));
            }
        }
        if self.include.len() > task.c {
            return Err(Error(Cause::Included { included: self.include.len(), landmarks: task.c }));
        }
        let row_of = |&index: &usize| {
            let past = CoreError::OutOfRange { index, len: task.gram.len() };
            task.gram.row_of(index).ok_or(Error::landmarks(past))
        };
        self.include.iter().map(row_of).collect()
    }

    /// Return the quality of each row of the task; zero for those that are excluded.
    fn qualities(&self, gram: &Gram<'_>) -> Result<Vec<f64>, Error> {
        let numbers = || (0..gram.len()).map(|row| gram.number(row));
        let mut qualities = match &self.quality {
            Some(quality) => {
                check_quality(quality)?;
                let rows = numbers().max().map_or(0, |last| last + 1);
                // More where the last rows of the file are not used.
                check_length("qualities", rows.max(quality.len()), quality.len())?;
                numbers().map(|number| quality[number]).collect()
            }
            None => vec![1.0; gram.len()],
        };
        let is_whole = numbers().eq(0..gram.len());
        for &index in &self.exclude {
            match gram.row_of(index) {
                Some(row) => qualities[row] = 0.0,
                None if is_whole => {
                    return Err(Error::landmarks(CoreError::OutOfRange { index, len: gram.len() }));
                }
                None => {}
            }
        }
        Ok(qualities)
    }
}

impl Selector for Conditioned {
    fn name(&self) -> &'static str {
        self.selector.name()
    }

    fn needs(&self) -> Needs {
        Needs { target: self.selector.needs().target, ..Needs::default() }
    }

    fn reader(&self) -> String {
        "a quality, or rows to include or exclude,".to_owned()
    }

    fn fewest(&self) -> usize {
        self.include.len().max(1)
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (gram, method) = (task.gram, self.name());
        let unconditional = |by| Err(Error(Cause::Unconditional { method, by }));
        match self.selector.needs() {
            needs if needs.points => return unconditional("coordinates"),
            needs if needs.target => return unconditional("the target"),
            _ if self.selector.fixed().is_some() => return unconditional("row numbers"),
            _ => {}
        }
        let (included, qualities) = (self.included(task)?, self.qualities(gram)?);
        let is_included: HashSet<usize> = included.iter().copied().collect();
        let free = (0..gram.len()).filter(|row| qualities[*row] > 0.0 && !is_included.contains(row));
        let rows: Vec<usize> = included.iter().copied().chain(free).collect();
        if task.c > rows.len() {
            return Err(Error(Cause::TooFewAllowed { landmarks: task.c, rows: rows.len() }));
        }
        let quality: Vec<f64> = rows.iter().map(|&row| qualities[row]).collect();
        let first: Vec<usize> = (0..included.len()).collect();
        let chosen = gram.ground().on_rows(&rows, |ground| match ground {
            AnyGround::Points(points) => {
                let conditional = Conditional::new(points, &quality, &first)?;
                let ground = AnyGround::Conditional(&conditional);
                self.rest(task, ground, conditional.gains())
            }
            AnyGround::Entries(_) | AnyGround::Conditional(_) => {
                let conditional = Conditional::new(ground, &quality, &first)?;
                self.rest(task, AnyGround::Entries(&conditional), conditional.gains())
            }
        });
        let Chosen { order, gains, selection } = chosen.map_err(|error| match error {
            Error(Cause::BuiltInKernel { .. }) => Error(Cause::Unconditional { method, by: "coordinates" }),
            error => error,
        })?;
        let order: Vec<usize> = order.into_iter().map(|row| rows[row]).collect();
        let log_det = log_det(gram.ground(), &order)?;
        let in_order = Selection::of_rows(order, &gains, log_det);
        Ok(Selection { landmarks: in_order.landmarks, log_det, order: in_order.order, ..selection })
    }
}

/// Rows in the order of selection with their gains, and what else is known of the selection.
struct Chosen {
    order: Vec<usize>,
    gains: Vec<f64>,
    selection: Selection,
}

impl Conditioned {
    /// Select the rows after the included ones, which are the first of the ground set.
    fn rest(&self, task: &Task<'_>, ground: AnyGround<'_>, gains: &[f64]) -> Result<Chosen, Error> {
        let included = gains.len();
        let mut order: Vec<usize> = (0..included).collect();
        let mut gains = gains.to_vec();
        if included == task.c {
            return Ok(Chosen { order, gains, selection: Selection::rows(Vec::new(), 0.0) });
        }
        let gram = Gram::of(ground);
        let selection = run(&*self.selector, &Task { gram: &gram, c: task.c - included, ..*task })?;
        for (row, gain) in selection.in_order(&gram)? {
            order.push(row);
            gains.push(gain);
        }
        Ok(Chosen { order, gains, selection })
    }
}
