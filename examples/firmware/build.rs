//! Sets the name of the target's board, and tells the linker where its `memory.x` is.

use std::env;

fn main() {
    let target = env::var("TARGET").unwrap_or_default();
    let (board, name) = match target.as_str() {
        "thumbv7em-none-eabihf" => ("mps2-an386", "Cortex-M4F"),
        "thumbv6m-none-eabi" => ("microbit", "Cortex-M0"),
        "thumbv7m-none-eabi" => ("lm3s6965evb", "Cortex-M3"),
        "riscv32imac-unknown-none-elf" => ("virt", "RISC-V imac"),
        "riscv32imafc-unknown-none-elf" => ("virt", "RISC-V imafc"),
        _ => panic!("no board for {target}; .cargo/config.toml lists the targets"),
    };
    println!(
        "cargo:rustc-check-cfg=cfg(board, values(\"lm3s6965evb\", \"microbit\", \"mps2-an386\", \"virt\"))"
    );
    println!("cargo:rustc-cfg=board=\"{board}\"");
    println!("cargo:rustc-env=BOARD_NAME={name}");
    println!("cargo:rustc-link-search={}/boards/{board}", env!("CARGO_MANIFEST_DIR"));
    println!("cargo:rerun-if-changed=boards/{board}/memory.x");
}
