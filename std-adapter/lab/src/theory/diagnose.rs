//! The theory's bounds for prepared rows, beside measurements on exact samples and on chains.

use crate::rng::{Stream, stream};
use crate::spectrum::Norms;
use crate::statistics::{Interval, mean};
use crate::theory::{ChainRecord, bounds, chains, coalescence, contraction, risk};
use dpp_nystrom::Error;
use dpp_nystrom::approximation::{AnyGround, Gram, LandmarkSet};
use dpp_nystrom::core::{Error as CoreError, GroundSet, Landmarks, start};
use dpp_nystrom::data::Prepared;
use dpp_nystrom::faer::Mat;
use dpp_nystrom::kernel::{KernelSpec, Precision};
use dpp_nystrom::landmarks::ExactKDpp;
use dpp_nystrom::observer::{Observer, Silent, go_on};
use dpp_nystrom::{
    Ridge,
    regression::{FitParams, fit},
};
use dpp_nystrom_host::heap::Heap;
use rand::seq::index;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// Sampling effort, and the constants of the bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Exact samples of the c-DPP, at least 2; `N² c` each.
    pub samples: u64,
    /// Triples `(S, r, t)` drawn to bound α from below; `2N c²` each.
    pub triples: u64,
    /// Pairs of coupled chains.
    pub pairs: u64,
    /// Steps after which a pair that has not met is abandoned.
    pub pair_steps: u64,
    /// Chains of each kind, at least 4.
    pub chains: u64,
    /// Steps per chain.
    pub steps: u64,
    /// The corollaries hold with probability `1 - δ`.
    pub delta: f64,
    /// The total variation distance that counts as mixed.
    pub epsilon: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            samples: 10,
            triples: 100,
            pairs: 8,
            pair_steps: 100_000,
            chains: 4,
            steps: 20_000,
            delta: 0.05,
            epsilon: 0.01,
        }
    }
}

/// Lemma 1, Theorem 1 and Corollary 1 at one target rank `k`, each bound beside the quantity it bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TargetRank {
    /// The target rank, from 1 to `c`.
    pub k: usize,
    /// Lemma 1's bound on `e_{c+1}/e_c`.
    pub lemma_1: f64,
    /// Theorem 1's bound on the mean of `‖K - K̃‖_F / ‖K - K_k‖_F`.
    pub frobenius_bound: f64,
    /// The mean of that ratio over the exact samples.
    pub frobenius: Interval,
    /// Corollary 1's bound, which holds for a fraction `1 - δ` of all samples.
    pub frobenius_corollary: f64,
    /// `‖K‖_F / ‖K - K_k‖_F`, the trivial bound for every sample.
    pub frobenius_trivial: f64,
    /// Theorem 1's bound in the spectral norm.
    pub spectral_bound: f64,
    /// The mean of `‖K - K̃‖_2 / ‖K - K_k‖_2` over the exact samples.
    pub spectral: Interval,
    /// Corollary 1's bound in the spectral norm.
    pub spectral_corollary: f64,
    /// `‖K‖_2 / ‖K - K_k‖_2`, the trivial bound.
    pub spectral_trivial: f64,
}

/// Theorem 2 and its corollary. The true function is unknown: the fit of ridge regression on all rows stands
/// in for `z`, and its residuals for the noise: their sum of squares over the degrees of freedom that the fit
/// leaves, `tr (I - H)²` with `H = K (K + Nγ I)⁻¹` (Hastie, Tibshirani and Friedman 2009, 5.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Regression {
    /// The regularisation γ (the ridge).
    pub ridge: f64,
    /// The noise variance, in units of the target's variance.
    pub noise: f64,
    /// The degrees of freedom of the residuals.
    pub residual_freedom: f64,
    /// The bias with `K`.
    pub bias: f64,
    /// The variance with `K`.
    pub variance: f64,
    /// The bias with `K̃`, over the exact samples.
    pub nystrom_bias: Interval,
    /// The variance with `K̃`, over the exact samples.
    pub nystrom_variance: Interval,
    /// `√(R(ẑ_K̃)/R(ẑ_K))` over the exact samples.
    pub root_ratio: Interval,
    /// Theorem 2's bound on the mean of that ratio.
    pub bound: f64,
    /// Corollary 2's bound on `√(bias(K̃)/bias(K))`, which holds for a fraction `1 - δ` of all samples.
    pub corollary: f64,
    /// `1 + tr K/(Nγ)`, the trivial bound for every sample.
    pub trivial: f64,
}

