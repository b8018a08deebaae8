//! Kernel parameters: the type of kernel and the choice of its bandwidth.

use crate::kernel::{bandwidth::Sigma, kind::KernelKind, metric::Metric};

/// A kernel and how to choose its bandwidth.
///
/// ```
/// use dpp_nystrom::Sigma;
/// use dpp_nystrom::kernel::{KernelKind, KernelParams, Metric};
///
/// let kernel = KernelParams::new(KernelKind::Laplace, Sigma::Value(2.0)).with_metric(Metric::Scales);
/// assert_eq!((kernel.kind, kernel.metric), (KernelKind::Laplace, Metric::Scales));
/// assert_eq!(KernelParams::default().sigma, Sigma::Median(1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelParams {
    /// The kernel.
    pub kind: KernelKind,
    /// How its bandwidth is chosen; kernels without one ignore it.
    pub sigma: Sigma,
    /// The metric. One that is learned requires rows in memory, a target and a number of landmarks.
    pub metric: Metric,
    /// Whether another kernel with a bandwidth may be taken instead.
    pub kinds: Kinds,
}

/// Whether another kernel than the one asked for may be taken: of Gaussian, Matérn 5/2, Matérn 3/2 and
/// Laplace that with the least error on rows held out, in scales of features that are learned in each, for
/// the landmarks asked for. The comparison requires what a metric that is learned requires.
///
/// ```
/// use dpp_nystrom::kernel::{KernelParams, Kinds, Metric};
///
/// let compared = KernelParams { kinds: Kinds::Any, ..KernelParams::default() }.with_metric(Metric::Auto);
/// assert_ne!(compared, KernelParams::usual()); // that compares from 100 landmarks on
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// The kernel asked for.
    #[default]
    One,
    /// The best of all.
    Any,
    /// The best of all for 100 landmarks and more, in an automatic metric that starts from the median
    /// distance; otherwise, and for classes, whose log-losses have not shown that it pays, the kernel asked
    /// for. Small devices have fewer landmarks, and integers know the Gaussian kernel only.
    Usual,
}

/// The number of landmarks from which kernels are compared without a request.
const MANY: usize = 100;

impl KernelParams {
    /// Return a kernel with this bandwidth, in one metric.
    ///
    /// ```
    /// use dpp_nystrom::Sigma;
    /// use dpp_nystrom::kernel::{KernelKind, KernelParams};
    ///
    /// let kernel = KernelParams::new(KernelKind::Matern52, Sigma::Median(2.0));
    /// ```
    pub fn new(kind: KernelKind, sigma: Sigma) -> Self {
        Self { kind, sigma, ..Self::default() }
    }

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

    /// Return what a fit takes when nothing is said: the Gaussian kernel or [another](Kinds::Usual), in an
    /// automatic metric.
    ///
    /// ```
    /// use dpp_nystrom::kernel::{KernelParams, Kinds, Metric};
    ///
    /// let usual = KernelParams::usual();
    /// assert_eq!((usual.metric, usual.kinds), (Metric::Auto, Kinds::Usual));
    /// ```
    pub fn usual() -> Self {
        Self { metric: Metric::Auto, kinds: Kinds::Usual, ..Self::default() }
    }

    /// Decide whether kernels are compared for this number of landmarks.
    pub(crate) fn settled(self, landmarks: usize, is_classes: bool) -> Self {
        let pays = landmarks >= MANY && !is_classes;
        let is_usual = self.metric == Metric::Auto && self.sigma == Sigma::Median(1.0);
        let kinds = match self.kinds {
            Kinds::Usual if pays && is_usual => Kinds::Any,
            Kinds::Usual => Kinds::One,
            kinds => kinds,
        };
        Self { kinds, ..self }
    }
}

impl Default for KernelParams {
    /// Return the Gaussian kernel with the median distance between rows as bandwidth.
    fn default() -> Self {
        Self { kind: KernelKind::Gaussian, sigma: Sigma::Median(1.0), metric: Metric::One, kinds: Kinds::One }
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

impl Gaussian {
    /// Return the kernel with this bandwidth.
    pub fn new(sigma: Sigma) -> Self {
        Self(sigma)
    }
}

impl From<Gaussian> for KernelParams {
    fn from(kernel: Gaussian) -> Self {
        Self::new(KernelKind::Gaussian, kernel.0)
    }
}

impl From<KernelKind> for KernelParams {
    /// Return this kernel, with the median distance as bandwidth if it has one.
    fn from(kind: KernelKind) -> Self {
        Self { kind, ..Self::default() }
    }
}
