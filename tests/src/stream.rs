//! Streams of rows of a ground set, for tests of [`StreamChain`].

use crate::room::Room;
use crate::script::Script;
use dpp_nystrom_core::kernel::Linear;
use dpp_nystrom_core::{Acceptance, Offer, Scalar, StreamChain};

/// Rows under their linear kernel, from which streams are drawn.
#[derive(Clone, Debug)]
pub struct Source<T> {
    /// The rows, one after the other.
    pub rows: Vec<T>,
    /// The number of features of a row.
    pub dim: usize,
}

/// The memory of a chain.
#[derive(Clone, Debug)]
pub struct StreamRoom<T> {
    rows: Vec<T>,
    room: Room<T>,
}

impl<T: Scalar> StreamRoom<T> {
    /// Create memory for `c` landmarks of `dim` features, filled with NaN.
    pub fn new(c: usize, dim: usize) -> Self {
        Self { rows: vec![T::from_f64(f64::NAN); (c + 1) * dim], room: Room::new(c) }
    }

    /// Create a chain in this memory.
    ///
    /// # Panics
    /// When the memory is for fewer landmarks.
    pub fn chain(&mut self, c: usize, dim: usize, acceptance: Acceptance) -> StreamChain<'_, T, Linear> {
        StreamChain::new(Linear, c, dim, &mut self.rows, self.room.lend(), acceptance)
            .expect("the room is for c")
    }
}

impl<T: Scalar> Source<T> {
    /// Return row `i`.
    pub fn row(&self, i: usize) -> &[T] {
        &self.rows[i * self.dim..(i + 1) * self.dim]
    }

    /// Return the number of the row that has these features.
    ///
    /// # Panics
    /// When no row has.
    pub fn number_of(&self, row: &[T]) -> usize {
        self.rows.chunks(self.dim).position(|other| other == row).expect("a row of the source")
    }

    /// Return the numbers of the rows that are landmarks, in the factor's order.
    pub fn members(&self, chain: &StreamChain<'_, T, Linear>) -> Vec<usize> {
        let rows: Vec<&[T]> = chain.rows().chunks(self.dim).collect();
        chain.members().iter().map(|&place| self.number_of(rows[place])).collect()
    }

    /// Create a chain whose landmarks are these rows, in this order.
    ///
    /// # Panics
    /// When they depend on one another, or when appending them draws a number.
    pub fn started<'r>(
        &self,
        room: &'r mut StreamRoom<T>,
        members: &[usize],
        acceptance: Acceptance,
    ) -> StreamChain<'r, T, Linear> {
        let mut chain = room.chain(members.len(), self.dim, acceptance);
        for (place, &row) in members.iter().enumerate() {
            let offer = chain.offer(self.row(row), &mut Script::new(&[]));
            assert_eq!(offer, Ok(Offer::Joined { place }), "row {row}");
        }
        chain
    }

    /// Count the 2³² draws for the acceptance with which row `entering` is admitted to `slot` of these
    /// landmarks: all draws up to one of them, if the threshold increases with the draw.
    pub fn draws_that_admit(
        &self,
        members: &[usize],
        slot: usize,
        entering: usize,
        acceptance: Acceptance,
    ) -> u64 {
        let mut room = StreamRoom::new(members.len(), self.dim);
        let mut admits = |draw: u32| {
            let mut chain = self.started(&mut room, members, acceptance);
            let mut script = Script::new(&[Script::choosing(slot, members.len()), draw]);
            let offer = chain.offer(self.row(entering), &mut script).expect("finite rows");
            assert_eq!(script.left(), 0, "a slot and an acceptance are drawn");
            offer != Offer::Declined
        };
        let (mut most, mut step) = (0_u64, 1_u64 << 31);
        if !admits(0) {
            return 0;
        }
        while step > 0 {
            if admits((most + step) as u32) {
                most += step;
            }
            step /= 2;
        }
        most + 1
    }
}
