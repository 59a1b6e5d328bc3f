//! The limit: the very messages of the runtime between a client and a server by hand, over Cap'n Proto RPC alone.

use std::rc::Rc;

use capnp_rpc::rpc_twoparty_capnp::Side as VatSide;
use capnp_rpc::{RpcSystem, new_client};
use oncemore::ObjectId;
use tokio::task::spawn_local;

use super::hand::{Hand, vat};
use super::rival::{Failure, TEXT};
use super::side::Side;
use super::wire::{Stream, Wire, pair};
use crate::oncemore_capnp::{attempt, host};

/// Answers each attempt with its arguments.
struct Parrot;

impl host::Server for Parrot {
    async fn greet(self: Rc<Self>, _: host::GreetParams, _: host::GreetResults) -> Result<(), capnp::Error> {
        Ok(())
    }

    async fn call(
        self: Rc<Self>,
        params: host::CallParams,
        mut results: host::CallResults,
    ) -> Result<(), capnp::Error> {
        match params.get()?.get_attempt()?.get_payload().which()? {
            attempt::payload::Arguments(arguments) => results.get().init_answer().set_value(&arguments?[1..]),
            attempt::payload::Fetch(_) => return Err(capnp::Error::unimplemented("fetch".into())),
        }
        Ok(())
    }
}

pub(crate) async fn connect(wire: Wire, server: &Side) -> Result<Hand, Failure> {
    let (ours, theirs) = pair(wire)?;
    server.run(|| async move { theirs.open().map(serve) }).await??;
    let arguments = [&[0x91, 0xd9, 32][..], TEXT.as_bytes()].concat();
    Ok(Hand::new(ours.open()?.into(), ObjectId::named("Echo", "echo"), arguments, false))
}

fn serve(stream: Stream) {
    let parrot: host::Client = new_client(Parrot);
    spawn_local(RpcSystem::new(Box::new(vat(stream.into(), VatSide::Server)), Some(parrot.client)));
}
