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
    assert_eq!((name(Status::Worn as u32), name(30), name(u32::MAX)), ("WORN", "UNKNOWN", "UNKNOWN"));
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

type Own = learner::Device<16, 4>;

// C has it as bytes.
#[allow(improper_ctypes)]
unsafe extern "C" {
    #[link_name = "dpp_learner_16x4_start"]
    fn start_device(device: *mut Own, size: usize, sigma: f32, seed: u64) -> Status;
    #[link_name = "dpp_learner_16x4_scale"]
    fn scale(device: *mut Own, row: *const f32, target: f32) -> Status;
    #[link_name = "dpp_learner_16x4_freeze_scaling"]
    fn freeze_scaling(device: *mut Own) -> Status;
    #[link_name = "dpp_learner_16x4_freeze_scaling_allowing"]
    fn freeze_scaling_allowing(device: *mut Own, columns: *const usize, count: usize) -> Status;
    #[link_name = "dpp_learner_16x4_offer"]
    fn offer(device: *mut Own, row: *const f32, taken: *mut u32) -> Status;
    #[link_name = "dpp_learner_16x4_freeze_landmarks"]
    fn freeze_landmarks(device: *mut Own) -> Status;
    #[link_name = "dpp_learner_16x4_learn"]
    fn learn(device: *mut Own, row: *const f32, target: f32) -> Status;
    #[link_name = "dpp_learner_16x4_forget"]
    fn forget(device: *mut Own, lambda: f32) -> Status;
    #[link_name = "dpp_learner_16x4_exchange"]
    fn exchange(device: *mut Own, row: *const f32, replaced: *mut u32) -> Status;
    #[link_name = "dpp_learner_16x4_choose_gamma"]
    fn choose_gamma(device: *mut Own, gamma: *mut f32) -> Status;
    #[link_name = "dpp_learner_16x4_solve"]
    fn solve(device: *mut Own, gamma: f32, error: *mut f32) -> Status;
    #[link_name = "dpp_learner_16x4_predict"]
    fn predict(device: *mut Own, row: *const f32, value: *mut f32) -> Status;
    #[link_name = "dpp_learner_16x4_residual"]
    fn residual(device: *mut Own, row: *const f32, residual: *mut f32) -> Status;
    #[link_name = "dpp_learner_16x4_assess"]
    fn assess(device: *mut Own, row: *const f32, to: *mut DeviceAssessment) -> Status;
    #[link_name = "dpp_learner_16x4_write_state"]
    fn write_state(device: *mut Own, bytes: *mut u8, length: usize, written: *mut usize) -> Status;
    #[link_name = "dpp_learner_16x4_read_state"]
    fn read_state(device: *mut Own, size: usize, sigma: f32, bytes: *const u8, length: usize) -> Status;
    #[link_name = "dpp_learner_16x4_save"]
    fn save(device: *mut Own, flash: *const Flash, room: *mut u8, length: usize) -> Status;
    #[link_name = "dpp_learner_16x4_restore"]
    fn restore(
        device: *mut Own,
        size: usize,
        sigma: f32,
        flash: *const Flash,
        room: *mut u8,
        length: usize,
        saves: *mut u64,
    ) -> Status;
    #[link_name = "dpp_learner_16x4_phase"]
    fn phase(device: *const Own) -> u32;
    #[link_name = "dpp_learner_16x4_landmarks"]
    fn landmark_count(device: *const Own) -> usize;
    #[link_name = "dpp_learner_16x4_learned"]
    fn learned(device: *const Own) -> u64;
    #[link_name = "dpp_learner_16x4_error_column"]
    fn error_column(device: *const Own) -> u32;
}

const SIZE: usize = size_of::<Own>();

/// A learner's memory, as a static of C: zeros.
fn memory() -> Box<core::mem::MaybeUninit<Own>> {
    Box::new(core::mem::MaybeUninit::zeroed())
}

/// Readings of four features and a target.
fn readings() -> impl Iterator<Item = ([f32; 4], f32)> {
    let mut state = 1_u32;
    let mut number = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    core::iter::repeat_with(move || {
        let x: [f32; 4] = core::array::from_fn(|_| number());
        (x, x[0] * x[1] - x[2] * x[2] + x[3] - 0.5)
    })
}

