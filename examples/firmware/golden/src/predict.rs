//! Predictions of a model in flash, which was trained and exported on a desktop.
//!
//! `model.rs` in the folder above is what these commands wrote. It is kept, since another machine's vector lanes
//! may round the last digit of a weight otherwise:
//!
//! ```sh
//! cargo run --manifest-path examples/firmware/golden/Cargo.toml --example readings >readings.csv
//! dpp-nystrom fit readings.csv --landmarks 16 --sigma 'median*2' --ridge 1e-7 --model readings.dpp
//! dpp-nystrom export readings.dpp --to rust --name readings --out examples/firmware/golden/model.rs
//! ```

use crate::Answer;
use crate::data::{Reading, Sensor};
use dpp_nystrom_core::{Error, Scalar};

/// What `dpp-nystrom export` wrote.
pub mod model {
    include!("../model.rs");

    /// All numbers that a prediction reads.
    pub(super) static NUMBERS: [&[f32]; 4] =
        [&READINGS_MEANS, &READINGS_SCALES, &READINGS_LANDMARKS, &READINGS_WEIGHTS];
}

/// The state of the sensor for the readings that the model was trained on.
pub const TRAINED_FROM: u32 = 1;

/// Its state for others.
const PREDICTED_FROM: u32 = 2;

/// Readings that are predicted.
pub const PREDICTED: usize = 32;

/// What the root of the mean squared error of the predictions must be under. The targets' standard deviation,
/// which is the error of the best constant, is 0.46.
pub const LARGEST_ERROR: f32 = 0.03;

const LABEL: &str = "predictions";

/// The bits of the predictions.
pub type Predictions = Answer<0, PREDICTED>;

/// What the desktop answers.
pub const DESKTOP: Predictions =
    Answer::from_golden(include_str!("../../../../tests/core/golden/predict.txt"), LABEL);

/// All numbers that a prediction reads, to see where they lie.
pub fn numbers() -> [&'static [f32]; 4] {
    model::NUMBERS
}

/// One raw row, to count what its prediction takes.
///
/// # Errors
/// None, unless the model is of other rows.
pub fn predict_one(row: &[f32]) -> Result<f32, Error> {
    model::READINGS.predict(row, &mut [0.0; model::READINGS_FEATURES])
}

/// Predicts [`PREDICTED`] readings. Answers the root of the mean squared error, too.
///
/// # Errors
/// None, unless the model is of other rows.
pub fn run() -> Result<(Predictions, f32), Error> {
    let mut sensor = Sensor::new(PREDICTED_FROM);
    let mut predictions = [0.0; PREDICTED];
    let mut squares = 0.0;
    for prediction in &mut predictions {
        let Reading { row, target } = sensor.read();
        *prediction = predict_one(&row)?;
        squares += (*prediction - target) * (*prediction - target);
    }
    Ok((Answer::new([], LABEL, predictions), Scalar::sqrt(squares / PREDICTED as f32)))
}
