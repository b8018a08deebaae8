//! Checkpoints: a fit resumes from its own, and refuses any other without touching it.

use crate::input::{Input, file, written};
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::Table;
use dpp_nystrom::kernel::{KernelKind, KernelSpec, Precision};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{Error, Model};
use dpp_nystrom::{
    Ridge,
    regression::{Checkpoint, FitParams, Fitted, fit},
};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

const ROWS: usize = 12;

fn source() -> &'static Prepared {
    static SOURCE: OnceLock<Prepared> = OnceLock::new();
    SOURCE.get_or_init(|| {
        let features: Vec<f64> = (0..ROWS).map(|row| row as f64).collect();
        let table = Table {
            name: "rows".into(),
            feature_names: vec!["x".into()],
            dim: 1,
            target: Some(features.iter().map(|x| x.sin()).collect()),
            features,
            target_name: Some("y".into()),
            weights: None,
        };
        Prepared::new(table, None, 1).expect("rows")
    })
}

fn fitted(path: &Path, every: Duration) -> Result<Fitted, Error> {
    let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
    let params = FitParams { kernel, ridge: Ridge::Value(1e-3), precision: Precision::F64, seed: 1 };
    let mut checkpoint = Checkpoint::new(path.to_owned(), every);
    fit(source(), &LandmarkSet::Indices(vec![2, 9]), params, Some(&mut checkpoint), &NoObserver)
}

/// Return the checkpoint that a fit leaves, and its model.
pub(crate) fn left() -> &'static (Vec<u8>, Model) {
    static LEFT: OnceLock<(Vec<u8>, Model)> = OnceLock::new();
    LEFT.get_or_init(|| {
        let path = file("left");
        let model = fitted(&path, Duration::ZERO).expect("a fit").model;
        (fs::read(path).expect("a checkpoint"), model)
    })
}

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    let sealed = input.is_sealed();
    let mut bytes = input.rest().to_vec();
    if sealed && bytes.len() >= 16 {
        bytes[..8].copy_from_slice(b"dppnyckp");
        let checksum = crc32fast::hash(&bytes[16..]);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
    }
    let path = written("checkpoint", &bytes);
    // Longer than a fit takes: nothing is written.
    let found = fitted(&path, Duration::from_secs(1_000));
    assert_eq!(fs::read(&path).expect("a file"), bytes);
    let (whole, model) = left();
    match found {
        Ok(Fitted { model: found, .. }) => {
            assert!(bytes != *whole || found == *model);
            assert!(found.predict(&[1.0]).is_ok_and(|values| values[0].is_finite()) || bytes != *whole);
        }
        Err(error) => assert!(bytes != *whole && !error.to_string().is_empty()),
    }
    // Nothing but a checkpoint is removed.
    Checkpoint::new(path.clone(), Duration::ZERO).remove().expect("a file");
    assert_eq!(path.exists(), !bytes.starts_with(b"dppnyckp"));
}
