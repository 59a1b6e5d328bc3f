use std::fs;

use serde::Deserialize;
use serde_json::{Value, json};

use super::support::{file, place, run, unsound};

/// A trace that was written to a file.
fn trace(name: &str) -> (String, Value) {
    let path = place(&format!("{name}.json")).display().to_string();
    let ran = run(&format!("check {} --trace json --trace-out {path}", unsound(name)));
    assert_eq!(ran.status, Some(1));
    assert!(ran.stdout.contains("trace written: P1"), "{}", ran.stdout);
    let text = fs::read_to_string(&path).expect("the trace was written");
    (path, serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn a_trace_says_the_same_again() {
    let (path, trace) = trace("trace-again");
    let ran = run(&format!("replay {path}"));
    assert_eq!(ran.status, Some(0), "{}", ran.stdout);
    let steps = trace["run"]["steps"].as_array().expect("steps");
    for step in steps {
        let text = step["event"]["text"].as_str().expect("a text");
        let start: String = text.chars().take(20).collect();
        assert!(ran.stdout.contains(&start), "{text}");
    }
    assert!(ran.stdout.contains(&format!("all {} steps happen again", steps.len())), "{}", ran.stdout);
    let ran = run(&format!("replay {path} --json -"));
    let said: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&said["agrees"], &said["verdict"]), (&json!(true), &json!("violated")));
}

#[test]
fn a_trace_that_was_changed_does_not() {
    let (_, trace) = trace("trace-changed");
    let cases: [(&str, &str, Value); 4] = [
        ("event", "/run/steps/0/event/text", json!("sends nothing")),
        ("state", "/run/steps/1/leads_to", json!("0000000000000000")),
        ("action", "/run/steps/0/action", json!({ "step": "advance" })),
        ("property", "/property", json!("P3")),
    ];
    for (name, place, value) in cases {
        let mut changed = trace.clone();
        *changed.pointer_mut(place).expect(place) = value;
        let path = file(&format!("trace-changed-{name}.json"), &changed.to_string());
        let ran = run(&format!("replay {path}"));
        assert_eq!(ran.status, Some(1), "{name}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("it goes another way"), "{name}: {}", ran.stdout);
    }
}

#[test]
fn what_is_no_trace_is_not_run() {
    let (_, trace) = trace("trace-none");
    let mut elsewhere = trace.clone();
    elsewhere["format"] = json!("oncemore-trace/9");
    let mut senseless = trace.clone();
    senseless["scenario"]["limits"]["retries_max"] = json!(99);
    let mut mutant = trace;
    mutant["mutant"] = json!("no-such-mutant");
    for (name, text) in [
        ("text", "no JSON".to_owned()),
        ("empty", "{}".to_owned()),
        ("format", elsewhere.to_string()),
        ("senseless", senseless.to_string()),
        ("mutant", mutant.to_string()),
    ] {
        let ran = run(&format!("replay {}", file(&format!("trace-none-{name}.json"), &text)));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_trace_has_standard_output_to_itself() {
    let unsound = unsound("trace-stdout");
    for format in ["json", "itf", "mermaid"] {
        let ran = run(&format!("check {unsound} --trace {format}"));
        assert!(ran.stdout.starts_with(if format == "mermaid" { "sequenceDiagram\n" } else { "{\n" }), "{format}");
        assert!(ran.stderr.contains("1 not as expected"), "{}", ran.stderr);
    }
    let ran = run(&format!("check {unsound} --trace-out -"));
    assert!(ran.stdout.trim_start().starts_with("P1 violated in"), "{}", ran.stdout);
}

#[test]
fn a_property_that_is_asked_for_has_its_trace_even_if_it_is_no_violation() {
    let ran = run(&format!("check {} --property R1 --trace mermaid", unsound("trace-reached")));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("R1 reached"), "{}", ran.stdout);
}

/// What every state of ours has.
#[derive(Deserialize)]
struct Told {
    event: String,
}

#[test]
fn itf_is_read_by_others_and_says_the_same() {
    let (_, trace) = trace("trace-itf");
    let text = run(&format!("check {} --trace itf", unsound("trace-itf"))).stdout;
    let read: itf::Trace<itf::Value> = serde_json::from_str(&text).expect("ITF");
    let steps = trace["run"]["steps"].as_array().expect("steps");
    assert_eq!(read.meta.format.as_deref(), Some("ITF"));
    assert_eq!(read.states.len(), steps.len() + 1);
    let told: itf::Trace<Told> = read.clone().decode().expect("states made of variables");
    for (index, state) in told.states.iter().enumerate() {
        assert_eq!(state.meta.index, Some(index as u64));
        let event = index.checked_sub(1).map_or("the beginning", |step| steps[step]["event"]["text"].as_str().unwrap());
        assert!(state.value.event.ends_with(event), "{event}");
    }
    // Written again by that reader it is what we wrote, but for what it writes where nothing was.
    let written: Value = serde_json::from_str(&text).expect("JSON");
    let again = serde_json::to_value(&read).expect("JSON");
    for (ours, theirs) in written["states"].as_array().unwrap().iter().zip(again["states"].as_array().unwrap()) {
        assert_eq!(ours.as_object().map(serde_json::Map::len), Some(1 + read.vars.len()), "its variables and #meta");
        for var in &read.vars {
            assert_eq!(ours[var], theirs[var], "{var}");
        }
    }
}
