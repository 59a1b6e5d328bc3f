//! Retries around retries (M5): how many attempts an object sees that is down, over the runtime's in-process link, on virtual
//! time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use oncemore::{
    Caller, Context, Directory, Durability, DurableObject, Entropy, Executor, Host, InProcess, Listener, Network,
    RetryOptions, Stream, UserError, durable_object,
};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

use super::Failure;
use crate::report::Table;
use crate::statistics::{median, quantile};

/// The object that is down.
#[derive(Debug)]
struct Bottom;

#[durable_object]
impl Bottom {
    #[construct]
    fn new(_context: Context) -> Self {
        Self
    }

    #[retryable]
    async fn answer(&self) -> u32 {
        42
    }
}

/// The object that needs it.
struct Middle {
    context: Context,
}

/// What the bottom's caller was told, passed on.
#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
struct PassedOn(String);

impl UserError for PassedOn {
    /// Dressed as what it was, which changes nothing: it was thrown (F3).
    fn kind(&self) -> oncemore::Kind {
        oncemore::Kind::Disconnected
    }
}

#[durable_object]
impl Middle {
    #[construct]
    fn new(context: Context) -> Self {
        Self { context }
    }

    /// Throws what it is told.
    #[retryable]
    async fn pass_on(&self, rounds: u32, timeout_ms: u32) -> Result<u32, PassedOn> {
        self.ask(rounds, timeout_ms).await
    }

    /// Can't live without the answer: its callers see their connection drop.
    #[retryable]
    async fn or_die(&self, rounds: u32, timeout_ms: u32) -> Result<u32, PassedOn> {
        match self.ask(rounds, timeout_ms).await {
            Ok(answer) => Ok(answer),
            Err(error) => match self.context.abort(error.to_string()).await {},
        }
    }

    /// A loop by hand, of so many rounds, around the stub's own retries.
    #[local]
    async fn ask(&self, rounds: u32, timeout_ms: u32) -> Result<u32, PassedOn> {
        let options = limits(timeout_ms).map_err(|error| PassedOn(error.to_string()))?;
        let bottom = self.context.namespace::<Bottom>().get_by_name_with("bottom", options);
        let mut told = PassedOn("nobody asked".into());
        for _ in 0..rounds {
            match bottom.answer().await {
                Ok(answer) => return Ok(answer),
                Err(error) => told = PassedOn(error.to_string()),
            }
        }
        Err(told)
    }
}

fn limits(timeout_ms: u32) -> Result<RetryOptions, oncemore::LimitError> {
    RetryOptions::new().timeout_ms(timeout_ms)
}

/// An in-process network that counts who reaches for a host which is not there any more.
#[derive(Clone, Debug, Default)]
struct Counting {
    inner: InProcess,
    refused: Arc<AtomicU64>,
}

impl Network for Counting {
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        Box::pin(async move {
            let connected = self.inner.connect(address).await;
            if connected.is_err() {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            connected
        })
    }

    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.inner.listen(address)
    }
}

/// What is around the call to the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A stub, as it comes.
    Stub,
    /// A loop by hand of five rounds around a stub.
    LoopAroundStub,
    /// The caller's stub, an object that throws what it is told, its stub.
    ThrowsOn,
    /// The same, and the object has a loop by hand of five rounds around its stub.
    ThrowsOnWithLoop,
    /// The caller's stub, an object that dies of what it is told, its stub.
    DiesOfIt,
}

impl Shape {
    const fn name(self) -> &'static str {
        match self {
            Self::Stub => "a stub: 5 attempts",
            Self::LoopAroundStub => "a loop of 5 rounds around a stub",
            Self::ThrowsOn => "stub, object that throws on, stub",
            Self::ThrowsOnWithLoop => "stub, object with a loop of 5, stub",
            Self::DiesOfIt => "stub, object that dies of it, stub",
        }
    }

    /// The product of the attempts at each level (M5).
    const fn product(self) -> u32 {
        match self {
            Self::Stub => 5,
            Self::LoopAroundStub | Self::ThrowsOn | Self::DiesOfIt => 25,
            Self::ThrowsOnWithLoop => 125,
        }
    }

    const fn why(self, timeout_ms: u32) -> &'static str {
        match (self, timeout_ms) {
            (Self::Stub | Self::LoopAroundStub, _) => "as predicted",
            (Self::ThrowsOn, _) => "what user code throws is never retried (F3)",
            (Self::ThrowsOnWithLoop, _) => "F3 leaves the loop's product",
            (Self::DiesOfIt, 60_000) => "a drop is retried; the timeout leaves room for all",
            (Self::DiesOfIt, _) => "the outer call's timeout cuts it (C3, C4.6)",
        }
    }
}

