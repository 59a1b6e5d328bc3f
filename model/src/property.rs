//! What Oncemore promises (section 10 of the specification), as named properties of a state.
//!
//! P1 to P16 and L2 are judged in every state, L1 on the whole graph, R1 to R6 on the transitions that fired.

mod linear;

use oncemore_protocol::failure::Delivery;
use oncemore_protocol::failure::Transport;
use oncemore_protocol::marks::Mark;
use oncemore_protocol::store::ClaimStore;

use crate::script::{CallPlan, Role, Script};
use crate::world::{CallState, Flag, Outcome, World};

macro_rules! properties {
    ($($(#[$doc:meta])* $name:ident: $claim:literal;)*) => {
        /// One promise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Property {
            $(#[doc = $claim] $(#[$doc])* $name,)*
        }

        impl Property {
            /// All of them, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its number, such as `"P1"`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// What it promises, in one sentence.
            #[must_use]
            pub const fn claim(self) -> &'static str {
                match self { $(Self::$name => $claim,)* }
            }
        }
    };
}

properties! {
    P1: "an eligible unmarked method's code starts at most once for each call, over all incarnations";
    P2: "its stored effect happens at most once";
    P3: "never more than `retries_max` + 1 attempts";
    P4: "no retry starts at or after the cutoff";
    P5: "the cutoff never cancels attempt 1";
    P6: "a retry never outlives the cutoff at its caller";
    P7: "the failure that user code sees is the one that C3, C4, C5, C7, C9, E4 and G8 say";
    P8: "nothing is retried after a user error, an overload or a delivered failure, nor for a call that is ineligible or committed";
    P9: "identities follow I2 to I4";
    P10: "success means that the method ran, the value is one that a run of it returned, and what it wrote is stored";
    P11: "a failure said to be not delivered means that no attempt of the call ran or ever will";
    P12: "one subrequest for each call";
    P13: "the object's history is linearizable, as far as unmarked calls write it";
    P14: "the object's history is linearizable, marked calls that overwrite included";
    P15: "the gate's memory stays within its bound, and holds nothing that its caller has settled";
    P16: "a stub resolves anew after any failure, and so works again";
    L1: "every call settles: nothing is stuck, and no fair cycle avoids it";
    L2: "a call whose attempts all were not delivered goes on, and ends with its answer if one is given";
    R1: "a call is recovered by a retry";
    R2: "a claim rejection is seen by a caller";
    R3: "a marked method runs twice";
    R4: "a gate fails closed";
    R5: "a predecessor sends a call on, and the call is answered";
    R6: "every branch of the rules is taken";
}

/// How a property is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// In every state; the bit in [`System::violated`](crate::explore::System::violated).
    InEveryState(u32),
    /// On the whole graph: every goal of [`System::pending`](crate::explore::System::pending) is reached.
    OnTheGraph,
    /// By a transition that fired, with this tag.
    ByTransition(u8),
    /// By all transitions of a suite together: each branch of the rules has its own tag.
    ByCoverage,
}

impl Property {
    /// How it is judged.
    #[must_use]
    pub const fn judged(self) -> Judged {
        match self {
            Self::L1 => Judged::OnTheGraph,
            Self::L2 => Judged::InEveryState(16),
            Self::R1 => Judged::ByTransition(Reach::Recovered.tag()),
            Self::R2 => Judged::ByTransition(Reach::RejectionSeen.tag()),
            Self::R3 => Judged::ByTransition(Reach::MarkedRanTwice.tag()),
            Self::R4 => Judged::ByTransition(Reach::FailedClosed.tag()),
            Self::R5 => Judged::ByTransition(Reach::SentBackThenAnswered.tag()),
            Self::R6 => Judged::ByCoverage,
            Self::P1
            | Self::P2
            | Self::P3
            | Self::P4
            | Self::P5
            | Self::P6
            | Self::P7
            | Self::P8
            | Self::P9
            | Self::P10
            | Self::P11
            | Self::P12
            | Self::P13
            | Self::P14
            | Self::P15
            | Self::P16 => Judged::InEveryState(self as u32),
        }
    }

    const fn bit(self) -> u64 {
        match self.judged() {
            Judged::InEveryState(bit) => 1 << bit,
            Judged::OnTheGraph | Judged::ByTransition(_) | Judged::ByCoverage => 0,
        }
    }
}

/// What a transition can reach (R1 to R5). The tags below 128 are the branches of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// R1
    Recovered,
    /// R2
    RejectionSeen,
    /// R3
    MarkedRanTwice,
    /// R4
    FailedClosed,
    /// R5
    SentBackThenAnswered,
}

