//! Several targets: each must get what an accumulator of its own gets, bit for bit; and version 2 of the
//! state bytes.

use dpp_nystrom_core::{
    BytesProblem, Error, Origin, RidgeRegression, Scalar, StateHeader, state_bytes, state_bytes_of,
};
use dpp_nystrom_tests::ground::normal_points;
use dpp_nystrom_tests::room::{self, RidgeRoom};

const DIM: usize = 5;
const TARGETS: usize = 3;

fn bits<T: Scalar>(numbers: impl IntoIterator<Item = T>) -> Vec<u64> {
    numbers.into_iter().map(|number| number.to_f64().to_bits()).collect()
}

/// Rows of features, then of targets; row 3 has a feature of zero, for which a rotation is skipped.
fn rows<T: Scalar>(n: usize) -> Vec<T> {
    let mut rows = normal_points(n, DIM + TARGETS, 11);
    rows[3 * (DIM + TARGETS)] = T::ZERO;
    rows
}

fn room_for<T: Scalar>(targets: usize) -> (RidgeRoom<T>, Vec<T>) {
    let nan = T::from_f64(f64::NAN);
    (RidgeRoom::new(DIM), vec![nan; RidgeRegression::<T>::further_numbers(DIM, targets)])
}

fn each_target_is_its_own_regression<T: Scalar>() {
    let rows = rows::<T>(40);
    let (mut room, mut further) = room_for::<T>(TARGETS);
    let (mut second_room, mut second_further) = room_for::<T>(TARGETS);
    let mut ridge = RidgeRegression::with_targets(DIM, TARGETS, room.lend(), &mut further).unwrap();
    let mut second =
        RidgeRegression::with_targets(DIM, TARGETS, second_room.lend(), &mut second_further).unwrap();
    assert_eq!((ridge.features(), ridge.targets()), (DIM, TARGETS));
    for (i, row) in rows.chunks(DIM + TARGETS).enumerate() {
        let part = if i < 25 { &mut ridge } else { &mut second };
        part.add_row(&row[..DIM], &row[DIM..]).unwrap();
    }
    ridge.merge(&second).unwrap();
    let kept: Vec<T> = ridge.numbers().unwrap().collect();
    assert_eq!(kept.len(), RidgeRegression::<T>::numbers_kept_of(DIM, TARGETS));
    second.restore(ridge.rows(), &kept).unwrap();

    let triangle = DIM * (DIM + 1) / 2;
    for k in 0..TARGETS {
        let (mut room, mut other_room) = (RidgeRoom::<T>::new(DIM), RidgeRoom::<T>::new(DIM));
        let mut alone = RidgeRegression::new(DIM, room.lend()).unwrap();
        let mut part = RidgeRegression::new(DIM, other_room.lend()).unwrap();
        for (i, row) in rows.chunks(DIM + TARGETS).enumerate() {
            let part = if i < 25 { &mut alone } else { &mut part };
            part.add(&row[..DIM], row[DIM + k]).unwrap();
        }
        alone.merge(&part).unwrap();
        let own: Vec<T> = alone.numbers().unwrap().collect();
        let column = triangle + k * (DIM + 2);
        assert_eq!(bits(own[..triangle].iter().copied()), bits(kept[..triangle].iter().copied()));
        assert_eq!(bits(own[triangle..].iter().copied()), bits(kept[column..][..DIM + 2].iter().copied()));
        for gamma in [0.0, 1e-3].map(T::from_f64) {
            let mut expected = [T::ZERO; DIM];
            room::solve(&mut alone, gamma, &mut expected).unwrap();
            for several in [&mut ridge, &mut second] {
                let mut weights = [T::ZERO; DIM];
                room::solve_target(several, k, gamma, &mut weights).unwrap();
                assert_eq!(bits(weights), bits(expected));
                let errors =
                    [room::squared_error(several, k, &weights), room::squared_error(&alone, 0, &weights)];
                assert_eq!(errors[0], errors[1]);
            }
        }
    }
}

#[test]
fn each_target_is_its_own_regression_bit_for_bit() {
    each_target_is_its_own_regression::<f64>();
    each_target_is_its_own_regression::<f32>();
}

