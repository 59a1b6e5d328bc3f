use core::fmt;

use crate::identity::Header;
use crate::lane::LaneFull;
use crate::rule::Fired;

/// An attempt that has found the object: what to send there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// What the attempt carries.
    pub header: Header,
    /// Which rules chose its identity.
    pub fired: Fired,
}

/// Why an attempt that has found the object is not to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// A fresh identity is due and the lane has no number left: open another lane and try again.
    LaneFull,
    /// No attempt is looking for the object: the call has settled meanwhile, or is not that far.
    NotResolving,
}

impl From<LaneFull> for Unsent {
    fn from(_: LaneFull) -> Self {
        Self::LaneFull
    }
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LaneFull => LaneFull.fmt(f),
            Self::NotResolving => f.write_str("the call is not looking for its object: there is nothing to send"),
        }
    }
}

impl core::error::Error for Unsent {}
