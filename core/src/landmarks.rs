//! The landmarks `Y`: distinct rows of a ground set, and the Cholesky factor of `K_YY` in the same order.

use crate::cholesky::Cholesky;
use crate::error::{Error, Known};
use crate::ground_set::TryGroundSet;
use crate::memory::{Memory, check_capacity, prefix};
use crate::scalar::{Scalar, dot};
use crate::swap::Swap;
use core::mem::replace;

/// A set of independent rows with the Cholesky factor of their kernel matrix, on lent memory.
///
/// ```
/// use dpp_nystrom_core::{Error, Landmarks, Matrix, Workspace};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0])?; // rows 0 and 2 agree
/// let mut memory = Workspace::<f64, 2>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// landmarks.push(0)?;
/// assert_eq!(landmarks.push(2), Err(Error::NotPositive { pivot: 1 }));
/// landmarks.push(1)?;
/// assert_eq!(landmarks.members(), [0, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Landmarks<'a, T, G: ?Sized> {
    ground: &'a G,
    factor: Cholesky<'a, T>,
    members: &'a mut [usize],
}

impl<'a, T: Scalar, G: TryGroundSet<T> + ?Sized> Landmarks<'a, T, G> {
    /// Create an empty set. Its capacity is the length of `memory.factor.column`.
    ///
    /// # Errors
    /// [`Error::Capacity`] when another slice is too short for that capacity, [`Error::Empty`] for a ground
    /// set without rows, [`Error::TooManyRows`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Matrix, Workspace};
    ///
    /// let matrix = Matrix::new(&[2.0_f32, 1.0, 1.0, 2.0])?;
    /// let mut memory = Workspace::<f32, 2>::new();
    /// let landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// assert!(landmarks.is_empty() && landmarks.factor().capacity() == 2);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn new(ground: &'a G, memory: Memory<'a, T>) -> Result<Self, Error> {
        check_rows(ground)?;
        let factor = Cholesky::new(memory.factor)?;
        check_capacity(factor.capacity(), memory.landmarks.len())?;
        Ok(Self { ground, factor, members: memory.landmarks })
    }

    /// Create the set from its factor.
    pub(crate) fn assemble(ground: &'a G, factor: Cholesky<'a, T>, members: &'a mut [usize]) -> Self {
        Self { ground, factor, members }
    }

    /// Take over the `count` landmarks and their factor that `memory` still holds.
    ///
    /// # Errors
    /// [`Error::ForeignState`] when the memory holds no factor of these rows of this ground set,
    /// [`Error::Capacity`], [`Error::Read`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Landmarks, Matrix, Workspace};
    ///
    /// let (matrix, other) = (Matrix::new(&[4.0, 1.0, 1.0, 4.0])?, Matrix::new(&[9.0, 1.0, 1.0, 9.0])?);
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(1)?;
    ///
    /// assert_eq!(Landmarks::resume(&matrix, 1, memory.lend())?.members(), [1]);
    /// assert_eq!(Landmarks::resume(&other, 1, memory.lend()).err(), Some(Error::ForeignState));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn resume(ground: &'a G, count: usize, memory: Memory<'a, T>) -> Result<Self, Error> {
        check_rows(ground)?;
        let factor = Cholesky::resume(memory.factor, count)?;
        check_capacity(factor.capacity(), memory.landmarks.len())?;
        let landmarks = Self { ground, factor, members: memory.landmarks };
        let members = landmarks.members();
        for (place, &member) in members.iter().enumerate() {
            let repeated = members.iter().take(place).any(|&other| other == member);
            // The ground set is asked for rows that it has.
            if repeated || member >= ground.len() || !is_factored(ground, members, &landmarks.factor, place)?
            {
                return Err(Error::ForeignState);
            }
        }
        Ok(landmarks)
    }

    /// Return the rows that are landmarks, in the factor's order.
    pub fn members(&self) -> &[usize] {
        prefix(self.members, self.len())
    }

    /// Return the number of landmarks.
    pub fn len(&self) -> usize {
        self.factor.order()
    }

    /// Whether there are no landmarks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the ground set.
    pub fn ground(&self) -> &'a G {
        self.ground
    }

    /// Return the Cholesky factor of `K_YY`.
    pub fn factor(&self) -> &Cholesky<'a, T> {
        &self.factor
    }

    /// Return `log det K_YY`.
    pub fn log_det(&self) -> T {
        self.factor.log_det()
    }

    /// Whether this row is a landmark. `O(c)`.
    pub fn contains(&self, index: usize) -> bool {
        self.members().contains(&index)
    }

    /// Append a row as the last landmark. `c` kernel entries and `c²/2` multiply-adds.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Duplicate`], [`Error::Capacity`], [`Error::NotFinite`],
    /// [`Error::Read`], and [`Error::NotPositive`] when the row depends on the landmarks, for example as a
    /// copy of one.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Landmarks, Matrix, Workspace};
    ///
    /// let matrix = Matrix::new(&[4.0, 2.0, 2.0, 5.0])?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(0)?;
    /// landmarks.push(1)?;
    /// assert!(landmarks.contains(1) && landmarks.len() == 2);
    /// assert!((landmarks.log_det() - 16.0_f64.ln()).abs() < 1e-15);
    /// assert_eq!(landmarks.push(1), Err(Error::Duplicate { index: 1 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn push(&mut self, index: usize) -> Result<(), Error> {
        self.check_outside(index)?;
        check_capacity(self.len() + 1, self.factor.capacity())?;
        let diagonal = self.load(index)?;
        let place = self.len();
        let slot = self.members.get_mut(place).known()?;
        self.factor.append_loaded(diagonal)?;
        *slot = index;
        Ok(())
    }

    /// Remove the landmarks from the `len`-th on. Exact.
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Matrix, Workspace};
    ///
    /// let matrix = Matrix::new(&[4.0, 2.0, 2.0, 5.0])?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(1)?;
    /// landmarks.push(0)?;
    /// landmarks.truncate(1);
    /// assert_eq!(landmarks.members(), [1]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn truncate(&mut self, len: usize) {
        self.factor.truncate(len);
    }

    /// Compute how exchanging the landmark at `slot` for the row `entering` changes the determinant, without
    /// doing it. `c` kernel entries and `O(c²)`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Duplicate`] when `entering` is a landmark,
    /// [`Error::NotFinite`], [`Error::Read`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Matrix, Workspace};
    ///
    /// let matrix = Matrix::new(&[2.0, 0.0, 1.0, 0.0, 4.0, 0.0, 1.0, 0.0, 3.0])?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(0)?;
    /// landmarks.push(1)?; // determinant 8
    /// let swap = landmarks.swap(0, 2)?; // {1, 2} has determinant 12
    /// assert!((swap.ratio() - 1.5).abs() < 1e-15);
    /// assert_eq!(landmarks.members(), [0, 1]); // not carried out
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn swap(&mut self, slot: usize, entering: usize) -> Result<Swap<T>, Error> {
        if slot >= self.len() {
            return Err(Error::OutOfRange { index: slot, len: self.len() });
        }
        self.check_outside(entering)?;
        let diagonal = self.load(entering)?;
        self.factor.propose(slot, diagonal)
    }

    /// Exchange the landmark at `slot` for the row `entering`, which takes the last slot.
    ///
    /// # Errors
    /// Those of [`swap`](Self::swap), and [`Error::NotPositive`] when the row depends on the
    /// landmarks that remain.
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Matrix, Workspace};
    ///
    /// let matrix = Matrix::new(&[2.0, 0.0, 1.0, 0.0, 4.0, 0.0, 1.0, 0.0, 3.0])?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(0)?;
    /// landmarks.push(1)?;
    /// landmarks.replace(0, 2)?;
    /// assert_eq!(landmarks.members(), [1, 2]);
    /// assert!((landmarks.log_det() - 12.0_f64.ln()).abs() < 1e-15);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn replace(&mut self, slot: usize, entering: usize) -> Result<Swap<T>, Error> {
        let swap = self.swap(slot, entering)?;
        if !(swap.entering > T::ZERO) {
            return Err(Error::NotPositive { pivot: self.len() - 1 });
        }
        self.commit(slot, entering, swap)?;
        Ok(swap)
    }

    /// Carry out the swap that was just computed. Return the landmark that left.
    pub(crate) fn commit(&mut self, slot: usize, entering: usize, swap: Swap<T>) -> Result<usize, Error> {
        let moved = self.members.get_mut(slot..self.factor.order()).known()?;
        self.factor.commit(slot, swap)?;
        move_first_to_last(moved);
        Ok(replace(moved.last_mut().known()?, entering))
    }

    /// Move the landmark at `slot` to the last slot; those after it move down by one.
    pub(crate) fn move_to_last(&mut self, slot: usize) -> Result<(), Error> {
        let moved = self.members.get_mut(slot..self.factor.order()).known()?;
        self.factor.move_to_last(slot)?;
        move_first_to_last(moved);
        Ok(())
    }

    /// Replace the last landmark by a row whose substitution against the others is in the working column.
    pub(crate) fn overwrite_last(&mut self, entering: usize, residual: T) -> Result<(), Error> {
        let last = self.members.get_mut(..self.factor.order()).and_then(<[usize]>::last_mut).known()?;
        self.factor.overwrite_last(residual)?;
        *last = entering;
        Ok(())
    }

    /// Return the ground set, the landmarks and their factor, to work on.
    pub(crate) fn parts_mut(&mut self) -> (&'a G, &[usize], &mut Cholesky<'a, T>) {
        (self.ground, prefix(self.members, self.factor.order()), &mut self.factor)
    }

    /// Return the `rank`-th row, from 0, that is not a landmark.
    pub(crate) fn outside(&self, rank: usize) -> usize {
        let mut index = rank;
        loop {
            // The least fixed point: the index exceeds `rank` by the number of landmarks at or below it.
            let below = self.members().iter().filter(|&&member| member <= index).count();
            if rank + below == index {
                return index;
            }
            index = rank + below;
        }
    }

    /// Factor `K_YY` from scratch, which removes the rounding error of many swaps.
    ///
    /// # Errors
    /// [`Error::NotPositive`], [`Error::NotFinite`] or [`Error::Read`]; the factor is unchanged.
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Points, Workspace, kernel::Gaussian};
    ///
    /// let rows = [0.0, 0.3, 0.7, 1.2];
    /// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    /// landmarks.push(0)?;
    /// landmarks.push(3)?;
    /// let before = landmarks.log_det();
    /// for (slot, entering) in [(0, 1), (1, 2), (1, 0)] {
    ///     landmarks.replace(slot, entering)?;
    /// }
    /// landmarks.refactor()?;
    /// assert!((landmarks.log_det() - before).abs() < 1e-14); // the same pair as at first
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn refactor(&mut self) -> Result<(), Error> {
        let (ground, members) = (self.ground, &*self.members);
        self.factor.try_refactor(|i, j| {
            let (i, j) = (*members.get(i).known()?, *members.get(j).known()?);
            Ok(if i == j { ground.try_diagonal(i) } else { ground.try_entry(i, j) }?)
        })
    }

    fn check_outside(&self, index: usize) -> Result<(), Error> {
        if index >= self.ground.len() {
            Err(Error::OutOfRange { index, len: self.ground.len() })
        } else if self.contains(index) {
            Err(Error::Duplicate { index })
        } else {
            Ok(())
        }
    }

    /// Write the row's entries with all landmarks into the factor's working column. Return its diagonal
    /// entry.
    fn load(&mut self, index: usize) -> Result<T, Error> {
        let members = prefix(self.members, self.factor.order());
        let column = self.factor.column_mut()?;
        self.ground.try_column(index, members, column)?;
        let diagonal = self.ground.try_diagonal(index)?;
        if let Some(at) = column.iter().position(|entry| !entry.is_finite()) {
            return Err(Error::NotFinite { row: index, column: *members.get(at).known()? });
        }
        if !diagonal.is_finite() {
            return Err(Error::NotFinite { row: index, column: index });
        }
        Ok(diagonal)
    }
}

