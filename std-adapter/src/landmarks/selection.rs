//! The result of a selector.

use crate::approximation::{AnyGround, Gram, LandmarkSet, features::independent_points};
use crate::error::{Cause, Error};
use crate::landmarks::{
    Refinement, RefinementOutcome, Start, chain::select_with, convergence::Convergence, procedure::Procedure,
};
use crate::observer::NoObserver;
use dpp_nystrom_core::{GroundSet, Landmarks, Scalar, TryGroundSet, start};
use dpp_nystrom_host::heap::Heap;

/// Selected landmarks.
///
/// ```
/// use dpp_nystrom::core::Matrix;
/// use dpp_nystrom::landmarks::select;
/// use dpp_nystrom::{observer::NoObserver, selectors::Kdpp};
///
/// let matrix = Matrix::new(&[4.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0])?;
/// let selection = select(&matrix, 1, &Kdpp::default(), 7, &NoObserver)?;
/// let row = selection.landmarks.rows().unwrap_or_default()[0];
/// assert!((selection.log_det - [4.0_f64, 9.0, 1.0][row].ln()).abs() < 1e-12);
/// assert!(selection.steps > 0 && selection.convergence.is_some_and(|chains| chains.converged));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// The landmarks.
    pub landmarks: LandmarkSet,
    /// `log det K_CC`; minus infinity for linearly dependent points.
    pub log_det: f64,
    /// Steps taken by a chain.
    pub steps: u64,
    /// Swaps accepted by a chain.
    pub accepted: u64,
    /// How far the chain converged; `None` without a chain, and for a given number of steps.
    pub convergence: Option<Convergence>,
    /// The result of refinement, if rows were exchanged.
    pub refinement: Option<RefinementOutcome>,
    /// The plan of [`Auto`](crate::selectors::Auto); `None` for other selectors.
    pub plan: Option<PlannedSelection>,
    /// The landmarks in the order in which they were selected, the first one first. `None` for methods that
    /// select all at once, such as a chain, and for points.
    pub order: Option<Vec<Choice>>,
    /// The duration of the selection in seconds; of a fit, with that of attempts at more landmarks than there
    /// are independent rows.
    pub seconds: f64,
}

/// One landmark in the order of selection.
///
/// ```
/// use dpp_nystrom::core::Matrix;
/// use dpp_nystrom::landmarks::{Choice, select};
/// use dpp_nystrom::{observer::NoObserver, selectors::Greedy};
///
/// let matrix = Matrix::new(&[4.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 9.0])?;
/// let selection = select(&matrix, 2, &Greedy, 0, &NoObserver)?; // rows 0 and 2
/// let order = [Choice { position: 1, gain: 9.0 }, Choice { position: 0, gain: 4.0 }];
/// assert_eq!(selection.order.as_deref(), Some(&order[..])); // row 2 came first
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The position of the landmark in [`Selection::landmarks`].
    pub position: usize,
    /// What it multiplies the determinant by: its residual given the landmarks before it, of `k(i, i)` at
    /// most. For rows with a quality, times its square.
    pub gain: f64,
}

/// The plan of [`Auto`](crate::selectors::Auto).
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, selectors::Auto};
///
/// let x: Vec<f64> = (0..100).map(f64::from).collect();
/// let map = Nystroem::params(5).selector(Auto::default()).fit(&Dataset::from_rows(&x, 1)?)?;
/// let plan = map.selection().plan.as_ref().expect("a plan of Auto");
/// assert!(!plan.method.is_empty() && !plan.reason.is_empty());
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedSelection {
    /// The name of the selected method.
    pub method: &'static str,
    /// The pivot rows of the plan; `None` for all rows, or if they were set on
    /// [`Auto`](crate::selectors::Auto).
    pub pivot_rows: Option<usize>,
    /// The refinement of the plan; `None` without one, or if it was set on [`Auto`](crate::selectors::Auto).
    pub refinement: Option<Refinement>,
    /// The reason for the plan, in one or two sentences.
    pub reason: String,
}

impl Selection {
    fn new(landmarks: LandmarkSet, log_det: f64) -> Self {
        Self {
            landmarks,
            log_det,
            steps: 0,
            accepted: 0,
            convergence: None,
            refinement: None,
            plan: None,
            order: None,
            seconds: 0.0,
        }
    }

    /// Return a selection of rows in the order in which they were selected, with the gain of each.
    pub(crate) fn of_rows(rows: Vec<usize>, gains: &[f64], log_det: f64) -> Self {
        let mut positions: Vec<usize> = (0..rows.len()).collect();
        positions.sort_unstable_by_key(|&at| rows[at]);
        let mut order: Vec<Choice> = gains.iter().map(|&gain| Choice { position: 0, gain }).collect();
        positions.iter().enumerate().for_each(|(position, &at)| order[at].position = position);
        Self { order: Some(order), ..Self::rows(rows, log_det) }
    }

