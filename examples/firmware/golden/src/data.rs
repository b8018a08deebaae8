//! Rows and targets: features from an integer generator, exact in `f32`.

/// The number of features of a row.
pub const DIM: usize = 4;

/// A row and its target, as a sensor would deliver it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The features, in `[0, 1)`.
    pub row: [f32; DIM],
    /// [`target`] of them.
    pub target: f32,
}

/// Uniform features: the upper 24 bits of `s ← 1664525 s + 1013904223` modulo 2³² (Knuth and Lewis;
/// *Numerical Recipes*, 2nd ed., §7.1), divided by 2²⁴.
#[derive(Clone, Copy, Debug)]
pub struct Sensor {
    state: u32,
}

impl Sensor {
    /// Start from this state.
    pub const fn new(state: u32) -> Self {
        Self { state }
    }

    const fn feature(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.state >> 8) as f32 / 16_777_216.0
    }

    /// Return the next row with its target.
    pub fn read(&mut self) -> Reading {
        let row = core::array::from_fn(|_| self.feature());
        Reading { row, target: target(&row) }
    }
}

/// Readings without end.
impl Iterator for Sensor {
    type Item = Reading;

    fn next(&mut self) -> Option<Reading> {
        Some(self.read())
    }
}

/// Return the first `N` features of the sensor from state 1, one row after the other: for rows in flash.
pub const fn features<const N: usize>() -> [f32; N] {
    let mut features = [0.0; N];
    let mut sensor = Sensor::new(1);
    let mut i = 0;
    while i < N {
        features[i] = sensor.feature();
        i += 1;
    }
    features
}

/// Return `y(x) = x₀x₁ - x₂² + x₃ - ½`.
pub fn target(x: &[f32]) -> f32 {
    match *x {
        [a, b, c, d] => a * b - c * c + d - 0.5,
        _ => f32::NAN,
    }
}
