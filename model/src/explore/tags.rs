//! Sets of the rule branches that a transition took.

use std::fmt;

/// A set of up to 256 tags, each a number that the system gives to one branch of one rule.
///
/// A check that cannot fail is none: the tags which an exploration never saw are the branches that
/// it did not check.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Tags([u64; 4]);

impl Tags {
    /// No tag at all.
    pub const EMPTY: Self = Self([0; 4]);

    /// Adds `tag`; adding it twice is adding it once.
    #[inline]
    pub const fn insert(&mut self, tag: u8) {
        self.0[(tag >> 6) as usize] |= 1 << (tag & 63);
    }

    /// Whether `tag` is in the set.
    #[inline]
    #[must_use]
    pub const fn contains(&self, tag: u8) -> bool {
        self.0[(tag >> 6) as usize] >> (tag & 63) & 1 == 1
    }

    /// The tags that are in either set.
    #[inline]
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// The tags of this set that are not in `other`.
    #[inline]
    #[must_use]
    pub fn difference(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Whether the set has no tag.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    /// How many tags the set has.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The tags in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let tags = *self;
        (0..=u8::MAX).filter(move |&tag| tags.contains(tag))
    }
}

impl FromIterator<u8> for Tags {
    fn from_iter<I: IntoIterator<Item = u8>>(tags: I) -> Self {
        tags.into_iter().fold(Self::EMPTY, |mut set, tag| {
            set.insert(tag);
            set
        })
    }
}

impl fmt::Debug for Tags {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_the_tags_of_every_word_apart() {
        let tags: Tags = [0, 63, 64, 127, 128, 255].into_iter().collect();
        assert_eq!(tags.iter().collect::<Vec<_>>(), [0, 63, 64, 127, 128, 255]);
        assert_eq!(tags.len(), 6);
        assert!(!tags.contains(1) && !tags.contains(191) && tags.contains(255));
    }

    #[test]
    fn union_and_difference_are_by_member() {
        let left: Tags = [1, 200].into_iter().collect();
        let right: Tags = [1, 90].into_iter().collect();
        assert_eq!(left.union(right).iter().collect::<Vec<_>>(), [1, 90, 200]);
        assert_eq!(left.difference(right).iter().collect::<Vec<_>>(), [200]);
        assert!(left.difference(left).is_empty() && !left.is_empty());
    }
}
