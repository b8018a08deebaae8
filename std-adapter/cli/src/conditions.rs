//! A quality of rows, and rows to include or exclude.

use crate::arguments::Source;
use crate::error::Error;
use crate::source;
use clap::Args;
use dpp_nystrom::data::RowSource;
use dpp_nystrom::landmarks::methods::SelectorOptions;
use std::path::Path;

/// What decides on the landmarks beside the kernel.
#[derive(Debug, Args)]
pub(crate) struct ConditionArguments {
    /// The column with the quality of rows, numbers from 0, which is no feature: rows are preferred by its
    /// square, L = diag(q) K diag(q); one of quality 0 is not selected. Or a file with a number for each row
    /// of DATA, in the column quality or its first: for row stores and kernel matrices too
    #[arg(long, value_name = "COLUMN|FILE.csv")]
    quality: Option<String>,
    /// Rows to include, which count as landmarks: numbers from 0 such as 3,17,40-50, or a CSV file with them
    /// in the column row or its first
    #[arg(long, value_name = "ROWS|FILE.csv")]
    include: Option<String>,
    /// Rows to exclude, in the same form
    #[arg(long, value_name = "ROWS|FILE.csv")]
    exclude: Option<String>,
}

impl ConditionArguments {
    /// Open the rows to work on, and add to the options what is asked for.
    pub(crate) fn open(
        &self,
        source: &Source,
        options: &mut SelectorOptions,
    ) -> Result<Box<dyn RowSource>, Error> {
        self.list(options)?;
        match &self.quality {
            Some(file) if Path::new(file).is_file() => {
                let (opened, rows) = source::open_counted(source)?;
                options.quality = Some(source::qualities(Path::new(file), rows)?);
                Ok(opened)
            }
            Some(column) => {
                let (rows, quality) = source::with_quality(source, column)?;
                options.quality = Some(quality);
                Ok(Box::new(rows))
            }
            None => source::open(source),
        }
    }

    /// Add to the options what is asked for of this many rows, which have no columns.
    pub(crate) fn of_matrix(&self, rows: usize, options: &mut SelectorOptions) -> Result<(), Error> {
        if let Some(file) = &self.quality {
            options.quality = Some(source::qualities(Path::new(file), rows)?);
        }
        self.list(options)
    }

    /// Add the rows to include and to exclude to the options.
    fn list(&self, options: &mut SelectorOptions) -> Result<(), Error> {
        options.include = self.include.as_deref().map_or(Ok(Vec::new()), rows)?;
        options.exclude = self.exclude.as_deref().map_or(Ok(Vec::new()), rows)?;
        Ok(())
    }
}

/// Row numbers: numbers and ranges, or those in a file.
fn rows(text: &str) -> Result<Vec<usize>, Error> {
    let parsed: Option<Vec<_>> = text.split(',').map(range).collect();
    match parsed {
        Some(ranges) => Ok(ranges.into_iter().flatten().collect()),
        None if Path::new(text).exists() || text == "-" => source::given(Path::new(text)),
        None => Err(Error::Rows(text.to_owned())),
    }
}

/// The largest number of rows that a range may name: a mistyped one does not fill the memory.
const LONGEST: usize = 1 << 26;

fn range(text: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last - first < LONGEST).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn rows_are_numbers_and_ranges() {
        assert_eq!(rows("3, 17,40-42").unwrap(), [3, 17, 40, 41, 42]);
        for text in ["", "3,", "a", "5-3", "-1", "1.5", "0-99999999999"] {
            let error = rows(text).unwrap_err().to_string();
            assert!(error.contains("expected row numbers"), "{error}");
        }
    }
}
