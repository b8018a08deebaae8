//! Tables: rows are finite and whole, blocks are the whole file, the recipe reads the file alike, and so does
//! what is written of it.

use crate::input::{Input, bits, file, written};
use dpp_nystrom::Error;
use dpp_nystrom::data::table::{Labels, Limits, Missing, Options, Reading, Recipe, Target, Unknown};
use dpp_nystrom::data::table::{read as read_table, read_features};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;

/// Options from the input; the usual ones for half of all inputs.
pub(crate) fn options(input: &mut Input<'_>) -> Options {
    let mut options = Options::default();
    if !input.flag() {
        return options;
    }
    let names = ["a", "0", "1-2", "y", "x1", "last", "", "0-99999999999"];
    let name = |input: &mut Input<'_>| names[input.below(names.len())].to_owned();
    options.target = match input.below(6) {
        0 => Target::None,
        1 => Target::Index(input.below(4)),
        2 => Target::Name(name(input)),
        3 => Target::Several(vec![Target::Index(input.below(4)), Target::Name(name(input))]),
        _ => Target::Last,
    };
    options.labels = [Labels::None, Labels::Words, Labels::All][input.below(3)];
    options.missing = [Missing::Error, Missing::Drop, Missing::Mean, Missing::Indicator][input.below(4)];
    let markers = || ["none", "-999", "", "a"].map(str::to_owned).to_vec();
    options.missing_values = input.flag().then(markers);
    options.allow_loss = input.flag();
    options.unknown = [Unknown::Error, Unknown::Zero][input.below(2)];
    options.header = [None, Some(true), Some(false)][input.below(3)];
    options.separator =
        [None, Some(b';'), Some(b'\t'), Some(b' '), Some(b','), Some(input.byte())][input.below(6)];
    options.decimal_comma = input.flag().then_some(true);
    options.by_position = input.flag();
    for list in [&mut options.columns, &mut options.ignore, &mut options.ids, &mut options.words] {
        if input.below(4) == 0 {
            list.push(name(input));
        }
    }
    if input.below(4) == 0 {
        options.group = Some(name(input));
    }
    if input.below(4) == 0 {
        options.weight = Some(name(input));
    }
    if input.flag() {
        let small = u64::from(input.byte());
        options.limits = Limits {
            line: small * 8,
            columns: small,
            levels: small / 4,
            classes: small / 8,
            decompressed: small * 64,
            sparse: small * 256,
        };
    }
    options
}

/// All that a reading has for its rows: features, target, further targets and weights.
pub(crate) fn rows(reading: &Reading) -> (Vec<u64>, Option<Vec<u64>>, Vec<Vec<u64>>) {
    let Reading { table, further, .. } = reading;
    let others = further.iter().chain(&table.weights).map(|values| bits(values)).collect();
    (bits(&table.features), table.target.as_deref().map(bits), others)
}

pub(crate) fn consistent(reading: &Reading) {
    let Reading { table, further, groups, id_names, ids, recipe, .. } = reading;
    let rows = table.rows();
    assert_eq!(table.features.len(), rows * table.dim);
    assert_eq!(table.feature_names.len(), table.dim);
    assert_eq!(recipe.feature_names(), table.feature_names);
    assert_eq!(ids.len(), rows * id_names.len());
    assert!(groups.is_empty() || groups.len() == rows);
    let weights = table.weights.as_deref();
    assert!(
        weights.is_none_or(|weights| weights.len() == rows && weights.iter().all(|&weight| weight > 0.0))
    );
    if let Some(target) = &table.target {
        assert_eq!(table.root_mean_square(target), 0.0);
    }
    let targets = table.target.iter().chain(further);
    assert!(targets.clone().all(|values| values.len() == rows));
    let values = table.features.iter().chain(targets.flatten());
    assert!(values.clone().all(|value| value.is_finite()), "{table:?}");
}

