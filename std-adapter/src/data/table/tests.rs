//! Tests for every format: opening and detection, the choice of the target, and matching a model's features.

use crate::data::table::columns::Want;
use crate::data::table::input::{Origin, Reading, Table};
use crate::data::table::options::{Missing, Options};
use crate::data::table::reader::{read, read_features, read_from};
use crate::data::table::recipe::{Column, Recipe};
use crate::data::table::target::Target;
use crate::error::{Error, ErrorKind, TableError, TableProblem};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Read bytes as a file of this name.
pub(crate) fn table(name: &str, bytes: impl AsRef<[u8]>, target: &str) -> Result<Table, TableError> {
    let Ok(target) = target.parse::<Target>();
    Ok(reading(name, bytes, &Options { target, ..Options::default() })?.table)
}

/// Read bytes as a file of this name, in another way.
pub(crate) fn reading(name: &str, bytes: impl AsRef<[u8]>, options: &Options) -> Result<Reading, TableError> {
    let origin = Origin::of(options);
    read_from(bytes.as_ref(), Path::new(name), Want::Learn(None), origin)
}

/// Read bytes as a file of this name for a recipe.
fn applied(
    name: &str,
    bytes: impl AsRef<[u8]>,
    recipe: &Recipe,
    options: &Options,
) -> Result<Reading, TableError> {
    let origin = Origin::of(options);
    read_from(bytes.as_ref(), Path::new(name), Want::Apply { recipe, target: false }, origin)
}

/// Return the message with which reading fails.
pub(crate) fn message(name: &str, bytes: impl AsRef<[u8]>, target: &str) -> String {
    table(name, bytes, target).expect_err("must be rejected").to_string()
}

/// Build an NPY file, version 1.
pub(crate) fn array(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(dictionary.len()).expect("a short header").to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), dictionary.as_bytes(), data].concat()
}

fn features(name: &str, bytes: &[u8], wanted: &[&str], target: Option<&str>) -> Result<Table, TableError> {
    let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
    Ok(applied(name, bytes, &Recipe::of_names(&wanted, target), &Options::default())?.table)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

const CSV: &[u8] = b"a,b,c\n1,2,3\n4,5,6\n";
const ARFF: &[u8] =
    b"% made up\n@relation r\n@attribute kind {M, 'F x'}\n@attribute size real\n@attribute y integer\n@data\nM,1.5,2\n'F x',2.5,3,\n";

fn npy() -> Vec<u8> {
    let data: Vec<u8> = [1.0_f64, 2.0, 3.0, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    array("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n", &data)
}

#[test]
fn paths_that_cannot_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("none.csv");
    let text = read(&missing, &Target::Last).expect_err("missing").to_string();
    assert!(text.contains("none.csv: cannot be opened"), "{text}");
    assert!(text.ends_with("check the spelling and the folder"), "{text}");
    let text = read(folder.path(), &Target::Last).expect_err("a folder").to_string();
    assert!(text.ends_with("is a directory; name a file in it"), "{text}");
}

#[test]
fn reading_that_fails_half_way() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    // Longer than what is read to detect the format.
    let csv = [CSV, &b"7,8,9\n".repeat(20_000)].concat();
    let arff = [ARFF, &b"M,1,2\n".repeat(20_000)].concat();
    let npy = array("{'descr': '<f8', 'fortran_order': False, 'shape': (20000, 2), }", &[0; 160_000]);
    for (name, start) in [("a.csv", csv), ("a.arff", arff), ("a.npy", npy)] {
        let input = start.chain(Broken);
        let options = Options::default();
        let origin = Origin::of(&options);
        let error = read_from(input, Path::new(name), Want::Learn(None), origin).expect_err("broken");
        assert!(matches!(error.problem, TableProblem::Read(_)), "{error}");
        assert!(error.to_string().contains(&format!("{name}: reading failed: the disk is gone")), "{error}");
    }
}

