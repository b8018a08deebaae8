//! `dpp-nystrom export`: its report, its errors, and that exported bytes and statics predict bit for bit what
//! the desktop predicts for a device.

use crate::command::{Folder, assert_close, column, number};
use crate::sample::Sample;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::{Table, Target};
use dpp_nystrom::data::{Map, Scaler};
use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::model::export::{Bits, Bundle, Exported, Form, Name, With, landmark_rows};
use dpp_nystrom::{
    Model,
    model::{AnyCoefficients, Coefficients},
};
use dpp_nystrom_core::{BytesProblem, Error as CoreError, Model as CoreModel, QuantisedModel};

pub(crate) fn kernels() -> impl Iterator<Item = &'static str> {
    KernelKind::ALL.iter().map(|kind| kind.name())
}

/// Create a folder with the rows `a.csv` and a model `m` fitted on them.
pub(crate) fn folder(kernel: &str, precision: &str) -> (Folder, Model, Table) {
    let folder = Folder::with("a.csv", Sample::new(150, 3).csv());
    let landmarks = if kernel == "linear" { 3 } else { 12 };
    folder
        .run(&format!(
            "fit --metric one a.csv --landmarks {landmarks} --kernel {kernel} --precision {precision} --model m"
        ))
        .good();
    let model = Model::load(folder.path("m")).unwrap();
    let rows = table::read(&folder.path("a.csv"), &Target::Last).unwrap();
    (folder, model, rows)
}

/// The same with a map of rank 2 and two coordinates of each landmark.
pub(crate) fn mapped(kernel: &str) -> (Folder, Model, Table) {
    let (folder, mut model, rows) = folder(kernel, "f64");
    let AnyCoefficients::F64(numbers) = &mut model.coefficients else { panic!("doubles") };
    numbers.landmarks = numbers.landmarks.chunks(3).flat_map(|row| row[..2].to_vec()).collect();
    model.scaler.map = Some(Map { rank: 2, values: vec![0.9, 0.2, -0.3, 0.1, 1.2, 0.4] });
    model.confidence = None;
    model.save(folder.path("m")).unwrap();
    (folder, model, rows)
}

/// The same with clipped features.
pub(crate) fn clipped((folder, mut model, rows): (Folder, Model, Table)) -> (Folder, Model, Table) {
    model.scaler.bounds = Some(vec![3.0, 2.5, 4.0]);
    model.save(folder.path("m")).unwrap();
    (folder, model, rows)
}

/// Bytes at a multiple of 4, and at `off` beyond one.
pub(crate) struct Flash(Vec<u32>, usize);

impl Flash {
    pub(crate) fn new(bytes: &[u8], off: usize) -> Self {
        let mut words = vec![0_u32; bytes.len() / 4 + 2];
        for (at, &byte) in bytes.iter().enumerate() {
            words[(at + off) / 4] |= u32::from(byte) << (8 * ((at + off) % 4));
        }
        Self(words, bytes.len())
    }

    pub(crate) fn bytes(&self, off: usize) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[off..off + self.1]
    }
}

pub(crate) fn single(row: &[f64]) -> Vec<f32> {
    row.iter().map(|&value| value as f32).collect()
}

/// A model with constants instead of trained values, so that its exports are the same on every machine.
pub(crate) fn made_up(kernel: KernelKind) -> Model {
    Model {
        feature_names: vec!["warm".to_owned(), "wet */ \"both\"".to_owned()],
        target_name: "days".to_owned(),
        scaler: Scaler { means: vec![20.5, 1013.25], deviations: vec![4.0, 12.5], map: None, bounds: None },
        target_mean: 3.75,
        target_deviation: 1.5,
        kernel: KernelSpec { kind: kernel, sigma: 1.25 },
        ridge: 1e-6,
        trained_on: "weather".to_owned(),
        trained_rows: 1_000,
        landmark_rows: vec![7, 70, 700],
        train_nrmse: 0.1,
        confidence: None,
        scales: None,
        importances: None,
        test_error: None,
        quantise: None,
        recipe: None,
        further: Vec::new(),
        classifier: None,
        coefficients: AnyCoefficients::F64(Coefficients {
            landmarks: vec![-1.1, 0.4, 0.3, 0.9, 1.7, -0.6],
            weights: vec![0.8, -1.3, 2.1],
        }),
    }
}

