//! Output files that cannot be written, and what remains after a failure.

use crate::command::{Folder, Run};
use crate::sample::Sample;
use std::fs;
use std::process::Stdio;

/// Create rows `a.csv`, a model `m` fitted on them, and a folder `folder`.
fn folder() -> Folder {
    let folder = Folder::with("a.csv", Sample::new(60, 2).csv());
    folder.run("fit --metric one a.csv --landmarks 5 --model m").good();
    fs::create_dir(folder.path("folder")).unwrap();
    folder
}

/// Commands that write files, without the file name.
const WRITERS: [&str; 3] = [
    "select a.csv --landmarks 5 --out",
    "fit --metric one a.csv --landmarks 5 --model",
    "predict m a.csv --out",
];

#[test]
fn paths_that_cannot_be_written() {
    let folder = folder();
    for writer in WRITERS {
        for (name, why) in [
            ("nowhere/x", "No such file or directory"),
            ("a.csv/x", "ot a directory"),
            ("folder", "is a directory"),
            (".", "is a directory"),
        ] {
            let run = folder.run(&format!("{writer} {name}"));
            // The message does not name the temporary file.
            assert!(!run.err.contains(".tmp"), "{}", run.err);
            run.refused(&[
                &format!("{name}: cannot be written: "),
                why,
                "; check the folder, its permissions",
            ]);
        }
    }
    assert_eq!(folder.names(), ["a.csv", "folder", "m"]);
}

#[test]
fn outputs_do_not_overwrite_inputs() {
    let folder = folder();
    let before = (folder.bytes("a.csv"), folder.bytes("m"));
    for command in [
        "select a.csv --landmarks 5 --out a.csv",
        "select a.csv --landmarks 5 --out ./folder/../a.csv",
        "fit --metric one a.csv --landmarks 5 --model a.csv",
        "predict m a.csv --out a.csv",
        "predict m a.csv --out m",
    ] {
        folder
            .run(command)
            .refused(&["the output would overwrite an input of this command; give it another name"]);
    }
    assert_eq!((folder.bytes("a.csv"), folder.bytes("m")), before);
    folder.run("select a.csv --landmarks 5 --out rows.csv").good();
    folder
        .run("fit --metric one a.csv --given rows.csv --model rows.csv")
        .refused(&["rows.csv: the output would overwrite an input"]);
}

#[test]
fn an_error_leaves_the_old_file() {
    let folder = folder();
    let before = folder.bytes("m");
    for command in [
        "fit --metric one a.csv --landmarks 0 --model m",
        "fit --metric one a.csv --landmarks 5 --target none --model m",
        "fit --metric one nowhere.csv --landmarks 5 --model m",
    ] {
        assert_eq!(folder.run(command).status, Some(1));
        assert_eq!(folder.bytes("m"), before);
    }
    folder.run("fit --metric one a.csv --landmarks 6 --model m").good();
    assert_ne!(folder.bytes("m"), before);
    assert_eq!(folder.names(), ["a.csv", "folder", "m"]);
}

/// A limit on the size of files simulates a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file() {
    use crate::command::PROGRAM;
    use std::path::Path;
    let folder = folder();
    folder.run("predict m a.csv --out p.csv").good();
    folder.run("select a.csv --landmarks 5 --out rows.csv").good();
    let before = ["m", "p.csv", "rows.csv"].map(|name| folder.bytes(name));
    for (writer, name) in WRITERS.into_iter().zip(["rows.csv", "m", "p.csv"]) {
        let script = format!("trap '' XFSZ; ulimit -f 0; exec {PROGRAM} {writer} {name}");
        let run = Run::of(&folder.program(Path::new("sh"), &["-c", &script]).output().unwrap());
        run.refused(&[&format!("{name}: cannot be written: "), "the space on the disk"]);
        // Killed by the limit instead of receiving an error.
        let script = format!("ulimit -f 0; exec {PROGRAM} {writer} {name}");
        let output = folder.program(Path::new("sh"), &["-c", &script]).output().unwrap();
        assert!(!output.status.success());
    }
    assert_eq!(["m", "p.csv", "rows.csv"].map(|name| folder.bytes(name)), before);
    // A kill leaves no temporary file either.
    assert_eq!(folder.names(), ["a.csv", "folder", "m", "p.csv", "rows.csv"]);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(folder.path("m"), fs::Permissions::from_mode(0o600)).unwrap();
    folder.run("fit --metric one a.csv --landmarks 6 --model m").good();
    assert_eq!(mode("m"), 0o600);
    // A new file has the default permissions.
    folder.write("plain", "");
    folder.run("select a.csv --landmarks 6 --out rows.csv").good();
    assert_eq!(mode("rows.csv"), mode("plain"));

    let before = folder.bytes("m");
    symlink("m", folder.path("link")).unwrap();
    folder.run("fit --metric one a.csv --landmarks 7 --model link").good();
    assert!(folder.path("link").is_symlink());
    assert_ne!(folder.bytes("m"), before);
    folder.run("info link").good();
    symlink("a.csv", folder.path("rows")).unwrap();
    folder
        .run("select a.csv --landmarks 6 --out rows")
        .refused(&["rows: the output would overwrite an input"]);
}

