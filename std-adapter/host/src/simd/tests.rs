//! Every lane compared with the core's one-by-one evaluator.

use crate::heap::Heap;
use crate::simd::{Lane, Lanes, lane::Ground, substitution::Substitution, widened::Widened};
use dpp_nystrom_core::kernel::KernelKind;
use dpp_nystrom_core::{
    Acceptance, Error, Evaluate, GroundSet, Landmarks, OneByOne, OpenSlot, Points, Proposal, Random,
    SlotChain, TRIES, kernel::ChosenKernel, start,
};
use pulp::WithSimd;

fn rows<T: Lane>(count: usize, dim: usize) -> Vec<T> {
    let mut state = 1_u32;
    (0..count * dim)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            T::from_f64(f64::from(state >> 8) / f64::from(1 << 23) - 1.0)
        })
        .collect()
}

/// Run the same seed with both evaluators.
fn agree<T: Lane>(kind: KernelKind, c: usize, dim: usize, tries: usize, steps: u64) {
    let rows = rows::<T>(400, dim);
    let kernel: ChosenKernel<T> = kind.build(0.9).unwrap();
    let ground = Points::new(&rows, dim, kernel).unwrap();
    let (mut one, mut many) = (Heap::new(c).unwrap(), Heap::new(c).unwrap());
    let mut random = Random::seeded(5);
    let mut landmarks = Landmarks::new(&ground, one.lend()).unwrap();
    start::uniform(&mut landmarks, c, &mut random).unwrap();
    let members = landmarks.members().to_vec();
    let mut again = Landmarks::new(&ground, many.lend()).unwrap();
    start::given(&mut again, &members).unwrap();

    let (mut random, mut twin) = (random.clone(), random);
    let mut slow =
        SlotChain::new(landmarks, Acceptance::Metropolis).with_tries(tries).with_evaluator(OneByOne);
    let lanes = Lanes::new(c, dim).unwrap();
    let mut fast = SlotChain::new(again, Acceptance::Metropolis).with_tries(tries).with_evaluator(lanes);
    slow.run(steps, &mut random).unwrap();
    fast.run(steps, &mut twin).unwrap();
    let context = format!("{kind:?}, c {c}, d {dim}, {tries} tries");
    assert!(slow.progress().accepted > 0 || steps < 50, "{context}: no swap was accepted");
    assert_eq!(slow.progress(), fast.progress(), "{context}");
    assert_eq!(slow.landmarks().members(), fast.landmarks().members(), "{context}");
    let difference = (slow.log_det() - fast.log_det()).to_f64().abs();
    // The two factors differ by the rounding of a few hundred swaps.
    let bound = 1e4 * c as f64 * T::EPSILON.to_f64();
    assert!(difference <= bound * slow.log_det().to_f64().abs().max(1.0), "{context}: {difference:e}");
}

#[test]
fn every_kernel_follows_the_core_in_f64() {
    for &kind in KernelKind::ALL {
        agree::<f64>(kind, 6, 7, TRIES, 2_000);
    }
}

#[test]
fn every_kernel_follows_the_core_in_f32() {
    for &kind in KernelKind::ALL {
        agree::<f32>(kind, 4, 7, TRIES, 400);
    }
}

#[test]
fn every_number_of_landmarks_features_and_tries_follows_the_core() {
    for c in [1, 2, 7, 8, 9, 10, 17, 40] {
        for dim in [1, 3, 8] {
            for tries in [1, 5, TRIES] {
                agree::<f64>(KernelKind::Laplace, c, dim, tries, 600);
            }
        }
    }
}

/// With nineteen others two tiles are full, and blocks stop early.
#[test]
fn every_kernel_follows_the_core_with_early_rejection() {
    for &kind in KernelKind::ALL {
        agree::<f64>(kind, 20, 24, TRIES, 10_000);
        agree::<f64>(kind, 20, 24, 1, 2_000);
        agree::<f32>(kind, 20, 24, TRIES, 1_000);
    }
}

/// Return the first rows of a ground set as proposals, none of them a landmark of `slot`.
fn proposals_for<T: Lane>(slot: &OpenSlot<'_, '_, T, Ground<'_, T>>, count: usize) -> Vec<Proposal<T>> {
    let free = (0..slot.ground().len()).filter(|row| !slot.others().contains(row));
    // Unequal uniforms, in no order.
    let uniform = |lane: usize| T::from_f64((lane * 7 % TRIES) as f64 / TRIES as f64);
    free.take(count)
        .enumerate()
        .map(|(lane, entering)| Proposal { entering, uniform: uniform(lane) })
        .collect()
}

