//! The core in C: a learner of readings, and selection, learning and prediction on the caller's buffers, with
//! a status for every error.
//!
//! Nothing is allocated; what a learner keeps between calls is in the caller's memory. Each call checks its
//! pointers as far as it can: none is null, each is aligned, every length is possible, and no written
//! buffer overlaps another. The caller must ensure the rest: that the pointers are valid for these lengths,
//! and that nothing else writes to the buffers during the call. After a status other than `OK` the content
//! of the written buffers is unspecified.
//!
//! No panic can be reached: on bare metal the panic handler calls a function that does not exist, so that the
//! image links only if the linker could remove it.
#![cfg_attr(target_os = "none", no_std)]
#![allow(unsafe_code)]

mod buffers;
mod declare;
mod flash;
mod learner;
#[cfg(all(target_os = "none", feature = "panic-handler"))]
mod panicking;
mod status;
#[cfg(test)]
mod tests;

pub use flash::Flash;
pub use learner::DeviceAssessment;
pub use status::Status;

use buffers::{Buffers, apart};
use core::ffi::c_char;
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Acceptance, EarlierMemory, Error, FactorMemory, Landmarks, Memory, Nystrom, Points, Predictor, Random,
    RidgeMemory, RidgeRegression, SlotChain, Solution, start,
};

type Ground<'a> = Points<'a, f32, Gaussian<f32>>;

/// Select `c` landmarks among `n` rows of `d` features, under the kernel `exp(-|x - y|^2 / (2 sigma^2))`: a
/// uniform start and `tries` tries of the open-slot chain, whose stationary law is the c-DPP. A seed gives
/// the same landmarks on every target.
///
/// `memory` needs `DPP_NYSTROM_SELECT_NUMBERS(c)` numbers. The row numbers of the landmarks are written to
/// `landmarks`, which needs `c` elements.
///
/// # Safety
/// The pointers must be valid for these lengths, and nothing else may write to the buffers during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dpp_nystrom_select(
    rows: *const f32,
    n: usize,
    d: usize,
    sigma: f32,
    c: usize,
    tries: u64,
    seed: u64,
    memory: *mut f32,
    memory_length: usize,
    landmarks: *mut usize,
) -> Status {
    let done = || {
        apart(
            &[Buffers::of(memory, memory_length)?, Buffers::of(landmarks, c)?],
            &[Buffers::product(rows, n, d)?],
        )?;
        // SAFETY: checked to be aligned, not null, of a possible length and not overlapping; the caller
        // ensures the rest.
        let (rows, memory, landmarks) = unsafe {
            (
                buffers::product(rows, n, d)?,
                buffers::elements_mut(memory, memory_length)?,
                buffers::elements_mut(landmarks, c)?,
            )
        };
        let ground: Ground<'_> = Points::new(rows, d, Gaussian::new(sigma)?)?;
        let (factor, _) = factor_memory(memory, c)?;
        let mut random = Random::seeded(seed);
        let mut selected = Landmarks::new(&ground, Memory { factor, landmarks })?;
        start::uniform(&mut selected, c, &mut random)?;
        SlotChain::new(selected, Acceptance::Metropolis).run(tries, &mut random)?;
        Ok(())
    };
    Status::of(done())
}

/// Learn a weight for each of `c` landmarks, which are rows, from the targets of all `n` rows: kernel ridge
/// regression on the landmarks, with the regularisation `ridge` multiplied by `n`.
///
/// `memory` needs `DPP_NYSTROM_LEARN_NUMBERS(c)` numbers and `indices` needs `c`; both are scratch. The
/// weights are written to `weights`, which needs `c` elements, and the mean squared error on the rows to
/// `error`.
///
/// # Safety
/// The pointers must be valid for these lengths, and nothing else may write to the buffers during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dpp_nystrom_learn(
    rows: *const f32,
    targets: *const f32,
    n: usize,
    d: usize,
    sigma: f32,
    ridge: f32,
    landmarks: *const usize,
    c: usize,
    memory: *mut f32,
    memory_length: usize,
    indices: *mut usize,
    weights: *mut f32,
    error: *mut f32,
) -> Status {
    let done = || {
        apart(
            &[
                Buffers::of(memory, memory_length)?,
                Buffers::of(indices, c)?,
                Buffers::of(weights, c)?,
                Buffers::of(error, 1)?,
            ],
            &[Buffers::product(rows, n, d)?, Buffers::of(targets, n)?, Buffers::of(landmarks, c)?],
        )?;
        // SAFETY: checked to be aligned, not null, of a possible length and not overlapping; the caller
        // ensures the rest.
        let (rows, targets, landmarks, memory, indices, weights, error) = unsafe {
            (
                buffers::product(rows, n, d)?,
                buffers::elements(targets, n)?,
                buffers::elements(landmarks, c)?,
                buffers::elements_mut(memory, memory_length)?,
                buffers::elements_mut(indices, c)?,
                buffers::elements_mut(weights, c)?,
                buffers::elements_mut(error, 1)?,
            )
        };
        let ground: Ground<'_> = Points::new(rows, d, Gaussian::new(sigma)?)?;
        let (factor, memory) = factor_memory(memory, c)?;
        let (ridge_memory, memory) = ridge_memory(memory, c)?;
        let (phi, _) = split(memory, c)?;
        let mut members = Landmarks::new(&ground, Memory { factor, landmarks: indices })?;
        start::given(&mut members, landmarks)?;
        let nystrom = Nystrom::new(&members);
        let mut sum = RidgeRegression::new(c, ridge_memory)?;
        for (row, &target) in targets.iter().enumerate() {
            nystrom.features(row, phi)?;
            sum.add(phi, target)?;
        }
        let Solution { weights: of_features, squared_error } = sum.solve(ridge)?;
        nystrom.kernel_weights(of_features, weights)?;
        if let Some(error) = error.first_mut() {
            *error = squared_error / n as f32;
        }
        Ok(())
    };
    Status::of(done())
}