/// Words and gaps take two passes.
#[test]
fn blocks_of_two_passes_are_the_whole_file() {
    let words = Options { words: vec!["k".into()], ids: vec!["i".into()], ..Options::default() };
    let weighted = Options { group: Some("g".into()), weight: Some("w".into()), ..words };
    let nameless = Options { header: Some(false), ignore: vec!["1".into()], ..Options::default() };
    let twice = Options { ids: vec!["x1".into()], group: Some("x1".into()), ..nameless.clone() };
    let by_index = Options { target: Target::Index(0), ..nameless };
    let filled = Options { missing: Missing::Mean, ..by_index.clone() };
    let of_feature = Options { target: Target::Name("f1".into()), ignore: Vec::new(), ..filled.clone() };
    let cases = [
        ("a.csv", "i,g,k,w,y\n5,1,u,2,3\n6,2,v,0,9\n7,2,u,4,1\n", weighted),
        ("b.csv", "1,2,3,u\n4,5,6,v\n", by_index),
        ("e.csv", "1,2,u,3\n4,5,v,6\n", Options { ignore: Vec::new(), ..twice }),
        ("c.csv", "1,2,,4\n4,5,6,7\n", filled),
        ("d.svm", "1 1:3 3:2\n2 2:1\n", of_feature),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text, options) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        let whole = options.read(&path).expect("a table");
        let mut blocks = Vec::new();
        let passed = options.read_blocks(&path, |block| {
            blocks.push(block);
            Ok::<(), Error>(())
        });
        passed.expect("blocks of a table");
        let [block] = &blocks[..] else { panic!("{} blocks", blocks.len()) };
        assert_eq!((&block.table, &block.groups, &block.ids), (&whole.table, &whole.groups, &whole.ids));
        // What is predicted has no weights.
        let plain = Options { header: options.header, ..Options::default() };
        let rows = plain.read_for(&whole.recipe, &path).expect("the same table").table;
        let target = rows.target.as_ref().expect("the same target");
        assert_eq!((rows.root_mean_square(target), &rows.weights), (0.0, &None));
    }
}

#[test]
fn empty_files_and_files_without_rows() {
    for (name, bytes) in
        [("e.csv", ""), ("e.csv", "\n \r\n\n"), ("e.arff", ""), ("e.arff", "% only\n"), ("e.npy", "")]
    {
        assert!(message(name, bytes, "last").starts_with(&format!("{name}: the file is empty")), "{bytes:?}");
    }
    assert!(message("e.csv.gz", gzip(b""), "last").contains("the file is empty"));
    for (name, bytes) in
        [("h.csv", "a,b\n"), ("h.csv", "a,b"), ("h.arff", "@attribute a real\n@attribute b real\n@data\n")]
    {
        assert!(message(name, bytes, "last").starts_with(&format!("{name}: there are no rows")), "{bytes:?}");
    }
}

#[test]
fn formats_are_detected() {
    for name in ["-", "a", "a.txt", "a.data", "a.npy", "a.csv"] {
        assert_eq!(table(name, npy(), "last").expect("npy").row(1), [3.0], "{name}");
        assert_eq!(table(name, gzip(&npy()), "last").expect("npy").row(1), [3.0], "{name}");
    }
    for name in ["-", "a", "a.txt", "a.arff"] {
        assert_eq!(table(name, ARFF, "last").expect("arff").dim, 3, "{name}");
        assert_eq!(table(name, gzip(ARFF), "last").expect("arff").dim, 3, "{name}");
        let marked = [b"\xEF\xBB\xBF", ARFF].concat();
        assert_eq!(table(name, marked, "last").expect("arff").dim, 3, "{name}");
    }
    for name in ["-", "a", "a.txt", "a.csv.gz", "A.CSV.GZ"] {
        assert_eq!(table(name, CSV, "last").expect("csv").row(1), [4.0, 5.0], "{name}");
        assert_eq!(table(name, gzip(CSV), "last").expect("csv").row(1), [4.0, 5.0], "{name}");
    }
    // The option decides whatever the ending.
    for name in ["-", "a.txt", "a.csv", "a.arff"] {
        let options = Options { libsvm: true, ..Options::default() };
        let read = reading(name, "7 1:2 3:4\n8 2:5\n", &options).expect(name).table;
        assert_eq!((read.row(0), read.row(1)), (&[2.0, 0.0, 4.0][..], &[0.0, 5.0, 0.0][..]), "{name}");
    }
    assert!(
        message("a.ods", "anything", "last").starts_with("a.ods: .ods is not a supported format; convert it")
    );
    assert!(message("a.npz.gz", "anything", "last").contains(".npz is not a supported format"));
    assert!(
        message("-", "PK\x03\x04 and more", "last")
            .starts_with("standard input: the archive cannot be read: ")
    );
}

#[test]
fn tables_are_named_after_their_files() {
    for (path, name) in
        [("x/cal.housing.arff.gz", "cal.housing"), ("x/y.csv", "y"), ("plain", "plain"), ("-", "stdin")]
    {
        let bytes = if path.contains("arff") { ARFF } else { CSV };
        assert_eq!(table(path, bytes, "last").expect(path).name, name);
    }
}