/// The same with a map of rank 1.
pub(crate) fn made_up_mapped(kernel: KernelKind) -> Model {
    let mut model = made_up(kernel);
    model.scaler.map = Some(Map { rank: 1, values: vec![0.75, -1.5] });
    let AnyCoefficients::F64(numbers) = &mut model.coefficients else { panic!("doubles") };
    numbers.landmarks = vec![-1.1, 0.4, 1.7];
    model
}

/// The same with clipped features.
pub(crate) fn made_up_clipped(kernel: KernelKind) -> Model {
    let mut model = made_up_mapped(kernel);
    model.scaler.bounds = Some(vec![3.25, 2.5]);
    model
}

#[allow(dead_code, unreachable_pub)]
mod statics {
    include!("exported/gaussian.rs");
    include!("exported/laplace.rs");
    include!("exported/matern32.rs");
    include!("exported/matern52.rs");
    include!("exported/polynomial.rs");
    include!("exported/linear.rs");
    include!("exported/rational_quadratic.rs");
    include!("exported/mapped.rs");
    include!("exported/clipped.rs");
    include!("exported/bits16.rs");
    include!("exported/bits8.rs");
}

/// The export of a constant model equals the committed file, which this test compiles.
#[test]
fn statics_are_the_models() {
    use statics::{
        BITS8, BITS16, CLIPPED, CLIPPED_WIDTH, GAUSSIAN, LAPLACE, LINEAR, MAPPED, MAPPED_WIDTH, MATERN32,
        MATERN52, POLYNOMIAL, RATIONAL_QUADRATIC,
    };
    type Predict = fn(&[f32]) -> Result<f32, CoreError>;
    let polynomial = KernelKind::Polynomial { degree: 3, offset: 1.5 };
    let cases: [(&str, &str, KernelKind, Option<Bits>, Predict); 11] = [
        ("gaussian", include_str!("exported/gaussian.rs"), KernelKind::Gaussian, None, |x| {
            GAUSSIAN.predict(x, &mut [0.0; 2])
        }),
        ("laplace", include_str!("exported/laplace.rs"), KernelKind::Laplace, None, |x| {
            LAPLACE.predict(x, &mut [0.0; 2])
        }),
        ("matern32", include_str!("exported/matern32.rs"), KernelKind::Matern32, None, |x| {
            MATERN32.predict(x, &mut [0.0; 2])
        }),
        ("matern52", include_str!("exported/matern52.rs"), KernelKind::Matern52, None, |x| {
            MATERN52.predict(x, &mut [0.0; 2])
        }),
        ("polynomial", include_str!("exported/polynomial.rs"), polynomial, None, |x| {
            POLYNOMIAL.predict(x, &mut [0.0; 2])
        }),
        ("linear", include_str!("exported/linear.rs"), KernelKind::Linear, None, |x| {
            LINEAR.predict(x, &mut [0.0; 2])
        }),
        (
            "rational_quadratic",
            include_str!("exported/rational_quadratic.rs"),
            KernelKind::RationalQuadratic,
            None,
            |x| RATIONAL_QUADRATIC.predict(x, &mut [0.0; 2]),
        ),
        ("mapped", include_str!("exported/mapped.rs"), KernelKind::Gaussian, None, |x| {
            MAPPED.predict(x, &mut [0.0; MAPPED_WIDTH])
        }),
        ("clipped", include_str!("exported/clipped.rs"), KernelKind::Gaussian, None, |x| {
            CLIPPED.predict(x, &mut [0.0; CLIPPED_WIDTH])
        }),
        ("bits16", include_str!("exported/bits16.rs"), KernelKind::Gaussian, Some(Bits::Sixteen), |x| {
            BITS16.predict(x, &mut [0; 2])
        }),
        ("bits8", include_str!("exported/bits8.rs"), KernelKind::Gaussian, Some(Bits::Eight), |x| {
            BITS8.predict(x, &mut [0; 2])
        }),
    ];
    for (name, committed, kernel, bits, predict) in cases {
        let model = match name {
            "mapped" => made_up_mapped(kernel),
            "clipped" => made_up_clipped(kernel),
            _ => made_up(kernel),
        };
        let models = [model];
        let bundle = Bundle::of(&models, bits, With::default()).unwrap();
        let exported = &bundle.first;
        let written = bundle.write(Form::Rust, &Name::new(name)).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written, committed, "tests/cli/exported/{name}.rs is not what export writes");
        for row in [[20.5_f32, 1013.25], [-3.0, 990.0], [31.25, 1040.5], [1e9, -1e9]] {
            let (found, expected) = (predict(&row).unwrap(), exported.predict_row(&row).unwrap());
            assert_eq!(found.to_bits(), expected.to_bits(), "{name} {row:?}");
        }
        assert_eq!(predict(&[1.0]).unwrap_err(), CoreError::Length { expected: 2, found: 1 });
        assert_eq!(predict(&[1.0, f32::NAN]).unwrap_err(), CoreError::NotFinite { row: 0, column: 1 });
        assert_eq!(predict(&[f32::INFINITY, 0.0]).unwrap_err(), CoreError::NotFinite { row: 0, column: 0 });
    }
    assert_eq!(
        GAUSSIAN.predict(&[1.0, 2.0], &mut [0.0]).unwrap_err(),
        CoreError::Capacity { needed: 2, have: 1 }
    );
    assert_eq!(
        BITS16.predict(&[1.0, 2.0], &mut [0]).unwrap_err(),
        CoreError::Capacity { needed: 2, have: 1 }
    );
}

