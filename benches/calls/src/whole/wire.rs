//! Connections between two threads of this process, the same for all who are compared.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// What bytes go over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    InProcess,
    Unix,
    Tcp,
}

impl Wire {
    pub(crate) const ALL: [Self; 3] = [Self::InProcess, Self::Unix, Self::Tcp];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::InProcess => "an in-process link",
            Self::Unix => "a Unix socket",
            Self::Tcp => "TCP on loopback",
        }
    }
}

/// One end of a connection, before it belongs to a thread.
pub(crate) enum End {
    InProcess(DuplexStream),
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// Both ends of a new connection.
pub(crate) fn pair(wire: Wire) -> io::Result<(End, End)> {
    Ok(match wire {
        Wire::InProcess => {
            // As much as the runtime's own.
            let (ours, theirs) = tokio::io::duplex(256 << 10);
            (End::InProcess(ours), End::InProcess(theirs))
        }
        Wire::Unix => {
            let (ours, theirs) = UnixStream::pair()?;
            (End::Unix(ours), End::Unix(theirs))
        }
        Wire::Tcp => {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let ours = TcpStream::connect(listener.local_addr()?)?;
            (End::Tcp(ours), End::Tcp(listener.accept()?.0))
        }
    })
}

impl End {
    /// The end on the tokio runtime that runs this thread.
    pub(crate) fn open(self) -> io::Result<Stream> {
        Ok(match self {
            Self::InProcess(stream) => Stream::InProcess(stream),
            Self::Unix(stream) => {
                stream.set_nonblocking(true)?;
                Stream::Unix(tokio::net::UnixStream::from_std(stream)?)
            }
            Self::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Stream::Tcp(tokio::net::TcpStream::from_std(stream)?)
            }
        })
    }
}

pub(crate) enum Stream {
    InProcess(DuplexStream),
    Unix(tokio::net::UnixStream),
    Tcp(tokio::net::TcpStream),
}

impl From<Stream> for oncemore::Stream {
    /// As the runtime takes its own sockets apart.
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::InProcess(stream) => Self::new(stream),
            Stream::Unix(stream) => {
                let (reader, writer) = stream.into_split();
                Self { reader: Box::new(reader), writer: Box::new(writer) }
            }
            Stream::Tcp(stream) => {
                let (reader, writer) = stream.into_split();
                Self { reader: Box::new(reader), writer: Box::new(writer) }
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::InProcess(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::InProcess(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::InProcess(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::InProcess(stream) => stream.is_write_vectored(),
            Self::Unix(stream) => stream.is_write_vectored(),
            Self::Tcp(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::InProcess(stream) => Pin::new(stream).poll_flush(cx),
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::InProcess(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