#[test]
fn gzip_members_are_concatenated_and_damage_is_reported() {
    let two = [gzip(b"1,2\n"), gzip(b"3,4\n")].concat();
    assert_eq!(table("a.gz", &two, "none").expect("two members").rows(), 2);

    let rows: String = (0..5000).map(|i| format!("{i},{}\n", i * 7919 % 1000)).collect();
    let whole = gzip(rows.as_bytes());
    let mut flipped = whole.clone();
    for byte in &mut flipped[2000..2100] {
        *byte ^= 0x55;
    }
    for bytes in [&whole[..whole.len() / 2], &whole[..5], &flipped] {
        let error = table("a.csv.gz", bytes, "last").expect_err("damaged");
        // Damaged data may also decode to text that is rejected before the checksum is verified.
        let named = matches!(
            error.problem,
            TableProblem::Gzip(_) | TableProblem::RaggedRow { .. } | TableProblem::NotANumber(_)
        );
        assert!(named, "{error}");
    }
    let text = message("a.csv.gz", &whole[..whole.len() / 2], "last");
    assert!(text.starts_with("a.csv.gz: damaged gzip data: "), "{text}");
    // An array cut short by gzip is reported as a gzip error.
    let cut = gzip(&npy());
    assert!(message("a.npy.gz", &cut[..cut.len() - 12], "last").contains("damaged gzip data"));
}

#[test]
fn the_target_is_chosen() {
    let target =
        |text: &str| table("a.csv", CSV, text).map(|t| (t.feature_names.join(" "), t.target, t.target_name));
    let expect = |names: &str, values: Option<[f64; 2]>, name: Option<&str>| {
        (names.to_owned(), values.map(Vec::from), name.map(str::to_owned))
    };
    assert_eq!(target("last").expect("last"), expect("a b", Some([3.0, 6.0]), Some("c")));
    assert_eq!(target("none").expect("none"), expect("a b c", None, None));
    assert_eq!(target("b").expect("b"), expect("a c", Some([2.0, 5.0]), Some("b")));
    assert_eq!(target("0").expect("0"), expect("b c", Some([1.0, 4.0]), Some("a")));
    let text = target("price").expect_err("unknown").to_string();
    assert_eq!(text, "a.csv: no column is called \"price\"; choose the target among \"a\", \"b\", \"c\"");
    let text = target("3").expect_err("beyond").to_string();
    assert!(text.contains("no target column 3: the file has 3 columns, counted from 0"), "{text}");
    assert!(message("a.csv", "a\n1\n", "last").contains("no feature column is left"));

    let years = table("a.csv", "name,1,0\n1,2,3\n", "0").expect("a name like an index");
    assert_eq!(
        (years.target, years.feature_names),
        (Some(vec![3.0]), vec!["name".to_owned(), "1".to_owned()])
    );
    assert_eq!(table("a.csv", "1,2,3\n", "x1").expect("a made-up name").target, Some(vec![2.0]));
}

#[test]
fn targets_are_parsed_and_shown() {
    for text in ["last", "none", "12", "price", "007", "+3", "-1", "99999999999999999999999", "Last"] {
        let Ok(target) = text.parse::<Target>();
        assert_eq!(target.to_string(), text);
    }
    assert_eq!("007".parse(), Ok(Target::Name("007".into())));
    assert_eq!(Target::default(), Target::Last);
}

