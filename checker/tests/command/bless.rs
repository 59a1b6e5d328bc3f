use std::fs;

use serde_json::Value;

use super::support::{oncemore, place, ran};

#[test]
fn the_counts_found_are_written_where_the_repository_keeps_them() {
    let top = place("bless");
    let (inner, file) = (top.join("checker/src"), top.join("model/expected/counts.json"));
    fs::create_dir_all(&inner).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{}\n").unwrap();
    let output = oncemore().args(["check", "d0", "--bless"]).current_dir(&inner).output().expect("the command starts");
    let ran = ran(output);
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    let counts: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).expect("JSON");
    for count in ["unique", "generated", "depth"] {
        assert!(counts["d0"][count].as_u64().is_some_and(|count| count > 0), "{counts}");
    }
}

#[test]
fn without_the_file_nothing_is_run() {
    let output = oncemore().args(["check", "d0", "--bless"]).current_dir("/").output().expect("the command starts");
    let ran = ran(output);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("model/expected/counts.json"), "{}", ran.stderr);
}
