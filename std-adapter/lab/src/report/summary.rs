//! What a fit chose and measured, as names and values.

use super::class_report::ClassReport;
use super::held_out::{ByTarget, HeldOut};
use super::measured::{TestReport, most_important};
use crate::text::{row, short, short_or_dash};
use dpp_nystrom::data::table::{How, Recipe, Taken};
use dpp_nystrom::kernel::{KernelKind, Metric};
use dpp_nystrom::landmarks::{PlannedSelection, Refinement};
use dpp_nystrom::pipeline::{LearnedMetric, NumberOfLandmarks, Outcome};
use dpp_nystrom::{Model, model::Importance};
use serde::Serialize;

/// Columns that a line names.
const NAMED: usize = 12;

/// A fit in numbers and words, for text, JSON and the page.
#[derive(Serialize)]
pub struct Summary<'a> {
    /// The method by which the landmarks were selected.
    pub method: &'a str,
    #[serde(flatten)]
    plan: Option<PlanReport>,
    landmarks: &'a [u64],
    #[serde(skip)]
    count: usize,
    sigma: f64,
    #[serde(skip)]
    bandwidth: Option<f64>,
    #[serde(flatten)]
    metric: Option<MetricReport<'a>>,
    /// The kernel, if it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelReport>,
    /// The number of landmarks, if it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<NumberReport>,
    ridge: f64,
    rows: u64,
    /// The column of weights, over which errors are means.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<&'a str>,
    dim: usize,
    /// On rows that no choice has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<TestReport>,
    /// Why there is no such error.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_tested: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    importances: Option<&'a [Importance]>,
    train_nrmse: f64,
    cv_nrmse: Option<f64>,
    /// The errors of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassReport<'a>>,
    #[serde(skip)]
    leaves_one_out: bool,
    #[serde(skip)]
    one_fold: bool,
    dependent: usize,
    /// Of the learning of the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    metric_seconds: Option<f64>,
    select_seconds: f64,
    fit_seconds: f64,
}

impl<'a> Summary<'a> {
    /// Return that of a fit whose landmarks a method of this name selected; `leaves_one_out` says that the
    /// ridge was chosen by the leave-one-out error.
    pub fn of(outcome: &'a Outcome<'_>, method: &'a str, leaves_one_out: bool) -> Self {
        let (selected, fitted) = (&outcome.selected, &outcome.fitted);
        let classes = fitted.model.classifier.is_some();
        Self {
            method,
            plan: selected.selection.plan.clone().map(PlanReport::from),
            landmarks: &fitted.model.landmark_rows,
            count: fitted.model.landmarks(),
            sigma: selected.kernel.sigma,
            bandwidth: selected.kernel.bandwidth(),
            metric: selected.metric.as_ref().map(|learned| MetricReport::of(learned, classes)),
            kernel: selected.metric.as_ref().and_then(|learned| KernelReport::of(learned, classes)),
            number: selected.number.as_ref().map(|number| NumberReport::of(number, classes)),
            ridge: fitted.model.ridge,
            rows: fitted.model.trained_rows,
            weight: fitted.model.weight(),
            dim: fitted.model.feature_names.len(),
            test: TestReport::of(&fitted.model),
            not_tested: outcome.untested,
            importances: fitted.model.importances.as_ref().map(|measured| &measured.columns[..]),
            train_nrmse: fitted.model.train_nrmse,
            cv_nrmse: fitted.validation_nrmse,
            classes: ClassReport::of(&fitted.model, fitted.class_errors.as_ref()),
            leaves_one_out,
            one_fold: fitted.one_fold,
            dependent: fitted.dependent,
            metric_seconds: (selected.metric_seconds > 0.0).then_some(selected.metric_seconds),
            select_seconds: selected.selection.seconds,
            fit_seconds: outcome.fit_seconds,
        }
    }

    /// Return names and values of what was fitted and how, for the page. `undo` says how to undo what became
    /// of columns.
    pub fn choices(&self, model: &Model, undo: &Undo) -> Vec<Vec<String>> {
        let targets: Vec<String> = match &model.classifier {
            Some(classifier) => {
                vec![format!("{}, {} classes", classifier.classes.column, classifier.classes.labels.len())]
            }
            None => model.targets().map(|target| target.name).collect(),
        };
        let mut rows = vec![row("target", targets.join(", "))];
        if self.kernel.is_none() {
            rows.push(row("kernel", model.kernel.kind.to_string()));
        }
        rows.extend(self.lines());
        rows.extend(groups(&model.recipe(), undo));
        rows
    }