/// Theorem 3, and the unconditional mixing time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Contraction {
    /// The largest `α(S, r, t)` found.
    pub alpha: f64,
    /// Whether `alpha` is exact, by enumeration; otherwise it is a lower bound and certifies nothing.
    pub alpha_is_exact: bool,
    /// The mean of the `α(S, r, t)` drawn; none if enumerated.
    pub alpha_mean: Option<f64>,
    /// Number of non-singular `(S, r, t)` drawn; 0 if enumerated.
    pub triples: u64,
    /// `β = 1 - (1 - α)/(2c(N - c))` at that α.
    pub step_factor: f64,
    /// Theorem 3's bound on the mixing time, in steps, at that α; if α is not exact, a lower bound on the
    /// bound; none if α is at least 1.
    pub theorem_3: Option<f64>,
    /// The unconditional bound, in steps, from one uniformly drawn start.
    pub unconditional: f64,
    /// `log 1/π` of that start.
    pub surprise: f64,
}

/// Theorem 3's coupling, from two uniform starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Meeting {
    /// Number of pairs of chains.
    pub pairs: u64,
    /// Number of pairs that met.
    pub met: u64,
    /// Steps after which the remaining pairs were abandoned.
    pub limit: u64,
    /// The steps of the pairs that met, ascending.
    pub times: Vec<u64>,
    /// The median over all pairs; none if half or more did not meet.
    pub median: Option<u64>,
}

/// The complete diagnosis for one number of landmarks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The data set's name.
    pub dataset: String,
    /// Rows `N`.
    pub rows: usize,
    /// Landmarks `c`.
    pub landmarks: usize,
    /// The bandwidth σ (lengthscale).
    pub sigma: f64,
    /// The seed.
    pub seed: u64,
    /// The numerical rank: eigenvalues above `N ε λ_1`.
    pub rank: usize,
    /// The numbers of largest eigenvalues that have .9, .99 and .999 of the trace.
    pub trace_ranks: [usize; 3],
    /// `log e_c`.
    pub log_e_c: f64,
    /// `log e_{c+1}`; none if `e_{c+1}` is zero.
    pub log_e_next: Option<f64>,
    /// `(c + 1) e_{c+1}/e_c`: the exact expected trace error.
    pub expected_trace_error: f64,
    /// The expected trace error over `tr K`.
    pub expected_trace_fraction: f64,
    /// The least trace error of rank `c`, `tr (K - K_c)`, over `tr K`.
    pub least_trace_fraction: f64,
    /// The trace error over `tr K` of rows drawn uniformly: as many sets as exact samples, but for singular
    /// ones.
    pub uniform_trace_fraction: Interval,
    /// Number of exact samples.
    pub samples: u64,
    /// The trace error over the exact samples.
    pub trace_error: Interval,
    /// The log-determinant over the exact samples.
    pub log_det: Interval,
    /// `δ` of the corollaries.
    pub delta: f64,
    /// Whether the corollaries are weaker than the trivial bounds: `8 c log 1/δ >= 1`.
    pub corollaries_vacuous: bool,
    /// Lemma 1, Theorem 1 and Corollary 1 for each `k` below the rank.
    pub target_ranks: Vec<TargetRank>,
    /// Theorem 2; none without a target.
    pub regression: Option<Regression>,
    /// `ε` of the mixing times.
    pub epsilon: f64,
    /// Theorem 3; none if there is nothing to swap, or every `(S, r, t)` drawn was singular.
    pub contraction: Option<Contraction>,
    /// The coupling.
    pub meeting: Meeting,
    /// Algorithm 1 and the slot chain.
    pub chains: Vec<ChainRecord>,
}

/// One eigendecomposition of the kernel matrix, used for any number of landmarks. `O(N³)` once, `2N²` values
/// stored (`5N²` during the decomposition).
#[derive(Debug)]
pub struct Diagnostics<'a> {
    data: &'a Prepared,
    gram: Gram<'a>,
    kernel: KernelSpec,
    precision: Precision,
    seed: u64,
    matrix: Arc<Mat<f64>>,
    exact: ExactKDpp,
}

/// The kernel matrix as a ground set.
struct Stored<'a>(&'a Mat<f64>);