/// `y(x) = mean + scale Σ w k`, by the formulas of the kernels in doubles.
fn by_hand(model: &Model, raw: &[f64]) -> f64 {
    let AnyCoefficients::F64(numbers) = &model.coefficients else { panic!("doubles") };
    let mut row = vec![0.0; model.scaler.width()];
    model.scaler.apply_row(raw, &mut row).unwrap();
    let terms = numbers.landmarks.chunks(row.len()).zip(&numbers.weights).map(|(landmark, weight)| {
        let pairs = || landmark.iter().zip(&row);
        let distance = pairs().map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt() / model.kernel.sigma;
        let product: f64 = pairs().map(|(x, y)| x * y).sum();
        let sizes: f64 = pairs().map(|(x, y)| (x - y).abs()).sum();
        weight
            * match model.kernel.kind {
                KernelKind::Gaussian => (-distance * distance / 2.0).exp(),
                KernelKind::Laplace => (-sizes / model.kernel.sigma).exp(),
                KernelKind::Matern32 => {
                    (1.0 + 3.0_f64.sqrt() * distance) * (-(3.0_f64.sqrt()) * distance).exp()
                }
                KernelKind::Matern52 => {
                    let scaled = 5.0_f64.sqrt() * distance;
                    (1.0 + scaled + scaled * scaled / 3.0) * (-scaled).exp()
                }
                KernelKind::Polynomial { degree, offset } => (product + offset).powi(degree as i32),
                KernelKind::Linear => product,
                KernelKind::RationalQuadratic => 1.0 / (1.0 + distance * distance / 2.0),
                other => panic!("no formula for {other}"),
            }
    });
    model.target_mean + model.target_deviation * terms.sum::<f64>()
}

