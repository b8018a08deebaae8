//! Which states of a fleet take part in a merge: authentic ones, one of each device, and none twice.
//!
//! A counter orders the states of one device and says nothing about those of another: whoever has a key can
//! sign any counter. So of two states of one device the later one counts, and of equal numbers under two
//! devices neither is called the copy. Their rows are merged once, and whoever signs the numbers of another
//! device cannot keep them out.

use crate::error::Error;
use crate::regression::fleet::outliers::Outlier;
use crate::regression::fleet::received::Received;
use dpp_nystrom_core::Origin;
use std::collections::BTreeMap;

/// The key of each device.
///
/// ```
/// use dpp_nystrom::core::{Origin, sign_state};
/// use dpp_nystrom::regression::{Fleet, Keys, Refusal};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem, regression::Accumulator};
/// # let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// # let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// # let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
///
/// let fleet = Fleet::of(&model)?;
/// let sums = Accumulator::<f32>::empty(model.landmarks())?;
/// let mut state = fleet.state(&sums, Some(Origin { device: 12, counter: 1 }))?;
/// sign_state(&mut state, &[7; 32])?; // on the device
/// assert!(fleet.receive("12", &state, Some(&Keys::from([(12, [7; 32])]))).is_ok());
/// let forged = fleet.receive("12", &state, Some(&Keys::from([(12, [8; 32])])));
/// assert!(matches!(forged, Err(Refusal::NotAuthentic { device: 12 })));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub type Keys = BTreeMap<u64, [u8; 32]>;

/// The counter of the last state of each device that was merged.
///
/// ```
/// use dpp_nystrom::regression::Counters;
///
/// let mut seen = Counters::from([(12, 3)]);
/// seen.insert(12, 4); // after a merge of its fourth state
/// assert_eq!(seen.get(&12), Some(&4));
/// ```
pub type Counters = BTreeMap<u64, u64>;

/// A state that is not merged.
///
/// ```
/// use dpp_nystrom::regression::{Accumulator, Counters, Received, Refusal, newest};
///
/// let mut sums = Accumulator::<f32>::empty(1)?;
/// sums.add(&[1.0], 0.5)?;
/// let states = ["a.state", "copy of a.state"].map(|name| Received::of(name, sums.clone()));
/// let (_, refused) = newest(states.to_vec(), &Counters::new());
/// assert_eq!(refused[0].name, "copy of a.state");
/// assert!(matches!(&refused[0].reason, Refusal::Twice { other } if other == "a.state"));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Refused {
    /// The name of the state.
    pub name: String,
    /// Its device and counter, if they are known.
    pub origin: Option<Origin>,
    /// Why it is not merged.
    pub reason: Refusal,
}

impl Refused {
    /// Refuse a state that was read.
    pub fn of(state: &Received, reason: Refusal) -> Self {
        Self { name: state.name.clone(), origin: state.origin, reason }
    }

    /// Refuse a state that was not.
    pub fn unread(name: String, reason: Refusal) -> Self {
        Self { name, origin: None, reason }
    }
}

/// Why a state is not merged.
///
/// ```
/// use dpp_nystrom::regression::Refusal;
///
/// let replay = Refusal::Replayed { device: 12, counter: 3, last: 5 };
/// assert!(replay.to_string().contains("is older than its state 5"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The bytes are not a state on the landmarks of the fleet.
    #[error("{0}; give states of devices with one model, and that model")]
    Invalid(Error),
    /// Keys are required, and the state does not say which device it is of.
    #[error(
        "it does not say which device it is of, and so no key can show it; let the device write its number and sign"
    )]
    NoOrigin,
    /// There is no key for the device.
    #[error("there is no key for its device, {device}: it is not of this fleet, or its key was withdrawn")]
    NoKey {
        /// The device that the state names.
        device: u64,
    },
    /// The tag is not that of the device's key.
    #[error(
        "it is not authentic under the key of device {device}: another key signed it, none did, or it was changed"
    )]
    NotAuthentic {
        /// The device that the state names.
        device: u64,
    },
    /// The state is older than one that was merged before.
    #[error(
        "the state {counter} of device {device} is older than its state {last}, which was merged before: a replay?"
    )]
    Replayed {
        /// The device.
        device: u64,
        /// The counter of the state.
        counter: u64,
        /// The counter of the last state of the device that was merged.
        last: u64,
    },
    /// There is a later state of the device.
    #[error("{later} is a later state of its device, {device}")]
    Older {
        /// The device.
        device: u64,
        /// The name of the later state.
        later: String,
    },
    /// The same state is there twice.
    #[error("the same state as {other}, given twice")]
    Twice {
        /// The name of the other.
        other: String,
    },
    /// The device wrote different states under one counter.
    #[error(
        "{other} is another state of device {device} with the counter {counter}: its counter was reset, or two devices have its number \
         and key"
    )]
    Ambiguous {
        /// The device.
        device: u64,
        /// The counter of both.
        counter: u64,
        /// The name of the other.
        other: String,
    },
    /// Another device has the same numbers: one of the two copied. The rows are merged once, as the other's.
    #[error("it has the numbers of {other}{}: one copied the other; they are merged once", of_device(.device))]
    Copy {
        /// The name of the other state.
        other: String,
        /// The other device, if it is known.
        device: Option<u64>,
    },
    /// A figure is far from those of the other devices.
    #[error("{0}")]
    Outlier(Outlier),
}

