//! A model in single precision as a C99 header: one function and constant data; its only dependency is `expf`.
//!
//! Sums have the order of the core's, except in the inner-product kernels. `expf` is the C library's, and a
//! compiler may fuse multiply-adds if allowed to. So a prediction differs from the core's by rounding.

use crate::model::export::numbers::{about, lines};
use crate::model::{export::exported::Exported, export::name::Name, export::single::Single, trained::Model};
use dpp_nystrom_core::kernel::ChosenKernel;
use std::fmt::{Debug, Write};

/// Return the header's text.
pub(crate) fn text(single: &Single, exported: &Exported, model: &Model, name: &Name) -> String {
    let includes = match single.kernel {
        ChosenKernel::Gaussian(_) | ChosenKernel::Laplace(_) => "#include <math.h>\n\n",
        ChosenKernel::Matern32(_) | ChosenKernel::Matern52(_) => "#include <math.h>\n#include <stdint.h>\n\n",
        ChosenKernel::Polynomial(_) | ChosenKernel::Linear(_) => "",
    };
    let mut text = head(exported, model, name, includes);
    for (array, values) in [
        ("means", &single.means),
        ("scales", &single.scales),
        ("landmarks", &single.landmarks),
        ("weights", &single.weights),
    ] {
        write_array(&mut text, "float", name, array, values, "f");
    }
    // Names are replaced last, because one may contain another placeholder.
    let body = BODY
        .replace("KERNEL", &kernel(single.kernel))
        .replace("MEAN", &float(single.target_mean))
        .replace("SCALE", &float(single.target_scale));
    if matches!(single.kernel, ChosenKernel::Matern32(_) | ChosenKernel::Matern52(_)) {
        text.push_str(&named(ROOT, name));
    }
    text.push_str(&named(&body, name));
    text
}

/// Replace `NAME` and `name` in a template.
pub(crate) fn named(template: &str, name: &Name) -> String {
    template.replace("NAME", &name.capitals()).replace("name", name.as_str())
}

/// Return the comments, the include guard, the includes and the two sizes.
pub(crate) fn head(exported: &Exported, model: &Model, name: &Name, includes: &str) -> String {
    let (small, big) = (name.as_str(), name.capitals());
    let mut text = String::from("/*\n");
    for line in about(exported, model) {
        let _ = writeln!(text, "{}", format!(" * {line}").trim_end());
    }
    let _ = write!(
        text,
        " *\n * C99. Call it as: float y = {small}_predict(row);\n */\n\
         #ifndef DPP_NYSTROM_{big}_H\n#define DPP_NYSTROM_{big}_H\n\n{includes}\
         #define {big}_FEATURES {}\n#define {big}_LANDMARKS {}\n",
        exported.features(),
        exported.landmarks()
    );
    text
}

/// Return the body of the loop over the landmarks.
fn kernel(kernel: ChosenKernel<f32>) -> String {
    const DIFFERENCE: &str = "            const float difference = landmark[i] - row[i];\n";
    let total = |declarations: &str, terms: &str| {
        format!("{declarations}        for (i = 0; i < NAME_FEATURES; i++) {{\n{terms}        }}\n")
    };
    let zero = "        float total = 0.0f;\n";
    let squares = format!("{DIFFERENCE}            total += difference * difference;\n");
    let products = "            total += landmark[i] * row[i];\n";
    let sum = |value: String| format!("        sum += name_weights[a] * {value};\n");
    let matern = |rate: f32, polynomial: &str| {
        let declarations = format!("        float scaled, decay;\n{zero}");
        let decay = format!(
            "        scaled = name_root(total) * {};\n        decay = expf(-scaled);\n\
             \x20       /* Zero times the infinite polynomial of a far row is no number. */\n",
            float(rate)
        );
        let value = format!("(decay > 0.0f ? ({polynomial}) * decay : decay)");
        total(&declarations, &squares) + &decay + &sum(value)
    };
    match kernel {
        ChosenKernel::Gaussian(kernel) => {
            total(zero, &squares) + &sum(format!("expf(total * {})", float(kernel.exponent())))
        }
        ChosenKernel::Laplace(kernel) => {
            let size = "            total += difference < 0.0f ? -difference : difference;\n";
            let value = format!("expf(-total * {})", float(kernel.rate()));
            total(zero, &format!("{DIFFERENCE}{size}")) + &sum(value)
        }
        ChosenKernel::Matern32(kernel) => matern(kernel.rate(), "1.0f + scaled"),
        ChosenKernel::Matern52(kernel) => matern(kernel.rate(), "1.0f + scaled + scaled * scaled / 3.0f"),
        ChosenKernel::Polynomial(kernel) => {
            let left = format!("        unsigned long left = {}ul;\n", kernel.degree());
            let declarations = format!("{zero}        float power = 1.0f;\n{left}");
            let power = POWER.replace("OFFSET", &float(kernel.offset()));
            total(&declarations, products) + &power + &sum("power".to_owned())
        }
        ChosenKernel::Linear(_) => total(zero, products) + &sum("total".to_owned()),
    }
}

/// The prediction, around the kernel.
const BODY: &str = "
/* The prediction for one raw row; not a number where a feature is none. */
static inline float name_predict(const float *x)
{
    float row[NAME_FEATURES];
    const float *landmark = name_landmarks;
    float sum = 0.0f;
    int i, a;

    for (i = 0; i < NAME_FEATURES; i++) {
        row[i] = (x[i] - name_means[i]) * name_scales[i];
    }
    for (a = 0; a < NAME_LANDMARKS; a++) {
KERNEL        landmark += NAME_FEATURES;
    }
    return MEAN + SCALE * sum;
}

#endif
";

/// A power by repeated squaring.
const POWER: &str = "        total += OFFSET;
        while (left > 0) {
            if (left % 2 == 1) {
                power *= total;
            }
            total *= total;
            left /= 2;
        }
";

/// A square root without the mathematics library: half the exponent as first guess, then Newton's iteration.
const ROOT: &str = "
/* The square root, to a unit in the last place. */
static inline float name_root(float square)
{
    union {
        float value;
        uint32_t bits;
    } guess;
    int step;

    if (!(square > 1e-37f)) {
        /* Under this, values lose digits; not a number stays one. */
        return square < 0.0f || square >= 0.0f ? 0.0f : square;
    }
    if (square > 3e38f) {
        return square;
    }
    guess.value = square;
    guess.bits = UINT32_C(0x1fbd1df5) + (guess.bits >> 1);
    for (step = 0; step < 3; step++) {
        guess.value = 0.5f * (guess.value + square / guess.value);
    }
    return guess.value;
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
