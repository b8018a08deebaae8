//! Models as bytes on a device: single precision, integers, classes, further sections.

use crate::input::Input;
use crate::uses::{seal, use_model};

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    let mode = input.byte();
    let mut bytes = input.rest().to_vec();
    if mode & 7 != 7 && bytes.len() >= 24 {
        seal(&mut bytes, mode & 8 == 0);
    }
    use_model(&bytes);
}

/// Also run on a machine of the other byte order, under Miri.
#[cfg(test)]
mod tests {
    use crate::uses::{MODELS, SAVED, STATES, use_model, use_saved, use_state};
    use dpp_nystrom_core::kernel::Gaussian;
    use dpp_nystrom_core::{Learner, StateHeader};

    /// States were written by a little-endian machine; what is read is written to the same bytes.
    #[test]
    fn states_are_the_same_bytes_in_either_order() {
        for bytes in STATES {
            assert!(use_state(bytes, StateHeader::read(bytes).unwrap().digest));
        }
        assert!(SAVED.iter().all(|bytes| use_saved(bytes)));
        let mut learner = Learner::<3, 4>::new();
        let generator = learner.read_state(Gaussian::new(2.0).unwrap(), SAVED[0]).unwrap();
        let mut again = [0; Learner::<3, 4>::STATE];
        let length = learner.write_state(generator, &mut again).unwrap();
        assert_eq!(&again[..length], SAVED[0]);
    }

    /// Models are used in place, which takes a little-endian machine.
    #[test]
    fn models_are_taken_or_refused_for_the_order() {
        assert!(MODELS.iter().all(|bytes| use_model(bytes) == cfg!(target_endian = "little")));
    }
}
