//! Commands that are killed at any moment: what was there stays, or what is new is whole, and the next run ends as if
//! nothing had been. Fifty kills in all.

use crate::command::Folder;
use crate::sample::{Noise, Sample};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

const SIGKILL: i32 = 9;

/// Who watches a folder may miss what is there for some microseconds.
const AIMED_TRIES: usize = 4;

/// When a kill is to come.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// At this share of an undisturbed run.
    Share(f64),
    /// As soon as a temporary file holds so many bytes.
    Written(u64),
    /// As soon as the new file is in its place.
    Placed,
}

/// A command that writes one file, to be killed again and again.
struct CrashCase {
    folder: Folder,
    arguments: &'static str,
    output: &'static str,
    /// A good file of before.
    older: Vec<u8>,
    /// What an undisturbed run writes.
    whole: Vec<u8>,
    duration: Duration,
    noise: Noise,
    met: Met,
}

/// Where kills met the command.
#[derive(Debug, Default)]
struct Met {
    /// An eighth of the way or later.
    midway: usize,
    /// With a temporary file that has no name yet.
    writing: usize,
    /// With the new file in its place.
    placed: usize,
}

impl CrashCase {
    /// Runs the command undisturbed; what is at its output already is the older file.
    fn new(folder: Folder, arguments: &'static str, output: &'static str, seed: u64) -> Self {
        let older = folder.bytes(output);
        // The shorter of two runs: a moment beyond the end is of no use.
        let timed = || {
            fs::remove_file(folder.path(output)).unwrap();
            let begin = Instant::now();
            folder.run(arguments).good();
            (begin.elapsed(), folder.bytes(output))
        };
        let ((one, whole), (other, again)) = (timed(), timed());
        assert!(whole == again && whole != older, "{arguments}: not the same each time, or not new");
        let noise = Noise(seed);
        Self { folder, arguments, output, older, whole, duration: one.min(other), noise, met: Met::default() }
    }

    /// Kills the command once while it runs: earlier than asked for if it is over by then. Answers the temporary file
    /// that is left.
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
                Moment::Written(bytes) => observer(&mut child, || self.has_written(&before, bytes)),
                Moment::Placed => observer(&mut child, || self.inode() != place),
            }
            let elapsed = begin.elapsed();
            child.kill().unwrap();
            let status = child.wait().unwrap();
            if status.signal() == Some(SIGKILL) {
                self.met.midway += usize::from(elapsed * 8 >= self.duration);
                break before;
            }
            assert!(status.success(), "{}: {status}", self.arguments);
            assert!(self.folder.bytes(self.output) == self.whole, "{}: another result", self.arguments);
            tries += 1;
            assert!(tries < 40, "{}: never met running", self.arguments);
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
        assert!(left.len() <= 1, "{left:?}");
        self.met.writing += left.len();
        self.met.placed += usize::from(placed);
        left.pop()
    }

    /// A new temporary file has grown so far.
    fn has_written(&self, before: &[String], bytes: u64) -> bool {
        let grown = |name: &String| {
            fs::metadata(self.folder.path(name)).is_ok_and(|metadata| metadata.len() >= bytes)
        };
        temporaries(&self.folder).iter().any(|name| !before.contains(name) && grown(name))
    }

    /// Which file is at the output, if there is one.
    fn inode(&self) -> Option<u64> {
        fs::metadata(self.folder.path(self.output)).ok().map(|metadata| metadata.ino())
    }

    /// Runs the command to its end, among all that the kills left.
    fn finish(&self, arguments: &str) -> String {
        let before = self.folder.names();
        let run = self.folder.run(arguments).good();
        assert!(self.folder.bytes(self.output) == self.whole, "{arguments}: another result after a kill");
        let mut after = self.folder.names();
        after.retain(|name| !before.contains(name) && name != self.output);
        assert!(after.is_empty(), "{arguments}: {after:?}");
        run.err
    }

    /// The moment of one of so many kills: at random in its part of the run, so that no part is left out, or in the
    /// writing of so many bytes, or after it.
    fn moment(&mut self, kill: usize, kills: usize, bytes: u64) -> Moment {
        // The parts in an order that goes with nothing else that a kill's number decides.
        let share = ((kill * 7 % kills) as f64 + self.noise.uniform()) / kills as f64;
        match kill % 6 {
            2 => Moment::Written((share * bytes as f64) as u64),
            5 => Moment::Placed,
            _ => Moment::Share(share),
        }
    }
}

/// Waits until something has come about, or the command is over.
fn observer(child: &mut Child, mut come_about: impl FnMut() -> bool) {
    while child.try_wait().unwrap().is_none() && !come_about() {
        yield_now();
    }
}

/// The files that are not yet what they are to be.
fn temporaries(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| name.starts_with(".tmp")).collect()
}

const CONVERTS: usize = 18;
const FITS: usize = 16;
const MERGES: usize = 16;

#[test]
fn a_store_is_whole_or_not_there() {
    let folder = Folder::with("older.csv", Sample::new(500, 4).csv());
    folder.run("convert older.csv --out a.rows").good();
    folder.write("a.csv", Sample::new(100_000, 4).csv());
    let mut victim = CrashCase::new(folder, "convert a.csv --out a.rows", "a.rows", 1);
    let length = victim.whole.len() as u64;
    for kill in 0..CONVERTS {
        let moment = victim.moment(kill, CONVERTS, length);
        let left = victim.kill(moment, kill % 2 == 0, |_| ());
        if let Some(name) = left
            && victim.folder.bytes(&name) != victim.whole
        {
            let fit = format!("fit {name} --landmarks 5 --method uniform --sigma 2 --model m.dpp");
            victim.folder.run(&fit).refused(&[&name]);
        }
        victim.finish(victim.arguments);
    }
    println!("{CONVERTS} kills of a conversion: {:?}", victim.met);
    // Else the kills missed what they were meant for.
    assert!(victim.met.midway >= CONVERTS / 3 && victim.met.writing >= CONVERTS / 3, "{:?}", victim.met);
}

