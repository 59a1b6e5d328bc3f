//! What comes with Oncemore.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use oncemore_model::scenario::{find, library};

#[test]
fn the_folder_and_the_list_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let files: BTreeSet<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").file_name().into_string().expect("names are plain"))
        .collect();
    let listed: BTreeSet<_> = library().iter().map(|entry| format!("{}.toml", entry.scenario.name)).collect();
    assert_eq!(files, listed);
    assert_eq!(library().len(), files.len(), "no scenario stands in two files");
}

#[test]
fn each_is_found_under_its_name() {
    for entry in library() {
        assert_eq!(find(&entry.scenario.name).map(|found| found.text), Some(entry.text));
    }
    assert!(find("no-such-scenario").is_none());
}

#[test]
fn each_says_what_it_asks_and_why_it_fails() {
    for entry in library() {
        let scenario = &entry.scenario;
        assert!(scenario.about.ends_with('.'), "{}: a sentence", scenario.name);
        for property in &scenario.expect.violated {
            assert!(scenario.expect.because.contains_key(property), "{}: why {property}?", scenario.name);
        }
    }
}

#[test]
fn every_public_case_has_a_scenario_or_a_test_of_its_own() {
    // Case 29 is about checkers: `tests/explore_canaries.rs`.
    for case in (1..=27).step_by(2) {
        assert!(find(&format!("case_{case:02}")).is_some(), "case {case}");
    }
}

/// The tables of the manual speak of sections and rules; each of these has a scenario that names it.
#[test]
fn every_rule_that_a_scenario_can_show_is_named_by_one() {
    // Not in the world of a model: what an HTTP status or a body does (F4, F5), what is serialised when (E5), and how
    // marks are read from functions (M2) or limits from options (M4).
    let shown = [
        "F2",
        "F3",
        "E1",
        "E2",
        "E3",
        "E4",
        "E6",
        "C1",
        "C2",
        "C3",
        "C4.1",
        "C4.2",
        "C4.3",
        "C4.5",
        "C4.6",
        "C4.7",
        "C5",
        "C7",
        "C8",
        "C9",
        "I1",
        "I2",
        "I3",
        "I4",
        "G1",
        "G2",
        "G3",
        "G4",
        "G5",
        "G6",
        "G8",
        "G9",
        "G10",
        "G11",
        "G12",
        "M1",
        "M5",
        "D0",
        "D1",
        "D2",
        "D3",
        "D4",
        "D5",
        "`fenced`",
        "`time`",
        "`watermark`",
        "P13",
        "P14",
        "P15",
        "P16",
        "L1",
        "L2",
    ];
    let abouts: String = library().iter().map(|entry| format!("{}\n", entry.scenario.about)).collect();
    let missing: Vec<_> = shown.into_iter().filter(|rule| !names(&abouts, rule)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Whether the text names this rule, alone or within a range such as "C1 to C9".
fn names(text: &str, rule: &str) -> bool {
    text.match_indices(rule).any(|(at, _)| {
        let after = text[at + rule.len()..].chars().next();
        !after.is_some_and(|c| {
            c.is_ascii_digit() || c == '.' && text[at + rule.len() + 1..].starts_with(|c: char| c.is_ascii_digit())
        })
    }) || ranges(text).any(|(first, last)| {
        let number = |rule: &str| rule[1..].parse::<u32>().ok();
        first[..1] == rule[..1] && number(rule).is_some_and(|n| number(first) < Some(n) && Some(n) <= number(last))
    })
}

/// Every "A1 to A9" in a text.
fn ranges(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices(" to ").filter_map(|(at, to)| {
        let first = text[..at].rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
        let last = text[at + to.len()..].split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        let rule = |word: &str| word.len() > 1 && word[1..].bytes().all(|b| b.is_ascii_digit()) && word.is_ascii();
        (rule(first) && rule(last)).then_some((first, last))
    })
}