/// A file is whole and on the disk before it has its name, and the name is on the disk before the program
/// ends.
#[cfg(target_os = "linux")]
#[test]
fn files_and_their_names_outlast_a_loss_of_power() {
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    let folder = folder();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/faults/sync.c");
    let compile = ["-shared", "-fPIC", "-Wall", "-Werror", "-o", "sync.so", source, "-ldl"];
    let compiled = folder.program(Path::new("cc"), &compile).output().expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    folder.run("fit --metric one a.csv --landmarks 5 --precision f32 --model m32").good();
    folder.run("learn m32 a.csv --out state").good();
    let further = [
        "convert a.csv --out",
        "learn m32 a.csv --out",
        "merge state --of m32 --model",
        "export m --to bytes --out",
    ];
    for writer in WRITERS.into_iter().chain(further) {
        // A new file, and one in place of another.
        for _ in 0..2 {
            folder.write("log", "");
            let command = format!("{writer} synced");
            let words: Vec<&str> = command.split(' ').collect();
            let mut command = folder.command(&words);
            command.env("LD_PRELOAD", folder.path("sync.so")).env("SYNC_NAME", "synced");
            Run::of(&command.env("SYNC_LOG", folder.path("log")).output().unwrap()).good();
            let written = fs::metadata(folder.path("synced")).unwrap();
            // Without a name, as long as it is, and in the folder under its name.
            let file = format!("file {} 0 {}", written.ino(), written.len());
            let log = folder.text("log");
            let at = |line: &str| log.lines().position(|other| other == line);
            let order = at(&file).zip(at(&format!("folder {}", written.ino())));
            assert!(order.is_some_and(|(file, folder)| file < folder), "{writer}: {log}");
        }
        fs::remove_file(folder.path("synced")).unwrap();
    }
}

/// Devices are written to and not replaced; tested through a link, so that a bug would replace only the link.
#[cfg(unix)]
#[test]
fn devices_are_not_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::path::Path;
    let folder = folder();
    for (device, works) in [("/dev/null", true), ("/dev/full", false)] {
        if !Path::new(device).exists() {
            continue;
        }
        symlink(device, folder.path("device")).unwrap();
        for writer in WRITERS {
            let run = folder.run(&format!("{writer} device"));
            if works {
                run.good();
            } else {
                run.refused(&["device: cannot be written: No space left", "check the folder"]);
            }
        }
        assert!(folder.path("device").is_symlink());
        assert!(fs::metadata(device).unwrap().file_type().is_char_device());
        fs::remove_file(folder.path("device")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn standard_output_that_is_full() {
    let folder = folder();
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
        println!("skipped: standard_output_that_is_full: no /dev/full");
        return;
    };
    for command in [
        "select a.csv --landmarks 5",
        "select a.csv --landmarks 5 --json",
        "fit --metric one a.csv --landmarks 5 --model n",
        "predict m a.csv",
        "info m",
        "evaluate a.csv --methods kdpp --landmarks 5 --seeds 1",
        "evaluate a.csv --methods kdpp --landmarks 5 --seeds 1 --json",
    ] {
        let words: Vec<&str> = command.split_whitespace().collect();
        let output = folder.command(&words).stdout(full.try_clone().unwrap()).output().unwrap();
        Run::of(&output).refused(&["standard output: cannot be written: No space left"]);
    }
}

/// `... | head -1` is not an error.
#[test]
fn a_closed_pipe_is_the_end() {
    let folder = folder();
    let many: Vec<String> =
        Sample::new(60, 2).csv().lines().skip(1).map(|line| format!("{line}\n")).collect();
    folder.write("many.csv", format!("a,b,y\n{}", many.concat().repeat(200)));
    for command in [
        "predict m many.csv",
        "predict m a.csv",
        "select a.csv --landmarks 5 --json",
        "info m",
        "evaluate a.csv --methods kdpp,uniform --landmarks 5 --json",
        "--help",
    ] {
        let words: Vec<&str> = command.split_whitespace().collect();
        let mut child = folder.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::of(&child.wait_with_output().unwrap());
        assert_eq!(run.status, Some(0), "{command}: {}", run.err);
        assert!(!run.err.contains("error:") && !run.err.contains("panic"), "{command}: {}", run.err);
    }
}
