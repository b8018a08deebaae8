//! Ridge regression on a sensor's readings, one at a time: landmarks are selected from the first ones, the
//! next are learned, the last are predicted. Only the landmarks' rows are stored.

use crate::data::Reading;
use crate::stream::{self, BANDWIDTH, Chosen};
use crate::{DIM, LANDMARKS, Outcome};
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Error, Landmarks, Memory, Nystrom, Points, Predictor, RidgeMemory, RidgeRegression, Scalar, start,
};

pub use crate::stream::KEPT;

/// Readings from which landmarks are selected.
pub const CHOOSING: u32 = 300;
/// Readings that are learned.
pub const LEARNED: u32 = 500;
/// Readings that are predicted.
pub const PREDICTED: u32 = 200;

/// The bound on the root mean squared error of the predictions. The error of the best constant, which is the
/// targets' standard deviation, is 0.46.
pub const LARGEST_ERROR: f32 = 0.1;

const RIDGE: f32 = 1e-6;
const LABEL: &str = "weights";

/// The time at which each landmark came, in the order of their rows, and the bits of their weights and of the
/// test error.
pub type Learned = Outcome<LANDMARKS, { LANDMARKS + 1 }>;

/// The desktop's result.
pub const DESKTOP: Learned =
    Outcome::from_golden(include_str!("../../../../tests/core/golden/learn.txt"), LABEL);

/// Select landmarks from the next [`CHOOSING`] readings and store their rows in `rows`.
///
/// # Errors
/// [`Error::Capacity`] for less memory than [`LANDMARKS`] landmarks need, and for less room than [`KEPT`]
/// numbers.
pub fn choose(
    memory: Memory<'_, f32>,
    rows: &mut [f32],
    next: impl FnMut() -> Reading,
) -> Result<Chosen, Error> {
    stream::choose(memory, rows, CHOOSING, next)
}

/// Learn the next [`LEARNED`] readings on these landmarks, in `O(c d + c²)` each, and predict [`PREDICTED`]
/// more. Return the weights and the root mean squared error of the predictions.
///
/// # Errors
/// [`Error::Capacity`] for less memory than [`LANDMARKS`] landmarks need.
pub fn learn(
    chosen: &Chosen,
    memory: Memory<'_, f32>,
    ridge: RidgeMemory<'_, f32>,
    rows: &[f32],
    mut next: impl FnMut() -> Reading,
) -> Result<(Learned, f32), Error> {
    let kernel = Gaussian::new(BANDWIDTH)?;
    let rows = rows.get(..LANDMARKS * DIM).unwrap_or(&[]);
    let ground = Points::new(rows, DIM, kernel)?;
    let mut landmarks = Landmarks::new(&ground, memory)?;
    for row in 0..LANDMARKS {
        start::given(&mut landmarks, &[row])?;
    }
    let nystrom = Nystrom::new(&landmarks);
    let mut ridge = RidgeRegression::new(LANDMARKS, ridge)?;
    let mut phi = [0.0; LANDMARKS];
    for reading in 0..LEARNED {
        let Reading { row, target } = next();
        ground.column_at(&row, landmarks.members(), &mut phi)?;
        nystrom.features_at(reading as usize, &mut phi)?;
        ridge.add(&phi, target)?;
    }
    let mut weights = [0.0; LANDMARKS];
    nystrom.kernel_weights(ridge.solve(RIDGE)?.weights, &mut weights)?;

    let predictor = Predictor::new(kernel, rows, DIM, &weights)?;
    let mut squares = 0.0;
    for _ in 0..PREDICTED {
        let Reading { row, target } = next();
        let error = predictor.predict(&row)? - target;
        squares += error * error;
    }
    let error = Scalar::sqrt(squares / PREDICTED as f32);
    let arrivals = chosen.landmarks.iter().map(|&arrival| arrival as usize);
    Ok((Outcome::new(arrivals, LABEL, weights.into_iter().chain([error])), error))
}
