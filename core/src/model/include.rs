//! A model's bytes as a part of the program: aligned, and checked at compile time.

use super::bytes::{LATEST, MAGIC};
use crate::checksum::crc32;
use crate::error::BytesProblem;
use crate::frame::CHECKED;

/// The bytes of a model at a multiple of 4, as [`crate::Model::from_bytes`] needs them.
/// [`include_model!`](crate::include_model) creates them from a file.
///
/// ```
/// use dpp_nystrom_core::{BytesProblem, ModelBytes};
///
/// let empty = ModelBytes::new(*b"no model");
/// assert_eq!(empty.err(), Some(BytesProblem::Foreign));
/// assert_eq!(align_of::<ModelBytes<7>>(), 4);
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C, align(4))]
pub struct ModelBytes<const N: usize>([u8; N]);

impl<const N: usize> ModelBytes<N> {
    /// Keep the bytes, after a check of the magic number, the version, the length and the checksum. Constant:
    /// in a static, it costs the device nothing. What the arrays hold is checked by
    /// [`crate::Model::from_bytes`].
    ///
    /// # Errors
    /// The problem: bytes that are damaged, truncated, or of another format.
    pub const fn new(bytes: [u8; N]) -> Result<Self, BytesProblem> {
        let mut i = 0;
        while i < MAGIC.len() {
            if i >= N || bytes[i] != MAGIC[i] {
                return Err(BytesProblem::Foreign);
            }
            i += 1;
        }
        let [Some(checksum), Some(version), Some(length)] =
            [word(&bytes, 8), word(&bytes, 12), word(&bytes, 16)]
        else {
            return Err(BytesProblem::Truncated { needed: 20, have: N });
        };
        if version == 0 || version > LATEST {
            return Err(BytesProblem::Version(version));
        }
        match bytes.split_at_checked(length as usize) {
            None => Err(BytesProblem::Truncated { needed: length as usize, have: N }),
            Some((whole, _)) => match whole.split_at_checked(CHECKED) {
                Some((_, checked)) if crc32(checked) == checksum => Ok(Self(bytes)),
                _ => Err(BytesProblem::Corrupt),
            },
        }
    }

    /// Return the bytes.
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Return the word at this place, if there is one.
const fn word(bytes: &[u8], at: usize) -> Option<u32> {
    match bytes.split_at_checked(at) {
        Some((_, [a, b, c, d, ..])) => Some(u32::from_le_bytes([*a, *b, *c, *d])),
        _ => None,
    }
}

/// Include the file of a model, which `dpp-nystrom export --to bytes` writes, in the program: a
/// `&'static [u8]` for [`Model::from_bytes`](crate::Model::from_bytes) or
/// [`QuantisedModel::from_bytes`](crate::QuantisedModel::from_bytes).
///
/// `include_bytes!` does not align the bytes, so that a program with it may work, and fail after the next
/// build. This macro aligns them, and a file that is not a whole model does not compile. The path is relative
/// to the source file, as that of `include_bytes!`.
///
/// ```
/// use dpp_nystrom_core::{Model, include_model};
///
/// static MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/core/formats/single.bin"));
/// let model = Model::from_bytes(MODEL)?;
/// assert_eq!(model.features(), 2);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
///
/// ```compile_fail,E0080
/// use dpp_nystrom_core::include_model;
///
/// static NO_MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
/// ```
#[macro_export]
macro_rules! include_model {
    ($path:expr $(,)?) => {{
        // The checksum of a large model takes long enough for the compiler to ask whether it ends.
        #[allow(long_running_const_eval)]
        static MODEL: $crate::ModelBytes<{ ::core::include_bytes!($path).len() }> =
            match $crate::ModelBytes::new(*::core::include_bytes!($path)) {
                ::core::result::Result::Ok(model) => model,
                ::core::result::Result::Err(_) => {
                    ::core::panic!(
                        "the file is not a whole model, as dpp-nystrom export --to bytes writes it"
                    )
                }
            };
        MODEL.as_bytes()
    }};
}
