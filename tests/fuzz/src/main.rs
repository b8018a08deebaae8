//! Run inputs of a target that are at hand, without libFuzzer: to look for a fault, and to measure coverage.
//!
//! ```text
//! dpp-nystrom-fuzz seeds FOLDER            write the seeds of all targets
//! dpp-nystrom-fuzz replay TARGET PATH...   run files, or all files of folders
//! ```

use std::path::{Path, PathBuf};
use std::{env, fs};

fn files(path: &Path) -> Vec<PathBuf> {
    match fs::read_dir(path) {
        Ok(entries) => entries.map(|entry| entry.expect("a folder").path()).collect(),
        Err(_) => vec![path.to_owned()],
    }
}

fn main() {
    dpp_nystrom_fuzz::begin();
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["seeds", folder] => dpp_nystrom_fuzz::seeds::write(Path::new(folder)).expect("a folder"),
        ["replay", target, ref paths @ ..] => {
            let files: Vec<PathBuf> = paths.iter().flat_map(|path| files(Path::new(path))).collect();
            files.iter().for_each(|file| dpp_nystrom_fuzz::run(target, &fs::read(file).expect("a file")));
            println!("{target}: {} inputs", files.len());
        }
        _ => {
            eprintln!("usage: dpp-nystrom-fuzz seeds FOLDER | replay TARGET PATH...");
            std::process::exit(2);
        }
    }
}
