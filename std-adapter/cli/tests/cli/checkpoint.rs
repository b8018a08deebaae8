//! Checkpoints: each belongs to one fit, whatever option it differs by, and a damaged one is rejected.

use crate::command::Folder;
use crate::sample::{Noise, Sample};
use dpp_nystrom::Error;
use dpp_nystrom::Model;
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::data::RowSource;
use dpp_nystrom::data::store::Store;
use dpp_nystrom::data::store::convert;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{KernelKind, Precision};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{
    Ridge,
    regression::{Checkpoint, FitParams, fit},
};
use std::path::PathBuf;
use std::time::Duration;

const ROWS: usize = 300;
const LANDMARKS: [usize; 4] = [5, 60, 117, 200];
const SETTING: FitParams = FitParams {
    kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 2.0 },
    ridge: Ridge::CrossValidated,
    precision: Precision::F64,
    seed: 3,
};

fn store(folder: &Folder, name: &str, sample: &Sample) -> Store {
    folder.write("a.csv", sample.csv());
    let out = folder.path(name);
    convert(&folder.path("a.csv"), &Target::Last, Precision::F64, &out, &NoObserver).unwrap()
}

/// Return the model, and the number of rows read from the checkpoint.
fn train(
    source: &dyn RowSource,
    landmarks: &[usize],
    ridge: Ridge,
    setting: FitParams,
    checkpoint: PathBuf,
) -> Result<(Model, u64), Error> {
    let mut checkpoint = Checkpoint::new(checkpoint, Duration::ZERO);
    let landmarks = LandmarkSet::Indices(landmarks.to_vec());
    let params = FitParams { ridge, ..setting };
    let training = fit(source, &landmarks, params, Some(&mut checkpoint), &NoObserver)?;
    Ok((training.model, checkpoint.resumed()))
}

#[track_caller]
fn problem<A: std::fmt::Debug>(found: Result<A, Error>) -> String {
    found.unwrap_err().name()
}

#[test]
fn a_checkpoint_is_of_one_fit() {
    let folder = Folder::new();
    let sample = Sample::new(ROWS, 3);
    let rows = store(&folder, "a.rows", &sample);
    let mut other = sample.clone();
    other.target[7] += 1.0;
    let other = store(&folder, "b.rows", &other);
    let (kernel, kind) = (SETTING.kernel, KernelKind::Laplace);
    for ridge in [Ridge::Value(1e-3), Ridge::CrossValidated] {
        let at = || folder.path(&format!("{ridge:?}"));
        let (whole, resumed) = train(&rows, &LANDMARKS, ridge, SETTING, at()).unwrap();
        assert_eq!(resumed, 0);
        // The library leaves the checkpoint to its caller.
        assert_eq!(train(&rows, &LANDMARKS, ridge, SETTING, at()).unwrap(), (whole.clone(), ROWS as u64));
        for (store, landmarks, ridge, setting) in [
            (&other, LANDMARKS, ridge, SETTING),
            (&rows, [5, 60, 117, 201], ridge, SETTING),
            (&rows, LANDMARKS, Ridge::Value(2e-3), SETTING),
            (&rows, LANDMARKS, ridge, FitParams { seed: 4, ..SETTING }),
            (&rows, LANDMARKS, ridge, FitParams { kernel: KernelSpec { sigma: 2.5, ..kernel }, ..SETTING }),
            (&rows, LANDMARKS, ridge, FitParams { kernel: KernelSpec { kind, ..kernel }, ..SETTING }),
        ] {
            let found = train(store, &landmarks, ridge, setting, at());
            assert_eq!(problem(found), "CheckpointAnother", "{landmarks:?} {ridge:?} {setting:?}");
        }
        // A rejected checkpoint is unchanged.
        assert_eq!(train(&rows, &LANDMARKS, ridge, SETTING, at()).unwrap(), (whole, ROWS as u64));
    }
}

#[test]
fn a_damaged_checkpoint_is_refused_wherever_the_damage_is() {
    let folder = Folder::new();
    let rows = store(&folder, "a.rows", &Sample::new(ROWS, 3));
    let learn = || train(&rows, &LANDMARKS, Ridge::Value(1e-3), SETTING, folder.path("c"));
    learn().unwrap();
    let whole = folder.bytes("c");
    let refused = |bytes: &[u8]| {
        folder.write("c", bytes);
        problem(learn())
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let found = refused(&bytes);
        match at {
            0..8 => assert_eq!(found, "CheckpointForeign", "{at}"),
            8..12 => assert_eq!(found, "CheckpointVersion", "{at}"),
            _ => assert_eq!(found, "CheckpointCorrupt", "{at}"),
        }
    }
    for end in 0..whole.len() {
        let expected = if end < 16 { "CheckpointForeign" } else { "CheckpointCorrupt" };
        assert_eq!(refused(&whole[..end]), expected, "{end}");
    }
    assert_eq!(refused(&[&whole[..], &[0]].concat()), "CheckpointCorrupt");
    folder.write("c", &whole);
    assert_eq!(learn().unwrap().1, ROWS as u64);
}

