//! What `fit` reports.

use crate::export::name_of_numbers;
use crate::output::{Column, listed, row, short, shown, shown_if_any, table};
use crate::taken::{TakenReport, UNDO};
use crate::tolerance::Curve;
use crate::weak::Dropped;
use dpp_nystrom::Model;
use dpp_nystrom::kernel::Metric;
use dpp_nystrom::pipeline::{COARSER, Candidate, InFlash};
use dpp_nystrom_lab::report::{ByTarget, ClassReport, Summary};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
pub(crate) struct Report<'a> {
    #[serde(serialize_with = "shown")]
    pub(crate) model: &'a Path,
    #[serde(serialize_with = "shown_if_any", skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<&'a Path>,
    #[serde(flatten)]
    pub(crate) summary: Summary<'a>,
    #[serde(flatten)]
    pub(crate) curve: Option<Curve>,
    #[serde(flatten)]
    pub(crate) dropped: Option<Dropped>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flash: Option<FlashReport>,
    /// What became of columns that were not read as they stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) taken: Vec<TakenReport>,
    pub(crate) seed: u64,
}

/// What was chosen to fit into flash, and what it was chosen from.
#[derive(Serialize)]
pub(crate) struct FlashReport {
    budget: usize,
    chosen: Tried,
    candidates: Vec<Tried>,
}

#[derive(Serialize)]
struct Tried {
    metric: Metric,
    numbers: &'static str,
    landmarks: usize,
    free_landmarks: bool,
    /// Regression on the features themselves.
    line: bool,
    bytes: usize,
    /// On validation rows, as a device computes it: the mean over so many parts of the rows.
    #[serde(flatten)]
    error: ByTarget,
    parts: usize,
}

impl Tried {
    fn of(candidate: &Candidate, classes: bool) -> Self {
        let &Candidate {
            metric, quantise, landmarks, free: free_landmarks, line, bytes, error, parts, ..
        } = candidate;
        let (numbers, error) = (name_of_numbers(quantise), ByTarget::of(error, classes));
        Self { metric, numbers, landmarks, free_landmarks, line, bytes, error, parts }
    }
}

impl FlashReport {
    pub(crate) fn of(budget: usize, found: &InFlash<'_>) -> Self {
        let classes = found.outcome.fitted.model.classifier.is_some();
        let candidates = found.candidates.iter().map(|tried| Tried::of(tried, classes)).collect();
        Self { budget, chosen: Tried::of(&found.chosen, classes), candidates }
    }

    /// Whether the landmarks of the model have left the rows.
    pub(crate) fn is_free(&self) -> bool {
        self.chosen.free_landmarks
    }

    /// Whether the model is ridge regression on the features themselves.
    pub(crate) fn is_line(&self) -> bool {
        self.chosen.line
    }

    const COLUMNS: [Column<Tried>; 7] = [
        ("metric", |tried| if tried.line { "line".to_owned() } else { tried.metric.to_string() }),
        ("numbers", |tried| tried.numbers.to_owned()),
        ("landmarks", |tried| if tried.line { "-".to_owned() } else { tried.landmarks.to_string() }),
        ("free", |tried| if tried.free_landmarks { "yes" } else { "no" }.to_owned()),
        ("bytes", |tried| tried.bytes.to_string()),
        ("error on rows used to choose", |tried| short(tried.error.value())),
        ("parts", |tried| tried.parts.to_string()),
    ];

    fn text(&self) -> String {
        format!(
            "\nModels tried for {} bytes of flash, with their {} on parts of the validation rows. Chosen: the least among those measured on the \
             largest number of parts, integers only if theirs times {COARSER} is less, since they err by more on rows unlike these. \
             Figures on different parts do not compare. The test error is of the export in these numbers, the training error of the \
             model itself. Bytes stay unused if the rows allow no more landmarks. Write it with: dpp-nystrom export MODEL --to c\n{}",
            self.budget,
            self.chosen.error.plural(),
            table(&Self::COLUMNS, &self.candidates)
        )
    }
}

impl Report<'_> {
    /// Return what was fitted and how, for the page.
    pub(crate) fn choices(&self, data: &Path, model: &Model) -> Vec<Vec<String>> {
        let mut rows = vec![row("data", data.display())];
        rows.extend(self.summary.choices(model, &UNDO));
        rows.extend(
            self.dropped.as_ref().and_then(Dropped::left_out).map(|columns| row("left out", columns)),
        );
        rows.extend([row("seed", self.seed), row("model", self.model.display())]);
        rows
    }

    pub(crate) fn text(&self) -> String {
        let model = self.model.display().to_string();
        let dropped = self.dropped.as_ref().map_or_else(String::new, Dropped::text);
        let curve = self.curve.as_ref().map_or_else(String::new, Curve::text);
        let flash = self.flash.as_ref().map_or_else(String::new, FlashReport::text);
        let unit = if self.summary.classes.is_some() {
            "\nTraining and 10-fold errors are of the outputs of the classes, in standard deviations of their indicators.\n"
        } else {
            "\nErrors are in standard deviations of the target. Those used to choose are on other rows in each line.\n"
        };
        let classes = self.summary.classes.as_ref().map_or_else(String::new, ClassReport::text);
        listed(&["model", &model], &self.summary.lines()) + unit + &classes + &dropped + &curve + &flash
    }
}
