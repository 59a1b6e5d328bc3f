//! The host's side of its connections.

use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::Duration;

use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::{RpcSystem, new_client};
use oncemore_protocol::failure::{Kind, Refusal};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_local;
use tokio::time::sleep;
use tracing::{debug, warn};

use super::life::{self, Arrived};
use super::router::ToWorker;
use super::shared::Shared;
use crate::network::{Listener, Stream};
use crate::oncemore_capnp::host;
use crate::wire::{self, Answer, Attempt, Reason, VERSION};

/// How long to wait after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections until the host stops.
pub(super) async fn accept(shared: Arc<Shared>, mut listener: Box<dyn Listener>) {
    let mut stopped = shared.stopped.subscribe();
    loop {
        tokio::select! {
            _ = stopped.wait_for(Option::is_some) => return,
            stream = listener.accept() => match stream {
                Ok(stream) => drop(spawn_local(serve(shared.clone(), stream))),
                // One connection that failed says nothing of the next, but where there is no room for it, there will
                // not be any at once.
                Err(error) => {
                    warn!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
}

/// Serves one connection until it ends or the host stops.
async fn serve(shared: Arc<Shared>, stream: Stream) {
    let vat = wire::vat(stream, Side::Server);
    let mut stopped = shared.stopped.subscribe();
    let door: host::Client = new_client(Door(Arc::downgrade(&shared)));
    let system = RpcSystem::new(Box::new(vat), Some(door.client));
    tokio::select! {
        ended = system => if let Err(error) = ended {
            debug!(%error, "a connection ended");
        },
        _ = stopped.wait_for(Option::is_some) => {}
    }
}

/// What callers find at the other end.
///
/// The RPC system keeps it, and calls that wait for their answers, in circles that outlive a connection which is cut off;
/// the threads of a host that has stopped must not depend on that.
struct Door(Weak<Shared>);

impl host::Server for Door {
    async fn greet(
        self: Rc<Self>,
        params: host::GreetParams,
        mut results: host::GreetResults,
    ) -> Result<(), capnp::Error> {
        let theirs = params.get()?.get_version();
        let mut greeting = results.get();
        greeting.set_version(theirs.min(VERSION));
        greeting.set_host(self.host()?.id.0);
        Ok(())
    }

    async fn call(
        self: Rc<Self>,
        params: host::CallParams,
        mut results: host::CallResults,
    ) -> Result<(), capnp::Error> {
        let read = params.get().and_then(|params| params.get_attempt()).map_err(wire::Malformed::from);
        let answer = match read.and_then(wire::read_attempt) {
            Ok(attempt) => self.deliver(attempt).await?,
            Err(error) => {
                let text = format!("the host {} cannot read the attempt: {error}", self.host()?.name);
                life::not_delivered(Kind::Failed, Reason::MalformedAttempt, text)
            }
        };
        wire::write_answer(&answer, results.get().init_answer());
        Ok(())
    }
}

impl Door {
    fn host(&self) -> Result<Arc<Shared>, capnp::Error> {
        self.0.upgrade().ok_or_else(|| capnp::Error::disconnected("the host has stopped".into()))
    }

    /// Hands an attempt to the thread of its object, and waits for the answer.
    async fn deliver(&self, attempt: Attempt) -> Result<Answer, capnp::Error> {
        let (answer, answered) = oneshot::channel();
        {
            let host = self.host()?;
            match host.worker(&attempt.object).try_send(ToWorker::Attempt(Arrived { attempt, answer })) {
                Ok(()) => {}
                // G11: before anything is claimed.
                Err(mpsc::error::TrySendError::Full(_)) => return Ok(Answer::Refused(Refusal::Overloaded)),
                Err(mpsc::error::TrySendError::Closed(_)) => {
                    let text = format!("the host {} has stopped", host.name);
                    return Ok(life::not_delivered(Kind::Disconnected, Reason::NotHere, text));
                }
            }
        }
        // The object's incarnation ended without an answer: as if the connection had dropped.
        answered.await.map_err(|_| capnp::Error::disconnected("the object restarted during the call".into()))
    }
}
