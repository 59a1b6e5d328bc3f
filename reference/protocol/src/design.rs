//! The designs of the claim store that Oncemore compares (section 8).

use core::time::Duration;

/// How an object remembers what it has let in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Design {
    /// D0: not at all.
    #[cfg_attr(feature = "serde", serde(rename = "D0"))]
    None,
    /// D1: in memory; what is not in memory is let in.
    #[cfg_attr(feature = "serde", serde(rename = "D1"))]
    VolatileOpen,
    /// D2: in memory; what was created before this incarnation began, by the caller's wall clock, is refused.
    #[cfg_attr(feature = "serde", serde(rename = "D2"))]
    VolatileClock,
    /// D3: in memory; what was born for another incarnation is refused.
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "D3"))]
    VolatileIncarnation,
    /// D4: stored with the object's own data before user code runs.
    #[cfg_attr(feature = "serde", serde(rename = "D4"))]
    Durable,
    /// D5: as D4, and the result is stored with the effect and answered to a retry.
    #[cfg_attr(feature = "serde", serde(rename = "D5"))]
    DurableResults,
}

impl Design {
    /// All of them, from the weakest.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::VolatileOpen,
        Self::VolatileClock,
        Self::VolatileIncarnation,
        Self::Durable,
        Self::DurableResults,
    ];

    /// `"D0"` to `"D5"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "D0",
            Self::VolatileOpen => "D1",
            Self::VolatileClock => "D2",
            Self::VolatileIncarnation => "D3",
            Self::Durable => "D4",
            Self::DurableResults => "D5",
        }
    }

    /// Whether claims are stored before user code runs.
    #[must_use]
    pub const fn durable(self) -> bool {
        matches!(self, Self::Durable | Self::DurableResults)
    }

    /// Whether a finished call's result is stored, so that one request must be told from another under the same identity (D5).
    #[must_use]
    pub const fn records_results(self) -> bool {
        matches!(self, Self::DurableResults)
    }

    /// Whether an object may be put to rest while nobody calls it, and begin a new incarnation with the next call. With D2
    /// it may not: that call would be older than the incarnation, and refused (G10).
    #[must_use]
    pub const fn may_rest(self) -> bool {
        !matches!(self, Self::VolatileClock)
    }

    /// Whether a gate refuses an attempt that is addressed to another incarnation (D3).
    #[must_use]
    pub const fn checks_address(self) -> bool {
        matches!(self, Self::VolatileIncarnation)
    }
}

/// How long a claim is kept (G6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Retention {
    /// For a window of time; safe only if it outlives cutoff, queueing, the longest late delivery and clock error.
    Time,
    /// Until the caller has settled the number.
    #[default]
    Watermark,
}

/// One claim store: a design and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plan {
    /// How an object remembers.
    pub design: Design,
    /// Whether duplicates of a marked method are let in only in order, and one after the other.
    pub fenced: bool,
    /// How long it remembers.
    pub retention: Retention,
    /// The window of [`Retention::Time`].
    pub window: Duration,
    /// What callers' wall clocks may differ from the object's by (D2).
    pub margin: Duration,
    /// How many entries, claims and callers together, the store may hold (G6).
    pub capacity: u32,
}

impl Default for Plan {
    /// The default design: D3, `fenced`, `watermark`. Window and margin serve the other designs.
    fn default() -> Self {
        Self {
            design: Design::VolatileIncarnation,
            fenced: true,
            retention: Retention::Watermark,
            window: Duration::from_secs(15 * 60),
            margin: Duration::from_secs(60),
            capacity: 1_000_000,
        }
    }
}
