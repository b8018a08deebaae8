//! The interface as C calls it, on a desktop: compared with direct calls of the core, and with every error
//! that can be detected.

use crate::*;
use dpp_nystrom_core::Workspace;
use std::ptr::{null, null_mut};

const N: usize = 60;
const D: usize = 2;
const C: usize = 5;
const SIGMA: f32 = 0.5;

fn rows() -> Vec<f32> {
    (0..N * D).map(|i| ((i * 7_919) % 1_000) as f32 / 500.0).collect()
}

fn targets(rows: &[f32]) -> Vec<f32> {
    rows.chunks_exact(D).map(|row| row[0] * row[1]).collect()
}

/// Select with these lengths; the memory begins `off` bytes beyond an aligned address.
fn select(rows: *const f32, n: usize, d: usize, c: usize, length: usize, landmarks: *mut usize) -> Status {
    let mut memory = vec![0.0; length];
    // SAFETY: every test passes valid pointers, or such as are refused before they are read.
    unsafe { dpp_nystrom_select(rows, n, d, SIGMA, c, 300, 7, memory.as_mut_ptr(), length, landmarks) }
}

fn selected(rows: &[f32]) -> [usize; C] {
    let mut landmarks = [0; C];
    assert_eq!(select(rows.as_ptr(), N, D, C, C * C + 3 * C, landmarks.as_mut_ptr()), Status::Ok);
    landmarks
}

#[test]
fn the_interface_is_the_core() {
    let rows = rows();
    let landmarks = selected(&rows);
    let ground = Points::new(&rows, D, Gaussian::new(SIGMA).unwrap()).unwrap();
    let mut stack = Workspace::<f32, C>::new();
    let mut random = Random::seeded(7);
    let mut members = Landmarks::new(&ground, stack.lend()).unwrap();
    start::uniform(&mut members, C, &mut random).unwrap();
    let mut chain = SlotChain::new(members, Acceptance::Metropolis);
    chain.run(300, &mut random).unwrap();
    assert_eq!(chain.landmarks().members(), landmarks);

    let targets = targets(&rows);
    let mut memory = vec![0.0_f32; 3 * C * C + 10 * C];
    let (mut indices, mut weights, mut error) = ([0; C], [0.0_f32; C], 0.0_f32);
    // SAFETY: valid pointers.
    let status = unsafe {
        dpp_nystrom_learn(
            rows.as_ptr(),
            targets.as_ptr(),
            N,
            D,
            SIGMA,
            1e-6,
            landmarks.as_ptr(),
            C,
            memory.as_mut_ptr(),
            memory.len(),
            indices.as_mut_ptr(),
            weights.as_mut_ptr(),
            &raw mut error,
        )
    };
    assert_eq!(status, Status::Ok);

    let mut chosen = [0.0_f32; C * D];
    // SAFETY: valid pointers.
    let status =
        unsafe { dpp_nystrom_gather(rows.as_ptr(), N, D, landmarks.as_ptr(), C, chosen.as_mut_ptr()) };
    assert_eq!(status, Status::Ok);
    let predictor = Predictor::new(Gaussian::new(SIGMA).unwrap(), &chosen, D, &weights).unwrap();
    let mut squares = 0.0_f32;
    for (row, target) in rows.chunks_exact(D).zip(&targets) {
        let mut y = f32::NAN;
        // SAFETY: valid pointers.
        let status = unsafe {
            dpp_nystrom_predict(chosen.as_ptr(), weights.as_ptr(), C, D, SIGMA, row.as_ptr(), &raw mut y)
        };
        assert_eq!((status, y.to_bits()), (Status::Ok, predictor.predict(row).unwrap().to_bits()));
        squares += (y - target) * (y - target);
    }
    assert!((squares / N as f32 - error).abs() < 1e-3 * error + 1e-7, "{squares} {error}");
    assert!(error < 0.02, "{error}");
}

