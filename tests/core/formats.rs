//! The byte formats are as `core/docs/formats.md` says: the files of `formats/` are taken apart by the tables
//! of that page, without the core's readers, and are what the core writes today. With `DPP_NYSTROM_BLESS=1`
//! in the environment this test writes the files.

use dpp_nystrom::data::{Map, Scaler};
use dpp_nystrom::kernel::{KernelKind, KernelSpec};
use dpp_nystrom::model::export::{Bits, Bundle, Exported, With};
use dpp_nystrom::{
    Model as Trained,
    model::{AnyCoefficients, Coefficients, Confidence},
};
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Acceptance, Assessor, BytesProblem, Detector, Error, Exchange, Learner, Limits, Model, ModelBytes,
    Origin, Outputs, Parts, Phase, QuantisedMap, QuantisedModel, QuantisedParts, Random, RidgeRegression,
    RidgeWorkspace, Scaling, Slots, StreamChain, Workspace, include_model, state_bytes_forgotten,
    state_bytes_of, stream_state_bytes,
};
use dpp_nystrom_golden::data::Sensor;
use dpp_nystrom_golden::power::Flash;
use embedded_storage::nor_flash::ReadNorFlash;
use rand_core::Rng;
use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// The tables of the page: the cells of each row, by the title above.
struct Page {
    tables: HashMap<String, Vec<Vec<String>>>,
}

impl Page {
    fn read() -> Self {
        let mut tables = HashMap::<String, Vec<Vec<String>>>::new();
        let mut title = "";
        for line in include_str!("../../core/docs/formats.md").lines() {
            if line.starts_with('#') {
                title = line.trim_start_matches('#').trim();
            } else if let Some(row) = line.strip_prefix("| ") {
                let cells = row.split('|').map(|cell| cell.trim().to_owned()).collect();
                tables.entry(title.to_owned()).or_default().push(cells);
            }
        }
        Self { tables }
    }

    /// The fields of a title at fixed places, each with its first byte and the byte after its last.
    fn fields(&self, title: &str) -> Vec<(String, Range<usize>)> {
        let places = self.tables[title].iter().filter_map(|row| {
            let mut words = row[0].split(' ');
            let start = words.next()?.parse().ok()?;
            let end = match (words.next()?, words.next()) {
                ("to", Some(last)) => last.parse::<usize>().ok()? + 1,
                ("on", None) => usize::MAX,
                _ => return None,
            };
            Some((row[1].clone(), start..end))
        });
        places.collect()
    }

    /// The arrays of a title: section (0 where there are none), name, numbers, type.
    fn arrays(&self, title: &str) -> Vec<(u32, String, String, String)> {
        let rows = self.tables[title].iter().filter_map(|row| match &row[..] {
            [section, name, numbers, kind, _] => {
                Some((section.parse().ok()?, name.clone(), numbers.clone(), kind.clone()))
            }
            [name, numbers, kind, _] if size(kind, 4) > 0 => {
                Some((0, name.clone(), numbers.clone(), kind.clone()))
            }
            _ => None,
        });
        rows.collect()
    }

    fn magic(&self, title: &str) -> String {
        let link = format!("[{}]", title.to_lowercase());
        let row = self.tables["Formats"].iter().find(|row| row[0].starts_with(&link)).unwrap();
        row[1].trim_matches('`').to_owned()
    }
}

/// Bytes of a number; 0 for what is not a type.
fn size(kind: &str, of_state: usize) -> usize {
    match kind {
        "u8" | "i8" => 1,
        "i16" => 2,
        "u32" | "i32" | "f32" => 4,
        "u64" | "f64" => 8,
        "T" => of_state,
        _ => 0,
    }
}

/// The value of an expression such as `2c + t`, of products of these letters.
fn evaluate(expression: &str, letters: &[(char, usize)]) -> usize {
    let term = |term: &str| {
        let digits = term.chars().take_while(char::is_ascii_digit).count();
        let number: usize = if digits > 0 { term[..digits].parse().unwrap() } else { 1 };
        let value = |letter| letters.iter().find(|(other, _)| *other == letter).unwrap().1;
        term[digits..].chars().filter(|letter| *letter != ' ').map(value).product::<usize>() * number
    };
    expression.split('+').map(|part| term(part.trim())).sum()
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc: u32, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
    })
}

fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A number of this type, as `f64`.
fn number(bytes: &[u8], kind: &str) -> f64 {
    match (kind, bytes.len()) {
        ("f32" | "T", 4) => f64::from(f32::from_bits(unsigned(bytes) as u32)),
        ("f64" | "T", 8) => f64::from_bits(unsigned(bytes)),
        ("i8", 1) => f64::from(bytes[0] as i8),
        ("i16", 2) => f64::from(unsigned(bytes) as i16),
        ("i32", 4) => f64::from(unsigned(bytes) as i32),
        ("u8" | "u32" | "u64", _) => unsigned(bytes) as f64,
        _ => panic!("{kind} of {} bytes", bytes.len()),
    }
}

/// What the page makes of some bytes.
struct Read<'p> {
    page: &'p Page,
    bytes: Vec<u8>,
    arrays: HashMap<String, Vec<f64>>,
}

impl<'p> Read<'p> {
    /// Check the frame.
    fn new(page: &'p Page, magic: &str, version: u64, bytes: &[u8]) -> Self {
        let read = Self { page, bytes: bytes.to_vec(), arrays: HashMap::new() };
        assert_eq!(read.field("Frame", "magic"), page.magic(magic).as_bytes());
        assert_eq!(read.word("Frame", "version"), version);
        let length = read.word("Frame", "length") as usize;
        let checked = read.at("Frame", "checksum").end;
        assert_eq!(read.word("Frame", "checksum") as u32, crc32(&bytes[checked..length]));
        Self { bytes: bytes[..length].to_vec(), ..read }
    }

    fn at(&self, title: &str, field: &str) -> Range<usize> {
        let fields = self.page.fields(title);
        fields.into_iter().find(|(name, _)| name == field).unwrap_or_else(|| panic!("{title}: {field}")).1
    }

    fn field(&self, title: &str, field: &str) -> &[u8] {
        let at = self.at(title, field);
        &self.bytes[at.start..at.end.min(self.bytes.len())]
    }

    fn word(&self, title: &str, field: &str) -> u64 {
        unsigned(self.field(title, field))
    }

    fn single(&self, title: &str, field: &str) -> f64 {
        number(self.field(title, field), "f32")
    }

    /// Take the arrays of a title, which follow one another from `start` on. Return the end.
    fn take(&mut self, title: &str, start: usize, of_state: usize, letters: &[(char, usize)]) -> usize {
        let mut at = start;
        for (_, name, numbers, kind) in self.page.arrays(title) {
            at = self.array(name, at, &numbers, &kind, of_state, letters);
        }
        at
    }

