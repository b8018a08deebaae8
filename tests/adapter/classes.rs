//! Classes as outputs on shared landmarks: iris, and nine generated classes, in every exported form. With
//! `DPP_NYSTROM_CLASSES` in the environment, which names a folder, the exports are left there with some rows
//! and their classes, for `tests/firmware-models`.

use dpp_nystrom::model::export::{Bits, Bundle, Exported, Form, Name, With};
use dpp_nystrom::selectors::Kdpp;
use dpp_nystrom::{Dataset, Error, Gaussian, KernelRidge, Model, Nystroem, Ridge, Sigma};
use dpp_nystrom_core::{Class, Outputs, QuantisedOutputs, Random};
use rand_core::Rng;
use std::fmt::Write;
use std::path::Path;

/// Bytes at a multiple of 4.
#[repr(C, align(4))]
struct Aligned([u8; 1 << 14]);

/// Rows of `dim` features with their classes.
struct Rows {
    dim: usize,
    classes: usize,
    rows: Vec<f32>,
    labels: Vec<usize>,
}

impl Rows {
    fn iris() -> Self {
        let iris = linfa_datasets::iris();
        let rows = iris.records.iter().map(|&value| value as f32).collect();
        Self { dim: 4, classes: 3, rows, labels: iris.targets.iter().copied().collect() }
    }

    /// Nine classes around the points of a grid.
    fn nine() -> Self {
        let mut random = Random::seeded(3);
        let mut draw = || random.next_u32() as f32 / u32::MAX as f32;
        let labels: Vec<usize> = (0..540).map(|row| row / 3 % 9).collect();
        let row = |&label: &usize| {
            let spread = [draw() + draw() - 1.0, draw() + draw() - 1.0, draw()];
            [(label % 3) as f32 + 0.6 * spread[0], 10.0 * ((label / 3) as f32 + 0.6 * spread[1]), spread[2]]
        };
        let rows = labels.iter().flat_map(row).collect();
        Self { dim: 3, classes: 9, rows, labels }
    }

    fn row(&self, at: usize) -> &[f32] {
        &self.rows[at * self.dim..(at + 1) * self.dim]
    }

    /// One model for each class, on the same landmarks, from two of three rows.
    fn models(&self, c: usize) -> Vec<Model> {
        let training: Vec<usize> = (0..self.labels.len()).filter(|at| at % 3 > 0).collect();
        let rows: Vec<f64> =
            training.iter().flat_map(|&at| self.row(at)).map(|&value| f64::from(value)).collect();
        let data = || Dataset::from_rows(&rows, self.dim).unwrap();
        let params = Nystroem::params(c).kernel(Gaussian::new(Sigma::Median(1.0))).selector(Kdpp::default());
        let map = params.fit(&data()).unwrap();
        let fit = |class| {
            let is = |&at: &usize| f64::from(u8::from(self.labels[at] == class));
            let indicator: Vec<f64> = training.iter().map(is).collect();
            let data = data().with_target(&indicator).unwrap();
            KernelRidge::params(&map).ridge(Ridge::Value(1e-5)).fit(&data).unwrap()
        };
        (0..self.classes).map(fit).collect()
    }
}

/// The outputs and the class that bytes give for a row, as a device does.
fn on_device(bytes: &[u8], bits: Option<Bits>, row: &[f32], classes: usize) -> (Vec<f32>, Class<f32>) {
    let mut memory = Box::new(Aligned([0; 1 << 14]));
    memory.0[..bytes.len()].copy_from_slice(bytes);
    let (mut out, mut sums, mut levels) = (vec![0.0; classes], vec![0; classes], vec![0; row.len()]);
    let class = match bits {
        None => Outputs::from_bytes(&memory.0).unwrap().classify(row, &mut vec![0.0; row.len()], &mut out),
        Some(Bits::Sixteen) => {
            let model = QuantisedOutputs::<i16>::from_bytes(&memory.0).unwrap();
            model.classify(row, &mut levels, &mut sums, &mut out)
        }
        Some(Bits::Eight) => {
            let model = QuantisedOutputs::<i8>::from_bytes(&memory.0).unwrap();
            model.classify(row, &mut levels, &mut sums, &mut out)
        }
    };
    (out, class.unwrap())
}

