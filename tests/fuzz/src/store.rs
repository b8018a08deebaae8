//! Row stores: any description before any values, mapped into memory.

use crate::input::{Input, written};
use dpp_nystrom::Error;
use dpp_nystrom::data::store::{Description, Store, StoredClass};
use dpp_nystrom::data::table::Recipe;
use dpp_nystrom::data::{Order, RowSlices, RowSource};

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
    // With classes if that is how all of the rest is read.
    let classes = postcard::from_bytes::<(Recipe, Vec<StoredClass>)>(recipe);
    let version = if recipe.is_empty() { 1 } else { 2 + u32::from(classes.is_ok()) };
    let mut bytes = framed(version, &content);
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
    assert_eq!(Store::is_store(&path), bytes.starts_with(b"dppnyrow"));
    let Ok(store) = Store::open(&path) else { return };
    let (rows, features) = (store.len(), store.features());
    let source: &dyn RowSource = &store;
    assert_eq!((source.len(), source.width(), store.is_empty()), (rows, features, false));
    assert_eq!(source.columns().features(), features);
    assert_eq!(source.precision(), Some(store.precision()));
    assert_eq!(source.recipe(), store.description().recipe.as_ref());
    assert_eq!(source.checksum(), store.description().checksum);
    assert!(source.slices().is_some() && source.check().is_ok());
    assert!(
        store.has_features(&store.description().feature_names).is_ok() && store.has_features(&[]).is_err()
    );
    assert_eq!(source.columns().classes.map_or(Vec::new(), |classes| classes.labels), store.labels());
    source.expect(if rows.is_multiple_of(2) { Order::Random } else { Order::Sequential });
    if let Ok(gathered) = source.gather(&[rows - 1, 0]) {
        assert_eq!(gathered.rows().len(), 2 * features);
    }
    assert!(rows > 0 && features > 0 && bytes.len() >= rows * features * 4);
    assert!(store.gather(&[rows]).is_err() && store.table_of(&[usize::MAX]).is_err());
    assert_eq!(store.gather(&[0]).expect("a row").rows().len(), features);
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
            let classes = source.class_indices().map_or(0, |classes| classes.indicators.len());
            assert_eq!(classes, store.labels().len());
            let whole = source.in_memory("a test", 1);
            assert!(whole.is_err() || source.sample(rows, 3).is_ok());
            passed.expect("values that were verified");
            assert_eq!(read, rows);
        }
        Err(_) => assert!(passed.is_err() && read == 0),
    }
}