#[test]
fn a_learner_in_c_is_one_in_rust() {
    let mut held = memory();
    let device = held.as_mut_ptr();
    let (mut own, mut random) = (dpp_nystrom_core::Learner::<16, 4>::new(), Random::seeded(7));
    own.start(Gaussian::new(2.0).unwrap());
    let (mut number, mut flag) = (0.0_f32, 0_u32);
    let mut numbers = readings();
    // SAFETY: valid pointers.
    unsafe {
        assert_eq!(start_device(device, SIZE, 2.0, 7), Status::Ok);
        for (row, target) in numbers.by_ref().take(50) {
            assert_eq!(scale(device, row.as_ptr(), target), Status::Ok);
            own.scale(&row, target).unwrap();
        }
        assert_eq!(freeze_scaling(device), Status::Ok);
        own.freeze_scaling().unwrap();
        for (row, _) in numbers.by_ref().take(200) {
            assert_eq!(offer(device, row.as_ptr(), &raw mut flag), Status::Ok);
            let taken = own.offer(&row, &mut random).unwrap() != dpp_nystrom_core::Offer::Declined;
            assert_eq!(flag, u32::from(taken));
        }
        assert_eq!((freeze_landmarks(device), phase(device), landmark_count(device)), (Status::Ok, 3, 16));
        own.freeze_landmarks().unwrap();
        let mut exchanged = 0;
        for (i, (mut row, target)) in numbers.by_ref().take(400).enumerate() {
            row[0] += if i < 100 { 0.0 } else { 3.0 };
            assert_eq!(learn(device, row.as_ptr(), target), Status::Ok);
            assert_eq!(forget(device, 0.99), Status::Ok);
            assert_eq!(exchange(device, row.as_ptr(), &raw mut flag), Status::Ok);
            own.learn(&row, target).unwrap();
            own.forget(0.99).unwrap();
            let replaced = matches!(own.exchange(&row).unwrap(), dpp_nystrom_core::Exchange::Replaced { .. });
            assert_eq!(flag, u32::from(replaced));
            exchanged += flag;
        }
        assert!(exchanged > 0);
        assert_eq!(choose_gamma(device, &raw mut number), Status::Ok);
        assert_eq!(number.to_bits(), own.choose_gamma().unwrap().to_bits());
        assert_eq!(solve(device, 1e-4, &raw mut number), Status::Ok);
        assert_eq!(number.to_bits(), own.solve(1e-4).unwrap().to_bits());
        assert_eq!((phase(device), learned(device)), (4, 400));
        for (row, _) in numbers.by_ref().take(20) {
            let expected = own.assess(&row).unwrap();
            let mut assessment = DeviceAssessment { value: 0.0, nearest: 0.0, residual: 0.0, variance: 0.0 };
            assert_eq!(assess(device, row.as_ptr(), &raw mut assessment), Status::Ok);
            let found = [assessment.value, assessment.nearest, assessment.residual, assessment.variance];
            let [residual_there, variance] = [expected.residual, expected.variance].map(Option::unwrap);
            assert_eq!(found, [expected.value, expected.nearest, residual_there, variance]);
            assert_eq!(predict(device, row.as_ptr(), &raw mut number), Status::Ok);
            assert_eq!(number.to_bits(), expected.value.to_bits());
            assert_eq!(residual(device, row.as_ptr(), &raw mut number), Status::Ok);
            assert_eq!(number.to_bits(), residual_there.to_bits());
        }
        // Through bytes into memory that is not started: the same bytes again.
        let (mut bytes, mut again) = ([0_u8; 2_000], [0_u8; 2_000]);
        let (mut length, mut other) = (0, memory());
        assert_eq!(write_state(device, bytes.as_mut_ptr(), bytes.len(), &raw mut length), Status::Ok);
        assert_eq!(read_state(other.as_mut_ptr(), SIZE, 2.0, bytes.as_ptr(), length), Status::Ok);
        let written = write_state(other.as_mut_ptr(), again.as_mut_ptr(), again.len(), &raw mut length);
        assert_eq!((written, &bytes[..]), (Status::Ok, &again[..]));
        // There is no variance until it has solved.
        let mut assessment = DeviceAssessment { value: 0.0, nearest: 0.0, residual: 0.0, variance: 0.0 };
        let row = numbers.next().unwrap().0;
        assert_eq!(assess(other.as_mut_ptr(), row.as_ptr(), &raw mut assessment), Status::Ok);
        assert!(assessment.variance < 0.0);
    }
}

