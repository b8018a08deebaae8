//! `dpp-nystrom learn` and `dpp-nystrom merge`.

use crate::bar::Bar;
use crate::columns::{MatchArguments, tell};
use crate::error::Error;
use crate::fleet_files::{Seen, key_in, keys_in, lock_of};
use crate::output::{
    Column, is_one_file, keep_apart, keep_inputs, listed, note, plain, print_report, row, short,
    short_or_dash, shown, table,
};
use clap::Args;
use dpp_nystrom::core::{Origin, sign_state};
use dpp_nystrom::data::{store::Store, table::FORMATS};
use dpp_nystrom::{Error as LibraryError, Model};
use dpp_nystrom::{
    Ridge,
    regression::{
        Aggregate, Counters, Examined, Fleet, Keys, MergeLimits, Received, Refusal, Refused, newest,
    },
};
use dpp_nystrom_host::atomic_file::{check_writable, write_whole};
use serde::Serialize;
use std::fs::File;
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
those of the others is an outlier: a defect, an attack, or a place unlike all others. A device that claims many rows, or moves
the merged model far, counts for fewer; devices who can be believed without that are named with --trust.";

/// Arguments of `learn`.
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// Model whose landmarks to use
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[arg(value_name = "DATA", help = format!("Rows to accumulate: {FORMATS}, gzipped or not; - is standard input"))]
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
    /// What to do about a state that cannot be merged, and about a device whose figures are far from those of
    /// the others
    #[arg(long, value_name = "refuse|exclude|accept", default_value = "refuse")]
    outliers: Outliers,
    /// Most rows that a device counts for, in medians of the rows that all states claim
    #[arg(long, value_name = "F|none", default_value = "2", value_parser = at_least_one)]
    most_rows: f64,
    /// How far one device may move the predictions of the merged model, in standard deviations of the target;
    /// what an honest device moves them by chance is allowed in addition. A device beyond it counts for fewer
    /// rows, down to an eighth; beyond that it is an outlier
    #[arg(long, value_name = "F|none", default_value = "0.08", value_parser = positive)]
    most_influence: f64,
    /// How states become one model
    #[arg(long, value_name = "rows|robust", default_value = "rows")]
    aggregate: Aggregation,
    /// A state of the server's own, merged as it is: without key, limits and comparison. May be given several
    /// times
    #[arg(long, value_name = "STATE")]
    trust: Vec<PathBuf>,
    /// Take only states that are authentic: a CSV file with the columns device and key, 64 hexadecimal digits
    /// each
    #[arg(long, value_name = "KEYS.csv")]
    keys: Option<PathBuf>,
    /// Refuse a state older than the last that was merged of its device, and write the counters of these: a
    /// CSV file with the columns device and counter, made if there is none. Goes with --keys: anyone can
    /// write a counter. Merges with one file wait for each other
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

/// How states become one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Aggregation {
    /// The fit of the rows of all devices.
    Rows,
    /// The geometric median of the fits of each device: a minority cannot move it far, whatever it sends.
    Robust,
}

fn at_least_one(text: &str) -> Result<f64, String> {
    limit(text, 1.0)
        .ok_or_else(|| format!("invalid limit {text:?}: expected a number of at least 1, or none"))
}

fn positive(text: &str) -> Result<f64, String> {
    limit(text, f64::MIN_POSITIVE)
        .ok_or_else(|| format!("invalid limit {text:?}: expected a positive number, or none"))
}

fn limit(text: &str, least: f64) -> Option<f64> {
    match text {
        "none" => Some(f64::INFINITY),
        number => number.parse().ok().filter(|&number: &f64| number >= least && number.is_finite()),
    }
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
    refused: Vec<LeftOut>,
    rows: u64,
    landmarks: usize,
    ridge: f64,
    train_nrmse: f64,
    cv_nrmse: Option<f64>,
    devices: Vec<Device<'a>>,
}

/// A state that is not merged.
#[derive(Serialize)]
struct LeftOut {
    state: String,
    reason: String,
}

/// A state and what is known of its rows.
#[derive(Serialize)]
struct Device<'a> {
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<u64>,
    trusted: bool,
    rows: u64,
    counted: u64,
    features: f64,
    target: f64,
    nrmse: f64,
    others_nrmse: Option<f64>,
    influence: Option<f64>,
    raises: Option<f64>,
    outlier: Option<String>,
}

