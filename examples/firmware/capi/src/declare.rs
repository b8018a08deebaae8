//! The functions of each capacity that was asked for, by the names that `dpp_nystrom_learner.h` declares.

use crate::Status;
use crate::buffers::{self, Buffers, apart};
use crate::flash::Flash;
use crate::learner::{self, Device, DeviceAssessment};
use core::ffi::c_uint;
use dpp_nystrom_core::kernel::Gaussian;

/// Define the functions of `C` landmarks of `D` features, with this prefix. The header documents them.
macro_rules! learner {
    ($module:ident, $prefix:literal, $c:literal, $d:literal) => {
        mod $module {
            use super::*;

            type Own = Device<$c, $d>;

            #[unsafe(export_name = concat!($prefix, "start"))]
            unsafe extern "C" fn start(device: *mut Own, size: usize, sigma: f32, seed: u64) -> Status {
                Status::of((|| {
                    let kernel = Gaussian::new(sigma)?;
                    // SAFETY: the caller's.
                    unsafe { learner::create(device, size, seed)? };
                    // SAFETY: it was created.
                    unsafe { learner::started(device) }?.call(|learner, _| {
                        learner.start(kernel);
                        Ok(())
                    })
                })())
            }

            #[unsafe(export_name = concat!($prefix, "scale"))]
            unsafe extern "C" fn scale(device: *mut Own, row: *const f32, target: f32) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    with_row(device, row, |device, row| device.call(|learner, _| learner.scale(row, target)))
                })
            }

            #[unsafe(export_name = concat!($prefix, "freeze_scaling"))]
            unsafe extern "C" fn freeze_scaling(device: *mut Own) -> Status {
                // SAFETY: the caller's.
                Status::of(
                    unsafe { learner::started(device) }
                        .and_then(|device| device.call(|learner, _| learner.freeze_scaling())),
                )
            }

            #[unsafe(export_name = concat!($prefix, "freeze_scaling_allowing"))]
            unsafe extern "C" fn freeze_scaling_allowing(
                device: *mut Own,
                columns: *const usize,
                count: usize,
            ) -> Status {
                Status::of((|| {
                    apart(&[Buffers::of(device, 1)?], &[Buffers::of(columns, count)?])?;
                    // SAFETY: the caller's.
                    let (device, columns) =
                        unsafe { (learner::started(device)?, buffers::elements(columns, count)?) };
                    device.call(|learner, _| learner.freeze_scaling_allowing(columns))
                })())
            }

            #[unsafe(export_name = concat!($prefix, "offer"))]
            unsafe extern "C" fn offer(device: *mut Own, row: *const f32, taken: *mut c_uint) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    asked(device, row, taken, |device, row| {
                        device.call(|learner, random| learner.offer(row, random)).map(learner::taken)
                    })
                })
            }

            #[unsafe(export_name = concat!($prefix, "freeze_landmarks"))]
            unsafe extern "C" fn freeze_landmarks(device: *mut Own) -> Status {
                // SAFETY: the caller's.
                Status::of(
                    unsafe { learner::started(device) }
                        .and_then(|device| device.call(|learner, _| learner.freeze_landmarks())),
                )
            }

            #[unsafe(export_name = concat!($prefix, "learn"))]
            unsafe extern "C" fn learn(device: *mut Own, row: *const f32, target: f32) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    with_row(device, row, |device, row| device.call(|learner, _| learner.learn(row, target)))
                })
            }

            #[unsafe(export_name = concat!($prefix, "forget"))]
            unsafe extern "C" fn forget(device: *mut Own, lambda: f32) -> Status {
                // SAFETY: the caller's.
                Status::of(
                    unsafe { learner::started(device) }
                        .and_then(|device| device.call(|learner, _| learner.forget(lambda))),
                )
            }

            #[unsafe(export_name = concat!($prefix, "exchange"))]
            unsafe extern "C" fn exchange(
                device: *mut Own,
                row: *const f32,
                replaced: *mut c_uint,
            ) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    asked(device, row, replaced, |device, row| {
                        device.call(|learner, _| learner.exchange(row)).map(learner::replaced)
                    })
                })
            }

            #[unsafe(export_name = concat!($prefix, "choose_gamma"))]
            unsafe extern "C" fn choose_gamma(device: *mut Own, gamma: *mut f32) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    told(device, gamma, |device| device.call(|learner, _| learner.choose_gamma()))
                })
            }

            #[unsafe(export_name = concat!($prefix, "solve"))]
            unsafe extern "C" fn solve(device: *mut Own, gamma: f32, error: *mut f32) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    told(device, error, |device| device.call(|learner, _| learner.solve(gamma)))
                })
            }

            #[unsafe(export_name = concat!($prefix, "predict"))]
            unsafe extern "C" fn predict(device: *mut Own, row: *const f32, value: *mut f32) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    asked(device, row, value, |device, row| device.call(|learner, _| learner.predict(row)))
                })
            }

            #[unsafe(export_name = concat!($prefix, "residual"))]
            unsafe extern "C" fn residual(device: *mut Own, row: *const f32, residual: *mut f32) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    asked(device, row, residual, |device, row| {
                        device.call(|learner, _| learner.residual(row))
                    })
                })
            }

            #[unsafe(export_name = concat!($prefix, "assess"))]
            unsafe extern "C" fn assess(
                device: *mut Own,
                row: *const f32,
                assessment: *mut DeviceAssessment,
            ) -> Status {
                // SAFETY: the caller's.
                Status::of(unsafe {
                    asked(device, row, assessment, |device, row| {
                        device.call(|learner, _| learner.assess(row)).map(DeviceAssessment::from)
                    })
                })
            }

            #[unsafe(export_name = concat!($prefix, "write_state"))]
            unsafe extern "C" fn write_state(
                device: *mut Own,
                bytes: *mut u8,
                length: usize,
                written: *mut usize,
            ) -> Status {
                Status::of((|| {
                    apart(
                        &[Buffers::of(device, 1)?, Buffers::of(bytes, length)?, Buffers::of(written, 1)?],
                        &[],
                    )?;
                    // SAFETY: the caller's.
                    let (device, bytes) =
                        unsafe { (learner::started(device)?, buffers::elements_mut(bytes, length)?) };
                    let count = device.write(bytes)?;
                    // SAFETY: checked above.
                    unsafe { learner::put(written, count) };
                    Ok(())
                })())
            }

            #[unsafe(export_name = concat!($prefix, "read_state"))]
            unsafe extern "C" fn read_state(
                device: *mut Own,
                size: usize,
                sigma: f32,
                bytes: *const u8,
                length: usize,
            ) -> Status {
                Status::of((|| {
                    apart(&[Buffers::of(device, 1)?], &[Buffers::of(bytes, length)?])?;
                    // SAFETY: the caller's.
                    let (device, bytes) =
                        unsafe { (resumed(device, size)?, buffers::elements(bytes, length)?) };
                    device.read(sigma, bytes)
                })())
            }

            #[unsafe(export_name = concat!($prefix, "save"))]
            unsafe extern "C" fn save(
                device: *mut Own,
                flash: *const Flash,
                room: *mut u8,
                length: usize,
            ) -> Status {
                Status::of((|| {
                    apart(&[Buffers::of(device, 1)?, Buffers::of(room, length)?], &[Buffers::of(flash, 1)?])?;
                    // SAFETY: the caller's.
                    let (device, flash, room) = unsafe {
                        (
                            learner::started(device)?,
                            learner::wired(flash)?,
                            buffers::elements_mut(room, length)?,
                        )
                    };
                    device.save(flash, room)
                })())
            }

            #[unsafe(export_name = concat!($prefix, "restore"))]
            unsafe extern "C" fn restore(
                device: *mut Own,
                size: usize,
                sigma: f32,
                flash: *const Flash,
                room: *mut u8,
                length: usize,
                saves: *mut u64,
            ) -> Status {
                Status::of((|| {
                    let written =
                        [Buffers::of(device, 1)?, Buffers::of(room, length)?, Buffers::of(saves, 1)?];
                    apart(&written, &[Buffers::of(flash, 1)?])?;
                    // SAFETY: the caller's.
                    let (device, flash, room) = unsafe {
                        (resumed(device, size)?, learner::wired(flash)?, buffers::elements_mut(room, length)?)
                    };
                    let count = device.restore(sigma, flash, room)?;
                    // SAFETY: checked above.
                    unsafe { learner::put(saves, count) };
                    Ok(())
                })())
            }

            #[unsafe(export_name = concat!($prefix, "phase"))]
            unsafe extern "C" fn phase(device: *const Own) -> c_uint {
                // SAFETY: the caller's.
                unsafe { learner::seen(device) }.map_or(0, |device| device.phase())
            }

            #[unsafe(export_name = concat!($prefix, "landmarks"))]
            unsafe extern "C" fn landmarks(device: *const Own) -> usize {
                // SAFETY: the caller's.
                unsafe { learner::seen(device) }.map_or(0, |device| device.learner().landmarks())
            }

            #[unsafe(export_name = concat!($prefix, "learned"))]
            unsafe extern "C" fn learned(device: *const Own) -> u64 {
                // SAFETY: the caller's.
                unsafe { learner::seen(device) }.map_or(0, |device| device.learner().learned())
            }

            #[unsafe(export_name = concat!($prefix, "error_column"))]
            unsafe extern "C" fn error_column(device: *const Own) -> u32 {
                // SAFETY: the caller's.
                unsafe { learner::seen(device) }.map_or(u32::MAX, |device| device.column())
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/learners.rs"));

/// Call a learner with a row.
///
/// # Safety
/// Both are null, misaligned or valid, and nothing else reads the learner or writes to either.
unsafe fn with_row<const C: usize, const D: usize>(
    device: *mut Device<C, D>,
    row: *const f32,
    act: impl FnOnce(&mut Device<C, D>, &[f32; D]) -> Result<(), Status>,
) -> Result<(), Status> {
    // SAFETY: the caller's.
    let row = unsafe { learner::row(row, &[Buffers::of(device, 1)?])? };
    // SAFETY: the caller's.
    act(unsafe { learner::started(device)? }, row)
}

/// Call a learner with a row, and write the result.
///
/// # Safety
/// All are null, misaligned or valid, and nothing else reads or writes what is written.
unsafe fn asked<const C: usize, const D: usize, R>(
    device: *mut Device<C, D>,
    row: *const f32,
    to: *mut R,
    act: impl FnOnce(&mut Device<C, D>, &[f32; D]) -> Result<R, Status>,
) -> Result<(), Status> {
    // SAFETY: the caller's.
    let row = unsafe { learner::row(row, &[Buffers::of(device, 1)?, Buffers::of(to, 1)?])? };
    // SAFETY: the caller's.
    let result = act(unsafe { learner::started(device)? }, row)?;
    // SAFETY: checked above.
    unsafe { learner::put(to, result) };
    Ok(())
}

/// Call a learner, and write the result.
///
/// # Safety
/// Both are null, misaligned or valid, and nothing else reads or writes them.
unsafe fn told<const C: usize, const D: usize, R>(
    device: *mut Device<C, D>,
    to: *mut R,
    act: impl FnOnce(&mut Device<C, D>) -> Result<R, Status>,
) -> Result<(), Status> {
    apart(&[Buffers::of(device, 1)?, Buffers::of(to, 1)?], &[])?;
    // SAFETY: the caller's.
    let result = act(unsafe { learner::started(device)? })?;
    // SAFETY: checked above.
    unsafe { learner::put(to, result) };
    Ok(())
}

/// Return the learner in this memory, or a new one where none was started.
///
/// # Safety
/// `device` is null, misaligned or valid for `size` bytes, which nothing else reads or writes.
unsafe fn resumed<'a, const C: usize, const D: usize>(
    device: *mut Device<C, D>,
    size: usize,
) -> Result<&'a mut Device<C, D>, Status> {
    // SAFETY: the caller's.
    match unsafe { learner::started(device) } {
        Err(Status::NotStarted) => {
            // SAFETY: the caller's.
            unsafe { learner::create(device, size, 0)? };
            // SAFETY: the caller's.
            unsafe { learner::started(device) }
        }
        found => found,
    }
}
