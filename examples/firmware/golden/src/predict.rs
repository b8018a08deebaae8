//! Predictions of a model in flash, which was trained and exported on a desktop.
//!
//! `model.rs` in the folder above is the output of these commands. It is stored, since the SIMD lanes of
//! another machine may round the last digit of a weight differently:
//!
//! ```sh
//! cargo run --manifest-path examples/firmware/golden/Cargo.toml --example readings >readings.csv
//! dpp-nystrom fit readings.csv --landmarks 16 --sigma 'median*2' --ridge 1e-7 --model readings.dpp
//! dpp-nystrom export readings.dpp --to rust --name readings --out examples/firmware/golden/model.rs
//! ```

use crate::Outcome;
use crate::data::{Reading, Sensor};
use dpp_nystrom_core::{Error, Scalar};

/// The output of `dpp-nystrom export`.
pub mod model {
    include!("../model.rs");

    /// All numbers that a prediction reads.
    pub(super) static NUMBERS: [&[f32]; 4] =
        [&READINGS_MEANS, &READINGS_SCALES, &READINGS_LANDMARKS, &READINGS_WEIGHTS];
}

/// The state of the sensor for the readings that the model was trained on.
pub const TRAINED_FROM: u32 = 1;

/// The state of the sensor for other readings.
const PREDICTED_FROM: u32 = 2;

/// Readings that are predicted.
pub const PREDICTED: usize = 32;

/// The bound on the root mean squared error of the predictions. The error of the best constant, which is the
/// targets' standard deviation, is 0.46.
pub const LARGEST_ERROR: f32 = 0.03;

const LABEL: &str = "predictions";

/// The bits of the predictions.
pub type Predictions = Outcome<0, PREDICTED>;

/// The desktop's result.
pub const DESKTOP: Predictions =
    Outcome::from_golden(include_str!("../../../../tests/core/golden/predict.txt"), LABEL);

/// Return all numbers that a prediction reads, to check where they are stored.
pub fn numbers() -> [&'static [f32]; 4] {
    model::NUMBERS
}

/// Predict one raw row, to count its instructions.
///
/// # Errors
/// None, unless the model has another number of features.
pub fn predict_one(row: &[f32]) -> Result<f32, Error> {
    model::READINGS.predict(row, &mut [0.0; model::READINGS_FEATURES])
}

/// Predict [`PREDICTED`] readings. Return also the root mean squared error.
///
/// # Errors
/// None, unless the model has another number of features.
pub fn run() -> Result<(Predictions, f32), Error> {
    let mut sensor = Sensor::new(PREDICTED_FROM);
    let mut predictions = [0.0; PREDICTED];
    let mut squares = 0.0;
    for prediction in &mut predictions {
        let Reading { row, target } = sensor.read();
        *prediction = predict_one(&row)?;
        squares += (*prediction - target) * (*prediction - target);
    }
    Ok((Outcome::new([], LABEL, predictions), Scalar::sqrt(squares / PREDICTED as f32)))
}
