//! Error reductions and swaps compared with elimination on the whole kernel matrix.

use crate::elimination::residuals;
use crate::heap::Heap;
use crate::simd::{Lanes, subset::Subset};
use dpp_nystrom_core::kernel::KernelKind;
use dpp_nystrom_core::{Landmarks, Points, start};

const ROWS: usize = 70;
const WIDTH: usize = 3;
const C: usize = 6;

fn uniforms(count: usize) -> Vec<f64> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn drops_and_residuals_agree_with_elimination() {
    for kind in
        [KernelKind::Gaussian, KernelKind::Matern52, KernelKind::Polynomial { degree: 3, offset: 1.0 }]
    {
        let rows = uniforms(ROWS * WIDTH);
        let ground = Points::new(&rows, WIDTH, kind.build::<f64>(0.6).unwrap()).unwrap();
        let lanes = Lanes::new(C, WIDTH).unwrap();
        let mut memory = Heap::new(C).unwrap();
        let mut set = Landmarks::new(&ground, memory.lend()).unwrap();
        start::given(&mut set, &[3, 60, 11, 44, 5, 27]).unwrap();
        let others: Vec<usize> =
            (0..ROWS).filter(|row| row % 7 != 6 && !set.members().contains(row)).collect();
        let weights: Vec<f64> = uniforms(others.len()).iter().map(|u| 1.0 + 3.0 * u).collect();
        let candidates: Vec<usize> = (0..others.len()).step_by(2).collect();
        let mut subset = Subset::new(&lanes, &set, &others, &weights, &candidates).unwrap();
        let weight = |row: usize| others.iter().position(|&other| other == row).map(|at| weights[at]);
        let all: Vec<usize> = set.members().iter().chain(&others).copied().collect();
        let mut came = 0;
        for step in 0..4 * C {
            let before: Vec<usize> = subset.landmarks().collect();
            let mut opened = subset.clone();
            opened.open();
            opened.update_drops();
            let moved = subset.improve();
            // `improve` considers the first of them for removal.
            let rest = &before[1..];
            let open = residuals(&ground, rest);
            let drop = |v: usize| -> f64 {
                all.iter()
                    .map(|&j| if j == v { 1.0 } else { weight(j).unwrap_or(1.0) } * open[j][v] * open[j][v])
                    .sum::<f64>()
                    / open[v][v]
            };
            // The reduction is a difference of traces.
            let v = others[0];
            if !before.contains(&v) {
                let closed = residuals(&ground, &[rest, &[v]].concat());
                let difference: f64 = all
                    .iter()
                    .map(|&j| {
                        let weight = if j == v { 1.0 } else { weight(j).unwrap_or(1.0) };
                        weight * (open[j][j] - closed[j][j])
                    })
                    .sum();
                assert!((difference - drop(v)).abs() <= 1e-9 * difference, "{kind:?}");
            }
            let after: Vec<usize> = subset.landmarks().collect();
            assert_eq!(after[..C - 1], *rest, "{kind:?}, step {step}");
            assert_eq!(moved, after[C - 1] != before[0]);
            came += u32::from(moved);
            let present = drop(before[0]);
            assert!((f64::from(opened.drop_of_present()) - present).abs() <= 1e-3 * present, "{kind:?}");
            let mut best = present;
            for (candidate, &at) in opened.candidates.iter().enumerate() {
                let (row, found) = (opened.rows[at], f64::from(opened.drop_of(candidate)));
                let expected = drop(row);
                best = best.max(expected);
                assert!((found - expected).abs() <= 1e-3 * expected, "{kind:?}, {row}: {found} {expected}");
            }
            assert!(drop(after[C - 1]) >= best * (1.0 - 1e-3), "{kind:?}, step {step}");
            // R of the new set, once the swap is applied.
            let mut copy = subset.clone();
            copy.leaving.fill(0.0);
            copy.update_drops();
            let closed = residuals(&ground, &after);
            let scale = all.iter().map(|&j| closed[j][j]).fold(0.0, f64::max);
            for (line, &at) in copy.residuals.chunks_exact(copy.stride).zip(&copy.candidates) {
                for (&entry, &row) in line.iter().zip(&copy.rows) {
                    let expected = closed[copy.rows[at]][row];
                    assert!((f64::from(entry) - expected).abs() <= 1e-4 * scale, "{kind:?}, step {step}");
                }
            }
        }
        assert!(came > 2, "{kind:?}: {came} swaps");
    }
}
