//! The status of a call.

use core::ffi::CStr;

/// The status of a call: 0, or the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A null pointer.
    Null = 1,
    /// A pointer that is not aligned to its elements.
    Misaligned = 2,
    /// A length whose bytes exceed the address space, or more rows than 32 bits can count.
    TooLarge = 3,
    /// A written buffer overlaps another.
    Overlap = 4,
    /// No rows, no features or no landmarks.
    Empty = 5,
    /// The memory is smaller than the macros require.
    TooSmall = 6,
    /// Inconsistent lengths.
    Length = 7,
    /// More landmarks than rows.
    TooManyLandmarks = 8,
    /// A landmark that is not the number of a row.
    OutOfRange = 9,
    /// A row that occurs twice among the landmarks.
    Duplicate = 10,
    /// A feature or a target that is NaN or infinite.
    NotFinite = 11,
    /// Landmarks that depend on each other under this kernel: use fewer, or a smaller bandwidth.
    Dependent = 12,
    /// A bandwidth that is not positive and finite, or too extreme.
    Bandwidth = 13,
    /// A regularisation that is negative or not finite.
    Ridge = 14,
    /// Another error.
    Refused = 15,
}

/// In the order of the values.
const NAMES: [&CStr; 16] = [
    c"OK",
    c"NULL",
    c"MISALIGNED",
    c"TOO_LARGE",
    c"OVERLAP",
    c"EMPTY",
    c"TOO_SMALL",
    c"LENGTH",
    c"TOO_MANY_LANDMARKS",
    c"OUT_OF_RANGE",
    c"DUPLICATE",
    c"NOT_FINITE",
    c"DEPENDENT",
    c"BANDWIDTH",
    c"RIDGE",
    c"REFUSED",
];

impl Status {
    pub(crate) fn of(done: Result<(), Self>) -> Self {
        match done {
            Ok(()) => Self::Ok,
            Err(status) => status,
        }
    }

    pub(crate) fn name(number: u32) -> &'static CStr {
        NAMES.get(number as usize).copied().unwrap_or(c"UNKNOWN")
    }
}
