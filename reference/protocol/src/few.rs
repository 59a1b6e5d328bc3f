//! Collections that hold a few entries in place and allocate only beyond that.
//!
//! Most objects hold a handful of live claims: a host with a million objects should not pay an allocation for each. A
//! model that copies states all day is glad of it too. Both compare and hash by content, whatever the order of insertion.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
#[cfg(feature = "serde")]
use core::marker::PhantomData;

/// A sequence: up to `N` items in place, more on the heap.
pub enum Few<T, const N: usize> {
    /// In place; only the first `len` items count.
    Inline {
        /// How many items there are.
        len: u8,
        /// The items, and whatever there was before them.
        items: [T; N],
    },
    /// On the heap.
    Heap(Long<T>),
}

/// A sequence from whose front many are taken, as a queue's are: they stay where they were, and what comes after them moves
/// only once they are half of all.
#[derive(Clone)]
pub struct Long<T> {
    items: Vec<T>,
    /// How many at the front are no longer there.
    gone: usize,
}

impl<T: Copy> Long<T> {
    fn as_slice(&self) -> &[T] {
        self.items.get(self.gone..).unwrap_or_default()
    }

    fn as_mut_slice(&mut self) -> &mut [T] {
        self.items.get_mut(self.gone..).unwrap_or_default()
    }

    fn insert(&mut self, index: usize, item: T) {
        let place = (self.gone + index).min(self.items.len());
        self.items.insert(place, item);
    }

    /// The index is that of an item which is there.
    fn remove(&mut self, index: usize) -> T {
        if index > 0 {
            return self.items.remove(self.gone + index);
        }
        let item = self.items[self.gone];
        self.gone += 1;
        if 2 * self.gone > self.items.len() {
            self.items.drain(..self.gone);
            self.gone = 0;
        }
        item
    }

    fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.items.drain(..self.gone);
        self.gone = 0;
        self.items.retain(keep);
    }
}

impl<T> From<Vec<T>> for Long<T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, gone: 0 }
    }
}

impl<T: Clone, const N: usize> Clone for Few<T, N> {
    fn clone(&self) -> Self {
        match self {
            Self::Inline { len, items } => Self::Inline { len: *len, items: items.clone() },
            Self::Heap(items) => Self::Heap(items.clone()),
        }
    }

    /// Copies no more items than there are.
    #[inline]
    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::Inline { len, items }, Self::Inline { len: count, items: from }) => {
                let places = ..usize::from(*count);
                if let (Some(items), Some(from)) = (items.get_mut(places), from.get(places)) {
                    items.clone_from_slice(from);
                }
                *len = *count;
            }
            (Self::Heap(items), Self::Heap(from)) => {
                items.items.clone_from(&from.items);
                items.gone = from.gone;
            }
            (this, source) => *this = source.clone(),
        }
    }
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self::Inline { len: 0, items: [T::default(); N] }
    }
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// The items, in order.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::Inline { len, items } => items.get(..usize::from(*len)).unwrap_or_default(),
            Self::Heap(items) => items.as_slice(),
        }
    }

    /// The items, in order, to change in place.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        match self {
            Self::Inline { len, items } => items.get_mut(..usize::from(*len)).unwrap_or_default(),
            Self::Heap(items) => items.as_mut_slice(),
        }
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items, in order.
    pub fn iter(&self) -> core::slice::Iter<'_, T> {
        self.as_slice().iter()
    }

    /// Adds an item at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        if let Self::Inline { len, items } = self
            && let Some(place) = items.get_mut(usize::from(*len))
        {
            *place = item;
            *len += 1;
        } else {
            self.insert(self.len(), item);
        }
    }

    /// Puts an item before the one at `index`, at the end if there is none.
    #[inline]
    pub fn insert(&mut self, index: usize, item: T) {
        match self {
            Self::Inline { len, items } if usize::from(*len) < N => {
                let index = index.min(usize::from(*len));
                items.copy_within(index..usize::from(*len), index + 1);
                items[index] = item;
                *len += 1;
            }
            Self::Inline { items, .. } => {
                let mut heap = Vec::with_capacity(2 * N + 1);
                heap.extend_from_slice(items);
                heap.insert(index.min(N), item);
                *self = Self::Heap(heap.into());
            }
            Self::Heap(items) => items.insert(index, item),
        }
    }

    /// Takes out the item at `index`; none if there is none.
    #[inline]
    pub fn remove(&mut self, index: usize) -> Option<T> {
        if index >= self.len() {
            return None;
        }
        match self {
            Self::Inline { len, items } => {
                let item = items[index];
                items.copy_within(index + 1..usize::from(*len), index);
                *len -= 1;
                items[usize::from(*len)] = T::default();
                Some(item)
            }
            Self::Heap(items) => Some(items.remove(index)),
        }
    }

    /// Keeps the items that `keep` says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        if let Self::Heap(items) = self {
            return items.retain(keep);
        }
        let mut index = 0;
        while let Some(item) = self.as_slice().get(index) {
            if keep(item) {
                index += 1;
            } else {
                self.remove(index);
            }
        }
    }
}