/// Run the substitution alone, with the machine's vectors or scalar code; return whether it was finished, and
/// the residuals.
fn substitute<T: Lane>(
    lanes: &mut Lanes<T>,
    slot: &OpenSlot<'_, '_, T, Ground<'_, T>>,
    proposals: &[Proposal<T>],
    thresholds: &[T; TRIES],
    portable: bool,
) -> (bool, [T; TRIES]) {
    lanes.gather(slot.ground(), proposals);
    let mut residuals = [T::ZERO; TRIES];
    for (residual, proposal) in residuals.iter_mut().zip(proposals) {
        *residual = slot.ground().diagonal(proposal.entering);
    }
    let substitution = Substitution {
        ground: slot.ground(),
        slot,
        candidates: proposals.len(),
        features: &lanes.features,
        z: &mut lanes.z,
        residuals: &mut residuals,
        thresholds,
    };
    let finished =
        if portable { substitution.with_simd(pulp::Scalar) } else { lanes.arch.dispatch(substitution) };
    (finished, residuals)
}

/// Return the row's weights on the others, `K_RR⁻¹ k_R(v)`, from the factor, in `f64`.
fn weights<T: Lane>(slot: &OpenSlot<'_, '_, T, Ground<'_, T>>, entries: &[f64]) -> Vec<f64> {
    let row = |k: usize| -> Vec<f64> { slot.row(k).iter().map(|entry| entry.to_f64()).collect() };
    let mut x = entries.to_vec();
    for k in 0..x.len() {
        let row = row(k);
        let sum: f64 = row[..k].iter().zip(&x).map(|(l, z)| l * z).sum();
        x[k] = (x[k] - sum) / row[k];
    }
    for k in (0..x.len()).rev() {
        let row = row(k);
        x[k] /= row[k];
        for t in 0..k {
            x[t] -= row[t] * x[k];
        }
    }
    x
}

