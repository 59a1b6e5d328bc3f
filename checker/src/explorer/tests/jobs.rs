use std::num::NonZeroUsize;
use std::thread::sleep;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use super::super::server::JobLimits;
use super::{Server, late_write};

fn deep() -> serde_json::Value {
    json!({ "kind": "check", "scenario": { "name": "deep" } })
}

fn cancel(server: &Server, id: u64) {
    let request = Request::delete(format!("/api/jobs/{id}")).header("host", "127.0.0.1:9").body(Body::empty());
    server.send(request.expect("a request"));
}

#[test]
fn a_check_is_cancelled_and_the_next_one_waits_for_its_turn() {
    let server = Server::new();
    let first = server.ok("/api/jobs", &deep())["id"].as_u64().expect("a number");
    let second = server.ok("/api/jobs", &json!({ "kind": "check", "scenario": late_write() }))["id"].as_u64();
    let second = second.expect("a number");
    let status = |id: u64| server.get(&format!("/api/jobs/{id}")).json();
    let stage = |id: u64| status(id)["stage"].as_str().expect("a stage").to_owned();
    while status(first)["states"].as_u64() == Some(0) {
        sleep(Duration::from_millis(2));
    }
    assert_eq!(stage(second), "waiting");
    // One that has not begun is gone at once.
    let third = server.ok("/api/jobs", &deep())["id"].as_u64().expect("a number");
    cancel(&server, third);
    assert_eq!(stage(third), "cancelled");
    // Meanwhile everybody is answered.
    server.ok("/api/state", &json!({ "scenario": { "name": "deep" }, "path": [0] }));
    cancel(&server, first);
    while stage(second) != "done" {
        sleep(Duration::from_millis(5));
    }
    let first = status(first);
    assert_eq!((&first["stage"], &first["result"]["cut"]), (&json!("cancelled"), &json!("interrupt")), "{first}");
    let held = first["result"]["properties"].as_array().expect("properties").iter().any(|it| it["verdict"] == "holds");
    assert!(!held, "nothing holds after a cut");
}

#[test]
fn a_check_stays_within_its_memory() {
    let limits = JobLimits { bytes_max: Some(1), ..JobLimits::default() };
    let server = Server::with(NonZeroUsize::MIN, limits);
    let status = server.job(&deep());
    assert_eq!((&status["stage"], &status["result"]["cut"]), (&json!("done"), &json!("memory")), "{status}");
}

#[test]
fn a_search_takes_the_place_of_the_one_before_it() {
    let server = Server::new();
    let wish = |goal: &str| json!({ "kind": "search", "scenario": { "name": "deep" }, "goal": { "property": goal } });
    let first = server.ok("/api/jobs", &wish("P1"))["id"].as_u64().expect("a number");
    let second = server.job(&wish("R1"));
    assert_eq!(second["result"]["found"], true, "{second}");
    let stage = || server.get(&format!("/api/jobs/{first}")).json()["stage"].clone();
    while stage() == "running" || stage() == "waiting" {
        sleep(Duration::from_millis(5));
    }
    assert_eq!(stage(), "cancelled");
}
