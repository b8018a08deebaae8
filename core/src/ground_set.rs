//! The ground set: `n` items, which the algorithms see only through the entries of a positive semidefinite
//! matrix.

use crate::error::{Error, ReadError};
use crate::kernel::{Kernel, UNROLLED, squared_distance};
use crate::memory::check_length;
use crate::scalar::Scalar;

/// A positive semidefinite matrix of `len` rows, read entry by entry.
///
/// Implement it for rows that can always be read, and [`TryGroundSet`] for rows behind a bus. Callers keep
/// indices below [`len`](Self::len).
///
/// ```
/// use dpp_nystrom_core::GroundSet;
///
/// /// Brownian motion at the times 1, 2, … 1000: nothing is stored.
/// struct Brownian;
///
/// impl GroundSet<f32> for Brownian {
///     fn len(&self) -> usize {
///         1_000
///     }
///     fn entry(&self, i: usize, j: usize) -> f32 {
///         (i.min(j) + 1) as f32
///     }
/// }
/// assert_eq!(Brownian.diagonal(4), 5.0);
/// ```
pub trait GroundSet<T: Scalar> {
    /// Return the number of rows `n`.
    fn len(&self) -> usize;

    /// Return `k(i, j)`, which equals `k(j, i)`.
    fn entry(&self, i: usize, j: usize) -> T;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return `k(i, i)`.
    fn diagonal(&self, i: usize) -> T {
        self.entry(i, i)
    }

    /// Write `out[a] = k(members[a], i)`. Implement it where row `i` is expensive to read, to read it once.
    fn column(&self, i: usize, members: &[usize], out: &mut [T]) {
        for (out, &member) in out.iter_mut().zip(members) {
            *out = self.entry(member, i);
        }
    }

    /// Return the squared distance for [`crate::start::kmeans_plus_plus`]: by default the distance in the
    /// kernel's feature space, `k(i, i) + k(j, j) - 2 k(i, j)`.
    fn squared_distance(&self, i: usize, j: usize) -> T {
        let entry = self.entry(i, j);
        self.diagonal(i) + self.diagonal(j) - (entry + entry)
    }
}

/// A [`GroundSet`] whose rows may fail to be read, for example from external flash.
///
/// Every algorithm takes either of the two, since each `GroundSet` is a `TryGroundSet` too. When a read
/// fails, the algorithm stops with [`Error::Read`], and its documentation says in which state. It does not
/// repeat the read: a ground set that may succeed at a second attempt makes that attempt itself.
///
/// ```
/// use dpp_nystrom_core::{Error, Landmarks, ReadError, TryGroundSet, Workspace};
///
/// /// Brownian motion at the times 1, 2, … 1000, on a bus where the last 500 rows do not answer.
/// struct Brownian;
///
/// impl TryGroundSet<f32> for Brownian {
///     fn len(&self) -> usize {
///         1_000
///     }
///     fn try_entry(&self, i: usize, j: usize) -> Result<f32, ReadError> {
///         if i.max(j) < 500 { Ok((i.min(j) + 1) as f32) } else { Err(ReadError { row: i.max(j), code: 5 }) }
///     }
/// }
///
/// let mut memory = Workspace::<f32, 2>::new();
/// let mut landmarks = Landmarks::new(&Brownian, memory.lend())?;
/// landmarks.push(3)?;
/// assert_eq!(landmarks.push(700), Err(Error::Read { row: 700, code: 5 }));
/// assert_eq!(landmarks.members(), [3]);
/// # Ok::<(), Error>(())
/// ```
pub trait TryGroundSet<T: Scalar> {
    /// Return the number of rows `n`.
    fn len(&self) -> usize;

    /// Return `k(i, j)`, which equals `k(j, i)`.
    ///
    /// # Errors
    /// A read that failed.
    fn try_entry(&self, i: usize, j: usize) -> Result<T, ReadError>;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return `k(i, i)`.
    ///
    /// # Errors
    /// A read that failed.
    fn try_diagonal(&self, i: usize) -> Result<T, ReadError> {
        self.try_entry(i, i)
    }

