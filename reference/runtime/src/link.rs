//! A caller's connections to hosts, one to each.
//!
//! A connection belongs to the thread that it was made on; a [`Link`] is the handle with which calls on any thread use it.
//! Nothing here sends anything twice (F6).

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capnp_rpc::RpcSystem;
use capnp_rpc::rpc_twoparty_capnp::Side;
use oncemore_protocol::failure::{Delivery, Failure, Kind};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::spawn_local;
use tokio::time::{Instant, interval_at, timeout};

use crate::error::Problem;
use crate::executor::Executor;
use crate::network::Network;
use crate::oncemore_capnp::host;
use crate::wire::{self, Answer, Attempt, VERSION};

/// How long connecting and greeting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a host from which answers are awaited is asked whether it is still there.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How long it may take to say so. After that the connection counts as lost, so that no call waits for ever.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(6);

/// The connections of one caller.
#[derive(Debug)]
pub(crate) struct Links {
    network: Arc<dyn Network>,
    executor: Executor,
    open: Arc<Mutex<HashMap<String, Link>>>,
}

/// A handle to a connection that is open, or being opened.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    calls: mpsc::UnboundedSender<Outgoing>,
}

/// Whether a connection has ended.
type Ended = watch::Receiver<bool>;

#[derive(Debug)]
struct Outgoing {
    attempt: Attempt,
    answer: oneshot::Sender<Result<Answer, Failure<Problem>>>,
}

impl Links {
    pub(crate) fn new(network: Arc<dyn Network>, executor: Executor) -> Self {
        Self { network, executor, open: Arc::default() }
    }

    /// The connection to a host; it is being opened if there was none.
    pub(crate) fn to(&self, address: &str) -> Link {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = open.get(address)
            && !link.calls.is_closed()
        {
            return link.clone();
        }
        // Hosts that come back do so at other addresses, and nobody asks for the old ones again.
        open.retain(|_, link| !link.calls.is_closed());
        let (calls, outgoing) = mpsc::unbounded_channel();
        let link = Link { calls };
        open.insert(address.to_owned(), link.clone());
        let (network, address) = (self.network.clone(), address.to_owned());
        self.executor.spawn(move || Box::pin(run(network, address, outgoing)));
        link
    }
}

impl Link {
    /// Sends an attempt, once, and waits for what comes back. Dropping the future gives the answer up.
    ///
    /// Attempts are sent in the order of these calls, not of the futures' first polls.
    pub(crate) fn send(
        &self,
        attempt: Attempt,
    ) -> impl Future<Output = Result<Answer, Failure<Problem>>> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        let queued = self.calls.send(Outgoing { attempt, answer });
        async move {
            if queued.is_err() {
                // The connection had ended before it was asked to carry this.
                return Err(Failure::unreachable(Problem::Dropped("it had ended before".into())));
            }
            answered.await.unwrap_or_else(|_| Err(dropped("it ended during the call")))
        }
    }
}

fn dropped(why: impl Into<String>) -> Failure<Problem> {
    Failure::dropped(Problem::Dropped(why.into()))
}

/// Opens the connection and carries attempts over it until it ends, or until nobody can use it any more.
async fn run(network: Arc<dyn Network>, address: String, mut outgoing: mpsc::UnboundedReceiver<Outgoing>) {
    let opened = timeout(CONNECT_TIMEOUT, open(&*network, &address)).await;
    let opened = opened.unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time")));
    let (host, mut system) = match opened {
        Ok(opened) => opened,
        Err(error) => return turn_back(&address, error, outgoing).await,
    };
    let mut heartbeat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    let (lost, mut silence) = mpsc::channel(1);
    let ended = watch::Sender::new(false);
    loop {
        tokio::select! {
            _ = &mut system => break,
            _ = silence.recv() => break,
            // Each attempt under way listens for the end.
            _ = heartbeat.tick(), if ended.receiver_count() > 0 => ask_whether_there(&host, lost.clone()),
            next = outgoing.recv() => match next {
                Some(Outgoing { attempt, answer }) => carry(&host, &attempt, answer, ended.subscribe()),
                None => break,
            },
        }
    }
    // First nobody finds it open any more; only then are those told who wait.
    outgoing.close();
    ended.send_replace(true);
    // These were never sent (F2).
    while let Some(Outgoing { answer, .. }) = outgoing.recv().await {
        answer.send(Err(Failure::unreachable(Problem::Dropped("it had ended before".into())))).ok();
    }
}

