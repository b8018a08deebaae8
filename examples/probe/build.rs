//! Writes the `memory.x` of the board that the feature names, and the linker's arguments of the RP2040.

use std::path::PathBuf;
use std::{env, fs};

const NRF52840: &str = "MEMORY
{
    FLASH : ORIGIN = 0x00000000, LENGTH = 1024K
    RAM : ORIGIN = 0x20000000, LENGTH = 256K
}
";

/// The second stage of the boot loader is in front of the program.
const RP2040: &str = "MEMORY
{
    BOOT2 : ORIGIN = 0x10000000, LENGTH = 0x100
    FLASH : ORIGIN = 0x10000100, LENGTH = 2048K - 0x100
    RAM : ORIGIN = 0x20000000, LENGTH = 256K
}
";

fn main() {
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let memory = match (has("NRF52840"), has("RP2040")) {
        (true, false) => NRF52840,
        (false, true) => RP2040,
        _ => {
            panic!("choose one board: --features nrf52840, or --features rp2040 --target thumbv6m-none-eabi")
        }
    };
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("memory.x"), memory).expect("the folder can be written to");
    println!("cargo:rustc-link-search={}", folder.display());
    println!("cargo:rustc-link-arg=--nmagic");
    if memory == RP2040 {
        println!("cargo:rustc-link-arg=-Tlink-rp.x");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