    fn array(
        &mut self,
        name: String,
        at: usize,
        numbers: &str,
        kind: &str,
        of_state: usize,
        letters: &[(char, usize)],
    ) -> usize {
        let bytes = size(kind, of_state);
        let end = at + evaluate(numbers, letters) * bytes;
        let values = self.bytes[at..end].chunks(bytes).map(|bytes| number(bytes, kind)).collect();
        self.arrays.insert(name, values);
        end
    }

    /// Take the sections, whose table is where `header` says, with the arrays of `title`.
    fn sections(&mut self, header: &str, title: &str, of_state: usize, letters: &[(char, usize)]) {
        let count = self.at(header, "sections").start;
        assert_eq!(self.at(header, "table").start, count + 4);
        self.sections_at(count, title, of_state, letters);
    }

    /// [`sections`](Self::sections) whose number is at this place.
    fn sections_at(&mut self, at: usize, title: &str, of_state: usize, letters: &[(char, usize)]) {
        let (count, table) = (unsigned(&self.bytes[at..at + 4]) as usize, at + 4);
        let mut content = table + 8 * count;
        let arrays = self.page.arrays(title);
        let mut known = 0;
        for entry in 0..count {
            let at = table + 8 * entry;
            let tag = unsigned(&self.bytes[at..at + 4]) as u32;
            let length = unsigned(&self.bytes[at + 4..at + 8]) as usize;
            let mut end = content;
            for (_, name, numbers, kind) in arrays.iter().filter(|array| array.0 == tag) {
                end = self.array(name.clone(), end, numbers, kind, of_state, letters);
                known += 1;
            }
            assert_eq!(end, content + length, "{title}, section {tag}");
            content = end;
        }
        assert_eq!((content, known), (self.bytes.len(), arrays.len()), "{title}");
    }

    fn numbers(&self, name: &str) -> &[f64] {
        &self.arrays[name]
    }
}

/// The bytes of a file, which must be those that the core writes now.
fn example(file: &str, written: &[u8]) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("core/formats").join(file);
    if std::env::var_os("DPP_NYSTROM_BLESS").is_some() {
        fs::write(&path, written).unwrap();
    }
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes, written, "{file} is not what is written now");
    bytes
}

#[test]
fn the_fields_of_a_format_follow_one_another() {
    let page = Page::read();
    let titles = ["Frame", "Model", "State of a regression", "Version 2", "State of a learner", "Slot"];
    for title in titles.into_iter().chain(["Random generator"]) {
        let fields = page.fields(title);
        assert!(fields.len() >= 3, "{title}");
        assert_eq!(fields[0].1.start, 0, "{title}");
        for pair in fields.windows(2) {
            assert_eq!(pair[0].1.end, pair[1].1.start, "{title}: {} and {}", pair[0].0, pair[1].0);
        }
    }
}

fn trained() -> Trained {
    Trained {
        feature_names: vec!["a".into(), "b".into()],
        target_name: "y".into(),
        scaler: Scaler { means: vec![20.0, 1_000.0], deviations: vec![2.0, 4.0], map: None, bounds: None },
        target_mean: 7.0,
        target_deviation: 3.0,
        ridge: 0.1,
        kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 },
        trained_on: "rows".into(),
        trained_rows: 9,
        landmark_rows: vec![4, 5, 6],
        train_nrmse: 0.0,
        confidence: None,
        scales: None,
        importances: None,
        test_error: None,
        quantise: None,
        recipe: None,
        further: Vec::new(),
        classifier: None,
        coefficients: AnyCoefficients::F64(Coefficients {
            landmarks: vec![0.5, -1.0, 0.25, 2.0, -1.5, 0.0],
            weights: vec![1.0, -0.5, 0.25],
        }),
    }
}

const ROWS: [[f32; 2]; 3] = [[20.0, 1_000.0], [21.5, 996.0], [17.0, 1_007.0]];

#[test]
fn a_model_is_as_the_page_says() {
    let (page, title) = (Page::read(), "Model");
    let bytes = example("single.bin", &Exported::of(&trained(), None).unwrap().to_bytes().unwrap());
    let mut read = Read::new(&page, title, 1, &bytes);
    let words = ["kind", "features", "landmarks", "kernel", "second", "third", "fourth"];
    assert_eq!(words.map(|field| read.word(title, field)), [0, 2, 3, 0, 0, 0, 0]);
    assert_eq!(["first", "mean", "scale"].map(|field| read.single(title, field)), [-0.5, 7.0, 3.0]);
    let end =
        read.take("Arrays in single precision", read.at(title, "arrays").start, 4, &[('c', 3), ('d', 2)]);
    assert_eq!(end, bytes.len());
    assert_eq!(read.numbers("means"), [20.0, 1_000.0]);
    assert_eq!(read.numbers("scales"), [0.5, 0.25]);
    assert_eq!(read.numbers("landmarks"), [0.5, -1.0, 0.25, 2.0, -1.5, 0.0]);
    assert_eq!(read.numbers("weights"), [1.0, -0.5, 0.25]);

    // The same predictions as from the bytes.
    let array = |name: &str| read.numbers(name).iter().map(|&value| value as f32).collect::<Vec<_>>();
    let [means, scales, landmarks, weights] = ["means", "scales", "landmarks", "weights"].map(array);
    let kernel = Gaussian::from_exponent(read.single(title, "first") as f32).unwrap();
    let (target_mean, target_scale) = (7.0, 3.0);
    let parts = Parts {
        means: &means,
        scaling: Scaling::PerFeature(&scales),
        landmarks: &landmarks,
        weights: &weights,
        target_mean,
        target_scale,
    };
    let by_the_page = Model::new(kernel, parts).unwrap();
    let by_the_core = Model::from_bytes(include_model!("formats/single.bin")).unwrap();
    for row in ROWS {
        assert_eq!(by_the_page.predict(&row, &mut [0.0; 2]), by_the_core.predict(&row, &mut [0.0; 2]));
    }
}

/// Of rank 1, with the scales folded in.
fn mapped() -> Trained {
    let map = Map { rank: 1, values: vec![2.0, -1.0] };
    let mut model = Trained { scaler: Scaler { map: Some(map), ..trained().scaler }, ..trained() };
    let AnyCoefficients::F64(coefficients) = &mut model.coefficients else { unreachable!() };
    coefficients.landmarks = vec![0.5, -1.0, 2.0];
    model
}

