//! A scenario, compiled: what every step needs to know and no step changes.

use std::time::Duration;

use oncemore_protocol::backoff::Schedule;
use oncemore_protocol::caller::Terms;
use oncemore_protocol::design::{Design, Plan};
use oncemore_protocol::eligibility::{Argument, Body, Call, Contents, Eligibility, Position, Through};
use oncemore_protocol::failure::Transport;
use oncemore_protocol::gate::GateTerms;
use oncemore_protocol::identity::CallerId;
use oncemore_protocol::limits::Limits;
use oncemore_protocol::marks::Mark;
use oncemore_protocol::store::ClaimStore;

use crate::mutant::Broken;
use crate::scenario::{CallKind, CallScript, Field, Scenario};
use crate::world::Cells;

/// A millisecond, the unit of every duration in a scenario.
pub(crate) const MS: Duration = Duration::from_millis(1);

/// What holds for a whole exploration.
#[derive(Clone, Debug)]
pub(crate) struct Script<S: ClaimStore> {
    pub(crate) callers: Vec<CallerPlan>,
    pub(crate) calls: Vec<CallPlan>,
    pub(crate) objects: u8,
    pub(crate) terms: Terms<Broken>,
    pub(crate) gate: GateTerms<Broken, S>,
    /// The same gate with no room in its queue: an overload (G11).
    pub(crate) full: GateTerms<Broken, S>,
    /// D2's margin, if the store looks at wall clocks at all.
    pub(crate) wall_margin: Option<Duration>,
    pub(crate) clock: bool,
    pub(crate) lifetime: Option<Duration>,
    pub(crate) waiting: Option<Duration>,
    pub(crate) history: bool,
    pub(crate) subrequests_max: u32,
    /// How many requests the network may repeat.
    pub(crate) duplicates: u8,
    /// Whether no two calls can have the same identity (G10).
    pub(crate) ids_unique: bool,
    /// D5, fenced: then even a marked call takes effect at most once (P2).
    pub(crate) effects_once: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct CallerPlan {
    pub(crate) skew_ns: i64,
    pub(crate) calls: Vec<u8>,
}

/// What a call is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A call of its own.
    Plain,
    /// A later call of the session that the other one opened (G8).
    Later(u8),
    /// A call on the pending result of the other one (E4).
    Pipelined(u8),
    /// Made by a run of the other one: the `place`-th in that run; `run` tells apart the runs that may need one.
    Inner { outer: u8, place: u8, run: u8 },
}

#[derive(Clone, Debug)]
pub(crate) struct CallPlan {
    pub(crate) name: String,
    pub(crate) caller: u8,
    pub(crate) object: u8,
    pub(crate) mark: Mark,
    pub(crate) believed: Mark,
    pub(crate) writes: Cells<bool>,
    pub(crate) awaits: bool,
    pub(crate) getter: bool,
    pub(crate) unknown: bool,
    pub(crate) eligible: bool,
    pub(crate) role: Role,
    /// Whether a later call of its session follows.
    pub(crate) opens_session: bool,
    /// How many calls the method makes while it runs.
    pub(crate) inner: u8,
    /// Whether its caller waits for the call before this one.
    pub(crate) after: Option<u8>,
}

impl CallPlan {
    pub(crate) fn writes_any(&self) -> bool {
        self.writes.x || self.writes.y
    }
}

impl<S: ClaimStore> Script<S> {
    /// Compiles a scenario that has passed its checks, for a store with these settings.
    pub(crate) fn new(scenario: &Scenario, limits: Limits, store: S::Plan, rules: Broken) -> Self {
        let (callers, calls) = cast(scenario, limits);
        let timeout = MS * limits.timeout_ms();
        let queue_max = usize::from(scenario.world.queue_max);
        let design = scenario.store.design;
        Self {
            objects: 1 + calls.iter().map(|call| call.object).max().unwrap_or(0),
            callers,
            calls,
            terms: Terms {
                limits,
                // The least delay is none, the greatest reaches the cutoff from wherever it is drawn.
                schedule: Schedule::uniform(Duration::ZERO, timeout).unwrap_or_default(),
                transport: match scenario.faults.duplicate {
                    0 => Transport::Exact,
                    _ => Transport::MayDuplicate,
                },
                first_rejection: scenario.store.first_rejection,
                rules,
            },
            gate: GateTerms { store, queue_max, rules },
            full: GateTerms { store, queue_max: 0, rules },
            wall_margin: (design == Design::VolatileClock).then(|| MS * scenario.store.margin_ms),
            clock: scenario.world.clock,
            lifetime: scenario.world.lifetime_ms.map(|ms| MS * ms),
            waiting: scenario.world.waiting_ms.map(|ms| MS * ms),
            history: scenario.world.history,
            subrequests_max: scenario.world.subrequests_max,
            duplicates: scenario.faults.duplicate,
            ids_unique: rules.0.is_none() && scenario.faults.reuse == 0,
            effects_once: design == Design::DurableResults && scenario.store.fenced,
        }
    }

    pub(crate) fn call(&self, call: u8) -> &CallPlan {
        &self.calls[usize::from(call)]
    }

    /// The inner calls that run number `run` of `outer` makes, in order.
    pub(crate) fn inner_call(&self, outer: u8, place: u8, run: u8) -> Option<u8> {
        let role = Role::Inner { outer, place, run };
        self.calls.iter().position(|call| call.role == role).map(index)
    }

    /// The id of a caller's life: all different, as random bits are.
    pub(crate) fn caller_id(caller: u8, life: u8) -> CallerId {
        CallerId::from_bits(u128::from(caller) * 8 + u128::from(life) + 1)
    }
}

