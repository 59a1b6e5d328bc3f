//! Where an object goes: the same for every registry.

use sha2::{Digest, Sha256};

use super::{Change, HostId, HostRecord, Record};
use crate::id::ObjectId;

impl Record {
    /// The record after somebody has asked where the object is, given what it was before and whether its host lives.
    ///
    /// A living host keeps the object, also while it drains: it may be the only one that can answer for calls it has let
    /// in. None: nobody could serve it, and nothing changes.
    #[must_use]
    pub fn resolved(before: Option<Self>, lives: bool, successor: impl FnOnce() -> Option<HostId>) -> Option<Self> {
        match before {
            None => successor().map(Self::first),
            Some(record) if lives => Some(record),
            Some(record) => {
                let host = successor()?;
                let change = if record.draining() { Change::HandOver(host) } else { Change::TakeOver(host) };
                record.changed(record.incarnation(), change)
            }
        }
    }
}

impl HostRecord {
    /// Which of these living hosts serves an object next.
    ///
    /// Of those that serve its class it is the one whose id, hashed together with the object's, comes out highest
    /// (rendezvous hashing): objects spread evenly without anybody counting them, whoever asks gets the same answer, and a
    /// host that comes or goes moves no object between others.
    #[must_use]
    pub fn choose<'a>(object: &ObjectId, living: impl IntoIterator<Item = &'a Self>) -> Option<HostId> {
        let serving = living.into_iter().filter(|host| host.classes.contains(object.class()));
        serving.map(|host| host.id).max_by_key(|host| (weight(object, *host), *host))
    }
}

fn weight(object: &ObjectId, host: HostId) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(object.key());
    hash.update(host.0.to_le_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oncemore_protocol::identity::Incarnation;

    fn host(id: u64, class: &str) -> HostRecord {
        HostRecord { id: HostId(id), name: id.to_string(), address: String::new(), classes: [class.to_owned()].into() }
    }

    #[test]
    fn objects_spread_evenly_and_only_those_of_a_lost_host_move() {
        let hosts = [host(1, "Cart"), host(2, "Cart"), host(3, "Cart"), host(4, "Other")];
        let mut counts = [0; 5];
        for name in 0..300 {
            let object = ObjectId::named("Cart", &name.to_string());
            let before = HostRecord::choose(&object, &hosts).unwrap();
            counts[usize::try_from(before.0).unwrap()] += 1;
            let after = HostRecord::choose(&object, &hosts[..2]).unwrap();
            assert!(before == after || before == HostId(3), "object {name} moved from {before} to {after}");
        }
        assert_eq!((counts[0], counts[4]), (0, 0));
        assert!(counts[1..4].iter().all(|&count| count > 70), "{counts:?}");
        assert_eq!(HostRecord::choose(&ObjectId::named("Nobody's", "x"), &hosts), None);
    }

    #[test]
    fn a_living_host_keeps_its_object_and_a_dead_one_does_not() {
        let (a, b) = (HostId(1), HostId(2));
        let first = Record::first(a);
        let draining = first.changed(first.incarnation(), Change::Drain).unwrap();
        for record in [first, draining] {
            assert_eq!(Record::resolved(Some(record), true, || unreachable!()), Some(record));
            let taken = Record::resolved(Some(record), false, || Some(b)).unwrap();
            assert_eq!((taken.host(), taken.incarnation(), taken.draining()), (b, Incarnation(2), false));
            assert_eq!(Record::resolved(Some(record), false, || None), None);
        }
        assert_eq!(Record::resolved(None, false, || Some(a)), Some(first));
        assert_eq!(Record::resolved(None, false, || None), None);
    }
}
