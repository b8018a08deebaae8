//! The state of an accumulator as bytes: read back completely, or refused.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    BytesProblem, Error, Landmarks, Nystrom, Origin, Points, RidgeRegression, Scalar, StateHeader, digest,
    sign_state, start, state_bytes, state_bytes_forgotten, state_bytes_of, verify_state,
};
use dpp_nystrom_tests::ground::normal_points;
use dpp_nystrom_tests::room::{self, RidgeRoom, Room};
use dpp_nystrom_tests::snapshot::bits;

const DIM: usize = 3;
const LANDMARKS: [usize; 5] = [4, 17, 31, 8, 26];

/// Learn rows on the landmarks. Return the state and the digest.
fn learned<T: Scalar>(rows: &[T], range: std::ops::Range<usize>) -> (Vec<u8>, u64) {
    let ground = Points::new(rows, DIM, Gaussian::new(T::from_f64(1.5)).unwrap()).unwrap();
    let mut room = Room::new(LANDMARKS.len());
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &LANDMARKS).unwrap();
    let nystrom = Nystrom::new(&landmarks);
    let mut ridge_room = RidgeRoom::new(LANDMARKS.len());
    let mut ridge = RidgeRegression::new(LANDMARKS.len(), ridge_room.lend()).unwrap();
    let mut phi = [T::ZERO; LANDMARKS.len()];
    for i in range {
        nystrom.features(i, &mut phi).unwrap();
        let [a, b, c] = ground.row(i) else { unreachable!() };
        ridge.add(&phi, *a * *b - *c).unwrap();
    }
    let features: Vec<T> = LANDMARKS.iter().flat_map(|&member| ground.row(member).to_vec()).collect();
    let digest = digest(&[&features], landmarks.factor());
    let mut bytes = vec![0xA5; state_bytes::<T>(LANDMARKS.len()) + 3];
    let written = ridge.write_state(digest, &mut bytes).unwrap();
    assert_eq!(written, state_bytes::<T>(LANDMARKS.len()));
    assert_eq!(bytes[written..], [0xA5; 3]);
    bytes.truncate(written);
    (bytes, digest)
}

/// Return the weights from states that are merged in this order.
fn merged<T: Scalar>(states: &[Vec<u8>], digest: u64) -> (u64, Vec<T>) {
    let mut rooms = [RidgeRoom::new(5), RidgeRoom::new(5)];
    let [room, part_room] = &mut rooms;
    let mut whole = RidgeRegression::new(5, room.lend()).unwrap();
    let mut part = RidgeRegression::new(5, part_room.lend()).unwrap();
    for state in states {
        part.read_state(digest, state).unwrap();
        whole.merge(&part).unwrap();
    }
    let mut weights = vec![T::ZERO; 5];
    room::solve(&mut whole, T::from_f64(1e-4), &mut weights).unwrap();
    (whole.rows(), weights)
}

fn halves_are_the_whole<T: Scalar>(tolerance: f64) {
    let rows: Vec<T> = normal_points(200, DIM, 9);
    let (whole, digest) = learned(&rows, 0..200);
    let halves = [learned(&rows, 0..90).0, learned(&rows, 90..200).0];
    let (count, expected) = merged::<T>(&[whole], digest);
    let (merged_count, found) = merged::<T>(&halves, digest);
    assert_eq!((count, merged_count), (200, 200));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found.to_f64() - expected.to_f64()).abs() <= tolerance * expected.to_f64().abs());
    }
}

#[test]
fn halves_are_the_whole_in_f32() {
    halves_are_the_whole::<f32>(1e-4);
}

#[test]
fn halves_are_the_whole_in_f64() {
    halves_are_the_whole::<f64>(1e-11);
}

/// A state that is read and written again has the same bytes.
#[test]
fn a_state_is_a_round_trip() {
    let rows: Vec<f32> = normal_points(60, DIM, 2);
    let (bytes, digest) = learned(&rows, 0..60);
    let mut room = RidgeRoom::<f32>::new(5);
    let mut ridge = RidgeRegression::new(5, room.lend()).unwrap();
    // At any alignment, and with bytes after it.
    for offset in 0..4 {
        let mut shifted = vec![0; offset];
        shifted.extend_from_slice(&bytes);
        shifted.extend_from_slice(b"rest");
        ridge.read_state(digest, &shifted[offset..]).unwrap();
        let mut again = vec![0; bytes.len()];
        ridge.write_state(digest, &mut again).unwrap();
        assert_eq!(again, bytes);
    }
}

