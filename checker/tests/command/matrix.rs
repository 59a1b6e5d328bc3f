use std::fs;

use serde_json::{Value, json};

use super::support::{file, json, place, run};

/// Small enough for a test: one design in two worlds.
const PART: &str = "matrix --design D1 --world loss --world restart";

#[test]
fn a_part_of_the_matrix_is_as_expected() {
    let ran = run(PART);
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("D1 fenced watermark fail"), "{}", ran.stdout);
    assert!(ran.stdout.contains("xhm"), "D1 loses its claims in a restart: {}", ran.stdout);
    assert!(!ran.stdout.contains("D3"), "{}", ran.stdout);
}

#[test]
fn each_cell_says_what_was_found_and_what_was_expected() {
    let matrix = json(PART);
    let cells = matrix["cells"].as_array().expect("cells");
    // Fenced or not, two retentions, two answers of C5, two worlds, one caller or two: five promises each.
    assert_eq!(cells.len(), 2 * 2 * 2 * 2 * 2 * 5);
    assert!(cells.iter().all(|cell| cell["verdict"] == cell["expected"]), "{cells:?}");
    let is = |cell: &&Value| {
        cell["scenario"] == "d1-f-w-fail-1-restart" && cell["property"] == "P1" && cell["verdict"] == "violated"
    };
    let restart = cells.iter().find(is).expect("D1, restarted, runs a call twice");
    assert!(restart["trace_length"].as_u64().is_some_and(|steps| steps > 5), "{restart}");
    assert!(restart["why"].as_str().is_some_and(|why| why.contains("memory")), "{restart}");
}

#[test]
fn a_cell_is_checked_by_its_name_and_its_run_is_told() {
    let ran = run("check d1-f-w-fail-1-restart");
    assert_eq!(ran.status, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.contains("AGAIN"), "{}", ran.stdout);
}

#[test]
fn after_a_cut_no_cell_holds_and_no_page_is_written() {
    let page = file("verdicts-cut.md", "as it was");
    let ran = run(&format!("matrix --max-states 1 --write {page}"));
    assert_eq!(ran.status, Some(3), "{}", ran.stdout);
    assert!(!ran.stdout.contains("keeps"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('·') || ran.stdout.contains("answers are open"), "{}", ran.stdout);
    assert_eq!(fs::read_to_string(page).expect("the page"), "as it was");
    let cells = json("matrix --max-depth 1 --design D3");
    let verdicts = cells["cells"].as_array().expect("cells").iter().map(|cell| &cell["verdict"]);
    assert!(verdicts.clone().all(|verdict| *verdict != json!("holds")), "{cells}");
    assert!(verdicts.clone().any(|verdict| *verdict == json!("inconclusive")), "{cells}");
}

#[test]
fn what_is_no_design_or_world_is_refused_with_those_that_there_are() {
    for (arguments, there_are) in [("--design D9", "D0, D1"), ("--world sunshine", "restart+late")] {
        let ran = run(&format!("matrix {arguments}"));
        assert_eq!(ran.status, Some(2));
        assert!(ran.stderr.contains(there_are), "{}", ran.stderr);
    }
    let missing = place("no-such-page.md");
    assert_eq!(run(&format!("matrix --check {}", missing.display())).status, Some(2));
}

#[test]
fn every_mutant_is_caught() {
    let found = json("mutants");
    let mutants = found["mutants"].as_array().expect("mutants");
    assert!(mutants.len() >= 30);
    let missed: Vec<_> = mutants.iter().filter(|mutant| mutant["caught"] != true).collect();
    assert!(missed.is_empty(), "{missed:?}");
    assert!(mutants.iter().all(|mutant| mutant["trace_length"].as_u64().is_some_and(|steps| steps > 0)));
    for property in (1..=16).map(|number| format!("P{number}")).chain(["L1".to_owned(), "L2".to_owned()]) {
        let breaks = |mutant: &Value| mutant["violated"].as_array().is_some_and(|all| all.contains(&json!(property)));
        assert!(mutants.iter().any(breaks), "no mutant breaks {property}");
    }
}

#[test]
fn a_hunt_that_is_cut_catches_nothing() {
    let ran = run("mutants --max-states 1");
    assert_eq!(ran.status, Some(3), "{}", ran.stdout);
    assert!(ran.stdout.contains("0 of "), "{}", ran.stdout);
}
