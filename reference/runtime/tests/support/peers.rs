//! Peers that are no hosts of ours, or not of our version: what a caller finds when it has the wrong address.

use std::io;
use std::rc::Rc;

use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::{RpcSystem, new_client, twoparty};
use futures_util::future::LocalBoxFuture;
use oncemore::{Listener, Network, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::spawn_local;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::oncemore_capnp::{answer, host};

/// What is at the other end of every connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    ClosesAtOnce,
    NeverAnswers,
    /// Writes these bytes and waits.
    Says(&'static [u8]),
    /// Speaks Cap'n Proto, and has another interface.
    OtherInterface,
    OtherVersion,
    /// Answers every call with a message whose union and enumeration have these numbers.
    Answers {
        case: u16,
        value: u16,
    },
}

impl Network for Peer {
    fn connect<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        let (ours, theirs) = duplex(1 << 16);
        spawn_local(self.serve(theirs));
        Box::pin(async { Ok(Stream::new(ours)) })
    }

    fn listen<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
    }
}

impl Peer {
    fn serve(self, mut stream: DuplexStream) -> LocalBoxFuture<'static, ()> {
        Box::pin(async move {
            match self {
                Self::ClosesAtOnce => {}
                Self::NeverAnswers => wait_for_end(&mut stream).await,
                Self::Says(bytes) => {
                    stream.write_all(bytes).await.ok();
                    wait_for_end(&mut stream).await;
                }
                Self::OtherInterface => speak(stream, new_client::<host::Client, _>(Stranger)).await,
                Self::OtherVersion => speak(stream, new_client(Newer { answer: (0, 0), version: 7 })).await,
                Self::Answers { case, value } => {
                    speak(stream, new_client(Newer { answer: (case, value), version: 1 })).await;
                }
            }
        })
    }
}

async fn wait_for_end(stream: &mut DuplexStream) {
    let mut bytes = [0; 1 << 10];
    while stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
}

async fn speak(stream: DuplexStream, door: host::Client) {
    let (reader, writer) = tokio::io::split(stream);
    let vat = twoparty::VatNetwork::new(reader.compat(), writer.compat_write(), Side::Server, Default::default());
    RpcSystem::new(Box::new(vat), Some(door.client)).await.ok();
}

/// To a caller, an interface that has none of the methods looks as every other interface does.
struct Stranger;

impl host::Server for Stranger {}

struct Newer {
    answer: (u16, u16),
    version: u16,
}

impl host::Server for Newer {
    async fn greet(self: Rc<Self>, _: host::GreetParams, mut results: host::GreetResults) -> Result<(), capnp::Error> {
        results.get().set_version(self.version);
        Ok(())
    }

    async fn call(self: Rc<Self>, _: host::CallParams, mut results: host::CallResults) -> Result<(), capnp::Error> {
        let (case, value) = self.answer;
        // A root that points to a struct of one word of data, which holds the two numbers, and one empty pointer.
        let root = 1_u64 << 32 | 1 << 48;
        let data = u64::from(case) | u64::from(value) << 16;
        let words = [root, data, 0].map(u64::to_le_bytes).concat();
        let segments = [&words[..]];
        let segments = capnp::message::SegmentArray::new(&segments);
        let message = capnp::message::Reader::new(segments, Default::default());
        results.get().set_answer(message.get_root::<answer::Reader<'_>>()?)
    }
}
