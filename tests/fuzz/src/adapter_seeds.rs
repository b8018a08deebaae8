//! Seeds of the adapter's targets.

use crate::checkpoint::left;
use crate::container::{sheet, workbook_of, zipped};
use crate::fleet;
use crate::input::{Input, file, written};
use crate::seeds::{Seeds, after, part};
use dpp_nystrom::Scale;
use dpp_nystrom::data::store::{Description, convert_with};
use dpp_nystrom::data::table::{Labels, Missing, Options, Recipe, Target};
use dpp_nystrom::data::{Classes, Map, Scaler, TargetColumn};
use dpp_nystrom::kernel::Precision;
use dpp_nystrom::model::export::Bits;
use dpp_nystrom::model::{
    AnyCoefficients, Classifier, Coefficients, Confidence, Estimate, Importance, Importances, Output,
    TestError,
};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{Dataset, Gaussian, KernelRidge, Model, Nystroem, Sigma};
use std::fs;
use std::sync::OnceLock;

const DELIMITED: [&str; 7] = [
    "a,b,y\n1,2,3\n4.5,-1e3,0.25\n",
    "id;kind;y\n7;\"x;1\";1,5\n8;z;2,5\n",
    "1 2 3\n4 5 6\n",
    "a\tb\n1\t?\nNA\t2\n3\t4\n",
    "\u{feff}when,kind,y\r\n1,red,a\r\n2,blue,b\r\n",
    "a,\"b\"\"c\",y\r1,2,3\r",
    "# x\n0x1,inf,nan\n1e400,1_0,\u{664}\n",
];
const LIBSVM: [&str; 3] = ["1 1:0.5 3:2\n-1 2:1e3 # x\n", "2.5 qid:3 1:1\n0 2:2\n", "+1 100000:1\n"];
const ARFF: [&str; 3] = [
    "% x\n@relation 'a b'\n@attribute x real\n@attribute \"k\\\"\" {a, 'b c', ?}\n@attribute y numeric\n@data\n1, a, 2\n3 'b c' 4\n",
    "@relation r\n@attribute a {x,y}\n@attribute b integer [0,1]\n@data\n?,1\ny,2,\n",
    "@relation r\n@attribute d date 'y'\n@data\n{0 1}\n",
];

/// Columns that ask for a decision, where a table is taken as it is.
const TAKEN: [&str; 4] = [
    "id,when,sum,share,roof,y\n1,2014-10-13,\"1,234,567\",5%,flat,0.5\n2,2014-11-01,\"2,345,678\",,flat,1\n3,,\"345,678\",7%,flat,2\n",
    "c0,c1,c2\n1/2/2014,2,a\n13/2/2014,3,b\n1/5/2015,5more,a\n",
    "c0;c1;y\n1,5;x;1\n2,5;;2\n3,25;z;True\n",
    "c0,c1\n2014-10-13,1\n,2\n,3\n",
];

/// Return a model without sections.
pub(crate) fn plain_model() -> Model {
    static PLAIN: OnceLock<Model> = OnceLock::new();
    PLAIN.get_or_init(fit_plain).clone()
}

fn fit_plain() -> Model {
    let x: Vec<f64> = (0..80).map(|i| f64::from(i % 17) + 0.1 * f64::from(i)).collect();
    let y: Vec<f64> = (0..40).map(|i| f64::from(i).sin()).collect();
    let data = Dataset::from_rows(&x, 2).and_then(|data| data.with_target(&y)).expect("rows");
    let map = Nystroem::params(3).kernel(Gaussian::new(Sigma::Value(1.5))).fit(&data).expect("landmarks");
    Model::clone(&KernelRidge::params(&map).fit(&data).expect("a model"))
}

fn models() -> Vec<Model> {
    let plain = plain_model();
    // With every section: two classes, a linear map to one number, integers, a recipe with weights.
    let Coefficients { weights, .. } = plain.coefficients.to_f64();
    let indicator = |label: &str| TargetColumn { name: label.into(), mean: 0.5, deviation: 0.5 };
    let names = Recipe::of_names(&plain.feature_names, Some("y"));
    let recipe = Recipe { weight: Some("w".into()), ignored: vec!["w".into()], ..names };
    let confidence = Confidence {
        range: [-1.0, 1.0],
        nearest: [0.5, 1.0, 2.0],
        residual: [0.1, 0.2, 0.4],
        penalty: 0.1,
        noise: 0.2,
        triangle: Vec::new(),
    };
    let classes = Classes { column: "k".into(), labels: vec!["u".into(), "v".into()] };
    let full = Model {
        confidence: Some(confidence),
        scales: Some(vec![0.75, 0.25]),
        importances: Some(Importances {
            columns: vec![Importance { column: "a".into(), rise: 0.5, deviation: 0.1 }],
            rows: 9,
        }),
        test_error: Some(TestError {
            rows: 9,
            error: Estimate { value: 0.5, standard_error: 0.1 },
            log_loss: Some(Estimate { value: 0.7, standard_error: 0.2 }),
        }),
        quantise: Some(Bits::Eight),
        recipe: Some(recipe),
        further: vec![Output { target: indicator("v"), weights: weights.clone() }],
        classifier: Some(Classifier { classes, temperature: 0.5 }),
        scaler: Scaler { map: Some(Map { rank: 1, values: vec![1.0, -0.5] }), ..plain.scaler.clone() },
        coefficients: AnyCoefficients::F64(Coefficients { landmarks: weights.clone(), weights }),
        ..plain.clone()
    };
    vec![plain, full, left().1.clone()]
}

