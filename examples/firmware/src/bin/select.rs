//! Selects landmarks among rows in flash, fits a function on them, and prints both over semihosting. Ends
//! with status 0, or with another and the message after a panic.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use dpp_nystrom_core::{RidgeStack, Stack};
use dpp_nystrom_firmware::stack;
use dpp_nystrom_golden::{LANDMARKS, run};
use semihosting::{println, process};

#[entry]
fn main() -> ! {
    let mut memory = Stack::<f32, LANDMARKS>::new();
    let mut ridge = RidgeStack::<f32, LANDMARKS>::new();
    let answer = match run(memory.lend(), ridge.lend()) {
        Ok(answer) => answer,
        Err(error) => panic!("{error}"),
    };
    // Before printing, which takes stack of its own.
    let peak = stack::peak();
    // The best constant leaves 0.21, the variance of the targets.
    assert!(answer.mean_squared_error < 0.01, "fitted badly: {:e}", answer.mean_squared_error);
    println!("{answer}");
    println!("stack: {peak} bytes, {} of them lent", size_of_val(&memory) + size_of_val(&ridge));
    process::exit(0)
}
