use std::fmt;
use std::io;

use thiserror::Error;

use super::fields::{CALLERS_MAX, CALLS_MAX, FieldInfo, HISTORY_CALLS_MAX, INNER_MAX, RUNS_MAX, Takes};
use super::place::Place;
use super::spans::Position;

/// Why a scenario was refused, before anything of it was run.
///
/// It is written one complaint a line, each with file, line and column, as compilers do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no reading the file.
    #[error("{file}: cannot be read: {source}")]
    File {
        /// The file, as it was given.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The text is no scenario, or one that makes no sense.
    #[error("{}", Lines { file, complaints })]
    Text {
        /// The file, as it was given.
        file: String,
        /// What is wrong with it, in the order of the text; at least one.
        complaints: Vec<Complaint>,
    },
}

/// One thing that is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Where.
    pub at: Position,
    /// What.
    pub about: Flaw,
}

/// What may be wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Flaw {
    /// It is longer than any scenario has reason to be.
    #[error("a scenario is at most {most} bytes long, and this file is longer")]
    TooLong {
        /// How long it may be.
        most: usize,
    },
    /// It is not text.
    #[error("this byte is not UTF-8, which TOML is written in")]
    NotUtf8,
    /// It is not TOML.
    #[error("not TOML: {message}")]
    NotToml {
        /// The parser's words.
        message: String,
    },
    /// It is TOML, but not of a scenario's form.
    #[error("{message}{}", Allowed(*field))]
    Form {
        /// The parser's words.
        message: String,
        /// The field whose value it is, if it is one's.
        field: Option<&'static FieldInfo>,
    },
    /// It has the form of a scenario and makes no sense.
    #[error(transparent)]
    Sense(#[from] Problem),
}

/// All that is wrong with a scenario; at least one problem.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", Joined(.0))]
pub struct ScenarioError(pub Vec<Problem>);

/// One thing that makes no sense in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place} {wrong}")]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What.
    pub wrong: Wrong,
}

/// What makes no sense. Each text goes on after the name of the place, and says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Wrong {
    /// A number out of its range.
    #[error("is {found}, but must be {takes}")]
    OutOfRange {
        /// What it is.
        found: i64,
        /// What it may be.
        takes: Takes,
    },
    /// A name of the wrong form.
    #[error("is `{found}`, but must be {takes}")]
    Name {
        /// What it is.
        found: String,
        /// What it may be.
        takes: Takes,
    },
    /// Nobody calls.
    #[error("has no [[caller]]: there must be 1 to {CALLERS_MAX}")]
    NoCaller,
    /// Too many callers.
    #[error("is one too many: a scenario has 1 to {CALLERS_MAX} callers")]
    TooManyCallers,
    /// A caller without calls.
    #[error("makes no call: it needs at least one [[caller.call]]")]
    NoCall,
    /// Too many calls.
    #[error("is one too many: a scenario has at most {CALLS_MAX} calls over all callers")]
    TooManyCalls,
    /// Too many calls inside one.
    #[error("is one too many: a method makes at most {INNER_MAX} calls")]
    TooManyInner,
    /// Too many calls, counting one for each run that may make it.
    #[error(
        "brings the scenario to {found} calls, counted once for each run that may make them, and {RUNS_MAX} is the \
        most: the method may run {runs} times, once an attempt and once a duplicate"
    )]
    TooManyRuns {
        /// How many there are.
        found: usize,
        /// How often the method may run.
        runs: usize,
    },
    /// A caller that makes more calls than it may.
    #[error("is {found}, but one caller makes {calls} calls: it must be at least as many")]
    TooFewSubrequests {
        /// How many it may make.
        found: u32,
        /// How many it makes.
        calls: usize,
    },
    /// Too many calls for a history.
    #[error(
        "is on, but the scenario makes {found} calls, inner ones counted once for each run: at most \
        {HISTORY_CALLS_MAX}"
    )]
    TooManyForHistory {
        /// How many there are.
        found: usize,
    },
    /// A name that is taken.
    #[error("is `{name}`, which caller {caller}, call {call} is already called: names are unique in a scenario")]
    NameTaken {
        /// The name.
        name: String,
        /// Whose it is, counted from one.
        caller: usize,
        /// Which of its calls it is, counted from one.
        call: usize,
    },
    /// A reference to a call that does not qualify.
    #[error("is `{name}`, but must name an earlier call of the same caller to the same object that has neither \
        `session_of` nor `pipelined_on` itself: {}", OneOf(.allowed))]
    NoSuchCall {
        /// What it says.
        name: String,
        /// What it may say.
        allowed: Vec<String>,
    },
    /// Two fields that exclude each other.
    #[error("does not go together with {other}: {why}")]
    Excludes {
        /// The other field.
        other: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A method that calls its own object.
    #[error("is {object}, the object that runs the outer method: it must be the other one")]
    InnerToItself {
        /// The object.
        object: u8,
    },
    /// A field of an object named twice.
    #[error("says `{found}` twice: once is enough")]
    Twice {
        /// What it says.
        found: String,
    },
    /// A setting that would change nothing.
    #[error("would have no effect: {because}; leave it out")]
    NoEffect {
        /// Why.
        because: &'static str,
    },
    /// A setting that cannot do without another.
    #[error("needs {other}: {why}")]
    Needs {
        /// The other, as it would be written.
        other: &'static str,
        /// Why.
        why: &'static str,
    },
    /// No property or goal has this name.
    #[error("says `{found}`, but must be {takes}")]
    NotOneOf {
        /// What it says.
        found: String,
        /// What it may say.
        takes: Takes,
    },
    /// A goal that is expected and not.
    #[error("says `{found}`, which is in `reached` as well: it can be in one of them")]
    ReachedAndUnreached {
        /// The goal.
        found: String,
    },
    /// A reason for something that is not expected.
    #[error("explains something that is not in `violated`: {}", OneOf(.allowed))]
    ReasonForNothing {
        /// What is in `violated`.
        allowed: Vec<String>,
    },
}

struct Lines<'a> {
    file: &'a str,
    complaints: &'a [Complaint],
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Complaint { at: Position { line, column }, about }) in self.complaints.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(f, "{newline}{}:{line}:{column}: {}", self.file, OneLine(about))?;
        }
        Ok(())
    }
}

struct Joined<'a>(&'a [Problem]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { "\n" }, OneLine(problem))?;
        }
        Ok(())
    }
}

/// A message on one line, whatever it quotes.
struct OneLine<T>(T);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spaced = self.0.to_string().replace(|c: char| c.is_control(), " ");
        f.write_str(&spaced)
    }
}

struct Allowed(Option<&'static FieldInfo>);

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |field| write!(f, ": `{}` must be {}", field.key, field.takes))
    }
}

struct OneOf<'a>(&'a [String]);

impl fmt::Display for OneOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("there is none");
        }
        for (index, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if index == 0 { "" } else { " or " })?;
        }
        Ok(())
    }
}
