use crate::identity::{Number, Unsettled};
use crate::lane::{rank, renumber_unsettled};

/// What a store has been told of one caller's numbers: which may still come, and which are settled.
///
/// Numbers from `next` on have not been heard of. Of those below it, the ones in `open` are unsettled as far as the store
/// knows; all others are settled for good. What is settled never opens again, however late an older attempt arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Window {
    next: Number,
    /// Relative to `next`, as [`Unsettled`] is to an attempt's own number.
    open: u64,
}

impl Window {
    /// The first number that has not been heard of.
    #[must_use]
    pub const fn next(&self) -> Number {
        self.next
    }

    /// Whether `number` may still come.
    #[must_use]
    pub const fn open(&self, number: Number) -> bool {
        Unsettled(self.open).has(self.next, number)
    }

    /// The numbers below [`Window::next`] that may still come: bit `i` is the number `next - 1 - i`.
    pub(super) const fn open_below_next(&self) -> u64 {
        self.open
    }

    /// An attempt under `own` arrived and told which numbers below it are unsettled. Never opens what was settled.
    pub fn told(&mut self, own: Number, unsettled: Unsettled) {
        if own.0 == u64::MAX {
            // No lane hands it out, and nothing could follow it.
            return;
        }
        if own.0 >= self.next.0 {
            let ahead = own.0 - self.next.0;
            // The numbers between, heard of now, are open if they are told to be.
            let open = shl(self.open, ahead) | low_bits(ahead);
            let open = open & unsettled.0;
            self.open = shl(open, 1) | 1;
            self.next = Number(own.0 + 1);
        } else {
            let behind = self.next.0 - own.0;
            self.open &= shl(unsettled.0, behind) | low_bits(behind);
        }
    }

    /// The same window, after all numbers that are not kept have been taken out (see [`Lane::renumbered`]).
    ///
    /// [`Lane::renumbered`]: crate::lane::Lane::renumbered
    #[must_use]
    pub fn renumbered(&self, keep: u64) -> Self {
        Self { next: rank(self.next, keep), open: renumber_unsettled(self.next, Unsettled(self.open), keep).0 }
    }
}

pub(super) const fn shl(bits: u64, by: u64) -> u64 {
    if by >= 64 { 0 } else { bits << by }
}

const fn low_bits(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a window that keeps plain sets of numbers.
        #[test]
        fn a_window_is_a_set_of_settled_numbers(
            told in proptest::collection::vec((0u64..40, any::<u64>()), 1..12),
        ) {
            let mut window = Window::default();
            let mut settled = BTreeSet::new();
            for (own, bits) in told {
                window.told(Number(own), Unsettled(bits));
                settled.extend((0..own).filter(|&n| !Unsettled(bits).has(Number(own), Number(n))));
                for n in 0..50 {
                    prop_assert_eq!(window.open(Number(n)), !settled.contains(&n), "number {}", n);
                }
            }
        }
    }
}
