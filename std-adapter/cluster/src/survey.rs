//! The statistics of all rows, and a sample of them, in one pass.

use crate::columns::row_major;
use crate::error::Error;
use dpp_nystrom::Error as AdapterError;
use dpp_nystrom::data::{Columns, Moments, Prepared, Scaler, TargetColumn};
use dpp_nystrom::regression::draw_columns;
use serde::{Deserialize, Serialize};

/// Bits that a mean and a deviation are kept to, relative to the deviation: sums in another order then mostly
/// give the same statistics, and the same statistics give the same landmarks.
const BITS: i32 = 24;

/// The parameters of a survey.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SurveySpec {
    /// The names of the features, then of the target.
    pub(crate) names: Vec<String>,
    /// The size of the sample.
    pub(crate) sample: u64,
    /// The seed that rows are drawn with.
    pub(crate) seed: u64,
}

/// The survey of a part of the rows.
///
/// The sample consists of the rows with the least draws ([`draw_columns`]): each distinct row is in it with
/// the same probability, and it does not depend on how the rows are partitioned. A row that occurs many times
/// is in it once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartialSurvey {
    moments: Option<Moments>,
    /// Draws with their rows; sorted and distinct after [`trim`](Self::trim).
    sample: Vec<(u64, Vec<f64>)>,
    /// Rows with this draw or a larger one are not in the sample.
    limit: Option<u64>,
}

impl PartialSurvey {
    pub(crate) fn add(&mut self, spec: &SurveySpec, columns: &[&[f64]]) {
        let draws = draw_columns(spec.seed, columns);
        if draws.is_empty() {
            return;
        }
        let moments = self
            .moments
            .get_or_insert_with(|| Moments::about(&Scaler::of(&row_major(columns), columns.len())));
        moments.add_columns(columns);
        for (row, drawn) in draws.into_iter().enumerate() {
            self.offer(spec, drawn, || columns.iter().map(|column| column[row]).collect());
        }
    }

    fn offer(&mut self, spec: &SurveySpec, drawn: u64, row: impl FnOnce() -> Vec<f64>) {
        if self.limit.is_some_and(|limit| drawn >= limit) {
            return;
        }
        self.sample.push((drawn, row()));
        if self.sample.len() as u64 >= 2 * spec.sample.max(1) {
            self.trim(spec);
        }
    }

    fn trim(&mut self, spec: &SurveySpec) {
        self.sample.sort_unstable_by_key(|(drawn, _)| *drawn);
        self.sample.dedup_by_key(|(drawn, _)| *drawn);
        if self.sample.len() as u64 >= spec.sample {
            self.sample.truncate(spec.sample as usize);
            self.limit = self.sample.last().map(|(drawn, _)| *drawn);
        }
    }

    pub(crate) fn merge(&mut self, spec: &SurveySpec, other: Self) {
        match (&mut self.moments, other.moments) {
            (Some(moments), Some(other)) => moments.merge(&other),
            (empty @ None, other) => *empty = other,
            (Some(_), None) => {}
        }
        for (drawn, row) in other.sample {
            self.offer(spec, drawn, || row);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.sample.iter().map(|(_, row)| size_of::<(u64, Vec<f64>)>() + size_of_val(row.as_slice())).sum()
    }

    /// Return the survey of all rows added.
    pub(crate) fn conclude(mut self, spec: &SurveySpec) -> Result<Survey, Error> {
        self.trim(spec);
        let moments = self.moments.ok_or(Error::NoRows)?;
        let Some((target, names)) = spec.names.split_last() else { return Err(Error::NoFeatures) };
        let mut all = moments.statistics();
        for (mean, deviation) in all.means.iter_mut().zip(&mut all.deviations) {
            (*mean, *deviation) = rounded(*mean, *deviation);
        }
        let dim = names.len();
        if let Some(column) = all.overflow() {
            let column = spec.names[column].clone();
            return Err(Error::Spread(column));
        }
        let target_scaler = Scaler {
            means: all.means.split_off(dim),
            deviations: all.deviations.split_off(dim),
            map: None,
            bounds: None,
        };
        let rows = self.sample.iter().flat_map(|(_, row)| row[..dim].iter().copied()).collect();
        Ok(Survey {
            feature_names: names.to_vec(),
            target_name: target.clone(),
            scaler: all,
            target_scaler,
            rows: moments.rows(),
            sample: rows,
            targets: self.sample.iter().map(|(_, row)| row[dim]).collect(),
        })
    }
}

/// Round the mean and the deviation to [`BITS`].
fn rounded(mean: f64, deviation: f64) -> (f64, f64) {
    if !(deviation > 0.0 && deviation.is_finite()) {
        return (mean, deviation);
    }
    let quantum = 2.0_f64.powi(deviation.log2().floor() as i32 - BITS);
    let to = |value: f64| (value / quantum).round() * quantum;
    // The quantum can underflow, and the quotient overflow.
    let kept = |value: f64| Some(to(value)).filter(|value| value.is_finite()).unwrap_or(value);
    (kept(mean), kept(deviation))
}

/// The statistics of all rows, and a sample of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The features' names.
    pub feature_names: Vec<String>,
    /// The target's name.
    pub target_name: String,
    /// Means and standard deviations of the features over all rows, to 24 bits of the deviation.
    pub scaler: Scaler,
    /// The same of the target, one column.
    pub target_scaler: Scaler,
    /// The number of all rows.
    pub rows: u64,
    /// The features of the sample in their own units, row-major; no row and its target occur twice.
    pub sample: Vec<f64>,
    /// The sample's targets.
    pub targets: Vec<f64>,
}

