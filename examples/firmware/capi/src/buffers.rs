//! Pointers and lengths from C, checked as far as they can be.

use crate::Status;
use core::ops::Range;

/// The address range of a buffer whose pointer and length are valid.
pub(crate) struct Buffers(Range<usize>);

impl Buffers {
    /// Check a buffer of `length` elements.
    pub(crate) fn of<T>(pointer: *const T, length: usize) -> Result<Self, Status> {
        if pointer.is_null() {
            return Err(Status::Null);
        }
        if !pointer.is_aligned() {
            return Err(Status::Misaligned);
        }
        // The largest size of a slice.
        let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
        let end = bytes.and_then(|bytes| pointer.addr().checked_add(bytes)).ok_or(Status::TooLarge)?;
        Ok(Self(pointer.addr()..end))
    }

    /// Check a buffer of `rows` rows of `dim` elements.
    pub(crate) fn product<T>(pointer: *const T, rows: usize, dim: usize) -> Result<Self, Status> {
        Self::of(pointer, rows.checked_mul(dim).ok_or(Status::TooLarge)?)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.0.start < other.0.end && other.0.start < self.0.end
    }
}

/// Check that no written buffer overlaps another.
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

/// Return the elements of a buffer.
///
/// # Safety
/// There are `length` initialised elements, and nothing writes to them during the lifetime of the slice.
pub(crate) unsafe fn elements<'a, T>(pointer: *const T, length: usize) -> Result<&'a [T], Status> {
    Buffers::of(pointer, length)?;
    // SAFETY: not null, aligned and of a length that slices may have; the rest is the caller's.
    Ok(unsafe { core::slice::from_raw_parts(pointer, length) })
}

/// [`elements`], to write.
///
/// # Safety
/// There are `length` initialised elements, and nothing else reads or writes them during the lifetime of the
/// slice.
pub(crate) unsafe fn elements_mut<'a, T>(pointer: *mut T, length: usize) -> Result<&'a mut [T], Status> {
    Buffers::of(pointer, length)?;
    // SAFETY: not null, aligned and of a length that slices may have; the rest is the caller's.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer, length) })
}

/// [`elements`] of `rows` rows.
///
/// # Safety
/// That of [`elements`].
pub(crate) unsafe fn product<'a, T>(pointer: *const T, rows: usize, dim: usize) -> Result<&'a [T], Status> {
    // SAFETY: the caller's.
    unsafe { elements(pointer, rows.checked_mul(dim).ok_or(Status::TooLarge)?) }
}

/// [`elements_mut`] of `rows` rows.
///
/// # Safety
/// That of [`elements_mut`].
pub(crate) unsafe fn product_mut<'a, T>(
    pointer: *mut T,
    rows: usize,
    dim: usize,
) -> Result<&'a mut [T], Status> {
    // SAFETY: the caller's.
    unsafe { elements_mut(pointer, rows.checked_mul(dim).ok_or(Status::TooLarge)?) }
}