#[test]
fn a_model_with_a_map_is_as_the_page_says() {
    let (page, title) = (Page::read(), "Model");
    let bytes = example("mapped.bin", &Exported::of(&mapped(), None).unwrap().to_bytes().unwrap());
    let mut read = Read::new(&page, title, 3, &bytes);
    assert_eq!(
        ["kind", "features", "landmarks", "kernel"].map(|field| read.word(title, field)),
        [0, 2, 3, 0]
    );
    let letters = [('c', 3), ('d', 2), ('r', 1)];
    let start = read.at(title, "arrays").start;
    let end = read.take("Arrays in single precision with a map", start, 4, &letters);
    // No section.
    assert_eq!(bytes[end..], [0; 4]);
    assert_eq!((read.numbers("rank"), read.numbers("means")), (&[1.0][..], &[20.0, 1_000.0][..]));
    assert_eq!((read.numbers("map"), read.numbers("landmarks")), (&[1.0, -0.25][..], &[0.5, -1.0, 2.0][..]));

    // The same predictions as from the page's numbers, and those of the model that was written.
    static MAPPED: &[u8] = include_model!("formats/mapped.bin");
    let array = |name: &str| read.numbers(name).iter().map(|&value| value as f32).collect::<Vec<_>>();
    let [means, rows, landmarks, weights] = ["means", "map", "landmarks", "weights"].map(array);
    let parts = Parts {
        means: &means,
        scaling: Scaling::Map { rank: 1, rows: &rows },
        landmarks: &landmarks,
        weights: &weights,
        target_mean: 7.0,
        target_scale: 3.0,
    };
    let by_the_page = Model::new(Gaussian::from_exponent(-0.5).unwrap(), parts).unwrap();
    let by_the_core = Model::from_bytes(MAPPED).unwrap();
    assert_eq!((by_the_core.features(), by_the_core.width()), (2, 1));
    for row in ROWS {
        let found = by_the_core.predict(&row, &mut [0.0]).unwrap();
        assert_eq!(Ok(found), by_the_page.predict(&row, &mut [0.0]));
        near(&[f64::from(found)], &mapped().predict(&row.map(f64::from)).unwrap(), 1e-5);
    }

    // With sections, whose place depends on the rank.
    let confidence = Confidence {
        range: [-2.0, 40.0],
        nearest: [0.5, 1.0, 4.0],
        residual: [0.125, 0.25, 0.75],
        penalty: 0.5,
        noise: 0.0625,
        triangle: vec![1.0, 0.25, 2.0, 0.5, -0.25, 4.0],
    };
    let models =
        [Trained { confidence: Some(confidence), ..mapped() }, Trained { target_mean: 1.0, ..mapped() }];
    let bundle = Bundle::of(&models, None, With { novelty: true, variance: true }).unwrap();
    let bytes = Aligned::of(&bundle.to_bytes().unwrap());
    let assessor = Assessor::from_bytes(&bytes.0).unwrap();
    assert_eq!(Limits::from_bytes(&bytes.0).unwrap().as_ref(), assessor.limits());
    let mut damaged = Aligned::of(&bytes.0);
    damaged.0[60] ^= 1;
    assert_eq!(Limits::from_bytes(&damaged.0), Err(Error::ModelBytes(BytesProblem::Corrupt)));
    for row in ROWS {
        let mut out = [0.0; 2];
        Outputs::from_bytes(&bytes.0).unwrap().predict(&row, &mut [0.0], &mut out).unwrap();
        let expected = [0, 1].map(|output: usize| models[output].predict(&row.map(f64::from)).unwrap()[0]);
        near(&out.map(f64::from), &expected, 1e-5);
        // Room for one coordinate and three features of the Nystroem approximation.
        let found = assessor.assess(&row, &mut [0.0; 4]).unwrap();
        let expected = &models[0].assess(&row.map(f64::from)).unwrap()[0];
        let numbers = [found.nearest, found.residual.unwrap(), found.variance.unwrap()].map(f64::from);
        near(&numbers, &[expected.nearest, expected.residual.unwrap(), expected.variance.unwrap()], 1e-4);
    }
    assert_eq!(bundle.ram_bytes(), 4 * 4);
    let pieces = 2 + 2 + 3 + 3 + (3 + 2) + 8 + (2 + 2 * 6);
    assert_eq!(bundle.flash_bytes(), 4 * pieces);
}

/// With a map of rank 1, and without.
fn clipped(with_map: bool) -> Trained {
    let from = if with_map { mapped() } else { trained() };
    Trained { scaler: Scaler { bounds: Some(vec![3.0, 4.0]), ..from.scaler }, ..from }
}

#[test]
fn a_model_with_clipped_features_is_as_the_page_says() {
    let (page, title) = (Page::read(), "Model");
    let bytes = example("clipped.bin", &Exported::of(&clipped(true), None).unwrap().to_bytes().unwrap());
    let mut read = Read::new(&page, title, 4, &bytes);
    let (start, letters) = (read.at(title, "arrays").start, [('c', 3), ('d', 2), ('r', 1)]);
    let end = read.take("Arrays in single precision with clipped features", start, 4, &letters);
    // No section.
    assert_eq!(bytes[end..], [0; 4]);
    assert_eq!((read.numbers("rank"), read.numbers("scales")), (&[1.0][..], &[0.5, 0.25][..]));
    assert_eq!(
        (read.numbers("inverses"), read.numbers("map")),
        (&[f64::from(1.0_f32 / 3.0), 0.25][..], &[2.0, -1.0][..])
    );
    static CLIPPED: &[u8] = include_model!("formats/clipped.bin");
    let by_the_core = Model::from_bytes(CLIPPED).unwrap();
    assert_eq!((by_the_core.features(), by_the_core.width()), (2, 1));
    let far = [[f32::MAX / 4.0, 990.0], [20.0, -1e30]];
    for with_map in [true, false] {
        let (model, width) = (clipped(with_map), if with_map { 1 } else { 2 });
        let exported = Exported::of(&model, None).unwrap();
        let bytes = Aligned::of(&exported.to_bytes().unwrap());
        let read = Model::from_bytes(&bytes.0).unwrap();
        assert_eq!((read.width(), exported.ram_bytes()), (width, 4 * width));
        assert_eq!(exported.flash_bytes(), 4 * (2 + 4 + if with_map { 2 } else { 0 } + 3 * width + 3));
        for row in ROWS.into_iter().chain(far) {
            let found = read.predict(&row, &mut [0.0; 2][..width]).unwrap();
            near(&[f64::from(found)], &model.predict(&row.map(f64::from)).unwrap(), 1e-5);
            if with_map {
                assert_eq!(by_the_core.predict(&row, &mut [0.0]), Ok(found));
            }
        }
        let row = [f32::NAN, 1_000.0];
        assert_eq!(read.predict(&row, &mut [0.0; 2]), Err(Error::NotFinite { row: 0, column: 0 }));
        let row = [20.0, f32::INFINITY];
        assert_eq!(read.predict(&row, &mut [0.0; 2]), Err(Error::NotFinite { row: 0, column: 1 }));
        // Another value of a feature that was constant, where that is known.
        let constant = Trained {
            scaler: Scaler {
                deviations: vec![2.0, 0.0],
                bounds: Some(vec![3.0, 0.0]),
                ..model.scaler.clone()
            },
            ..model.clone()
        };
        let bytes = Aligned::of(&Exported::of(&constant, None).unwrap().to_bytes().unwrap());
        let found = Model::from_bytes(&bytes.0).unwrap().assess(&[20.0, 900.0], &mut [0.0; 2]).unwrap();
        assert_eq!(found.nearest, f32::INFINITY);
        assert!(
            Exported::of(&model, Some(Bits::Sixteen)).unwrap_err().to_string().contains("--scale standard")
        );
    }
    // Integers are not of this version.
    let mut damaged = Exported::of(&mapped(), Some(Bits::Sixteen)).unwrap().to_bytes().unwrap();
    damaged[12] = 4;
    let sum = crc32(&damaged[12..]).to_le_bytes();
    damaged[8..12].copy_from_slice(&sum);
    let found = QuantisedModel::<i16>::from_bytes(&Aligned::of(&damaged).0).map(drop);
    assert_eq!(found, Err(Error::ModelBytes(BytesProblem::Malformed)));
}

