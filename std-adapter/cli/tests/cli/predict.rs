//! `dpp-nystrom predict`.

use crate::command::{Folder, Run, column, number};
use crate::dense::mean_and_deviation;
use crate::sample::Sample;

fn folder() -> (Folder, Sample) {
    let sample = Sample::new(150, 3);
    let folder = Folder::with("a.csv", sample.csv());
    folder.run("fit --metric one a.csv --landmarks 12 --model m").good();
    (folder, sample)
}

fn predict(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> Run {
    folder.write(name, content);
    folder.run(&format!("predict m {name}"))
}

#[test]
fn raw_rows_are_predicted_in_the_targets_units() {
    let (folder, sample) = folder();
    let report = folder.run("info m --json").good().json();
    let run = folder.run("predict m a.csv").good();
    let (name, predictions) = column(&run.out);
    assert_eq!((name, predictions.len()), ("y", 150));
    let squared: f64 =
        predictions.iter().zip(&sample.target).map(|(found, target)| (found - target).powi(2)).sum();
    let error = (squared / 150.0).sqrt();
    let share = error / mean_and_deviation(&sample.target).1;
    // Summed in another order than while fitting; the difference is amplified by the features' condition
    // number.
    assert!((share - number(&report, "train_nrmse")).abs() < 1e-9, "{share} {report}");
    let told: Vec<f64> = run.err.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    assert!((told[0] - error).abs() < 1e-4 && (told[1] - share).abs() < 1e-4, "{} {error} {share}", run.err);
    assert!(run.err.starts_with("root mean square error ") && run.err.contains("standard deviation"));
    assert!(share < 0.5, "not much better than the mean: {share}");
}

#[test]
fn columns_are_matched_by_name() {
    let (folder, sample) = folder();
    let expected = folder.run("predict m a.csv").good().out;
    assert_eq!(predict(&folder, "features.csv", sample.features_csv()).good().out, expected);
    let mut text = "id,c,y,a,some note,b\n".to_owned();
    for (row, target) in sample.features.iter().zip(&sample.target) {
        text += &format!("r1,{},{target},{},\"some, text\",{}\n", row[2], row[0], row[1]);
    }
    predict(&folder, "reordered.csv", &text).refused(&[
        "the columns \"id\", \"some note\" are not the model's; remove, rename or ignore them (--ignore)",
    ]);
    let predict = |folder: &Folder, name: &str, content: String| {
        folder.write(name, content);
        folder.run(&format!("predict m {name} --ignore id,4"))
    };
    let run = predict(&folder, "reordered.csv", text.clone()).good();
    assert_eq!(run.out, expected);
    assert!(run.err.starts_with("root mean square error"), "{}", run.err);
    // A target without values counts as absent.
    let unknown: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(line, cells)| {
            let mut cells: Vec<&str> = cells.split(',').collect();
            if line > 0 {
                cells[2] = "?";
            }
            cells.join(",") + "\n"
        })
        .collect();
    let run = predict(&folder, "unknown.csv", unknown.concat()).good();
    assert_eq!((run.out, run.err), (expected, String::new()));
}

/// A file in which the columns are renamed in another case and order was once read by position, without a
/// word.
#[test]
fn a_header_is_believed() {
    let (folder, sample) = folder();
    let expected = folder.run("predict m a.csv").good().out;
    let values = |order: [usize; 3]| -> String {
        sample
            .features
            .iter()
            .map(|row| format!("{},{},{}\n", row[order[0]], row[order[1]], row[order[2]]))
            .collect()
    };
    // Permuted columns give the same bits.
    for (names, order) in [("c,a,b", [2, 0, 1]), ("b,a,c", [1, 0, 2]), ("c,b,a", [2, 1, 0])] {
        assert_eq!(
            predict(&folder, "permuted.csv", format!("{names}\n{}", values(order))).good().out,
            expected
        );
    }
    predict(&folder, "case.csv", format!("C,A,B\n{}", values([2, 0, 1]))).refused(&[
        "case.csv: the model's features \"a\" (nearest: \"A\"), \"b\" (nearest: \"B\"), \"c\" (nearest: \"C\") are not among",
    ]);
    predict(&folder, "target.csv", sample.csv().replace(",y\n", ",Y\n"))
        .refused(&["the columns \"Y\" (nearest: \"y\") are not the model's"]);
    let renamed = sample.features_csv().replace("a,b,c", "p,q,r");
    predict(&folder, "renamed.csv", &renamed)
        .refused(&["features \"a\", \"b\", \"c\" are not among the columns"]);
    assert_eq!(folder.run("predict m renamed.csv --by-position").good().out, expected);
}

