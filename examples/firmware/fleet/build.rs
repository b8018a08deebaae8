//! Tells the images where the model is that they learn on: tests/firmware-fleet makes it.

use std::env;

fn main() {
    println!("cargo:rerun-if-env-changed=DPP_NYSTROM_FLEET");
    let Some(folder) = env::var("DPP_NYSTROM_FLEET").ok() else {
        panic!("DPP_NYSTROM_FLEET must name a folder with model.bin; tests/firmware-fleet makes one")
    };
    println!("cargo:rerun-if-changed={folder}/model.bin");
    println!("cargo:rustc-env=DPP_NYSTROM_FLEET={folder}");
}