/// The caller and the life that an id of [`Script::caller_id`] names.
pub(crate) fn caller_and_life(id: CallerId) -> (u8, u8) {
    let bits = id.bits().saturating_sub(1);
    (u8::try_from(bits / 8).unwrap_or(u8::MAX), u8::try_from(bits % 8).unwrap_or(0))
}

/// The settings of Oncemore's own designs, from a scenario.
pub(crate) fn plan(scenario: &Scenario) -> Plan {
    let store = scenario.store;
    Plan {
        design: store.design,
        fenced: store.fenced,
        retention: store.retention,
        window: MS * store.window_ms,
        margin: MS * store.margin_ms,
        capacity: store.capacity.unwrap_or(u32::MAX),
    }
}

fn index(position: usize) -> u8 {
    u8::try_from(position).expect("a scenario has fewer than 256 calls")
}

/// The callers and calls, the inner ones included: each run that may need an inner call has one of its own.
fn cast(scenario: &Scenario, limits: Limits) -> (Vec<CallerPlan>, Vec<CallPlan>) {
    let mut callers = Vec::new();
    let mut calls: Vec<CallPlan> = Vec::new();
    for (caller, script) in scenario.callers.iter().enumerate() {
        let mut own = Vec::new();
        for call in &script.calls {
            let after = if script.concurrent { None } else { own.last().copied() };
            own.push(index(calls.len()));
            let plan = outer_call(call, index(caller), after, &calls);
            calls.push(plan);
        }
        callers.push(CallerPlan { skew_ns: i64::from(script.skew_ms) * 1_000_000, calls: own });
    }
    for opener in calls.clone().iter().filter_map(|call| match call.role {
        Role::Later(opener) => Some(opener),
        Role::Plain | Role::Pipelined(_) | Role::Inner { .. } => None,
    }) {
        calls[usize::from(opener)].opens_session = true;
    }
    let runs = limits.attempts_max() + scenario.faults.duplicate;
    let scripts: Vec<&CallScript> = scenario.callers.iter().flat_map(|caller| &caller.calls).collect();
    for (outer, script) in scripts.into_iter().enumerate() {
        for run in 0..if script.inner.is_empty() { 0 } else { runs } {
            let caller = index(callers.len());
            let first = index(calls.len());
            for (place, inner) in script.inner.iter().enumerate() {
                let role = Role::Inner { outer: index(outer), place: index(place), run };
                calls.push(inner_call(script, inner, caller, role));
            }
            callers.push(CallerPlan { skew_ns: 0, calls: (first..index(calls.len())).collect() });
        }
    }
    (callers, calls)
}

fn outer_call(script: &CallScript, caller: u8, after: Option<u8>, before: &[CallPlan]) -> CallPlan {
    let find = |name: &String| before.iter().position(|call| call.name == *name).map(index);
    let role = match (script.session_of.as_ref().and_then(find), script.pipelined_on.as_ref().and_then(find)) {
        (Some(opener), _) => Role::Later(opener),
        (None, Some(producer)) => Role::Pipelined(producer),
        (None, None) => Role::Plain,
    };
    let mark = mark(script.marked);
    CallPlan {
        name: script.name.clone(),
        caller,
        object: script.object,
        mark,
        believed: script.believed_marked.map_or(mark, self::mark),
        writes: fields(&script.writes),
        awaits: script.awaits,
        getter: script.getter,
        unknown: script.unknown,
        eligible: eligible(script.kind, role),
        role,
        opens_session: false,
        inner: index(script.inner.len()),
        // A pipelined call begins while the other is pending, or never.
        after: if matches!(role, Role::Pipelined(_)) { None } else { after },
    }
}

fn inner_call(outer: &CallScript, inner: &crate::scenario::InnerScript, caller: u8, role: Role) -> CallPlan {
    let (place, run) = match role {
        Role::Inner { place, run, .. } => (place, run),
        Role::Plain | Role::Later(_) | Role::Pipelined(_) => (0, 0),
    };
    CallPlan {
        name: format!("{}/{}.{}", outer.name, run + 1, place + 1),
        caller,
        object: inner.object,
        mark: mark(inner.marked),
        believed: mark(inner.marked),
        writes: fields(&inner.writes),
        awaits: false,
        getter: false,
        unknown: false,
        eligible: true,
        role,
        opens_session: false,
        inner: 0,
        after: None,
    }
}

/// Section 3: what the protocol says of such a call.
fn eligible(kind: CallKind, role: Role) -> bool {
    let through = match (kind, role) {
        (_, Role::Pipelined(_)) => Through::Pending,
        (CallKind::ReceivedStub, _) => Through::Received,
        (_, Role::Plain | Role::Later(_) | Role::Inner { .. }) => Through::Namespace,
    };
    let position = if matches!(role, Role::Later(_)) { Position::Later } else { Position::First };
    let contents = match kind {
        CallKind::Method | CallKind::ReceivedStub => Contents::Method(&[Argument::Plain]),
        CallKind::Fetch => Contents::Fetch(Body::Text),
        CallKind::StreamBody => Contents::Fetch(Body::Stream),
        CallKind::StreamArgument => Contents::Method(&[Argument::Stream]),
        CallKind::FunctionArgument => Contents::Method(&[Argument::Function]),
    };
    Call { through, position, contents }.eligibility() == Eligibility::Eligible
}

fn mark(marked: bool) -> Mark {
    if marked { Mark::Marked } else { Mark::Unmarked }
}

fn fields(written: &[Field]) -> Cells<bool> {
    Cells { x: written.contains(&Field::X), y: written.contains(&Field::Y) }
}
