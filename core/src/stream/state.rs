//! The state of a chain over a stream as bytes, to keep over a reset: all later results are the same bit for
//! bit.
//!
//! The magic number is `dppnstrm`, in the sections of `sections.rs`:
//!
//! | section | content |
//! | --- | --- |
//! | 1 | words: bytes of a number, features d, capacity, landmarks c, acceptance (0 Barker, 1 Metropolis) |
//! | 2 | landmarks c d: numbers |
//! | 3 | the place of each landmark in the factor's order: c words |
//! | 4 | the factor by rows: c(c + 1)/2 numbers |
//! | 5 | steps, proposed, accepted, openings: 8 bytes each |
//! | 6 | 16 bytes of the random generator |
//!
//! The kernel is not stored, since it is a type of the program. The reader compares the factor with it.

use super::StreamChain;
use crate::chain::Progress;
use crate::error::{BytesProblem, Error, Known};
use crate::frame::index;
use crate::kernel::Kernel;
use crate::scalar::{Scalar, fill};
use crate::sections::{Sections, Writer, length};
use crate::swap::Acceptance;

const MAGIC: &[u8; 8] = b"dppnstrm";
const SHAPE: u32 = 1;
const ROWS: u32 = 2;
const MEMBERS: u32 = 3;
const FACTOR: u32 = 4;
const PROGRESS: u32 = 5;
const GENERATOR: u32 = 6;
const SECTIONS: usize = 6;

/// Return the most bytes of the state of a [`StreamChain`] with `c` landmarks of `d` features.
///
/// ```
/// use dpp_nystrom_core::stream_state_bytes;
///
/// const ROOM: usize = stream_state_bytes::<f32>(16, 3);
/// assert!(ROOM < 1_024);
/// ```
pub const fn stream_state_bytes<T>(c: usize, d: usize) -> usize {
    length(SECTIONS, 4 * 5 + 4 * c + 8 * 4 + 16 + size_of::<T>() * (c * d + c * (c + 1) / 2))
}