/// Write a table so that it reads as itself.
fn rewritten(reading: &Reading) -> Vec<u8> {
    let Reading { table, .. } = reading;
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    let mut text = table
        .feature_names
        .iter()
        .map(quoted)
        .chain(["\"\u{1}target\"".to_owned()])
        .collect::<Vec<_>>()
        .join(",");
    for row in 0..table.rows() {
        text.push('\n');
        let target = table.target.as_ref().map_or(0.0, |target| target[row]);
        text.extend(table.row(row).iter().map(|value| format!("{value:?},")));
        text.push_str(&format!("{target:?}"));
    }
    text.into_bytes()
}

/// Read by the functions that take no options.
fn usual(path: &Path, target: &Target, whole: Option<&Reading>) {
    let table = read_table(path, target).ok();
    assert_eq!(table.as_ref().map(|table| bits(&table.features)), whole.map(|whole| rows(whole).0));
    let names = whole.map_or(Vec::new(), |whole| whole.table.feature_names.clone());
    let target = whole.and_then(|whole| whole.table.target_name.as_deref());
    let again = read_features(path, &names, target);
    let mut rows = 0;
    let recipe = Recipe::of_names(&names, target);
    let passed = Options::default().read_blocks_for(&recipe, path, |block| {
        rows += block.table.rows();
        Ok::<(), Error>(())
    });
    assert_eq!(again.ok().map(|table| table.rows()), passed.ok().map(|()| rows));
}

pub(crate) fn check(path: &Path, options: &Options) {
    let target: Target = options.target.to_string().parse().expect("any text is a target");
    assert_eq!(target.to_string(), options.target.to_string());
    let whole = options.read(path);
    if whole.as_ref().is_err_and(|error| error.name() == "Sparse") {
        // Blocks of such rows are read.
        return;
    }
    let mut blocks: Option<Reading> = None;
    let passed = options.read_blocks(path, |block| {
        match &mut blocks {
            None => blocks = Some(block),
            Some(sum) => {
                sum.table.features.extend(block.table.features);
                if let (Some(sum), Some(target)) = (&mut sum.table.target, block.table.target) {
                    sum.extend(target);
                }
                sum.further.iter_mut().zip(block.further).for_each(|(sum, values)| sum.extend(values));
                if let (Some(sum), Some(weights)) = (&mut sum.table.weights, block.table.weights) {
                    sum.extend(weights);
                }
            }
        }
        Ok::<(), Error>(())
    });
    if *options == (Options { target: options.target.clone(), ..Options::default() }) {
        usual(path, &options.target, whole.as_ref().ok());
    }
    let whole = match whole {
        Ok(whole) => whole,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            // A file that is no table is none in blocks.
            assert!(passed.is_err(), "{error}");
            return;
        }
    };
    consistent(&whole);
    let blocks = passed.map(|()| blocks.expect("a block"));
    assert_eq!(blocks.as_ref().map(rows).map_err(ToString::to_string), Ok(rows(&whole)));
    // The recipe reads the file alike, but for rows that have no target.
    let plain = Options {
        columns: Vec::new(),
        ignore: Vec::new(),
        ids: Vec::new(),
        by_position: false,
        ..options.clone()
    };
    if whole.remarks.dropped.is_empty() {
        let again = plain.read_for(&whole.recipe, path);
        assert_eq!(
            again.map(|again| bits(&again.table.features)).map_err(|error| error.to_string()),
            Ok(rows(&whole).0)
        );
    }
    // Text is read without the white space around a name.
    if whole.table.feature_names.iter().any(|name| name.trim() != name) {
        return;
    }
    let copy = written("rewritten.csv", &rewritten(&whole));
    let options = Options { header: Some(true), separator: Some(b','), ..Options::default() };
    let again =
        options.read(&copy).map_err(|error| error.to_string()).expect("a table is written as a table");
    assert_eq!(again.table.feature_names, whole.table.feature_names);
    assert_eq!(rows(&again).0, rows(&whole).0);
    assert!(whole.table.target.is_none() || rows(&again).1 == rows(&whole).1);
}

