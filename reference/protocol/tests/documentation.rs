//! `docs/protocol.md` is true, as far as a test can say.

use std::fs;
use std::path::{Path, PathBuf};

use oncemore_protocol::rule::Branch;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn protocol() -> String {
    fs::read_to_string(docs().join("protocol.md")).expect("docs/protocol.md")
}

#[test]
fn every_branch_is_documented_as_it_is() {
    let rows: Vec<String> = Branch::ALL
        .iter()
        .map(|branch| format!("| {} | `{}` | {} |", branch.rule(), branch.name(), branch.text()))
        .collect();
    let written = protocol();
    let section = written.lines().skip_while(|line| *line != "## Every branch");
    let table: Vec<&str> = section.filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    assert_eq!(table, rows);
}

#[test]
fn every_link_leads_somewhere() {
    let written = protocol();
    let headings: Vec<String> = written.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor).collect();
    for link in links(&written) {
        match link.strip_prefix('#') {
            Some(anchor) => assert!(headings.iter().any(|heading| heading == anchor), "{link}"),
            None => assert!(docs().join(link).exists(), "{link}"),
        }
    }
}

/// What is between `](` and `)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
}

fn anchor(heading: &str) -> String {
    let lower = heading.to_lowercase();
    lower
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-')
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
