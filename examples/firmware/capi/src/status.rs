//! What a call answers.

use core::ffi::CStr;

/// What a call answers: 0, or why it refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A null pointer.
    Null = 1,
    /// A pointer that is not aligned to its elements.
    Misaligned = 2,
    /// Lengths whose bytes the address space does not hold, or more rows than 32 bits count.
    TooLarge = 3,
    /// A buffer that is written to overlaps another one.
    Overlap = 4,
    /// No rows, no features or no landmarks.
    Empty = 5,
    /// The memory is smaller than the macros say.
    TooSmall = 6,
    /// Lengths that do not fit each other.
    Length = 7,
    /// More landmarks than rows.
    TooManyLandmarks = 8,
    /// A landmark that is no row.
    OutOfRange = 9,
    /// A row that is a landmark twice.
    Duplicate = 10,
    /// Not a number, or infinite: a feature or a target.
    NotFinite = 11,
    /// Landmarks that depend on each other under this kernel: ask for fewer, or take a smaller bandwidth.
    Dependent = 12,
    /// A bandwidth that is not positive, or not usable.
    Bandwidth = 13,
    /// A ridge that is negative or not finite.
    Ridge = 14,
    /// Refused for another reason.
    Refused = 15,
}

/// In the order of the numbers.
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
