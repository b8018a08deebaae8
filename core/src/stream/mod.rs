//! Landmarks of a stream: each row is tried once when it arrives, and only the landmarks are stored.

mod state;

pub use state::stream_state_bytes;

use crate::chain::Progress;
use crate::cholesky::Cholesky;
use crate::error::{Error, Known, row_number};
use crate::ground_set::{GroundSet, Points};
use crate::kernel::Kernel;
use crate::landmarks::{Landmarks, is_factored};
use crate::memory::{Memory, check_capacity, check_length, prefix, take};
use crate::random::below;
use crate::scalar::Scalar;
use crate::slot::{OpenSlot, Proposal};
use crate::slot_chain::renew;
use crate::swap::Acceptance;
use rand_core::Rng;

/// The result of offering a row.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Offer, Random, StreamChain, Workspace, kernel::Gaussian};
///
/// let (mut rows, mut memory, mut random) = ([0.0; 1], Workspace::<f64, 1>::new(), Random::seeded(7));
/// let kernel = Gaussian::new(1.0)?;
/// let mut chain = StreamChain::new(kernel, 1, 1, &mut rows, memory.lend(), Acceptance::Metropolis)?;
/// assert_eq!(chain.offer(&[0.5], &mut random)?, Offer::Joined { place: 0 });
/// assert_eq!(chain.offer(&[4.0], &mut random)?, Offer::Replaced { place: 0 }); // an equal determinant
/// assert_eq!(chain.rows(), [4.0]);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Offer {
    /// It is a new landmark: there were fewer than `c`.
    Joined {
        /// Its index in [`StreamChain::rows`].
        place: usize,
    },
    /// It has replaced a landmark.
    Replaced {
        /// Its index in [`StreamChain::rows`]: anything the caller stores for that row is out of date.
        place: usize,
    },
    /// It was rejected and is not stored.
    Declined,
}

/// A c-DPP chain over a stream. [`Progress::steps`] counts rows, [`Progress::proposed`] those that were tried
/// against `c` landmarks.
///
/// A row `x` of the stream is proposed for a slot that is drawn uniformly. It replaces the slot's occupant
/// `x_i` with probability `min(1, r)` (or `r/(1 + r)`, [`Acceptance`]), `r = det K_{C∪x\x_i} / det K_C`.
///
/// # Law
///
/// Let the rows be independent draws from one law `P`. Then a row is a proposal that does not depend on the
/// landmarks, and a step is a Metropolis (or Barker) move on one of `c` points whose law has the density
/// `π(x_1, …, x_c) ∝ det [k(x_i, x_j)]` with respect to `P` in each. `r` is the ratio of two such densities,
/// and detailed balance holds:
///
/// `π(C) P(dx_i) · P(dx) min(1, r) = π(C∪x\x_i) P(dx) · P(dx_i) min(1, 1/r)`.
///
/// No weights of reservoir sampling are needed, since every row is a fresh draw from `P`. The chain is
/// reversible, and its stationary law is the c-DPP of `P`:
///
/// - if `P` is uniform over `n` given rows, which are streamed with replacement, it is the c-DPP over sets of
///   `c` of them, as for [`crate::Chain`]; with unequal probabilities, `Pr(C) ∝ det K_CC · Π P(x_i)`;
/// - if `P` has a density, it is the c-DPP over the whole space, which needs no ground set for its
///   definition.
///
/// The chain begins once `c` independent rows have come, and its law tends to this one. A copy of another
/// landmark has residual 0 and is never accepted. A copy of the occupant may replace it, which changes
/// nothing.
///
/// # Limitations
///
/// Rows that are sorted, that come in bursts, or whose law drifts are not independent draws. Each row is
/// tried against the landmarks at its time and never again, so the landmarks then follow no known law: a
/// landmark from the past stays until a more diverse row is tried at its slot, and a rejected row is lost.
/// Correlated neighbours slow the chain down, since a row similar to a landmark is accepted only at that
/// one's slot. Offer every tenth reading instead of each, or a stored set in random order.
///
/// # Cost
///
/// A row costs `c` kernel entries and `c²/2` multiply-adds, less where it is rejected early, and `3(c - i)²`
/// to open slot `i`: `O(c d + c²)` at most, independent of the number of rows before. Every `8c`-th row also
/// computes the factor again, as in [`crate::SlotChain`]: `c³/6` multiply-adds and `c²/2` kernel entries. The
/// memory is that of [`crate::Landmarks`] and `c` rows.
///
/// # Example
///
/// Afterwards the landmarks are a ground set of their own:
///
/// ```
/// use dpp_nystrom_core::kernel::Gaussian;
/// use dpp_nystrom_core::{Acceptance, Landmarks, Points, Random, Workspace, StreamChain, start};
/// use rand_core::Rng;
///
/// const C: usize = 4;
/// let mut rows = [0.0; C * 2]; // four landmarks of two features
/// let mut memory = Workspace::<f32, C>::new();
/// let mut random = Random::seeded(7);
/// let kernel = Gaussian::new(0.7)?;
///
/// let mut chain = StreamChain::new(kernel, C, 2, &mut rows, memory.lend(), Acceptance::Metropolis)?;
/// for _ in 0..500 {
///     let reading = [random.next_u32() as f32 / 4e9, random.next_u32() as f32 / 4e9];
///     chain.offer(&reading, &mut random)?;
/// }
/// assert_eq!((chain.len(), chain.progress().steps), (C, 500));
///
/// let ground = Points::new(&rows, 2, kernel)?;
/// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
/// start::given(&mut landmarks, &[0, 1, 2, 3])?;
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StreamChain<'a, T, K> {
    kernel: K,
    /// The number of landmarks `c`.
    most: usize,
    dim: usize,
    /// The rows of `c` landmarks.
    rows: &'a mut [T],
    factor: Cholesky<'a, T>,
    /// The indices of the landmarks in `rows`, in the factor's order.
    members: &'a mut [usize],
    acceptance: Acceptance,
    progress: Progress,
}

