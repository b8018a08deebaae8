//! What `fit` reports.

use crate::class_report::ClassReport;
use crate::export::name_of_numbers;
use crate::held_out::{ByTarget, HeldOut};
use crate::measured::{TestReport, most_important};
use crate::output::{Column, listed, plain_line, row, short, short_or_dash, shown, shown_if_any, table};
use crate::source::PlanReport;
use crate::taken::{self, TakenReport};
use crate::tolerance::Curve;
use crate::weak::Dropped;
use dpp_nystrom::kernel::{KernelKind, Metric};
use dpp_nystrom::pipeline::{COARSER, Candidate, InFlash, LearnedMetric, NumberOfLandmarks};
use dpp_nystrom::{Model, model::Importance};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
pub(crate) struct Report<'a> {
    #[serde(serialize_with = "shown")]
    pub(crate) model: &'a Path,
    #[serde(serialize_with = "shown_if_any", skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<&'a Path>,
    pub(crate) method: &'a str,
    #[serde(flatten)]
    pub(crate) plan: Option<PlanReport>,
    #[serde(flatten)]
    pub(crate) curve: Option<Curve>,
    pub(crate) landmarks: &'a [u64],
    #[serde(skip)]
    pub(crate) count: usize,
    pub(crate) sigma: f64,
    #[serde(skip)]
    pub(crate) bandwidth: Option<f64>,
    #[serde(flatten)]
    pub(crate) metric: Option<MetricReport<'a>>,
    /// The kernel, if it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kernel: Option<KernelReport>,
    /// The number of landmarks, if it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<NumberReport>,
    #[serde(flatten)]
    pub(crate) dropped: Option<Dropped>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flash: Option<FlashReport>,
    pub(crate) ridge: f64,
    pub(crate) rows: u64,
    /// The column of weights, over which errors are means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<&'a str>,
    pub(crate) dim: usize,
    /// What became of columns that were not read as they stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) taken: Vec<TakenReport>,
    /// On rows that no choice has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) test: Option<TestReport>,
    /// Why there is no such error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_tested: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) importances: Option<&'a [Importance]>,
    pub(crate) train_nrmse: f64,
    pub(crate) cv_nrmse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) classes: Option<ClassReport<'a>>,
    #[serde(skip)]
    pub(crate) leaves_one_out: bool,
    pub(crate) dependent: usize,
    /// Of the learning of the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metric_seconds: Option<f64>,
    pub(crate) select_seconds: f64,
    pub(crate) fit_seconds: f64,
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
    /// On rows held out, as a device computes it: the mean over so many parts of the rows.
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
        ("landmarks", |tried| tried.landmarks.to_string()),
        ("free", |tried| if tried.free_landmarks { "yes" } else { "no" }.to_owned()),
        ("bytes", |tried| tried.bytes.to_string()),
        ("error on rows used to choose", |tried| short(tried.error.value())),
        ("parts", |tried| tried.parts.to_string()),
    ];

    fn text(&self) -> String {
        format!(
            "\nModels tried for {} bytes of flash, with their {} on parts of the rows held out. Of those on most parts the one with the \
             least is taken, integers only where theirs times {COARSER} is less: they err by more on rows unlike these. Figures on \
             different parts do not compare. Write it with: dpp-nystrom export MODEL --to c\n{}",
            self.budget,
            self.chosen.error.plural(),
            table(&Self::COLUMNS, &self.candidates)
        )
    }
}

/// A kernel, and the errors on rows held out by which it was chosen.
#[derive(Serialize)]
pub(crate) struct KernelReport {
    chosen: String,
    held_out: Vec<TriedKernel>,
}

#[derive(Serialize)]
struct TriedKernel {
    kernel: String,
    #[serde(flatten)]
    error: ByTarget,
}

impl KernelReport {
    pub(crate) fn of(learned: &LearnedMetric, classes: bool) -> Option<Self> {
        let tried = |&(kind, error): &(KernelKind, f64)| TriedKernel {
            kernel: kind.to_string(),
            error: ByTarget::of(error, classes),
        };
        let held_out: Vec<TriedKernel> = learned.kinds.iter().map(tried).collect();
        (!held_out.is_empty()).then(|| Self { chosen: learned.kernel.kind.to_string(), held_out })
    }

    fn words(&self) -> String {
        let words = |tried: &TriedKernel| format!("{} {}", tried.kernel, short(tried.error.value()));
        let errors: Vec<String> = self.held_out.iter().map(words).collect();
        let what = self.held_out.first().map_or("errors", |tried| tried.error.plural());
        format!("{} ({what} on rows used to choose: {})", self.chosen, errors.join(", "))
    }
}

/// A number of landmarks, and the errors on rows held out by which it was chosen.
#[derive(Serialize)]
pub(crate) struct NumberReport {
    chosen: usize,
    reason: &'static str,
    held_out: Vec<TriedNumber>,
}

#[derive(Serialize)]
struct TriedNumber {
    landmarks: usize,
    #[serde(flatten)]
    error: ByTarget,
}

impl NumberReport {
    pub(crate) fn of(number: &NumberOfLandmarks, classes: bool) -> Self {
        let tried = |&(landmarks, error)| TriedNumber { landmarks, error: ByTarget::of(error, classes) };
        let held_out = number.errors.iter().map(tried).collect();
        Self { chosen: number.count, reason: number.reason, held_out }
    }

    fn words(&self) -> String {
        let words = |tried: &TriedNumber| format!("{} {}", tried.landmarks, short(tried.error.value()));
        let errors: Vec<String> = self.held_out.iter().map(words).collect();
        let what = self.held_out.first().map_or("errors", |tried| tried.error.plural());
        format!("{} ({what} on rows used to choose: {}; {})", self.chosen, errors.join(", "), self.reason)
    }
}

