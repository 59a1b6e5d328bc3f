use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use oncemore_protocol::identity::Incarnation;
use oncemore_protocol::time::Time;

use super::{Change, DirectoryError, HostId, HostRecord, Place, Record, Registry};
use crate::clock::Clock;
use crate::id::ObjectId;

/// A directory in memory. Its leases run with tokio's time, so that a test that pauses it pauses them.
#[derive(Debug)]
pub(super) struct Memory {
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By name.
    hosts: BTreeMap<String, Host>,
    objects: HashMap<ObjectId, Record>,
}

#[derive(Debug)]
struct Host {
    record: HostRecord,
    expires: Time,
}

impl Default for Memory {
    fn default() -> Self {
        Self { clock: Clock::system(), state: Mutex::default() }
    }
}

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it has the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resolve_now(&self, object: &ObjectId) -> Result<Place, DirectoryError> {
        let now = self.clock.now();
        let state = &mut *self.state();
        let before = state.objects.get(object).copied();
        let owner = before.map(|record| record.host());
        let lives = owner.is_some_and(|owner| state.living(now).any(|host| host.id == owner));
        let nobody = || DirectoryError::NoHost { class: object.class().to_owned() };
        let record =
            Record::resolved(before, lives, || HostRecord::choose(object, state.living(now))).ok_or_else(nobody)?;
        if before != Some(record) {
            state.objects.insert(object.clone(), record);
            // Its lease has run out, and somebody has acted on it: from now on it is dead.
            state.hosts.retain(|_, host| Some(host.record.id) != owner);
        }
        let host = state.living(now).find(|host| host.id == record.host()).ok_or_else(nobody)?;
        Ok(Place { host: host.id, address: host.address.clone(), incarnation: record.incarnation() })
    }
}

impl State {
    fn living(&self, now: Time) -> impl Iterator<Item = &HostRecord> {
        self.hosts.values().filter(move |host| now < host.expires).map(|host| &host.record)
    }
}

impl Registry for Memory {
    fn register<'a>(&'a self, host: &'a HostRecord, lease: Duration) -> BoxFuture<'a, Result<(), DirectoryError>> {
        Box::pin(async move {
            let expires = self.clock.now().after(lease);
            let hosts = &mut self.state().hosts;
            hosts.retain(|_, registered| registered.record.id != host.id);
            hosts.insert(host.name.clone(), Host { record: host.clone(), expires });
            Ok(())
        })
    }

    fn renew(&self, host: HostId, lease: Duration) -> BoxFuture<'_, Result<bool, DirectoryError>> {
        Box::pin(async move {
            let expires = self.clock.now().after(lease);
            let mut state = self.state();
            let registered = state.hosts.values_mut().find(|registered| registered.record.id == host);
            Ok(registered.map(|registered| registered.expires = expires).is_some())
        })
    }

    fn leave(&self, host: HostId) -> BoxFuture<'_, Result<(), DirectoryError>> {
        Box::pin(async move {
            self.state().hosts.retain(|_, registered| registered.record.id != host);
            Ok(())
        })
    }

    fn resolve<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<Place, DirectoryError>> {
        Box::pin(async move { self.resolve_now(object) })
    }

    fn look<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<Option<Record>, DirectoryError>> {
        Box::pin(async move { Ok(self.state().objects.get(object).copied()) })
    }

    fn change<'a>(
        &'a self,
        object: &'a ObjectId,
        owner: Incarnation,
        change: Change,
    ) -> BoxFuture<'a, Result<Option<Record>, DirectoryError>> {
        Box::pin(async move {
            let mut state = self.state();
            let Some(record) = state.objects.get_mut(object) else {
                return Ok(None);
            };
            let changed = record.changed(owner, change);
            if let Some(changed) = changed {
                *record = changed;
            }
            Ok(changed)
        })
    }

    fn hosts(&self) -> BoxFuture<'_, Result<Vec<HostRecord>, DirectoryError>> {
        Box::pin(async move { Ok(self.state().living(self.clock.now()).cloned().collect()) })
    }
}
