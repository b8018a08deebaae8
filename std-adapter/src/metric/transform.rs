//! What is learned: scales of the features, or a linear map of them.

use crate::error::Error;
use crate::linalg::eigen::{Eigen, eigen};
use faer::{Accum, Mat, MatRef, Par, linalg::matmul::matmul};

/// What rows are multiplied by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Transform {
    /// A scale for each feature.
    Scales(Vec<f64>),
    /// A map `A`, r x d: rows become `XAᵀ`.
    Map(Mat<f64>),
}

impl Transform {
    /// Transform rows, N x d.
    pub(crate) fn apply(&self, rows: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Self::Scales(scales) => {
                let mut scaled = rows.to_owned();
                for (j, &scale) in scales.iter().enumerate() {
                    scaled.col_as_slice_mut(j).iter_mut().for_each(|value| *value *= scale);
                }
                scaled
            }
            Self::Map(map) => product(rows, map.transpose()),
        }
    }

    /// Return the numbers that are learned: the scales, or the map by columns.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Scales(scales) => scales.clone(),
            Self::Map(map) => (0..map.ncols()).flat_map(|j| map.col_as_slice(j).iter().copied()).collect(),
        }
    }

    /// Return a transform of the same shape with other [`numbers`](Self::numbers).
    pub(crate) fn with(&self, numbers: &[f64]) -> Self {
        match self {
            Self::Scales(_) => Self::Scales(numbers.to_vec()),
            Self::Map(map) => {
                Self::Map(MatRef::from_column_major_slice(numbers, map.nrows(), map.ncols()).to_owned())
            }
        }
    }

    /// Return the derivatives of a function of transformed rows by the numbers, from those by the transformed
    /// rows: `∂J/∂A = (∂J/∂X')ᵀX`, or the diagonal of it.
    pub(crate) fn slope(&self, by_transformed: MatRef<'_, f64>, rows: MatRef<'_, f64>) -> Vec<f64> {
        match self {
            Self::Scales(scales) => {
                let along = |j| (0..rows.nrows()).map(|i| by_transformed[(i, j)] * rows[(i, j)]).sum();
                (0..scales.len()).map(along).collect()
            }
            Self::Map(_) => Self::Map(product(by_transformed.transpose(), rows)).numbers(),
        }
    }

    /// Return the derivatives of a function of transformed rows by the rows, from those by the transformed
    /// rows: `∂J/∂X = ∂J/∂X' A`.
    pub(crate) fn back(&self, by_transformed: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Self::Scales(_) => self.apply(by_transformed),
            Self::Map(map) => product(by_transformed, map.as_ref()),
        }
    }

    /// Return `AᵀA`, d x d.
    fn gram(&self) -> Mat<f64> {
        match self {
            Self::Scales(scales) => {
                Mat::from_fn(
                    scales.len(),
                    scales.len(),
                    |i, j| if i == j { scales[i] * scales[i] } else { 0.0 },
                )
            }
            Self::Map(map) => product(map.transpose(), map.as_ref()),
        }
    }

    /// Return the map of this rank that is nearest to this one in its singular values, up to a rotation of
    /// the mapped rows: its directions are orthogonal, in descending order.
    pub(crate) fn of_rank(&self, rank: usize) -> Result<Self, Error> {
        root(&self.gram(), rank, 0.5)
    }

    /// Return the map `A` for which `AᵀA` is the root of a mean outer product of gradients in transformed
    /// rows, with trace d (Radhakrishnan, Beaglehole, Pandit and Belkin 2024).
    pub(crate) fn of_gradients(&self, outer: &Mat<f64>) -> Result<Self, Error> {
        let outer = match self {
            Self::Scales(scales) => {
                Mat::from_fn(scales.len(), scales.len(), |i, j| scales[i] * outer[(i, j)] * scales[j])
            }
            Self::Map(map) => product(map.transpose(), product(outer.as_ref(), map.as_ref()).as_ref()),
        };
        let map = root(&outer, outer.nrows(), 0.25)?;
        let trace = map.numbers().iter().map(|number| number * number).sum::<f64>();
        Ok(map.times((outer.nrows() as f64 / trace).sqrt()))
    }

    /// Return this transform times a number.
    pub(crate) fn times(&self, factor: f64) -> Self {
        self.with(&self.numbers().iter().map(|number| factor * number).collect::<Vec<_>>())
    }
}

/// Return `Λ^power Uᵀ` of the largest eigenvalues of a positive semidefinite matrix `UΛUᵀ`.
fn root(matrix: &Mat<f64>, rank: usize, power: f64) -> Result<Transform, Error> {
    let Eigen { values, vectors } = eigen(matrix)?;
    let entry = |i: usize, j: usize| values[i].powf(power) * vectors[(j, i)];
    Ok(Transform::Map(Mat::from_fn(rank, matrix.nrows(), entry)))
}

/// Return `AB`, on this thread.
fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::zeros(a.nrows(), b.ncols());
    matmul(product.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    product
}

#[cfg(test)]
mod tests {
    use super::Transform;
    use faer::Mat;

    #[test]
    fn a_map_of_lower_rank_keeps_the_largest_directions() {
        let Transform::Map(map) = Transform::Scales(vec![0.5, 3.0, -2.0]).of_rank(2).unwrap() else {
            panic!("a map");
        };
        let squares = Mat::from_fn(2, 3, |i, j| map[(i, j)].powi(2));
        for (found, expected) in
            [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)].into_iter().zip([0, 9, 0, 0, 0, 4])
        {
            assert!((squares[found] - f64::from(expected)).abs() < 1e-12, "{squares:?}");
        }
    }

    /// Of f(x) = 3 x₁ + 4 x₂, seen through a map, the one direction is (3, 4)/5.
    #[test]
    fn gradients_in_mapped_rows_are_those_of_the_features() {
        let through = Transform::Map(Mat::from_fn(2, 2, |i, j| [[2.0, 1.0], [0.0, 1.0]][i][j]));
        // Aᵀg = (3, 4).
        let gradient = [1.5, 2.5];
        let outer = Mat::from_fn(2, 2, |i, j| gradient[i] * gradient[j]);
        let Transform::Map(map) = through.of_gradients(&outer).unwrap() else { panic!("a map") };
        let gram = map.transpose() * &map;
        let expected = Mat::from_fn(2, 2, |i, j| 2.0 * [0.6, 0.8][i] * [0.6, 0.8][j]);
        assert!((gram - expected).norm_max() < 1e-7);
    }
}
