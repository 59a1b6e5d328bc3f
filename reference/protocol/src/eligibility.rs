//! Which calls may be retried at all (E1–E4, E6, and a session's later calls by G8).
//!
//! A runtime describes a call as it is made, before anything is sent, with a [`Call`]; [`Call::eligibility`] answers.
//! What becomes of an eligible call later, when its pending result is used (the second half of E4), is the caller's
//! machine's business and not decided here.

use core::fmt;

use crate::limits::Limits;

/// A call as it looks to the one who makes it: through what, where in its session, and with which contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call<'a> {
    /// Where the stub came from.
    pub through: Through,
    /// Where the call stands in its session.
    pub position: Position,
    /// What is sent.
    pub contents: Contents<'a>,
}

/// Where the stub, through which a call is made, came from (E1, E4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Through {
    /// The caller made it from a namespace, by id or by name, and can therefore resolve it anew.
    Namespace,
    /// Somebody handed it over, as an argument or inside a return value.
    Received,
    /// A method returned it: a stub for something that the object made, not for an object of its own.
    Returned,
    /// It is the result of a call that has not been answered yet: promise pipelining.
    Pending,
}

/// Where a call stands in its session (G8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Position {
    /// The session's first call, which is often its only one.
    #[default]
    First,
    /// Any call after the first.
    Later,
}

/// What a call carries (E2, E3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contents<'a> {
    /// A `fetch`, with any HTTP method.
    Fetch(Body),
    /// A method call, with its arguments in order.
    Method(&'a [Argument]),
}

/// The body of a `fetch` (E2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// None.
    Absent,
    /// Bytes in memory.
    Bytes,
    /// Text in memory.
    Text,
    /// A blob.
    Blob,
    /// Form data.
    Form,
    /// URL-encoded parameters.
    UrlEncoded,
    /// A stream: once read it is gone, so no second attempt could send it.
    Stream,
}

/// One argument of a method call, by the least repeatable thing anywhere inside it (E3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// Plain values all the way down; in Rust, whatever serde can write.
    Plain,
    /// A stream.
    Stream,
    /// A stub.
    Stub,
    /// A function, so that the object can call back.
    Function,
    /// An RPC target of the caller's.
    Target,
}

impl Call<'_> {
    /// Whether the call may be retried; if several reasons forbid it, the first by origin, position, contents.
    #[must_use]
    pub fn eligibility(&self) -> Eligibility {
        let reason = self.through.reason().or(self.position.reason()).or_else(|| self.contents.reason());
        reason.map_or(Eligibility::Eligible, Eligibility::Ineligible)
    }
}

impl Through {
    const fn reason(self) -> Option<Reason> {
        match self {
            Self::Namespace => None,
            Self::Received => Some(Reason::ReceivedStub), // E1
            Self::Returned => Some(Reason::ReturnedStub), // E1
            Self::Pending => Some(Reason::PendingResult), // E4
        }
    }
}

impl Position {
    const fn reason(self) -> Option<Reason> {
        match self {
            Self::First => None,
            Self::Later => Some(Reason::LaterInSession), // G8
        }
    }
}

impl Contents<'_> {
    fn reason(&self) -> Option<Reason> {
        match self {
            Self::Fetch(body) => body.reason(),
            Self::Method(arguments) => arguments.iter().find_map(|argument| argument.reason()),
        }
    }
}

impl Body {
    const fn reason(self) -> Option<Reason> {
        match self {
            Self::Absent | Self::Bytes | Self::Text | Self::Blob | Self::Form | Self::UrlEncoded => None,
            Self::Stream => Some(Reason::StreamingBody), // E2
        }
    }
}

impl Argument {
    const fn reason(self) -> Option<Reason> {
        match self {
            Self::Plain => None,
            Self::Stream => Some(Reason::StreamArgument),     // E3
            Self::Stub => Some(Reason::StubArgument),         // E3
            Self::Function => Some(Reason::FunctionArgument), // E3
            Self::Target => Some(Reason::TargetArgument),     // E3
        }
    }
}

