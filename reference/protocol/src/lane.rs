//! One caller's sequence of identities towards one object, and what of it is settled (section 8, watermark).

use core::fmt;

use crate::identity::{CallerId, Number, Unsettled};

/// The sequence of one caller towards one object: hands out numbers, and knows which are still unsettled.
///
/// At most [`Unsettled::WINDOW`] numbers lie between the oldest unsettled one and the next. A caller that needs more
/// opens another lane, with another random id: to the object that is simply another caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lane {
    caller: CallerId,
    next: Number,
    /// Relative to `next`: bit `i` is the number `next - 1 - i`.
    unsettled: Unsettled,
}

/// The oldest unsettled number of this lane is too far back to be named: take another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneFull;

impl fmt::Display for LaneFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a call begun {} numbers ago is still unsettled: open another lane with a new random id",
            Unsettled::WINDOW
        )
    }
}

impl core::error::Error for LaneFull {}

impl Lane {
    /// A lane that has handed out nothing. `caller` must be 128 fresh random bits (G10).
    #[must_use]
    pub const fn new(caller: CallerId) -> Self {
        Self { caller, next: Number(0), unsettled: Unsettled(0) }
    }

    /// Whose lane it is.
    #[must_use]
    pub const fn caller(&self) -> CallerId {
        self.caller
    }

    /// The number that will be handed out next.
    #[must_use]
    pub const fn next(&self) -> Number {
        self.next
    }

    /// Hands out the next number, unsettled.
    ///
    /// # Errors
    /// [`LaneFull`] if the oldest unsettled number would leave the window. Nothing is handed out then.
    pub const fn begin(&mut self) -> Result<Number, LaneFull> {
        if self.unsettled.0 >> (Unsettled::WINDOW - 1) != 0 || self.next.0 == u64::MAX {
            return Err(LaneFull);
        }
        let number = self.next;
        self.next = Number(number.0 + 1);
        self.unsettled = Unsettled(self.unsettled.0 << 1 | 1);
        Ok(number)
    }

    /// The caller will send nothing under `number` any more. Settling twice, or a number never handed out, does nothing.
    pub const fn settle(&mut self, number: Number) {
        if number.0 < self.next.0 {
            let distance = self.next.0 - 1 - number.0;
            if distance < Unsettled::WINDOW {
                self.unsettled.0 &= !(1 << distance);
            }
        }
    }

    /// What an attempt under `number` says of the numbers below it.
    #[must_use]
    pub const fn unsettled_below(&self, number: Number) -> Unsettled {
        let distance = self.next.0.saturating_sub(number.0);
        if distance >= Unsettled::WINDOW {
            return Unsettled(0);
        }
        Unsettled(self.unsettled.0 >> distance)
    }

    /// The same lane on which the numbers that `keep` does not hold were never handed out.
    ///
    /// `keep` has bit `n` set for number `n`; every unsettled number must be among them, and all lie below 64. For
    /// models, which must not tell states apart by numbers that nothing refers to.
    #[must_use]
    pub fn renumbered(&self, keep: u64) -> Self {
        Self {
            caller: self.caller,
            next: rank(self.next, keep),
            unsettled: renumber_unsettled(self.next, self.unsettled, keep),
        }
    }
}

/// How many kept numbers lie below `number`.
#[must_use]
pub fn rank(number: Number, keep: u64) -> Number {
    let below = if number.0 >= 64 { keep } else { keep & ((1 << number.0) - 1) };
    Number(u64::from(below.count_ones()))
}

/// The set relative to `own`, after all numbers that are not kept have been taken out (see [`Lane::renumbered`]).
#[must_use]
pub fn renumber_unsettled(own: Number, set: Unsettled, keep: u64) -> Unsettled {
    let mut result = 0u64;
    let mut place = 0u32;
    let mut below = if own.0 >= 64 { keep } else { keep & ((1 << own.0) - 1) };
    while below != 0 {
        let highest = 63 - below.leading_zeros();
        below &= !(1 << highest);
        if set.has(own, Number(u64::from(highest))) {
            result |= 1 << place;
        }
        place += 1;
    }
    Unsettled(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_and_settle() {
        let mut lane = Lane::new(CallerId::from_bits(7));
        let (a, b) = (lane.begin().unwrap(), lane.begin().unwrap());
        let c = lane.begin().unwrap();
        assert!(lane.unsettled_below(c).has(c, a) && lane.unsettled_below(c).has(c, b));
        lane.settle(b);
        assert!(lane.unsettled_below(c).has(c, a) && !lane.unsettled_below(c).has(c, b));
        assert_eq!(lane.unsettled_below(a), Unsettled(0));
    }

    #[test]
    fn a_lane_is_full_when_its_oldest_number_would_leave_the_window() {
        let mut lane = Lane::new(CallerId::from_bits(1));
        let oldest = lane.begin().unwrap();
        for _ in 1..Unsettled::WINDOW {
            let number = lane.begin().unwrap();
            lane.settle(number);
        }
        assert_eq!(lane.begin(), Err(LaneFull));
        lane.settle(oldest);
        assert!(lane.begin().is_ok());
    }

    #[test]
    fn renumbering_keeps_what_is_referred_to() {
        let mut lane = Lane::new(CallerId::from_bits(1));
        let numbers: std::vec::Vec<_> = (0..6).map(|_| lane.begin().unwrap()).collect();
        for number in [0, 2, 3] {
            lane.settle(numbers[number]);
        }
        // 1, 4 and 5 are unsettled; 3 is settled and still referred to.
        let lane = lane.renumbered(0b11_1010);
        assert_eq!(lane.next(), Number(4));
        let told: std::vec::Vec<_> =
            (0..4).map(|n| lane.unsettled_below(lane.next()).has(lane.next(), Number(n))).collect();
        assert_eq!(told, [true, false, true, true]);
    }
}