    /// Write `out[a] = k(members[a], i)`; `out` is as long as `members`. Implement it where row `i` is
    /// expensive to read, to read it once. After an error `out` may hold anything.
    ///
    /// # Errors
    /// A read that failed.
    fn try_column(&self, i: usize, members: &[usize], out: &mut [T]) -> Result<(), ReadError> {
        for (out, &member) in out.iter_mut().zip(members) {
            *out = self.try_entry(member, i)?;
        }
        Ok(())
    }

    /// Return the squared distance of [`GroundSet::squared_distance`].
    ///
    /// # Errors
    /// A read that failed.
    fn try_squared_distance(&self, i: usize, j: usize) -> Result<T, ReadError> {
        let entry = self.try_entry(i, j)?;
        Ok(self.try_diagonal(i)? + self.try_diagonal(j)? - (entry + entry))
    }
}

impl<T: Scalar, G: GroundSet<T> + ?Sized> TryGroundSet<T> for G {
    #[inline(always)]
    fn len(&self) -> usize {
        GroundSet::len(self)
    }

    #[inline(always)]
    fn try_entry(&self, i: usize, j: usize) -> Result<T, ReadError> {
        Ok(self.entry(i, j))
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        GroundSet::is_empty(self)
    }

    #[inline(always)]
    fn try_diagonal(&self, i: usize) -> Result<T, ReadError> {
        Ok(self.diagonal(i))
    }

    #[inline(always)]
    fn try_column(&self, i: usize, members: &[usize], out: &mut [T]) -> Result<(), ReadError> {
        self.column(i, members, out);
        Ok(())
    }

    #[inline(always)]
    fn try_squared_distance(&self, i: usize, j: usize) -> Result<T, ReadError> {
        Ok(self.squared_distance(i, j))
    }
}

/// Rows of features under a kernel.
///
/// As a [`GroundSet`] it returns NaN for a row past the end, which the algorithms refuse.
///
/// ```
/// use dpp_nystrom_core::{GroundSet, Points, kernel::Gaussian};
///
/// let readings = [20.0, 1.0, 21.0, 1.0, 20.0, 3.0]; // three rows of two features
/// let points = Points::new(&readings, 2, Gaussian::new(1.0)?)?;
/// assert_eq!((points.len(), points.features(), points.row(2)), (3, 2, &[20.0, 3.0][..]));
/// assert!((points.entry(0, 2) - (-2.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Points<'a, T, K> {
    rows: &'a [T],
    dim: usize,
    len: usize,
    kernel: K,
}

impl<'a, T: Scalar, K: Kernel<T>> Points<'a, T, K> {
    /// Create the set of the rows of `dim` features that follow one another in `rows`. Reads each once.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Length`] unless `rows` divides into whole rows, and
    /// [`Error::NotFinite`] with the row and the feature.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Points, kernel::Linear};
    ///
    /// assert!(Points::new(&[1.0, 2.0, 3.0, 4.0], 2, Linear).is_ok());
    /// let short = Points::new(&[1.0, 2.0, 3.0], 2, Linear);
    /// assert_eq!(short.unwrap_err(), Error::Length { expected: 4, found: 3 });
    /// ```
    pub fn new(rows: &'a [T], dim: usize, kernel: K) -> Result<Self, Error> {
        let points = Self::assumed_finite(rows, dim, kernel)?;
        if let Some(at) = rows.iter().position(|value| !value.is_finite()) {
            let row = at.checked_div(dim).unwrap_or(0);
            return Err(Error::NotFinite { row, column: at - row * dim });
        }
        Ok(points)
    }