impl<T: Copy + Default + PartialEq, const N: usize> PartialEq for Few<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Copy + Default + Eq, const N: usize> Eq for Few<T, N> {}

impl<T: Copy + Default + Hash, const N: usize> Hash for Few<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let items = self.as_slice();
        state.write_u8(u8::try_from(items.len()).unwrap_or(u8::MAX));
        for item in items {
            item.hash(state);
        }
    }
}

impl<T: Copy + Default + fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// As a sequence.
#[cfg(feature = "serde")]
impl<T: Copy + Default + serde::Serialize, const N: usize> serde::Serialize for Few<T, N> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

#[cfg(feature = "serde")]
impl<'de, T: Copy + Default + serde::Deserialize<'de>, const N: usize> serde::Deserialize<'de> for Few<T, N> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const N: usize>(PhantomData<T>);

        impl<'de, T: Copy + Default + serde::Deserialize<'de>, const N: usize> serde::de::Visitor<'de> for Items<T, N> {
            type Value = Few<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Few<T, N>, A::Error> {
                let mut few = Few::default();
                while let Some(item) = items.next_element()? {
                    few.push(item);
                }
                Ok(few)
            }
        }

        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// As a sequence of keys and values, sorted by key.
#[cfg(feature = "serde")]
impl<K, V, const N: usize> serde::Serialize for Table<K, V, N>
where
    K: Copy + Default + Ord + serde::Serialize,
    V: Copy + Default + serde::Serialize,
{
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Inline(entries) => entries.serialize(serializer),
            Self::Heap(entries) => serializer.collect_seq(entries),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de, K, V, const N: usize> serde::Deserialize<'de> for Table<K, V, N>
where
    K: Copy + Default + Ord + serde::Deserialize<'de>,
    V: Copy + Default + serde::Deserialize<'de>,
{
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Self::default();
        for (key, value) in &Few::<(K, V), N>::deserialize(deserializer)? {
            table.insert(*key, *value);
        }
        Ok(table)
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut few = Self::default();
        items.into_iter().for_each(|item| few.push(item));
        few
    }
}

impl<'a, T: Copy + Default, const N: usize> IntoIterator for &'a Few<T, N> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A sorted table: up to `N` entries in place, more in a B-tree.
pub enum Table<K, V, const N: usize> {
    /// In place, sorted by key.
    Inline(Few<(K, V), N>),
    /// On the heap.
    Heap(BTreeMap<K, V>),
}

impl<K: Clone, V: Clone, const N: usize> Clone for Table<K, V, N> {
    fn clone(&self) -> Self {
        match self {
            Self::Inline(entries) => Self::Inline(entries.clone()),
            Self::Heap(entries) => Self::Heap(entries.clone()),
        }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::Inline(entries), Self::Inline(from)) => entries.clone_from(from),
            (this, source) => *this = source.clone(),
        }
    }
}

