//! The `SIGBUS` handler, and the mappings it knows.
//!
//! It is installed with the first mapping and put back with the last, each time by comparing with what is
//! there: a host may install its own in between. One that calls the handler before it goes on working, and so
//! does one that does not, from the next mapping on: ours is then put over it, and calls it for what is not
//! ours.

use crate::limits::MOST;
use crate::slot::Slot;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

static SLOTS: [Slot; MOST] = [const {
    let [version, start, length] = [const { AtomicUsize::new(0) }; 3];
    Slot { version, start, length, lost: AtomicBool::new(false) }
}; MOST];

/// Set before the handler is installed.
static PAGE: AtomicUsize = AtomicUsize::new(0);

/// The previous handler and its flags, which the handler reads: set before ours is installed.
static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
static BEFORE_FLAGS: AtomicI32 = AtomicI32::new(0);

/// The address of a fault that is being passed on: seen again, it went in a circle.
static PASSING: AtomicUsize = AtomicUsize::new(0);

/// What is installed, for threads that map and unmap.
struct Installed {
    mappings: usize,
    /// The previous action, to put back.
    before: Option<libc::sigaction>,
}

static INSTALLED: Mutex<Installed> = Mutex::new(Installed { mappings: 0, before: None });

/// Registers a mapping with the handler.
#[derive(Debug)]
pub(crate) struct Guard {
    at: usize,
}

impl Guard {
    pub(crate) fn over(bytes: &[u8]) -> io::Result<Self> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        install(&mut installed)?;
        let Some(at) = SLOTS.iter().position(|slot| slot.read().is_none()) else {
            restore(&mut installed);
            return Err(io::ErrorKind::QuotaExceeded.into());
        };
        installed.mappings += 1;
        SLOTS[at].write(bytes.as_ptr().addr(), bytes.len());
        Ok(Self { at })
    }

    pub(crate) fn lost(&self) -> bool {
        SLOTS[self.at].lost.load(Ordering::Acquire)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        SLOTS[self.at].write(0, 0);
        installed.mappings -= 1;
        restore(&mut installed);
    }
}

fn ours() -> usize {
    (on_bus_error as *const ()).expose_provenance()
}

/// Return the action in force.
fn present() -> io::Result<libc::sigaction> {
    // SAFETY: all zeros is a valid `sigaction`, and a null action only queries.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        match libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut action) {
            0 => Ok(action),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Install the handler, unless it is there. What it passes signals on to is known before.
fn install(installed: &mut Installed) -> io::Result<()> {
    let before = present()?;
    if before.sa_sigaction == ours() {
        return Ok(());
    }
    // SAFETY: only queries the page size.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let page = usize::try_from(page).ok().filter(|page| page.is_power_of_two());
    PAGE.store(page.ok_or(io::ErrorKind::Unsupported)?, Ordering::Release);
    BEFORE_FLAGS.store(before.sa_flags, Ordering::Release);
    BEFORE.store(before.sa_sigaction, Ordering::Release);
    // SAFETY: all zeros is a valid `sigaction`, whose fields are set before use. The handler has the
    // signature that SA_SIGINFO requires, and does only what is allowed in a signal handler.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ours();
        // On Rust's alternate signal stack, so that stack overflows are still reported as before.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut())
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    installed.before = Some(before);
    Ok(())
}

/// Put the previous handler back once there is no mapping, unless a host has installed another.
fn restore(installed: &mut Installed) {
    if installed.mappings > 0 || !present().is_ok_and(|action| action.sa_sigaction == ours()) {
        return;
    }
    if let Some(before) = installed.before.take() {
        // SAFETY: `before` is what the system returned for this signal.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const before, ptr::null_mut()) };
    }
}

/// Map zeros over the lost part, from the page that was read to the mapping's end.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the system passes a valid `siginfo_t`.
    let (address, is_fault) = unsafe { ((*info).si_addr().addr(), (*info).si_code > 0) };
    if !is_fault {
        // Sent by a process: there is no address.
        pass_on(signal, info, context, false);
        return;
    }
    for slot in &SLOTS {
        let Some((start, length)) = slot.read() else { continue };
        if !(start..start.saturating_add(length)).contains(&address) {
            continue;
        }
        let page = PAGE.load(Ordering::Acquire);
        let from = address & !(page - 1);
        let rest = (start + length).next_multiple_of(page) - from;
        // Set the flag before the zeros can be read.
        slot.lost.store(true, Ordering::Release);
        // SAFETY: the pages from `from` on belong to a mapping that its guard keeps alive, since the
        // interrupted thread is reading it. They contain only this mapping, and its readers see plain bytes
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
    let circle = PASSING.swap(address, Ordering::AcqRel) == address;
    pass_on(signal, info, context, circle);
    PASSING.store(0, Ordering::Release);
}

/// Pass the signal to the previous handler, or leave it to the system if it came back from there.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void, circle: bool) {
    let handler = BEFORE.load(Ordering::Acquire);
    // SAFETY: with SA_SIGINFO the system passes a valid `siginfo_t`.
    let is_fault = unsafe { (*info).si_code > 0 };
    if handler == libc::SIG_IGN && !is_fault && !circle {
        return;
    }
    if circle || handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // The read is then retried, and the system acts as without a handler.
        // SAFETY: all zeros with the default handler is a valid `sigaction`.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    } else if BEFORE_FLAGS.load(Ordering::Acquire) & libc::SA_SIGINFO != 0 {
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
    // Rust's own handler leaves what is no stack overflow to the default, and expects the read to be retried.
    // Nothing retries a signal that was sent.
    if !is_fault && present().is_ok_and(|action| action.sa_sigaction == libc::SIG_DFL) {
        // SAFETY: may be called in a handler; delivered when it returns.
        unsafe { libc::raise(signal) };
    }
}

