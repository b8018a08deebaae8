//! `dpp-nystrom learn` and `dpp-nystrom merge`.

use crate::bar::Bar;
use crate::columns::{MatchArguments, tell};
use crate::error::Error;
use crate::output::{
    Column, keep_apart, keep_inputs, listed, note, plain, print_report, row, short, short_or_dash, shown,
    table, write_csv,
};
use clap::Args;
use dpp_nystrom::atomic_file::{check_writable, write_whole};
use dpp_nystrom::core::{Origin, StateHeader, sign_state, verify_state};
use dpp_nystrom::data::store::Store;
use dpp_nystrom::regression::{Accumulator, Examined, Fleet, Ridge};
use dpp_nystrom::{Error as LibraryError, error::TableError, error::TableProblem, model::Model};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

pub(crate) const LEARN_EXAMPLES: &str = "\
Example:
  dpp-nystrom learn houses.dpp this-years.csv --out server.state

  dpp-nystrom learn houses.dpp this-years.csv --device 12 --counter 3 --key 12.key --out 12.state

The state is what a device that accumulated the same rows would send. It contains only sums over the rows. A key is 64
hexadecimal digits: openssl rand -hex 32 > 12.key";

pub(crate) const MERGE_EXAMPLES: &str = "\
Examples:
  dpp-nystrom merge device-*.state --of houses.dpp --model merged.dpp
  dpp-nystrom merge a.state b.state server.state --of houses.dpp --ridge cv --model merged.dpp --json
  dpp-nystrom merge *.state --of houses.dpp --keys keys.csv --seen seen.csv --outliers exclude --model merged.dpp

The states must come from devices with the landmarks of the model --of; others are rejected, and so are sums that no rows
can have left. --ridge cv predicts the rows of each device from those of the others. A device whose figures are far from
those of the others is an outlier: a defect, an attack, or a place unlike all others.";

/// Arguments of `learn`.
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// Model whose landmarks to use
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Rows to accumulate: CSV, TSV, ARFF, NPY or LIBSVM, gzipped or not; - is standard input
    #[arg(value_name = "DATA")]
    data: PathBuf,
    #[command(flatten)]
    columns: MatchArguments,
    /// Number of this device, kept in the state
    #[arg(long, value_name = "ID", requires = "counter")]
    device: Option<u64>,
    /// Number of this state, which increases with each state of the device
    #[arg(long, value_name = "K", requires = "device")]
    counter: Option<u64>,
    /// Authenticate the state (HMAC-SHA-256) with the key in this file: 64 hexadecimal digits
    #[arg(long, value_name = "FILE", requires = "device")]
    key: Option<PathBuf>,
    /// Output file for the state
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// States written by learn or sent by devices
    #[arg(value_name = "STATE", required = true)]
    states: Vec<PathBuf>,
    /// Model whose landmarks the states use
    #[arg(long, value_name = "MODEL")]
    of: PathBuf,
    /// Regularisation γ (the ridge), multiplied by the number of rows: a number, or cv [default: the model's]
    #[arg(long, value_name = "F|cv")]
    ridge: Option<Ridge>,
    /// What to do about a state that cannot be merged, and about a device whose figures are far from those of the others
    #[arg(long, value_name = "refuse|exclude|accept", default_value = "refuse")]
    outliers: Outliers,
    /// Take only states that are authentic: a CSV file with the columns device and key, 64 hexadecimal digits each
    #[arg(long, value_name = "KEYS.csv")]
    keys: Option<PathBuf>,
    /// Refuse a state older than the last that was merged of its device, and write the counters of these: a CSV file with the
    /// columns device and counter, made if there is none. Goes with --keys: anyone can write a counter
    #[arg(long, value_name = "SEEN.csv", requires = "keys")]
    seen: Option<PathBuf>,
    /// Output file for the merged model
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What to do about outliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Outliers {
    /// Name them and merge nothing.
    Refuse,
    /// Merge the others.
    Exclude,
    /// Merge devices far from the others too.
    Accept,
}

#[derive(Serialize)]
struct LearnReport<'a> {
    #[serde(serialize_with = "shown")]
    state: &'a Path,
    rows: u64,
    bytes: usize,
}

