//! tarpc, with bincode and its defaults.

#![allow(missing_docs, reason = "tarpc writes what has none")]

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use tarpc::serde_transport;
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::tokio_util::codec::LengthDelimitedCodec;
use tarpc::{client, context};

use super::rival::{self, Failure, TEXT, same};
use super::side::Side;
use super::wire::{Stream, Wire, pair};

#[tarpc::service]
trait Service {
    async fn echo(text: String) -> String;
}

#[derive(Clone)]
struct Parrot;

impl Service for Parrot {
    async fn echo(self, _: context::Context, text: String) -> String {
        text
    }
}

pub(crate) struct Tarpc(ServiceClient);

pub(crate) async fn connect(wire: Wire, server: &Side) -> Result<Tarpc, Failure> {
    let (ours, theirs) = pair(wire)?;
    server.run(|| async move { theirs.open().map(serve) }).await??;
    let framed = LengthDelimitedCodec::builder().new_framed(ours.open()?);
    let transport = serde_transport::new(framed, Bincode::default());
    Ok(Tarpc(ServiceClient::new(client::Config::default(), transport).spawn()))
}

fn serve(stream: Stream) {
    let framed = LengthDelimitedCodec::builder().new_framed(stream);
    let channel = BaseChannel::with_defaults(serde_transport::new(framed, Bincode::default()));
    tokio::spawn(channel.execute(Parrot.serve()).for_each(|response| async {
        tokio::spawn(response);
    }));
}

impl rival::Echo for Tarpc {
    fn echo(&self) -> LocalBoxFuture<'_, Result<(), Failure>> {
        Box::pin(async {
            let echoed = self.0.echo(context::current(), TEXT.to_owned()).await?;
            same(echoed.as_bytes(), TEXT.as_bytes())
        })
    }
}
