//! The transaction of a run, from its first write to the point where something that rests on it may leave.

use oncemore_protocol::identity::Incarnation;
use oncemore_protocol::rules::{Rules, Spec};
use oncemore_protocol::store::{Key, Writes};
use rusqlite::Connection;

use super::{Storage, StorageError, claims, epoch};

/// What has become of what the run wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// Nothing was written.
    Closed,
    /// It is in the transaction, and this connection has the write lock.
    Open,
    /// It was undone, and the run is not over: the run must not go on as if it had not written.
    Lost,
    /// It was undone, and others may have run since: nobody knows any more whose writes are missing, so that this life can
    /// only end.
    Broken,
}

impl Storage {
    /// The same life goes on under the number `next` (G6). Like [`Storage::store_claims`] otherwise.
    ///
    /// `next` must be greater than every number before it.
    pub(crate) fn begin_epoch(&self, next: Incarnation, writes: &Writes) -> Result<bool, StorageError> {
        if !next.may_follow(self.incarnation()) {
            return Err(self.fenced_by(self.incarnation()));
        }
        let begun = self.store(|connection| {
            epoch::record(connection, next)?;
            claims::apply(connection, writes)
        })?;
        if begun {
            self.0.incarnation.set(next);
        }
        Ok(begun)
    }

    /// Makes claims durable before user code starts (D4, G9). False: the epoch is lost, and nothing was written.
    ///
    /// What is open is committed together with it.
    pub(crate) fn store_claims(&self, writes: &Writes) -> Result<bool, StorageError> {
        self.store(|connection| claims::apply(connection, writes))
    }

    /// A run has ended: what it wrote becomes durable, together with what the gate and the result's record add (D5); or,
    /// if nothing was written, the epoch is confirmed (G12). False: the epoch is lost, and nothing was written.
    ///
    /// However it ends, the segment is over. After an error the run's effect is not stored, nor its result.
    pub(crate) fn finish(&self, writes: &Writes, result: Option<(Key, &[u8])>) -> Result<bool, StorageError> {
        if self.0.segment.get() == Segment::Closed && writes.is_empty() && result.is_none() {
            return self.unless_fenced(self.confirm());
        }
        let finished = self.write_and_end(|connection| {
            claims::apply(connection, writes)?;
            result.map_or(Ok(()), |(key, result)| claims::put_result(connection, key, result))
        });
        self.roll_back();
        self.unless_fenced(finished)
    }

    /// What the run wrote so far becomes durable, before it makes a call to another object. False: the epoch is lost.
    ///
    /// After an error this life can do nothing more: the run goes on, others run meanwhile, and what it wrote is missing.
    pub(crate) fn commit(&self) -> Result<bool, StorageError> {
        let committed = match self.0.segment.get() {
            Segment::Open => self.end(),
            Segment::Closed | Segment::Lost | Segment::Broken => self.ready(),
        };
        if self.0.segment.get() == Segment::Lost {
            self.0.segment.set(Segment::Broken);
        }
        self.unless_fenced(committed)
    }

    /// As [`Storage::commit`], for those who must be told that the epoch is lost.
    pub(crate) fn commit_or_fail(&self) -> Result<(), StorageError> {
        if self.commit()? {
            return Ok(());
        }
        Err(self.fenced_by(self.0.fenced.get().unwrap_or_default()))
    }

    /// A run is given up: undoes what it wrote since the last commit, and ends the segment.
    pub(crate) fn roll_back(&self) {
        self.undo();
        if self.0.segment.get() != Segment::Broken {
            self.0.segment.set(Segment::Closed);
            self.0.loss.take();
        }
    }

    /// This life is over, as the object's host knows: undoes what is open, and lets nothing be read or written any more.
    pub(crate) fn close(&self) {
        self.undo();
        self.0.segment.set(Segment::Broken);
        self.0.loss.replace(Some("this life of the object has ended".into()));
    }

