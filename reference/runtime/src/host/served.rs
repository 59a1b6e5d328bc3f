//! One object on one host, over its incarnations there: a task of its own.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use oncemore_protocol::failure::{Kind, Refusal};
use oncemore_protocol::identity::Incarnation;
use oncemore_protocol::store::{Slot, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{debug, error, info, warn};

use super::life::{self, Arrived, Ending, Life};
use super::shared::Shared;
use crate::class::{AnyClass, ClassOptions};
use crate::directory::{Change, DirectoryError, HostId, Record};
use crate::id::ObjectId;
use crate::storage::{Storage, StorageError};
use crate::wire::{Answer, Reason};

/// What reaches an object's task.
#[derive(Debug)]
pub(super) enum ToObject {
    Attempt(Arrived),
    /// Hand the object over (G2), to this host or to whoever is next; then say that it is done.
    Leave {
        to: Option<HostId>,
        done: oneshot::Sender<()>,
    },
}

/// An object that this host serves.
pub(super) struct Served {
    pub(super) object: ObjectId,
    pub(super) host: Arc<Shared>,
    pub(super) class: Arc<dyn AnyClass>,
    pub(super) options: ClassOptions,
}

/// Why an object is not here.
#[derive(Debug)]
enum Absent {
    /// Another host has it.
    Elsewhere,
    /// It was to leave before it had begun.
    Leaving {
        to: Option<HostId>,
        done: oneshot::Sender<()>,
    },
    Directory(DirectoryError),
    Storage(StorageError),
    Construction(String),
}

/// What becomes of the task when an incarnation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// The next incarnation begins here.
    Again,
    Gone,
}

impl Served {
    /// Serves the object until it is gone from here.
    pub(super) async fn serve(self, mut inbox: mpsc::Receiver<ToObject>) {
        while self.one_life(&mut inbox).await == After::Again {}
        // Whoever comes now starts another task; these came before.
        inbox.close();
        while let Some(message) = inbox.recv().await {
            turn_away(message, &life::draining);
        }
    }

    async fn one_life(&self, inbox: &mut mpsc::Receiver<ToObject>) -> After {
        let mut early = Vec::new();
        match self.begin_unless_told_to_leave(inbox, &mut early).await {
            Ok(mut life) => {
                early.into_iter().for_each(|arrived| life.arrive(arrived));
                self.live(life, inbox).await
            }
            Err(absent) => {
                self.turn_away(&absent, early, inbox);
                if let Absent::Leaving { to, done } = absent {
                    self.give_away(to).await;
                    done.send(()).ok();
                }
                After::Gone
            }
        }
    }