#[test]
fn exported_models_have_the_kernels_formulas() {
    let models = [made_up, made_up_mapped, made_up_clipped];
    for model in KernelKind::ALL.iter().flat_map(|&kernel| models.map(|of| of(kernel))) {
        let exported = Exported::of(&model, None).unwrap();
        for row in [[20.5_f64, 1013.25], [18.25, 1008.0], [31.25, 1040.5]] {
            let found = f64::from(exported.predict_row(&single(&row)).unwrap());
            assert_close(found, by_hand(&model, &row), 2e-5);
        }
    }
    let (plain, mapped) = (made_up(KernelKind::Gaussian), made_up_mapped(KernelKind::Gaussian));
    for (bits, share, model) in [
        (Bits::Sixteen, 1e-3, &plain),
        (Bits::Eight, 1e-2, &plain),
        (Bits::Sixteen, 1e-3, &mapped),
        (Bits::Eight, 1e-2, &mapped),
    ] {
        let exported = Exported::of(model, Some(bits)).unwrap();
        for row in [[20.5_f64, 1013.25], [18.25, 1008.0], [31.25, 1040.5]] {
            let found = f64::from(exported.predict_row(&single(&row)).unwrap());
            assert_close(found, by_hand(model, &row), share);
        }
    }
}

#[test]
fn bytes_are_the_models() {
    for kernel in kernels() {
        for (folder, model, rows) in [folder(kernel, "f32"), clipped(folder(kernel, "f64")), mapped(kernel)] {
            folder.run("export m --to bytes --out m.bin").good();
            let exported = Exported::of(&model, None).unwrap();
            let flash = Flash::new(&folder.bytes("m.bin"), 0);
            let device = CoreModel::from_bytes(flash.bytes(0)).unwrap();
            let expected = exported.predict(&rows).unwrap();
            for (row, expected) in expected.into_iter().enumerate() {
                let found = device.predict(&single(rows.row(row)), &mut vec![0.0; device.width()]).unwrap();
                assert_eq!(f64::from(found), expected, "{kernel}");
            }
        }
    }
    for (folder, model, rows) in [folder("gaussian", "f64"), mapped("gaussian")] {
        folder.run("export m --to bytes --quantise i16 --out m16.bin").good();
        folder.run("export m --to bytes --quantise i8 --out m8.bin").good();
        let [flash16, flash8] = ["m16.bin", "m8.bin"].map(|name| Flash::new(&folder.bytes(name), 0));
        let device16 = QuantisedModel::<i16>::from_bytes(flash16.bytes(0)).unwrap();
        let device8 = QuantisedModel::<i8>::from_bytes(flash8.bytes(0)).unwrap();
        let exported = [Bits::Sixteen, Bits::Eight].map(|bits| Exported::of(&model, Some(bits)).unwrap());
        let mut room = vec![0; device16.room()];
        for row in 0..rows.rows() {
            let raw = single(rows.row(row));
            let found = [device16.predict(&raw, &mut room), device8.predict(&raw, &mut room)];
            for (found, exported) in found.into_iter().zip(&exported) {
                assert_eq!(found.unwrap().to_bits(), exported.predict_row(&raw).unwrap().to_bits());
            }
        }
        // Far from exact only where a landmark's levels are coarse.
        for (bits, share) in [(Bits::Sixteen, 1e-2), (Bits::Eight, 0.1)] {
            let cost = Exported::of(&model, Some(bits)).unwrap().cost(&model, &rows).unwrap();
            assert!(cost.rms < share * model.target_deviation, "{bits:?} {}", cost.rms);
        }
    }
}

