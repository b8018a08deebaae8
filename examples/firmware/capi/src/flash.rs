//! A flash behind three functions of C.

use crate::Status;
use core::ffi::{c_int, c_void};
use dpp_nystrom_core::StorageError;
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

/// A region of a NOR flash in which a learner is saved, twice in turn. The functions return 0, or the
/// driver's error. Offsets are what `start` counts in.
///
/// A word that cannot be read, as on flash with ECC after an interrupted write, is an error of `read`, and
/// not a fault. The other half is then used if it is whole; if neither is, the status is FLASH until the
/// region is erased.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Flash {
    /// Passed to each function.
    pub context: *mut c_void,
    /// Read `length` bytes at an offset.
    pub read: Option<unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize) -> c_int>,
    /// Erase whole pages, from an offset up to another.
    pub erase: Option<unsafe extern "C" fn(*mut c_void, u32, u32) -> c_int>,
    /// Write `length` bytes, a multiple of 32, at an offset that is one too.
    pub write: Option<unsafe extern "C" fn(*mut c_void, u32, *const u8, usize) -> c_int>,
    /// The first byte of the region.
    pub start: u32,
    /// Bytes of the region: two halves of whole pages.
    pub length: u32,
    /// Bytes of a page, the unit of erasing: a multiple of 32.
    pub page: u32,
}

/// A flash whose functions are there and whose sizes fit each other.
pub(crate) struct Wired<'a> {
    flash: &'a Flash,
    read: unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize) -> c_int,
    erase: unsafe extern "C" fn(*mut c_void, u32, u32) -> c_int,
    write: unsafe extern "C" fn(*mut c_void, u32, *const u8, usize) -> c_int,
}

/// What may be written at once is a multiple of it; so are the units of all common parts.
const UNIT: u32 = 32;

impl<'a> Wired<'a> {
    pub(crate) fn new(flash: &'a Flash) -> Result<Self, Status> {
        let (Some(read), Some(erase), Some(write)) = (flash.read, flash.erase, flash.write) else {
            return Err(Status::Null);
        };
        let page = flash.page;
        let whole = |bytes: u32| bytes.checked_rem(page) == Some(0);
        let sound = page.is_multiple_of(UNIT)
            && whole(flash.start)
            && flash.length > 0
            && flash.length.is_multiple_of(2)
            && whole(flash.length / 2)
            && flash.start.checked_add(flash.length).is_some();
        if sound { Ok(Self { flash, read, erase, write }) } else { Err(Status::Region) }
    }

    /// Return the first byte and the number of bytes.
    pub(crate) fn region(&self) -> (u32, usize) {
        (self.flash.start, self.flash.length as usize)
    }
}

/// A function of C returned another number than 0.
#[derive(Debug)]
pub(crate) struct Failed;

impl NorFlashError for Failed {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl ErrorType for Wired<'_> {
    type Error = Failed;
}

fn done(status: c_int) -> Result<(), Failed> {
    if status == 0 { Ok(()) } else { Err(Failed) }
}

impl ReadNorFlash for Wired<'_> {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failed> {
        // SAFETY: the function is the caller's, and the bytes are valid.
        done(unsafe { (self.read)(self.flash.context, offset, bytes.as_mut_ptr(), bytes.len()) })
    }

    fn capacity(&self) -> usize {
        self.flash.start.saturating_add(self.flash.length) as usize
    }
}

impl NorFlash for Wired<'_> {
    const WRITE_SIZE: usize = UNIT as usize;
    // Whole pages, whose size is known at run time, are erased below.
    const ERASE_SIZE: usize = UNIT as usize;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failed> {
        let to = to.checked_next_multiple_of(self.flash.page).ok_or(Failed)?;
        // SAFETY: the function is the caller's.
        done(unsafe { (self.erase)(self.flash.context, from, to) })
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failed> {
        // SAFETY: the function is the caller's, and the bytes are valid.
        done(unsafe { (self.write)(self.flash.context, offset, bytes.as_ptr(), bytes.len()) })
    }
}

impl From<StorageError<Failed>> for Status {
    fn from(error: StorageError<Failed>) -> Self {
        match error {
            StorageError::Flash(Failed) => Self::Flash,
            StorageError::Region => Self::Region,
            StorageError::Capacity { .. } => Self::TooSmall,
            _ => Self::Worn,
        }
    }
}
