//! How bytes get from callers to hosts: behind a trait, so that a simulation can bring its own sockets.

mod in_process;
mod sockets;

use std::fmt::Debug;
use std::io;

use futures_util::future::LocalBoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

pub use in_process::InProcess;
pub use sockets::Sockets;

/// A network: connections between addresses that it understands.
///
/// It must carry what is written as a stream, in order and without repeating it; a connection that is lost must show as an
/// error or an end, sooner or later. It must not resend by itself (F6).
pub trait Network: Debug + Send + Sync + 'static {
    /// Connects to an address. An error means that nothing was sent.
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>>;

    /// Listens on an address.
    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>>;
}

/// Something that accepts connections.
pub trait Listener {
    /// The address under which callers can connect; a port that was chosen by the system is in it.
    fn address(&self) -> String;

    /// The next connection.
    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<Stream>>;
}

/// Both directions of a connection.
pub struct Stream {
    /// What the peer writes.
    pub reader: Box<dyn AsyncRead + Unpin>,
    /// What the peer reads.
    pub writer: Box<dyn AsyncWrite + Unpin>,
}

impl Stream {
    /// The two halves of one connection.
    pub fn new(stream: impl AsyncRead + AsyncWrite + 'static) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: Box::new(reader), writer: Box::new(writer) }
    }
}

impl Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stream")
    }
}
