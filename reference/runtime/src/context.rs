//! What an object's code knows of itself.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use oncemore_protocol::identity::Incarnation;
use tokio::sync::Notify;

use crate::caller::Caller;
use crate::id::ObjectId;
use crate::namespace::Namespace;
use crate::object::DurableObject;
use crate::storage::Storage;

/// An object's access to its id, its storage and other objects. A clone is the same.
#[derive(Clone)]
pub struct Context(Rc<Inner>);

struct Inner {
    object: ObjectId,
    incarnation: Incarnation,
    storage: Storage,
    caller: Caller,
    aborted: Rc<Aborted>,
}

/// Whether the object's code has ended this incarnation.
#[derive(Debug, Default)]
pub(crate) struct Aborted {
    reason: RefCell<Option<String>>,
    told: Notify,
}

impl Aborted {
    pub(crate) async fn reason(&self) -> String {
        loop {
            if let Some(reason) = self.reason.borrow_mut().take() {
                return reason;
            }
            self.told.notified().await;
        }
    }
}

impl Context {
    pub(crate) fn new(
        object: ObjectId,
        incarnation: Incarnation,
        storage: Storage,
        caller: Caller,
        aborted: Rc<Aborted>,
    ) -> Self {
        Self(Rc::new(Inner { object, incarnation, storage, caller, aborted }))
    }

    /// The object's id; its name is in it, if whoever called first used one.
    #[must_use]
    pub fn id(&self) -> &ObjectId {
        &self.0.object
    }

    /// Under which number this incarnation began.
    #[must_use]
    pub fn incarnation(&self) -> Incarnation {
        self.0.incarnation
    }

    /// What outlives this incarnation.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.0.storage
    }

    /// The caller that the object is to other objects. All objects of a host share it.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// The objects of a class, for calls from this one.
    #[must_use]
    pub fn namespace<C: DurableObject>(&self) -> Namespace<C> {
        self.0.caller.namespace()
    }

    /// Ends this incarnation: its memory is lost, its storage stays, and what it has not yet committed is undone. Those who
    /// wait for an answer see their connection drop. Never returns.
    pub async fn abort(&self, reason: impl Into<String>) -> std::convert::Infallible {
        *self.0.aborted.reason.borrow_mut() = Some(reason.into());
        self.0.aborted.told.notify_one();
        std::future::pending().await
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("object", &self.0.object)
            .field("incarnation", &self.0.incarnation)
            .finish_non_exhaustive()
    }
}