impl GroundSet<f64> for Stored<'_> {
    fn len(&self) -> usize {
        self.0.nrows()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.0[(i, j)]
    }
}

/// Measurements on the exact samples.
#[derive(Default)]
struct Measured {
    samples: Vec<Vec<usize>>,
    traces: Vec<f64>,
    log_dets: Vec<f64>,
    norms: Vec<Norms>,
}

impl<'a> Diagnostics<'a> {
    /// Decompose the kernel matrix of the prepared rows, in `f64`; `precision` is that of a cross-validated
    /// ridge.
    ///
    /// # Errors
    /// Those of [`ExactKDpp::new`], and `ErrorKind::Argument`.
    pub fn new(
        data: &'a Prepared,
        kernel: KernelSpec,
        precision: Precision,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        ExactKDpp::check_rows(data.len())?;
        let gram = Gram::new(data, kernel)?;
        observer.begin("eigenvectors", 1);
        let matrix = Arc::clone(gram.matrix()?);
        go_on(observer)?;
        let exact = ExactKDpp::from_eigen(Arc::clone(gram.eigen()?));
        observer.end();
        Ok(Self { data, gram, kernel, precision, seed, matrix, exact })
    }

    /// Check that a c-DPP of this size exists.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks` if `c` is zero or exceeds the rank.
    pub fn check(&self, c: usize) -> Result<(), Error> {
        self.exact.with_size(c).map(drop)
    }

    /// Compute the complete diagnosis for `c` landmarks. `ridge` is cross-validated on the landmarks of the
    /// first exact sample and used for Theorem 2.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks` if `c` is zero or exceeds the rank; those of
    /// [`fit`](dpp_nystrom::regression::fit()); `ErrorKind::Cancelled`.
    pub fn of(
        &self,
        c: usize,
        ridge: Ridge,
        effort: &Effort,
        observer: &dyn Observer,
    ) -> Result<Diagnosis, Error> {
        let measured = self.measure(c, effort.samples.max(2), observer)?;
        let log_e = |c| self.exact.with_size(c).map(|sized| sized.log_normaliser());
        let log_e_c = log_e(c)?;
        let expected_trace_error = self.exact.expected_trace_error(c).unwrap_or(0.0);
        let trace = self.trace();
        let regression = || self.regression(c, ridge, effort, expected_trace_error, &measured, observer);
        let regression = self.data.target().ok().map(|_| regression()).transpose()?;
        let contraction = self.contraction(c, effort, log_e_c, observer)?;
        let meeting = self.meeting(c, effort, observer)?;
        let target_ranks = self.target_ranks(c, effort.delta, &measured);
        observer.begin("chains", 1);
        let (chains, steps, seed) = (effort.chains.max(4), effort.steps, self.seed);
        let chains = chains::record(self.gram.ground(), c, chains, steps, seed, observer)?.to_vec();
        observer.end();
        Ok(Diagnosis {
            dataset: self.data.name().to_owned(),
            rows: self.data.len(),
            landmarks: c,
            sigma: self.kernel.sigma,
            seed,
            rank: self.exact.rank(),
            trace_ranks: [0.9, 0.99, 0.999].map(|share| self.eigenvalues_with(share)),
            log_e_c,
            log_e_next: log_e(c + 1).ok(),
            expected_trace_error,
            expected_trace_fraction: expected_trace_error / trace,
            least_trace_fraction: self.least_trace_fraction(c),
            uniform_trace_fraction: self.uniform_trace_fraction(c, measured.samples.len() as u64),
            samples: measured.samples.len() as u64,
            trace_error: Interval::of(measured.traces),
            log_det: Interval::of(measured.log_dets),
            delta: effort.delta,
            corollaries_vacuous: bounds::is_vacuous(c, effort.delta),
            target_ranks,
            regression,
            epsilon: effort.epsilon,
            contraction,
            meeting,
            chains,
        })
    }

    /// Return the number of largest eigenvalues that have this share of the trace.
    fn eigenvalues_with(&self, share: f64) -> usize {
        (0..self.data.len()).find(|&c| self.least_trace_fraction(c) <= 1.0 - share).unwrap_or(self.data.len())
    }

    /// Return the share of the trace in all but the `c` largest eigenvalues.
    fn least_trace_fraction(&self, c: usize) -> f64 {
        let values = self.exact.eigenvalues();
        let sum = |values: &[f64]| -> f64 { values.iter().rev().sum() };
        sum(&values[c.min(values.len())..]) / sum(values)
    }

