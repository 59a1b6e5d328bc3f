//! Every branch of a rule is named by a unit test of the machine that takes it.

use std::fs;
use std::path::{Path, PathBuf};

use oncemore_protocol::rule::Branch;

#[test]
fn each_branch_is_asserted_somewhere() {
    let tests = tests_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let missing: Vec<_> =
        Branch::ALL.iter().filter(|branch| !names(&tests, &format!("Branch::{}", branch.name()))).collect();
    assert!(missing.is_empty(), "no unit test names {missing:?}");
}

/// Whether the text has this path, and not only one that begins with it.
fn names(text: &str, path: &str) -> bool {
    text.match_indices(path)
        .any(|(at, _)| text[at + path.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric() && next != '_'))
}

/// The source of all unit tests below a directory.
fn tests_in(directory: &Path) -> String {
    let mut text = String::new();
    for path in entries(directory) {
        if path.is_dir() {
            text.push_str(&tests_in(&path));
        } else {
            let source = fs::read_to_string(&path).expect("a source file");
            let all = path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
            let from = if all { Some(0) } else { source.find("#[cfg(test)]\nmod tests {") };
            text.extend(from.map(|from| &source[from..]));
        }
    }
    text
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn a_longer_name_is_another_branch() {
    assert!(names("[Branch::Answered, ", "Branch::Answered"));
    assert!(!names("Branch::AnsweredFromRecord", "Branch::Answered"));
}
