//! Truncated, damaged, foreign and forged model files. All are rejected before any content is used.

use crate::command::Folder;
use crate::sample::Sample;
use dpp_nystrom::Error;
use dpp_nystrom::ErrorKind;
use dpp_nystrom::Model;
use std::path::Path;
use std::time::{Duration, Instant};

/// Offset of the content.
const HEADER: usize = 24;

/// Create a folder with the rows `a.csv` and the model `m`, without further sections; return that model's
/// bytes too.
fn folder() -> (Folder, Vec<u8>) {
    let folder = Folder::with("a.csv", Sample::new(30, 2).csv());
    folder.run("fit --metric one a.csv --landmarks 3 --model m").good();
    let model = Model::load(folder.path("m")).unwrap();
    Model { test_error: None, importances: None, recipe: None, ..model }.save(folder.path("m")).unwrap();
    let bytes = folder.bytes("m");
    (folder, bytes)
}

fn load(folder: &Folder, bytes: &[u8]) -> Result<Model, Error> {
    folder.write("x", bytes);
    Model::load(folder.path("x"))
}

#[track_caller]
fn problem(folder: &Folder, bytes: &[u8]) -> String {
    let error = load(folder, bytes).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Format, Some(folder.path("x").as_path())));
    error.name()
}

/// Return a file with a valid header for this content.
fn framed(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u64).to_le_bytes();
    let checksum = crc32fast::hash(content).to_le_bytes();
    [b"dppnymod\x01\0\0\0", length.as_slice(), &checksum, content].concat()
}

/// Assert that both commands that read models reject these bytes with this message.
#[track_caller]
fn refused(folder: &Folder, bytes: &[u8], message: &str) {
    folder.write("x", bytes);
    for command in ["info x", "predict x a.csv --out p.csv"] {
        folder.run(command).refused(&[&format!("x: {message}")]);
    }
    assert!(!folder.path("p.csv").exists());
}

#[test]
fn the_format_is_the_documented_one() {
    let (folder, bytes) = folder();
    assert_eq!(framed(&bytes[HEADER..]), bytes);
    assert!(load(&folder, &bytes).is_ok());
}

#[test]
fn every_beginning_of_a_model() {
    let (folder, bytes) = folder();
    for length in 0..bytes.len() {
        assert_eq!(problem(&folder, &bytes[..length]), "ModelTruncated", "{length}");
    }
    for length in [0, 5, 8, 20, HEADER, bytes.len() - 1] {
        refused(
            &folder,
            &bytes[..length],
            "truncated: the end of the file is missing; copy it again, or fit again",
        );
    }
}

#[test]
fn every_bit_of_a_model() {
    let (folder, bytes) = folder();
    for at in 0..bytes.len() {
        for flip in (0..8).map(|bit| 1 << bit).chain([0xff]) {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            let problem = problem(&folder, &damaged);
            let expected = match at {
                0..8 => problem == "ModelForeign",
                8..12 => problem == "ModelVersion",
                12..20 => problem == "ModelTruncated" || problem == "ModelLonger",
                _ => problem == "ModelCorrupt",
            };
            assert!(expected, "byte {at} ^ {flip}: {problem:?}");
        }
    }
    let mut damaged = bytes.clone();
    damaged[HEADER + 20] ^= 1;
    refused(&folder, &damaged, "corrupt: the checksum does not match; copy it again, or fit again");
    let mut swapped = bytes;
    swapped.swap(HEADER + 30, HEADER + 50);
    assert_eq!(problem(&folder, &swapped), "ModelCorrupt");
}

