//! A model in single precision as a C99 header: functions and constant data. The Matérn kernels need `sqrtf`.
//!
//! The arithmetic is that of the core step by step: the order of sums, the core's own exponential, and no
//! fused multiply-adds ([`EXACT`]). The prediction is equal to the core's bit for bit, where `float` is
//! computed in single precision (`FLT_EVAL_METHOD` 0) and `sqrtf` is correctly rounded.

use crate::model::export::bundle::{Bundle, Line};
use crate::model::export::numbers::{about, lines};
use crate::model::{export::exported::Exported, export::name::Name, export::single::Single};
use dpp_nystrom_core::Limits;
use dpp_nystrom_core::kernel::{Argument, ChosenKernel};
use std::fmt::{Debug, Write};

/// Return the header's text.
pub(crate) fn text(single: &Single, bundle: &Bundle<'_>, name: &Name) -> String {
    let (outputs, mapped) = (bundle.outputs(), single.scaling.rank().is_some());
    let (about, ..) = single.kernel.stored();
    let mut text = head(bundle, name, about.c.contains("sqrtf") || single.scaling.is_clipped());
    let line = bundle.line();
    let weights: Vec<f32> = match line {
        Some(Line::Coordinates) => Vec::new(),
        _ => all_weights(bundle).into_iter().map(f32::from_bits).collect(),
    };
    let landmarks = if line.is_some() { &[] } else { &single.landmarks[..] };
    let (numbers, features) = (single.scaling.lend().numbers(), single.means.len());
    let scaling = match single.scaling.is_clipped() {
        true => {
            let (scales, rest) = numbers.split_at(features);
            let (bounds, map) = rest.split_at(features);
            vec![("scales", scales), ("inverse_bounds", bounds), ("map", map)]
        }
        false => vec![(if mapped { "map" } else { "scales" }, numbers)],
    };
    let arrays = [("landmarks", landmarks), ("weights", &weights)];
    let arrays = [("means", &single.means[..])].into_iter().chain(scaling).chain(arrays);
    for (array, values) in arrays.filter(|(_, values)| !values.is_empty()) {
        write_array(&mut text, "float", name, array, values, "f");
    }
    // Names are replaced last, because one may contain another placeholder.
    let standardise = match (single.scaling.is_clipped(), mapped) {
        (true, _) => &clip(mapped),
        (false, true) => MAP,
        (false, false) => SCALE_EACH,
    };
    let body = body(line, single.kernel, outputs)
        .replace("MEAN", &float(single.target_mean))
        .replace("SCALE", &float(single.target_scale));
    write_outputs(&mut text, bundle, name);
    write_limits(&mut text, bundle, name);
    let unit = if mapped { "the units of mapped rows" } else { "standard deviations of the features" };
    let nearest = NEAREST.replace("DISTANCES", unit);
    let nearest = if bundle.limits.is_some() { &nearest } else { "" };
    let exponential = if about.c.contains("name_exp") { EXPONENTIAL } else { "" };
    let mut functions =
        [EXACT, FLOATS, exponential, standardise, &body, nearest, &after(bundle), END].concat();
    if !mapped {
        functions = functions.replace("NAME_WIDTH", "NAME_FEATURES");
    }
    text + &named(&functions, name)
}

/// Return the weights of all outputs as words, one output after the other.
pub(crate) fn all_weights(bundle: &Bundle<'_>) -> Vec<u32> {
    std::iter::once(&bundle.first).chain(&bundle.further).flat_map(|output| output.output().0).collect()
}

/// Write what makes raw units of the outputs, if there are several.
pub(crate) fn write_outputs(text: &mut String, bundle: &Bundle<'_>, name: &Name) {
    if bundle.further.is_empty() {
        return;
    }
    let parts: Vec<_> = std::iter::once(&bundle.first).chain(&bundle.further).map(Exported::output).collect();
    let means: Vec<f32> = parts.iter().map(|&(_, mean, _)| mean).collect();
    let scales: Vec<f32> = parts.iter().map(|&(.., scale)| scale).collect();
    write_array(text, "float", name, "output_means", &means, "f");
    write_array(text, "float", name, "output_scales", &scales, "f");
}