#[cfg(test)]
mod tests {
    use super::{ours, present};
    use crate::Mapped;
    use crate::alone::{DONE, alone};
    use std::os::unix::process::ExitStatusExt;
    use std::ptr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn mapped() -> (tempfile::TempDir, std::path::PathBuf, Mapped) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        std::fs::write(&path, vec![7_u8; 1 << 16]).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        (folder, path, mapped)
    }

    fn raise() {
        // SAFETY: raises a signal, which is what is tested.
        unsafe { libc::raise(libc::SIGBUS) };
    }

    /// A host's handler, which counts and may call what was there before.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static CHAINED: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn host(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        CALLS.fetch_add(1, Ordering::SeqCst);
        let next = CHAINED.load(Ordering::SeqCst);
        if next != 0 {
            // SAFETY: what is stored is a handler with SA_SIGINFO.
            unsafe {
                let next: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(next);
                next(signal, info, context);
            }
        }
    }

    fn host_installs_its_own() {
        // SAFETY: a handler of the right signature.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = host as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()), 0);
        }
    }

    fn lose(path: &std::path::Path, mapped: &Mapped) {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(0).unwrap();
        assert_eq!(mapped.bytes()[1 << 15], 0);
        assert!(mapped.check().is_err());
    }

    #[test]
    fn a_signal_that_is_sent_ends_the_process_at_once() {
        let output = alone("guard::tests::a_signal_that_is_sent_ends_the_process_at_once", || {
            let (_folder, _path, _mapped) = mapped();
            raise();
        });
        assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
    }

    fn handlers() {
        let none = present().unwrap().sa_sigaction;
        let (_folder, path, first) = mapped();
        assert_eq!(present().unwrap().sa_sigaction, ours());
        // A host's later handler: the next mapping puts ours over it.
        host_installs_its_own();
        let (_other, later, second) = mapped();
        assert_eq!(present().unwrap().sa_sigaction, ours());
        lose(&later, &second);
        assert_eq!(CALLS.load(Ordering::SeqCst), 0);
        raise();
        assert_eq!(CALLS.load(Ordering::SeqCst), 1);
        // A host that calls ours: what is not lost memory does not go in a circle, and what is lost is ours.
        drop(second);
        lose(&path, &first);
        drop(first);
        assert_eq!(present().unwrap().sa_sigaction, host as *const () as usize);
        let (_folder, path, third) = mapped();
        CHAINED.store(ours(), Ordering::SeqCst);
        host_installs_its_own();
        lose(&path, &third);
        assert_eq!(CALLS.load(Ordering::SeqCst), 2);
        // Not ours: left alone.
        drop(third);
        assert_eq!(present().unwrap().sa_sigaction, host as *const () as usize);
        assert_ne!(none, ours());
    }

    #[test]
    fn handlers_are_chained_and_put_back() {
        let output = alone("guard::tests::handlers_are_chained_and_put_back", handlers);
        assert_eq!(output.status.code(), Some(DONE), "{output:?}");
    }
}
