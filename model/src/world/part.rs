//! A part of a state, shared by all states that have the same one.
//!
//! A step changes two or three parts of a world, so a copy of the world copies none: it shares them, and a part is copied
//! when it is first changed. What is known of a part - its fingerprint, the identifiers in it, itself as bytes - is kept
//! beside it, and so worked out once for all states that share it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use oncemore_protocol::store::ClaimStore;

use super::mention::{Mentions, Show};
use crate::explore::Fingerprinter;
use crate::script::Script;

/// A part: shared with other states, or this state's own since it was changed.
pub(crate) struct Part<T> {
    shared: Option<Arc<Known<T>>>,
    /// The changed part; otherwise memory for one.
    own: Option<Box<Own<T>>>,
    /// Whether `own` counts. If not, `shared` is there.
    changed: bool,
}

/// A part that is shared, and what is known of it.
#[derive(Debug)]
pub(crate) struct Known<T> {
    pub(crate) value: T,
    pub(crate) fingerprint: u64,
    mentions: Mentions,
    /// Where it stands among its like. What it mentions depends on that.
    pub(crate) place: usize,
    /// None where nobody asked for them.
    pub(crate) bytes: Box<[u8]>,
}

/// A part that was changed, and what is known of it since.
#[derive(Clone)]
struct Own<T> {
    value: T,
    fingerprint: Option<u64>,
    mentions: Mentions,
    has_mentions: bool,
}

impl<T> Own<T> {
    fn of(value: T) -> Self {
        Self { value, fingerprint: None, mentions: Mentions::default(), has_mentions: false }
    }
}

impl<T> Part<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { shared: None, own: Some(Box::new(Own::of(value))), changed: true }
    }

    pub(crate) const fn of_shared(shared: Arc<Known<T>>) -> Self {
        Self { shared: Some(shared), own: None, changed: false }
    }

    /// The part as it is shared; none if it was changed.
    #[inline]
    pub(crate) fn shared(&self) -> Option<&Arc<Known<T>>> {
        if self.changed { None } else { self.shared.as_ref() }
    }

    #[inline]
    pub(crate) const fn is_changed(&self) -> bool {
        self.changed
    }

    /// Becomes that one, whatever it was.
    #[inline]
    pub(crate) fn share_in(&mut self, shared: &Arc<Known<T>>) {
        if !self.shared.as_ref().is_some_and(|old| Arc::ptr_eq(old, shared)) {
            self.shared = Some(Arc::clone(shared));
        }
        self.changed = false;
    }

    #[inline]
    fn own(&self) -> Option<&Own<T>> {
        self.own.as_deref().filter(|_| self.changed)
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match (&self.own, &self.shared) {
            (Some(own), _) if self.changed => &own.value,
            (_, Some(shared)) => &shared.value,
            (_, None) => unreachable!("a part is shared or changed"),
        }
    }
}

impl<T: Clone> DerefMut for Part<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        if !self.changed {
            match (&mut self.own, &self.shared) {
                (Some(own), Some(shared)) => own.value.clone_from(&shared.value),
                (own, Some(shared)) => *own = Some(Box::new(Own::of(shared.value.clone()))),
                (_, None) => {}
            }
            self.changed = true;
        }
        let Some(own) = &mut self.own else { unreachable!("a part is shared or changed") };
        own.fingerprint = None;
        own.has_mentions = false;
        &mut own.value
    }
}

impl<T: Clone> Clone for Part<T> {
    fn clone(&self) -> Self {
        let own = if self.changed { self.own.clone() } else { None };
        Self { shared: self.shared.clone(), own, changed: self.changed }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        match source.shared() {
            Some(shared) => self.share_in(shared),
            None => *self = source.clone(),
        }
    }
}

impl<T: Hash> Part<T> {
    /// Works the fingerprint out, if it is not known.
    #[inline]
    pub(crate) fn seal(&mut self, fingerprinter: &mut Fingerprinter) {
        if let Some(own) = self.own.as_deref_mut().filter(|_| self.changed)
            && own.fingerprint.is_none()
        {
            own.fingerprint = Some(fingerprinter.of(&own.value).get());
        }
    }

    #[inline]
    pub(crate) fn fingerprint(&self) -> u64 {
        match (&self.own, &self.shared) {
            (Some(own), _) if self.changed => own.fingerprint.unwrap_or_else(|| fingerprint_of(&own.value)),
            (_, Some(shared)) => shared.fingerprint,
            (_, None) => unreachable!("a part is shared or changed"),
        }
    }
}

/// For those who have no fingerprinter at hand.
#[cold]
fn fingerprint_of(value: &impl Hash) -> u64 {
    Fingerprinter::default().of(value).get()
}

impl<T> Part<T> {
    /// The identifiers in it.
    #[inline]
    pub(crate) fn mentions<S: ClaimStore>(&mut self, script: &Script<S>, place: usize) -> &Mentions
    where
        T: Show<S>,
    {
        match (&mut self.own, &self.shared) {
            (Some(own), _) if self.changed => {
                if !own.has_mentions {
                    own.mentions.note(&mut own.value, script, place);
                    own.has_mentions = true;
                }
                &own.mentions
            }
            (_, Some(shared)) => &shared.mentions,
            (_, None) => unreachable!("a part is shared or changed"),
        }
    }

    /// Makes a changed part one that copies of the state share.
    pub(crate) fn share<S: ClaimStore>(&mut self, script: &Script<S>, place: usize)
    where
        T: Show<S> + Hash,
    {
        if !self.changed {
            return;
        }
        let fingerprint = self.fingerprint();
        if let Some(own) = self.own.take() {
            self.shared = Some(Arc::new(Known::new(own.value, fingerprint, script, place, Box::new([]))));
            self.changed = false;
        }
    }
}

impl<T> Known<T> {
    pub(crate) fn new<S: ClaimStore>(
        mut value: T,
        fingerprint: u64,
        script: &Script<S>,
        place: usize,
        bytes: Box<[u8]>,
    ) -> Self
    where
        T: Show<S>,
    {
        let mut mentions = Mentions::default();
        mentions.note(&mut value, script, place);
        Self { value, fingerprint, mentions, place, bytes }
    }
}

impl<T: PartialEq> Part<T> {
    /// Whether it was changed but for nothing; then it is shared again.
    #[inline]
    pub(crate) fn share_if_same(&mut self) {
        if self.changed && self.own().is_some_and(|own| self.shared.as_ref().is_some_and(|old| old.value == own.value))
        {
            self.changed = false;
        }
    }
}

impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Part<T> {}

impl<T: Hash> Hash for Part<T> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.fingerprint());
    }
}

impl<T: fmt::Debug> fmt::Debug for Part<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}