    /// Those who come while an incarnation begins wait for it. If the object is to leave meanwhile, it does not begin: its
    /// construction may take for ever, and nothing was let in yet.
    async fn begin_unless_told_to_leave(
        &self,
        inbox: &mut mpsc::Receiver<ToObject>,
        early: &mut Vec<Arrived>,
    ) -> Result<Life<'_>, Absent> {
        let mut begins = pin!(self.begin());
        loop {
            tokio::select! {
                begun = &mut begins => return begun,
                message = inbox.recv() => match message {
                    Some(ToObject::Attempt(arrived)) if early.len() >= self.options.gate().queue_max => {
                        arrived.tell(Answer::Refused(Refusal::Overloaded));
                    }
                    Some(ToObject::Attempt(arrived)) => early.push(arrived),
                    Some(ToObject::Leave { to, done }) => return Err(Absent::Leaving { to, done }),
                    // The host is gone.
                    None => return Err(Absent::Elsewhere),
                },
            }
        }
    }

    /// An incarnation begins, under a number that none had before.
    async fn begin(&self) -> Result<Life<'_>, Absent> {
        let (storage, claims) = self.open().await?;
        let incarnation = storage.incarnation();
        let made = life::construct(self, incarnation, storage.clone()).await.map_err(Absent::Construction)?;
        if !storage.commit().is_ok_and(|held| held) {
            return Err(Absent::Construction("what its construction wrote could not be stored".into()));
        }
        info!(object = %self.object, class = self.object.class(), incarnation = incarnation.0, "begins");
        Ok(Life::new(self, incarnation, storage, claims, made))
    }

    /// Opens the object's storage under the number that the directory has for it, which fences all earlier ones.
    async fn open(&self) -> Result<(Storage, Vec<(Slot, Value)>), Absent> {
        let mut record = self.own_record().await?;
        loop {
            let path = self.host.database(&self.object);
            match Storage::open(&path, record.incarnation(), self.host.storage) {
                Ok(opened) => return Ok(opened),
                // An earlier life began under this number, here or before the directory was lost.
                Err(StorageError::Fenced { .. }) => {
                    let next = self.change(record.incarnation(), Change::NextIncarnation).await;
                    record = next.map_err(Absent::Directory)?.ok_or(Absent::Elsewhere)?;
                }
                Err(error) => return Err(Absent::Storage(error)),
            }
        }
    }

    async fn own_record(&self) -> Result<Record, Absent> {
        let record = self.host.directory.registry().look(&self.object).await.map_err(Absent::Directory)?;
        let record = record.filter(|record| record.host() == self.host.id).ok_or(Absent::Elsewhere)?;
        if !record.draining() {
            return Ok(record);
        }
        // Whoever drained it here has gone, and its successor was never named: that is this one (G2).
        let again = self.change(record.incarnation(), Change::HandOver(self.host.id)).await;
        again.map_err(Absent::Directory)?.ok_or(Absent::Elsewhere)
    }

    pub(super) async fn change(&self, owner: Incarnation, change: Change) -> Result<Option<Record>, DirectoryError> {
        let changed = self.host.directory.registry().change(&self.object, owner, change).await;
        if let Err(error) = &changed {
            error!(object = %self.object, %error, "the directory did not take a change");
        }
        changed
    }

    /// One incarnation, until it ends.
    async fn live(&self, mut life: Life<'_>, inbox: &mut mpsc::Receiver<ToObject>) -> After {
        let aborted = life.aborted.clone();
        let mut leave = Leave::default();
        loop {
            let rest = self.rest_after(&life);
            life.pump().await;
            match life.ending() {
                Some(Ending::Restarting) => return self.restart(life, leave).await,
                Some(Ending::Leaving) if life.at_rest() => return self.left(life, leave).await,
                Some(Ending::Leaving) | None => {}
            }
            tokio::select! {
                ended = life.progress() => {
                    if let Some((ticket, output)) = ended {
                        life.ended(ticket, output);
                    }
                }
                reason = aborted.reason() => {
                    warn!(object = %self.object, reason, "aborted by its own code");
                    return self.restart(life, leave).await;
                }
                () = rest => return self.rest(life).await,
                () = leave.deadline() => {
                    warn!(object = %self.object, "what still runs is cut off: the time for handing over is up");
                    return self.left(life, leave).await;
                }
                message = inbox.recv() => match message {
                    Some(ToObject::Attempt(arrived)) => life.arrive(arrived),
                    Some(ToObject::Leave { to, done }) => {
                        self.change(life.incarnation(), Change::Drain).await.ok();
                        life.drain();
                        leave.begin(self.host.clock_after_drain(), to, done);
                    }
                    // The host is gone, and nobody waits to be told.
                    None => return After::Gone,
                },
            }
        }
    }

    /// When an object that nobody calls may be put to rest; never, if there is something to do or its design forbids it.
    fn rest_after(&self, life: &Life<'_>) -> impl Future<Output = ()> + use<> {
        let rests = life.idle() && self.options.gate().store.design.may_rest();
        let span = self.host.idle_time.filter(|_| rests);
        async move {
            match span {
                Some(span) => sleep(span).await,
                None => std::future::pending().await,
            }
        }
    }

    /// The object gives its memory and its database back. The next incarnation has its number already, so that those who
    /// look for the object find it, and begins when it is called.
    async fn rest(&self, life: Life<'_>) -> After {
        debug!(object = %self.object, incarnation = life.incarnation().0, "rests");
        let ended = life.incarnation();
        life.end();
        self.change(ended, Change::NextIncarnation).await.ok();
        After::Gone
    }

    /// The incarnation's memory is lost, its storage stays; the next one begins here, or where the object was to go.
    async fn restart(&self, life: Life<'_>, leave: Leave) -> After {
        if leave.begun() {
            return self.left(life, leave).await;
        }
        let ended = life.incarnation();
        life.end();
        match self.change(ended, Change::NextIncarnation).await {
            Ok(Some(_)) => After::Again,
            Ok(None) | Err(_) => After::Gone,
        }
    }

    /// Nothing runs here any more, or has had its time: the successor may begin (G2).
    async fn left(&self, life: Life<'_>, leave: Leave) -> After {
        let ended = life.incarnation();
        life.end();
        if let Some(to) = leave.to {
            self.change(ended, Change::HandOver(to)).await.ok();
        }
        for done in leave.done {
            done.send(()).ok();
        }
        After::Gone
    }

    /// Hands over an object that has not begun here.
    async fn give_away(&self, to: Option<HostId>) {
        let (Some(to), Ok(record)) = (to, self.own_record().await) else { return };
        if let Ok(Some(record)) = self.change(record.incarnation(), Change::Drain).await {
            self.change(record.incarnation(), Change::HandOver(to)).await.ok();
        }
    }

    /// The object is not here: those who have come for it are told why.
    fn turn_away(&self, absent: &Absent, early: Vec<Arrived>, inbox: &mut mpsc::Receiver<ToObject>) {
        if !matches!(absent, Absent::Elsewhere | Absent::Leaving { .. }) {
            error!(object = %self.object, class = self.object.class(), ?absent, "could not begin");
        }
        let answer = || self.absent(absent);
        early.into_iter().for_each(|arrived| arrived.tell(answer()));
        while let Ok(message) = inbox.try_recv() {
            turn_away(message, &answer);
        }
    }

    fn absent(&self, absent: &Absent) -> Answer {
        match absent {
            Absent::Elsewhere => {
                let text = format!("the host {} does not have the object", self.host.name);
                life::not_delivered(Kind::Disconnected, Reason::NotHere, text)
            }
            Absent::Leaving { .. } => life::draining(),
            Absent::Directory(error) => {
                let text = format!("the host {} cannot tell whether it has the object: {error}", self.host.name);
                life::not_delivered(Kind::Disconnected, Reason::NotHere, text)
            }
            // Somebody still holds it, such as a predecessor that was stopped in the middle of a write.
            Absent::Storage(error @ StorageError::Locked { .. }) => {
                life::not_delivered(Kind::Disconnected, Reason::NotHere, error.to_string())
            }
            Absent::Storage(error) => life::failed(Kind::Failed, Reason::Storage, error.to_string()),
            Absent::Construction(error) => {
                let text = format!("the object could not be constructed: {error}");
                life::failed(Kind::Failed, Reason::Construction, text)
            }
        }
    }
}

fn turn_away(message: ToObject, answer: &dyn Fn() -> Answer) {
    match message {
        ToObject::Attempt(arrived) => arrived.tell(answer()),
        ToObject::Leave { done, .. } => {
            done.send(()).ok();
        }
    }
}

/// The handing over of an object.
#[derive(Debug, Default)]
struct Leave {
    /// None: it may take as long as it likes.
    until: Option<Instant>,
    to: Option<HostId>,
    done: Vec<oneshot::Sender<()>>,
}

impl Leave {
    /// Asked twice, the first deadline and the last successor count.
    fn begin(&mut self, until: Option<Instant>, to: Option<HostId>, done: oneshot::Sender<()>) {
        if !self.begun() {
            self.until = until;
        }
        self.to = to.or(self.to);
        self.done.push(done);
    }

    fn begun(&self) -> bool {
        !self.done.is_empty()
    }

    async fn deadline(&self) {
        match self.until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