#[test]
fn invalid_arguments_are_refused() {
    let rows = rows();
    let mut landmarks = [0_usize; C];
    let at = landmarks.as_mut_ptr();
    let enough = C * C + 3 * C;
    let off = |pointer: *const f32| pointer.cast::<u8>().wrapping_add(1).cast::<f32>();
    assert_eq!(select(null(), N, D, C, enough, at), Status::Null);
    assert_eq!(select(rows.as_ptr(), N, D, C, enough, null_mut()), Status::Null);
    assert_eq!(select(off(rows.as_ptr()), N, D, C, enough, at), Status::Misaligned);
    assert_eq!(
        select(rows.as_ptr(), N, D, C, enough, at.cast::<u8>().wrapping_add(2).cast()),
        Status::Misaligned
    );
    assert_eq!(select(rows.as_ptr(), usize::MAX, D, C, enough, at), Status::TooLarge);
    assert_eq!(select(rows.as_ptr(), usize::MAX / 4, 1, C, enough, at), Status::TooLarge);
    assert_eq!(select(rows.as_ptr(), N, D, usize::MAX / 2, enough, at), Status::TooLarge);
    assert_eq!(select(rows.as_ptr(), 0, D, C, enough, at), Status::Empty);
    assert_eq!(select(rows.as_ptr(), N, 0, C, enough, at), Status::Empty);
    assert_eq!(select(rows.as_ptr(), N, D, C, enough - 1, at), Status::TooSmall);
    assert_eq!(select(rows.as_ptr(), 3, D, C, enough, at), Status::TooManyLandmarks);
    let mut bad = rows.clone();
    bad[11] = f32::NAN;
    assert_eq!(select(bad.as_ptr(), N, D, C, enough, at), Status::NotFinite);
    let equal = vec![1.0; N * D];
    assert_eq!(select(equal.as_ptr(), N, D, C, enough, at), Status::Dependent);

    let mut memory = vec![0.0_f32; enough];
    let shared = memory.as_mut_ptr();
    // SAFETY: refused before anything is read.
    unsafe {
        let overlapping =
            dpp_nystrom_select(rows.as_ptr(), N, D, SIGMA, C, 1, 7, rows.as_ptr().cast_mut(), enough, at);
        assert_eq!(overlapping, Status::Overlap);
        for sigma in [0.0, -1.0, f32::NAN] {
            let refused = dpp_nystrom_select(rows.as_ptr(), N, D, sigma, C, 1, 7, shared, enough, at);
            assert_eq!(refused, Status::Bandwidth);
        }
        let mut out = [0.0_f32; C * D];
        let beyond = [0, 1, 2, 3, N];
        let out = out.as_mut_ptr();
        assert_eq!(dpp_nystrom_gather(rows.as_ptr(), N, D, beyond.as_ptr(), C, out), Status::OutOfRange);
        assert_eq!(dpp_nystrom_gather(rows.as_ptr(), N, 0, beyond.as_ptr(), C, out), Status::Empty);
        assert_eq!(dpp_nystrom_gather(rows.as_ptr(), N, D, null(), C, out), Status::Null);
    }
}

#[test]
fn learning_refuses_too() {
    let rows = rows();
    let targets = targets(&rows);
    let landmarks = selected(&rows);
    let learn = |targets: &[f32], ridge: f32, landmarks: [usize; C], length: usize| {
        let mut memory = vec![0.0_f32; length];
        let (mut indices, mut weights, mut error) = ([0; C], [0.0_f32; C], 0.0_f32);
        // SAFETY: valid pointers.
        unsafe {
            dpp_nystrom_learn(
                rows.as_ptr(),
                targets.as_ptr(),
                N,
                D,
                SIGMA,
                ridge,
                landmarks.as_ptr(),
                C,
                memory.as_mut_ptr(),
                length,
                indices.as_mut_ptr(),
                weights.as_mut_ptr(),
                &raw mut error,
            )
        }
    };
    let enough = 3 * C * C + 10 * C;
    assert_eq!(learn(&targets, 1e-6, landmarks, enough), Status::Ok);
    assert_eq!(learn(&targets, 1e-6, landmarks, enough - 1), Status::TooSmall);
    assert_eq!(learn(&targets, -1.0, landmarks, enough), Status::Ridge);
    assert_eq!(learn(&targets, 1e-6, [N, 1, 2, 3, 4], enough), Status::OutOfRange);
    assert_eq!(learn(&targets, 1e-6, [1, 1, 2, 3, 4], enough), Status::Duplicate);
    let mut bad = targets.clone();
    bad[30] = f32::INFINITY;
    assert_eq!(learn(&bad, 1e-6, landmarks, enough), Status::NotFinite);
}

#[test]
fn every_status_has_its_name() {
    // SAFETY: the names are static C strings.
    let name =
        |number| unsafe { core::ffi::CStr::from_ptr(dpp_nystrom_status_name(number)) }.to_str().unwrap();
    assert_eq!(name(Status::Ok as u32), "OK");
    assert_eq!(name(Status::TooManyLandmarks as u32), "TOO_MANY_LANDMARKS");
    assert_eq!((name(Status::Refused as u32), name(16), name(u32::MAX)), ("REFUSED", "UNKNOWN", "UNKNOWN"));
}

/// The committed header is what cbindgen generates from this crate. To update it, copy the file that the
/// failing test names.
#[test]
fn the_header_is_current() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let mut header = Vec::new();
    cbindgen::generate_with_config(folder, config).unwrap().write(&mut header);
    let committed = folder.join("include/dpp_nystrom.h");
    if std::fs::read(&committed).ok().as_ref() != Some(&header) {
        let renewed = std::env::temp_dir().join("dpp_nystrom.h");
        std::fs::write(&renewed, &header).unwrap();
        panic!("{} is stale; the current one is {}", committed.display(), renewed.display());
    }
}
