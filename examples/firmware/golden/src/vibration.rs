//! The acceleration of a machine that runs: gravity, and a vibration whose strength follows its speed and its
//! load.

/// How the machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// As it should be.
    Healthy,
    /// Vertical play: the vertical vibration is stronger than speed and load account for, each axis within
    /// its range.
    Loose,
    /// Its mounting has given way: gravity comes from another direction.
    Tilted,
}

/// The machine, with the accelerometer on it.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    state: u32,
    readings: u32,
}

impl Machine {
    /// Start from this state of the generator of [`crate::data::Sensor`].
    pub const fn new(state: u32) -> Self {
        Self { state, readings: 0 }
    }

    /// Return a number in `[-1, 1)`.
    fn noise(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.state >> 8) as f32 / 8_388_608.0 - 1.0
    }

    /// Return the next reading, in units of gravity.
    pub fn read(&mut self, condition: Condition) -> [f32; 3] {
        self.readings = self.readings.wrapping_add(1);
        let (speed, load) = (triangle(self.readings, 4_096), triangle(self.readings, 16_384));
        let strengths =
            [0.1 + 0.4 * speed, 0.1 + 0.2 * speed + 0.2 * load, 0.1 + 0.3 * speed * speed + 0.1 * load];
        let [x, y, z] = strengths.map(|strength| strength * self.noise());
        match condition {
            Condition::Healthy => [x, y, 1.0 + z],
            Condition::Loose => [x, y, 1.0 + z + 0.4 * self.noise()],
            Condition::Tilted => [x + 0.5, y, 0.875 + z],
        }
    }
}

/// Return a triangle wave between 0 and 1.
fn triangle(time: u32, period: u32) -> f32 {
    let half = period / 2;
    let phase = time & (period - 1);
    (if phase < half { phase } else { period - phase }) as f32 / half as f32
}
