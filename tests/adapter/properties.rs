//! Properties of fits and files that hold for any rows: what must not matter does not.

use dpp_nystrom::Error;
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::{Missing, Options, Reading, Table, Target};
use dpp_nystrom::kernel::{KernelKind, KernelSpec, Precision};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{Model, faer};
use dpp_nystrom::{
    Ridge,
    regression::{Accumulator, FitParams, fit},
};
use faer::prelude::Solve;
use proptest::prelude::*;

const LANDMARKS: usize = 4;

/// Rows of `dim` features and a target, as many as there are numbers for.
fn table(dim: usize, numbers: &[f64]) -> Table {
    let rows: Vec<&[f64]> = numbers.chunks_exact(dim + 1).collect();
    Table {
        name: "rows".into(),
        feature_names: (0..dim).map(|column| format!("f{column}")).collect(),
        dim,
        features: rows.iter().flat_map(|row| &row[..dim]).copied().collect(),
        target: Some(rows.iter().map(|row| row[dim]).collect()),
        target_name: Some("y".into()),
        weights: None,
    }
}

/// Apply an order of rows.
fn reordered(table: &Table, order: &[usize]) -> Table {
    let target = table.target.as_ref().unwrap();
    Table {
        features: order.iter().flat_map(|&row| table.row(row)).copied().collect(),
        target: Some(order.iter().map(|&row| target[row]).collect()),
        ..table.clone()
    }
}

fn fitted(table: &Table, landmarks: &[usize]) -> Model {
    let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.5 };
    let params = FitParams { kernel, ridge: Ridge::Value(1e-2), precision: Precision::F64, seed: 1 };
    let source = Prepared::new(table.clone(), None, 1).unwrap();
    fit(&source, &LandmarkSet::Indices(landmarks.to_vec()), params, None, &NoObserver).unwrap().model
}

fn close(one: &[f64], other: &[f64], tolerance: f64) -> bool {
    let size = one.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| (a - b).abs() <= tolerance * size)
}

/// The first rows are distinct, so that they are landmarks.
fn tables() -> impl Strategy<Value = Table> {
    (1..4_usize, 12..40_usize).prop_flat_map(|(dim, rows)| {
        prop::collection::vec(-8.0..8.0_f64, (dim + 1) * rows).prop_map(move |mut numbers| {
            for (at, row) in numbers.chunks_exact_mut(dim + 1).take(LANDMARKS).enumerate() {
                row[0] = 20.0 * at as f64 - 30.0 + row[0] / 8.0;
            }
            table(dim, &numbers)
        })
    })
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() }
}

/// Options of which blocks took the second pass for a model's: a file read whole was refused in blocks.
#[test]
fn a_choice_of_columns_is_read_in_two_passes_by_position_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a,b,y\n1,2,3\n,4,5\n6,7,8\n").unwrap();
    let columns = vec!["a".to_owned()];
    let options = Options { columns, missing: Missing::Mean, by_position: true, ..Options::default() };
    let whole = options.read(&path).unwrap().table;
    let mut features = Vec::new();
    let receive = |block: Reading| {
        features.extend(block.table.features);
        Ok::<(), Error>(())
    };
    options.read_blocks(&path, receive).unwrap();
    assert_eq!(features, whole.features);
}

/// A file without names and without a target.
#[test]
fn rows_without_names_and_target_are_read_in_two_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "1,2\n,4\n6,7\n").unwrap();
    let options = Options { target: Target::None, missing: Missing::Mean, ..Options::default() };
    let whole = options.read(&path).unwrap().table;
    let mut features = Vec::new();
    let receive = |block: Reading| {
        features.extend(block.table.features);
        Ok::<(), Error>(())
    };
    options.read_blocks(&path, receive).unwrap();
    assert_eq!(features, whole.features);
    assert_eq!(features, [1.0, 2.0, 3.5, 4.0, 6.0, 7.0]);
}