    /// [`new`](Self::new) without reading the rows, for example for a mapped file. A number that is not
    /// finite makes kernel entries that are not, and an algorithm that reads one returns an error.
    ///
    /// # Errors
    /// [`Error::Empty`], and [`Error::Length`] unless `rows` divides into whole rows.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Landmarks, Points, Workspace, kernel::Gaussian};
    ///
    /// let mapped = [0.5_f32, f32::NAN];
    /// let points = Points::assumed_finite(&mapped, 1, Gaussian::new(1.0)?)?;
    /// let mut memory = Workspace::<f32, 2>::new();
    /// let mut landmarks = Landmarks::new(&points, memory.lend())?;
    /// landmarks.push(0)?;
    /// assert_eq!(landmarks.push(1), Err(Error::NotFinite { row: 1, column: 0 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn assumed_finite(rows: &'a [T], dim: usize, kernel: K) -> Result<Self, Error> {
        if rows.is_empty() || dim == 0 {
            return Err(Error::Empty);
        }
        let len = rows.len().checked_div(dim).unwrap_or(0);
        if len * dim != rows.len() {
            return Err(Error::Length { expected: (len + 1) * dim, found: rows.len() });
        }
        Ok(Self { rows, dim, len, kernel })
    }

    /// Create the set of `len` rows that were checked before.
    pub(crate) fn trusted(rows: &'a [T], dim: usize, len: usize, kernel: K) -> Self {
        Self { rows, dim, len, kernel }
    }

    /// Return row `i`, or an empty slice past the end.
    #[inline]
    pub fn row(&self, i: usize) -> &'a [T] {
        let start = i.saturating_mul(self.dim);
        self.rows.get(start..start.saturating_add(self.dim)).unwrap_or_default()
    }

    /// Return the number of features `d`.
    pub fn features(&self) -> usize {
        self.dim
    }

    /// Return the kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Write `out[a] = k(members[a], x)` for any point `x`, a row of this set or not.
    ///
    /// # Errors
    /// [`Error::Length`] unless `x` has the rows' number of features and `out` an element for each of
    /// `members`, and [`Error::OutOfRange`] for a member past the end: the elements of `out` for such members
    /// are then NaN.
    ///
    /// ```
    /// use dpp_nystrom_core::{Points, kernel::Linear};
    ///
    /// let rows = [1.0, 0.0, 0.0, 1.0, 2.0, 3.0];
    /// let points = Points::new(&rows, 2, Linear)?;
    /// let mut column = [0.0; 2];
    /// points.column_at(&[5.0, 7.0], &[2, 0], &mut column)?;
    /// assert_eq!(column, [31.0, 5.0]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn column_at(&self, x: &[T], members: &[usize], out: &mut [T]) -> Result<(), Error> {
        check_length(self.dim, x.len())?;
        check_length(members.len(), out.len())?;
        self.fill(x, members, out).map_or(Ok(()), |index| Err(Error::OutOfRange { index, len: self.len }))
    }

    /// [`column_at`](Self::column_at) for lengths that were checked. Return a member past the end, if there
    /// is one.
    fn fill(&self, x: &[T], members: &[usize], out: &mut [T]) -> Option<usize> {
        let mut missing = None;
        if let (Ok(&point), UNROLLED) = (<&[T; UNROLLED]>::try_from(x), self.dim) {
            let rows = self.rows.as_chunks::<UNROLLED>().0;
            for (out, &member) in out.iter_mut().zip(members) {
                *out = match rows.get(member) {
                    Some(row) => self.kernel.value(row, &point),
                    None => {
                        missing = Some(member);
                        T::NAN
                    }
                };
            }
        } else {
            for (out, &member) in out.iter_mut().zip(members) {
                let row = self.row(member);
                *out = if row.is_empty() {
                    missing = Some(member);
                    T::NAN
                } else {
                    self.kernel.value(row, x)
                };
            }
        }
        missing
    }
}

impl<T: Scalar, K: Kernel<T>> GroundSet<T> for Points<'_, T, K> {
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn entry(&self, i: usize, j: usize) -> T {
        if i.max(j) < self.len { self.kernel.value(self.row(i), self.row(j)) } else { T::NAN }
    }

    #[inline]
    fn diagonal(&self, i: usize) -> T {
        if i < self.len { self.kernel.diagonal(self.row(i)) } else { T::NAN }
    }

    fn column(&self, i: usize, members: &[usize], out: &mut [T]) {
        if i < self.len {
            self.fill(self.row(i), members, out);
        } else {
            out.fill(T::NAN);
        }
    }

    /// Return `‖x_i - x_j‖²`, in the space of the features.
    fn squared_distance(&self, i: usize, j: usize) -> T {
        if i.max(j) < self.len { squared_distance(self.row(i), self.row(j)) } else { T::NAN }
    }
}

