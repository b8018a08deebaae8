//! Learners, chains over streams, generators and counters, as saved on a device.

use crate::input::Input;
use crate::uses::{seal, use_saved};
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Learner, Progress, Random, Standard};
use rand_core::Rng;

/// The most calls of an input.
const CALLS: usize = 16;

type Small = Learner<3, 2>;

fn written(learner: &mut Small, random: &Random) -> Option<Vec<u8>> {
    let mut bytes = vec![0; Small::STATE];
    let length = learner.write_state(random.state(), &mut bytes).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

/// The calls of a device, in any order and with any numbers.
fn calls(input: &mut Input<'_>) {
    let kernel = Gaussian::new(1.0).unwrap();
    let mut learner = Small::new();
    let mut random = Random::seeded(1);
    let mut before = written(&mut learner, &random);
    for _ in 0..CALLS {
        if input.is_empty() {
            break;
        }
        let generator = random.clone();
        let call = input.below(13);
        let row = [input.number() as f32, input.number() as f32];
        let number = row[1];
        let done = match call {
            0 => {
                learner.start(kernel);
                Ok(())
            }
            1 => {
                let standard = Standard {
                    means: row,
                    scales: [number, row[0]],
                    target_mean: row[0],
                    target_scale: number,
                };
                learner.start_scaled(kernel, &standard)
            }
            2 => learner.scale(&row, number),
            3 => learner.freeze_scaling(),
            4 => learner.offer(&row, &mut random).map(drop),
            5 => learner.freeze_landmarks(),
            6 => learner.learn(&row, number),
            7 => learner.forget(number),
            8 => learner.solve(number).map(drop),
            9 => learner.exchange(&row).map(drop),
            10 => learner.choose_gamma().map(drop),
            11 => learner.freeze_scaling_allowing(&[0, 2]),
            _ => learner.predict(&row).map(|predicted| {
                assert!(
                    row.iter().all(|value| value.is_finite()) && !predicted.is_nan(),
                    "{row:?}: {predicted}"
                );
            }),
        };
        if done.is_err() {
            // A draw of the generator is all that an error may take.
            assert_eq!(written(&mut learner, &generator), before, "{call}: {done:?}");
        }
        let after = written(&mut learner, &random);
        if let Some(bytes) = after.as_ref().filter(|_| after != before) {
            let mut other = Small::new();
            let resumed = other.read_state(kernel, bytes);
            assert_eq!(resumed.map(Random::resume).as_ref(), Ok(&random), "{call}");
            assert_eq!(written(&mut other, &random), after);
        }
        before = after;
    }
}

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    if input.below(3) == 0 {
        return calls(&mut input);
    }
    let sealed = input.is_sealed();
    let mut bytes = input.rest().to_vec();
    if sealed && bytes.len() >= 24 {
        seal(&mut bytes, true);
    }
    use_saved(&bytes);
}

/// Generators and counters in postcard's format and as plain bytes.
pub(crate) fn generator(data: &[u8]) {
    let mut state = [0; 16];
    state.iter_mut().zip(data).for_each(|(slot, &byte)| *slot = byte);
    let mut random = Random::resume(state);
    assert!(state == [0; 16] || random.state() == state);
    assert_eq!(Random::resume(random.state()), random);
    random.next_u64();
    let kept = postcard::to_allocvec(&random).unwrap();
    // The older form says how many draws to repeat, up to minutes: it is read where these are few.
    let older = postcard::from_bytes::<(Option<[u8; 16]>, Option<u64>, Option<u64>)>(data);
    if older.is_ok_and(|(state, _, drawn)| state.is_some() || drawn.is_none_or(|drawn| drawn < 1_000))
        && let Ok(mut random) = postcard::from_bytes::<Random>(data)
    {
        assert_eq!(postcard::from_bytes(&postcard::to_allocvec(&random).unwrap()), Ok(random.clone()));
        random.next_u32();
        assert_ne!(random.state(), [0; 16]);
    }
    assert!(!kept.is_empty());
    if let Ok(progress) = postcard::from_bytes::<Progress>(data) {
        assert_eq!(postcard::from_bytes(&postcard::to_allocvec(&progress).unwrap()), Ok(progress));
    }
}