#[test]
fn advice_is_of_the_command() {
    let (folder, sample) = folder();
    folder.write("a.csv", sample.csv());
    folder.run("fit --metric one a.csv --landmarks 12 --strict --model m").good();
    folder.write("word.csv", "a,b,c,y\n1,2,x,4\n1,2,3,4\n");
    let told = folder.run("predict m word.csv").err;
    assert!(told.contains("\"x\" is not a number") && !told.contains("(--"), "{told}");
    let strict = "--model n --strict";
    let words = "(--words, --ignore, --classes of a target)";
    folder.write("late.csv", "a,b,c,y\n1,2,3,4\n1,2,x,4\n");
    folder.run(&format!("fit late.csv {strict}")).refused(&["\"x\" is not a number", words]);
    folder.write("gap.csv", "a,b,c,y\n1,2,,4\n1,2,3,4\n");
    folder.run(&format!("fit gap.csv {strict}")).refused(&["(--missing drop, mean or indicator, --ignore)"]);
    folder.run("predict m gap.csv").refused(&["(fit --missing drop, mean or indicator)"]);
}

#[test]
fn positions_are_taken_where_neither_side_has_names() {
    let (folder, sample) = folder();
    let expected = folder.run("predict m a.csv").good().out;
    for with_target in [false, true] {
        predict(&folder, "a.npy", sample.npy(with_target))
            .refused(&["the model's columns have names", "(--by-position)"]);
        let run = folder.run("predict m a.npy --by-position").good();
        assert_eq!(run.out, expected);
        assert_eq!(run.err.is_empty(), !with_target, "{}", run.err);
    }
    let nameless = sample.features_csv().split_once('\n').unwrap().1.to_owned();
    predict(&folder, "nameless.csv", &nameless)
        .refused(&["the model's columns have names", "(--by-position)"]);
    assert_eq!(folder.run("predict m nameless.csv --by-position").good().out, expected);
    // A model without names.
    let all = sample.csv().split_once('\n').unwrap().1.to_owned();
    folder.write("all.csv", &all);
    folder.run("fit --metric one all.csv --landmarks 12 --model n").good();
    let expected: Vec<String> = expected.lines().skip(1).map(str::to_owned).collect();
    folder.write("new.npy", sample.npy(false));
    for data in ["all.csv", "nameless.csv", "new.npy"] {
        let found = folder.run(&format!("predict n {data}")).good().out;
        assert_eq!(found.lines().skip(1).map(str::to_owned).collect::<Vec<_>>(), expected, "{data}");
    }
    folder.run("predict n a.csv").refused(&["the model was fitted to columns without", "(--by-position)"]);
    // Also if columns were set aside in training, and the target was not the last.
    let wide: String = sample
        .csv()
        .lines()
        .skip(1)
        .enumerate()
        .map(|(row, line)| {
            let (features, target) = line.rsplit_once(',').unwrap();
            format!("{target},{row},{features}\n")
        })
        .collect();
    folder.write("wide.csv", &wide);
    folder.run("fit --metric one wide.csv --target 0 --ignore 1 --landmarks 12 --model w").good();
    let bare: String = wide.lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n").collect();
    folder.write("bare.csv", bare);
    for data in ["wide.csv", "bare.csv", "nameless.csv"] {
        let found = folder.run(&format!("predict w {data}")).good().out;
        assert_eq!(found.lines().skip(1).map(str::to_owned).collect::<Vec<_>>(), expected, "{data}");
    }
}

#[test]
fn predictions_are_written() {
    let (folder, _) = folder();
    let printed = folder.run("predict m a.csv").good();
    let written = folder.run("predict m a.csv --out p.csv").good();
    assert_eq!((written.out.as_str(), folder.text("p.csv")), ("", printed.out));
    assert_eq!(written.err, printed.err);
}

