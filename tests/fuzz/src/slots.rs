//! Two slots in flash of any content: what is saved is loaded, and a write that fails leaves what was saved
//! before.

use crate::input::Input;
use crate::uses::seal;
use dpp_nystrom_core::Slots;
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

const HALF: usize = 512;

#[derive(Debug)]
struct Cut;

impl NorFlashError for Cut {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

/// A flash that fails once so many calls have changed it, and then does half of the call.
#[derive(Clone)]
struct Chip {
    bytes: Vec<u8>,
    calls: u32,
}

impl Chip {
    fn half_or_all(&mut self, bytes: usize) -> Result<usize, usize> {
        match self.calls.checked_sub(1) {
            None => Err(bytes / 2),
            Some(left) => {
                self.calls = left;
                Ok(bytes)
            }
        }
    }
}

impl ErrorType for Chip {
    type Error = Cut;
}

impl ReadNorFlash for Chip {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Cut> {
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Chip {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = HALF;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Cut> {
        assert!(from.is_multiple_of(HALF as u32) && to.is_multiple_of(HALF as u32));
        let done = self.half_or_all((to - from) as usize);
        self.bytes[from as usize..][..done.unwrap_or_else(|half| half)].fill(0xff);
        done.map(drop).map_err(|_| Cut)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Cut> {
        assert!(offset.is_multiple_of(4) && bytes.len().is_multiple_of(4));
        let done = self.half_or_all(bytes.len());
        let count = done.unwrap_or_else(|half| half);
        self.bytes[offset as usize..][..count].copy_from_slice(&bytes[..count]);
        done.map(drop).map_err(|_| Cut)
    }
}

fn loaded(chip: &Chip) -> Option<Vec<u8>> {
    let mut slots = Slots::open(chip.clone(), 0, 2 * HALF).expect("reads do not fail");
    let mut room = [0; HALF];
    let found = slots.load(&mut room).expect("nothing changes in between").map(<[u8]>::to_vec);
    assert_eq!(slots.saved(), found.as_ref().map(Vec::len));
    found
}

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    let mut chip = Chip { bytes: vec![0xff; 2 * HALF], calls: u32::MAX };
    for half in chip.bytes.chunks_mut(HALF) {
        let (sealed, any) = (input.is_sealed(), input.part());
        half.iter_mut().zip(any).for_each(|(slot, &byte)| *slot = byte);
        if sealed {
            half[..8].copy_from_slice(b"dppnslot");
            seal(half, false);
        }
    }
    let mut newest = loaded(&chip);
    for _ in 0..4 {
        chip.calls = if input.flag() { u32::MAX } else { u32::from(input.byte() % 8) };
        let bytes = input.part();
        let mut slots = Slots::open(chip.clone(), 0, 2 * HALF).expect("reads do not fail");
        let (capacity, sequence) = (slots.capacity(), slots.sequence());
        let saved = slots.save(bytes);
        chip = slots.into_flash();
        let found = loaded(&chip);
        match saved {
            Ok(number) => assert!(number == sequence + 1 && found.as_deref() == Some(bytes)),
            Err(_) if bytes.len() > capacity => assert_eq!(found, newest),
            Err(_) => assert!(found == newest || found.as_deref() == Some(bytes)),
        }
        newest = found;
    }
}
