//! The parameters of a pipeline, and what happens where they leave something open.

use crate::data::source::RowSource;
use crate::error::{Cause, Error};
use crate::kernel::{params::KernelParams, precision::Precision};
use crate::landmarks::{methods::auto::Auto, selector::Selector, tolerance::Tolerance};
use crate::regression::ridge::Ridge;
use dpp_nystrom_core::Error as CoreError;

/// The maximum number of landmarks where none is given.
const USUAL: usize = 100;

/// The landmarks to select.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, select};
/// use dpp_nystrom::{Dataset, Scale, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let source = data.source(Scale::Standard)?;
/// let landmarks = Landmarks::Rows(vec![10, 50, 90]);
/// let params = Params { landmarks, kernel: KernelParams::default(), ..Params::default() };
/// let selected = select(source.as_rows(), &params, &NoObserver)?;
/// assert_eq!(selected.selection.landmarks.rows(), Some(&[10, 50, 90][..]));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Landmarks {
    /// The usual number: that of [`with_usual`].
    #[default]
    Usual,
    /// This number of landmarks.
    Count(usize),
    /// The fewest landmarks whose error is within a tolerance.
    Within(Tolerance),
    /// These rows of the source.
    Rows(Vec<usize>),
    /// This number of points, at most 100. They begin as rows, and move together with the metric: the
    /// selector is not used.
    Free(usize),
}

/// The parameters of a pipeline. The default is what happens when nothing is said, on the command line, in
/// Python and in [`LandmarkRidge`](crate::LandmarkRidge): the usual number of landmarks, selected by
/// [`Auto`], under [`KernelParams::usual`], with a cross-validated ridge.
///
/// ```
/// use dpp_nystrom::kernel::{KernelKind, KernelParams, Metric, Precision};
/// use dpp_nystrom::pipeline::{Landmarks, Params};
/// use dpp_nystrom::{Ridge, Sigma, selectors::Refined};
///
/// let usual = Params::default();
/// assert_eq!((usual.landmarks, usual.kernel.metric), (Landmarks::Usual, Metric::Auto));
/// let refined = Refined::default();
/// let params = Params {
///     kernel: KernelParams::new(KernelKind::Matern52, Sigma::CrossValidated),
///     landmarks: Landmarks::Count(200),
///     selector: &refined,
///     ridge: Ridge::LeaveOneOut,
///     precision: Precision::F32,
///     seed: 7,
/// };
/// assert_eq!(params.kernel.metric, Metric::One);
/// ```
#[derive(Clone, Debug)]
pub struct Params<'a> {
    /// The kernel, and how its bandwidth is chosen.
    pub kernel: KernelParams,
    /// The landmarks to select.
    pub landmarks: Landmarks,
    /// How they are selected.
    pub selector: &'a dyn Selector,
    /// The ridge γ of the regression.
    pub ridge: Ridge,
    /// The precision; for a row store, that of the store is used.
    pub precision: Precision,
    /// The random seed.
    pub seed: u64,
}

impl Default for Params<'_> {
    fn default() -> Self {
        Self {
            kernel: KernelParams::usual(),
            landmarks: Landmarks::Usual,
            selector: &Auto::USUAL,
            ridge: Ridge::CrossValidated,
            precision: Precision::F64,
            seed: 0,
        }
    }
}

/// Run with the usual number of landmarks among `rows` rows: a quarter of them, and at most 100. Where fewer
/// rows are independent under the kernel, run again with as many as are.
///
/// ```
/// use dpp_nystrom::pipeline::with_usual;
///
/// assert_eq!(with_usual(5_000, Ok)?, 100);
/// assert_eq!(with_usual(90, Ok)?, 22);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
///
/// # Errors
/// Those of `run`.
pub fn with_usual<A>(rows: usize, mut run: impl FnMut(usize) -> Result<A, Error>) -> Result<A, Error> {
    let mut count = (rows / 4).clamp(1, USUAL);
    loop {
        match run(count) {
            Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { rank, .. } }))
                if (1..count).contains(&rank) =>
            {
                count = rank;
            }
            done => return done,
        }
    }
}

impl Params<'_> {
    /// Run with what is left open decided for a source: the number of landmarks, and whether kernels are
    /// compared.
    pub(super) fn settled<A>(
        &self,
        source: &dyn RowSource,
        mut run: impl FnMut(&Params<'_>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let is_classes = source.columns().classes.is_some();
        let with = |count| self.kernel.settled(count, is_classes);
        match &self.landmarks {
            Landmarks::Usual => {
                let mut kernel = None;
                with_usual(source.len(), |count| {
                    let kernel = *kernel.get_or_insert_with(|| with(count));
                    run(&Params { kernel, landmarks: Landmarks::Count(count), ..self.clone() })
                })
            }
            &Landmarks::Count(count) | &Landmarks::Free(count) => {
                run(&Params { kernel: with(count), ..self.clone() })
            }
            Landmarks::Rows(rows) => run(&Params { kernel: with(rows.len()), ..self.clone() }),
            Landmarks::Within(_) => run(&Params { kernel: with(0), ..self.clone() }),
        }
    }
}
