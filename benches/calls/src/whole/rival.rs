//! Who is compared.

use std::error::Error;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::wire::Wire;
use super::{bare, grpc, objects, side::Side, tarpc_echo};

/// What is sent and comes back: 32 bytes.
pub(crate) const TEXT: &str = "the quick brown fox jumps over t";

pub(crate) type Failure = Box<dyn Error>;

/// One side of a connection over which an echo is asked for.
pub(crate) trait Echo {
    /// Asks for one echo.
    fn echo(&self) -> LocalBoxFuture<'_, Result<(), Failure>>;
}

/// What came back is what was sent.
pub(crate) fn same(echoed: &[u8], sent: &[u8]) -> Result<(), Failure> {
    if echoed == sent { Ok(()) } else { Err("another text came back than was sent".into()) }
}

/// A way to ask for an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A stub of the runtime, as users have it.
    Stub,
    /// The same, on the threads that the runtime starts unless it is told otherwise.
    StubOwnThreads,
    /// The same with `max_retries(0)`.
    NoRetries,
    /// A client by hand at the same host: the caller's machine, and an identity that the object claims.
    HandRetryable,
    /// The same with neither: the object claims nothing (E6).
    HandOnce,
    /// The same messages between a client and a server by hand.
    Bare,
    Tarpc,
    Tonic,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Bare,
        Self::HandOnce,
        Self::HandRetryable,
        Self::NoRetries,
        Self::Stub,
        Self::StubOwnThreads,
        Self::Tarpc,
        Self::Tonic,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stub => "Oncemore, as it comes",
            Self::StubOwnThreads => "Oncemore, on threads of its own",
            Self::NoRetries => "Oncemore, max_retries(0)",
            Self::HandRetryable => "its host, client by hand, retryable",
            Self::HandOnce => "its host, client by hand, no retries",
            Self::Bare => "Cap'n Proto RPC, bare",
            Self::Tarpc => "tarpc",
            Self::Tonic => "tonic",
        }
    }
}

/// Everybody, connected over one wire.
pub(crate) struct Field {
    rivals: Vec<(Kind, Rc<dyn Echo>)>,
    /// What serves them.
    _served: objects::Served,
    _own_threads: objects::OwnThreads,
}

impl Field {
    pub(crate) async fn connect(wire: Wire, server: &Side) -> Result<Self, Failure> {
        let served = objects::serve(wire, server).await?;
        let own_threads = objects::serve_on_own_threads(wire).await?;
        let stub = served.stub().await?;
        let rivals: Vec<(Kind, Rc<dyn Echo>)> = vec![
            (Kind::NoRetries, Rc::new(stub.without_retries()?)),
            (Kind::Stub, Rc::new(stub)),
            (Kind::StubOwnThreads, Rc::new(own_threads.stub().await?)),
            (Kind::HandRetryable, Rc::new(served.by_hand(true).await?)),
            (Kind::HandOnce, Rc::new(served.by_hand(false).await?)),
            (Kind::Bare, Rc::new(bare::connect(wire, server).await?)),
            (Kind::Tarpc, Rc::new(tarpc_echo::connect(wire, server).await?)),
            (Kind::Tonic, Rc::new(grpc::connect(wire, server).await?)),
        ];
        Ok(Self { rivals, _served: served, _own_threads: own_threads })
    }

    pub(crate) fn rival(&self, kind: Kind) -> Result<Rc<dyn Echo>, Failure> {
        let found = self.rivals.iter().find(|(other, _)| *other == kind);
        found.map(|(_, rival)| rival.clone()).ok_or_else(|| format!("{} does not run", kind.name()).into())
    }
}