#[test]
fn a_header_is_believed() {
    let csv = b"c,y,a\n3,9,1\n4,8,2\n";
    let found = features("a.csv", csv, &["a", "c"], Some("y")).expect("by name");
    assert_eq!((found.row(0), found.row(1)), ([1.0, 3.0].as_slice(), [2.0, 4.0].as_slice()));
    assert_eq!((found.target, found.target_name.as_deref()), (Some(vec![9.0, 8.0]), Some("y")));

    let text = |bytes: &[u8], wanted: &[&str], target| {
        features("a.csv", bytes, wanted, target).expect_err("another header").to_string()
    };
    let missing = "a.csv: the model's features \"b\" are not among the columns; add or rename these";
    assert_eq!(text(csv, &["a", "b"], Some("y")), missing);
    assert!(
        text(b"a,B\n1,2\n", &["a", "b"], None).contains("\"b\" (nearest: \"B\") are not among the columns")
    );
    let wanted = ["temperature", "a"];
    assert!(text(b"temprature,a\n1,2\n", &wanted, None).contains("(nearest: \"temprature\")"));
    let others = text(csv, &["a", "c"], Some("z"));
    assert!(
        others.starts_with("a.csv: the columns \"y\" are not the model's; remove, rename or ignore"),
        "{others}"
    );
    assert!(
        text(b"a,c,Y\n1,2,3\n", &["a", "c"], Some("y"))
            .contains("\"Y\" (nearest: \"y\") are not the model's")
    );
    assert!(text(b"u,v\n1,2\n", &["p", "q"], None).contains("the model's features \"p\", \"q\" are not"));
    for (bytes, wanted, part) in [
        (&b"1,2\n"[..], ["p", "q"], "the model's columns have names, and the file's have none"),
        (&b"u,v\n1,2\n"[..], ["x0", "x1"], "the model was fitted to columns without"),
    ] {
        assert!(text(bytes, &wanted, None).contains(part), "{}", text(bytes, &wanted, None));
        let recipe = Recipe::of_names(&wanted.map(str::to_owned), None);
        let options = Options { by_position: true, ..Options::default() };
        assert_eq!(applied("a.csv", bytes, &recipe, &options).expect("asked for").table.row(0), [1.0, 2.0]);
    }
    let options = Options { ignore: vec!["y".into()], ids: vec!["0".into()], ..Options::default() };
    let found = applied("a.csv", csv, &Recipe::of_names(&["a".into()], None), &options).expect("set aside");
    assert_eq!(
        (found.table.features, found.table.target, found.ids),
        (vec![1.0, 2.0], None, vec!["3".into(), "4".into()])
    );
}

#[test]
fn without_names_columns_are_matched_by_position() {
    let row = |name, bytes: &[u8], wanted: &[&str], target| {
        features(name, bytes, wanted, target).map(|t| (t.row(0).to_vec(), t.target))
    };
    assert_eq!(row("a.npy", &npy(), &["x0", "x1"], None).expect("an array"), (vec![1.0, 2.0], None));
    assert_eq!(row("a.npy", &npy(), &["x0"], None).expect("an array"), (vec![1.0], Some(vec![2.0, 4.0])));
    assert_eq!(row("a.csv", b"1,2,3\n", &["x0", "x1"], Some("y")).expect("one more").1, Some(vec![3.0]));
    // The target came first in training.
    let unnamed = ["x1", "x2"];
    assert_eq!(
        row("a.csv", b"3,1,2\n", &unnamed, Some("x0")).expect("same"),
        (vec![1.0, 2.0], Some(vec![3.0]))
    );
    assert_eq!(row("a.csv", b"1,2\n", &unnamed, Some("x0")).expect("no target"), (vec![1.0, 2.0], None));
    for (bytes, found) in [(&b"1,2,3,4\n"[..], 4), (b"1\n", 1)] {
        let text = row("a.csv", bytes, &unnamed, Some("x0")).expect_err("another width").to_string();
        let expected = format!("a.csv: the model needs 2 feature columns, and the file has {found};");
        assert!(text.starts_with(&expected), "{text}");
    }
    let result = features("a.csv", b"1\n", &[], None);
    assert!(matches!(result, Err(TableError { problem: TableProblem::NoFeatures, .. })));
}

#[test]
fn columns_without_levels_are_no_features() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a\n1\n").expect("a file");
    let column = Column { name: "a".into(), levels: Some(Vec::new()), ..Column::default() };
    let recipe = Recipe { named: true, columns: vec![column], ..Recipe::default() };
    let refused = Options::default().read_for(&recipe, &path).expect_err("no feature");
    assert_eq!(refused.name(), "NoFeatures");
}

#[test]
fn a_target_is_no_id() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "1,2\n3,4\n").expect("a file");
    let options = Options { target: Target::Index(0), ids: vec!["0".into()], ..Options::default() };
    assert_eq!(options.read(&path).expect_err("two roles").name(), "TwoRoles");
}

#[test]
fn a_group_and_a_weight_are_one_column() {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a file");
    std::fs::write(file.path(), "a,b,c,y\n1,2,3,4\n5,6,7,8\n").expect("written");
    let several = Some("1-2".to_owned());
    for options in [
        Options { group: several.clone(), ..Options::default() },
        Options { weight: several, ..Options::default() },
    ] {
        let refused = options.read(file.path()).expect_err("two columns").to_string();
        assert!(refused.ends_with("\"1-2\" names several columns: expected one"), "{refused}");
    }
}