impl<'a> Device<'a> {
    const COLUMNS: [Column<Self>; 10] = [
        ("state", |one| plain(one.state)),
        ("rows", |one| one.rows.to_string()),
        ("counted", |one| one.counted.to_string()),
        ("features", |one| short(one.features)),
        ("target", |one| short(one.target)),
        ("error", |one| short(one.nrmse)),
        ("error of others", |one| short_or_dash(one.others_nrmse)),
        ("influence", |one| short_or_dash(one.influence)),
        ("raises error", |one| short_or_dash(one.raises)),
        ("outlier", |one| if one.outlier.is_some() { "yes" } else { "" }.to_owned()),
    ];

    fn of(state: &'a Received, one: &Examined) -> Self {
        let &Examined { rows, counted, features, target, nrmse, .. } = one;
        let &Examined { others_nrmse, influence, raises, outlier, .. } = one;
        Self {
            state: &state.name,
            device: state.origin.map(|origin| origin.device),
            trusted: state.trusted,
            rows,
            counted,
            features,
            target,
            nrmse,
            others_nrmse,
            influence,
            raises,
            outlier: outlier.map(|outlier| outlier.to_string()),
        }
    }
}

pub(crate) fn learn(arguments: &Learn) -> Result<(), Error> {
    let inputs = [&arguments.model, &arguments.data].into_iter().chain(&arguments.key);
    keep_inputs(Some(&arguments.out), &inputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
    let model = Model::load(&arguments.model)?;
    let refused = |problem| Error::NotLearned { path: arguments.data.clone(), problem };
    if Store::is_store(&arguments.data) {
        return Err(refused("learn takes no row stores; give the table that it was made of"));
    }
    let recipe = model.recipe();
    let reading = arguments.columns.options(&recipe).read_for(&recipe, &arguments.data)?;
    tell(&reading.remarks, &reading.recipe);
    let key = arguments.key.as_deref().map(key_in).transpose()?;
    if reading.table.target.is_none() {
        return Err(refused("rows without the model's target teach nothing; add its column"));
    }
    if model.quantise.is_some() {
        note(
            "warning: this model is exported in integers, on which no device learns; fit it without --flash",
        );
    }
    let fleet = Fleet::of(&model)?;
    let accumulated = fleet.accumulate(&reading.table)?;
    let origin = arguments.device.zip(arguments.counter).map(|(device, counter)| Origin { device, counter });
    let mut bytes = fleet.state(&accumulated, origin)?;
    if let Some(key) = key {
        sign_state(&mut bytes, &key).map_err(LibraryError::from)?;
    }
    write_whole(&arguments.out, |file| file.write_all(&bytes))?;
    let report = LearnReport { state: &arguments.out, rows: accumulated.rows(), bytes: bytes.len() };
    print_report(arguments.json, &report, |report| {
        let rows = [row("rows", report.rows), row("bytes", report.bytes)];
        listed(&["state", &report.state.display().to_string()], &rows)
    })
}

pub(crate) fn merge(arguments: &Merge) -> Result<(), Error> {
    keep_files(arguments)?;
    let model = Model::load(&arguments.of)?;
    let fleet = Fleet::of(&model)?;
    let keys = arguments.keys.as_deref().map(keys_in).transpose()?;
    // Locked until the model is written.
    let mut seen = arguments.seen.as_deref().map(Seen::open).transpose()?;
    let none = Counters::new();
    let counters = seen.as_ref().map_or(&none, Seen::counters);
    let (received, mut refused) = receive(arguments, &fleet, keys.as_ref(), counters)?;
    let ridge = arguments.ridge.unwrap_or(Ridge::Value(model.ridge));
    let free = arguments.outliers == Outliers::Accept || arguments.aggregate == Aggregation::Robust;
    let influence = if free { f64::INFINITY } else { arguments.most_influence };
    let limits = MergeLimits { rows: arguments.most_rows, influence };
    let examined = fleet.examine(&received, limits, ridge, &Bar)?;
    let mut parts = Vec::with_capacity(received.len());
    let mut origins = Vec::with_capacity(received.len());
    for (state, one) in received.iter().zip(&examined) {
        if let Some(outlier) = one.outlier.filter(|_| arguments.outliers != Outliers::Accept) {
            refused.push(Refused::of(state, Refusal::Outlier(outlier)));
            continue;
        }
        if one.counted < one.rows {
            let (name, counted, rows) = (&state.name, one.counted, one.rows);
            note(&format!(
                "limited: {name} counts for {counted} of its {rows} rows (--most-rows, --most-influence, --trust)"
            ));
        }
        parts.push(state.accumulated.counting_as(one.counted));
        origins.extend(state.origin.filter(|_| !state.trusted));
    }
    refuse(&refused, arguments)?;
    // The numbers of a copy are in the model under another name.
    let copies = refused.iter().filter(|one| matches!(one.reason, Refusal::Copy { .. }));
    origins.extend(copies.filter_map(|one| one.origin));
    let aggregate = match arguments.aggregate {
        Aggregation::Rows => Aggregate::Rows,
        Aggregation::Robust => Aggregate::Robust,
    };
    let merged = fleet.merge(&parts, ridge, aggregate, &Bar)?;
    if merged.dependent > 0 {
        note(&format!(
            "{} of {} landmarks depend on others in the arithmetic of the devices, and were left out",
            merged.dependent,
            merged.dependent + merged.model.landmarks()
        ));
    }
    // Before the model: if the second is not written, the same states can be merged again, and older ones
    // cannot.
    if let Some(seen) = &mut seen {
        seen.advance(&origins)?;
    }
    merged.model.save(&arguments.model)?;
    let left_out = |one: &Refused| LeftOut { state: one.name.clone(), reason: one.reason.to_string() };
    let report = MergeReport {
        model: &arguments.model,
        states: parts.len(),
        refused: refused.iter().map(left_out).collect(),
        rows: merged.model.trained_rows,
        landmarks: merged.model.landmarks(),
        ridge: merged.model.ridge,
        train_nrmse: merged.model.train_nrmse,
        cv_nrmse: merged.validation_nrmse,
        devices: received.iter().zip(&examined).map(|(state, one)| Device::of(state, one)).collect(),
    };
    print_report(arguments.json, &report, in_words)
}

fn in_words(report: &MergeReport<'_>) -> String {
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
        + "\nErrors and targets are in standard deviations of the target of the original model. counted: rows that the state counts for.\n\
           features: mean of k(x, x) less the residual of the landmarks. error: of the original model; of others: of the model of all\n\
           other states. influence: how far the state moves the predictions of the merged model on the rows of the others. raises\n\
           error: by how much it raises the error of the others on these, relative to it.\n"
}

/// Reject outputs that are inputs or each other.
fn keep_files(arguments: &Merge) -> Result<(), Error> {
    let Merge { states, trust, of, keys, seen, model, .. } = arguments;
    let inputs = states.iter().chain(trust).chain([of]).chain(keys).map(PathBuf::as_path);
    let inputs: Vec<&Path> = inputs.collect();
    let lock = seen.as_deref().map(lock_of).transpose()?;
    for output in [model].into_iter().chain(seen).chain(&lock) {
        keep_inputs(Some(output), &inputs)?;
    }
    keep_apart([model].into_iter().chain(seen).chain(&lock))?;
    seen.as_deref().map_or(Ok(()), |seen| Ok(check_writable(seen)?))
}

/// Read the states, and keep those that can be merged.
fn receive(
    arguments: &Merge,
    fleet: &Fleet<'_>,
    keys: Option<&Keys>,
    seen: &Counters,
) -> Result<(Vec<Received>, Vec<Refused>), Error> {
    let Merge { states, trust, .. } = arguments;
    let (mut received, mut refused) = (Vec::with_capacity(states.len()), Vec::new());
    // A list of states may have the trusted ones too.
    let others = states.iter().filter(|path| !trust.iter().any(|own| is_one_file(own, path)));
    for (path, is_own) in others.map(|path| (path, false)).chain(trust.iter().map(|path| (path, true))) {
        let (name, bytes) = (path.display().to_string(), state_in(fleet, path)?);
        let read = match is_own {
            true => fleet.trust(&name, &bytes),
            false => fleet.receive(&name, &bytes, keys),
        };
        match read {
            Ok(state) => received.push(state),
            Err(reason) => refused.push(Refused::unread(name, reason)),
        }
    }
    let (received, others) = newest(received, seen);
    refused.extend(others);
    Ok((received, refused))
}

fn state_in(fleet: &Fleet<'_>, path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| LibraryError::open(path, source);
    let mut bytes = Vec::new();
    let limit = fleet.most_bytes() + 1;
    File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}

/// Name the states that are refused, and fail unless they are to be left out.
fn refuse(refused: &[Refused], arguments: &Merge) -> Result<(), Error> {
    let line = |Refused { name, reason, .. }: &Refused| format!("{name}: {reason}");
    let far = refused.iter().all(|one| matches!(one.reason, Refusal::Outlier(_)));
    match refused {
        [] => {}
        _ if arguments.outliers == Outliers::Exclude => {
            refused.iter().for_each(|one| note(&format!("left out: {}", line(one))));
        }
        [one] => return Err(Error::Refused { reason: line(one), far }),
        [first, ..] => {
            refused.iter().for_each(|one| note(&format!("refused: {}", line(one))));
            let (count, of) = (refused.len(), arguments.states.len() + arguments.trust.len());
            let reason = format!("{count} of {of} states are refused, the first: {}", line(first));
            return Err(Error::Refused { reason, far });
        }
    }
    Ok(())
}
