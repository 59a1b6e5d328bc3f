//! Every field of a scenario: what it takes, in which unit, what it is if it is not written, and what it means.
//!
//! The messages say from here what is allowed, and `docs/scenarios.md` holds these very tables; tests keep both in step
//! with the types.

use std::fmt;
use std::ops::RangeInclusive;

use oncemore_protocol::limits::Limits;

use super::place::Table;

/// How many callers a scenario may have.
pub const CALLERS_MAX: usize = 3;
/// How many calls a scenario may have, over all callers; those that methods make are not counted.
pub const CALLS_MAX: usize = 6;
/// How many calls one method may make.
pub const INNER_MAX: usize = 2;
/// How many calls a scenario may come to if those that methods make are counted once for each run that may make them.
pub const RUNS_MAX: usize = 16;
/// The same where the history is kept.
pub const HISTORY_CALLS_MAX: usize = 8;
/// How long a name may be, in bytes.
pub const NAME_BYTES_MAX: usize = 40;
/// The objects there are.
pub const OBJECTS: RangeInclusive<u8> = 0..=1;
/// How often one fault may strike, and all of them together.
pub const FAULT_BUDGET: RangeInclusive<u8> = 0..=9;
/// What `faults.max` may be.
pub const FAULTS_MAX: RangeInclusive<u8> = 1..=9;
/// What `store.window_ms` may be.
pub const WINDOW_MS: RangeInclusive<u32> = 1..=600_000;
/// What `store.margin_ms` may be.
pub const MARGIN_MS: RangeInclusive<u32> = 0..=60_000;
/// What `store.capacity` may be: one claim and its caller are two entries.
pub const CAPACITY: RangeInclusive<u32> = 2..=64;
/// What `world.queue_max` may be.
pub const QUEUE_MAX: RangeInclusive<u8> = 1..=9;
/// What `world.lifetime_ms` and `world.waiting_ms` may be.
pub const DELAY_MS: RangeInclusive<u32> = 1..=600_000;
/// What `world.subrequests_max` may be.
pub const SUBREQUESTS_MAX: RangeInclusive<u32> = 1..=1_000;
/// What a caller's `skew_ms` may be.
pub const SKEW_MS: RangeInclusive<i32> = -60_000..=60_000;

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A whole number from the first to the second, in this unit.
    Whole(i64, i64, &'static str),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any of these words, each at most once.
    Words(&'static [&'static str]),
    /// Something else, in words.
    Other(&'static str),
}

/// What there is to say of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    /// The table, as a kind.
    pub table: Table,
    /// Its key.
    pub key: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it is if it is not written, as it would be written, or in words; none: it must be.
    pub default: Option<&'static str>,
    /// What it means.
    pub about: &'static str,
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(least, greatest, "") => write!(f, "a whole number from {least} to {greatest}"),
            Self::Whole(least, greatest, unit) => write!(f, "a whole number of {unit} from {least} to {greatest}"),
            Self::Flag => f.write_str("`true` or `false`"),
            Self::Word(words) => write!(f, "one of {}", Quoted(words)),
            Self::Words(words) => write!(f, "a list of any of {}", Quoted(words)),
            Self::Other(text) => f.write_str(text),
        }
    }
}

struct Quoted<'a>(&'a [&'a str]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.0.iter().enumerate() {
            write!(f, "{}`\"{word}\"`", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl FieldInfo {
    /// The field with this key in a table of this kind.
    #[must_use]
    pub fn find(table: Table, key: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.table == table.kind() && field.key == key)
    }

    /// The field that these keys lead to, from the top of a file.
    pub(super) fn at(keys: &[&str]) -> Option<&'static Self> {
        FIELDS.iter().find(|field| {
            let place = field.table.field(field.key);
            let wanted = place.steps().into_iter().filter_map(|step| match step {
                super::place::Step::Key(key) => Some(key),
                super::place::Step::Index(_) => None,
            });
            wanted.eq(keys.iter().copied())
        })
    }
}