#[test]
fn a_model_off_its_place_is_refused() {
    let bytes = Bundle::of(&[mapped()], None, With::default()).unwrap().to_bytes().unwrap();
    let mut moved = Aligned([0xff; 512]);
    moved.0[1..=bytes.len()].copy_from_slice(&bytes);
    let found = Model::from_bytes(&moved.0[1..]).map(drop);
    assert_eq!(found, Err(Error::ModelBytes(BytesProblem::Misaligned)));
}

/// Another kernel than the Gaussian, and a target's mean and scale that are no numbers, under a checksum that
/// matches.
#[test]
fn impossible_quantised_models_are_refused() {
    let bytes = Exported::of(&mapped(), Some(Bits::Sixteen)).unwrap().to_bytes().unwrap();
    let (kernel, mean, scale, nan) = (32, 52, 56, f32::NAN.to_bits());
    for (at, word, sound) in [
        (kernel, 0, true),
        (kernel, 1, false),
        (mean, nan, false),
        (scale, nan, false),
        (scale, 0x7f80_0000, false),
    ] {
        let mut forged = Aligned::of(&bytes);
        forged.0[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
        crate::uses::seal(&mut forged.0[..bytes.len()], false);
        let expected = if sound { Ok(()) } else { Err(Error::ModelBytes(BytesProblem::Malformed)) };
        assert_eq!(QuantisedModel::<i16>::from_bytes(&forged.0).map(drop), expected, "{at} {word}");
    }
}

#[test]
fn a_quantised_model_with_a_map_is_as_the_page_says() {
    let (page, title) = (Page::read(), "Model");
    let exported = Exported::of(&mapped(), Some(Bits::Sixteen)).unwrap();
    let bytes = example("mapped16.bin", &exported.to_bytes().unwrap());
    let mut read = Read::new(&page, title, 3, &bytes);
    let letters = [('c', 3), ('d', 2), ('r', 1)];
    let start = read.at(title, "arrays").start;
    let end = read.take("Arrays in 16 bits with a map", start, 4, &letters).next_multiple_of(4);
    assert_eq!(bytes[end..], [0; 4]);
    // From levels of 32 / 16,383 standard deviations to those of the coordinate: in the map's ratio, 2 to -1,
    // to its rounding.
    let map = read.numbers("map");
    assert!((map[0] + 2.0 * map[1]).abs() <= 2.0 && map[0] > 10_000.0, "{map:?}");
    static MAPPED: &[u8] = include_model!("formats/mapped16.bin");
    let by_the_core = QuantisedModel::<i16>::from_bytes(MAPPED).unwrap();
    let whole = |name: &str| read.numbers(name).iter().map(|&value| value as i32).collect::<Vec<_>>();
    let narrow = |name: &str| read.numbers(name).iter().map(|&value| value as i16).collect::<Vec<_>>();
    let [centres, factors, exponents, weights] = ["centres", "factors", "exponents", "weights"].map(whole);
    let [rows, landmarks] = ["map", "landmarks"].map(narrow);
    let by_the_page = QuantisedModel::<i16>::new(QuantisedParts {
        centres: &centres,
        factors: &factors,
        exponents: &exponents,
        map: Some(QuantisedMap { rank: 1, rows: &rows, shift: read.numbers("map shift")[0] as u32 }),
        landmarks: &landmarks,
        weights: &weights,
        limit: read.word(title, "first") as u32,
        multiplier: read.word(title, "second") as u32,
        shift: read.word(title, "third") as u32,
        step: read.word(title, "fourth") as i32,
        target_mean: read.single(title, "mean") as f32,
        target_scale: read.single(title, "scale") as f32,
    })
    .unwrap();
    for row in ROWS {
        let found = by_the_core.predict(&row, &mut [0; 3]).unwrap();
        assert_eq!(Ok(found), by_the_page.predict(&row, &mut [0; 3]));
        near(&[f64::from(found)], &mapped().predict(&row.map(f64::from)).unwrap(), 0.01);
    }
}

/// Versions, kinds, ranks and lengths that contradict one another.
#[test]
fn malformed_maps_are_refused() {
    let bytes = Exported::of(&mapped(), None).unwrap().to_bytes().unwrap();
    let changed = |words: &[(usize, u32)]| {
        let mut bytes = bytes.clone();
        for &(at, word) in words {
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        let checksum = crc32(&bytes[12..]);
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
        Aligned::of(&bytes)
    };
    assert!(Model::from_bytes(&changed(&[]).0).is_ok());
    let malformed = Some(Error::ModelBytes(BytesProblem::Malformed));
    let refused = |words: &[(usize, u32)]| {
        let bytes = changed(words);
        assert_eq!(Model::from_bytes(&bytes.0).err(), malformed, "{words:?}");
        assert_eq!(Outputs::from_bytes(&bytes.0).err(), malformed, "{words:?}");
    };
    for rank in [0, 2, 3, 1 << 31, u32::MAX] {
        refused(&[(60, rank)]);
    }
    // Ranks of more coordinates than features, in lengths that fit: 5 + 3 · 1 + 3 + 3 for 2 + 2 · 1 + 3 · 1
    // + 3.
    refused(&[(24, 1), (60, 2)]);
    refused(&[(24, u32::MAX), (60, u32::MAX)]);
    refused(&[(28, u32::MAX), (60, u32::MAX)]);
    // A number that is not finite: mean, map, landmark, weight.
    for at in [64, 72, 76, 80, 92] {
        refused(&[(at, f32::NAN.to_bits())]);
        refused(&[(at, f32::INFINITY.to_bits())]);
    }
    // Without the rank, with one in older versions, and without the numbers of clipped features.
    refused(&[(12, 1)]);
    refused(&[(12, 2)]);
    refused(&[(12, 4)]);
    assert_eq!(
        Model::from_bytes(&changed(&[(12, 5)]).0).err(),
        Some(Error::ModelBytes(BytesProblem::Version(5)))
    );
    for kind in [1, 2] {
        let bytes = changed(&[(20, kind)]);
        let quantised = if kind == 1 {
            QuantisedModel::<i16>::from_bytes(&bytes.0).err()
        } else {
            QuantisedModel::<i8>::from_bytes(&bytes.0).err()
        };
        assert_eq!(quantised, malformed);
        assert_eq!(Limits::from_bytes(&bytes.0).err(), malformed);
    }
    // A quantised model in the version of a map.
    let mut bits16 = Exported::of(&trained(), Some(Bits::Sixteen)).unwrap().to_bytes().unwrap();
    bits16[12] = 3;
    let checksum = crc32(&bits16[12..]);
    bits16[8..12].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(QuantisedModel::<i16>::from_bytes(&Aligned::of(&bits16).0).err(), malformed);
}

/// Bytes at a multiple of 4.
#[repr(C, align(4))]
struct Aligned([u8; 512]);

impl Aligned {
    fn of(bytes: &[u8]) -> Self {
        Self(std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0xff)))
    }
}

