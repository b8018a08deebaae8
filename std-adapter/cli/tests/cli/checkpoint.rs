//! Checkpoints through the library: each belongs to one fit, and a damaged one is rejected.

use crate::command::Folder;
use crate::sample::Sample;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::data::RowSource;
use dpp_nystrom::data::store::Store;
use dpp_nystrom::data::store::convert;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::error::CheckpointProblem;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{KernelKind, Precision};
use dpp_nystrom::model::Model;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::{Checkpoint, FitParams, Ridge, fit};
use std::path::PathBuf;
use std::time::Duration;

const ROWS: usize = 300;
const LANDMARKS: [usize; 4] = [5, 60, 117, 200];
const SETTING: FitParams = FitParams {
    kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 2.0 },
    ridge: Ridge::CrossValidated,
    precision: Precision::F64,
    seed: 3,
};

fn store(folder: &Folder, name: &str, sample: &Sample) -> Store {
    folder.write("a.csv", sample.csv());
    let out = folder.path(name);
    convert(&folder.path("a.csv"), &Target::Last, Precision::F64, &out, &NoObserver).unwrap()
}

/// Return the model, and the number of rows read from the checkpoint.
fn train(
    source: &dyn RowSource,
    landmarks: &[usize],
    ridge: Ridge,
    setting: FitParams,
    checkpoint: PathBuf,
) -> Result<(Model, u64), Error> {
    let mut checkpoint = Checkpoint::new(checkpoint, Duration::ZERO);
    let landmarks = LandmarkSet::Indices(landmarks.to_vec());
    let params = FitParams { ridge, ..setting };
    let training = fit(source, &landmarks, params, Some(&mut checkpoint), &NoObserver)?;
    Ok((training.model, checkpoint.resumed()))
}

#[track_caller]
fn problem<A: std::fmt::Debug>(found: Result<A, Error>) -> CheckpointProblem {
    match found {
        Err(Error::Checkpoint { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_checkpoint_is_of_one_fit() {
    let folder = Folder::new();
    let sample = Sample::new(ROWS, 3);
    let rows = store(&folder, "a.rows", &sample);
    let mut other = sample.clone();
    other.target[7] += 1.0;
    let other = store(&folder, "b.rows", &other);
    for ridge in [Ridge::Value(1e-3), Ridge::CrossValidated] {
        let at = || folder.path(&format!("{ridge:?}"));
        let (whole, resumed) = train(&rows, &LANDMARKS, ridge, SETTING, at()).unwrap();
        assert_eq!(resumed, 0);
        // The library leaves the checkpoint to its caller.
        assert_eq!(train(&rows, &LANDMARKS, ridge, SETTING, at()).unwrap(), (whole.clone(), ROWS as u64));
        for (store, landmarks, ridge, setting) in [
            (&other, &LANDMARKS, ridge, SETTING),
            (&rows, &[5, 60, 117, 201], ridge, SETTING),
            (&rows, &LANDMARKS, Ridge::Value(2e-3), SETTING),
            (&rows, &LANDMARKS, ridge, FitParams { seed: 4, ..SETTING }),
            (
                &rows,
                &LANDMARKS,
                ridge,
                FitParams { kernel: KernelSpec { sigma: 2.5, ..SETTING.kernel }, ..SETTING },
            ),
            (
                &rows,
                &LANDMARKS,
                ridge,
                FitParams { kernel: KernelSpec { kind: KernelKind::Laplace, ..SETTING.kernel }, ..SETTING },
            ),
        ] {
            let found = train(store, landmarks, ridge, setting, at());
            assert_eq!(problem(found), CheckpointProblem::Another, "{landmarks:?} {ridge:?} {setting:?}");
        }
        // A rejected checkpoint is unchanged.
        assert_eq!(train(&rows, &LANDMARKS, ridge, SETTING, at()).unwrap(), (whole, ROWS as u64));
    }
}

#[test]
fn a_damaged_checkpoint_is_refused_wherever_the_damage_is() {
    let folder = Folder::new();
    let rows = store(&folder, "a.rows", &Sample::new(ROWS, 3));
    let learn = || train(&rows, &LANDMARKS, Ridge::Value(1e-3), SETTING, folder.path("c"));
    learn().unwrap();
    let whole = folder.bytes("c");
    let refused = |bytes: &[u8]| {
        folder.write("c", bytes);
        problem(learn())
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let found = refused(&bytes);
        match at {
            0..8 => assert_eq!(found, CheckpointProblem::Foreign, "{at}"),
            8..12 => {
                assert!(
                    matches!(found, CheckpointProblem::Version(version) if version != 1),
                    "{at}: {found}"
                );
            }
            _ => assert_eq!(found, CheckpointProblem::Corrupt, "{at}"),
        }
    }
    for end in 0..whole.len() {
        let expected = if end < 16 { CheckpointProblem::Foreign } else { CheckpointProblem::Corrupt };
        assert_eq!(refused(&whole[..end]), expected, "{end}");
    }
    assert_eq!(refused(&[&whole[..], &[0]].concat()), CheckpointProblem::Corrupt);
    folder.write("c", &whole);
    assert_eq!(learn().unwrap().1, ROWS as u64);
}