/// Entries that a sparse row leaves out are zeros, whatever their column is for.
#[test]
fn what_a_sparse_row_leaves_out_is_zero() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.svm");
    std::fs::write(&path, "1 1:0.5 3:2\n-1 2:7\n4 1:3 2:5\n").unwrap();
    let read = |options: Options| options.read(&path).unwrap();
    let target = read(Options { target: Target::Name("f2".into()), ..Options::default() });
    assert_eq!(target.table.target, Some(vec![0.0, 7.0, 5.0]));
    let words = read(Options { words: vec!["f2".into()], ..Options::default() });
    assert_eq!(words.table.feature_names, ["f1", "f2=0", "f2=5", "f2=7", "f3"]);
    assert_eq!(words.table.row(0), [0.5, 1.0, 0.0, 0.0, 2.0]);
    assert_eq!(words.table.row(1), [0.0, 0.0, 0.0, 1.0, 0.0]);
    let group = read(Options { group: Some("f1".into()), ids: vec!["f3".into()], ..Options::default() });
    assert_eq!((group.groups, group.ids), (vec![0, 1, 2], vec!["2".into(), "0".into(), "0".to_owned()]));
}

proptest! {
    #![proptest_config(config())]

    /// The order of rows and of columns, and rows that come twice, change a fit by rounding alone.
    #[test]
    fn order_and_duplicates_do_not_matter(table in tables(), seed in any::<u64>()) {
        let landmarks: Vec<usize> = (0..LANDMARKS).collect();
        let expected = fitted(&table, &landmarks).predict(&table.features).unwrap();
        let rows = table.rows();
        // The landmarks keep their places in the order of the file, which decides only where they are.
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by_key(|&row| (row as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let mut moved: Vec<usize> =
            landmarks.iter().map(|landmark| order.iter().position(|row| row == landmark).unwrap()).collect();
        moved.sort_unstable();
        let found = fitted(&reordered(&table, &order), &moved).predict(&table.features).unwrap();
        prop_assert!(close(&expected, &found, 1e-8), "rows: {expected:?} {found:?}");

        let twice: Vec<usize> = (0..2 * rows).map(|row| row % rows).collect();
        let found = fitted(&reordered(&table, &twice), &landmarks).predict(&table.features).unwrap();
        prop_assert!(close(&expected, &found, 1e-8), "twice: {expected:?} {found:?}");

        let mut mirrored = table.clone();
        mirrored.features.chunks_exact_mut(table.dim).for_each(<[f64]>::reverse);
        mirrored.feature_names.reverse();
        let found = fitted(&mirrored, &landmarks).predict(&mirrored.features).unwrap();
        prop_assert!(close(&expected, &found, 1e-8), "columns: {expected:?} {found:?}");
    }

    /// Units that are powers of two change no bit, other units and origins no more than rounding.
    #[test]
    fn units_do_not_matter(table in tables(), power in -20..20_i32, factor in 0.1..10.0_f64, shift in -5.0..5.0_f64) {
        let landmarks: Vec<usize> = (0..LANDMARKS).collect();
        let expected = fitted(&table, &landmarks).predict(&table.features).unwrap();
        let scaled = |scale: f64, shift: f64| {
            let mut scaled = table.clone();
            scaled.features.iter_mut().for_each(|value| *value = *value * scale + shift);
            scaled.target.as_mut().unwrap().iter_mut().for_each(|value| *value = *value * scale + shift);
            let found = fitted(&scaled, &landmarks).predict(&scaled.features).unwrap();
            found.into_iter().map(|value| (value - shift) / scale).collect::<Vec<_>>()
        };
        prop_assert_eq!(&scaled(2.0_f64.powi(power), 0.0), &expected);
        let found = scaled(factor, shift);
        prop_assert!(close(&expected, &found, 1e-7), "{expected:?} {found:?}");
    }

    /// A model is its file, bit for bit, and predicts the same.
    #[test]
    fn a_model_is_its_file(table in tables()) {
        let model = fitted(&table, &[0, 1, 2, 3]);
        let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(read.predict(&table.features).unwrap(), model.predict(&table.features).unwrap());
        prop_assert_eq!(read, model);
    }

    /// Sums of parts, in any grouping, solve the normal equations of all rows.
    #[test]
    fn sums_of_parts_are_the_sum_of_all(
        rows in prop::collection::vec((prop::array::uniform3(-4.0..4.0_f64), -4.0..4.0_f64), 8..30),
        cuts in prop::array::uniform2(any::<prop::sample::Index>()),
    ) {
        let [mut one, mut two] = cuts.map(|cut| cut.index(rows.len()));
        if one > two {
            std::mem::swap(&mut one, &mut two);
        }
        let sum = |part: &[([f64; 3], f64)]| {
            let mut sum = Accumulator::<f64>::empty(3).unwrap();
            part.iter().for_each(|(features, target)| sum.add(features, *target).unwrap());
            sum
        };
        let parts = [sum(&rows[..one]), sum(&rows[one..two]), sum(&rows[two..])];
        let merged = |order: [usize; 3], right: bool| {
            let [mut a, mut b, c] = order.map(|at| parts[at].clone());
            if right {
                b.merge(&c).unwrap();
                a.merge(&b).unwrap();
            } else {
                a.merge(&b).unwrap();
                a.merge(&c).unwrap();
            }
            a
        };
        // RᵀR and RᵀQᵀy of any of them are ΦᵀΦ and Φᵀy.
        let gram = faer::Mat::from_fn(3, 3, |i, j| {
            rows.iter().map(|(x, _)| x[i] * x[j]).sum::<f64>() + f64::from(u8::from(i == j))
        });
        let right = faer::Mat::from_fn(3, 1, |i, _| rows.iter().map(|(x, y)| x[i] * y).sum::<f64>());
        let expected = gram.partial_piv_lu().solve(&right);
        let expected: Vec<f64> = (0..3).map(|i| expected[(i, 0)]).collect();
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
            for grouping in [false, true] {
                let sum = merged(order, grouping);
                prop_assert_eq!(sum.rows(), rows.len() as u64);
                let kept = Accumulator::<f64>::from_bytes(3, 7, &sum.to_bytes(7).unwrap()).unwrap();
                prop_assert_eq!(&kept, &sum);
                let mut memory = dpp_nystrom::core::RidgeWorkspace::<f64, 3>::new();
                let mut ridge = dpp_nystrom::core::RidgeRegression::new(3, memory.lend()).unwrap();
                sum.restore(&mut ridge).unwrap();
                // The penalty is the number of rows times γ.
                let solution = ridge.solve(1.0 / rows.len() as f64).unwrap();
                let found: Vec<f64> = solution.weights.iter().collect();
                prop_assert!(close(&expected, &found, 1e-9), "{order:?}: {expected:?} {found:?}");
            }
        }
    }

    /// A table of words, gaps and numbers reads as itself: whole, in blocks, by its own recipe, with its
    /// columns in another order.
    #[test]
    fn a_table_reads_as_itself(
        rows in prop::collection::vec((prop::option::of(-1e6..1e6_f64), 0..3_usize, any::<f32>()), 2..40),
        missing in prop::sample::select(vec![Missing::Drop, Missing::Mean, Missing::Indicator]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let words = ["red", "a \"b\", c", "3x"];
        let line = |(number, word, target): &(Option<f64>, usize, f32)| {
            let number = number.map_or(String::new(), |number| format!("{number:?}"));
            let target = if target.is_finite() { *target } else { 0.5 };
            [number, format!("\"{}\"", words[*word].replace('"', "\"\"")), format!("{target:?}")]
        };
        // A column with a number at its head is one of numbers.
        let first = line(&(Some(1.0), 0, 2.0));
        let lines: Vec<[String; 3]> = std::iter::once(first).chain(rows.iter().map(line)).collect();
        let written = |name: &str, order: [usize; 3]| {
            let names = ["number", "word", "y"];
            let text = order.map(|column| names[column]).join(",") + "\n";
            let rows = lines.iter().map(|line| order.map(|column| line[column].clone()).join(",") + "\n");
            let path = folder.path().join(name);
            std::fs::write(&path, text + &rows.collect::<String>()).unwrap();
            path
        };
        let options = Options { missing, allow_loss: true, ..Options::default() };
        let path = written("a.csv", [0, 1, 2]);
        let whole = options.read(&path).unwrap();
        let (mut features, mut targets) = (Vec::new(), Vec::new());
        options
            .read_blocks(&path, |block| {
                features.extend(block.table.features);
                targets.extend(block.table.target.unwrap());
                Ok::<(), Error>(())
            })
            .unwrap();
        prop_assert_eq!(&features, &whole.table.features);
        prop_assert_eq!(Some(&targets), whole.table.target.as_ref());
        let other = options.read_for(&whole.recipe, &written("b.csv", [2, 1, 0])).unwrap();
        if missing != Missing::Drop {
            prop_assert_eq!(&other.table.features, &features);
            prop_assert_eq!(other.table.target.as_ref(), Some(&targets));
        }
        let kept = rows.iter().filter(|row| missing != Missing::Drop || row.0.is_some()).count() + 1;
        prop_assert_eq!(whole.table.rows(), kept);
    }
}