#[test]
fn a_learner_refuses() {
    let mut held = memory();
    let device = held.as_mut_ptr();
    let (mut number, mut flag, mut count, mut saves) = (0.0_f32, 0_u32, 0, 0);
    let row = [1.0_f32; 4];
    let mut bytes = [0_u8; 2_000];
    // SAFETY: valid pointers, or such as are refused before they are read.
    unsafe {
        // Zeros are no learner.
        assert_eq!(learn(device, row.as_ptr(), 1.0), Status::NotStarted);
        assert_eq!((phase(device), learned(device), landmark_count(device)), (0, 0, 0));
        assert_eq!((phase(null()), error_column(device)), (0, u32::MAX));
        assert_eq!(start_device(null_mut(), SIZE, 1.0, 7), Status::Null);
        assert_eq!(
            start_device(device.cast::<u8>().wrapping_add(4).cast(), SIZE, 1.0, 7),
            Status::Misaligned
        );
        assert_eq!(start_device(device, SIZE - 8, 1.0, 7), Status::OtherSize);
        assert_eq!(start_device(device, SIZE, 0.0, 7), Status::Bandwidth);
        assert_eq!(phase(device), 0);
        assert_eq!(start_device(device, SIZE, 1.0, 7), Status::Ok);
        assert_eq!(predict(device, row.as_ptr(), &raw mut number), Status::Phase);
        assert_eq!(offer(device, row.as_ptr(), &raw mut flag), Status::Phase);
        assert_eq!(scale(device, null(), 1.0), Status::Null);
        assert_eq!(scale(device, device.cast_const().cast(), 1.0), Status::Overlap);
        assert_eq!(predict(device, row.as_ptr(), null_mut()), Status::Null);
        assert_eq!(predict(device, row.as_ptr(), row.as_ptr().cast_mut()), Status::Overlap);
        assert_eq!(solve(device, 1.0, device.cast()), Status::Overlap);
        assert_eq!(scale(device, [1.0, 2.0, f32::NAN, 0.0].as_ptr(), 1.0), Status::NotFinite);
        assert_eq!(error_column(device), 2);
        // The second feature does not vary.
        for (mut row, target) in readings().take(40) {
            row[1] = 1_013.25;
            assert_eq!(scale(device, row.as_ptr(), target), Status::Ok);
        }
        assert_eq!((freeze_scaling(device), error_column(device)), (Status::Constant, 1));
        assert_eq!(freeze_scaling_allowing(device, [2].as_ptr(), 1), Status::Constant);
        assert_eq!(freeze_scaling_allowing(device, [1].as_ptr(), 1), Status::Ok);
        assert_eq!(error_column(device), u32::MAX);
        for (mut row, _) in readings().take(100) {
            row[1] = 1_013.25;
            assert_eq!(offer(device, row.as_ptr(), &raw mut flag), Status::Ok);
        }
        assert_eq!(freeze_landmarks(device), Status::Ok);
        assert_eq!((learn(device, row.as_ptr(), 1.0), error_column(device)), (Status::Changed, 1));
        assert_eq!(solve(device, 1.0, &raw mut number), Status::Empty);
        assert_eq!(forget(device, 1.5), Status::Forgetting);
        assert_eq!(write_state(device, bytes.as_mut_ptr(), 100, &raw mut count), Status::TooSmall);
        assert_eq!(write_state(device, bytes.as_mut_ptr(), 2_000, &raw mut count), Status::Ok);
        assert_eq!(read_state(device, SIZE, 2.0, bytes.as_ptr(), count), Status::ForeignState);
        bytes[200] ^= 1;
        assert_eq!(read_state(device, SIZE, 1.0, bytes.as_ptr(), count), Status::State);
        assert_eq!(read_state(device, SIZE, 1.0, bytes.as_ptr(), usize::MAX), Status::TooLarge);
    }
    let mut flash = in_memory();
    let mut held = memory();
    let device = held.as_mut_ptr();
    // SAFETY: valid pointers.
    unsafe {
        assert_eq!(save(device, null(), bytes.as_mut_ptr(), 2_000), Status::Null);
        assert_eq!(save(device, &raw const flash, bytes.as_mut_ptr(), 2_000), Status::NotStarted);
        let restored = |saves: *mut u64, flash: &Flash, bytes: &mut [u8]| {
            restore(device, SIZE, 1.0, flash, bytes.as_mut_ptr(), bytes.len(), saves)
        };
        assert_eq!(restored(&raw mut saves, &flash, &mut bytes), Status::NothingSaved);
        assert_eq!(start_device(device, SIZE, 1.0, 7), Status::Ok);
        for save_number in 1..4 {
            assert_eq!(save(device, &flash, bytes.as_mut_ptr(), 2_000), Status::Ok);
            assert_eq!(restored(&raw mut saves, &flash, &mut bytes), Status::Ok);
            assert_eq!((saves, phase(device)), (save_number, 1));
        }
        assert_eq!(restored(&raw mut saves, &flash, &mut [0; 10]), Status::TooSmall);
        assert_eq!(save(device, &flash, bytes.as_mut_ptr(), 100), Status::TooSmall);
        for (start, length, page) in
            [(0, 4_096, 0), (0, 4_096, 1_000), (0, 3_072, 1_024), (32, 4_096, 1_024), (0, 0, 1_024)]
        {
            (flash.start, flash.length, flash.page) = (start, length, page);
            assert_eq!(
                save(device, &flash, bytes.as_mut_ptr(), 2_000),
                Status::Region,
                "{start} {length} {page}"
            );
        }
        flash = in_memory();
        flash.write = Some(broken);
        assert_eq!(save(device, &flash, bytes.as_mut_ptr(), 2_000), Status::Flash);
        flash.write = Some(lost);
        assert_eq!(save(device, &flash, bytes.as_mut_ptr(), 2_000), Status::Worn);
        flash.write = None;
        assert_eq!(save(device, &flash, bytes.as_mut_ptr(), 2_000), Status::Null);
    }
}

