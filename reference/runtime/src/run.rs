//! One thing at a time: whose turn it is on an object, and when a run lets others have it.
//!
//! A run keeps the turn until it ends, except while it waits for an answer from another object: then others may start, so
//! that A may call B which calls A. Nothing that it has written is left open then, and before it goes on it waits for the
//! turn again.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::future::{FutureExt, LocalBoxFuture};
use tokio::sync::Notify;

use crate::storage::{Storage, StorageError};

tokio::task_local! {
    /// The run whose code is being polled.
    static RUN: Rc<Running>;
}

/// The gate's ticket of a request; a run has that of its request.
pub(crate) type Ticket = u64;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    holder: Cell<Option<Ticket>>,
    waiting: RefCell<VecDeque<(Ticket, Waker)>>,
    freed: Notify,
}

impl Turn {
    /// Whether something new may start: nobody has the turn, and nobody who has begun waits for it.
    pub(crate) fn free(&self) -> bool {
        self.holder.get().is_none() && self.waiting.borrow().is_empty()
    }

    /// Gives the turn, which is free, to a run that is being let in: what comes after it is neither claimed nor started
    /// before it is done or waits (G9).
    pub(crate) fn begin(&self, run: Ticket) {
        self.holder.set(Some(run));
    }

    /// Returns when the turn may have become free.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// The run gives the turn back.
    pub(crate) fn release(&self, run: Ticket) {
        if self.holder.get() == Some(run) {
            self.holder.set(None);
            match self.waiting.borrow().front() {
                Some((_, first)) => first.wake_by_ref(),
                None => self.freed.notify_one(),
            }
        }
    }

    /// Takes the turn, or gets into the line for it.
    fn take(&self, run: Ticket, waker: &Waker) -> bool {
        if self.holder.get() == Some(run) {
            return true;
        }
        let mut waiting = self.waiting.borrow_mut();
        let first = waiting.front().is_none_or(|(first, _)| *first == run);
        if self.holder.get().is_none() && first {
            waiting.pop_front();
            self.holder.set(Some(run));
            return true;
        }
        match waiting.iter_mut().find(|(other, _)| *other == run) {
            Some((_, known)) => known.clone_from(waker),
            None => waiting.push_back((run, waker.clone())),
        }
        false
    }
}

/// A run of user code, which ends with a `T`.
pub(crate) struct Run<T> {
    running: Rc<Running>,
    code: LocalBoxFuture<'static, Result<T, Panicked>>,
}

/// User code panicked, with this message.
pub(crate) type Panicked = String;

struct Running {
    ticket: Ticket,
    storage: Storage,
    turn: Rc<Turn>,
    /// Calls to other objects that wait for their answers.
    outside: Cell<u32>,
}

impl<T: 'static> Run<T> {
    pub(crate) fn new(ticket: Ticket, storage: Storage, turn: Rc<Turn>, code: LocalBoxFuture<'static, T>) -> Self {
        // What a panic leaves behind is never looked at again: the incarnation ends.
        let code = AssertUnwindSafe(code).catch_unwind().map(|ended| ended.map_err(|panic| text(&*panic)));
        Self { running: Rc::new(Running { ticket, storage, turn, outside: Cell::new(0) }), code: Box::pin(code) }
    }
}

fn text(panic: &(dyn Any + Send)) -> Panicked {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

impl<T: 'static> Future for Run<T> {
    type Output = (Ticket, Result<T, Panicked>);

    /// Whoever gets the output has the run's turn, and gives it back.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let running = self.running.clone();
        if !running.turn.take(running.ticket, cx.waker()) {
            return Poll::Pending;
        }
        match RUN.sync_scope(running.clone(), || self.code.as_mut().poll(cx)) {
            Poll::Ready(output) => Poll::Ready((running.ticket, output)),
            Poll::Pending => {
                if running.outside.get() > 0 {
                    // What fails here is remembered by the storage, and the run's answer will not leave.
                    running.storage.commit().ok();
                    running.turn.release(running.ticket);
                }
                Poll::Pending
            }
        }
    }
}

/// The code that calls this is about to tell others something: what the run wrote until now must be durable first.
pub(crate) fn before_leaving() -> Result<(), StorageError> {
    RUN.try_with(|run| run.storage.commit_or_fail()).unwrap_or(Ok(()))
}

/// Waits for something outside the object; if a run of an object's code waits, others may start there meanwhile.
pub(crate) async fn outside<F: Future>(call: F) -> F::Output {
    let waiting = Waiting::begin();
    let output = call.await;
    drop(waiting);
    output
}

/// Counted in its run. It holds no reference to it, so that a call may be made from any thread.
struct Waiting(Option<Ticket>);

impl Waiting {
    fn begin() -> Self {
        let run = RUN.try_with(|run| {
            run.outside.set(run.outside.get() + 1);
            run.ticket
        });
        Self(run.ok())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Where the run itself is dropped there is nothing left to count.
        let Some(ticket) = self.0 else { return };
        let ended = |run: &Rc<Running>| {
            if run.ticket == ticket {
                run.outside.set(run.outside.get().saturating_sub(1));
            }
        };
        RUN.try_with(ended).ok();
    }
}
