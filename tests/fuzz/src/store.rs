//! Row stores: any description before any values, mapped into memory.

use crate::input::{Input, written};
use dpp_nystrom::data::store::{Description, Store};
use dpp_nystrom::data::{RowSlices, RowSource};
use dpp_nystrom::error::Error;

/// Rows begin at a multiple of this.
const PAGE: usize = 4_096;

/// The frame of a description, whose checksum covers version, length and content.
fn framed(version: u32, content: &[u8]) -> Vec<u8> {
    let between = [version.to_le_bytes(), (content.len() as u32).to_le_bytes()].concat();
    let checksum = crc32fast::hash(&[between.as_slice(), content].concat());
    [b"dppnyrow".as_slice(), &between, &checksum.to_le_bytes(), content].concat()
}

/// Describe these values as an input says, with the checksum that they have.
pub(crate) fn described(description: &[u8], values: &[u8]) -> Option<Vec<u8>> {
    let (mut found, recipe) = postcard::take_from_bytes::<Description>(description).ok()?;
    found.checksum = crc32fast::hash(values);
    let content = [postcard::to_allocvec(&found).ok()?.as_slice(), recipe].concat();
    let mut bytes = framed(if recipe.is_empty() { 1 } else { 2 }, &content);
    bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
    bytes.extend(values);
    Some(bytes)
}

fn is_finite(slices: &RowSlices<'_>) -> bool {
    match slices {
        RowSlices::F32(rows, targets) => {
            rows.iter().chain(targets.unwrap_or_default()).all(|value| value.is_finite())
        }
        RowSlices::F64(rows, targets) => {
            rows.iter().chain(targets.unwrap_or_default()).all(|value| value.is_finite())
        }
    }
}

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    let bytes = match input.below(8) {
        7 => input.rest().to_vec(),
        6 => {
            let version = u32::from(input.byte());
            let mut bytes = framed(version, input.part());
            bytes.extend(input.rest());
            bytes
        }
        _ => {
            let description = input.part();
            match described(description, input.rest()) {
                Some(bytes) => bytes,
                None => return,
            }
        }
    };
    let path = written("a.rows", &bytes);
    let Ok(store) = Store::open(&path) else { return };
    let (rows, features) = (store.len(), store.features());
    assert!(rows > 0 && features > 0 && bytes.len() >= rows * features * 4);
    assert!(store.gather(&[rows]).is_err() && store.table_of(&[usize::MAX]).is_err());
    assert_eq!(store.gather(&[0]).expect("a row").rows.len(), features);
    let _ = (store.table_of_sample(1, 7), store.in_memory("a test", 1).map(drop), store.read(Some(2), 3));
    let mut read = 0;
    let passed = store.read_blocks(|block| {
        assert!(block.dim == features && block.features.len() == block.rows() * features);
        read += block.rows();
        Ok::<(), Error>(())
    });
    match store.verify() {
        Ok(()) => {
            assert!(is_finite(&store.slices()));
            passed.expect("values that were verified");
            assert_eq!(read, rows);
        }
        Err(_) => assert!(passed.is_err() && read == 0),
    }
}
