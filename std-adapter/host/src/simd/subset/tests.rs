//! Swaps compared with elimination on the whole kernel matrix.

use super::{BLOCK, Subset};
use crate::elimination::residuals;
use crate::heap::Heap;
use crate::simd::Lanes;
use dpp_nystrom_core::kernel::KernelKind;
use dpp_nystrom_core::{GroundSet, Landmarks, Points, start};

const ROWS: usize = 90;
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

/// The best swap of each step, by the weighted errors of every set with one landmark exchanged. Rows 60 to 89
/// are close to rows 0 to 29, so that landmarks become nearly dependent.
#[test]
fn each_swap_is_the_best_of_its_block() {
    let mut rows = uniforms(ROWS * WIDTH);
    for at in 60 * WIDTH..ROWS * WIDTH {
        rows[at] = rows[at - 60 * WIDTH] + 1e-4 * rows[at];
    }
    for (kind, sigma) in [
        (KernelKind::Gaussian, 0.6),
        (KernelKind::Gaussian, 4.0),
        (KernelKind::Matern52, 0.6),
        (KernelKind::Polynomial { degree: 3, offset: 1.0 }, 0.6),
    ] {
        let ground = Points::new(&rows, WIDTH, kind.build::<f64>(sigma).unwrap()).unwrap();
        let scale = (0..ROWS).map(|row| ground.diagonal(row)).fold(0.0, f64::max);
        let lanes = Lanes::new(C, WIDTH).unwrap();
        let mut memory = Heap::new(C).unwrap();
        let mut set = Landmarks::new(&ground, memory.lend()).unwrap();
        // Row 71 is close to row 11.
        start::given(&mut set, &[3, 71, 11, 44, 5, 27]).unwrap();
        let others: Vec<usize> =
            (0..ROWS).rev().filter(|row| row % 7 != 6 && !set.members().contains(row)).collect();
        let weights: Vec<f64> = uniforms(others.len()).iter().map(|u| 1.0 + 3.0 * u).collect();
        let weight = |row: usize| others.iter().position(|&other| other == row).map_or(1.0, |at| weights[at]);
        let all = [&others[..], set.members()].concat();
        // The diagonal of the residual, and its weighted sum.
        let error = |set: &[usize]| {
            let residuals = residuals(&ground, set);
            let sum: f64 = all.iter().map(|&j| weight(j) * residuals[j][j]).sum();
            (sum, residuals)
        };
        let mut subset = Subset::new(&lanes, &set, &others, &weights).unwrap();
        assert_eq!(subset.blocks(), others.len().div_ceil(BLOCK));
        let (mut swaps, mut original, mut twice) = (0, 0, 0);
        for block in 0..subset.blocks() {
            let mut open = subset.open(block);
            let (mut steps, landmarks) = (0, |subset: &Subset| subset.landmarks().collect::<Vec<usize>>());
            loop {
                let before = landmarks(&subset);
                let (sum, open_residuals) = error(&before);
                let mut expected = Vec::new();
                for (column, &place) in open.places.iter().enumerate() {
                    let v = all[place];
                    // The candidate's residuals, times the roots of the weights.
                    for (at, &row) in all.iter().enumerate() {
                        let found = open.residuals[(at, column)] / weight(row).sqrt();
                        assert!(
                            (found - open_residuals[row][v]).abs() < 1e-6 * scale,
                            "{kind:?} {block} {row} {v}"
                        );
                    }
                    for (i, &leaving) in before.iter().enumerate() {
                        let mut after = before.clone();
                        after[i] = v;
                        let (left, residuals) = error(&after);
                        let own = (weight(v) - 1.0) * open_residuals[v][v];
                        let gain = sum - left - own + (weight(leaving) - 1.0) * residuals[leaving][leaving];
                        expected.push((gain, column, i));
                    }
                }
                let most = expected.iter().map(|swap| swap.0).fold(0.0, f64::max);
                let Some(swap) = subset.best(&open) else {
                    assert!(most < 1e-5 * sum, "{kind:?}: {most:e} of {sum:e}");
                    break;
                };
                let of_swap =
                    |&&(_, column, i): &&(f64, usize, usize)| (column, i) == (swap.column, swap.leaving);
                let told = expected.iter().find(of_swap).unwrap().0;
                assert!((swap.gain - told).abs() < 1e-5 * sum, "{kind:?}: {:e} {told:e}", swap.gain);
                assert!(told > most - 1e-5 * sum, "{kind:?}: {told:e} {most:e}");
                let v = all[open.places[swap.column]];
                original += usize::from(others.contains(&before[swap.leaving]));
                subset.make(&mut open, &swap);
                let mut after = before;
                after[swap.leaving] = v;
                assert_eq!(landmarks(&subset), after);
                for (i, &energy) in subset.energies.iter().enumerate() {
                    assert!((energy - subset.energy(i)).abs() < 1e-9 * energy, "{kind:?}: {energy}");
                }
                swaps += 1;
                steps += 1;
            }
            twice += usize::from(steps > 1);
        }
        assert!(swaps > 4 && original > 0 && twice > 0, "{kind:?}: {swaps} swaps, {original}, {twice}");
    }
}
