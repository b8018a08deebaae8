//! The paper's figures on the user's data sets, as tables, charts and a page.
//!
//! Work is split into parts, each a file under `parts` in the output folder. A part that exists for the same
//! set-up is not computed again, so an interrupted run resumes. Tables contain no times, which differ between
//! runs; times have tables of their own.

use crate::error::Error;
use crate::rng::{Stream, stream};
use crate::selectors::find;
use crate::text::{Column, cells, write_csv};
use dpp_nystrom::core::Scalar;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::{self, Table, Target};
use dpp_nystrom::landmarks::methods::Method;
use dpp_nystrom::observer::Observer;
use dpp_nystrom::regression::choose_bandwidth;
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, KernelSpec},
};
use page::Section;
use parts::Parts;
use rand_core::Rng;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

mod mixing;
mod page;
mod parts;
mod subset;
mod summary;
mod tradeoff;
mod trials;

/// Which figures to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// Approximation error of the kernel matrix, by method.
    Approximation,
    /// Prediction error of ridge regression on the landmarks.
    Ridge,
    /// The error along the chain, and observed mixing beside its bounds.
    Mixing,
    /// Error against time and against kernel evaluations.
    Tradeoff,
    /// Landmarks refined by swaps, compared with other row selections.
    Subset,
    /// All of them.
    All,
}

/// What to compare, on which rows.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which figures to make.
    pub figures: Figures,
    /// The folder of data sets, whose last column is the target.
    pub data: PathBuf,
    /// The folder for tables, charts and `index.html`.
    pub out: PathBuf,
    /// Whether to run for minutes instead of hours, with fewer rows, methods, landmarks and seeds.
    pub quick: bool,
    /// The methods; those of the paper and some others if empty.
    pub methods: Vec<&'static Method>,
    /// The numbers of landmarks; those of the figures if empty.
    pub landmarks: Vec<usize>,
    /// The numbers of rows of [`Figures::Tradeoff`]; 4,000, 10,000 and 10⁶ if empty, or 1,000 for a quick
    /// run.
    pub rows: Vec<usize>,
    /// The number of seeds; 3 if none is given, or 2 for a quick run.
    pub seeds: Option<u64>,
    /// The first seed.
    pub seed: u64,
}

/// The methods of the paper's figures and others.
const ALL: &str = "uniform lev reglev appreglev adapfull adappart kmeans++ kmeans rpcholesky greedy recursive-rls kdpp-exact kdpp";
const QUICK: &str = "uniform lev adapfull kmeans++ kmeans rpcholesky kdpp-exact kdpp";

/// How the bandwidth of an experiment is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Regime {
    /// The median distance, with a flat spectrum.
    Median,
    /// Cross-validated, as in the paper.
    Cv,
}

impl Regime {
    const BOTH: [Self; 2] = [Self::Median, Self::Cv];

    fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Cv => "cv",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Median => "σ = the median distance",
            Self::Cv => "σ cross-validated",
        }
    }

    fn bandwidth(self) -> Sigma {
        match self {
            Self::Median => Sigma::Median(1.0),
            Self::Cv => Sigma::CrossValidated,
        }
    }
}

/// The parameters of a run.
#[derive(Clone, Debug, Serialize)]
struct Plan {
    version: &'static str,
    /// Rows per data set, including those held out; fewer if the set is smaller.
    rows: usize,
    /// The fraction held out.
    held_out: f64,
    landmarks: Vec<usize>,
    #[serde(serialize_with = "names")]
    methods: Vec<&'static Method>,
    seed: u64,
    seeds: u64,
    /// Rows and landmarks of the mixing experiment.
    mixing_rows: Vec<usize>,
    mixing_landmarks: Vec<usize>,
    /// Rows and landmarks of the time-error experiment.
    tradeoff_rows: Vec<usize>,
    tradeoff_landmarks: usize,
}

