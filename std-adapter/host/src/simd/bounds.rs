//! Pivoted Cholesky of any number of rows: a bound of each row's residual in place of its features.
//!
//! A residual falls with each landmark, so one that was computed before is an upper bound. Only rows that a
//! bound calls for are evaluated, from the landmarks alone: c kernel entries and `c²/2` multiply-adds a row.
//!
//! Randomly pivoted: draw rows in proportion to their bounds, and accept each with the probability
//! `residual / bound`. The next landmark is then a row in proportion to its residual, whatever the bounds are
//! (rejection sampling; Epperly, Tropp and Webber 2024). Once `SHARE` of all rows have been rejected, the
//! bounds are computed anew, in one pass.
//!
//! Greedily pivoted: evaluate the rows of largest bounds. The largest residual of them is the largest of all
//! once no other row has a larger bound (Minoux 1978, for submodular functions).
//!
//! Rows are read where they are. Beside them, `N` bounds and at most [`NUMBERS`] values are stored.

use crate::error::Error;
use crate::heap::zeros;
use crate::rng::by_weight;
use crate::simd::{InLanes, Lane, Lanes, pivots::Rows, pivots::check_count, pivots::numbers_to_pivot};
use dpp_nystrom_core::{Error as CoreError, Landmarks, Random};
use rand_core::Rng;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// Values that the rows under evaluation may take: 128 MiB in `f64`.
pub const NUMBERS: usize = 1 << 24;

/// The minimum number of rows that are evaluated at once, and the number to begin with.
const FEWEST: usize = 64;

/// The maximum number of rows that are evaluated at once.
const MOST: usize = 1 << 14;

/// Rows of which the bounds are summed.
const RUN: usize = 1 << 10;

/// The share of the rows that may be rejected before all bounds are computed anew.
const SHARE: f64 = 0.5;

/// What to do before the next rows are evaluated, with as many landmarks as there are.
pub type GoOn<'a> = &'a dyn Fn(usize) -> ControlFlow<()>;

impl<T: Lane> Lanes<T> {
    /// Fill an empty landmark set up to `c` by randomly pivoted Cholesky over all rows. A smaller set of the
    /// same seed is a prefix of a larger one.
    ///
    /// # Errors
    /// Those of [`pivot`](Self::pivot).
    pub fn pivot_by_bounds<G: InLanes<T>>(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        random: &mut Random,
        go_on: GoOn<'_>,
    ) -> Result<(), Error> {
        let ground = landmarks.ground();
        check_count(ground.len(), c)?;
        let mut bounds = Bounds::new(ground)?;
        let (mut size, mut rejected) = (FEWEST, 0);
        while landmarks.len() < c {
            ask(go_on, landmarks.len())?;
            let total = bounds.total();
            if !(total > 0.0) {
                return Err(rank_deficient(landmarks.len(), c));
            }
            let drawn: Vec<(usize, T)> = (0..size)
                .map(|_| {
                    let place = (unit(random) + unit(random) / 4_294_967_296.0) * total;
                    (bounds.at(place), T::from_draw(random.next_u32()))
                })
                .collect();
            let accepted = self.accept(landmarks, c, &mut bounds, &drawn)?;
            rejected += size - accepted;
            if landmarks.len() < c && rejected as f64 > SHARE * ground.len() as f64 {
                ask(go_on, landmarks.len())?;
                let cancelled = &|| go_on(landmarks.len()).is_break();
                self.residuals(landmarks, None, &mut bounds.values, cancelled)?;
                bounds.renew(landmarks.members());
                rejected = 0;
            }
            // About a quarter of the landmarks so far are expected of the next rows.
            let wanted = landmarks.len() / 4 * size / accepted.max(size / 64).max(1);
            size = wanted.clamp(FEWEST, most(landmarks.len(), ground.width()));
        }
        Ok(())
    }

