use super::support::{file, place, run, scenario, sound, unsound};

#[test]
fn nothing_is_wrong_with_what_is_as_expected() {
    let ran = run(&format!("check {}", sound("exit-sound")));
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("1 scenario: 1 as expected"), "{}", ran.stdout);
}

#[test]
fn a_violation_that_is_expected_is_as_expected() {
    let ran = run(&format!(
        "check {}",
        scenario("exit-expected", "[store]\ndesign = \"D0\"\n[expect]\nviolated = [\"P1\", \"P2\"]")
    ));
    assert_eq!(ran.status, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.contains("violated P1 in"), "{}", ran.stdout);
}

#[test]
fn a_violation_that_nobody_expects_is_told_in_full() {
    let ran = run(&format!("check {}", unsound("exit-unsound")));
    assert_eq!(ran.status, Some(1), "{}", ran.stdout);
    for wanted in ["FAIL", "but expected: holds", "sends attempt 1 of pay", "sends attempt 2 of pay", "I2"] {
        assert!(ran.stdout.contains(wanted), "{wanted}: {}", ran.stdout);
    }
}

#[test]
fn what_should_be_violated_and_holds_is_not_as_expected() {
    let ran = run(&format!("check {}", scenario("exit-holds", "[expect]\nviolated = [\"P3\"]")));
    assert_eq!(ran.status, Some(1), "{}", ran.stdout);
    assert!(ran.stdout.contains("holds P3, but expected: violated"), "{}", ran.stdout);
}

#[test]
fn a_bad_command_line_runs_nothing() {
    let sound = sound("exit-usage");
    for arguments in [
        "--no-such-flag".to_owned(),
        "check no-such-scenario".to_owned(),
        format!("--threads 1 check {sound}"),
        "check no-such-file.toml".to_owned(),
        format!("check {sound} --threads 0"),
        format!("check {sound} --max-states 0"),
        format!("check {sound} --timeout soon"),
        format!("check {sound} --memory lots"),
        format!("check {sound} --property P99"),
        format!("check {sound} --trace png"),
        format!("check {sound} --json - --trace json"),
        format!("check {sound} --json {}", place("no-such-folder/out.json").display()),
        format!("check {sound} --trace-out {}", place("no-such-folder/out.txt").display()),
        "replay no-such-trace.json".to_owned(),
        "list nothing".to_owned(),
        "show no-such-scenario".to_owned(),
    ] {
        let ran = run(&arguments);
        assert_eq!(ran.status, Some(2), "{arguments}");
        assert_eq!(ran.stdout, "", "{arguments}");
        assert!(ran.stderr.starts_with("error: "), "{arguments}: {}", ran.stderr);
    }
}

#[test]
fn a_bad_scenario_is_told_by_file_line_and_what_is_allowed() {
    let bad = scenario("exit-bad", "[store]\ndesign = \"D9\"");
    let ran = run(&format!("check {bad}"));
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains(&format!("{bad}:3:")), "{}", ran.stderr);
    assert!(ran.stderr.contains("\"D0\"") && ran.stderr.contains("\"D5\""), "{}", ran.stderr);
    let worse = file(
        "exit-worse.toml",
        "name = \"x\"\n[limits]\nretries_max = 11\ntimeout_ms = 1\n[[caller]]\n[[caller.call]]\nname = \"pay\"\n",
    );
    let ran = run(&format!("check {worse} {bad} missing"));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    for wanted in [":3:", ":4:", "from 0 to 10", "from 500 to 60000", "exit-bad.toml:3:", "`missing`"] {
        assert!(ran.stderr.contains(wanted), "{wanted}: {}", ran.stderr);
    }
    assert!(ran.stderr.lines().all(|line| line.starts_with("error: ")), "{}", ran.stderr);
}

#[test]
fn nothing_holds_after_a_cut() {
    let sound = sound("exit-cut");
    for limit in ["--max-states 5", "--max-depth 3", "--memory 1", "--timeout 1ms --max-states 5"] {
        let ran = run(&format!("check {sound} {limit}"));
        assert_eq!(ran.status, Some(3), "{limit}: {}", ran.stdout);
        assert!(!ran.stdout.contains("holds"), "{limit}: {}", ran.stdout);
        assert!(ran.stdout.contains("cut"), "{limit}: {}", ran.stdout);
    }
}

#[test]
fn a_cut_that_stands_in_no_answers_way_is_none() {
    let ran = run(&format!(
        "check {} --max-depth 11 --property P1",
        scenario("exit-enough", "[store]\ndesign = \"D0\"\n[expect]\nviolated = [\"P1\", \"P2\"]")
    ));
    assert_eq!(ran.status, Some(0), "{}", ran.stdout);
}

#[test]
fn what_is_not_as_expected_outweighs_a_cut_and_what_is_unusable_both() {
    let (sound, unsound) = (sound("exit-both-sound"), unsound("exit-both-unsound"));
    let ran = run(&format!("check {sound} {unsound} --max-depth 11"));
    assert_eq!(ran.status, Some(1), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 not as expected, 1 cut"), "{}", ran.stdout);
    assert_eq!(run(&format!("check {sound} {unsound} no-such --max-depth 11")).status, Some(2));
}
