//! The error on rows that no choice has seen, and the importances of columns there.

use crate::text::{plain_line, short};
use dpp_nystrom::{
    Model,
    model::{Estimate, Importance, TestError},
};
use serde::Serialize;

/// Columns that are named in a line.
const NAMED: usize = 5;

/// An error with its standard error.
#[derive(Serialize)]
pub struct TestReport {
    rows: u64,
    #[serde(flatten)]
    error: Error,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Error {
    Numbers {
        /// In standard deviations of the target.
        nrmse: f64,
        nrmse_se: f64,
        /// In the units of the target, if there is one.
        #[serde(flatten)]
        own: Option<Own>,
    },
    Classes {
        error_rate: f64,
        error_rate_se: f64,
        log_loss: f64,
        log_loss_se: f64,
    },
}

#[derive(Serialize)]
struct Own {
    rmse: f64,
    rmse_se: f64,
}

impl TestReport {
    /// Return that of a model, if it was measured.
    pub fn of(model: &Model) -> Option<Self> {
        let TestError { rows, error: Estimate { value, standard_error }, log_loss } =
            model.test_error.as_ref()?;
        let error = match log_loss {
            Some(log_loss) => Error::Classes {
                error_rate: *value,
                error_rate_se: *standard_error,
                log_loss: log_loss.value,
                log_loss_se: log_loss.standard_error,
            },
            None => {
                let deviation = model.target_deviation;
                let own = Own { rmse: deviation * value, rmse_se: deviation * standard_error };
                let own = Some(own).filter(|_| model.outputs() == 1);
                Error::Numbers { nrmse: *value, nrmse_se: *standard_error, own }
            }
        };
        Some(Self { rows: *rows, error })
    }

    /// Return each error with its name.
    pub fn errors(&self) -> Vec<(&'static str, String)> {
        let of = |value: &f64, error: &f64| format!("{} ± {}", short(*value), short(*error));
        match &self.error {
            Error::Numbers { nrmse, nrmse_se, own } => {
                let own = own.iter().map(|own| ("in the target's units", of(&own.rmse, &own.rmse_se)));
                std::iter::once(("test error", of(nrmse, nrmse_se))).chain(own).collect()
            }
            Error::Classes { error_rate, error_rate_se, log_loss, log_loss_se } => {
                vec![
                    ("misclassified", of(error_rate, error_rate_se)),
                    ("log-loss", of(log_loss, log_loss_se)),
                ]
            }
        }
    }

    /// Return the errors in one line.
    pub fn words(&self) -> String {
        let errors = self.errors().into_iter().map(|(name, error)| match name {
            "test error" => error,
            name => format!("{name} {error}"),
        });
        let errors: Vec<String> = errors.collect();
        format!(
            "{} (standard errors widened by Student's t; {} rows that no choice has seen)",
            errors.join(", "),
            self.rows
        )
    }
}

/// Return a rise of the error in per cent.
pub fn rise(value: f64) -> String {
    format!("{} %", short(100.0 * value))
}

/// Return the most important columns in one line.
pub fn most_important(columns: &[Importance]) -> String {
    let mut ranked: Vec<&Importance> = columns.iter().collect();
    ranked.sort_by(|one, other| other.rise.total_cmp(&one.rise));
    let named = ranked.iter().take(NAMED);
    let named: Vec<String> =
        named.map(|column| format!("{} {}", plain_line(&column.column), rise(column.rise))).collect();
    format!("{}: by so much the error rises where a column is permuted", named.join(", "))
}

/// Return the name, the rise of the error and its deviation of columns, the most important first, for a
/// table.
pub fn ranked(columns: &[Importance]) -> Vec<Vec<String>> {
    let mut ranked: Vec<&Importance> = columns.iter().collect();
    ranked.sort_by(|one, other| other.rise.total_cmp(&one.rise));
    let line = |column: &&Importance| vec![column.column.clone(), rise(column.rise), rise(column.deviation)];
    ranked.iter().map(line).collect()
}
