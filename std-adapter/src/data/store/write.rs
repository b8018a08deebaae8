//! Writing any supported file to a row store, in one pass over the file.

use crate::data::store::open::{ALIGNMENT, Description, FRAME, Store, StoredClass};
use crate::data::table::input::{Remarks, Table};
use crate::data::table::target::Target;
use crate::data::table::{options::Options, reader::name_of, recipe::Recipe};
use crate::data::{
    columns::TargetColumn, moments::Moments, prepared::leaves_no_room, scaler::Scale, scaler::Scaler,
    scaler::standardised,
};
use crate::error::{Cause, Error, TableError, TableProblem};
use crate::framed_file::Frame;
use crate::kernel::precision::Precision;
use crate::observer::{Observer, go_on};
use dpp_nystrom_host::atomic_file::{Pending, replace_with};
use dpp_nystrom_mapped::Mapped;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::Path;

/// Bytes standardised at a time, rounded up to whole rows.
const PIECE: usize = 1 << 20;

/// Bytes reserved for the growth of the description once it is complete: its integers have variable length.
const SLACK: u64 = 64;

/// Read `data` once and write its rows to the store `out`, in single or double precision.
///
/// Rows are written as they arrive, shifted by the mean of the first block (some hundred thousand values),
/// while the statistics are accumulated; a second pass, over the new file rather than `data`, standardises
/// them in place. So `data` may be standard input, and memory is that of a few blocks. In `f32` the error of
/// a value is half a unit in the last place of its distance from that first mean, plus that of the result.
/// The store is written under a temporary name in the same folder, so an existing `out` is kept until the new
/// store is complete.
///
/// # Errors
/// `ErrorKind::Table` if `data` cannot be read, `ErrorKind::Data` for a column out of the precision's range,
/// `ErrorKind::Cancelled`, `ErrorKind::File`.
///
/// ```
/// use dpp_nystrom::data::{store::convert, table::Target};
/// use dpp_nystrom::{ErrorKind, kernel::Precision, observer::NoObserver};
///
/// let folder = tempfile::tempdir()?;
/// let [text, rows] = ["houses.csv", "houses.rows"].map(|name| folder.path().join(name));
/// std::fs::write(&text, "rooms,area,price\n3,70,210\n5,ninety,300\n")?;
/// let refused = convert(&text, &Target::Last, Precision::F32, &rows, &NoObserver).unwrap_err();
/// assert_eq!((refused.kind(), refused.line()), (ErrorKind::Table, Some(3)));
/// assert!(!rows.exists()); // nothing half-written
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert(
    data: &Path,
    target: &Target,
    precision: Precision,
    out: &Path,
    observer: &dyn Observer,
) -> Result<Store, Error> {
    let options = Options { target: target.clone(), ..Options::default() };
    convert_with(data, &options, (precision, Scale::Standard), out, observer).map(|(store, _)| store)
}

