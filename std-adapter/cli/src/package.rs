//! An exported C header as a library for a framework of firmware: a folder with a manifest, the header, and
//! an example that predicts one row.
//!
//! The layouts are published: Arduino's library specification (revision 2.2), PlatformIO's `library.json`,
//! Zephyr's modules (`zephyr/module.yml`), and components of ESP-IDF (`idf_component.yml`). The library and
//! the header are called after the model with `_model`, so that no header of a system has their name.

use crate::error::Error;
use dpp_nystrom::Model;
use dpp_nystrom::model::export::{Exported, Name};
use dpp_nystrom_options::Choice;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// A framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Package {
    Arduino,
    PlatformIo,
    Zephyr,
    EspIdf,
}

pub(crate) const PACKAGES: [Choice<Package>; 4] = [
    ("arduino", "A library of the Arduino IDE", Package::Arduino),
    ("platformio", "A library of PlatformIO", Package::PlatformIo),
    ("zephyr", "A module of Zephyr", Package::Zephyr),
    ("esp-idf", "A component of ESP-IDF", Package::EspIdf),
];

/// The version of a model whose file does not name one.
const VERSION: &str = "0.1.0";

/// The longest name of a library that all registries take.
const LONGEST: usize = 50;

/// The name and the version of a library.
#[derive(Debug, Serialize)]
pub(crate) struct Library {
    /// The prefix of the identifiers in the header.
    #[serde(skip)]
    pub(crate) name: Name,
    /// The name of the library and of its header.
    pub(crate) library: String,
    pub(crate) version: String,
}

impl Library {
    /// Return those of a model: `houses-1.2.0.dpp` is version 1.2.0 of `houses_model`. A name of one's own
    /// is taken as it is, or refused.
    pub(crate) fn of(model: &Path, wish: Option<&str>) -> Result<Self, Error> {
        let stem = model.file_stem().unwrap_or_default().to_string_lossy();
        let (stem, version) = match stem.rsplit_once('-').filter(|(_, version)| is_version(version)) {
            Some((stem, version)) => (stem, version),
            None => (&*stem, VERSION),
        };
        let name = Name::new(wish.unwrap_or(stem));
        let library = match name.as_str() {
            name if name.ends_with("model") => name.to_owned(),
            name => format!("{name}_model"),
        };
        match wish.filter(|wish| *wish != name.as_str()) {
            None if library.len() <= LONGEST => Ok(Self { name, library, version: version.to_owned() }),
            wish => Err(Error::PackageName(wish.unwrap_or(name.as_str()).to_owned())),
        }
    }
}

/// Whether this is the number of a release by semantic versioning: three numbers without leading zeros.
fn is_version(text: &str) -> bool {
    let is_number = |part: &str| {
        let digits = (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        digits && (part == "0" || !part.starts_with('0'))
    };
    text.split('.').count() == 3 && text.split('.').all(is_number)
}

/// What the example of a library shows.
pub(crate) struct Shown<'a> {
    header: &'a [u8],
    /// The names of the features, and a raw row.
    features: &'a [String],
    row: &'a [f32],
    /// What each output is called, and what a device predicts for the row.
    outputs: Vec<&'a str>,
    expected: Vec<f32>,
    /// Whether the outputs are classes.
    classes: bool,
}

impl<'a> Shown<'a> {
    /// Predict a row with each output, in the numbers of an export.
    pub(crate) fn of(
        header: &'a [u8],
        model: &'a Model,
        outputs: &'a [Model],
        exported: &Exported,
        row: &'a [f32],
    ) -> Result<Self, Error> {
        let predict = |output| Exported::of(output, exported.bits())?.predict_row(row);
        Ok(Self {
            header,
            features: &model.feature_names,
            row,
            outputs: outputs.iter().map(|output| output.target_name.as_str()).collect(),
            expected: outputs.iter().map(predict).collect::<Result<_, _>>()?,
            classes: model.classifier.is_some(),
        })
    }
}

