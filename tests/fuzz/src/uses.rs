//! What a device may do with the bytes of a model, a regression, a learner or a stream: used by fuzzing and
//! by the tests of forged bytes.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Acceptance, Assessor, BytesProblem, Detector, Error, Limits, Outputs, QuantisedModel, QuantisedOutputs,
    Random, RidgeRegression, RidgeWorkspace, Scalar, StateHeader, StreamChain, Workspace, sign_state,
    stream_state_bytes, verify_state,
};

/// Write a checksum that goes with the bytes, and a length if that is to be right too.
pub(crate) fn seal(bytes: &mut [u8], length: bool) {
    if length && let Ok(whole) = u32::try_from(bytes.len()) {
        bytes[16..20].copy_from_slice(&whole.to_le_bytes());
    }
    let length = u32::from_le_bytes([bytes[16], bytes[17], bytes[18], bytes[19]]) as usize;
    let checksum = crc32fast::hash(bytes.get(12..length).unwrap_or(&bytes[12..]));
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
}

/// Numbers of scratch, more than any model of 4 KiB needs.
const ROOM: usize = 4_096;

/// Rows that a device may see.
const VALUES: [f32; 6] = [0.0, 20.0, 1e30, -1e-30, f32::NAN, f32::INFINITY];

/// Use a model in every way that its bytes allow. Return whether a reader took it.
pub(crate) fn use_model(bytes: &[u8]) -> bool {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let mut taken = false;
    let _ = Limits::from_bytes(bytes);
    let features = words.get(6).map_or(0, |&word| word as usize).min(ROOM);
    if let Ok(outputs) = Outputs::from_bytes(bytes) {
        taken = true;
        let mut out = vec![0.0; outputs.outputs()];
        for value in VALUES {
            let _ = outputs.classify(&vec![value; features], &mut [0.0; ROOM], &mut out);
        }
    }
    if let Ok(assessor) = Assessor::from_bytes(bytes) {
        let model = assessor.model();
        for value in VALUES {
            let (row, mut room) = (vec![value; model.features()], [0.0; ROOM]);
            let predicted = model.predict(&row, &mut room).map(f32::to_bits);
            assert_eq!(assessor.assess(&row, &mut room).map(|found| found.value.to_bits()), predicted);
            assert!(value.is_finite() || predicted.is_err(), "{value} is predicted from");
        }
    }
    macro_rules! use_integers {
        ($level:ty) => {
            if let Ok(outputs) = QuantisedOutputs::<$level>::from_bytes(bytes) {
                taken = true;
                let (mut sums, mut out) = (vec![0; outputs.outputs()], vec![0.0; outputs.outputs()]);
                for value in VALUES {
                    let _ = outputs.classify(&vec![value; features], &mut [0; ROOM], &mut sums, &mut out);
                }
            }
            if let Ok(model) = QuantisedModel::<$level>::from_bytes(bytes) {
                for value in VALUES {
                    let _ = model.assess(&vec![value; features], &mut [0; ROOM]);
                }
            }
        };
    }
    use_integers!(i16);
    use_integers!(i8);
    taken
}

/// Use the state of a regression. Return whether it was read.
pub(crate) fn use_state(bytes: &[u8], digest: u64) -> bool {
    use_state_in::<f32>(bytes, digest) | use_state_in::<f64>(bytes, digest)
}

fn use_state_in<T: Scalar>(bytes: &[u8], digest: u64) -> bool {
    let Ok(header) = StateHeader::read(bytes) else { return false };
    // The tag is of these bytes under this key.
    let (key, mut signed) = ([7; 32], bytes.to_vec());
    if header.version == 1 {
        assert_eq!(sign_state(&mut signed, &key), Err(Error::StateBytes(BytesProblem::Tag)));
        assert_eq!(signed, bytes);
    } else {
        sign_state(&mut signed, &key).unwrap();
        assert_eq!(verify_state(&signed, &key).map(|found| found.origin), Ok(header.origin));
        assert_eq!(verify_state(&signed, &[8; 32]), Err(Error::StateBytes(BytesProblem::Tag)));
    }
    let (mut memory, mut other) = (RidgeWorkspace::<T, 4>::new(), RidgeWorkspace::<T, 4>::new());
    let mut further = [T::ZERO; RidgeRegression::<f32>::further_numbers(4, 3)];
    let mut more = further;
    let (features, targets) = (header.features.clamp(1, 4), header.targets.clamp(1, 3));
    let mut ridge = RidgeRegression::with_targets(features, targets, memory.lend(), &mut further).unwrap();
    if ridge.read_state(digest, bytes).is_err() {
        return false;
    }
    // What was read is all that the bytes say: unknown sections may be skipped, and go last.
    if header.version == 1 {
        let mut again = vec![0; header.length];
        ridge.write_state(digest, &mut again).unwrap();
        assert_eq!(again, bytes[..header.length]);
    }
    let mut sum = RidgeRegression::with_targets(features, targets, other.lend(), &mut more).unwrap();
    let _ = sum.add_row(&[T::ONE; 4][..features], &[T::ONE; 3][..targets]);
    let _ = sum.merge(&ridge);
    let _ = sum.forget(T::from_f64(0.5));
    for ridge in [0.0, 1e-6, 1.0] {
        let _ =
            sum.solve_target(targets - 1, T::from_f64(ridge)).map(|solution| solution.weights.iter().count());
    }
    true
}

