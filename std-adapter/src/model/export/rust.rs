//! A model as a Rust file: statics that the core uses in place.

use crate::model::export::numbers::{about, lines};
use crate::model::export::quantised::{Quantised, Stored};
use crate::model::{export::exported::Exported, export::name::Name, export::single::Single, trained::Model};
use dpp_nystrom_core::kernel::ChosenKernel;
use std::fmt::{Debug, Write};

/// Return the file's text. Its items do not clash with those of another exported file in the same module.
pub(crate) fn text(exported: &Exported, model: &Model, name: &Name) -> String {
    let big = name.capitals();
    let mut text = String::new();
    for line in about(exported, model) {
        let _ = writeln!(text, "{}", format!("// {line}").trim_end());
    }
    let zero = if matches!(exported, Exported::Single(_)) { "0.0" } else { "0" };
    let _ = write!(
        text,
        "\n/// The number of features of a row.\npub const {big}_FEATURES: usize = {};\n\n\
         /// The model: `{big}.predict(&row, &mut [{zero}; {big}_FEATURES])`.\n",
        exported.features()
    );
    match exported {
        Exported::Single(single) => write_single(&mut text, single, &big),
        Exported::Bits16(quantised) => write_quantised(&mut text, quantised, &big),
        Exported::Bits8(quantised) => write_quantised(&mut text, quantised, &big),
    }
    text
}

fn write_single(text: &mut String, model: &Single, big: &str) {
    let (kind, constructor) = match model.kernel {
        ChosenKernel::Gaussian(kernel) => ("Gaussian", format!("from_exponent({:?})", kernel.exponent())),
        ChosenKernel::Laplace(kernel) => ("Laplace", format!("from_rate({:?})", kernel.rate())),
        ChosenKernel::Matern32(kernel) => ("Matern32", format!("from_rate({:?})", kernel.rate())),
        ChosenKernel::Matern52(kernel) => ("Matern52", format!("from_rate({:?})", kernel.rate())),
        ChosenKernel::Polynomial(kernel) => {
            ("Polynomial", format!("constant({}, {:?})", kernel.degree(), kernel.offset()))
        }
        ChosenKernel::Linear(_) => ("Linear", String::new()),
    };
    let kind = format!("::dpp_nystrom_core::kernel::{kind}");
    let (parameter, kernel) = match constructor.as_str() {
        "" => ("", format!("let kernel = {kind};")),
        new => ("<f32>", format!("let Ok(kernel) = {kind}::{new} else {{ panic!(\"not a kernel\") }};")),
    };
    let _ = write!(
        text,
        "#[allow(clippy::approx_constant)]\n\
         pub static {big}: ::dpp_nystrom_core::Model<'static, f32, {kind}{parameter}> = {{\n\
         \x20   {kernel}\n\
         \x20   let parts = ::dpp_nystrom_core::Parts {{\n\
         \x20       means: &{big}_MEANS,\n\
         \x20       scales: &{big}_SCALES,\n\
         \x20       landmarks: &{big}_LANDMARKS,\n\
         \x20       weights: &{big}_WEIGHTS,\n\
         \x20       target_mean: {:?},\n\
         \x20       target_scale: {:?},\n\
         \x20   }};\n\
         \x20   match ::dpp_nystrom_core::Model::new(kernel, parts) {{\n\
         \x20       Ok(model) => model,\n\
         \x20       Err(_) => panic!(\"parts that do not fit\"),\n\
         \x20   }}\n\
         }};\n",
        model.target_mean, model.target_scale
    );
    for (array, values) in [
        ("MEANS", &model.means),
        ("SCALES", &model.scales),
        ("LANDMARKS", &model.landmarks),
        ("WEIGHTS", &model.weights),
    ] {
        write_array(text, big, array, "f32", values);
    }
}

fn write_quantised<L: Stored + Debug>(text: &mut String, model: &Quantised<L>, big: &str) {
    let bits = L::BITS;
    let _ = write!(
        text,
        "#[allow(clippy::approx_constant)]\n\
         pub static {big}: ::dpp_nystrom_core::QuantisedModel<'static, i{bits}> = {{\n\
         \x20   let parts = ::dpp_nystrom_core::QuantisedParts {{\n\
         \x20       centres: &{big}_CENTRES,\n\
         \x20       factors: &{big}_FACTORS,\n\
         \x20       exponents: &{big}_EXPONENTS,\n\
         \x20       landmarks: &{big}_LANDMARKS,\n\
         \x20       weights: &{big}_WEIGHTS,\n\
         \x20       limit: {},\n\
         \x20       multiplier: {},\n\
         \x20       shift: {},\n\
         \x20       step: {},\n\
         \x20       target_mean: {:?},\n\
         \x20       target_scale: {:?},\n\
         \x20   }};\n\
         \x20   match ::dpp_nystrom_core::QuantisedModel::<i{bits}>::new(parts) {{\n\
         \x20       Ok(model) => model,\n\
         \x20       Err(_) => panic!(\"parts that do not fit\"),\n\
         \x20   }}\n\
         }};\n",
        model.limit, model.multiplier, model.shift, model.step, model.target_mean, model.target_scale
    );
    for (array, values) in [
        ("CENTRES", &model.centres),
        ("FACTORS", &model.factors),
        ("EXPONENTS", &model.exponents),
        ("WEIGHTS", &model.weights),
    ] {
        write_array(text, big, array, "i32", values);
    }
    write_array(text, big, "LANDMARKS", &format!("i{bits}"), &model.landmarks);
}

fn write_array<T: Debug>(text: &mut String, big: &str, array: &str, kind: &str, values: &[T]) {
    let (rows, len) = (lines(values, ""), values.len());
    let _ = write!(
        text,
        "\n#[allow(clippy::approx_constant)]\n#[rustfmt::skip]\nstatic {big}_{array}: [{kind}; {len}] = [\n{rows}\n];\n"
    );
}
