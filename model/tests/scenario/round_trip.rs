//! Random scenarios are written and read back; random texts are refused with a line, and never panic.

use oncemore_model::scenario::{
    CallKind, CallScript, CallerScript, Expect, Faults, Field, InnerScript, LimitSettings, ReadError, Scenario,
    StoreSettings, WorldSettings, library,
};
use oncemore_protocol::design::{Design, Retention};
use oncemore_protocol::rules::FirstRejection;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

proptest! {
    #[test]
    fn a_scenario_that_is_written_is_read_back(scenario in scenarios()) {
        let text = scenario.to_toml().expect("it can be written");
        match Scenario::from_toml("s.toml", &text) {
            Ok(read) => prop_assert_eq!(read, scenario),
            Err(error) => prop_assert!(false, "{}\nof\n{}", error, text),
        }
    }

    #[test]
    fn random_bytes_are_refused_with_a_line(bytes in vec(any::<u8>(), 0..200)) {
        refused(&bytes)?;
    }

    #[test]
    fn random_words_are_refused_with_a_line(words in vec(select(WORDS), 0..40)) {
        let text = words.concat();
        prop_assume!(Scenario::from_toml("s.toml", &text).is_err());
        refused(text.as_bytes())?;
    }

    /// One line of a scenario of the library, changed, left out, or put elsewhere.
    #[test]
    fn a_damaged_scenario_is_read_or_refused_with_a_line(
        entry in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        word in option::of(select(WORDS)),
    ) {
        let text = library()[entry.index(library().len())].text;
        let mut lines: Vec<_> = text.lines().collect();
        let line = lines.remove(from.index(lines.len()));
        let line = word.unwrap_or(line);
        lines.insert(to.index(lines.len() + 1), line);
        let text = lines.join("\n");
        if Scenario::from_toml("s.toml", &text).is_err() {
            refused(text.as_bytes())?;
        }
    }
}

/// What scenarios are made of, and then some.
const WORDS: &[&str] = &[
    "name",
    "caller",
    "call",
    "store",
    "faults",
    "expect",
    "because",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "\"",
    "'",
    "\"\"\"",
    "x",
    "1",
    "-1",
    "99999999999999999999",
    "1e9",
    "nan",
    "true",
    "D3",
    "\"D3\"",
    "#",
    " ",
    "é",
    "\u{feff}",
    "\0",
    "\r",
    "\\u0000",
    "1979-05-27",
    "name = \"s\"\n",
    "[[caller]]\n",
    "[[caller.call]]\n",
    "[faults]\n",
    "cut = 9\n",
    "[store]\n",
    "capacity = 0\n",
    "[limits]\n",
    "retries_max = 255\n",
    "[expect]\n",
    "violated = [\"P1\"]\n",
    "writes = [\"x\"]\n",
    "session_of = \"s\"\n",
];

/// It is refused, and every complaint has a line that the text has.
fn refused(bytes: &[u8]) -> Result<(), TestCaseError> {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    let error = match Scenario::from_bytes("s.toml", bytes) {
        Err(error) => error,
        Ok(scenario) => return Err(TestCaseError::fail(format!("{scenario:?}"))),
    };
    let said = error.to_string();
    let ReadError::Text { complaints, .. } = error else {
        return Err(TestCaseError::fail(said));
    };
    prop_assert_eq!(said.split('\n').count(), complaints.len());
    for complaint in &complaints {
        prop_assert!((1..=lines).contains(&complaint.at.line) && complaint.at.column >= 1, "{:?}", complaint);
    }
    Ok(())
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let settings = (stores(), limits(), worlds(), faults(), any::<bool>(), any::<String>());
    (settings, vec(callers(), 1..=3), expectations()).prop_map(
        |((store, limits, world, faults, suite, about), callers, expect)| {
            let name = "random".to_owned();
            let mut scenario = Scenario { name, about, suite, store, limits, world, faults, callers, expect };
            make_sense(&mut scenario);
            scenario
        },
    )
}

/// Takes out what does not go together, and gives every call a name of its own.
fn make_sense(scenario: &mut Scenario) {
    let Scenario { store, limits, world, faults, callers, expect, .. } = scenario;
    world.clock |= store.design == Design::VolatileClock || store.retention == Retention::Time;
    if store.design == Design::None {
        *store = StoreSettings { design: Design::None, fenced: store.fenced, ..StoreSettings::default() };
        faults.forget = 0;
    }
    if store.retention != Retention::Time {
        store.window_ms = StoreSettings::default().window_ms;
        (world.lifetime_ms, world.waiting_ms) = (None, None);
    }
    if !world.clock {
        limits.timeout_ms = LimitSettings::default().timeout_ms;
    }
    if faults.bounded() == 0 {
        faults.max = None;
    }
    if faults.restart == 0 && faults.drain == 0 && faults.seize == 0 && store.capacity.is_none() {
        faults.stale = 0;
    }
    if store.design != Design::VolatileClock {
        store.margin_ms = 0;
        callers.iter_mut().for_each(|caller| caller.skew_ms = 0);
    }
    if !world.history {
        expect.violated.retain(|property| property != "P13" && property != "P14");
    }
    expect.because.retain(|property, _| expect.violated.contains(property));
    expect.unreached.retain(|goal| !expect.reached.contains(goal));
    for (i, caller) in callers.iter_mut().enumerate() {
        for j in 0..caller.calls.len() {
            caller.calls[j].name = format!("call-{i}-{j}");
            let earlier =
                caller.calls[..j].iter().find(|earlier| earlier.object == caller.calls[j].object && !earlier.depends());
            let earlier = earlier.map(|earlier| earlier.name.clone());
            one_kind(&mut caller.calls[j], earlier);
        }
    }
    fewer_runs(scenario);
}

