//! `fit --report`: one page of a fit that opens from the disk, without scripts, fonts or anything else from
//! elsewhere.
//!
//! Errors are those of rows that no choice of the fit has seen ([`Outcome::held_out`]). Pictures show a part
//! of them.

mod classes;
mod dependence;
mod page;
mod targets;

use crate::class_report::ClassReport;
use crate::components::{COMPONENT_ROWS, ComponentPicture, picture, spaced};
use crate::error::Error;
use crate::measured::TestReport;
use crate::output::{notes, plain_line};
use dpp_nystrom::Nystroem;
use dpp_nystrom::data::RowSource;
use dpp_nystrom::model::{Importance, PERMUTATIONS};
use dpp_nystrom::pipeline::Outcome;
use dpp_nystrom_host::atomic_file::write_whole;
use dpp_nystrom_lab::chart::{Axis, Layer, Picture, Scale, shortened};
use maud::{Markup, html};
use page::{barred, figure, number, percent, section, table};
use std::path::Path;

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

/// What a page is of.
pub(crate) struct Subject<'a> {
    pub(crate) data: &'a Path,
    /// The rows that were fitted, before a learned metric.
    pub(crate) source: &'a dyn RowSource,
    pub(crate) outcome: &'a Outcome<'a>,
    /// Names and values of what was chosen.
    pub(crate) choices: Vec<Vec<String>>,
    pub(crate) classes: Option<&'a ClassReport<'a>>,
}

/// Write the page.
pub(crate) fn write(path: &Path, subject: &Subject<'_>) -> Result<(), Error> {
    let model = &subject.outcome.fitted.model;
    let target = model.classifier.as_ref().map_or(&model.target_name, |own| &own.classes.column);
    let others = if model.classifier.is_none() { model.outputs() - 1 } else { 0 };
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    let title = format!("Fit of {}{others} from {}", shown(target), shown(&file_name(subject.data)));
    let held_out = subject.outcome.held_out.as_ref();
    let results = match (held_out, subject.classes) {
        (None, _) => untested(subject.outcome.untested),
        (Some(held_out), Some(report)) => classes::sections(model, report, held_out, &of_what(subject))?,
        (Some(held_out), None) => targets::sections(subject, held_out, &of_what(subject))?,
    };
    let body = html! {
        (choices(subject))
        (results)
        (features(subject)?)
        (landmarks(subject)?)
        (novelty(subject)?)
        (ridges(subject)?)
        (told())
        (section("made", "How this page was made", &html! {
            p {
                "Errors and pictures of predictions are of " (held_out.map_or(0, |held_out| held_out.rows.len()))
                " rows that no choice has seen. A picture shows at most " (POINTS) " of them, evenly spaced; that of principal "
                "components at most " (COMPONENT_ROWS) " rows and as many landmarks, and novelty is of at most " (POINTS) " rows."
            }
        }))
    };
    let page = page::page(&title, &body).into_string();
    Ok(write_whole(path, |file| file.write_all(page.as_bytes()))?)
}

/// Return a name as the page shows it.
fn shown(name: &str) -> String {
    shortened(name, 80)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Return a sentence on the rows whose predictions are shown.
fn of_what(subject: &Subject<'_>) -> String {
    let Some(test) = TestReport::of(&subject.outcome.fitted.model) else { return String::new() };
    let errors: Vec<String> =
        test.errors().into_iter().map(|(name, error)| format!("{name} {error}")).collect();
    let weighted = match subject.source.weights() {
        Some(_) => {
            " In the pictures each row counts once, whatever its weight; the errors in this sentence are means over the weights."
        }
        None => "",
    };
    format!(
        "Of rows that no choice has seen, predicted by a model of the others: {} (with standard errors). The model of all rows is a little better.{weighted}",
        errors.join(", ")
    )
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

fn choices(subject: &Subject<'_>) -> Markup {
    let arguments = std::env::args_os().skip(1).map(|argument| quoted(&argument.to_string_lossy()));
    let command: Vec<String> = std::iter::once("dpp-nystrom".to_owned()).chain(arguments).collect();
    section(
        "fit",
        "What was fitted",
        &html! {
            div.choices { (table("Data and choices", &["", ""], &subject.choices)) }
            p { "This command fits it again:" }
            pre tabindex="0" { code { (command.join(" ")) } }
        },
    )
}

/// Quote an argument for a shell. What a page or a terminal would obey is escaped as bash reads it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    if plain_line(argument) == argument {
        return format!("'{}'", argument.replace('\'', "'\\''"));
    }
    let escaped = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if plain_line(&c.to_string()) != c.to_string() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("$'{}'", argument.chars().map(escaped).collect::<String>())
}