impl Reach {
    /// Its tag among those of a transition.
    #[must_use]
    pub const fn tag(self) -> u8 {
        128 + self as u8
    }
}

/// One bit for each property that a state violates.
pub(crate) fn violated<S: ClaimStore>(script: &Script<S>, world: &World<S>) -> u64 {
    let mut violated = 0;
    for (plan, state) in script.calls.iter().zip(world.calls.iter()) {
        violated |= violated_by_call(&View {
            plan,
            state,
            attempts_max: script.terms.limits.attempts_max(),
            effects_once: script.effects_once,
            exact: script.terms.transport == Transport::Exact,
        });
    }
    if !memory_is_bounded(script, world) {
        violated |= Property::P15.bit();
    }
    if script.history {
        violated |= linear::violated(script, world);
    }
    violated
}

/// The goals that are pending: a bit for each call that user code has made, or will surely make, and that has not settled.
pub(crate) fn pending<S: ClaimStore>(script: &Script<S>, world: &World<S>) -> u64 {
    let mut pending = 0;
    for (call, (plan, state)) in script.calls.iter().zip(world.calls.iter()).enumerate() {
        let waits = match state.ledger.outcome {
            Outcome::Pending => true,
            // A pending result need not be used, and an inner call is made by a run alone.
            Outcome::NotBegun => matches!(plan.role, Role::Plain | Role::Later(_)) || state.host.is_some(),
            Outcome::Answered(_) | Outcome::Failed { .. } | Outcome::Aborted | Outcome::Gone => false,
        };
        if waits {
            pending |= 1 << (call & 63);
        }
    }
    pending
}

/// One call, as its properties see it.
struct View<'a> {
    plan: &'a CallPlan,
    state: &'a CallState,
    attempts_max: u8,
    effects_once: bool,
    exact: bool,
}

/// The properties of one call that are violated.
fn violated_by_call(view: &View<'_>) -> u64 {
    let ledger = &view.state.ledger;
    let checks = [
        (Property::P1, starts_twice(view)),
        (Property::P2, takes_effect_twice(view)),
        (Property::P3, attempts_too_often(view)),
        (Property::P4, ledger.has(Flag::StartedLate)),
        (Property::P5, ledger.has(Flag::FirstCancelled)),
        (Property::P6, ledger.has(Flag::OutlivedCutoff)),
        (Property::P7, ledger.has(Flag::WrongFailure)),
        (Property::P8, ledger.has(Flag::RetriedFinal)),
        (Property::P9, ledger.has(Flag::WrongIdentity)),
        (Property::P10, ledger.has(Flag::AnsweredWithoutRun)),
        (Property::P11, ran_though_not_delivered(view)),
        (Property::P12, is_charged_twice(view)),
        (Property::P16, ledger.has(Flag::StaleRoute)),
        (Property::L2, ledger.has(Flag::GaveUpEarly)),
    ];
    checks.iter().fold(0, |bits, (property, violated)| if *violated { bits | property.bit() } else { bits })
}

/// P1. An ineligible call starts at most once where nothing duplicates it.
fn starts_twice(view: &View<'_>) -> bool {
    view.plan.mark == Mark::Unmarked && view.state.ledger.starts > 1 && (view.plan.eligible || view.exact)
}

/// P2. With D5, fenced, it is promised for marked methods too.
fn takes_effect_twice(view: &View<'_>) -> bool {
    let promised = view.plan.mark == Mark::Unmarked || view.effects_once;
    promised && view.state.ledger.effects > 1 && (view.plan.eligible || view.exact)
}

/// P3. An ineligible call has one attempt (E6).
fn attempts_too_often(view: &View<'_>) -> bool {
    view.state.ledger.attempts > if view.plan.eligible { view.attempts_max } else { 1 }
}

/// P11, now and at any later time: the ledger goes on after the call has settled.
fn ran_though_not_delivered(view: &View<'_>) -> bool {
    let ledger = &view.state.ledger;
    matches!(ledger.outcome, Outcome::Failed { delivery: Delivery::NotDelivered, .. }) && ledger.starts > 0
}

/// P12.
fn is_charged_twice(view: &View<'_>) -> bool {
    let ledger = &view.state.ledger;
    ledger.attempts > 0 && ledger.charged != 1
}

/// P15.
fn memory_is_bounded<S: ClaimStore>(script: &Script<S>, world: &World<S>) -> bool {
    let capacity = S::capacity(&script.gate.store);
    world.objects.iter().all(|object| {
        !object.record.kept_settled && object.incarnations.iter().all(|life| life.gate.store().len() <= capacity)
    })
}
