//! Every message, word for word, with its place.

use std::error::Error;
use std::path::Path;

use oncemore_model::scenario::{ReadError, Scenario, Table, Wrong};

/// What is said of a text, one line a complaint.
fn said(text: &str) -> String {
    Scenario::from_toml("s.toml", text).expect_err("it is wrong").to_string()
}

/// A scenario with `before` at its top, and whose only call has these lines.
fn with(before: &str, call: &str) -> String {
    format!("name = \"s\"\n{before}\n[[caller]]\n[[caller.call]]\nname = \"a\"\n{call}\n")
}

/// Asserts what is said of each text.
fn each<const N: usize>(cases: [(&str, &str); N]) {
    for (text, expected) in cases {
        assert_eq!(said(text), expected, "of:\n{text}");
    }
}

#[test]
fn what_is_not_toml_is_refused_with_its_line() {
    each([
        ("name = \"s\"\nabout =\n", "s.toml:2:8: not TOML: string values must be quoted, expected literal string"),
        ("name = \"s\"\n[faults\n", "s.toml:2:8: not TOML: unclosed table, expected `]`"),
        ("name = \"s\"\nname = \"t\"\n", "s.toml:2:1: not TOML: duplicate key"),
    ]);
}

#[test]
fn what_is_not_text_is_refused_with_its_line() {
    let error = Scenario::from_bytes("s.toml", b"name = \"s\"\n\"\xC3\xA9\" = \xFF").expect_err("it is wrong");
    assert_eq!(error.to_string(), "s.toml:2:7: this byte is not UTF-8, which TOML is written in");
}

#[test]
fn what_is_too_long_is_refused() {
    let text = "# long\n".repeat(10_000);
    assert_eq!(said(&text), "s.toml:1:1: a scenario is at most 65536 bytes long, and this file is longer");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Scenario::read(Path::new("no/such/file.toml")).expect_err("there is none");
    assert!(error.to_string().starts_with("no/such/file.toml: cannot be read: "), "{error}");
    assert!(error.source().is_some());
    assert!(matches!(error, ReadError::File { .. }));
}

#[test]
fn unknown_and_missing_fields_are_named_with_what_is_there() {
    each([
        (
            "name = \"s\"\n[world]\nclocks = true\n",
            "s.toml:3:1: unknown field `clocks`, expected one of `clock`, `queue_max`, `lifetime_ms`, `waiting_ms`, \
             `history`, `subrequests_max`",
        ),
        ("name = \"s\"\n", "s.toml:1:1: missing field `caller`"),
        ("name = \"s\"\n\n[[caller]]\n", "s.toml:3:1: missing field `call`"),
        (
            "name = \"s\"\n[[caller]]\n[[caller.call]]\nname = \"a\"\n[[caller.call]]\n",
            "s.toml:5:1: missing field `name`",
        ),
    ]);
}

#[test]
fn a_value_of_the_wrong_form_is_told_what_the_field_takes() {
    each([
        (
            "name = 7\n",
            "s.toml:1:8: invalid type: integer `7`: `name` must be lower-case letters and digits in words \
            joined by `-` or `_`, at most 40 characters, in quotes",
        ),
        (
            "name = \"s\"\n[limits]\nretries_max = \"two\"\n",
            "s.toml:3:15: invalid type: string \"two\": `retries_max` must be a whole number of retries from 0 to 10",
        ),
        (
            "name = \"s\"\n[faults]\ncut = 300\n",
            "s.toml:3:7: invalid value: integer `300`: `cut` must be a whole number from 0 to 9",
        ),
        (
            "name = \"s\"\n[faults]\ncut = -1\n",
            "s.toml:3:7: invalid value: integer `-1`: `cut` must be a whole number from 0 to 9",
        ),
        (
            "name = \"s\"\n[store]\ndesign = \"D6\"\n",
            "s.toml:3:10: unknown variant `D6`: `design` must be one of `\"D0\"`, `\"D1\"`, `\"D2\"`, `\"D3\"`, \
             `\"D4\"`, `\"D5\"`",
        ),
        (
            "name = \"s\"\n[world]\nclock = 1\n",
            "s.toml:3:9: invalid type: integer `1`: `clock` must be `true` or `false`",
        ),
        (
            "name = \"s\"\n[caller]\n",
            "s.toml:2:1: invalid type: map: `caller` must be 1 to 3 tables headed `[[caller]]`",
        ),
    ]);
    assert_eq!(
        said(&with("", "writes = [\"x\", \"z\"]")),
        "s.toml:6:16: unknown variant `z`: `writes` must be a list of any of `\"x\"`, `\"y\"`"
    );
}

