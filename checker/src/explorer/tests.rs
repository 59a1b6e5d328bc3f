//! The API as a program sees it, without a socket.

mod around;
mod jobs;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::assets::ASSETS;
use super::server::{JobLimits, Settings, router};

struct Server {
    router: Router,
    runtime: tokio::runtime::Runtime,
}

struct Said {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The kind of error, which must come with a message.
    fn error(&self) -> String {
        let json = self.json();
        assert!(json["error"]["message"].as_str().is_some_and(|message| message.len() > 10), "{json}");
        json["error"]["kind"].as_str().expect("a kind").to_owned()
    }
}

impl Server {
    fn new() -> Self {
        Self::with(NonZeroUsize::MIN, JobLimits { cycle_states_max: 1_000, ..JobLimits::default() })
    }

    fn with(threads: NonZeroUsize, limits: JobLimits) -> Self {
        let router = router(Settings { port: 0, threads, limits, start: None });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self { router, runtime: runtime.expect("a runtime") }
    }

    fn send(&self, request: Request<Body>) -> Said {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.expect("an answer");
            let (status, headers) = (response.status(), response.headers().clone());
            let bytes = to_bytes(response.into_body(), usize::MAX).await.expect("a body");
            Said { status, headers, text: String::from_utf8(bytes.to_vec()).expect("text") }
        })
    }

    fn get(&self, path: &str) -> Said {
        self.send(Request::get(path).header("host", "127.0.0.1:9").body(Body::empty()).expect("a request"))
    }

    fn post_text(&self, path: &str, text: impl Into<Body>) -> Said {
        let request = Request::post(path).header("host", "127.0.0.1:9").header("content-type", "application/json");
        self.send(request.body(text.into()).expect("a request"))
    }

    fn post(&self, path: &str, body: &Value) -> Said {
        self.post_text(path, body.to_string())
    }

    fn ok(&self, path: &str, body: &Value) -> Value {
        let said = self.post(path, body);
        assert_eq!(said.status, StatusCode::OK, "{path}: {}", said.text);
        said.json()
    }

    /// Begins a job and waits until it has ended.
    fn job(&self, wish: &Value) -> Value {
        let id = self.ok("/api/jobs", wish)["id"].as_u64().expect("a number");
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let status = self.get(&format!("/api/jobs/{id}")).json();
            let stage = status["stage"].as_str().expect("a stage");
            if !matches!(stage, "waiting" | "running") {
                return status;
            }
            assert!(Instant::now() < until, "{status}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn late_write() -> Value {
    json!({ "name": "late-write" })
}

#[test]
fn a_state_says_how_one_came_there_and_what_may_happen_next() {
    let server = Server::new();
    let first = server.ok("/api/state", &json!({ "scenario": late_write() }));
    assert_eq!((&first["at"], first["steps"].as_array().map(Vec::len)), (&json!(0), Some(0)));
    let text = |choice: &Value| choice["scene"]["event"]["text"].as_str().map(str::to_owned);
    let choices: Vec<_> = first["choices"].as_array().expect("choices").iter().filter_map(text).collect();
    assert_eq!(choices, ["sends attempt 1 of set-4", "sends attempt 1 of set-1"]);
    let second = server.ok("/api/state", &json!({ "scenario": late_write(), "path": [0] }));
    assert_eq!(second["steps"][0]["event"]["text"], "sends attempt 1 of set-4");
    assert_eq!(second["steps"][0]["sent"][0]["says"], "request");
    assert_eq!(second["fingerprint"], second["steps"][0]["leads_to"]);
    let faults: Vec<_> =
        second["choices"].as_array().expect("choices").iter().filter(|it| !it["fault"].is_null()).collect();
    assert_eq!((faults.len(), &faults[0]["fault"]), (1, &json!("cut")));
    let cut = second["faults"].as_array().expect("faults").iter().find(|it| it["name"] == "cut").expect("cut");
    assert_eq!((&cut["budget"], &cut["left"]), (&json!(1), &json!(1)));
    assert_eq!(second["sights"][0], json!({ "call": "set-4", "sees": "nothing" }));
    let back = server.ok("/api/state", &json!({ "scenario": late_write(), "path": [0], "at": 0 }));
    assert_eq!((&back["fingerprint"], back["steps"].as_array().map(Vec::len)), (&first["fingerprint"], Some(1)));
}

#[test]
fn a_counterexample_is_jumped_to_and_every_property_is_judged_there() {
    let server = Server::new();
    let goal = json!({ "property": "P14" });
    let status = server.job(&json!({ "kind": "search", "scenario": late_write(), "goal": goal }));
    let path = &status["result"]["path"];
    assert_eq!((&status["stage"], &status["result"]["steps"]), (&json!("done"), &json!(18)), "{status}");
    let state = server.ok("/api/state", &json!({ "scenario": late_write(), "path": path }));
    let property = |state: &Value, id: &str| {
        let all = state["properties"].as_array().expect("properties");
        all.iter().find(|it| it["id"] == id).cloned().expect("a property")
    };
    let p14 = property(&state, "P14");
    assert_eq!((&p14["here"], &p14["since"]), (&json!("violated"), &json!(18)));
    assert_eq!(property(&state, "P1")["here"], "holds");
    let r3 = property(&state, "R3");
    assert!(r3["here"] == "reached" && r3["since"].as_u64().is_some_and(|step| step < 18), "{r3}");
    let before = server.ok("/api/state", &json!({ "scenario": late_write(), "path": path, "at": 17 }));
    assert_eq!(property(&before, "P14")["here"], "holds");
    let choices = before["choices"].as_array().expect("choices");
    assert!(choices.iter().any(|choice| choice["violates"] == json!(["P14"])), "{choices:?}");
}

#[test]
fn a_search_answers_within_its_bounds() {
    let server = Server::new();
    let wish = |goal: Value, states_max: u64| json!({ "kind": "search", "scenario": late_write(), "goal": goal, "states_max": states_max });
    let never = server.job(&wish(json!({ "property": "P1" }), 1_000_000));
    assert_eq!((&never["result"]["found"], &never["result"]["exhausted"]), (&json!(false), &json!(true)));
    let cut = server.job(&wish(json!({ "property": "P14" }), 50));
    assert_eq!((&cut["result"]["found"], &cut["result"]["cut"]), (&json!(false), &json!("states")));
    let stuck = server.job(&wish(json!({ "property": "L1" }), 1_000_000));
    assert_eq!(stuck["result"]["found"], false);
    assert!(stuck["result"]["reservation"].as_str().is_some_and(|text| text.contains("round for ever")), "{stuck}");
    let rule = server.job(&wish(json!({ "branch": "MarkAdmitsDuplicate" }), 1_000_000));
    let path = &rule["result"]["path"];
    let state = server.ok("/api/state", &json!({ "scenario": late_write(), "path": path }));
    let last = state["steps"].as_array().and_then(|steps| steps.last()).expect("a step");
    let rules = last["event"]["rules"].as_array().expect("rules");
    assert!(rules.iter().any(|rule| rule["branch"] == "MarkAdmitsDuplicate"), "{last}");
    for (goal, kind) in
        [(json!({ "property": "P99" }), "unknown-property"), (json!({ "branch": "X" }), "unknown-branch")]
    {
        assert_eq!(server.post("/api/jobs", &wish(goal, 10)).error(), kind);
    }
    assert_eq!(server.post("/api/jobs", &wish(json!({ "property": "P1" }), 0)).error(), "out-of-range");
}

#[test]
fn a_check_says_what_oncemore_check_says_and_the_library_shows_it() {
    let server = Server::new();
    let status = server.job(&json!({ "kind": "check", "scenario": late_write() }));
    let result = &status["result"];
    assert_eq!(
        (&result["exhausted"], &result["as_expected"], &result["as_pinned"]),
        (&json!(true), &json!(true), &json!(true))
    );
    assert!(status["seen"].as_array().expect("a list").contains(&json!("P14")), "{status}");
    let library = server.get("/api/library").json();
    let all = library["scenarios"].as_array().expect("scenarios");
    let found = all.iter().find(|it| it["name"] == "late-write").expect("late-write");
    assert_eq!(found["found"]["violated"], json!(["P14"]));
    assert_eq!(found["pinned"]["unique"], 10_906);
}

#[test]
fn a_run_is_exported_and_comes_back() {
    let server = Server::new();
    for path in [json!([0, 1, 0]), json!([])] {
        let export = json!({ "scenario": late_write(), "path": path, "format": "json" });
        let text = server.ok("/api/export", &export)["text"].clone();
        let back = server.ok("/api/import", &json!({ "text": text }));
        assert_eq!(back, json!({ "scenario": { "name": "late-write" }, "path": path }));
    }
    for (format, wanted) in
        [("itf", "\"#meta\""), ("mermaid", "sequenceDiagram"), ("dot", "digraph"), ("text", "sends attempt 1")]
    {
        let text = server.ok("/api/export", &json!({ "scenario": late_write(), "path": [0], "format": format }));
        assert!(text["text"].as_str().is_some_and(|text| text.contains(wanted)), "{format}: {text}");
    }
    assert_eq!(server.post("/api/import", &json!({ "text": "{}" })).error(), "malformed");
}

#[test]
fn a_link_of_another_version_is_told() {
    let server = Server::new();
    let state = |path: Value, check: &str| json!({ "scenario": late_write(), "path": path, "check": check });
    let right = server.ok("/api/state", &json!({ "scenario": late_write(), "path": [0] }))["fingerprint"].clone();
    assert_eq!(server.post("/api/state", &state(json!([0]), right.as_str().expect("text"))).status, StatusCode::OK);
    let said = server.post("/api/state", &state(json!([0]), "0123456789abcdef"));
    assert_eq!((said.status, said.error().as_str()), (StatusCode::CONFLICT, "other-version"));
    assert_eq!(server.post("/api/state", &state(json!([77]), "0123456789abcdef")).error(), "other-version");
}

#[test]
fn what_makes_no_sense_is_told_and_nothing_breaks() {
    let server = Server::new();
    let state = |scenario: Value| json!({ "scenario": scenario });
    let cases = [
        (state(json!({ "name": "no-such" })), "unknown-scenario"),
        (state(json!({ "name": "../../etc/passwd" })), "unknown-scenario"),
        (state(json!({ "name": "/etc/passwd.toml" })), "unknown-scenario"),
        (state(json!({})), "malformed"),
        (state(json!({ "name": "doubt", "toml": "" })), "malformed"),
        (state(json!({ "toml": "name = " })), "bad-scenario"),
        (state(json!({ "name": "doubt", "mutant": "no-such" })), "unknown-mutant"),
        (json!({ "scenario": late_write(), "path": [0, 99] }), "bad-path"),
        (json!({ "scenario": late_write(), "path": [0], "at": 2 }), "out-of-range"),
        (json!({ "scenario": late_write(), "path": [-1] }), "malformed"),
        (json!({ "scenario": late_write(), "surprise": 1 }), "malformed"),
        (json!({ "scenario": late_write(), "path": vec![0; 3_000] }), "out-of-range"),
    ];
    for (body, kind) in cases {
        let said = server.post("/api/state", &body);
        assert_eq!(said.error(), kind, "{body}");
        assert!(said.status.is_client_error(), "{body}");
    }
    let worse = server.post(
        "/api/state",
        &state(
            json!({ "toml": "name = \"x\"\n[limits]\nretries_max = 99\n[[caller]]\n[[caller.call]]\nname = \"a\"\n" }),
        ),
    );
    assert_eq!(worse.json()["error"]["complaints"][0]["line"], 3, "{}", worse.text);
    assert_eq!(server.post_text("/api/state", "not json").error(), "malformed");
    assert_eq!(server.post_text("/api/state", vec![b' '; super::body::BYTES_MAX + 1]).error(), "too-large");
    assert_eq!(server.post_text("/api/state", vec![0xff, 0xfe]).error(), "malformed");
    assert_eq!(server.get("/api/jobs/7").error(), "no-such-job");
    assert_eq!(server.get("/api/jobs/x").error(), "not-found");
    assert_eq!(server.get("/api/nothing").error(), "not-found");
    assert_eq!(server.get("/../Cargo.toml").error(), "not-found");
    assert_eq!(server.get("/api/state").error(), "method");
}

#[test]
fn other_pages_are_not_answered() {
    let server = Server::new();
    let ask = |method: Method, headers: &[(&str, &str)]| {
        let mut request = Request::builder().method(method).uri("/api/start");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        server.send(request.body(Body::empty()).expect("a request"))
    };
    let ours = ("host", "127.0.0.1:8080");
    for headers in [
        vec![],
        vec![("host", "evil.example")],
        vec![("host", "127.0.0.1.evil.example:80")],
        vec![("host", "127.0.0.1:80@evil.example")],
        vec![ours, ("origin", "http://evil.example")],
        vec![ours, ("origin", "null")],
        vec![ours, ("origin", "http://127.0.0.1:1")],
        vec![ours, ("sec-fetch-site", "cross-site")],
        vec![ours, ("sec-fetch-site", "same-site")],
    ] {
        assert_eq!(ask(Method::GET, &headers).error(), "forbidden", "{headers:?}");
    }
    for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "127.0.0.1"] {
        assert_eq!(ask(Method::GET, &[("host", host)]).status, StatusCode::OK, "{host}");
    }
    assert_eq!(ask(Method::GET, &[ours, ("origin", "http://127.0.0.1:8080")]).status, StatusCode::OK);
    // A page from elsewhere can send a form without asking first, but no JSON.
    let form = Request::post("/api/state").header("host", "127.0.0.1:9").header("content-type", "text/plain");
    assert_eq!(server.send(form.body(Body::from("{}")).expect("a request")).error(), "not-json");
}