/// Write a row store as [`convert`] does, of the columns that the options choose, with features to mean 0 and
/// standard deviation 1 or as they are (embeddings, say). Words and gaps to be filled take two passes over
/// `data`. Rows that are left out are not counted: the rows of the store are numbered
/// without them.
///
/// # Errors
/// Those of [`convert`]; `ErrorKind::Unsupported` for [`Scale::Robust`] and [`Scale::Clipped`], whose medians
/// need all rows at once.
///
/// ```
/// use dpp_nystrom::data::{store::convert_with, table::{Missing, Options}};
/// use dpp_nystrom::{Scale, kernel::Precision, observer::NoObserver};
///
/// let folder = tempfile::tempdir()?;
/// let [text, rows] = ["houses.csv", "houses.rows"].map(|name| folder.path().join(name));
/// std::fs::write(&text, "rooms,price\n3,210\n,300\n5,350\n")?;
/// let options = Options { missing: Missing::Drop, ..Options::default() };
/// let stored = (Precision::F64, Scale::None);
/// let (store, remarks) = convert_with(&text, &options, stored, &rows, &NoObserver)?;
/// assert_eq!((store.len(), &remarks.dropped[..]), (2, &[1][..]));
/// assert_eq!(store.description().scaler.deviations, [1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert_with(
    data: &Path,
    options: &Options,
    (precision, scale): (Precision, Scale),
    out: &Path,
    observer: &dyn Observer,
) -> Result<(Store, Remarks), Error> {
    if matches!(scale, Scale::Robust | Scale::Clipped) {
        return Err(Error(Cause::StoredScale));
    }
    let fail = |source| Error(Cause::Write { path: out.to_owned(), source });
    let pending = replace_with(out)?;
    let name = name_of(data);
    let mut writer: Option<Writer> = None;
    observer.begin("read", 0);
    let mut remarks = Remarks::default();
    options.read_blocks(data, |block| {
        go_on(observer)?;
        if !block.recipe.further.is_empty() {
            return Err(Error(Cause::StoredTargets));
        }
        if block.table.weights.is_some() {
            return Err(Error(Cause::Unweighted { what: "a row store" }));
        }
        remarks.add(block.remarks);
        let (recipe, block) = (block.recipe, block.table);
        let writer = match &mut writer {
            Some(writer) => writer,
            None => {
                writer.insert(Writer::new(&block, recipe, &name, (precision, scale), &pending).map_err(fail)?)
            }
        };
        observer.advance(block.rows() as u64);
        writer.add(&block, out)
    })?;
    observer.end();
    // A file without rows was rejected.
    let writer = writer.ok_or(fail(io::ErrorKind::UnexpectedEof.into()))?;
    writer.finish(out, observer)?;
    // A store that is larger than the address space is an error before it takes the place of the old file.
    let unmapped = |source| TableError::new(out, TableProblem::Open(source));
    drop(Mapped::open(&pending.current()).map_err(unmapped)?);
    pending.persist().map_err(fail)?;
    Ok((Store::open(out)?, remarks))
}

struct Writer {
    description: Description,
    scale: Scale,
    rows: Column,
    /// The targets, in a temporary file until all rows are written.
    targets: Option<Column>,
}

/// The mean and the deviation of a target of classes: its indices are stored unchanged.
const INDEX: (f64, f64) = (0.0, 1.0);

/// Values on their way to a file.
struct Column {
    moments: Moments,
    file: BufWriter<File>,
}

