//! A merge that a minority of devices cannot move far: the geometric median of the devices' solutions.
//!
//! Each device's sums give a solution `β_d`. The merged `β` minimises `Σ_d n_d ‖R (β - β_d)‖`, where `RᵀR` is
//! that of all rows, so that distances are those of predictions on them, and `n_d` the rows that the device
//! counts for (Minsker 2015, *Geometric median and robust estimation in Banach spaces*; Pillutla, Kakade and
//! Harchaoui 2022, *Robust aggregation for federated learning*). While the others count for more than half,
//! no device moves it further than a multiple of the distances between their solutions, whatever it sends.
//! Found by Weiszfeld's iteration with distances kept from zero (the same, algorithm 2): a mean of the
//! solutions weighted by `n_d` over the distance. `2c³/3` operations for each device and `2c D` for each
//! step.
//!
//! A solution of few rows is poorer than its share in that of all rows, and a device without rows in a place
//! says 0 of it: that is the cost with honest devices, which `docs/trust.md` states.

use crate::error::{Cause, Error};
use crate::observer::{Observer, go_on};
use crate::regression::rows::triangle::Triangle;
use dpp_nystrom_core::{Error as CoreError, RidgeRegression, Scalar};
use faer::Mat;
use rayon::prelude::*;

/// How the sums of devices become one model.
///
/// ```
/// use dpp_nystrom::regression::{Aggregate, Fleet};
/// use dpp_nystrom::{Ridge, observer::NoObserver};
/// # use dpp_nystrom::data::table::{self, Target};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("device.csv");
/// # let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// # let rows: Vec<String> = x.iter().zip(&y).map(|(x, y)| format!("{x},{y}\n")).collect();
/// # std::fs::write(&path, format!("x,y\n{}", rows.concat()))?;
/// # let table = table::read(&path, &Target::Last)?;
/// # let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// # let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
///
/// let fleet = Fleet::of(&model)?;
/// let device = fleet.accumulate(&table)?;
/// let devices = [device.clone(), device.clone(), device];
/// let fitted = fleet.merge(&devices, Ridge::Value(1e-6), Aggregate::Robust, &NoObserver)?;
/// assert!((fitted.model.predict(&[2.0])?[0] - 2.0_f64.sin()).abs() < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aggregate {
    /// The regression on the rows of all devices.
    #[default]
    Rows,
    /// The geometric median of the regressions of each device.
    Robust,
}

/// Steps at most, the change of the median that ends them, and the least distance, both relative to the
/// solutions' length.
const STEPS: usize = 500;
const CONVERGED: f64 = 1e-10;
const NEAREST: f64 = 1e-7;

/// Return the geometric median of the solutions of the parts, and its squared error on all rows.
///
/// # Errors
/// `ErrorKind::Regression` for no parts, a ridge that is not positive, or weights that are not finite;
/// `ErrorKind::Cancelled`.
pub(crate) fn geometric_median<T: Scalar>(
    parts: &[RidgeRegression<'_, T>],
    ridge: f64,
    observer: &dyn Observer,
) -> Result<(Vec<f64>, f64), Error> {
    let whole = Triangle::of_all(parts)?;
    observer.begin("devices", parts.len() as u64);
    let solve = |part: &RidgeRegression<'_, T>| {
        go_on(observer)?;
        let part = Triangle::of(part)?;
        let solved =
            part.solve(ridge).map(|(weights, _)| (part.rows(), whole.image(weights.as_ref()), weights));
        observer.advance(1);
        Ok(solved)
    };
    let with_rows: Vec<_> = parts.iter().filter(|part| part.rows() > 0).collect();
    let solved = with_rows.into_par_iter().map(solve).collect::<Result<Option<Vec<_>>, Error>>()?;
    observer.end();
    let solved = solved.filter(|solved| !solved.is_empty()).ok_or(Error::regression(CoreError::Ridge))?;
    let mean = |shares: &[f64], of: fn(&Solved) -> &Mat<f64>| {
        let total: f64 = shares.iter().sum();
        let mut sum = Mat::<f64>::zeros(of(&solved[0]).nrows(), 1);
        for (one, share) in solved.iter().zip(shares) {
            sum += faer::Scale(share / total) * of(one);
        }
        sum
    };
    let mut shares: Vec<f64> = solved.iter().map(|one| one.0).collect();
    let length = solved.iter().map(|one| one.1.norm_l2()).fold(0.0, f64::max);
    let mut median = mean(&shares, |one| &one.1);
    for _ in 0..STEPS {
        for (share, (rows, image, _)) in shares.iter_mut().zip(&solved) {
            *share = rows / (image - &median).norm_l2().max(NEAREST * length).max(f64::MIN_POSITIVE);
        }
        let next = mean(&shares, |one| &one.1);
        let change = (&next - &median).norm_l2();
        median = next;
        if change <= CONVERGED * length {
            break;
        }
    }
    let weights = mean(&shares, |one| &one.2);
    if !weights.is_all_finite() {
        return Err(Error(Cause::NotFinite));
    }
    let squared_error = whole.squared_errors(weights.as_ref())[0];
    Ok((weights.col_as_slice(0).to_vec(), squared_error))
}

/// The rows of a part, `Rβ` of its solution `β`, and `β`.
type Solved = (f64, Mat<f64>, Mat<f64>);
