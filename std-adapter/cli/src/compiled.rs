//! What a compiler for microcontrollers makes of an exported C header.

use crate::output::note;
use dpp_nystrom::model::export::Name;
use serde::Serialize;
use std::process::Command;
use std::{fs, io, path::Path};

const COMPILER: &str = "arm-none-eabi-gcc";
const OPTIONS: [&str; 9] = [
    "-std=c99",
    "-Os",
    "-mcpu=cortex-m4",
    "-mthumb",
    "-mfloat-abi=hard",
    "-mfpu=fpv4-sp-d16",
    "-fstack-usage",
    "-c",
    "model.c",
];

/// The sizes of a header compiled for a Cortex-M4F with `-Os`.
#[derive(Serialize)]
pub(crate) struct Compiled {
    compiler: &'static str,
    /// Code and constants.
    pub(crate) flash_bytes: usize,
    /// The frames of all its functions, which is at least the deepest chain of calls.
    pub(crate) stack_bytes: usize,
}

/// Compile the function of a header that predicts, or returns the class, if the compiler is installed; note
/// it if the compiler fails.
pub(crate) fn compiled(header: &[u8], name: &Name, outputs: usize, classes: bool) -> Option<Compiled> {
    match sizes(header, name, outputs, classes) {
        Ok(sizes) => Some(sizes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            note(&format!("warning: the sizes on a Cortex-M4F are not known: {COMPILER}: {error}"));
            None
        }
    }
}

fn sizes(header: &[u8], name: &Name, outputs: usize, classes: bool) -> io::Result<Compiled> {
    let folder = tempfile::tempdir()?;
    let name = name.as_str();
    let (declared, call) = match (outputs, classes) {
        (1, _) => ("float predict(const float *x)", format!("return {name}_predict(x)")),
        (_, false) => ("void predict(const float *x, float *y)", format!("{name}_predict(x, y)")),
        (_, true) => (
            "int predict(const float *x, float *y, float *margin)",
            format!("return {name}_classify(x, y, margin)"),
        ),
    };
    let call = format!("#include \"model.h\"\n{declared};\n{declared} {{ {call}; }}\n");
    fs::write(folder.path().join("model.h"), header)?;
    fs::write(folder.path().join("model.c"), call)?;
    run(folder.path(), COMPILER, &OPTIONS)?;
    // Berkeley's format: a line of titles, then text, data and bss.
    let size = run(folder.path(), "arm-none-eabi-size", &["model.o"])?;
    let number = |text: Option<&str>| {
        text.and_then(|text| text.parse::<usize>().ok()).ok_or(io::Error::other("unexpected output"))
    };
    let mut fields = size.lines().nth(1).unwrap_or_default().split_whitespace();
    let flash_bytes = number(fields.next())? + number(fields.next())?;
    let frames = fs::read_to_string(folder.path().join("model.su"))?;
    let frames = frames.lines().map(|line| number(line.split('\t').nth(1)));
    Ok(Compiled { compiler: COMPILER, flash_bytes, stack_bytes: frames.sum::<io::Result<usize>>()? })
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(message.lines().next().unwrap_or("failed").to_owned()))
}
