//! A model as a Rust file: statics that the core uses in place.

use crate::model::export::bundle::{Bundle, Triangles};
use crate::model::export::numbers::{about, lines};
use crate::model::export::quantised::{Quantised, Stored};
use crate::model::{
    export::exported::Exported, export::exported::Parts, export::name::Name, export::single::Single,
};
use dpp_nystrom_core::Limits;
use std::fmt::{Debug, Write};

/// Return the file's text. Its items do not clash with those of another exported file in the same module.
pub(crate) fn text(bundle: &Bundle<'_>, name: &Name) -> String {
    let exported = &bundle.first;
    let big = name.capitals();
    let mut text = String::new();
    for line in about(bundle, bundle.flash_bytes()) {
        let _ = writeln!(text, "{}", format!("// {line}").trim_end());
    }
    let first = if bundle.further.is_empty() { big.clone() } else { format!("{big}_FIRST") };
    let zero = if matches!(exported.0, Parts::Single(_)) { "0.0" } else { "0" };
    let width = width(exported);
    let _ = write!(
        text,
        "\n/// The number of features of a row.\npub const {big}_FEATURES: usize = {};\n\n{}\
         /// The model{}: `{first}.predict(&row, &mut [{zero}; {big}_{width}])`.\n",
        exported.features(),
        match exported.rank() {
            None => String::new(),
            Some(rank) if width == "WIDTH" => format!(
                "/// The number of coordinates of a mapped row.\npub const {big}_WIDTH: usize = {rank};\n\n"
            ),
            Some(_) => format!(
                "/// The number of levels of room.\npub const {big}_ROOM: usize = {};\n\n",
                exported.room()
            ),
        },
        if bundle.further.is_empty() { "" } else { " of the first output" },
    );
    let kind = match &exported.0 {
        Parts::Single(single) => write_single(&mut text, single, &big, &first),
        Parts::Bits16(quantised) => write_quantised(&mut text, quantised, &big, &first),
        Parts::Bits8(quantised) => write_quantised(&mut text, quantised, &big, &first),
    };
    if !bundle.further.is_empty() {
        write_further(&mut text, bundle, &big, &kind);
    }
    write_confidence(&mut text, bundle, &big, &first, &kind);
    text
}

/// Return the end of the name of the constant that is the room of a call.
fn width(exported: &Exported) -> &'static str {
    match &exported.0 {
        _ if exported.rank().is_none() => "FEATURES",
        Parts::Single(_) => "WIDTH",
        Parts::Bits16(_) | Parts::Bits8(_) => "ROOM",
    }
}

/// Write the static of all outputs, after that of the first. `kind` are the type parameters of a model.
fn write_further(text: &mut String, bundle: &Bundle<'_>, big: &str, kind: &str) {
    let integers = !matches!(bundle.first.0, Parts::Single(_));
    let (path, room) = if integers {
        ("::dpp_nystrom_core::QuantisedOutputs", "&mut [0; {big}_{width}], &mut [0; {big}_OUTPUTS]")
    } else {
        ("::dpp_nystrom_core::Outputs", "&mut [0.0; {big}_{width}]")
    };
    let room = room.replace("{big}", big).replace("{width}", width(&bundle.first));
    let _ = write!(
        text,
        "\n/// The number of outputs.\npub const {big}_OUTPUTS: usize = {};\n\n\
         /// All outputs: `{big}.classify(&row, {room}, &mut [0.0; {big}_OUTPUTS])`.\n\
         pub static {big}: {path}<'static, {kind}> = {{\n\
         \x20   let further = ::dpp_nystrom_core::Further {{\n\
         \x20       weights: &{big}_FURTHER_WEIGHTS,\n\
         \x20       means: &{big}_FURTHER_MEANS,\n\
         \x20       scales: &{big}_FURTHER_SCALES,\n\
         \x20   }};\n\
         \x20   match {path}::new({big}_FIRST, further) {{\n\
         \x20       Ok(model) => model,\n\
         \x20       Err(_) => panic!(\"parts that do not fit\"),\n\
         \x20   }}\n\
         }};\n",
        bundle.outputs()
    );
    let parts: Vec<_> = bundle.further.iter().map(Exported::output).collect();
    let words = parts.iter().flat_map(|(weights, ..)| weights.iter().copied());
    if integers {
        let weights: Vec<i32> = words.map(|word| word as i32).collect();
        write_array(text, big, "FURTHER_WEIGHTS", "i32", &weights);
    } else {
        let weights: Vec<f32> = words.map(f32::from_bits).collect();
        write_array(text, big, "FURTHER_WEIGHTS", "f32", &weights);
    }
    write_array(
        text,
        big,
        "FURTHER_MEANS",
        "f32",
        &parts.iter().map(|&(_, mean, _)| mean).collect::<Vec<_>>(),
    );
    write_array(
        text,
        big,
        "FURTHER_SCALES",
        "f32",
        &parts.iter().map(|&(.., scale)| scale).collect::<Vec<_>>(),
    );
}

