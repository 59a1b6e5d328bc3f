//! Connections within one process, over which the same bytes go as over a socket.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::LocalBoxFuture;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

use super::{Listener, Network, Stream};

/// How many bytes may be under way in each direction before a writer waits.
const BUFFER_BYTES: usize = 256 << 10;

/// A network of its own: every clone sees the same addresses, which are any texts.
#[derive(Clone, Debug, Default)]
pub struct InProcess {
    listening: Arc<Mutex<Listening>>,
}

type Listening = HashMap<String, mpsc::UnboundedSender<DuplexStream>>;

impl InProcess {
    /// An empty network.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn listening(&self) -> std::sync::MutexGuard<'_, Listening> {
        // The map is whole after every statement that changes it.
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Network for InProcess {
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        Box::pin(async move {
            let refused = || io::Error::new(io::ErrorKind::ConnectionRefused, format!("nobody listens on {address}"));
            let (ours, theirs) = tokio::io::duplex(BUFFER_BYTES);
            let listener = self.listening().get(address).cloned().ok_or_else(refused)?;
            listener.send(theirs).map_err(|_| refused())?;
            Ok(Stream::new(ours))
        })
    }

    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let (sender, connections) = mpsc::unbounded_channel();
            let mut listening = self.listening();
            if listening.get(address).is_some_and(|sender| !sender.is_closed()) {
                return Err(io::Error::new(io::ErrorKind::AddrInUse, format!("somebody listens on {address} already")));
            }
            listening.insert(address.to_owned(), sender);
            Ok(Box::new(Accepting { address: address.to_owned(), connections }) as Box<dyn Listener>)
        })
    }
}

struct Accepting {
    address: String,
    connections: mpsc::UnboundedReceiver<DuplexStream>,
}

impl Listener for Accepting {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<Stream>> {
        Box::pin(async {
            // The network itself holds the sender.
            let stream = self.connections.recv().await.ok_or(io::ErrorKind::ConnectionAborted)?;
            Ok(Stream::new(stream))
        })
    }
}