/// The layout is a promise to devices in the field.
#[test]
fn the_layout_is_pinned() {
    let mut room = RidgeRoom::<f32>::new(1);
    let mut ridge = RidgeRegression::new(1, room.lend()).unwrap();
    ridge.add(&[3.0], 2.0).unwrap();
    let mut bytes = [0; state_bytes::<f32>(1)];
    ridge.write_state(0x0102_0304_0506_0708, &mut bytes).unwrap();
    assert_eq!(&bytes[..8], b"dppnstat");
    let words: Vec<u32> =
        bytes[12..44].as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    assert_eq!(words, [1, 60, 4, 1, 0x0506_0708, 0x0102_0304, 1, 0]);
    let numbers: Vec<f32> =
        bytes[44..].as_chunks::<4>().0.iter().map(|&number| f32::from_le_bytes(number)).collect();
    assert_eq!(numbers, [3.0, 2.0, 0.0, 0.0]);
    assert_eq!(u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]), CHECKSUM);
}

/// What no rows can have left, with a checksum that matches.
#[test]
fn impossible_states_are_refused() {
    let mut room = RidgeRoom::<f32>::new(2);
    let mut ridge = RidgeRegression::new(2, room.lend()).unwrap();
    ridge.add(&[3.0, 1.0], 2.0).unwrap();
    let mut bytes = [0; state_bytes::<f32>(2)];
    ridge.write_state(7, &mut bytes).unwrap();
    let rows = |rows: u64| (36, rows.to_le_bytes().to_vec());
    let number = |at: usize, value: f32| (44 + 4 * at, value.to_le_bytes().to_vec());
    // R is [3 1; 0 0], Qᵀy is [2 0], and nothing remains.
    let cases = [
        (rows(1), true),
        (rows(1 << 53), true),
        (rows((1 << 53) + 1), false),
        (rows(u64::MAX), false),
        (rows(0), false),
        (number(0, -3.0), false),
        (number(0, f32::NAN), false),
        (number(1, -1.0), true),
        (number(2, 1.0), false),
        // Rounding.
        (number(2, 1e-6), true),
        (number(3, 1e30), true),
        (number(5, 4.0), true),
        (number(5, -4.0), false),
        (number(6, -1e-6), false),
    ];
    for ((at, value), possible) in cases {
        let mut forged = bytes;
        forged[at..at + value.len()].copy_from_slice(&value);
        sealed(&mut forged);
        let expected = if possible { Ok(()) } else { Err(Error::StateBytes(BytesProblem::Malformed)) };
        assert_eq!(ridge.read_state(7, &forged), expected, "{at} {value:?}");
    }
    // Without rows, targets are none either.
    let mut forged = [0; state_bytes::<f32>(2)];
    forged[..44].copy_from_slice(&bytes[..44]);
    forged[36..44].fill(0);
    sealed(&mut forged);
    ridge.read_state(7, &forged).unwrap();
    // R takes three numbers, Qᵀy two, and the sum of squares two.
    for places in [&[3][..], &[3, 4], &[5], &[6]] {
        let mut forged = forged;
        for place in places {
            forged[44 + 4 * place..48 + 4 * place].copy_from_slice(&1_f32.to_le_bytes());
        }
        sealed(&mut forged);
        let refused = Err(Error::StateBytes(BytesProblem::Malformed));
        assert_eq!(ridge.read_state(7, &forged), refused, "{places:?}");
    }
}

/// Arrays of other lengths than the header says, with a length and a checksum that match.
#[test]
fn arrays_of_other_lengths_are_refused() {
    let malformed = Err(Error::StateBytes(BytesProblem::Malformed));
    let read = |mut bytes: Vec<u8>| {
        let length = bytes.len() as u32;
        bytes[16..20].copy_from_slice(&length.to_le_bytes());
        sealed(&mut bytes);
        StateHeader::read(&bytes).map(|header| header.targets)
    };
    let mut room = RidgeRoom::<f32>::new(1);
    let mut ridge = RidgeRegression::new(1, room.lend()).unwrap();
    ridge.add(&[3.0], 2.0).unwrap();
    // Version 1 has one target: the triangle, and three numbers.
    let mut bytes = vec![0; state_bytes::<f32>(1)];
    ridge.write_state(7, &mut bytes).unwrap();
    assert_eq!(read(bytes.clone()), Ok(1));
    bytes.extend_from_within(48..);
    assert_eq!(read(bytes), malformed);

    // Version 2: two sections, whose table of tags and lengths begins at byte 96.
    let mut bytes = vec![0; state_bytes_of::<f32>(1, 1)];
    ridge.write_state_from(Origin { device: 12, counter: 3 }, 7, &mut bytes).unwrap();
    let with = |triangle: usize, targets: usize| {
        let mut bytes = bytes[..112].to_vec();
        bytes[100..104].copy_from_slice(&(triangle as u32).to_le_bytes());
        bytes[108..112].copy_from_slice(&(targets as u32).to_le_bytes());
        bytes.resize(112 + triangle + targets, 0);
        read(bytes)
    };
    assert_eq!((with(4, 12), with(4, 24)), (Ok(1), Ok(2)));
    for (triangle, targets) in [(4, 0), (4, 8), (4, 16), (0, 12), (8, 12)] {
        assert_eq!(with(triangle, targets), malformed, "{triangle} {targets}");
    }
}

