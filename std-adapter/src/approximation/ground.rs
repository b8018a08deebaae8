//! The rows that landmarks are selected among: under a kernel of this crate, or any others.

use crate::approximation::conditional::Conditional;
use crate::error::Error;
use dpp_nystrom_core::{GroundSet, Points, Random, kernel::ChosenKernel};
use dpp_nystrom_host::{simd::InLanes, simd::indexed::Indexed, simd::sample::Sample};
use pulp::{Arch, Simd};
use std::fmt;

/// Rows of features under a kernel of this crate, in `f64`.
///
/// ```
/// use dpp_nystrom::approximation::{Ground, trace_error_of_points};
/// use dpp_nystrom::kernel::{KernelKind, KernelSpec};
///
/// let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
/// let ground = Ground::new(&[0.0, 1.0, 2.0], 1, kernel.build()?)?;
/// assert!(trace_error_of_points(&ground, &[0.0, 1.0, 2.0])?.error < 1e-12); // all rows as points
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub type Ground<'a> = Points<'a, f64, ChosenKernel<f64>>;

/// Any ground set in `f64`.
///
/// ```
/// use dpp_nystrom::approximation::AnyGround;
/// use dpp_nystrom::core::{GroundSet, Matrix};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 1.0, 2.0])?;
/// let ground = AnyGround::Entries(&matrix);
/// assert_eq!((ground.len(), ground.entry(0, 1)), (2, 1.0));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy)]
pub enum AnyGround<'a> {
    /// Rows of features under a kernel of this crate, which is evaluated in lanes.
    Points(Ground<'a>),
    /// Rows of which only entries of the kernel matrix are known, as of a user-defined kernel.
    Entries(&'a (dyn GroundSet<f64> + Sync)),
    /// Rows of features with a quality, or given others, which are evaluated in lanes too.
    Conditional(&'a Conditional<'a, Ground<'a>>),
}

impl AnyGround<'_> {
    /// Run `work` on some of the rows, in the order given.
    pub(crate) fn on_rows<A>(
        &self,
        rows: &[usize],
        work: impl FnOnce(&AnyGround<'_>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        match self {
            Self::Points(points) => {
                let features = rows.iter().flat_map(|&row| points.row(row)).copied().collect::<Vec<_>>();
                work(&AnyGround::Points(Points::new(&features, points.features(), *points.kernel())?))
            }
            Self::Entries(ground) => work(&AnyGround::Entries(&Sample { ground: *ground, rows })),
            Self::Conditional(ground) => work(&AnyGround::Entries(&Sample { ground: *ground, rows })),
        }
    }
}

impl fmt::Debug for AnyGround<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Points(points) => f.debug_tuple("Points").field(points).finish(),
            Self::Entries(ground) => write!(f, "Entries({} rows)", ground.len()),
            Self::Conditional(ground) => ground.fmt(f),
        }
    }
}

impl GroundSet<f64> for AnyGround<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Entries(ground) => ground.len(),
            Self::Conditional(ground) => ground.len(),
        }
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Points(points) => points.entry(i, j),
            Self::Entries(ground) => ground.entry(i, j),
            Self::Conditional(ground) => ground.entry(i, j),
        }
    }

    fn diagonal(&self, i: usize) -> f64 {
        match self {
            Self::Points(points) => points.diagonal(i),
            Self::Entries(ground) => ground.diagonal(i),
            Self::Conditional(ground) => ground.diagonal(i),
        }
    }

    fn column(&self, i: usize, members: &[usize], out: &mut [f64]) {
        match self {
            Self::Points(points) => points.column(i, members, out),
            Self::Entries(ground) => ground.column(i, members, out),
            Self::Conditional(ground) => ground.column(i, members, out),
        }
    }

    fn squared_distance(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Points(points) => points.squared_distance(i, j),
            Self::Entries(ground) => ground.squared_distance(i, j),
            Self::Conditional(ground) => ground.squared_distance(i, j),
        }
    }
}

#[doc(hidden)]
impl InLanes<f64> for AnyGround<'_> {
    /// Its number and its features.
    type Row<'r>
        = (usize, &'r [f64])
    where
        Self: 'r;

    fn width(&self) -> usize {
        match self {
            Self::Points(points) => points.width(),
            Self::Entries(ground) => Indexed(*ground).width(),
            Self::Conditional(ground) => ground.width(),
        }
    }

    #[inline(always)]
    fn row_of(&self, i: usize) -> (usize, &[f64]) {
        match self {
            Self::Points(points) => (i, points.row(i)),
            Self::Entries(_) => (i, &[]),
            Self::Conditional(ground) => (i, ground.ground().row(i)),
        }
    }

    fn put<'s>(&self, i: usize, slots: impl Iterator<Item = &'s mut f64>) {
        match self {
            Self::Points(points) => points.put(i, slots),
            Self::Entries(ground) => Indexed(*ground).put(i, slots),
            Self::Conditional(ground) => ground.put(i, slots),
        }
    }

    #[inline(always)]
    fn entries<S: Simd, const R: usize>(
        &self,
        simd: S,
        rows: [(usize, &[f64]); R],
        numbers: &[S::f64s],
        stride: usize,
    ) -> [S::f64s; R] {
        match self {
            Self::Points(points) => points.entries(simd, rows.map(|row| row.1), numbers, stride),
            Self::Entries(ground) => Indexed(*ground).entries(simd, rows.map(|row| row.0), numbers, stride),
            Self::Conditional(ground) => ground.entries(simd, rows, numbers, stride),
        }
    }

    fn runs(&self, arch: Arch, rows: &[usize], count: usize, values: &[f64], runs: &mut [f64]) {
        match self {
            Self::Points(points) => points.runs(arch, rows, count, values, runs),
            Self::Entries(ground) => Indexed(*ground).runs(arch, rows, count, values, runs),
            Self::Conditional(ground) => ground.runs(arch, rows, count, values, runs),
        }
    }

    fn seeds(
        &self,
        rows: &[usize],
        c: usize,
        random: &mut Random,
    ) -> Result<Vec<usize>, dpp_nystrom_host::Error> {
        match self {
            Self::Points(points) => points.seeds(rows, c, random),
            Self::Entries(ground) => Indexed(*ground).seeds(rows, c, random),
            Self::Conditional(ground) => ground.seeds(rows, c, random),
        }
    }
}