    /// Return names and values of what was chosen and measured.
    pub fn lines(&self) -> Vec<Vec<String>> {
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
        let name = match (self.leaves_one_out, self.one_fold) {
            (true, _) => "leave-one-out error",
            (false, true) => "error of one fold",
            (false, false) => "10-fold error",
        };
        let learned = self.metric.as_ref().is_some_and(|metric| metric.metric != Metric::One);
        let of = match (self.cv_nrmse, learned) {
            (Some(_), true) => " (chose the ridge; too low: the metric was learned on most of these rows)",
            (Some(_), false) => " (chose the ridge)",
            (None, _) => "",
        };
        row(name, short_or_dash(self.cv_nrmse) + of)
    }
}

/// What a method that chooses among others chose.
#[derive(Debug, Serialize)]
pub struct PlanReport {
    method_chosen: &'static str,
    /// Options of the command line; with the method they select the same rows.
    options_chosen: String,
    reason: String,
}

impl From<PlannedSelection> for PlanReport {
    fn from(plan: PlannedSelection) -> Self {
        let PlannedSelection { method, pivot_rows, refinement, reason, .. } = plan;
        let mut options: Vec<String> =
            pivot_rows.map(|rows| format!("--pivot-rows {rows}")).into_iter().collect();
        if let Some(Refinement { sweeps, sample, rows, .. }) = refinement {
            options.push(format!("--refine {sweeps}"));
            options.extend(sample.map(|sample| format!("--refine-sample {sample}")));
            if rows != Refinement::default().rows {
                options.push(format!("--refine-rows {rows}"));
            }
        }
        Self { method_chosen: method, options_chosen: options.join(" "), reason }
    }
}

impl PlanReport {
    /// Return the options in one line.
    pub fn words(&self) -> String {
        format!("--method {} {}", self.method_chosen, self.options_chosen).trim_end().to_owned()
    }
}

/// A kernel, and the errors on rows held out by which it was chosen.
#[derive(Serialize)]
struct KernelReport {
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
    fn of(learned: &LearnedMetric, classes: bool) -> Option<Self> {
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
struct NumberReport {
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
    fn of(number: &NumberOfLandmarks, classes: bool) -> Self {
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
struct MetricReport<'a> {
    metric: Metric,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_learned: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred: Option<&'static str>,
    scales: &'a [f64],
    map: Option<Vec<&'a [f64]>>,
    held_out: Vec<HeldOut>,
}

impl<'a> MetricReport<'a> {
    fn of(learned: &'a LearnedMetric, classes: bool) -> Self {
        let LearnedMetric { metric, scales, map, reason, preferred, .. } = learned;
        Self {
            metric: *metric,
            preferred: *preferred,
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
                let preferred = self.preferred.map(|reason| format!("; {reason}")).unwrap_or_default();
                format!("{metric} ({what} on rows used to choose: {errors}{preferred})")
            }
        }
    }
}

/// How to undo what became of columns, for each kind of it; empty where nothing does: columns left out, a
/// decimal comma, dates and units, words and numbers in one column, many words, gaps.
pub type Undo = [&'static str; 6];

/// A kind of what becomes of columns: its name, and whether a column is of it.
type Group = (&'static str, fn(&How) -> bool);

const GROUPS: [Group; 6] = [
    ("left out", How::is_left_out),
    ("decimal point", |how| *how == How::DecimalComma),
    ("dates and units", |how| matches!(how, How::Read(_))),
    ("words and numbers", |how| matches!(how, How::Mixed(_))),
    ("many words", |how| matches!(how, How::Frequent { .. })),
    ("gaps", |how| matches!(how, How::Filled(_))),
];

/// Return names and texts of the kinds of what became of the columns.
pub fn groups(recipe: &Recipe, undo: &Undo) -> Vec<Vec<String>> {
    let text = |((name, is_of), undo): (&Group, &&str)| {
        let own: Vec<&Taken> = recipe.taken.iter().filter(|taken| is_of(&taken.how)).collect();
        let more = own.len().saturating_sub(NAMED);
        let named: Vec<String> = own.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let undo = if undo.is_empty() { String::new() } else { format!(" ({undo})") };
        (!own.is_empty()).then(|| row(name, format!("{}{more}{undo}", named.join("; "))))
    };
    GROUPS.iter().zip(undo).filter_map(text).collect()
}