/// What stood in a reference is replaced by the name of a call, or taken out.
fn one_kind(call: &mut CallScript, earlier: Option<String>) {
    call.session_of = call.session_of.take().and(earlier.clone());
    call.pipelined_on = call.pipelined_on.take().and(earlier).filter(|_| call.session_of.is_none());
    if call.depends() {
        call.kind = CallKind::Method;
        call.inner.clear();
    }
    call.marked &= !call.getter && !call.unknown;
    if call.unknown {
        (call.getter, call.awaits) = (false, false);
        call.writes.clear();
        call.inner.clear();
    }
    for inner in &mut call.inner {
        inner.object = 1 - call.object;
    }
}

fn fewer_runs(scenario: &mut Scenario) {
    let runs = 1 + usize::from(scenario.limits.retries_max) + usize::from(scenario.faults.duplicate);
    let most = if scenario.world.history { 8 } else { 16 };
    let mut found = scenario.calls().count();
    for call in scenario.callers.iter_mut().flat_map(|caller| &mut caller.calls) {
        while found + call.inner.len() * runs > most {
            call.inner.pop();
        }
        found += call.inner.len() * runs;
    }
}

fn stores() -> impl Strategy<Value = StoreSettings> {
    let designs = select(Design::ALL.to_vec());
    let retentions = select(vec![Retention::Time, Retention::Watermark]);
    let rejections = select(vec![FirstRejection::Fail, FirstRejection::Fresh]);
    (designs, any::<bool>(), retentions, 1..=600_000u32, 0..=60_000u32, option::of(2..=64u32), rejections).prop_map(
        |(design, fenced, retention, window_ms, margin_ms, capacity, first_rejection)| StoreSettings {
            design,
            fenced,
            retention,
            window_ms,
            margin_ms,
            capacity,
            first_rejection,
        },
    )
}

fn limits() -> impl Strategy<Value = LimitSettings> {
    (0..=10u8, 500..=60_000u32).prop_map(|(retries_max, timeout_ms)| LimitSettings { retries_max, timeout_ms })
}

fn worlds() -> impl Strategy<Value = WorldSettings> {
    let delay = || option::of(1..=600_000u32);
    (any::<bool>(), 1..=9u8, delay(), delay(), any::<bool>(), 2..=1_000u32).prop_map(
        |(clock, queue_max, lifetime_ms, waiting_ms, history, subrequests_max)| WorldSettings {
            clock,
            queue_max,
            lifetime_ms,
            waiting_ms,
            history,
            subrequests_max,
        },
    )
}

fn faults() -> impl Strategy<Value = Faults> {
    (option::of(1..=9u8), prop::array::uniform16(0..=9u8)).prop_map(|(max, budgets)| {
        let [lose_request, lose_reply, cut, restart, drain, seize, stale, overload, throw, crash, rest @ ..] = budgets;
        let [give_up, abort, reuse, forget, unreachable, duplicate] = rest;
        Faults {
            max,
            lose_request,
            lose_reply,
            cut,
            restart,
            drain,
            seize,
            stale,
            overload,
            throw,
            crash,
            give_up,
            abort,
            reuse,
            forget,
            unreachable,
            duplicate,
        }
    })
}

fn callers() -> impl Strategy<Value = CallerScript> {
    (-60_000..=60_000i32, any::<bool>(), vec(calls(), 1..=2)).prop_map(|(skew_ms, concurrent, calls)| CallerScript {
        skew_ms,
        concurrent,
        calls,
    })
}

fn calls() -> impl Strategy<Value = CallScript> {
    let kinds = select(vec![
        CallKind::Method,
        CallKind::Fetch,
        CallKind::StreamBody,
        CallKind::StreamArgument,
        CallKind::FunctionArgument,
        CallKind::ReceivedStub,
    ]);
    let flags = prop::array::uniform4(any::<bool>());
    let reference = || option::weighted(0.2, Just("some call".to_owned()));
    let inner = vec((any::<bool>(), written()), 0..=2);
    (0..=1u8, flags, option::of(any::<bool>()), written(), kinds, reference(), reference(), inner).prop_map(
        |(
            object,
            [marked, awaits, getter, unknown],
            believed_marked,
            writes,
            kind,
            session_of,
            pipelined_on,
            inner,
        )| {
            CallScript {
                name: String::new(),
                object,
                marked,
                believed_marked,
                writes,
                awaits,
                getter,
                unknown,
                kind,
                session_of,
                pipelined_on,
                inner: inner.into_iter().map(|(marked, writes)| InnerScript { object: 0, marked, writes }).collect(),
            }
        },
    )
}

fn written() -> impl Strategy<Value = Vec<Field>> {
    subsequence(vec![Field::X, Field::Y], 0..=2)
}

fn expectations() -> impl Strategy<Value = Expect> {
    let goals = || subsequence(vec!["R1", "R2", "R3", "R4", "R5"], 0..=5);
    let properties = subsequence(vec!["P1", "P2", "P7", "P13", "P14", "P16", "L1", "L2"], 0..=8);
    (properties, goals(), goals(), any::<String>()).prop_map(|(violated, reached, unreached, why)| {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let because = violated.iter().map(|property| ((*property).to_owned(), why.clone())).collect();
        Expect { violated: owned(violated), reached: owned(reached), unreached: owned(unreached), because }
    })
}