#[test]
fn single_rows_are_predicted() {
    let (folder, sample) = folder();
    let all = folder.run("predict m a.csv").good().out;
    let one: Vec<&str> = all.lines().take(2).collect();
    let text: Vec<String> = sample.features_csv().lines().take(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(predict(&folder, "one.csv", text.concat()).good().out, one.join("\n") + "\n");
}

#[test]
fn rows_of_another_shape_are_refused() {
    let (folder, sample) = folder();
    let wide = Sample::new(5, 6);
    folder.write("wide.npy", wide.npy(false));
    folder.run("predict m wide.npy --by-position").refused(&[
        "wide.npy: the model needs 3 feature columns, and the file has 6; give the columns the model was fitted on",
    ]);
    let narrow = Sample::new(5, 2);
    folder.write("narrow.npy", narrow.npy(false));
    folder
        .run("predict m narrow.npy --by-position")
        .refused(&["needs 3 feature columns, and the file has 2"]);
    predict(&folder, "other.csv", sample.features_csv().replace("a,b,c", "a,q,r")).refused(&[
        "other.csv: the model's features \"b\", \"c\" are not among the columns; add or rename these",
    ]);
    predict(&folder, "narrow.csv", narrow.features_csv())
        .refused(&["the model's features \"c\" are not among the columns"]);
    // A gap is filled, and told, unless the model is strict.
    let filled = predict(&folder, "nan.csv", "a,b,c\n1,2,3\n1,nan,3\n").good();
    assert!(filled.err.contains("1 gap was filled with means"), "{}", filled.err);
    folder.run("fit --metric one a.csv --strict --landmarks 8 --model m").good();
    predict(&folder, "nan.csv", "a,b,c\n1,2,3\n1,nan,3\n")
        .refused(&["nan.csv, line 3, column 2 (\"b\"): the value is missing (\"nan\")"]);
    predict(&folder, "none.csv", "a,b,c\n").refused(&["none.csv: there are no rows after the header"]);
}

#[test]
fn predictions_are_written_as_an_array() {
    let (folder, _) = folder();
    let csv = folder.run("predict m a.csv --with nearest,novelty").good().out;
    folder.run("predict m a.csv --with nearest,novelty --out p.npy").good();
    let numbers = |text: &str| -> Vec<f64> {
        text.lines().skip(1).flat_map(|line| line.split(',')).map(|cell| cell.parse().unwrap()).collect()
    };
    let bytes = folder.bytes("p.npy");
    let array = npyz::NpyFile::new(&bytes[..]).unwrap();
    assert_eq!(array.shape(), [csv.lines().count() as u64 - 1, 3]);
    assert_eq!(array.into_vec::<f64>().unwrap(), numbers(&csv));
    // Of classes the place of the class in the model's list.
    let rows: String = (0..60).map(|i| format!("{},{},{}\n", i % 7, i % 5, ["b", "a", "c"][i % 3])).collect();
    folder.write("k.csv", format!("p,q,kind\n{rows}"));
    folder.run("fit k.csv --metric one --landmarks 9 --model k").good();
    folder.run("predict k k.csv --out k.npy").good();
    let bytes = folder.bytes("k.npy");
    let array = npyz::NpyFile::new(&bytes[..]).unwrap().into_vec::<f64>().unwrap();
    let classes = folder.run("predict k k.csv").good().out;
    for (line, row) in classes.lines().skip(1).zip(array.chunks(3)) {
        let fields: Vec<&str> = line.split(',').collect();
        let place = ["a", "b", "c"].iter().position(|class| *class == fields[0]).unwrap();
        assert_eq!(row, [place as f64, fields[1].parse().unwrap(), fields[2].parse().unwrap()]);
    }
}

#[test]
fn rows_far_from_the_training_rows() {
    let (folder, _) = folder();
    // Far from every landmark a Gaussian model predicts the mean of the target.
    let far = predict(&folder, "far.csv", "a,b,c\n1e300,-1e300,1e308\n-1e308,0,0\n").good();
    let (_, predictions) = column(&far.out);
    assert!(predictions[0] == predictions[1] && predictions[0].is_finite(), "{predictions:?}");
    folder.run("fit --metric one a.csv --landmarks 8 --kernel polynomial --model m").good();
    predict(&folder, "far.csv", "a,b,c\n0,0,0\n1e300,-1e300,1e308\n")
        .refused(&["row 1 (from 0): the prediction is not finite", "remove the row"]);
}

#[test]
fn variances_that_were_asked_for_and_are_not_there_are_an_error() {
    let (folder, _) = folder();
    folder.run("fit --metric one a.csv --landmarks 80 --variance --model few").refused(&[
        "the model has no variances, and was not written",
        "100 rows beside the landmarks",
        "--landmarks",
    ]);
    assert!(!folder.path("few").exists());
    folder.run("fit --metric one a.csv --landmarks 80 --model few").good();
}

/// What a device will say of a row can be seen before it is flashed.
#[test]
fn exported_bytes_say_what_the_model_says() {
    let (folder, _) = folder();
    folder.run("fit --metric one a.csv --landmarks 12 --variance --model with").good();
    folder.run("export with --to bytes --with novelty,variance --out with.bin").good();
    folder.run("export with --to bytes --out plain.bin").good();
    let columns = "--with variance,nearest,novelty";
    let table = |model: &str| {
        let run = folder.run(&format!("predict {model} a.csv {columns}")).good();
        let rows = run.out.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap()).collect());
        rows.collect::<Vec<Vec<f64>>>()
    };
    let (own, exported) = (table("with"), table("with.bin"));
    assert!(own.len() > 50 && own.len() == exported.len());
    // The limit of novelty is the distance of a row, which may be on either side of it in single precision.
    let limit = own.iter().filter(|row| row[3] == 0.0).map(|row| row[2]).fold(0.0, f64::max);
    for (own, exported) in own.iter().zip(&exported) {
        let is_at_limit = (own[2] - limit).abs() < 1e-6 * limit;
        let compared = if is_at_limit { 3 } else { 4 };
        for (own, exported) in own.iter().zip(exported).take(compared) {
            assert!((own - exported).abs() <= 1e-3 * own.abs().max(0.1), "{own} {exported}");
        }
    }
    let novel = own.iter().filter(|row| row[3] == 1.0).count();
    assert!(novel < own.len() / 10, "{novel}");
    let clamped = |model: &str| column(&folder.run(&format!("predict {model} a.csv --clamp")).good().out).1;
    assert_eq!(clamped("with").len(), clamped("with.bin").len());
    folder.run("predict plain.bin a.csv --with novelty").refused(&["limits", "export", "novelty"]);
    folder.run("predict plain.bin a.csv --with variance").refused(&["variances", "export", "variance"]);
    folder.run("predict plain.bin a.csv --clamp").refused(&["limits", "export"]);
}
