#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use super::support::{oncemore, place, run};

#[test]
fn what_cannot_be_explored_is_told_before_anything_is_served() {
    for (what, wanted) in [
        ("no-such-scenario", "there is no scenario `no-such-scenario`"),
        ("no-such-file.toml", "cannot be read"),
        ("no-such-trace.json", "cannot be read"),
        ("late-write --port 99999", "99999"),
    ] {
        let ran = run(&format!("explore {what}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{what}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(wanted), "{what}: {}", ran.stderr);
    }
}

#[test]
fn a_trace_is_opened_at_its_end() {
    let trace = place("explore-trace.json");
    let ran = run(&format!("check d0 --property P1 --trace json --trace-out {}", trace.display()));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let trace = trace.to_str().expect("a path in UTF-8");
    let said = start_of(trace);
    assert!(said.contains(r#"{"name":"d0"}"#) && said.contains(r#""path":["#), "{said}");
}

#[test]
fn it_says_where_it_is_serves_there_and_ends_when_it_is_interrupted() {
    let said = start_of("d0");
    assert!(said.starts_with("HTTP/1.1 200") && said.contains(r#"{"name":"d0"}"#), "{said}");
}

/// What the command says of where the page begins, if it is given this. It must end well.
fn start_of(what: &str) -> String {
    let command = oncemore().args(["explore", what]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = command.expect("the command starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("standard output")).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).expect("an address");
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET /api/start HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").expect("a request");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("an answer");
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(interrupt.success());
    assert_eq!(child.wait().expect("the command ends").code(), Some(0));
    said
}
