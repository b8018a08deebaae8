//! Ridge regression on many landmarks by preconditioned conjugate gradients.
//!
//! The kernel weights α minimise `‖y - Kα‖² + Nγ αᵀ(K_CC + δI)α` for the kernel K of N rows with c
//! landmarks. The sums of all rows take `N c²` operations, and `c²` numbers a fold. A step of conjugate
//! gradients takes `N c` kernel values, evaluated anew each time, and `4Nc` operations for each target,
//! with two matrices of `c²` numbers for all of them.
//!
//! With `K_CC + δI = LLᵀ` the rows have the features `Φ = K L⁻ᵀ`, and a sample S of the rows stands for all
//! of them in the preconditioner: `AAᵀ = (N/s) Φ_Sᵀ Φ_S + NγI`. The equations of `β = AᵀLᵀα` have the
//! matrix
//!
//! ```text
//! A⁻¹ (ΦᵀΦ + NγI) A⁻ᵀ.
//! ```
//!
//! Its eigenvalues would lie between 4/9 and 4 for features that are Gaussian, whatever the ridge, for a
//! sample of four rows a landmark: some ten steps. Díaz, Epperly, Frangella, Tropp and Webber (2023, KRILL)
//! take a sketch of all rows in place of a sample, and Rudi, Carratino and Rosasco (2017, FALKON) the
//! landmarks, whose number does not suffice for small ridges. δ is what rounding adds to the entries of
//! `K_CC`, so that no landmark is dependent. Kernel values and products are in the precision of the rows,
//! and everything that is summed over rows in `f64`.
//!
//! The ridge has the least error on a fold that is left out of the weights: those of each ridge begin at
//! the weights of the one before. The search begins at the ridge of a few of the landmarks, and goes by
//! powers of ten as long as the error falls.

use crate::error::{Cause, Error};
use crate::linalg::{dot, eigen::PARTS, triangle::factor_on, triangle::zero_matrix};
use crate::observer::{Observer, go_on};
use crate::regression::{
    checkpoint::Rounds, head::Head, ridge::Candidates, rows::folds::FOLDS, rows::input::Input,
    solve::parts::Asked, solve::parts::LARGE, solve::solution::Quality, solve::solution::Regression,
    solve::solution::WithoutFold,
};
use dpp_nystrom_core::{Error as CoreError, GroundSet, Points, TRIES};
use dpp_nystrom_host::heap::zeros;
use dpp_nystrom_host::simd::lane::{Ground, InLanes, Lane, set_row};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::traits::RealField;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use pulp::Arch;
use rayon::prelude::*;

/// Rows for each landmark, at least: of fewer the sums take no longer.
const ROWS: usize = 8;

/// A step that lowers the objective by less than this share of it is the last one: of the weights of a model,
/// and of those that ridges are compared by; and the most steps.
const DECREASE: f64 = 1e-6;
const DECREASE_OF_CHOICE: f64 = 1e-5;
const STEPS: usize = 200;

/// Landmarks by whose ridge the search begins, and the places in the grid from one ridge to the next.
const FEW: usize = 256;
const STRIDE: usize = 2;

/// Kernel values of a block of rows, and parts of the rows that are summed on their own.
const VALUES: usize = 1 << 19;
const SUMS: usize = 32;

/// Rows of the preconditioner's sample for each landmark, and how many are evaluated at a time.
const SAMPLE: usize = 4;
const ROWS_OF_SAMPLE: usize = 32 * TRIES;

/// How often δ may be multiplied by ten until the factor exists.
const TRIALS: usize = 8;

/// Whether weights are to be found by steps: of many landmarks and more rows. What needs the sums of all rows
/// keeps them: classes, leaving out each row, and checkpoints.
pub(crate) fn pays(
    landmarks: usize,
    rows: usize,
    ridges: &Candidates,
    head: Head,
    rounds: &Rounds<'_>,
) -> bool {
    landmarks > LARGE
        && rows / ROWS >= landmarks
        && head == Head::Values
        && !matches!(ridges, Candidates::BestLeaveOneOut(_))
        && !rounds.is_kept()
}

/// Return some of the landmarks: their ridge is the one that a search begins at.
pub(crate) fn few<T: Lane>(input: &Input<'_, T>) -> Vec<T> {
    let count = input.landmarks.len() / input.dim;
    let few = FEW.min(count);
    let of = |at: usize| at * count / few * input.dim..(at * count / few + 1) * input.dim;
    (0..few).flat_map(|at| &input.landmarks[of(at)]).copied().collect()
}

