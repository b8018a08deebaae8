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
    /// A learner whose memory was not started: `start`, or `restore`, comes first.
    NotStarted = 16,
    /// A size that is not that of this learner: header and library are of different versions or compilers.
    OtherSize = 17,
    /// A call that is not possible yet, or no longer: `phase` tells the present one.
    Phase = 18,
    /// A feature, or the target after the features, that did not vary while the scaling was measured: is the
    /// sensor stuck? `error_column` tells which.
    Constant = 19,
    /// A feature that was constant has another value; the row is not learned. `error_column` tells which.
    Changed = 20,
    /// No further rows: 2^35 effective rows were learned. Forgetting makes room.
    Full = 21,
    /// A factor of forgetting that is not above 0 and at most 1.
    Forgetting = 22,
    /// Forgetting would leave less than 1/16 of a row: learn rows first.
    Forgotten = 23,
    /// Bytes that are not a state of this learner: damaged, cut off, or of other capacities.
    State = 24,
    /// A state that was saved under another bandwidth.
    ForeignState = 25,
    /// Nothing was saved yet.
    NothingSaved = 26,
    /// A function of the flash returned an error. What was saved before is still there.
    Flash = 27,
    /// A region of the flash that is not two halves of whole pages, or pages that are not multiples of 32
    /// bytes.
    Region = 28,
    /// The flash does not hold what was written: it is worn out or protected.
    Worn = 29,
}

/// In the order of the values.
const NAMES: [&CStr; 30] = [
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
    c"NOT_STARTED",
    c"OTHER_SIZE",
    c"PHASE",
    c"CONSTANT",
    c"CHANGED",
    c"FULL",
    c"FORGETTING",
    c"FORGOTTEN",
    c"STATE",
    c"FOREIGN_STATE",
    c"NOTHING_SAVED",
    c"FLASH",
    c"REGION",
    c"WORN",
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