impl<'a, T: Scalar, K: Kernel<T>> StreamChain<'a, T, K> {
    /// Create a chain of `c` landmarks of `dim` features, none of them known yet. `rows` needs `c` rows.
    ///
    /// # Errors
    /// [`Error::Empty`] for no landmarks or no features, [`Error::Capacity`].
    pub fn new(
        kernel: K,
        c: usize,
        dim: usize,
        rows: &'a mut [T],
        memory: Memory<'a, T>,
        acceptance: Acceptance,
    ) -> Result<Self, Error> {
        if c == 0 || dim == 0 {
            return Err(Error::Empty);
        }
        let rows = take(rows, c.saturating_mul(dim))?;
        let factor = Cholesky::new(memory.factor)?;
        check_capacity(c, factor.capacity())?;
        let members = take(memory.landmarks, c)?;
        Ok(Self { kernel, most: c, dim, rows, factor, members, acceptance, progress: Progress::default() })
    }

    /// Continue a chain whose rows, factor and members are still in this memory. All later results are the
    /// same bit for bit, given the same generator.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and [`Error::ForeignState`] when the memory does not hold the factor of
    /// `count` of these rows under this kernel, or for counters that no chain can have.
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Random, StreamChain, Workspace, kernel::Gaussian};
    ///
    /// let (mut rows, mut memory, mut random) = ([0.0; 2], Workspace::<f64, 2>::new(), Random::seeded(7));
    /// let (kernel, rule) = (Gaussian::new(1.0)?, Acceptance::Metropolis);
    /// let mut chain = StreamChain::new(kernel, 2, 1, &mut rows, memory.lend(), rule)?;
    /// for reading in [0.0, 0.4, 2.5, 1.0] {
    ///     chain.offer(&[reading], &mut random)?;
    /// }
    /// let (count, progress) = (chain.len(), chain.progress());
    ///
    /// let mut chain = StreamChain::resume(kernel, 2, 1, &mut rows, memory.lend(), rule, count, progress)?;
    /// chain.offer(&[3.0], &mut random)?;
    /// assert_eq!(chain.progress().steps, 5);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    #[expect(
        clippy::too_many_arguments,
        reason = "those of `new`, and the two numbers that the memory does not hold"
    )]
    pub fn resume(
        kernel: K,
        c: usize,
        dim: usize,
        rows: &'a mut [T],
        memory: Memory<'a, T>,
        acceptance: Acceptance,
        count: usize,
        progress: Progress,
    ) -> Result<Self, Error> {
        let mut chain = Self::new(kernel, c, dim, rows, memory, acceptance)?;
        check_capacity(count, c)?;
        progress.check()?;
        chain.factor.extend(count);
        chain.progress = progress;
        if chain.holds_its_factor() { Ok(chain) } else { Err(Error::ForeignState) }
    }

    /// [`resume`](Self::resume) where the memory is known to hold the state.
    pub(crate) fn assemble(
        kernel: K,
        dim: usize,
        rows: &'a mut [T],
        memory: Memory<'a, T>,
        count: usize,
        progress: Progress,
    ) -> Result<Self, Error> {
        let most = memory.landmarks.len();
        let mut chain = Self::new(kernel, most, dim, rows, memory, Acceptance::Metropolis)?;
        chain.factor.extend(count);
        chain.progress = progress;
        Ok(chain)
    }

    /// Whether the members are distinct rows and the factor is that of their kernel matrix.
    fn holds_its_factor(&self) -> bool {
        let ground = Points::trusted(self.rows, self.dim, self.most, &self.kernel);
        let repeated = |at: usize, place| self.members.iter().take(at).any(|&other| other == place);
        let distinct = |(at, &place): (usize, &usize)| place < self.len() && !repeated(at, place);
        let sound = |place| {
            self.factor.pivot(place) > T::ZERO
                && is_factored(&ground, self.members(), &self.factor, place) == Ok(true)
        };
        self.members().iter().enumerate().all(distinct) && (0..self.len()).all(sound)
    }

    /// Offer the next row of the stream. With `c` landmarks it draws one number for the slot (rarely more)
    /// and one for the acceptance; before, none.
    ///
    /// # Errors
    /// [`Error::Length`], and [`Error::NotFinite`] with the number of rows before it and the feature, or the
    /// index of the landmark with which the kernel is not finite. The landmarks are unchanged except for
    /// their order, and the row is not counted.
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Error, Random, StreamChain, Workspace, kernel::Gaussian};
    ///
    /// let (mut rows, mut memory, mut random) = ([0.0; 4], Workspace::<f32, 2>::new(), Random::seeded(7));
    /// let kernel = Gaussian::new(1.0)?;
    /// let mut chain = StreamChain::new(kernel, 2, 2, &mut rows, memory.lend(), Acceptance::Metropolis)?;
    /// chain.offer(&[0.5, 1.0], &mut random)?;
    /// let refused = chain.offer(&[f32::NAN, 1.0], &mut random);
    /// assert_eq!(refused, Err(Error::NotFinite { row: 1, column: 0 }));
    /// assert_eq!((chain.len(), chain.progress().steps), (1, 1));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn offer<R: Rng + ?Sized>(&mut self, row: &[T], random: &mut R) -> Result<Offer, Error> {
        check_length(self.dim, row.len())?;
        if let Some(column) = row.iter().position(|value| !value.is_finite()) {
            return Err(self.not_finite(column));
        }
        let offer = if self.len() < self.most { self.join(row) } else { self.replace(row, random) };
        let offer = offer.map_err(|error| match error {
            Error::NotFinite { column, .. } => self.not_finite(column),
            error => error,
        })?;
        if let Offer::Joined { place } | Offer::Replaced { place } = offer {
            self.settle(place, row)?;
        }
        self.progress.steps += 1;
        Ok(offer)
    }

    /// Append the offered row as a landmark, if it is independent of the present ones.
    fn join(&mut self, row: &[T]) -> Result<Offer, Error> {
        let place = self.len();
        let points = Points::trusted(self.rows, self.dim, self.most, &self.kernel);
        let ground = Offered { points, row };
        let mut landmarks = Landmarks::assemble(&ground, self.factor.reborrow(), self.members);
        match landmarks.push(self.most) {
            Ok(()) => {
                self.factor.extend(place + 1);
                Ok(Offer::Joined { place })
            }
            Err(Error::NotPositive { .. }) => Ok(Offer::Declined),
            Err(error) => Err(error),
        }
    }

    /// Try the offered row at a slot.
    fn replace<R: Rng + ?Sized>(&mut self, row: &[T], random: &mut R) -> Result<Offer, Error> {
        let points = Points::trusted(self.rows, self.dim, self.most, &self.kernel);
        let ground = Offered { points, row };
        let mut landmarks = Landmarks::assemble(&ground, self.factor.reborrow(), self.members);
        // Before the row is tried, so that an error does not change the landmarks.
        if self.progress.openings > 0 {
            renew(&mut landmarks, self.progress.openings)?;
        }
        let slot = below(random, self.most);
        let uniform = T::from_draw(random.next_u32());
        let place = *landmarks.members().get(slot).known()?;
        let mut open = OpenSlot::new(&mut landmarks, slot, self.acceptance)?;
        let admitted = open.try_one(Proposal { entering: self.most, uniform })?;
        self.progress.proposed += 1;
        self.progress.openings += 1;
        self.progress.accepted += u64::from(admitted);
        Ok(if admitted { Offer::Replaced { place } } else { Offer::Declined })
    }

    /// Exchange the landmark at `slot` for a row, and compute the factor again. Return the row's place and
    /// its residual; none where it depends on the landmarks that remain: nothing has changed.
    pub(crate) fn exchange(&mut self, slot: usize, row: &[T]) -> Result<Option<(usize, T)>, Error> {
        let points = Points::trusted(self.rows, self.dim, self.most, &self.kernel);
        let ground = Offered { points, row };
        let mut landmarks = Landmarks::assemble(&ground, self.factor.reborrow(), self.members);
        let place = *landmarks.members().get(slot).known()?;
        let residual = match landmarks.replace(slot, self.most) {
            Ok(swap) => swap.entering,
            Err(Error::NotPositive { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        // The entries are those of the rows that remain and of the one that has entered: all are finite.
        renew(&mut landmarks, 0)?;
        self.settle(place, row)?;
        self.progress.steps += 1;
        self.progress.proposed += 1;
        self.progress.accepted += 1;
        Ok(Some((place, residual)))
    }

    /// Store the offered row, which is the last member, at its place.
    fn settle(&mut self, place: usize, row: &[T]) -> Result<(), Error> {
        let start = place.saturating_mul(self.dim);
        let slots = self.rows.get_mut(start..).and_then(|rows| rows.get_mut(..row.len())).known()?;
        slots.iter_mut().zip(row).for_each(|(slot, &value)| *slot = value);
        let len = self.len();
        *self.members.get_mut(..len).and_then(<[usize]>::last_mut).known()? = place;
        Ok(())
    }

    fn not_finite(&self, column: usize) -> Error {
        Error::NotFinite { row: row_number(self.progress.steps), column }
    }

    /// Return the rows that are landmarks, one after the other.
    pub fn rows(&self) -> &[T] {
        prefix(self.rows, self.len().saturating_mul(self.dim))
    }

    /// Return the indices of the landmarks in [`rows`](Self::rows), in the factor's order.
    pub fn members(&self) -> &[usize] {
        prefix(self.members, self.len())
    }

    /// Return the factor of their kernel matrix.
    pub fn factor(&self) -> &Cholesky<'a, T> {
        &self.factor
    }

    /// Return the number of landmarks: `c`, unless fewer independent rows came.
    pub fn len(&self) -> usize {
        self.factor.order()
    }

    /// Whether there are no landmarks yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return `log det K_CC`.
    pub fn log_det(&self) -> T {
        self.factor.log_det()
    }

    /// Return the counters.
    pub fn progress(&self) -> Progress {
        self.progress
    }
}

/// The rows of the landmarks, and after them the row that is offered.
pub(crate) struct Offered<'p, T, K> {
    pub(crate) points: Points<'p, T, K>,
    pub(crate) row: &'p [T],
}

impl<'p, T: Scalar, K: Kernel<T>> Offered<'p, T, K> {
    fn row(&self, i: usize) -> &'p [T] {
        if i == self.points.len() { self.row } else { self.points.row(i) }
    }
}

impl<T: Scalar, K: Kernel<T>> GroundSet<T> for Offered<'_, T, K> {
    fn len(&self) -> usize {
        self.points.len() + 1
    }

    fn entry(&self, i: usize, j: usize) -> T {
        self.points.kernel().value(self.row(i), self.row(j))
    }

    fn diagonal(&self, i: usize) -> T {
        self.points.kernel().diagonal(self.row(i))
    }

    /// `members` are landmarks.
    fn column(&self, i: usize, members: &[usize], out: &mut [T]) {
        if self.points.column_at(self.row(i), members, out).is_err() {
            debug_assert!(false, "members are landmarks, one for each entry");
            // The algorithms refuse it.
            out.fill(T::from_f64(f64::NAN));
        }
    }
}
