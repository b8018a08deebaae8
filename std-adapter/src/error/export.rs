//! Why a model cannot be exported.

/// Why a model cannot be brought to a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportProblem {
    /// A number that single precision does not hold.
    #[error(
        "{what} is {value:e}, which single precision cannot hold; scale its column to moderate numbers and fit again"
    )]
    Range {
        /// Which number.
        what: String,
        /// The number.
        value: f64,
    },
    /// A kernel that is not quantised.
    #[error(
        "only the Gaussian kernel is quantised, and this model's is {kernel}; leave --quantise out, or fit with \
         --kernel gaussian"
    )]
    Kernel {
        /// The kernel.
        kernel: String,
    },
    /// A feature whose spread is lost beside its size.
    #[error(
        "the feature {feature:?} varies by {deviation} around {mean}: too little beside its size to be quantised; \
         subtract a constant from the column and fit again, or leave --quantise out"
    )]
    Spread {
        /// The feature.
        feature: String,
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// Landmarks too far out for the bandwidth.
    #[error(
        "the bandwidth {sigma} is too small beside landmarks {reach} standard deviations out: the levels of a \
         quantised model would be too coarse; leave --quantise out, or take a larger --sigma"
    )]
    Coarse {
        /// The bandwidth.
        sigma: f64,
        /// The farthest landmark's coordinate.
        reach: f64,
    },
    /// More landmarks or features than 32 bits count.
    #[error(
        "the model is too large for a device: its bytes are more than 32 bits count; fit fewer landmarks"
    )]
    Size,
    /// A row that single precision does not hold.
    #[error(
        "row {row}, counted from 0, feature {feature:?}: {value:e} is out of single precision's range; remove the row"
    )]
    Row {
        /// The row.
        row: usize,
        /// The feature.
        feature: String,
        /// What stands there.
        value: f64,
    },
}