/// Write the limits, if there are any.
pub(crate) fn write_limits(text: &mut String, bundle: &Bundle<'_>, name: &Name) {
    if let Some(Limits { range, nearest, .. }) = bundle.limits {
        write_array(text, "float", name, "range", &range, "f");
        write_array(text, "float", name, "nearest_limits", &nearest, "f");
    }
}

/// Fill in what depends on the number of outputs. A sum is of type `kind`, begins with `zero`, and is a
/// `float` as `value`.
pub(crate) fn predict(body: &str, outputs: usize, [kind, zero, value]: [&str; 3]) -> String {
    if outputs == 1 {
        return body
            .replace("SIGNATURE", "float name_predict(const float *x)")
            .replace("WHAT", "prediction")
            .replace("SUM;", &format!("{kind} sum = {zero};"))
            .replace("REFUSE;", "return name_float(UINT32_C(0x7fc00000));")
            .replace("RESULT;", "return MEAN + SCALE * sum;");
    }
    let zeros = vec![zero; outputs].join(", ");
    body.replace("SIGNATURE", "void name_predict(const float *x, float *y)")
        .replace("WHAT", "outputs")
        .replace("SUM;", &format!("{kind} sums[NAME_OUTPUTS] = {{{zeros}}};"))
        .replace("REFUSE;", SEVERAL_REFUSED)
        .replace("RESULT;", &SEVERAL.replace("VALUE", value))
}

/// The end of a prediction of several outputs.
const SEVERAL: &str = "for (i = 0; i < NAME_OUTPUTS; i++) {
        const float scaled = name_output_scales[i] * VALUE;
        y[i] = name_output_means[i] + scaled;
    }";

const SEVERAL_REFUSED: &str = "for (i = 0; i < NAME_OUTPUTS; i++) {
            y[i] = name_float(UINT32_C(0x7fc00000));
        }
        return;";

/// Return the functions after the prediction.
pub(crate) fn after(bundle: &Bundle<'_>) -> String {
    let classes = if bundle.further.is_empty() { "" } else { CLASSIFY };
    let clamp = if bundle.limits.is_some() { CLAMP } else { "" };
    [classes, clamp].concat()
}

/// Replace `NAME` and `name` in a template.
pub(crate) fn named(template: &str, name: &Name) -> String {
    template.replace("NAME", &name.capitals()).replace("name", name.as_str())
}

/// Return the comments, the include guard, the includes and what macros tell of the model. `roots`: whether
/// the kernel takes square roots.
pub(crate) fn head(bundle: &Bundle<'_>, name: &Name, roots: bool) -> String {
    let exported = &bundle.first;
    let call = if bundle.further.is_empty() {
        "float y = {}_predict(row);"
    } else {
        "{}_predict(row, outputs); of classes\n * int class = {}_classify(row, outputs, &margin);"
    };
    let call = call.replace("{}", name.as_str());
    let big = name.capitals();
    let novelty = match bundle.limits {
        None => String::new(),
        Some(_) => format!(
            " * What is usual: {small}_range, {small}_clamp(y), and {small}_nearest(row) against {small}_nearest_limits (link with -lm). The\n \
             * Nystroem residual, by which a model on a desktop flags rows too, is not in C.\n",
            small = name.as_str()
        ),
    };
    let mut text = String::from("/*\n");
    for line in about(bundle, bundle.c_bytes()) {
        let _ = writeln!(text, "{}", format!(" * {line}").trim_end());
    }
    let _ = write!(
        text,
        " *\n * C99. Call it as: {call}\n{novelty} */\n\
         #ifndef DPP_NYSTROM_{big}_H\n#define DPP_NYSTROM_{big}_H\n\n{math}\
         #include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n\n\
         /* The program that wrote it, bytes of constants, and the digest of the model, which `dpp-nystrom info` prints too. */\n\
         #define {big}_VERSION \"{version}\"\n#define {big}_BYTES {bytes}\n{digest}\
         #define {big}_FEATURES {features}\n#define {big}_LANDMARKS {landmarks}\n#define {big}_OUTPUTS {outputs}\n",
        math = if roots || bundle.limits.is_some() { "#include <math.h>\n" } else { "" },
        version = env!("CARGO_PKG_VERSION"),
        digest = bundle
            .digest()
            .map_or(String::new(), |digest| format!("#define {big}_DIGEST UINT32_C(0x{digest:08x})\n")),
        bytes = bundle.c_bytes(),
        features = exported.features(),
        landmarks = exported.landmarks(),
        outputs = bundle.outputs(),
    );
    if let Some(rank) = exported.rank() {
        let _ = writeln!(text, "#define {big}_WIDTH {rank}");
    }
    text
}