#[test]
fn a_target_to_be_predicted_may_be_missing() {
    let none = features("a.csv", b"a,y\n1,?\n2,\n", &["a"], Some("y")).expect("no value at all");
    assert_eq!((none.rows(), none.target, none.target_name), (2, None, None));
    let text = features("a.csv", b"a,y\n1,2\n2,NA\n", &["a"], Some("y")).expect_err("some").to_string();
    assert!(text.starts_with("a.csv, line 3, column 2 (\"y\"): the value is missing (\"NA\")"), "{text}");
    assert!(message("a.csv", "a,y\n1,?\n", "y").contains("line 2, column 2"));
}

#[test]
fn some_rows_may_lack_their_target_if_that_is_asked_for() {
    let options = Options { partly_labelled: true, ..Options::default() };
    let targets = |name: &str, bytes: &[u8], recipe: &Recipe| {
        let read = applied(name, bytes, recipe, &options).expect(name);
        read.table.target.map(|target| target.iter().map(f64::to_string).collect::<Vec<_>>().join(" "))
    };
    let recipe = Recipe::of_names(&["a".into()], Some("y"));
    assert_eq!(
        targets("a.csv", b"a,y\n1,2\n2,NA\n3,\n4,NaN\n5,6\n", &recipe).as_deref(),
        Some("2 NaN NaN NaN 6")
    );
    assert_eq!(targets("a.csv", b"a,y\n1,?\n2,\n", &recipe), None);
    let data: Vec<u8> =
        [1.0, f64::NAN, 3.0, 4.0].iter().flat_map(|value: &f64| value.to_le_bytes()).collect();
    let dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n";
    let unnamed = Recipe::of_names(&["x0".into()], Some("x1"));
    assert_eq!(targets("a.npy", &array(dictionary, &data), &unnamed).as_deref(), Some("NaN 4"));
    let classes = Recipe { classes: Some(vec!["p".into(), "q".into()]), ..recipe };
    assert_eq!(targets("a.csv", b"a,y\n1,q\n2,?\n3,p\n", &classes).as_deref(), Some("1 NaN 0"));
}

#[test]
fn a_model_is_matched_to_nominal_attributes() {
    let wanted = ["kind=M", "kind=F x", "kind=Q", "size"];
    let found = features("a.arff", ARFF, &wanted, Some("y")).expect("a value the file lacks");
    assert_eq!(
        (found.row(0), found.row(1)),
        ([1.0, 0.0, 0.0, 1.5].as_slice(), [0.0, 1.0, 0.0, 2.5].as_slice())
    );
    assert_eq!(found.target, Some(vec![2.0, 3.0]));
    let text =
        features("a.arff", ARFF, &["size", "kind=M"], Some("y")).expect_err("an unseen value").to_string();
    assert!(
        text.starts_with(
            "a.arff, line 8, column 1 (\"kind\"): the model was fitted without the value \"F x\""
        ),
        "{text}"
    );
    let text = features("a.arff", ARFF, &["size"], Some("y")).expect_err("one more").to_string();
    assert!(text.contains("the columns \"kind\" are not the model's"), "{text}");
}

#[test]
fn any_bytes_are_read_or_rejected() {
    let mut state = 20_240_607_u64;
    let mut below = move |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % limit
    };
    let quoted = b"\"a \"\"b\"\"\";'c'\n\"1\";2\r\n\n3;\"4\n\"\n".to_vec();
    let fortran = array("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", &[7; 12]);
    let valid = [CSV.to_vec(), ARFF.to_vec(), npy(), fortran, quoted, gzip(CSV), gzip(ARFF), gzip(&npy())];
    let interesting = b"\0\xFF\r\n,;\t\"'\\{}?%@()9-.e\x1F\x8B";
    for round in 0..20_000 {
        let mut bytes = valid[round % valid.len()].clone();
        for _ in 0..below(4) {
            let at = below(bytes.len());
            match below(5) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = u8::try_from(below(256)).expect("a byte"),
                2 => bytes[at] = interesting[below(interesting.len())],
                3 => bytes.insert(at, interesting[below(interesting.len())]),
                _ => bytes.extend_from_within(at..),
            }
        }
        for name in ["-", "a.csv", "a.tsv", "a.arff", "a.npy"] {
            let target = ["last", "none", "0", "y"][below(4)];
            if let Ok(table) = table(name, &bytes, target) {
                assert_eq!(table.features.len(), table.rows() * table.dim);
                assert_eq!(table.feature_names.len(), table.dim);
                assert!(table.target.is_none_or(|values| values.len() * table.dim == table.features.len()));
                assert!(table.features.iter().all(|value| value.is_finite()));
            }
            drop(features(name, &bytes, &["a", "size", "kind=M"][..1 + below(3)], Some("y")));
        }
    }
}