/// A given symmetric, positive semidefinite matrix. Only its lower triangle is read, so that rounding in the
/// upper one does not break the symmetry. An entry past the end is NaN, which the algorithms refuse.
///
/// ```
/// use dpp_nystrom_core::{GroundSet, Matrix};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 1.0, 2.0])?;
/// assert_eq!((matrix.len(), matrix.entry(0, 1)), (2, 1.0));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Matrix<'a, T> {
    entries: &'a [T],
    len: usize,
}

impl<'a, T: Scalar> Matrix<'a, T> {
    /// Create the matrix from its rows, which follow one another in `entries`.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Length`] unless the number of entries is a square, and
    /// [`Error::NotFinite`] with row and column.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Matrix};
    ///
    /// assert!(Matrix::new(&[2.0, 1.0, 1.0, 2.0]).is_ok());
    /// assert_eq!(Matrix::new(&[2.0, 1.0, 1.0]).unwrap_err(), Error::Length { expected: 4, found: 3 });
    /// ```
    pub fn new(entries: &'a [T]) -> Result<Self, Error> {
        let len = entries.len().isqrt();
        if len == 0 {
            return Err(Error::Empty);
        }
        if len * len != entries.len() {
            return Err(Error::Length { expected: (len + 1) * (len + 1), found: entries.len() });
        }
        if let Some(at) = entries.iter().position(|value| !value.is_finite()) {
            let row = at.checked_div(len).unwrap_or(0);
            return Err(Error::NotFinite { row, column: at - row * len });
        }
        Ok(Self { entries, len })
    }
}

impl<T: Scalar> GroundSet<T> for Matrix<'_, T> {
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn entry(&self, i: usize, j: usize) -> T {
        let at = i.max(j).saturating_mul(self.len).saturating_add(i.min(j));
        self.entries.get(at).copied().unwrap_or(T::NAN)
    }
}

/// A ground set whose rows have a quality: `L = diag(q) K diag(q)`.
///
/// Its c-DPP selects rows that are good and diverse, `Pr(C) ∝ Π q_i² · det K_CC`: the decomposition of
/// Kulesza and Taskar (2012). A row of quality zero is never selected, which excludes it.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Landmarks, Points, Random, SlotChain, WithQuality, Workspace};
/// use dpp_nystrom_core::{kernel::Gaussian, start};
///
/// let readings = [20.0, 20.1, 21.0, 23.0, 23.1, 26.0];
/// let battery = [0.9, 0.2, 0.8, 0.0, 0.9, 0.7]; // the fourth sensor is off
/// let points = Points::new(&readings, 1, Gaussian::new(1.0)?)?;
/// let sensors = WithQuality::new(&points, &battery)?;
/// let (mut memory, mut random) = (Workspace::<f64, 3>::new(), Random::seeded(7));
/// let mut landmarks = Landmarks::new(&sensors, memory.lend())?;
/// start::uniform(&mut landmarks, 3, &mut random)?;
/// let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
/// chain.run(1_000, &mut random)?;
/// assert!(!chain.landmarks().contains(3));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WithQuality<'a, T, G: ?Sized> {
    ground: &'a G,
    quality: &'a [T],
}

