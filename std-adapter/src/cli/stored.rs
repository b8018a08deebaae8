//! `select` and `fit` on a row store, without its rows in memory.

use super::arguments::{Fit, KernelArguments, Select};
use super::bar::Bar;
use super::source;
use dpp_nystrom::methods::Selector;
use dpp_nystrom::store::MeasuredError;
use dpp_nystrom::{Error, Method, Selection, Setting, Start, Store, Training, methods};
use std::path::Path;

/// Rows from which a bandwidth is estimated.
const GLANCE: usize = 2_000;

/// Numbers up to which a store is read into memory for a method that wants its rows there: 128 MiB in `f64`.
const IN_MEMORY: usize = 1 << 24;

/// A store to be read where it lies.
pub(crate) struct Stored {
    pub(crate) store: Store,
    pub(crate) setting: Setting,
    meter: Bar,
}

/// What `select` reports of a store.
pub(crate) struct Selected {
    pub(crate) selection: Selection,
    pub(crate) missed: MeasuredError,
}

impl Stored {
    /// The store that the command reads, if it is one and the method does not want its rows in memory.
    ///
    /// # Errors
    /// Those of opening it, [`Error::InMemory`].
    pub(crate) fn open(
        source: &super::arguments::Source,
        kernel: &KernelArguments,
        method: Option<&dyn Selector>,
        options: &methods::Options,
    ) -> Result<Option<Self>, Error> {
        if source.rows.is_some() || !Store::is_store(&source.data) {
            return Ok(None);
        }
        let store = source::open_store(source)?;
        if let Some(method) = method
            && plain(method, options).is_none()
        {
            if store.len().saturating_mul(store.width()) <= IN_MEMORY {
                return Ok(None);
            }
            return Err(Error::InMemory { method: method.name(), rows: store.len() });
        }
        let meter = Bar::default();
        let glance = store.glance(GLANCE, source.seed)?;
        let setting = source::setting(&glance, kernel, source.seed, &meter)?;
        let setting = Setting { precision: store.precision(), ..setting };
        Ok(Some(Self { store, setting, meter }))
    }

    pub(crate) fn select(&self, arguments: &Select) -> Result<Selected, Error> {
        let options = arguments.knobs.options(&[]);
        let selection = self.choose(arguments.landmarks, arguments.method, &options)?;
        let Setting { kernel, sigma, seed, .. } = self.setting;
        let missed = self.store.trace_error(&selection.landmarks, kernel, sigma, seed)?;
        Ok(Selected { selection, missed })
    }

    pub(crate) fn choose(
        &self,
        c: usize,
        method: &dyn Selector,
        options: &methods::Options,
    ) -> Result<Selection, Error> {
        let Setting { kernel, sigma, seed, .. } = self.setting;
        let plain = plain(method, options)
            .ok_or(Error::InMemory { method: method.name(), rows: self.store.len() })?;
        let selection = self.store.select(c, &plain, kernel, sigma, seed, &self.meter)?;
        source::tell_unrest(selection.at_rest, selection.steps);
        Ok(selection)
    }

    pub(crate) fn train(&self, arguments: &Fit, landmarks: &[usize]) -> Result<Training, Error> {
        let mut checkpoint = arguments.checkpoint();
        let training =
            self.store.train(landmarks, arguments.ridge, self.setting, checkpoint.as_mut(), &self.meter)?;
        if let Some(checkpoint) = checkpoint.filter(|checkpoint| checkpoint.resumed() > 0) {
            super::output::note(&format!(
                "the first {} rows had been learned before the fit was cut off",
                checkpoint.resumed()
            ));
        }
        Ok(training)
    }

    /// Row numbers that a user chose, all of them rows of the store.
    pub(crate) fn given(&self, path: &Path, rows: &[usize]) -> Result<(), Error> {
        source::under(self.store.len(), path, rows)
    }
}

/// A method that reads rows where they lie, and few of them.
fn plain(method: &dyn Selector, options: &methods::Options) -> Option<Method> {
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