/// Return the prediction, but for the mean and the scale of a single target.
fn body(line: Option<Line>, of: ChosenKernel<f32>, outputs: usize) -> String {
    let zero = ["float", "0.0f", "sums[i]"];
    match line {
        None => predict(BODY, outputs, zero).replace("KERNEL", &[LANDMARK, &kernel(of, outputs)].concat()),
        Some(Line::Weights) => {
            let value = ["        const float value = row[a];\n", to_sum(outputs)].concat();
            let body = predict(BODY, outputs, zero).replace("KERNEL", &value);
            if outputs == 1 { body.replace("int i, a;", "int a;") } else { body }
        }
        Some(Line::Coordinates) => {
            let count = if outputs == 1 { "" } else { "    int i;\n" };
            let body = COORDINATES.replace("    SUM;\n", count);
            predict(&body, outputs, ["float", "0.0f", "row[i]"]).replace("* sum;", "* row[0];")
        }
    }
}

/// Return the body of the loop over the landmarks.
fn kernel(kernel: ChosenKernel<f32>, outputs: usize) -> String {
    let (about, number, degree) = kernel.stored();
    let total = match about.argument {
        Argument::SquaredDistance => SQUARES,
        Argument::L1Distance => MAGNITUDES,
        Argument::InnerProduct => DOT,
    };
    let value = about.c.replace("NUMBER", &float(number)).replace("DEGREE", &degree.to_string());
    [total, &value, to_sum(outputs)].concat()
}

/// Return the lines that add the kernel value of a landmark.
fn to_sum(outputs: usize) -> &'static str {
    if outputs == 1 { "        sum += name_weights[a] * value;\n" } else { TO_EACH }
}

/// The pragmas that keep a compiler from fusing multiply-adds: gcc ignores the standard one, and outside its
/// ISO modes fuses by default. And a cast that C++ takes for one of its own.
pub(crate) const EXACT: &str = r#"
/* Each product and each sum is rounded by itself, as in the core. */
#ifdef __FAST_MATH__
#error "compile this header without -ffast-math: it changes the predictions"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

#ifdef __cplusplus
#define NAME_AS(type, value) static_cast<type>(value)
#else
#define NAME_AS(type, value) ((type)(value))
#endif
"#;

