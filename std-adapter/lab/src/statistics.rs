//! Means and ranges over seeds, and the keys to group by.

/// Return the mean of the values present.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// Return the minimum, mean and maximum of the values present.
pub fn summary(values: &[f64]) -> Option<[f64; 3]> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    mean(values.iter().copied()).map(|mean| [least, mean, most])
}

/// Return each value once, in the order of first appearance.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut all, value| {
        if !all.contains(&value) {
            all.push(value);
        }
        all
    })
}

/// Return the sample variance, with divisor `m - 1`.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied()).unwrap_or(f64::NAN);
    values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}
