//! Writing any supported file to a row store, in one pass over the file.

use crate::atomic_file::{Pending, replace_with};
use crate::data::columns::TargetColumn;
use crate::data::moments::Moments;
use crate::data::scaler::Scaler;
use crate::data::store::open::{ALIGNMENT, Description, FRAME, Store};
use crate::data::table::input::{Table, Target};
use crate::data::table::reader::{name_of, read_blocks};
use crate::error::Error;
use crate::kernel::precision::Precision;
use crate::observer::Observer;
use std::fs::File;
use std::io;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes standardised at a time: a multiple of eight.
const PIECE: usize = 1 << 20;

/// Bytes reserved for the growth of the description once it is complete: its integers have variable length.
const SLACK: u64 = 64;

/// Read `data` once and write its rows to the store `out`, in single or double precision.
///
/// Rows are written as they arrive, shifted by the mean of the first block (some hundred thousand values), while
/// the statistics are accumulated; a second pass, over the new file rather than `data`, standardises them in place.
/// So `data` may be standard input, and memory is that of a few blocks. In `f32` the error of a value is half a unit
/// in the last place of its distance from that first mean, plus that of the result. The store is written under a
/// temporary name in the same folder, so an existing `out` is kept until the new store is complete.
///
/// # Errors
/// [`Error::Table`] if `data` cannot be read, [`Error::Spread`] for a column out of the precision's range,
/// [`Error::Write`].
pub fn convert(
    data: &Path,
    target: &Target,
    precision: Precision,
    out: &Path,
    observer: &dyn Observer,
) -> Result<Store, Error> {
    let fail = |source| Error::Write { path: out.to_owned(), source };
    let pending = replace_with(out)?;
    let name = name_of(data);
    let mut writer: Option<Writer> = None;
    observer.begin("read", 0);
    read_blocks(data, target, |block| {
        let writer = match &mut writer {
            Some(writer) => writer,
            None => writer.insert(Writer::new(&block, &name, precision, &pending).map_err(fail)?),
        };
        observer.advance(block.rows() as u64);
        writer.add(&block, out)
    })?;
    observer.end();
    // A file without rows was rejected.
    let writer = writer.ok_or(fail(io::ErrorKind::UnexpectedEof.into()))?;
    writer.finish(&pending, out, observer)?;
    pending.persist().map_err(fail)?;
    Store::open(out)
}

struct Writer {
    description: Description,
    rows: Column,
    /// The targets, in a temporary file until all rows are written.
    targets: Option<Column>,
}

/// Values of one precision on their way to a file.
struct Column {
    moments: Moments,
    single: bool,
    file: BufWriter<File>,
}

impl Writer {
    fn new(block: &Table, name: &str, precision: Precision, pending: &Pending) -> io::Result<Self> {
        let single = precision == Precision::F32;
        let features = Scaler::of(&block.features, block.dim);
        let target = block.target.as_ref().map(|values| Scaler::of(values, 1));
        let mut description = Description {
            name: name.to_owned(),
            feature_names: block.feature_names.clone(),
            scaler: features.clone(),
            target: target.as_ref().map(|target| TargetColumn {
                name: block.target_name.clone().unwrap_or_default(),
                mean: target.means[0],
                deviation: target.deviations[0],
            }),
            rows: block.rows() as u64,
            single,
            checksum: 0,
            offset: 0,
        };
        let length = content(&description)?.len() as u64 + FRAME.header() as u64 + SLACK;
        description.offset = length.next_multiple_of(ALIGNMENT);
        let mut file = pending.file()?;
        file.seek(SeekFrom::Start(description.offset))?;
        let rows = Column { moments: Moments::about(&features), single, file: BufWriter::new(file) };
        let targets = match target {
            Some(target) => {
                let file = BufWriter::new(pending.beside()?);
                Some(Column { moments: Moments::about(&target), single, file })
            }
            None => None,
        };
        description.rows = 0;
        Ok(Self { description, rows, targets })
    }

    fn add(&mut self, block: &Table, out: &Path) -> Result<(), Error> {
        let fail = |source| Error::Write { path: out.to_owned(), source };
        let names = &self.description.feature_names;
        let too_wide =
            |column: usize| Error::Spread { column: names.get(column).cloned().unwrap_or_default() };
        self.description.rows += block.rows() as u64;
        self.rows.add(&block.features).map_err(fail)?.map_or(Ok(()), |column| Err(too_wide(column)))?;
        if let (Some(column), Some(targets)) = (&mut self.targets, &block.target) {
            let name = self.description.target.as_ref().map(|target| target.name.clone()).unwrap_or_default();
            column.add(targets).map_err(fail)?.map_or(Ok(()), |_| Err(Error::Spread { column: name }))?;
        }
        Ok(())
    }