/// Two outputs, limits and triangles, of numbers that are exact in single precision.
#[test]
fn the_sections_of_a_model_are_as_the_page_says() {
    let (page, title) = (Page::read(), "Model");
    let confidence = Confidence {
        range: [-2.0, 40.0],
        nearest: [0.5, 1.0, 4.0],
        residual: [0.125, 0.25, 0.75],
        penalty: 0.5,
        noise: 0.0625,
        triangle: vec![1.0, 0.25, 2.0, 0.5, -0.25, 4.0],
    };
    let first = Trained { confidence: Some(confidence.clone()), ..trained() };
    let mut second = Trained { target_mean: -3.0, target_deviation: 0.5, ..trained() };
    let AnyCoefficients::F64(coefficients) = &mut second.coefficients else { unreachable!() };
    coefficients.weights = vec![0.5, 2.0, -4.0];
    let models = [first, second];
    let with = With { novelty: true, variance: true };
    let bytes = example("sections.bin", &Bundle::of(&models, None, with).unwrap().to_bytes().unwrap());
    let letters = [('c', 3), ('d', 2), ('t', 6), ('m', 1)];
    let mut read = Read::new(&page, title, 2, &bytes);
    let start = read.at(title, "arrays").start;
    let end = read.take("Arrays in single precision", start, 4, &letters);
    read.sections_at(end, "Sections of a model", 4, &letters);
    assert_eq!(read.numbers("further weights"), [0.5, 2.0, -4.0]);
    assert_eq!((read.numbers("further means"), read.numbers("further scales")), (&[-3.0][..], &[0.5][..]));
    assert_eq!(
        (read.numbers("range"), read.numbers("nearest")),
        (&confidence.range[..], &confidence.nearest[..])
    );
    assert_eq!(read.numbers("residual"), confidence.residual);
    assert_eq!((read.numbers("penalty"), read.numbers("noise")), (&[0.5][..], &[0.0625][..]));
    assert_eq!(read.numbers("triangle"), confidence.triangle);
    let landmarks = read.numbers("landmarks");
    let kernel = |i: usize, j: usize| {
        let squares = |k: usize| (landmarks[2 * i + k] - landmarks[2 * j + k]).powi(2);
        (-0.5 * (squares(0) + squares(1))).exp()
    };
    let expected: Vec<f64> = (0..9).map(|at| kernel(at / 3, at % 3)).collect();
    near(&square(read.numbers("factor"), 3, false), &expected, 1e-6);

    // What the core makes of them, and of the page's numbers by the adapter in double precision.
    static SECTIONS: &[u8] = include_model!("formats/sections.bin");
    let (outputs, assessor) =
        (Outputs::from_bytes(SECTIONS).unwrap(), Assessor::from_bytes(SECTIONS).unwrap());
    let limits = Limits::from_bytes(SECTIONS).unwrap().unwrap();
    assert_eq!(Some(&limits), assessor.limits());
    assert_eq!((limits.nearest, limits.range), ([0.5, 1.0, 4.0], [-2.0, 40.0]));
    let mut out = [0.0; 2];
    for row in ROWS {
        outputs.predict(&row, &mut [0.0; 2], &mut out).unwrap();
        let raw = row.map(f64::from);
        let by_models = models.each_ref().map(|model| model.predict(&raw).unwrap()[0]);
        near(&out.map(f64::from), &by_models, 1e-5);
        let found = assessor.assess(&row, &mut [0.0; 5]).unwrap();
        let expected = &models[0].assess(&raw).unwrap()[0];
        let numbers = |values: [Option<f32>; 2]| values.map(|value| f64::from(value.unwrap()));
        near(
            &numbers([Some(found.nearest), found.residual]),
            &[expected.nearest, expected.residual.unwrap()],
            1e-5,
        );
        near(
            &numbers([Some(found.value), found.variance]),
            &[expected.value, expected.variance.unwrap()],
            1e-4,
        );
    }
    let refused = |bytes: &[u8]| Model::from_bytes(bytes).map(drop).unwrap_err();
    assert_eq!(refused(SECTIONS), Error::ModelBytes(BytesProblem::Outputs));

    // Of integers, whose distances are in levels.
    for bits in [Bits::Sixteen, Bits::Eight] {
        let bundle = Bundle::of(&models, Some(bits), With { novelty: true, variance: false }).unwrap();
        let limits = Limits::from_bytes(&Aligned::of(&bundle.to_bytes().unwrap()).0).unwrap().unwrap();
        let alone = Bundle::of(&models[..1], Some(bits), With { novelty: true, variance: false }).unwrap();
        let alone = Aligned::of(&alone.to_bytes().unwrap());
        let assess = |row: &[f32; 2]| match bits {
            Bits::Sixteen => {
                QuantisedModel::<i16>::from_bytes(&alone.0).unwrap().assess(row, &mut [0; 2]).unwrap()
            }
            Bits::Eight => {
                QuantisedModel::<i8>::from_bytes(&alone.0).unwrap().assess(row, &mut [0; 2]).unwrap()
            }
        };
        for row in ROWS {
            let expected = models[0].assess(&row.map(f64::from)).unwrap()[0].nearest;
            let levels = f64::from(limits.nearest[1]); // of one standard deviation
            near(&[f64::from(assess(&row).nearest) / levels], &[expected], 0.02);
        }
    }
}

