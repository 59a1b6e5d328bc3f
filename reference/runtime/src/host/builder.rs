//! The settings of a host, and its start.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::router::Router;
use super::shared::Shared;
use super::{Host, HostError, keep_lease, server};
use crate::caller::Caller;
use crate::class::{AnyClass, Class, ClassOptions};
use crate::clock::Clock;
use crate::directory::{Directory, HostId, HostRecord};
use crate::entropy::Entropy;
use crate::executor::Executor;
use crate::network::{Network, Sockets};
use crate::object::DurableObject;
use crate::storage::{Durability, Settings};

/// How many attempts may wait for one worker, over all its objects.
const WORKER_INBOX_MAX: usize = 16 << 10;

/// The settings of a [`Host`].
#[must_use]
pub struct HostBuilder {
    directory: Directory,
    name: Option<String>,
    classes: HashMap<&'static str, (Arc<dyn AnyClass>, ClassOptions)>,
    data: Option<PathBuf>,
    durability: Durability,
    pages_max: Option<u32>,
    address: String,
    lease: Duration,
    drain_time: Duration,
    idle_time: Option<Duration>,
    network: Arc<dyn Network>,
    executor: Option<Executor>,
    workers: usize,
    clock: Clock,
    entropy: Entropy,
}

impl HostBuilder {
    pub(super) fn new(directory: &Directory) -> Self {
        Self {
            directory: directory.clone(),
            name: None,
            classes: HashMap::new(),
            data: None,
            durability: Durability::Full,
            pages_max: None,
            address: "127.0.0.1:0".into(),
            lease: Duration::from_secs(3),
            drain_time: Duration::from_secs(10),
            idle_time: Some(Duration::from_secs(120)),
            network: Arc::new(Sockets),
            executor: None,
            workers: thread::available_parallelism().map_or(1, usize::from),
            clock: Clock::system(),
            entropy: Entropy::system(),
        }
    }

    /// What the host is called. One that starts under the name of another replaces it, so that a restarted host need not
    /// wait for its former lease. Unless said otherwise, the name is drawn at random.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// A class to serve.
    pub fn class<C: DurableObject>(self) -> Self {
        self.class_with::<C>(ClassOptions::new())
    }

    /// A class to serve, with these settings. They must be the same on every host.
    pub fn class_with<C: DurableObject>(mut self, options: ClassOptions) -> Self {
        self.classes.insert(C::CLASS, (Arc::new(Class::<C>(PhantomData)), options));
        self
    }

    /// The folder for the objects' databases. Hosts between which objects move must share it.
    pub fn storage(self, folder: impl AsRef<Path>) -> Self {
        Self { data: Some(folder.as_ref().to_owned()), ..self }
    }

    /// Whether what was acknowledged outlives a power loss; it does, unless said otherwise.
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// How large one object's database may become, in pages of 4 KiB; as large as SQLite allows unless said otherwise. An
    /// object that wants more is told [`StorageError::Full`](crate::StorageError::Full).
    pub fn pages_max(self, pages_max: u32) -> Self {
        Self { pages_max: Some(pages_max), ..self }
    }

    /// Where to listen, in the terms of the network; for [`Sockets`] `127.0.0.1:0` unless said otherwise.
    pub fn listen(self, address: impl Into<String>) -> Self {
        Self { address: address.into(), ..self }
    }

    /// For how long the directory takes the host for living after it was last told; three seconds unless said otherwise.
    pub fn lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// How long an object that is handed over may take to finish what it runs; ten seconds unless said otherwise.
    pub fn drain_time(self, drain_time: Duration) -> Self {
        Self { drain_time, ..self }
    }

    /// How long an object keeps its memory and its open database when nobody calls it; two minutes unless said otherwise.
    /// None: for as long as the host lives. No call can be retried for so long, so that nothing is forgotten that matters.
    ///
    /// An object that remembers by clock always keeps them: see [`Remember::ByClock`](crate::Remember::ByClock).
    pub fn idle_time(self, idle_time: Option<Duration>) -> Self {
        Self { idle_time, ..self }
    }

    /// How it is reached and reaches others.
    pub fn network(self, network: impl Network) -> Self {
        Self { network: Arc::new(network), ..self }
    }