/// The importances of columns, and the inverse length-scales of a learned metric.
fn features(subject: &Subject<'_>) -> Result<Markup, Error> {
    let model = &subject.outcome.fitted.model;
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
            (dependence::dependence(subject)?)
        },
    ))
}

/// The landmarks among the rows, in the two directions in which the features vary most.
fn landmarks(subject: &Subject<'_>) -> Result<Markup, Error> {
    let model = &subject.outcome.fitted.model;
    let map = Nystroem::of_model(model)?;
    let rows = subject.outcome.selected.source();
    let centres = model.coefficients.to_f64().landmarks;
    let count = centres.len() / rows.width().max(1);
    let ComponentPicture { picture, label } = picture(&map, rows, &centres)?;
    Ok(section(
        "landmarks",
        "Landmarks",
        &html! {
            p { (count) " landmarks. Rows that lie close together in this picture are alike to the kernel." }
            div.figures {
                (figure(&picture.svg()?, "Kernel principal components", &label, &html! {
                    span.dot.k0 {} " rows  " span.tip.k1 {} " landmarks"
                }))
                (landmark_rows(subject)?)
            }
        },
    ))
}

/// The first landmarks, as rows of the file.
fn landmark_rows(subject: &Subject<'_>) -> Result<Markup, Error> {
    let (model, source) = (&subject.outcome.fitted.model, subject.source);
    let numbers = &model.landmark_rows;
    if numbers.is_empty() {
        return Ok(html! { p { "They are points, not rows of the file." } });
    }
    let numbers = &numbers[..numbers.len().min(LISTED)];
    let places: Vec<usize> = numbers.iter().filter_map(|&number| source.row_of(number as usize)).collect();
    let mut data = source.gather(&places)?;
    data.statistics.undo(&mut data.rows);
    let mut columns: Vec<usize> = (0..data.feature_names.len()).collect();
    if let Some(scales) = &model.scales {
        columns.sort_by(|&one, &other| scales[other].total_cmp(&scales[one]));
    }
    columns.truncate(FEATURES);
    let names: Vec<String> = columns.iter().map(|&column| shown(&data.feature_names[column])).collect();
    let header: Vec<&str> = std::iter::once("row").chain(names.iter().map(String::as_str)).collect();
    let rows = data.rows.chunks_exact(data.dim.max(1)).zip(&places).map(|(row, &place)| {
        let own = source.row_number(place).to_string();
        std::iter::once(own).chain(columns.iter().map(|&column| number(row[column]))).collect()
    });
    let caption = format!("The first {} landmarks, rows counted from 0", places.len());
    Ok(table(&caption, &header, &rows.collect::<Vec<Vec<String>>>()))
}

/// How far rows are from the landmarks, beside the limits of the model.
fn novelty(subject: &Subject<'_>) -> Result<Markup, Error> {
    let model = &subject.outcome.fitted.model;
    let Some(limits) = model.confidence.as_ref().map(|confidence| confidence.limits()) else {
        return Ok(html! {});
    };
    // Landmarks are at distance 0.
    let is_other = |&row: &usize| !model.landmark_rows.contains(&(subject.source.row_number(row) as u64));
    let sample: Vec<usize> = spaced(subject.source.len(), POINTS).filter(is_other).collect();
    let mut data = subject.source.gather(&sample)?;
    data.statistics.undo(&mut data.rows);
    let assessed = match model.assess(&data.rows) {
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
        sample.len(),
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
fn ridges(subject: &Subject<'_>) -> Result<Markup, Error> {
    let fitted = &subject.outcome.fitted;
    let errors: Vec<(f64, f64)> = fitted
        .ridge_errors
        .iter()
        .copied()
        .filter(|(ridge, error)| *ridge > 0.0 && error.is_finite())
        .collect();
    if errors.len() < 2 {
        return Ok(html! {});
    }
    let chosen = fitted.model.ridge;
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

/// What was told on stderr.
fn told() -> Markup {
    let notes = notes();
    section(
        "notes",
        "Warnings and notes",
        &html! {
            @if notes.is_empty() {
                p { "None." }
            } @else {
                ul { @for note in &notes { li { (note) } } }
            }
        },
    )
}
