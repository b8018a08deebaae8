//! Two slots in flash: the power fails at every byte that is erased or written, and leaves arbitrary bits.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Learner, Random, Slots, StorageError};
use dpp_nystrom_golden::data::Sensor;
use dpp_nystrom_tests::script::SplitMix64;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use rand_core::Rng;
use std::ops::Range;

const START: u32 = 2 * 512;

/// What an operation leaves where it was cut off.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Left {
    /// Random bits in everything that the call was to change and had not finished.
    Random,
    /// The same, in the unit of writing alone that was in progress.
    RandomUnit,
    /// Each bit as before or as after.
    Mixed,
    Zeros,
    Ones,
    /// As before.
    Untouched,
    /// Bits that fail the check of ECC in the unit that was in progress: it cannot be read until it is
    /// erased.
    Unreadable,
}

const LEFT: [Left; 7] =
    [Left::Random, Left::RandomUnit, Left::Mixed, Left::Zeros, Left::Ones, Left::Untouched, Left::Unreadable];

/// A flash of these units. It checks that only erased bits are written, and fails after `power` bytes.
#[derive(Clone)]
struct Chip<const WRITE: usize, const ERASE: usize> {
    bytes: Vec<u8>,
    unreadable: Range<usize>,
    power: Option<usize>,
    spent: usize,
    left: Left,
    random: SplitMix64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Failed {
    Power,
    Unreadable,
    Refused(NorFlashErrorKind),
}

impl NorFlashError for Failed {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl<const W: usize, const E: usize> Chip<W, E> {
    fn new() -> Self {
        Self {
            bytes: vec![0x5a; 8 * 512],
            unreadable: 0..0,
            power: None,
            spent: 0,
            left: Left::Random,
            random: SplitMix64::seeded(1),
        }
    }

