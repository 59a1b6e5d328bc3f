//! Runs the binary, and writes the files that it is given.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// What a run of the command came to.
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The command, as it is where nothing says anything about colours.
pub(crate) fn oncemore() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oncemore"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(name);
    }
    command
}

/// Runs the command with these arguments, separated by spaces.
pub(crate) fn run(arguments: &str) -> Ran {
    ran(oncemore().args(arguments.split_whitespace()).output().expect("the command starts"))
}

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let ran = Ran { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}

/// The JSON that the command writes with these arguments.
pub(crate) fn json(arguments: &str) -> Value {
    let ran = run(&format!("{arguments} --json -"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
}

/// A file of this name and content, for one test alone: each test uses names of its own.
pub(crate) fn file(name: &str, content: &str) -> String {
    let path = place(name);
    fs::write(&path, content).expect("the folder for tests can be written");
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// The path of a file that need not be there.
pub(crate) fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A scenario of a user's own: one call whose answer may be lost, and these lines.
pub(crate) fn scenario(name: &str, lines: &str) -> String {
    let text = format!(
        "name = \"{name}\"\n{lines}\n[limits]\nretries_max = 1\n[faults]\nlose_reply = 1\n\
         [[caller]]\n[[caller.call]]\nname = \"pay\"\nwrites = [\"x\"]\n"
    );
    file(&format!("{name}.toml"), &text)
}

/// One in which every promise is kept.
pub(crate) fn sound(name: &str) -> String {
    scenario(name, "")
}

/// One in which a call runs twice: nothing remembers it.
pub(crate) fn unsound(name: &str) -> String {
    scenario(name, "[store]\ndesign = \"D0\"")
}
