//! Writes the linker script of the target's memory, and names the scripts of its run-time.

use std::{env, fs, path::PathBuf};

fn main() {
    let target = env::var("TARGET").unwrap_or_default();
    let out = PathBuf::from(env::var("OUT_DIR").unwrap_or_default());
    // The boards of `tests/sizes`: what QEMU has at these addresses.
    let (flash, ram) = match target.as_str() {
        "thumbv6m-none-eabi" => ("0x00000000, LENGTH = 256K", "0x20000000, LENGTH = 16K"),
        "thumbv8m.main-none-eabihf" => ("0x10000000, LENGTH = 256K", "0x38000000, LENGTH = 64K"),
        target if target.starts_with("riscv32") => ("0x80000000, LENGTH = 256K", "0x80040000, LENGTH = 64K"),
        _ => ("0x00000000, LENGTH = 256K", "0x20000000, LENGTH = 64K"),
    };
    let mut script = format!("MEMORY\n{{\n  FLASH : ORIGIN = {flash}\n  RAM : ORIGIN = {ram}\n}}\n");
    if target.starts_with("riscv32") {
        for (region, memory) in [
            ("TEXT", "FLASH"),
            ("RODATA", "FLASH"),
            ("DATA", "RAM"),
            ("BSS", "RAM"),
            ("HEAP", "RAM"),
            ("STACK", "RAM"),
        ] {
            script += &format!("REGION_ALIAS(\"REGION_{region}\", {memory});\n");
        }
        println!("cargo:rustc-link-arg=-Tmemory.x");
    }
    println!("cargo:rustc-link-arg=-Tlink.x");
    fs::write(out.join("memory.x"), script).expect("the folder of the build can be written");
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rerun-if-changed=build.rs");
}
