//! A learner behind pointers: what `dpp_nystrom_learner.h` declares for each capacity.

use crate::Status;
use crate::buffers::{self, Buffers, apart};
use crate::flash::{Flash, Wired};
use core::ffi::c_uint;
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Assessment, Error, Exchange, Learner, Offer, Phase, Random, Slots};

/// What memory holds that is a learner: any other number is memory that was not started.
const STARTED: u32 = 0x6c70_7064;
/// An error that is of no column.
const NO_COLUMN: u32 = u32::MAX;

/// What C holds in a `dpp_learner_CxD`.
#[repr(C, align(8))]
pub(crate) struct Device<const C: usize, const D: usize> {
    started: u32,
    /// The column of the last error.
    column: u32,
    random: Random,
    learner: Learner<C, D>,
}

/// How far a prediction can be relied on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DeviceAssessment {
    /// The prediction, in the target's units.
    pub value: f32,
    /// The distance to the nearest landmark, in standard deviations of the features.
    pub nearest: f32,
    /// What the landmarks do not explain of the row: 0 for a landmark, 1 far from all of them.
    pub residual: f32,
    /// The variance of a new observation, in the target's units squared; negative: there is none until the
    /// next solution.
    pub variance: f32,
}

/// Create a learner in the memory of C.
///
/// # Safety
/// `device` is null, misaligned or valid for `size` bytes, which nothing else reads or writes.
pub(crate) unsafe fn create<const C: usize, const D: usize>(
    device: *mut Device<C, D>,
    size: usize,
    seed: u64,
) -> Result<(), Status> {
    Buffers::of(device, 1)?;
    if size != size_of::<Device<C, D>>() {
        return Err(Status::OtherSize);
    }
    // SAFETY: not null, aligned and as large as it must be. Field by field, so that no copy is on the stack.
    unsafe {
        (&raw mut (*device).learner).write(Learner::new());
        (&raw mut (*device).random).write(Random::seeded(seed));
        (&raw mut (*device).column).write(NO_COLUMN);
        (&raw mut (*device).started).write(STARTED);
    }
    Ok(())
}

/// Return the learner in memory that was started, to read.
///
/// # Safety
/// `device` is null, misaligned or valid, and nothing writes to it.
pub(crate) unsafe fn seen<'a, const C: usize, const D: usize>(
    device: *const Device<C, D>,
) -> Result<&'a Device<C, D>, Status> {
    Buffers::of(device, 1)?;
    // SAFETY: not null and aligned. Only the word is read.
    if unsafe { (&raw const (*device).started).read() } != STARTED {
        return Err(Status::NotStarted);
    }
    // SAFETY: it was started, and nothing writes to it.
    Ok(unsafe { &*device })
}

/// Return the learner in memory that was started.
///
/// # Safety
/// `device` is null, misaligned or valid, and nothing else reads or writes it.
pub(crate) unsafe fn started<'a, const C: usize, const D: usize>(
    device: *mut Device<C, D>,
) -> Result<&'a mut Device<C, D>, Status> {
    // SAFETY: the caller's.
    unsafe { seen(device)? };
    // SAFETY: it was started, and is the caller's alone.
    Ok(unsafe { &mut *device })
}

/// Return a row that does not overlap what is written.
///
/// # Safety
/// `row` is null, misaligned or valid for `D` numbers, which nothing writes to.
pub(crate) unsafe fn row<'a, const D: usize>(
    row: *const f32,
    written: &[Buffers],
) -> Result<&'a [f32; D], Status> {
    apart(written, &[Buffers::of(row, D)?])?;
    // SAFETY: the caller's.
    unsafe { buffers::elements(row, D)? }.first_chunk().ok_or(Status::Length)
}

/// Write one result.
///
/// # Safety
/// `to` was checked by [`Buffers::of`], is valid, and nothing else reads or writes it.
pub(crate) unsafe fn put<T>(to: *mut T, result: T) {
    // SAFETY: the caller's.
    unsafe { to.write(result) }
}

/// Return the column that an error names.
fn column(error: &Error) -> u32 {
    let (Error::NotFinite { column, .. }
    | Error::TooLarge { column, .. }
    | Error::Constant { column }
    | Error::Changed { column, .. }
    | Error::Scale { column }) = error
    else {
        return NO_COLUMN;
    };
    u32::try_from(*column).unwrap_or(NO_COLUMN)
}

impl<const C: usize, const D: usize> Device<C, D> {
    /// Call the learner, and keep the column of an error.
    pub(crate) fn call<R>(
        &mut self,
        act: impl FnOnce(&mut Learner<C, D>, &mut Random) -> Result<R, Error>,
    ) -> Result<R, Status> {
        let done = act(&mut self.learner, &mut self.random);
        self.column = done.as_ref().err().map_or(NO_COLUMN, column);
        done.map_err(Status::from)
    }

    pub(crate) fn column(&self) -> u32 {
        self.column
    }

    pub(crate) fn phase(&self) -> c_uint {
        match self.learner.phase() {
            Phase::Scaling => 1,
            Phase::Selecting => 2,
            Phase::Learning => 3,
            Phase::Predicting => 4,
            _ => 0,
        }
    }

    pub(crate) fn learner(&self) -> &Learner<C, D> {
        &self.learner
    }

    pub(crate) fn write(&mut self, bytes: &mut [u8]) -> Result<usize, Status> {
        self.call(|learner, random| learner.write_state(random.state(), bytes))
    }

    pub(crate) fn read(&mut self, sigma: f32, bytes: &[u8]) -> Result<(), Status> {
        self.call(|learner, random| {
            *random = Random::resume(learner.read_state(Gaussian::new(sigma)?, bytes)?);
            Ok(())
        })
    }

    pub(crate) fn save(&mut self, flash: Wired<'_>, room: &mut [u8]) -> Result<(), Status> {
        let length = self.write(room)?;
        let bytes = room.get(..length).ok_or(Status::TooSmall)?;
        let (start, region) = flash.region();
        Slots::open(flash, start, region)?.save(bytes)?;
        Ok(())
    }

    pub(crate) fn restore(&mut self, sigma: f32, flash: Wired<'_>, room: &mut [u8]) -> Result<u64, Status> {
        let (start, region) = flash.region();
        let mut slots = Slots::open(flash, start, region)?;
        let sequence = slots.sequence();
        let bytes = slots.load(room)?.ok_or(Status::NothingSaved)?;
        self.read(sigma, bytes)?;
        Ok(sequence)
    }
}

/// Return 1 where an offered row became a landmark.
pub(crate) fn taken(offer: Offer) -> c_uint {
    c_uint::from(!matches!(offer, Offer::Declined))
}

/// Return 1 where a row replaced a landmark.
pub(crate) fn replaced(exchange: Exchange) -> c_uint {
    c_uint::from(matches!(exchange, Exchange::Replaced { .. }))
}

impl From<Assessment<f32>> for DeviceAssessment {
    fn from(assessment: Assessment<f32>) -> Self {
        let Assessment { value, nearest, residual, variance, .. } = assessment;
        Self { value, nearest, residual: residual.unwrap_or(1.0), variance: variance.unwrap_or(-1.0) }
    }
}

/// Check the flash of C.
///
/// # Safety
/// `flash` is null, misaligned or valid.
pub(crate) unsafe fn wired<'a>(flash: *const Flash) -> Result<Wired<'a>, Status> {
    Buffers::of(flash, 1)?;
    // SAFETY: the caller's.
    Wired::new(unsafe { &*flash })
}