#[test]
fn classes_are_the_same_in_every_form() {
    let mut text = String::new();
    for (name, data, c) in [("iris", Rows::iris(), 12), ("nine", Rows::nine(), 36)] {
        let models = data.models(c);
        let held_out: Vec<usize> = (0..data.labels.len()).filter(|at| at % 3 == 0).collect();
        let desktop = |at: usize| -> usize {
            let row: Vec<f64> = data.row(at).iter().map(|&value| f64::from(value)).collect();
            let outputs: Vec<f64> = models.iter().map(|model| model.predict(&row).unwrap()[0]).collect();
            assert!((outputs.iter().sum::<f64>() - 1.0).abs() < 1e-6, "estimates of probabilities");
            Class::of(&outputs).unwrap().index
        };
        let right = held_out.iter().filter(|&&at| desktop(at) == data.labels[at]).count();
        println!("{name}: {right} of {} held-out rows right", held_out.len());
        assert!(10 * right > 8 * held_out.len());
        let shown: Vec<usize> = held_out.iter().copied().take(24).collect();
        let rows: Vec<&[f32]> = shown.iter().map(|&at| data.row(at)).collect();
        let big = name.to_uppercase();
        writeln!(text, "pub static {big}_ROWS: [[f32; {}]; {}] = {rows:?};", data.dim, shown.len()).unwrap();

        for (numbers, bits) in
            [("single", None), ("bits16", Some(Bits::Sixteen)), ("bits8", Some(Bits::Eight))]
        {
            let bundle = Bundle::of(&models, bits, With::default()).unwrap();
            let bytes = bundle.to_bytes().unwrap();
            let each: Vec<Exported> = models.iter().map(|model| Exported::of(model, bits).unwrap()).collect();
            let mut same = 0;
            for &at in &held_out {
                let (outputs, class) = on_device(&bytes, bits, data.row(at), data.classes);
                for (output, alone) in outputs.iter().zip(&each) {
                    assert_eq!(output.to_bits(), alone.predict_row(data.row(at)).unwrap().to_bits());
                }
                same += usize::from(class.index == desktop(at));
            }
            println!(
                "{name}, {numbers}: {same} of {} as in double precision, {} bytes",
                held_out.len(),
                bytes.len()
            );
            assert!(
                same == held_out.len() || (bits == Some(Bits::Eight) && 50 * same >= 49 * held_out.len())
            );

            let stem = Name::new(&format!("{name}_{numbers}"));
            text += &String::from_utf8(bundle.write(Form::Rust, &stem).unwrap()).unwrap();
            let expected = shown.iter().map(|&at| {
                let (_, Class { index, margin }) = on_device(&bytes, bits, data.row(at), data.classes);
                (index, margin.to_bits())
            });
            let (big, expected) = (stem.capitals(), expected.collect::<Vec<_>>());
            writeln!(text, "pub static {big}_EXPECTED: [(usize, u32); {}] = {expected:?};", shown.len())
                .unwrap();
            if let Some(folder) = std::env::var_os("DPP_NYSTROM_CLASSES") {
                let header = bundle.write(Form::C, &stem).unwrap();
                let lines = shown.iter().zip(&expected).map(|(&at, (index, margin))| {
                    let row: Vec<String> = data.row(at).iter().map(|value| format!("{value:?}f")).collect();
                    format!("    {{{{{}}}, {index}, {margin}u}},\n", row.join(", "))
                });
                let folder = Path::new(&folder);
                std::fs::write(folder.join(format!("{name}_{numbers}.h")), header).unwrap();
                std::fs::write(folder.join(format!("{name}_{numbers}.inc")), lines.collect::<String>())
                    .unwrap();
                std::fs::write(folder.join(format!("{name}_{numbers}.bin")), &bytes).unwrap();
            }
        }
    }
    if let Some(folder) = std::env::var_os("DPP_NYSTROM_CLASSES") {
        std::fs::write(Path::new(&folder).join("classes.rs"), text).unwrap();
    }
}

#[test]
fn outputs_that_do_not_fit_are_refused() {
    let data = Rows::iris();
    let models = data.models(12);
    let refused =
        |models: &[Model], bits, with| Bundle::of(models, bits, with).map(drop).unwrap_err().to_string();
    assert!(refused(&[], None, With::default()).contains("output 0 (from 0) is missing"));
    let others = data.models(11);
    let mixed = [models[0].clone(), models[1].clone(), others[2].clone()];
    assert!(refused(&mixed, Some(Bits::Sixteen), With::default()).contains("output 2 "));
    assert!(refused(&mixed, None, With::default()).contains("output 2 "));
    let mut plain = models.clone();
    plain[0].confidence = None;
    assert!(refused(&plain, None, With { novelty: true, ..With::default() }).contains("limits"));
    assert!(refused(&plain, None, With { variance: true, ..With::default() }).contains("variances"));
    let integers = refused(&models, Some(Bits::Eight), With { variance: true, ..With::default() });
    assert!(integers.contains("variances in integers"));
    // A reader of one output does not take the first for all.
    let bytes = Bundle::of(&models, None, With::default()).unwrap().to_bytes().unwrap();
    let mut memory = Box::new(Aligned([0; 1 << 14]));
    memory.0[..bytes.len()].copy_from_slice(&bytes);
    assert!(
        dpp_nystrom_core::Model::from_bytes(&memory.0).unwrap_err().to_string().contains("several outputs")
    );
    let error: Result<Bundle<'_>, Error> = Bundle::of(&models[..1], None, With::default());
    assert_eq!(error.unwrap().outputs(), 1);
}