/// The table of one kind of table's fields, in Markdown, as `docs/scenarios.md` has it.
#[must_use]
pub fn markdown(table: Table) -> String {
    let mut text = String::from("| field | takes | if not written | meaning |\n|---|---|---|---|\n");
    for field in FIELDS.iter().filter(|field| field.table == table.kind()) {
        let FieldInfo { key, takes, about, .. } = field;
        let default = match field.default {
            Some(words) if words.contains(' ') => words.to_owned(),
            Some(value) => format!("`{value}`"),
            None => "must be written".to_owned(),
        };
        text.push_str(&format!("| `{key}` | {takes} | {default} | {about} |\n"));
    }
    text
}

const fn field(
    table: Table,
    key: &'static str,
    takes: Takes,
    default: Option<&'static str>,
    about: &'static str,
) -> FieldInfo {
    FieldInfo { table, key, takes, default, about }
}

const fn fault(key: &'static str, about: &'static str) -> FieldInfo {
    let takes = Takes::Whole(*FAULT_BUDGET.start() as i64, *FAULT_BUDGET.end() as i64, "");
    field(Table::Faults, key, takes, Some("0"), about)
}

const fn whole_u32(range: RangeInclusive<u32>, unit: &'static str) -> Takes {
    Takes::Whole(*range.start() as i64, *range.end() as i64, unit)
}

const fn whole_u8(range: RangeInclusive<u8>, unit: &'static str) -> Takes {
    Takes::Whole(*range.start() as i64, *range.end() as i64, unit)
}

const NAME: Takes =
    Takes::Other("lower-case letters and digits in words joined by `-` or `_`, at most 40 characters, in quotes");
const MS: &str = "milliseconds";
const CALL: Table = Table::Call(0, 0);
const INNER: Table = Table::Inner(0, 0, 0);
const CALLER: Table = Table::Caller(0);

/// The properties that an expectation may name.
pub const PROPERTIES: &[&str] = &[
    "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14", "P15", "P16", "L1", "L2",
];
/// The goals that an expectation may name.
pub const GOALS: &[&str] = &["R1", "R2", "R3", "R4", "R5"];
const DESIGNS: &[&str] = &["D0", "D1", "D2", "D3", "D4", "D5"];
const KINDS: &[&str] = &["method", "fetch", "stream-body", "stream-argument", "function-argument", "received-stub"];

