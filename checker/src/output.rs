//! The one way in which the command says something.
//!
//! Reports go to standard output; what went wrong, and how things go meanwhile, to standard error. Where a trace or JSON was
//! asked for on standard output, the report gives way and goes to standard error too, so that what is piped on is only what
//! was asked for.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};

use crate::interrupt;

/// Bold, for what a reader looks for first.
pub(crate) const STRONG: Style = Style::new().bold();
/// Dim, for what may be skipped.
pub(crate) const WEAK: Style = Style::new().dimmed();
/// As it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Not as it should be.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Not known.
pub(crate) const OPEN: Style = AnsiColor::Yellow.on_default();

/// A text in a style, line by line. Where styles are not wanted, they are left out on the way.
pub(crate) fn styled(style: Style, text: &str) -> String {
    let mut all = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let _ = if line.is_empty() { write!(all, "{end}") } else { write!(all, "{style}{line}{style:#}{end}") };
    }
    all
}

/// Where the report goes.
#[derive(Debug)]
pub(crate) struct Output {
    report: Report,
    /// Whether what was printed last ends with an empty line; one is enough.
    is_spaced: bool,
    trouble: Option<io::Error>,
}

#[derive(Debug)]
enum Report {
    Stdout(AutoStream<io::Stdout>),
    Stderr(AutoStream<io::Stderr>),
}

impl Output {
    /// The report goes to standard output, unless something else was asked for there.
    pub(crate) fn new(is_stdout_taken: bool) -> Self {
        let report =
            if is_stdout_taken { Report::Stderr(anstream::stderr()) } else { Report::Stdout(anstream::stdout()) };
        Self { report, is_spaced: true, trouble: None }
    }

    /// Adds to the report. If nobody reads it any more, the search ends.
    pub(crate) fn print(&mut self, text: &str) {
        let text = if self.is_spaced { text.trim_start_matches('\n') } else { text };
        if text.is_empty() {
            return;
        }
        self.is_spaced = text.ends_with("\n\n");
        let written = match &mut self.report {
            Report::Stdout(stream) => write_all(stream, text),
            Report::Stderr(stream) => write_all(stream, text),
        };
        self.note(written);
    }

    /// Writes data, not a report, to standard output.
    pub(crate) fn data(&mut self, bytes: &[u8]) {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        self.note(written);
    }

    /// What kept the report from being written, if it was not just that its reader went away.
    pub(crate) fn trouble(&self) -> Option<&io::Error> {
        self.trouble.as_ref()
    }

    fn note(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        interrupt::stop();
        if error.kind() != ErrorKind::BrokenPipe {
            self.trouble.get_or_insert(error);
        }
    }
}

/// Says on standard error what is wrong; each line of each of `problems` is a complaint of its own.
pub(crate) fn complain<T: std::fmt::Display>(problems: impl IntoIterator<Item = T>) {
    let mut text = String::new();
    for problem in problems {
        for line in problem.to_string().lines() {
            let _ = writeln!(text, "{BAD}error{BAD:#}: {line}");
        }
    }
    say(&text);
}

/// Says something on standard error that is no error.
pub(crate) fn say(text: &str) {
    // Nothing is left to which one could say that this did not work.
    let _ = write_all(&mut anstream::stderr(), text);
}

fn write_all(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
