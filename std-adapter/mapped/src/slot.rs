//! A mapping, as the handler reads it while other threads map and unmap: start and length are those of one
//! mapping.
//!
//! A version, odd while a slot is written, is read before and after (Boehm 2012, a sequence lock). A slot
//! that changed meanwhile is not that of the mapping which is being read, whose guard lives: the handler goes
//! on to the next. It never waits.

use super::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// A mapping known to the handler.
pub(crate) struct Slot {
    pub(crate) version: AtomicUsize,
    /// The address of its first byte; 0 for an unused entry.
    pub(crate) start: AtomicUsize,
    pub(crate) length: AtomicUsize,
    /// Whether a page that no longer exists was read.
    pub(crate) lost: AtomicBool,
}

impl Slot {
    /// Write a mapping, or zeros for none. Writers take turns.
    pub(crate) fn write(&self, start: usize, length: usize) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.lost.store(false, Ordering::Relaxed);
        self.start.store(start, Ordering::Relaxed);
        self.length.store(length, Ordering::Relaxed);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// Return start and length, if there is a mapping and the slot did not change meanwhile.
    pub(crate) fn read(&self) -> Option<(usize, usize)> {
        let version = self.version.load(Ordering::Acquire);
        let found = (self.start.load(Ordering::Relaxed), self.length.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let same = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        (same && found.0 != 0).then_some(found)
    }
}
