//! What the tests share: classes whose objects keep count of what ran, and a world for them to live in.

#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod dice;
pub(crate) mod ledger;
pub(crate) mod messages;
pub(crate) mod probe;

use std::future::Future;
use std::time::Duration;

use oncemore::{Caller, ClassOptions, Clock, Directory, Durability, Executor, Host, InProcess, Network, WallTime};
use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

use self::probe::Probe;

/// Everything in one thread, on time that passes only where everybody waits.
pub(crate) fn on_virtual_time<F: Future>(test: F) -> F::Output {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, test)
}

/// Hosts, their directory and the network between them.
pub(crate) struct World {
    pub(crate) directory: Directory,
    pub(crate) network: InProcess,
    pub(crate) data: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { directory: Directory::in_memory(), network: InProcess::new(), data: tempfile::tempdir().unwrap() }
    }

    pub(crate) async fn host(&self, name: &str) -> Host {
        self.host_with(name, ClassOptions::new()).await
    }

    pub(crate) async fn host_with(&self, name: &str, options: ClassOptions) -> Host {
        Host::builder(&self.directory)
            .name(name)
            .class_with::<Probe>(options)
            .storage(self.data.path())
            .durability(Durability::Off)
            .network(self.network.clone())
            .listen(name)
            .executor(Executor::local())
            .clock(Clock::starting_at(WallTime::from_nanos(0)))
            .drain_time(Duration::from_secs(30))
            .start()
            .await
            .unwrap()
    }

    /// A caller to whom nothing happens.
    pub(crate) fn caller(&self) -> Caller {
        Caller::builder(&self.directory).network(self.network.clone()).executor(Executor::local()).build()
    }

    /// A caller over a network of a test's own.
    pub(crate) fn caller_over(&self, network: impl Network) -> Caller {
        Caller::builder(&self.directory).network(network).executor(Executor::local()).build()
    }
}
