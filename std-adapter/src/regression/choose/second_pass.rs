//! Errors of rows in a second pass over them, each without itself.

use crate::error::Error;
use crate::linalg::eigen::product;
use crate::observer::{Observer, go_on};
use crate::regression::{
    choose::leave_one_out::BLOCK, choose::leave_one_out::Basis, choose::leave_one_out::sum_of,
    rows::input::Input, rows::triangle::Triangle, rows::whitening::Whitening,
};
use dpp_nystrom_core::{Landmarks, RidgeRegression};
use dpp_nystrom_host::simd::lane::{Ground, Lane};
use faer::{Mat, MatRef, traits::RealField};
use rayon::prelude::*;

/// Return the sum of squared leave-one-out residuals over the targets for each ridge, of the rows that the
/// parts have accumulated: `3c²/2` multiply-adds a row.
pub(crate) fn leave_one_out<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    parts: &[RidgeRegression<'_, f64>],
    ridges: &[f64],
    observer: &dyn Observer,
) -> Result<Vec<(f64, f64)>, Error> {
    let Input { targets, weights, .. } = input;
    let count = targets.rows();
    let whole = Triangle::of_all(parts)?;
    let basis = Basis::of_triangle(whole.square(), whole.targets())?;
    let whitening = Whitening::new(landmarks);
    let loads: Vec<f64> = ridges.iter().map(|ridge| ridge * count as f64).collect();
    observer.begin("rows left out", count as u64);
    let block = |first: usize| {
        go_on(observer)?;
        let rows = first..(first + BLOCK).min(count);
        let phi = whitening.features(rows.clone().map(|row| input.row(row)))?;
        let phi = Mat::from_fn(phi.ncols(), phi.nrows(), |k, i| weights.root(first + i) * phi[(i, k)]);
        let turned = product(basis.vectors.transpose(), phi.as_ref());
        let own = rows.clone().flat_map(|row| {
            let root = weights.root(row);
            targets.of_row(row).map(move |target| root * target)
        });
        let own: Vec<f64> = own.collect();
        let own = MatRef::from_row_major_slice(&own, rows.len(), targets.outputs());
        let squares = basis.squares(turned.as_ref(), own, &loads);
        observer.advance(rows.len() as u64);
        Ok(squares)
    };
    let blocks = (0..count).into_par_iter().step_by(BLOCK).map(block).collect::<Result<Vec<_>, Error>>()?;
    observer.end();
    Ok(ridges.iter().copied().zip(sum_of(&blocks, ridges.len())).collect())
}
