//! Which crate may depend on which: the arrows point from the checker to the model to the protocol, and the runtime
//! stands beside the model, not above or below it.
//!
//! A crate that is missing here fails the test, so that whoever adds one says where it belongs.

use std::process::Command;

use serde_json::{Value, json};

/// What each of our crates may depend on, be it to build, to run or to test.
const ARROWS: &[(&str, &[&str])] = &[
    // The rules know nothing of who drives them.
    ("oncemore-protocol", &[]),
    // The model is bound to the rules alone: what it checks must not hang on one runtime.
    ("oncemore-model", &["oncemore-protocol"]),
    // Whatever the checker tells its user, it learns from the model.
    ("oncemore-checker", &["oncemore-model"]),
    ("oncemore-macros", &[]),
    ("oncemore", &["oncemore-protocol", "oncemore-macros"]),
    ("oncemore-benches", &["oncemore-protocol", "oncemore-model", "oncemore-checker", "oncemore-macros", "oncemore"]),
];

#[test]
fn every_dependency_follows_an_arrow() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let broken = broken_arrows(&metadata);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    for present in ["oncemore-protocol", "oncemore-model", "oncemore-checker"] {
        let packages = array(&metadata["packages"]);
        assert!(packages.iter().any(|package| package["name"] == present), "{present} is not there");
    }
}

/// Every dependency between two of our crates that no arrow allows, and every crate of ours that has no arrows.
///
/// Dependencies count under their real names, whatever they are renamed to, and whether they are optional or not.
fn broken_arrows(metadata: &Value) -> Vec<String> {
    let packages = array(&metadata["packages"]);
    let is_ours =
        |dependency: &Value| dependency["path"].is_string() || packages.iter().any(|p| p["name"] == dependency["name"]);
    let mut broken = Vec::new();
    for package in packages {
        let Some((name, allowed)) = ARROWS.iter().find(|(name, _)| package["name"] == *name) else {
            broken.push(format!("{} has no arrows", package["name"]));
            continue;
        };
        for dependency in array(&package["dependencies"]) {
            let on = &dependency["name"];
            if is_ours(dependency) && !allowed.iter().any(|allowed| on == allowed) {
                broken.push(format!("{name} must not depend on {on}"));
            }
        }
    }
    broken
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array in cargo's metadata")
}

#[test]
fn the_arrows_have_no_circle() {
    // Each crate may depend only on crates that stand above it in the list.
    for (index, (name, allowed)) in ARROWS.iter().enumerate() {
        for on in *allowed {
            assert!(ARROWS[..index].iter().any(|(above, _)| above == on), "{name} and {on}");
        }
    }
}

#[test]
fn a_broken_arrow_is_found() {
    let package = |name: &str, on: Value| json!({"packages": [{"name": name, "dependencies": [on]}]});
    let ours = |name: &str, kind: Value| json!({"name": name, "path": "somewhere", "kind": kind});
    for (from, on) in [
        ("oncemore-protocol", "oncemore-model"),
        ("oncemore-protocol", "oncemore-macros"),
        ("oncemore-model", "oncemore"),
        ("oncemore-model", "oncemore-checker"),
        ("oncemore-checker", "oncemore"),
        ("oncemore-checker", "a-crate-without-arrows"),
        ("oncemore", "oncemore-model"),
        ("oncemore-macros", "oncemore"),
    ] {
        for kind in [Value::Null, json!("dev"), json!("build")] {
            let broken = broken_arrows(&package(from, ours(on, kind)));
            assert_eq!(broken, [format!("{from} must not depend on \"{on}\"")]);
        }
    }
    let allowed = package("oncemore", ours("oncemore-protocol", Value::Null));
    assert_eq!(broken_arrows(&allowed), Vec::<String>::new());
    let foreign = package("oncemore-protocol", json!({"name": "serde", "path": null, "kind": null}));
    assert_eq!(broken_arrows(&foreign), Vec::<String>::new());
    let stranger = package("oncemore-stranger", json!({"name": "serde", "path": null}));
    assert_eq!(broken_arrows(&stranger), ["\"oncemore-stranger\" has no arrows"]);
}