    /// Standardise the rows written and write the description.
    fn finish(mut self, pending: &Pending, out: &Path, observer: &dyn Observer) -> Result<(), Error> {
        let fail = |source| Error::Write { path: out.to_owned(), source };
        self.description.scaler = self.rows.moments.statistics();
        if let Some(column) = self.description.scaler.overflow() {
            return Err(Error::Spread { column: self.description.feature_names[column].clone() });
        }
        let mut hasher = crc32fast::Hasher::new();
        observer.begin("standardise", self.description.rows);
        let mut file = self.rows.file.into_inner().map_err(|error| fail(error.into_error()))?;
        let begin = self.description.offset;
        file.seek(SeekFrom::Start(begin)).map_err(fail)?;
        let shift = Shift::between(&self.rows.moments.centres, &self.description.scaler);
        shift.apply(&mut file, None, self.description.single, &mut hasher, observer).map_err(fail)?;
        if let (Some(column), Some(target)) = (self.targets, &mut self.description.target) {
            let statistics = column.moments.statistics();
            if statistics.overflow().is_some() {
                return Err(Error::Spread { column: target.name.clone() });
            }
            (target.mean, target.deviation) = (statistics.means[0], statistics.deviations[0]);
            let mut beside = column.file.into_inner().map_err(|error| fail(error.into_error()))?;
            beside.seek(SeekFrom::Start(0)).map_err(fail)?;
            let shift = Shift::between(&column.moments.centres, &statistics);
            let silent = &crate::observer::NoObserver;
            shift
                .apply(&mut beside, Some(&mut file), self.description.single, &mut hasher, silent)
                .map_err(fail)?;
        }
        observer.end();
        self.description.checksum = hasher.finalize();
        let described = content(&self.description).map_err(fail)?;
        if (described.len() + FRAME.header()) as u64 > self.description.offset {
            return Err(fail(io::ErrorKind::FileTooLarge.into()));
        }
        let mut file = pending.file().map_err(fail)?;
        file.seek(SeekFrom::Start(0)).map_err(fail)?;
        FRAME.write(&mut file, &described).map_err(fail)
    }
}

fn content(description: &Description) -> io::Result<Vec<u8>> {
    postcard::to_allocvec(description).map_err(io::Error::other)
}

impl Column {
    /// Write rows, shifted by the centres; return the first column that then overflows.
    fn add(&mut self, rows: &[f64]) -> io::Result<Option<usize>> {
        self.moments.add(rows);
        let dim = self.moments.centres.len();
        for row in rows.chunks_exact(dim.max(1)) {
            for (column, (value, centre)) in row.iter().zip(&self.moments.centres).enumerate() {
                let shifted = value - centre;
                let fits = if self.single { (shifted as f32).is_finite() } else { shifted.is_finite() };
                if !fits {
                    return Ok(Some(column));
                }
                if self.single {
                    self.file.write_all(&(shifted as f32).to_le_bytes())?;
                } else {
                    self.file.write_all(&shifted.to_le_bytes())?;
                }
            }
        }
        Ok(None)
    }
}

/// Shifted to standardised values, one column after the other.
struct Shift {
    columns: Vec<(f64, f64)>,
}

impl Shift {
    fn between(centres: &[f64], statistics: &Scaler) -> Self {
        let columns = centres.iter().zip(&statistics.means).zip(&statistics.deviations);
        Self { columns: columns.map(|((centre, mean), deviation)| (mean - centre, *deviation)).collect() }
    }

    /// Read the rest of `file`, standardise it, and write it in place or to the end of another file.
    fn apply(
        &self,
        file: &mut File,
        mut to: Option<&mut File>,
        single: bool,
        hasher: &mut crc32fast::Hasher,
        observer: &dyn Observer,
    ) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        let mut columns = self.columns.iter().cycle();
        let mut standard = |shifted: f64| match columns.next() {
            Some(&(mean, deviation)) if deviation > 0.0 => (shifted - mean) / deviation,
            _ => 0.0,
        };
        if let Some(to) = &mut to {
            to.seek(SeekFrom::End(0))?;
        }
        let row_bytes = (self.columns.len() * if single { 4 } else { 8 }).max(1);
        let mut reported = 0;
        let mut done = 0;
        loop {
            let read = fill(file, &mut piece)?;
            if read == 0 {
                observer.advance((done / row_bytes - reported) as u64);
                return Ok(());
            }
            if single {
                for bytes in piece[..read].as_chunks_mut::<4>().0 {
                    *bytes = (standard(f64::from(f32::from_le_bytes(*bytes))) as f32).to_le_bytes();
                }
            } else {
                for bytes in piece[..read].as_chunks_mut::<8>().0 {
                    *bytes = standard(f64::from_le_bytes(*bytes)).to_le_bytes();
                }
            }
            hasher.update(&piece[..read]);
            match &mut to {
                Some(to) => to.write_all(&piece[..read])?,
                None => {
                    file.seek(SeekFrom::Current(-(read as i64)))?;
                    file.write_all(&piece[..read])?;
                }
            }
            done += read;
            observer.advance((done / row_bytes - reported) as u64);
            reported = done / row_bytes;
        }
    }
}

/// Read until the buffer is full or the file ends.
fn fill(file: &mut File, piece: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < piece.len() {
        match file.read(&mut piece[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