/// Write the statics of the limits and of the assessor, if there are any.
fn write_confidence(text: &mut String, bundle: &Bundle<'_>, big: &str, first: &str, kind: &str) {
    let mut limits = "None".to_owned();
    if let Some(Limits { range, nearest, residual }) = bundle.limits {
        limits = format!("Some({big}_LIMITS)");
        let _ = write!(
            text,
            "\n/// What is usual: `{big}_LIMITS.is_novel(&assessment, rarity)`, `{big}_LIMITS.clamp(prediction)`.\n\
             #[allow(clippy::approx_constant)]\n\
             pub static {big}_LIMITS: ::dpp_nystrom_core::Limits<f32> = ::dpp_nystrom_core::Limits {{\n\
             \x20   range: {range:?},\n\x20   nearest: {nearest:?},\n\x20   residual: {residual:?},\n}};\n"
        );
    }
    if let Some(Triangles { factor, triangle, solved }) = &bundle.uncertainty {
        let _ = write!(
            text,
            "\n/// The numbers of room that `{big}_ASSESSOR` needs.\n\
             pub const {big}_ROOM: usize = {};\n\n\
             /// The model with its residuals and variances:
             /// `{big}_ASSESSOR.assess(&row, &mut [0.0; {big}_ROOM])`.\n\
             pub static {big}_ASSESSOR: ::dpp_nystrom_core::Assessor<'static, {kind}> = {{\n\
             \x20   let uncertainty = ::dpp_nystrom_core::Uncertainty {{\n\
             \x20       factor: &{big}_FACTOR,\n\
             \x20       triangle: &{big}_TRIANGLE,\n\
             \x20       solved: ::dpp_nystrom_core::Solved {{ penalty: {:?}, noise: {:?} }},\n\
             \x20   }};\n\
             \x20   match ::dpp_nystrom_core::Assessor::new({first}, {limits}, Some(uncertainty)) {{\n\
             \x20       Ok(assessor) => assessor,\n\
             \x20       Err(_) => panic!(\"parts that do not fit\"),\n\
             \x20   }}\n\
             }};\n",
            bundle.ram_bytes() / 4,
            solved.penalty,
            solved.noise
        );
        write_array(text, big, "FACTOR", "f32", factor);
        write_array(text, big, "TRIANGLE", "f32", triangle);
    }
}

/// Write the static `first`. Return the type parameters of the model.
fn write_single(text: &mut String, model: &Single, big: &str, first: &str) -> String {
    let (about, number, degree) = model.kernel.stored();
    let [kind, constructor] = about.rust.map(|text| match text {
        "" => String::new(),
        text => format!("::dpp_nystrom_core::kernel::{text}")
            .replace("NUMBER", &format!("{number:?}"))
            .replace("DEGREE", &degree.to_string()),
    });
    let (scaling, array) = match model.scaling.rank() {
        rank if model.scaling.is_clipped() => {
            (format!("Clipped {{ rank: {rank:?}, numbers: &{big}_CLIPPED }}"), "CLIPPED")
        }
        None => (format!("PerFeature(&{big}_SCALES)"), "SCALES"),
        Some(rank) => (format!("Map {{ rank: {rank}, rows: &{big}_MAP }}"), "MAP"),
    };
    let kernel = match constructor.as_str() {
        "" => format!("let kernel = {kind};"),
        new => format!("let Ok(kernel) = {new} else {{ panic!(\"not a kernel\") }};"),
    };
    let _ = write!(
        text,
        "#[allow(clippy::approx_constant)]\n\
         pub static {first}: ::dpp_nystrom_core::Model<'static, f32, {kind}> = {{\n\
         \x20   {kernel}\n\
         \x20   let parts = ::dpp_nystrom_core::Parts {{\n\
         \x20       means: &{big}_MEANS,\n\
         \x20       scaling: ::dpp_nystrom_core::Scaling::{scaling},\n\
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
        ("MEANS", &model.means[..]),
        (array, model.scaling.lend().numbers()),
        ("LANDMARKS", &model.landmarks),
        ("WEIGHTS", &model.weights),
    ] {
        write_array(text, big, array, "f32", values);
    }
    format!("f32, {kind}")
}

fn write_quantised<L: Stored + Debug>(
    text: &mut String,
    model: &Quantised<L>,
    big: &str,
    first: &str,
) -> String {
    let bits = L::BITS;
    let map = model.map.as_ref().map_or("None".to_owned(), |map| {
        let (path, rank, shift) = ("::dpp_nystrom_core::QuantisedMap", map.rank, map.shift);
        format!("Some({path} {{ rank: {rank}, rows: &{big}_MAP, shift: {shift} }})")
    });
    let _ = write!(
        text,
        "#[allow(clippy::approx_constant)]\n\
         pub static {first}: ::dpp_nystrom_core::QuantisedModel<'static, i{bits}> = {{\n\
         \x20   let parts = ::dpp_nystrom_core::QuantisedParts {{\n\
         \x20       centres: &{big}_CENTRES,\n\
         \x20       factors: &{big}_FACTORS,\n\
         \x20       exponents: &{big}_EXPONENTS,\n\
         \x20       map: {map},\n\
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
    if let Some(map) = &model.map {
        write_array(text, big, "MAP", "i16", &map.rows);
    }
    write_array(text, big, "LANDMARKS", &format!("i{bits}"), &model.landmarks);
    format!("i{bits}")
}

fn write_array<T: Debug>(text: &mut String, big: &str, array: &str, kind: &str, values: &[T]) {
    let (rows, len) = (lines(values, ""), values.len());
    let _ = write!(
        text,
        "\n#[allow(clippy::approx_constant)]\n#[rustfmt::skip]\nstatic {big}_{array}: [{kind}; {len}] = [\n{rows}\n];\n"
    );
}
