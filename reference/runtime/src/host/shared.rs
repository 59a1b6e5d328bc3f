//! What all tasks of a host share.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::router::ToWorker;
use crate::caller::Caller;
use crate::class::{AnyClass, ClassOptions};
use crate::clock::Clock;
use crate::directory::{Directory, HostId};
use crate::executor::Executor;
use crate::id::ObjectId;
use crate::storage::Settings;

pub(super) struct Shared {
    pub(super) id: HostId,
    pub(super) name: String,
    pub(super) directory: Directory,
    pub(super) classes: HashMap<&'static str, (Arc<dyn AnyClass>, ClassOptions)>,
    pub(super) data: PathBuf,
    /// How their databases are opened.
    pub(super) storage: Settings,
    pub(super) caller: Caller,
    pub(super) clock: Clock,
    pub(super) drain_time: Duration,
    /// None: an object that was called once stays in memory.
    pub(super) idle_time: Option<Duration>,
    /// One for each worker; an object is always on the same one.
    pub(super) workers: Vec<mpsc::Sender<ToWorker>>,
    /// The threads of the workers, which end with the last handle to them.
    pub(super) threads: Executor,
    /// Why the host has stopped, once it has.
    pub(super) stopped: watch::Sender<Option<Stop>>,
}

/// Why a host serves no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was told to.
    ShutDown,
    /// It was dropped without being shut down, as if it had been killed.
    Dropped,
    /// Its lease ran out, and others may have taken its objects.
    LeaseLost,
}

impl Shared {
    /// Where an object's data is.
    pub(super) fn database(&self, object: &ObjectId) -> PathBuf {
        self.data.join(folder(object.class())).join(format!("{object}.sqlite"))
    }

    /// Until when an object that begins to be handed over now may finish what it runs.
    ///
    /// None, if that is beyond what a clock can show.
    pub(super) fn clock_after_drain(&self) -> Option<Instant> {
        Instant::now().checked_add(self.drain_time)
    }

    /// The worker that an object is on.
    pub(super) fn worker(&self, object: &ObjectId) -> &mpsc::Sender<ToWorker> {
        let [first, second, ..] = *object.key();
        &self.workers[usize::from(u16::from_le_bytes([first, second])) % self.workers.len()]
    }

    pub(super) fn stop(&self, why: Stop) {
        self.stopped.send_if_modified(|stopped| {
            let first = stopped.is_none();
            stopped.get_or_insert(why);
            first
        });
    }
}

/// The name of a class as the name of a folder: letters and digits stay, so that people find it.
fn folder(class: &str) -> String {
    class.bytes().fold(String::new(), |mut folder, byte| {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            folder.push(char::from(byte));
        } else {
            folder.push_str(&format!("_{byte:02x}"));
        }
        folder
    })
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("name", &self.name).field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn every_class_has_a_folder_of_its_own() {
        assert_eq!(folder("Cart"), "Cart");
        assert_eq!(folder("shop::Cart"), "shop_3a_3aCart");
        assert_eq!(folder("../../etc"), "_2e_2e_2f_2e_2e_2fetc");
        assert_ne!(folder("a_b"), folder("a b"));
    }
}
