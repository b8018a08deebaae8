//! What is novel in the readings of an accelerometer, after some time of quiet.
//!
//! | | |
//! | --- | --- |
//! | `heapless` | holds the window of readings |
//! | `micromath` | computes means, deviations and norms of the window: features, whose error of a few per cent is the same in learning and in use; never anything of the kernel, of a factor or of a logarithm, where it would be 30,000 times coarser than the core's own |
//! | [`Learner`] | knows the windows of the quiet time by its landmarks, and what the vertical vibration is there |
//!
//! A window is novel for one of two reasons: no landmark explains its features (the Nyström residual), or
//! they are known and the vertical vibration is another than it was. Both limits are the largest values over
//! quiet windows that were not learned.

use dpp_nystrom_core::{Error, Learner, Phase, Random, kernel::Gaussian};
use heapless::Vec;
use micromath::statistics::{Mean, StdDev};
use micromath::vector::{F32x3, Vector};

/// Readings of a window.
pub(crate) const READINGS: usize = 64;
/// Windows that the scaling is measured on, that landmarks are selected from, that are learned, and that the
/// limits are from.
pub(crate) const WINDOWS: [u32; 4] = [256, 512, 512, 256];
const FEATURES: usize = 3;
const LANDMARKS: usize = 16;

/// What a window is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Learning: the quiet time is not over.
    Quiet,
    /// As in the quiet time.
    Known,
    /// Its features are as in no quiet window. With the residual.
    Unknown(f32),
    /// Its features are known, its vertical vibration is not what belongs to them. With the difference.
    Unexpected(f32),
}

/// The monitor of one accelerometer, all of it in one static.
pub(crate) struct Monitor {
    window: [Vec<f32, READINGS>; 3],
    /// The mean acceleration of the first window.
    rest: Option<F32x3>,
    learner: Learner<LANDMARKS, FEATURES>,
    /// Windows of the present part of the quiet time.
    windows: u32,
    /// The largest residual and the largest difference of a quiet window.
    limits: [f32; 2],
}

impl Monitor {
    /// Return a monitor that has seen nothing.
    pub(crate) const fn new() -> Self {
        Self {
            window: [const { Vec::new() }; 3],
            rest: None,
            learner: Learner::new(),
            windows: 0,
            limits: [0.0; 2],
        }
    }

    /// Return the largest residual and the largest difference of a quiet window.
    pub(crate) fn limits(&self) -> [f32; 2] {
        self.limits
    }

    /// Take a reading. Return the verdict on the window that it completes.
    ///
    /// # Errors
    /// Those of the learner.
    pub(crate) fn read(&mut self, reading: [f32; 3], random: &mut Random) -> Result<Option<Verdict>, Error> {
        for (axis, value) in self.window.iter_mut().zip(reading) {
            // There is room: the window is emptied when it is full.
            let _ = axis.push(value);
        }
        let [x, y, z] = &self.window;
        if !z.is_full() {
            return Ok(None);
        }
        let mean = |axis: &Vec<f32, READINGS>| axis.iter().copied().mean();
        let mean = F32x3 { x: mean(x), y: mean(y), z: mean(z) };
        let tilt = self.rest.get_or_insert(mean).distance(mean);
        let (row, vertical) = ([tilt, x.as_slice().stddev(), y.as_slice().stddev()], z.as_slice().stddev());
        self.window.iter_mut().for_each(Vec::clear);
        self.judge(&row, vertical, random).map(Some)
    }

    fn judge(&mut self, row: &[f32; FEATURES], vertical: f32, random: &mut Random) -> Result<Verdict, Error> {
        let [scaled, offered, learned, limited] = WINDOWS;
        let learner = &mut self.learner;
        self.windows = self.windows.saturating_add(1);
        match learner.phase() {
            Phase::Idle => {
                learner.start(Gaussian::new(1.5)?); // in standard deviations
                learner.scale(row, vertical)?;
            }
            Phase::Scaling => {
                learner.scale(row, vertical)?;
                if self.windows == scaled {
                    learner.freeze_scaling()?;
                    self.windows = 0;
                }
            }
            Phase::Selecting => {
                learner.offer(row, random)?;
                if self.windows == offered {
                    learner.freeze_landmarks()?;
                    self.windows = 0;
                }
            }
            Phase::Learning => {
                learner.learn(row, vertical)?;
                if self.windows == learned {
                    learner.solve(1e-4)?;
                    self.windows = 0;
                }
            }
            Phase::Predicting => {
                let found = [learner.residual(row)?, (vertical - learner.predict(row)?).abs()];
                let [residual, difference] = found;
                let [most_residual, most_difference] = self.limits;
                if self.windows <= limited {
                    self.limits = [most_residual.max(residual), most_difference.max(difference)];
                } else if residual > most_residual {
                    return Ok(Verdict::Unknown(residual));
                } else if difference > most_difference {
                    return Ok(Verdict::Unexpected(difference));
                } else {
                    return Ok(Verdict::Known);
                }
            }
        }
        Ok(Verdict::Quiet)
    }
}

impl Default for Monitor {
    fn default() -> Self {
        Self::new()
    }
}
