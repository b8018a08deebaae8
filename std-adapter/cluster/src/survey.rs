//! The statistics of all rows, and a sample of them, in one pass.

use crate::Error;
use dpp_nystrom::data::{Moments, Prepared, Scaler, StandardTarget};
use dpp_nystrom::regression::draw;
use serde::{Deserialize, Serialize};

/// Bits that a mean and a deviation are kept to, relative to the deviation: sums in another order then mostly give
/// the same statistics, and the same statistics give the same landmarks.
const BITS: i32 = 24;

/// What is asked of a survey.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The features' names, and the target's.
    pub(crate) names: Vec<String>,
    /// Rows to sample.
    pub(crate) sample: u64,
    /// What they are drawn with.
    pub(crate) seed: u64,
}

/// What a part of the rows answers.
///
/// The sample is of the rows whose draws ([`draw`]) are least: of different rows, each is in it with the same
/// probability, and it is the same however the rows are dealt out. A row that there is many times is in it once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Part {
    moments: Option<Moments>,
    /// Draws with their rows; sorted and without copies where they were trimmed.
    sample: Vec<(u64, Vec<f64>)>,
    /// Rows that draw as much or more are not among the sample.
    limit: Option<u64>,
}

impl Part {
    pub(crate) fn add(&mut self, question: &Question, columns: &[&[f64]]) {
        let (dim, count) = (columns.len(), columns.first().map_or(0, |column| column.len()));
        if count == 0 {
            return;
        }
        let mut rows = Vec::with_capacity(dim * count);
        for row in 0..count {
            rows.extend(columns.iter().map(|column| column[row]));
        }
        let moments = self.moments.get_or_insert_with(|| Moments::about(&Scaler::of(&rows, dim)));
        moments.add(&rows);
        for row in rows.chunks_exact(dim) {
            self.offer(question, draw(question.seed, row.iter().copied()), row);
        }
    }

    fn offer(&mut self, question: &Question, drawn: u64, row: &[f64]) {
        if self.limit.is_some_and(|limit| drawn >= limit) {
            return;
        }
        self.sample.push((drawn, row.to_vec()));
        if self.sample.len() as u64 >= 2 * question.sample.max(1) {
            self.trim(question);
        }
    }

    fn trim(&mut self, question: &Question) {
        self.sample.sort_unstable_by_key(|(drawn, _)| *drawn);
        self.sample.dedup_by_key(|(drawn, _)| *drawn);
        if self.sample.len() as u64 >= question.sample {
            self.sample.truncate(question.sample as usize);
            self.limit = self.sample.last().map(|(drawn, _)| *drawn);
        }
    }

    pub(crate) fn merge(&mut self, question: &Question, other: Self) {
        match (&mut self.moments, other.moments) {
            (Some(moments), Some(other)) => moments.merge(&other),
            (empty @ None, other) => *empty = other,
            (Some(_), None) => {}
        }
        for (drawn, row) in other.sample {
            self.offer(question, drawn, &row);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.sample.iter().map(|(_, row)| size_of::<(u64, Vec<f64>)>() + size_of_val(row.as_slice())).sum()
    }

    /// All that was seen, trimmed.
    pub(crate) fn answer(mut self, question: &Question) -> Result<Survey, Error> {
        self.trim(question);
        let moments = self.moments.ok_or(Error::NoRows)?;
        let Some((target, names)) = question.names.split_last() else { return Err(Error::NoFeatures) };
        let mut all = moments.statistics();
        for (mean, deviation) in all.means.iter_mut().zip(&mut all.deviations) {
            (*mean, *deviation) = rounded(*mean, *deviation);
        }
        let dim = names.len();
        let overflow = all
            .means
            .iter()
            .zip(&all.deviations)
            .position(|(mean, deviation)| !(mean.is_finite() && deviation.is_finite()));
        if let Some(column) = overflow {
            let column = question.names[column].clone();
            return Err(dpp_nystrom::Error::Spread { column }.into());
        }
        let part = |from: usize, to: usize| Scaler {
            means: all.means[from..to].to_vec(),
            deviations: all.deviations[from..to].to_vec(),
        };
        let rows = self.sample.iter().flat_map(|(_, row)| row[..dim].iter().copied()).collect();
        Ok(Survey {
            feature_names: names.to_vec(),
            target_name: target.clone(),
            features: part(0, dim),
            target: part(dim, dim + 1),
            rows: moments.rows(),
            sample: rows,
            targets: self.sample.iter().map(|(_, row)| row[dim]).collect(),
        })
    }
}

/// The mean and the deviation to [`BITS`].
fn rounded(mean: f64, deviation: f64) -> (f64, f64) {
    if !(deviation > 0.0 && deviation.is_finite()) {
        return (mean, deviation);
    }
    let quantum = 2.0_f64.powi(deviation.log2().floor() as i32 - BITS);
    let to = |value: f64| (value / quantum).round() * quantum;
    // A quantum too small to be one, or a mean that is far beyond any rounding of it.
    let kept = |value: f64| Some(to(value)).filter(|value| value.is_finite()).unwrap_or(value);
    (kept(mean), kept(deviation))
}

/// What is known of all rows, and some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The features' names.
    pub feature_names: Vec<String>,
    /// The target's name.
    pub target_name: String,
    /// The features' statistics over all rows, to 24 bits of the deviation.
    pub features: Scaler,
    /// The target's.
    pub target: Scaler,
    /// All rows.
    pub rows: u64,
    /// The features of the sample in their own units, one row after the other, no two the same with their targets.
    pub sample: Vec<f64>,
    /// The sample's targets.
    pub targets: Vec<f64>,
}

