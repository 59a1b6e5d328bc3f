//! Ctrl-C: the first asks the search to end, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set once somebody wants the command to end.
static STOP: AtomicBool = AtomicBool::new(false);

/// What a shell reports of a process that SIGINT ended.
const ENDED_BY_INTERRUPT: i32 = 130;

/// From now on Ctrl-C is heeded. Without it (there is none on some systems) it ends the process at once, as ever.
pub(crate) fn heed() {
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(ENDED_BY_INTERRUPT);
        }
    });
}

/// What a search is to look at.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}

/// Asks the search to end: nobody reads what it finds.
pub(crate) fn stop() {
    STOP.store(true, Ordering::Relaxed);
}

/// Whether the command was asked to end.
pub(crate) fn is_set() -> bool {
    STOP.load(Ordering::Relaxed)
}