fn of_device(device: &Option<u64>) -> String {
    device.map_or_else(String::new, |device| format!(", a state of device {device}"))
}

/// Split states into those that take part in a merge and those that do not: of each device its latest state,
/// none that is older than `seen` says, and no numbers twice.
///
/// ```
/// use dpp_nystrom::core::Origin;
/// use dpp_nystrom::regression::{Accumulator, Counters, Received, newest};
///
/// let mut sums = Accumulator::<f32>::empty(1)?;
/// sums.add(&[1.0], 0.5)?;
/// let state = |name: &str, counter| {
///     let mut state = Received::of(name, sums.clone());
///     state.origin = Some(Origin { device: 0, counter });
///     state
/// };
/// let (taken, refused) = newest(vec![state("old", 4), state("new", 6)], &Counters::from([(0, 5)]));
/// assert_eq!(taken[0].name, "new");
/// assert!(refused[0].reason.to_string().contains("replay"));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn newest(states: Vec<Received>, seen: &Counters) -> (Vec<Received>, Vec<Refused>) {
    let mut reasons: Vec<Option<Refusal>> = states.iter().map(|state| replay(state, seen)).collect();
    for at in 0..states.len() {
        if reasons[at].is_some() {
            continue;
        }
        // The latest of the others, and the first of these, is named.
        let of_other = |(other, state): (usize, &Received)| {
            let reason = of_device_too(&states[at], at, state, other)?;
            Some((state.origin?.counter, reason))
        };
        let named = states.iter().enumerate().rev().filter_map(of_other).max_by_key(|&(counter, _)| counter);
        reasons[at] = named.map(|(_, reason)| reason);
    }
    let taken = |reasons: &[Option<Refusal>], at: usize| reasons[at].is_none();
    // The server's own first: what equals it is the other's.
    let mut order: Vec<usize> = (0..states.len()).filter(|&at| taken(&reasons, at)).collect();
    order.sort_by_key(|&at| !states[at].trusted);
    for (place, &at) in order.iter().enumerate() {
        let same = |&&other: &&usize| taken(&reasons, other) && states[other].has_numbers_of(&states[at]);
        let Some(&other) = order[..place].iter().find(same) else { continue };
        let [own, other] = [at, other].map(|at| &states[at]);
        reasons[at] = Some(match (own.origin, other.origin) {
            (None, None) => Refusal::Twice { other: other.name.clone() },
            (_, origin) => {
                Refusal::Copy { other: other.name.clone(), device: origin.map(|origin| origin.device) }
            }
        });
    }
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for (state, reason) in states.into_iter().zip(reasons) {
        match reason {
            None => kept.push(state),
            Some(reason) => refused.push(Refused::of(&state, reason)),
        }
    }
    (kept, refused)
}

/// Refuse a state that is older than the last one that was merged.
fn replay(state: &Received, seen: &Counters) -> Option<Refusal> {
    let Origin { device, counter } = state.claim()?;
    let &last = seen.get(&device).filter(|&&last| counter < last)?;
    Some(Refusal::Replayed { device, counter, last })
}