#[test]
fn a_tag_is_that_of_the_key_and_of_every_byte() {
    let mut room = RidgeRoom::<f32>::new(1);
    let mut ridge = RidgeRegression::new(1, room.lend()).unwrap();
    ridge.add(&[3.0], 2.0).unwrap();
    let origin = Origin { device: 12, counter: 3 };
    let mut bytes = [0; state_bytes_of::<f32>(1, 1) + 2];
    let length = ridge.write_state_from(origin, 7, &mut bytes).unwrap();
    assert_eq!(length + 2, bytes.len());
    let key: [u8; 32] = std::array::from_fn(|at| at as u8);
    let refused = Err(Error::StateBytes(BytesProblem::Tag));
    assert_eq!(verify_state(&bytes, &key), refused);
    sign_state(&mut bytes, &key).unwrap();
    assert_eq!(bytes[60..92], HMAC);
    let header = verify_state(&bytes, &key).unwrap();
    assert_eq!((header.origin, header.tag), (Some(origin), HMAC));
    // A tag replaces the one before it.
    let signed = bytes;
    sign_state(&mut bytes, &key).unwrap();
    assert_eq!(bytes, signed);
    ridge.read_state(7, &bytes).unwrap();
    // The checksum, bytes 8 to 11, is that of the forged bytes.
    for at in (0..8).chain(12..length) {
        let mut forged = bytes;
        forged[at] ^= 1;
        sealed(&mut forged[..length]);
        assert!(verify_state(&forged, &key).is_err(), "{at}");
    }
    let mut other = key;
    other[31] ^= 1;
    assert_eq!(verify_state(&bytes, &other), refused);

    let mut first = [0; state_bytes::<f32>(1)];
    ridge.write_state(7, &mut first).unwrap();
    let before = first;
    assert_eq!(sign_state(&mut first, &key), Err(Error::StateBytes(BytesProblem::Tag)));
    assert_eq!((first, verify_state(&first, &key)), (before, refused));
}

/// Write the checksum that goes with the bytes.
fn sealed(bytes: &mut [u8]) {
    let checksum = crc32fast::hash(&bytes[12..]).to_le_bytes();
    bytes[8..12].copy_from_slice(&checksum);
}

/// By an independent implementation (zlib's) over bytes 12 to 59.
const CHECKSUM: u32 = 0xF291_22B4;

/// By an independent implementation (Python's `hmac` and `hashlib`).
const HMAC: [u8; 32] = [
    0x34, 0xE7, 0x1E, 0x85, 0x33, 0x43, 0x7D, 0x63, 0x62, 0x53, 0xDF, 0x12, 0xFE, 0x2F, 0x78, 0x01, 0x7A,
    0x7D, 0x16, 0x8F, 0xDE, 0x6E, 0x19, 0xC3, 0x4D, 0x8F, 0xB5, 0x79, 0x84, 0x91, 0xEC, 0x08,
];