/// A learned metric, and the errors by which it was judged.
#[derive(Serialize)]
pub(crate) struct MetricReport<'a> {
    metric: Metric,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_learned: Option<&'static str>,
    scales: &'a [f64],
    map: Option<Vec<&'a [f64]>>,
    held_out: Vec<HeldOut>,
}

impl<'a> MetricReport<'a> {
    pub(crate) fn of(learned: &'a LearnedMetric, classes: bool) -> Self {
        let LearnedMetric { metric, scales, map, reason, .. } = learned;
        Self {
            metric: *metric,
            not_learned: *reason,
            scales,
            map: map.as_ref().map(|map| map.values.chunks_exact(scales.len()).collect()),
            held_out: HeldOut::of(learned, classes).collect(),
        }
    }

    fn words(&self) -> String {
        let what = self.held_out.first().map_or("errors", |tried| tried.error.plural());
        let errors: Vec<String> = self.held_out.iter().map(HeldOut::words).collect();
        match self.not_learned {
            Some(reason) => format!("{} (not learned: {reason})", self.metric),
            None => {
                let (metric, errors) = (self.metric, errors.join(", "));
                format!("{metric} ({what} on rows used to choose: {errors}{})", self.within_noise())
            }
        }
    }

    /// Tell why a metric is chosen although another has a lower error.
    fn within_noise(&self) -> &'static str {
        let own = self.held_out.iter().find(|tried| tried.metric == self.metric);
        let least = self.held_out.iter().map(|tried| tried.error.value()).fold(f64::INFINITY, f64::min);
        match own.is_some_and(|own| own.error.value() > least) {
            true => "; others are lower by no more than the noise, or leave too few independent rows",
            false => "",
        }
    }
}

impl Report<'_> {
    /// Return what was fitted and how, for the page.
    pub(crate) fn choices(&self, data: &Path, model: &Model) -> Vec<Vec<String>> {
        let targets: Vec<String> = match &model.classifier {
            Some(classifier) => {
                vec![format!("{}, {} classes", classifier.classes.column, classifier.classes.labels.len())]
            }
            None => model.targets().map(|target| target.name).collect(),
        };
        let mut rows = vec![row("data", data.display()), row("target", targets.join(", "))];
        if self.kernel.is_none() {
            rows.push(row("kernel", model.kernel.kind.to_string()));
        }
        rows.extend(self.lines());
        rows.extend(taken::groups(&model.recipe()));
        rows.extend(
            self.dropped.as_ref().and_then(Dropped::left_out).map(|columns| row("left out", columns)),
        );
        rows.extend([row("seed", self.seed), row("model", self.model.display())]);
        rows.into_iter().map(|row| row.iter().map(|cell| plain_line(cell)).collect()).collect()
    }

    pub(crate) fn text(&self) -> String {
        let model = self.model.display().to_string();
        let dropped = self.dropped.as_ref().map_or_else(String::new, Dropped::text);
        let curve = self.curve.as_ref().map_or_else(String::new, Curve::text);
        let flash = self.flash.as_ref().map_or_else(String::new, FlashReport::text);
        let classes = self.classes.as_ref().map_or_else(String::new, ClassReport::text);
        listed(&["model", &model], &self.lines())
            + "\nErrors are in standard deviations of the target.\n"
            + &classes
            + &dropped
            + &curve
            + &flash
    }

    /// Return names and values of what was chosen and measured.
    fn lines(&self) -> Vec<Vec<String>> {
        let chosen = match &self.plan {
            Some(plan) => format!("{}: {}", self.method, plan.words()),
            None => self.method.to_owned(),
        };
        let tested = match (&self.test, self.not_tested) {
            (Some(test), _) => test.words(),
            (None, reason) => format!("- ({})", reason.unwrap_or("it was not measured")),
        };
        let mut rows =
            vec![row("test error", tested), row("rows x features", format!("{} x {}", self.rows, self.dim))];
        rows.extend(
            self.weight.map(|weight| row("weights", format!("{weight}; errors are means over them"))),
        );
        rows.push(row("landmarks", format!("{} ({chosen})", self.count)));
        rows.extend(self.number.as_ref().map(|number| row("number of landmarks", number.words())));
        rows.extend(self.kernel.as_ref().map(|kernel| row("kernel", kernel.words())));
        rows.push(row("bandwidth", short_or_dash(self.bandwidth)));
        rows.extend(self.metric.as_ref().map(|metric| row("metric", metric.words())));
        rows.extend([
            row("ridge", short(self.ridge)),
            row("training error", short(self.train_nrmse)),
            self.validation(),
        ]);
        rows.extend(self.importances.map(|columns| row("importances", most_important(columns))));
        rows.extend(self.metric_seconds.map(|seconds| row("seconds to learn the metric", short(seconds))));
        rows.push(row("seconds to select", short(self.select_seconds)));
        rows.push(row("seconds to fit", short(self.fit_seconds)));
        rows
    }

    /// Return the error of folds, and that it is no test error.
    fn validation(&self) -> Vec<String> {
        let name = if self.leaves_one_out { "leave-one-out error" } else { "10-fold error" };
        let learned = self.metric.as_ref().is_some_and(|metric| metric.metric != Metric::One);
        let of = match (self.cv_nrmse, learned) {
            (Some(_), true) => " (chose the ridge; too low: the metric was learned on most of these rows)",
            (Some(_), false) => " (chose the ridge)",
            (None, _) => "",
        };
        row(name, short_or_dash(self.cv_nrmse) + of)
    }
}
