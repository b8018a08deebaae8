//! Errors and importances measured on rows that no choice has seen.

use serde::{Deserialize, Serialize};

/// Permutations of each column by which its importance is measured.
pub const PERMUTATIONS: usize = 5;

/// An estimate, and its standard error: the deviation that the rows it was measured on explain.
///
/// ```
/// use dpp_nystrom::model::Estimate;
///
/// let error = Estimate { value: 0.20, standard_error: 0.015 };
/// let interval = [error.value - 2.0 * error.standard_error, error.value + 2.0 * error.standard_error];
/// assert!(interval[0] > 0.16 && interval[1] < 0.24);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error, widened so that two of it cover as often for few rows as for many (Student's t).
    pub standard_error: f64,
}

impl Estimate {
    fn is_well_formed(self) -> bool {
        let is_error = |number: f64| (0.0..f64::INFINITY).contains(&number);
        is_error(self.value) && is_error(self.standard_error)
    }
}

/// The error of a fit on rows that no choice has seen: not that of the metric, the kernel, the landmarks or
/// the ridge, nor the weights.
///
/// It is the error of a model of nine tenths of the rows, and so a little higher than that of the model of
/// all rows.
///
/// ```
/// use dpp_nystrom::{Dataset, Gaussian, LandmarkRidge, Sigma};
///
/// let x: Vec<f64> = (0..400).map(|i| f64::from(i % 200) / 20.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let model = LandmarkRidge::default().landmarks(12).kernel(Gaussian::new(Sigma::Median(0.5))).fit(&data)?;
/// let test = model.test_error.expect("enough rows to leave some out");
/// assert!(test.rows >= 40 && test.error.value < 0.05 && test.log_loss.is_none());
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestError {
    /// The number of rows.
    pub rows: u64,
    /// The root mean squared error in standard deviations of the target, over all of several targets; of
    /// classes, the share of rows that are assigned to a wrong class.
    pub error: Estimate,
    /// The log-loss of classes, the mean of `-ln p` of the right class.
    pub log_loss: Option<Estimate>,
}

impl TestError {
    pub(crate) fn is_well_formed(&self) -> bool {
        self.error.is_well_formed() && self.log_loss.is_none_or(Estimate::is_well_formed)
    }
}

/// The importances of the columns of a table: the rise of the error where a column is permuted (Breiman
/// 2001), on rows that no choice has seen.
///
/// The features that a column of words became are permuted together. Columns that tell the same have each a
/// small importance.
///
/// ```
/// use dpp_nystrom::model::{Importance, Importances};
///
/// let column = |name: &str, rise| Importance { column: name.into(), rise, deviation: 0.01 };
/// let importances = Importances { columns: vec![column("rooms", 0.1), column("area", 0.6)], rows: 200 };
/// assert_eq!(importances.ranked()[0].column, "area");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Importances {
    /// The columns, in their order in the table.
    pub columns: Vec<Importance>,
    /// The number of rows that were permuted.
    pub rows: u64,
}

/// The importance of a column.
///
/// ```
/// use dpp_nystrom::{Dataset, Gaussian, LandmarkRidge, Sigma};
///
/// let x: Vec<f64> = (0..400).flat_map(|row| [f64::from(row % 20) / 2.0, f64::from(row / 20)]).collect();
/// let y: Vec<f64> = x.chunks(2).map(|row| row[0].sin()).collect(); // of the first feature alone
/// let data = Dataset::from_rows(&x, 2)?.with_target(&y)?.with_names(&["used", "unused"], "y")?;
/// let model = LandmarkRidge::default().landmarks(20).kernel(Gaussian::new(Sigma::Median(0.5))).fit(&data)?;
/// let importances = model.importances.expect("enough rows to leave some out");
/// assert_eq!(importances.ranked()[0].column, "used");
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// Its name.
    pub column: String,
    /// The mean rise over [`PERMUTATIONS`] permutations, over the error itself: 0.5 where the error is then
    /// half as large again. The error is the root mean squared error; of classes, the log-loss. At or below 0
    /// where the column does not matter.
    pub rise: f64,
    /// The standard deviation over the permutations.
    pub deviation: f64,
}

impl Importances {
    pub(crate) fn is_well_formed(&self, features: usize) -> bool {
        let is_well_formed =
            |column: &Importance| column.rise.is_finite() && (0.0..f64::INFINITY).contains(&column.deviation);
        (1..=features).contains(&self.columns.len()) && self.columns.iter().all(is_well_formed)
    }

    /// Return the columns, the most important first.
    pub fn ranked(&self) -> Vec<&Importance> {
        let mut ranked: Vec<&Importance> = self.columns.iter().collect();
        ranked.sort_by(|one, other| other.rise.total_cmp(&one.rise));
        ranked
    }
}
