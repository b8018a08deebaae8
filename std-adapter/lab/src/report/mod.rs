//! The page of a fit: one file that opens from the disk, without scripts, fonts or anything else from
//! elsewhere.
//!
//! Errors are those of rows that no choice of the fit has seen ([`Outcome::held_out`]). Pictures show a part
//! of them. A [`Subject`] keeps that part, so that a page can be made when the rows are gone.

mod class_report;
mod classes;
mod dependence;
mod held_out;
mod measured;
mod page;
mod summary;
mod targets;

pub use class_report::ClassReport;
pub use held_out::ByTarget;
pub use measured::{TestReport, most_important, ranked, rise};
pub use summary::{PlanReport, Summary, Undo, groups};

use crate::chart::{Axis, Layer, Picture, Scale, shortened};
use crate::components::{COMPONENT_ROWS, ComponentPicture, picture, sampled, some_of};
use crate::error::Error;
use crate::text::{number, plain_line};
use dpp_nystrom::data::RowSource;
use dpp_nystrom::model::{Importance, PERMUTATIONS};
use dpp_nystrom::pipeline::Outcome;
use dpp_nystrom::regression::{ClassErrors, HeldOut};
use dpp_nystrom::{Model, Nystroem};
use maud::{Markup, html};
use page::{barred, figure, percent, section, table};

/// Points of a picture.
const POINTS: usize = 2_000;
/// Columns in the table of importances, and landmarks in theirs.
const LISTED: usize = 20;
/// Features in the table of landmarks.
const FEATURES: usize = 5;
/// Classes of which each has its row and column in the tables.
const CLASSES: usize = 40;
/// Targets with pictures of their own.
const TARGETS: usize = 4;
/// Targets or classes with a line in one picture: as many as there are colours.
const LINES: usize = 3;

/// What a page is of: what a fit found, and those of its rows that the page shows.
#[derive(Clone, Debug)]
pub struct Subject {
    held_out: Option<HeldOut>,
    /// The numbers in the file of the rows that were held out.
    numbers: Vec<usize>,
    /// Of each of the first targets, the landmarks nearest to the rows with the largest errors.
    nearest: Vec<Vec<(u64, f64)>>,
    untested: Option<&'static str>,
    class_errors: Option<ClassErrors>,
    ridge_errors: Vec<(f64, f64)>,
    is_weighted: bool,
    /// Rows in their own units, over which predictions are averaged.
    averaged: Vec<f64>,
    /// Rows in their own units that are no landmarks.
    others: Vec<f64>,
    /// Rows as the kernel has them.
    scaled: Vec<f64>,
    /// The first landmarks that are rows, with their numbers in the file.
    landmarks: (Vec<usize>, Vec<f64>),
}

/// What the program or package that made a fit has to say on its page.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// What the rows are called.
    pub rows: Option<&'a str>,
    /// Names and values of what was chosen.
    pub choices: &'a [Vec<String>],
    /// What fits it again: what that is, and its text.
    pub again: (&'a str, &'a str),
    /// What was told beside the fit.
    pub notes: &'a [String],
}

/// Copy some rows in their own units.
fn own_units(source: &dyn RowSource, places: &[usize]) -> Result<Vec<f64>, Error> {
    Ok(source.gather(places)?.into_own_units()?)
}

impl Subject {
    /// Copy what a page shows of a fit to these rows, before a learned metric: at most 4,000 of them, and
    /// 64 MiB.
    ///
    /// # Errors
    /// Those of [`RowSource::gather`].
    pub fn of(outcome: &Outcome<'_>, source: &dyn RowSource) -> Result<Self, Error> {
        let (model, rows) = (&outcome.fitted.model, outcome.selected.source());
        let held_out = outcome.held_out.as_ref();
        let numbers = held_out.map_or_else(Vec::new, |held_out| {
            held_out.rows.iter().map(|&row| rows.row_number(row)).collect()
        });
        let nearest = match held_out.filter(|_| model.classifier.is_none()) {
            Some(held_out) => targets::nearest(model, rows, held_out)?,
            None => Vec::new(),
        };
        let averaged: Vec<usize> = some_of(source, dependence::ROWS).collect();
        let averaged = if model.importances.is_some() { averaged } else { Vec::new() };
        // Landmarks are at distance 0.
        let is_other = |&row: &usize| !model.landmark_rows.contains(&(source.row_number(row) as u64));
        let others: Vec<usize> = some_of(source, POINTS).filter(is_other).collect();
        let listed = model.landmark_rows.iter().take(LISTED);
        let places: Vec<usize> = listed.filter_map(|&number| source.row_of(number as usize)).collect();
        Ok(Self {
            held_out: held_out.cloned(),
            numbers,
            nearest,
            untested: outcome.untested,
            class_errors: outcome.fitted.class_errors.clone(),
            ridge_errors: outcome.fitted.ridge_errors.clone(),
            is_weighted: source.weights().is_some(),
            averaged: own_units(source, &averaged)?,
            others: own_units(source, &others)?,
            scaled: sampled(rows)?,
            landmarks: (
                places.iter().map(|&place| source.row_number(place)).collect(),
                own_units(source, &places)?,
            ),
        })
    }