#[test]
fn foreign_files() {
    let (folder, bytes) = folder();
    let foreign = "not a dpp-nystrom model; give the file of one, or fit one with `dpp-nystrom fit --model`";
    for other in [b"a,b,y\n1,2,3\n4,5,6\n".as_slice(), b"\x93NUMPY\x01\0", b"DPPNYMOD", b"x", &[0; 100]] {
        refused(&folder, other, foreign);
    }
    refused(&folder, &[bytes.as_slice(), b"\n"].concat(), "extra bytes after the end of the model");
    for version in [0, 3, 7, u32::MAX] {
        let mut future = bytes.clone();
        future[8..12].copy_from_slice(&version.to_le_bytes());
        let message =
            format!("unknown format version {version}: expected 1 or 2; use the program that wrote it");
        refused(&folder, &future, &message);
        // The same for a truncated file.
        refused(&folder, &future[..12], &message);
    }
}

#[test]
fn declared_lengths_are_not_trusted() {
    let (folder, bytes) = folder();
    let begin = Instant::now();
    for length in [1 << 40, 1 << 60, u64::MAX] {
        let mut promising = bytes.clone();
        promising[12..20].copy_from_slice(&length.to_le_bytes());
        refused(&folder, &promising, "truncated");
    }
    // A valid checksum over content that declares 2⁶⁰ names in postcard's variable-length encoding.
    let mut promise = [0x80; 9];
    promise[8] = 0x10;
    let malformed = "malformed: the checksum matches, but the content is not a model; fit again";
    refused(&folder, &framed(&promise), malformed);
    for start in [0, 2, 4, 6, 30] {
        let content = [&bytes[HEADER..HEADER + start], promise.as_slice(), &bytes[HEADER + start..]].concat();
        assert_eq!(problem(&folder, &framed(&content)), "ModelMalformed");
    }
    assert!(begin.elapsed() < Duration::from_secs(10));
}

/// Malformed content under a valid checksum is either rejected or predicts.
#[test]
fn content_that_is_not_a_model() {
    let (folder, bytes) = folder();
    for content in [b"".as_slice(), b"\0", &[0; 300], &[0xff; 300]] {
        assert_eq!(problem(&folder, &framed(content)), "ModelMalformed");
    }
    let content = &bytes[HEADER..];
    for length in 0..content.len() {
        assert_eq!(problem(&folder, &framed(&content[..length])), "ModelMalformed", "{length}");
    }
    let mut loaded = 0;
    for at in 0..content.len() {
        let mut changed = content.to_vec();
        changed[at] ^= 0x55;
        match load(&folder, &framed(&changed)) {
            // The byte is a digit of a number or a letter of a name.
            Ok(model) => {
                loaded += 1;
                let rows = dpp_nystrom::data::table::read_features(
                    &folder.path("a.csv"),
                    &model.feature_names,
                    None,
                );
                if let Ok(predictions) = rows.and_then(|rows| model.predict_table(&rows)) {
                    assert!(predictions.iter().all(|value| value.is_finite()));
                }
            }
            Err(error) => {
                assert_eq!(error.name(), "ModelMalformed");
            }
        }
    }
    assert!(loaded > 0);
}

/// Make each part of a model inconsistent with the others in turn.
#[test]
fn inconsistent_models_are_rejected() {
    let (folder, bytes) = folder();
    let model = load(&folder, &bytes).unwrap();
    let changes: [fn(&mut Model); 10] = [
        |model| model.feature_names.clear(),
        |model| model.feature_names.push("more".to_owned()),
        |model| model.scaler.means.truncate(1),
        |model| model.scaler.deviations.push(1.0),
        |model| model.scaler.means[0] = f64::NAN,
        |model| model.target_mean = f64::INFINITY,
        |model| model.target_deviation = f64::NAN,
        |model| model.kernel.sigma = 0.0,
        |model| model.kernel.sigma = -f64::INFINITY,
        |model| model.landmark_rows.truncate(2),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut changed = model.clone();
        change(&mut changed);
        changed.save(folder.path("x")).unwrap();
        let loaded = Model::load(Path::new(&folder.path("x")));
        assert!(loaded.is_err_and(|error| error.name() == "ModelMalformed"), "change {at}");
    }
}