fn descriptions() -> Vec<Vec<u8>> {
    let path = written("seed.csv", b"a,k,b,y\n1,u,2,3\n3,v,?,9\n5,u,7,1\n");
    let out = file("seed.rows");
    let mut seeds = Vec::new();
    for (precision, missing, target, labels) in [
        (Precision::F32, Missing::Mean, Target::Last, Labels::None),
        (Precision::F64, Missing::Drop, Target::None, Labels::None),
        (Precision::F64, Missing::Drop, Target::Name("k".into()), Labels::All),
    ] {
        let options = Options { missing, target, labels, ..Options::default() };
        let (store, _) =
            convert_with(&path, &options, (precision, Scale::Standard), &out, &NoObserver).expect("a store");
        let description: &Description = store.description();
        let mut content = postcard::to_allocvec(description).expect("memory");
        if let Some(recipe) = &description.recipe {
            content.extend(postcard::to_allocvec(recipe).expect("memory"));
        }
        if !description.classes.is_empty() {
            content.extend(postcard::to_allocvec(&description.classes).expect("memory"));
        }
        let bytes = fs::read(&out).expect("a store");
        let values = &bytes[4_096..];
        seeds.push([&[0], part(&content).as_slice(), values].concat());
        seeds.push([&[7], bytes.as_slice()].concat());
    }
    seeds
}

/// Return the seeds of the adapter's targets.
pub(crate) fn all() -> Seeds {
    let text = |seeds: &[&str]| {
        let seeds: Vec<&[u8]> = seeds.iter().map(|seed| seed.as_bytes()).collect();
        // Usual options, and others.
        [after(&[0], &seeds), after(&[1, 4, 1, 2, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0], &seeds)].concat()
    };
    let numbers: Vec<u8> = (0..24).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    let recipes: Vec<Vec<u8>> = ["a,k,y\n1,u,3\n?,v,9\n5,u,1\n", "1,2\n3,4\n"]
        .iter()
        .map(|csv| {
            let options = Options { missing: Missing::Indicator, ..Options::default() };
            let read = options.read(&written("seed.csv", csv.as_bytes())).expect("a table");
            let recipe = postcard::to_allocvec(&read.recipe).expect("memory");
            [&[0], part(&recipe).as_slice(), &[0, 0], csv.as_bytes()].concat()
        })
        .collect();
    let files: Vec<Vec<u8>> = models().iter().map(|model| model.to_bytes().expect("memory")).collect();
    let mut gzip = after(&[0, 1], &[]);
    for (inner, seed) in [(0, DELIMITED[0]), (1, ARFF[0]), (2, LIBSVM[0])] {
        gzip.push([&[inner, 0, 0], seed.as_bytes()].concat());
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, seed.as_bytes()).expect("memory");
        gzip.push([&[inner, 1, 0], &encoder.finish().expect("memory")[2..]].concat());
    }
    let any: Vec<u8> = (0..240).map(|byte: u8| byte.wrapping_mul(37)).collect();
    let mut archive = Vec::new();
    for (inner, seed) in [(0, DELIMITED[0]), (1, ARFF[0]), (2, LIBSVM[0])] {
        for deflated in [0, 1] {
            archive.push([&[inner, 0, deflated, 2, 9, 0], seed.as_bytes()].concat());
            let bytes = zipped(&[("a.csv", seed.as_bytes())], deflated == 1);
            archive.push([&[inner, 1, deflated, 0, 0, 0], &bytes[4..]].concat());
        }
    }
    let (cells, _) = sheet(&mut Input::new(&any), 3);
    let workbook = vec![
        [&[0, 0], &workbook_of(cells.as_bytes())[4..]].concat(),
        [&[1, 0], cells.as_bytes()].concat(),
        [&[2, 0, 2, 0], any.as_slice()].concat(),
        [&[3, 0, 3, 1], any.as_slice()].concat(),
    ];
    // The usual options, and others; text, and columns of each kind.
    let texts: Vec<&[u8]> = TAKEN.iter().map(|seed| seed.as_bytes()).collect();
    let mut taken = [after(&[0; 9], &texts), after(&[1, 1, 1, 0, 1, 1, 1, 0, 0], &texts)].concat();
    for first in 0..12 {
        let kinds = [first, first + 5, 5, first + 3, 0].map(|kind| kind % 12);
        taken.push([&[0, 0, 0, 0, 0, 0, 0, 1, 4], kinds.as_slice(), &any].concat());
    }
    vec![
        ("archive", archive),
        ("arff", text(&ARFF)),
        ("checkpoint", after(&[0], &[&left().0])),
        ("delimited", text(&DELIMITED)),
        ("fleet", vec![vec![0, 0, 40, 2, 0, 1, 2], [&[0, 2], fleet::state().0.as_slice()].concat()]),
        ("gzip", gzip),
        ("libsvm", text(&LIBSVM)),
        ("model", after(&[0], &files.iter().map(Vec::as_slice).collect::<Vec<_>>())),
        ("npy", (0..10).map(|kind| [&[0, 0, 1, kind, kind & 1], numbers.as_slice()].concat()).collect()),
        ("recipe", recipes),
        ("store", descriptions()),
        ("taken", taken),
        ("workbook", workbook),
    ]
}