/// A flash of four pages, which is never freed.
fn in_memory() -> Flash {
    let context = Box::leak(Box::new([0_u8; 4_096])).as_mut_ptr().cast();
    Flash {
        context,
        read: Some(read_memory),
        erase: Some(erase_memory),
        write: Some(write_memory),
        start: 0,
        length: 4_096,
        page: 1_024,
    }
}

unsafe extern "C" fn read_memory(
    context: *mut core::ffi::c_void,
    at: u32,
    bytes: *mut u8,
    length: usize,
) -> i32 {
    // SAFETY: within the memory.
    unsafe { context.cast::<u8>().add(at as usize).copy_to(bytes, length) };
    0
}

unsafe extern "C" fn erase_memory(context: *mut core::ffi::c_void, from: u32, to: u32) -> i32 {
    assert!(from.is_multiple_of(1_024) && to.is_multiple_of(1_024));
    // SAFETY: within the memory.
    unsafe { context.cast::<u8>().add(from as usize).write_bytes(0xff, (to - from) as usize) };
    0
}

unsafe extern "C" fn write_memory(
    context: *mut core::ffi::c_void,
    at: u32,
    bytes: *const u8,
    length: usize,
) -> i32 {
    assert!(at.is_multiple_of(32) && length.is_multiple_of(32));
    // SAFETY: within the memory.
    unsafe { context.cast::<u8>().add(at as usize).copy_from(bytes, length) };
    0
}

unsafe extern "C" fn broken(_: *mut core::ffi::c_void, _: u32, _: *const u8, _: usize) -> i32 {
    -5
}

unsafe extern "C" fn lost(_: *mut core::ffi::c_void, _: u32, _: *const u8, _: usize) -> i32 {
    0
}