    /// Return the page, as HTML, of the model that the fit found.
    ///
    /// # Errors
    /// [`Error::Picture`], and those of the model's predictions.
    pub fn page(&self, model: &Model, origin: &Origin<'_>) -> Result<String, Error> {
        let target = model.classifier.as_ref().map_or(&model.target_name, |own| &own.classes.column);
        let others = if model.classifier.is_none() { model.outputs() - 1 } else { 0 };
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        let from = origin.rows.map_or_else(String::new, |rows| format!(" from {}", shown(rows)));
        let title = format!("Fit of {}{others}{from}", shown(target));
        let held_out = self.held_out.as_ref();
        let report = ClassReport::of(model, self.class_errors.as_ref());
        let results = match (held_out, report) {
            (None, _) => untested(self.untested),
            (Some(held_out), Some(report)) => {
                classes::sections(model, &report, held_out, &self.of_what(model))?
            }
            (Some(held_out), None) => targets::sections(self, model, held_out, &self.of_what(model))?,
        };
        let body = html! {
            (choices(origin))
            (results)
            (features(self, model)?)
            (landmarks(self, model)?)
            (novelty(self, model)?)
            (ridges(self, model)?)
            (told(origin.notes))
            (section("made", "How this page was made", &html! {
                p {
                    "Errors and pictures of predictions are of " (held_out.map_or(0, |held_out| held_out.rows.len()))
                    " rows that no choice has seen. A picture shows at most " (POINTS) " of them, evenly spaced; that of principal "
                    "components at most " (COMPONENT_ROWS) " rows and as many landmarks, and novelty is of at most " (POINTS) " rows."
                }
            }))
        };
        Ok(page::page(&title, &body).into_string())
    }

    /// Return a sentence on the rows whose predictions are shown.
    fn of_what(&self, model: &Model) -> String {
        let Some(test) = TestReport::of(model) else { return String::new() };
        let errors: Vec<String> =
            test.errors().into_iter().map(|(name, error)| format!("{name} {error}")).collect();
        let weighted = match self.is_weighted {
            true => {
                " In the pictures each row counts once, whatever its weight; the errors in this sentence are means over the weights."
            }
            false => "",
        };
        format!(
            "Of rows that no choice has seen, predicted by a model of the others: {} (standard errors widened by Student's t). The model of all rows is a little better.{weighted}",
            errors.join(", ")
        )
    }
}

/// Return a name as the page shows it.
fn shown(name: &str) -> String {
    shortened(name, 80)
}

/// Say that there is no error on rows that no choice has seen.
fn untested(reason: Option<&str>) -> Markup {
    section(
        "untested",
        "Predictions",
        &html! { p { "No row was left out of all choices, so that there is no test error: " (reason.unwrap_or("it was not measured")) "." } },
    )
}

fn linear(title: &str) -> Axis {
    Axis::new(title, Scale::Linear)
}

/// Return bars for the numbers of values in `count` intervals, and how many values are outside of the middle
/// 99 %, which are not shown.
fn histogram(values: &[f64], count: usize) -> (Vec<(f64, f64, f64)>, usize) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let cut = sorted.len() / 200;
    let kept = sorted.get(cut..sorted.len() - cut).unwrap_or_default();
    let (Some(&least), Some(&most)) = (kept.first(), kept.last()) else { return (Vec::new(), 0) };
    let width = if most > least { (most - least) / count as f64 } else { least.abs().max(1.0) * 1e-3 };
    let mut bars: Vec<(f64, f64, f64)> =
        (0..count).map(|at| (least + width * at as f64, least + width * (at + 1) as f64, 0.0)).collect();
    for value in kept {
        bars[(((value - least) / width) as usize).min(count - 1)].2 += 1.0;
    }
    (bars, 2 * cut)
}

