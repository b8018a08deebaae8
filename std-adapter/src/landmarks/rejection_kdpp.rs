//! Exact samples of the c-DPP of any kernel from a few thousand rows at a time, by rejection.
//!
//! After α-DPP (Calandriello, Dereziński and Valko 2020) and DPP-VFX (Dereziński, Calandriello and Valko
//! 2019). Let `K̃` be the Nyström approximation from some landmarks, `R = K - K̃`, `α > 0`, and
//!
//! - `l_i = α R_ii + [α K̃ (I + α K̃)⁻¹]_ii`, near the marginal of row i in the DPP of `α K`; `s = Σ l_i`
//!   and `z = tr α K̃ (I + α K̃)⁻¹`;
//! - `σ` rows `σ_1, …, σ_t`, each drawn in proportion to `l`, with t from a Poisson law;
//! - `M` the `t x t` matrix of `w_i = s α / (q l_i)` on both sides of K, `M_ab = √(w_σa w_σb) K_σaσb`, for
//!   some `q > 0`.
//!
//! Accept `σ` with the probability `e_c(M) / B`, and draw a sample of the c-DPP of M from it. It is one of
//! the c-DPP of K: since `B = b e^(ts/q)`, accepted `σ` have the law of a Poisson number of rows of some mean
//! μ, weighted by `e_c(M)`. The expected number of times that a set `C` is in such `σ` is `Π μ l_i/s` over
//! its rows, and its minor of `M` is `Π w_i · det K_CC`: together `(α μ/q)^c det K_CC`. As for B,
//!
//! `e_c(M) ≤ Σ_j e_(c-j)(A) τ^j/j! ≤ det(I + A) e^τ ≤ det(I + α K̃) e^(ts/q - z) = B`.
//!
//! Here `A + R'` is `M` split into the parts of `K̃` and of R, and `τ` is the trace of `R'`. `A` has the
//! nonzero eigenvalues of the m x m matrix `Σ_a w_σa ψ_σa ψ_σaᵀ`, with ψ the features of `K̃`. The first
//! inequality is Fischer's for the principal minors of the matrix that `A` and `R'` are the diagonal blocks
//! of, and `e_j(R') ≤ τ^j/j!`; the second sums over all sizes; the third is the concavity of the logarithm of
//! a determinant. The three ratios are tested one after the other, so that m x m matrices reject nearly all
//! proposals. α-DPP tests `det (I + M)`, samples a DPP of M, and repeats until it has c rows.
//!
//! `α`, `q` and the mean of t change the cost and not the law. They are those of the lowest estimated cost:
//! the mean is `c / (1 - e^(-s/q))`.

use crate::approximation::features::{independent, kernel_matrix};
use crate::error::{Cause, Error};
use crate::landmarks::eigenvector_law::{EigenvectorLaw, uniform};
use crate::landmarks::{ExactKDpp, check_count, methods::rpcholesky::RpCholesky, select};
use crate::linalg::elementary_symmetric::{log_elementary_symmetric, log_sum};
use crate::linalg::{dot, eigen::eigen, eigen::product, rank, triangle::factor};
use crate::observer::{NoObserver, Observer, Silent, go_on};
use dpp_nystrom_core::{Error as CoreError, GroundSet, Nystrom};
use dpp_nystrom_host::heap::{Heap, zeros};
use dpp_nystrom_host::{rng::RngStream, simd::sample::Sample};
use faer::Mat;
use rand_core::Rng;
use rayon::prelude::*;

/// Rows whose features are computed at once.
const BLOCK: usize = 4_096;

/// The maximum expected number of multiply-adds of a sample: some ten minutes.
const MOST: f64 = 1e13;

