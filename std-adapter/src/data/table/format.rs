//! The formats of tables.
//!
//! | format | recognised by | names of columns |
//! | --- | --- | --- |
//! | NPY | its first bytes, `.npy` | `x0`, `x1`, ... |
//! | ARFF | `.arff`; without another known ending also a first line with `%` or `@relation` | declared |
//! | JSON lines | `.jsonl`, `.ndjson`; without another known ending also a first `{` | the keys |
//! | XLSX, with the feature `xlsx` | `.xlsx`, `.xlsm`, and the parts of an archive | as for CSV |
//! | LIBSVM | `.libsvm`, `.svm`, or [`Options::libsvm`] | `f1`, `f2`, ... by the index, and `label` |
//! | TSV, CSV | `.tsv`, `.tab`; anything else | first row, if it contains words; otherwise `x0`, `x1`, ... |
//!
//! A new one is a file beside this and an entry of [`ALL`].

use crate::data::table::columns::Want;
use crate::data::table::input::{Input, Origin};
use crate::data::table::options::Options;
use crate::data::table::rows::Rows;
#[cfg(feature = "xlsx")]
use crate::data::table::xlsx;
use crate::data::table::{arff, delimited, json_lines, libsvm, npy};
use crate::error::TableError;

/// A format: how files of it are recognised and read.
pub(crate) struct Format {
    /// Endings of file names, in lower case.
    endings: &'static [&'static str],
    /// Whether a file that begins so has the format.
    begins: fn(&[u8]) -> bool,
    /// Whether an option says so.
    is_chosen: fn(&Options) -> bool,
    /// Whether it is text, which is decoded to UTF-8 first.
    is_text: bool,
    /// Whether an option chooses a sheet of it.
    pub(crate) has_sheets: bool,
    pub(crate) read: Reader,
}

type Reader = for<'a> fn(Input<'_>, Origin<'a>, Want<'_>) -> Result<Rows<'a>, TableError>;

/// The formats that are read, as help and messages list them.
#[cfg(feature = "xlsx")]
pub const FORMATS: &str = "CSV, TSV, XLSX, JSON lines, ARFF, NPY or LIBSVM";
/// The formats that are read, as help and messages list them.
#[cfg(not(feature = "xlsx"))]
pub const FORMATS: &str = "CSV, TSV, JSON lines, ARFF, NPY or LIBSVM";

/// All formats. The last reads every text that no other takes.
static ALL: &[Format] = &[
    Format { begins: |head| head.starts_with(npy::MAGIC), is_text: false, ..text(&["npy"], npy::read) },
    #[cfg(feature = "xlsx")]
    Format { is_text: false, has_sheets: true, ..text(&["xlsx", "xlsm"], xlsx::read) },
    Format { is_chosen: |options| options.libsvm, ..text(&["libsvm", "svm"], libsvm::read) },
    Format { begins: json_lines::begins, ..text(&["jsonl", "ndjson"], json_lines::read) },
    Format { begins: arff::begins, ..text(&["arff"], arff::read) },
    text(&["tsv", "tab"], |input, origin, want| delimited::read(input, origin, want, b'\t')),
    text(&["csv"], |input, origin, want| delimited::read(input, origin, want, b',')),
];

/// Return a text that its ending tells.
const fn text(endings: &'static [&'static str], read: Reader) -> Format {
    Format { endings, begins: |_| false, is_chosen: |_| false, is_text: true, has_sheets: false, read }
}

/// Whether a file name has the ending of a format.
pub(crate) fn has_ending(ending: &str) -> bool {
    ALL.iter().any(|format| format.endings.contains(&ending))
}

/// Return the format of bytes that are no text, if these are.
pub(crate) fn binary(ending: &str, head: &[u8]) -> Option<&'static Format> {
    let mut formats = ALL.iter().filter(|format| !format.is_text);
    formats.find(|format| (format.begins)(head) || format.endings.contains(&ending))
}

/// Return the format of a text: that of the options, of the ending, or of its beginning.
pub(crate) fn of_text(ending: &str, head: &[u8], options: &Options) -> &'static Format {
    let formats = || ALL.iter().filter(|format| format.is_text);
    formats()
        .find(|format| (format.is_chosen)(options))
        .or_else(|| formats().find(|format| format.endings.contains(&ending)))
        .or_else(|| formats().find(|format| (format.begins)(head)))
        .unwrap_or(&ALL[ALL.len() - 1])
}

/// Return what a format is that is not read but likely to be tried: as text it would give a confusing error
/// in line 1.
pub(crate) fn unsupported(ending: &str, head: &[u8]) -> Option<String> {
    const ENDINGS: [&str; 22] = [
        "7z", "bz2", "db", "feather", "h5", "hdf5", "json", "mat", "npz", "ods", "orc", "parquet", "pickle",
        "pkl", "rds", "sqlite", "xls", "xlsb", "xlsm", "xlsx", "xz", "zst",
    ];
    const MAGIC: [(&[u8], &str); 6] = [
        (b"PAR1", "Parquet"),
        (b"BZh", "bzip2"),
        (b"\xFD7zXZ\x00", "xz"),
        (b"\x28\xB5\x2F\xFD", "Zstandard"),
        (b"\xFF\xFE\0\0", "UTF-32"),
        (b"\0\0\xFE\xFF", "UTF-32"),
    ];
    if ENDINGS.contains(&ending) && !has_ending(ending) {
        return Some(format!(".{ending}"));
    }
    MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| (*name).to_owned())
}