    /// Where objects and connections run; threads of its own unless said otherwise.
    pub fn executor(self, executor: Executor) -> Self {
        Self { executor: Some(executor), ..self }
    }

    /// How many threads of its own objects run on; one for each core unless said otherwise.
    pub fn workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// Its clocks.
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Where its ids are drawn from.
    pub fn entropy(self, entropy: Entropy) -> Self {
        Self { entropy, ..self }
    }

    /// Starts the host: once this returns, its objects can be called.
    ///
    /// # Errors
    /// [`HostError`], and then nothing was started.
    pub async fn start(self) -> Result<Host, HostError> {
        if self.classes.is_empty() {
            return Err(HostError::NoClass);
        }
        let data = self.data.clone().ok_or(HostError::NoStorage)?;
        std::fs::create_dir_all(&data).map_err(|source| HostError::Storage { path: data.clone(), source })?;
        let (workers, connections) = self.executors()?;
        let (shared, inboxes) = self.shared(data, workers, &connections);
        let address = self.listen_on(&connections, shared.clone()).await?;
        for (turn, inbox) in inboxes.into_iter().enumerate() {
            let router = shared.clone();
            shared.threads.spawn_on(turn, move || Box::pin(Router::new(router).run(inbox)));
        }
        // From here on whoever fails to start it stops it.
        let host = Host { shared, address };
        let record = HostRecord {
            id: host.id(),
            name: host.name().to_owned(),
            address: host.address.clone(),
            classes: self.classes.keys().map(|&class| class.to_owned()).collect(),
        };
        self.directory.registry().register(&record, self.lease).await?;
        let (leased, lease) = (host.shared.clone(), self.lease);
        connections.spawn(move || Box::pin(keep_lease(leased, lease)));
        tracing::info!(name = host.name(), address = host.address, "serves");
        Ok(host)
    }

    fn executors(&self) -> Result<(Executor, Executor), HostError> {
        if let Some(executor) = &self.executor {
            return Ok((executor.clone(), executor.clone()));
        }
        let workers = Executor::threads(self.workers, "oncemore-object").map_err(HostError::Threads)?;
        let connections = Executor::threads(1, "oncemore-host").map_err(HostError::Threads)?;
        Ok((workers, connections))
    }

    fn shared(
        &self,
        data: PathBuf,
        workers: Executor,
        connections: &Executor,
    ) -> (Arc<Shared>, Vec<mpsc::Receiver<super::ToWorker>>) {
        let id = HostId(u64::from_le_bytes(self.entropy.bytes()));
        let (senders, inboxes) = (0..workers.width()).map(|_| mpsc::channel(WORKER_INBOX_MAX)).unzip();
        let caller = Caller::builder(&self.directory)
            .shared_network(self.network.clone())
            .executor(connections.clone())
            .clock(self.clock)
            .entropy(self.entropy.clone())
            .build();
        let shared = Shared {
            id,
            name: self.name.clone().unwrap_or_else(|| format!("host-{id}")),
            directory: self.directory.clone(),
            classes: self.classes.clone(),
            data,
            storage: Settings { pages_max: self.pages_max, ..Settings::from(self.durability) },
            caller,
            clock: self.clock,
            drain_time: self.drain_time,
            idle_time: self.idle_time,
            workers: senders,
            threads: workers,
            stopped: watch::Sender::new(None),
        };
        (Arc::new(shared), inboxes)
    }

    /// Listens on the thread on which connections are served. Returns the address.
    async fn listen_on(&self, connections: &Executor, shared: Arc<Shared>) -> Result<String, HostError> {
        let (told, listening) = oneshot::channel::<io::Result<String>>();
        let (network, address) = (self.network.clone(), self.address.clone());
        connections.spawn(move || {
            Box::pin(async move {
                match network.listen(&address).await {
                    Ok(listener) => {
                        if told.send(Ok(listener.address())).is_ok() {
                            server::accept(shared, listener).await;
                        }
                    }
                    Err(error) => drop(told.send(Err(error))),
                }
            })
        });
        let listening = listening.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        listening.map_err(|source| HostError::Listen { address: self.address.clone(), source })
    }
}

impl fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuilder")
            .field("name", &self.name)
            .field("classes", &self.classes.keys())
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