#[derive(Serialize)]
struct MergeReport<'a> {
    #[serde(serialize_with = "shown")]
    model: &'a Path,
    states: usize,
    refused: Vec<Refused<'a>>,
    rows: u64,
    landmarks: usize,
    ridge: f64,
    train_nrmse: f64,
    cv_nrmse: Option<f64>,
    devices: Vec<Device<'a>>,
}

/// A state that is not merged.
#[derive(Serialize)]
struct Refused<'a> {
    #[serde(serialize_with = "shown")]
    state: &'a Path,
    reason: String,
    /// Whether it can be merged, but is far from the others.
    #[serde(skip)]
    far: bool,
}

/// A state and what is known of its rows.
#[derive(Serialize)]
struct Device<'a> {
    #[serde(serialize_with = "shown")]
    state: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<u64>,
    rows: u64,
    features: f64,
    target: f64,
    nrmse: f64,
    others_nrmse: Option<f64>,
    influence: Option<f64>,
    outlier: Option<String>,
}

impl Device<'_> {
    const COLUMNS: [Column<Self>; 8] = [
        ("state", |one| plain(&one.state.display().to_string())),
        ("rows", |one| one.rows.to_string()),
        ("features", |one| short(one.features)),
        ("target", |one| short(one.target)),
        ("error", |one| short(one.nrmse)),
        ("error of others", |one| short_or_dash(one.others_nrmse)),
        ("influence", |one| short_or_dash(one.influence)),
        ("outlier", |one| if one.outlier.is_some() { "yes" } else { "" }.to_owned()),
    ];
}