#[test]
fn other_counts_of_targets_are_refused() {
    let (mut room, mut further) = room_for::<f64>(TARGETS);
    let few = |room: &mut RidgeRoom<f64>, further: &mut [f64], targets| {
        RidgeRegression::with_targets(DIM, targets, room.lend(), further).err()
    };
    assert_eq!(few(&mut room, &mut further, 0), Some(Error::Empty));
    let (needed, have) = (further.len(), further.len() - 1);
    assert_eq!(few(&mut room, &mut further[..have], TARGETS), Some(Error::Capacity { needed, have }));
    assert_eq!(
        few(&mut room, &mut further, usize::MAX),
        Some(Error::Capacity { needed: usize::MAX, have: needed })
    );

    let mut ridge = RidgeRegression::with_targets(DIM, TARGETS, room.lend(), &mut further).unwrap();
    let length = |expected, found| Err(Error::Length { expected, found });
    assert_eq!(ridge.add(&[1.0; DIM], 1.0), length(3, 1));
    assert_eq!(ridge.add_row(&[1.0; DIM], &[]), length(3, 0));
    assert_eq!(ridge.add_row(&[1.0; DIM], &[1.0; 4]), length(3, 4));
    let column = DIM + 2;
    assert_eq!(ridge.add_row(&[1.0; DIM], &[1.0, 1.0, f64::NAN]), Err(Error::NotFinite { row: 0, column }));
    assert_eq!(ridge.rows(), 0);
    ridge.add_row(&[1.0; DIM], &[1.0; 3]).unwrap();
    assert_eq!(
        room::solve_target(&mut ridge, 3, 1.0, &mut [0.0; DIM]),
        Err(Error::OutOfRange { index: 3, len: 3 })
    );
    assert_eq!(room::squared_error(&ridge, 3, &[0.0; DIM]), Err(Error::OutOfRange { index: 3, len: 3 }));

    let mut one_room = RidgeRoom::<f64>::new(DIM);
    let mut one = RidgeRegression::new(DIM, one_room.lend()).unwrap();
    assert_eq!(one.add_row(&[1.0; DIM], &[1.0; 2]), length(1, 2));
    assert_eq!(one.merge(&ridge), length(1, 3));
    let mut bytes = vec![0; state_bytes_of::<f64>(DIM, TARGETS)];
    ridge.write_state(1, &mut bytes).unwrap();
    assert_eq!(one.read_state(1, &bytes), length(1, 3));
}

/// CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    })
}

/// Bytes with their length and checksum set.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = bytes.len() as u32;
    bytes[16..20].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(&bytes[12..]);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn two_targets<'a>(room: &'a mut RidgeRoom<f32>, further: &'a mut [f32]) -> RidgeRegression<'a, f32> {
    RidgeRegression::with_targets(1, 2, room.lend(), further).unwrap()
}

const ORIGIN: Origin = Origin { device: 0x0102_0304_0506_0708, counter: 9 };

/// The state of one row with the feature 3 and the targets 2 and -4.
fn version_2() -> Vec<u8> {
    let (mut room, mut further) = (RidgeRoom::new(1), [0.0; RidgeRegression::<f32>::further_numbers(1, 2)]);
    let mut ridge = two_targets(&mut room, &mut further);
    ridge.add_row(&[3.0], &[2.0, -4.0]).unwrap();
    let mut bytes = vec![0xA5; state_bytes_of::<f32>(1, 2)];
    assert_eq!(ridge.write_state_from(ORIGIN, 7, &mut bytes), Ok(bytes.len()));
    bytes
}

/// The layout is a promise to devices in the field.
#[test]
fn the_layout_of_version_2_is_pinned() {
    let bytes = version_2();
    assert_eq!(&bytes[..8], b"dppnstat");
    assert_eq!(bytes, sealed(bytes.clone()));
    let words: Vec<u32> =
        bytes[12..].as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    assert_eq!(words[..8], [2, 140, 4, 1, 7, 0, 1, 0]);
    assert_eq!(words[8..12], [0x0506_0708, 0x0102_0304, 9, 0]);
    assert_eq!(words[12..20], [0; 8]);
    assert_eq!(words[20..25], [2, 1, 4, 2, 24]);
    let numbers: Vec<f32> = words[25..].iter().map(|&word| f32::from_bits(word)).collect();
    assert_eq!(numbers, [3.0, 2.0, 0.0, 0.0, -4.0, 0.0, 0.0]);

    let header = StateHeader::read(&bytes).unwrap();
    assert_eq!((header.number_bytes, header.features, header.targets), (4, 1, 2));
    assert_eq!((header.digest, header.rows, header.origin, header.tag), (7, 1, Some(ORIGIN), [0; 32]));
}

/// Read a state of two targets back and write it again.
fn read(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut room, mut further) = (RidgeRoom::new(1), [0.0; RidgeRegression::<f32>::further_numbers(1, 2)]);
    let mut ridge = two_targets(&mut room, &mut further);
    ridge.read_state(7, bytes)?;
    let mut again = vec![0; state_bytes_of::<f32>(1, 2)];
    ridge.write_state_from(ORIGIN, 7, &mut again).unwrap();
    Ok(again)
}

