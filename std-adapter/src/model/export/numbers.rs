//! Arrays and comments as text.

use crate::model::export::{bundle::Bundle, exported::Parts, name::remark};
use crate::model::trained::AnyCoefficients;
use std::fmt::Debug;

/// Maximum line width.
const LINE: usize = 100;

/// Format values, each followed by `suffix` and a comma, in indented lines.
pub(crate) fn lines<T: Debug>(values: &[T], suffix: &str) -> String {
    let mut text = String::new();
    let mut length = 0;
    for value in values {
        let number = format!("{value:?}{suffix},");
        if length > 0 && length + number.len() + 1 > LINE {
            text.push('\n');
            length = 0;
        }
        let before = if length == 0 { "    " } else { " " };
        text.extend([before, &number]);
        length += before.len() + number.len();
    }
    text
}

/// Describe the file with so many bytes of constants, one line each.
pub(crate) fn about(bundle: &Bundle<'_>, bytes: usize) -> Vec<String> {
    let (exported, model) = (&bundle.first, bundle.model);
    let precision = match model.coefficients {
        AnyCoefficients::F32(_) => "single",
        AnyCoefficients::F64(_) => "double",
    };
    let stored = match &exported.0 {
        Parts::Single(_) => "single precision",
        Parts::Bits16(_) => "integers, 16-bit landmarks",
        Parts::Bits8(_) => "integers, 8-bit landmarks",
    };
    let shape = format!(
        "{} landmarks{}{}, {} kernel:",
        exported.landmarks(),
        if exported.is_clipped() { ", clipped features" } else { "" },
        exported.rank().map_or(String::new(), |rank| format!(", a map of rank {rank}")),
        remark(&model.kernel.kind.to_string())
    );
    let sizes = format!("{bytes} bytes of constants, {} bytes of RAM for the row.", bundle.ram_bytes());
    let between = if shape.len() + sizes.len() < LINE { " " } else { "\n" };
    let mut lines = vec![
        format!("Written by dpp-nystrom {}: do not edit, export again.", env!("CARGO_PKG_VERSION")),
        String::new(),
        match bundle.targets[..] {
            [target] => format!(
                "Predicts {} from a raw row of {} features, in the target's own units.",
                remark(target),
                exported.features()
            ),
            _ => format!("Predicts the outputs below from a raw row of {} features.", exported.features()),
        },
        format!(
            "Trained on {} rows of {} in {precision} precision; here in {stored}.",
            model.trained_rows,
            remark(&model.trained_on)
        ),
    ];
    lines.extend([&shape, between, &sizes].concat().lines().map(str::to_owned));
    lines.extend([String::new(), "Features, in order:".to_owned()]);
    if model.recipe().gaps().iter().any(Option::is_some) {
        lines.push(
            "(Of a feature name=word write 1 if the column has this word, and 0 if it has another."
                .to_owned(),
        );
        lines.push("The caller writes the value that is given for one that is missing.)".to_owned());
    }
    let numbered = |(i, name): (usize, &str)| format!("{i:>5}  {}", remark(name));
    let gaps = model.recipe().gaps();
    let with_gap = |(i, name): (usize, &String)| match gaps.get(i).copied().flatten() {
        Some(value) => format!("{}, {} where the value is missing", numbered((i, name)), value as f32),
        None => numbered((i, name)),
    };
    lines.extend(model.feature_names.iter().enumerate().map(with_gap));
    if bundle.targets.len() > 1 {
        lines.extend([String::new(), "Outputs, in order:".to_owned()]);
        lines.extend(bundle.targets.iter().copied().enumerate().map(numbered));
    }
    lines
}
