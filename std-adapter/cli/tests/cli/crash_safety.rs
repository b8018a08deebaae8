//! Commands killed at any moment leave either the old file or the complete new one, and the next run ends as
//! if there had been no kill. Fifty kills in all.

use crate::command::Folder;
use crate::sample::{Noise, Sample};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

const SIGKILL: i32 = 9;

/// Polling a folder can miss a file that exists for a few microseconds.
const AIMED_TRIES: usize = 4;

/// When to kill.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// At this fraction of an undisturbed run.
    Share(f64),
    /// As soon as a file without a name has this many bytes.
    Written(u64),
    /// As soon as the new file has its final name.
    Placed,
}

/// A command that writes one file, killed repeatedly.
struct CrashCase {
    folder: Folder,
    arguments: &'static str,
    output: &'static str,
    /// A valid older file.
    older: Vec<u8>,
    /// The output of an undisturbed run.
    whole: Vec<u8>,
    duration: Duration,
    noise: Noise,
    met: Met,
}

/// How far commands had got when they were killed.
#[derive(Debug, Default)]
struct Met {
    /// After an eighth of the run or more.
    midway: usize,
    /// While a file without a name was open.
    writing: usize,
    /// After the new file had its final name.
    placed: usize,
}

impl CrashCase {
    /// Run the command undisturbed. The existing output is the older file.
    fn new(folder: Folder, arguments: &'static str, output: &'static str, seed: u64) -> Self {
        let older = folder.bytes(output);
        // The shorter of two runs, so that few kills come after the end.
        let timed = || {
            fs::remove_file(folder.path(output)).unwrap();
            let begin = Instant::now();
            folder.run(arguments).good();
            (begin.elapsed(), folder.bytes(output))
        };
        let ((one, whole), (other, again)) = (timed(), timed());
        assert!(
            whole == again && whole != older,
            "{arguments}: not reproducible, or equal to the older file"
        );
        let noise = Noise(seed);
        Self { folder, arguments, output, older, whole, duration: one.min(other), noise, met: Met::default() }
    }

    /// Kill the command once while it runs, earlier than requested if it has ended by then. Return the
    /// temporary file left behind.
    fn kill(&mut self, mut moment: Moment, keep_older: bool, prepare: impl Fn(&Folder)) -> Option<String> {
        let mut tries = 0;
        let before = loop {
            if keep_older {
                self.folder.write(self.output, &self.older);
            } else if self.folder.path(self.output).exists() {
                fs::remove_file(self.folder.path(self.output)).unwrap();
            }
            prepare(&self.folder);
            let (before, place) = (temporaries(&self.folder), self.inode());
            let words: Vec<&str> = self.arguments.split_whitespace().collect();
            let begin = Instant::now();
            let mut child =
                self.folder.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            match moment {
                Moment::Share(share) => sleep(self.duration.mul_f64(share)),
                Moment::Written(bytes) => {
                    let process = child.id();
                    wait_until(&mut child, || self.written(process).is_some_and(|length| length >= bytes));
                }
                Moment::Placed => wait_until(&mut child, || self.inode() != place),
            }
            let elapsed = begin.elapsed();
            let writing = self.written(child.id()).is_some();
            child.kill().unwrap();
            let status = child.wait().unwrap();
            if status.signal() == Some(SIGKILL) {
                self.met.midway += usize::from(elapsed * 8 >= self.duration);
                self.met.writing += usize::from(writing);
                break before;
            }
            assert!(status.success(), "{}: {status}", self.arguments);
            assert!(self.folder.bytes(self.output) == self.whole, "{}: different result", self.arguments);
            tries += 1;
            assert!(tries < 40, "{}: ended before every kill", self.arguments);
            moment = match moment {
                Moment::Share(share) => Moment::Share(share / 2.0),
                Moment::Written(_) | Moment::Placed if tries < AIMED_TRIES => moment,
                Moment::Written(_) | Moment::Placed => Moment::Share(1.0),
            };
        };
        let path = self.folder.path(self.output);
        let found = fs::read(&path).ok();
        let placed = found.as_ref() == Some(&self.whole);
        let good = placed || found.as_ref() == keep_older.then_some(&self.older);
        assert!(good, "{}: killed at {moment:?}, and {} is neither old nor new", self.arguments, self.output);
        let mut left = temporaries(&self.folder);
        left.retain(|name| !before.contains(name));
        // Between its naming and its renaming.
        assert!(left.len() <= 1, "{left:?}");
        self.met.placed += usize::from(placed);
        left.pop()
    }