impl Writer {
    fn new(
        block: &Table,
        recipe: Recipe,
        name: &str,
        (precision, scale): (Precision, Scale),
        pending: &Pending,
    ) -> io::Result<Self> {
        let single = precision == Precision::F32;
        let features = match scale {
            Scale::None => Scaler::identity(block.dim),
            _ => Scaler::of(&block.features, block.dim),
        };
        let labels = recipe.classes.clone().unwrap_or_default();
        let target = block.target.as_ref().map(|values| match labels.is_empty() {
            true => Scaler::of(values, 1),
            false => Scaler { means: vec![INDEX.0], deviations: vec![INDEX.1], map: None, bounds: None },
        });
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
            recipe: (!recipe.is_plain() || !labels.is_empty()).then_some(recipe),
            classes: labels.into_iter().map(|label| StoredClass { label, rows: u64::MAX }).collect(),
        };
        let length = content(&description)?.len() as u64 + FRAME.header() as u64 + SLACK;
        description.offset = length.next_multiple_of(ALIGNMENT);
        let mut file = pending.file()?;
        file.seek(SeekFrom::Start(description.offset))?;
        let rows = Column { moments: Moments::about(&features), file: BufWriter::new(file) };
        let targets = target.map(|target| {
            io::Result::Ok(Column {
                moments: Moments::about(&target),
                file: BufWriter::new(pending.beside()?),
            })
        });
        let targets = targets.transpose()?;
        // They took the most room that they may need.
        description.classes.iter_mut().for_each(|class| class.rows = 0);
        description.rows = 0;
        Ok(Self { description, scale, rows, targets })
    }

    fn add(&mut self, block: &Table, out: &Path) -> Result<(), Error> {
        let fail = |source| Error(Cause::Write { path: out.to_owned(), source });
        let Description { feature_names, target, rows, single, classes, .. } = &mut self.description;
        *rows += block.rows() as u64;
        if let Some(column) = self.rows.add(&block.features, *single).map_err(fail)? {
            return Err(Error(Cause::Spread { column: feature_names[column].clone() }));
        }
        if let (Some(column), Some(values), Some(target)) = (&mut self.targets, &block.target, target)
            && column.add(values, *single).map_err(fail)?.is_some()
        {
            return Err(Error(Cause::Spread { column: target.name.clone() }));
        }
        for index in block.target.iter().flatten() {
            if let Some(class) = classes.get_mut(*index as usize) {
                class.rows += 1;
            }
        }
        Ok(())
    }

    /// Standardise the rows written and write the description.
    fn finish(mut self, out: &Path, observer: &dyn Observer) -> Result<(), Error> {
        let fail = |source| Error(Cause::Write { path: out.to_owned(), source });
        let description = &mut self.description;
        if self.scale != Scale::None {
            description.scaler = self.rows.moments.statistics();
        }
        if let Some(column) = description.scaler.overflow() {
            return Err(Error(Cause::Spread { column: description.feature_names[column].clone() }));
        }
        observer.begin("standardise", description.rows);
        let (single, hasher, places) = (description.single, crc32fast::Hasher::new(), Vec::new());
        let mut pass = Pass { single, hasher, places, observer, out };
        let mut file = pass.standardise(self.rows, &description.scaler, description.offset, None)?;
        if let (Some(column), Some(target)) = (self.targets, &mut description.target) {
            let statistics = match description.classes.is_empty() {
                true => column.moments.statistics(),
                false => Scaler { means: vec![INDEX.0], deviations: vec![INDEX.1], map: None, bounds: None },
            };
            if statistics.overflow().is_some()
                || leaves_no_room(statistics.means[0], statistics.deviations[0])
            {
                return Err(Error(Cause::Spread { column: target.name.clone() }));
            }
            (target.mean, target.deviation) = (statistics.means[0], statistics.deviations[0]);
            file.seek(SeekFrom::End(0)).map_err(fail)?;
            // Classes without rows are left out.
            let classes = &mut description.classes;
            let place = |at: usize| classes.iter().take(at).filter(|class| class.rows > 0).count() as f64;
            pass.places = (0..classes.len()).map(place).collect();
            classes.retain(|class| class.rows > 0);
            pass.standardise(column, &statistics, 0, Some(&mut file))?;
        }
        observer.end();
        description.checksum = pass.hasher.finalize();
        let described = content(description).map_err(fail)?;
        if (described.len() + FRAME.header()) as u64 > description.offset {
            return Err(fail(io::ErrorKind::FileTooLarge.into()));
        }
        let version = match (&description.recipe, description.classes.is_empty()) {
            (Some(Recipe { missing_values: Some(_), .. }), _) => 4,
            (_, false) => 3,
            (Some(_), true) => 2,
            (None, true) => 1,
        };
        let frame = Frame { version, ..FRAME };
        file.rewind().and_then(|()| frame.write(&mut file, &described)).map_err(fail)
    }
}

fn content(description: &Description) -> io::Result<Vec<u8>> {
    let mut content = postcard::to_allocvec(description).map_err(io::Error::other)?;
    if let Some(recipe) = &description.recipe {
        content.extend(postcard::to_allocvec(recipe).map_err(io::Error::other)?);
    }
    let markers = description.recipe.as_ref().and_then(|recipe| recipe.missing_values.as_ref());
    if !description.classes.is_empty() || markers.is_some() {
        content.extend(postcard::to_allocvec(&description.classes).map_err(io::Error::other)?);
    }
    if let Some(markers) = markers {
        content.extend(postcard::to_allocvec(markers).map_err(io::Error::other)?);
    }
    Ok(content)
}

