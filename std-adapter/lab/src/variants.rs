//! Other approximations from the same landmarks: ensemble and modified Nyström.
//!
//! | name | `K̃` | cost relative to Nyström | source |
//! | --- | --- | --- | --- |
//! | `nystrom` | `K_{·,C} K_CC† K_{C,·}` | | Williams and Seeger 2001 |
//! | `ensemble` | the mean of p experts' Nyström approximations | less: `N c²/p` | Kumar, Mohri and Talwalkar 2009, with uniform weights |
//! | `modified` | `C U Cᵀ`, `U = C† K (C†)ᵀ`, `C = K_{·,C}` | all of K, `N² c` | Wang and Zhang 2013 |
//!
//! The experts of an ensemble partition the c landmarks at random, c/p each, so that all three approximations
//! evaluate the kernel with the same c landmarks. (The source gives each expert c landmarks of its own, and
//! so compares `p c` columns with c.) The modified method is the best of all `C U Cᵀ` in the Frobenius norm:
//! with an orthonormal basis `Q` of the columns of `C` it is `QQᵀ K QQᵀ`.
//!
//! Each is `FᵀF` for features `F`, so one formula measures all errors.

use crate::linalg::{Basis, product};
use crate::rng::{Stream, stream};
use crate::spectrum::{Norms, Spectrum};
use dpp_nystrom::Error;
use dpp_nystrom::approximation::{Eigen, Gram, LandmarkSet, TraceError};
use dpp_nystrom::core::GroundSet;
use dpp_nystrom::faer::Mat;
use rand::seq::SliceRandom;
use std::fmt;

/// The approximation built from the landmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approximation {
    /// The Nyström method.
    #[default]
    Nystrom,
    /// The mean of several experts' Nyström approximations.
    Ensemble {
        /// The number of experts p; at most as many as landmarks take part.
        experts: usize,
    },
    /// The modified Nyström method.
    Modified,
}

impl fmt::Display for Approximation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nystrom => "nystrom",
            Self::Ensemble { .. } => "ensemble",
            Self::Modified => "modified",
        })
    }
}

impl Approximation {
    /// Measure the trace error of this approximation and, if the spectrum is given, its errors relative to
    /// the best rank c.
    ///
    /// The seed determines the assignment of landmarks to experts.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`, `ErrorKind::Memory`, `ErrorKind::Argument` for no experts,
    /// `ErrorKind::Unsupported` for the modified method on too many rows.
    pub fn errors(
        self,
        gram: &Gram<'_>,
        spectrum: Option<&Spectrum>,
        landmarks: &LandmarkSet,
        seed: u64,
    ) -> Result<(TraceError, Option<Norms>), Error> {
        let features = match self {
            Self::Nystrom => {
                let relative =
                    spectrum.map(|spectrum| spectrum.relative_error(gram, landmarks)).transpose()?;
                return Ok((gram.trace_error(landmarks)?, relative.flatten()));
            }
            Self::Ensemble { experts } => ensemble(gram, landmarks, experts, seed)?,
            Self::Modified => modified(gram, landmarks)?,
        };
        let ground = gram.ground();
        let trace: f64 = (0..ground.len()).map(|row| ground.diagonal(row)).sum();
        let trace_error = TraceError::of((trace - features.squared_norm_l2()).max(0.0), trace);
        let count = landmarks.count(gram.data()?.dim());
        let relative =
            spectrum.map(|spectrum| spectrum.relative_error_of(count, || Ok(features))).transpose()?;
        Ok((trace_error, relative.flatten()))
    }
}

/// Stack the experts' features, each scaled by `1/√p`.
fn ensemble(gram: &Gram<'_>, landmarks: &LandmarkSet, experts: usize, seed: u64) -> Result<Mat<f64>, Error> {
    let data = gram.data()?;
    let points = landmarks.features(data)?;
    let mut order: Vec<&[f64]> = points.chunks_exact(data.dim()).collect();
    let count = order.len();
    if experts == 0 {
        return Err(Error::out_of_range("experts", experts, count));
    }
    let experts = experts.min(count);
    order.shuffle(&mut stream(seed, Stream::Experts));
    let parts = (0..experts)
        .map(|expert| &order[expert * count / experts..(expert + 1) * count / experts])
        .map(|part| gram.features(&LandmarkSet::Points(part.concat())))
        .collect::<Result<Vec<_>, _>>()?;
    let rows = parts.iter().map(Mat::nrows).sum();
    let mut stacked = Mat::<f64>::zeros(rows, gram.len());
    let mut first = 0;
    let share = 1.0 / (experts as f64).sqrt();
    for part in parts {
        stacked.get_mut(first..first + part.nrows(), ..).copy_from(share * &part);
        first += part.nrows();
    }
    Ok(stacked)
}

/// Return `(QᵀKQ)^½ Qᵀ`, up to a rotation.
fn modified(gram: &Gram<'_>, landmarks: &LandmarkSet) -> Result<Mat<f64>, Error> {
    gram.check_whole("modified", "nystrom")?;
    let spanning = gram.features(&LandmarkSet::Points(landmarks.features(gram.data()?)?))?;
    let mut basis = Basis::default();
    for j in 0..spanning.nrows() {
        basis.push(spanning.row(j).transpose().to_owned());
    }
    let vectors = basis.vectors();
    let basis = Mat::from_fn(gram.len(), vectors.len(), |i, j| vectors[j][i]);
    let turned = product(gram.matrix()?.as_ref().as_ref(), basis.as_ref());
    let Eigen { values, vectors } = Eigen::of(&product(basis.transpose(), turned.as_ref()))?;
    let mut features = product(vectors.transpose(), basis.transpose());
    for (j, value) in values.iter().enumerate() {
        let root = value.sqrt();
        features.row_mut(j).iter_mut().for_each(|entry| *entry *= root);
    }
    Ok(features)
}