    /// Evaluate the rows drawn, and accept each with the probability `residual / bound`, in their order.
    /// Return how many were.
    fn accept<G: InLanes<T>>(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        bounds: &mut Bounds<T>,
        drawn: &[(usize, T)],
    ) -> Result<usize, Error> {
        let (ground, first) = (landmarks.ground(), landmarks.len());
        let mut rows = Rows::new(ground, drawn.len(), |at| drawn[at].0, first)?;
        self.pass(&mut rows, landmarks, 0);
        for (at, &(row, uniform)) in drawn.iter().enumerate() {
            if landmarks.len() == c {
                break;
            }
            let (residual, bound) = (rows.finite(at, row)?, bounds.values[row]);
            // Small pivots magnify rounding; half of the digits are left.
            let rounding = T::EPSILON.sqrt() * ground.diagonal(row);
            debug_assert!(residual <= bound + rounding, "row {row}: {residual:?} above its bound {bound:?}");
            // The residual given those accepted in this round is smaller still.
            if landmarks.contains(row) || !(uniform * bound < residual) {
                continue;
            }
            match landmarks.push(row) {
                Ok(()) => {
                    let pivot = landmarks.factor().pivot(landmarks.len() - 1);
                    if !(uniform * bound < pivot * pivot) {
                        landmarks.truncate(landmarks.len() - 1);
                    }
                }
                // Not positive because of rounding: exclude it from later draws.
                Err(CoreError::NotPositive { .. }) => bounds.excluded.push(row),
                Err(reason) => return Err(Error::Landmarks(reason)),
            }
        }
        // The draws of a round are all in proportion to the bounds before it.
        for (at, &(row, _)) in drawn.iter().enumerate() {
            bounds.lower(row, rows.residual(at));
        }
        landmarks.members()[first..].iter().for_each(|&row| bounds.lower(row, T::ZERO));
        for at in 0..bounds.excluded.len() {
            bounds.lower(bounds.excluded[at], T::ZERO);
        }
        Ok(landmarks.len() - first)
    }

    /// Fill an empty landmark set up to `c` by greedily pivoted Cholesky over all rows: each landmark is the
    /// first row with the largest residual.
    ///
    /// # Errors
    /// Those of [`pivot`](Self::pivot).
    pub fn pivot_greedily_by_bounds<G: InLanes<T>>(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        go_on: GoOn<'_>,
    ) -> Result<(), Error> {
        let ground = landmarks.ground();
        check_count(ground.len(), c)?;
        let mut bounds = Bounds::new(ground)?.into_heap();
        let mut size = FEWEST;
        while landmarks.len() < c {
            ask(go_on, landmarks.len())?;
            let (first, mut block) = (landmarks.len(), Vec::with_capacity(size));
            block.extend((0..size).map_while(|_| bounds.pop()).map(|bound| bound.row.0));
            if block.is_empty() {
                return Err(rank_deficient(first, c));
            }
            // So that the first of equal rows is found first.
            block.sort_unstable();
            let most_after = c.min(room(first));
            let mut rows = Rows::new(ground, block.len(), |at| block[at], most_after)?;
            self.pass(&mut rows, landmarks, 0);
            for (at, &row) in block.iter().enumerate() {
                rows.finite(at, row)?;
            }
            while landmarks.len() < most_after
                && let Some(at) = rows.largest()
            {
                let largest = Bound { residual: rows.residual(at), row: Reverse(block[at]) };
                if bounds.peek().is_some_and(|other| *other > largest) {
                    break;
                }
                let before = landmarks.len();
                match landmarks.push(block[at]) {
                    Ok(()) => self.pass(&mut rows, landmarks, before),
                    // Not positive because of rounding: exclude it.
                    Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => {}
                    Err(reason) => return Err(Error::Landmarks(reason)),
                }
                rows.exclude(at);
            }
            let left = block.iter().enumerate();
            let left = left.map(|(at, &row)| Bound { residual: rows.residual(at), row: Reverse(row) });
            bounds.extend(left.filter(|bound| bound.residual > T::ZERO));
            let found = landmarks.len() - first;
            size = match found {
                0 | 1 => size * 2,
                _ if found > 8 + first / 4 => size / 2,
                _ => size,
            };
            size = size.clamp(FEWEST, most(room(landmarks.len()), ground.width()));
        }
        Ok(())
    }
}

