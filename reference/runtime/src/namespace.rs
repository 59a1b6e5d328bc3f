//! The objects of a class, and stubs for them (E1).

use std::fmt;
use std::marker::PhantomData;

use crate::caller::Caller;
use crate::directory::Directory;
use crate::id::{IdError, ObjectId};
use crate::object::DurableObject;
use crate::retry::RetryOptions;
use crate::stub::Stub;

/// The objects of the class `C`.
///
/// Only calls through a stub that a namespace made are ever retried (E1).
pub struct Namespace<C> {
    caller: Caller,
    class: PhantomData<fn() -> C>,
}

impl<C: DurableObject> Namespace<C> {
    /// The objects that this directory knows, called by a caller of their own.
    #[must_use]
    pub fn new(directory: &Directory) -> Self {
        Self::of(Caller::new(directory))
    }

    pub(crate) fn of(caller: Caller) -> Self {
        Self { caller, class: PhantomData }
    }

    /// An id that no object has yet.
    #[must_use]
    pub fn unique_id(&self) -> ObjectId {
        ObjectId::from_key(C::CLASS, self.caller.entropy().bytes())
    }

    /// The id of the object with a name.
    #[must_use]
    pub fn id_from_name(&self, name: &str) -> ObjectId {
        ObjectId::named(C::CLASS, name)
    }

    /// The id that was written as text.
    ///
    /// # Errors
    /// [`IdError`] if the text is no id.
    pub fn id_from_text(&self, text: &str) -> Result<ObjectId, IdError> {
        ObjectId::parse(C::CLASS, text)
    }

    /// A stub for the object with this id.
    ///
    /// # Panics
    /// If the id belongs to another class.
    #[must_use]
    pub fn get(&self, id: &ObjectId) -> C::Stub {
        self.get_with(id, RetryOptions::new())
    }

    /// A stub for the object with this id, whose calls have these limits.
    ///
    /// # Panics
    /// If the id belongs to another class.
    #[must_use]
    pub fn get_with(&self, id: &ObjectId, options: RetryOptions) -> C::Stub {
        assert_eq!(id.class(), C::CLASS, "the id {id:?} is of another class than this namespace");
        C::Stub::from(Stub::new(id.clone(), self.caller.clone(), options))
    }

    /// A stub for the object with this name.
    #[must_use]
    pub fn get_by_name(&self, name: &str) -> C::Stub {
        self.get(&self.id_from_name(name))
    }

    /// A stub for the object with this name, whose calls have these limits.
    #[must_use]
    pub fn get_by_name_with(&self, name: &str, options: RetryOptions) -> C::Stub {
        self.get_with(&self.id_from_name(name), options)
    }
}

impl<C> Clone for Namespace<C> {
    fn clone(&self) -> Self {
        Self { caller: self.caller.clone(), class: PhantomData }
    }
}

impl<C: DurableObject> fmt::Debug for Namespace<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Namespace").field("class", &C::CLASS).field("caller", &self.caller).finish()
    }
}