impl<K: Copy + Default + Ord, V: Copy + Default, const N: usize> Default for Table<K, V, N> {
    fn default() -> Self {
        Self::Inline(Few::default())
    }
}

impl<K: Copy + Default + Ord, V: Copy + Default, const N: usize> Table<K, V, N> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(entries) => entries.len(),
            Self::Heap(entries) => entries.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under `key`.
    pub fn get(&self, key: &K) -> Option<&V> {
        match self {
            Self::Inline(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            Self::Heap(entries) => entries.get(key),
        }
    }

    /// The value under `key`, to change in place.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self {
            Self::Inline(entries) => entries.as_mut_slice().iter_mut().find(|(k, _)| k == key).map(|(_, v)| v),
            Self::Heap(entries) => entries.get_mut(key),
        }
    }

    /// Puts `value` under `key`, replacing what was there.
    pub fn insert(&mut self, key: K, value: V) {
        match self {
            Self::Inline(entries) => {
                let place = entries.as_slice().partition_point(|(k, _)| *k < key);
                let room = entries.len() < N;
                match entries.as_mut_slice().get_mut(place) {
                    Some(entry) if entry.0 == key => entry.1 = value,
                    Some(_) | None if room => entries.insert(place, (key, value)),
                    Some(_) | None => {
                        let mut heap: BTreeMap<K, V> = entries.iter().copied().collect();
                        heap.insert(key, value);
                        *self = Self::Heap(heap);
                    }
                }
            }
            Self::Heap(entries) => {
                entries.insert(key, value);
            }
        }
    }

    /// The value under `key`, which is made if there is none.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        if let Self::Inline(entries) = &*self
            && entries.len() == N
            && entries.iter().all(|(k, _)| *k != key)
        {
            *self = Self::Heap(entries.iter().copied().collect());
        }
        match self {
            Self::Inline(entries) => {
                let place = entries.as_slice().partition_point(|(k, _)| *k < key);
                if entries.as_slice().get(place).is_none_or(|(k, _)| *k != key) {
                    entries.insert(place, (key, make()));
                }
                &mut entries.as_mut_slice()[place].1
            }
            Self::Heap(entries) => entries.entry(key).or_insert_with(make),
        }
    }

    /// Takes out the entry under `key`.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        match self {
            Self::Inline(entries) => {
                let place = entries.iter().position(|(k, _)| k == key)?;
                entries.remove(place).map(|(_, v)| v)
            }
            Self::Heap(entries) => entries.remove(key),
        }
    }

    /// Takes all entries out, and returns those that lay on the heap: to free a large table takes its time.
    pub fn take(&mut self) -> BTreeMap<K, V> {
        match core::mem::take(self) {
            Self::Inline(_) => BTreeMap::new(),
            Self::Heap(entries) => entries,
        }
    }

    /// Keeps the entries that `keep` says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        match self {
            Self::Inline(entries) => entries.retain(|(k, v)| keep(k, v)),
            Self::Heap(entries) => entries.retain(|k, v| keep(k, v)),
        }
    }

    /// Shows every entry, key included, to be changed in place.
    ///
    /// The order of the keys must stay as it is; a driver that renumbers identifiers by rank keeps it.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(&mut K, &mut V)) {
        match self {
            Self::Inline(entries) => entries.as_mut_slice().iter_mut().for_each(|(k, v)| change(k, v)),
            Self::Heap(entries) => {
                let mut changed = BTreeMap::new();
                for (mut key, mut value) in core::mem::take(entries) {
                    change(&mut key, &mut value);
                    changed.insert(key, value);
                }
                *entries = changed;
            }
        }
    }

    /// The entries whose keys lie from `low` to `high`, both included, in the order of their keys.
    pub fn range(&self, low: K, high: K) -> impl Iterator<Item = (K, V)> {
        let (inline, heap) = match self {
            Self::Inline(entries) => (Some(entries), None),
            Self::Heap(entries) => (None, Some(entries)),
        };
        let inline = inline.into_iter().flat_map(Few::iter).copied().filter(move |(k, _)| *k >= low && *k <= high);
        let heap = heap.into_iter().flat_map(move |entries| entries.range(low..=high)).map(|(k, v)| (*k, *v));
        inline.chain(heap)
    }

    /// The entries, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (K, V)> {
        let (inline, heap) = match self {
            Self::Inline(entries) => (Some(entries), None),
            Self::Heap(entries) => (None, Some(entries)),
        };
        let inline = inline.into_iter().flat_map(Few::iter).copied();
        inline.chain(heap.into_iter().flatten().map(|(k, v)| (*k, *v)))
    }
}

