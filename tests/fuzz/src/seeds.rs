//! Seeds, made by the project itself: what its writers write, and tables as its users have them.

use crate::uses::{MODELS, SAVED, STATES};
use dpp_nystrom_core::{Progress, Random};
use std::path::Path;
use std::{fs, io};

/// Seeds of targets, by their names.
pub type Seeds = Vec<(&'static str, Vec<Vec<u8>>)>;

/// Seeds behind the bytes with which a target makes its choices.
pub(crate) fn after(first: &[u8], seeds: &[&[u8]]) -> Vec<Vec<u8>> {
    seeds.iter().map(|seed| [first, seed].concat()).collect()
}

/// Bytes behind their length.
pub(crate) fn part(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_le_bytes(), bytes].concat()
}

/// Write the seeds of each target to a folder of its name.
///
/// # Errors
/// Those of the system.
pub fn write(folder: &Path) -> io::Result<()> {
    for (target, seeds) in all() {
        let folder = folder.join(target);
        fs::create_dir_all(&folder)?;
        for (at, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{at}")), seed)?;
        }
    }
    Ok(())
}

/// Return the seeds of all targets.
pub fn all() -> Seeds {
    let all = core();
    #[cfg(feature = "adapter")]
    let all = [all, crate::adapter_seeds::all()].concat();
    all
}

/// Return the seeds of the core's targets.
fn core() -> Seeds {
    let any: Vec<u8> = (0..=255).collect();
    let generator = postcard::to_allocvec(&Random::seeded(7)).expect("memory");
    let progress = Progress { steps: 9, proposed: 8, accepted: 3, openings: 2 };
    let progress = postcard::to_allocvec(&progress).expect("memory");
    let calls =
        [0_u8, 0, 64, 80, 4, 70, 90, 4, 20, 30, 4, 90, 10, 5, 0, 0, 6, 64, 64, 6, 70, 90, 8, 0, 65, 10, 1, 2];
    let slot = |bytes: &[u8]| [&[0], part(bytes).as_slice()].concat();
    let flash = include_bytes!("../../core/formats/slot.bin");
    let flash = slot(&flash[..flash.len().min(512)]);
    let slots = [flash, slot(&[]), vec![1], part(b"kept"), vec![0, 2], part(&any[..200])].concat();
    let regression = [[&[0, 3, 1], any.as_slice()].concat(), [&[1, 1, 0], any.as_slice()].concat()].to_vec();
    let chain = vec![any.clone(), vec![1, 9, 1, 0, 3, 40, 80, 90, 100], any.iter().rev().copied().collect()];
    vec![
        ("bytes", after(&[0], &MODELS)),
        ("chain", chain),
        ("generator", vec![generator, progress, vec![0, 1, 7, 1, 9]]),
        ("regression", [after(&[2, 0], &STATES), regression].concat()),
        ("saved", [after(&[1, 0], &SAVED), after(&[0], &[&calls])].concat()),
        ("slots", vec![slots]),
    ]
}
