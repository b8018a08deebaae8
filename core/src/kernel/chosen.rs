//! A kernel that is chosen at run time, from the list in `mod.rs`.

use super::{Argument, KernelKind, Parameters};
use crate::scalar::Scalar;
use core::fmt;

/// Define [`KernelKind`](super::KernelKind) and [`ChosenKernel`](super::ChosenKernel), with a variant for
/// each kernel of the list. An entry is the variant, its parameters besides the bandwidth with their
/// defaults, and its type, in which `T` stands for the type of numbers.
macro_rules! kernels {
    ($T:ident: $($(#[$attribute:meta])* $kernel:ident
        $({ $($(#[$of_parameter:meta])* $parameter:ident: $number:ty = $default:expr),* })? = $type:ty,)*) => {
        /// The type of a kernel, with its parameters besides the bandwidth.
        ///
        /// ```
        /// use dpp_nystrom_core::kernel::{Kernel, KernelKind};
        ///
        /// let kind = KernelKind::Polynomial { degree: 2, offset: 1.0 };
        /// assert_eq!(kind.build::<f32>(1.0)?.value(&[2.0], &[3.0]), 49.0);
        /// assert!(KernelKind::Gaussian.has_bandwidth() && !kind.has_bandwidth());
        /// assert!(KernelKind::ALL.iter().all(|kind| KernelKind::of_name(kind.name()) == Some(*kind)));
        /// # Ok::<(), dpp_nystrom_core::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum KernelKind {
            $($(#[$attribute])* $kernel $({ $($(#[$of_parameter])* $parameter: $number),* })?,)*
        }

        impl KernelKind {
            /// All kernels, with their usual parameters.
            pub const ALL: &'static [Self] = &[$(Self::$kernel $({ $($parameter: $default),* })?),*];

            /// Return what is the same for all parameters.
            #[doc(hidden)]
            pub const fn about(self) -> About {
                // It is the same in every precision.
                type $T = f32;
                match self {
                    $(Self::$kernel { .. } => <$type as Formula<$T>>::ABOUT,)*
                }
            }

            /// Create the kernel with the bandwidth `sigma`, which kernels without one ignore.
            ///
            /// # Errors
            /// [`Error::Bandwidth`] or [`Error::Polynomial`] for parameters out of range.
            ///
            /// ```
            /// use dpp_nystrom_core::{Error, kernel::{Gaussian, Kernel, KernelKind}};
            ///
            /// let (kernel, gaussian) = (KernelKind::Gaussian.build::<f64>(2.0)?, Gaussian::new(2.0)?);
            /// assert_eq!(kernel.value(&[0.0], &[1.0]), gaussian.value(&[0.0], &[1.0]));
            /// assert_eq!(KernelKind::Laplace.build::<f64>(0.0).unwrap_err(), Error::Bandwidth);
            /// # Ok::<(), dpp_nystrom_core::Error>(())
            /// ```
            pub fn build<$T: Scalar>(self, sigma: f64) -> Result<ChosenKernel<$T>, Error> {
                let parameters = self.parameters(sigma);
                match self {
                    $(Self::$kernel { .. } => {
                        <$type as Formula<$T>>::create(parameters).map(ChosenKernel::$kernel)
                    })*
                }
            }
        }

        /// One of the kernels that a trained model may have.
        ///
        /// Firmware whose kernel is known at compile time names that kernel's type instead, and links no
        /// other.
        ///
        /// ```
        /// use dpp_nystrom_core::kernel::{ChosenKernel, Gaussian, Kernel, Linear};
        ///
        /// let kernels = [ChosenKernel::Gaussian(Gaussian::new(1.0)?), ChosenKernel::Linear(Linear)];
        /// assert_eq!(kernels.map(|kernel| kernel.value(&[2.0], &[2.0])), [1.0, 4.0]);
        /// # Ok::<(), dpp_nystrom_core::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum ChosenKernel<$T> {
            $(#[doc = concat!("See [`", stringify!($kernel), "`].")] $kernel($type),)*
        }

        impl<$T: Scalar> ChosenKernel<$T> {
            /// Do something with the kernel in its own type.
            #[doc(hidden)]
            #[inline(always)]
            pub fn visit<V: Visit<$T>>(&self, visitor: V) -> V::Output {
                match *self {
                    $(Self::$kernel(kernel) => visitor.visit(kernel),)*
                }
            }

            /// Return what files and exported code store of the kernel: its description and two numbers.
            #[doc(hidden)]
            pub fn stored(&self) -> (About, $T, u32) {
                match *self {
                    $(Self::$kernel(kernel) => {
                        let (number, degree) = kernel.numbers();
                        (<$type as Formula<$T>>::ABOUT, number, degree)
                    })*
                }
            }
        }

        impl ChosenKernel<f32> {
            /// Create the kernel of this number in files; none for an unknown one.
            pub(crate) fn of_numbers(id: u32, number: f32, degree: u32) -> Option<Result<Self, Error>> {
                type $T = f32;
                $(if id == <$type as Formula<$T>>::ABOUT.id {
                    return Some((<$type as Formula<$T>>::ABOUT.read)(number, degree));
                })*
                None
            }
        }

        impl<$T: Scalar> Kernel<$T> for ChosenKernel<$T> {
            #[inline]
            fn value(&self, x: &[$T], y: &[$T]) -> $T {
                match self {
                    $(Self::$kernel(kernel) => kernel.value(x, y),)*
                }
            }

            #[inline]
            fn diagonal(&self, x: &[$T]) -> $T {
                match self {
                    $(Self::$kernel(kernel) => kernel.diagonal(x),)*
                }
            }
        }
    };
}
pub(super) use kernels;

impl KernelKind {
    /// Return the kernel of this name, with its usual parameters.
    ///
    /// ```
    /// use dpp_nystrom_core::kernel::KernelKind;
    ///
    /// assert_eq!(KernelKind::of_name("matern52"), Some(KernelKind::Matern52));
    /// assert_eq!(KernelKind::Matern52.name(), "matern52");
    /// ```
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Return the name, in lower case.
    pub const fn name(self) -> &'static str {
        self.about().name
    }

    /// Whether the kernel has a bandwidth.
    pub const fn has_bandwidth(self) -> bool {
        !matches!(self.about().argument, Argument::InnerProduct)
    }

    pub(super) fn parameters<T: Scalar>(self, sigma: f64) -> Parameters<T> {
        let (degree, offset) = match self {
            Self::Polynomial { degree, offset } => (degree, offset),
            _ => (0, 0.0),
        };
        Parameters { bandwidth: T::from_f64(sigma), degree, offset: T::from_f64(offset) }
    }
}

impl fmt::Display for KernelKind {
    /// Write the name, and the parameters if there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Polynomial { degree, offset } => write!(f, " {{ degree: {degree}, offset: {offset:?} }}"),
            _ => Ok(()),
        }
    }
}
