use std::process::Stdio;

use super::support::{oncemore, ran, run, sound, unsound};

const ESCAPE: char = '\u{1b}';

#[test]
fn what_is_no_terminal_gets_plain_text() {
    let ran = run(&format!("check {}", unsound("manners-plain")));
    assert!(!ran.stdout.contains(ESCAPE) && !ran.stderr.contains(ESCAPE), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\r') && !ran.stderr.contains('\r'));
}

#[test]
fn colours_are_there_for_those_who_insist() {
    let unsound = unsound("manners-colour");
    assert!(run(&format!("check {unsound} --color always")).stdout.contains(ESCAPE));
    let forced = |no_color: bool| {
        let mut command = oncemore();
        command.args(["check", &unsound]).env("CLICOLOR_FORCE", "1");
        if no_color {
            command.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
        }
        ran(command.output().expect("the command starts")).stdout.contains(ESCAPE)
    };
    assert!(forced(false) && !forced(true));
}

#[test]
fn no_line_is_wider_than_it_may_be() {
    let ran = run(&format!("check {}", unsound("manners-width")));
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 120, "{line}");
        assert_eq!(line.trim_end(), line);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let sound = sound("manners-pipe");
    for arguments in [vec!["check", &sound], vec!["list"], vec!["check", &sound, "--json", "-"]] {
        let mut command = oncemore();
        let mut child =
            command.args(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the command ends");
        let ran = ran(output);
        assert!(matches!(ran.status, Some(0 | 3)), "{arguments:?}: {:?} {}", ran.status, ran.stderr);
    }
}

#[test]
fn help_tells_of_the_exit_status() {
    let ran = run("--help");
    assert_eq!(ran.status, Some(0));
    assert!(ran.stdout.contains("Exit status:") && ran.stdout.contains("check"), "{}", ran.stdout);
}
