//! Uniform draws of many landmarks, tested for independence in blocks.
//!
//! A row costs a substitution in all of the factor, whose memory is read for each. Here the rows of a block
//! share it: with the factor `L` of the landmarks, and the kernel `C` of a block with these and `D` with
//! itself, `Z = L⁻¹C` and the Schur complement `D - ZᵀZ` are matrix products, and its Cholesky factor tests
//! the rows of the block in turn. The law is that of `start::uniform` in the core, which draws a dependent
//! row again: such a row depends on every larger set of landmarks too, so that it need not be drawn twice.

use crate::error::Error;
use crate::landmarks::Selection;
use crate::linalg::{eigen::PARTS, triangle::zero_matrix};
use crate::observer::{Observer, go_on};
use dpp_nystrom_core::{Error as CoreError, GroundSet, Random, Scalar};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, Par};
use rand::RngExt;
use rayon::prelude::*;
use std::collections::HashSet;

/// Rows of a block.
const ROWS: usize = 256;

/// Select `c` rows drawn uniformly, each from those that are independent of the landmarks before it. Return
/// them in the order of selection, and the selection. `c²` values of working memory, in `f64` whatever the
/// precision of the entries, and `c³/6` multiply-adds.
///
/// # Errors
/// `ErrorKind::Landmarks` for an entry that is not finite, and if no further row is independent, after all
/// were tried; `ErrorKind::Memory`, `ErrorKind::Cancelled`.
pub(crate) fn uniform<T: Scalar, G: GroundSet<T> + Sync + ?Sized>(
    ground: &G,
    c: usize,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<(Vec<usize>, Selection), Error> {
    observer.begin("landmarks", c as u64);
    let mut factor = Factor { lower: zero_matrix(c)?, members: Vec::new() };
    let mut drawn = HashSet::new();
    while factor.members.len() < c {
        go_on(observer)?;
        let before = factor.members.len();
        let count = ROWS.min(c - before).min(ground.len() - drawn.len());
        if count == 0 {
            return Err(Error::landmarks(CoreError::RankDeficient { rank: before, landmarks: c }));
        }
        let rows: Vec<usize> = (0..count).map(|_| draw(ground.len(), &mut drawn, random)).collect();
        factor.append(ground, &rows)?;
        observer.advance((factor.members.len() - before) as u64);
    }
    observer.end();
    let pivots: Vec<f64> = (0..c).map(|k| factor.lower[(k, k)]).collect();
    let gains: Vec<f64> = pivots.iter().map(|pivot| pivot * pivot).collect();
    let log_det = 2.0 * pivots.iter().map(|pivot| pivot.ln()).sum::<f64>();
    Ok((factor.members.clone(), Selection::of_rows(factor.members, &gains, log_det)))
}

/// Draw a row that was not drawn before. There is one.
fn draw(rows: usize, drawn: &mut HashSet<usize>, random: &mut Random) -> usize {
    loop {
        let row = random.random_range(0..rows);
        if drawn.insert(row) {
            return row;
        }
    }
}

/// Landmarks, and the factor of their kernel in the first rows of `lower`.
struct Factor {
    lower: Mat<f64>,
    members: Vec<usize>,
}

impl Factor {
    /// Append the rows that are independent of those before them.
    fn append<T: Scalar, G: GroundSet<T> + Sync + ?Sized>(
        &mut self,
        ground: &G,
        rows: &[usize],
    ) -> Result<(), Error> {
        let (before, count) = (self.members.len(), rows.len());
        let mut columns = Mat::<f64>::zeros(before, count);
        let mut schur = Mat::<f64>::zeros(count, count);
        let members = &self.members;
        let entries = columns.par_col_iter_mut().zip(schur.par_col_iter_mut()).enumerate();
        entries
            .try_for_each(|(at, (column, mut own))| {
                let row = rows[at];
                let check = |entry: T, other: usize| match entry.to_f64() {
                    entry if entry.is_finite() => Ok(entry),
                    _ => Err(CoreError::NotFinite { row, column: other }),
                };
                for (slot, &member) in column.iter_mut().zip(members) {
                    *slot = check(ground.entry(row, member), member)?;
                }
                for (slot, &other) in own.as_mut().iter_mut().zip(rows).skip(at + 1) {
                    *slot = check(ground.entry(row, other), other)?;
                }
                for slot in own.iter_mut().skip(at).take(1) {
                    *slot = check(ground.diagonal(row), row)?;
                }
                Ok(())
            })
            .map_err(Error::landmarks)?;
        let diagonal: Vec<f64> = (0..count).map(|at| schur[(at, at)]).collect();
        let parallel = Par::rayon(PARTS);
        let present = self.lower.as_ref().submatrix(0, 0, before, before);
        solve_lower_triangular_in_place(present, columns.as_mut(), parallel);
        matmul(schur.as_mut(), Accum::Add, columns.transpose(), columns.as_ref(), -1.0, parallel);
        let kept = factor_independent::<T>(&mut schur, &diagonal, before);
        for (at, &place) in kept.iter().enumerate() {
            for (j, &value) in columns.col_as_slice(place).iter().enumerate() {
                self.lower[(before + at, j)] = value;
            }
            for (j, &other) in kept.iter().enumerate().take(at + 1) {
                self.lower[(before + at, before + j)] = schur[(place, other)];
            }
        }
        self.members.extend(kept.iter().map(|&place| rows[place]));
        Ok(())
    }
}

/// Replace the lower triangle of a Schur complement by its factor without the rows whose residual is no more
/// than rounding of their diagonal entry. Return the others, in their order.
fn factor_independent<T: Scalar>(schur: &mut Mat<f64>, diagonal: &[f64], before: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for (k, &own) in diagonal.iter().enumerate() {
        for (at, &j) in kept.iter().enumerate() {
            let products: f64 = kept[..at].iter().map(|&i| schur[(k, i)] * schur[(j, i)]).sum();
            schur[(k, j)] = (schur[(k, j)] - products) / schur[(j, j)];
        }
        let residual = schur[(k, k)] - kept.iter().map(|&i| schur[(k, i)].powi(2)).sum::<f64>();
        let order = (before + kept.len() + 1) as f64;
        // Of a sum of squares, and of entries.
        let rounding = (order * f64::EPSILON).max(4.0 * order.sqrt() * T::EPSILON.to_f64());
        if residual > rounding * own {
            schur[(k, k)] = residual.sqrt();
            kept.push(k);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{ROWS, uniform};
    use crate::error::ErrorKind;
    use crate::observer::NoObserver;
    use dpp_nystrom_core::{GroundSet, Landmarks, Points, Random, kernel::Gaussian, start};
    use dpp_nystrom_host::heap::Heap;

    /// Rows of a line, each twice.
    fn twice(rows: usize) -> Vec<f64> {
        (0..rows).map(|i| (i / 2) as f64).collect()
    }

    #[test]
    fn blocks_find_the_pivots_of_the_core() {
        let rows = twice(3 * ROWS);
        let ground = Points::new(&rows, 1, Gaussian::new(1.5).unwrap()).unwrap();
        let c = ROWS + 17;
        let (members, selection) = uniform(&ground, c, &mut Random::seeded(3), &NoObserver).unwrap();
        let mut memory = Heap::<f64>::new(c).unwrap();
        let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
        start::given(&mut landmarks, &members).unwrap();
        assert_eq!(landmarks.len(), c);
        assert!((landmarks.log_det() - selection.log_det).abs() < 1e-9 * selection.log_det.abs());
        let positions = selection.landmarks.rows().unwrap();
        for (k, choice) in selection.order.unwrap().into_iter().enumerate() {
            let pivot = landmarks.factor().pivot(k).powi(2);
            assert_eq!(positions[choice.position], members[k]);
            assert!((choice.gain - pivot).abs() < 1e-9 * pivot, "{k} {} {pivot}", choice.gain);
        }
    }

    #[test]
    fn every_independent_row_is_found_and_no_other() {
        let rows = twice(2 * ROWS);
        let ground = Points::new(&rows, 1, Gaussian::new(0.3).unwrap()).unwrap();
        let draw = |c| uniform(&ground, c, &mut Random::seeded(9), &NoObserver);
        let (mut members, _) = draw(ROWS).unwrap();
        members.sort_unstable();
        assert!(members.iter().enumerate().all(|(at, &row)| row / 2 == at));
        assert_eq!(draw(ROWS + 1).unwrap_err().kind(), ErrorKind::Landmarks);
        let single: Vec<f32> = rows.iter().map(|&value| value as f32).collect();
        let single = Points::new(&single, 1, Gaussian::new(0.3).unwrap()).unwrap();
        assert_eq!(single.len(), 2 * ROWS);
        assert!(uniform(&single, ROWS, &mut Random::seeded(9), &NoObserver).is_ok());
        assert!(uniform(&single, ROWS + 1, &mut Random::seeded(9), &NoObserver).is_err());
    }

    #[test]
    fn rows_are_drawn_as_often_as_others() {
        // 12 of 24 rows that are all independent, 2,000 times: inclusion 1/2.
        let rows: Vec<f64> = (0..24).map(f64::from).collect();
        let ground = Points::new(&rows, 1, Gaussian::new(0.5).unwrap()).unwrap();
        let mut random = Random::seeded(5);
        let mut counts = [0_u32; 24];
        for _ in 0..2_000 {
            for row in uniform(&ground, 12, &mut random, &NoObserver).unwrap().0 {
                counts[row] += 1;
            }
        }
        // Standard deviation 22.4.
        assert!(counts.iter().all(|&count| count.abs_diff(1_000) < 100), "{counts:?}");
    }
}
