use std::fs;

use serde_json::{Value, json};

use super::support::{json, place, run, sound, unsound};

#[test]
fn the_result_of_a_check_has_its_documented_form() {
    let check = json(&format!("check {}", unsound("json-unsound")));
    assert_eq!(check["exit_status"], 1);
    assert_eq!(check["suite"], false);
    assert_eq!((&check["untaken_branches"], &check["branches_judged"]), (&json!([]), &json!(false)));
    let scenario = &check["scenarios"][0];
    assert_eq!(scenario["name"], "json-unsound");
    assert_eq!((&scenario["exhausted"], &scenario["cut"]), (&json!(true), &Value::Null));
    for count in ["unique_states", "generated_states", "max_depth", "peak_bytes"] {
        assert!(scenario[count].as_u64().is_some_and(|count| count > 0), "{count}: {scenario}");
    }
    assert!(scenario["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    let p1 = property(scenario, "P1");
    assert_eq!((&p1["verdict"], &p1["expected"]), (&json!("violated"), &json!("holds")));
    assert!(p1["trace_length"].as_u64().is_some_and(|steps| steps > 5), "{p1}");
    let p3 = property(scenario, "P3");
    assert_eq!(p3, &json!({ "id": "P3", "verdict": "holds", "expected": "holds", "trace_length": null }));
    let r1 = property(scenario, "R1");
    assert_eq!((&r1["verdict"], &r1["expected"]), (&json!("reached"), &Value::Null));
    assert_eq!(property(scenario, "R5")["verdict"], "unreached");
    assert_eq!(scenario["cycles"]["states"], scenario["unique_states"]);
}

fn property<'a>(scenario: &'a Value, id: &str) -> &'a Value {
    let properties = scenario["properties"].as_array().expect("properties");
    properties.iter().find(|property| property["id"] == id).unwrap_or_else(|| panic!("{id} is not there"))
}

#[test]
fn a_cut_is_said_with_its_reason_and_leaves_everything_open() {
    let sound = sound("json-cut");
    for (limit, reason) in [("--max-states 5", "states"), ("--max-depth 2", "depth"), ("--memory 1", "memory")] {
        let check = json(&format!("check {sound} {limit}"));
        let scenario = &check["scenarios"][0];
        assert_eq!((&scenario["exhausted"], &scenario["cut"]), (&json!(false), &json!(reason)));
        let properties = scenario["properties"].as_array().expect("properties");
        assert!(properties.iter().all(|property| property["verdict"] == "inconclusive"), "{scenario}");
        assert_eq!(check["exit_status"], 3);
    }
}

#[test]
fn a_file_gets_what_standard_output_would() {
    let (sound, out) = (sound("json-file"), place("json-file.json"));
    fs::write(&out, "something much longer that was there before ".repeat(1_000)).unwrap();
    let ran = run(&format!("check {sound} --json {}", out.display()));
    assert_eq!(ran.status, Some(0));
    assert!(ran.stdout.contains("1 as expected"));
    let written: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).expect("JSON and nothing else");
    assert_eq!(written["scenarios"][0]["name"], "json-file");
}

#[test]
fn every_field_is_documented() {
    let docs = include_str!("../../../docs/json.md");
    let (unsound, trace) = (unsound("json-docs"), place("json-docs-trace.json"));
    let mut written = vec![json(&format!("check {unsound} --trace json --trace-out {}", trace.display()))];
    written.push(json(&format!("replay {}", trace.display())));
    let mut trace: Value = serde_json::from_str(&fs::read_to_string(&trace).unwrap()).expect("JSON");
    for own in ["scenario", "run/steps/0/action"] {
        // The scenario and the action have forms of their own.
        *trace.pointer_mut(&format!("/{own}")).expect(own) = Value::Null;
    }
    trace["run"]["steps"].as_array_mut().expect("steps").truncate(1);
    written.push(trace);
    written.push(json("matrix --design D1 --world loss"));
    written.push(json("mutants --max-states 1"));
    written.extend(["scenarios", "properties", "branches", "mutants"].map(|what| json(&format!("list {what}"))));
    let words: Vec<_> = docs.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for key in written.iter().flat_map(keys) {
        assert!(words.contains(&key.as_str()), "{key} is not in docs/json.md");
    }
}

/// Every key in it, at any depth.
fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| [vec![key.clone()], keys(value)].concat()).collect()
        }
        Value::Array(items) => items.iter().flat_map(keys).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn one_thread_and_two_find_the_same() {
    let unsound = unsound("json-threads");
    let [one, two] = [1, 2].map(|threads| {
        let mut check = json(&format!("check {unsound} --threads {threads}"));
        let scenario = check["scenarios"][0].as_object_mut().expect("a scenario");
        for measured in ["seconds", "peak_bytes", "bytes_per_state", "cycles"] {
            scenario.remove(measured);
        }
        check["scenarios"].clone()
    });
    assert_eq!(one, two);
}
