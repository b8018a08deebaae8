//! Errors in exporting a model.

/// Why a model cannot be exported to a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ExportProblem {
    /// A value out of the range of single precision.
    #[error(
        "{what} is {value:e}, out of the range of single precision; scale its column to moderate values and fit again"
    )]
    Range {
        /// Which value.
        what: String,
        /// The value.
        value: f64,
    },
    /// A kernel that cannot be quantised.
    #[error(
        "cannot quantise the {kernel} kernel: only the Gaussian kernel is supported; fit with it, or export in single \
         precision"
    )]
    Kernel {
        /// The kernel.
        kernel: String,
    },
    /// Clipped features in integers.
    #[error(
        "cannot quantise a model of clipped features: integers have no square root; export in single precision, or fit with \
         --scale standard"
    )]
    Clipped,
    /// Constants that the device's reader refuses.
    #[error(
        "a device would refuse the model: {0}; scale the target and the features to moderate values, or export in single precision"
    )]
    Device(dpp_nystrom_core::Error),
    /// A map with entries too large for integers.
    #[error(
        "cannot quantise the learned map: its entries are too large for its landmarks and bandwidth; export in single precision"
    )]
    Map,
    /// A feature whose standard deviation is too small relative to its mean.
    #[error(
        "cannot quantise the feature {feature:?}: its standard deviation {deviation} is too small relative to its mean {mean}; \
         subtract a constant from the column and fit again, or export in single precision"
    )]
    Spread {
        /// The feature.
        feature: String,
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// Landmarks too far from the mean for the bandwidth.
    #[error(
        "the bandwidth {sigma} is too small for landmarks {reach} standard deviations from the mean: the levels of a \
         quantised model would be too coarse; fit with a larger bandwidth, or export in single precision"
    )]
    Coarse {
        /// The bandwidth.
        sigma: f64,
        /// The largest coordinate of a landmark.
        reach: f64,
    },
    /// A model of several outputs as one.
    #[error("the model has several outputs; export a bundle of each of them")]
    Several,
    /// An output that is not on the landmarks of the first.
    #[error(
        "output {output} (from 0) is missing, or has not the features, landmarks and kernel of the first: fit all outputs on the same \
         landmarks"
    )]
    Outputs {
        /// The output.
        output: usize,
    },
    /// Something that the model or the form does not hold.
    #[error("cannot export {what}; {instead}, or export the model without")]
    Confidence {
        /// What is missing.
        what: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// A model of 4 GiB or more.
    #[error("the model is too large for a device: it takes 4 GiB or more; fit with fewer landmarks")]
    Size,
    /// A graph of 2 GiB or more.
    #[error("the graph takes 2 GiB or more, which ONNX cannot hold; fit with fewer landmarks")]
    GraphSize,
    /// A graph of a model for a device.
    #[error("a graph is of a model as it is, not as a device has it; write it with Model::to_onnx")]
    Graph,
    /// A row out of the range of single precision.
    #[error(
        "row {row} (from 0), feature {feature:?}: {value:e} is out of the range of single precision; remove the row"
    )]
    Row {
        /// The row.
        row: usize,
        /// The feature.
        feature: String,
        /// The value.
        value: f64,
    },
}