fn names<S: serde::Serializer>(methods: &[&'static Method], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(methods.iter().map(|method| method.name))
}

impl Plan {
    /// Return the plan of a request, with these methods and numbers of landmarks unless the user gave others.
    fn new(request: &Request, methods: &str, landmarks: &[usize]) -> Self {
        let quick = request.quick;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            rows: if quick { 1_000 } else { 4_000 },
            held_out: 0.25,
            landmarks: match request.landmarks.as_slice() {
                [] => landmarks.to_vec(),
                asked => asked.to_vec(),
            },
            methods: match request.methods.as_slice() {
                [] => methods.split(' ').filter_map(find).collect(),
                asked => asked.to_vec(),
            },
            seed: request.seed,
            seeds: request.seeds.unwrap_or(if quick { 2 } else { 3 }),
            mixing_rows: if quick { vec![500] } else { vec![1_000, 4_000] },
            mixing_landmarks: if quick { vec![20, 50] } else { vec![50, 100, 200] },
            tradeoff_rows: match request.rows.as_slice() {
                [] if quick => vec![1_000],
                [] => vec![4_000, 10_000, 1_000_000],
                asked => asked.to_vec(),
            },
            tradeoff_landmarks: if quick { 20 } else { 50 },
        }
    }

    fn seeds(&self) -> impl Iterator<Item = u64> {
        let first = self.seed;
        (0..self.seeds).map(move |further| first.wrapping_add(further))
    }

    /// Return how many rows of this table to use, and how many of them to hold out.
    fn split(&self, table: &Table) -> (usize, usize) {
        let rows = self.rows.min(table.rows());
        (rows, (rows as f64 * self.held_out) as usize)
    }
}

/// Standard deviation of the noise added to copies of a row, in standard deviations of the feature.
const NOISE: f64 = 0.05;

/// A data set, and a digest of its file.
struct Set {
    table: Table,
    digest: u32,
}

impl Set {
    fn name(&self) -> &str {
        &self.table.name
    }

    /// Return as many rows: a part of the set, or with noisy copies if it has fewer, without their targets.
    fn rows(&self, rows: usize, seed: u64) -> Result<Prepared, Error> {
        if self.table.rows() < rows {
            return Ok(Prepared::new(self.grown(rows, seed)?, None, seed)?);
        }
        Ok(Prepared::new(self.table.clone(), Some(rows), seed)?)
    }

    /// Repeat the rows, each copy with its own noise, up to the requested number.
    fn grown(&self, rows: usize, seed: u64) -> Result<Table, Error> {
        let own = Prepared::new(self.table.clone(), None, seed)?;
        let mut random = stream(seed, Stream::Rows);
        // A sum of four uniform variates, of variance one.
        let mut noise = || {
            let sum: f64 = (0..4).map(|_| f64::from_draw(random.next_u32())).sum();
            (sum - 2.0) * 3.0_f64.sqrt()
        };
        let values = own.rows().iter().cycle().take(rows * own.dim());
        let features = values.map(|value| value + NOISE * noise()).collect();
        Ok(Table {
            name: self.table.name.clone(),
            feature_names: self.table.feature_names.clone(),
            dim: own.dim(),
            features,
            target: None,
            target_name: None,
            weights: None,
        })
    }

    /// Return the choices of bandwidth; cross-validation needs a target.
    fn regimes(&self) -> &'static [Regime] {
        if self.table.target.is_some() { &Regime::BOTH } else { &[Regime::Median] }
    }
}

/// A result for a data set, a choice of bandwidth and a seed.
struct Case<T> {
    set: String,
    regime: Regime,
    seed: u64,
    result: T,
}

impl<T> Case<Vec<T>> {
    /// Return a case for each of the results.
    fn each(self) -> impl Iterator<Item = Case<T>> {
        let Self { set, regime, seed, result } = self;
        result.into_iter().map(move |result| Case { set: set.clone(), regime, seed, result })
    }
}

/// What every experiment receives.
struct Context<'a> {
    plan: &'a Plan,
    parts: &'a Parts,
    out: &'a Path,
    observer: &'a dyn Observer,
    note: &'a dyn Fn(&str),
}