#[test]
fn damaged_bytes_are_refused() {
    let (folder, model, _) = folder("matern52", "f64");
    folder.run("export m --to bytes --out m.bin").good();
    let bytes = folder.bytes("m.bin");
    assert_eq!(bytes, Exported::of(&model, None).unwrap().to_bytes().unwrap());
    let problem = |bytes: &[u8], off: usize| {
        let flash = Flash::new(bytes, off);
        match CoreModel::from_bytes(flash.bytes(off)) {
            Ok(_) => None,
            Err(CoreError::ModelBytes(problem)) => Some(problem),
            Err(other) => panic!("{other:?}"),
        }
    };
    assert_eq!(problem(&bytes, 0), None);
    assert_eq!(
        problem(&[bytes.as_slice(), &[0xff; 7]].concat(), 0),
        None,
        "bytes after the model are ignored"
    );
    for off in 1..4 {
        assert_eq!(problem(&bytes, off), Some(BytesProblem::Misaligned));
    }
    for length in 0..bytes.len() {
        let cut = problem(&bytes[..length], 0);
        assert!(
            matches!(cut, Some(BytesProblem::Truncated { have, .. }) if have == length),
            "{length} {cut:?}"
        );
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let found = problem(&damaged, 0);
            let expected = match at {
                0..8 => found == Some(BytesProblem::Foreign),
                // 3 is a version too.
                12 if bit == 1 => found == Some(BytesProblem::Corrupt),
                12..16 => matches!(found, Some(BytesProblem::Version(version)) if version != 1),
                16..20 => matches!(found, Some(BytesProblem::Truncated { .. } | BytesProblem::Corrupt)),
                _ => found == Some(BytesProblem::Corrupt),
            };
            assert!(expected, "byte {at}, bit {bit}: {found:?}");
        }
    }
    let flash = Flash::new(&bytes, 0);
    let kind = CoreError::ModelBytes(BytesProblem::Kind);
    assert_eq!(QuantisedModel::<i16>::from_bytes(flash.bytes(0)).unwrap_err(), kind);
    assert_eq!(QuantisedModel::<i8>::from_bytes(flash.bytes(0)).unwrap_err(), kind);
}

/// Malformed bytes under a valid checksum: nothing is read past the end.
#[test]
fn malformed_bytes_under_a_valid_checksum() {
    let (plain, mapped) = (made_up(KernelKind::Gaussian), made_up_mapped(KernelKind::Gaussian));
    let kinds = [None, Some(Bits::Sixteen), Some(Bits::Eight)];
    for (model, bits) in kinds.into_iter().flat_map(|bits| [(&plain, bits), (&mapped, bits)]) {
        let bytes = Exported::of(model, bits).unwrap().to_bytes().unwrap();
        let mut accepted = 0;
        for at in (24..bytes.len()).step_by(4) {
            for word in [0_u32, 1, 3, 0x7fff_ffff, 0x8000_0000, u32::MAX, f32::NAN.to_bits()] {
                let mut changed = bytes.clone();
                changed[at..at + 4].copy_from_slice(&word.to_le_bytes());
                if changed == bytes {
                    continue;
                }
                let checksum = crc32fast::hash(&changed[12..]);
                changed[8..12].copy_from_slice(&checksum.to_le_bytes());
                let flash = Flash::new(&changed, 0);
                let row = [20.0, f32::MAX];
                let answer = match bits {
                    None => CoreModel::from_bytes(flash.bytes(0)).map(|m| m.predict(&row, &mut [0.0; 2])),
                    Some(Bits::Sixteen) => QuantisedModel::<i16>::from_bytes(flash.bytes(0))
                        .map(|m| m.predict(&row, &mut [0; 3])),
                    Some(Bits::Eight) => {
                        QuantisedModel::<i8>::from_bytes(flash.bytes(0)).map(|m| m.predict(&row, &mut [0; 3]))
                    }
                };
                match answer {
                    Ok(_) => accepted += 1,
                    Err(error) => {
                        assert_eq!(error, CoreError::ModelBytes(BytesProblem::Malformed), "{at} {word:x}");
                    }
                }
                // The shape, the rank, the kernel and the constants of a quantised model are restricted.
                if at < 32 || at == 60 && model.scaler.map.is_some() {
                    assert!(answer.is_err(), "{bits:?} {at} {word:x}");
                }
            }
        }
        assert!(accepted > 0);
    }
}

