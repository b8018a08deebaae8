//! Rivals timed in turn.

use std::time::Instant;

/// Seconds of each rival in each repetition: they run one after the other, then all of them again.
pub(crate) struct Times(Vec<Vec<f64>>);

impl Times {
    /// Runs every rival once to warm up, and then so many times. Rivals get the repetition's number.
    pub(crate) fn interleaved<E>(
        repetitions: u64,
        rivals: &mut [&mut dyn FnMut(u64) -> Result<(), E>],
    ) -> Result<Self, E> {
        let mut times = vec![Vec::new(); rivals.len()];
        for rival in &mut *rivals {
            rival(0)?;
        }
        for repetition in 0..repetitions {
            for (rival, times) in rivals.iter_mut().zip(&mut times) {
                let begin = Instant::now();
                rival(repetition)?;
                times.push(begin.elapsed().as_secs_f64());
            }
        }
        Ok(Self(times))
    }

    /// The median seconds of one.
    pub(crate) fn seconds(&self, of: usize) -> f64 {
        median(self.0[of].clone())
    }

    /// The median over the repetitions of one's seconds over another's.
    pub(crate) fn ratio(&self, of: usize, over: usize) -> f64 {
        median(self.0[of].iter().zip(&self.0[over]).map(|(of, over)| of / over).collect())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
