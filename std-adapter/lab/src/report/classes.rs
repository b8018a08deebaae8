//! Predictions of classes: shares, confusion, and whether probabilities are as often right as they say.

use super::class_report::ClassReport;
use super::page::{breakable, figure, percent, section, table, tiles};
use super::{CLASSES, linear, shown};
use crate::chart::{Layer, Picture};
use crate::error::Error;
use crate::text::{number, row};
use dpp_nystrom::regression::HeldOut;
use dpp_nystrom::{Model, model::Classified};
use maud::{Markup, html};

/// Intervals of probabilities.
const INTERVALS: usize = 10;

pub(super) fn sections(
    model: &Model,
    report: &ClassReport<'_>,
    held_out: &HeldOut,
    of_what: &str,
) -> Result<Markup, Error> {
    let counted: u64 = report.confusion.iter().flatten().sum();
    let first = [
        ("accuracy", percent(report.accuracy)),
        ("balanced accuracy", percent(report.balanced_accuracy)),
        ("log-loss", number(report.log_loss)),
    ];
    let shares = [
        row("temperature of the probabilities", number(report.temperature)),
        row("rows", number(counted as f64)),
    ];
    let left_out = report.labels.len().saturating_sub(CLASSES);
    Ok(html! {
        (section("classes", "Predictions of classes", &html! {
            (tiles(&first))
            p { (of_what) }
            div.figures {
                (each(report))
                (reliability(model, held_out)?)
            }
            (table("Rows and probabilities", &["", ""], &shares))
        }))
        (section("confusion", "Confusion", &html! {
            p {
                "Rows of each class, by the class that they were taken for: their number, and its share of the row. "
                @if left_out > 0 { "The " (left_out) " classes after the first " (CLASSES) " are left out; all are in fit --json." }
            }
            (confusion(report))
        }))
    })
}

fn confusion(report: &ClassReport<'_>) -> Markup {
    let shown_labels: Vec<String> = report.labels.iter().take(CLASSES).map(|label| shown(label)).collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Confusion matrix" {
            table {
                caption { span { "Confusion matrix" } }
                thead { tr { th scope="col" { "class, taken for" } @for label in &shown_labels { th scope="col" { (breakable(label)) } } } }
                tbody {
                    @for (label, counts) in shown_labels.iter().zip(report.confusion) {
                        @let sum = counts.iter().sum::<u64>().max(1);
                        tr {
                            th scope="row" { (breakable(label)) }
                            @for &count in counts.iter().take(CLASSES) {
                                @let share = count as f64 / sum as f64;
                                td.share style=(format!("--share:{share:.3}")) {
                                    (count) @if count > 0 { br; (format!("{:.0} %", 100.0 * share)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Recall and precision of each class.
fn each(report: &ClassReport<'_>) -> Markup {
    let rows: Vec<Vec<String>> = report
        .labels
        .iter()
        .zip(report.confusion)
        .take(CLASSES)
        .enumerate()
        .map(|(class, (label, counts))| {
            let (own, right) = (counts.iter().sum::<u64>(), counts[class]);
            let taken: u64 = report.confusion.iter().map(|counts| counts[class]).sum();
            let share = |of: u64| if of > 0 { percent(right as f64 / of as f64) } else { "-".to_owned() };
            vec![shown(label), share(own), share(taken), number(own as f64), number(taken as f64)]
        })
        .collect();
    table("Each class", &["class", "recall", "precision", "rows", "taken for it"], &rows)
}

/// How often a class is right, over the probability that it is said to have.
fn reliability(model: &Model, held_out: &HeldOut) -> Result<Markup, Error> {
    let Some(classifier) = &model.classifier else { return Ok(html! {}) };
    let mut bins = [(0_u64, 0.0, 0_u64); INTERVALS];
    let both =
        held_out.outputs.chunks_exact(model.outputs()).zip(held_out.targets.chunks_exact(model.outputs()));
    for (outputs, targets) in both {
        let Classified { index, probability, .. } = classifier.classify(outputs)?;
        let bin = &mut bins[((probability * INTERVALS as f64) as usize).min(INTERVALS - 1)];
        // An indicator is 0 or 1, up to rounding.
        *bin = (bin.0 + 1, bin.1 + probability, bin.2 + u64::from(targets[index] > 0.5));
    }
    let points: Vec<(f64, f64)> = bins
        .into_iter()
        .filter(|bin| bin.0 > 0)
        .map(|(rows, sum, right)| (sum / rows as f64, right as f64 / rows as f64))
        .collect();
    let label = format!(
        "Curve: the share of right predictions over their probability, of {} rows in {} intervals.",
        held_out.rows.len(),
        points.len()
    );
    let picture = Picture {
        x: linear("probability of the predicted class"),
        y: linear("share that is right"),
        layers: vec![Layer::Line(points), Layer::Line(vec![(0.0, 0.0), (1.0, 1.0)])],
    };
    Ok(figure(
        &picture.svg()?,
        "Reliability of probabilities",
        &label,
        &html! {
            span.line.k0 {} " measured  " span.line.k1 {} " as they say"
        },
    ))
}