/// Fit weights to the rows, and others without each of the folds that are left out, which have no part in the
/// choice of the ridge either. The search for it begins at `begin`.
///
/// # Errors
/// `ErrorKind::Landmarks`, `ErrorKind::Regression`, `ErrorKind::Memory`, `ErrorKind::Cancelled`.
pub(crate) fn iterate<T: Lane + RealField>(
    input: Input<'_, T>,
    ridges: &Candidates,
    begin: f64,
    asked: Asked<'_>,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let problem = Problem::new(input, asked.seed)?;
    let outputs = input.targets.outputs();
    let mut preconditioner = Preconditioner::new(&problem, observer)?;
    let left_out: u16 = asked.left_out.iter().map(|&fold| 1 << fold).sum();
    let (ridge, choice) = match ridges {
        Candidates::One(ridge) => (*ridge, None),
        Candidates::BestOf(grid) | Candidates::BestLeaveOneOut(grid) => {
            let choice = problem.choose((grid, begin), left_out, &mut preconditioner, observer)?;
            (choice.ridge, Some(choice))
        }
    };
    let without = asked.left_out.iter().map(|&fold| 1 << fold);
    let columns: Vec<Column> =
        [0].into_iter().chain(without).flat_map(|left_out| Column::all(outputs, left_out)).collect();
    let mut weights = Mat::zeros(problem.landmarks.len(), columns.len());
    if let Some(choice) = &choice {
        for at in 0..columns.len() {
            weights.col_as_slice_mut(at).copy_from_slice(choice.weights.col_as_slice(at % outputs));
        }
    }
    preconditioner.set(ridge, problem.number(0))?;
    problem.solve(&columns, (ridge, DECREASE), &preconditioner, &mut weights, observer)?;
    let residuals = problem.residuals(&columns, &weights, false, observer)?;
    let numbers = input.targets.rows() as f64 * outputs as f64;
    let squares: f64 = residuals.squares[..outputs].iter().sum();
    let of = |first: usize| {
        let own = (first..first + outputs).flat_map(|at| weights.col_as_slice(at));
        own.map(|&weight| T::from_f64(weight)).collect::<Vec<T>>()
    };
    let without = asked.left_out.iter().enumerate();
    let without = without.map(|(at, &fold)| WithoutFold { fold, ridge, weights: of((at + 1) * outputs) });
    Ok(Regression {
        kept: (0..problem.landmarks.len()).collect(),
        weights: of(0),
        quality: Quality {
            ridge,
            train_error: (squares / numbers).sqrt(),
            validation_error: choice.as_ref().map(|choice| choice.error),
            one_fold: choice.is_some(),
            scores: choice.map_or(Vec::new(), |choice| {
                choice.scores.into_iter().map(|(ridge, error)| (ridge, error.powi(2) * numbers)).collect()
            }),
        },
        confidence: None,
        held_out: None,
        without: without.collect(),
    })
}

/// A target, and the folds that have no part in its weights, a bit each.
#[derive(Clone, Copy, Debug)]
struct Column {
    output: usize,
    left_out: u16,
}

impl Column {
    fn all(outputs: usize, left_out: u16) -> impl Iterator<Item = Self> {
        (0..outputs).map(move |output| Self { output, left_out })
    }
}

/// What a row adds to the sums of a column, given the value that the weights predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Add {
    /// The value.
    Value,
    /// What is left of its target.
    Residual,
}

/// `Kᵀr` for each column, and the squares of `r`, over the rows that have a part in it.
struct Sums {
    products: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn new(landmarks: usize, columns: usize) -> Self {
        Self { products: vec![0.0; landmarks * columns], squares: vec![0.0; columns] }
    }

    fn add(mut self, other: &Self) -> Self {
        let slots = [&mut self.products, &mut self.squares];
        for (slots, values) in slots.into_iter().zip([&other.products, &other.squares]) {
            slots.iter_mut().zip(values).for_each(|(slot, value)| *slot += value);
        }
        self
    }
}

/// A ridge that was chosen, with the weights that it gave.
struct Choice {
    ridge: f64,
    error: f64,
    scores: Vec<(f64, f64)>,
    weights: Mat<f64>,
}

/// Rows with targets, their folds, and landmarks.
struct Problem<'a, T: Lane> {
    input: Input<'a, T>,
    landmarks: Ground<'a, T>,
    members: Vec<usize>,
    folds: Vec<u8>,
    /// The sum of the weights of the rows of each fold.
    sizes: [f64; FOLDS],
    arch: Arch,
}