/// Every field, table by table, in the order of the types.
pub const FIELDS: &[FieldInfo] = &[
    field(Table::Scenario, "name", NAME, None, "What the scenario is called, in reports and on the command line."),
    field(Table::Scenario, "about", Takes::Other("text in quotes"), Some("\"\""), "One sentence: what it asks."),
    field(
        Table::Scenario,
        "suite",
        Takes::Flag,
        Some("true"),
        "Whether it belongs to the default suite; a scenario that takes minutes does not.",
    ),
    field(Table::Scenario, "caller", Takes::Other("1 to 3 tables headed `[[caller]]`"), None, "Who calls."),
    field(
        Table::Store,
        "design",
        Takes::Word(DESIGNS),
        Some("\"D3\""),
        "How every object remembers what it has let in (section 8).",
    ),
    field(
        Table::Store,
        "fenced",
        Takes::Flag,
        Some("true"),
        "Whether a marked method's duplicate is let in only if its ordinal is higher than any before, and only once \
         the earlier run here has ended.",
    ),
    field(
        Table::Store,
        "retention",
        Takes::Word(&["watermark", "time"]),
        Some("\"watermark\""),
        "How long a claim is kept: until its caller has settled it, or for `window_ms`.",
    ),
    field(
        Table::Store,
        "window_ms",
        whole_u32(WINDOW_MS, MS),
        Some("2000"),
        "How long a claim is kept. Only with `retention = \"time\"`.",
    ),
    field(
        Table::Store,
        "margin_ms",
        whole_u32(MARGIN_MS, MS),
        Some("0"),
        "What wall clocks may differ by: an incarnation refuses what was created up to so much after it began. Only \
         with design D2.",
    ),
    field(
        Table::Store,
        "capacity",
        whole_u32(CAPACITY, "entries"),
        Some("no bound"),
        "How many entries a store may hold; a claim is one, and with `watermark` its caller is another (G6).",
    ),
    field(
        Table::Store,
        "first_rejection",
        Takes::Word(&["fail", "fresh"]),
        Some("\"fail\""),
        "What a caller makes of a rejection of an identity that no earlier attempt carried (C5): end, or go on with a \
         fresh identity.",
    ),
    field(
        Table::Limits,
        "retries_max",
        whole_u8(Limits::RETRIES_MAX_RANGE, "retries"),
        Some("2"),
        "How many retries may follow attempt 1 (C1, M4).",
    ),
    field(
        Table::Limits,
        "timeout_ms",
        whole_u32(Limits::TIMEOUT_MS_RANGE, MS),
        Some("500"),
        "From a call's start to its cutoff (C2, M4). Only with `world.clock`.",
    ),
    field(
        Table::World,
        "clock",
        Takes::Flag,
        Some("true"),
        "Whether time passes. Without it no cutoff falls, which is smaller; D2 and `retention = \"time\"` need it.",
    ),
    field(
        Table::World,
        "queue_max",
        whole_u8(QUEUE_MAX, "requests"),
        Some("2"),
        "How many requests may wait at one gate; one more is refused as overloaded (G11).",
    ),
    field(
        Table::World,
        "lifetime_ms",
        whole_u32(DELAY_MS, MS),
        Some("for ever"),
        "The longest that a request is under way. Only with `retention = \"time\"`.",
    ),
    field(
        Table::World,
        "waiting_ms",
        whole_u32(DELAY_MS, MS),
        Some("for ever"),
        "The longest that a request waits at a gate. Only with `retention = \"time\"`.",
    ),
    field(
        Table::World,
        "history",
        Takes::Flag,
        Some("false"),
        "Whether the history of each object is kept, so that P13 and P14 can be asked. It makes the space larger.",
    ),
    field(
        Table::World,
        "subrequests_max",
        whole_u32(SUBREQUESTS_MAX, "calls"),
        Some("50"),
        "How many calls one life of a caller may make; retries do not count (C1).",
    ),
    field(
        Table::Faults,
        "max",
        whole_u8(FAULTS_MAX, ""),
        Some("no bound"),
        "How many of the faults below may strike in one run, all together; `unreachable` and `duplicate` are apart.",
    ),
    fault("lose_request", "A request is lost, and the caller sees the connection drop."),
    fault("lose_reply", "A reply is lost, and the caller sees the connection drop."),
    fault("cut", "The connection drops while the request is under way, waits or runs: it still arrives, or runs on."),
    fault("restart", "The object is restarted where it is: its memory is lost, its storage is not."),
    fault("drain", "The object moves in good order: it drains, then a successor starts (G2)."),
    fault("seize", "The object moves and its predecessor does not know: it still receives, runs and answers."),
    fault("stale", "A resolve names an incarnation that has a successor."),
    fault("overload", "The object's queue is full for one request (G11)."),
    fault("throw", "User code throws, also an error dressed as a retryable one (F3)."),
    fault("crash", "A caller dies; its next life, with another id, goes on with the calls that have not begun."),
    fault("give_up", "A caller drops a call's future (C7)."),
    fault("abort", "A caller aborts a call with a reason (C7)."),
    fault(
        "reuse",
        "Planted: a caller that dies begins its next life under the same id. It is a `crash` too. No rule allows it (G10).",
    ),
    fault("forget", "Planted: an object forgets its claims without a word. No rule allows it."),
    fault("unreachable", "Apart from `max`: resolving or connecting fails, which only uses up an attempt."),
    fault(
        "duplicate",
        "Apart from `max`: the network delivers a request twice. With this above 0 the transport is said to do so (F2).",
    ),
    field(
        CALLER,
        "skew_ms",
        Takes::Whole(*SKEW_MS.start() as i64, *SKEW_MS.end() as i64, MS),
        Some("0"),
        "What the caller's wall clock is ahead of the object's; behind, if negative. Only with design D2.",
    ),
    field(
        CALLER,
        "concurrent",
        Takes::Flag,
        Some("false"),
        "Whether its calls run side by side. Otherwise each begins when the one before has settled.",
    ),
    field(
        CALLER,
        "call",
        Takes::Other("at least one table headed `[[caller.call]]`, and at most 6 over all callers"),
        None,
        "Its calls, in order.",
    ),
    field(CALL, "name", NAME, None, "What the call is called in traces and by other calls; no two share a name."),
    field(CALL, "object", whole_u8(OBJECTS, ""), Some("0"), "Which object it is made to."),
    field(CALL, "marked", Takes::Flag, Some("false"), "Whether the object's class marks the method as retryable (M1)."),
    field(
        CALL,
        "believed_marked",
        Takes::Flag,
        Some("the same as `marked`"),
        "Whether the caller believes that it is marked, which counts for nothing (G1).",
    ),
    field(
        CALL,
        "writes",
        Takes::Words(&["x", "y"]),
        Some("[]"),
        "Which fields of the object the method overwrites; with none it reads `x`.",
    ),
    field(
        CALL,
        "awaits",
        Takes::Flag,
        Some("false"),
        "Whether the method awaits something halfway, so that other runs come in between.",
    ),
    field(
        CALL,
        "getter",
        Takes::Flag,
        Some("false"),
        "Whether looking the method up runs user code, as a getter does; it counts as unmarked (M2).",
    ),
    field(CALL, "unknown", Takes::Flag, Some("false"), "Whether the object has no such method."),
    field(
        CALL,
        "kind",
        Takes::Word(KINDS),
        Some("\"method\""),
        "What is sent, and through what: the first two may be retried, the others never (section 3).",
    ),
    field(
        CALL,
        "session_of",
        Takes::Other("the name of an earlier call of the same caller to the same object"),
        Some("no session"),
        "This is a later call of the session that the named call opens (G8): it is never retried.",
    ),
    field(
        CALL,
        "pipelined_on",
        Takes::Other("the name of an earlier call of the same caller to the same object"),
        Some("not pipelined"),
        "This call uses the named call's pending result, and so commits it (E4): neither is retried from then on.",
    ),
    field(
        CALL,
        "inner",
        Takes::Other("at most 2 tables headed `[[caller.call.inner]]`"),
        Some("[]"),
        "The calls that the method makes while it runs, one after the other (F2, M5).",
    ),
    field(INNER, "object", whole_u8(OBJECTS, ""), None, "Which object: not the one that runs the outer method."),
    field(INNER, "marked", Takes::Flag, Some("false"), "Whether that object's class marks the inner method."),
    field(INNER, "writes", Takes::Words(&["x", "y"]), Some("[]"), "Which fields of that object it overwrites."),
    field(
        Table::Expect,
        "violated",
        Takes::Words(PROPERTIES),
        Some("[]"),
        "The properties that are violated; all others hold, or cannot be asked here.",
    ),
    field(Table::Expect, "reached", Takes::Words(GOALS), Some("[]"), "The goals that are reached."),
    field(
        Table::Expect,
        "unreached",
        Takes::Words(GOALS),
        Some("[]"),
        "The goals that must not be reached; those in neither list may or may not be.",
    ),
    field(
        Table::Expect,
        "because",
        Takes::Other("a table headed `[expect.because]` with a text for each property"),
        Some("{}"),
        "Why a property in `violated` is.",
    ),
];