/// Compare every lane of one block with the core and with the defining equations.
fn lanes_are_exact<T: Lane>(kind: KernelKind, c: usize, dim: usize, seed: u64) {
    let rows = rows::<T>(300, dim);
    let ground = Points::new(&rows, dim, kind.build::<T>(0.9).unwrap()).unwrap();
    let wide: Vec<f64> = rows.iter().map(|feature| feature.to_f64()).collect();
    let exact = Points::new(&wide, dim, kind.build::<f64>(0.9).unwrap()).unwrap();
    let epsilon = T::EPSILON.to_f64();
    let mut memory = Heap::new(c).unwrap();
    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
    start::uniform(&mut landmarks, c, &mut Random::seeded(seed)).unwrap();
    let members = landmarks.members().to_vec();
    let mut lanes = Lanes::new(c, dim).unwrap();
    for (portable, count) in [(false, TRIES), (true, TRIES), (false, 11), (true, 27)] {
        let mut slot = OpenSlot::new(&mut landmarks, c / 2, Acceptance::Metropolis).unwrap();
        let proposals = proposals_for(&slot, count);
        lanes.z.fill(T::from_f64(f64::NAN));
        let never = [-T::ONE; TRIES];
        let (finished, residuals) = substitute(&mut lanes, &slot, &proposals, &never, portable);
        assert!(finished);
        for (lane, proposal) in proposals.iter().enumerate() {
            let context = format!("{kind:?}, c {c}, d {dim}, lane {lane} of {count}, portable {portable}");
            let v = proposal.entering;
            let z: Vec<f64> = (0..c - 1).map(|a| lanes.z[a * TRIES + lane].to_f64()).collect();
            let entries: Vec<f64> = slot.others().iter().map(|&y| exact.entry(y, v)).collect();
            // L z = k, checked by multiplying back: a kernel entry is accurate to some d ε of its terms, a
            // substitution to c ε of its own.
            for (a, entry) in entries.iter().enumerate() {
                let (mut sum, mut size) = (0.0, 0.0);
                for (l, z) in slot.row(a).iter().zip(&z) {
                    sum += l.to_f64() * z;
                    size += (l.to_f64() * z).abs();
                }
                let lengths = norm(exact.row(slot.others()[a])) * norm(exact.row(v));
                let terms = match kind {
                    KernelKind::Polynomial { degree, offset } => {
                        f64::from(degree) * (lengths + offset).powi(degree as i32)
                    }
                    KernelKind::Linear => lengths,
                    _ => 1.0,
                };
                let bound = epsilon * ((dim + 16) as f64 * terms + (c + 8) as f64 * size);
                assert!((sum - entry).abs() <= bound, "{context}: row {a}, {:e}", (sum - entry).abs());
            }
            // s = k(v, v) - Σ z² to c ε of its terms.
            let diagonal = ground.diagonal(v).to_f64();
            let squares: f64 = z.iter().map(|z| z * z).sum();
            let off = (residuals[lane].to_f64() - (diagonal - squares)).abs();
            assert!(off <= epsilon * (c + 2) as f64 * (diagonal + squares), "{context}: {off:e}");
            // The difference from the core's is at most what c + d roundings of K can cause:
            // (√k_vv + Σ |w_i| √k_ii)², w the weights of v in the others.
            let mut size = diagonal.sqrt();
            for (weight, &y) in weights(&slot, &entries).iter().zip(slot.others()) {
                size += weight.abs() * exact.diagonal(y).sqrt();
            }
            let bound = epsilon * (c + dim) as f64 * size * size;
            let mut again = Heap::new(c).unwrap();
            let mut twin = Landmarks::new(&ground, again.lend()).unwrap();
            start::given(&mut twin, &[slot.others(), &[last(&members, slot.others())]].concat()).unwrap();
            let mut core = OpenSlot::new(&mut twin, c - 1, Acceptance::Metropolis).unwrap();
            if core.try_one(Proposal { entering: v, uniform: T::ZERO }).unwrap() {
                let off = (residuals[lane] - core.residual()).to_f64().abs();
                assert!(off <= bound, "{context}: {off:e}, bound {bound:e}");
            } else {
                assert!(residuals[lane].to_f64() <= bound, "{context}");
            }
        }
        // Evaluating the block gives the same decisions as the core.
        let admitted = lanes.evaluate(&mut slot, &proposals).unwrap();
        let left = slot.residual();
        let mut again = Heap::new(c).unwrap();
        let mut twin = Landmarks::new(&ground, again.lend()).unwrap();
        start::given(&mut twin, &members).unwrap();
        let mut core = OpenSlot::new(&mut twin, c / 2, Acceptance::Metropolis).unwrap();
        assert_eq!(OneByOne.evaluate(&mut core, &proposals).unwrap(), admitted);
        assert!((core.residual() / left - T::ONE).to_f64().abs() < 1e-3);
        assert_eq!(landmarks.members(), twin.members());
        // Back to the first state, in its order.
        landmarks.truncate(0);
        start::given(&mut landmarks, &members).unwrap();
    }
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Return the member that is not among the others.
fn last(members: &[usize], others: &[usize]) -> usize {
    members.iter().copied().find(|member| !others.contains(member)).unwrap()
}

#[test]
fn every_lane_has_the_cores_residual() {
    for &kind in KernelKind::ALL {
        // Inner products have rank d: no more landmarks than features.
        let shapes: &[(usize, usize)] = if kind.has_bandwidth() {
            &[(1, 1), (2, 1), (8, 3), (9, 3), (10, 8), (33, 40), (64, 40)]
        } else {
            &[(1, 1), (2, 3), (8, 9), (9, 12), (10, 11), (33, 40), (40, 40)]
        };
        for (seed, &(c, dim)) in (0..).zip(shapes) {
            lanes_are_exact::<f64>(kind, c, dim, seed);
            lanes_are_exact::<f32>(kind, c, dim, seed);
        }
    }
}

/// A block stops after the first whole tile when all lanes have fallen below their thresholds, and continues
/// if one has not.
#[test]
fn one_lane_above_its_threshold_keeps_the_block_running() {
    fn check<T: Lane>(portable: bool) {
        const C: usize = 30;
        // Of 29 others, the five that fill no tile come first.
        const FIRST_BLOCK: usize = (5 + 8) * TRIES;
        let rows = rows::<T>(100, 5);
        let ground = Points::new(&rows, 5, KernelKind::Gaussian.build::<T>(1.0).unwrap()).unwrap();
        let mut memory = Heap::new(C).unwrap();
        let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
        start::uniform(&mut landmarks, C, &mut Random::seeded(3)).unwrap();
        let slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Barker).unwrap();
        let proposals = proposals_for(&slot, TRIES);
        let mut lanes = Lanes::new(C, 5).unwrap();
        let not_a_number = T::from_f64(f64::NAN);
        let all = [T::ONE; TRIES];
        lanes.z.fill(not_a_number);
        assert!(!substitute(&mut lanes, &slot, &proposals, &all, portable).0);
        assert!(lanes.z[..FIRST_BLOCK].iter().all(|z| z.to_f64().is_finite()));
        assert!(lanes.z[FIRST_BLOCK..].iter().all(|z| z.to_f64().is_nan()));
        for lane in 0..TRIES {
            for threshold in [-T::ONE, not_a_number] {
                let mut thresholds = all;
                thresholds[lane] = threshold;
                assert!(substitute(&mut lanes, &slot, &proposals, &thresholds, portable).0, "lane {lane}");
            }
        }
    }
    for portable in [false, true] {
        check::<f64>(portable);
        check::<f32>(portable);
    }
}