#[test]
fn names_have_a_form_and_are_unique() {
    let form =
        "but must be lower-case letters and digits in words joined by `-` or `_`, at most 40 characters, in quotes";
    for name in ["", "Big", "two words", "-a", "a-", "a--b", "é", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
        let text = with("", "").replace("\"s\"", &format!("\"{name}\""));
        assert_eq!(said(&text), format!("s.toml:1:1: scenario: name is `{name}`, {form}"));
        let text = with("", "").replace("\"a\"", &format!("\"{name}\""));
        assert_eq!(said(&text), format!("s.toml:5:1: caller 1, call 1: name is `{name}`, {form}"));
    }
    assert_eq!(
        said(&with("", "[[caller]]\n[[caller.call]]\nname = \"a\"")),
        "s.toml:8:1: caller 2, call 1: name is `a`, which caller 1, call 1 is already called: names are unique in a \
         scenario"
    );
}

#[test]
fn a_complaint_keeps_to_one_line_whatever_it_quotes() {
    let text = with("", "").replace("\"a\"", "\"a\\nb\"");
    assert!(said(&text).starts_with("s.toml:5:1: caller 1, call 1: name is `a b`, but must be "));
    let text = "name = \"s\"\n\"a\\nb\" = 1\n";
    assert!(said(text).starts_with("s.toml:2:1: unknown field `a b`, expected "));
}

#[test]
fn every_number_has_a_range() {
    let cases = [
        (
            "[store]\nretention = \"time\"\nwindow_ms = 0",
            4,
            "store: window_ms is 0, but must be a whole number of milliseconds from 1 to 600000",
        ),
        (
            "[store]\ndesign = \"D2\"\nmargin_ms = 60001",
            4,
            "store: margin_ms is 60001, but must be a whole number of milliseconds from 0 to 60000",
        ),
        ("[store]\ncapacity = 1", 3, "store: capacity is 1, but must be a whole number of entries from 2 to 64"),
        (
            "[limits]\nretries_max = 11",
            3,
            "limits: retries_max is 11, but must be a whole number of retries from 0 to 10",
        ),
        (
            "[limits]\ntimeout_ms = 499",
            3,
            "limits: timeout_ms is 499, but must be a whole number of milliseconds from 500 to 60000",
        ),
        ("[world]\nqueue_max = 0", 3, "world: queue_max is 0, but must be a whole number of requests from 1 to 9"),
        (
            "[world]\nsubrequests_max = 0",
            3,
            "world: subrequests_max is 0, but must be a whole number of calls from 1 to 1000",
        ),
        (
            "[store]\nretention = \"time\"\n[world]\nlifetime_ms = 600001",
            5,
            "world: lifetime_ms is 600001, but must be a whole number of milliseconds from 1 to 600000",
        ),
        ("[faults]\ncut = 10", 3, "faults: cut is 10, but must be a whole number from 0 to 9"),
        ("[faults]\ncut = 1\nmax = 0", 4, "faults: max is 0, but must be a whole number from 1 to 9"),
    ];
    for (before, line, expected) in cases {
        assert_eq!(said(&with(before, "")), format!("s.toml:{line}:1: {expected}"));
    }
    assert_eq!(
        said(&with("", "object = 2")),
        "s.toml:6:1: caller 1, call 1: object is 2, but must be a whole number from 0 to 1"
    );
    assert_eq!(
        said(&with("[store]\ndesign = \"D2\"", "[[caller]]\nskew_ms = -60001\n[[caller.call]]\nname = \"b\"")),
        "s.toml:8:1: caller 2: skew_ms is -60001, but must be a whole number of milliseconds from -60000 to 60000"
    );
}