/// Return the least number that this share of the values does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn choices(origin: &Origin<'_>) -> Markup {
    let rows: Vec<Vec<String>> =
        origin.choices.iter().map(|row| row.iter().map(|cell| plain_line(cell)).collect()).collect();
    section(
        "fit",
        "What was fitted",
        &html! {
            div.choices { (table("Data and choices", &["", ""], &rows)) }
            p { "This " (origin.again.0) " fits it again:" }
            pre tabindex="0" { code { (origin.again.1) } }
        },
    )
}

/// The importances of columns, and the inverse length-scales of a learned metric.
fn features(subject: &Subject, model: &Model) -> Result<Markup, Error> {
    let importances = match &model.importances {
        Some(importances) => {
            let ranked = importances.ranked();
            let first = &ranked[..ranked.len().min(LISTED)];
            let rest = ranked.len() - first.len();
            let most = first.iter().fold(f64::MIN_POSITIVE, |most, column| most.max(column.rise));
            let shares: Vec<f64> = first.iter().map(|column| column.rise.max(0.0) / most).collect();
            let row = |column: &&Importance| {
                vec![shown(&column.column), percent(column.rise), percent(column.deviation)]
            };
            let rows: Vec<Vec<String>> = first.iter().map(row).collect();
            html! {
                p {
                    "The rise of the error, over the error, where the values of a column are permuted among " (importances.rows)
                    " rows that no choice has seen: mean and standard deviation of " (PERMUTATIONS) " permutations. Of columns that tell the same, each has a small one."
                    @if rest > 0 { " " (rest) " columns with smaller importances are left out." }
                }
                (barred("Importances of the columns", &["column", "importance", "deviation"], &rows, &shares))
            }
        }
        None => html! { p { "No importance of columns was measured." } },
    };
    let scales = model.scales.as_ref().map(|scales| {
        let mut ranked: Vec<(&String, &f64)> = model.feature_names.iter().zip(scales).collect();
        ranked.sort_by(|one, other| other.1.total_cmp(one.1));
        let rows = ranked.iter().take(LISTED).map(|(name, scale)| vec![shown(name), number(**scale)]);
        table(
            "Inverse length-scales of the metric",
            &["feature", "inverse length-scale"],
            &rows.collect::<Vec<_>>(),
        )
    });
    Ok(section(
        "features",
        "Features",
        &html! {
            div.figures { div { (importances) } @if let Some(scales) = scales { (scales) } }
            (dependence::dependence(model, &subject.averaged)?)
        },
    ))
}

/// The landmarks among the rows, in the two directions in which the features vary most.
fn landmarks(subject: &Subject, model: &Model) -> Result<Markup, Error> {
    let map = Nystroem::of_model(model)?;
    let centres = model.coefficients.to_f64().landmarks;
    let ComponentPicture { picture, label } = picture(&map, &subject.scaled, &centres)?;
    Ok(section(
        "landmarks",
        "Landmarks",
        &html! {
            p { (model.landmarks()) " landmarks. Rows that lie close together in this picture are alike to the kernel." }
            div.figures {
                (figure(&picture.svg()?, "Kernel principal components", &label, &html! {
                    span.dot.k0 {} " rows  " span.tip.k1 {} " landmarks"
                }))
                (landmark_rows(subject, model))
            }
        },
    ))
}

/// The first landmarks, as rows of the file.
fn landmark_rows(subject: &Subject, model: &Model) -> Markup {
    if model.landmark_rows.is_empty() {
        return html! { p { "They are points, not rows of the file." } };
    }
    let (numbers, rows) = &subject.landmarks;
    let mut columns: Vec<usize> = (0..model.feature_names.len()).collect();
    if let Some(scales) = &model.scales {
        columns.sort_by(|&one, &other| scales[other].total_cmp(&scales[one]));
    }
    columns.truncate(FEATURES);
    let names: Vec<String> = columns.iter().map(|&column| shown(&model.feature_names[column])).collect();
    let header: Vec<&str> = std::iter::once("row").chain(names.iter().map(String::as_str)).collect();
    let cells = rows.chunks_exact(model.feature_names.len().max(1)).zip(numbers).map(|(row, own)| {
        std::iter::once(own.to_string()).chain(columns.iter().map(|&column| number(row[column]))).collect()
    });
    let caption = format!("The first {} landmarks, rows counted from 0", numbers.len());
    table(&caption, &header, &cells.collect::<Vec<Vec<String>>>())
}