    /// Return the length of the longest file without a name, in the folder, that a process has open.
    fn written(&self, process: u32) -> Option<u64> {
        let folder = self.folder.path("").canonicalize().unwrap();
        let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        let unnamed = files.filter(|file| {
            let target = fs::read_link(file.path()).unwrap_or_default();
            target.starts_with(&folder) && target.to_string_lossy().ends_with(" (deleted)")
        });
        unnamed.filter_map(|file| fs::metadata(file.path()).ok()).map(|metadata| metadata.len()).max()
    }

    /// Return the inode of the output, if it exists.
    fn inode(&self) -> Option<u64> {
        fs::metadata(self.folder.path(self.output)).ok().map(|metadata| metadata.ino())
    }

    /// Run the command to its end in the folder that the kills left.
    fn finish(&self, arguments: &str) -> String {
        let before = self.folder.names();
        let run = self.folder.run(arguments).good();
        assert!(self.folder.bytes(self.output) == self.whole, "{arguments}: different result after a kill");
        let mut after = self.folder.names();
        after.retain(|name| !before.contains(name) && name != self.output);
        assert!(after.is_empty(), "{arguments}: {after:?}");
        run.err
    }

    /// Return the moment of one of `kills` kills: at random in its part of the run, so that every part is
    /// covered, or while up to `bytes` bytes are written, or after that.
    fn moment(&mut self, kill: usize, kills: usize, bytes: u64) -> Moment {
        // An order of the parts that is unrelated to the other choices made by a kill's index.
        let share = ((kill * 7 % kills) as f64 + self.noise.uniform()) / kills as f64;
        match kill % 6 {
            2 => Moment::Written((share * bytes as f64) as u64),
            5 => Moment::Placed,
            _ => Moment::Share(share),
        }
    }
}

/// Wait until a condition holds, or the command has ended.
fn wait_until(child: &mut Child, mut condition: impl FnMut() -> bool) {
    while child.try_wait().unwrap().is_none() && !condition() {
        yield_now();
    }
}

/// Return the names of temporary files.
fn temporaries(folder: &Folder) -> Vec<String> {
    folder
        .names()
        .into_iter()
        .filter(|name| name.starts_with(".dpp-nystrom-") && name.ends_with(".tmp"))
        .collect()
}

const CONVERTS: usize = 18;
const FITS: usize = 16;
const MERGES: usize = 16;

#[test]
fn a_store_is_complete_or_absent() {
    let folder = Folder::with("older.csv", Sample::new(500, 4).csv());
    folder.run("convert older.csv --out a.rows").good();
    folder.write("a.csv", Sample::new(100_000, 4).csv());
    let mut case = CrashCase::new(folder, "convert a.csv --out a.rows", "a.rows", 1);
    let length = case.whole.len() as u64;
    for kill in 0..CONVERTS {
        let moment = case.moment(kill, CONVERTS, length);
        let left = case.kill(moment, kill % 2 == 0, |_| ());
        if let Some(name) = left
            && case.folder.bytes(&name) != case.whole
        {
            let fit =
                format!("fit --metric one {name} --landmarks 5 --method uniform --sigma 2 --model m.dpp");
            case.folder.run(&fit).refused(&[&name]);
        }
        case.finish(case.arguments);
    }
    println!("{CONVERTS} kills of a conversion: {:?}", case.met);
    // Otherwise the kills did not test what they were meant to.
    assert!(case.met.midway >= CONVERTS / 3 && case.met.writing >= CONVERTS / 3, "{:?}", case.met);
}