/// Nothing was sent: those who wait for the connection are told so.
async fn turn_back(address: &str, error: io::Error, mut outgoing: mpsc::UnboundedReceiver<Outgoing>) {
    outgoing.close();
    let source = Arc::new(error);
    while let Some(Outgoing { answer, .. }) = outgoing.recv().await {
        let problem = Problem::Connect { address: address.to_owned(), source: source.clone() };
        answer.send(Err(Failure::unreachable(problem))).ok();
    }
}

type System = RpcSystem<Side>;

async fn open(network: &dyn Network, address: &str) -> io::Result<(host::Client, System)> {
    let vat = wire::vat(network.connect(address).await?, Side::Client);
    let mut system = RpcSystem::new(Box::new(vat), None);
    let host: host::Client = system.bootstrap(Side::Server);
    let mut greeting = host.greet_request();
    greeting.get().set_version(VERSION);
    let greeted = tokio::select! {
        greeted = greeting.send().promise => greeted,
        ended = &mut system => Err(ended.err().unwrap_or_else(|| capnp::Error::disconnected("it hung up".into()))),
    };
    let greeted = greeted.map_err(|error| io::Error::other(format!("it does not speak Oncemore: {error}")))?;
    let version = greeted.get().map_err(io::Error::other)?.get_version();
    if version != VERSION {
        let what = format!("it speaks version {version} of the protocol, and this program only version {VERSION}");
        return Err(io::Error::other(what));
    }
    Ok((host, system))
}

fn carry(
    host: &host::Client,
    attempt: &Attempt,
    mut answer: oneshot::Sender<Result<Answer, Failure<Problem>>>,
    mut link: Ended,
) {
    if answer.is_closed() {
        // It was given up while the connection was being opened: it is never sent (C7).
        return;
    }
    let mut request = host.call_request();
    wire::write_attempt(attempt, request.get().init_attempt());
    let response = request.send().promise;
    spawn_local(async move {
        let outcome = tokio::select! {
            response = response => response,
            _ = link.wait_for(|ended| *ended) => {
                Err(capnp::Error::disconnected("it ended during the call".into()))
            }
            // Nobody waits any more; dropping the response tells the host (C3, C7).
            () = answer.closed() => return,
        };
        drop(answer.send(outcome.map_err(|error| raised(&error)).and_then(|response| {
            let answer = response.get().and_then(|response| response.get_answer()).map_err(wire::Malformed::from);
            answer.and_then(wire::read_answer).map_err(unreadable)
        })));
    });
}

/// A failure of the RPC system itself. Whether the object was reached, nobody can tell.
fn raised(error: &capnp::Error) -> Failure<Problem> {
    let problem = Problem::Dropped(error.to_string());
    // All its other kinds say in which way a message is malformed.
    let kinds = [
        (capnp::ErrorKind::Disconnected, Kind::Disconnected),
        (capnp::ErrorKind::Overloaded, Kind::Overloaded),
        (capnp::ErrorKind::Unimplemented, Kind::Unimplemented),
    ];
    let known = kinds.iter().find(|(theirs, _)| *theirs == error.kind);
    let kind = known.map_or(Kind::Failed, |(_, ours)| *ours);
    Failure { kind, ..Failure::dropped(problem) }
}

fn unreadable(error: wire::Malformed) -> Failure<Problem> {
    let problem = Problem::Answer(Arc::new(error));
    Failure { kind: Kind::Failed, delivery: Delivery::Unknown, remote: false, payload: problem }
}

fn ask_whether_there(host: &host::Client, lost: mpsc::Sender<()>) {
    let mut greeting = host.greet_request();
    greeting.get().set_version(VERSION);
    let greeted = greeting.send().promise;
    spawn_local(async move {
        if !matches!(timeout(HEARTBEAT_TIMEOUT, greeted).await, Ok(Ok(_))) {
            lost.try_send(()).ok();
        }
    });
}