impl Context<'_> {
    /// Return the result of the part `name` of this plan and data set from its file, or else from `work`;
    /// report which, after the progress. `more` is what the result depends on besides.
    fn part<T: Serialize + DeserializeOwned>(
        &self,
        progress: &str,
        name: &str,
        set: &Set,
        more: &[(&str, Value)],
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut setup = json!({ "plan": self.plan, "data": set.digest });
        for (key, value) in more {
            setup[key] = value.clone();
        }
        let (result, kept) = self.parts.get(name, &setup, work)?;
        (self.note)(&format!("{progress}{name}: {}", if kept { "kept" } else { "done" }));
        Ok(result)
    }

    /// Return the result of `work` for every data set, choice of bandwidth and seed: a part each, whose name
    /// begins with `name`.
    fn cases<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        sets: &[Set],
        work: impl Fn(&Set, Regime, u64) -> Result<T, Error>,
    ) -> Result<Vec<Case<T>>, Error> {
        let all = sets.iter().map(|set| set.regimes().len()).sum::<usize>() * self.plan.seeds as usize;
        let mut cases = Vec::new();
        for set in sets {
            for &regime in set.regimes() {
                for seed in self.plan.seeds() {
                    let progress = format!("{}/{all} ", cases.len() + 1);
                    let part = format!("{name}-{}-{}-{seed}", set.name(), regime.name());
                    let result = self.part(&progress, &part, set, &[], || work(set, regime, seed))?;
                    cases.push(Case { set: set.name().to_owned(), regime, seed, result });
                }
            }
        }
        Ok(cases)
    }

    /// Write a table with a line for each item to a CSV file of this name.
    fn write<T>(&self, file: &str, columns: &[Column<T>], items: &[T]) -> Result<(), Error> {
        let (names, rows) = cells(columns, items);
        Ok(write_csv(&self.out.join(file), &names, rows)?)
    }
}

/// Make the figures: tables, charts and a page in the folder [`Request::out`]. What is skipped or done is
/// told to `note`. Return the results as lines of text.
///
/// # Errors
/// [`Error`].
pub fn run(request: &Request, observer: &dyn Observer, note: &dyn Fn(&str)) -> Result<Vec<String>, Error> {
    let (names, landmarks) =
        if request.quick { (QUICK, &[10, 20, 50][..]) } else { (ALL, &[20, 50, 100, 200][..]) };
    let plan = Plan::new(request, names, landmarks);
    let sets = sets(&request.data, note)?;
    let parts = Parts::new(&request.out)?;
    let context = Context { plan: &plan, parts: &parts, out: &request.out, observer, note };
    let wants = |figures| request.figures == figures || request.figures == Figures::All;
    let mut sections: Vec<Section> = Vec::new();
    if wants(Figures::Approximation) || wants(Figures::Ridge) {
        let trials = trials::run(&context, &sets, "trials", true)?;
        trials::write(&context, &trials, "trials")?;
        if wants(Figures::Approximation) {
            sections.push(trials::approximation(&context, &trials)?);
        }
        if wants(Figures::Ridge) {
            sections.push(trials::ridge(&context, &trials)?);
        }
    }
    if wants(Figures::Mixing) {
        sections.push(mixing::run(&context, &sets)?);
    }
    if wants(Figures::Tradeoff) {
        sections.push(tradeoff::run(&context, &sets)?);
    }
    if wants(Figures::Subset) {
        let plan = subset::plan(request);
        let context = Context { plan: &plan, ..context };
        sections.push(subset::run(&context, &sets, request.quick)?);
    }
    let path = request.out.join("index.html");
    page::write(&path, &plan, &sets, &sections)?;
    let mut lines: Vec<String> =
        sections.into_iter().flat_map(|section| [section.text, section.summary].concat()).collect();
    lines.push(format!("Written to {}: open {}", request.out.display(), path.display()));
    Ok(lines)
}

/// Return the Gaussian kernel with this bandwidth on the data.
fn gaussian(context: &Context<'_>, data: &Prepared, sigma: Sigma, seed: u64) -> Result<KernelSpec, Error> {
    let kind = KernelKind::Gaussian;
    let sigma = choose_bandwidth(sigma, kind, data, seed, context.observer)?.sigma;
    Ok(KernelSpec { kind, sigma })
}

/// Return the readable files of a folder, sorted by name. Others are skipped with a warning.
fn sets(folder: &Path, note: &dyn Fn(&str)) -> Result<Vec<Set>, Error> {
    let fail = |source| Error::Folder { path: folder.to_owned(), source };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_file() && table::is_named_as_one(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    let mut sets: Vec<Set> = Vec::new();
    for path in paths {
        match table::read(&path, &Target::Last) {
            Ok(table) if sets.iter().any(|set| set.name() == table.name) => {
                note(&format!(
                    "warning: {}: skipped: another file has the same data set name",
                    path.display()
                ));
            }
            Ok(table) => {
                let digest = parts::digest(&table);
                sets.push(Set { table, digest });
            }
            Err(error) => note(&format!("warning: skipped: {error}")),
        }
    }
    if sets.is_empty() {
        return Err(Error::NoDataSet(folder.to_owned()));
    }
    Ok(sets)
}
