//! Tells the image where the exported models are: tests/firmware-models makes them.

use std::env;

fn main() {
    println!("cargo:rerun-if-env-changed=DPP_NYSTROM_EXPORTED");
    let Some(folder) = env::var("DPP_NYSTROM_EXPORTED").ok() else {
        panic!("DPP_NYSTROM_EXPORTED must name a folder of exported models; tests/firmware-models makes one")
    };
    println!("cargo:rerun-if-changed={folder}");
    println!("cargo:rustc-env=DPP_NYSTROM_EXPORTED={folder}");
}