impl<'a, T: Lane + RealField> Problem<'a, T> {
    fn new(input: Input<'a, T>, seed: u64) -> Result<Self, Error> {
        let landmarks = Points::new(input.landmarks, input.dim, input.kernel).map_err(Error::landmarks)?;
        let folds: Vec<u8> = input.deal.folds(input.targets.rows(), seed).collect();
        let mut sizes = [0.0; FOLDS];
        folds.iter().enumerate().for_each(|(row, &fold)| sizes[usize::from(fold)] += input.weights.at(row));
        let members = (0..landmarks.len()).collect();
        Ok(Self { input, landmarks, members, folds, sizes, arch: Arch::new() })
    }

    /// Return the number of rows that are not in these folds, by their weights.
    fn number(&self, left_out: u16) -> f64 {
        (0..FOLDS).filter(|fold| left_out >> fold & 1 == 0).map(|fold| self.sizes[fold]).sum()
    }

    /// Evaluate the kernel of `count` rows in lanes with the landmarks: a column for each of these.
    fn evaluate(&self, lanes: &[T], count: usize, matrix: MatMut<'_, f64>) -> Result<(), Error> {
        let columns = matrix.par_col_chunks_mut(TRIES).zip(self.members.par_chunks(TRIES));
        columns.try_for_each(|(mut columns, rows)| {
            let mut entries = zeros(rows.len() * count, T::ZERO)?;
            self.landmarks.runs(self.arch, rows, count, lanes, &mut entries);
            for (column, entries) in columns.as_mut().col_iter_mut().zip(entries.chunks_exact(count)) {
                column.iter_mut().zip(entries).for_each(|(slot, entry)| *slot = entry.to_f64());
            }
            Ok(())
        })
    }

    /// Choose the ridge by the error on a fold that is not among `left_out`.
    fn choose(
        &self,
        (grid, begin): (&[f64], f64),
        left_out: u16,
        preconditioner: &mut Preconditioner,
        observer: &dyn Observer,
    ) -> Result<Choice, Error> {
        debug_assert!(grid.is_sorted(), "ridges are in ascending order");
        let rows = self.input.targets.rows();
        let is_free = |fold: &usize| left_out >> fold & 1 == 0 && self.sizes[*fold] > 0.0;
        let judge = (0..FOLDS).find(is_free).ok_or(Error(Cause::Folds { rows }))?;
        let outputs = self.input.targets.outputs();
        let columns: Vec<Column> = Column::all(outputs, left_out | 1 << judge).collect();
        let judges: Vec<Column> = Column::all(outputs, !(1 << judge)).collect();
        let mut weights = Mat::zeros(self.landmarks.len(), outputs);
        let mut tried: Vec<(usize, f64)> = Vec::new();
        let mut best: Option<(usize, f64, Mat<f64>)> = None;
        let first = grid.iter().position(|&value| value >= begin).unwrap_or(grid.len() - 1);
        let mut try_at = |at: usize| {
            preconditioner.set(grid[at], self.number(0))?;
            let ridge = (grid[at], DECREASE_OF_CHOICE);
            match self.solve(&columns, ridge, preconditioner, &mut weights, observer) {
                // A ridge before it was solved for.
                Err(Error(Cause::Unsettled { .. })) if best.is_some() => return Ok(false),
                solved => solved?,
            }
            let squares = self.residuals(&judges, &weights, false, observer)?.squares;
            let numbers = self.sizes[judge] * outputs as f64;
            let error = (squares.iter().sum::<f64>() / numbers).sqrt();
            tried.push((at, error));
            let is_better = best.as_ref().is_none_or(|best| error < best.1);
            if is_better {
                best = Some((at, error, weights.clone()));
            }
            Ok::<bool, Error>(is_better)
        };
        try_at(first)?;
        let down = (0..first).rev().skip(STRIDE - 1).step_by(STRIDE);
        let up = (first + STRIDE..grid.len()).step_by(STRIDE);
        let mut fell = false;
        for at in down {
            if !try_at(at)? {
                break;
            }
            fell = true;
        }
        for at in up.take_while(|_| !fell) {
            if !try_at(at)? {
                break;
            }
        }
        let (at, error, weights) = best.ok_or(Error(Cause::Folds { rows }))?;
        tried.sort_by_key(|&(at, _)| at);
        let scores = tried.into_iter().map(|(at, error)| (grid[at], error)).collect();
        Ok(Choice { ridge: grid[at], error, scores, weights })
    }

