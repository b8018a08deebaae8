//! An end with a message where a process would abort.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static TEXT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Print a message on standard error and exit with status 1 where the process would abort (`SIGABRT`). An
/// allocation that fails and cannot be reported as an error aborts: for want of memory the program then ends
/// as for any other error. The message comes after the line that says what failed.
///
/// For programs: a library leaves the signal to its host.
pub fn exit_on_abort(message: &'static str) {
    TEXT.store(message.as_ptr().cast_mut(), Ordering::Release);
    LENGTH.store(message.len(), Ordering::Release);
    // SAFETY: all zeros is a valid `sigaction`, whose fields are set before use; the handler has the
    // signature of one without SA_SIGINFO, and does only what is allowed in a signal handler.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = (on_abort as *const ()).expose_provenance();
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGABRT, &raw const action, ptr::null_mut());
    }
}

extern "C" fn on_abort(_: libc::c_int) {
    let (text, length) = (TEXT.load(Ordering::Acquire), LENGTH.load(Ordering::Acquire));
    // SAFETY: the text is static and has this length; both functions may be called in a signal handler.
    unsafe {
        libc::write(2, text.cast_const().cast(), length);
        libc::_exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::exit_on_abort;
    use crate::alone::alone;
    use std::process::abort;

    #[test]
    fn an_abort_is_an_error_with_a_message() {
        let output = alone("abort::tests::an_abort_is_an_error_with_a_message", || {
            exit_on_abort("error: the end\n");
            abort();
        });
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).ends_with("error: the end\n"), "{output:?}");
    }
}
