use super::window::shl;
use super::{Claim, Window};
use crate::identity::{Number, Ordinal, Unsettled};
use crate::time::Time;

/// What a store keeps of one caller: what it was told, and which of the open numbers were let in.
///
/// Nearly every claim says no more than that a first attempt was let in: [`Claim::FIRST`]. Such a claim is one bit beside
/// the window. Telling, claiming and forgetting are then a few instructions on one cache line, however much is unsettled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Heard {
    window: Window,
    /// Bit `i` is the number `next - 1 - i` of the window; open numbers only.
    claimed: u64,
}

impl Claim {
    /// The claim of a first attempt that stands until its caller settles it, with nothing on record.
    pub(super) const FIRST: Self =
        Self { highest: Ordinal(1), finished: false, digest: super::Digest(0), expires: Time::ORIGIN };
}

impl Heard {
    pub(super) const fn new(window: Window) -> Self {
        Self { window, claimed: 0 }
    }

    pub(super) const fn window(&self) -> &Window {
        &self.window
    }

    /// How many numbers have a [`Claim::FIRST`].
    pub(super) const fn claims(&self) -> usize {
        self.claimed.count_ones() as usize
    }

    pub(super) const fn claimed(&self, number: Number) -> bool {
        self.claimed & self.bit(number) != 0
    }

    /// Gives the number a [`Claim::FIRST`]. False: the number is not one of the window's, and nothing was done.
    pub(super) const fn claim(&mut self, number: Number) -> bool {
        let bit = self.bit(number) & self.window.open_below_next();
        self.claimed |= bit;
        bit != 0
    }

    /// Takes the number's [`Claim::FIRST`] away, if it has one.
    pub(super) const fn unclaim(&mut self, number: Number) {
        self.claimed &= !self.bit(number);
    }

    /// An attempt under `own` told what its caller has settled: those claims are forgotten.
    pub(super) fn told(&mut self, own: Number, unsettled: Unsettled) {
        let before = self.window.next();
        self.window.told(own, unsettled);
        self.claimed = shl(self.claimed, self.window.next().0 - before.0) & self.window.open_below_next();
    }

    /// The numbers that have a [`Claim::FIRST`], the lowest first.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Number> + use<> {
        let (next, mut rest) = (self.window.next(), self.claimed);
        core::iter::from_fn(move || {
            let highest = rest.checked_ilog2()?;
            rest &= !(1 << highest);
            Some(Number(next.0 - 1 - u64::from(highest)))
        })
    }

    /// The number's bit; no bit, if it lies outside the window.
    const fn bit(&self, number: Number) -> u64 {
        let next = self.window.next().0;
        if number.0 >= next { 0 } else { shl(1, next - 1 - number.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    proptest! {
        /// Against a plain set, near the ends of the window and far from them.
        #[test]
        fn claims_are_a_set_of_open_numbers(
            ops in proptest::collection::vec((0u64..200, any::<u64>(), any::<bool>()), 1..40),
        ) {
            let mut heard = Heard::new(Window::default());
            let mut claims = BTreeSet::new();
            for (number, bits, claim) in ops {
                if claim {
                    let fits = heard.window().open(Number(number)) && number < heard.window().next().0;
                    prop_assert_eq!(heard.claim(Number(number)), fits);
                    if fits {
                        claims.insert(number);
                    }
                } else {
                    heard.told(Number(number), Unsettled(bits));
                    claims.retain(|&claim| heard.window().open(Number(claim)));
                }
                prop_assert_eq!(heard.numbers().map(|number| number.0).collect::<Vec<_>>(), Vec::from_iter(claims.clone()));
                prop_assert_eq!(heard.claims(), claims.len());
                prop_assert!((0..210).all(|number| heard.claimed(Number(number)) == claims.contains(&number)));
            }
        }
    }
}