/// An exact sampler of the c-DPP of the kernel matrix of any ground set, without that matrix.
///
/// A sample takes some `10 t³` multiply-adds and `3 t²` numbers with t about `c²/6`, and the features of as
/// many rows for each proposal, whatever the number of rows and the kernel: seconds for c = 100.
///
/// ```
/// use dpp_nystrom::core::{Points, Random, kernel::Gaussian};
/// use dpp_nystrom::landmarks::RejectionKDpp;
///
/// let x: Vec<f64> = (0..20_000).map(|i| f64::from(i) / 1_000.0).collect();
/// let ground = Points::new(&x, 1, Gaussian::new(1.0)?)?;
/// let landmarks: Vec<usize> = (0..20).map(|i| 1_000 * i).collect();
/// let exact = RejectionKDpp::new(&ground, 4, &landmarks)?;
/// assert_eq!(exact.sample(&mut Random::seeded(7))?.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RejectionKDpp<'a, G: ?Sized> {
    ground: &'a G,
    c: usize,
    landmarks: Vec<usize>,
    /// The matrix that takes kernel values with the landmarks to features ψ, `K̃ = ΨᵀΨ`, in which `ΨΨᵀ` is
    /// diagonal.
    whitening: Mat<f64>,
    /// The diagonal: the eigenvalues of `K̃`, descending.
    values: Vec<f64>,
    /// `tr (K - K̃)`.
    rest: f64,
    plan: Plan,
    /// The sums of l of each row and those before it.
    sums: Vec<f64>,
    included: Vec<f64>,
}

/// What changes the cost of a sample, and not its law.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// α.
    scale: f64,
    /// q.
    rate: f64,
    /// The expected number of proposals.
    proposals: f64,
    /// The expected number of multiply-adds.
    cost: f64,
}

impl<'a, G: GroundSet<f64> + Sync + ?Sized> RejectionKDpp<'a, G> {
    /// Approximate the kernel by m landmarks, a few times c, such as the rows of [`RpCholesky`]; dependent
    /// ones are skipped. The law does not depend on them if they were drawn with other random numbers than
    /// the samples. `2 N m` kernel evaluations and `2 N m²` multiply-adds; stores `2 N` numbers.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks` if `c` is zero, exceeds the number of rows or of independent landmarks;
    /// `ErrorKind::Memory`.
    pub fn new(ground: &'a G, c: usize, landmarks: &[usize]) -> Result<Self, Error> {
        check_count(c, ground.len())?;
        let mut memory = Heap::new(landmarks.len())?;
        let independent = independent(ground, landmarks, &mut memory)?;
        let landmarks = independent.members().to_vec();
        let nystrom = Nystrom::new(&independent);
        let mut inverse = Mat::<f64>::identity(landmarks.len(), landmarks.len());
        for (j, &landmark) in landmarks.iter().enumerate() {
            nystrom.features_at(landmark, inverse.col_as_slice_mut(j)).map_err(Error::landmarks)?;
        }
        let mut exact = Self {
            ground,
            c,
            landmarks,
            whitening: inverse,
            values: Vec::new(),
            rest: 0.0,
            plan: Plan { scale: 1.0, rate: 1.0, proposals: 1.0, cost: 0.0 },
            sums: zeros(ground.len(), 0.0)?,
            included: zeros(ground.len(), 0.0)?,
        };
        exact.diagonalise()?;
        exact.plan = Plan::new(&exact.values, exact.rest, c);
        exact.tabulate()?;
        Ok(exact)
    }