pub(crate) fn measure(quick: bool) -> Result<Table, Failure> {
    let seeds = if quick { 2 } else { 40 };
    let columns = ["what is around the call", "timeout", "M5: at most", "measured, median", "from", "to", "because"];
    let mut table = Table::new(
        format!("Attempts that reach for an object which is down, of {seeds} seeds from 0 on; virtual time"),
        &columns,
    );
    let cases = [
        (Shape::Stub, 10_000),
        (Shape::LoopAroundStub, 10_000),
        (Shape::ThrowsOn, 10_000),
        (Shape::ThrowsOnWithLoop, 60_000),
        (Shape::DiesOfIt, 10_000),
        (Shape::DiesOfIt, 60_000),
    ];
    for (shape, timeout_ms) in cases {
        let counts = (0..seeds).map(|seed| attempts(shape, timeout_ms, seed)).collect::<Result<Vec<_>, _>>()?;
        let counts: Vec<_> = counts.into_iter().map(|count| count as f64).collect();
        if counts.iter().any(|count| *count > f64::from(shape.product())) {
            return Err(format!("{}: more attempts than M5 allows", shape.name()).into());
        }
        table.row([
            shape.name().into(),
            format!("{} s", timeout_ms / 1_000),
            shape.product().to_string(),
            median(&counts).to_string(),
            quantile(&counts, 0.0).to_string(),
            quantile(&counts, 1.0).to_string(),
            shape.why(timeout_ms).into(),
        ]);
    }
    Ok(table)
}

/// How many attempts reached for the bottom in one call from the top.
fn attempts(shape: Shape, timeout_ms: u32, seed: u64) -> Result<u64, Failure> {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build()?;
    LocalSet::new().block_on(&runtime, async {
        let world = World::new(seed)?;
        let _middle = world.host::<Middle>("middle").await?;
        // For an hour the directory will name it, and it is gone.
        drop(world.host::<Bottom>("bottom").await?);
        tokio::time::sleep(Duration::from_millis(1)).await;
        let caller = world.caller(seed ^ 1 << 32);
        call(&caller, shape, timeout_ms).await?;
        Ok(world.network.refused.load(Ordering::Relaxed))
    })
}

async fn call(caller: &Caller, shape: Shape, timeout_ms: u32) -> Result<(), Failure> {
    let options = limits(timeout_ms)?;
    let bottom = caller.namespace::<Bottom>().get_by_name_with("bottom", options);
    let middle = caller.namespace::<Middle>().get_by_name_with("middle", options);
    let rounds = if shape == Shape::LoopAroundStub { 5 } else { 1 };
    for _ in 0..rounds {
        let answered = match shape {
            Shape::Stub | Shape::LoopAroundStub => bottom.answer().await.is_ok(),
            Shape::ThrowsOn => middle.pass_on(1, timeout_ms).await.is_ok(),
            Shape::ThrowsOnWithLoop => middle.pass_on(5, timeout_ms).await.is_ok(),
            Shape::DiesOfIt => middle.or_die(1, timeout_ms).await.is_ok(),
        };
        if answered {
            return Err("an object that is down has answered".into());
        }
    }
    Ok(())
}

struct World {
    directory: Directory,
    network: Counting,
    data: TempDir,
    seed: u64,
}

impl World {
    fn new(seed: u64) -> Result<Self, Failure> {
        let data = tempfile::tempdir()?;
        Ok(Self { directory: Directory::in_memory(), network: Counting::default(), data, seed })
    }

    async fn host<C: DurableObject>(&self, name: &str) -> Result<Host, Failure> {
        let builder = Host::builder(&self.directory).name(name).class::<C>().storage(self.data.path());
        let builder = builder.durability(Durability::Off).network(self.network.clone()).listen(name);
        // Hosts draw their ids, and each needs one of its own.
        let seed = self.seed << 8 | u64::from(name.as_bytes()[0]);
        let builder = builder.executor(Executor::local()).entropy(Entropy::seeded(seed));
        Ok(builder.lease(Duration::from_secs(3600)).start().await?)
    }

    fn caller(&self, seed: u64) -> Caller {
        let builder = Caller::builder(&self.directory).network(self.network.clone());
        builder.executor(Executor::local()).entropy(Entropy::seeded(seed)).build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_makes_five_attempts_and_a_loop_around_it_five_times_as_many() {
        assert_eq!(attempts(Shape::Stub, 10_000, 1).unwrap(), 5);
        assert_eq!(attempts(Shape::LoopAroundStub, 10_000, 1).unwrap(), 25);
    }

    #[test]
    fn what_an_object_throws_on_is_not_retried_and_what_it_dies_of_is() {
        assert_eq!(attempts(Shape::ThrowsOn, 10_000, 1).unwrap(), 5);
        assert_eq!(attempts(Shape::DiesOfIt, 60_000, 1).unwrap(), 25);
        assert!((5..25).contains(&attempts(Shape::DiesOfIt, 10_000, 1).unwrap()));
    }
}