impl Package {
    /// Return the files of a library, by their paths in its folder.
    pub(crate) fn files(self, library: &Library, shown: &Shown<'_>) -> Vec<(String, Vec<u8>)> {
        let (header, others): (&str, &[(&str, &str)]) = match self {
            Self::Arduino => (
                "src/{lib}.h",
                &[("library.properties", PROPERTIES), ("examples/predict/predict.ino", SKETCH)],
            ),
            Self::PlatformIo => (
                "include/{lib}.h",
                &[
                    ("library.json", LIBRARY_JSON),
                    ("examples/predict/platformio.ini", PLATFORMIO_INI),
                    ("examples/predict/src/main.cpp", SKETCH),
                ],
            ),
            Self::Zephyr => (
                "include/{lib}.h",
                &[
                    ("zephyr/module.yml", MODULE_YML),
                    ("CMakeLists.txt", ZEPHYR_CMAKE),
                    ("Kconfig", KCONFIG),
                    ("samples/predict/CMakeLists.txt", SAMPLE_CMAKE),
                    ("samples/predict/prj.conf", PRJ_CONF),
                    ("samples/predict/sample.yaml", SAMPLE_YAML),
                    ("samples/predict/src/main.c", MAIN_C),
                ],
            ),
            Self::EspIdf => (
                "include/{lib}.h",
                &[
                    ("idf_component.yml", COMPONENT_YML),
                    ("CMakeLists.txt", "idf_component_register(INCLUDE_DIRS \"include\")\n"),
                    ("examples/predict/CMakeLists.txt", PROJECT_CMAKE),
                    ("examples/predict/main/CMakeLists.txt", "idf_component_register(SRCS \"main.c\")\n"),
                    ("examples/predict/main/idf_component.yml", EXAMPLE_YML),
                    ("examples/predict/main/main.c", MAIN_C),
                ],
            ),
        };
        let fill = self.filling(library, shown);
        let filled = |(path, text): &(&str, &str)| ((*path).to_owned(), fill(text).into_bytes());
        let mut files: Vec<_> = others.iter().map(filled).collect();
        files.push(("README.md".to_owned(), fill(README).into_bytes()));
        files.push((fill(header), shown.header.to_vec()));
        files
    }

