//! TCP, and Unix sockets on one machine.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use futures_util::future::LocalBoxFuture;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::{Listener, Network, Stream};

/// The operating system's sockets: `127.0.0.1:8080` is TCP, `unix:/run/host.socket` a Unix socket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sockets;

const UNIX: &str = "unix:";

impl Network for Sockets {
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        Box::pin(async move {
            if let Some(path) = address.strip_prefix(UNIX) {
                let (reader, writer) = UnixStream::connect(path).await?.into_split();
                return Ok(Stream { reader: Box::new(reader), writer: Box::new(writer) });
            }
            tcp(TcpStream::connect(address).await?)
        })
    }

    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let listener: Box<dyn Listener> = match address.strip_prefix(UNIX) {
                Some(path) => Box::new(Unix::bind(Path::new(path))?),
                None => Box::new(Tcp(TcpListener::bind(address).await?)),
            };
            Ok(listener)
        })
    }
}

fn tcp(stream: TcpStream) -> io::Result<Stream> {
    // Calls are small and somebody waits for each.
    stream.set_nodelay(true)?;
    let (reader, writer) = stream.into_split();
    Ok(Stream { reader: Box::new(reader), writer: Box::new(writer) })
}

struct Tcp(TcpListener);

impl Listener for Tcp {
    fn address(&self) -> String {
        self.0.local_addr().map(|address| address.to_string()).unwrap_or_default()
    }

    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<Stream>> {
        Box::pin(async { tcp(self.0.accept().await?.0) })
    }
}

/// Its file goes when it does.
struct Unix {
    listener: UnixListener,
    path: PathBuf,
}

impl Unix {
    /// A file that a killed host left behind is replaced; one that somebody listens on is not.
    fn bind(path: &Path) -> io::Result<Self> {
        // Any other file refuses connections, too, and is somebody's.
        let socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
        let refuses = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        if socket && std::os::unix::net::UnixStream::connect(path).is_err_and(refuses) {
            std::fs::remove_file(path)?;
        }
        Ok(Self { listener: UnixListener::bind(path)?, path: path.to_owned() })
    }
}

impl Drop for Unix {
    fn drop(&mut self) {
        // If it is gone already there is nothing to remove.
        drop(std::fs::remove_file(&self.path));
    }
}

impl Listener for Unix {
    fn address(&self) -> String {
        format!("{UNIX}{}", self.path.display())
    }

    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<Stream>> {
        Box::pin(async {
            let (reader, writer) = self.listener.accept().await?.0.into_split();
            Ok(Stream { reader: Box::new(reader), writer: Box::new(writer) })
        })
    }
}
