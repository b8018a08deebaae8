//! A ground set of your own: rows that are computed when they are needed, with the memory of a
//! microcontroller. It uses only the core and would run without an operating system. Rows that may fail to be
//! read are in `spi_flash.rs`.

use dpp_nystrom_core::kernel::{Gaussian, Kernel};
use dpp_nystrom_core::{Chain, Error, GroundSet, Landmarks, Nystrom, Random, Rule, Workspace, start};
use std::cell::Cell;

const DIM: usize = 2;

/// A spiral, which is not stored: each row that is computed is counted.
struct Spiral {
    rows: usize,
    kernel: Gaussian<f32>,
    computed: Cell<u32>,
}

impl Spiral {
    fn row(&self, i: usize) -> [f32; DIM] {
        self.computed.set(self.computed.get() + 1);
        let angle = i as f32 * 0.37;
        [angle.sin() * (1.0 + angle / 40.0), angle.cos()]
    }
}

impl GroundSet<f32> for Spiral {
    fn len(&self) -> usize {
        self.rows
    }

    fn entry(&self, i: usize, j: usize) -> f32 {
        self.kernel.value(&self.row(i), &self.row(j))
    }

    fn diagonal(&self, _: usize) -> f32 {
        1.0
    }

    /// Computes the row itself once, and not once per landmark.
    fn column(&self, i: usize, members: &[usize], out: &mut [f32]) {
        let row = self.row(i);
        for (out, &member) in out.iter_mut().zip(members) {
            *out = self.kernel.value(&self.row(member), &row);
        }
    }
}

fn main() -> Result<(), Error> {
    let ground = Spiral { rows: 300, kernel: Gaussian::new(0.8)?, computed: Cell::new(0) };
    let mut memory = Workspace::<f32, 12>::new();
    let mut random = Random::seeded(1);
    let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    start::uniform(&mut landmarks, 12, &mut random)?;
    let before = Nystrom::new(&landmarks).trace_error(&mut [0.0; 12])?;

    let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
    ground.computed.set(0);
    let progress = chain.run(500, &mut random)?;
    let computed = ground.computed.get();
    let after = Nystrom::new(chain.landmarks()).trace_error(&mut [0.0; 12])?;
    println!("{} steps, {} swaps, {computed} rows computed", progress.steps, progress.accepted);
    println!("trace error {before:.3} -> {after:.3}, landmarks {:?}", chain.landmarks().members());
    Ok(())
}