pub(crate) fn learn(arguments: &Learn) -> Result<(), Error> {
    let inputs = [&arguments.model, &arguments.data].into_iter().chain(&arguments.key);
    keep_inputs(Some(&arguments.out), &inputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
    let model = Model::load(&arguments.model)?;
    let refused = |problem| Error::NotLearned { path: arguments.data.clone(), problem };
    if Store::is_store(&arguments.data) {
        return Err(refused("learn takes no row stores; give the table that it was made of"));
    }
    let reading = arguments.columns.options().read_for(&model.recipe(), &arguments.data)?;
    tell(&reading.remarks, &reading.recipe);
    let key = arguments.key.as_deref().map(|path| key_in(path, None)).transpose()?;
    if reading.table.target.is_none() {
        return Err(refused("rows without the model's target teach nothing; add its column"));
    }
    let fleet = Fleet::of(&model)?;
    let accumulated = fleet.accumulate(&reading.table)?;
    let origin = arguments.device.zip(arguments.counter);
    let origin = origin.map_or_else(Origin::default, |(device, counter)| Origin { device, counter });
    let mut bytes = fleet.state(&accumulated, origin)?;
    if let Some(key) = key {
        sign_state(&mut bytes, &key).map_err(LibraryError::Core)?;
    }
    write_whole(&arguments.out, |file| file.write_all(&bytes))?;
    let report = LearnReport { state: &arguments.out, rows: accumulated.rows(), bytes: bytes.len() };
    print_report(arguments.json, &report, |report| {
        let rows = [row("rows", report.rows), row("bytes", report.bytes)];
        listed(&["state", &report.state.display().to_string()], &rows)
    })
}

pub(crate) fn merge(arguments: &Merge) -> Result<(), Error> {
    let inputs: Vec<&Path> = arguments.states.iter().chain([&arguments.of]).map(PathBuf::as_path).collect();
    keep_inputs(Some(&arguments.model), &inputs)?;
    keep_apart([&arguments.model].into_iter().chain(&arguments.seen))?;
    if let Some(seen) = &arguments.seen {
        keep_inputs(Some(seen), &inputs)?;
        check_writable(seen)?;
    }
    let model = Model::load(&arguments.of)?;
    let fleet = Fleet::of(&model)?;
    let keys = arguments.keys.as_deref().map(keys_in).transpose()?;
    let mut seen = arguments.seen.as_deref().map(counters_in).transpose()?.unwrap_or_default();
    let (mut received, mut refused) = (Vec::<State<'_>>::new(), Vec::new());
    for path in &arguments.states {
        let state = match read(&fleet, path, keys.as_ref()) {
            Err(Error::Table(error)) => return Err(error.into()),
            Err(error) => {
                refused.push(Refused { state: path, reason: error.to_string(), far: false });
                continue;
            }
            Ok(state) => state,
        };
        let Origin { device, counter } = state.origin;
        if let Some(&last) = seen.get(&device).filter(|&&last| counter < last) {
            refused.push(Refused {
                state: path,
                reason: Error::Replayed { device, counter, last }.to_string(),
                far: false,
            });
            continue;
        }
        // Of two states of a device, the later.
        let place = received.iter().position(|other| other.is_of_device(&state));
        let older = match place {
            Some(at) if received[at].origin.counter < counter => std::mem::replace(&mut received[at], state),
            Some(_) => state,
            None => {
                received.push(state);
                continue;
            }
        };
        let other = place.map_or(path.as_path(), |at| received[at].path);
        let reason = Error::SameState { other: other.to_owned() }.to_string();
        refused.push(Refused { state: older.path, reason, far: false });
    }
    let ridge = arguments.ridge.unwrap_or(Ridge::Value(model.ridge));
    let all: Vec<Accumulator<f32>> = received.iter().map(|state| state.accumulated.clone()).collect();
    let examined = fleet.examine(&all, ridge, &Bar)?;
    let mut merged = Vec::with_capacity(all.len());
    for ((state, accumulated), one) in received.iter().zip(all).zip(&examined) {
        match one.outlier.filter(|_| arguments.outliers != Outliers::Accept) {
            Some(outlier) => {
                refused.push(Refused { state: state.path, reason: outlier.to_string(), far: true });
            }
            None => {
                seen.insert(state.origin.device, state.origin.counter);
                merged.push(accumulated);
            }
        }
    }
    let line = |Refused { state, reason, .. }: &Refused<'_>| format!("{}: {reason}", state.display());
    match &refused[..] {
        [] => {}
        _ if arguments.outliers == Outliers::Exclude => {
            refused.iter().for_each(|one| note(&format!("left out: {}", line(one))));
        }
        [one] => return Err(Error::Refused { reason: line(one), far: one.far }),
        [first, ..] => {
            refused.iter().for_each(|one| note(&format!("refused: {}", line(one))));
            let (count, of) = (refused.len(), arguments.states.len());
            let reason = format!("{count} of {of} states are refused, the first: {}", line(first));
            return Err(Error::Refused { reason, far: refused.iter().all(|one| one.far) });
        }
    }
    let states = merged.len();
    let merged = fleet.merge(&merged, ridge, &Bar)?;
    if merged.dependent > 0 {
        note(&format!(
            "{} of {} landmarks depend on others in the arithmetic of the devices, and were left out",
            merged.dependent,
            merged.dependent + merged.model.landmarks()
        ));
    }
    merged.model.save(&arguments.model)?;
    if let Some(path) = &arguments.seen {
        let records = seen.iter().map(|(device, counter)| [device.to_string(), counter.to_string()]);
        write_csv(path, &["device", "counter"], records)?;
    }
    let report = MergeReport {
        model: &arguments.model,
        states,
        refused,
        rows: merged.model.trained_rows,
        landmarks: merged.model.landmarks(),
        ridge: merged.model.ridge,
        train_nrmse: merged.model.train_nrmse,
        cv_nrmse: merged.validation_nrmse,
        devices: received.iter().zip(&examined).map(|(state, one)| device(state, one)).collect(),
    };
    print_report(arguments.json, &report, |report| {
        let rows = [
            row("states", report.states),
            row("states left out", report.refused.len()),
            row("rows", report.rows),
            row("landmarks", report.landmarks),
            row("ridge", short(report.ridge)),
            row("training error", short(report.train_nrmse)),
            row("error across devices", short_or_dash(report.cv_nrmse)),
        ];
        listed(&["model", &report.model.display().to_string()], &rows)
            + "\n"
            + &table(&Device::COLUMNS, &report.devices)
            + "\nErrors and targets are in standard deviations of the target of the original model. features: mean of k(x, x) less the\n\
               residual of the landmarks. error: of the original model; of others: of the model of all other states. influence: by how\n\
               much the state raises the squared error of the others.\n"
    })
}

/// A state that a device sent.
struct State<'a> {
    path: &'a Path,
    origin: Origin,
    accumulated: Accumulator<f32>,
}

impl State<'_> {
    /// Whether both are states of one device, or one state.
    fn is_of_device(&self, other: &Self) -> bool {
        let known = self.origin != Origin::default();
        let same = self.accumulated.rows() > 0 && self.accumulated == other.accumulated;
        same || (known && self.origin.device == other.origin.device)
    }
}

