//! What lets an object see that two attempts belong to one call (I1–I4).

use crate::time::WallTime;

/// One life of one caller towards one object: 128 random bits, never reused (G10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CallerId([u64; 2]);

impl CallerId {
    /// The id with these bits, which must be random and fresh.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self([(bits >> 64) as u64, bits as u64])
    }

    /// Its 128 bits.
    #[must_use]
    pub const fn bits(self) -> u128 {
        (self.0[0] as u128) << 64 | self.0[1] as u128
    }
}

/// The place of an identity in its caller's sequence towards one object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Number(pub u64);

/// One life of an object on one host: the storage epoch, never reused (D3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Incarnation(pub u64);

impl Incarnation {
    /// The first life that an object ever has.
    pub const FIRST: Self = Self(1);

    /// Whether a life of this number may begin where `last` is the greatest that has begun. An equal number means that
    /// another life has begun under it, and numbers are never reused (D3).
    #[must_use]
    pub const fn may_follow(self, last: Self) -> bool {
        self.0 > last.0
    }
}

/// Which attempt of its call this is: 1 is the first, the others are retries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ordinal(pub u8);

/// What stays the same over the attempts that may be one and the same run (I1, I2, I4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Identity {
    /// Whose it is.
    pub caller: CallerId,
    /// Which of the caller's it is.
    pub number: Number,
    /// The incarnation that the first attempt with it was addressed to (D3).
    pub born: Incarnation,
    /// When it was made, by the caller's wall clock (D2).
    pub created: WallTime,
}

/// The numbers below an attempt's own that the caller has not settled yet; all others below are settled.
///
/// A window of [`Unsettled::WINDOW`] numbers: bit `i` is the number `own - 1 - i`. What lies below the window is
/// settled; the caller's [`Lane`](crate::lane::Lane) sees to that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unsettled(pub u64);

impl Unsettled {
    /// How many numbers below its own an attempt can name.
    pub const WINDOW: u64 = 64;

    /// Whether `number` may still be settled later, as told by an attempt that carries `own`.
    ///
    /// Numbers from `own` on are not spoken of, and count as unsettled.
    #[must_use]
    pub const fn has(self, own: Number, number: Number) -> bool {
        if number.0 >= own.0 {
            return true;
        }
        let distance = own.0 - 1 - number.0;
        distance < Self::WINDOW && self.0 & (1 << distance) != 0
    }
}

/// What an attempt carries besides the request itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Header {
    /// None for a call that is not eligible (E6): a missing identity is not an identity (G10).
    pub identity: Option<Identity>,
    /// Which attempt of its call this is.
    pub ordinal: Ordinal,
    /// Whether an earlier attempt may have run under the same identity (I2, I4).
    pub retry: bool,
    /// The incarnation that the attempt is addressed to (D3).
    pub address: Incarnation,
    /// What the caller has not settled below this number (watermark).
    pub unsettled: Unsettled,
}
