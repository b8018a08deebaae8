//! Exported C headers, compiled by the machine's own C compiler.

use crate::command::Folder;
use crate::export::{KERNELS, folder, made_up, single};
use dpp_nystrom::data::table::Table;
use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom::model::export::{Bits, Exported, Form, Name};
use dpp_nystrom::model::{AnyCoefficients, Model};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::kernel::Kernel;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Compile a program that includes these headers with strict warnings; return its output, or none without a compiler.
pub(crate) fn compiled(folder: &Folder, program: &str) -> Option<String> {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("skipped: no C compiler `cc`");
        return None;
    }
    folder.write("main.c", program);
    let flags = "-std=c99 -pedantic -Wall -Wextra -Werror -Wconversion -Wshadow -O2 main.c -o main -lm";
    let arguments: Vec<&str> = flags.split(' ').collect();
    let output = folder.program(Path::new("cc"), &arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = folder.program(&folder.path("main"), &[] as &[&str]).output().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Return the predictions of the header `name.h` for these rows.
pub(crate) fn predictions(folder: &Folder, name: &str, rows: &[Vec<f32>]) -> Option<Vec<f32>> {
    let mut data = String::new();
    for row in rows {
        let bits: Vec<String> = row.iter().map(|value| format!("{}u", value.to_bits())).collect();
        let _ = writeln!(data, "    {{{}}},", bits.join(", "));
    }
    let program = format!(
        "#include \"{name}.h\"\n#include \"{name}.h\"\n#include <stdio.h>\n#include <string.h>\n\
         static const unsigned rows[][{}] = {{\n{data}}};\n\
         int main(void)\n{{\n    unsigned i, bits;\n    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {{\n\
         \x20       float row[{}], y;\n        memcpy(row, rows[i], sizeof row);\n        y = {name}_predict(row);\n\
         \x20       memcpy(&bits, &y, sizeof bits);\n        printf(\"%u\\n\", bits);\n    }}\n    return 0;\n}}\n",
        rows[0].len(),
        rows[0].len()
    );
    let printed = compiled(folder, &program)?;
    Some(printed.lines().map(|line| f32::from_bits(line.parse().unwrap())).collect())
}

/// Bound the rounding error of a prediction: some units in the last place of the sum of the terms' magnitudes.
pub(crate) fn tolerance(model: &Model, row: &[f32]) -> f64 {
    let (landmarks, weights): (Vec<f64>, Vec<f64>) = match &model.coefficients {
        AnyCoefficients::F64(numbers) => (numbers.landmarks.clone(), numbers.weights.clone()),
        AnyCoefficients::F32(numbers) => (
            numbers.landmarks.iter().copied().map(f64::from).collect(),
            numbers.weights.iter().copied().map(f64::from).collect(),
        ),
    };
    let mut standard: Vec<f64> = row.iter().copied().map(f64::from).collect();
    model.scaler.apply_row(&mut standard);
    let kernel: ChosenKernel<f64> = model.kernel.build().unwrap();
    let size = |values: &[f64]| values.iter().map(|value| value.abs()).collect::<Vec<f64>>();
    let terms = landmarks.chunks(row.len()).zip(&weights).map(|(landmark, weight)| {
        let most = match model.kernel.kind {
            // Products may cancel; differences do not.
            KernelKind::Linear | KernelKind::Polynomial { .. } => {
                kernel.value(&size(landmark), &size(&standard))
            }
            _ => 1.0,
        };
        weight.abs() * most
    });
    let units = (weights.len() + row.len() + 16) as f64;
    let sum: f64 = terms.sum();
    units * f64::from(f32::EPSILON) / 2.0 * (model.target_mean.abs() + model.target_deviation * sum)
}

/// Return the rows of a table, and some far from all of them.
pub(crate) fn raw(rows: &Table) -> Vec<Vec<f32>> {
    let mut raw: Vec<Vec<f32>> = (0..rows.rows()).map(|row| single(rows.row(row))).collect();
    raw.push(vec![0.0; rows.dim]);
    raw.push(vec![-1e6; rows.dim]);
    raw.push(vec![1e-30; rows.dim]);
    raw
}

#[test]
fn headers_predict_what_the_core_does() {
    for kernel in KERNELS {
        let (folder, model, rows) = folder(kernel, "f64");
        folder.run("export m --to c --out m.h").good();
        let exported = Exported::of(&model, None).unwrap();
        let raw = raw(&rows);
        let Some(found) = predictions(&folder, "m", &raw) else { return };
        assert_eq!(found.len(), raw.len());
        for (row, found) in raw.iter().zip(found) {
            let expected = exported.predict_row(row).unwrap();
            let off = f64::from(found - expected).abs();
            assert!(off <= tolerance(&model, row), "{kernel}: {found} is not {expected} for {row:?}");
        }
    }
}

#[test]
fn quantised_headers_predict_the_same_bits() {
    let (folder, model, rows) = folder("gaussian", "f64");
    for (bits, name) in [(Bits::Sixteen, "i16"), (Bits::Eight, "i8")] {
        folder.run(&format!("export m --to c --quantise {name} --out m.h")).good();
        let exported = Exported::of(&model, Some(bits)).unwrap();
        let mut raw = raw(&rows);
        for extreme in [f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -0.0] {
            raw.push(vec![extreme; 3]);
        }
        let Some(found) = predictions(&folder, "m", &raw) else { return };
        for (row, found) in raw.iter().zip(found) {
            assert_eq!(found.to_bits(), exported.predict_row(row).unwrap().to_bits(), "{name} {row:?}");
        }
    }
}

/// A NaN feature gives a NaN prediction: the C function has no error to return.
#[test]
fn a_nan_feature_gives_a_nan_prediction() {
    for kernel in KERNELS {
        let (folder, ..) = folder(kernel, "f32");
        folder.run("export m --to c --out m.h").good();
        let Some(found) = predictions(&folder, "m", &[vec![1.0, f32::NAN, 2.0]]) else { return };
        assert!(found[0].is_nan(), "{kernel}: {}", found[0]);
    }
}

/// Headers with any names can be used in one program, and included twice.
#[test]
fn headers_do_not_clash() {
    let folder = Folder::new();
    let mut includes = String::new();
    let mut calls = String::new();
    for wish in ["int", "mean", "step scale", "9 limit", "name", "NAME", "kind-shift"] {
        for bits in [None, Some(Bits::Sixteen), Some(Bits::Eight)] {
            let name =
                Name::new(&format!("{wish} {}", bits.map_or("f32".to_owned(), |bits| format!("{bits:?}"))));
            let model = made_up(KernelKind::Gaussian);
            let header = Exported::of(&model, bits).unwrap().write(Form::C, &model, &name).unwrap();
            folder.write(&format!("{}.h", name.as_str()), header);
            let _ = write!(includes, "#include \"{0}.h\"\n#include \"{0}.h\"\n", name.as_str());
            let _ = writeln!(calls, "    sum += {}_predict(row);", name.as_str());
        }
    }
    let program = format!(
        "{includes}#include <stdio.h>\nint main(void)\n{{\n    const float row[2] = {{20.5f, 1013.25f}};\n    \
         float sum = 0.0f;\n{calls}    printf(\"%.6f\\n\", (double)sum);\n    return 0;\n}}\n"
    );
    if let Some(printed) = compiled(&folder, &program) {
        let one = Exported::of(&made_up(KernelKind::Gaussian), None)
            .unwrap()
            .predict_row(&[20.5, 1013.25])
            .unwrap();
        let sum: f32 = printed.trim().parse().unwrap();
        assert!((sum / 21.0 - one).abs() < 0.02, "{sum} {one}");
    }
}