fn device<'a>(state: &State<'a>, one: &Examined) -> Device<'a> {
    let &Examined { rows, features, target, nrmse, others_nrmse, influence, outlier, .. } = one;
    Device {
        state: state.path,
        device: (state.origin != Origin::default()).then_some(state.origin.device),
        rows,
        features,
        target,
        nrmse,
        others_nrmse,
        influence,
        outlier: outlier.map(|outlier| outlier.to_string()),
    }
}

/// The key of each device.
type Keys = BTreeMap<u64, Key>;
type Key = [u8; 32];

/// Read a state, and check its tag if there are keys.
fn read<'a>(fleet: &Fleet<'_>, path: &'a Path, keys: Option<&Keys>) -> Result<State<'a>, Error> {
    let failed = |source| TableError::new(path, TableProblem::Open(source));
    let invalid = Error::State;
    let limit = fleet.most_bytes();
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(failed)?;
    let header = StateHeader::read(&bytes).map_err(invalid)?;
    if let Some(keys) = keys {
        let device = header.origin.device;
        let key = keys.get(&device).ok_or(Error::NoKey { device })?;
        verify_state(&bytes, key).map_err(invalid)?;
    }
    let accumulated = fleet.read(&bytes).map_err(|error| match error {
        LibraryError::Core(reason) => invalid(reason),
        other => other.into(),
    })?;
    Ok(State { path, origin: header.origin, accumulated })
}

/// Read a file of keys by device.
fn keys_in(path: &Path) -> Result<Keys, Error> {
    pairs(path, "key")?
        .into_iter()
        .map(|(device, key)| Ok((device, key_of(path, Some(device), &key)?)))
        .collect()
}

/// Read a file with one key.
fn key_in(path: &Path, device: Option<u64>) -> Result<Key, Error> {
    let text =
        fs::read_to_string(path).map_err(|source| TableError::new(path, TableProblem::Open(source)))?;
    key_of(path, device, text.trim())
}

fn key_of(path: &Path, device: Option<u64>, text: &str) -> Result<Key, Error> {
    let bytes = (0..32).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok());
    let key = bytes.collect::<Option<Vec<u8>>>().and_then(|bytes| bytes.try_into().ok());
    key.filter(|_| text.len() == 64).ok_or_else(|| Error::Key { path: path.to_owned(), device })
}

/// Read the counter of each device; none from a file that does not exist.
fn counters_in(path: &Path) -> Result<BTreeMap<u64, u64>, Error> {
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let parsed =
        pairs(path, "counter")?.into_iter().map(|(device, counter)| Some((device, counter.parse().ok()?)));
    parsed.collect::<Option<_>>().ok_or_else(|| Error::Pairs { path: path.to_owned(), second: "counter" })
}

/// Read a CSV file with the column device and another.
fn pairs(path: &Path, second: &'static str) -> Result<Vec<(u64, String)>, Error> {
    let file = File::open(path).map_err(|source| TableError::new(path, TableProblem::Open(source)))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
    let wrong = || Error::Pairs { path: path.to_owned(), second };
    if reader.headers().map_err(|_| wrong())? != vec!["device", second] {
        return Err(wrong());
    }
    let pairs = reader.into_records().map(|record| {
        let record = record.ok()?;
        Some((record.get(0)?.parse().ok()?, record.get(1)?.to_owned()))
    });
    pairs.collect::<Option<_>>().ok_or_else(wrong)
}
