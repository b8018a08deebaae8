//! All orders in which a slot can be read while it is written:
//! `RUSTFLAGS="--cfg loom" cargo test -p dpp-nystrom-mapped --test loom`.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;

mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
}
#[path = "../src/slot.rs"]
mod slot;

use atomic::{AtomicBool, AtomicUsize, Ordering};
use slot::Slot;

#[test]
fn start_and_length_are_those_of_one_mapping() {
    loom::model(|| {
        let [version, start, length] = [(); 3].map(|()| AtomicUsize::new(0));
        let slot = Arc::new(Slot { version, start, length, lost: AtomicBool::new(false) });
        slot.write(0x1000, 10);
        let reader = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.read())
        };
        slot.write(0, 0);
        slot.write(0x2000, 99);
        let found = reader.join().unwrap();
        assert!([None, Some((0x1000, 10)), Some((0x2000, 99))].contains(&found), "{found:x?}");
        // What nobody writes is found.
        assert_eq!(slot.read(), Some((0x2000, 99)));
        assert!(!slot.lost.load(Ordering::Relaxed));
    });
}
