//! Hosts: processes, or parts of one, that serve objects.

mod builder;
mod life;
mod router;
mod served;
mod server;
mod shared;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tracing::{error, info};

use self::router::ToWorker;
use self::shared::Shared;
use crate::directory::{Directory, DirectoryError, HostId};
use crate::id::ObjectId;

pub use builder::HostBuilder;
pub use shared::Stop;

/// A host that serves.
///
/// Dropping it ends everything at once, as if it had been killed; [`Host::shut_down`] hands its objects over first.
#[derive(Debug)]
pub struct Host {
    shared: Arc<Shared>,
    address: String,
}

impl Host {
    /// A host that finds its objects in this directory.
    pub fn builder(directory: &Directory) -> HostBuilder {
        HostBuilder::new(directory)
    }

    /// Which life of the host this is.
    #[must_use]
    pub fn id(&self) -> HostId {
        self.shared.id
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Hands an object over to another host (G2): lets what runs run to its end, within the time for draining, and sends
    /// what waits on. Does nothing if the object is not here.
    ///
    /// # Errors
    /// [`HostError::NoSuchHost`] if no living host has that name, and what the directory says.
    pub async fn move_object(&self, object: &ObjectId, to: &str) -> Result<(), HostError> {
        let hosts = self.shared.directory.registry().hosts().await?;
        let host = hosts.iter().find(|host| host.name == to && host.classes.contains(object.class()));
        let host = host.ok_or_else(|| HostError::NoSuchHost { name: to.into(), class: object.class().into() })?;
        if host.id == self.shared.id {
            return Ok(());
        }
        let (done, left) = oneshot::channel();
        let message = ToWorker::Leave { object: object.clone(), to: host.id, done };
        if self.shared.worker(object).send(message).await.is_ok() {
            // An error says that it was gone before.
            drop(left.await);
        }
        Ok(())
    }

    /// Hands all objects over, as [`Host::move_object`] does, then stops.
    ///
    /// # Errors
    /// What the directory says; the host has stopped all the same.
    pub async fn shut_down(self) -> Result<(), HostError> {
        let mut waiting = Vec::new();
        for worker in &self.shared.workers {
            let (done, left) = oneshot::channel();
            if worker.send(ToWorker::LeaveAll { done }).await.is_ok() {
                waiting.push(left);
            }
        }
        for left in waiting {
            drop(left.await);
        }
        let left = self.shared.directory.registry().leave(self.shared.id).await;
        self.shared.stop(Stop::ShutDown);
        info!(name = self.shared.name, "shut down");
        Ok(left?)
    }

    /// Returns when the host has stopped, with the reason.
    pub async fn stopped(&self) -> Stop {
        let mut stopped = self.shared.stopped.subscribe();
        let why = stopped.wait_for(Option::is_some).await.ok().and_then(|why| *why);
        // The sender lives as long as this host.
        why.unwrap_or(Stop::Dropped)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shared.stop(Stop::Dropped);
    }
}

/// Tells the directory again and again that the host lives, and stops the host once it may be taken for dead.
async fn keep_lease(shared: Arc<Shared>, lease: Duration) {
    let mut stopped = shared.stopped.subscribe();
    // None: beyond what a clock can show.
    let mut held_until = Instant::now().checked_add(lease);
    loop {
        tokio::select! {
            _ = stopped.wait_for(Option::is_some) => return,
            () = sleep(lease / 3) => {}
        }
        // What the directory counts from lies after this moment.
        let asked = Instant::now();
        match timeout(lease, shared.directory.registry().renew(shared.id, lease)).await {
            Err(_) => error!(name = shared.name, "the directory does not answer: the lease could not be renewed"),
            Ok(Ok(true)) => held_until = asked.checked_add(lease),
            Ok(Ok(false)) => {
                error!(name = shared.name, "the directory has declared this host dead: it stops");
                return shared.stop(Stop::LeaseLost);
            }
            Ok(Err(error)) => error!(name = shared.name, %error, "the lease could not be renewed"),
        }
        if held_until.is_some_and(|until| Instant::now() >= until) {
            error!(name = shared.name, "the lease has run out: the host stops");
            return shared.stop(Stop::LeaseLost);
        }
    }
}

/// Why a host could not start, or could not do what it was told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// It would serve nothing.
    #[error("the host serves no class: name at least one with `HostBuilder::class`")]
    NoClass,
    /// It has nowhere to keep data.
    #[error("the host has no folder for its objects' data: name one with `HostBuilder::storage`")]
    NoStorage,
    /// The folder for data cannot be used.
    #[error("the folder {path} for objects' data cannot be used: {source}")]
    Storage {
        /// Which folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot listen there.
    #[error("the host cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// It cannot have the threads that it needs.
    #[error("the host cannot start its threads: {0}")]
    Threads(io::Error),
    /// The directory could not answer.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// There is no such host to move to.
    #[error("no living host with the name {name} serves the class {class}")]
    NoSuchHost {
        /// Its name.
        name: String,
        /// The class of the object.
        class: String,
    },
}
