//! `select` and `fit` on a row store, without its rows in memory.

use super::source;
use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::fit::Fit;
use dpp_nystrom::approximation::{Gram, LandmarkSet};
use dpp_nystrom::data::store::Store;
use dpp_nystrom::landmarks::{Choice, Gain, Method, Selector, Start, Task};
use dpp_nystrom::pipeline::MeasuredError;
use dpp_nystrom::regression::{Setting, Training};
use dpp_nystrom::{Error, landmarks};
use std::path::Path;

/// Rows from which a bandwidth is estimated.
const PILOT_ROWS: usize = 2_000;

/// Rows among which `auto` selects.
const AUTO_ROWS: usize = 1 << 17;

/// Numbers up to which a store is read into memory for a method that wants its rows there: 128 MiB in `f64`.
const IN_MEMORY: usize = 1 << 24;

/// What a store is opened for.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    /// Landmarks by a method.
    Method(&'static dyn Selector),
    /// A user's own landmarks.
    Given,
    /// As few landmarks as an error allows.
    Tolerance,
}

/// A store to be read where it lies.
pub(crate) struct Stored {
    pub(crate) store: Store,
    pub(crate) setting: Setting,
    observer: Bar,
}

/// Landmarks, and how they were found.
pub(crate) struct Picked {
    pub(crate) landmarks: Vec<usize>,
    pub(crate) log_det: f64,
    pub(crate) steps: u64,
    pub(crate) accepted: u64,
    pub(crate) converged: Option<bool>,
    pub(crate) seconds: f64,
    pub(crate) gain: Option<Gain>,
    pub(crate) choice: Option<Choice>,
    /// The rows that were looked among.
    pub(crate) among: usize,
}

impl Stored {
    /// The store that the command reads, if it is one and what is wanted does not ask for its rows in memory.
    ///
    /// # Errors
    /// Those of opening it, [`Error::InMemory`].
    pub(crate) fn open(
        source: &Source,
        kernel: &KernelArguments,
        wanted: Wanted,
        options: &landmarks::Options,
    ) -> Result<Option<Self>, Error> {
        if source.rows.is_some() || !Store::is_store(&source.data) {
            return Ok(None);
        }
        let store = source::open_store(source)?;
        let refines = options.refinement.is_some();
        let in_memory = match wanted {
            Wanted::Method(method) if method.name() == "auto" || plain(method, options).is_some() => None,
            Wanted::Method(_) | Wanted::Given if refines => Some("--refine".to_owned()),
            Wanted::Method(method) => Some(format!("the method {}", method.name())),
            Wanted::Given => None,
            Wanted::Tolerance => Some("--tolerance".to_owned()),
        };
        if let Some(what) = in_memory {
            if store.len().saturating_mul(store.features()) <= IN_MEMORY {
                return Ok(None);
            }
            return Err(Error::InMemory { what, rows: store.len() });
        }
        if matches!(wanted, Wanted::Method(method) if method.name() == "auto") && store.len() <= AUTO_ROWS {
            return Ok(None);
        }
        let observer = Bar::default();
        let pilot = store.pilot(PILOT_ROWS, source.seed)?;
        let setting = source::setting(&pilot, kernel, source.seed, &observer)?;
        let setting = Setting { precision: store.precision(), ..setting };
        Ok(Some(Self { store, setting, observer }))
    }

    /// What the landmarks miss of all rows.
    pub(crate) fn missed(&self, landmarks: &[usize]) -> Result<MeasuredError, Error> {
        let Setting { kernel, seed, .. } = self.setting;
        self.store.trace_error(landmarks, kernel, seed)
    }

    /// Landmarks by a method that reads few rows, or by `auto` among rows drawn at random.
    pub(crate) fn choose(
        &self,
        c: usize,
        method: &dyn Selector,
        options: &landmarks::Options,
    ) -> Result<Picked, Error> {
        let Setting { kernel, seed, .. } = self.setting;
        let Some(plain) = plain(method, options) else {
            return self.choose_among_some(c, method, options);
        };
        let selection = self.store.select(c, &plain, kernel, seed, &self.observer)?;
        source::tell_unrest(selection.converged, selection.steps);
        Ok(Picked {
            landmarks: selection.landmarks,
            log_det: selection.log_det,
            steps: selection.steps,
            accepted: selection.accepted,
            converged: selection.converged,
            seconds: selection.seconds,
            gain: None,
            choice: None,
            among: self.store.len(),
        })
    }

    fn choose_among_some(
        &self,
        c: usize,
        method: &dyn Selector,
        options: &landmarks::Options,
    ) -> Result<Picked, Error> {
        let some = self.store.pilot(AUTO_ROWS, self.setting.seed)?;
        let gram = Gram::new(&some, self.setting.kernel)?;
        let task =
            Task { gram: &gram, c, setting: self.setting, ridge: None, options, observer: &self.observer };
        let (chosen, seconds) = landmarks::run(method, &task)?;
        crate::output::note(&format!("landmarks are selected among {} rows drawn at random", some.len()));
        source::tell_rest(&chosen);
        source::tell_choice(&chosen);
        let landmarks = match chosen.places {
            LandmarkSet::Indices(rows) => rows.iter().map(|&row| some.number(row)).collect(),
            // `auto` selects rows.
            LandmarkSet::Points(_) => return Err(Error::NoRows { method: method.name() }),
        };
        Ok(Picked {
            landmarks,
            log_det: chosen.log_det,
            steps: chosen.steps,
            accepted: chosen.accepted,
            converged: chosen.converged,
            seconds,
            gain: chosen.gain,
            choice: chosen.choice,
            among: some.len(),
        })
    }

    pub(crate) fn train(&self, arguments: &Fit, landmarks: &[usize]) -> Result<Training, Error> {
        let mut checkpoint = arguments.checkpoint();
        let training = self.store.train(
            landmarks,
            arguments.ridge,
            self.setting,
            checkpoint.as_mut(),
            &self.observer,
        )?;
        if let Some(checkpoint) = checkpoint.filter(|checkpoint| checkpoint.resumed() > 0) {
            crate::output::note(&format!(
                "the first {} rows had been learned before the fit was cut off",
                checkpoint.resumed()
            ));
        }
        Ok(training)
    }

    /// Rows that a user chose, all of them rows of the store.
    pub(crate) fn given(&self, path: &Path, rows: &[usize]) -> Result<Picked, Error> {
        source::under(self.store.len(), path, rows)?;
        let mut landmarks = rows.to_vec();
        landmarks.sort_unstable();
        Ok(Picked {
            landmarks,
            log_det: 0.0,
            steps: 0,
            accepted: 0,
            converged: None,
            seconds: 0.0,
            gain: None,
            choice: None,
            among: self.store.len(),
        })
    }
}

/// A method that reads rows where they lie, and few of them.
fn plain(method: &dyn Selector, options: &landmarks::Options) -> Option<Method> {
    if options.refinement.is_some() {
        return None;
    }
    match (method.name(), options.pivot_rows) {
        ("kdpp", _) => {
            Some(Method::Kdpp { start: options.start, chain: options.chain, steps: options.steps })
        }
        ("uniform", _) => Some(Method::Start(Start::Uniform)),
        ("rpcholesky", rows @ Some(_)) => Some(Method::Start(Start::Pivoted { rows })),
        _ => None,
    }
}