    /// Whether anything may be read or written at all.
    pub(super) fn ready(&self) -> Result<(), StorageError> {
        self.notice_loss();
        if let Some(held) = self.0.fenced.get() {
            return Err(self.fenced_by(held));
        }
        match self.0.segment.get() {
            Segment::Closed | Segment::Open => Ok(()),
            Segment::Lost | Segment::Broken => {
                let why = self.0.loss.borrow().clone();
                Err(StorageError::RolledBack { path: self.0.path.clone(), why })
            }
        }
    }

    /// Opens the segment, if it is not open: only a life that holds the epoch gets the write lock for longer than to see
    /// that it does not (G2).
    pub(super) fn begin(&self) -> Result<(), StorageError> {
        self.ready()?;
        if self.0.segment.get() == Segment::Open {
            return Ok(());
        }
        let _own = self.0.guard.ours();
        self.seen(run(&self.0.connection, "BEGIN IMMEDIATE"))?;
        let confirmed = self.confirm();
        if confirmed.is_ok() {
            self.0.segment.set(Segment::Open);
        } else {
            self.undo();
        }
        confirmed
    }

    /// SQLite undoes a whole transaction by itself after some errors, and whenever a statement says so.
    pub(super) fn notice_loss(&self) {
        if self.0.segment.get() == Segment::Open && self.0.connection.is_autocommit() {
            self.0.segment.set(Segment::Lost);
        }
    }

    /// Gives up what the run wrote, since a part of it cannot be undone alone.
    pub(super) fn lose(&self) {
        if self.0.segment.get() == Segment::Open {
            self.undo();
            self.0.segment.set(Segment::Lost);
        }
    }

    fn lose_to(&self, error: &StorageError) {
        self.0.segment.set(Segment::Lost);
        self.0.loss.replace(Some(error.to_string()));
    }

    pub(super) fn fenced_by(&self, held: Incarnation) -> StorageError {
        StorageError::Fenced { path: self.0.path.clone(), held }
    }

    /// Writes for the gate, not for a run; if one has left something open, that is committed with it, or lost with it.
    fn store(&self, write: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<bool, StorageError> {
        let nobodys = self.0.segment.get() == Segment::Closed;
        let stored = self.write_and_end(write);
        if stored.is_err() {
            self.0.segment.set(if nobodys { Segment::Closed } else { Segment::Broken });
        }
        self.unless_fenced(stored)
    }

    /// Writes and commits, with what is open. After an error nothing of it is left.
    fn write_and_end(&self, write: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), StorageError> {
        self.begin()?;
        let _own = self.0.guard.ours();
        match self.seen(write(&self.0.connection)) {
            Ok(()) => self.end(),
            Err(error) => {
                self.undo();
                self.lose_to(&error);
                Err(error)
            }
        }
    }

    /// Whether this life holds the epoch, as the database says now (G12).
    fn confirm(&self) -> Result<(), StorageError> {
        self.ready()?;
        let _own = self.0.guard.ours();
        let held = self.recorded_epoch()?;
        if Spec.storage_takes(self.0.incarnation.get(), held) {
            return Ok(());
        }
        self.0.fenced.set(Some(held));
        Err(self.fenced_by(held))
    }

    /// Commits. After an error nothing of the segment is left.
    fn end(&self) -> Result<(), StorageError> {
        self.ready()?;
        let _own = self.0.guard.ours();
        let committed = self.seen(run(&self.0.connection, "COMMIT"));
        match &committed {
            Ok(()) => self.0.segment.set(Segment::Closed),
            Err(error) => {
                self.undo();
                self.lose_to(error);
            }
        }
        committed
    }

    fn undo(&self) {
        let _own = self.0.guard.ours();
        if !self.0.connection.is_autocommit() {
            // It fails only if there is no transaction any more.
            drop(run(&self.0.connection, "ROLLBACK"));
        }
    }

    fn unless_fenced(&self, result: Result<(), StorageError>) -> Result<bool, StorageError> {
        match result {
            Ok(()) => Ok(true),
            Err(_) if self.0.fenced.get().is_some() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn run(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute(()).map(drop)
}