    /// Return the selection of these landmarks, in their order.
    pub(crate) fn of_landmarks<T: Scalar, G: TryGroundSet<T> + ?Sized>(
        landmarks: &Landmarks<'_, T, G>,
    ) -> Self {
        let pivots = (0..landmarks.len()).map(|k| landmarks.factor().pivot(k).to_f64());
        let gains: Vec<f64> = pivots.map(|pivot| pivot * pivot).collect();
        Self::of_rows(landmarks.members().to_vec(), &gains, landmarks.log_det().to_f64())
    }

    /// Return a selection of rows with this log-determinant.
    ///
    /// ```
    /// use dpp_nystrom::landmarks::Selection;
    ///
    /// let selection = Selection::rows(vec![14, 3], -0.5);
    /// assert_eq!((selection.landmarks.rows(), selection.log_det), (Some(&[3, 14][..]), -0.5));
    /// ```
    pub fn rows(mut rows: Vec<usize>, log_det: f64) -> Self {
        rows.sort_unstable();
        Self::new(LandmarkSet::Indices(rows), log_det)
    }

    /// Return a selection of rows in the given order, with `NaN` as the log-determinant.
    pub(crate) fn given(rows: Vec<usize>) -> Self {
        Self::new(LandmarkSet::Indices(rows), f64::NAN)
    }

    /// Return the landmarks in the order of selection among the rows of `gram`, with the gain of each
    /// ([`Choice::gain`]). Those that a method selected all at once are in the order of greedily pivoted
    /// Cholesky: the row that the rows before it explain least is next. Empty for points. `O(c³)`.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    ///
    /// ```
    /// use dpp_nystrom::approximation::Gram;
    /// use dpp_nystrom::core::Matrix;
    /// use dpp_nystrom::landmarks::{Task, run};
    /// use dpp_nystrom::selectors::KdppExact;
    ///
    /// let matrix = Matrix::new(&[4.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 9.0])?;
    /// let gram = Gram::over(&matrix, None);
    /// let selection = run(&KdppExact, &Task::new(&gram, 3))?;
    /// let order: Vec<usize> = selection.in_order(&gram)?.into_iter().map(|(row, _)| row).collect();
    /// assert_eq!(order, [2, 0, 1]);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn in_order(&self, gram: &Gram<'_>) -> Result<Vec<(usize, f64)>, Error> {
        let Some(rows) = self.landmarks.rows() else { return Ok(Vec::new()) };
        let order = gram.ground().on_rows(rows, |ground| self.ordered(ground))?;
        Ok(order.into_iter().map(|Choice { position, gain }| (rows[position], gain)).collect())
    }

    /// Return the landmarks, rows of which `ground` is alone, in the order of selection. Those that a method
    /// selected all at once are in the order of greedily pivoted Cholesky: the largest residual next.
    pub(crate) fn ordered(&self, ground: &AnyGround<'_>) -> Result<Vec<Choice>, Error> {
        if let Some(order) = &self.order {
            return Ok(order.clone());
        }
        let count = GroundSet::len(ground);
        match select_with(ground, count, &Procedure::Start(Start::Greedy), 0, &NoObserver) {
            Ok((_, selection)) => Ok(selection.order.unwrap_or_default()),
            // Too close to singular for pivots: in their own order.
            Err(Error(Cause::Landmarks { .. })) => {
                let mut memory = Heap::new(count)?;
                let set = independent_points(ground, &mut memory)?;
                let gain = |row| match set.members().iter().position(|&member| member == row) {
                    Some(k) => set.factor().pivot(k) * set.factor().pivot(k),
                    None => 0.0,
                };
                Ok((0..count).map(|position| Choice { position, gain: gain(position) }).collect())
            }
            Err(error) => Err(error),
        }
    }

    /// Return a selection of points with as many features as the rows of the Gram matrix.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`, `ErrorKind::Memory`.
    pub fn points(gram: &Gram<'_>, points: Vec<f64>) -> Result<Self, Error> {
        let count = points.len() / gram.rows()?.features();
        let mut memory = Heap::new(count)?;
        let home = gram.points(&points)?;
        let independent = independent_points(&home, &mut memory)?;
        let log_det = if independent.len() < count { f64::NEG_INFINITY } else { independent.log_det() };
        Ok(Self::new(LandmarkSet::Points(points), log_det))
    }
}

/// Return `log det K_CC` of these rows.
///
/// # Errors
/// `ErrorKind::Landmarks` for dependent rows, `ErrorKind::Memory`.
pub(crate) fn log_det<G: GroundSet<f64> + ?Sized>(ground: &G, rows: &[usize]) -> Result<f64, Error> {
    let mut memory = Heap::new(rows.len())?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(Error::landmarks)?;
    start::given(&mut landmarks, rows).map_err(Error::landmarks)?;
    Ok(landmarks.log_det())
}
