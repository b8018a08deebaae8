//! A state of a device as it was received.

use crate::regression::rows::accumulator::Accumulator;
use dpp_nystrom_core::Origin;

/// A state that was read, and where it comes from.
///
/// ```
/// use dpp_nystrom::regression::{Accumulator, Received};
///
/// let mut sums = Accumulator::<f32>::empty(1)?;
/// sums.add(&[1.0], 0.5)?;
/// let received = Received::of("roof.state", sums);
/// assert_eq!((received.accumulated.rows(), received.origin, received.trusted), (1, None, false));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Received {
    /// The name under which it is reported, such as that of its file.
    pub name: String,
    /// The device and its counter, if the state says them. Only a key shows that they are true.
    pub origin: Option<Origin>,
    /// The sums over its rows.
    pub accumulated: Accumulator<f32>,
    /// Whether it is the server's own: neither limited nor compared with the others.
    pub trusted: bool,
}

impl Received {
    /// Return sums of unknown origin.
    pub fn of(name: impl Into<String>, accumulated: Accumulator<f32>) -> Self {
        Self { name: name.into(), origin: None, accumulated, trusted: false }
    }

    /// Return the device and the counter by which it is compared with other states.
    pub(crate) fn claim(&self) -> Option<Origin> {
        self.origin.filter(|_| !self.trusted)
    }

    /// Whether both have the same rows, as far as sums can tell.
    pub(crate) fn has_numbers_of(&self, other: &Self) -> bool {
        self.accumulated.rows() > 0 && self.accumulated == other.accumulated
    }
}