/// Use the state of a learner or of a chain over a stream. Return whether it was read.
pub(crate) fn use_saved(bytes: &[u8]) -> bool {
    let kernel = Gaussian::new(2.0).unwrap();
    let mut learner = dpp_nystrom_core::Learner::<3, 4>::new();
    let mut taken = false;
    if let Ok(random) = learner.read_state(kernel, bytes) {
        taken = true;
        let mut again = [0; dpp_nystrom_core::Learner::<3, 4>::STATE];
        let length = learner.write_state(random, &mut again).unwrap();
        // What is written is read, and is the same.
        let mut other = dpp_nystrom_core::Learner::<3, 4>::new();
        let resumed = other.read_state(kernel, &again[..length]).unwrap();
        let mut third = [0; dpp_nystrom_core::Learner::<3, 4>::STATE];
        other.write_state(resumed, &mut third).unwrap();
        assert_eq!((resumed, third), (random, again));
        let mut random = Random::resume(random);
        let row = [0.5, -1.0, 0.25, 3.0];
        let _ = learner.offer(&row, &mut random);
        let _ = learner.learn(&row, 1.0);
        let _ = learner.solve(0.1);
        let _ = learner.predict(&row);
        let _ = learner.write_state(random.state(), &mut vec![0; dpp_nystrom_core::Learner::<3, 4>::STATE]);
    }
    let mut detector = Detector::<3, 4>::new();
    if let Ok(random) = detector.read_state(kernel, bytes) {
        taken = true;
        let mut again = [0; Detector::<3, 4>::STATE];
        let length = detector.write_state(random, &mut again).unwrap();
        // What is written is read, and is the same.
        let mut other = Detector::<3, 4>::new();
        let resumed = other.read_state(kernel, &again[..length]).unwrap();
        let mut third = [0; Detector::<3, 4>::STATE];
        other.write_state(resumed, &mut third).unwrap();
        assert_eq!((resumed, third), (random, again));
        let mut random = Random::resume(random);
        for value in [0.5, -1.0, 30.0, 1e30, f32::NAN] {
            let row = [0.5, -1.0, 0.25, value];
            let _ = detector.scale(&row, &mut random);
            let _ = detector.offer(&row, &mut random);
            let _ = detector.check(&row);
            let _ = detector.exchange(&row);
        }
        let _ = detector.freeze_scaling();
        let _ = detector.freeze_landmarks();
        let _ = detector.write_state(random.state(), &mut again);
    }
    let (mut rows, mut memory) = ([0.0; 3 * 4], Workspace::<f64, 3>::new());
    let kernel = Gaussian::new(0.5_f64).unwrap();
    let mut chain = StreamChain::new(kernel, 3, 4, &mut rows, memory.lend(), Acceptance::Barker).unwrap();
    if let Ok(random) = chain.read_state(bytes) {
        taken = true;
        // What is written is read, and is the same.
        let mut first = [0; stream_state_bytes::<f64>(3, 4)];
        let length = chain.write_state(random, &mut first).unwrap();
        assert_eq!(chain.read_state(&first[..length]), Ok(random));
        let mut random = Random::resume(random);
        for at in 0..4 {
            let _ = chain.offer(&[f64::from(at); 4], &mut random);
        }
        let length = chain.write_state(random.state(), &mut first).unwrap();
        match chain.read_state(&first[..length]) {
            Ok(generator) => {
                assert_eq!(generator, random.state());
                let mut again = [0; stream_state_bytes::<f64>(3, 4)];
                assert_eq!(chain.write_state(random.state(), &mut again), Ok(length));
                assert_eq!(again, first);
            }
            // A forged factor may be as far off as the rounding of the longest chain, and another step is
            // beyond that.
            Err(error) => assert!(error == Error::ForeignState && !SAVED.contains(&bytes), "{error:?}"),
        }
    }
    taken
}

pub(crate) const MODELS: [&[u8]; 6] = [
    include_bytes!("../../core/formats/single.bin"),
    include_bytes!("../../core/formats/mapped.bin"),
    include_bytes!("../../core/formats/bits16.bin"),
    include_bytes!("../../core/formats/bits8.bin"),
    include_bytes!("../../core/formats/mapped16.bin"),
    include_bytes!("../../core/formats/sections.bin"),
];
pub(crate) const STATES: [&[u8]; 2] = [
    include_bytes!("../../core/formats/regression.state"),
    include_bytes!("../../core/formats/regression-2.state"),
];
pub(crate) const SAVED: [&[u8]; 3] = [
    include_bytes!("../../core/formats/learner.state"),
    include_bytes!("../../core/formats/stream.state"),
    include_bytes!("../../core/formats/detector.state"),
];
