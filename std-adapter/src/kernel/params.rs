//! Kernel parameters: the type of kernel and the choice of its bandwidth.

use crate::kernel::{bandwidth::Sigma, kind::KernelKind, metric::Metric};

/// A kernel and how to choose its bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelParams {
    /// The kernel.
    pub kind: KernelKind,
    /// How its bandwidth is chosen; kernels without one ignore it.
    pub sigma: Sigma,
    /// The metric. One that is learned requires rows in memory, a target and a number of landmarks.
    pub metric: Metric,
    /// Whether another kernel with a bandwidth may be taken instead, by its error on rows held out.
    pub any_kind: bool,
}

impl KernelParams {
    /// Return the same kernel with this metric.
    ///
    /// ```
    /// use dpp_nystrom::kernel::{KernelParams, Metric};
    /// use dpp_nystrom::{Gaussian, Sigma};
    ///
    /// let kernel = KernelParams::from(Gaussian::new(Sigma::Median(1.0))).with_metric(Metric::Auto);
    /// ```
    pub fn with_metric(self, metric: Metric) -> Self {
        Self { metric, ..self }
    }

    /// Return these parameters, by which another kernel with a bandwidth may be taken: of Gaussian, Matérn 5/2, Matérn 3/2 and Laplace that
    /// with the least error on rows held out, in scales of features that are learned in each, for the landmarks asked for. It
    /// requires what a metric that is learned requires.
    pub fn with_any_kind(self) -> Self {
        Self { any_kind: true, ..self }
    }
}

impl Default for KernelParams {
    /// Return the Gaussian kernel with the median distance between rows as bandwidth.
    fn default() -> Self {
        Self { kind: KernelKind::Gaussian, sigma: Sigma::Median(1.0), metric: Metric::One, any_kind: false }
    }
}

/// `exp(-‖x - y‖² / (2σ²))`.
///
/// ```
/// use dpp_nystrom::{Gaussian, Sigma};
/// use dpp_nystrom::kernel::{KernelKind, KernelParams};
///
/// let kernel = KernelParams::from(Gaussian::new(Sigma::Median(4.0)));
/// assert_eq!(kernel.kind, KernelKind::Gaussian);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian(Sigma);

/// `exp(-Σ |x_i - y_i| / σ)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplace(Sigma);

/// The Matérn kernel of smoothness 3/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matern32(Sigma);

/// The Matérn kernel of smoothness 5/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matern52(Sigma);

impl Gaussian {
    /// Return the kernel with this bandwidth.
    pub fn new(sigma: Sigma) -> Self {
        Self(sigma)
    }
}

impl Laplace {
    /// Return the kernel with this bandwidth.
    pub fn new(sigma: Sigma) -> Self {
        Self(sigma)
    }
}

impl Matern32 {
    /// Return the kernel with this bandwidth.
    pub fn new(sigma: Sigma) -> Self {
        Self(sigma)
    }
}

impl Matern52 {
    /// Return the kernel with this bandwidth.
    pub fn new(sigma: Sigma) -> Self {
        Self(sigma)
    }
}

impl From<Gaussian> for KernelParams {
    fn from(kernel: Gaussian) -> Self {
        Self { kind: KernelKind::Gaussian, sigma: kernel.0, metric: Metric::One, any_kind: false }
    }
}

impl From<Laplace> for KernelParams {
    fn from(kernel: Laplace) -> Self {
        Self { kind: KernelKind::Laplace, sigma: kernel.0, metric: Metric::One, any_kind: false }
    }
}

impl From<Matern32> for KernelParams {
    fn from(kernel: Matern32) -> Self {
        Self { kind: KernelKind::Matern32, sigma: kernel.0, metric: Metric::One, any_kind: false }
    }
}

impl From<Matern52> for KernelParams {
    fn from(kernel: Matern52) -> Self {
        Self { kind: KernelKind::Matern52, sigma: kernel.0, metric: Metric::One, any_kind: false }
    }
}

impl From<KernelKind> for KernelParams {
    /// Return this kernel, with the median distance as bandwidth if it has one.
    fn from(kind: KernelKind) -> Self {
        Self { kind, ..Self::default() }
    }
}