    /// Move the weights of each column to those of this ridge, for which the preconditioner is set, until a
    /// step lowers the objective by less than a share of it.
    fn solve(
        &self,
        columns: &[Column],
        (ridge, least): (f64, f64),
        preconditioner: &Preconditioner,
        weights: &mut Mat<f64>,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        observer.begin(&format!("conjugate gradients, ridge {ridge:.1e}"), 0);
        let penalties: Vec<f64> = columns.iter().map(|column| ridge * self.number(column.left_out)).collect();
        let begun = self.residuals(columns, weights, true, observer)?;
        // Lᵀα, and the gradient.
        let mut penalised = weights.clone();
        preconditioner.multiply_transposed(&mut penalised);
        let mut residuals = self.matrix(&begun.products);
        preconditioner.solve_landmarks(&mut residuals);
        let mut objectives = begun.squares;
        for (at, penalty) in penalties.iter().enumerate() {
            let own = penalised.col_as_slice(at);
            objectives[at] += penalty * dot(own, own);
            let slots = residuals.col_as_slice_mut(at).iter_mut().zip(own);
            slots.for_each(|(slot, value)| *slot -= penalty * value);
        }
        preconditioner.solve_ridge(&mut residuals);
        let mut directions = residuals.clone();
        let mut squares: Vec<f64> = residuals.col_iter().map(|column| column.squared_norm_l2()).collect();
        let mut open: Vec<bool> = squares.iter().map(|&square| square > 0.0).collect();
        for _ in 0..STEPS {
            if !open.contains(&true) {
                break;
            }
            let mut features = directions.clone();
            preconditioner.solve_ridge_transposed(&mut features);
            let mut moves = features.clone();
            preconditioner.solve_landmarks_transposed(&mut moves);
            let sums = self.pass(columns, &moves, (Add::Value, true), observer)?;
            let mut images = self.matrix(&sums.products);
            preconditioner.solve_landmarks(&mut images);
            for (at, penalty) in penalties.iter().enumerate() {
                let slots = images.col_as_slice_mut(at).iter_mut().zip(features.col_as_slice(at));
                slots.for_each(|(slot, value)| *slot += penalty * value);
            }
            preconditioner.solve_ridge(&mut images);
            for at in (0..columns.len()).filter(|&at| open[at]).collect::<Vec<_>>() {
                let direction = directions.col_as_slice_mut(at);
                let image = images.col_as_slice(at);
                let step = squares[at] / dot(direction, image);
                let decrease = step * squares[at];
                let slots = weights.col_as_slice_mut(at).iter_mut().zip(moves.col_as_slice(at));
                slots.for_each(|(slot, change)| *slot += step * change);
                let residual = residuals.col_as_slice_mut(at);
                residual.iter_mut().zip(image).for_each(|(slot, change)| *slot -= step * change);
                let next = dot(residual, residual);
                let share = next / squares[at];
                direction.iter_mut().zip(&*residual).for_each(|(slot, own)| *slot = own + share * *slot);
                squares[at] = next;
                objectives[at] -= decrease;
                // False for NaN, which the model's numbers then hold.
                open[at] = decrease > least * objectives[at] && next > 0.0;
            }
        }
        observer.end();
        if open.contains(&true) {
            return Err(Error(Cause::Unsettled { ridge, steps: STEPS }));
        }
        Ok(())
    }

    /// Return the sums of what the weights leave of the targets; their products if they are asked for.
    fn residuals(
        &self,
        columns: &[Column],
        weights: &Mat<f64>,
        products: bool,
        observer: &dyn Observer,
    ) -> Result<Sums, Error> {
        self.pass(columns, weights, (Add::Residual, products), observer)
    }

    fn matrix(&self, columns: &[f64]) -> Mat<f64> {
        let rows = self.landmarks.len();
        MatRef::from_column_major_slice(columns, rows, columns.len() / rows).to_owned()
    }

    /// Read all rows once. The order of sums does not depend on the number of threads.
    fn pass(
        &self,
        columns: &[Column],
        weights: &Mat<f64>,
        add: (Add, bool),
        observer: &dyn Observer,
    ) -> Result<Sums, Error> {
        let (rows, count) = (self.input.targets.rows(), self.landmarks.len());
        let weights = Mat::from_fn(count, columns.len(), |i, j| T::from_f64(weights[(i, j)]));
        let of_part = |part: usize| {
            let range = part * rows / SUMS..(part + 1) * rows / SUMS;
            let mut block = Block::new(self, columns, &weights, add)?;
            let mut sums = Sums::new(count, columns.len());
            for first in range.clone().step_by(block.room) {
                go_on(observer)?;
                let next = range.end.min(first + block.room);
                block.add(first..next, &mut sums);
                observer.advance((next - first) as u64);
            }
            Ok::<Sums, Error>(sums)
        };
        let parts = (0..SUMS).into_par_iter().map(of_part).collect::<Result<Vec<_>, _>>()?;
        Ok(parts.iter().fold(Sums::new(count, columns.len()), Sums::add))
    }
}

