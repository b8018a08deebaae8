//! The seeds of the fuzz targets and changes of them, at random: a look at each target in plain tests.
//! Fuzzing goes on where this ends (`tests/run fuzz`).

use crate::{begin, run, seeds};
use dpp_nystrom_core::Random;
use rand_core::Rng;
use std::panic::catch_unwind;
use std::path::Path;
use std::{env, fs};

/// Changes of each seed, unless ADVERSARIES says how many.
const CHANGES: usize = 60;

/// Return the inputs that fuzzing has found for a target, if FUZZ_CORPUS names their folder.
fn found(target: &str) -> Vec<Vec<u8>> {
    let files =
        env::var_os("FUZZ_CORPUS").and_then(|folder| fs::read_dir(Path::new(&folder).join(target)).ok());
    files.into_iter().flatten().map(|file| fs::read(file.expect("a file").path()).expect("a file")).collect()
}

/// Write over, cut, repeat and splice.
fn changed(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.next_u32() % 4 {
        if bytes.is_empty() {
            bytes.push(0);
        }
        let at = random.next_u32() as usize % bytes.len();
        let word = random.next_u32();
        let usual = [0, 1, 0xff, 0x7f, 0x80, b',', b'\n', b'"', b'0', b'?'];
        match random.next_u32() % 8 {
            0 => bytes[at] = word as u8,
            1 => bytes[at] ^= 1 << (word % 8),
            2 => bytes[at] = usual[word as usize % usual.len()],
            3 => bytes[at..].iter_mut().zip([0, 0, 0xc0, 0x7f]).for_each(|(slot, byte)| *slot = byte),
            4 => bytes[at..].iter_mut().zip(word.to_le_bytes()).for_each(|(slot, byte)| *slot = byte),
            5 => bytes.truncate(at),
            6 => bytes.extend_from_within(at..),
            _ => {
                bytes.truncate(at);
                bytes.extend(&other[other.len().min(word as usize % (other.len() + 1))..]);
            }
        }
        bytes.truncate(20_000);
    }
    bytes
}

#[test]
fn every_target_takes_its_seeds_and_changes_of_them() {
    begin();
    let changes = env::var("ADVERSARIES").ok().and_then(|text| text.parse().ok()).unwrap_or(CHANGES);
    let mut random = Random::seeded(17);
    let mut failed = Vec::new();
    'targets: for (target, seeds) in seeds::all() {
        let mut inputs = 0;
        for seed in &seeds {
            for change in 0..=changes {
                let other = &seeds[random.next_u32() as usize % seeds.len()];
                let input = if change == 0 { seed.clone() } else { changed(seed, other, &mut random) };
                if catch_unwind(|| run(target, &input)).is_err() {
                    failed.push(format!("{target}: {input:?}"));
                    continue 'targets;
                }
                inputs += 1;
            }
        }
        for input in found(target) {
            if catch_unwind(|| run(target, &input)).is_err() {
                failed.push(format!("{target}: {input:?}"));
                continue 'targets;
            }
            inputs += 1;
        }
        println!("{target}: {inputs} inputs");
    }
    assert!(failed.is_empty(), "the messages are above: {failed:#?}");
}
