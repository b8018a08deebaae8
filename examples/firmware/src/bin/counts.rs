//! Counts the instructions of the core's work. `tests/budgets` compares them with the table in
//! `core/docs/target.md`.
#![no_std]
#![no_main]

use core::hint::black_box;
use defmt::info;
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Acceptance, Cholesky, Error, Landmarks, Nystrom, OpenSlot, Points, Predictor, Proposal, RidgeRegression,
    RidgeWorkspace, Scalar, Workspace,
};
use dpp_nystrom_firmware::{Failure, board, counter, entry, finish};
use static_cell::ConstStaticCell;

/// Features of a row, rows, and the largest number of landmarks.
const DIM: usize = 8;
const ROWS: usize = 48;
const MOST: usize = 32;

static FEATURES: [f32; ROWS * DIM] = features();
static MEMORY: ConstStaticCell<Workspace<f32, MOST>> = ConstStaticCell::new(Workspace::new());
static RIDGE: ConstStaticCell<RidgeWorkspace<f32, MOST>> = ConstStaticCell::new(RidgeWorkspace::new());

/// Uniform in [0, 1), from the generator of `dpp-nystrom-golden`.
const fn features() -> [f32; ROWS * DIM] {
    let mut features = [0.0; ROWS * DIM];
    let mut state = 1_u32;
    let mut i = 0;
    while i < features.len() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        features[i] = (state >> 8) as f32 / 16_777_216.0;
        i += 1;
    }
    features
}

#[entry]
fn main() -> ! {
    finish(run())
}

/// Log the instructions of some work, without those of counting.
fn report<A>(name: &str, work: impl FnOnce() -> A) -> A {
    let (outcome, instructions) = counter::counted(work);
    info!("count {=str}: {=u32}", name, instructions.saturating_sub(counter::overhead()));
    outcome
}

// Not inlined, as in a program whose data is not known at compile time.

#[inline(never)]
fn predict(model: &Predictor<'_, f32, Gaussian<f32>>, x: &[f32]) -> Result<f32, Error> {
    model.predict(x)
}

#[inline(never)]
fn predict_micromath(model: &Predictor<'_, f32, Gaussian<f32>>, x: &[f32]) -> Result<f32, Error> {
    model.predict_micromath(x)
}

#[inline(never)]
fn try_one(
    slot: &mut OpenSlot<'_, '_, f32, Points<'_, f32, Gaussian<f32>>>,
    proposal: Proposal<f32>,
) -> Result<bool, Error> {
    slot.try_one(proposal)
}

#[inline(never)]
fn factor(factor: &mut Cholesky<'_, f32>, order: usize, matrix: &[f32]) -> Result<(), Error> {
    factor.factor(order, matrix)
}

#[inline(never)]
fn solve(factor: &Cholesky<'_, f32>, b: &mut [f32]) -> Result<(), Error> {
    factor.solve_lower(b)
}

#[inline(never)]
fn exponential(x: f32) -> f32 {
    Scalar::exp(x)
}

#[inline(never)]
fn exponential_libm(x: f32) -> f32 {
    libm::expf(x)
}

#[inline(never)]
fn exponential_micromath(x: f32) -> f32 {
    micromath::F32Ext::exp(x)
}

#[inline(never)]
fn root(x: f32) -> f32 {
    Scalar::sqrt(x)
}

#[inline(never)]
fn root_libm(x: f32) -> f32 {
    libm::sqrtf(x)
}

fn run() -> Result<(), Failure> {
    info!("counts: {=str}", board::NAME);
    let (Some(memory), Some(ridge)) = (MEMORY.try_take(), RIDGE.try_take()) else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    let kernel = Gaussian::new(0.7)?;
    let rows = black_box(&FEATURES);
    let (landmarks, rest) = rows.as_chunks::<DIM>().0.split_at_checked(MOST).ok_or(Error::Empty)?;
    let (weights, x) = (rest.as_flattened(), rest.first().ok_or(Error::Empty)?);
    let weights = weights.get(..MOST).ok_or(Error::Empty)?;
    let model = Predictor::new(kernel, landmarks.as_flattened(), DIM, weights)?;
    report("predict 32x8", || predict(&model, x))?;
    report("predict 32x8 micromath", || predict_micromath(&model, x))?;
    report("exp", || exponential(black_box(-0.3)));
    report("exp libm", || exponential_libm(black_box(-0.3)));
    report("exp micromath", || exponential_micromath(black_box(-0.3)));
    report("sqrt", || root(black_box(0.3)));
    report("sqrt libm", || root_libm(black_box(0.3)));

    let mut matrix = [0.0_f32; MOST * MOST];
    for (i, row) in matrix.chunks_mut(MOST).enumerate() {
        for (entry, &feature) in row.iter_mut().zip(rows) {
            *entry = feature;
        }
        if let Some(diagonal) = row.get_mut(i) {
            *diagonal = 40.0;
        }
    }
    let mut whole = Cholesky::new(memory.lend().factor)?;
    report("cholesky 32", || factor(&mut whole, MOST, &matrix))?;
    let mut b = [0.5_f32; MOST];
    report("solve 32", || solve(&whole, &mut b))?;

    let ground = Points::new(rows, DIM, kernel)?;
    for (c, try_name, features_name, add_name) in
        [(16, "try 16x8", "features 16x8", "learn 16"), (32, "try 32x8", "features 32x8", "learn 32")]
    {
        let mut landmarks = Landmarks::new(&ground, memory.lend())?;
        for row in 0..c {
            landmarks.push(row)?;
        }
        let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis)?;
        // With the threshold 0 the try runs to its end, and the row is admitted.
        let proposal = Proposal { entering: 40, uniform: 0.0 };
        if !report(try_name, || try_one(&mut slot, proposal))? {
            return Err(Failure::Wrong("a try with threshold 0 was rejected"));
        }
        let nystrom = Nystrom::new(&landmarks);
        let mut phi = [0.0_f32; MOST];
        let phi = phi.get_mut(..c).ok_or(Error::Empty)?;
        let mut ridge = RidgeRegression::new(c, ridge.lend())?;
        for row in 0..ROWS {
            nystrom.features(row, phi)?;
            ridge.add(phi, 1.0)?;
        }
        report(features_name, || nystrom.features(41, phi))?;
        report(add_name, || ridge.add(phi, 1.0))?;
    }
    Ok(())
}
