//! The width of integers in which a model is exported.

use serde::{Deserialize, Serialize};

/// The width of a quantised landmark's feature.
///
/// ```
/// use dpp_nystrom::model::export::{Bits, Exported};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
/// # let x: Vec<f64> = (0..400).map(|i| f64::from(i * 7 % 101) / 10.0).collect();
/// # let y: Vec<f64> = x.chunks(4).map(|row| row[0].sin()).collect();
/// # let data = Dataset::from_rows(&x, 4)?.with_target(&y)?;
/// # let model = KernelRidge::params(&Nystroem::params(20).fit(&data)?).fit(&data)?;
///
/// let flash = |quantise| Exported::of(&model, quantise).map(|exported| exported.flash_bytes());
/// assert!(flash(Some(Bits::Eight))? < flash(Some(Bits::Sixteen))?);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bits {
    /// 16, of which 15 are used.
    Sixteen,
    /// 8.
    Eight,
}