    /// [`new`](Self::new) from 2 c to 16 c rows of [`RpCholesky`], as many as make a sample cheap. They are
    /// drawn with random numbers of the seed that no sample depends on, if it has a generator of this seed.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), `ErrorKind::Cancelled`.
    ///
    /// ```
    /// use dpp_nystrom::core::{Points, Random, kernel::Gaussian};
    /// use dpp_nystrom::{landmarks::RejectionKDpp, observer::NoObserver};
    ///
    /// let x: Vec<f64> = (0..20_000).map(|i| f64::from(i) / 1_000.0).collect();
    /// let ground = Points::new(&x, 1, Gaussian::new(1.0)?)?;
    /// let exact = RejectionKDpp::pivoted(&ground, 4, 7, &NoObserver)?;
    /// let rows = exact.sample(&mut Random::seeded(7))?;
    /// assert!(rows.iter().all(|&row| exact.estimated_inclusion_probabilities()[row] > 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pivoted(ground: &'a G, c: usize, seed: u64, observer: &dyn Observer) -> Result<Self, Error> {
        let most = c.saturating_mul(16).min(ground.len());
        let (seed, mut landmarks) = (seed ^ RngStream::Pilot as u64, (2 * c).min(most));
        loop {
            let pivoted = match select(ground, landmarks, &RpCholesky::default(), seed, &Silent(observer)) {
                Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { rank, .. } }))
                    if (c..landmarks).contains(&rank) =>
                {
                    landmarks = rank;
                    continue;
                }
                pivoted => pivoted?,
            };
            let exact = Self::new(ground, c, pivoted.landmarks.rows().unwrap_or_default())?;
            go_on(observer)?;
            // Where the rest adds less than a tenth of c to s, further landmarks gain little.
            if exact.plan.scale * exact.rest <= 0.1 * c as f64 || landmarks >= most {
                return Ok(exact);
            }
            landmarks = (2 * landmarks).min(most);
        }
    }

    fn refusal(&self, operations: f64) -> Error {
        Error(Cause::Rejection { landmarks: self.c, operations, most: MOST })
    }

    /// Return a column of features for each of these rows.
    fn features(&self, rows: &[usize]) -> Mat<f64> {
        let mut kernel = Mat::<f64>::zeros(self.landmarks.len(), rows.len());
        kernel.par_col_iter_mut().zip(rows).for_each(|(column, &row)| {
            if let Some(column) = column.try_as_col_major_mut() {
                self.ground.column(row, &self.landmarks, column.as_slice_mut());
            }
        });
        product(self.whitening.as_ref(), kernel.as_ref())
    }

    /// Call `work` with the features of all rows, block by block, and the first row of each.
    fn each_block(&self, mut work: impl FnMut(usize, &Mat<f64>)) {
        let rows: Vec<usize> = (0..self.ground.len()).collect();
        for block in rows.chunks(BLOCK) {
            work(block[0], &self.features(block));
        }
    }

    /// Rotate the features onto the eigenvectors of `K̃`.
    fn diagonalise(&mut self) -> Result<(), Error> {
        let m = self.landmarks.len();
        let mut gram = Mat::<f64>::zeros(m, m);
        self.each_block(|_, features| gram += product(features.as_ref(), features.transpose()));
        let trace: f64 = (0..self.ground.len()).map(|row| self.ground.diagonal(row)).sum();
        if !trace.is_finite() {
            let row = (0..self.ground.len()).find(|&row| !self.ground.diagonal(row).is_finite()).unwrap_or(0);
            return Err(Error::landmarks(CoreError::NotFinite { row, column: row }));
        }
        let eigen = eigen(&gram)?;
        let rank = rank(&eigen.values);
        if rank < self.c {
            return Err(Error::landmarks(CoreError::RankDeficient { rank, landmarks: self.c }));
        }
        self.rest = (trace - eigen.values.iter().sum::<f64>()).max(0.0);
        self.whitening = product(eigen.vectors.subcols(0, rank).transpose(), self.whitening.as_ref());
        self.values = eigen.values[..rank].to_vec();
        Ok(())
    }

    /// Compute l and the estimated probability of each row.
    fn tabulate(&mut self) -> Result<(), Error> {
        let rank = self.values.len();
        let leverage: Vec<f64> =
            self.values.iter().map(|value| self.plan.scale / (1.0 + self.plan.scale * value)).collect();
        // The rest as eigenvalues that are all equal.
        let rests = if self.rest > 0.0 { self.ground.len() - rank } else { 0 }.min(16 * self.c);
        let mut values = self.values.clone();
        values.extend((0..rests).map(|_| self.rest / rests as f64));
        let shares = EigenvectorLaw::new(&values, self.c)?.shares();
        let of_rest: f64 = shares[rank..].iter().sum();
        let shares: Vec<f64> = shares.iter().zip(&self.values).map(|(share, value)| share / value).collect();
        let (mut sums, mut included) = (std::mem::take(&mut self.sums), std::mem::take(&mut self.included));
        self.each_block(|first, features| {
            for (row, feature) in (first..).zip(features.col_iter()) {
                let squares: Vec<f64> = feature.iter().map(|entry| entry * entry).collect();
                let rest = (self.ground.diagonal(row) - squares.iter().sum::<f64>()).max(0.0);
                sums[row] = self.plan.scale * rest + dot(&squares, &leverage);
                included[row] = dot(&squares, &shares);
                if rests > 0 {
                    included[row] += of_rest * rest / self.rest;
                }
            }
        });
        let mut sum = 0.0;
        for l in &mut sums {
            sum += *l;
            *l = sum;
        }
        (self.sums, self.included) = (sums, included);
        Ok(())
    }

    /// Return the expected number of proposals of a sample, estimated from the landmarks.
    pub fn expected_proposals(&self) -> f64 {
        self.plan.proposals
    }

    /// Return estimates of the probability of each row to be in a sample; their sum is about c. Exact for a
    /// kernel of as low a rank as there are landmarks.
    ///
    /// ```
    /// use dpp_nystrom::core::Matrix;
    /// use dpp_nystrom::landmarks::RejectionKDpp;
    ///
    /// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 3.0])?;
    /// let exact = RejectionKDpp::new(&matrix, 1, &[0, 1])?;
    /// assert!((exact.estimated_inclusion_probabilities()[1] - 0.75).abs() < 1e-12);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn estimated_inclusion_probabilities(&self) -> &[f64] {
        &self.included
    }

    /// Draw one sample: c rows in ascending order.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` if it is expected to take 10¹³ multiply-adds, some ten minutes, or after a
    /// thousand times as many proposals as expected; `ErrorKind::Landmarks`, `ErrorKind::Memory`.
    pub fn sample<R: Rng + ?Sized>(&self, random: &mut R) -> Result<Vec<usize>, Error> {
        self.sample_observed(random, &NoObserver)
    }

    /// [`sample`](Self::sample), with progress: one step for each proposal.
    ///
    /// # Errors
    /// Those of [`sample`](Self::sample), `ErrorKind::Cancelled`.
    pub fn sample_observed<R: Rng + ?Sized>(
        &self,
        random: &mut R,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>, Error> {
        if self.plan.cost > MOST {
            return Err(self.refusal(self.plan.cost));
        }
        observer.begin("proposals", 0);
        let most = 1e3 * (1.0 + self.plan.proposals);
        let mut proposals = 0.0;
        while proposals < most {
            go_on(observer)?;
            let rows = self.propose(random);
            let sample = self.accept(&rows, random)?;
            proposals += 1.0;
            observer.advance(1);
            if let Some(sample) = sample {
                observer.end();
                return Ok(sample);
            }
        }
        Err(self.refusal(self.plan.cost * 1e3))
    }

    /// Draw the rows of a proposal: arrivals of a Poisson process, each with a row in proportion to l.
    fn propose<R: Rng + ?Sized>(&self, random: &mut R) -> Vec<usize> {
        let total = self.total();
        let end = rows_of_proposal(self.c, total / self.plan.rate);
        let (mut time, mut rows) = (0.0, Vec::new());
        loop {
            time -= (1.0 - uniform(random)).ln();
            if time > end {
                return rows;
            }
            let place = uniform(random) * total;
            rows.push(self.sums.partition_point(|&sum| sum <= place).min(self.sums.len() - 1));
        }
    }

    /// Return s.
    fn total(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// Accept or reject a proposal, and draw the sample from it.
    fn accept<R: Rng + ?Sized>(&self, rows: &[usize], random: &mut R) -> Result<Option<Vec<usize>>, Error> {
        if rows.len() < self.c {
            return Ok(None);
        }
        let Plan { scale, rate, .. } = self.plan;
        let mut features = self.features(rows);
        let (mut weights, mut rest) = (Vec::with_capacity(rows.len()), 0.0);
        for (&row, mut feature) in rows.iter().zip(features.col_iter_mut()) {
            let before = row.checked_sub(1).map_or(0.0, |before| self.sums[before]);
            let weight = self.total() * scale / (rate * (self.sums[row] - before));
            let square = feature.as_ref().squared_norm_l2();
            rest += weight * (self.ground.diagonal(row) - square).max(0.0);
            feature *= weight.sqrt();
            weights.push(weight);
        }
        let outer = product(features.as_ref(), features.transpose());
        let mut bound = rows.len() as f64 * self.total() / rate;
        for value in self.values.iter().map(|value| scale * value) {
            bound += value.ln_1p() - value / (1.0 + value);
        }
        let determinant = log_det_with_identity(&outer)? + rest;
        if !accepts(determinant - bound, random) {
            return Ok(None);
        }
        let of_size = log_of_size(&log_elementary_symmetric(&eigen(&outer)?.values, self.c), rest);
        if !accepts(of_size - determinant, random) {
            return Ok(None);
        }
        let mut matrix = kernel_matrix(&Sample { ground: self.ground, rows })?;
        for (b, column) in matrix.col_iter_mut().enumerate() {
            column
                .iter_mut()
                .zip(&weights)
                .for_each(|(entry, weight)| *entry *= (weight * weights[b]).sqrt());
        }
        let exact = ExactKDpp::from_eigen(eigen(&matrix)?);
        if exact.rank() < self.c {
            return Ok(None);
        }
        let sized = exact.with_size(self.c)?;
        if !accepts(sized.log_normaliser() - of_size, random) {
            return Ok(None);
        }
        let mut sample: Vec<usize> = sized.sample(random).into_iter().map(|member| rows[member]).collect();
        sample.sort_unstable();
        // A row that was drawn twice is in the sample twice by a rounding error alone.
        Ok(sample.is_sorted_by(|one, next| one < next).then_some(sample))
    }
}

impl Plan {
    /// Choose the plan of the lowest cost, for the eigenvalues of `K̃` and the trace of the rest.
    fn new(values: &[f64], rest: f64, c: usize) -> Self {
        let normaliser = log_of_size(&log_elementary_symmetric(values, c), rest);
        let m = values.len() as f64;
        let (largest, last) = (values[0], values[c - 1]);
        let steps = ((largest.ln() - last.ln() + 6.0) * 10.0) as usize;
        let mut best = Self { scale: 0.0, rate: 0.0, proposals: 0.0, cost: f64::INFINITY };
        for scale in (0..=steps).map(|step| (step as f64 / 10.0 - 3.0).exp() / largest) {
            let (mut trace, mut determinant) = (0.0, 0.0);
            for value in values.iter().map(|value| scale * value) {
                trace += value / (1.0 + value);
                determinant += value.ln_1p();
            }
            let total = trace + scale * rest;
            let log = c as f64 * scale.ln() + normaliser + trace - determinant;
            let mut rate = (total * total / 64.0).max(1.0);
            while rate < 4.0 * total * total + 2.0 {
                let rows = rows_of_proposal(c, total / rate);
                let of_rate = c as f64 * (1.0 - (rows / rate).ln() + total / rate);
                let proposals = (of_rate - log).max(0.0).exp();
                let cost = proposals * m * m * (rows + m) + 10.0 * rows.powi(3);
                if cost < best.cost {
                    best = Self { scale, rate, proposals, cost };
                }
                rate *= 1.15;
            }
        }
        best
    }
}

/// Return the mean number of rows of a proposal of the highest acceptance, at this ratio `s/q`.
fn rows_of_proposal(c: usize, ratio: f64) -> f64 {
    c as f64 / -(-ratio).exp_m1()
}

/// Return `log Σ_j e_(c-j) rest^j/j!`, from `log e_0, …, log e_c`.
fn log_of_size(logs: &[f64], rest: f64) -> f64 {
    let mut term = 0.0;
    let mut sum = f64::NEG_INFINITY;
    for (j, log) in logs.iter().rev().enumerate() {
        if j > 0 {
            term += rest.ln() - (j as f64).ln();
        }
        sum = log_sum(sum, log + term);
    }
    sum
}

/// Return `log det (I + A)`.
fn log_det_with_identity(matrix: &Mat<f64>) -> Result<f64, Error> {
    let order = matrix.nrows();
    let mut factored = matrix + Mat::<f64>::identity(order, order);
    factor(&mut factored).ok_or(Error(Cause::Eigenvalues))?;
    Ok((0..order).map(|k| 2.0 * factored[(k, k)].ln()).sum())
}

/// Whether to accept with a probability whose logarithm is given.
fn accepts<R: Rng + ?Sized>(log: f64, random: &mut R) -> bool {
    debug_assert!(log < 1e-6, "a ratio of {} exceeds one", log.exp());
    uniform(random) < log.exp()
}