/// Bits and numbers. `memcpy` is the one way that both C and C++ define, and compiles to a move.
pub(crate) const FLOATS: &str = "
static inline uint32_t name_bits(float value)
{
    uint32_t bits;

    (void)memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float name_float(uint32_t bits)
{
    float value;

    (void)memcpy(&value, &bits, sizeof value);
    return value;
}

static inline bool name_is_finite(float value)
{
    return (name_bits(value) & UINT32_C(0x7f800000)) != UINT32_C(0x7f800000);
}
";

/// [`dpp_nystrom_core::Scalar::exp`] in `f32`; its constants are in the core's `scalar/exponential.rs`.
const EXPONENTIAL: &str = "
/* exp(x) in the core's arithmetic: x = n ln 2 + r, with ln 2 in two parts, and a polynomial in r. */
static inline float name_exp(float x)
{
    const float rounded = x * 1.442695f + 12582912.0f;
    const float n = rounded - 12582912.0f;
    const float above = x - n * 0.69335938f;
    const float r = above - n * -2.1219444e-4f;
    const float q =
        (((1.3814565e-3f * r + 8.368731e-3f) * r + 4.166839e-2f) * r + 1.6666521e-1f) * r + 4.9999994e-1f;
    const float fraction = 1.0f + (r + r * r * q);
    uint32_t whole, half;

    if (name_bits(rounded) - (UINT32_C(0x4b400000) - 125u) <= 252u) {
        return name_float(name_bits(fraction) + (name_bits(rounded) << 23));
    }
    if (x > 89.0f) {
        return name_float(UINT32_C(0x7f800000));
    }
    if (x < -104.0f) {
        return 0.0f;
    }
    if (!name_is_finite(x)) {
        return x;
    }
    /* Scaled in two steps, each by a normal number: the last product alone rounds. n + 256 is positive. */
    whole = name_bits(rounded) - (UINT32_C(0x4b400000) - 256u);
    half = whole >> 1;
    return fraction * name_float((half - 1u) << 23) * name_float((whole - half - 1u) << 23);
}
";

/// The prediction, around the kernel.
const BODY: &str = "
/* The WHAT for one raw row; NaN where a feature is NaN or infinite. */
static inline SIGNATURE
{
    float row[NAME_WIDTH];
    SUM;
    int i, a;

    if (!name_standardise(x, row)) {
        REFUSE;
    }
    for (a = 0; a < NAME_LANDMARKS; a++) {
KERNEL    }
    RESULT;
}
";

const LANDMARK: &str = "        const float *landmark = &name_landmarks[a * NAME_WIDTH];
";

/// The prediction where each output is a coordinate of the row.
const COORDINATES: &str = "
/* The WHAT for one raw row; NaN where a feature is NaN or infinite. */
static inline SIGNATURE
{
    float row[NAME_WIDTH];
    SUM;

    if (!name_standardise(x, row)) {
        REFUSE;
    }
    RESULT;
}
";

/// A scale for each feature.
const SCALE_EACH: &str = "
/* Each feature less its mean, times its scale; false where a feature is NaN or infinite. */
static inline bool name_standardise(const float *x, float *row)
{
    int i;

    for (i = 0; i < NAME_FEATURES; i++) {
        row[i] = (x[i] - name_means[i]) * name_scales[i];
        if (!name_is_finite(x[i]) || !name_is_finite(row[i])) {
            return false;
        }
    }
    return true;
}
";

/// A map. A sum that is not finite remains so.
const MAP: &str = "
/* The map of the features less their means; false where a feature is NaN or infinite. */
static inline bool name_standardise(const float *x, float *row)
{
    int i, a;

    for (a = 0; a < NAME_WIDTH; a++) {
        row[a] = 0.0f;
        for (i = 0; i < NAME_FEATURES; i++) {
            row[a] += name_map[a * NAME_FEATURES + i] * (x[i] - name_means[i]);
        }
        if (!name_is_finite(row[a])) {
            return false;
        }
    }
    return true;
}
";

/// Clipped features, and a map of them.
fn clip(mapped: bool) -> String {
    match mapped {
        false => CLIP
            .replace("CLEAR", "")
            .replace("STORE", "        row[i] = value;\n")
            .replace("int i, a;", "int i;"),
        true => CLIP.replace("CLEAR", CLEAR).replace("STORE", TO_COORDINATES),
    }
}

const CLIP: &str = "
/* Each feature less its mean, times its scale, clipped smoothly; false where a feature is NaN or infinite. */
static inline bool name_standardise(const float *x, float *row)
{
    int i, a;

CLEAR    for (i = 0; i < NAME_FEATURES; i++) {
        const float standard = (x[i] - name_means[i]) * name_scales[i];
        const float share = standard * name_inverse_bounds[i];
        const float size = (share < 0.0f) ? -share : share;
        /* Beyond 2^23, 1 is lost in the sum. */
        const float divisor = (size > 8388608.0f) ? size : sqrtf(1.0f + share * share);
        const float value = standard / divisor;

        if (!name_is_finite(x[i]) || !name_is_finite(standard) || !name_is_finite(share)) {
            return false;
        }
STORE    }
    return true;
}
";

const CLEAR: &str = "    for (a = 0; a < NAME_WIDTH; a++) {
        row[a] = 0.0f;
    }
";

const TO_COORDINATES: &str = "        for (a = 0; a < NAME_WIDTH; a++) {
            row[a] += name_map[a * NAME_FEATURES + i] * value;
            if (!name_is_finite(row[a])) {
                return false;
            }
        }