/// Rows whose kernel values with all landmarks are held at a time.
struct Block<'p, 'a, T: Lane> {
    problem: &'p Problem<'a, T>,
    columns: &'p [Column],
    weights: &'p Mat<T>,
    add: Add,
    products: bool,
    room: usize,
    /// The rows in lanes.
    values: Vec<T>,
    /// Their kernel values, those of a landmark after those of another.
    entries: Vec<T>,
    outputs: Mat<T>,
    sums: Mat<T>,
}

impl<'p, 'a, T: Lane + RealField> Block<'p, 'a, T> {
    fn new(
        problem: &'p Problem<'a, T>,
        columns: &'p [Column],
        weights: &'p Mat<T>,
        (add, products): (Add, bool),
    ) -> Result<Self, Error> {
        let count = problem.landmarks.len();
        let room = (VALUES / count).next_multiple_of(TRIES).clamp(TRIES, 32 * TRIES);
        Ok(Self {
            problem,
            columns,
            weights,
            add,
            products,
            room,
            values: zeros(room * problem.input.dim, T::ZERO)?,
            entries: zeros(room * count, T::ZERO)?,
            outputs: Mat::zeros(room, columns.len()),
            sums: Mat::zeros(count, columns.len()),
        })
    }

    /// Add these rows to the sums.
    fn add(&mut self, rows: std::ops::Range<usize>, sums: &mut Sums) {
        let Self { problem, columns, weights, add, products, .. } = *self;
        let Problem { input, landmarks, members, folds, arch, .. } = problem;
        let count = rows.len();
        for row in rows.clone() {
            set_row(&mut self.values, input.dim, row - rows.start, input.row(row).iter().copied());
        }
        let entries = &mut self.entries[..count * landmarks.len()];
        landmarks.runs(*arch, members, count, &self.values, entries);
        let kernel = MatRef::from_column_major_slice(&*entries, count, landmarks.len());
        let mut outputs = self.outputs.as_mut().subrows_mut(0, count);
        matmul(outputs.as_mut(), Accum::Replace, kernel, weights.as_ref(), T::ONE, Par::Seq);
        for (at, column) in columns.iter().enumerate() {
            for (place, row) in rows.clone().enumerate() {
                let (weight, own) = (input.weights.at(row), column.left_out >> folds[row] & 1 == 0);
                let slot = &mut outputs[(place, at)];
                let value = match add {
                    Add::Value => slot.to_f64(),
                    Add::Residual => input.targets.at(row, column.output) - slot.to_f64(),
                };
                let weight = if own { weight } else { 0.0 };
                sums.squares[at] += weight * value * value;
                *slot = T::from_f64(weight * value);
            }
        }
        if products {
            let transposed = kernel.transpose();
            matmul(self.sums.as_mut(), Accum::Replace, transposed, outputs.as_ref(), T::ONE, Par::Seq);
            for (at, sums) in sums.products.chunks_exact_mut(landmarks.len()).enumerate() {
                sums.iter_mut()
                    .zip(self.sums.col_as_slice(at))
                    .for_each(|(slot, value)| *slot += value.to_f64());
            }
        }
    }
}

/// The factors `L` and `A`.
struct Preconditioner {
    /// `L`, and above its diagonal `Φ_Sᵀ Φ_S`, of which the diagonal is apart.
    landmarks: Mat<f64>,
    diagonal: Vec<f64>,
    /// The number of rows of the sample.
    sample: usize,
    /// `A`.
    ridge: Mat<f64>,
}

impl Preconditioner {
    /// Factor the kernel of the landmarks, and sum the products of the features of a sample.
    fn new<T: Lane + RealField>(problem: &Problem<'_, T>, observer: &dyn Observer) -> Result<Self, Error> {
        observer.begin("preconditioner", 0);
        let landmarks = factor_of_landmarks(problem, observer)?;
        let count = landmarks.nrows();
        let sample = (SAMPLE * count).min(problem.input.targets.rows());
        let mut found = Self { landmarks, diagonal: vec![0.0; count], sample, ridge: zero_matrix(count)? };
        let mut lanes = vec![T::ZERO; ROWS_OF_SAMPLE * problem.input.dim];
        let mut features = Mat::<f64>::zeros(count, ROWS_OF_SAMPLE.min(sample));
        for first in (0..sample).step_by(ROWS_OF_SAMPLE) {
            go_on(observer)?;
            let width = ROWS_OF_SAMPLE.min(sample - first);
            found.add(problem, (first, width), &mut lanes, features.as_mut().subcols_mut(0, width))?;
            observer.advance(width as u64);
        }
        observer.end();
        Ok(found)
    }