#[test]
fn the_published_data_sets() {
    let folder = std::env::var_os("DPP_NYSTROM_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let sets = [
        ("abalone", 4177, 10),
        ("ailerons", 13750, 40),
        ("bank8FM", 8192, 8),
        ("cal.housing", 20640, 8),
        ("cpu.act", 8192, 21),
        ("cpu.small", 8192, 12),
    ];
    for (name, rows, dim) in sets {
        let path = folder.join(format!("{name}.arff"));
        if !path.exists() {
            println!("skipped: the_published_data_sets: no {name}.arff (set DPP_NYSTROM_DATA to its folder)");
            continue;
        }
        let table = read(&path, &Target::Last).expect(name);
        assert_eq!((table.name.as_str(), table.rows(), table.dim), (name, rows, dim));
        assert_eq!(table.target.as_ref().map(Vec::len), Some(rows));
        let again = read_features(&path, &table.feature_names, table.target_name.as_deref()).expect(name);
        assert_eq!(again, table);
    }
}

/// Return the blocks of a file joined together, and their number.
fn blocks(path: &Path) -> (usize, Vec<f64>, Vec<f64>) {
    let (mut count, mut features, mut targets) = (0, Vec::new(), Vec::new());
    let receive = |Reading { table: block, .. }: Reading| {
        count += 1;
        assert!(block.rows() > 0);
        features.extend(block.features);
        targets.extend(block.target.expect("a target"));
        Ok::<(), Error>(())
    };
    Options::default().read_blocks(path, receive).expect("readable");
    (count, features, targets)
}

#[test]
fn blocks_add_up_to_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let values: Vec<f64> = (0..600_000).map(f64::from).collect();
    let text: String = values.chunks(3).map(|row| format!("{},{},{}\n", row[0], row[1], row[2])).collect();
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let npy = array("{'descr': '<f8', 'fortran_order': False, 'shape': (200000, 3), }\n", &data);
    let declared = "@relation r\n@attribute a real\n@attribute b real\n@attribute y real\n@data\n";
    for (name, bytes) in [
        ("a.csv", text.clone().into_bytes()),
        ("a.csv.gz", gzip(text.as_bytes())),
        ("a.npy", npy),
        ("a.arff", [declared.as_bytes(), text.as_bytes()].concat()),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("writable");
        let whole = read(&path, &Target::Last).expect("readable");
        let (count, features, targets) = blocks(&path);
        assert_eq!(count, 2, "{name}");
        assert!(features == whole.features && Some(targets) == whole.target, "{name}");
    }
}

#[test]
fn an_error_of_the_receiver_stops_reading() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    // The invalid field after the first block is never reached.
    std::fs::write(&path, "1,2\n".repeat(300_000) + "x,y\n").expect("writable");
    let mut received = 0;
    let refused = Options::default().read_blocks(&path, |_| {
        received += 1;
        Err(Error::new(ErrorKind::Other, "told"))
    });
    assert!(refused.is_err_and(|error| error.to_string() == "told"));
    assert_eq!(received, 1);
}

#[test]
fn a_target_missing_in_some_rows_is_located() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    let wanted = Recipe::of_names(&["a".to_owned()], Some("y"));
    let read = || {
        let passed = Options::default().read_blocks_for(&wanted, &path, |_| Ok::<(), Error>(()));
        passed.map_err(|error| error.to_string())
    };
    std::fs::write(&path, "a,y\n".to_owned() + &"1,\n".repeat(600_000)).expect("writable");
    assert_eq!(read(), Ok(()));
    std::fs::write(&path, "a,y\n".to_owned() + &"1,\n".repeat(600_000) + "1,2\n").expect("writable");
    assert!(read().is_err_and(|text| text.contains("line 2, column 2 (\"y\"): the value is missing")));
    std::fs::write(&path, "a,y\n".to_owned() + &"1,2\n".repeat(600_000) + "1,\n").expect("writable");
    assert!(read().is_err_and(|text| text.contains("line 600002, column 2 (\"y\"): the value is missing")));
}
