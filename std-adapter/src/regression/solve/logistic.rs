//! The logistic head on rows in memory: their features, the weights of all rows and of parts of them.

use crate::data::weights::Weights;
use crate::error::Error;
use crate::observer::Observer;
use crate::regression::{
    head::logistic::FoldSet, head::logistic::JUDGED, head::logistic::Losses, head::logistic::Purpose,
    head::logistic::Rows, head::logistic::UNIT, ridge::Candidates, rows::input::Input,
    rows::whitening::Whitening, solve::parts::Asked, solve::solution::Quality, solve::solution::Regression,
    solve::solution::Unseen, solve::solution::WithoutFold, solve::solution::kernel_weights,
};
use dpp_nystrom_core::{Landmarks, Nystrom};
use dpp_nystrom_host::heap::zeros;
use dpp_nystrom_host::simd::lane::{Ground, Lane};
use faer::{Mat, MatRef, traits::RealField};
use rayon::prelude::*;

/// The most features of all rows together, 512 MiB. Of more rows an evenly spaced sample is taken.
const MOST: usize = 1 << 26;

/// Rows whose features are computed together.
const BLOCK: usize = 1_024;

/// The least number of rows that judged a metric by which γ is chosen alone: the metric was learned on the
/// others.
const JUDGES: usize = 400;

/// Minimise the log-loss over the classes. `gram` is `ΦᵀΦ` of all rows.
///
/// # Errors
/// `ErrorKind::Memory`, `ErrorKind::Cancelled`, `ErrorKind::Data` for too few folds.
pub(crate) fn logistic<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    gram: MatRef<'_, f64>,
    ridges: &Candidates,
    asked: Asked<'_>,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let (nystrom, count) = (Nystrom::new(landmarks), input.targets.rows());
    let stride = count.saturating_mul(landmarks.len()).div_ceil(MOST).max(1);
    let places: Vec<usize> = (0..count).step_by(stride).collect();
    let features = features(input, landmarks, &places)?;
    let classes: Vec<usize> = places.iter().map(|&row| input.targets.class_of(row)).collect();
    let mut folds: Vec<u8> = input.deal.folds(count, asked.seed).step_by(stride).collect();
    if let Some(judged) = asked.judged.filter(|judged| judged.len() >= JUDGES) {
        judged.iter().flat_map(|row| places.binary_search(row)).for_each(|place| folds[place] = JUDGED);
    }
    let weights = input.weights.gather(&places);
    let indicators = indicators(&input);
    let rows = Rows {
        features: MatRef::from_column_major_slice(&features, landmarks.len(), places.len()),
        classes: &classes,
        indicators: &indicators,
        folds: &folds,
        weights: Weights(weights.as_deref()),
    };
    let given = match ridges {
        Candidates::One(ridge) => Some(*ridge),
        Candidates::BestOf(_) | Candidates::BestLeaveOneOut(_) => None,
    };
    let path = rows.choose(gram, (given, Purpose::Model), FoldSet::of(asked.left_out), observer)?;
    let in_kernel = |weights: &Mat<f64>| {
        // In standard deviations of the indicators.
        let columns = indicators.iter().enumerate();
        let columns = columns.flat_map(|(k, (_, deviation))| {
            weights.col_as_slice(k).iter().map(move |number| number * UNIT / deviation)
        });
        kernel_weights(&nystrom, columns)
    };
    let of_all = rows.without(gram, &path, FoldSet::NONE, observer)?;
    let mut without = Vec::new();
    for &fold in asked.left_out {
        let found = rows.without(gram, &path, FoldSet::of(&[fold]), observer)?;
        without.push(WithoutFold { fold, ridge: path.ridge, weights: in_kernel(&found)? });
    }
    let held_out = asked.measured.then(|| {
        let (mut own, logits) = rows.held_out(&path);
        let outputs = logits.chunks_exact(indicators.len()).map(|logits| {
            let pairs = logits.iter().zip(&indicators);
            pairs.map(|(logit, (mean, deviation))| (logit * UNIT - mean) / deviation).collect()
        });
        let mut outputs: Vec<Vec<f64>> = outputs.collect();
        if let Some(judged) = asked.judged {
            // They are few if they are not the rows that were held out.
            let mut is_judged = own.iter().map(|&place| judged.contains(&places[place]));
            outputs.retain(|_| is_judged.next().unwrap_or(false));
            own.retain(|&place| judged.contains(&places[place]));
        }
        Unseen { rows: own.into_iter().map(|place| places[place]).collect(), outputs: outputs.concat() }
    });

    let mut trained = Losses::default();
    rows.add_losses(of_all.as_ref(), 0..places.len(), &mut trained);
    let numbers = (count * rows.outputs()) as f64;
    let errors = path.scores.iter().map(|(ridge, losses)| (*ridge, losses.error(rows.outputs())));
    let errors: Vec<(f64, f64)> = errors.collect();
    let quality = Quality {
        ridge: path.ridge,
        train_error: trained.error(rows.outputs()),
        validation_error: errors.iter().find(|(ridge, _)| *ridge == path.ridge).map(|(_, error)| *error),
        one_fold: false,
        scores: errors.into_iter().map(|(ridge, error)| (ridge, error * error * numbers)).collect(),
    };
    let weights = in_kernel(&of_all)?;
    let kept = nystrom.members().to_vec();
    Ok(Regression { kept, weights, quality, confidence: None, held_out, without })
}

/// Return the features of these rows, a column each.
fn features<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    places: &[usize],
) -> Result<Vec<f64>, Error> {
    let (whitening, rank) = (Whitening::new(landmarks), landmarks.len());
    let mut numbers = zeros(places.len().saturating_mul(rank), 0.0)?;
    let blocks = numbers.par_chunks_mut((BLOCK * rank).max(1)).zip(places.par_chunks(BLOCK));
    blocks.try_for_each(|(numbers, places)| {
        let phi = whitening.features(places.iter().map(|&row| input.row(row)))?;
        for (i, own) in numbers.chunks_exact_mut(rank).enumerate() {
            own.iter_mut().enumerate().for_each(|(j, number)| *number = phi[(i, j)]);
        }
        Ok::<_, Error>(())
    })?;
    Ok(numbers)
}

/// Return the mean and the deviation of the indicator of each class, from its two standardised values.
fn indicators<T: Lane>(input: &Input<'_, T>) -> Vec<(f64, f64)> {
    let of = |k: usize| {
        let ends = (0..input.targets.rows()).map(|row| input.targets.at(row, k));
        let [least, most] = ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], y| [a.min(y), b.max(y)]);
        (-least / (most - least), 1.0 / (most - least))
    };
    (0..input.targets.outputs()).map(of).collect()
}
