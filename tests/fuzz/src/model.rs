//! Model files: what is read is written alike, predicts finite numbers or says which row does not, and so do
//! its exports.

use crate::input::{Input, file, written};
use dpp_nystrom::ErrorKind;
use dpp_nystrom::Model;
use dpp_nystrom::core::{Model as CoreModel, QuantisedModel};
use dpp_nystrom::model::export::{Bits, Bundle, Exported, Form, Name, With};
use std::slice;

/// Values of features.
const VALUES: [f64; 6] = [0.0, 1.5, -3e4, 1e300, f64::NAN, f64::INFINITY];

/// Write a length and a checksum that go with the content.
pub(crate) fn seal(bytes: &mut [u8]) {
    bytes[..8].copy_from_slice(b"dppnymod");
    let (head, content) = bytes.split_at_mut(24);
    head[12..20].copy_from_slice(&(content.len() as u64).to_le_bytes());
    head[20..24].copy_from_slice(&crc32fast::hash(content).to_le_bytes());
}

fn exported(model: &Model, bits: Option<Bits>, row: &[f32]) {
    let Ok(exported) = Exported::of(model, bits) else { return };
    let predicted = exported.predict_row(row);
    assert!(row.iter().all(|value| value.is_finite()) || predicted.is_err());
    let name = Name::new(&model.trained_on);
    let bundle = Bundle::of(slice::from_ref(model), bits, With::default()).expect("exported");
    for form in [Form::Rust, Form::C] {
        let text = bundle.write(form, &name).expect("memory");
        let text = std::str::from_utf8(&text).expect("text");
        assert!(!text.contains('\u{1b}') && text.lines().count() > 4);
    }
    // A device reads what is written for it.
    let bytes = exported.to_bytes().expect("memory");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let read = match bits {
        None => {
            CoreModel::from_bytes(bytes).map(|model| model.predict(row, &mut vec![0.0; exported.width()]))
        }
        Some(Bits::Sixteen) => QuantisedModel::<i16>::from_bytes(bytes)
            .map(|model| model.predict(row, &mut vec![0; 2 * (exported.features() + exported.width())])),
        Some(Bits::Eight) => QuantisedModel::<i8>::from_bytes(bytes)
            .map(|model| model.predict(row, &mut vec![0; 2 * (exported.features() + exported.width())])),
    };
    let read = read.expect("what was exported is a model");
    assert_eq!(read.map(f32::to_bits).ok(), predicted.map(f32::to_bits).ok());
}

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    let sealed = input.is_sealed();
    let mut bytes = input.rest().to_vec();
    if sealed && bytes.len() >= 24 {
        seal(&mut bytes);
    }
    let read = Model::from_bytes(&bytes);
    let loaded = Model::load(written("read.dpp", &bytes));
    assert_eq!(loaded.is_ok(), read.is_ok());
    let Ok(model) = read else { return };
    let path = file("written.dpp");
    model.save(&path).expect("a file");
    let written = model.to_bytes().expect("memory");
    assert_eq!(std::fs::read(&path).expect("a file"), written);
    let again = Model::from_bytes(&written).expect("what is written is a model");
    assert_eq!(again.to_bytes().expect("memory"), written);
    let dim = model.feature_names.len();
    if dim > 64 {
        return;
    }
    for value in VALUES {
        let row = vec![value; dim];
        match model.predict(&row) {
            Ok(outputs) => {
                assert!(value.is_finite() && outputs.len() == model.outputs());
                assert!(outputs.iter().all(|output| output.is_finite()));
                assert!(again.predict(&row).is_ok_and(|same| same == outputs));
                if let Ok(classes) = model.classify(&row) {
                    assert!(
                        classes[0].index < outputs.len() && (0.0..=1.0).contains(&classes[0].probability),
                        "{classes:?}"
                    );
                }
                assert!(model.clamp(outputs).iter().all(|output| output.is_finite()));
            }
            Err(error) => assert!(error.kind() != ErrorKind::Memory, "{error}"),
        }
        if let Ok(assessed) = model.assess(&row) {
            assert_eq!(assessed[0].value, model.predict(&row).expect("an assessment is of a prediction")[0]);
        }
    }
    for bits in [None, Some(Bits::Sixteen), Some(Bits::Eight)] {
        for value in [0.5, -20.0, f32::NAN] {
            exported(&model, bits, &vec![value; dim]);
        }
        let models = model.each_output();
        let with = With { novelty: input.rest().len().is_multiple_of(2), variance: true };
        if let Ok(bundle) = Bundle::of(&models, bits, with) {
            assert_eq!(bundle.outputs(), models.len());
            let _ = bundle.to_bytes();
        }
    }
    assert_eq!(model.recipe().feature_names().len(), dim);
}
