//! Writes a `learner!` for each capacity that `DPP_NYSTROM_LEARNERS` names: `16x4` is 16 landmarks of 4
//! features.

use std::{env, fs, path::Path};

const VARIABLE: &str = "DPP_NYSTROM_LEARNERS";

fn main() {
    println!("cargo:rerun-if-env-changed={VARIABLE}");
    let named = env::var(VARIABLE).unwrap_or_else(|_| "16x4".into());
    let mut lines = String::new();
    for name in named.split([',', ' ']).filter(|name| !name.is_empty()) {
        let (c, d) = capacity(name).unwrap_or_else(|| {
            panic!("{VARIABLE}: {name:?} is not of the form 16x4: 16 landmarks of 4 features, 1 to 1024 each")
        });
        lines += &format!("learner!(learner_{c}x{d}, \"dpp_learner_{c}x{d}_\", {c}, {d});\n");
    }
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("learners.rs"), lines).expect("OUT_DIR can be written");
}

fn capacity(name: &str) -> Option<(usize, usize)> {
    let (c, d) = name.split_once('x')?;
    let number = |text: &str| text.parse().ok().filter(|number| (1..=1_024).contains(number));
    Some((number(c)?, number(d)?))
}