    /// Add some rows of the sample.
    fn add<T: Lane + RealField>(
        &mut self,
        problem: &Problem<'_, T>,
        (first, width): (usize, usize),
        lanes: &mut [T],
        mut features: MatMut<'_, f64>,
    ) -> Result<(), Error> {
        let (input, rows) = (problem.input, problem.input.targets.rows());
        let row_of = |at: usize| ((first + at) as u128 * rows as u128 / self.sample as u128) as usize;
        for at in 0..width {
            set_row(lanes, input.dim, at, input.row(row_of(at)).iter().copied());
        }
        problem.evaluate(lanes, width, features.as_mut().transpose_mut())?;
        for at in 0..width {
            let root = input.weights.root(row_of(at));
            features.as_mut().col_mut(at).iter_mut().for_each(|value| *value *= root);
        }
        let parallel = Par::rayon(PARTS);
        solve_lower_triangular_in_place(self.landmarks.as_ref(), features.as_mut(), parallel);
        for column in features.as_ref().col_iter() {
            self.diagonal.iter_mut().zip(column.iter()).for_each(|(slot, value)| *slot += value * value);
        }
        triangular::matmul(
            self.landmarks.as_mut(),
            BlockStructure::StrictTriangularUpper,
            Accum::Add,
            features.as_ref(),
            BlockStructure::Rectangular,
            features.as_ref().transpose(),
            BlockStructure::Rectangular,
            1.0,
            parallel,
        );
        Ok(())
    }

    /// Set the ridge for so many rows.
    fn set(&mut self, ridge: f64, rows: f64) -> Result<(), Error> {
        let Self { landmarks, diagonal, sample, .. } = self;
        let unit = rows / *sample as f64;
        self.ridge.par_col_chunks_mut(TRIES).enumerate().for_each(|(chunk, mut columns)| {
            for (place, column) in columns.as_mut().col_iter_mut().enumerate() {
                let j = chunk * TRIES + place;
                for (i, slot) in column.iter_mut().enumerate().skip(j) {
                    *slot = if i == j { unit * diagonal[j] + rows * ridge } else { unit * landmarks[(j, i)] };
                }
            }
        });
        factor_on(&mut self.ridge, Par::rayon(PARTS)).ok_or_else(not_positive)
    }

    fn solve_landmarks(&self, values: &mut Mat<f64>) {
        solve_lower_triangular_in_place(self.landmarks.as_ref(), values.as_mut(), Par::Seq);
    }

    fn solve_landmarks_transposed(&self, values: &mut Mat<f64>) {
        solve_upper_triangular_in_place(self.landmarks.transpose(), values.as_mut(), Par::Seq);
    }

    fn solve_ridge(&self, values: &mut Mat<f64>) {
        solve_lower_triangular_in_place(self.ridge.as_ref(), values.as_mut(), Par::Seq);
    }

    fn solve_ridge_transposed(&self, values: &mut Mat<f64>) {
        solve_upper_triangular_in_place(self.ridge.transpose(), values.as_mut(), Par::Seq);
    }