/// The square of a row overflows, with no other landmark: an error, and nothing has changed.
#[test]
fn values_that_are_not_finite_are_errors() {
    let rows = [1.0, 0.5, 1e200, 2.0];
    let ground = Points::new(&rows, 1, KernelKind::Linear.build::<f64>(1.0).unwrap()).unwrap();
    let mut memory = Heap::new(1).unwrap();
    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
    start::given(&mut landmarks, &[0]).unwrap();
    let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis).unwrap();
    let proposals = [Proposal { entering: 2, uniform: 0.0 }];
    let expected = Err(Error::NotFinite { row: 2, column: 2 });
    assert_eq!(OneByOne.evaluate(&mut slot, &proposals), expected);
    assert_eq!(Lanes::new(1, 1).unwrap().evaluate(&mut slot, &proposals), expected);
    assert_eq!((slot.residual(), landmarks.members()), (1.0, &[0][..]));
}

#[test]
fn lanes_that_are_too_small_are_rejected() {
    let rows = rows::<f64>(20, 3);
    let ground = Points::new(&rows, 3, KernelKind::Gaussian.build(1.0).unwrap()).unwrap();
    let mut memory = Heap::new(4).unwrap();
    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
    start::given(&mut landmarks, &[0, 1, 2, 3]).unwrap();
    let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis).unwrap();
    let proposals = [Proposal { entering: 7, uniform: 0.0 }];
    let mut refused = |c, dim| Lanes::new(c, dim).unwrap().evaluate(&mut slot, &proposals);
    assert_eq!(refused(2, 3), Err(Error::Capacity { needed: 3, have: 2 }));
    assert_eq!(refused(4, 2), Err(Error::Capacity { needed: 3, have: 2 }));
    assert_eq!(refused(4, 3), Ok(1));
}

/// The square of a row overflows, with any number of others: an error, not a rejection.
#[test]
fn a_diagonal_that_overflows_is_an_error_with_any_number_of_others() {
    // Orthogonal to all others, or not.
    for others in [0.0, 1.0] {
        let mut rows: Vec<f64> = rows(40, 16);
        rows.iter_mut().step_by(16).for_each(|feature| *feature *= others);
        rows[20 * 16..21 * 16].fill(0.0);
        rows[20 * 16] = 1e200;
        let ground = Points::new(&rows, 16, KernelKind::Linear.build::<f64>(1.0).unwrap()).unwrap();
        for c in [1, 2, 9, 12] {
            let mut memory = Heap::new(c).unwrap();
            let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
            start::given(&mut landmarks, &(0..c).collect::<Vec<_>>()).unwrap();
            let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis).unwrap();
            let proposals = [Proposal { entering: 20, uniform: 0.5 }];
            let expected = Err(Error::NotFinite { row: 20, column: 20 });
            assert_eq!(OneByOne.evaluate(&mut slot, &proposals), expected, "c {c}");
            assert_eq!(Lanes::new(c, 16).unwrap().evaluate(&mut slot, &proposals), expected, "c {c}");
        }
    }
}

