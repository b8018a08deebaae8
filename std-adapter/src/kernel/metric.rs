//! The metric of a kernel: one bandwidth, or a learned scale for each feature.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which metric the kernel has.
///
/// ```
/// use dpp_nystrom::kernel::Metric;
///
/// assert_eq!("scales".parse(), Ok(Metric::Scales));
/// assert_eq!(Metric::default(), Metric::One);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// One bandwidth for all standardised features.
    #[default]
    One,
    /// A scale for each feature, learned from the target.
    Scales,
    /// [`Scales`](Self::Scales) if their error on held-out rows is the lower one, else [`One`](Self::One).
    Auto,
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "one" => Ok(Self::One),
            "scales" => Ok(Self::Scales),
            "auto" => Ok(Self::Auto),
            _ => Err(format!("invalid metric {text:?}: expected one, scales or auto")),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One => "one",
            Self::Scales => "scales",
            Self::Auto => "auto",
        })
    }
}
