//! A learner that is saved to flash while it learns, loses its power in the middle of a save, and resumes.

use crate::Outcome;
use crate::data::{DIM, Sensor};
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Error, Learner, Random, Slots};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

/// 16 landmarks.
pub type Device = Learner<16, DIM>;

/// Bytes of the flash: two slots.
pub const FLASH: usize = 4_096;

/// Rows for the scaling, and rows offered as landmarks.
const PREPARED: [usize; 2] = [100, 100];
const LEARNED: usize = 200;
/// Readings between two saves.
const BETWEEN: usize = 20;
const SEED: u64 = 7;
const GAMMA: f32 = 1e-6;
const LABEL: &str = "predictions";
/// Predictions at the end.
pub const PREDICTED: usize = 8;

/// The bits of the predictions.
pub type Predictions = Outcome<0, PREDICTED>;

/// The desktop's result.
pub const DESKTOP: Predictions =
    Outcome::from_golden(include_str!("../../../../tests/core/golden/power.txt"), LABEL);

/// A flash in RAM that can lose its power: what was to be erased or written then holds arbitrary bits.
#[derive(Clone, Debug)]
pub struct Flash {
    bytes: [u8; FLASH],
    /// Bytes that can still be changed.
    power: usize,
    noise: u32,
}

impl Flash {
    /// Return a flash that was never erased.
    pub const fn new() -> Self {
        Self { bytes: [0; FLASH], power: usize::MAX, noise: 1 }
    }

    fn change(&mut self, offset: u32, count: usize, after: impl Iterator<Item = u8>) -> Result<(), NoPower> {
        for (slot, after) in self.bytes.iter_mut().skip(offset as usize).zip(after.take(count)) {
            if self.power == 0 {
                self.noise = self.noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *slot = (self.noise >> 24) as u8;
            } else {
                self.power = self.power.saturating_sub(1);
                *slot = after;
            }
        }
        if self.power == 0 { Err(NoPower) } else { Ok(()) }
    }
}

impl Default for Flash {
    fn default() -> Self {
        Self::new()
    }
}

/// The power has failed.
#[derive(Clone, Copy, Debug)]
pub struct NoPower;

impl NorFlashError for NoPower {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl ErrorType for Flash {
    type Error = NoPower;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NoPower> {
        let stored = self.bytes.iter().skip(offset as usize);
        bytes.iter_mut().zip(stored).for_each(|(slot, &byte)| *slot = byte);
        Ok(())
    }

    fn capacity(&self) -> usize {
        FLASH
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 1_024;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NoPower> {
        self.change(from, to.wrapping_sub(from) as usize, core::iter::repeat(0xff))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NoPower> {
        self.change(offset, bytes.len(), bytes.iter().copied())
    }
}

/// Learn with a save every 20 readings. The power fails in the save of this number, from 1, when it has
/// changed so many bytes of the flash. `state` needs [`Device::STATE`] bytes.
///
/// # Errors
/// [`Error::Internal`] where a save fails for another reason.
pub fn run(
    learner: &mut Device,
    flash: &mut Flash,
    state: &mut [u8],
    cut: Option<(usize, usize)>,
) -> Result<Predictions, Error> {
    let [scaled, offered] = PREPARED;
    let end = scaled + offered + LEARNED;
    let (mut sensor, mut random, mut at) = start(learner)?;
    let mut cut = cut;
    // No save is there yet, so that their number tells how many readings the newest has.
    flash.bytes.fill(0);
    while at < end {
        if at == scaled {
            learner.freeze_scaling()?;
        }
        if at == scaled + offered {
            learner.freeze_landmarks()?;
        }
        let reading = sensor.read();
        if at < scaled {
            learner.scale(&reading.row, reading.target)?;
        } else if at < scaled + offered {
            learner.offer(&reading.row, &mut random)?;
        } else {
            learner.learn(&reading.row, reading.target)?;
        }
        at += 1;
        if at % BETWEEN != 0 {
            continue;
        }
        let length = learner.write_state(random.state(), state)?;
        flash.power = match cut {
            Some((save, bytes)) if save * BETWEEN == at => bytes,
            _ => usize::MAX,
        };
        let saved = {
            let mut slots = Slots::open(&mut *flash, 0, FLASH).map_err(|_| Error::Internal)?;
            slots.save(state.get(..length).ok_or(Error::Internal)?)
        };
        if saved.is_err() {
            // The power comes back, and the device starts.
            cut = None;
            flash.power = usize::MAX;
            (sensor, random, at) = start(learner)?;
            let mut slots = Slots::open(&mut *flash, 0, FLASH).map_err(|_| Error::Internal)?;
            if let Some(bytes) = slots.load(state).map_err(|_| Error::Internal)? {
                random = Random::resume(learner.read_state(Gaussian::new(6.0)?, bytes)?);
                at = slots.sequence() as usize * BETWEEN;
                // The sensor repeats what was read before.
                (0..at).for_each(|_| {
                    sensor.read();
                });
            }
        }
    }
    learner.solve(GAMMA)?;
    let mut predictions = [0.0; PREDICTED];
    for prediction in &mut predictions {
        *prediction = learner.predict(&sensor.read().row)?;
    }
    Ok(Outcome::new([], LABEL, predictions))
}

/// Return what a device has when it starts for the first time.
fn start(learner: &mut Device) -> Result<(Sensor, Random, usize), Error> {
    learner.start(Gaussian::new(6.0)?);
    Ok((Sensor::new(1), Random::seeded(SEED), 0))
}
