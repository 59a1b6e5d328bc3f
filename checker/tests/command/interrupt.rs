#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::support::{oncemore, place};

#[test]
fn ctrl_c_says_what_is_known_and_calls_it_cut() {
    let out = place("interrupt.json");
    let mut child = oncemore()
        .args(["check", "deep", "d0", "--json"])
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // It says how far it has come once it is under way; before that there is nothing to interrupt.
    let mut stderr = BufReader::new(child.stderr.take().expect("standard error"));
    let mut progress = String::new();
    stderr.read_line(&mut progress).expect("a line");
    assert!(progress.contains("deep") && progress.contains("states/s") || progress.contains("/s, depth"), "{progress}");
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(interrupt.success());
    let mut stdout = String::new();
    child.stdout.take().expect("standard output").read_to_string(&mut stdout).expect("text");
    assert_eq!(child.wait().expect("the command ends").code(), Some(3), "{stdout}");
    for wanted in ["cut: it was told to stop", "not run", "1 cut, 1 not run"] {
        assert!(stdout.contains(wanted), "{wanted}: {stdout}");
    }
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).expect("JSON");
    let cuts: Vec<_> = json["scenarios"].as_array().unwrap().iter().map(|scenario| &scenario["cut"]).collect();
    assert_eq!(cuts, ["interrupt", "not-run"]);
}