#[test]
fn the_reported_cost_is_correct() {
    let (folder, model, rows) = folder("gaussian", "f64");
    for (flag, bits) in
        [("", None), ("--quantise i16", Some(Bits::Sixteen)), ("--quantise i8", Some(Bits::Eight))]
    {
        let run = folder.run(&format!("export m --to rust --out m.rs --data a.csv --json {flag}")).good();
        let report = run.json();
        let own = column(&folder.run("predict m a.csv").good().out).1;
        let exported = Exported::of(&model, bits).unwrap().predict(&rows).unwrap();
        let targets = rows.target.as_ref().unwrap();
        let root = |values: &mut dyn Iterator<Item = f64>| {
            (values.map(|value| value * value).sum::<f64>() / own.len() as f64).sqrt()
        };
        let difference = || own.iter().zip(&exported).map(|(own, exported)| own - exported);
        assert_close(number(&report, "rms_difference"), root(&mut difference()), 1e-9);
        let largest = difference().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        assert_close(number(&report, "largest_difference"), largest, 1e-9);
        let error =
            |found: &[f64]| root(&mut found.iter().zip(targets).map(|(found, target)| found - target));
        assert_close(number(&report, "rmse_of_model"), error(&own), 1e-9);
        assert_close(number(&report, "rmse_of_export"), error(&exported), 1e-9);
        let share = number(&report, "rms_difference_share");
        let most = match bits {
            None => 1e-4,
            Some(Bits::Sixteen) => 1e-2,
            Some(Bits::Eight) => 0.1,
        };
        assert!(share > 0.0 && share < most, "{flag} {share}");
        assert_eq!(number(&report, "rows"), 150.0);
    }
    // Without --data, accuracy is measured on the landmarks, and a note says so.
    let run = folder.run("export m --to rust --out m.rs --json").good();
    assert!(run.err.contains("--data"), "{}", run.err);
    assert_eq!((run.json()["measured_on"].as_str(), number(&run.json(), "rows")), (Some("landmarks"), 12.0));
}

/// The cost of each target is that of its model alone, in its own units.
#[test]
fn several_targets_are_measured_apart() {
    let sample = Sample::new(150, 2);
    let rows: String = sample
        .features
        .iter()
        .zip(&sample.target)
        .map(|(row, y)| format!("{},{},{},{}\n", row[0], row[1], (2.0 * row[0]).sin(), 1e5 * y))
        .collect();
    let folder = Folder::with("a.csv", format!("a,b,u,v\n{rows}"));
    folder.write("given.csv", "row\n1\n20\n31\n47\n60\n77\n90\n101\n130\n");
    let fit = "fit a.csv --metric one --given given.csv --sigma 2 --ridge 1e-6";
    let export =
        |of: &str| folder.run(&format!("export {of} --to c --out m.h --data a.csv --json")).good().json();
    folder.run(&format!("{fit} --target u,v --model both")).good();
    let both = export("both");
    assert!(both["rmse_of_model"].is_null() && both["rms_difference_share"].is_null(), "{both}");
    assert_eq!(both["targets"].as_array().unwrap().len(), 2);
    for (at, (target, other)) in [("u", "v"), ("v", "u")].into_iter().enumerate() {
        folder.run(&format!("{fit} --target {target} --ignore {other} --model alone")).good();
        let (alone, found) = (export("alone"), &both["targets"][at]);
        assert_eq!(found["target"], target);
        assert!(alone["targets"].is_null());
        for key in ["rmse_of_model", "rmse_of_export", "rms_difference_share"] {
            // The weights differ in their last digits, and with these what rounding to single precision
            // leaves.
            let (found, alone) = (number(found, key), number(&alone, key));
            assert!((found / alone - 1.0).abs() < 0.3, "{target} {key}: {found} {alone}");
        }
    }
}

