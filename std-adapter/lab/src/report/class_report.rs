//! The errors of classes.

use crate::text::{aligned, row, short};
use dpp_nystrom::Model;
use dpp_nystrom::regression::ClassErrors;
use serde::Serialize;

/// Classes of which the confusion is shown in text.
const SHOWN: usize = 20;

/// How well rows are classified.
#[derive(Debug, Serialize)]
pub struct ClassReport<'a> {
    pub(super) labels: &'a [String],
    pub(super) accuracy: f64,
    pub(super) balanced_accuracy: f64,
    pub(super) log_loss: f64,
    pub(super) temperature: f64,
    #[serde(skip)]
    of_what: &'static str,
    /// For each class the numbers of its rows that were taken for each class.
    pub(super) confusion: &'a [Vec<u64>],
}

impl<'a> ClassReport<'a> {
    /// Return those of a model, if it is of classes.
    pub fn of(model: &'a Model, errors: Option<&'a ClassErrors>) -> Option<Self> {
        let (classifier, errors) = (model.classifier.as_ref()?, errors?);
        Some(Self {
            labels: &classifier.classes.labels,
            accuracy: errors.accuracy,
            balanced_accuracy: errors.balanced_accuracy,
            log_loss: errors.log_loss,
            temperature: classifier.temperature,
            of_what: match model.test_error {
                Some(_) => "of rows that no choice has seen",
                None => "of rows used to choose",
            },
            confusion: &errors.confusion,
        })
    }

    /// Return the shares in one line.
    pub fn line(&self) -> String {
        let Self { accuracy, balanced_accuracy, log_loss, .. } = self;
        let [accuracy, balanced, loss] = [accuracy, balanced_accuracy, log_loss].map(|share| short(*share));
        format!("accuracy {accuracy}, balanced accuracy {balanced}, log-loss {loss}")
    }

    /// Return shares and confusion for a terminal.
    pub fn text(&self) -> String {
        let rows = [
            row("accuracy", short(self.accuracy)),
            row("balanced accuracy", short(self.balanced_accuracy)),
            row("log-loss", short(self.log_loss)),
            row("rows", self.confusion.iter().flatten().sum::<u64>()),
        ];
        let shares = aligned(&["classes", self.of_what], &rows);
        if self.labels.len() > SHOWN {
            return format!("\n{shares}\nThe confusion of {} classes is in --json.\n", self.labels.len());
        }
        let header: Vec<&str> =
            std::iter::once("class, as").chain(self.labels.iter().map(String::as_str)).collect();
        let lines = self.labels.iter().zip(self.confusion).map(|(label, counts)| {
            std::iter::once(label.clone()).chain(counts.iter().map(u64::to_string)).collect()
        });
        format!("\n{shares}\n{}", aligned(&header, &lines.collect::<Vec<Vec<String>>>()))
    }
}