impl<K: Copy + Default + Ord, V: Copy + Default + PartialEq, const N: usize> PartialEq for Table<K, V, N> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Inline(a), Self::Inline(b)) => a.as_slice() == b.as_slice(),
            _ => self.len() == other.len() && self.iter().eq(other.iter()),
        }
    }
}

impl<K: Copy + Default + Ord, V: Copy + Default + Eq, const N: usize> Eq for Table<K, V, N> {}

impl<K: Copy + Default + Ord + Hash, V: Copy + Default + Hash, const N: usize> Hash for Table<K, V, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Inline(entries) => entries.hash(state),
            Self::Heap(entries) => {
                state.write_u8(u8::try_from(entries.len()).unwrap_or(u8::MAX));
                entries.iter().for_each(|entry| entry.hash(state));
            }
        }
    }
}

impl<K, V, const N: usize> fmt::Debug for Table<K, V, N>
where
    K: Copy + Default + Ord + fmt::Debug,
    V: Copy + Default + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_table_is_a_sorted_map(ops in proptest::collection::vec((0u8..12, 0u8..4, 0u8..3), 0..60)) {
            let mut table = Table::<u8, u8, 3>::default();
            let mut map = BTreeMap::new();
            for (key, value, op) in ops {
                match op {
                    0 => { table.insert(key, value); map.insert(key, value); }
                    1 => {
                        let found = *table.get_or_insert_with(key, || value);
                        prop_assert_eq!(found, *map.entry(key).or_insert(value));
                    }
                    _ => prop_assert_eq!(table.remove(&key), map.remove(&key)),
                }
                prop_assert_eq!(table.len(), map.len());
                prop_assert!(table.iter().eq(map.iter().map(|(k, v)| (*k, *v))));
                prop_assert_eq!(table.get(&key), map.get(&key));
            }
        }

        #[test]
        fn few_is_a_vector(ops in proptest::collection::vec((0usize..6, 0u8..4, 0u8..8), 0..120)) {
            let mut few = Few::<u8, 3>::default();
            let mut vector = Vec::new();
            // Is cloned into again and again, as where an explorer works.
            let mut copy = Few::default();
            for (index, item, op) in ops {
                match op {
                    0..=2 => { few.push(item); vector.push(item); }
                    3 => { few.insert(index, item); vector.insert(index.min(vector.len()), item); }
                    4 | 5 => prop_assert_eq!(few.remove(0), (!vector.is_empty()).then(|| vector.remove(0))),
                    6 => {
                        let expected = (index < vector.len()).then(|| vector.remove(index));
                        prop_assert_eq!(few.remove(index), expected);
                    }
                    _ => { few.retain(|kept| *kept != item); vector.retain(|kept| *kept != item); }
                }
                prop_assert_eq!(few.as_slice(), vector.as_slice());
                prop_assert_eq!(few.as_mut_slice(), vector.as_mut_slice());
                copy.clone_from(&few);
                prop_assert_eq!(&copy, &few);
                prop_assert_eq!(&few.clone(), &few);
            }
        }
    }
}