#[test]
fn there_are_callers_and_calls_but_not_too_many() {
    each([
        ("name = \"s\"\ncaller = []\n", "s.toml:1:1: scenario has no [[caller]]: there must be 1 to 3"),
        (
            "name = \"s\"\ncaller = [{ call = [] }]\n",
            "s.toml:2:11: caller 1 makes no call: it needs at least one [[caller.call]]",
        ),
    ]);
    let caller = |name: &str| format!("[[caller]]\n[[caller.call]]\nname = \"{name}\"\n");
    let four = format!("name = \"s\"\n{}{}{}{}", caller("a"), caller("b"), caller("c"), caller("d"));
    assert_eq!(said(&four), "s.toml:11:1: caller 4 is one too many: a scenario has 1 to 3 callers");
    let calls: String =
        ["b", "c", "d", "e", "f", "g"].map(|name| format!("[[caller.call]]\nname = \"{name}\"\n")).concat();
    assert_eq!(
        said(&with("", &calls)),
        "s.toml:16:1: caller 1, call 7 is one too many: a scenario has at most 6 calls over all callers"
    );
}

#[test]
fn a_caller_may_make_its_calls() {
    let text = with("[world]\nsubrequests_max = 1", "[[caller.call]]\nname = \"b\"");
    assert_eq!(
        said(&text),
        "s.toml:3:1: world: subrequests_max is 1, but one caller makes 2 calls: it must be at least as many"
    );
}

#[test]
fn inner_calls_are_few_and_go_elsewhere() {
    let inner = |object: u8| format!("[[caller.call.inner]]\nobject = {object}\n");
    assert_eq!(
        said(&with("", &inner(0))),
        "s.toml:7:1: caller 1, call 1, inner 1: object is 0, the object that runs the outer method: it must be the \
         other one"
    );
    assert_eq!(
        said(&with("", &inner(1).repeat(3))),
        "s.toml:10:1: caller 1, call 1, inner 3 is one too many: a method makes at most 2 calls"
    );
    assert_eq!(
        said(&with("[limits]\nretries_max = 7", &inner(1).repeat(2))),
        "s.toml:7:15: caller 1, call 1: inner brings the scenario to 17 calls, counted once for each run that may make \
         them, and 16 is the most: the method may run 8 times, once an attempt and once a duplicate"
    );
    assert_eq!(
        said(&with("[world]\nhistory = true\n[limits]\nretries_max = 3", &inner(1).repeat(2))),
        "s.toml:3:1: world: history is on, but the scenario makes 9 calls, inner ones counted once for each run: at \
         most 8"
    );
}

#[test]
fn a_reference_names_an_earlier_call_that_it_can_depend_on() {
    let second = |reference: &str| with("", &format!("[[caller.call]]\nname = \"b\"\n{reference}"));
    let rule = "but must name an earlier call of the same caller to the same object that has neither `session_of` nor \
                `pipelined_on` itself";
    assert_eq!(
        said(&second("session_of = \"b\"")),
        format!("s.toml:8:1: caller 1, call 2: session_of is `b`, {rule}: `a`")
    );
    assert_eq!(
        said(&second("pipelined_on = \"c\"")),
        format!("s.toml:8:1: caller 1, call 2: pipelined_on is `c`, {rule}: `a`")
    );
    assert_eq!(
        said(&second("session_of = \"a\"\nobject = 1")),
        format!("s.toml:8:1: caller 1, call 2: session_of is `a`, {rule}: there is none")
    );
    assert_eq!(
        said(&second("session_of = \"a\"\n[[caller.call]]\nname = \"c\"\npipelined_on = \"b\"")),
        format!("s.toml:11:1: caller 1, call 3: pipelined_on is `b`, {rule}: `a`")
    );
    assert_eq!(
        said(&with("", "[[caller.call]]\nname = \"b\"\n[[caller.call]]\nname = \"c\"\nsession_of = \"d\"")),
        format!("s.toml:10:1: caller 1, call 3: session_of is `d`, {rule}: `a` or `b`")
    );
}