/// What a fit does under the checkpoint of the same fit without an option.
#[cfg(target_os = "linux")]
enum Under {
    /// Says that the checkpoint is of another fit, and what differs; or that it takes none.
    Refused(&'static str),
    /// Resumes, and writes the model of a fit without a checkpoint: the option decides nothing of the
    /// regression.
    Resumes,
    /// Begins anew: the checkpoint is another file.
    Anew,
    /// Wrong usage.
    Misused,
}

/// All options of `fit`: which, the words of both fits besides, and the words that change it. A word that is
/// there already is replaced with its value; `-word` is taken away.
#[cfg(target_os = "linux")]
const OPTIONS: [(&str, &str, &str, Under); 54] = {
    use Under::{Anew, Misused, Refused, Resumes};
    const ROWS: Under = Refused("what differs: rows or targets");
    const PLACES: Under = Refused("what differs: landmarks");
    const KERNEL: Under = Refused("what differs: kernel or bandwidth");
    const FOLDS: Under = Refused("what differs: folds");
    [
        ("DATA", "", "b.csv", ROWS),
        ("--threads", "", "--threads 2", Resumes),
        ("--scale", "", "--scale robust", ROWS),
        ("--rows", "", "--rows 110", ROWS),
        ("--seed", "", "--seed 2", PLACES),
        ("--landmarks", "--landmarks 12", "--landmarks 13", PLACES),
        ("--method", "", "--method rpcholesky", PLACES),
        ("--tolerance", "", "--tolerance 0.3 -landmarks", PLACES),
        ("--tolerance-on", "--tolerance 0.6 -landmarks", "--tolerance-on prediction", PLACES),
        ("--max-landmarks", "--tolerance 0.3 -landmarks", "--max-landmarks 20", Resumes),
        ("--curve", "--tolerance 0.3 -landmarks", "--curve c.svg", Resumes),
        ("--steps", "--method kdpp", "--steps 20", PLACES),
        ("--chain", "--method kdpp", "--chain metropolis", PLACES),
        ("--pivot-rows", "--method rpcholesky", "--pivot-rows 40", PLACES),
        ("--refine", "", "--refine 1", PLACES),
        ("--refine-sample", "--refine 1", "--refine-sample 3", PLACES),
        ("--refine-rows", "--refine 1", "--refine-rows 30", PLACES),
        ("--budget", "--method auto", "--budget 1ms", PLACES),
        ("--kernel", "", "--kernel laplace", KERNEL),
        ("--degree", "--kernel polynomial --landmarks 8", "--degree 2", KERNEL),
        ("--sigma", "", "--sigma 3", KERNEL),
        ("--precision", "", "--precision f32", Refused("what differs: precision")),
        ("--metric", "", "--metric scales", ROWS),
        ("--drop-below", "--metric scales", "--drop-below 1%", Misused),
        ("--free-landmarks", "--metric scales -method --landmarks 12", "--free-landmarks", ROWS),
        ("--flash", "-method -metric -sigma -landmarks", "--flash 2KiB", Misused),
        ("--ridge", "--ridge 1e-3", "--ridge 1e-2", Refused("what differs: ridge")),
        ("--given", "", "--given places.csv -landmarks", PLACES),
        ("--model", "", "--model ./m", Resumes),
        ("--report", "", "--report r.html", Resumes),
        ("--variance", "--landmarks 12", "--variance", Resumes),
        ("--checkpoint", "", "--checkpoint d", Anew),
        ("--checkpoint-every", "", "--checkpoint-every 5", Resumes),
        ("--json", "", "--json", Resumes),
        ("--target", "", "--target b", ROWS),
        ("--classes", "--target k --ignore g,w,y", "--classes", ROWS),
        ("--columns", "", "--columns a,b", ROWS),
        ("--ignore", "", "--ignore g,w", ROWS),
        ("--ids", "--ignore w,k", "--ids g", ROWS),
        ("--group", "", "--ignore w,k --group g", FOLDS),
        ("--time", "", "--time", FOLDS),
        ("--weight", "", "--ignore g,k --weight w", Refused("--weight")),
        ("--words", "--ignore w,k", "--words g", ROWS),
        ("--missing", "", "--missing drop", ROWS),
        ("--missing-values", "--ignore w,k", "--missing-values 4", ROWS),
        ("--allow-loss", "", "--allow-loss", Resumes),
        ("--strict", "", "--strict", Resumes),
        ("--keep", "t.csv -ignore --dates dmy --landmarks 9", "--keep id", ROWS),
        ("--dates", "t.csv -ignore --dates dmy --landmarks 9", "--dates mdy", ROWS),
        ("--header", "h.csv -ignore --landmarks 9", "--header yes", ROWS),
        ("--separator", "p.csv -ignore --header no --separator ; --landmarks 5", "--separator ,", ROWS),
        ("--decimal", "d.csv -ignore --decimal ,", "--decimal .", Refused("is a number with a comma")),
        ("--sheet", "", "--sheet one", Refused("has no sheets")),
        ("--libsvm", "l.csv -ignore --header no --landmarks 5", "--libsvm", PLACES),
    ]
};

/// Change a command, of the program's name with the data and then the options, each with its value: see
/// [`OPTIONS`].
#[cfg(target_os = "linux")]
fn changed(mut command: Vec<String>, changes: &str) -> Vec<String> {
    let first = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    for (at, change) in changes.split(" -").filter(|change| !change.is_empty()).enumerate() {
        let change = if at > 0 { format!("-{change}") } else { change.to_owned() };
        if change.starts_with("--") {
            command.retain(|option| first(option) != first(&change));
            command.push(change);
        } else if change.starts_with('-') {
            command.retain(|option| first(option) != format!("-{change}"));
        } else {
            command[0] = format!("fit {change}");
        }
    }
    command
}

/// Every option of `fit` either changes the key, so that the other's checkpoint is refused by name, or
/// decides nothing of the regression.
#[cfg(target_os = "linux")]
#[test]
fn every_option_of_fit_changes_the_key_or_decides_nothing() {
    let folder = Folder::new();
    let table = |seed: u64| {
        let mut noise = Noise(seed);
        let row = |row: usize| {
            let [a, b] = [noise.normal(), noise.normal()];
            let m = if row % 9 == 4 { String::new() } else { format!("{}", noise.normal()) };
            let y = a.sin() + b * a + 0.1 * noise.normal();
            format!("{a},{b},{m},{},{},{},{y}\n", row * row % 7, 1 + row % 3, u8::from(a > 0.3))
        };
        format!("a,b,m,g,w,k,y\n{}", (0..120).map(row).collect::<String>())
    };
    let of = |line: fn(usize) -> String| (0..120).map(line).collect::<String>();
    folder.write("a.csv", table(1));
    folder.write("b.csv", table(2));
    folder.write("h.csv", of(|row| format!("{},{}\n", (row * row % 83) as f64 / 9.0 + 0.5, row % 10)));
    folder.write("p.csv", of(|row| format!("u{},v;{},w;{}\n", row % 3, row % 4, row * row % 10)));
    folder.write("d.csv", of(|row| format!("{},5;{};{}\n", row * row % 43, row % 11, row * row % 10)));
    folder.write("l.csv", of(|row| format!("{} 1:{} 2:{}\n", row % 10, row * row % 13, 1 + row % 7)));
    folder.write(
        "t.csv",
        of(|row| format!("{row},{}/{}/2014,{}\n", 1 + row % 12, 1 + row % 11, row * row % 10)).replacen(
            "0,",
            "id,d,y\n0,",
            1,
        ),
    );
    folder.write("places.csv", of(|row| if row % 6 == 0 { format!("{row}\n") } else { String::new() }));

    let listed = folder.run("fit --help").good().out;
    let listed = listed
        .lines()
        .filter_map(|line| line.trim_start().trim_start_matches("-h, ").split([' ', '=']).next());
    let mut listed: Vec<&str> = listed.filter(|word| word.starts_with("--") && word.len() > 2).collect();
    listed.extend(["DATA"]);
    listed.retain(|name| !["--help", "--version"].contains(name));
    let mut known: Vec<&str> = OPTIONS.iter().map(|(name, ..)| *name).collect();
    // Limits refuse a table, and change nothing of one that is within them.
    known.push("--limit");
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(
        listed, known,
        "an option of fit is not in the table: does a fit under another's checkpoint refuse it?"
    );

    let base = "a.csv --ignore g,w,k --missing mean --metric one --sigma 2 --method uniform --landmarks 30 --checkpoint-every 0 --checkpoint c";
    let base = changed(vec![String::new()], base);
    let run = |command: &[String]| folder.run(&command.join(" "));
    for (name, given, change, expected) in OPTIONS {
        let given = changed(base.clone(), given);
        let _ = std::fs::remove_file(folder.path("c"));
        // A model that cannot be written leaves the checkpoint of a complete regression.
        run(&changed(given.clone(), "--model /dev/full")).refused(&["/dev/full"]);
        let kept = folder.bytes("c");
        let other = changed(changed(given, "--model m"), change);
        let under = run(&other);
        let verdict = match expected {
            Under::Refused(what) => {
                assert!(under.status == Some(1) && under.err.contains(what), "{name}: {}", under.err);
                assert!(folder.bytes("c") == kept, "{name}: a refused checkpoint was changed");
                format!("refused: {what}")
            }
            Under::Misused => {
                assert_eq!(under.status, Some(2), "{name}: {}", under.err);
                "wrong usage with --checkpoint".to_owned()
            }
            Under::Resumes | Under::Anew => {
                let resumed = matches!(expected, Under::Resumes);
                let under = under.good();
                assert_eq!(under.err.contains("resumed: 120 rows"), resumed, "{name}: {}", under.err);
                let model = folder.bytes("m");
                run(&changed(other, "-checkpoint -checkpoint-every")).good();
                assert!(folder.bytes("m") == model, "{name}: a resumed fit has another model");
                if resumed { "harmless: resumes to the same bytes" } else { "harmless: begins anew" }
                    .to_owned()
            }
        };
        println!("{name:20} {verdict}");
    }
}
