//! The kernel of rows that have a quality, given rows that are selected in any case.

use crate::error::{Error, check_length};
use crate::linalg::dot;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Nystrom, start};
use dpp_nystrom_host::heap::{Heap, zeros};
use dpp_nystrom_host::simd::lane::{Ground, InLanes, Lane};
use pulp::Simd;
use rayon::prelude::*;
use std::fmt;

/// `q_i q_j (k(i, j) - φ_i·φ_j)`, with φ the Nyström features from included rows.
///
/// This is the Schur complement of the included rows A in `L = diag(q) K diag(q)`, up to constants. So its
/// `(c - |A|)`-DPP is the c-DPP of L given that it contains A (Kulesza and Taskar 2012, section 2.4): the
/// determinant of a set C is `det L_{A∪C} / det L_A`. The included rows, and rows of quality zero, are zero.
///
/// ```
/// use dpp_nystrom::approximation::Conditional;
/// use dpp_nystrom::core::{GroundSet, Matrix};
///
/// let matrix = Matrix::new(&[4.0, 2.0, 0.0, 2.0, 4.0, 2.0, 0.0, 2.0, 4.0])?;
/// let given = Conditional::new(&matrix, &[1.0, 3.0, 0.5], &[0])?;
/// assert_eq!(given.diagonal(0), 0.0); // row 0 is included
/// assert_eq!((given.diagonal(1), given.entry(1, 2)), (27.0, 3.0)); // 9 (4 - 1), 3/2 · 2
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub struct Conditional<'g, G: ?Sized> {
    ground: &'g G,
    /// How many numbers a row has here: its quality and its features.
    width: usize,
    numbers: Vec<f64>,
    diagonals: Vec<f64>,
    gains: Vec<f64>,
}

impl<'g, G: GroundSet<f64> + Sync> Conditional<'g, G> {
    /// Give each row a quality, and include some. `N a²/2` multiply-adds and `N (a + 2)` numbers for a
    /// included rows; a multiply-adds for each entry that is read.
    ///
    /// # Errors
    /// `ErrorKind::Argument` unless there is a quality for each row, each finite and not negative;
    /// `ErrorKind::Landmarks` for included rows that depend on each other, are listed twice or do not exist;
    /// `ErrorKind::Memory`.
    pub fn new(ground: &'g G, quality: &[f64], included: &[usize]) -> Result<Self, Error> {
        check_length("qualities", ground.len(), quality.len())?;
        check_quality(quality)?;
        let width = 1 + included.len();
        let mut numbers = zeros(ground.len().saturating_mul(width), 0.0)?;
        for (numbers, &quality) in numbers.chunks_exact_mut(width).zip(quality) {
            numbers[0] = quality;
        }
        let mut gains = Vec::new();
        if !included.is_empty() {
            let mut memory = Heap::new(included.len())?;
            let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(Error::landmarks)?;
            start::given(&mut landmarks, included).map_err(Error::landmarks)?;
            let nystrom = Nystrom::new(&landmarks);
            let features = numbers.par_chunks_exact_mut(width).enumerate().map(|(row, numbers)| {
                ground.column(row, landmarks.members(), &mut numbers[1..]);
                nystrom.features_at(row, &mut numbers[1..])
            });
            features.collect::<Result<(), _>>().map_err(Error::landmarks)?;
            let pivots =
                (0..included.len()).map(|k| landmarks.factor().pivot(k) * landmarks.factor().pivot(k));
            gains.extend(included.iter().zip(pivots).map(|(&row, gain)| quality[row] * quality[row] * gain));
        }
        let mut diagonals = zeros(ground.len(), 0.0)?;
        for (row, (diagonal, own)) in diagonals.iter_mut().zip(numbers.chunks_exact(width)).enumerate() {
            let whole = ground.diagonal(row);
            let residual = whole - dot(&own[1..], &own[1..]);
            // A residual at the level of rounding counts as zero.
            let floor = if width > 1 { (width + 1) as f64 * f64::EPSILON * whole } else { 0.0 };
            *diagonal = if residual <= floor { 0.0 } else { own[0] * own[0] * residual };
        }
        included.iter().for_each(|&row| diagonals[row] = 0.0);
        Ok(Self { ground, width, numbers, diagonals, gains })
    }

    /// Return the pivots of the included rows in L, in their order: what each adds to the determinant.
    pub fn gains(&self) -> &[f64] {
        &self.gains
    }
}

impl<G: ?Sized> Conditional<'_, G> {
    /// Return the quality of a row, and its features.
    #[inline(always)]
    fn own(&self, row: usize) -> &[f64] {
        &self.numbers[row * self.width..(row + 1) * self.width]
    }

    pub(crate) fn ground(&self) -> &G {
        self.ground
    }
}

impl<G> fmt::Debug for Conditional<'_, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Conditional({} rows, {} included)", self.diagonals.len(), self.width - 1)
    }
}

impl<G: GroundSet<f64>> GroundSet<f64> for Conditional<'_, G> {
    fn len(&self) -> usize {
        self.diagonals.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        if i == j {
            return self.diagonals[i];
        }
        let (one, other) = (self.own(i), self.own(j));
        one[0] * other[0] * (self.ground.entry(i, j) - dot(&one[1..], &other[1..]))
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.diagonals[i]
    }
}

#[doc(hidden)]
impl InLanes<f64> for Conditional<'_, Ground<'_, f64>> {
    /// Its number and its features.
    type Row<'r>
        = (usize, &'r [f64])
    where
        Self: 'r;

    fn width(&self) -> usize {
        self.ground.width() + self.width
    }

    #[inline(always)]
    fn row_of(&self, i: usize) -> (usize, &[f64]) {
        (i, self.ground.row(i))
    }

    fn put<'s>(&self, i: usize, mut slots: impl Iterator<Item = &'s mut f64>) {
        self.ground.put(i, slots.by_ref().take(self.ground.width()));
        slots.zip(self.own(i)).for_each(|(slot, &number)| *slot = number);
    }

    #[inline(always)]
    fn entries<S: Simd, const R: usize>(
        &self,
        simd: S,
        rows: [(usize, &[f64]); R],
        numbers: &[S::f64s],
        stride: usize,
    ) -> [S::f64s; R] {
        let width = self.ground.width();
        // As far as the last number of the ground set's.
        let of_ground = &numbers[..(width - 1) * stride + 1];
        let mut entries = self.ground.entries(simd, rows.map(|row| row.1), of_ground, stride);
        let numbers = &numbers[width * stride..];
        for (entry, (row, _)) in entries.iter_mut().zip(rows) {
            let own = self.own(row);
            for (k, &feature) in own.iter().enumerate().skip(1) {
                let negative = <f64 as Lane>::splat(simd, -feature);
                *entry = <f64 as Lane>::mul_add(simd, numbers[k * stride], negative, *entry);
            }
            let quality = <f64 as Lane>::product(simd, <f64 as Lane>::splat(simd, own[0]), numbers[0]);
            *entry = <f64 as Lane>::product(simd, *entry, quality);
        }
        entries
    }
}

/// Check that each quality is finite and not negative.
pub(crate) fn check_quality(quality: &[f64]) -> Result<(), Error> {
    // Written so that NaN fails it.
    match quality.iter().position(|quality| !(*quality >= 0.0 && quality.is_finite())) {
        Some(row) => Err(CoreError::Quality { row }.into()),
        None => Ok(()),
    }
}
