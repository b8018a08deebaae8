//! Single or double precision.

/// Precision of the Gibbs chain and of the regression.
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, kernel::Precision};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i * i % 97)).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let map = Nystroem::params(5).precision(Precision::F32).fit(&data)?; // the chain's precision
/// assert_eq!(map.rank(), 5);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Double precision.
    #[default]
    F64,
    /// Single precision.
    F32,
}
