//! A client by hand for the messages that the runtime speaks: no spans, no queue, no serde; and the caller's machine only
//! where it is asked for.

use std::cell::RefCell;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use capnp_rpc::RpcSystem;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::twoparty::VatNetwork;
use futures_util::AsyncRead;
use futures_util::future::LocalBoxFuture;
use futures_util::io::{BufReader, BufWriter};
use oncemore::ObjectId;
use oncemore_protocol::caller::{Call, Input, Terms, Transmission};
use oncemore_protocol::identity::{CallerId, Header, Incarnation, Ordinal, Unsettled};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::rules::Spec;
use oncemore_protocol::time::{Time, WallTime};
use tokio::task::spawn_local;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use super::rival::{Echo, Failure, same};
use crate::header::write_header;
use crate::oncemore_capnp::{answer, attempt, host};

/// One end of a connection, with buffers, as Cap'n Proto RPC advises and the runtime does.
pub(crate) fn vat(stream: oncemore::Stream, side: Side) -> VatNetwork<impl AsyncRead + Unpin> {
    let (reader, writer) = (BufReader::new(stream.reader.compat()), BufWriter::new(stream.writer.compat_write()));
    VatNetwork::new(reader, writer, side, capnp::message::ReaderOptions::new())
}

/// What a caller needs for retries.
struct Machinery {
    terms: Terms<Spec>,
    lanes: RefCell<Vec<Lane>>,
    origin: Instant,
}

pub(crate) struct Hand {
    host: host::Client,
    object: ObjectId,
    /// MessagePack, as the runtime writes it.
    arguments: Vec<u8>,
    machinery: Option<Machinery>,
}

/// What an attempt carries that is no retry and has no identity.
const NOTHING: Header =
    Header { identity: None, ordinal: Ordinal(1), retry: false, address: Incarnation::FIRST, unsettled: Unsettled(0) };

impl Hand {
    /// Runs the connection on this thread. `retryable`: each call has a machine that would retry it, and an identity which
    /// the object claims.
    pub(crate) fn new(stream: oncemore::Stream, object: ObjectId, arguments: Vec<u8>, retryable: bool) -> Self {
        let mut system = RpcSystem::new(Box::new(vat(stream, Side::Client)), None);
        let host = system.bootstrap(Side::Server);
        spawn_local(system);
        Self { host, object, arguments, machinery: retryable.then(Machinery::new) }
    }

    fn write(&self, header: &Header, mut message: attempt::Builder<'_>) {
        message.set_class(self.object.class());
        message.set_object(self.object.key());
        message.reborrow().init_name().set_named(self.object.name().unwrap_or_default());
        message.set_method("echo");
        message.reborrow().init_payload().set_arguments(&self.arguments);
        write_header(header, message.init_header());
    }

    async fn ask(&self, header: &Header) -> Result<(), Failure> {
        let mut request = self.host.call_request();
        self.write(header, request.get().init_attempt());
        let response = request.send().promise.await?;
        match response.get()?.get_answer()?.which()? {
            // The list of arguments has one byte before its only element.
            answer::Value(echoed) => same(echoed?, &self.arguments[1..]),
            answer::Response(_) | answer::Thrown(_) | answer::Refused(_) | answer::Failed(_) => {
                Err("the object did not answer".into())
            }
        }
    }
}

impl Echo for Hand {
    fn echo(&self) -> LocalBoxFuture<'_, Result<(), Failure>> {
        Box::pin(async {
            let Some(machinery) = &self.machinery else { return self.ask(&NOTHING).await };
            let (mut call, header) = machinery.begin();
            self.ask(&header).await?;
            machinery.answered(&mut call);
            Ok(())
        })
    }
}

impl Machinery {
    fn new() -> Self {
        Self { terms: Terms::default(), lanes: RefCell::default(), origin: Instant::now() }
    }

    fn now(&self) -> Time {
        Time::ORIGIN.after(self.origin.elapsed())
    }

    /// A call whose first attempt is sent; its identity is of the first lane that has room.
    fn begin(&self) -> (Call<()>, Header) {
        let (mut call, _) = Call::start(&self.terms, true, self.now());
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = WallTime::from_nanos(i64::try_from(wall.as_nanos()).unwrap_or(i64::MAX));
        let mut lanes = self.lanes.borrow_mut();
        loop {
            for lane in lanes.iter_mut() {
                if let Ok(Transmission { header, .. }) = call.resolved(&self.terms, lane, Incarnation::FIRST, wall) {
                    return (call, header);
                }
            }
            // Any id will do that the object has not seen: nobody else asks it with such small ones.
            let id = u128::from(std::process::id()) << 64 | lanes.len() as u128;
            lanes.push(Lane::new(CallerId::from_bits(id)));
        }
    }

    fn answered(&self, call: &mut Call<()>) {
        call.handle(&self.terms, self.now(), 0, Input::Answered);
        let Some(identity) = call.identity() else { return };
        if let Some(lane) = self.lanes.borrow_mut().iter_mut().find(|lane| lane.caller() == identity.caller) {
            lane.settle(identity.number);
        }
    }
}
