//! Rows drawn uniformly: [`dpp_nystrom_core::start::uniform`].

use crate::error::Error;
use crate::landmarks::{
    Selection, Selector, Start, Task, chain::select_rows, procedure::InPlace, procedure::Procedure,
};

/// Select rows drawn uniformly (Williams and Seeger 2001). `c²/2` kernel evaluations, works in place.
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, selectors::Uniform};
///
/// let x: Vec<f64> = (0..100).map(f64::from).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let map = |seed| Nystroem::params(5).selector(Uniform).seed(seed).fit(&data);
/// assert_eq!(map(7)?.landmarks(), map(7)?.landmarks());
/// assert_ne!(map(7)?.landmarks(), map(8)?.landmarks());
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

const UNIFORM: Procedure = Procedure::Start(Start::Uniform);

impl Selector for Uniform {
    fn name(&self) -> &'static str {
        "uniform"
    }

    fn in_place(&self) -> Option<InPlace> {
        Some(UNIFORM.into())
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &UNIFORM)
    }
}
