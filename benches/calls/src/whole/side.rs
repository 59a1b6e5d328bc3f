//! A thread with a tokio runtime of its own: the server's side of every comparison.

use std::future::Future;
use std::io;
use std::thread;

use futures_util::future::LocalBoxFuture;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};

type Task = Box<dyn FnOnce() -> LocalBoxFuture<'static, ()> + Send>;

/// Ends with its handle; what runs there is dropped.
pub(crate) struct Side(mpsc::UnboundedSender<Task>);

impl Side {
    pub(crate) fn start() -> io::Result<Self> {
        let (tasks, mut inbox) = mpsc::unbounded_channel::<Task>();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("server".into()).spawn(move || {
            LocalSet::new().block_on(&runtime, async move {
                while let Some(task) = inbox.recv().await {
                    spawn_local(task());
                }
            });
        })?;
        Ok(Self(tasks))
    }

    /// Runs something there until it ends, and returns what it ended with.
    pub(crate) async fn run<T, F>(&self, act: impl FnOnce() -> F + Send + 'static) -> io::Result<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + 'static,
    {
        let (told, outcome) = oneshot::channel();
        let task: Task = Box::new(move || {
            Box::pin(async move {
                drop(told.send(act().await));
            })
        });
        self.0.send(task).map_err(|_| io::Error::other("the server's thread has ended"))?;
        outcome.await.map_err(|_| io::Error::other("what ran on the server's thread has panicked"))
    }
}