/// How far rows are from the landmarks, beside the limits of the model.
fn novelty(subject: &Subject, model: &Model) -> Result<Markup, Error> {
    let Some(limits) = model.confidence.as_ref().map(|confidence| confidence.limits()) else {
        return Ok(html! {});
    };
    let assessed = match model.assess(&subject.others) {
        Ok(assessed) => assessed,
        Err(error) => {
            return Ok(section(
                "novelty",
                "Novelty",
                &html! { p { "It could not be measured: " (shown(&error.to_string())) } },
            ));
        }
    };
    let nearest: Vec<f64> = assessed.iter().map(|row| row.nearest).collect();
    let (bars, left_out) = histogram(&nearest, 30);
    let most = bars.iter().fold(0.0_f64, |most, bar| most.max(bar.2));
    let [_, tenth, hundredth] = limits.nearest;
    let picture = Picture {
        x: linear("distance to the nearest landmark"),
        y: linear("rows"),
        layers: vec![
            Layer::Bars(bars),
            Layer::Line(vec![(tenth, 0.0), (tenth, most)]),
            Layer::Line(vec![(hundredth, 0.0), (hundredth, most)]),
        ],
    };
    let label = format!(
        "Histogram: the distances of {} rows, not landmarks, to the nearest landmark. A tenth of the rows is beyond {}, a hundredth beyond {}.",
        nearest.len(),
        number(tenth),
        number(hundredth)
    );
    let residuals = limits.residual.map(number);
    Ok(section(
        "novelty",
        "Novelty",
        &html! {
            p {
                "A row far from all landmarks is unlike what the model has seen: predict --with novelty marks those beyond the last line. "
                "Distances are in standard deviations of the features, or as the learned metric has them; the Nyström residual is the part of "
                "a row that the landmarks do not represent: a half of the rows exceed " (residuals[0]) ", a tenth " (residuals[1]) ", a hundredth " (residuals[2]) "."
            }
            (figure(&picture.svg()?, "Distance to the nearest landmark", &label, &html! {
                span.line.k1 {} " " (number(tenth)) ", exceeded by a tenth of the rows  "
                span.line.k2 {} " " (number(hundredth)) ", by a hundredth"
                @if left_out > 0 { " (" (left_out) " rows at both ends are not shown)" }
            }))
        },
    ))
}

/// The error of each ridge that was compared.
fn ridges(subject: &Subject, model: &Model) -> Result<Markup, Error> {
    let errors: Vec<(f64, f64)> = subject
        .ridge_errors
        .iter()
        .copied()
        .filter(|(ridge, error)| *ridge > 0.0 && error.is_finite())
        .collect();
    if errors.len() < 2 {
        return Ok(html! {});
    }
    let chosen = model.ridge;
    let own: Vec<(f64, f64)> = errors.iter().copied().filter(|(ridge, _)| *ridge == chosen).collect();
    let label =
        format!("Curve: the error of {} ridges, of which {} has the least.", errors.len(), number(chosen));
    let picture = Picture {
        x: Axis::new("ridge γ", Scale::Logarithmic),
        y: Axis::new("error", Scale::Linear),
        layers: vec![Layer::Line(errors), Layer::Triangles(own)],
    };
    Ok(section(
        "ridge",
        "Choice of the ridge",
        &html! {
            p { "In standard deviations of the target. A minimum at an end of the curve would call for other landmarks or another bandwidth." }
            (figure(&picture.svg()?, "Error over the ridge", &label, &html! { span.tip.k1 {} " " (number(chosen)) ", chosen" }))
        },
    ))
}

/// What was told beside the fit.
fn told(notes: &[String]) -> Markup {
    section(
        "notes",
        "Warnings and notes",
        &html! {
            @if notes.is_empty() {
                p { "None." }
            } @else {
                ul { @for note in notes { li { (note) } } }
            }
        },
    )
}