";

/// The sums of several outputs.
pub(crate) const TO_EACH: &str = "        for (i = 0; i < NAME_OUTPUTS; i++) {
            sums[i] += name_weights[i * NAME_LANDMARKS + a] * value;
        }
";

pub(crate) const END: &str = "
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#else
#pragma STDC FP_CONTRACT DEFAULT
#endif

#endif
";

const NEAREST: &str = "
/* The distance to the nearest landmark, in DISTANCES; NaN where a feature is NaN or infinite. A half, a
   tenth and a hundredth of rows like those of the training exceed name_nearest_limits. */
static inline float name_nearest(const float *x)
{
    float row[NAME_WIDTH];
    float least = name_float(UINT32_C(0x7f800000));
    int i, a;

    if (!name_standardise(x, row)) {
        return name_float(UINT32_C(0x7fc00000));
    }
    for (a = 0; a < NAME_LANDMARKS; a++) {
        const float *landmark = &name_landmarks[a * NAME_WIDTH];
        float total = 0.0f;

        for (i = 0; i < NAME_WIDTH; i++) {
            const float difference = landmark[i] - row[i];
            total += difference * difference;
        }
        least = (total < least) ? total : least;
    }
    return sqrtf(least);
}
";

const CLAMP: &str = "
/* The prediction, or the end of the training range that it is beyond. */
static inline float name_clamp(float y)
{
    return (y < name_range[0]) ? name_range[0] : ((y > name_range[1]) ? name_range[1] : y);
}
";

const CLASSIFY: &str = "
/* The class with the largest output, from 0, and by how much it exceeds the second; -1 where an output is not finite. */
static inline int name_classify(const float *x, float *y, float *margin)
{
    float best, next;
    int i, class_ = 0;

    name_predict(x, y);
    *margin = 0.0f;
    for (i = 0; i < NAME_OUTPUTS; i++) {
        if (!name_is_finite(y[i])) {
            return -1;
        }
    }
    if (y[1] > y[0]) {
        class_ = 1;
    }
    best = y[class_];
    next = y[1 - class_];
    for (i = 2; i < NAME_OUTPUTS; i++) {
        if (y[i] > best) {
            next = best;
            best = y[i];
            class_ = i;
        } else if (y[i] > next) {
            next = y[i];
        } else {
            /* Neither the largest nor the second. */
        }
    }
    *margin = best - next;
    return class_;
}
";

/// A squared distance.
const SQUARES: &str = "        float total = 0.0f;

        for (i = 0; i < NAME_WIDTH; i++) {
            const float difference = landmark[i] - row[i];
            total += difference * difference;
        }
";

/// An L1 distance.
const MAGNITUDES: &str = "        float total = 0.0f;

        for (i = 0; i < NAME_WIDTH; i++) {
            const float difference = landmark[i] - row[i];
            total += (difference < 0.0f) ? -difference : difference;
        }
";

/// An inner product in four interleaved sums, and the rest.
const DOT: &str = "        float parts[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float total;

        for (i = 0; i + 4 <= NAME_WIDTH; i += 4) {
            parts[0] += landmark[i] * row[i];
            parts[1] += landmark[i + 1] * row[i + 1];
            parts[2] += landmark[i + 2] * row[i + 2];
            parts[3] += landmark[i + 3] * row[i + 3];
        }
        total = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        for (; i < NAME_WIDTH; i++) {
            total += landmark[i] * row[i];
        }
";

/// Format a C `float` literal: the shortest text that parses to the same bits.
pub(crate) fn float(value: f32) -> String {
    format!("{value:?}f")
}

/// Append a constant array, each of whose values ends with `suffix`.
pub(crate) fn write_array<T: Debug>(
    text: &mut String,
    kind: &str,
    name: &Name,
    array: &str,
    values: &[T],
    suffix: &str,
) {
    let rows = lines(values, suffix);
    // A comma after the last value is valid C99, but looks like a mistake.
    let (rows, name, len) = (rows.trim_end_matches(','), name.as_str(), values.len());
    let _ = write!(text, "\nstatic const {kind} {name}_{array}[{len}] = {{\n{rows}\n}};\n");
}