impl<T: Scalar, K: Kernel<T>> StreamChain<'_, T, K> {
    /// Write the state to the start of `bytes` and return its length, at most [`stream_state_bytes`].
    /// `generator` is 16 bytes that reading returns: the state of the random generator.
    ///
    /// # Errors
    /// [`Error::Capacity`]; nothing is written then.
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Random, StreamChain, Workspace, kernel::Gaussian, stream_state_bytes};
    ///
    /// let kernel = Gaussian::new(0.7_f32)?;
    /// let (mut rows, mut memory) = ([0.0; 4], Workspace::<f32, 4>::new());
    /// let mut chain = StreamChain::new(kernel, 4, 1, &mut rows, memory.lend(), Acceptance::Metropolis)?;
    /// let mut random = Random::seeded(7);
    /// for reading in 0..20 {
    ///     chain.offer(&[reading as f32 * 0.3], &mut random)?;
    /// }
    /// let mut bytes = [0; stream_state_bytes::<f32>(4, 1)];
    /// chain.write_state([0; 16], &mut bytes)?;
    ///
    /// let (mut rows, mut memory) = ([0.0; 4], Workspace::<f32, 4>::new());
    /// let mut resumed = StreamChain::new(kernel, 4, 1, &mut rows, memory.lend(), Acceptance::Metropolis)?;
    /// resumed.read_state(&bytes)?;
    /// assert_eq!((resumed.rows(), resumed.members()), (chain.rows(), chain.members()));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn write_state(&self, generator: [u8; 16], bytes: &mut [u8]) -> Result<usize, Error> {
        let count = self.len();
        let shape = [
            size_of::<T>(),
            self.dim,
            self.most,
            count,
            usize::from(self.acceptance == Acceptance::Metropolis),
        ];
        let Progress { steps, proposed, accepted, openings } = self.progress;
        let length = stream_state_bytes::<T>(count, self.dim);
        let mut writer = Writer::new(bytes, MAGIC, SECTIONS, length)?;
        writer.section(SHAPE).words(&shape);
        writer.section(ROWS).numbers(self.rows());
        writer.section(MEMBERS).words(self.members());
        self.factor.save(writer.section(FACTOR));
        writer.section(PROGRESS).longs(&[steps, proposed, accepted, openings]);
        writer.section(GENERATOR).bytes(&generator);
        writer.seal()
    }

    /// Read a state that [`write_state`](Self::write_state) wrote, and continue from it. Return the
    /// generator's bytes. The present landmarks are replaced.
    ///
    /// # Errors
    /// [`Error::SavedBytes`] with the problem, [`BytesProblem::Malformed`] for other numbers of features or
    /// landmarks or another acceptance: the chain is unchanged. [`Error::ForeignState`] for landmarks of
    /// another kernel: the chain is then without landmarks.
    ///
    /// ```
    /// use dpp_nystrom_core::kernel::Gaussian;
    /// use dpp_nystrom_core::{Acceptance, Error, Random, StreamChain, Workspace, stream_state_bytes};
    ///
    /// let (mut rows, mut memory) = ([0.0; 2], Workspace::<f64, 2>::new());
    /// let kernel = Gaussian::new(1.0)?;
    /// let mut chain = StreamChain::new(kernel, 2, 1, &mut rows, memory.lend(), Acceptance::Metropolis)?;
    /// chain.offer(&[0.5], &mut Random::seeded(7))?;
    /// chain.offer(&[0.9], &mut Random::seeded(7))?;
    /// let mut bytes = [0; stream_state_bytes::<f64>(2, 1)];
    /// chain.write_state([0; 16], &mut bytes)?;
    ///
    /// let (wider, mut memory) = (Gaussian::new(2.0)?, Workspace::<f64, 2>::new());
    /// let mut other = StreamChain::new(wider, 2, 1, &mut rows, memory.lend(), Acceptance::Metropolis)?;
    /// assert_eq!(other.read_state(&bytes), Err(Error::ForeignState));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn read_state(&mut self, bytes: &[u8]) -> Result<[u8; 16], Error> {
        self.take_back(bytes).map_err(Error::SavedBytes)?;
        if !self.holds_its_factor() {
            self.factor.truncate(0);
            self.progress = Progress::default();
            return Err(Error::ForeignState);
        }
        let generator =
            Sections::open(bytes, MAGIC, SECTIONS as u32).and_then(|state| state.of_length(GENERATOR, 16));
        let generator = generator.ok().and_then(<[u8]>::first_chunk);
        generator.copied().known()
    }

    /// Check the bytes, and then replace the state by theirs.
    fn take_back(&mut self, bytes: &[u8]) -> Result<(), BytesProblem> {
        use BytesProblem::Malformed;
        let sections = Sections::open(bytes, MAGIC, SECTIONS as u32)?;
        let [number, dim, most, count, acceptance] = sections.words::<5>(SHAPE)?.map(index);
        if number != size_of::<T>() {
            return Err(BytesProblem::Precision);
        }
        let same = usize::from(self.acceptance == Acceptance::Metropolis) == acceptance;
        if (dim, most) != (self.dim, self.most) || !same || count > most {
            return Err(Malformed);
        }
        let rows = sections.numbers::<T>(ROWS, count * dim)?;
        let factor = sections.numbers::<T>(FACTOR, count * (count + 1) / 2)?;
        let members = sections.of_length(MEMBERS, 4 * count)?;
        let progress = sections.of_length(PROGRESS, 32)?.as_chunks().0.first_chunk::<4>().ok_or(Malformed)?;
        let [steps, proposed, accepted, openings] = progress.map(u64::from_le_bytes);
        let progress = Progress { steps, proposed, accepted, openings };
        if !progress.is_possible() {
            return Err(Malformed);
        }
        sections.of_length(GENERATOR, 16)?;

        fill(self.rows, rows);
        for (member, word) in self.members.iter_mut().zip(members.as_chunks().0) {
            *member = index(u32::from_le_bytes(*word));
        }
        self.factor.truncate(0);
        self.factor.extend(count);
        self.factor.take_back(factor);
        self.progress = progress;
        Ok(())
    }
}