impl Column {
    /// Write rows, shifted by the centres; return the first column that then overflows.
    fn add(&mut self, rows: &[f64], single: bool) -> io::Result<Option<usize>> {
        self.moments.add(rows);
        let centres = &self.moments.centres;
        for row in rows.chunks_exact(centres.len().max(1)) {
            for (column, (value, centre)) in row.iter().zip(centres).enumerate() {
                let shifted = value - centre;
                let fits = if single { (shifted as f32).is_finite() } else { shifted.is_finite() };
                if !fits {
                    return Ok(Some(column));
                }
                if single {
                    self.file.write_all(&(shifted as f32).to_le_bytes())?;
                } else {
                    self.file.write_all(&shifted.to_le_bytes())?;
                }
            }
        }
        Ok(None)
    }
}

/// The second pass, from shifted to standardised values.
struct Pass<'a> {
    single: bool,
    /// The index that takes the place of each index of a class; empty where values are no such indices.
    places: Vec<f64>,
    /// The CRC-32 of all standardised values.
    hasher: crc32fast::Hasher,
    observer: &'a dyn Observer,
    out: &'a Path,
}

impl Pass<'_> {
    /// Standardise the values of a file from `begin` on, in place or to the end of another file. Only the
    /// rows, which stay in place, are reported as progress.
    fn standardise(
        &mut self,
        column: Column,
        statistics: &Scaler,
        begin: u64,
        mut to: Option<&mut File>,
    ) -> Result<File, Error> {
        let fail = |source| Error(Cause::Write { path: self.out.to_owned(), source });
        let shifts = column.moments.centres.iter().zip(&statistics.means).map(|(centre, mean)| mean - centre);
        let places = mem::take(&mut self.places);
        let columns: Vec<(f64, f64)> = shifts.zip(statistics.deviations.iter().copied()).collect();
        let standard = |shifted: f64, &(mean, deviation): &(f64, f64)| {
            let value = standardised(shifted, mean, deviation);
            places.get(value as usize).copied().unwrap_or(value)
        };
        let row_bytes = columns.len() * if self.single { 4 } else { 8 };
        let limit = PIECE.next_multiple_of(row_bytes);
        let mut piece = Vec::with_capacity(limit);
        let mut file = column.file.into_inner().map_err(|error| fail(error.into_error()))?;
        file.seek(SeekFrom::Start(begin)).map_err(fail)?;
        loop {
            go_on(self.observer)?;
            piece.clear();
            let read = (&file).take(limit as u64).read_to_end(&mut piece).map_err(fail)?;
            if read == 0 {
                return Ok(file);
            }
            if self.single {
                for (bytes, column) in piece.as_chunks_mut::<4>().0.iter_mut().zip(columns.iter().cycle()) {
                    *bytes = (standard(f64::from(f32::from_le_bytes(*bytes)), column) as f32).to_le_bytes();
                }
            } else {
                for (bytes, column) in piece.as_chunks_mut::<8>().0.iter_mut().zip(columns.iter().cycle()) {
                    *bytes = standard(f64::from_le_bytes(*bytes), column).to_le_bytes();
                }
            }
            self.hasher.update(&piece);
            match &mut to {
                Some(to) => to.write_all(&piece).map_err(fail)?,
                None => {
                    let back = file.seek(SeekFrom::Current(-(read as i64)));
                    back.and_then(|_| file.write_all(&piece)).map_err(fail)?;
                    self.observer.advance((read / row_bytes) as u64);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FRAME, Frame, content, convert, convert_with};
    use crate::Scale;
    use crate::data::columns::RowSlices;
    use crate::data::scaler::Scaler;
    use crate::data::store::open::{ALIGNMENT, BLOCK, Description, Store, StoredClass};
    use crate::data::table::{options::Labels, options::Missing, options::Options, target::Target};
    use crate::error::{Cause, Error, ErrorKind, store::StoreProblem};
    use crate::kernel::precision::Precision;
    use crate::observer::{NoObserver, Observer};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Cancels as soon as this phase begins.
    struct Until(&'static str, AtomicBool);

    impl Observer for Until {
        fn begin(&self, phase: &str, _: u64) {
            self.1.store(phase == self.0, Ordering::Relaxed);
        }
        fn advance(&self, _: u64) {}
        fn end(&self) {}
        fn is_cancelled(&self) -> bool {
            self.1.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_cancelled_conversion_leaves_the_folder_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "1,2\n3,4\n").unwrap();
        std::fs::write(&out, "before").unwrap();
        let converted = |phase| {
            let observer = Until(phase, AtomicBool::new(false));
            convert(&data, &Target::Last, Precision::F64, &out, &observer)
        };
        for phase in ["read", "standardise"] {
            assert!(matches!(converted(phase), Err(Error(Cause::Cancelled))), "{phase}");
            assert_eq!(std::fs::read(&out).unwrap(), b"before", "{phase}");
            assert_eq!(folder.path().read_dir().unwrap().count(), 2, "{phase}");
        }
        assert_eq!(converted("neither").unwrap().len(), 2);
    }

    /// Numbers that a converter never writes, under checksums that match.
    #[test]
    fn a_number_that_is_not_finite_is_found_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "a,b,y\n1,2,3\n3,4,9\n5,7,1\n").unwrap();
        for precision in [Precision::F32, Precision::F64] {
            let store = convert(&data, &Target::Last, precision, &out, &NoObserver).unwrap();
            store.verify().unwrap();
            let bytes = std::fs::read(&out).unwrap();
            for (at, row, column) in [(0, 0, "a"), (3, 1, "b"), (4, 2, "a"), (6, 0, "y"), (8, 2, "y")] {
                let mut forged = bytes.clone();
                let mut description = store.description().clone();
                let rows = &mut forged[description.offset as usize..];
                match precision {
                    Precision::F32 => rows[4 * at..4 * at + 4].copy_from_slice(&f32::NAN.to_le_bytes()),
                    Precision::F64 => rows[8 * at..8 * at + 8].copy_from_slice(&f64::INFINITY.to_le_bytes()),
                }
                description.checksum = crc32fast::hash(rows);
                let path = folder.path().join("forged.rows");
                std::fs::write(&path, with_description(forged, &description)).unwrap();
                let Err(Error(Cause::Store { problem, .. })) = Store::open(&path).unwrap().verify() else {
                    panic!("{at} of {precision:?} is accepted")
                };
                assert_eq!(problem, StoreProblem::NotFinite { row, column: column.to_owned() });
            }
        }
    }

    /// What a store says of itself is that of the file.
    #[test]
    fn a_store_describes_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "a,b,y\n1,7,p\n3,8,q\n5,7,p\n6,9,p\n").unwrap();
        let options = Options { labels: Labels::Words, ..Options::default() };
        for precision in [Precision::F32, Precision::F64] {
            let (store, _) =
                convert_with(&data, &options, (precision, Scale::Standard), &out, &NoObserver).unwrap();
            assert_eq!((store.len(), store.is_empty(), store.features()), (4, false, 2));
            let lengths = match store.slices() {
                RowSlices::F32(rows, targets) => (rows.len(), targets.map(<[f32]>::len)),
                RowSlices::F64(rows, targets) => (rows.len(), targets.map(<[f64]>::len)),
            };
            assert_eq!(lengths, (8, Some(4)));
            assert_eq!(
                (store.precision(), store.labels()),
                (precision, vec!["p".to_owned(), "q".to_owned()])
            );
            let means: Vec<f64> = store.indicators.iter().map(|indicator| indicator.mean).collect();
            assert_eq!(means, [0.75, 0.25]);
            let gathered = store.gather(&[1, 3]).unwrap();
            let first = gathered.target.unwrap();
            assert!(first.values[0] < 0.0 && first.values[1] > 0.0, "{first:?}");
            assert_eq!((gathered.further.len(), gathered.classes.unwrap().labels), (1, store.labels()));
            assert!(Store::is_store(&out) && !Store::is_store(&data));
            store.has_features(&["a", "b"].map(String::from)).unwrap();
            let Err(Error(Cause::Store { problem, .. })) = store.has_features(&["b".to_owned()]) else {
                panic!("other features are accepted")
            };
            assert_eq!(problem, StoreProblem::OtherFeatures);
        }
    }

    /// Blocks are whole, and the last is the rest.
    #[test]
    fn blocks_are_all_rows_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        let rows = 2 * BLOCK + 3;
        let text: String = (0..rows).map(|row| format!("{row},{}\n", row % 5)).collect();
        std::fs::write(&data, text).unwrap();
        let store = convert(&data, &Target::Last, Precision::F64, &out, &NoObserver).unwrap();
        let (mut lengths, mut sum, mut targets) = (Vec::new(), 0.0, 0.0);
        store
            .read_blocks(|block| {
                lengths.push(block.features.len());
                sum += block.features.iter().sum::<f64>();
                targets += block.target.unwrap().iter().sum::<f64>();
                Ok::<(), Error>(())
            })
            .unwrap();
        assert_eq!(lengths, [BLOCK, BLOCK, 3]);
        let of = |numbers: f64| numbers * (numbers - 1.0) / 2.0;
        assert!((sum / of(rows as f64) - 1.0).abs() < 1e-9, "{sum}");
        assert!((targets - (0..rows).map(|row| (row % 5) as f64).sum::<f64>()).abs() < 1e-6, "{targets}");
    }

    /// A file that is cut or written to after it was opened; one that is too short to be mapped, or is none.
    #[test]
    fn a_file_that_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "1,2\n3,4\n").unwrap();
        let store = convert(&data, &Target::Last, Precision::F64, &out, &NoObserver).unwrap();
        store.check().unwrap();
        let file = std::fs::File::options().write(true).open(&out).unwrap();
        file.set_len(store.description().offset + 8).unwrap();
        let Err(Error(Cause::Store { problem, .. })) = store.check() else {
            panic!("a cut file is accepted")
        };
        assert_eq!(problem, StoreProblem::Shortened);
        drop(store);
        for (content, expected) in
            [(&b""[..], StoreProblem::Foreign), (b"no store at all", StoreProblem::Foreign)]
        {
            std::fs::write(&out, content).unwrap();
            let Err(Error(Cause::Store { problem, .. })) = Store::open(&out) else { panic!("{content:?}") };
            assert_eq!(problem, expected, "{content:?}");
        }
        let missing = Store::open(&folder.path().join("none")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::File);
    }

    /// The description of each version is read to its end, and what a version cannot have is refused.
    #[test]
    fn a_description_is_that_of_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        let mean = || Options { missing: Missing::Mean, ..Options::default() };
        let markers = Some(vec!["x".to_owned()]);
        let cases = [
            ("1,2\n3,4\n", Options::default(), 1),
            ("a,y\n1,2\n2,4\n?,5\n", mean(), 2),
            ("a,y\n1,p\n3,q\n5,p\n", Options { labels: Labels::Words, ..Options::default() }, 3),
            ("a,y\n1,2\n2,4\nx,5\n", Options { missing_values: markers, ..mean() }, 4),
        ];
        for (text, options, version) in cases {
            std::fs::write(&data, text).unwrap();
            let (store, _) =
                convert_with(&data, &options, (Precision::F64, Scale::Standard), &out, &NoObserver).unwrap();
            let bytes = std::fs::read(&out).unwrap();
            assert_eq!(bytes[8], version, "{text}");
            let own = content(store.description()).unwrap();
            for (other, longer) in [(version, true), (version % 4 + 1, false)] {
                let mut content = own.clone();
                content.extend(vec![7; usize::from(longer)]);
                let mut forged = bytes.clone();
                let mut head = Vec::new();
                Frame { version: other.into(), ..FRAME }.write(&mut head, &content).unwrap();
                forged[..head.len()].copy_from_slice(&head);
                std::fs::write(folder.path().join("forged.rows"), forged).unwrap();
                let found = Store::open(&folder.path().join("forged.rows"));
                assert!(is_malformed(&found), "{text} as {other}, {longer}: {found:?}");
            }
        }
    }

    /// Indices that a converter never writes, under checksums that match.
    #[test]
    fn a_row_without_a_class_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "a,y\n1,p\n3,q\n5,p\n6,q\n").unwrap();
        let options = Options { labels: Labels::Words, ..Options::default() };
        let (store, _) =
            convert_with(&data, &options, (Precision::F64, Scale::Standard), &out, &NoObserver).unwrap();
        store.verify().unwrap();
        let bytes = std::fs::read(&out).unwrap();
        for (row, value) in [(0, 2.0), (1, -1.0), (3, 0.5)] {
            let mut forged = bytes.clone();
            let mut description = store.description().clone();
            let values = &mut forged[description.offset as usize..];
            values[8 * (4 + row)..8 * (5 + row)].copy_from_slice(&f64::to_le_bytes(value));
            description.checksum = crc32fast::hash(values);
            let path = folder.path().join("forged.rows");
            std::fs::write(&path, with_description(forged, &description)).unwrap();
            let Err(Error(Cause::Store { problem, .. })) = Store::open(&path).unwrap().verify() else {
                panic!("{value} in {row} is accepted")
            };
            assert_eq!(problem, StoreProblem::NoClass { row });
        }
        // Classes that are not those of the rows.
        let two = store.description().classes.clone();
        let one = |rows| StoredClass { label: "p".to_owned(), rows };
        let empty = StoredClass { rows: 0, ..two[1].clone() };
        for classes in [vec![one(4), empty], vec![one(2), one(2)], vec![one(3), two[1].clone()], Vec::new()] {
            let description = Description { classes, ..store.description().clone() };
            let path = folder.path().join("forged.rows");
            std::fs::write(&path, with_description(bytes.clone(), &description)).unwrap();
            let found = Store::open(&path);
            assert!(is_malformed(&found), "{description:?}");
        }
    }

    /// Rows that begin elsewhere: numbers are lent where they lie, so their place must be aligned.
    #[test]
    fn rows_begin_at_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "1,2\n3,4\n").unwrap();
        let store = convert(&data, &Target::Last, Precision::F64, &out, &NoObserver).unwrap();
        let bytes = std::fs::read(&out).unwrap();
        for moved in [1, 4, 8, 64, ALIGNMENT / 2] {
            // Longer by as much, so that the length is that of the description.
            let offset = store.description().offset + moved;
            let description = Description { offset, ..store.description().clone() };
            let longer = [&bytes[..], &vec![0; moved as usize]].concat();
            std::fs::write(&data, with_description(longer, &description)).unwrap();
            let found = Store::open(&data);
            assert!(is_malformed(&found), "{moved}: {found:?}");
        }
    }

    /// A file as long as its description says, of no rows or of no features.
    #[test]
    fn a_store_of_nothing_is_malformed() {
        let folder = tempfile::tempdir().unwrap();
        let [data, out] = ["a.csv", "a.rows"].map(|name| folder.path().join(name));
        std::fs::write(&data, "1,2\n3,4\n").unwrap();
        let store = convert(&data, &Target::Last, Precision::F64, &out, &NoObserver).unwrap();
        let whole = store.description();
        let none = Scaler { means: Vec::new(), deviations: Vec::new(), ..whole.scaler.clone() };
        for (description, numbers) in [
            (Description { rows: 0, ..whole.clone() }, 0),
            (Description { feature_names: Vec::new(), scaler: none, ..whole.clone() }, 2),
        ] {
            let mut bytes = with_description(std::fs::read(&out).unwrap(), &description);
            bytes.truncate(whole.offset as usize + numbers * size_of::<f64>());
            std::fs::write(&data, bytes).unwrap();
            let found = Store::open(&data);
            assert!(is_malformed(&found), "{description:?}: {found:?}");
        }
    }

    fn is_malformed(found: &Result<Store, Error>) -> bool {
        matches!(found, Err(Error(Cause::Store { problem: StoreProblem::Malformed, .. })))
    }

    /// Put another description at the head of a store.
    fn with_description(mut bytes: Vec<u8>, description: &Description) -> Vec<u8> {
        let mut head = Vec::new();
        let version = if bytes[8] == 3 { 3 } else { 1 };
        let frame = Frame { version, ..FRAME };
        let mut content = content(description).unwrap();
        if version == 3 && description.classes.is_empty() {
            content.push(0);
        }
        frame.write(&mut head, &content).unwrap();
        bytes[..head.len()].copy_from_slice(&head);
        bytes
    }
}
