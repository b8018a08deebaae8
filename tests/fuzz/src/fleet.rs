//! States of devices: what is read is written alike, and merges into a model of finite numbers or an error.

use crate::checkpoint::left;
use crate::input::Input;
use crate::uses::seal;
use dpp_nystrom::core::{Origin, StateHeader};
use dpp_nystrom::data::table::Table;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{
    Ridge,
    regression::{Accumulator, Aggregate, Fleet, MergeLimits, Received},
};
use std::sync::OnceLock;

/// Return a state of some rows, and its digest.
pub(crate) fn state() -> &'static (Vec<u8>, u64, Accumulator<f32>) {
    static STATE: OnceLock<(Vec<u8>, u64, Accumulator<f32>)> = OnceLock::new();
    STATE.get_or_init(|| {
        let fleet = Fleet::of(&left().1).expect("a fleet");
        let features: Vec<f64> = (0..9).map(|row| f64::from(row) * 1.5).collect();
        let table = Table {
            name: "device".into(),
            feature_names: vec!["x".into()],
            dim: 1,
            target: Some(features.iter().map(|x| x.sin() + 0.1).collect()),
            features,
            target_name: Some("y".into()),
            weights: None,
        };
        let sums = fleet.accumulate(&table).expect("rows");
        let bytes = fleet.state(&sums, Some(Origin { device: 3, counter: 1 })).expect("memory");
        let digest = StateHeader::read(&bytes).expect("a state").digest;
        (bytes, digest, sums)
    })
}

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    let (own, digest, good) = state();
    let sealed = input.is_sealed();
    let mut bytes = own.clone();
    match input.below(3) {
        // A state of which some bytes are others.
        0 | 1 => {
            while !input.is_empty() {
                let at = input.byte() as usize % bytes.len();
                input.part().iter().zip(&mut bytes[at..]).for_each(|(&byte, slot)| *slot = byte);
            }
        }
        _ => bytes = input.rest().to_vec(),
    }
    if sealed && bytes.len() >= 40 {
        seal(&mut bytes, true);
    }
    let model = &left().1;
    let fleet = Fleet::of(model).expect("a fleet");
    let Ok(read) = fleet.read(&bytes) else { return };
    let header = StateHeader::read(&bytes).expect("what is read has a header");
    assert_eq!(header.digest, *digest);
    assert_eq!(read.rows(), header.rows);
    assert!(read.values().iter().all(|value| value.is_finite()));
    let written = fleet.state(&read, header.origin).expect("memory");
    assert_eq!(fleet.read(&written).expect("what is written is a state"), read);
    let all = [good.clone(), read, good.clone()];
    let states = all.clone().map(|sums| Received::of("device", sums));
    let _ = fleet.examine(&states, MergeLimits::default(), Ridge::Value(1e-3), &NoObserver);
    for ridge in [Ridge::Value(1e-3), Ridge::CrossValidated] {
        for aggregate in [Aggregate::Rows, Aggregate::Robust] {
            let Ok(fitted) = fleet.merge(&all, ridge, aggregate, &NoObserver) else { continue };
            let kept = fitted.model.to_bytes().expect("memory");
            dpp_nystrom::Model::from_bytes(&kept).expect("a merged model is a model");
        }
    }
}