#[test]
fn fields_that_exclude_each_other_are_told_so() {
    let second = |fields: &str| with("", &format!("[[caller.call]]\nname = \"b\"\n{fields}"));
    assert_eq!(
        said(&second("session_of = \"a\"\npipelined_on = \"a\"")),
        "s.toml:9:1: caller 1, call 2: pipelined_on does not go together with `session_of`: a call is made on a \
         session's stub or on a pending result"
    );
    assert_eq!(
        said(&second("session_of = \"a\"\nkind = \"fetch\"")),
        "s.toml:9:1: caller 1, call 2: kind does not go together with `session_of` or `pipelined_on`: such a call is \
         a method call that is never retried, whatever its arguments (E4, G8)"
    );
    assert_eq!(
        said(&second("pipelined_on = \"a\"\n[[caller.call.inner]]\nobject = 1")),
        "s.toml:9:15: caller 1, call 2: inner does not go together with `session_of` or `pipelined_on`: a call that \
         makes others stands on its own here"
    );
    for field in ["getter", "unknown"] {
        assert_eq!(
            said(&with("", &format!("marked = true\n{field} = true"))),
            format!(
                "s.toml:6:1: caller 1, call 1: marked does not go together with `{field}`: no mark is ever found for \
                 it, so it counts as unmarked (G1, M2)"
            )
        );
    }
    for (field, line) in [("getter", "getter = true"), ("awaits", "awaits = true"), ("writes", "writes = [\"x\"]")] {
        assert_eq!(
            said(&with("", &format!("unknown = true\n{line}"))),
            format!(
                "s.toml:7:1: caller 1, call 1: {field} does not go together with `unknown`: a method that the object \
                 does not have runs no code"
            )
        );
    }
}

#[test]
fn what_is_said_twice_is_told_so() {
    assert_eq!(
        said(&with("", "writes = [\"x\", \"x\"]")),
        "s.toml:6:16: caller 1, call 1: writes says `x` twice: once is enough"
    );
    assert_eq!(
        said(&with("[expect]\nviolated = [\n  \"P1\",\n  \"P1\",\n]", "")),
        "s.toml:5:3: expect: violated says `P1` twice: once is enough"
    );
}

#[test]
fn a_setting_that_would_be_ignored_is_refused() {
    let timed = "only `retention = \"time\"` looks at it";
    let wall = "only design D2 looks at wall clocks";
    let nothing = "design D0 keeps no claims, and rejects nothing";
    let cases = [
        ("[store]\nwindow_ms = 700", 3, "store: window_ms", timed),
        ("[world]\nlifetime_ms = 700", 3, "world: lifetime_ms", timed),
        ("[world]\nwaiting_ms = 700", 3, "world: waiting_ms", timed),
        ("[store]\nmargin_ms = 1", 3, "store: margin_ms", wall),
        ("[store]\ndesign = \"D0\"\nretention = \"time\"", 4, "store: retention", nothing),
        ("[store]\ndesign = \"D0\"\ncapacity = 3", 4, "store: capacity", nothing),
        ("[store]\ndesign = \"D0\"\nfirst_rejection = \"fresh\"", 4, "store: first_rejection", nothing),
        ("[store]\ndesign = \"D0\"\n[faults]\nforget = 1", 5, "faults: forget", nothing),
        (
            "[world]\nclock = false\n[limits]\ntimeout_ms = 600",
            5,
            "limits: timeout_ms",
            "with `world.clock = false` no cutoff falls",
        ),
        (
            "[faults]\nmax = 2\nunreachable = 2",
            3,
            "faults: max",
            "it bounds the faults from `lose_request` to `forget`, and all of them are 0",
        ),
        (
            "[faults]\nstale = 1",
            3,
            "faults: stale",
            "no incarnation ever has a successor: only `restart`, `drain` or `seize` begin one, or a full store",
        ),
    ];
    for (before, line, place, because) in cases {
        assert_eq!(
            said(&with(before, "")),
            format!("s.toml:{line}:1: {place} would have no effect: {because}; leave it out")
        );
    }
    assert_eq!(
        said("name = \"s\"\n[[caller]]\nskew_ms = 5\n[[caller.call]]\nname = \"a\"\n"),
        format!("s.toml:3:1: caller 1: skew_ms would have no effect: {wall}; leave it out")
    );
}

