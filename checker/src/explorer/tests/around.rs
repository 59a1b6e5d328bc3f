use serde_json::{Value, json};

use super::{Server, late_write};

#[test]
fn random_runs_are_the_same_for_the_same_seed_and_can_be_walked() {
    let server = Server::new();
    let wish = json!({ "scenario": late_write(), "path": [0], "runs": 5, "seed": 7 });
    let runs = server.ok("/api/sample", &wish);
    assert_eq!(runs, server.ok("/api/sample", &wish));
    for run in runs["runs"].as_array().expect("runs") {
        let state = server.ok("/api/state", &json!({ "scenario": late_write(), "path": run["path"] }));
        assert_eq!((&state["choices"], &state["at"]), (&json!([]), &run["steps"]), "a run goes to its end");
    }
    assert_eq!(server.post("/api/sample", &json!({ "scenario": late_write(), "runs": 0 })).error(), "out-of-range");
}

#[test]
fn the_states_nearby_are_those_that_choices_lead_to() {
    let server = Server::new();
    let graph = server.ok("/api/graph", &json!({ "scenario": late_write(), "depth": 1 }));
    let nodes = graph["nodes"].as_array().expect("nodes");
    assert_eq!((nodes.len(), graph["edges"].as_array().map(Vec::len)), (3, Some(2)));
    let state = server.ok("/api/state", &json!({ "scenario": late_write(), "path": nodes[1]["path"] }));
    assert_eq!(state["fingerprint"], nodes[1]["fingerprint"]);
    let far = server.ok("/api/graph", &json!({ "scenario": late_write(), "depth": 5 }));
    assert!(far["nodes"].as_array().is_some_and(|nodes| nodes.len() > 20 && nodes.len() <= 160));
    assert_eq!(server.post("/api/graph", &json!({ "scenario": late_write(), "depth": 9 })).error(), "out-of-range");
}

#[test]
fn a_question_is_answered_here_and_its_terms_are_named() {
    let server = Server::new();
    let ask = |query: &str| json!({ "scenario": late_write(), "path": [0], "query": query });
    assert_eq!(server.ok("/api/terms", &ask("set-4.attempts = 1"))["here"], true);
    assert_eq!(server.ok("/api/terms", &ask("network.requests > 1"))["here"], false);
    let terms = server.ok("/api/terms", &json!({ "scenario": late_write() }))["terms"].clone();
    assert!(terms.as_array().expect("terms").iter().any(|term| term["name"] == "object.owner"), "{terms}");
    assert_eq!(server.post("/api/terms", &ask("set-4.tries = 1")).error(), "bad-query");
}

#[test]
fn the_nearest_state_of_which_a_question_is_so_keeps_all_that_happened() {
    let server = Server::new();
    // What a settled call was told is let go of where a check counts states; a question may still ask for it.
    let goal = json!({ "query": "set-4.stage = answered and set-4.attempts = 2 and network.late = 1" });
    let status = server.job(&json!({ "kind": "search", "scenario": late_write(), "goal": goal }));
    let state = server.ok("/api/state", &json!({ "scenario": late_write(), "path": status["result"]["path"] }));
    let call = &state["state"]["calls"][0];
    assert_eq!((&call["stage"], &call["attempts"]), (&json!("answered"), &json!(2)), "{status}");
}

#[test]
fn two_designs_go_the_same_way_up_to_the_first_difference() {
    let server = Server::new();
    let goal = json!({ "property": "P14" });
    let path =
        server.job(&json!({ "kind": "search", "scenario": late_write(), "goal": goal }))["result"]["path"].clone();
    let compare = |other: &str| {
        server.ok("/api/compare", &json!({ "scenario": late_write(), "other": { "name": other }, "path": path }))
    };
    let same = compare("late-write");
    assert_eq!(same["first_difference"], Value::Null);
    let fenced = compare("late-write-fenced");
    let first =
        &fenced["rows"][fenced["first_difference"].as_u64().and_then(|row| usize::try_from(row).ok()).expect("one")];
    let text = |side: &str| {
        let step = first[side].as_u64().and_then(|step| usize::try_from(step - 1).ok()).expect("a step");
        fenced[side]["steps"][step]["event"]["text"].as_str().expect("text").to_owned()
    };
    let other = compare("d0");
    let rows = other["rows"].as_array().expect("rows");
    assert!(rows.iter().any(|row| row["right"].is_null()), "what cannot happen there is left out: {rows:?}");
    assert!(text("left").contains("starts AGAIN") && text("right").contains("refuses"), "{first}");
}

#[test]
fn a_scenario_is_text_and_data_and_each_gives_the_other() {
    let server = Server::new();
    let said = server.ok("/api/scenario", &json!({ "scenario": late_write() }));
    assert!(said["toml"].as_str().is_some_and(|toml| toml.starts_with("name = \"late-write\"\nabout")));
    let mut value = said["value"].clone();
    value["store"]["design"] = json!("D5");
    let changed = server.ok("/api/scenario", &json!({ "value": value }));
    let again = server.ok("/api/scenario", &json!({ "scenario": { "toml": changed["toml"] } }));
    assert_eq!((&again["value"], &again["value"]["store"]["design"]), (&value, &json!("D5")));
    value["limits"]["retries_max"] = json!(99);
    assert_eq!(server.post("/api/scenario", &json!({ "value": value })).error(), "bad-scenario");
    value["limits"]["retries_max"] = json!("many");
    assert_eq!(server.post("/api/scenario", &json!({ "value": value })).error(), "malformed");
}

#[test]
fn every_cell_of_the_matrix_that_asks_something_opens() {
    let server = Server::new();
    let matrix = server.get("/api/matrix").json();
    let rows = matrix["rows"].as_array().expect("rows");
    let cells = || rows.iter().flat_map(|row| row["cells"].as_array().expect("cells"));
    assert!(rows.iter().all(|row| row["cells"].as_array().map(Vec::len) == matrix["worlds"].as_array().map(Vec::len)));
    assert!(cells().all(|cell| cell["no"].is_string() != cell["scenario"].is_string()));
    for cell in cells().filter(|cell| cell["scenario"].is_string()).step_by(97) {
        let state = server.ok("/api/state", &json!({ "scenario": { "name": cell["scenario"] } }));
        assert_eq!(state["scenario"]["name"], cell["scenario"]);
    }
    let fields = server.get("/api/fields").json();
    assert!(fields["fields"].as_array().is_some_and(|fields| fields.len() > 40));
    assert_eq!(server.get("/api/about").json()["version"], env!("CARGO_PKG_VERSION"));
}
