//! Ridge regression on a sensor's readings, which come one at a time through a queue. None is stored.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_core::{RidgeWorkspace, Workspace};
use dpp_nystrom_firmware::{Failure, board, compare, entry, finish, stack};
use dpp_nystrom_golden::data::{Reading, Sensor};
use dpp_nystrom_golden::{LANDMARKS, learn};
use heapless::spsc::Queue;
use static_cell::ConstStaticCell;

/// Not split: the two ends do not know the queue's size at compile time, divide by it, and so could panic.
static QUEUE: ConstStaticCell<Queue<Reading, 8>> = ConstStaticCell::new(Queue::new());
static MEMORY: ConstStaticCell<Workspace<f32, LANDMARKS>> = ConstStaticCell::new(Workspace::new());
static RIDGE: ConstStaticCell<RidgeWorkspace<f32, LANDMARKS>> = ConstStaticCell::new(RidgeWorkspace::new());
static ROWS: ConstStaticCell<[f32; learn::KEPT]> = ConstStaticCell::new([0.0; learn::KEPT]);

#[entry]
fn main() -> ! {
    finish(run())
}

/// Queue readings until the queue is full, as an interrupt of the sensor would.
fn sample(sensor: &mut Sensor, queue: &mut Queue<Reading, 8>) {
    while !queue.is_full() {
        let _there_is_room = queue.enqueue(sensor.read());
    }
}

/// Return the oldest reading in the queue.
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
        return Err(Failure::Wrong("the statics are already in use"));
    };
    let lent = size_of_val(memory) + size_of_val(ridge) + size_of_val(rows);
    let mut sensor = Sensor::new(1);
    let mut next = || receive(&mut sensor, queue);
    let (result, stack) = stack::measured(|| {
        let chosen = learn::choose(memory.lend(), rows, &mut next)?;
        learn::learn(&chosen, memory.lend(), ridge.lend(), rows, &mut next)
    });
    let (outcome, error) = result?;
    info!(
        "{=u32} readings for the landmarks, {=u32} learned; {=usize} bytes of memory, {=usize} of stack",
        learn::CHOOSING,
        learn::LEARNED,
        lent,
        stack
    );
    info!("test error {=f32} over {=u32} more", error, learn::PREDICTED);
    if !(error < learn::LARGEST_ERROR) {
        return Err(Failure::Wrong("the test error is too large"));
    }
    compare(&outcome, &learn::DESKTOP)
}
