//! A model in single precision as a C99 header: one function and constant data; its only dependency is `expf`.
//!
//! Sums have the order of the core's, except in the inner-product kernels. `expf` is the C library's, and a
//! compiler may fuse multiply-adds if allowed to. So a prediction differs from the core's by rounding.

use crate::model::export::exported::Exported;
use crate::model::export::name::Name;
use crate::model::export::numbers::{about, lines};
use crate::model::export::single::{Single, SingleKernel};
use crate::model::trained::Model;
use std::fmt::{Debug, Write};

/// Return the header's text.
pub(crate) fn text(single: &Single, exported: &Exported, model: &Model, name: &Name) -> String {
    let (small, big) = (name.as_str(), name.capitals());
    let (d, c) = (single.means.len(), single.weights.len());
    let includes = match single.kernel {
        SingleKernel::Gaussian(_) | SingleKernel::Laplace(_) => "#include <math.h>\n\n",
        SingleKernel::Matern32(_) | SingleKernel::Matern52(_) => "#include <math.h>\n#include <stdint.h>\n\n",
        SingleKernel::Polynomial(..) | SingleKernel::Linear => "",
    };
    let mut text = head(exported, model, name, includes);
    for (array, values) in [("means", &single.means), ("scales", &single.scales)] {
        write_array(&mut text, "float", &format!("{small}_{array}[{d}]"), values.iter().map(float));
    }
    let landmarks = format!("{small}_landmarks[{}]", c * d);
    write_array(&mut text, "float", &landmarks, single.landmarks.iter().map(float));
    write_array(&mut text, "float", &format!("{small}_weights[{c}]"), single.weights.iter().map(float));
    if matches!(single.kernel, SingleKernel::Matern32(_) | SingleKernel::Matern52(_)) {
        text.push_str(&ROOT.replace("NAME", small));
    }
    let kernel = kernel(single.kernel, small);
    let _ = write!(
        text,
        "\n/* The prediction for one raw row; not a number where a feature is none. */\n\
         static inline float {small}_predict(const float *x)\n\
         {{\n\
         \x20   float row[{big}_FEATURES];\n\
         \x20   const float *landmark = {small}_landmarks;\n\
         \x20   float sum = 0.0f;\n\
         \x20   int i, a;\n\
         \n\
         \x20   for (i = 0; i < {big}_FEATURES; i++) {{\n\
         \x20       row[i] = (x[i] - {small}_means[i]) * {small}_scales[i];\n\
         \x20   }}\n\
         \x20   for (a = 0; a < {big}_LANDMARKS; a++) {{\n\
         {kernel}\
         \x20       landmark += {big}_FEATURES;\n\
         \x20   }}\n\
         \x20   return {} + {} * sum;\n\
         }}\n\n#endif\n",
        float(&single.target_mean),
        float(&single.target_scale)
    );
    text
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
fn kernel(kernel: SingleKernel, small: &str) -> String {
    let sum = |term: &str, declare: &str| {
        format!(
            "        float total = 0.0f;\n{declare}\
             \x20       for (i = 0; i < NAME_FEATURES; i++) {{\n{term}        }}\n"
        )
    };
    let difference = "            const float difference = landmark[i] - row[i];\n";
    let squares = sum(&format!("{difference}            total += difference * difference;\n"), "");
    let body = match kernel {
        SingleKernel::Gaussian(exponent) => {
            format!("{squares}        sum += {small}_weights[a] * expf(total * {});\n", float(&exponent))
        }
        SingleKernel::Laplace(rate) => {
            let sizes =
                format!("{difference}            total += difference < 0.0f ? -difference : difference;\n");
            format!(
                "{}        sum += {small}_weights[a] * expf(-total * {});\n",
                sum(&sizes, ""),
                float(&rate)
            )
        }
        SingleKernel::Matern32(rate) => matern(&squares, small, rate, "1.0f + scaled"),
        SingleKernel::Matern52(rate) => {
            matern(&squares, small, rate, "1.0f + scaled + scaled * scaled / 3.0f")
        }
        SingleKernel::Polynomial(degree, offset) => format!(
            "{}\
             \x20       total += {};\n\
             \x20       while (left > 0) {{\n\
             \x20           if (left % 2 == 1) {{\n\
             \x20               power *= total;\n\
             \x20           }}\n\
             \x20           total *= total;\n\
             \x20           left /= 2;\n\
             \x20       }}\n\
             \x20       sum += {small}_weights[a] * power;\n",
            sum(
                "            total += landmark[i] * row[i];\n",
                &format!("        float power = 1.0f;\n        unsigned long left = {degree}ul;\n")
            ),
            float(&offset)
        ),
        SingleKernel::Linear => format!(
            "{}        sum += {small}_weights[a] * total;\n",
            sum("            total += landmark[i] * row[i];\n", "")
        ),
    };
    body.replace("NAME_FEATURES", &format!("{}_FEATURES", small.to_ascii_uppercase()))
}

fn matern(squares: &str, small: &str, rate: f32, polynomial: &str) -> String {
    format!(
        "        float scaled, decay;\n{squares}\
         \x20       scaled = {small}_root(total) * {};\n\
         \x20       decay = expf(-scaled);\n\
         \x20       /* Zero times the infinite polynomial of a far row is no number. */\n\
         \x20       sum += {small}_weights[a] * (decay > 0.0f ? ({polynomial}) * decay : decay);\n",
        float(&rate)
    )
}

/// A square root without the mathematics library: half the exponent as first guess, then Newton's iteration.
const ROOT: &str = "
/* The square root, to a unit in the last place. */
static inline float NAME_root(float square)
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
pub(crate) fn float(value: &f32) -> String {
    format!("{value:?}f")
}

/// Append a constant array.
pub(crate) fn write_array(
    text: &mut String,
    kind: &str,
    declarator: &str,
    values: impl Iterator<Item = impl ToString + Debug>,
) {
    let rows = lines("    ", values.map(|number| number.to_string()));
    // A comma after the last value is valid C99, but looks like a mistake.
    let rows = rows.trim_end_matches(',');
    let _ = write!(text, "\nstatic const {kind} {declarator} = {{\n{rows}\n}};\n");
}