#[test]
fn damage_is_refused_and_changes_nothing() {
    let rows: Vec<f32> = normal_points(60, DIM, 2);
    let (bytes, digest) = learned(&rows, 0..60);
    let mut room = RidgeRoom::<f32>::new(5);
    let mut ridge = RidgeRegression::new(5, room.lend()).unwrap();
    ridge.read_state(digest, &bytes).unwrap();
    let before: Vec<f32> = ridge.numbers().unwrap().collect();
    for at in 0..bytes.len() {
        for bit in [1, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bit;
            assert!(matches!(ridge.read_state(digest, &damaged), Err(Error::StateBytes(_))), "{at}");
        }
        assert!(matches!(ridge.read_state(digest, &bytes[..at]), Err(Error::StateBytes(_))), "{at}");
    }
    let refused = |problem| Err(Error::StateBytes(problem));
    assert_eq!(ridge.read_state(digest ^ 1, &bytes), refused(BytesProblem::OtherLandmarks));
    assert_eq!(ridge.read_state(digest, b"dppnstax"), refused(BytesProblem::Foreign));
    let needed = 44;
    assert_eq!(ridge.read_state(digest, b"dppn"), refused(BytesProblem::Truncated { needed, have: 4 }));
    assert_eq!(bits(&before), bits(&ridge.numbers().unwrap().collect::<Vec<_>>()));
    assert_eq!(ridge.rows(), 60);

    let mut wide_room = RidgeRoom::<f64>::new(5);
    let mut wide = RidgeRegression::new(5, wide_room.lend()).unwrap();
    assert_eq!(wide.read_state(digest, &bytes), refused(BytesProblem::Precision));
    let mut other_room = RidgeRoom::<f32>::new(4);
    let mut other = RidgeRegression::new(4, other_room.lend()).unwrap();
    assert_eq!(other.read_state(digest, &bytes), Err(Error::Length { expected: 4, found: 5 }));
    let have = bytes.len() - 1;
    let needed = bytes.len();
    assert_eq!(ridge.write_state(digest, &mut vec![0; have]), Err(Error::Capacity { needed, have }));
}

#[test]
fn what_was_forgotten_is_kept() {
    let (mut room, mut other) = (RidgeRoom::<f32>::new(2), RidgeRoom::<f32>::new(2));
    let mut ridge = RidgeRegression::new(2, room.lend()).unwrap();
    for i in 0..9 {
        ridge.forget(0.8).unwrap();
        ridge.add(&[i as f32, 1.0 - i as f32], 0.3).unwrap();
    }
    let mut bytes = [0; 200];
    let length = ridge.write_state(5, &mut bytes).unwrap();
    assert_eq!(length, state_bytes_of::<f32>(2, 1) + state_bytes_forgotten::<f32>());
    assert_eq!(ridge.write_state(5, &mut [0; 60]), Err(Error::Capacity { needed: length, have: 60 }));
    let mut read = RidgeRegression::new(2, other.lend()).unwrap();
    read.read_state(5, &bytes[..length]).unwrap();
    assert_eq!((read.rows(), read.effective_rows()), (9, ridge.effective_rows()));
    // The last 12 bytes: rows before the last time, of 9, and their effective number.
    for (before, effective, taken) in [
        (9, 0.0, true),
        (9, 4.0, true),
        // Nothing forgotten has no section.
        (0, 0.0, false),
        (0, 4.0, false),
        (10, 4.0, false),
        (u64::MAX, 4.0, false),
        (9, -1.0, false),
        (9, f32::NAN, false),
        (9, f32::INFINITY, false),
    ] {
        let mut forged = bytes[..length].to_vec();
        forged[length - 12..length - 4].copy_from_slice(&before.to_le_bytes());
        forged[length - 4..].copy_from_slice(&effective.to_le_bytes());
        sealed(&mut forged);
        assert_eq!(read.read_state(5, &forged).is_ok(), taken, "{before} {effective}");
    }
    read.read_state(5, &bytes[..length]).unwrap();
    for ridge in [&mut ridge, &mut read] {
        ridge.forget(0.5).unwrap();
        ridge.add(&[0.5, 0.25], -1.0).unwrap();
    }
    let solve = |ridge: &mut RidgeRegression<'_, f32>| {
        ridge.solve(1e-2).unwrap().weights.iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(solve(&mut ridge), solve(&mut read));
    // Merging adds the effective rows.
    let (one, two) = (ridge.effective_rows(), read.effective_rows());
    ridge.merge(&read).unwrap();
    assert_eq!((ridge.rows(), ridge.effective_rows()), (20, one + two));
}

/// What a state does not hold is not there before it is written.
#[test]
fn no_rows_count_as_none() {
    let mut room = RidgeRoom::<f64>::new(1);
    let mut ridge = RidgeRegression::new(1, room.lend()).unwrap();
    assert_eq!(ridge.count_as(4.0), Err(Error::RowCount));
    ridge.count_as(0.0).unwrap();
    assert_eq!((ridge.rows(), ridge.effective_rows()), (0, 0.0));
}