    /// Return the share of the trace that uniform sets of `c` rows leave, over those that are not singular.
    fn uniform_trace_fraction(&self, c: usize, sets: u64) -> Interval {
        let (rows, trace) = (self.data.len(), self.trace());
        Interval::of((0..sets).filter_map(|set| {
            let mut random = stream(self.seed.wrapping_add(set), Stream::Landmarks);
            let drawn = LandmarkSet::Indices(index::sample(&mut random, rows, c).into_vec());
            Some(self.gram.trace_error(&drawn).ok()?.error / trace)
        }))
    }

    fn trace(&self) -> f64 {
        (0..self.matrix.nrows()).map(|i| self.matrix[(i, i)]).sum()
    }

    fn measure(&self, c: usize, samples: u64, observer: &dyn Observer) -> Result<Measured, Error> {
        let sized = self.exact.with_size(c)?;
        let mut measured = Measured::default();
        observer.begin("samples", samples);
        for sample in 0..samples {
            go_on(observer)?;
            let mut random = stream(self.seed.wrapping_add(sample), Stream::Exact);
            let landmarks = sized.sample(&mut random);
            measured.log_dets.push(self.log_det(c, |set| start::given(set, &landmarks))?);
            let set = LandmarkSet::Indices(landmarks.clone());
            measured.traces.push(self.gram.trace_error(&set)?.error);
            measured.norms.push(Norms::of_residual(&self.matrix, &self.gram.features(&set)?)?);
            measured.samples.push(landmarks);
            observer.advance(1);
        }
        observer.end();
        Ok(measured)
    }

    fn target_ranks(&self, c: usize, delta: f64, measured: &Measured) -> Vec<TargetRank> {
        let values = self.exact.eigenvalues();
        // At the rank and above, `K_k` is `K` up to rounding.
        (1..=c.min(self.exact.rank() - 1))
            .map(|k| {
                let bound = bounds::theorem_1(values.len(), c, k);
                let corollary = bounds::corollary_1(values, c, k, delta);
                let trivial = bounds::corollary_1_trivial(values, k);
                let best = Norms::best(values, k);
                let relative = |of: fn(Norms) -> f64| {
                    Interval::of(measured.norms.iter().map(|norms| of(norms.relative_to(best))))
                };
                TargetRank {
                    k,
                    lemma_1: bounds::lemma_1(values, c, k),
                    frobenius_bound: bound.frobenius,
                    frobenius: relative(|norms| norms.frobenius),
                    frobenius_corollary: corollary.frobenius,
                    frobenius_trivial: trivial.frobenius,
                    spectral_bound: bound.spectral,
                    spectral: relative(|norms| norms.spectral),
                    spectral_corollary: corollary.spectral,
                    spectral_trivial: trivial.spectral,
                }
            })
            .collect()
    }

    fn regression(
        &self,
        c: usize,
        ridge: Ridge,
        effort: &Effort,
        expected_trace_error: f64,
        measured: &Measured,
        observer: &dyn Observer,
    ) -> Result<Regression, Error> {
        let target = self.data.single("a diagnosis")?;
        let ridge = match ridge {
            Ridge::Value(ridge) => ridge,
            _ => {
                let landmarks = LandmarkSet::Indices(measured.samples[0].clone());
                let Self { kernel, precision, seed, .. } = *self;
                let params = FitParams { kernel, ridge, precision, seed };
                fit(self.data, &landmarks, params, None, &Silent(observer))?.model.ridge
            }
        };
        let eigen = self.gram.eigen()?;
        let signal = risk::fitted(eigen, &target.values, ridge);
        let left: f64 = target.values.iter().zip(&signal).map(|(y, z)| (y - z).powi(2)).sum();
        let residual_freedom = risk::residual_freedom(eigen, ridge);
        let noise = risk::Noise { signal: &signal, variance: left / residual_freedom, ridge };
        let exact = risk::exact(eigen, noise);
        let mut risks = Vec::new();
        observer.begin("risks", measured.samples.len() as u64);
        for landmarks in &measured.samples {
            go_on(observer)?;
            risks.push(risk::nystrom(self.gram.ground(), landmarks, noise)?);
            observer.advance(1);
        }
        observer.end();
        let (rows, trace) = (self.data.len(), self.trace());
        Ok(Regression {
            ridge,
            noise: noise.variance,
            residual_freedom,
            bias: exact.bias,
            variance: exact.variance,
            nystrom_bias: Interval::of(risks.iter().map(|risk| risk.bias)),
            nystrom_variance: Interval::of(risks.iter().map(|risk| risk.variance)),
            root_ratio: Interval::of(risks.iter().map(|risk| (risk.total() / exact.total()).sqrt())),
            bound: risk::theorem_2(expected_trace_error, rows, ridge),
            corollary: risk::corollary_2(expected_trace_error, trace, rows, ridge, c, effort.delta),
            trivial: risk::corollary_2_trivial(trace, rows, ridge),
        })
    }