    /// Replace values by their products with `Lᵀ`.
    fn multiply_transposed(&self, values: &mut Mat<f64>) {
        let mut products = Mat::<f64>::zeros(values.nrows(), values.ncols());
        triangular::matmul(
            products.as_mut(),
            BlockStructure::Rectangular,
            Accum::Replace,
            self.landmarks.transpose(),
            BlockStructure::TriangularUpper,
            values.as_ref(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        *values = products;
    }
}

/// Factor the kernel of the landmarks, with as small a δ as has a factor.
fn factor_of_landmarks<T: Lane + RealField>(
    problem: &Problem<'_, T>,
    observer: &dyn Observer,
) -> Result<Mat<f64>, Error> {
    let (landmarks, dim) = (&problem.landmarks, problem.input.dim);
    let count = landmarks.len();
    let mut lanes = zeros(count.next_multiple_of(TRIES) * dim, T::ZERO)?;
    (0..count).for_each(|i| set_row(&mut lanes, dim, i, landmarks.row(i).iter().copied()));
    let mut matrix = zero_matrix(count)?;
    let rounding = (count as f64 * f64::EPSILON).max(4.0 * (count as f64).sqrt() * T::EPSILON.to_f64());
    for trial in 0..TRIALS {
        go_on(observer)?;
        problem.evaluate(&lanes, count, matrix.as_mut())?;
        let largest = (0..count).map(|i| matrix[(i, i)]).fold(0.0, f64::max);
        let shift = largest * rounding * 10.0_f64.powi(trial as i32);
        (0..count).for_each(|i| matrix[(i, i)] += shift);
        if factor_on(&mut matrix, Par::rayon(PARTS)).is_some() {
            return Ok(matrix);
        }
    }
    Err(not_positive())
}

fn not_positive() -> Error {
    Error::regression(CoreError::NotPositive { pivot: 0 })
}

#[cfg(test)]
mod tests {
    use super::{Asked, Candidates, Head, Input, LARGE, ROWS, Rounds, iterate, pays};
    use crate::data::{columns::Targets, prepared::StandardTarget, targets::TargetRows};
    use crate::data::{weights::Weights, weights::normalised};
    use crate::kernel::kind::KernelKind;
    use crate::observer::NoObserver;
    use crate::regression::{ridge::ridge_grid, rows::folds::Deal, solve::regress::regress};
    use dpp_nystrom_core::Points;
    use dpp_nystrom_host::simd::lane::Lane;
    use faer::traits::RealField;

    const N: usize = 3_000;
    const C: usize = 150;

    struct Data<T> {
        features: Vec<T>,
        targets: [StandardTarget; 2],
        weights: Vec<f64>,
    }

    fn value(i: usize) -> f64 {
        ((i as f64 * 0.754_877_666).fract() - 0.5) * 4.0
    }

    fn data<T: Lane>(rows: usize) -> Data<T> {
        let number = |i: usize| if i.is_multiple_of(2) { value(i) } else { value(i * i) };
        let features: Vec<f64> = (0..rows * 2).map(|i| f64::from(number(i) as f32)).collect();
        let target = |t: usize| {
            let y = |x: &[f64]| ((1.0 + t as f64) * x[0]).sin() + x[1] * value(t + 3);
            let values = features.chunks(2).enumerate().map(|(i, x)| y(x) + value(i * i + t) / 20.0);
            StandardTarget::of(format!("y{t}"), values.collect(), Weights::default()).unwrap()
        };
        let targets = [target(0), target(1)];
        let weights = normalised((0..rows).map(|row| 1.0 + f64::from((row * row % 7) as u32)).collect());
        Data { features: features.into_iter().map(T::from_f64).collect(), targets, weights }
    }

    fn input<T: Lane>(data: &Data<T>, weighted: bool) -> Input<'_, T> {
        Input {
            rows: &data.features,
            dim: 2,
            targets: TargetRows::Columns(Targets::F64(&data.targets[0].values), &data.targets[1..]),
            weights: Weights(weighted.then_some(&data.weights)),
            deal: Deal::default(),
            landmarks: &data.features[..2 * C],
            kernel: KernelKind::Gaussian.build(0.5).unwrap(),
        }
    }

    fn asked(left_out: &[u8]) -> Asked<'_> {
        Asked { head: Head::Values, seed: 3, measured: false, left_out, judged: None }
    }

    /// Return the root mean square of the predictions of a target by these weights of landmarks, less those
    /// by others.
    fn apart<T: Lane>(input: &Input<'_, T>, one: (&[usize], &[T]), other: (&[usize], &[T])) -> f64 {
        let ground = Points::new(input.landmarks, 2, input.kernel).unwrap();
        let predict = |row: usize, (kept, weights): (&[usize], &[T])| {
            let mut column = vec![T::ZERO; kept.len()];
            ground.column_at(input.row(row), kept, &mut column).unwrap();
            column.iter().zip(weights).map(|(k, w)| k.to_f64() * w.to_f64()).sum::<f64>()
        };
        let rows = (0..N).step_by(7);
        let squares: Vec<f64> = rows.map(|row| (predict(row, one) - predict(row, other)).powi(2)).collect();
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    }