/// Whether `(L Lᵀ)_ij = k(i, j)` for the `i`-th member and `j <= i`, up to the rounding of a long chain.
/// Under a kernel with a constant diagonal, the diagonal alone identifies nothing.
pub(crate) fn is_factored<T: Scalar, G: TryGroundSet<T> + ?Sized>(
    ground: &G,
    members: &[usize],
    factor: &Cholesky<'_, T>,
    place: usize,
) -> Result<bool, Error> {
    let Some(&member) = members.get(place) else { return Ok(false) };
    let row = factor.row(place);
    let diagonal = ground.try_diagonal(member)?;
    let unit = T::from_count(16 * (factor.order() + 1)) * T::EPSILON;
    for (at, &other) in members.iter().take(place + 1).enumerate() {
        let (expected, scale) = if at == place {
            (diagonal, diagonal)
        } else {
            let product = diagonal * ground.try_diagonal(other)?;
            (ground.try_entry(member, other)?, product.sqrt())
        };
        // Written so that NaN fails it.
        if !((dot(row, factor.row(at)) - expected).abs() <= unit * scale) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Move the first element to the end. A plain loop: `rotate_left` asserts that the slice is not empty, and at
/// some optimisation levels that panic is linked.
fn move_first_to_last(slots: &mut [usize]) {
    let Some(mut carried) = slots.first().copied() else { return };
    for slot in slots.iter_mut().rev() {
        carried = replace(slot, carried);
    }
}

fn check_rows<T: Scalar, G: TryGroundSet<T> + ?Sized>(ground: &G) -> Result<(), Error> {
    if ground.is_empty() {
        Err(Error::Empty)
    } else if u32::try_from(ground.len()).is_err() {
        Err(Error::TooManyRows)
    } else {
        Ok(())
    }
}