impl<'a, T: Scalar, G: GroundSet<T> + ?Sized> WithQuality<'a, T, G> {
    /// Give each row of a ground set a quality: any unit, since only ratios matter to a c-DPP.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one quality for each row, and [`Error::Quality`] for one that is
    /// negative or not finite.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, GroundSet, Matrix, WithQuality};
    ///
    /// let matrix = Matrix::new(&[2.0, 1.0, 1.0, 2.0])?;
    /// assert_eq!(WithQuality::new(&matrix, &[1.0, -1.0]).unwrap_err(), Error::Quality { row: 1 });
    /// let ground = WithQuality::new(&matrix, &[0.5, 3.0])?;
    /// assert_eq!((ground.diagonal(1), ground.entry(0, 1)), (18.0, 1.5));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(ground: &'a G, quality: &'a [T]) -> Result<Self, Error> {
        check_length(ground.len(), quality.len())?;
        // Written so that NaN fails it.
        match quality.iter().position(|&quality| !(quality >= T::ZERO && quality.is_finite())) {
            Some(row) => Err(Error::Quality { row }),
            None => Ok(Self { ground, quality }),
        }
    }

    /// Return the quality of row `i`, or NaN past the end.
    pub fn quality(&self, i: usize) -> T {
        self.quality.get(i).copied().unwrap_or(T::NAN)
    }

    /// Return the ground set without the qualities.
    pub fn ground(&self) -> &'a G {
        self.ground
    }
}

impl<T: Scalar, G: GroundSet<T> + ?Sized> GroundSet<T> for WithQuality<'_, T, G> {
    fn len(&self) -> usize {
        self.quality.len()
    }

    fn entry(&self, i: usize, j: usize) -> T {
        self.ground.entry(i, j) * (self.quality(i) * self.quality(j))
    }

    fn diagonal(&self, i: usize) -> T {
        self.ground.diagonal(i) * (self.quality(i) * self.quality(i))
    }

    fn column(&self, i: usize, members: &[usize], out: &mut [T]) {
        self.ground.column(i, members, out);
        for (out, &member) in out.iter_mut().zip(members) {
            *out *= self.quality(member) * self.quality(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GroundSet, Matrix, Points};
    use crate::error::Error;
    use crate::kernel::{Gaussian, Linear};

    #[test]
    fn bad_rows_are_refused_with_their_place() {
        let refused = |rows: &[f64], dim| Points::new(rows, dim, Linear).unwrap_err();
        assert_eq!(refused(&[], 1), Error::Empty);
        assert_eq!(refused(&[1.0], 0), Error::Empty);
        assert_eq!(refused(&[1.0, 2.0, 3.0], 2), Error::Length { expected: 4, found: 3 });
        assert_eq!(refused(&[1.0, 2.0, 3.0, f64::NAN], 2), Error::NotFinite { row: 1, column: 1 });
        assert_eq!(refused(&[1.0, f64::INFINITY], 1), Error::NotFinite { row: 1, column: 0 });
    }

    #[test]
    fn bad_matrices_are_refused_with_their_place() {
        assert_eq!(Matrix::<f32>::new(&[]).unwrap_err(), Error::Empty);
        assert_eq!(Matrix::new(&[1.0; 6]).unwrap_err(), Error::Length { expected: 9, found: 6 });
        let matrix = [1.0, 0.0, f32::NAN, 1.0];
        assert_eq!(Matrix::new(&matrix).unwrap_err(), Error::NotFinite { row: 1, column: 0 });
    }

    #[test]
    fn a_column_is_its_entries() {
        let rows = [0.0, 0.0, 1.0, 2.0, -1.0, 0.5];
        let ground = Points::new(&rows, 2, Gaussian::new(1.5).unwrap()).unwrap();
        let mut column = [0.0; 3];
        ground.column(1, &[2, 0, 1], &mut column);
        assert_eq!(column, [ground.entry(2, 1), ground.entry(0, 1), 1.0]);
        assert_eq!(ground.squared_distance(0, 1), 5.0);
    }

    #[test]
    fn the_lower_triangle_of_a_matrix_counts() {
        let matrix = Matrix::new(&[2.0, 99.0, 1.0, 3.0]).unwrap();
        assert_eq!((matrix.entry(0, 1), matrix.entry(1, 0)), (1.0, 1.0));
        assert_eq!(matrix.squared_distance(0, 1), 3.0);
    }
}