#[test]
fn damage_is_refused_and_unknown_sections_by_their_kind() {
    let bytes = version_2();
    assert_eq!(read(&bytes), Ok(bytes.clone()));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(matches!(read(&damaged), Err(Error::StateBytes(_))), "{at}");
        assert!(matches!(read(&bytes[..at]), Err(Error::StateBytes(_))), "{at}");
    }
    let problem = |bytes: Vec<u8>| match read(&sealed(bytes)) {
        Err(Error::StateBytes(problem)) => Some(problem),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    };
    // A third section of 4 bytes, first in the table and in the content.
    let with_section = |tag: u32| {
        let mut bytes = bytes.clone();
        bytes[92] = 3;
        bytes.splice(112..112, [0xEE; 4]);
        bytes.splice(96..96, [tag, 4].into_iter().flat_map(u32::to_le_bytes));
        bytes
    };
    assert_eq!(problem(with_section(1 << 31)), None);
    assert_eq!(read(&sealed(with_section(u32::MAX))), Ok(bytes.clone()));
    assert_eq!(problem(with_section(4)), Some(BytesProblem::Section(4)));
    // Of what was forgotten, and too short.
    assert_eq!(problem(with_section(3)), Some(BytesProblem::Malformed));
    assert_eq!(problem(with_section((1 << 31) - 1)), Some(BytesProblem::Section((1 << 31) - 1)));
    for tag in [1, 2] {
        assert_eq!(problem(with_section(tag)), Some(BytesProblem::Malformed));
    }
    // An authentication tag is not checked here.
    let mut tagged = bytes.clone();
    tagged[60..92].fill(0xC3);
    let tagged = sealed(tagged);
    assert_eq!(StateHeader::read(&tagged).unwrap().tag, [0xC3; 32]);
    assert_eq!(read(&tagged), Ok(bytes.clone()));
    // Lengths and counts that do not fit each other, and a NaN.
    for (at, value) in
        [(20, 3), (24, 2), (92, 1), (92, 9), (96, 9), (100, 8), (108, 28), (108, 20), (24, 0xFF)]
    {
        let mut wrong = bytes.clone();
        wrong[at] = value;
        assert!(problem(wrong).is_some(), "{at} {value}");
    }
    let mut nan = bytes.clone();
    nan[116..120].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(problem(nan), Some(BytesProblem::Malformed));
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(problem(longer), Some(BytesProblem::Malformed));
    let mut later = bytes;
    // Version 3 is for device 0 and counter 0 alone.
    later[12] = 3;
    assert_eq!(problem(later.clone()), Some(BytesProblem::Malformed));
    later[12] = 4;
    assert_eq!(problem(later), Some(BytesProblem::Version(4)));
}

#[test]
fn one_target_is_version_1_unless_it_has_an_origin() {
    let mut room = RidgeRoom::<f32>::new(1);
    let mut ridge = RidgeRegression::new(1, room.lend()).unwrap();
    ridge.add(&[3.0], 2.0).unwrap();
    let (mut first, mut second) = (vec![0; state_bytes::<f32>(1)], vec![0; state_bytes_of::<f32>(1, 1)]);
    ridge.write_state(7, &mut first).unwrap();
    ridge.write_state_from(ORIGIN, 7, &mut second).unwrap();
    assert_eq!((first[12], second[12]), (1, 2));
    let numbers = bits(ridge.numbers().unwrap());
    for bytes in [&first, &second] {
        let mut room = RidgeRoom::<f32>::new(1);
        let mut received = RidgeRegression::new(1, room.lend()).unwrap();
        received.read_state(7, bytes).unwrap();
        assert_eq!((bits(received.numbers().unwrap()), received.rows()), (numbers.clone(), 1));
        let header = StateHeader::read(bytes).unwrap();
        assert_eq!((header.targets, header.digest), (1, 7));
        assert_eq!(header.origin, (bytes.len() == second.len()).then_some(ORIGIN));
    }
}

/// Device 0 is a device: its first state differs from one of unknown origin, and each is written as it was
/// read.
#[test]
fn device_0_is_not_an_unknown_origin() {
    let (mut room, mut further) =
        (RidgeRoom::<f32>::new(1), [0.0; RidgeRegression::<f32>::further_numbers(1, 2)]);
    let mut ridge = two_targets(&mut room, &mut further);
    ridge.add_row(&[3.0], &[2.0, -4.0]).unwrap();
    let mut written = |origin: Option<Origin>| {
        let mut bytes = vec![0; state_bytes_of::<f32>(1, 2)];
        let length = match origin {
            Some(origin) => ridge.write_state_from(origin, 7, &mut bytes),
            None => ridge.write_state(7, &mut bytes),
        };
        assert_eq!(length, Ok(bytes.len()));
        bytes
    };
    let zero = |counter| Some(Origin { device: 0, counter });
    for (origin, version) in [(None, 2), (zero(0), 3), (zero(1), 2), (Some(ORIGIN), 2)] {
        let bytes = written(origin);
        let header = StateHeader::read(&bytes).unwrap();
        assert_eq!((header.version, header.origin), (version, origin));
        assert!(read(&bytes).is_ok());
    }
    // The two differ in nothing but the version, and so in the checksum.
    let (unknown, first) = (written(None), written(zero(0)));
    let differ: Vec<usize> = (0..first.len()).filter(|&at| unknown[at] != first[at]).collect();
    assert!(differ.iter().all(|at| (8..13).contains(at)) && differ.contains(&12), "{differ:?}");
}