    /// Change bytes to `after`, in units of `unit`, as far as the power lasts.
    fn change(&mut self, from: usize, after: &[u8], unit: usize) -> Result<(), Failed> {
        let lasts = self.power.map_or(after.len(), |power| power.saturating_sub(self.spent).min(after.len()));
        self.spent += after.len();
        let done = if lasts == after.len() { lasts } else { lasts / unit * unit };
        self.bytes[from..from + done].copy_from_slice(&after[..done]);
        if lasts == after.len() {
            return Ok(());
        }
        if self.left == Left::Unreadable {
            self.unreadable = from + done..from + done + unit;
        }
        let end = if self.left == Left::RandomUnit { (done + unit).min(after.len()) } else { after.len() };
        for (byte, &after) in self.bytes[from + done..from + end].iter_mut().zip(&after[done..end]) {
            let bits = self.random.next_u32() as u8;
            *byte = match self.left {
                Left::Random | Left::RandomUnit | Left::Unreadable => bits,
                Left::Mixed => (*byte & bits) | (after & !bits),
                Left::Zeros => 0,
                Left::Ones => 0xff,
                Left::Untouched => *byte,
            };
        }
        Err(Failed::Power)
    }
}

impl<const W: usize, const E: usize> ErrorType for Chip<W, E> {
    type Error = Failed;
}

impl<const W: usize, const E: usize> ReadNorFlash for Chip<W, E> {
    const READ_SIZE: usize = if W < 4 { W } else { 4 };

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failed> {
        check_read(self, offset, bytes.len()).map_err(Failed::Refused)?;
        let (from, to) = (offset as usize, offset as usize + bytes.len());
        if from < self.unreadable.end && self.unreadable.start < to {
            return Err(Failed::Unreadable);
        }
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl<const W: usize, const E: usize> NorFlash for Chip<W, E> {
    const WRITE_SIZE: usize = W;
    const ERASE_SIZE: usize = E;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failed> {
        check_erase(self, from, to).map_err(Failed::Refused)?;
        // A sector is erased at once: none of its bytes is safe before all are.
        if (from as usize..to as usize).contains(&self.unreadable.start) {
            self.unreadable = 0..0;
        }
        self.change(from as usize, &vec![0xff; (to - from) as usize], E)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failed> {
        check_write(self, offset, bytes.len()).map_err(Failed::Refused)?;
        let erased = self.bytes[offset as usize..][..bytes.len()].iter().all(|&byte| byte == 0xff);
        assert!(erased, "bytes are written once after they were erased");
        self.change(offset as usize, bytes, W)
    }
}

fn open<const W: usize, const E: usize>(chip: Chip<W, E>) -> Slots<Chip<W, E>> {
    Slots::open(chip, START, 2 * 1024).unwrap()
}

fn content<const W: usize, const E: usize>(slots: &mut Slots<Chip<W, E>>) -> Option<Vec<u8>> {
    let mut room = [0; 1024];
    slots.load(&mut room).unwrap().map(<[u8]>::to_vec)
}

fn saves_and_loads<const W: usize, const E: usize>() {
    let mut slots = open(Chip::<W, E>::new());
    assert_eq!((content(&mut slots), slots.sequence(), slots.saved()), (None, 0, None));
    for (sequence, length) in (1..).zip([0, 1, 7, 223, 224, 225, 256, 480, 700, slots.capacity()]) {
        let bytes: Vec<u8> = (0..length).map(|i| (i * 31 + length) as u8).collect();
        assert_eq!(slots.save(&bytes), Ok(sequence));
        assert_eq!(content(&mut slots), Some(bytes.clone()));
        let mut again = open(slots.into_flash());
        assert_eq!(
            (content(&mut again), again.sequence(), again.saved()),
            (Some(bytes), sequence, Some(length))
        );
        slots = again;
    }
    let too_long = vec![0; slots.capacity() + 1];
    let have = slots.capacity();
    assert_eq!(slots.save(&too_long), Err(StorageError::Capacity { needed: have + 1, have }));
    assert_eq!(slots.load(&mut [0; 5]), Err(StorageError::Capacity { needed: have, have: 5 }));
}

#[test]
fn bytes_are_saved_and_loaded_in_units_of_every_size() {
    saves_and_loads::<1, 512>();
    saves_and_loads::<4, 512>();
    saves_and_loads::<8, 256>();
    saves_and_loads::<32, 1024>();
    saves_and_loads::<64, 512>();
    saves_and_loads::<256, 1024>();
}

/// A slot each before and after, whatever was cut, and it goes on.
fn survives<const W: usize, const E: usize>() {
    let (old, new, later) = (vec![1; 300], vec![2; 333], vec![3; 10]);
    let mut unreadable = 0;
    // The slots that do not hold the newest: erased, older, or never used.
    for saves in 0..4 {
        let mut slots = open(Chip::<W, E>::new());
        for save in 0..saves {
            slots.save(&vec![100 + save; 400]).unwrap();
        }
        slots.save(&old).unwrap();
        let before = slots.into_flash();
        let whole = open(before.clone());
        let spent = whole.flash_spent(|slots| slots.save(&new).unwrap());
        for power in 0..=spent {
            for left in LEFT {
                let mut chip = before.clone();
                (chip.power, chip.spent, chip.left) = (Some(power), 0, left);
                chip.random = SplitMix64::seeded((power as u64) << 8 | left as u64);
                let mut slots = open(chip);
                let result = slots.save(&new);
                let place = format!("{W} {E} {saves} {power} {left:?}");
                assert_eq!(result.is_ok(), power == spent, "{place}");
                let expected = if power == spent { &new } else { &old };
                if result.is_err() {
                    assert_eq!(result, Err(StorageError::Flash(Failed::Power)));
                }
                // The power comes back.
                let mut chip = slots.into_flash();
                chip.power = None;
                let mut slots = open(chip);
                // Behind a header that was not written nothing is read.
                assert!(!slots.has_unreadable() || left == Left::Unreadable && power < spent, "{place}");
                unreadable += usize::from(slots.has_unreadable());
                let found = content(&mut slots).unwrap();
                // What is left may by chance be what was to be written last: then the new bytes are whole.
                assert!(&found == expected || (found == new && power + W >= spent), "{place}");
                slots.save(&later).unwrap();
                assert!(!slots.has_unreadable(), "{place}");
                assert_eq!(content(&mut slots), Some(later.clone()), "{place}");
                assert_eq!(content(&mut open(slots.into_flash())), Some(later.clone()), "{place}");
            }
        }
    }
    assert!(unreadable > 0);
}

/// Without a whole slot, one that cannot be read is an error: it may hold what was saved.
#[test]
fn a_slot_that_cannot_be_read_is_an_error_beside_none_that_is_whole() {
    let region = (START, 2 * 1024);
    for saves in [0, 1] {
        let mut slots = open(Chip::<4, 512>::new());
        (0..saves).for_each(|_| assert!(slots.save(&[7; 100]).is_ok()));
        for second in [false, true] {
            let mut chip = slots.into_flash();
            let at = START as usize + if second { 1024 } else { 0 } + 40 * saves;
            chip.unreadable = at..at + 4;
            let found = Slots::open(chip.clone(), region.0, region.1).map(|slots| slots.sequence());
            let expected =
                if saves == 1 && second { Ok(1) } else { Err(StorageError::Flash(Failed::Unreadable)) };
            assert_eq!(found, expected, "{saves} {second}");
            chip.unreadable = 0..0;
            slots = open(chip);
        }
    }
}

trait Spent {
    fn flash_spent<V>(self, work: impl FnOnce(&mut Self) -> V) -> usize;
}

impl<const W: usize, const E: usize> Spent for Slots<Chip<W, E>> {
    fn flash_spent<V>(mut self, work: impl FnOnce(&mut Self) -> V) -> usize {
        let mut chip = self.into_flash();
        chip.spent = 0;
        self = open(chip);
        work(&mut self);
        self.into_flash().spent
    }
}

#[test]
fn a_loss_of_power_at_any_byte_loses_nothing_that_was_saved() {
    survives::<4, 512>();
    survives::<1, 256>();
    survives::<32, 1024>();
}

#[test]
fn regions_that_do_not_fit_are_refused() {
    for (start, length) in
        [(0, 0), (0, 512), (100, 1024), (0, 1025), (0, 1536), (512, 8 * 512), (u32::MAX - 511, 1024)]
    {
        let found = Slots::open(Chip::<4, 512>::new(), start, length).map(|slots| slots.capacity());
        assert_eq!(found, Err(StorageError::Region), "{start} {length}");
    }
}

#[test]
fn a_flash_that_does_not_keep_its_bytes_is_an_error() {
    let mut slots = open(Chip::<4, 512>::new());
    slots.save(&[1; 40]).unwrap();
    slots.save(&[2; 40]).unwrap();
    let mut chip = slots.into_flash();
    let second = START as usize + 1024;
    chip.bytes[second + 50] ^= 4;
    let mut slots = open(chip);
    assert_eq!(content(&mut slots), Some(vec![1; 40]));
    // Read-only: the write is accepted, and nothing changes.
    struct Stuck(Chip<4, 512>);
    impl ErrorType for Stuck {
        type Error = Failed;
    }
    impl ReadNorFlash for Stuck {
        const READ_SIZE: usize = 4;
        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failed> {
            self.0.read(offset, bytes)
        }
        fn capacity(&self) -> usize {
            self.0.capacity()
        }
    }
    impl NorFlash for Stuck {
        const WRITE_SIZE: usize = 4;
        const ERASE_SIZE: usize = 512;
        fn erase(&mut self, _: u32, _: u32) -> Result<(), Failed> {
            Ok(())
        }
        fn write(&mut self, _: u32, _: &[u8]) -> Result<(), Failed> {
            Ok(())
        }
    }
    let mut stuck = Slots::open(Stuck(slots.into_flash()), START, 2048).unwrap();
    assert_eq!(stuck.save(&[3; 40]), Err(StorageError::Unverified));
    let mut room = [0; 40];
    assert_eq!(stuck.load(&mut room), Ok(Some(&[1; 40][..])));
}

/// Learned on 200 rows, with a save every 20 that is cut off at some byte: the same bits as without the cut.
#[test]
fn a_learner_that_loses_its_power_in_mid_save_ends_the_same() {
    type Device = Learner<8, 4>;
    let kernel = || Gaussian::new(4.0).unwrap();
    let run = |cut: Option<(usize, usize)>| {
        let mut slots = Slots::open(Chip::<4, 512>::new(), 0, 4096).unwrap();
        let (mut learner, mut random) = (Device::new(), Random::seeded(1));
        let readings: Vec<_> = Sensor::new(1).take(460).collect();
        learner.start(kernel());
        let mut at = 0;
        let mut cut = cut;
        while at < readings.len() {
            let reading = &readings[at];
            match at {
                0..60 => learner.scale(&reading.row, reading.target).unwrap(),
                60 => learner.freeze_scaling().unwrap(),
                61..260 => assert!(learner.offer(&reading.row, &mut random).is_ok()),
                260 => learner.freeze_landmarks().unwrap(),
                _ => learner.learn(&reading.row, reading.target).unwrap(),
            }
            at += 1;
            if at % 20 == 0 {
                let mut bytes = [0; Device::STATE];
                let length = learner.write_state(random.state(), &mut bytes).unwrap();
                let mut chip = slots.into_flash();
                chip.spent = 0;
                chip.power = cut.filter(|&(save, _)| save == at / 20).map(|(_, power)| power);
                slots = Slots::open(chip, 0, 4096).unwrap();
                if slots.save(&bytes[..length]).is_err() {
                    cut = None;
                    let mut chip = slots.into_flash();
                    chip.power = None;
                    slots = Slots::open(chip, 0, 4096).unwrap();
                    (learner, random, at) = (Device::new(), Random::seeded(1), 0);
                    learner.start(kernel());
                    if let Some(state) = slots.load(&mut bytes).unwrap() {
                        random = Random::resume(learner.read_state(kernel(), state).unwrap());
                        at = slots.sequence() as usize * 20;
                    }
                }
            }
        }
        learner.solve(1e-6).unwrap();
        Sensor::new(9)
            .take(20)
            .map(|reading| learner.predict(&reading.row).unwrap().to_bits())
            .collect::<Vec<_>>()
    };
    let whole = run(None);
    for save in 1..=23 {
        for power in (0..2_400).step_by(97) {
            assert_eq!(run(Some((save, power))), whole, "{save} {power}");
        }
    }
}
