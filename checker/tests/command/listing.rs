use serde_json::Value;

use super::support::{file, json, run};

#[test]
fn every_list_has_its_items_in_words_and_as_json() {
    for (what, id, some) in [
        ("scenarios", "name", "limits"),
        ("properties", "id", "P1"),
        ("branches", "name", "RejectionShowsOriginal"),
        ("mutants", "name", "fresh-after-unknown"),
    ] {
        let text = run(&format!("list {what}"));
        assert_eq!(text.status, Some(0));
        assert!(text.stdout.lines().any(|line| line.starts_with(some)), "{what}: {}", text.stdout);
        let list = json(&format!("list {what}"));
        let items = list[what].as_array().expect("a list");
        assert!(items.iter().any(|item| item[id] == *some), "{what}: {list}");
    }
}

#[test]
fn a_scenario_that_is_shown_can_be_run() {
    let list = json("list scenarios");
    let violating = list["scenarios"].as_array().expect("a list").iter().find(|item| item["name"] == "d0");
    assert_eq!(violating.map(|item| &item["violated"]), Some(&serde_json::json!(["P1", "P2"])));
    let shown = run("show d0");
    assert_eq!(shown.status, Some(0));
    let copy = file("listing-copy.toml", &shown.stdout);
    let check: Value = json(&format!("check {copy}"));
    assert_eq!(check["exit_status"], 0, "{check}");
}