    fn contraction(
        &self,
        c: usize,
        effort: &Effort,
        log_e_c: f64,
        observer: &dyn Observer,
    ) -> Result<Option<Contraction>, Error> {
        let rows = self.data.len();
        if c == rows {
            return Ok(None);
        }
        let stored = Stored(&self.matrix);
        let alpha_is_exact = rows <= contraction::ENUMERATED_ROWS;
        let drawn = if alpha_is_exact {
            contraction::enumerated(&stored, c)?.into_iter().collect()
        } else {
            self.drawn_alphas(&stored, c, effort.triples, observer)?
        };
        if drawn.is_empty() {
            return Ok(None);
        }
        let alpha = drawn.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let surprise = log_e_c - self.uniform_log_det(c)?;
        Ok(Some(Contraction {
            alpha,
            alpha_is_exact,
            alpha_mean: mean(drawn.iter().copied()).filter(|_| !alpha_is_exact),
            triples: if alpha_is_exact { 0 } else { drawn.len() as u64 },
            step_factor: contraction::step_factor(alpha, rows, c),
            theorem_3: contraction::theorem_3(alpha, rows, c, effort.epsilon),
            unconditional: contraction::unconditional(surprise, rows, c, effort.epsilon),
            surprise,
        }))
    }

    fn drawn_alphas(
        &self,
        stored: &Stored<'_>,
        c: usize,
        triples: u64,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>, Error> {
        observer.begin("alpha", triples);
        let drawn: Vec<Option<f64>> = (0..triples)
            .into_par_iter()
            .map(|triple| {
                go_on(observer)?;
                let mut random = stream(self.seed.wrapping_add(triple), Stream::Triples);
                let rows = index::sample(&mut random, stored.len(), c + 1).into_vec();
                let alpha = contraction::contraction(stored, &rows[..c - 1], rows[c - 1], rows[c]);
                observer.advance(1);
                alpha
            })
            .collect::<Result<_, Error>>()?;
        observer.end();
        Ok(drawn.into_iter().flatten().collect())
    }

    /// Return `log det K_CC` of the first chain's start.
    fn uniform_log_det(&self, c: usize) -> Result<f64, Error> {
        let mut random = stream(self.seed, Stream::Chains);
        self.log_det(c, |set| start::uniform(set, c, &mut random))
    }

    /// Return `log det K_CC` of the `c` landmarks with which `first` fills a set.
    fn log_det(
        &self,
        c: usize,
        first: impl FnOnce(&mut Landmarks<'_, f64, AnyGround<'_>>) -> Result<(), CoreError>,
    ) -> Result<f64, Error> {
        let mut memory = Heap::new(c)?;
        let mut landmarks = Landmarks::new(self.gram.ground(), memory.lend()).map_err(Error::landmarks)?;
        first(&mut landmarks).map_err(Error::landmarks)?;
        Ok(landmarks.log_det())
    }

    fn meeting(&self, c: usize, effort: &Effort, observer: &dyn Observer) -> Result<Meeting, Error> {
        go_on(observer)?;
        observer.begin("coupling", 1);
        let stored = Stored(&self.matrix);
        let (pairs, limit) = (effort.pairs, effort.pair_steps);
        let found = coalescence::coalescence_times(&stored, c, pairs, limit, self.seed)?;
        observer.end();
        let mut times: Vec<u64> = found.into_iter().flatten().collect();
        times.sort_unstable();
        // The upper median: pairs that did not meet count as the longest.
        let median = times.get(pairs as usize / 2).copied();
        Ok(Meeting { pairs, met: times.len() as u64, limit, times, median })
    }
}
