//! A detector without a target on the accelerometer of a machine: windows of readings in, alarms out.

use crate::vibration::{Condition, Machine};
use crate::{LANDMARKS, Outcome};
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Detector, Error, Random, Scalar, Verdict};

/// Features of a window: the mean of the first axis, and the mean absolute difference of neighbours of each.
pub const FEATURES: usize = 4;
/// 16 landmarks.
pub type Device = Detector<LANDMARKS, FEATURES>;

/// Readings of a window.
const READINGS: usize = 128;
/// Windows that the scaling is measured on, and that landmarks are selected from: two and four of the cycles
/// of the machine's load.
const PREPARED: [u32; 2] = [256, 512];
/// Asked is one false alarm in so many windows.
const EVERY: u32 = 50;
/// What the machine goes through afterwards, and for how many windows.
pub const LIFE: [(Condition, u32); 4] =
    [(Condition::Healthy, 1_000), (Condition::Loose, 50), (Condition::Healthy, 200), (Condition::Tilted, 50)];
const SEED: u64 = 7;
const LABEL: &str = "predictions";

/// The bits of the threshold at first and at the end, of the sum of the scores, and of the alarms in each
/// part of the machine's life.
pub type Found = Outcome<0, { 3 + LIFE.len() }>;

/// The desktop's result.
pub const DESKTOP: Found =
    Outcome::from_golden(include_str!("../../../../tests/core/golden/detector.txt"), LABEL);

/// Return the features of the next window.
fn window(machine: &mut Machine, condition: Condition) -> [f32; FEATURES] {
    let share = 1.0 / READINGS as f32;
    let (mut features, mut before) = ([0.0; FEATURES], machine.read(condition));
    for _ in 0..READINGS {
        let reading = machine.read(condition);
        let (mean, differences) = features.split_at_mut(1);
        mean.iter_mut().zip(&reading).for_each(|(mean, value)| *mean += share * value);
        for ((sum, value), before) in differences.iter_mut().zip(&reading).zip(&before) {
            *sum += share * Scalar::abs(value - before);
        }
        before = reading;
    }
    features
}

/// Learn what is usual on a healthy machine, and watch its life. Return what was found, and the alarms of
/// each part.
///
/// # Errors
/// Those of the detector.
pub fn run(detector: &mut Device) -> Result<(Found, [u32; LIFE.len()]), Error> {
    let (mut machine, mut random) = (Machine::new(1), Random::seeded(SEED));
    let [scaled, offered] = PREPARED;
    detector.start(Gaussian::new(4.0)?, EVERY)?; // in deviations
    for _ in 0..scaled {
        detector.scale(&window(&mut machine, Condition::Healthy), &mut random)?;
    }
    detector.freeze_scaling()?;
    for _ in 0..offered {
        detector.offer(&window(&mut machine, Condition::Healthy), &mut random)?;
    }
    detector.freeze_landmarks()?;
    while detector.threshold().is_none() {
        detector.check(&window(&mut machine, Condition::Healthy))?;
    }
    let first = detector.threshold().unwrap_or_default();
    let (mut alarms, mut sum) = ([0; LIFE.len()], 0.0);
    for (count, (condition, windows)) in alarms.iter_mut().zip(LIFE) {
        for _ in 0..windows {
            match detector.check(&window(&mut machine, condition))? {
                Verdict::Alarm { score, .. } => (*count, sum) = (*count + 1, sum + score),
                Verdict::Known { score } => sum += score,
                _ => {}
            }
        }
    }
    let last = detector.threshold().unwrap_or_default();
    let counts = alarms.map(|count| count as f32);
    Ok((Outcome::new([], LABEL, [first, last, sum].into_iter().chain(counts)), alarms))
}
