//! Ridge regression on a sensor's readings, which come one at a time through a queue. None is kept.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_core::{RidgeWorkspace, Workspace};
use dpp_nystrom_firmware::{Failure, board, entry, finish, judge, stack};
use dpp_nystrom_golden::data::{Reading, Sensor};
use dpp_nystrom_golden::{LANDMARKS, learn};
use heapless::spsc::Queue;
use static_cell::ConstStaticCell;

/// Whole: its two ends, once split, no longer know its size, divide by it, and so could panic.
static QUEUE: ConstStaticCell<Queue<Reading, 8>> = ConstStaticCell::new(Queue::new());
static MEMORY: ConstStaticCell<Workspace<f32, LANDMARKS>> = ConstStaticCell::new(Workspace::new());
static RIDGE: ConstStaticCell<RidgeWorkspace<f32, LANDMARKS>> = ConstStaticCell::new(RidgeWorkspace::new());
static ROWS: ConstStaticCell<[f32; learn::KEPT]> = ConstStaticCell::new([0.0; learn::KEPT]);

#[entry]
fn main() -> ! {
    finish(run())
}

/// What an interrupt of the sensor would do: readings go into the queue as long as there is room.
fn sample(sensor: &mut Sensor, queue: &mut Queue<Reading, 8>) {
    while !queue.is_full() {
        let _there_is_room = queue.enqueue(sensor.read());
    }
}

/// The oldest reading in the queue.
fn receive(sensor: &mut Sensor, queue: &mut Queue<Reading, 8>) -> Reading {
    loop {
        match queue.dequeue() {
            Some(reading) => return reading,
            None => sample(sensor, queue),
        }
    }
}

fn run() -> Result<(), Failure> {
    info!("learn: {=str}", board::NAME);
    let (Some(queue), Some(memory), Some(ridge), Some(rows)) =
        (QUEUE.try_take(), MEMORY.try_take(), RIDGE.try_take(), ROWS.try_take())
    else {
        return Err(Failure::Wrong("the statics were taken before"));
    };
    let lent = size_of_val(memory) + size_of_val(ridge) + size_of_val(rows);
    let mut sensor = Sensor::new(1);
    let mut next = || receive(&mut sensor, queue);
    let (result, stack) = stack::measured(|| {
        let chosen = learn::choose(memory.lend(), rows, &mut next)?;
        learn::learn(&chosen, memory.lend(), ridge.lend(), rows, &mut next)
    });
    let (answer, error) = result?;
    info!(
        "{=u32} readings chose landmarks, {=u32} were learned; {=usize} bytes for all, {=usize} of stack",
        learn::CHOOSING,
        learn::LEARNED,
        lent,
        stack
    );
    info!("test error {=f32} over {=u32} more", error, learn::PREDICTED);
    if !(error < learn::LARGEST_ERROR) {
        return Err(Failure::Wrong("learned badly"));
    }
    judge(&answer, &learn::DESKTOP)
}