#[test]
fn a_setting_that_needs_another_says_which() {
    let cases = [
        (
            "[store]\ndesign = \"D2\"\n[world]\nclock = false",
            "store: design needs `world.clock = true`: D2 tells what is older by the clock",
        ),
        (
            "[store]\nretention = \"time\"\n[world]\nclock = false",
            "store: retention needs `world.clock = true`: a window of time passes only if time does",
        ),
    ];
    for (before, expected) in cases {
        assert_eq!(said(&with(before, "")), format!("s.toml:3:1: {expected}"));
    }
    assert_eq!(
        said(&with("[expect]\nviolated = [\"P1\", \"P13\"]", "")),
        "s.toml:3:19: expect: violated needs `world.history = true`: this property is asked of the object's history"
    );
}

#[test]
fn expectations_name_what_there_is() {
    assert_eq!(
        said(&with("[expect]\nreached = [\"R1\", \"R6\"]", "")),
        "s.toml:3:18: expect: reached says `R6`, but must be a list of any of `\"R1\"`, `\"R2\"`, `\"R3\"`, `\"R4\"`, \
         `\"R5\"`"
    );
    assert!(
        said(&with("[expect]\nviolated = [\"P17\"]", ""))
            .starts_with("s.toml:3:13: expect: violated says `P17`, but must be a list of any of `\"P1\"`, `\"P2\"`, ")
    );
    assert_eq!(
        said(&with("[expect]\nreached = [\"R1\"]\nunreached = [\"R1\"]", "")),
        "s.toml:4:14: expect: unreached says `R1`, which is in `reached` as well: it can be in one of them"
    );
    assert_eq!(
        said(&with("[expect]\nviolated = [\"P1\"]\n[expect.because]\nP1 = \"so\"\nP2 = \"so\"", "")),
        "s.toml:6:1: expect: because.P2 explains something that is not in `violated`: `P1`"
    );
    assert_eq!(
        said(&with("[expect.because]\nP2 = \"so\"", "")),
        "s.toml:3:1: expect: because.P2 explains something that is not in `violated`: there is none"
    );
}

#[test]
fn everything_that_is_wrong_is_said_in_the_order_of_the_text() {
    let text = with("[faults]\ncut = 10\nstale = 1", "object = 3\nwrites = [\"y\", \"y\"]");
    assert_eq!(
        said(&text).lines().map(|line| &line[..9]).collect::<Vec<_>>(),
        ["s.toml:3:", "s.toml:4:", "s.toml:8:", "s.toml:9:"]
    );
}

#[test]
fn a_scenario_that_was_never_text_is_checked_too() {
    let mut scenario = Scenario::from_toml("s.toml", &with("", "")).expect("it is right");
    scenario.callers[0].calls[0].object = 9;
    scenario.faults.cut = 77;
    let error = scenario.check().expect_err("it is wrong");
    assert_eq!(
        error.to_string(),
        "faults: cut is 77, but must be a whole number from 0 to 9\n\
         caller 1, call 1: object is 9, but must be a whole number from 0 to 1"
    );
    assert_eq!(error.0[1].place, Table::Call(0, 0).field("object"));
    assert!(matches!(error.0[1].wrong, Wrong::OutOfRange { found: 9, .. }));
}