    /// Return what fills in a template.
    fn filling(self, library: &Library, shown: &Shown<'_>) -> impl Fn(&str) -> String {
        let (use_it, main, print) = match self {
            Self::Arduino | Self::PlatformIo => (
                if self == Self::Arduino { USE_ARDUINO } else { USE_PLATFORMIO },
                "",
                "Serial.print(\"class \");\n    Serial.println(found);",
            ),
            Self::Zephyr => (USE_ZEPHYR, "int main(void)", "printk(\"class %d\\n\", found);"),
            Self::EspIdf => (USE_ESP_IDF, "void app_main(void)", "printf(\"class %d\\n\", found);"),
        };
        let call = match (shown.classes, shown.outputs.len()) {
            (true, _) => CLASSIFY.replace("{print}", print),
            (false, 1) => "    y[0] = {name}_predict(row);".to_owned(),
            (false, _) => "    {name}_predict(row, y);".to_owned(),
        };
        let about = match shown.outputs[..] {
            [output] => inert(output),
            _ => format!("{} outputs", shown.outputs.len()),
        };
        let numbers = |numbers: &[f32], names: &mut dyn Iterator<Item = &str>| {
            numbers.iter().zip(names).fold(String::new(), |mut lines, (number, name)| {
                let _ = write!(lines, "\n    {number:?}f, // {}", inert(name));
                lines
            })
        };
        // First what contains placeholders.
        let values = [
            ("{data}", DATA.to_owned()),
            ("{use}", use_it.to_owned()),
            ("{main}", main.to_owned()),
            ("{end}", if self == Self::Zephyr { "    return 0;\n" } else { "" }.to_owned()),
            (
                "{include}",
                if self == Self::Zephyr { ZEPHYR_INCLUDES } else { "#include <stdio.h>" }.to_owned(),
            ),
            ("{printf}", if self == Self::Zephyr { "printk" } else { "printf" }.to_owned()),
            ("{call}", call),
            ("{lib}", library.library.clone()),
            ("{LIB}", library.library.to_ascii_uppercase()),
            ("{name}", library.name.as_str().to_owned()),
            ("{NAME}", library.name.capitals()),
            ("{version}", library.version.clone()),
            ("{program}", env!("CARGO_PKG_VERSION").to_owned()),
            ("{features}", shown.features.len().to_string()),
            ("{row}", numbers(shown.row, &mut shown.features.iter().map(String::as_str))),
            ("{expected}", numbers(&shown.expected, &mut shown.outputs.iter().copied())),
            ("{about}", about),
        ];
        move |text| values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// Keep of a name in a model what no manifest and no comment reads as its own.
fn inert(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _-.".contains(c);
    name.chars().take(LONGEST).map(|c| if plain(c) { c } else { '_' }).collect::<String>().trim().to_owned()
}

const DATA: &str = "
// A raw row, and what a device predicts for it.
static const float row[{NAME}_FEATURES] = {{row}
};
static const float expected[{NAME}_OUTPUTS] = {{expected}
};
";

const CLASSIFY: &str = "    float margin;
    const int found = {name}_classify(row, y, &margin);

    {print}";

const SKETCH: &str = "// Predicts a row with {lib}, and prints each output beside what it should be.
#include <Arduino.h>
#include <{lib}.h>
{data}
void setup() {
    Serial.begin(115200);
}

void loop() {
    float y[{NAME}_OUTPUTS];

{call}
    for (int i = 0; i < {NAME}_OUTPUTS; i++) {
        Serial.print(y[i], 6);
        Serial.print(\" expected \");
        Serial.println(expected[i], 6);
    }
    delay(5000);
}
";

const MAIN_C: &str = "// Predicts a row with {lib}, and prints each output beside what it should be.
{include}
#include \"{lib}.h\"
{data}
{main}
{
    float y[{NAME}_OUTPUTS];
    int i;

{call}
    for (i = 0; i < {NAME}_OUTPUTS; i++) {
        {printf}(\"%.9g expected %.9g\\n\", (double)y[i], (double)expected[i]);
    }
{end}}
";

const PROPERTIES: &str = "name={lib}
version={version}
author=dpp-nystrom {program}
maintainer=dpp-nystrom {program}
sentence=A trained model that predicts {about} from {features} features.
paragraph=One header without an allocator, written by dpp-nystrom {program}.
category=Data Processing
url=https://arxiv.org/abs/1603.06052
architectures=*
includes={lib}.h
";

const LIBRARY_JSON: &str = r#"{
  "name": "{lib}",
  "version": "{version}",
  "description": "A trained model that predicts {about} from {features} features.",
  "keywords": ["model", "prediction"],
  "headers": "{lib}.h",
  "frameworks": "*",
  "platforms": "*",
  "examples": [
    {
      "name": "predict",
      "base": "examples/predict",
      "files": ["platformio.ini", "src/main.cpp"]
    }
  ]
}
"#;

const PLATFORMIO_INI: &str = "; Any board of 32 bits with the Arduino framework.
[env:predict]
platform = espressif32
board = esp32dev
framework = arduino
monitor_speed = 115200
lib_deps = {lib}=symlink://../..
";

const MODULE_YML: &str = "name: {lib}
build:
  cmake: .
  kconfig: Kconfig
samples:
  - samples
";

const ZEPHYR_CMAKE: &str = "if(CONFIG_{LIB})
  zephyr_include_directories(include)
endif()
";

const KCONFIG: &str = "config {LIB}
	bool \"Model that predicts {about} from {features} features\"
	help
	  One header, {lib}.h, written by dpp-nystrom {program}.
";

const SAMPLE_CMAKE: &str = "cmake_minimum_required(VERSION 3.20.0)

list(APPEND EXTRA_ZEPHYR_MODULES ${CMAKE_CURRENT_SOURCE_DIR}/../..)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project({lib}_predict LANGUAGES C)

target_sources(app PRIVATE src/main.c)
";

const PRJ_CONF: &str = "CONFIG_{LIB}=y
# printk of floating-point numbers.
CONFIG_CBPRINTF_FP_SUPPORT=y
";

const SAMPLE_YAML: &str = "sample:
  name: {lib} predict
tests:
  sample.{lib}.predict:
    integration_platforms:
      - native_sim
    harness: console
    harness_config:
      type: one_line
      regex:
        - \"expected\"
";

const ZEPHYR_INCLUDES: &str = "#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>";

const COMPONENT_YML: &str = "version: \"{version}\"
description: \"A trained model that predicts {about} from {features} features.\"
dependencies:
  idf: \">=5.0\"
";

const PROJECT_CMAKE: &str = "cmake_minimum_required(VERSION 3.16)

include($ENV{IDF_PATH}/tools/cmake/project.cmake)
project({lib}_predict)
";

const EXAMPLE_YML: &str = "dependencies:
  {lib}:
    version: \"*\"
    override_path: ../../../
";

const README: &str = "# {lib} {version}

A trained model that predicts {about} from {features} features, in one header that dpp-nystrom {program} wrote. Its comments
list the features in order. It needs no allocator, and reads its constants where the linker puts them.

{use}

The example predicts a row and prints each output beside what it should be. Before you publish this folder, write your name,
licence and address into the manifest.
";

const USE_ARDUINO: &str = "Put this folder into the folder `libraries` of your sketches, and write `#include <{lib}.h>`. The example is
File > Examples > {lib} > predict. Take a board of 32 bits: on an AVR all constants are copied to RAM.";

const USE_PLATFORMIO: &str = "Write `lib_deps = {lib}=symlink://PATH` with the path of this folder into `platformio.ini`, and
`#include <{lib}.h>`. Build the example with `pio run -d examples/predict`. Take a board of 32 bits: on an AVR all constants are
copied to RAM.";

const USE_ZEPHYR: &str = "Write `list(APPEND EXTRA_ZEPHYR_MODULES PATH)` with the path of this folder before `find_package(Zephyr)`,
`CONFIG_{LIB}=y` into `prj.conf`, and `#include \"{lib}.h\"`. Build the example with `west build -b BOARD samples/predict`.";

const USE_ESP_IDF: &str = "Put this folder into the folder `components` of your project under the name `{lib}`, write `{lib}` into `REQUIRES`
of your component, and `#include \"{lib}.h\"`. Build the example with `idf.py -C examples/predict build`.";
