//! The authentication tag of a state: HMAC-SHA-256 (RFC 2104, FIPS 180-4) under a key of the device.
//!
//! A checksum finds accidents: anyone can compute it. The tag can only be computed with the key. It covers
//! the magic number and bytes 12 to the end, with zeros where it stands itself.

use super::state::{MAGIC, StateHeader, TAG};
use crate::error::{BytesProblem, Error, Known};
use crate::frame;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Write the tag into a state of version 2 or 3, one with an [`Origin`](crate::Origin). Bytes after the state
/// are left as they are.
///
/// ```
/// use dpp_nystrom_core::{Origin, RidgeRegression, RidgeWorkspace, sign_state, state_bytes_of, verify_state};
///
/// let key = [7; 32];
/// let mut memory = RidgeWorkspace::<f32, 2>::new();
/// let mut ridge = RidgeRegression::new(2, memory.lend())?;
/// ridge.add(&[1.0, 0.5], 2.0)?;
///
/// let mut bytes = [0; state_bytes_of::<f32>(2, 1)];
/// ridge.write_state_from(Origin { device: 12, counter: 1 }, 0xD16E57, &mut bytes)?;
/// sign_state(&mut bytes, &key)?;
/// assert_eq!(verify_state(&bytes, &key)?.origin, Some(Origin { device: 12, counter: 1 }));
/// assert!(verify_state(&bytes, &[8; 32]).is_err());
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::StateBytes`] with the problem: [`BytesProblem::Tag`] for version 1, which has no place for it.
/// Nothing is written then.
pub fn sign_state(bytes: &mut [u8], key: &[u8; 32]) -> Result<(), Error> {
    let StateHeader { length, .. } = check(bytes)?;
    let tag: [u8; 32] = mac(bytes, length, key).known()?.finalize().into_bytes().into();
    let bytes = bytes.get_mut(..length).known()?;
    bytes.get_mut(TAG..).and_then(|from| from.first_chunk_mut()).map(|slot| *slot = tag).known()?;
    frame::seal(bytes, MAGIC).known()
}

/// Check the bytes of a state and its tag, and return the header. The comparison takes the same time for
/// every tag.
///
/// # Errors
/// [`Error::StateBytes`] with the problem: [`BytesProblem::Tag`] for the tag of another key, for none, or for
/// content that was changed.
///
/// ```
/// use dpp_nystrom_core::{BytesProblem, Error, RidgeRegression, RidgeWorkspace, state_bytes, verify_state};
///
/// let mut memory = RidgeWorkspace::<f32, 2>::new();
/// let mut bytes = [0; state_bytes::<f32>(2)];
/// RidgeRegression::new(2, memory.lend())?.write_state(0xD16E57, &mut bytes)?;
/// // Version 1 has no place for a tag: `write_state_from` writes one that has.
/// assert_eq!(verify_state(&bytes, &[7; 32]), Err(Error::StateBytes(BytesProblem::Tag)));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub fn verify_state(bytes: &[u8], key: &[u8; 32]) -> Result<StateHeader, Error> {
    let header = check(bytes)?;
    let verified = mac(bytes, header.length, key).known()?.verify_slice(&header.tag);
    verified.map(|()| header).map_err(|_| Error::StateBytes(BytesProblem::Tag))
}

/// Check the bytes of a state that has a place for a tag.
fn check(bytes: &[u8]) -> Result<StateHeader, Error> {
    let header = StateHeader::read(bytes)?;
    if header.version == 1 { Err(Error::StateBytes(BytesProblem::Tag)) } else { Ok(header) }
}

/// Authenticate what the tag covers.
fn mac(bytes: &[u8], length: usize, key: &[u8; 32]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(MAGIC);
    mac.update(bytes.get(frame::CHECKED..TAG)?);
    mac.update(&[0; 32]);
    mac.update(bytes.get(TAG + 32..length)?);
    Some(mac)
}