#[test]
fn a_quantised_model_is_as_the_page_says() {
    static BITS16: &[u8] = include_model!("formats/bits16.bin");
    static BITS8: &[u8] = include_model!("formats/bits8.bin");
    let (page, title) = (Page::read(), "Model");
    for (bits, file, kind, arrays) in [
        (Bits::Sixteen, "bits16.bin", 1, "Arrays in 16 bits"),
        (Bits::Eight, "bits8.bin", 2, "Arrays in 8 bits"),
    ] {
        let bytes = example(file, &Exported::of(&trained(), Some(bits)).unwrap().to_bytes().unwrap());
        let mut read = Read::new(&page, title, 1, &bytes);
        let words = ["kind", "features", "landmarks", "kernel"];
        assert_eq!(words.map(|field| read.word(title, field)), [kind, 2, 3, 0]);
        let end = read.take(arrays, read.at(title, "arrays").start, 4, &[('c', 3), ('d', 2)]);
        assert_eq!(end.next_multiple_of(4), bytes.len());
        assert!(bytes[end..].iter().all(|&byte| byte == 0));
        let array = |name: &str| read.numbers(name).iter().map(|&value| value as i32).collect::<Vec<_>>();
        let [centres, factors, exponents, weights] =
            ["centres", "factors", "exponents", "weights"].map(array);
        let [limit, multiplier, shift, step] =
            ["first", "second", "third", "fourth"].map(|field| read.word(title, field) as u32);
        let (wide, narrow): (Vec<i16>, Vec<i8>) =
            read.numbers("landmarks").iter().map(|&value| (value as i16, value as i8)).unzip();
        macro_rules! compare {
            ($type:ty, $landmarks:expr, $included:expr) => {{
                let by_the_page = QuantisedModel::<$type>::new(QuantisedParts {
                    centres: &centres,
                    factors: &factors,
                    exponents: &exponents,
                    map: None,
                    landmarks: &$landmarks,
                    weights: &weights,
                    limit,
                    multiplier,
                    shift,
                    step: step as i32,
                    target_mean: read.single(title, "mean") as f32,
                    target_scale: read.single(title, "scale") as f32,
                })
                .unwrap();
                let by_the_core = QuantisedModel::<$type>::from_bytes($included).unwrap();
                let own = Model::from_bytes(include_model!("formats/single.bin")).unwrap();
                for row in ROWS {
                    let expected = own.predict(&row, &mut [0.0; 2]).unwrap();
                    let found = by_the_page.predict(&row, &mut [0; 2]).unwrap();
                    assert_eq!(Ok(found), by_the_core.predict(&row, &mut [0; 2]));
                    assert!((found - expected).abs() < 0.05, "{found} {expected}");
                }
            }};
        }
        match bits {
            Bits::Sixteen => compare!(i16, wide, BITS16),
            Bits::Eight => compare!(i8, narrow, BITS8),
        }
    }
}

/// At compile time, by the same function.
#[test]
fn included_models_are_aligned_and_checked() {
    static FILES: [&[u8]; 3] = [
        include_model!("formats/single.bin"),
        include_model!("formats/bits16.bin"),
        include_model!("formats/bits8.bin"),
    ];
    for bytes in FILES {
        assert_eq!(bytes.as_ptr().addr() % 4, 0);
    }
    let whole: [u8; 112] = *include_bytes!("formats/single.bin");
    assert_eq!(ModelBytes::new(whole).unwrap().as_bytes(), whole);
    // A region may be longer.
    let longer: [u8; 120] = std::array::from_fn(|i| if i < 112 { whole[i] } else { 0xff });
    assert!(ModelBytes::new(longer).is_ok());
    for at in 0..112 {
        let mut damaged = whole;
        damaged[at] ^= 0x10;
        let expected = match at {
            0..8 => BytesProblem::Foreign,
            12 => BytesProblem::Version(0x11),
            13..=15 => BytesProblem::Version(1 | 0x10 << (8 * (at - 12))),
            // 112 is 0x70: the length without that bit is shorter, any other longer.
            17..=19 => BytesProblem::Truncated { needed: 112 | 0x10 << (8 * (at - 16)), have: 112 },
            _ => BytesProblem::Corrupt,
        };
        assert_eq!(ModelBytes::new(damaged).err(), Some(expected), "{at}");
    }
    let shorter: [u8; 111] = std::array::from_fn(|i| whole[i]);
    assert_eq!(ModelBytes::new(shorter).err(), Some(BytesProblem::Truncated { needed: 112, have: 111 }));
    assert_eq!(ModelBytes::new(*b"dppndevc").err(), Some(BytesProblem::Truncated { needed: 20, have: 8 }));
    assert_eq!(ModelBytes::new([]).err(), Some(BytesProblem::Foreign));
}

/// The triangle by rows times its transpose, or the factor's: entry i, j of `RᵀR` for `upper`, of `LLᵀ`
/// otherwise.
fn square(triangle: &[f64], c: usize, upper: bool) -> Vec<f64> {
    let mut dense = vec![0.0; c * c];
    let mut next = triangle.iter();
    for i in 0..c {
        for j in if upper { i..c } else { 0..i + 1 } {
            dense[if upper { j * c + i } else { i * c + j }] = *next.next().unwrap();
        }
    }
    (0..c * c).map(|at| (0..c).map(|k| dense[at / c * c + k] * dense[at % c * c + k]).sum()).collect()
}

fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    let all = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= tolerance);
    assert!(all && found.len() == expected.len(), "{found:?} {expected:?}");
}

const FEATURES: [[f64; 2]; 4] = [[1.0, 0.5], [-0.5, 2.0], [0.25, -1.0], [3.0, 0.0]];
const TARGETS: [f64; 4] = [1.0, -2.0, 0.5, 4.0];

/// `ΦᵀΦ`, `Φᵀy` and `yᵀy` of those rows with these weights.
fn normal_equations(weights: [f64; 4]) -> (Vec<f64>, Vec<f64>, f64) {
    let sum = |of: &dyn Fn(usize) -> f64| (0..4).map(|row| weights[row] * of(row)).sum::<f64>();
    let gram = (0..4).map(|at| sum(&|row| FEATURES[row][at / 2] * FEATURES[row][at % 2])).collect();
    let right = (0..2).map(|at| sum(&|row| FEATURES[row][at] * TARGETS[row])).collect();
    (gram, right, sum(&|row| TARGETS[row] * TARGETS[row]))
}

/// Check what was learned against the rows.
fn check_regression(triangle: &[f64], right: &[f64], squares: &[f64], weights: [f64; 4]) {
    let (gram, moments, total) = normal_equations(weights);
    near(&square(triangle, 2, true), &gram, 1e-12);
    let &[r00, r01, r11] = triangle else { panic!("{triangle:?}") };
    near(&[r00 * right[0], r01 * right[0] + r11 * right[1]], &moments, 1e-12);
    let explained: f64 = right.iter().map(|value| value * value).sum();
    near(&[squares[0] + squares[1]], &[total - explained], 1e-12);
}