/// Whether a call may be retried, decided once, when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eligibility {
    /// It carries an identity, and may be retried as far as its limits allow.
    Eligible,
    /// It carries no identity and is sent exactly once (E6).
    Ineligible(Reason),
}

impl Eligibility {
    /// Whether the attempts of the call carry an identity; so does an eligible call that allows no retries (E6).
    #[must_use]
    pub const fn carries_identity(self) -> bool {
        match self {
            Self::Eligible => true,
            Self::Ineligible(_) => false,
        }
    }

    /// How many attempts the call may make under these limits, the first included (C1, E6).
    #[must_use]
    pub const fn attempts_max(self, limits: Limits) -> u8 {
        match self {
            Self::Eligible => limits.attempts_max(),
            Self::Ineligible(_) => 1,
        }
    }
}

/// Why a call is never retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// E1: the stub was received, so the caller cannot resolve it anew.
    ReceivedStub,
    /// E1: a method returned the stub, which lives and dies with that call.
    ReturnedStub,
    /// E2: the body is a stream.
    StreamingBody,
    /// E3: an argument holds a stream.
    StreamArgument,
    /// E3: an argument holds a stub.
    StubArgument,
    /// E3: an argument holds a function.
    FunctionArgument,
    /// E3: an argument holds an RPC target.
    TargetArgument,
    /// E4: the call is made on a result that is still pending.
    PendingResult,
    /// G8: the session has had its first call.
    LaterInSession,
}

impl Reason {
    /// Every reason, in the order of the rules.
    pub const ALL: [Self; 9] = [
        Self::ReceivedStub,
        Self::ReturnedStub,
        Self::StreamingBody,
        Self::StreamArgument,
        Self::StubArgument,
        Self::FunctionArgument,
        Self::TargetArgument,
        Self::PendingResult,
        Self::LaterInSession,
    ];

    /// The number of the rule in the protocol's document.
    #[must_use]
    pub const fn rule(self) -> &'static str {
        match self {
            Self::ReceivedStub | Self::ReturnedStub => "E1",
            Self::StreamingBody => "E2",
            Self::StreamArgument | Self::StubArgument | Self::FunctionArgument | Self::TargetArgument => "E3",
            Self::PendingResult => "E4",
            Self::LaterInSession => "G8",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReceivedStub => "the stub was received from another call, not made from a namespace",
            Self::ReturnedStub => "the stub was returned by a method, not made from a namespace",
            Self::StreamingBody => "the body is a stream and can be sent only once",
            Self::StreamArgument => "an argument holds a stream, which can be sent only once",
            Self::StubArgument => "an argument holds a stub",
            Self::FunctionArgument => "an argument holds a function",
            Self::TargetArgument => "an argument holds an RPC target",
            Self::PendingResult => "the call is made on the pending result of another call",
            Self::LaterInSession => "the call is not the first of its session",
        })
    }
}