#[test]
fn the_page_is_small_and_allows_no_code_but_its_own() {
    let server = Server::new();
    let mut bytes = 0;
    for (path, kind, _) in ASSETS {
        let said = server.get(path);
        assert_eq!((said.status, said.headers["content-type"].to_str().ok()), (StatusCode::OK, Some(*kind)), "{path}");
        let policy = said.headers["content-security-policy"].to_str().expect("text");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        bytes += said.text.len();
        assert!(!said.text.contains("https://"), "{path} names another place");
    }
    let first = bytes + server.get("/api/library").text.len();
    assert!(first < 200_000, "the first page: {first} bytes, {bytes} of them the page itself");
    let page = server.get("/").text;
    assert!(!page.contains("style=") && !page.contains("onclick=") && !page.contains("<style"), "{page}");
}

#[test]
fn every_module_that_is_imported_is_there() {
    for (path, kind, text) in ASSETS.iter().filter(|(_, kind, _)| kind.starts_with("text/javascript")) {
        for line in text.lines().filter(|line| line.starts_with("import ")) {
            let from = line.rsplit('"').nth(1).and_then(|from| from.strip_prefix('.')).expect("a module beside it");
            assert!(ASSETS.iter().any(|(path, ..)| *path == from), "{path} ({kind}) imports {from}");
        }
    }
}
