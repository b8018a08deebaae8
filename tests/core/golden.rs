//! One seed, one trajectory: stack and heap, desktop and microcontroller.
//!
//! `golden.txt` is what the firmware's image prints in QEMU too (`tests/firmware` compares): the same
//! landmarks, and the weights bit for bit. A change of it changes what users' seeds give, and belongs in
//! the changelog.

use dpp_nystrom::{Heap, RidgeHeap};
use dpp_nystrom_core::{RidgeStack, Stack};
use dpp_nystrom_golden::{LANDMARKS, run};

const GOLDEN: &str = include_str!("golden.txt");

#[test]
fn the_stack_follows_the_golden_trajectory() {
    let (mut memory, mut ridge) = (Stack::<f32, LANDMARKS>::new(), RidgeStack::<f32, LANDMARKS>::new());
    let answer = run(memory.lend(), ridge.lend()).unwrap();
    assert_eq!(format!("{answer}\n"), GOLDEN);
}

#[test]
fn the_heap_follows_the_golden_trajectory() {
    let (mut memory, mut ridge) = (Heap::new(LANDMARKS).unwrap(), RidgeHeap::new(LANDMARKS).unwrap());
    let answer = run(memory.lend(), ridge.lend()).unwrap();
    assert_eq!(format!("{answer}\n"), GOLDEN);
}

#[test]
fn memory_to_spare_changes_nothing() {
    let (mut memory, mut ridge) =
        (Heap::new(3 * LANDMARKS).unwrap(), RidgeStack::<f32, { 2 * LANDMARKS }>::new());
    let answer = run(memory.lend(), ridge.lend()).unwrap();
    assert_eq!(format!("{answer}\n"), GOLDEN);
}
