//! The runtime: an object that echoes, its host, and its callers.

use std::io;

use futures_util::future::LocalBoxFuture;
use oncemore::{
    Caller, Context, Directory, Executor, Host, InProcess, Listener, Network, ObjectId, RetryOptions, Sockets, Stream,
    durable_object,
};
use tempfile::TempDir;

use super::hand::Hand;
use super::rival::{self, Failure, TEXT, same};
use super::side::Side;
use super::wire::Wire;

/// Writes nothing.
#[derive(Debug)]
pub(crate) struct Echo;

#[durable_object]
impl Echo {
    #[construct]
    fn new(_context: Context) -> Self {
        Self
    }

    async fn echo(&self, text: String) -> String {
        text
    }
}

/// The runtime's own networks.
#[derive(Clone, Debug)]
enum Net {
    InProcess(InProcess),
    Sockets,
}

impl Network for Net {
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        match self {
            Self::InProcess(network) => network.connect(address),
            Self::Sockets => Sockets.connect(address),
        }
    }

    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        match self {
            Self::InProcess(network) => network.listen(address),
            Self::Sockets => Sockets.listen(address),
        }
    }
}

/// A directory and a network with nobody in it yet.
struct Ground {
    directory: Directory,
    network: Net,
    address: String,
    data: TempDir,
}

impl Ground {
    fn new(wire: Wire) -> Result<Self, Failure> {
        let data = tempfile::tempdir()?;
        let (network, address) = match wire {
            Wire::InProcess => (Net::InProcess(InProcess::new()), "host".into()),
            Wire::Unix => (Net::Sockets, format!("unix:{}", data.path().join("host.socket").display())),
            Wire::Tcp => (Net::Sockets, "127.0.0.1:0".into()),
        };
        Ok(Self { directory: Directory::in_memory(), network, address, data })
    }

    fn host(&self) -> oncemore::HostBuilder {
        let builder = Host::builder(&self.directory).class::<Echo>().storage(self.data.path()).idle_time(None);
        builder.network(self.network.clone()).listen(self.address.clone())
    }
}

/// A host on the server's thread.
pub(crate) struct Served {
    ground: Ground,
    host: Host,
}

pub(crate) async fn serve(wire: Wire, server: &Side) -> Result<Served, Failure> {
    let ground = Ground::new(wire)?;
    let builder = ground.host().executor(Executor::local());
    let host = server.run(move || builder.start()).await??;
    Ok(Served { ground, host })
}

impl Served {
    /// The runtime's stub, with its connection on this thread.
    pub(crate) async fn stub(&self) -> Result<Stub, Failure> {
        let caller = Caller::builder(&self.ground.directory).network(self.ground.network.clone());
        Stub::warm(&caller.executor(Executor::local()).build()).await
    }

    /// A client by hand. The object has begun before: its first incarnation is the only one.
    pub(crate) async fn by_hand(&self, retryable: bool) -> Result<Hand, Failure> {
        let stream = self.ground.network.connect(self.host.address()).await?;
        let arguments = [&[0x91, 0xd9, 32][..], TEXT.as_bytes()].concat();
        Ok(Hand::new(stream, ObjectId::named("Echo", NAME), arguments, retryable))
    }
}

/// A host and a caller on the threads that the runtime starts by itself.
pub(crate) struct OwnThreads {
    ground: Ground,
    _host: Host,
}

pub(crate) async fn serve_on_own_threads(wire: Wire) -> Result<OwnThreads, Failure> {
    let ground = Ground::new(wire)?;
    let host = ground.host().start().await?;
    Ok(OwnThreads { ground, _host: host })
}

impl OwnThreads {
    pub(crate) async fn stub(&self) -> Result<Stub, Failure> {
        Stub::warm(&Caller::builder(&self.ground.directory).network(self.ground.network.clone()).build()).await
    }
}

const NAME: &str = "echo";

pub(crate) struct Stub(EchoStub);

impl Stub {
    async fn warm(caller: &Caller) -> Result<Self, Failure> {
        let stub = Self(caller.namespace::<Echo>().get_by_name(NAME));
        rival::Echo::echo(&stub).await?;
        Ok(stub)
    }

    pub(crate) fn without_retries(&self) -> Result<Self, Failure> {
        Ok(Self(EchoStub::from(self.0.as_stub().with_options(RetryOptions::new().max_retries(0)?))))
    }
}

impl rival::Echo for Stub {
    fn echo(&self) -> LocalBoxFuture<'_, Result<(), Failure>> {
        Box::pin(async {
            let echoed = self.0.echo(TEXT.to_owned()).await?;
            same(echoed.as_bytes(), TEXT.as_bytes())
        })
    }
}