/// The rows on which the accuracy is measured without others have the landmarks' coordinates.
#[test]
fn landmarks_with_a_map_are_measured_as_rows_that_it_maps_to_them() {
    let (folder, mut model, _) = mapped("gaussian");
    let report = folder.run("export m --to bytes --out m.bin --json").good().json();
    assert_eq!((report["measured_on"].as_str(), number(&report, "rows")), (Some("landmarks"), 12.0));
    assert!(number(&report, "rms_difference_share") < 1e-4);
    let check = |model: &Model| {
        let (rows, landmarks) = (landmark_rows(model).unwrap(), model.coefficients.to_f64().landmarks);
        for (row, landmark) in landmarks.chunks(2).enumerate() {
            let mut found = [0.0; 2];
            model.scaler.apply_row(rows.row(row), &mut found).unwrap();
            found.iter().zip(landmark).for_each(|(&found, &expected)| assert_close(found, expected, 1e-9));
        }
        rows
    };
    check(&model);
    // A constant feature stays its constant, and two rows of the map may be the same.
    (model.scaler.means[2], model.scaler.deviations[2]) = (5.0, 0.0);
    let rows = check(&model);
    assert!((0..12).all(|row| (rows.row(row)[2] - 5.0).abs() < 1e-12));
    model.scaler.map = Some(Map { rank: 2, values: vec![0.9, 0.2, -0.3, 0.9, 0.2, 0.4] });
    let AnyCoefficients::F64(numbers) = &mut model.coefficients else { panic!("doubles") };
    numbers.landmarks.as_chunks_mut::<2>().0.iter_mut().for_each(|[first, second]| *second = *first);
    check(&model);
}

/// Landmarks that are points rather than rows are exported like any others.
#[test]
fn centroids_are_landmarks_too() {
    let folder = Folder::with("a.csv", Sample::new(150, 3).csv());
    folder.run("fit --metric one a.csv --landmarks 12 --method kmeans --model m").good();
    for form in ["rust", "c", "bytes"] {
        let run = folder.run(&format!("export m --to {form} --out m.{form} --data a.csv --json")).good();
        assert!(number(&run.json(), "rms_difference_share") < 1e-4);
    }
}

#[test]
fn names_are_usable() {
    let (folder, ..) = folder("gaussian", "f64");
    folder.run("export m --to rust --out cal.housing-2.rs").good();
    assert!(folder.text("cal.housing-2.rs").contains("pub static CAL_HOUSING_2: "));
    let run = folder.run("export m --to c --out m.h --name 2nd-floor").good();
    assert!(run.err.contains("invalid name \"2nd-floor\", using \"model_2nd_floor\""), "{}", run.err);
    assert!(folder.text("m.h").contains("static inline float model_2nd_floor_predict(const float *x)"));
    folder.run("export m --to c --out m.h --name while").good();
    assert!(folder.text("m.h").contains("#define DPP_NYSTROM_WHILE_H"));
}

#[test]
fn what_cannot_be_exported_leaves_no_file() {
    let (folder, model, _) = folder("polynomial", "f64");
    folder.run("export a.csv --to rust --out x").refused(&["a.csv: not a dpp-nystrom model"]);
    folder.run("export m --to rust --out m").refused(&["m: the output would overwrite an input"]);
    folder
        .run("export m --to rust --out a.csv --data a.csv")
        .refused(&["a.csv: the output would overwrite an input"]);
    folder.run("export m --to rust --out x --data none.csv").refused(&["none.csv"]);
    folder.run("export m --to rust --out none/x").refused(&["none/x: cannot be written"]);
    folder.run("export m --to cobol --out x").misused(&["cobol", "rust", "bytes"]);
    folder.run("export m --to rust --quantise i4 --out x").misused(&["i4", "i16", "i8"]);
    folder.run("export m --to rust").misused(&["--out"]);
    folder
        .run("export m --to c --with variance --out x")
        .refused(&["variances to C; export to rust or bytes"]);
    folder.run("export m --to rust --with variance --out x").refused(&[
        "variances, which this model does not hold; fit it again with variances",
        "(fit --variance)",
    ]);
    folder.run("export m --to rust --quantise i16 --out x").refused(&[
        "only the Gaussian kernel is supported",
        "polynomial",
        "omit --quantise",
    ]);
    folder.write("far.csv", "a,b,c\n0,0,0\n0,1e39,0\n");
    folder.run("export m --to rust --out x --data far.csv").refused(&["row 1", "\"b\"", "single precision"]);

    let refuse = |change: fn(&mut Model), quantise: &str, parts: &[&str]| {
        let mut changed =
            Model { kernel: KernelSpec { kind: KernelKind::Gaussian, ..model.kernel }, ..model.clone() };
        change(&mut changed);
        changed.save(folder.path("changed")).unwrap();
        folder.run(&format!("export changed --to rust --out x {quantise}")).refused(parts);
        assert!(!folder.path("x").exists());
    };
    refuse(|model| model.scaler.means[1] = 1e200, "", &["the mean of the feature \"b\" is 1e200", "scale"]);
    refuse(
        |model| {
            model.kernel.kind = KernelKind::Gaussian;
            model.scaler.map = Some(Map { rank: 3, values: (0..9).map(|i| f64::from(i) * 1e40).collect() });
        },
        "",
        &["the map of the feature \"a\" is", "scale"],
    );
    refuse(|model| model.target_deviation = 1e-300, "", &["target's standard deviation", "1e-300"]);
    refuse(
        |model| (model.scaler.means[0], model.scaler.deviations[0]) = (1e9, 1.0),
        "--quantise i16",
        &[
            "the feature \"a\": its standard deviation 1 is too small relative to its mean 1000000000",
            "subtract a constant",
        ],
    );
    refuse(
        |model| model.kernel.sigma = 1e-3,
        "--quantise i8",
        &["the bandwidth 0.001 is too small", "--sigma"],
    );
}

