//! Measures the peak stack of selection, learning, a fold of the learned rows and prediction, and the memory
//! lent to them. `tests/budgets` compares the figures with the table in `core/docs/target.md`.
#![no_std]
#![no_main]

use core::hint::black_box;
use defmt::info;
use dpp_nystrom_core::{Error, Random, RidgeRegression, RidgeWorkspace, Scalar, Workspace, bytes};
use dpp_nystrom_firmware::sets::{DIM, learn, predict, select};
use dpp_nystrom_firmware::{Failure, board, entry, finish, stack};
use static_cell::ConstStaticCell;

const ROWS: usize = 160;
const MOST: usize = 64;

static FEATURES: [f32; ROWS * DIM] = features();

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

/// Learn so many rows that two triangles are folded into one. After the first they are zeros, which takes few
/// instructions.
#[inline(never)]
fn fold<const C: usize>(ridge: &mut RidgeWorkspace<f32, C>, features: &mut [f32; C]) -> Result<(), Error> {
    let mut ridge = RidgeRegression::new(C, ridge.lend())?;
    features.fill(1.0);
    for _ in 0..=2 * f32::ROWS_APART {
        ridge.add(features, 1.0)?;
        features.fill(0.0);
    }
    Ok(())
}

fn measure<const C: usize>(
    memory: &'static ConstStaticCell<Workspace<f32, C>>,
    ridge: &'static ConstStaticCell<RidgeWorkspace<f32, C>>,
    weights: &'static ConstStaticCell<[f32; C]>,
) -> Result<(), Failure> {
    let (Some(memory), Some(ridge), Some(weights)) =
        (memory.try_take(), ridge.try_take(), weights.try_take())
    else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    let rows = black_box(&FEATURES);
    let mut random = Random::seeded(7);
    let (result, selecting) = stack::measured(|| select(memory, rows, &mut random));
    result?;
    let (result, learning) = stack::measured(|| learn(memory, ridge, rows, weights));
    result?;
    let (result, folding) = stack::measured(|| fold(ridge, weights));
    result?;
    let (result, predicting) = stack::measured(|| predict(weights, rows));
    result?;
    info!("stack select {=usize}: {=usize}", C, selecting);
    info!("stack learn {=usize}: {=usize}", C, learning);
    info!("stack fold {=usize}: {=usize}", C, folding);
    info!("stack predict {=usize}: {=usize}", C, predicting);
    info!("lent select {=usize}: {=usize}", C, size_of_val(memory));
    info!("lent learn {=usize}: {=usize}", C, size_of_val(ridge));
    let promised = bytes::<f32>(C, DIM);
    if size_of_val(memory) != promised.select || size_of_val(ridge) != promised.learn {
        return Err(Failure::Wrong("the memory differs from what bytes() returns"));
    }
    Ok(())
}

macro_rules! measure {
    ($($c:literal),*) => {
        $({
            static MEMORY: ConstStaticCell<Workspace<f32, $c>> = ConstStaticCell::new(Workspace::new());
            static RIDGE: ConstStaticCell<RidgeWorkspace<f32, $c>> = ConstStaticCell::new(RidgeWorkspace::new());
            static WEIGHTS: ConstStaticCell<[f32; $c]> = ConstStaticCell::new([0.0; $c]);
            const { assert!($c <= MOST) };
            measure(&MEMORY, &RIDGE, &WEIGHTS)?;
        })*
    };
}

fn run() -> Result<(), Failure> {
    info!("budgets: {=str}", board::NAME);
    #[cfg(not(feature = "largest"))]
    measure!(8, 16, 32);
    #[cfg(feature = "largest")]
    measure!(64);
    Ok(())
}