/// Refuse a state for another of its device: a later one, an equal one before it, or a different one of its
/// counter.
fn of_device_too(state: &Received, at: usize, other: &Received, other_at: usize) -> Option<Refusal> {
    let (own, later) = (state.claim()?, other.claim()?);
    if at == other_at || own.device != later.device || own.counter > later.counter {
        return None;
    }
    let (device, name) = (own.device, other.name.clone());
    if own.counter < later.counter {
        Some(Refusal::Older { device, later: name })
    } else if state.accumulated != other.accumulated {
        Some(Refusal::Ambiguous { device, counter: own.counter, other: name })
    } else {
        (other_at < at).then_some(Refusal::Twice { other: name })
    }
}

#[cfg(test)]
mod tests {
    use super::{Counters, newest};
    use crate::regression::fleet::received::Received;
    use crate::regression::rows::accumulator::Accumulator;
    use dpp_nystrom_core::Origin;

    fn state(name: &str, origin: Option<(u64, u64)>, target: f32) -> Received {
        let mut accumulated = Accumulator::empty(1).unwrap();
        accumulated.add(&[1.0], target).unwrap();
        let origin = origin.map(|(device, counter)| Origin { device, counter });
        Received { name: name.into(), origin, accumulated, trusted: name == "own" }
    }

    /// The names of those that are taken, and each refusal by its name and a word of its reason.
    fn check(states: &[Received], taken: &[&str], refused: &[(&str, &str)]) {
        // Their order decides which of two equal ones is named, and nothing else.
        let (kept, others) = newest(states.to_vec(), &Counters::from([(7, 5)]));
        assert_eq!(kept.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), taken);
        assert_eq!(others.len(), refused.len(), "{others:?}");
        for ((name, words), other) in refused.iter().zip(&others) {
            let told = other.reason.to_string();
            assert!(other.name == *name && told.contains(words), "{name} {words}: {told}");
        }
    }

    #[test]
    fn each_device_takes_part_once() {
        let (a, b, c) = (1.0, 2.0, 3.0);
        check(&[state("x", None, a), state("y", None, b)], &["x", "y"], &[]);
        check(&[state("x", None, a), state("y", None, a)], &["x"], &[("y", "given twice")]);
        check(
            &[state("x", Some((1, 5)), a), state("y", Some((1, 6)), b), state("z", Some((1, 4)), c)],
            &["y"],
            &[("x", "y is a later state of its device, 1"), ("z", "y is a later")],
        );
        // Device 0, from its first state on.
        let zeros = [state("x", Some((0, 0)), a), state("y", Some((0, 0)), b), state("z", Some((0, 0)), c)];
        check(&zeros, &[], &[("x", "y is another state of device 0"), ("y", "x is"), ("z", "x is")]);
        check(&[state("x", Some((0, 0)), a), state("y", Some((0, 1)), b)], &["y"], &[("x", "later")]);
        check(&[state("x", Some((1, 5)), a), state("y", Some((1, 5)), a)], &["x"], &[("y", "given twice")]);
    }

    #[test]
    fn what_was_merged_is_not_replaced_by_what_is_older() {
        check(
            &[state("x", Some((7, 4)), 1.0), state("y", Some((8, 4)), 2.0)],
            &["y"],
            &[("x", "older than its state 5")],
        );
        check(&[state("x", Some((7, 5)), 1.0)], &["x"], &[]);
    }

    /// A copier with any counter, before the author or after: the rows are in the model once, and both are
    /// named.
    #[test]
    fn a_copy_does_not_evict_its_author() {
        for counter in [0, 99] {
            let (author, copy) = (state("author", Some((1, 5)), 1.0), state("copy", Some((9, counter)), 1.0));
            let named = [("copy", "the numbers of author, a state of device 1")];
            check(&[author.clone(), copy.clone()], &["author"], &named);
            check(&[copy, author], &["copy"], &[("author", "the numbers of copy, a state of device 9")]);
        }
        // An older state that was copied, without a device, and the server's own.
        let (old, new) = (state("old", Some((1, 5)), 1.0), state("new", Some((1, 6)), 2.0));
        check(&[old, new, state("copy", Some((9, 1)), 1.0)], &["new", "copy"], &[("old", "later")]);
        // Which no counter excludes.
        check(&[state("own", Some((7, 1)), 1.0), state("x", Some((7, 6)), 2.0)], &["own", "x"], &[]);
        check(
            &[state("x", Some((1, 5)), 1.0), state("own", None, 1.0)],
            &["own"],
            &[("x", "the numbers of own: one copied")],
        );
    }
}
