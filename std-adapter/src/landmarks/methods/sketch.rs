//! The spectrum of a Nyström approximation from p columns, for approximate scores.
//!
//! The columns are drawn in proportion to `k(i, i)`, as the paper does (uniformly where the kernel is of a
//! distance). With the features `Φ` of [`dpp_nystrom_core::Nystrom`], `K̃ = ΦᵀΦ`, and the eigenvectors `v_j`
//! and eigenvalues `s_j` of the small `ΦΦᵀ` give those of `K̃`: `s_j` and `Φᵀ v_j / √s_j`. `N p` kernel
//! evaluations, `O(N p² + p³)`, `2 N p` numbers.

use crate::approximation::features::features;
use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::methods::diagonal;
use crate::landmarks::methods::draw::{place, push, refused};
use crate::landmarks::selector::{Task, within};
use crate::linalg::eigen::{Eigen, PARTS, eigen, rank};
use dpp_nystrom_core::{Landmarks, Random};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// Columns for each landmark by default.
const COLUMNS: usize = 4;

/// Eigenvalues and eigenvectors of `K̃`, of those that are above rounding.
pub(crate) struct Sketch {
    /// Descending.
    pub(crate) values: Vec<f64>,
    /// N rows, an eigenvector a column.
    pub(crate) vectors: Mat<f64>,
}

impl Sketch {
    pub(crate) fn new(task: &Task<'_>, columns: Option<usize>, random: &mut Random) -> Result<Self, Error> {
        let ground = task.gram.ground();
        let count = task.gram.len();
        let p = match columns {
            Some(columns) => within("--columns", columns, count)?,
            None => (COLUMNS * task.c).min(count),
        };
        let mut memory = Heap::new(p)?;
        let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
        let mut weights = diagonal::weights(ground);
        // Columns that depend on others add nothing: fewer than p will do.
        while landmarks.len() < p
            && let Some(row) = place(&weights, random)?
        {
            weights[row] = 0.0;
            push(&mut landmarks, row)?;
        }
        let features = features(ground, ground, &landmarks)?;
        let order = features.nrows();
        let mut product = Mat::<f64>::zeros(order, order);
        let parallel = Par::rayon(PARTS);
        matmul(product.as_mut(), Accum::Replace, &features, features.transpose(), 1.0, parallel);
        let Eigen { mut values, vectors } = eigen(&product)?;
        values.truncate(rank(&values));
        let mut turned = Mat::<f64>::zeros(count, values.len());
        let leading = vectors.get(.., ..values.len());
        matmul(turned.as_mut(), Accum::Replace, features.transpose(), leading, 1.0, parallel);
        for (j, value) in values.iter().enumerate() {
            let root = value.sqrt();
            turned.col_mut(j).iter_mut().for_each(|entry| *entry /= root);
        }
        Ok(Self { values, vectors: turned })
    }
}
