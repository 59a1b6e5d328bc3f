//! Where the runtime's own tasks run: on threads of their own, or with the task that starts them.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use futures_util::future::LocalBoxFuture;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::{LocalSet, spawn_local};

type Task = Box<dyn FnOnce() -> LocalBoxFuture<'static, ()> + Send>;

/// Runs connections and objects.
///
/// Neither ever leaves the thread on which it begins, so that nothing of an object is shared.
#[derive(Clone)]
pub struct Executor(Kind);

#[derive(Clone)]
enum Kind {
    Threads(Arc<Threads>),
    Local,
}

struct Threads {
    senders: Vec<mpsc::UnboundedSender<Task>>,
    next: AtomicUsize,
}

impl Executor {
    /// So many threads, each with its own single-threaded tokio runtime. They end when the last handle to them is dropped
    /// and drop what still runs.
    ///
    /// # Errors
    /// What the operating system says if a thread or its runtime cannot be had.
    pub fn threads(count: usize, name: &str) -> std::io::Result<Self> {
        let senders = (0..count.max(1)).map(|index| start_thread(format!("{name}-{index}")));
        let senders = senders.collect::<Result<_, _>>()?;
        Ok(Self(Kind::Threads(Arc::new(Threads { senders, next: AtomicUsize::new(0) }))))
    }

    /// The [`LocalSet`] that polls whoever starts a task: for simulations and tests in which time is paused.
    ///
    /// Everything that uses this executor must be called within a [`LocalSet`].
    #[must_use]
    pub const fn local() -> Self {
        Self(Kind::Local)
    }

    /// The thread on which the connections of all callers run that did not ask for another.
    pub(crate) fn shared() -> std::io::Result<Self> {
        static SHARED: Mutex<Option<Executor>> = Mutex::new(None);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(executor) = &*shared {
            return Ok(executor.clone());
        }
        Ok(shared.insert(Self::threads(1, "oncemore-caller")?).clone())
    }

    /// How many things can run at the same time.
    pub(crate) fn width(&self) -> usize {
        match &self.0 {
            Kind::Threads(threads) => threads.senders.len(),
            Kind::Local => 1,
        }
    }

    /// Starts a task, each on the next thread in turn.
    pub(crate) fn spawn(&self, task: impl FnOnce() -> LocalBoxFuture<'static, ()> + Send + 'static) {
        let turn = match &self.0 {
            Kind::Threads(threads) => threads.next.fetch_add(1, Ordering::Relaxed),
            Kind::Local => 0,
        };
        self.spawn_on(turn, task);
    }

    /// Starts a task on the thread with this number, modulo how many there are.
    pub(crate) fn spawn_on(&self, turn: usize, task: impl FnOnce() -> LocalBoxFuture<'static, ()> + Send + 'static) {
        match &self.0 {
            Kind::Threads(threads) => {
                let sender = &threads.senders[turn % threads.senders.len()];
                // A thread ends only after all handles to it, of which this is one.
                drop(sender.send(Box::new(task)));
            }
            Kind::Local => drop(spawn_local(task())),
        }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Threads(threads) => write!(f, "Executor::threads({})", threads.senders.len()),
            Kind::Local => f.write_str("Executor::local()"),
        }
    }
}

fn start_thread(name: String) -> std::io::Result<mpsc::UnboundedSender<Task>> {
    let (sender, mut tasks) = mpsc::unbounded_channel::<Task>();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name(name).spawn(move || {
        LocalSet::new().block_on(&runtime, async move {
            while let Some(task) = tasks.recv().await {
                spawn_local(task());
            }
        });
    })?;
    Ok(sender)
}
