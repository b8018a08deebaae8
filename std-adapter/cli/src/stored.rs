//! `select` and `fit` on a row store, without its rows in memory.

use super::source;
use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::fit::Fit;
use dpp_nystrom::approximation::{Gram, LandmarkSet};
use dpp_nystrom::data::store::Store;
use dpp_nystrom::landmarks::{RowAccess, Selection, Selector, Task};
use dpp_nystrom::pipeline::MeasuredError;
use dpp_nystrom::regression::{Setting, Training};
use dpp_nystrom::{Error, landmarks};
use std::path::Path;

/// Rows from which a bandwidth is estimated.
const PILOT_ROWS: usize = 2_000;

/// Numbers up to which a store is read into memory for a method that wants its rows there: 128 MiB in `f64`.
const IN_MEMORY: usize = 1 << 24;

/// What a store is opened for.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// Landmarks by a selector.
    Landmarks(&'a dyn Selector),
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
    pub(crate) selection: Selection,
    /// The rows that they were selected among.
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
        wanted: Wanted<'_>,
        refines: bool,
    ) -> Result<Option<Self>, Error> {
        if source.rows.is_some() || !Store::is_store(&source.data) {
            return Ok(None);
        }
        let store = source::open_store(source)?;
        let access = match wanted {
            Wanted::Landmarks(selector) => selector.needs().rows,
            Wanted::Tolerance => RowAccess::InMemory,
        };
        let in_memory = (access == RowAccess::InMemory).then(|| match wanted {
            Wanted::Tolerance => "--tolerance".to_owned(),
            Wanted::Landmarks(_) if refines => "--refine".to_owned(),
            Wanted::Landmarks(selector) => format!("the method {}", selector.name()),
        });
        if let Some(what) = in_memory {
            if store.len().saturating_mul(store.features()) <= IN_MEMORY {
                return Ok(None);
            }
            return Err(Error::InMemory { what, rows: store.len() });
        }
        if matches!(access, RowAccess::Sample(most) if store.len() <= most) {
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

    /// Select where the rows lie, or among rows drawn at random.
    pub(crate) fn choose(&self, c: usize, selector: &dyn Selector) -> Result<Picked, Error> {
        let Setting { kernel, precision, seed } = self.setting;
        let RowAccess::Sample(most) = selector.needs().rows else {
            let selection = self.store.select(c, selector, kernel, seed, &self.observer)?;
            source::tell_rest(&selection);
            return Ok(Picked { selection, among: self.store.len() });
        };
        let some = self.store.pilot(most, seed)?;
        let gram = Gram::new(&some, kernel)?;
        let task = Task { gram: &gram, c, precision, seed, ridge: None, observer: &self.observer };
        let mut selection = landmarks::run(selector, &task)?;
        crate::output::note(&format!("landmarks are selected among {} rows drawn at random", some.len()));
        source::tell_rest(&selection);
        source::tell_choice(&selection);
        let rows = selection.landmarks.rows().ok_or(Error::NoRows { method: selector.name() })?;
        selection.landmarks = LandmarkSet::Indices(rows.iter().map(|&row| some.number(row)).collect());
        Ok(Picked { selection, among: some.len() })
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
        Ok(Picked { selection: Selection::rows(rows.to_vec(), 0.0), among: self.store.len() })
    }
}
