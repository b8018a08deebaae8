//! Tests in a process of their own: handlers of signals are the process's.

use std::env;
use std::process::{Command, Output, exit};

/// The status of a process that did all of its work: not that of one that found no test.
pub(crate) const DONE: i32 = 77;

/// Run `work` in a process of its own, in which the test of this name runs again, and return how it ended.
pub(crate) fn alone(test: &str, work: impl FnOnce()) -> Output {
    const ALONE: &str = "DPP_NYSTROM_ALONE";
    if env::var_os(ALONE).is_some() {
        work();
        exit(DONE);
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap()
}
