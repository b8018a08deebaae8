//! The acceptance probabilities of all swaps that bring in one row.
//!
//! With `M = K_R⁻¹`, `m = M k_R(u)` and the residual `s = k(u, u) - k_R(u)ᵀ m`, swapping the member at index
//! `i` for `u` multiplies the determinant by `r_i = M_ii s + m_i²`: `O(c²)` for all indices, where
//! [`Landmarks::swap`] takes `O(c²)` for each.

use dpp_nystrom::Error;
use dpp_nystrom::core::{Acceptance, Error as CoreError, GroundSet, Landmarks, Memory, Nystrom, Swap, start};

/// A state of the chain, and workspace to evaluate its swaps.
pub(super) struct Swaps<'a, G: ?Sized> {
    landmarks: Landmarks<'a, f64, G>,
    inverse_diagonal: Vec<f64>,
    column: Vec<f64>,
}

impl<'a, G: GroundSet<f64> + ?Sized> Swaps<'a, G> {
    /// Return the state `shared ∪ {last}`; none if it is singular.
    pub(super) fn new(
        ground: &'a G,
        shared: &[usize],
        last: usize,
        memory: Memory<'a, f64>,
    ) -> Result<Option<Self>, Error> {
        let mut landmarks = Landmarks::new(ground, memory).map_err(Error::landmarks)?;
        match start::given(&mut landmarks, shared).and_then(|()| landmarks.push(last)) {
            Err(CoreError::NotPositive { .. }) => return Ok(None),
            other => other.map_err(Error::landmarks)?,
        }
        let c = landmarks.len();
        let mut column = vec![0.0; c];
        let mut inverse_diagonal = vec![0.0; c];
        for (i, entry) in inverse_diagonal.iter_mut().enumerate() {
            column.fill(0.0);
            column[i] = 1.0;
            landmarks.factor().solve_lower(&mut column).map_err(Error::landmarks)?;
            *entry = column.iter().map(|x| x * x).sum();
        }
        Ok(Some(Self { landmarks, inverse_diagonal, column }))
    }

    /// Return, for each member of `shared` and then for the last, the probability `q` with which the chain
    /// swaps it for `entering`.
    pub(super) fn probabilities(&mut self, entering: usize) -> Result<&[f64], Error> {
        let residual =
            Nystrom::new(&self.landmarks).residual(entering, &mut self.column).map_err(Error::landmarks)?;
        self.landmarks.factor().solve_upper(&mut self.column).map_err(Error::landmarks)?;
        for (entry, inverse) in self.column.iter_mut().zip(&self.inverse_diagonal) {
            let ratio = inverse * residual + *entry * *entry;
            *entry = Swap { entering: ratio, leaving: 1.0 }.probability(Acceptance::Barker);
        }
        Ok(&self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::Swaps;
    use dpp_nystrom::core::{Acceptance, Landmarks, Points, kernel::Gaussian, start};
    use dpp_nystrom_host::heap::Heap;

    #[test]
    fn all_swaps_at_once_agree_with_one_at_a_time() {
        let rows: Vec<f64> = (0..24).map(|i| f64::from(i * 7 % 24) / 5.0).collect();
        let ground = Points::new(&rows, 2, Gaussian::new(0.8).unwrap()).unwrap();
        let (mut one, mut other) = (Heap::new(4).unwrap(), Heap::new(4).unwrap());
        let mut swaps = Swaps::new(&ground, &[3, 7, 0], 11, one.lend()).unwrap().unwrap();
        let mut landmarks = Landmarks::new(&ground, other.lend()).unwrap();
        start::given(&mut landmarks, &[3, 7, 0, 11]).unwrap();
        for entering in [1, 2, 4, 5, 6, 8, 9, 10] {
            let all = swaps.probabilities(entering).unwrap().to_vec();
            for (place, found) in all.into_iter().enumerate() {
                let expected = landmarks.swap(place, entering).unwrap().probability(Acceptance::Barker);
                assert!((found - expected).abs() < 1e-12, "{place} {entering}: {found} {expected}");
            }
        }
    }
}