impl Survey {
    /// The sample, standardised by the statistics of all rows.
    pub fn prepared(&self) -> Prepared {
        let mut rows = self.sample.clone();
        self.features.apply(&mut rows);
        let mut values = self.targets.clone();
        self.target.apply(&mut values);
        let first = |values: &[f64]| values.first().copied().unwrap_or_default();
        Prepared {
            name: String::new(),
            feature_names: self.feature_names.clone(),
            dim: self.feature_names.len(),
            rows,
            statistics: self.features.clone(),
            target: Some(StandardTarget {
                name: self.target_name.clone(),
                values,
                mean: first(&self.target.means),
                deviation: first(&self.target.deviations),
            }),
            numbers: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Question, rounded};

    fn question(sample: u64) -> Question {
        Question { names: vec!["x".into(), "y".into()], sample, seed: 3 }
    }

    fn columns(rows: std::ops::Range<u32>) -> [Vec<f64>; 2] {
        let x: Vec<f64> = rows.map(f64::from).collect();
        let y = x.iter().map(|x| (x * 0.1).sin() + 1e6).collect();
        [x, y]
    }

    fn survey(question: &Question, parts: &[std::ops::Range<u32>]) -> super::Survey {
        let mut all = Part::default();
        for rows in parts {
            let mut part = Part::default();
            let [x, y] = columns(rows.clone());
            for (x, y) in x.chunks(17).zip(y.chunks(17)) {
                part.add(question, &[x, y]);
            }
            let bytes = postcard::to_allocvec(&part).unwrap();
            all.merge(question, postcard::from_bytes(&bytes).unwrap());
        }
        all.answer(question).unwrap()
    }

    #[test]
    fn the_answer_does_not_depend_on_how_rows_are_dealt() {
        for sample in [1, 10, 100, 2_000] {
            let question = question(sample);
            let whole = survey(&question, std::slice::from_ref(&(0..1_000)));
            assert_eq!(whole.rows, 1_000);
            assert_eq!(whole.targets.len() as u64, sample.min(1_000));
            for parts in [&[500..1_000, 0..500][..], &[999..1_000, 3..999, 0..3]] {
                assert_eq!(survey(&question, parts), whole);
            }
            // Copies do not count in the sample.
            let twice = survey(&question, &[0..1_000, 0..1_000]);
            assert_eq!((twice.rows, &twice.sample), (2_000, &whole.sample));
            let mean = whole.target.means[0];
            let [_, y] = columns(0..1_000);
            let expected = y.iter().sum::<f64>() / 1e3;
            assert!((mean - expected).abs() <= 2e-8 * whole.target.deviations[0], "{mean} {expected}");
        }
    }

    /// Each tenth of the rows is in the sample as often as any other: a chi-square of 9 degrees of freedom passes 27.9
    /// once in a thousand.
    #[test]
    fn the_sample_is_uniform() {
        let mut counts = [0.0; 10];
        for seed in 0..200 {
            let question = Question { seed, ..question(50) };
            for x in survey(&question, std::slice::from_ref(&(0..1_000))).sample {
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
