//! The vibration of a gearbox, made up: an accelerometer at 5,120 readings a second, in units of gravity.
//!
//! All of it is `+`, `-`, `*` and divisions by constants, so that the readings are the same bits everywhere.

/// Readings of a window: 25 ms, so that a bin of its spectrum is 40 Hz wide.
pub const READINGS: usize = 128;

const PERIOD: f32 = 1.0 / 5_120.0;
/// Teeth of the gear: its mesh is heard at so many times the speed of the shaft.
const TEETH: f32 = 20.0;
/// Passes of a ball over a place of the outer ring, in a turn of the shaft.
const PASSES: f32 = 3.6;
/// What a pass over a pit excites: a ringing at 1,800 Hz that is down to a tenth after 15 readings; the
/// `2 r cos ω` and `r²` of its recurrence.
const RINGING: [f32; 2] = [-1.009, 0.74];
/// The largest blow of a pit.
const BLOW: f32 = 0.8;

/// The gearbox. Its speed and its load change from window to window.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    state: u32,
    windows: u32,
    /// Phases of the shaft, of the mesh and of the balls, in [-1, 1).
    phases: [f32; 3],
    rung: [f32; 2],
}

impl Machine {
    /// Start from this state of the generator of [`dpp_nystrom_golden::data::Sensor`].
    pub const fn new(state: u32) -> Self {
        Self { state, windows: 0, phases: [0.0; 3], rung: [0.0; 2] }
    }

    /// Return a number in `[-1, 1)`.
    fn noise(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.state >> 8) as f32 / 8_388_608.0 - 1.0
    }

    /// Return the next window. `pit` is the depth of a pit in the bearing's outer ring, from 0, none, to 1.
    pub fn window(&mut self, pit: f32) -> [f32; READINGS] {
        self.windows = self.windows.wrapping_add(1);
        let (speed, load) = (triangle(self.windows, 64), triangle(self.windows, 256));
        let turns = 20.0 + 10.0 * speed; // a second
        let steps = [1.0, TEETH, PASSES].map(|rate| 2.0 * rate * turns * PERIOD);
        let strengths = [0.2 + 0.3 * speed * speed, 0.2 + 0.4 * load, 0.1 + 0.1 * speed];
        [(); READINGS].map(|()| {
            let mut passed = false;
            for ((phase, step), last) in self.phases.iter_mut().zip(steps).zip([false, false, true]) {
                *phase += step;
                if *phase >= 1.0 {
                    *phase -= 2.0;
                    passed |= last;
                }
            }
            let blow = if passed { BLOW * pit * (1.0 + 0.3 * self.noise()) } else { 0.0 };
            let [newer, older] = self.rung;
            let [first, second] = RINGING;
            let rung = blow + first * newer - second * older;
            self.rung = [rung, newer];
            let [shaft, mesh, _] = self.phases.map(wave);
            let [imbalance, teeth, rough] = strengths;
            1.0 + imbalance * shaft + teeth * mesh + rough * self.noise() + rung
        })
    }
}

/// Return two parabolas in place of a sine of half a turn times `phase`.
fn wave(phase: f32) -> f32 {
    let size = if phase < 0.0 { -phase } else { phase };
    4.0 * phase * (1.0 - size)
}

/// Return a triangle wave between 0 and 1.
fn triangle(time: u32, period: u32) -> f32 {
    let half = period / 2;
    let phase = time & (period - 1);
    (if phase < half { phase } else { period - phase }) as f32 / half as f32
}