/// A bound of the residual of each row.
struct Bounds<T> {
    values: Vec<T>,
    /// The sum of each [`RUN`] rows.
    sums: Vec<f64>,
    /// Rows that are not positive because of rounding.
    excluded: Vec<usize>,
}

impl<T: Lane> Bounds<T> {
    /// Bound each residual by the diagonal.
    fn new(ground: &impl InLanes<T>) -> Result<Self, Error> {
        let mut values = zeros(ground.len(), T::ZERO)?;
        for (row, value) in values.iter_mut().enumerate() {
            *value = ground.diagonal(row);
            if !value.is_finite() {
                return Err(Error::Landmarks(CoreError::NotFinite { row, column: row }));
            }
        }
        let sums = zeros(values.len().div_ceil(RUN), 0.0)?;
        let mut bounds = Self { values, sums, excluded: Vec::new() };
        bounds.sum_all();
        Ok(bounds)
    }

    /// Sum values that are new; the landmarks and rows excluded have none.
    fn renew(&mut self, landmarks: &[usize]) {
        landmarks.iter().chain(&self.excluded).for_each(|&row| self.values[row] = T::ZERO);
        self.sum_all();
    }

    fn sum_all(&mut self) {
        (0..self.sums.len()).for_each(|run| self.sum(run));
    }

    fn sum(&mut self, run: usize) {
        let values = self.values.chunks(RUN).nth(run).unwrap_or_default();
        self.sums[run] = values.iter().map(|value| value.to_f64().max(0.0)).sum();
    }

    fn total(&self) -> f64 {
        self.sums.iter().sum()
    }

    /// Return the row at which the running sum of the bounds exceeds `place`.
    fn at(&self, mut place: f64) -> usize {
        let run = by_weight(self.sums.iter().copied(), &mut place).unwrap_or(0);
        let values = self.values[run * RUN..].iter().take(RUN).map(|value| value.to_f64());
        run * RUN + by_weight(values, &mut place).unwrap_or(0)
    }

    /// Lower the bound of a row.
    fn lower(&mut self, row: usize, residual: T) {
        if residual < self.values[row] {
            self.values[row] = residual;
            self.sum(row / RUN);
        }
    }

    fn into_heap(self) -> BinaryHeap<Bound<T>> {
        let bounds = self.values.into_iter().enumerate();
        let bounds = bounds.map(|(row, residual)| Bound { residual, row: Reverse(row) });
        bounds.filter(|bound| bound.residual > T::ZERO).collect()
    }
}

/// A bound in a heap: of equal ones the first row is the largest.
struct Bound<T> {
    /// Finite.
    residual: T,
    row: Reverse<usize>,
}

impl<T: Lane> Ord for Bound<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_residual = self.residual.partial_cmp(&other.residual);
        by_residual.unwrap_or(Ordering::Equal).then(self.row.cmp(&other.row))
    }
}

impl<T: Lane> PartialOrd for Bound<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Lane> PartialEq for Bound<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Lane> Eq for Bound<T> {}

/// Return how many rows may be evaluated at once for this many landmarks. Neither this nor [`room`] depends
/// on the number of landmarks wanted, so that a smaller set is a prefix of a larger one.
fn most(landmarks: usize, width: usize) -> usize {
    (NUMBERS / numbers_to_pivot(landmarks, width)).clamp(FEWEST, MOST)
}

/// Return how many landmarks there may be after a round that begins with this many.
fn room(landmarks: usize) -> usize {
    2 * landmarks + FEWEST
}

fn unit(random: &mut Random) -> f64 {
    f64::from(random.next_u32()) / 4_294_967_296.0
}

fn ask(go_on: GoOn<'_>, landmarks: usize) -> Result<(), Error> {
    if go_on(landmarks).is_break() { Err(Error::Cancelled) } else { Ok(()) }
}

fn rank_deficient(rank: usize, landmarks: usize) -> Error {
    Error::Landmarks(CoreError::RankDeficient { rank, landmarks })
}
