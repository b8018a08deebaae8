//! The bytes of an input, taken from the front.

#[cfg(feature = "adapter")]
pub(crate) use files::{bits, file, one_thread, written};

/// An input.
pub(crate) struct Input<'d> {
    bytes: &'d [u8],
}

impl<'d> Input<'d> {
    pub(crate) fn new(bytes: &'d [u8]) -> Self {
        Self { bytes }
    }

    /// Take a byte; zero past the end.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first
    }

    /// Take one of so many choices.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Whether lengths and checksums are to be made right: in all inputs but one in eight.
    pub(crate) fn is_sealed(&mut self) -> bool {
        self.byte() & 7 != 7
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// Take a number: a usual one mostly, and any bits of single precision else.
    pub(crate) fn number(&mut self) -> f64 {
        match self.byte() {
            0xff => f64::from(f32::from_bits(self.word())),
            0xfe => f64::from_bits(u64::from(self.word()) << 32),
            byte => f64::from(byte) / 16.0 - 4.0,
        }
    }

    /// Take a length, of two bytes, and as many bytes as that, or all.
    pub(crate) fn part(&mut self) -> &'d [u8] {
        let length = usize::from(u16::from_le_bytes([self.byte(), self.byte()])).min(self.bytes.len());
        let (part, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        part
    }

    pub(crate) fn rest(&self) -> &'d [u8] {
        self.bytes
    }
}

/// What the adapter's targets need besides.
#[cfg(feature = "adapter")]
mod files {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::{Once, OnceLock};

    /// Bits, for comparisons in which NaN equals itself.
    pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// Let this thread do the work of all: a pool's would be woken for each input.
    pub(crate) fn one_thread() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // Fails where a test harness has made the pool before.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        });
    }

    /// Return the path of a file of this name in a folder of this process's own, in memory where there is
    /// such a file system.
    pub(crate) fn file(name: &str) -> PathBuf {
        static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
        let folder = FOLDER.get_or_init(|| {
            let memory = Path::new("/dev/shm");
            tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).expect("a folder")
        });
        folder.path().join(name)
    }

    /// Write a file of this name.
    pub(crate) fn written(name: &str, content: &[u8]) -> PathBuf {
        let path = file(name);
        fs::write(&path, content).expect("a file");
        path
    }
}