#[test]
fn the_state_of_a_regression_is_as_the_page_says() {
    let (page, title) = (Page::read(), "State of a regression");
    let mut memory = RidgeWorkspace::<f64, 2>::new();
    let mut ridge = RidgeRegression::new(2, memory.lend()).unwrap();
    let mut bytes = vec![0; 1_000];
    let learn = |ridge: &mut RidgeRegression<'_, f64>, rows: Range<usize>| {
        rows.for_each(|row| ridge.add(&FEATURES[row], TARGETS[row]).unwrap());
    };
    learn(&mut ridge, 0..4);
    let length = ridge.write_state(0x0123_4567_89ab_cdef, &mut bytes).unwrap();
    let written = example("regression.state", &bytes[..length]);
    let mut read = Read::new(&page, title, 1, &written);
    let words = ["size", "features", "digest", "rows"].map(|field| read.word(title, field));
    assert_eq!(words, [8, 2, 0x0123_4567_89ab_cdef, 4]);
    let start = read.at(title, "arrays").start;
    assert_eq!(read.take("Arrays of version 1", start, 8, &[('c', 2), ('t', 3)]), written.len());
    check_regression(read.numbers("triangle"), read.numbers("right"), read.numbers("squares"), [1.0; 4]);

    // Of a device, after it has forgotten half of three rows.
    let mut memory = RidgeWorkspace::<f64, 2>::new();
    let mut ridge = RidgeRegression::new(2, memory.lend()).unwrap();
    learn(&mut ridge, 0..3);
    ridge.forget(0.5).unwrap();
    learn(&mut ridge, 3..4);
    let length = ridge.write_state_from(Origin { device: 77, counter: 5 }, 9, &mut bytes).unwrap();
    assert_eq!(length, state_bytes_of::<f64>(2, 1) + state_bytes_forgotten::<f64>());
    let written = example("regression-2.state", &bytes[..length]);
    let mut read = Read::new(&page, title, 2, &written);
    let words = ["size", "features", "digest", "rows"].map(|field| read.word(title, field));
    assert_eq!(words, [8, 2, 9, 4]);
    assert_eq!(["device", "counter"].map(|field| read.word("Version 2", field)), [77, 5]);
    assert_eq!(read.field("Version 2", "tag"), [0; 32]);
    read.sections("Version 2", "Version 2", 8, &[('c', 2), ('t', 3), ('k', 1)]);
    assert_eq!((read.numbers("forgotten"), read.numbers("effective")), (&[4.0][..], &[2.5][..]));
    let (right, squares) = read.numbers("targets").split_at(2);
    check_regression(read.numbers("triangle"), right, squares, [0.5, 0.5, 0.5, 1.0]);

    // The first state of device 0.
    let length = ridge.write_state_from(Origin { device: 0, counter: 0 }, 9, &mut bytes).unwrap();
    let read = Read::new(&page, title, 3, &bytes[..length]);
    assert_eq!(["device", "counter"].map(|field| read.word("Version 2", field)), [0, 0]);
    assert_eq!(length, written.len());
    assert_eq!(bytes[60..length], written[60..]);
}

/// Check that `LLᵀ` is the Gaussian kernel of these rows in this order.
fn check_factor(read: &Read<'_>, c: usize, d: usize, sigma: f64) {
    let rows: Vec<&[f64]> = read.numbers("rows").chunks(d).collect();
    let places: Vec<usize> = read.numbers("places").iter().map(|&place| place as usize).collect();
    let mut sorted = places.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..c));
    let kernel = |i: usize, j: usize| {
        let squares: f64 = rows[i].iter().zip(rows[j]).map(|(a, b)| (a - b).powi(2)).sum();
        (-squares / (2.0 * sigma * sigma)).exp()
    };
    let expected: Vec<f64> = (0..c * c).map(|at| kernel(places[at / c], places[at % c])).collect();
    near(&square(read.numbers("factor"), c, false), &expected, 1e-5);
}

#[test]
fn the_state_of_a_learner_is_as_the_page_says() {
    let (page, title) = (Page::read(), "State of a learner");
    let (mut learner, mut random, mut sensor) = (Learner::<3, 4>::new(), Random::seeded(7), Sensor::new(1));
    learner.start(Gaussian::new(2.0).unwrap());
    sensor.by_ref().take(20).for_each(|reading| learner.scale(&reading.row, reading.target).unwrap());
    learner.freeze_scaling().unwrap();
    for reading in sensor.by_ref().take(40) {
        learner.offer(&reading.row, &mut random).unwrap();
    }
    learner.freeze_landmarks().unwrap();
    sensor.by_ref().take(30).for_each(|reading| learner.learn(&reading.row, reading.target).unwrap());
    learner.forget(0.5).unwrap();
    sensor.by_ref().take(10).for_each(|reading| learner.learn(&reading.row, reading.target).unwrap());
    learner.solve(0.25).unwrap();
    // One written before there were trials is read: the rows are the same bit for bit, the weights up to the
    // rounding of what was forgotten.
    let mut before = Learner::<3, 4>::new();
    before.read_state(Gaussian::new(2.0).unwrap(), include_bytes!("formats/learner-settled.state")).unwrap();
    assert_eq!((before.rows(), before.learned()), (learner.rows(), 40));
    for (before, weight) in before.model().unwrap().weights().iter().zip(learner.model().unwrap().weights()) {
        assert!((before - weight).abs() < 1e-5, "{before} {weight}");
    }
    assert_eq!(learner.exchange(&sensor.read().row), Ok(Exchange::OnTrial));
    learner.exchange(&sensor.read().row).unwrap();
    let mut bytes = vec![0; Learner::<3, 4>::STATE];
    let length = learner.write_state(random.state(), &mut bytes).unwrap();
    let written = example("learner.state", &bytes[..length]);

    let mut read = Read::new(&page, title, 1, &written);
    read.sections(title, title, 4, &[('c', 3), ('d', 4), ('t', 6)]);
    assert_eq!(learner.phase(), Phase::Predicting);
    assert_eq!(read.numbers("shape"), [4.0, 3.0, 4.0, 4.0, 3.0, 0.0, 20.0]);
    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    let model = learner.model().unwrap();
    assert_eq!(read.numbers("means"), wide(model.means()));
    assert_eq!(read.numbers("scales"), wide(model.scaling().numbers()));
    assert_eq!(read.numbers("target"), wide(&[model.target_mean(), model.target_scale()]));
    assert_eq!(read.numbers("gamma"), [0.25]);
    assert_eq!(read.numbers("rows"), wide(model.landmarks()));
    assert_eq!(read.numbers("weights"), wide(model.weights()));
    assert_eq!(read.numbers("prior"), [0.0; 3]);
    check_factor(&read, 3, 4, 2.0);
    let progress = learner.progress();
    let counters = [progress.steps, progress.proposed, progress.accepted, progress.openings];
    assert_eq!(read.numbers("progress"), counters.map(|counter| counter as f64));
    assert_eq!((read.numbers("learned"), read.numbers("effective")), (&[40.0, 40.0][..], &[25.0][..]));
    assert_eq!(read.numbers("random"), random.state().map(f64::from));
    assert_eq!(read.numbers("tried"), [2.0]);
    let gain = read.numbers("gain")[0];
    assert!(gain > 0.0 && gain < 1.0);
    let [residual, spread, penalty, noise] = read.numbers("confidence").try_into().unwrap();
    assert!(residual > 0.0 && residual < 1.0 && spread == 1.0 && penalty == 25.0 * 0.25 && noise > 0.0);

    // `(RᵀR + NγI) β = Rᵀ(Qᵀy)` and `Lᵀw = β`, by which the regression is the one that the weights are from.
    let triangle = read.numbers("triangle");
    let mut gram = square(triangle, 3, true);
    (0..3).for_each(|i| gram[4 * i] += 25.0 * 0.25);
    let right = read.numbers("right");
    let start = [0, 3, 5];
    let moments: Vec<f64> =
        (0..3).map(|j| (0..=j).map(|i| triangle[start[i] + j - i] * right[i]).sum()).collect();
    let beta = dpp_nystrom_tests::dense::solve(&gram, 3, &moments);
    let factor = read.numbers("factor");
    let weight = |i: usize| read.numbers("weights")[read.numbers("places")[i] as usize];
    let expected: Vec<f64> =
        (0..3).map(|j| (j..3).map(|i| factor[i * (i + 1) / 2 + j] * weight(i)).sum()).collect();
    near(&beta, &expected, 1e-4);
}