    fn agrees<T: Lane + RealField>(weighted: bool, ridges: [f64; 2], tolerance: f64) {
        let data = data::<T>(N);
        let input = input(&data, weighted);
        for ridge in ridges {
            let (candidates, asked) = (Candidates::One(ridge), asked(&[9, 4]));
            let sums = regress(input, &candidates, asked, &mut Rounds::default(), &NoObserver).unwrap();
            let steps = iterate(input, &candidates, ridge, asked, &NoObserver).unwrap();
            let error = sums.quality.train_error;
            let off = (steps.quality.train_error / error - 1.0).abs();
            assert!(off < tolerance / 10.0, "{ridge} {error} {off}");
            let weights = |of: &crate::regression::solve::solution::Regression<T>, t: usize| {
                let rank = of.kept.len();
                of.weights[t * rank..(t + 1) * rank].to_vec()
            };
            for t in 0..2 {
                let (of_steps, of_sums) = (weights(&steps, t), weights(&sums, t));
                let off = apart(&input, (&steps.kept, &of_steps), (&sums.kept, &of_sums));
                assert!(off < tolerance * error, "{ridge} {t} {off} {error}");
            }
            assert_eq!(steps.without.len(), 2);
            for (steps_without, sums_without) in steps.without.iter().zip(&sums.without) {
                assert_eq!(steps_without.fold, sums_without.fold);
                let off = apart(
                    &input,
                    (&steps.kept, &steps_without.weights[..C]),
                    (&sums.kept, &sums_without.weights[..sums.kept.len()]),
                );
                let from_all = apart(
                    &input,
                    (&steps.kept, &steps_without.weights[..C]),
                    (&steps.kept, &weights(&steps, 0)),
                );
                assert!(off < tolerance * error && from_all > 2.0 * off, "{ridge} {off} {from_all} {error}");
            }
        }
    }

    #[test]
    fn steps_find_the_weights_of_the_sums() {
        agrees::<f64>(false, [1e-7, 1e-4], 0.01);
        agrees::<f64>(true, [1e-7, 1e-4], 0.01);
        // δ is 10⁻⁵ here.
        agrees::<f32>(false, [1e-5, 1e-3], 0.04);
    }

    #[test]
    fn the_ridge_is_as_good_as_that_of_all_folds() {
        let data = data::<f64>(N);
        let input = input(&data, false);
        let grid: Vec<f64> = ridge_grid().collect();
        let candidates = Candidates::BestOf(grid.clone());
        let sums = regress(input, &candidates, asked(&[9]), &mut Rounds::default(), &NoObserver).unwrap();
        for begin in [1e-10, 1e-5, 1.0] {
            let steps = iterate(input, &candidates, begin, asked(&[9]), &NoObserver).unwrap();
            let chosen = steps.quality.ridge;
            let error =
                |ridge: f64| sums.quality.scores.iter().find(|score| score.0 == ridge).unwrap().1.sqrt();
            assert!(error(chosen) <= 1.01 * error(sums.quality.ridge), "{begin} {chosen}");
            let found = steps.quality.validation_error.unwrap();
            assert!((found / sums.quality.validation_error.unwrap() - 1.0).abs() < 0.1, "{found}");
            let best = steps.quality.scores.iter().map(|score| score.1).fold(f64::INFINITY, f64::min);
            assert!(((best / (2 * N) as f64).sqrt() - found).abs() < 1e-12);
            assert_eq!(steps.without[0].ridge, chosen);
            assert!(steps.quality.one_fold && !sums.quality.one_fold);
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let data = data::<f64>(N);
        let fit = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                iterate(input(&data, true), &Candidates::One(1e-6), 1e-6, asked(&[9]), &NoObserver)
            })
            .unwrap()
        };
        let one = fit(1);
        for threads in [2, 7] {
            let other = fit(threads);
            assert!(one.weights.iter().zip(&other.weights).all(|(x, y)| x.to_bits() == y.to_bits()));
        }
    }

    #[test]
    fn a_regression_on_many_landmarks_takes_steps() {
        let (many, ridge) = (LARGE + 1, 1e-5);
        let data = data::<f32>(ROWS * many);
        let input = Input { landmarks: &data.features[..2 * many], ..input(&data, false) };
        let (candidates, asked) = (Candidates::One(ridge), Asked { measured: true, ..asked(&[]) });
        let found = regress(input, &candidates, asked, &mut Rounds::default(), &NoObserver).unwrap();
        let steps = iterate(input, &candidates, ridge, asked, &NoObserver).unwrap();
        assert_eq!((found.kept.len(), found.confidence), (many, None));
        assert_eq!(found.weights, steps.weights);
        // The noise alone is left.
        assert!((0.02..0.04).contains(&found.quality.train_error), "{}", found.quality.train_error);
    }

    #[test]
    fn steps_pay_for_many_landmarks_of_more_rows() {
        let (many, rows) = (LARGE + 1, ROWS * (LARGE + 1));
        let ridges = Candidates::One(1e-6);
        let pays = |landmarks, rows, ridges, head| pays(landmarks, rows, ridges, head, &Rounds::default());
        assert!(pays(many, rows, &ridges, Head::Values));
        assert!(!pays(many, rows - 1, &ridges, Head::Values) && !pays(LARGE, rows, &ridges, Head::Values));
        assert!(!pays(many, rows, &ridges, Head::Classes));
        assert!(!pays(many, rows, &Candidates::BestLeaveOneOut(vec![1e-6]), Head::Values));
    }
}
