//! The metric of a kernel: one bandwidth, or one learned from the target.

use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Which metric the kernel has.
///
/// ```
/// use dpp_nystrom::kernel::Metric;
///
/// assert_eq!("map:6".parse(), Ok(Metric::Map(Some(6))));
/// assert_eq!(Metric::Scales.to_string(), "scales");
/// assert_eq!(Metric::default(), Metric::One);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// One bandwidth for all standardised features.
    #[default]
    One,
    /// A scale for each feature, learned from the target.
    Scales,
    /// A linear map `A` of the features, learned from the target: the distance of `u` and `v` is
    /// `‖A(u - v)‖`. Of this rank, or of that with the lowest error on held-out rows.
    Map(Option<usize>),
    /// The simplest of these whose error on held-out rows is the lowest, up to the noise of the comparison.
    /// One bandwidth where nothing can be learned: for kernels without a bandwidth, fewer than 100 rows, more
    /// rows than fit in memory, and landmarks that are chosen by a tolerance.
    Auto,
}

impl Metric {
    /// Return the rank of a map whose rank is given.
    pub fn rank(self) -> Option<usize> {
        if let Self::Map(rank) = self { rank } else { None }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rank = |text: &str| text.parse().ok().filter(|&rank: &usize| rank > 0);
        match (text, text.strip_prefix("map:").map(rank)) {
            ("one", _) => Ok(Self::One),
            ("scales", _) => Ok(Self::Scales),
            ("map", _) => Ok(Self::Map(None)),
            ("auto", _) => Ok(Self::Auto),
            (_, Some(Some(rank))) => Ok(Self::Map(Some(rank))),
            _ => Err(format!(
                "invalid metric {text:?}: expected one, scales, map, map:R with a rank R from 1, or auto"
            )),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("one"),
            Self::Scales => f.write_str("scales"),
            Self::Map(None) => f.write_str("map"),
            Self::Map(Some(rank)) => write!(f, "map:{rank}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
