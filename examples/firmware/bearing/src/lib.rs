//! A bearing that begins to fail: windows of its vibration, their spectra in bands, and a detector that has
//! heard the healthy machine.
//!
//! | | |
//! | --- | --- |
//! | `microfft` | transforms a window of 128 readings in place, in `f32` |
//! | `micromath` | computes the magnitudes of the bins |
//! | [`Detector`] | knows the bands of the healthy machine, and its threshold |
//!
//! The square root of `micromath` is up to 6 % too large, while learning and afterwards alike, which does no
//! harm in a feature. The core does not use it: there a square root must be exact.
#![no_std]
#![forbid(unsafe_code)]

mod machine;

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Detector, Error, Random, Verdict};
use dpp_nystrom_golden::{LANDMARKS, Outcome};
pub use machine::{Machine, READINGS};
use micromath::F32Ext;

/// Bands of a spectrum: 320 Hz each.
pub const BANDS: usize = 8;
/// Bins of a band.
const BINS: usize = READINGS / 2 / BANDS;
/// 16 landmarks.
pub type Device = Detector<LANDMARKS, BANDS>;

/// Windows that the scaling is measured on, and that landmarks are selected from.
const PREPARED: [u32; 2] = [256, 512];
/// Asked is one false alarm in so many windows.
const EVERY: u32 = 100;
/// Windows of the healthy machine that are watched, and of the pit in its bearing, which grows evenly.
pub const LIFE: [u32; 2] = [1_000, 200];
/// So many alarms one after the other are a fault.
const ALARMS: u32 = 3;
const SEED: u64 = 7;
const LABEL: &str = "predictions";

/// The bits of the threshold at first and at the end, of the sum of the scores, of what was counted, and of
/// the bands of the last window.
pub type Found = Outcome<0, { 3 + 4 + BANDS }>;

/// The desktop's result.
pub const DESKTOP: Found =
    Outcome::from_golden(include_str!("../../../../tests/core/golden/bearing.txt"), LABEL);

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Alarms of the healthy machine, and of the machine with a pit.
    pub alarms: [u32; 2],
    /// Windows until three alarms came one after the other: with a pit, where none did before it.
    pub windows: Option<u32>,
    /// The band that was farthest from what is known in the last alarm.
    pub band: usize,
}

/// Return the sums of the magnitudes of the bins in each band. The window is tapered by a parabola (Welch),
/// and its mean, gravity, is taken off.
#[inline(never)]
pub fn bands(window: &[f32; READINGS]) -> [f32; BANDS] {
    let mean = window.iter().sum::<f32>() * (1.0 / READINGS as f32);
    let mut tapered = *window;
    let mut place = -1.0;
    for value in &mut tapered {
        *value = (*value - mean) * (1.0 - place * place);
        place += 2.0 / READINGS as f32;
    }
    let bins = microfft::real::rfft_128(&mut tapered);
    // The imaginary part of the first bin is the highest frequency.
    bins[0].im = 0.0;
    let mut bands = [0.0; BANDS];
    for (band, bins) in bands.iter_mut().zip(bins.as_chunks::<BINS>().0) {
        *band = bins.iter().map(|bin| F32Ext::sqrt(bin.re * bin.re + bin.im * bin.im)).sum();
    }
    bands
}

/// Learn what is usual on a healthy machine, watch it, and watch it while its bearing fails. `bands` is the
/// function of this name, or another computation of the same.
///
/// # Errors
/// Those of the detector.
pub fn run(
    detector: &mut Device,
    bands: impl Fn(&[f32; READINGS]) -> [f32; BANDS],
) -> Result<(Found, Heard), Error> {
    let (mut machine, mut random) = (Machine::new(1), Random::seeded(SEED));
    let [scaled, offered] = PREPARED;
    detector.start(Gaussian::new(4.0)?, EVERY)?; // in deviations
    for _ in 0..scaled {
        detector.scale(&bands(&machine.window(0.0)), &mut random)?;
    }
    detector.freeze_scaling()?;
    for _ in 0..offered {
        detector.offer(&bands(&machine.window(0.0)), &mut random)?;
    }
    detector.freeze_landmarks()?;
    while detector.threshold().is_none() {
        detector.check(&bands(&machine.window(0.0)))?;
    }
    let first = detector.threshold().unwrap_or_default();
    let (mut heard, mut row, mut sum, mut since) = (Heard::default(), [0.0; BANDS], 0.0, 0);
    let [healthy, failing] = LIFE;
    for window in 0..healthy + failing {
        let pit = window.checked_sub(healthy).map(|since| (since + 1) as f32 / failing as f32);
        row = bands(&machine.window(pit.unwrap_or_default()));
        let (is_alarm, score) = match detector.check(&row)? {
            Verdict::Alarm { score, feature, .. } => {
                heard.band = feature;
                (true, score)
            }
            Verdict::Known { score } => (false, score),
            _ => (false, 0.0),
        };
        sum += score;
        since = if is_alarm { since + 1 } else { 0 };
        let [before, after] = &mut heard.alarms;
        *(if pit.is_some() { after } else { before }) += u32::from(is_alarm);
        if since == ALARMS && heard.windows.is_none() {
            heard.windows = Some((window + 1).saturating_sub(healthy));
        }
    }
    let last = detector.threshold().unwrap_or_default();
    let [before, after] = heard.alarms;
    let counted =
        [before, after, heard.windows.unwrap_or_default(), heard.band as u32].map(|count| count as f32);
    let numbers = [first, last, sum].into_iter().chain(counted).chain(row);
    Ok((Outcome::new([], LABEL, numbers), heard))
}
