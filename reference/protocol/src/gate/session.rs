use crate::failure::Refusal;
use crate::marks::Mark;
use crate::rule::{Branch, Fired};
use crate::rules::Rules;

/// Several calls over one connection to the object; the driver's number, unique at one gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SessionId(pub u32);

/// What a session's first call was let in as (G8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Session {
    /// As unmarked: it cannot be a duplicate, so anything may follow.
    #[default]
    Unmarked,
    /// As marked: all of the session may be a duplicate, so only marked methods may follow.
    Marked,
    /// Not at all.
    Rejected,
}

impl Session {
    /// What a first call that was let in makes of its session.
    pub(super) const fn of(mark: Mark) -> Self {
        match mark {
            Mark::Marked => Self::Marked,
            Mark::Unmarked => Self::Unmarked,
        }
    }

    /// The branch that a first call takes.
    #[must_use]
    pub const fn branch(self) -> Branch {
        match self {
            Self::Unmarked => Branch::SessionOpensUnmarked,
            Self::Marked => Branch::SessionOpensMarked,
            Self::Rejected => Branch::SessionRejected,
        }
    }

    /// Whether a call without an identity may run: a later one of a session, or one that is not eligible.
    pub(super) fn later<R: Rules>(session: Option<Self>, rules: R, mark: Mark) -> (Result<(), Refusal>, Fired) {
        match session {
            None => (Ok(()), Branch::AdmittedWithoutIdentity.into()),
            Some(first) if rules.session_allows(first, mark) => (Ok(()), Branch::SessionRunsLater.into()),
            // The rules let everything run in a session that was let in as unmarked.
            Some(Self::Unmarked | Self::Marked) => (Err(Refusal::SessionMarked), Branch::SessionRefusesUnmarked.into()),
            Some(Self::Rejected) => (Err(Refusal::SessionRejected), Branch::SessionRejected.into()),
        }
    }
}