impl Survey {
    /// Return the sample, scaled by the statistics of all rows, as a data set of this name.
    ///
    /// # Errors
    /// Those of [`Prepared::from_parts`].
    pub fn prepared(&self, name: String) -> Result<Prepared, AdapterError> {
        let mut rows = self.sample.clone();
        self.scaler.apply(&mut rows);
        let mut values = self.targets.clone();
        self.target_scaler.apply(&mut values);
        let first = |values: &[f64]| values.first().copied().unwrap_or_default();
        let target = TargetColumn {
            name: self.target_name.clone(),
            mean: first(&self.target_scaler.means),
            deviation: first(&self.target_scaler.deviations),
        };
        let columns = Columns {
            name,
            feature_names: self.feature_names.clone(),
            scaler: self.scaler.clone(),
            target: Some(target),
            further: Vec::new(),
            classes: None,
        };
        Prepared::from_parts(columns, rows, Some(values))
    }
}

#[cfg(test)]
mod tests {
    use super::{PartialSurvey, SurveySpec, rounded};

    fn spec(sample: u64) -> SurveySpec {
        SurveySpec { names: vec!["x".into(), "y".into()], sample, seed: 3 }
    }

    fn columns(rows: std::ops::Range<u32>) -> [Vec<f64>; 2] {
        let x: Vec<f64> = rows.map(f64::from).collect();
        let y = x.iter().map(|x| (x * 0.1).sin() + 1e6).collect();
        [x, y]
    }

    fn survey(spec: &SurveySpec, parts: &[std::ops::Range<u32>]) -> super::Survey {
        let mut all = PartialSurvey::default();
        for rows in parts {
            let mut part = PartialSurvey::default();
            let [x, y] = columns(rows.clone());
            for (x, y) in x.chunks(17).zip(y.chunks(17)) {
                part.add(spec, &[x, y]);
            }
            let bytes = postcard::to_allocvec(&part).unwrap();
            all.merge(spec, postcard::from_bytes(&bytes).unwrap());
        }
        all.conclude(spec).unwrap()
    }

    #[test]
    fn the_survey_does_not_depend_on_how_rows_are_partitioned() {
        for sample in [1, 10, 100, 2_000] {
            let spec = spec(sample);
            let whole = survey(&spec, std::slice::from_ref(&(0..1_000)));
            assert_eq!(whole.rows, 1_000);
            assert_eq!(whole.targets.len() as u64, sample.min(1_000));
            for parts in [&[500..1_000, 0..500][..], &[999..1_000, 3..999, 0..3]] {
                assert_eq!(survey(&spec, parts), whole);
            }
            // Copies do not count in the sample.
            let twice = survey(&spec, &[0..1_000, 0..1_000]);
            assert_eq!((twice.rows, &twice.sample), (2_000, &whole.sample));
            let mean = whole.target_scaler.means[0];
            let [_, y] = columns(0..1_000);
            let expected = y.iter().sum::<f64>() / 1e3;
            assert!((mean - expected).abs() <= 2e-8 * whole.target_scaler.deviations[0], "{mean} {expected}");
        }
    }

    /// Each tenth of the rows is in the sample as often as any other: a chi-square of 9 degrees of freedom
    /// passes 27.9 once in a thousand.
    #[test]
    fn the_sample_is_uniform() {
        let mut counts = [0.0; 10];
        for seed in 0..200 {
            let spec = SurveySpec { seed, ..spec(50) };
            for x in survey(&spec, std::slice::from_ref(&(0..1_000))).sample {
                counts[(x / 100.0) as usize] += 1.0;
            }
        }
        let expected = 200.0 * 50.0 / 10.0;
        let square: f64 = counts.iter().map(|count| (count - expected) * (count - expected) / expected).sum();
        assert!(square < 27.9, "{square} {counts:?}");
    }

    #[test]
    fn statistics_keep_what_a_deviation_needs() {
        let (mean, deviation) = rounded(1e9 + 0.123, 0.7);
        assert!((mean - (1e9 + 0.123)).abs() < 0.7 * 6e-8 + 1.2e-7 && (deviation - 0.7).abs() < 0.7 * 6e-8);
        assert_eq!(rounded(3.0, 0.0), (3.0, 0.0));
        for extreme in [1e-308, 5e-324, 1e300] {
            let (_, deviation) = rounded(1.0, extreme);
            assert!((deviation / extreme - 1.0).abs() < 1e-7, "{extreme:e} {deviation:e}");
        }
    }
}
