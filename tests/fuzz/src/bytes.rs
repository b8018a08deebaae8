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
