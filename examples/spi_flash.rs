//! Rows outside the address space: in a SPI NOR flash behind `embedded-storage`, the trait that its drivers
//! implement. The ground set reads a row when an entry needs it. When a read fails, the core stops with an
//! error that names the row and the driver's kind of error.

use dpp_nystrom_core::kernel::{Gaussian, Kernel};
use dpp_nystrom_core::{
    Acceptance, Error, Landmarks, Points, Random, ReadError, SlotChain, TryGroundSet, Workspace, start,
};
use embedded_storage::nor_flash::{ErrorType, NorFlashError, NorFlashErrorKind, ReadNorFlash};
use std::cell::RefCell;

const DIM: usize = 3;
const ROWS: usize = 240;
const LANDMARKS: usize = 12;

/// Rows of `f32`, little-endian, from the flash's first byte on.
struct FlashRows<F> {
    flash: RefCell<F>,
    kernel: Gaussian<f32>,
    rows: usize,
}

impl<F: ReadNorFlash> FlashRows<F> {
    fn read(&self, row: usize) -> Result<[f32; DIM], ReadError> {
        let mut bytes = [0; 4 * DIM];
        let offset = row.checked_mul(bytes.len()).and_then(|offset| u32::try_from(offset).ok());
        let read = match offset {
            Some(offset) => self.flash.borrow_mut().read(offset, &mut bytes).map_err(|error| error.kind()),
            None => Err(NorFlashErrorKind::OutOfBounds),
        };
        read.map_err(|kind| ReadError { row, code: code(kind) })?;
        let mut features = [0.0; DIM];
        for (feature, bytes) in features.iter_mut().zip(bytes.as_chunks().0) {
            *feature = f32::from_le_bytes(*bytes);
        }
        Ok(features)
    }
}

/// A number for each kind of error, for the log.
fn code(kind: NorFlashErrorKind) -> u32 {
    match kind {
        NorFlashErrorKind::NotAligned => 1,
        NorFlashErrorKind::OutOfBounds => 2,
        _ => 3,
    }
}

impl<F: ReadNorFlash> TryGroundSet<f32> for FlashRows<F> {
    fn len(&self) -> usize {
        self.rows
    }

    fn try_entry(&self, i: usize, j: usize) -> Result<f32, ReadError> {
        Ok(self.kernel.value(&self.read(i)?, &self.read(j)?))
    }

    fn try_diagonal(&self, _: usize) -> Result<f32, ReadError> {
        Ok(1.0)
    }

    /// Reads the row itself once, and not once per landmark.
    fn try_column(&self, i: usize, members: &[usize], out: &mut [f32]) -> Result<(), ReadError> {
        let row = self.read(i)?;
        for (out, &member) in out.iter_mut().zip(members) {
            *out = self.kernel.value(&self.read(member)?, &row);
        }
        Ok(())
    }
}

/// A flash chip in RAM in place of a driver. It counts the bytes read over the bus and fails at one address.
struct Chip {
    bytes: Vec<u8>,
    read: usize,
    broken: Option<usize>,
}

#[derive(Debug)]
struct ChipError(NorFlashErrorKind);

impl NorFlashError for ChipError {
    fn kind(&self) -> NorFlashErrorKind {
        self.0
    }
}

impl ErrorType for Chip {
    type Error = ChipError;
}

impl ReadNorFlash for Chip {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), ChipError> {
        let from = offset as usize;
        let to = from + bytes.len();
        if self.broken.is_some_and(|at| (from..to).contains(&at)) {
            return Err(ChipError(NorFlashErrorKind::Other));
        }
        let page = self.bytes.get(from..to).ok_or(ChipError(NorFlashErrorKind::OutOfBounds))?;
        bytes.copy_from_slice(page);
        self.read += bytes.len();
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

fn rows() -> Vec<f32> {
    (0..ROWS * DIM).map(|i| (i as f32 * 0.73).sin() + (i % 7) as f32 * 0.1).collect()
}

fn in_flash(rows: &[f32], broken: Option<usize>) -> Result<FlashRows<Chip>, Error> {
    let bytes = rows.iter().flat_map(|feature| feature.to_le_bytes()).collect();
    let flash = RefCell::new(Chip { bytes, read: 0, broken });
    Ok(FlashRows { flash, kernel: Gaussian::new(0.8)?, rows: rows.len() / DIM })
}

fn select(ground: &impl TryGroundSet<f32>) -> Result<Vec<usize>, Error> {
    let mut memory = Workspace::<f32, LANDMARKS>::new();
    let mut random = Random::seeded(3);
    let mut landmarks = Landmarks::new(ground, memory.lend())?;
    start::uniform(&mut landmarks, LANDMARKS, &mut random)?;
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
    chain.run(2_000, &mut random)?;
    Ok(chain.landmarks().members().to_vec())
}

fn main() -> Result<(), Error> {
    let rows = rows();
    let ground = in_flash(&rows, None)?;
    let landmarks = select(&ground)?;
    println!("landmarks {landmarks:?}, {} bytes read over the bus", ground.flash.borrow().read);
    let in_memory = select(&Points::new(&rows, DIM, Gaussian::new(0.8)?)?)?;
    println!("the same rows in memory: {in_memory:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{DIM, Error, Gaussian, Points, in_flash, rows, select};

    #[test]
    fn landmarks_equal_those_of_the_same_rows_in_memory() {
        let rows = rows();
        let ground = in_flash(&rows, None).unwrap();
        let points = Points::new(&rows, DIM, Gaussian::new(0.8).unwrap()).unwrap();
        assert_eq!(select(&ground).unwrap(), select(&points).unwrap());
    }

    #[test]
    fn a_read_that_fails_is_an_error() {
        let ground = in_flash(&rows(), Some(4 * DIM * 100)).unwrap();
        assert_eq!(select(&ground), Err(Error::Read { row: 100, code: 3 }));
    }
}
