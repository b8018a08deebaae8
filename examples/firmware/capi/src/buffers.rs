//! Pointers and lengths from C, checked as far as they can be.

use crate::Status;
use core::ops::Range;

/// The addresses of a buffer whose pointer and length passed.
pub(crate) struct Buffers(Range<usize>);

impl Buffers {
    /// A buffer of so many elements.
    pub(crate) fn of<T>(pointer: *const T, length: usize) -> Result<Self, Status> {
        if pointer.is_null() {
            return Err(Status::Null);
        }
        if !pointer.is_aligned() {
            return Err(Status::Misaligned);
        }
        // What slices may be at most.
        let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
        let end = bytes.and_then(|bytes| pointer.addr().checked_add(bytes)).ok_or(Status::TooLarge)?;
        Ok(Self(pointer.addr()..end))
    }

    /// A buffer of so many rows of so many elements.
    pub(crate) fn product<T>(pointer: *const T, rows: usize, dim: usize) -> Result<Self, Status> {
        Self::of(pointer, rows.checked_mul(dim).ok_or(Status::TooLarge)?)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.0.start < other.0.end && other.0.start < self.0.end
    }
}

/// Refuses a written buffer that overlaps any other.
pub(crate) fn apart(written: &[Buffers], read: &[Buffers]) -> Result<(), Status> {
    let mut rest = written;
    while let Some((one, others)) = rest.split_first() {
        if others.iter().chain(read).any(|other| one.overlaps(other)) {
            return Err(Status::Overlap);
        }
        rest = others;
    }
    Ok(())
}

/// The elements of a buffer.
///
/// # Safety
/// So many elements are there and initialised, and nobody writes to them while the slice lives.
pub(crate) unsafe fn elements<'a, T>(pointer: *const T, length: usize) -> Result<&'a [T], Status> {
    Buffers::of(pointer, length)?;
    // SAFETY: not null, aligned and of a length that slices may have; the rest is the caller's.
    Ok(unsafe { core::slice::from_raw_parts(pointer, length) })
}

/// [`elements`], to write.
///
/// # Safety
/// So many elements are there and initialised, and nobody else reads or writes them while the slice lives.
pub(crate) unsafe fn elements_mut<'a, T>(pointer: *mut T, length: usize) -> Result<&'a mut [T], Status> {
    Buffers::of(pointer, length)?;
    // SAFETY: not null, aligned and of a length that slices may have; the rest is the caller's.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer, length) })
}

/// [`elements`] of so many rows.
///
/// # Safety
/// As there.
pub(crate) unsafe fn product<'a, T>(pointer: *const T, rows: usize, dim: usize) -> Result<&'a [T], Status> {
    // SAFETY: the caller's.
    unsafe { elements(pointer, rows.checked_mul(dim).ok_or(Status::TooLarge)?) }
}

/// [`elements_mut`] of so many rows.
///
/// # Safety
/// As there.
pub(crate) unsafe fn product_mut<'a, T>(
    pointer: *mut T,
    rows: usize,
    dim: usize,
) -> Result<&'a mut [T], Status> {
    // SAFETY: the caller's.
    unsafe { elements_mut(pointer, rows.checked_mul(dim).ok_or(Status::TooLarge)?) }
}
