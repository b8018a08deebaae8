//! Exported C headers, compiled by the machine's own C compiler.

use crate::command::{Folder, number};
use crate::export::{clipped, folder, kernels, made_up, mapped, single};
use dpp_nystrom::core::{Assessor, Limits, QuantisedModel};
use dpp_nystrom::data::table::Table;
use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom::model::export::{Bits, Bundle, Exported, Form, Name, With};
use dpp_nystrom::model::{AnyCoefficients, Confidence};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Compile a program that includes these headers with strict warnings, by the standard's rules and with all
/// that a compiler does by default; return its output, which is the same, or none without a compiler.
pub(crate) fn compiled(folder: &Folder, program: &str) -> Option<String> {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("skipped: no C compiler `cc`");
        return None;
    }
    folder.write("main.c", program);
    let printed = ["-std=c99 -O2", "-std=gnu99 -O3 -march=native"].map(|mode| {
        let flags = format!(
            "{mode} -pedantic -Wall -Wextra -Werror -Wconversion -Wshadow -Wfloat-equal main.c -o main -lm"
        );
        let arguments: Vec<&str> = flags.split(' ').collect();
        let output = folder.program(Path::new("cc"), &arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = folder.program(&folder.path("main"), &[] as &[&str]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    });
    assert_eq!(printed[0], printed[1]);
    printed.into_iter().next()
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

/// Return the rows of a table, and some far from all of them.
pub(crate) fn raw(rows: &Table) -> Vec<Vec<f32>> {
    let mut raw: Vec<Vec<f32>> = (0..rows.rows()).map(|row| single(rows.row(row))).collect();
    raw.push(vec![0.0; rows.dim]);
    raw.push(vec![-1e6; rows.dim]);
    raw.push(vec![1e-30; rows.dim]);
    raw
}

#[test]
fn headers_predict_the_same_bits() {
    let models = kernels().flat_map(|kernel| [(kernel, folder(kernel, "f64")), (kernel, mapped(kernel))]);
    let of_clipped = [clipped(folder("gaussian", "f64")), clipped(mapped("laplace"))];
    for (kernel, (folder, model, rows)) in models.chain(of_clipped.map(|model| ("clipped", model))) {
        folder.run("export m --to c --out m.h").good();
        let exported = Exported::of(&model, None).unwrap();
        let raw = raw(&rows);
        let Some(found) = predictions(&folder, "m", &raw) else { return };
        assert_eq!(found.len(), raw.len());
        for (row, found) in raw.iter().zip(found) {
            let expected = exported.predict_row(row).unwrap();
            assert_eq!(
                found.to_bits(),
                expected.to_bits(),
                "{kernel}: {found} is not {expected} for {row:?}"
            );
        }
    }
}

/// The second of two outputs is that of its own model, for every kernel.
#[test]
fn headers_of_several_outputs_predict_the_same_bits() {
    for kernel in kernels() {
        let (folder, model, rows) = folder(kernel, "f64");
        let mut other = model.clone();
        let AnyCoefficients::F64(numbers) = &mut other.coefficients else { panic!("doubles") };
        numbers.weights.iter_mut().enumerate().for_each(|(at, weight)| *weight *= 0.5 + at as f64);
        let models = [model, other];
        let bundle = Bundle::of(&models, None, With::default()).unwrap();
        let header = String::from_utf8(bundle.write(Form::C, &Name::new("m")).unwrap()).unwrap();
        let function = "static inline float m_predict(const float *x)\n{\n    float y[2];\n\n    m_outputs(x, y);\n\
                        \x20   return y[1];\n}\n#endif\n";
        let both = header.replace("m_predict", "m_outputs");
        folder.write("m.h", both.strip_suffix("#endif\n").unwrap().to_owned() + function);
        let exported = Exported::of(&models[1], None).unwrap();
        let raw = raw(&rows);
        let Some(found) = predictions(&folder, "m", &raw) else { return };
        for (row, found) in raw.iter().zip(found) {
            let expected = exported.predict_row(row).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{kernel}: {found} is not {expected}");
        }
    }
}

#[test]
fn quantised_headers_predict_the_same_bits() {
    let models = [folder("gaussian", "f64"), mapped("gaussian")];
    let bits = [(Bits::Sixteen, "i16"), (Bits::Eight, "i8")];
    for ((folder, model, rows), (bits, name)) in
        models.iter().flat_map(|model| bits.map(|(bits, name)| (model, (bits, name))))
    {
        folder.run(&format!("export m --to c --quantise {name} --out m.h")).good();
        let exported = Exported::of(model, Some(bits)).unwrap();
        let mut raw = raw(rows);
        for extreme in [f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -0.0] {
            raw.push(vec![extreme; 3]);
        }
        let Some(found) = predictions(folder, "m", &raw) else { return };
        for (row, found) in raw.iter().zip(found) {
            assert_eq!(found.to_bits(), exported.predict_row(row).unwrap().to_bits(), "{name} {row:?}");
        }
    }
}

/// Distances in C are those of the core, bit for bit, in standard deviations or in levels.
#[test]
fn headers_with_novelty_have_the_cores_distances() {
    #[repr(C, align(4))]
    struct Aligned([u8; 1 << 14]);
    let confidence = Confidence {
        range: [-0.25, 0.25],
        nearest: [0.5, 1.0, 2.0],
        residual: [0.1, 0.2, 0.3],
        penalty: 1.0,
        noise: 1.0,
        triangle: Vec::new(),
    };
    let kinds = [None, Some(Bits::Sixteen), Some(Bits::Eight)];
    let models = kinds.map(|bits| [(folder("gaussian", "f64"), bits), (mapped("gaussian"), bits)]);
    for ((folder, mut model, rows), bits) in models.into_iter().flatten() {
        model.confidence = Some(confidence.clone());
        let raw = raw(&rows);
        let with = With { novelty: true, variance: false };
        let bundle = Bundle::of(std::slice::from_ref(&model), bits, with).unwrap();
        let bytes = bundle.to_bytes().unwrap();
        let mut flash = Box::new(Aligned([0; 1 << 14]));
        flash.0[..bytes.len()].copy_from_slice(&bytes);
        let limits = Limits::from_bytes(&flash.0).unwrap().unwrap();
        let assess = |row: &[f32]| match bits {
            None => Assessor::from_bytes(&flash.0).unwrap().assess(row, &mut vec![0.0; row.len()]),
            Some(Bits::Sixteen) => {
                QuantisedModel::<i16>::from_bytes(&flash.0).unwrap().assess(row, &mut [0; 5])
            }
            Some(Bits::Eight) => QuantisedModel::<i8>::from_bytes(&flash.0).unwrap().assess(row, &mut [0; 5]),
        };
        let header = String::from_utf8(bundle.write(Form::C, &Name::new("m")).unwrap()).unwrap();
        // What is called under the name that the program calls.
        let plain = header.replace("m_predict(const float *x)", "m_plain(const float *x)");
        let calling = |value: &str| {
            let function = format!(
                "static inline float m_predict(const float *x)\n{{\n    return {value};\n}}\n#endif\n"
            );
            folder.write("m.h", plain.strip_suffix("#endif\n").unwrap().to_owned() + &function);
            predictions(&folder, "m", &raw)
        };
        let Some(distances) = calling("m_nearest(x)") else { return };
        for ((row, distance), clamped) in
            raw.iter().zip(distances).zip(calling("m_clamp(m_plain(x))").unwrap())
        {
            let expected = assess(row).unwrap();
            assert_eq!(distance.to_bits(), expected.nearest.to_bits(), "{bits:?} {row:?}");
            assert_eq!(clamped, limits.clamp(expected.value), "{bits:?} {row:?}");
        }
        assert!(header.contains(&format!("m_nearest_limits[3] = {{\n    {:?}f,", limits.nearest[0])));
    }
}

/// A feature that is NaN or infinite gives a NaN prediction: the C function has no error to return.
#[test]
fn a_feature_that_is_not_finite_gives_a_nan_prediction() {
    let rows = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(|bad| vec![1.0, bad, 2.0]);
    let exports = kernels().map(|kernel| (kernel, ""));
    let more = [("gaussian", "--quantise i16"), ("gaussian", "--quantise i8"), ("mapped", "")];
    for (kernel, options) in exports.chain(more) {
        let (folder, ..) = if kernel == "mapped" { mapped("gaussian") } else { folder(kernel, "f32") };
        folder.run(&format!("export m --to c --out m.h {options}")).good();
        let Some(found) = predictions(&folder, "m", &rows) else { return };
        assert!(found.iter().all(|value| value.is_nan()), "{kernel} {options}: {found:?}");
    }
}

/// What the summary says of a header is what a compiler makes of it.
#[test]
fn the_sizes_of_a_header_are_those_of_its_compiler() {
    let installed = Command::new("arm-none-eabi-gcc").arg("--version").output().is_ok();
    let models = ["", "--quantise i16", "--quantise i8"].map(|options| (folder("gaussian", "f32"), options));
    let more = ["", "--quantise i16", "--quantise i8"].map(|options| (mapped("gaussian"), options));
    for ((folder, ..), options) in models.into_iter().chain(more) {
        let report = folder.run(&format!("export m --to c --out m.h --json {options}")).good().json();
        let header = folder.text("m.h");
        let constants = number(&report, "flash_bytes");
        let stated = format!("{constants} bytes of constants, {} bytes of RAM", number(&report, "ram_bytes"));
        assert!(header.contains(&stated), "{stated}");
        if !installed {
            println!("skipped: no arm-none-eabi-gcc");
            assert!(report["compiled"].is_null());
            continue;
        }
        // The constants alone, as the symbols of an object file that keeps them all.
        let arrays = header.replace("static const ", "const __attribute__((used)) ");
        folder.write("arrays.c", &arrays);
        let arguments = ["-std=c99", "-mcpu=cortex-m4", "-mthumb", "-fdata-sections", "-c", "arrays.c"];
        assert!(folder.program(Path::new("arm-none-eabi-gcc"), &arguments).status().unwrap().success());
        let symbols = folder.program(Path::new("arm-none-eabi-nm"), &["-S", "arrays.o"]).output().unwrap();
        let sizes = String::from_utf8(symbols.stdout).unwrap();
        let total: usize = sizes
            .lines()
            .filter_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
                [_, size, "R", _] => usize::from_str_radix(size, 16).ok(),
                _ => None,
            })
            .sum();
        assert_eq!(total as f64, constants, "{options}");
        let compiled = &report["compiled"];
        let [flash, stack] = [number(compiled, "flash_bytes"), number(compiled, "stack_bytes")];
        assert!(flash > constants && flash < constants + 2_000.0, "{flash} {constants}");
        assert!(stack >= number(&report, "ram_bytes") && stack < 1_000.0, "{stack}");
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
            let models = [made_up(KernelKind::Gaussian)];
            let header = Bundle::of(&models, bits, With::default()).unwrap().write(Form::C, &name).unwrap();
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
