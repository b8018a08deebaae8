//! The program of the core's README in an image with nothing else: start-up, a made-up sensor, and a
//! `Learner`. The features of this package add what else a learner does. `tests/sizes` builds the image for
//! each set of them, reads its size, runs it in QEMU, and reads the stack that it used.
//!
//! There is no log: the outcome is left in a static, and the image then waits.
#![no_std]
#![no_main]

use core::hint::{black_box, spin_loop};
use core::sync::atomic::{AtomicU32, Ordering};
use dpp_nystrom_core::{Error, Learner, Random, kernel::Gaussian};

#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
use riscv as _;
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;

/// 1 once the program has ended without an error, and 2 after one.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub static OUTCOME: AtomicU32 = AtomicU32::new(0);

static mut DEVICE: Learner<16, 4> = Learner::new();
#[cfg(feature = "save")]
static mut STATE: [u8; Learner::<16, 4>::STATE] = [0; Learner::<16, 4>::STATE];

#[entry]
fn main() -> ! {
    // SAFETY: this function runs once, and nothing else names the static.
    #[allow(unsafe_code)]
    let device = unsafe { &mut *(&raw mut DEVICE) };
    let outcome = if black_box(learn(device)).is_ok() { 1 } else { 2 };
    OUTCOME.store(outcome, Ordering::Relaxed);
    loop {
        spin_loop();
    }
}

/// A row in [0, 1) and its target.
fn read(state: &mut u32) -> ([f32; 4], f32) {
    let row = [(); 4].map(|()| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*state >> 8) as f32 / 16_777_216.0
    });
    let [a, b, c, d] = row;
    (row, a * b - c * c + d)
}

#[inline(never)]
fn learn(device: &mut Learner<16, 4>) -> Result<f32, Error> {
    let mut state = black_box(1);
    let mut read = || read(&mut state);
    let mut random = Random::seeded(7);
    device.start(Gaussian::new(6.0)?);
    for (row, target) in (0..100).map(|_| read()) {
        device.scale(&row, target)?;
    }
    device.freeze_scaling()?;
    for (row, _) in (0..300).map(|_| read()) {
        device.offer(&row, &mut random)?;
    }
    device.freeze_landmarks()?;
    for (row, target) in (0..500).map(|_| read()) {
        #[cfg(feature = "drift")]
        {
            device.forget(0.99)?;
            device.exchange(&row)?;
        }
        device.learn(&row, target)?;
    }
    #[cfg(feature = "gamma")]
    let gamma = device.choose_gamma()?;
    #[cfg(not(feature = "gamma"))]
    let gamma = 1e-6;
    device.solve(gamma)?;
    #[cfg(feature = "save")]
    {
        // SAFETY: `learn` is called once, and nothing else names the static.
        #[allow(unsafe_code)]
        let bytes = unsafe { &mut *(&raw mut STATE) };
        let length = device.write_state(random.state(), bytes)?;
        random =
            Random::resume(device.read_state(Gaussian::new(6.0)?, bytes.get(..length).unwrap_or_default())?);
        black_box(&random);
    }
    #[cfg(feature = "assess")]
    black_box(device.assess(&read().0)?);
    device.predict(&read().0)
}

/// The image links only if no panic can be reached.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[allow(unsafe_code)]
    unsafe extern "C" {
        fn this_image_can_panic() -> !;
    }
    // SAFETY: never linked, so never called.
    #[allow(unsafe_code)]
    unsafe {
        this_image_can_panic()
    }
}
