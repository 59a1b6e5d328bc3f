//! One worker: the objects on one thread, each a task of its own.

use std::collections::HashMap;
use std::sync::Arc;

use oncemore_protocol::failure::{Kind, Refusal};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::spawn_local;

use super::life::{self, Arrived};
use super::served::{Served, ToObject};
use super::shared::Shared;
use crate::directory::HostId;
use crate::id::ObjectId;
use crate::wire::{Answer, Reason};

/// What reaches a worker.
#[derive(Debug)]
pub(super) enum ToWorker {
    Attempt(Arrived),
    /// Hand one object over, and say when that is done.
    Leave {
        object: ObjectId,
        to: HostId,
        done: oneshot::Sender<()>,
    },
    /// Hand all objects over, and say when that is done.
    LeaveAll {
        done: oneshot::Sender<()>,
    },
}

/// Objects that have gone are looked for whenever this many more have come.
const SWEEP_EVERY: usize = 1024;

pub(super) struct Router {
    host: Arc<Shared>,
    objects: HashMap<ObjectId, mpsc::Sender<ToObject>>,
    until_sweep: usize,
    leaving: bool,
}

impl Router {
    pub(super) fn new(host: Arc<Shared>) -> Self {
        Self { host, objects: HashMap::new(), until_sweep: SWEEP_EVERY, leaving: false }
    }

    /// Works until the host stops; what its objects do then ends with it.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<ToWorker>) {
        let mut stopped = self.host.stopped.subscribe();
        loop {
            tokio::select! {
                _ = stopped.wait_for(Option::is_some) => return,
                message = inbox.recv() => match message {
                    Some(message) => self.handle(message),
                    None => return,
                },
            }
        }
    }

    fn handle(&mut self, message: ToWorker) {
        match message {
            // G2: what has not begun here will not begin any more.
            ToWorker::Attempt(arrived) if self.leaving => arrived.tell(life::draining()),
            ToWorker::Attempt(arrived) => self.attempt(arrived),
            ToWorker::Leave { object, to, done } => self.leave(&object, Some(to), done),
            ToWorker::LeaveAll { done } => self.leave_all(done),
        }
    }

    fn attempt(&mut self, arrived: Arrived) {
        let object = arrived.attempt.object.clone();
        let mut message = ToObject::Attempt(arrived);
        if let Some(task) = self.objects.get(&object) {
            match task.try_send(message) {
                Ok(()) => return,
                Err(mpsc::error::TrySendError::Full(ToObject::Attempt(arrived))) => {
                    return arrived.tell(Answer::Refused(Refusal::Overloaded));
                }
                Err(mpsc::error::TrySendError::Full(_)) => return,
                // The object has gone from here since; it may have come back.
                Err(mpsc::error::TrySendError::Closed(returned)) => message = returned,
            }
        }
        self.begin(object, message);
    }

    fn begin(&mut self, object: ObjectId, first: ToObject) {
        let Some((class, options)) = self.host.classes.get(object.class()).cloned() else {
            if let ToObject::Attempt(arrived) = first {
                let text = format!("the host {} serves no class {}", self.host.name, object.class());
                arrived.tell(life::not_delivered(Kind::Failed, Reason::UnknownClass, text));
            }
            return;
        };
        self.sweep();
        // Room for the first message, whatever the limit says.
        let (sender, inbox) = mpsc::channel(options.gate().queue_max.clamp(1, Semaphore::MAX_PERMITS));
        sender.try_send(first).ok();
        let host = self.host.clone();
        self.objects.insert(object.clone(), sender);
        let mut stopped = self.host.stopped.subscribe();
        spawn_local(async move {
            let served = Served { object, host, class, options };
            tokio::select! {
                () = served.serve(inbox) => {}
                // Killed: what runs is dropped where it waits.
                _ = stopped.wait_for(Option::is_some) => {}
            }
        });
    }

    fn leave(&self, object: &ObjectId, to: Option<HostId>, done: oneshot::Sender<()>) {
        let Some(task) = self.objects.get(object).cloned() else {
            done.send(()).ok();
            return;
        };
        spawn_local(async move {
            // If the task has ended, the object is not here any more, and `done` has been dropped.
            task.send(ToObject::Leave { to, done }).await.ok();
        });
    }

    fn leave_all(&mut self, done: oneshot::Sender<()>) {
        self.leaving = true;
        let waiting = self.objects.keys().map(|object| {
            let (done, left) = oneshot::channel();
            self.leave(object, None, done);
            left
        });
        let waiting: Vec<_> = waiting.collect();
        spawn_local(async move {
            for left in waiting {
                // An error says that the object was gone before.
                left.await.ok();
            }
            done.send(()).ok();
        });
    }

    fn sweep(&mut self) {
        self.until_sweep -= 1;
        if self.until_sweep == 0 {
            self.objects.retain(|_, task| !task.is_closed());
            self.until_sweep = SWEEP_EVERY;
        }
    }
}
