//! The ridge (regularisation parameter) γ: a given value, or chosen by cross-validation.

use std::fmt;
use std::str::FromStr;

/// How the ridge γ is chosen.
///
/// ```
/// use dpp_nystrom::Ridge;
///
/// assert_eq!("1e-6".parse(), Ok(Ridge::Value(1e-6)));
/// assert_eq!("cv".parse(), Ok(Ridge::CrossValidated));
/// assert_eq!("loo".parse(), Ok(Ridge::LeaveOneOut));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ridge {
    /// This value.
    Value(f64),
    /// The value of [`ridge_grid`] with the least error in 10-fold cross-validation.
    CrossValidated,
    /// The value of [`ridge_grid`] with the least leave-one-out error on the same landmarks, exactly. This
    /// reads all rows twice, and the second time takes `N c²` multiply-adds, and `2 N c` for each value.
    LeaveOneOut,
}

impl Ridge {
    /// Return the values to choose from: this one, or [`ridge_grid`].
    pub(crate) fn candidates(self) -> Vec<f64> {
        match self {
            Self::Value(value) => vec![value],
            Self::CrossValidated | Self::LeaveOneOut => ridge_grid().collect(),
        }
    }
}

impl FromStr for Ridge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "cv" => Ok(Self::CrossValidated),
            "loo" => Ok(Self::LeaveOneOut),
            other => match other.parse() {
                Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(Self::Value(value)),
                _ => Err(format!("invalid ridge {text:?}: expected a positive number, cv or loo")),
            },
        }
    }
}

impl fmt::Display for Ridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::CrossValidated => f.write_str("cv"),
            Self::LeaveOneOut => f.write_str("loo"),
        }
    }
}

/// Return the ridges tried in cross-validation: 10⁻¹⁰ to 10 in half powers of ten.
///
/// Kernel values are at most 1, so that at 10 predictions are within a tenth of the mean's distance from the
/// target: where nothing can be learned, the model is nearly the mean.
///
/// ```
/// use dpp_nystrom::regression::ridge_grid;
///
/// let grid: Vec<f64> = ridge_grid().collect();
/// assert_eq!(grid.len(), 23); // 10⁻¹⁰ to 10
/// ```
pub fn ridge_grid() -> impl Iterator<Item = f64> {
    (-20..=2).map(|half| 10.0_f64.powf(f64::from(half) / 2.0))
}

/// Return the values of [`ridge_grid`] that a descent may begin with: up to 0.1. Above it the error hardly
/// depends on the metric.
pub(crate) fn first_ridges() -> impl Iterator<Item = f64> {
    ridge_grid().take_while(|&ridge| ridge < 0.2)
}

/// The ridge of a regression, or the candidates to choose from: by folds, or by leaving out each row.
#[derive(Clone, Debug)]
pub(crate) enum Candidates {
    One(f64),
    BestOf(Vec<f64>),
    BestLeaveOneOut(Vec<f64>),
}

impl From<Ridge> for Candidates {
    fn from(ridge: Ridge) -> Self {
        match ridge {
            Ridge::Value(value) => Self::One(value),
            Ridge::CrossValidated => Self::BestOf(ridge.candidates()),
            Ridge::LeaveOneOut => Self::BestLeaveOneOut(ridge.candidates()),
        }
    }
}
