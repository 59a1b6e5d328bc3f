//! What a stub knows of where its object lives, and what its calls count for (C1, C8).

use core::fmt;

use crate::identity::{Incarnation, Ordinal};
use crate::rule::{Branch, Fired};
use crate::rules::Rules;

/// Where a stub last found its object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Route {
    address: Option<Incarnation>,
}

impl Route {
    /// A stub that has not looked yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { address: None }
    }

    /// Where to send the next attempt; none: resolve first, then [`Route::found`].
    #[must_use]
    pub const fn address(&self) -> Option<Incarnation> {
        self.address
    }

    /// The address, for models that renumber incarnations.
    pub const fn address_mut(&mut self) -> Option<&mut Incarnation> {
        self.address.as_mut()
    }

    /// The directory named this incarnation.
    pub const fn found(&mut self, address: Incarnation) {
        self.address = Some(address);
    }

    /// A call through this stub was disconnected, or refused by a gate (`refused`): resolve and connect anew (C8).
    pub fn lost<R: Rules>(&mut self, rules: R, refused: bool) -> Fired {
        if self.address.is_some() && rules.renews_route(refused) {
            self.address = None;
            return Branch::RouteRenewed.into();
        }
        Fired::NONE
    }
}

/// How many calls one execution of a caller may still make (C1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Subrequests {
    left: u32,
}

/// The caller has made as many calls as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubrequestsUsedUp;

impl fmt::Display for SubrequestsUsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the limit of calls that one execution may make is used up; retries did not count toward it")
    }
}

impl core::error::Error for SubrequestsUsedUp {}

impl Subrequests {
    /// So many calls may be made.
    #[must_use]
    pub const fn new(limit: u32) -> Self {
        Self { left: limit }
    }

    /// Calls that may still be made.
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.left
    }

    /// An attempt begins; only attempt 1 counts (C1).
    ///
    /// # Errors
    /// [`SubrequestsUsedUp`] if it counts and nothing is left; the attempt must not begin.
    pub fn charge<R: Rules>(&mut self, rules: R, ordinal: Ordinal) -> Result<(), SubrequestsUsedUp> {
        if rules.counts_as_subrequest(ordinal) {
            self.left = self.left.checked_sub(1).ok_or(SubrequestsUsedUp)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Spec;

    #[test]
    fn a_disconnect_or_a_refusal_renews_the_route() {
        for refused in [false, true] {
            let mut route = Route::new();
            route.found(Incarnation(3));
            assert_eq!(route.lost(Spec, refused), Branch::RouteRenewed.into());
            assert_eq!(route.address(), None);
        }
    }

    #[test]
    fn retries_are_not_charged() {
        let mut budget = Subrequests::new(1);
        assert_eq!(budget.charge(Spec, Ordinal(1)), Ok(()));
        assert_eq!(budget.charge(Spec, Ordinal(2)), Ok(()));
        assert_eq!(budget.charge(Spec, Ordinal(1)), Err(SubrequestsUsedUp));
    }
}