impl fmt::Display for Eligibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eligible => f.write_str("may be retried"),
            Self::Ineligible(reason) => write!(f, "never retried: {reason} ({})", reason.rule()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::string::{String, ToString};
    use std::vec::Vec;

    const THROUGHS: [Through; 4] = [Through::Namespace, Through::Received, Through::Returned, Through::Pending];
    const ARGUMENTS: [Argument; 5] =
        [Argument::Plain, Argument::Stream, Argument::Stub, Argument::Function, Argument::Target];
    const BODIES_IN_MEMORY: [Body; 6] =
        [Body::Absent, Body::Bytes, Body::Text, Body::Blob, Body::Form, Body::UrlEncoded];

    fn judged(through: Through, position: Position, contents: Contents<'_>) -> Eligibility {
        Call { through, position, contents }.eligibility()
    }

    fn first_through_namespace(contents: Contents<'_>) -> Eligibility {
        judged(Through::Namespace, Position::First, contents)
    }

    #[test]
    fn a_body_is_repeatable_exactly_when_it_is_in_memory() {
        for body in BODIES_IN_MEMORY {
            assert_eq!(first_through_namespace(Contents::Fetch(body)), Eligibility::Eligible, "{body:?}");
        }
        assert_eq!(
            first_through_namespace(Contents::Fetch(Body::Stream)),
            Eligibility::Ineligible(Reason::StreamingBody)
        );
    }

    #[test]
    fn one_unfit_argument_is_enough_and_the_first_is_named() {
        use Argument::{Function, Plain, Stream, Stub, Target};
        let reason = |arguments: &[Argument]| first_through_namespace(Contents::Method(arguments));
        assert_eq!(reason(&[]), Eligibility::Eligible);
        assert_eq!(reason(&[Plain, Plain]), Eligibility::Eligible);
        assert_eq!(reason(&[Plain, Stream]), Eligibility::Ineligible(Reason::StreamArgument));
        assert_eq!(reason(&[Stub]), Eligibility::Ineligible(Reason::StubArgument));
        assert_eq!(reason(&[Function, Target]), Eligibility::Ineligible(Reason::FunctionArgument));
        assert_eq!(reason(&[Target, Function]), Eligibility::Ineligible(Reason::TargetArgument));
    }

    #[test]
    fn only_a_namespace_gives_a_stub_that_retries() {
        let reasons = THROUGHS.map(|through| judged(through, Position::First, Contents::Method(&[])));
        assert_eq!(
            reasons,
            [
                Eligibility::Eligible,
                Eligibility::Ineligible(Reason::ReceivedStub),
                Eligibility::Ineligible(Reason::ReturnedStub),
                Eligibility::Ineligible(Reason::PendingResult),
            ]
        );
    }

    #[test]
    fn a_later_call_of_a_session_never_retries() {
        assert_eq!(
            judged(Through::Namespace, Position::Later, Contents::Fetch(Body::Absent)),
            Eligibility::Ineligible(Reason::LaterInSession)
        );
    }

    #[test]
    fn an_ineligible_call_is_sent_once_and_without_identity() {
        let limits = Limits::new(10, 500).unwrap();
        let none = Limits::new(0, 500).unwrap();
        for reason in Reason::ALL {
            let ineligible = Eligibility::Ineligible(reason);
            assert!(!ineligible.carries_identity());
            assert_eq!(ineligible.attempts_max(limits), 1);
        }
        assert!(Eligibility::Eligible.carries_identity());
        assert_eq!(Eligibility::Eligible.attempts_max(limits), 11);
        assert_eq!(Eligibility::Eligible.attempts_max(none), 1);
    }

    #[test]
    fn every_reason_can_be_given_and_reads_differently() {
        let mut contents: Vec<Contents<'_>> =
            ARGUMENTS.iter().map(|a| Contents::Method(core::slice::from_ref(a))).collect();
        contents.push(Contents::Fetch(Body::Stream));
        let mut texts = BTreeSet::<String>::new();
        for through in THROUGHS {
            for position in [Position::First, Position::Later] {
                texts.extend(contents.iter().map(|contents| judged(through, position, *contents).to_string()));
            }
        }
        let mut expected: BTreeSet<String> =
            Reason::ALL.iter().map(|reason| Eligibility::Ineligible(*reason).to_string()).collect();
        expected.insert(Eligibility::Eligible.to_string());
        assert_eq!(texts, expected);
        assert!(texts.contains("never retried: an argument holds a stub (E3)"));
    }

    proptest! {
        #[test]
        fn a_method_call_is_eligible_exactly_when_nothing_about_it_is_unrepeatable(
            through in prop::sample::select(&THROUGHS[..]),
            later: bool,
            arguments in prop::collection::vec(prop::sample::select(&ARGUMENTS[..]), 0..6),
        ) {
            let position = if later { Position::Later } else { Position::First };
            let repeatable = through == Through::Namespace
                && !later
                && arguments.iter().all(|argument| *argument == Argument::Plain);
            let verdict = judged(through, position, Contents::Method(&arguments));
            prop_assert_eq!(verdict == Eligibility::Eligible, repeatable);
        }
    }
}
