//! The core behind a small C interface: select, learn and predict on the caller's buffers, with a status for everything
//! that can be wrong.
//!
//! Nothing is allocated and nothing is kept between calls. Each call checks what it can of its pointers: that none is
//! null, that each is aligned, that no length is absurd, and that what is written overlaps nothing else. What it cannot
//! check is the caller's part: that the pointers lead to so many elements, and that nobody else writes to them meanwhile.
//! After any status but `OK` what was to be written is unspecified.
//!
//! No panic can be reached: on bare metal the panic handler calls a function that does not exist, so that the image
//! links only if the linker could drop it.
#![cfg_attr(target_os = "none", no_std)]
#![allow(unsafe_code)]

mod buffers;
#[cfg(target_os = "none")]
mod panicking;
mod status;
#[cfg(test)]
mod tests;

pub use status::Status;

use buffers::{Buffers, apart};
use core::ffi::c_char;
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Acceptance, Error, FactorMemory, Landmarks, Memory, Nystrom, Points, Predictor, Random, RidgeMemory,
    RidgeRegression, SlotChain, start,
};

type Ground<'a> = Points<'a, f32, Gaussian<f32>>;

/// Selects `c` landmarks among `n` rows of `d` features, under the kernel `exp(-|x - y|^2 / (2 sigma^2))`: a uniform start and
/// `tries` tries of the open-slot chain, whose law is the c-DPP's. The same seed gives the same landmarks everywhere.
///
/// `memory` is of `DPP_NYSTROM_SELECT_NUMBERS(c)` numbers; the landmarks' row numbers are written to `landmarks`, which has
/// room for `c`.
///
/// # Safety
/// The pointers must lead to so many elements, which nobody else writes to meanwhile.
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
        // SAFETY: checked to be aligned, not null, of a sane length and apart from each other; the rest is the caller's
        // promise.
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

/// Learns a weight for each of `c` landmarks, which are rows, from the targets of all `n` rows: kernel ridge regression on
/// the landmarks, `ridge` multiplied by `n`.
///
/// `memory` is of `DPP_NYSTROM_LEARN_NUMBERS(c)` numbers and `indices` of `c`; both are scratch. The weights are written to
/// `weights`, which has room for `c`, and the mean squared error on the rows to `error`.
///
/// # Safety
/// The pointers must lead to so many elements, which nobody else writes to meanwhile.
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
        // SAFETY: checked to be aligned, not null, of a sane length and apart from each other; the rest is the caller's
        // promise.
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
        sum.solve(ridge, weights)?;
        let squared = sum.squared_error(weights)? / n as f32;
        nystrom.kernel_weights(weights)?;
        if let Some(error) = error.first_mut() {
            *error = squared;
        }
        Ok(())
    };
    Status::of(done())
}

/// Copies the landmarks' rows, one after the other, to `out`, which has room for `c` rows of `d` features.
///
/// # Safety
/// The pointers must lead to so many elements, which nobody else writes to meanwhile.
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
        // SAFETY: checked to be aligned, not null, of a sane length and apart from each other; the rest is the caller's
        // promise.
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

/// Predicts one row `x` of `d` features from the landmarks' rows and their weights; writes the prediction to `y`.
///
/// # Safety
/// The pointers must lead to so many elements, which nobody else writes to meanwhile.
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
        // SAFETY: checked to be aligned, not null, of a sane length and apart from what is written; the rest is the caller's
        // promise.
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

/// The name of a status, as `"MISALIGNED"`, for a log. Never null; a number that is no status is `"UNKNOWN"`.
#[unsafe(no_mangle)]
pub extern "C" fn dpp_nystrom_status_name(status: u32) -> *const c_char {
    Status::name(status).as_ptr()
}

/// The first `count` numbers of the rest.
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
    Ok((RidgeMemory { square, diagonal, targets, row }, rest))
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
            _ => Self::Refused,
        }
    }
}
