//! The spectrum of a Nyström approximation from p columns, for approximate scores.
//!
//! The columns are drawn in proportion to `k(i, i)`, as in the paper (uniformly if the kernel is a function of a
//! distance). With the features `Φ` of [`dpp_nystrom_core::Nystrom`], `K̃ = ΦᵀΦ`. The eigenvectors `v_j` and
//! eigenvalues `s_j` of the small matrix `ΦΦᵀ` give those of `K̃`: `Φᵀ v_j / √s_j` and `s_j`. `N p` kernel
//! evaluations, `O(N p² + p³)` operations, `2 N p` numbers.

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

/// The default number of columns per landmark.
const COLUMNS: usize = 4;

/// The eigenvalues of `K̃` above rounding, and their eigenvectors.
pub(crate) struct Sketch {
    /// Eigenvalues in descending order.
    pub(crate) values: Vec<f64>,
    /// Eigenvectors as columns, with N rows.
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
        // Columns that depend on others add nothing: fewer than p are enough.
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
