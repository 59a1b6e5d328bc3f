//! The side that calls: what all stubs of one caller share.

mod drive;
mod lanes;
pub(crate) mod observe;
mod signal;

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use oncemore_protocol::failure::Transport;
use oncemore_protocol::identity::Ordinal;
use oncemore_protocol::route::{Subrequests, SubrequestsUsedUp};
use oncemore_protocol::rules::Spec;

use self::lanes::Lanes;
use crate::clock::Clock;
use crate::directory::Directory;
use crate::entropy::Entropy;
use crate::executor::Executor;
use crate::link::{Link, Links};
use crate::namespace::Namespace;
use crate::network::{Network, Sockets};
use crate::object::DurableObject;

pub(crate) use drive::{Failed, Target, drive};
pub use signal::{AbortController, AbortSignal};

/// A life of a caller: its identities, its connections, and how many calls it may still make (C1).
///
/// A clone is the same caller. Every [`Namespace`] has one; make your own to set what it uses, or to limit its calls.
#[derive(Clone)]
pub struct Caller {
    shared: Arc<Shared>,
    subrequests: Arc<Mutex<Subrequests>>,
}

struct Shared {
    directory: Directory,
    network: Arc<dyn Network>,
    executor: Option<Executor>,
    links: OnceLock<Links>,
    lanes: Lanes,
    clock: Clock,
    entropy: Entropy,
}

impl Caller {
    /// A caller that finds objects through this directory and reaches them over sockets.
    #[must_use]
    pub fn new(directory: &Directory) -> Self {
        Self::builder(directory).build()
    }

    /// A caller with settings of your own.
    #[must_use]
    pub fn builder(directory: &Directory) -> CallerBuilder {
        CallerBuilder {
            directory: directory.clone(),
            network: Arc::new(Sockets),
            executor: None,
            clock: Clock::system(),
            entropy: Entropy::system(),
        }
    }

    /// The objects of a class.
    #[must_use]
    pub fn namespace<C: DurableObject>(&self) -> Namespace<C> {
        Namespace::of(self.clone())
    }

    /// The same caller, for an execution that may make so many calls and no more (C1). Retries do not count.
    #[must_use]
    pub fn with_subrequests(&self, limit: u32) -> Self {
        Self { shared: self.shared.clone(), subrequests: Arc::new(Mutex::new(Subrequests::new(limit))) }
    }

    fn charge(&self, ordinal: Ordinal) -> Result<(), SubrequestsUsedUp> {
        self.subrequests.lock().unwrap_or_else(PoisonError::into_inner).charge(Spec, ordinal)
    }

    pub(crate) fn entropy(&self) -> &Entropy {
        &self.shared.entropy
    }

    fn link(&self, address: &str) -> io::Result<Link> {
        Ok(self.links()?.to(address))
    }

    /// Made when it is first needed, so that a caller which calls nothing costs no thread.
    fn links(&self) -> io::Result<&Links> {
        if let Some(links) = self.shared.links.get() {
            return Ok(links);
        }
        let executor = match &self.shared.executor {
            Some(executor) => executor.clone(),
            None => Executor::shared()?,
        };
        Ok(self.shared.links.get_or_init(|| Links::new(self.shared.network.clone(), executor)))
    }

    /// What the transport promises: a stream that nothing below replays (F2, F6).
    const fn transport() -> Transport {
        Transport::Exact
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { directory, network, .. } = &*self.shared;
        f.debug_struct("Caller").field("directory", directory).field("network", network).finish_non_exhaustive()
    }
}

/// The settings of a [`Caller`].
#[derive(Clone, Debug)]
pub struct CallerBuilder {
    directory: Directory,
    network: Arc<dyn Network>,
    executor: Option<Executor>,
    clock: Clock,
    entropy: Entropy,
}

impl CallerBuilder {
    /// How it reaches hosts; [`Sockets`] unless said otherwise.
    #[must_use]
    pub fn network(self, network: impl Network) -> Self {
        Self { network: Arc::new(network), ..self }
    }

    pub(crate) fn shared_network(self, network: Arc<dyn Network>) -> Self {
        Self { network, ..self }
    }

    /// Where its connections run; a thread that all callers of the process share unless said otherwise.
    #[must_use]
    pub fn executor(self, executor: Executor) -> Self {
        Self { executor: Some(executor), ..self }
    }

    /// Its clocks.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Where its ids and delays are drawn from.
    #[must_use]
    pub fn entropy(self, entropy: Entropy) -> Self {
        Self { entropy, ..self }
    }

    /// The caller.
    #[must_use]
    pub fn build(self) -> Caller {
        let Self { directory, network, executor, clock, entropy } = self;
        let lanes = Lanes::default();
        let shared = Shared { directory, network, executor, links: OnceLock::new(), lanes, clock, entropy };
        Caller { shared: Arc::new(shared), subrequests: Arc::new(Mutex::new(Subrequests::new(u32::MAX))) }
    }
}
