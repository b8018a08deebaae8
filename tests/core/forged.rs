//! Bytes of any content under a checksum that matches: a reader refuses them, or what it returns can be used.
//! Nothing panics; integer overflow and broken invariants do so in this build.

use crate::uses::{MODELS, SAVED, STATES, use_model, use_saved, use_state};
use dpp_nystrom_core::StateHeader;
use proptest::prelude::*;

/// A change of the bytes.
#[derive(Clone, Debug)]
enum Edit {
    Byte(prop::sample::Index, u8),
    Word(prop::sample::Index, u32),
    /// Take the end away.
    Cut(prop::sample::Index),
    /// Repeat a part at the end.
    Repeat(prop::sample::Index, prop::sample::Index),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let words = prop_oneof![
        any::<u32>(),
        0..70_u32,
        prop::sample::select(vec![
            u32::MAX,
            u32::MAX / 2,
            1 << 31,
            f32::NAN.to_bits(),
            f32::MAX.to_bits(),
            1,
            0x8000_0001
        ]),
    ];
    let edit = prop_oneof![
        3 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
        6 => (any::<prop::sample::Index>(), words).prop_map(|(at, word)| Edit::Word(at, word)),
        1 => any::<prop::sample::Index>().prop_map(Edit::Cut),
        1 => any::<(prop::sample::Index, prop::sample::Index)>().prop_map(|(from, to)| Edit::Repeat(from, to)),
    ];
    prop::collection::vec(edit, 1..6)
}

/// Make the changes, and write a length and a checksum that go with them; the length only where it was not
/// changed itself.
fn forged(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for edit in edits {
        match edit {
            Edit::Byte(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Edit::Word(at, word) => {
                let at = at.index(bytes.len() / 4) * 4;
                bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            Edit::Cut(at) => bytes.truncate(at.index(bytes.len()).max(24)),
            Edit::Repeat(from, to) => {
                let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
                bytes.extend_from_within(from.min(to)..from.max(to));
                bytes.truncate(4_096);
            }
        }
    }
    let resized = edits.iter().any(|edit| matches!(edit, Edit::Cut(_) | Edit::Repeat(..)));
    crate::uses::seal(&mut bytes, resized);
    bytes
}

fn digest_of(state: &[u8]) -> u64 {
    StateHeader::read(state).unwrap().digest
}

#[test]
fn the_examples_are_read() {
    assert!(MODELS.iter().all(|bytes| use_model(bytes)));
    assert!(STATES.iter().all(|bytes| use_state(bytes, digest_of(bytes))));
    assert!(SAVED.iter().all(|bytes| use_saved(bytes)));
}

/// A pivot that is off by all that is taken for rounding is read, and drifts beyond it.
#[test]
fn a_factor_at_the_limit() {
    let mut bytes = SAVED[1].to_vec();
    // The low word of the first pivot, which is 1.
    bytes[200..204].copy_from_slice(&32_u32.to_le_bytes());
    crate::uses::seal(&mut bytes, false);
    assert!(use_saved(&bytes));
}

/// Return where the content of a section begins.
fn section(bytes: &[u8], wanted: u32) -> usize {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let count = word(20) as usize;
    let mut begin = 24 + 8 * count;
    for entry in (24..begin).step_by(8) {
        if word(entry) == wanted {
            return begin;
        }
        begin += word(entry + 4) as usize;
    }
    panic!("no section {wanted}");
}

/// Counters that another step would overflow.
#[test]
fn counters_at_their_end() {
    for (saved, progress) in [(SAVED[0], 6), (SAVED[1], 5), (SAVED[2], 6)] {
        let begin = section(saved, progress);
        for counter in 0..4 {
            let mut bytes = saved.to_vec();
            bytes[begin + 8 * counter..][..8].copy_from_slice(&u64::MAX.to_le_bytes());
            crate::uses::seal(&mut bytes, false);
            assert!(!use_saved(&bytes), "{progress} {counter}");
        }
    }
}

/// A number that is not finite, in any place of a model with every section.
#[test]
fn nan_in_any_place_of_a_model() {
    let model = MODELS[5];
    // Three words of the header have no meaning for its kernel.
    for at in (20..40).chain(52..model.len()).step_by(4) {
        let mut bytes = model.to_vec();
        bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        crate::uses::seal(&mut bytes, false);
        assert!(!use_model(&bytes), "byte {at}");
    }
}

/// As many cases as `PROPTEST_CASES` says.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn forged_models(seed in 0..MODELS.len(), edits in edits()) {
        use_model(&forged(MODELS[seed], &edits));
    }

    #[test]
    fn forged_states(seed in 0..STATES.len(), edits in edits()) {
        use_state(&forged(STATES[seed], &edits), digest_of(STATES[seed]));
    }

    #[test]
    fn forged_learners_and_chains(seed in 0..SAVED.len(), edits in edits()) {
        use_saved(&forged(SAVED[seed], &edits));
    }
}
