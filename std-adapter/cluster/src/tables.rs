//! Tables by name: files, globs and URLs.

use crate::error::Error;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::prelude::{CsvReadOptions, JsonReadOptions, ParquetReadOptions, SessionContext};
use std::str::FromStr;

/// A table: its name in SQL, and where its rows are.
///
/// ```
/// use dpp_nystrom_cluster::TableSource;
///
/// let table: TableSource = "t=part-*.parquet".parse()?;
/// assert_eq!((table.name.as_str(), table.path.as_str()), ("t", "part-*.parquet"));
/// assert!("part.parquet".parse::<TableSource>().is_err());
/// # Ok::<(), dpp_nystrom_cluster::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSource {
    /// The name in SQL.
    pub name: String,
    /// A file, a glob, a folder of Parquet files (with a slash at the end), or a URL of one of these.
    pub path: String,
}

impl FromStr for TableSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                Ok(Self { name: name.to_owned(), path: path.to_owned() })
            }
            _ => Err(Error::TableSource(text.to_owned())),
        }
    }
}

impl TableSource {
    /// Register the table with the engine.
    ///
    /// # Errors
    /// [`Error::Format`], and the engine's for files that are not there or cannot be read.
    pub(crate) async fn register(&self, context: &SessionContext) -> Result<(), Error> {
        let path = self.path.as_str();
        let (plain, compression) = match path.strip_suffix(".gz") {
            Some(plain) => (plain, FileCompressionType::GZIP),
            None => (path, FileCompressionType::UNCOMPRESSED),
        };
        let last = plain.rsplit('/').next().unwrap_or_default();
        let kind = last.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        // In the case of the name: the engine compares the ends of names.
        let end = last.rfind('.').map_or(String::new(), |at| {
            let suffix = if plain.len() == path.len() { "" } else { ".gz" };
            format!("{}{suffix}", &last[at..])
        });
        match kind.as_str() {
            "parquet" if plain.len() == path.len() => {
                let options = ParquetReadOptions::default().file_extension(&end);
                context.register_parquet(&self.name, path, options).await?;
            }
            "" if path.ends_with('/') => {
                context.register_parquet(&self.name, path, ParquetReadOptions::default()).await?;
            }
            "csv" | "tsv" => {
                let options = CsvReadOptions::new()
                    .has_header(true)
                    .delimiter(if kind == "tsv" { b'\t' } else { b',' })
                    .file_extension(&end)
                    .file_compression_type(compression);
                context.register_csv(&self.name, path, options).await?;
            }
            "json" | "ndjson" | "jsonl" => {
                let options =
                    JsonReadOptions::default().file_extension(&end).file_compression_type(compression);
                context.register_json(&self.name, path, options).await?;
            }
            _ => return Err(Error::Format(path.to_owned())),
        }
        Ok(())
    }
}