#[cfg(test)]
mod tests {
    use super::{Approximation, Spectrum};
    use dpp_nystrom::approximation::{Gram, LandmarkSet};
    use dpp_nystrom::core::GroundSet;
    use dpp_nystrom::data::{Prepared, table::Table};
    use dpp_nystrom::faer::{Mat, prelude::Solve};
    use dpp_nystrom::kernel::{KernelKind, KernelSpec};

    fn data() -> Prepared {
        let features = (0..240).map(|at: usize| ((at * at * 31 + 7 * at) % 101) as f64).collect();
        let feature_names = vec!["a".to_owned(), "b".to_owned()];
        let name = String::new();
        let table =
            Table { name, feature_names, dim: 2, features, target: None, target_name: None, weights: None };
        Prepared::new(table, None, 0).unwrap()
    }

    /// `K_{·,S} M K_{S,·}`, with `M` the inverse of a well-conditioned matrix.
    fn sandwich(kernel: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
        let columns = Mat::from_fn(kernel.nrows(), rows.len(), |i, j| kernel[(i, rows[j])]);
        let own = Mat::from_fn(rows.len(), rows.len(), |i, j| kernel[(rows[i], rows[j])]);
        &columns * own.partial_piv_lu().solve(columns.transpose())
    }

    fn relative(kernel: &Mat<f64>, approximation: &Mat<f64>) -> [f64; 2] {
        let residual = kernel - approximation;
        let trace = |matrix: &Mat<f64>| (0..matrix.nrows()).map(|i| matrix[(i, i)]).sum::<f64>();
        [trace(&residual) / trace(kernel), residual.norm_l2()]
    }

    #[test]
    fn each_is_what_its_formula_says() {
        let data = data();
        let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 0.6 }).unwrap();
        let kernel = Mat::from_fn(120, 120, |i, j| gram.ground().entry(i, j));
        let spectrum = Spectrum::of(gram.ground()).unwrap();
        let best = spectrum.eigenvalues()[6..].iter().map(|value| value * value).sum::<f64>().sqrt();
        let rows = vec![5, 20, 41, 77, 90, 111];
        let places = LandmarkSet::Indices(rows.clone());
        let errors = |approximation: Approximation| {
            let (trace, relative) = approximation.errors(&gram, Some(&spectrum), &places, 3).unwrap();
            [trace.fraction, relative.unwrap().frobenius * best]
        };
        let assert_close = |found: [f64; 2], expected: [f64; 2]| {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9 * expected, "{found} {expected}");
            }
        };
        let nystrom = relative(&kernel, &sandwich(&kernel, &rows));
        assert_close(errors(Approximation::Nystrom), nystrom);
        assert_close(errors(Approximation::Ensemble { experts: 1 }), nystrom);

        let columns = Mat::from_fn(120, 6, |i, j| kernel[(i, rows[j])]);
        let inner = columns.transpose() * &columns;
        let inverse = inner.partial_piv_lu().solve(columns.transpose());
        let modified = &columns * (&inverse * &kernel * inverse.transpose()) * columns.transpose();
        let expected = relative(&kernel, &modified);
        assert_close(errors(Approximation::Modified), expected);
        // The optimal U.
        assert!(expected[1] < nystrom[1]);

        // One expert per landmark: the order does not matter.
        let mut mean = Mat::<f64>::zeros(120, 120);
        for &row in &rows {
            mean += (1.0 / 6.0) * sandwich(&kernel, &[row]);
        }
        assert_close(errors(Approximation::Ensemble { experts: 6 }), relative(&kernel, &mean));
        // Two experts: one of the ten ways to split six in halves.
        let found = errors(Approximation::Ensemble { experts: 2 });
        let halves = (1..64_u32).filter(|mask| mask.count_ones() == 3).map(|mask| {
            let side = |of: u32| -> Vec<usize> {
                (0..6).filter(|bit| mask >> bit & 1 == of).map(|bit| rows[bit as usize]).collect()
            };
            relative(&kernel, &(0.5 * (sandwich(&kernel, &side(0)) + sandwich(&kernel, &side(1)))))
        });
        let same =
            |expected: &[f64; 2]| (found[0] - expected[0]).abs() + (found[1] - expected[1]).abs() < 1e-9;
        assert_eq!(halves.filter(same).count(), 2, "{found:?}");
    }

    #[test]
    fn experts_are_at_most_as_many_as_landmarks() {
        let data = data();
        let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 0.6 }).unwrap();
        let places = LandmarkSet::Indices(vec![1, 2, 3]);
        let error = |experts| Approximation::Ensemble { experts }.errors(&gram, None, &places, 0);
        let fraction = |experts| error(experts).unwrap().0.fraction;
        assert_eq!(fraction(4), fraction(3));
        assert_ne!(fraction(1), fraction(3));
        assert!(error(0).unwrap_err().to_string().starts_with("invalid experts"));
    }
}