/// Ten rows a unit apart, and one so far away that its squared distance nearly overflows, or does.
#[test]
fn rows_far_away_have_kernels_of_zero() {
    fn check<T: Lane>(far: &[f64]) {
        for &kind in KernelKind::ALL.iter().filter(|kind| kind.has_bandwidth()) {
            for &far in far {
                let mut rows: Vec<T> = (0..11).map(T::from_count).collect();
                rows[10] = T::from_f64(far);
                let ground = Points::new(&rows, 1, kind.build::<T>(1.0).unwrap()).unwrap();
                for lanes in [false, true] {
                    let mut memory = Heap::new(10).unwrap();
                    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
                    start::given(&mut landmarks, &(0..10).collect::<Vec<_>>()).unwrap();
                    let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis).unwrap();
                    let proposals = [Proposal { entering: 10, uniform: T::ZERO }];
                    let admitted = if lanes {
                        Lanes::new(10, 1).unwrap().evaluate(&mut slot, &proposals)
                    } else {
                        OneByOne.evaluate(&mut slot, &proposals)
                    };
                    assert_eq!((admitted, slot.residual()), (Ok(1), T::ONE), "{kind:?}, {far:e}, {lanes}");
                }
            }
        }
    }
    check::<f32>(&[1e6, 1e18, 5e18, 1e20, 1e37]);
    check::<f64>(&[1e9, 1e153, 1e160, 1e300]);
}

#[test]
fn blocks_of_any_length_and_rows_out_of_range() {
    let rows = rows::<f64>(40, 3);
    let ground = Points::new(&rows, 3, KernelKind::Gaussian.build(1.0).unwrap()).unwrap();
    let mut memory = Heap::new(4).unwrap();
    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
    start::given(&mut landmarks, &[0, 1, 2, 3]).unwrap();
    let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis).unwrap();
    let mut lanes = Lanes::new(4, 3).unwrap();
    let past = [Proposal { entering: 40, uniform: 0.0 }];
    assert_eq!(lanes.evaluate(&mut slot, &past), Err(Error::OutOfRange { index: 40, len: 40 }));
    // u = 0 accepts each of them, one after the other.
    let many: Vec<Proposal<f64>> = (4..40).map(|entering| Proposal { entering, uniform: 0.0 }).collect();
    assert_eq!(lanes.evaluate(&mut slot, &many), Ok(36));
}

/// Rows in `f32` under a kernel in `f64` have the values of their copies in `f64`, bit for bit.
#[test]
fn widened_rows_have_the_values_of_their_copies() {
    let (narrow, dim, c) = (rows::<f32>(150, 7), 7, 9);
    let wide: Vec<f64> = narrow.iter().map(|&value| value.into()).collect();
    for &kind in KernelKind::ALL {
        let kernel: ChosenKernel<f64> = kind.build(0.9).unwrap();
        let widened = Widened { rows: Points::new(&narrow, dim, kind.build(0.9).unwrap()).unwrap(), kernel };
        let copies = Points::new(&wide, dim, kernel).unwrap();
        let mut columns = [[0.0; 3]; 2];
        widened.column(4, &[4, 0, 149], &mut columns[0]);
        copies.column(4, &[4, 0, 149], &mut columns[1]);
        assert_eq!(columns[0], columns[1], "{kind:?}");
        assert_eq!(widened.entry(3, 8), copies.entry(3, 8), "{kind:?}");
        assert_eq!(widened.diagonal(3), copies.diagonal(3), "{kind:?}");
        assert_eq!(widened.squared_distance(3, 8), copies.squared_distance(3, 8), "{kind:?}");
        // The linear kernel has rank `dim`.
        let members: Vec<usize> = (0..dim - 1).map(|at| at * 13).collect();
        let lanes = Lanes::new(c, dim).unwrap();
        let mut left = [vec![0.0; 150], vec![0.0; 150]];
        let (mut one, mut other) = (Heap::new(c).unwrap(), Heap::new(c).unwrap());
        let mut set = Landmarks::new(&widened, one.lend()).unwrap();
        start::given(&mut set, &members).unwrap();
        lanes.residuals(&set, None, &mut left[0], &|| false).unwrap();
        let mut set = Landmarks::new(&copies, other.lend()).unwrap();
        start::given(&mut set, &members).unwrap();
        lanes.residuals(&set, None, &mut left[1], &|| false).unwrap();
        assert_eq!(left[0], left[1], "{kind:?}");
        assert!(left[0].iter().any(|&residual| residual > 1e-6), "{kind:?}");
    }
}