/// Copy the landmarks' rows, one after the other, to `out`, which needs `c` rows of `d` features.
///
/// # Safety
/// The pointers must be valid for these lengths, and nothing else may write to the buffers during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dpp_nystrom_gather(
    rows: *const f32,
    n: usize,
    d: usize,
    landmarks: *const usize,
    c: usize,
    out: *mut f32,
) -> Status {
    let done = || {
        apart(&[Buffers::product(out, c, d)?], &[Buffers::product(rows, n, d)?, Buffers::of(landmarks, c)?])?;
        // SAFETY: checked to be aligned, not null, of a possible length and not overlapping; the caller
        // ensures the rest.
        let (rows, landmarks, out) = unsafe {
            (
                buffers::product(rows, n, d)?,
                buffers::elements(landmarks, c)?,
                buffers::product_mut(out, c, d)?,
            )
        };
        if d == 0 {
            return Err(Status::Empty);
        }
        for (slot, &landmark) in out.chunks_exact_mut(d).zip(landmarks) {
            let row = rows.chunks_exact(d).nth(landmark).ok_or(Status::OutOfRange)?;
            for (slot, &value) in slot.iter_mut().zip(row) {
                *slot = value;
            }
        }
        Ok(())
    };
    Status::of(done())
}

/// Predict one row `x` of `d` features from the landmarks' rows and their weights. The prediction is written
/// to `y`.
///
/// # Safety
/// The pointers must be valid for these lengths, and nothing else may write to the buffers during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dpp_nystrom_predict(
    landmark_rows: *const f32,
    weights: *const f32,
    c: usize,
    d: usize,
    sigma: f32,
    x: *const f32,
    y: *mut f32,
) -> Status {
    let done = || {
        apart(
            &[Buffers::of(y, 1)?],
            &[Buffers::product(landmark_rows, c, d)?, Buffers::of(weights, c)?, Buffers::of(x, d)?],
        )?;
        // SAFETY: checked to be aligned, not null, of a possible length and not overlapping; the caller
        // ensures the rest.
        let (rows, weights, x, y) = unsafe {
            (
                buffers::product(landmark_rows, c, d)?,
                buffers::elements(weights, c)?,
                buffers::elements(x, d)?,
                buffers::elements_mut(y, 1)?,
            )
        };
        let prediction = Predictor::new(Gaussian::new(sigma)?, rows, d, weights)?.predict(x)?;
        if let Some(y) = y.first_mut() {
            *y = prediction;
        }
        Ok(())
    };
    Status::of(done())
}

/// Return the name of a status, such as `"MISALIGNED"`, for a log. Never null; for any other number it is
/// `"UNKNOWN"`.
#[unsafe(no_mangle)]
pub extern "C" fn dpp_nystrom_status_name(status: u32) -> *const c_char {
    Status::name(status).as_ptr()
}

/// Split off the first `count` numbers.
fn split(memory: &mut [f32], count: usize) -> Result<(&mut [f32], &mut [f32]), Status> {
    memory.split_at_mut_checked(count).ok_or(Status::TooSmall)
}

fn factor_memory(memory: &mut [f32], c: usize) -> Result<(FactorMemory<'_, f32>, &mut [f32]), Status> {
    let (square, rest) = split(memory, c.saturating_mul(c))?;
    let (column, rest) = split(rest, c)?;
    let (rotations, rest) = split(rest, c.saturating_mul(2))?;
    Ok((FactorMemory { square, column, rotations: rotations.as_chunks_mut::<2>().0 }, rest))
}

fn ridge_memory(memory: &mut [f32], c: usize) -> Result<(RidgeMemory<'_, f32>, &mut [f32]), Status> {
    let (square, rest) = split(memory, c.saturating_mul(c))?;
    let (diagonal, rest) = split(rest, c)?;
    let (targets, rest) = split(rest, c)?;
    let (row, rest) = split(rest, c)?;
    let (solution, rest) = split(rest, c)?;
    let (earlier, rest) = split(rest, c.saturating_mul(c))?;
    let (earlier_diagonal, rest) = split(rest, c)?;
    let (earlier_targets, rest) = split(rest, c)?;
    let earlier =
        EarlierMemory { square: earlier, stride: c, diagonal: earlier_diagonal, targets: earlier_targets };
    Ok((RidgeMemory { square, diagonal, targets, row, solution, earlier }, rest))
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::Empty | Error::NoRows => Self::Empty,
            Error::Capacity { .. } => Self::TooSmall,
            Error::Length { .. } => Self::Length,
            Error::TooManyLandmarks { .. } => Self::TooManyLandmarks,
            Error::TooManyRows => Self::TooLarge,
            Error::OutOfRange { .. } => Self::OutOfRange,
            Error::Duplicate { .. } => Self::Duplicate,
            Error::NotFinite { .. } => Self::NotFinite,
            Error::NotPositive { .. } | Error::RankDeficient { .. } => Self::Dependent,
            Error::Bandwidth => Self::Bandwidth,
            Error::Ridge => Self::Ridge,
            Error::TooLarge { .. } => Self::TooLarge,
            Error::Phase { .. } => Self::Phase,
            Error::Constant { .. } => Self::Constant,
            Error::Changed { .. } => Self::Changed,
            Error::RowCount => Self::Full,
            Error::Forgetting => Self::Forgetting,
            Error::Forgotten => Self::Forgotten,
            Error::SavedBytes(_) => Self::State,
            Error::ForeignState => Self::ForeignState,
            _ => Self::Refused,
        }
    }
}
