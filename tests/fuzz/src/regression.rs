//! Regressions: rows of any numbers, states of any bytes, merged, forgotten, solved. An error changes
//! nothing.

use crate::input::Input;
use crate::uses::{seal, use_state};
use dpp_nystrom_core::{Error, RidgeRegression, RidgeWorkspace, Scalar, StateHeader};

const FEATURES: usize = 4;
const TARGETS: usize = 3;

/// The most calls of an input, and bytes of a state.
const CALLS: usize = 16;
const STATE: usize = 1_024;

/// What the calls of one input have left: all that later results depend on. After `forget`, until it is
/// settled, without its numbers.
fn content<T: Scalar>(ridge: &RidgeRegression<'_, T>) -> (u64, u64, Option<Vec<u64>>) {
    let numbers =
        ridge.numbers().ok().map(|numbers| numbers.map(|number| number.to_f64().to_bits()).collect());
    (ridge.rows(), ridge.effective_rows().to_f64().to_bits(), numbers)
}

fn calls<T: Scalar>(input: &mut Input<'_>) {
    let (features, targets) = (1 + input.below(FEATURES), 1 + input.below(TARGETS));
    let [mut one, mut two] = [RidgeWorkspace::<T, FEATURES>::new(), RidgeWorkspace::<T, FEATURES>::new()];
    let [mut more, mut further] = [[T::ZERO; RidgeRegression::<f32>::further_numbers(FEATURES, TARGETS)]; 2];
    let mut sum = RidgeRegression::with_targets(features, targets, one.lend(), &mut more).unwrap();
    let mut part = RidgeRegression::with_targets(features, targets, two.lend(), &mut further).unwrap();
    for _ in 0..CALLS {
        if input.is_empty() {
            break;
        }
        let before = content(&sum);
        let done = match input.below(8) {
            0 => sum.merge(&part),
            1 => sum.forget(T::from_f64(input.number())),
            2 => {
                let (k, ridge) = (input.below(TARGETS + 1), T::from_f64(input.number()));
                sum.solve_target(k, ridge).map(|solution| {
                    assert!(solution.weights.iter().all(|weight| weight.is_finite()));
                })
            }
            3 => {
                let mut bytes = vec![0; STATE];
                let length = sum.write_state(7, &mut bytes).unwrap();
                // What is written is read, and is the same. A state that no rows can leave is refused.
                match part.read_state(7, &bytes[..length]) {
                    Ok(()) => assert_eq!(content(&part), content(&sum)),
                    Err(error) => assert!(matches!(error, Error::StateBytes(_)), "{error:?}"),
                }
                Ok(())
            }
            4 => {
                let bytes = input.part();
                let mut state = vec![0; STATE];
                let length = part.write_state(7, &mut state).unwrap();
                state.truncate(length);
                // An arbitrary body behind a header that fits.
                let header = StateHeader::read(&state).unwrap();
                let body = length - header.features.min(1) * bytes.len().min(length - 80.min(length));
                state[body..].iter_mut().zip(bytes).for_each(|(slot, &byte)| *slot = byte);
                seal(&mut state, false);
                sum.read_state(7, &state)
            }
            _ => {
                let row: Vec<T> = (0..features).map(|_| T::from_f64(input.number())).collect();
                let of_row: Vec<T> = (0..targets).map(|_| T::from_f64(input.number())).collect();
                let finite = row.iter().chain(&of_row).all(|value| value.is_finite());
                let added = sum.add_row(&row, &of_row);
                assert!(finite || added.is_err());
                added
            }
        };
        if done.is_err() {
            assert_eq!(content(&sum), before, "{done:?}");
        }
    }
}

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    match input.below(4) {
        0 => calls::<f32>(&mut input),
        1 => calls::<f64>(&mut input),
        _ => {
            let sealed = input.is_sealed();
            let mut bytes = input.rest().to_vec();
            if sealed && bytes.len() >= 24 {
                seal(&mut bytes, true);
            }
            let digest = StateHeader::read(&bytes).map_or(0, |header| header.digest);
            use_state(&bytes, digest);
        }
    }
}
