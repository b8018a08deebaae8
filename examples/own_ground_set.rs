//! A ground set of your own: rows behind a slow bus, read one at a time, with the memory of a microcontroller. It uses
//! only the core and would run without an operating system.

use dpp_nystrom_core::kernel::{Gaussian, Kernel};
use dpp_nystrom_core::{Chain, Error, GroundSet, Landmarks, Nystrom, Random, Rule, Workspace, start};
use std::cell::Cell;

const DIM: usize = 2;

/// Rows in external flash, for example: each read is counted.
struct External {
    rows: usize,
    kernel: Gaussian<f32>,
    reads: Cell<u32>,
}

impl External {
    fn read(&self, i: usize) -> [f32; DIM] {
        self.reads.set(self.reads.get() + 1);
        let angle = i as f32 * 0.37;
        [angle.sin() * (1.0 + angle / 40.0), angle.cos()]
    }
}

impl GroundSet<f32> for External {
    fn len(&self) -> usize {
        self.rows
    }

    fn entry(&self, i: usize, j: usize) -> f32 {
        self.kernel.value(&self.read(i), &self.read(j))
    }

    fn diagonal(&self, _: usize) -> f32 {
        1.0
    }

    /// Reads the row itself once, and not once per landmark.
    fn column(&self, i: usize, members: &[usize], out: &mut [f32]) {
        let row = self.read(i);
        for (out, &member) in out.iter_mut().zip(members) {
            *out = self.kernel.value(&self.read(member), &row);
        }
    }
}

fn main() -> Result<(), Error> {
    let ground = External { rows: 300, kernel: Gaussian::new(0.8)?, reads: Cell::new(0) };
    let mut memory = Workspace::<f32, 12>::new();
    let mut random = Random::seeded(1);
    let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    start::uniform(&mut landmarks, 12, &mut random)?;
    let before = Nystrom::new(&landmarks).trace_error(&mut [0.0; 12])?;

    let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
    ground.reads.set(0);
    let progress = chain.run(500, &mut random)?;
    let reads = ground.reads.get();
    let after = Nystrom::new(chain.landmarks()).trace_error(&mut [0.0; 12])?;
    println!("{} steps, {} swaps, {reads} rows read", progress.steps, progress.accepted);
    println!("trace error {before:.3} -> {after:.3}, landmarks {:?}", chain.landmarks().members());
    Ok(())
}