fn read(name: &str, data: &[u8]) {
    let mut input = Input::new(data);
    let options = options(&mut input);
    check(&written(name, input.rest()), &options);
}

pub(crate) fn delimited(data: &[u8]) {
    let name = ["a.csv", "a.tsv", "a.txt", "a.data"][data.len() % 4];
    read(name, data);
}

pub(crate) fn libsvm(data: &[u8]) {
    read("a.svm", data);
}

pub(crate) fn arff(data: &[u8]) {
    read("a.arff", data);
}

/// With a header that is right for half of all inputs: a shape, and numbers of a type.
pub(crate) fn npy(data: &[u8]) {
    let mut input = Input::new(data);
    if input.flag() {
        return read("a.npy", input.rest());
    }
    let options = options(&mut input);
    let types = ["<f8", "<f4", ">f8", ">f4", "|b1", "<i2", ">u4", "|i1", "<i8", "<u8"];
    let (columns, kind, fortran) = (1 + input.below(5), types[input.below(types.len())], input.flag());
    let numbers = input.rest();
    let size = usize::from(kind.as_bytes()[2] - b'0');
    let (rows, fortran) = (numbers.len() / size / columns, if fortran { "True" } else { "False" });
    let header =
        format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': ({rows}, {columns}), }}\n");
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    let bytes = [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), numbers].concat();
    check(&written("a.npy", &bytes), &options);
}

/// Any compressed bytes; or any table, compressed, which reads as itself.
pub(crate) fn gzip(data: &[u8]) {
    let mut input = Input::new(data);
    let inner = ["a.csv", "a.arff", "a.svm", "a.npy"][input.below(4)];
    let is_compressed = input.flag();
    let options = options(&mut input);
    let compressed = file(&format!("{inner}.gz"));
    if is_compressed {
        let bytes = [b"\x1f\x8b".as_slice(), input.rest()].concat();
        return check(&written(&format!("{inner}.gz"), &bytes), &options);
    }
    let plain = options.read(&written(inner, input.rest()));
    let mut encoder =
        GzEncoder::new(std::fs::File::create(&compressed).expect("a file"), Compression::fast());
    encoder.write_all(input.rest()).and_then(|()| encoder.finish().map(drop)).expect("a file");
    let options = Options { limits: Limits { decompressed: u64::MAX, ..options.limits }, ..options };
    let read = options.read(&compressed);
    match (plain, read) {
        (Ok(plain), Ok(read)) => assert_eq!((rows(&read), read.recipe), (rows(&plain), plain.recipe)),
        (plain, read) => assert_eq!(plain.is_ok(), read.is_ok(), "{plain:?} {read:?}"),
    }
}

/// A recipe of any content, of a model or not, and a file.
pub(crate) fn recipe(data: &[u8]) {
    let mut input = Input::new(data);
    let options = options(&mut input);
    let Ok(mut recipe) = postcard::from_bytes::<Recipe>(input.part()) else { return };
    if input.flag() {
        recipe.classes = Some(vec!["a".into(), "1".into()]);
    }
    if input.flag() {
        recipe.further = vec!["y".into(), "z".into()];
    }
    let path = written("recipe.csv", input.rest());
    let whole = options.read_for(&recipe, &path);
    let mut features = Vec::new();
    let passed = options.read_blocks_for(&recipe, &path, |block| {
        features.extend(block.table.features);
        Ok::<(), Error>(())
    });
    match whole {
        Ok(whole) => {
            let names = whole.recipe.feature_names();
            assert_eq!(whole.table.features.len(), whole.table.rows() * names.len());
            passed.expect("a file that is read whole is read in blocks");
            assert_eq!(bits(&features), bits(&whole.table.features));
        }
        Err(_) => assert!(passed.is_err()),
    }
}