/// A graph is of the model itself, so that what is of devices is refused by name.
#[test]
fn a_graph_is_the_model_as_it_is() {
    let (folder, model, _) = folder("laplace", "f32");
    let report = folder.run("export m --to onnx --out houses.onnx --json").good().json();
    let content = model.to_onnx(&Name::new("houses")).unwrap();
    assert_eq!(folder.bytes("houses.onnx"), content);
    assert_eq!(
        (report["numbers"].as_str(), number(&report, "file_bytes")),
        (Some("f32"), content.len() as f64)
    );
    for option in ["--quantise f32", "--with novelty", "--data a.csv"] {
        let name = option.split(' ').next().unwrap();
        folder.run(&format!("export m --to onnx --out x {option}")).refused(&[&format!("omit {name}")]);
        assert!(!folder.path("x").exists());
    }
    let bundle = Bundle::of(std::slice::from_ref(&model), None, With::default()).unwrap();
    let refused = bundle.write(Form::Onnx, &Name::new("m")).unwrap_err().to_string();
    assert!(refused.contains("Model::to_onnx"), "{refused}");
}

/// `predict` accepts exported bytes, and predicts as the device will.
#[test]
fn predict_reads_bytes() {
    let (folder, model, rows) = folder("gaussian", "f64");
    for (flag, bits) in
        [("", None), ("--quantise i16", Some(Bits::Sixteen)), ("--quantise i8", Some(Bits::Eight))]
    {
        folder.run(&format!("export m --to bytes --out m.bin {flag}")).good();
        let run = folder.run("predict m.bin a.csv").good();
        let expected = Exported::of(&model, bits).unwrap().predict(&rows).unwrap();
        assert_eq!(column(&run.out), ("prediction", expected));
        let parts = ["exported bytes hold no names", "root mean square error "];
        assert!(parts.iter().all(|part| run.err.contains(part)), "{}", run.err);
    }
    let bytes = folder.bytes("m.bin");
    let mut damaged = bytes.clone();
    damaged[80] ^= 1;
    folder.write("damaged.bin", damaged);
    folder
        .run("predict damaged.bin a.csv")
        .refused(&["damaged.bin: bytes of a model: the checksum does not match"]);
    for length in [9, 30, bytes.len() - 1, bytes.len() - 4] {
        folder.write("cut.bin", &bytes[..length]);
        folder.run("predict cut.bin a.csv").refused(&["cut.bin: bytes of a model: truncated"]);
    }
    folder.write("narrow.csv", "1,2\n3,4\n");
    folder.run("predict m.bin narrow.csv").refused(&["narrow.csv"]);
}
