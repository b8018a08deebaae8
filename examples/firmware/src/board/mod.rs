//! The differences between the boards. Each module has
//!
//! - `entry`, the attribute of an image's `main`;
//! - `ticks` and `instructions`, for [`crate::counter`] (but for `lm3s6965evb`, which runs the example of
//!   RTIC alone);
//! - `stack_bounds`, for [`crate::stack`];
//! - `stack_pointer` and `paint`, in the target's assembly.
//!
//! All of them use semihosting, which QEMU and debug probes implement.

#[cfg(target_arch = "arm")]
mod cortex_m;
#[cfg(board = "microbit")]
mod microbit;
#[cfg(board = "mps2-an386")]
mod mps2;
#[cfg(board = "virt")]
mod virt;

#[cfg(target_arch = "arm")]
pub use self::cortex_m::entry;
#[cfg(target_arch = "arm")]
pub(crate) use self::cortex_m::{paint, stack_bounds, stack_pointer};
#[cfg(board = "microbit")]
pub(crate) use self::microbit::{instructions, ticks};
#[cfg(board = "mps2-an386")]
pub(crate) use self::mps2::{instructions, ticks};
#[cfg(board = "virt")]
pub use self::virt::entry;
#[cfg(board = "virt")]
pub(crate) use self::virt::{instructions, paint, stack_bounds, stack_pointer, ticks};

/// The processor's name in the log.
pub const NAME: &str = env!("BOARD_NAME");

/// End the run: QEMU exits with this status.
pub fn exit(status: u8) -> ! {
    semihosting::process::exit(i32::from(status))
}

/// Whether a slice is between the linker's bounds of read-only data: in flash and not in RAM.
#[allow(unsafe_code)]
pub fn is_in_flash<T>(slice: &[T]) -> bool {
    unsafe extern "C" {
        static __srodata: u8;
        static __erodata: u8;
    }
    let bytes = slice.as_ptr_range();
    (&raw const __srodata).addr() <= bytes.start.addr() && bytes.end.addr() <= (&raw const __erodata).addr()
}