#[test]
fn a_fit_goes_on_where_it_was_killed() {
    let folder = Folder::with("a.csv", Sample::new(140_000, 4).csv());
    folder.run("convert a.csv --precision f32 --out a.rows").good();
    folder.run("fit a.rows --landmarks 40 --method uniform --sigma 3 --ridge 1e-3 --model m.dpp").good();
    let fit = "fit a.rows --landmarks 40 --method uniform --sigma 2 --model m.dpp --checkpoint c \
               --checkpoint-every 0";
    let mut victim = CrashCase::new(folder, fit, "m.dpp", 2);
    let (mut resumed, mut again) = (0, None);
    for kill in 0..FITS {
        // Two of three kills hit a fit that goes on from what the kill before left.
        let saved: Option<Vec<u8>> = again.take().filter(|_| kill % 3 != 0);
        let moment = victim.moment(kill, FITS, 1_000);
        let left = victim.kill(moment, kill % 2 == 0, |folder| {
            folder.write("c", saved.as_deref().unwrap_or_default());
            if saved.is_none() {
                fs::remove_file(folder.path("c")).unwrap();
            }
        });
        if let Some(name) = left {
            refuse_or_go_on(&victim, &name);
        }
        again = fs::read(victim.folder.path("c")).ok();
        if let Some(bytes) = &again {
            victim.folder.write("d", bytes);
            fs::hard_link(victim.folder.path("d"), victim.folder.path("kept")).unwrap();
        }
        let told = victim.finish(&fit.replace("--checkpoint c", "--checkpoint d"));
        if let Some(bytes) = &again {
            // The next checkpoint took the name of the one before, and did not write into it.
            assert!(&victim.folder.bytes("kept") == bytes, "a checkpoint was written in place");
            fs::remove_file(victim.folder.path("kept")).unwrap();
        }
        assert_eq!(told.contains("rows had been learned before"), again.is_some(), "{told}");
        assert!(!victim.folder.path("d").exists());
        resumed += usize::from(again.is_some());
    }
    println!("{FITS} kills of a fit: {:?}, and {resumed} went on from a checkpoint", victim.met);
    assert!(victim.met.midway >= FITS / 3 && resumed >= FITS / 3, "{:?} {resumed}", victim.met);
}

/// A checkpoint or a model that has no name yet: whole, or refused as either.
fn refuse_or_go_on(victim: &CrashCase, name: &str) {
    let folder = &victim.folder;
    let bytes = folder.bytes(name);
    if bytes == victim.whole {
        return;
    }
    folder.run(&format!("info {name}")).refused(&[name]);
    folder.write("d", bytes);
    let run = folder.run(&victim.arguments.replace("--checkpoint c", "--checkpoint d"));
    if run.status == Some(0) {
        assert!(folder.bytes(victim.output) == victim.whole, "{name}: another result");
    } else {
        run.refused(&["d: "]);
        fs::remove_file(folder.path("d")).unwrap();
    }
}

#[test]
fn a_merged_model_is_whole_or_not_there() {
    let folder = Folder::with("first.csv", Sample::new(400, 20).csv());
    folder
        .run(
            "fit first.csv --landmarks 200 --method uniform --precision f32 --ridge 1e-3 --sigma 8 \
              --model first.dpp",
        )
        .good();
    for rows in [300, 301, 302, 303] {
        folder.write("a.csv", Sample::new(rows, 20).csv());
        folder.run(&format!("learn first.dpp a.csv --out {rows}.state")).good();
    }
    folder.run("merge 300.state 301.state --of first.dpp --model m.dpp").good();
    let merge = "merge 300.state 301.state 302.state 303.state --of first.dpp --ridge cv --model m.dpp";
    let mut victim = CrashCase::new(folder, merge, "m.dpp", 3);
    for kill in 0..MERGES {
        let moment = victim.moment(kill, MERGES, 1_000);
        let left = victim.kill(moment, kill % 2 == 0, |_| ());
        if let Some(name) = left
            && victim.folder.bytes(&name) != victim.whole
        {
            victim.folder.run(&format!("info {name}")).refused(&[&name]);
        }
        victim.finish(merge);
    }
    println!("{MERGES} kills of a merger: {:?}", victim.met);
    assert!(victim.met.midway >= MERGES / 3 && victim.met.writing > 0, "{:?}", victim.met);
}

/// A checkpoint is removed when the fit is done, and a model that took its place is none.
#[test]
fn a_model_under_the_name_of_its_checkpoint_stays() {
    let folder = Folder::with("a.csv", Sample::new(300, 2).csv());
    folder.run("convert a.csv --out a.rows").good();
    let fit = "fit a.rows --landmarks 5 --method uniform --sigma 2 --checkpoint-every 0 --model m.dpp";
    folder.run(&format!("{fit} --checkpoint c")).good();
    let whole = folder.bytes("m.dpp");
    fs::remove_file(folder.path("m.dpp")).unwrap();
    folder.run(&format!("{fit} --checkpoint ./m.dpp")).good();
    assert!(folder.bytes("m.dpp") == whole);
    // The second time there is a model, which no checkpoint is written over.
    folder.run(&format!("{fit} --checkpoint m.dpp")).refused(&["m.dpp: not a checkpoint"]);
    folder.run(&format!("{fit} --checkpoint /dev/zero")).refused(&["/dev/zero: not a checkpoint"]);
    assert!(folder.bytes("m.dpp") == whole);
}
