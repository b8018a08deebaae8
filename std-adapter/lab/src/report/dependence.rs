//! Partial dependence (Friedman 2001): the mean prediction where a column has one value in all rows.

use super::page::{figure, table};
use super::{LINES, linear, shown};
use crate::chart::{Layer, Picture};
use crate::error::Error;
use crate::text::number;
use dpp_nystrom::Model;
use maud::{Markup, html};
use std::ops::Range;

/// Columns that are shown.
const COLUMNS: usize = 4;
/// Rows over which predictions are averaged.
pub(super) const ROWS: usize = 200;
/// Values of a column of numbers: quantiles of the rows.
const VALUES: usize = 40;
/// Words of a column of words.
const WORDS: usize = 12;

/// What is predicted: the first targets, or the probabilities of the first classes.
struct Predicted<'a> {
    model: &'a Model,
    names: Vec<String>,
}

impl Predicted<'_> {
    /// Return the means over the rows.
    fn means(&self, rows: &[f64]) -> Result<Vec<f64>, Error> {
        let outputs = self.model.predict(rows)?;
        let count = self.model.outputs();
        let mut sums = vec![0.0; self.names.len()];
        for outputs in outputs.chunks_exact(count) {
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum += match &self.model.classifier {
                    Some(classifier) => classifier.log_probability(outputs, at)?.exp(),
                    None => outputs[at],
                };
            }
        }
        let rows = (outputs.len() / count.max(1)).max(1) as f64;
        Ok(sums.into_iter().map(|sum| sum / rows).collect())
    }

    /// Return the means with these features at the same values in all rows.
    fn with(&self, rows: &[f64], features: &Range<usize>, values: &[f64]) -> Result<Vec<f64>, Error> {
        let mut rows = rows.to_vec();
        for row in rows.chunks_exact_mut(self.model.feature_names.len()) {
            row[features.clone()].copy_from_slice(values);
        }
        self.means(&rows)
    }

    fn what(&self) -> &'static str {
        if self.model.classifier.is_some() { "mean probability" } else { "mean prediction" }
    }

    fn key(&self) -> Markup {
        html! {
            @if self.names.len() > 1 || self.model.classifier.is_some() {
                @for (at, name) in self.names.iter().enumerate() { span class=(format!("line k{at}")) {} " " (name) "  " }
            }
        }
    }
}

/// Show the columns with the largest importances.
pub(super) fn dependence(model: &Model, rows: &[f64]) -> Result<Markup, Error> {
    let Some(importances) = &model.importances else { return Ok(html! {}) };
    let names = match &model.classifier {
        Some(classifier) => classifier.classes.labels.iter().map(|label| shown(label)).take(LINES).collect(),
        None => model.targets().map(|target| shown(&target.name)).take(LINES).collect(),
    };
    let predicted = Predicted { model, names };
    let features = &model.feature_names;
    let mut figures = Vec::new();
    for column in importances.ranked().into_iter().filter(|column| column.rise > 0.0).take(COLUMNS) {
        let name = &column.column;
        let Some(own) = features_of(features, name) else { continue };
        figures.push(if features[own.start] == *name {
            of_numbers(&predicted, rows, name, &own)?
        } else {
            of_words(&predicted, rows, name, &own)?
        });
    }
    Ok(html! {
        @if !figures.is_empty() {
            h3 { "Partial dependence" }
            p {
                "The " (predicted.what()) " over " (rows.len() / features.len().max(1)) " rows, where the column has one value in all of them and the other "
                "columns are as they are. Where columns go together, some of these rows are unlike any that exist."
                @if model.outputs() > LINES { " The first " (LINES) " of " (model.outputs()) " are shown." }
            }
            div.figures { @for figure in &figures { (figure) } }
        }
    })
}

/// Return the features of a column of numbers, which has its name, or of words; of dates nothing.
fn features_of(names: &[String], column: &str) -> Option<Range<usize>> {
    let is_own = |name: &String| {
        let rest = name.strip_prefix(column);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('=') || rest == " missing")
    };
    let first = names.iter().position(is_own)?;
    Some(first..first + names[first..].iter().take_while(|name| is_own(name)).count())
}

/// A curve over the quantiles of a column.
fn of_numbers(
    predicted: &Predicted<'_>,
    rows: &[f64],
    name: &str,
    features: &Range<usize>,
) -> Result<Markup, Error> {
    let mut values: Vec<f64> =
        rows.iter().skip(features.start).step_by(predicted.model.feature_names.len()).copied().collect();
    values.sort_unstable_by(f64::total_cmp);
    let mut grid: Vec<f64> = (0..VALUES).map(|at| values[at * (values.len() - 1) / (VALUES - 1)]).collect();
    grid.dedup();
    let mut lines = vec![Vec::new(); predicted.names.len()];
    for &value in &grid {
        // A value is no gap.
        let mut own = vec![0.0; features.len()];
        own[0] = value;
        let means = predicted.with(rows, features, &own)?;
        lines.iter_mut().zip(means).for_each(|(line, mean)| line.push((value, mean)));
    }
    let ends = |line: &[(f64, f64)]| match line {
        [first, .., last] => format!("from {} to {}", number(first.1), number(last.1)),
        _ => "at one value".to_owned(),
    };
    let ranges: Vec<String> =
        predicted.names.iter().zip(&lines).map(|(name, line)| format!("{name} {}", ends(line))).collect();
    let label = format!("Curve: the {} over {}: {}.", predicted.what(), shown(name), ranges.join(", "));
    let picture = Picture {
        x: linear(&shown(name)),
        y: linear(predicted.what()),
        layers: lines.into_iter().map(Layer::Line).collect(),
    };
    Ok(figure(&picture.svg()?, &shown(name), &label, &predicted.key()))
}

/// The mean for each of the first words.
fn of_words(
    predicted: &Predicted<'_>,
    rows: &[f64],
    name: &str,
    features: &Range<usize>,
) -> Result<Markup, Error> {
    let mut lines = Vec::new();
    for at in 0..features.len().min(WORDS) {
        let feature = &predicted.model.feature_names[features.start + at];
        let Some(word) = feature.strip_prefix(&format!("{name}=")) else { continue };
        let mut own = vec![0.0; features.len()];
        own[at] = 1.0;
        let means = predicted.with(rows, features, &own)?;
        lines.push(std::iter::once(shown(word)).chain(means.into_iter().map(number)).collect());
    }
    let header: Vec<&str> =
        std::iter::once("word").chain(predicted.names.iter().map(String::as_str)).collect();
    let left_out = features.len().saturating_sub(WORDS);
    let rest = if left_out > 0 { format!(", {left_out} words left out") } else { String::new() };
    Ok(table(&format!("{}: {}{rest}", shown(name), predicted.what()), &header, &lines))
}
