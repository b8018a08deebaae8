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
    // Summed in another order than while fitting; the difference is amplified by the features' condition number.
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
    let mut text = "id,c,y,a,note,b\n".to_owned();
    for (row, target) in sample.features.iter().zip(&sample.target) {
        text += &format!("r1,{},{target},{},\"some, text\",{}\n", row[2], row[0], row[1]);
    }
    let run = predict(&folder, "reordered.csv", &text).good();
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

#[test]
fn columns_without_names_are_matched_by_position() {
    let (folder, sample) = folder();
    let expected = folder.run("predict m a.csv").good().out;
    for with_target in [false, true] {
        let run = predict(&folder, "a.npy", sample.npy(with_target)).good();
        assert_eq!(run.out, expected);
        assert_eq!(run.err.is_empty(), !with_target, "{}", run.err);
    }
    let nameless = sample.features_csv().split_once('\n').unwrap().1.to_owned();
    assert_eq!(predict(&folder, "nameless.csv", nameless).good().out, expected);
    let renamed = sample.features_csv().replace("a,b,c", "p,q,r");
    assert_eq!(predict(&folder, "renamed.csv", renamed).good().out, expected);
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
    predict(&folder, "wide.npy", wide.npy(false)).refused(&[
        "wide.npy: the model needs 3 feature columns, and the file has 6; give the columns the model was fitted on",
    ]);
    let narrow = Sample::new(5, 2);
    predict(&folder, "narrow.npy", narrow.npy(false))
        .refused(&["needs 3 feature columns, and the file has 2"]);
    predict(&folder, "other.csv", sample.features_csv().replace("a,b,c", "a,q,r")).refused(&[
        "other.csv: the model's features \"b\", \"c\" are not in the file; add or rename these columns",
    ]);
    predict(&folder, "narrow.csv", narrow.features_csv())
        .refused(&["the model's features \"c\" are not in the file"]);
    predict(&folder, "nan.csv", "a,b,c\n1,2,3\n1,nan,3\n")
        .refused(&["nan.csv, line 3, column 2 (\"b\"): \"nan\""]);
    predict(&folder, "none.csv", "a,b,c\n").refused(&["none.csv: there are no rows after the header"]);
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
    for (own, exported) in own.iter().flatten().zip(exported.iter().flatten()) {
        assert!((own - exported).abs() <= 1e-3 * own.abs().max(0.1), "{own} {exported}");
    }
    let novel = own.iter().filter(|row| row[3] == 1.0).count();
    assert!(novel < own.len() / 10, "{novel}");
    let clamped = |model: &str| column(&folder.run(&format!("predict {model} a.csv --clamp")).good().out).1;
    assert_eq!(clamped("with").len(), clamped("with.bin").len());
    folder.run("predict plain.bin a.csv --with novelty").refused(&["limits", "export", "novelty"]);
    folder.run("predict plain.bin a.csv --with variance").refused(&["variances", "export", "variance"]);
    folder.run("predict plain.bin a.csv --clamp").refused(&["limits", "export"]);
}
