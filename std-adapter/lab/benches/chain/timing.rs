//! Alternating timing of several candidates.

use std::time::Instant;

/// Seconds of each candidate in each repetition; in a repetition they run one after the other.
pub(crate) struct Times(Vec<Vec<f64>>);

impl Times {
    /// Run every candidate once to warm up, then `repetitions` times. Candidates receive the index of the
    /// repetition.
    pub(crate) fn interleaved<E>(
        repetitions: u64,
        candidates: &mut [&mut dyn FnMut(u64) -> Result<(), E>],
    ) -> Result<Self, E> {
        let mut times = vec![Vec::new(); candidates.len()];
        for candidate in &mut *candidates {
            candidate(0)?;
        }
        for repetition in 0..repetitions {
            for (candidate, times) in candidates.iter_mut().zip(&mut times) {
                let begin = Instant::now();
                candidate(repetition)?;
                times.push(begin.elapsed().as_secs_f64());
            }
        }
        Ok(Self(times))
    }

    /// Return the median seconds of one candidate.
    pub(crate) fn seconds(&self, of: usize) -> f64 {
        median(self.0[of].clone())
    }

    /// Return the median over the repetitions of the ratio of two candidates' seconds.
    pub(crate) fn ratio(&self, of: usize, over: usize) -> f64 {
        median(self.0[of].iter().zip(&self.0[over]).map(|(of, over)| of / over).collect())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
