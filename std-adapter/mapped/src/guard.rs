//! Who is told when a mapped page is no longer there.

use crate::MOST;
use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A mapping that the handler knows.
struct Slot {
    /// Its first byte; 0 for none, [`TAKEN`] while it is being written down.
    start: AtomicUsize,
    length: AtomicUsize,
    /// A page of it was read that is no longer there.
    lost: AtomicBool,
}

/// No mapping starts here.
const TAKEN: usize = 1;

static SLOTS: [Slot; MOST] = [const {
    Slot { start: AtomicUsize::new(0), length: AtomicUsize::new(0), lost: AtomicBool::new(false) }
}; MOST];

/// Set before the handler is installed.
static PAGE: AtomicUsize = AtomicUsize::new(0);

/// Who handled the signal before; none where the handler could not be installed.
static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();

/// Keeps a mapping known to the handler.
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
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE.store(usize::try_from(page).ok().filter(|page| page.is_power_of_two())?, Ordering::Release);
    // SAFETY: zeros are a valid `sigaction`, whose fields are set before it is used; the handler has the
    // signature that SA_SIGINFO asks for, and does only what a handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus_error as *const () as usize;
        // On the stack that Rust keeps for signals, so that a full stack elsewhere stays what it was.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        let mut before: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before) == 0).then_some(before)
    }
}

/// Puts zeros in the place of what is lost, from the page that was asked for to the mapping's end.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the system hands over a valid `siginfo_t`.
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
        // Before the zeros can be read by anybody.
        slot.lost.store(true, Ordering::Release);
        // SAFETY: the pages from `from` on belong to a mapping that its guard keeps alive, since the thread that was
        // interrupted is reading it. Nothing but this mapping lies in them, and whoever reads them has plain bytes
        // before and after.
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

/// Leaves the signal to whoever handled it before.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get().copied().flatten();
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // The read is tried again after this, and the system does what it does without a handler.
        // SAFETY: zeros and a default handler are a valid `sigaction`.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    } else if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) {
        // SAFETY: a handler that was installed with SA_SIGINFO has this signature.
        unsafe {
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(handler);
            handler(signal, info, context);
        }
    } else {
        // SAFETY: a handler that was installed without SA_SIGINFO has this signature.
        unsafe {
            let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
}