#[test]
fn a_fit_resumes_where_it_was_killed() {
    let folder = Folder::with("a.csv", Sample::new(140_000, 4).csv());
    folder.run("convert a.csv --precision f32 --out a.rows").good();
    folder
        .run("fit --metric one a.rows --landmarks 40 --method uniform --sigma 3 --ridge 1e-3 --model m.dpp")
        .good();
    let fit = "fit --metric one a.rows --landmarks 40 --method uniform --sigma 2 --model m.dpp --checkpoint c \
               --checkpoint-every 0";
    let mut case = CrashCase::new(folder, fit, "m.dpp", 2);
    let (mut resumed, mut again) = (0, None);
    for kill in 0..4 * FITS {
        // On a busy machine kills come early: go on until enough have left a checkpoint.
        if kill >= FITS && resumed >= FITS / 3 {
            break;
        }
        // Two of three kills hit a fit that resumes from the checkpoint of the kill before.
        let saved: Option<Vec<u8>> = again.take().filter(|_| kill % 3 != 0);
        let moment = case.moment(kill % FITS, FITS, 1_000);
        let left = case.kill(moment, kill % 2 == 0, |folder| {
            folder.write("c", saved.as_deref().unwrap_or_default());
            if saved.is_none() {
                fs::remove_file(folder.path("c")).unwrap();
            }
        });
        if let Some(name) = left {
            reject_or_resume(&case, &name);
        }
        again = fs::read(case.folder.path("c")).ok();
        if let Some(bytes) = &again {
            case.folder.write("d", bytes);
            fs::hard_link(case.folder.path("d"), case.folder.path("kept")).unwrap();
        }
        let told = case.finish(&fit.replace("--checkpoint c", "--checkpoint d"));
        if let Some(bytes) = &again {
            // The next checkpoint replaced the one before by renaming, and did not write into it.
            assert!(&case.folder.bytes("kept") == bytes, "a checkpoint was written in place");
            fs::remove_file(case.folder.path("kept")).unwrap();
        }
        assert_eq!(told.contains("rows had been accumulated before"), again.is_some(), "{told}");
        assert!(!case.folder.path("d").exists());
        resumed += usize::from(again.is_some());
    }
    println!("kills of a fit: {:?}, and {resumed} resumed from a checkpoint", case.met);
    assert!(case.met.midway >= FITS / 3 && resumed >= FITS / 3, "{:?} {resumed}", case.met);
}

/// Check that a temporary checkpoint or model is complete, or rejected as either.
fn reject_or_resume(case: &CrashCase, name: &str) {
    let folder = &case.folder;
    let bytes = folder.bytes(name);
    if bytes == case.whole {
        return;
    }
    folder.run(&format!("info {name}")).refused(&[name]);
    folder.write("d", bytes);
    let run = folder.run(&case.arguments.replace("--checkpoint c", "--checkpoint d"));
    if run.status == Some(0) {
        assert!(folder.bytes(case.output) == case.whole, "{name}: different result");
    } else {
        run.refused(&["d: "]);
        fs::remove_file(folder.path("d")).unwrap();
    }
}

#[test]
fn a_merged_model_is_complete_or_absent() {
    let folder = Folder::with("first.csv", Sample::new(400, 20).csv());
    folder
        .run(
            "fit --metric one first.csv --landmarks 200 --method uniform --precision f32 --ridge 1e-3 --sigma 8 \
              --model first.dpp",
        )
        .good();
    for rows in [300, 301, 302, 303] {
        folder.write("a.csv", Sample::new(rows, 20).csv());
        folder.run(&format!("learn first.dpp a.csv --out {rows}.state")).good();
    }
    folder.run("merge 300.state 301.state --of first.dpp --model m.dpp").good();
    let merge = "merge 300.state 301.state 302.state 303.state --of first.dpp --ridge cv --model m.dpp";
    let mut case = CrashCase::new(folder, merge, "m.dpp", 3);
    for kill in 0..MERGES {
        let moment = case.moment(kill, MERGES, 1_000);
        let left = case.kill(moment, kill % 2 == 0, |_| ());
        if let Some(name) = left
            && case.folder.bytes(&name) != case.whole
        {
            case.folder.run(&format!("info {name}")).refused(&[&name]);
        }
        case.finish(merge);
    }
    println!("{MERGES} kills of a merger: {:?}", case.met);
    assert!(case.met.midway >= MERGES / 3 && case.met.writing > 0, "{:?}", case.met);
}

/// A checkpoint overwrites no other file.
#[test]
fn a_file_that_is_no_checkpoint_is_kept() {
    let folder = Folder::with("a.csv", Sample::new(300, 2).csv());
    folder.run("convert a.csv --out a.rows").good();
    let fit =
        "fit --metric one a.rows --landmarks 5 --method uniform --sigma 2 --checkpoint-every 0 --model m.dpp";
    folder.run(&format!("{fit} --checkpoint c")).good();
    let whole = folder.bytes("m.dpp");
    folder.write("n.dpp", &whole);
    folder.run(&format!("{fit} --checkpoint n.dpp")).refused(&["n.dpp: not a checkpoint"]);
    folder.run(&format!("{fit} --checkpoint /dev/zero")).refused(&["/dev/zero: not a checkpoint"]);
    assert!(folder.bytes("m.dpp") == whole && folder.bytes("n.dpp") == whole);
}
