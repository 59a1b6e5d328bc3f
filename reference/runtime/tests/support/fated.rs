//! A network on which each attempt meets the fate that a test has planned for it.
//!
//! It stands between a caller and a host, reads the Cap'n Proto messages that pass, and does to attempts what
//! `facts/calls.json` names: everything else passes untouched.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use capnp_rpc::rpc_capnp::message;
use futures_util::future::LocalBoxFuture;
use oncemore::{InProcess, Listener, Network, Stream};
use tokio::io::AsyncWriteExt;
use tokio::sync::watch;
use tokio::task::spawn_local;
use tokio::time::sleep;

use crate::oncemore_capnp::host;
use crate::support::messages::{answered_in, asked_in, options, read_message};

/// What happens to one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The connection is refused, after so long.
    Refused(Duration),
    /// The connection is made, after so long.
    Late(Duration),
    /// The connection drops before the request is forwarded.
    LostBefore,
    /// The connection drops when the answer is on its way.
    LostAfter,
    /// The request is swallowed, and the connection stays.
    Silent,
    /// The connection drops, and the request is kept back until [`Fated::release`].
    Held,
    /// Nothing.
    Passes,
}

/// What an attempt carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) caller: u128,
    pub(crate) number: u64,
    pub(crate) retry: bool,
    pub(crate) ordinal: u8,
}

#[derive(Clone, Debug)]
pub(crate) struct Fated {
    inner: InProcess,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Debug, Default)]
struct Plan {
    fates: VecDeque<Fate>,
    seen: Vec<Seen>,
    /// Attempts that met their fate.
    met: usize,
    /// Requests that were kept back, and where they were to go.
    held: Vec<(String, Vec<u8>)>,
    /// Counts how often all connections were cut.
    cuts: watch::Sender<u32>,
}

impl Fated {
    pub(crate) fn new(inner: &InProcess, fates: impl IntoIterator<Item = Fate>) -> Self {
        let plan = Plan { fates: fates.into_iter().collect(), ..Plan::default() };
        Self { inner: inner.clone(), plan: Arc::new(Mutex::new(plan)) }
    }

    /// How many attempts have met a planned fate.
    pub(crate) fn met(&self) -> usize {
        self.plan().met
    }

    /// What the attempts carried that came as far as the wire.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.plan().seen.clone()
    }

    /// Drops all connections.
    pub(crate) fn cut(&self) {
        self.plan().cuts.send_modify(|cuts| *cuts += 1);
    }

    /// What was kept back arrives, each over a connection of its own. Returns how many there were.
    pub(crate) async fn release(&self) -> usize {
        let held = std::mem::take(&mut self.plan().held);
        let count = held.len();
        for (address, call) in held {
            let mut stream = self.inner.connect(&address).await.unwrap();
            stream.writer.write_all(&on_its_own(&call)).await.unwrap();
            spawn_local(async move { while read_message(&mut stream.reader).await.is_some() {} });
        }
        count
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap()
    }

    /// The fate of the attempt that is sent now; one that nobody planned for passes.
    fn next(&self) -> Fate {
        let mut plan = self.plan();
        let fate = plan.fates.pop_front();
        plan.met += usize::from(fate.is_some());
        fate.unwrap_or(Fate::Passes)
    }
}

impl Network for Fated {
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        Box::pin(async move {
            let fate = self.plan().fates.front().copied();
            match fate {
                Some(Fate::Refused(after)) => {
                    self.next();
                    sleep(after).await;
                    return Err(io::ErrorKind::ConnectionRefused.into());
                }
                Some(Fate::Late(after)) => {
                    self.plan().fates[0] = Fate::Passes;
                    sleep(after).await;
                }
                Some(Fate::LostBefore | Fate::LostAfter | Fate::Silent | Fate::Held | Fate::Passes) | None => {}
            }
            let host = self.inner.connect(address).await?;
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            spawn_local(stand_between(self.clone(), address.to_owned(), Stream::new(theirs), host));
            Ok(Stream::new(ours))
        })
    }

    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.inner.listen(address)
    }
}

/// Passes messages on until one side ends, or an attempt's fate ends both.
async fn stand_between(network: Fated, address: String, mut caller: Stream, mut host: Stream) {
    let mut cut = network.plan().cuts.subscribe();
    let lost = Arc::new(Mutex::new(Vec::new()));
    let requests = async {
        while let Some(bytes) = read_message(&mut caller.reader).await {
            let Some(attempt) = attempt_in(&bytes) else {
                host.writer.write_all(&bytes).await.ok();
                continue;
            };
            network.plan().seen.push(attempt.1);
            match network.next() {
                Fate::LostBefore => return,
                Fate::Held => return network.plan().held.push((address.clone(), bytes)),
                Fate::Silent => continue,
                Fate::LostAfter => lost.lock().unwrap().push(attempt.0),
                Fate::Passes | Fate::Late(_) | Fate::Refused(_) => {}
            }
            host.writer.write_all(&bytes).await.ok();
        }
    };
    let answers = async {
        while let Some(bytes) = read_message(&mut host.reader).await {
            if answered_in(&bytes).is_some_and(|question| lost.lock().unwrap().contains(&question)) {
                return;
            }
            caller.writer.write_all(&bytes).await.ok();
        }
    };
    tokio::select! {
        () = requests => {}
        () = answers => {}
        _ = cut.changed() => {}
    }
}

/// The call as the first message of a connection of its own, after the bootstrap that it needs.
fn on_its_own(mut call: &[u8]) -> Vec<u8> {
    let (mut bytes, bootstrapped) = (Vec::new(), u32::MAX);
    let mut bootstrap = capnp::message::Builder::new_default();
    bootstrap.init_root::<message::Builder<'_>>().init_bootstrap().set_question_id(bootstrapped);
    capnp::serialize::write_message(&mut bytes, &bootstrap).unwrap();
    let read = capnp::serialize::read_message_from_flat_slice(&mut call, options()).unwrap();
    let mut copy = capnp::message::Builder::new_default();
    copy.set_root(read.get_root::<message::Reader<'_>>().unwrap()).unwrap();
    let Ok(message::Call(call)) = copy.get_root::<message::Builder<'_>>().unwrap().which() else { unreachable!() };
    call.unwrap().get_target().unwrap().init_promised_answer().set_question_id(bootstrapped);
    capnp::serialize::write_message(&mut bytes, &copy).unwrap();
    bytes
}

/// The question and the header, if the message is an attempt.
fn attempt_in(mut bytes: &[u8]) -> Option<(u32, Seen)> {
    let question = asked_in(bytes)?;
    let message = capnp::serialize::read_message_from_flat_slice(&mut bytes, options()).ok()?;
    let message::Call(call) = message.get_root::<message::Reader<'_>>().ok()?.which().ok()? else { return None };
    let call = call.ok()?;
    let params = call.get_params().ok()?.get_content().get_as::<host::call_params::Reader<'_>>().ok()?;
    let header = params.get_attempt().ok()?.get_header().ok()?;
    let (mut caller, mut number) = (0, 0);
    if let Ok(crate::oncemore_capnp::header::identity::Some(identity)) = header.get_identity().which() {
        let identity = identity.ok()?;
        caller = u128::from(identity.get_caller_high()) << 64 | u128::from(identity.get_caller_low());
        number = identity.get_number();
    }
    let seen = Seen { caller, number, retry: header.get_retry(), ordinal: header.get_ordinal() };
    Some((question, seen))
}