#[test]
fn the_state_of_a_detector_is_as_the_page_says() {
    let (page, title) = (Page::read(), "State of a detector");
    let (mut detector, mut random, mut sensor) = (Detector::<3, 4>::new(), Random::seeded(7), Sensor::new(1));
    let mut row = || sensor.read().row;
    detector.start(Gaussian::new(2.0).unwrap(), 5).unwrap();
    (0..40).for_each(|_| detector.scale(&row(), &mut random).unwrap());
    detector.freeze_scaling().unwrap();
    (0..40).for_each(|_| assert!(detector.offer(&row(), &mut random).is_ok()));
    detector.freeze_landmarks().unwrap();
    (0..200).for_each(|_| assert!(detector.check(&row()).is_ok()));
    (0..80).for_each(|_| assert_eq!(detector.exchange(&row()), Ok(Exchange::FewRows)));
    let candidate = row();
    assert_eq!(detector.exchange(&candidate), Ok(Exchange::OnTrial));
    assert_eq!(detector.exchange(&row()), Ok(Exchange::OnTrial));
    let mut bytes = vec![0; Detector::<3, 4>::STATE];
    let length = detector.write_state(random.state(), &mut bytes).unwrap();
    let written = example("detector.state", &bytes[..length]);

    let mut read = Read::new(&page, title, 1, &written);
    read.sections("State of a learner", title, 4, &[('c', 3), ('d', 4), ('t', 6)]);
    assert_eq!(read.numbers("shape"), [4.0, 3.0, 4.0, 4.0, 3.0, 40.0, 5.0, 2.0]);
    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    assert_eq!(read.numbers("rows"), wide(detector.rows().as_flattened()));
    check_factor(&read, 3, 4, 2.0);
    assert_eq!(read.numbers("progress")[0], 40.0);
    let [taken, alarms, since, offered] = read.numbers("counts").try_into().unwrap();
    assert_eq!((taken, alarms, offered), (200.0, detector.alarms() as f64, 82.0));
    assert!(read.numbers("largest").is_sorted_by(|a, b| a >= b));
    let [value, step, credit] = read.numbers("threshold").try_into().unwrap();
    near(&[value - step * since / 5.0], &[f64::from(detector.threshold().unwrap())], 1e-6);
    assert!((0.0..=16.0).contains(&credit));
    // The features have medians of a half.
    let standard = |i: usize| {
        let value = f64::from(candidate[i]);
        (value - read.numbers("medians")[i]) * read.numbers("scales")[i]
    };
    near(read.numbers("candidate"), &[0, 1, 2, 3].map(standard), 1e-5);
    assert!(read.numbers("medians").iter().all(|median| (0.2..0.8).contains(median)));
    assert!(read.numbers("uses").iter().all(|&mean| mean > 0.0) && read.numbers("gain")[0] > 0.0);
    assert_eq!(read.numbers("random"), random.state().map(f64::from));
}

#[test]
fn the_state_of_a_streams_chain_is_as_the_page_says() {
    let (page, title) = (Page::read(), "State of a stream's chain");
    let (mut rows, mut memory, mut random) = ([0.0; 3 * 4], Workspace::<f64, 3>::new(), Random::seeded(7));
    let kernel = Gaussian::new(0.5_f64).unwrap();
    let mut chain = StreamChain::new(kernel, 3, 4, &mut rows, memory.lend(), Acceptance::Barker).unwrap();
    for reading in Sensor::new(1).take(40) {
        chain.offer(&reading.row.map(f64::from), &mut random).unwrap();
    }
    let mut bytes = vec![0; stream_state_bytes::<f64>(3, 4)];
    let length = chain.write_state(random.state(), &mut bytes).unwrap();
    let written = example("stream.state", &bytes[..length]);
    let mut read = Read::new(&page, title, 1, &written);
    read.sections("State of a learner", title, 8, &[('c', 3), ('d', 4), ('t', 6)]);
    assert_eq!(read.numbers("shape"), [8.0, 4.0, 3.0, 3.0, 0.0]);
    assert_eq!(read.numbers("progress")[0], 40.0);
    assert_eq!(read.numbers("random"), random.state().map(f64::from));
    check_factor(&read, 3, 4, 0.5);
}

#[test]
fn a_slot_is_as_the_page_says() {
    let (page, title) = (Page::read(), "Slot");
    let mut flash = Flash::new();
    {
        let mut slots = Slots::open(&mut flash, 0, 4_096).unwrap();
        slots.save(b"the first").unwrap();
        slots.save(b"the second, which is newer").unwrap();
    }
    for (half, saved, sequence) in [(0, &b"the first"[..], 1), (1, b"the second, which is newer", 2)] {
        let mut bytes = [0; 64];
        flash.read(half * 2_048, &mut bytes).unwrap();
        if half == 1 {
            example("slot.bin", &bytes);
        }
        let read = Read::new(&page, title, 1, &bytes);
        assert_eq!(read.word(title, "sequence"), sequence);
        assert_eq!(read.word(title, "reserved"), 0);
        assert_eq!(read.field(title, "bytes"), saved);
        // Up to a whole unit of 4 bytes.
        let end = read.bytes.len();
        assert!(bytes[end..end.next_multiple_of(4)].iter().all(|&byte| byte == 0xff));
    }
}

#[test]
fn the_random_state_is_as_the_page_says() {
    let page = Page::read();
    let mut random = Random::seeded(7);
    for _ in 0..100 {
        let state = random.state();
        let word = |field: &str| {
            let (_, at) =
                page.fields("Random generator").into_iter().find(|(name, _)| name == field).unwrap();
            unsigned(&state[at]) as u32
        };
        let [first, last] = ["s0", "s3"].map(word);
        assert_eq!(random.next_u32(), first.wrapping_add(last).rotate_left(7).wrapping_add(first));
    }
    assert_eq!(Random::resume([0; 16]), Random::seeded(0));
}

/// Before a discount was kept apart, a state counted the rows after the last one by themselves.
#[test]
fn an_older_state_that_has_forgotten_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("core/formats/regression-2-older.state");
    let bytes = fs::read(path).unwrap();
    let mut memory = RidgeWorkspace::<f64, 2>::new();
    let mut ridge = RidgeRegression::new(2, memory.lend()).unwrap();
    ridge.read_state(9, &bytes).unwrap();
    // Three rows that count as 1.5, and one.
    assert_eq!((ridge.rows(), ridge.effective_rows()), (4, 2.5));
    ridge.forget(0.5).unwrap();
    ridge.add(&[1.0, 1.0], 1.0).unwrap();
    assert_eq!((ridge.rows(), ridge.effective_rows()), (5, 2.25));
}
