//! What is fixed for a story before it begins.

use std::time::Duration;

use oncemore_protocol::design::{Design, Plan, Retention};
use oncemore_protocol::failure::Transport;
use oncemore_protocol::limits::Limits;
use oncemore_protocol::marks::Mark;
use oncemore_protocol::rules::FirstRejection;
use proptest::prelude::*;

/// What callers' clocks run ahead of the object's.
pub(crate) const SKEW: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) plan: Plan,
    pub(crate) transport: Transport,
    pub(crate) first_rejection: FirstRejection,
    pub(crate) limits: Limits,
    pub(crate) queue_max: usize,
    pub(crate) calls: Vec<CallPlan>,
}

/// A call that will be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallPlan {
    pub(crate) caller: usize,
    pub(crate) mark: Mark,
    pub(crate) eligible: bool,
    pub(crate) starts_ms: u64,
    pub(crate) given_up_after_ms: Option<u64>,
}

impl Settings {
    /// D1 and D2 are not made for objects that live twice, and D1 for none that live again.
    pub(crate) fn survives_restarts(&self) -> bool {
        self.plan.design != Design::VolatileOpen
    }

    pub(crate) fn survives_zombies(&self) -> bool {
        match self.plan.design {
            Design::None | Design::VolatileOpen | Design::VolatileClock => false,
            Design::VolatileIncarnation | Design::Durable | Design::DurableResults => true,
        }
    }

    /// Whether the gate never forgets the order of what it let in: D3 because it takes nothing that is addressed to a
    /// life before, D4 and D5 as long as no claim epoch begins, D1 as long as it lives.
    pub(crate) fn keeps_order(&self) -> bool {
        let keeps = match self.plan.design {
            Design::None | Design::VolatileClock => false,
            Design::VolatileOpen | Design::VolatileIncarnation => true,
            Design::Durable | Design::DurableResults => self.plan.capacity > 100,
        };
        keeps && self.plan.fenced
    }
}

fn call() -> impl Strategy<Value = CallPlan> {
    (
        0..2usize,
        any::<bool>(),
        proptest::bool::weighted(0.9),
        0..8_000u64,
        proptest::option::weighted(0.15, 0..9_000u64),
    )
        .prop_map(|(caller, marked, eligible, starts_ms, given_up_after_ms)| CallPlan {
            caller,
            mark: if marked { Mark::Marked } else { Mark::Unmarked },
            eligible,
            starts_ms,
            given_up_after_ms,
        })
}

fn plan() -> impl Strategy<Value = Plan> {
    let design = prop_oneof![
        1 => Just(Design::VolatileOpen),
        1 => Just(Design::VolatileClock),
        4 => Just(Design::VolatileIncarnation),
        2 => Just(Design::Durable),
        2 => Just(Design::DurableResults),
    ];
    let capacity = prop_oneof![3 => Just(1_000u32), 1 => 2..6u32];
    (design, proptest::bool::weighted(0.7), proptest::bool::weighted(0.3), capacity).prop_map(
        |(design, fenced, time, capacity)| Plan {
            design,
            fenced,
            retention: if time { Retention::Time } else { Retention::Watermark },
            window: Duration::from_secs(600),
            margin: SKEW,
            capacity,
        },
    )
}

pub(crate) fn settings() -> impl Strategy<Value = Settings> {
    let calls = proptest::collection::vec(call(), 1..6);
    let limits = (0..=6u8, prop_oneof![3 => Just(10_000u32), 1 => 500..=6_000u32]);
    (plan(), any_transport(), limits, 1..4usize, calls).prop_map(
        |(plan, (transport, first_rejection), (retries_max, timeout_ms), queue_max, calls)| Settings {
            plan,
            transport,
            first_rejection,
            limits: Limits::new(retries_max, timeout_ms).expect("limits within their ranges"),
            queue_max,
            calls,
        },
    )
}

/// C5: `fresh` only where nothing duplicates.
fn any_transport() -> impl Strategy<Value = (Transport, FirstRejection)> {
    prop_oneof![
        Just((Transport::Exact, FirstRejection::Fail)),
        Just((Transport::Exact, FirstRejection::Fresh)),
        Just((Transport::MayDuplicate, FirstRejection::Fail)),
    ]
}
