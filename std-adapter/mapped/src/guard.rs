//! The `SIGBUS` handler, and the mappings it knows.

use crate::limits::MOST;
use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A mapping known to the handler.
struct Slot {
    /// The address of its first byte; 0 for an unused entry, [`TAKEN`] while the entry is being written.
    start: AtomicUsize,
    length: AtomicUsize,
    /// Whether a page that no longer exists was read.
    lost: AtomicBool,
}

/// An address at which no mapping starts.
const TAKEN: usize = 1;

static SLOTS: [Slot; MOST] = [const {
    Slot { start: AtomicUsize::new(0), length: AtomicUsize::new(0), lost: AtomicBool::new(false) }
}; MOST];

/// Set before the handler is installed.
static PAGE: AtomicUsize = AtomicUsize::new(0);

/// The previous handler of the signal; none if ours could not be installed.
static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();

/// Registers a mapping with the handler.
#[derive(Debug)]
pub(crate) struct Guard {
    at: usize,
}

impl Guard {
    pub(crate) fn over(bytes: &[u8]) -> io::Result<Self> {
        if BEFORE.get_or_init(install).is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let free = SLOTS.iter().position(|slot| {
            slot.start.compare_exchange(0, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        let at = free.ok_or(io::ErrorKind::QuotaExceeded)?;
        let slot = &SLOTS[at];
        slot.lost.store(false, Ordering::Relaxed);
        slot.length.store(bytes.len(), Ordering::Relaxed);
        slot.start.store(bytes.as_ptr().addr(), Ordering::Release);
        Ok(Self { at })
    }

    pub(crate) fn lost(&self) -> bool {
        SLOTS[self.at].lost.load(Ordering::Acquire)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        SLOTS[self.at].start.store(0, Ordering::Release);
    }
}

fn install() -> Option<libc::sigaction> {
    // SAFETY: only queries the page size.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE.store(usize::try_from(page).ok().filter(|page| page.is_power_of_two())?, Ordering::Release);
    // SAFETY: all zeros is a valid `sigaction`, whose fields are set before use. The handler has the signature that
    // SA_SIGINFO requires, and does only what is allowed in a signal handler.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus_error as *const () as usize;
        // On Rust's alternate signal stack, so that stack overflows are still reported as before.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        let mut before: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before) == 0).then_some(before)
    }
}

/// Map zeros over the lost part, from the page that was read to the mapping's end.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the system passes a valid `siginfo_t`.
    let address = unsafe { (*info).si_addr() }.addr();
    for slot in &SLOTS {
        let start = slot.start.load(Ordering::Acquire);
        let length = slot.length.load(Ordering::Relaxed);
        if start <= TAKEN || !(start..start.saturating_add(length)).contains(&address) {
            continue;
        }
        let page = PAGE.load(Ordering::Acquire);
        let from = address & !(page - 1);
        let rest = (start + length).next_multiple_of(page) - from;
        // Set the flag before the zeros can be read.
        slot.lost.store(true, Ordering::Release);
        // SAFETY: the pages from `from` on belong to a mapping that its guard keeps alive, since the interrupted
        // thread is reading it. They contain only this mapping, and its readers see plain bytes before and after.
        let zeros = unsafe {
            libc::mmap(
                ptr::with_exposed_provenance_mut(from),
                rest,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if zeros != libc::MAP_FAILED {
            return;
        }
    }
    pass_on(signal, info, context);
}

/// Pass the signal to the previous handler.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get().copied().flatten();
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // The read is then retried, and the system acts as without a handler.
        // SAFETY: all zeros with the default handler is a valid `sigaction`.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    } else if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) {
        // SAFETY: a handler installed with SA_SIGINFO has this signature.
        unsafe {
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(handler);
            handler(signal, info, context);
        }
    } else {
        // SAFETY: a handler installed without SA_SIGINFO has this signature.
        unsafe {
            let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
}
