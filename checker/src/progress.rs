//! How far a search has come: one line that changes on a terminal, a plain line now and then elsewhere.
//!
//! There is no percentage, since nobody knows how many states there will be.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use oncemore_model::explore::Status;
use oncemore_model::judge::Phase;

use crate::output::say;
use crate::units::{metric, seconds};

/// How often the line on a terminal changes.
const REDRAW: Duration = Duration::from_millis(100);

/// When the first plain line comes, and then how long until the next.
const FIRST_LINE: Duration = Duration::from_secs(2);
const NEXT_LINE: Duration = Duration::from_secs(10);

/// Shows how far the searches have come, on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    line: Line,
    /// Which of how many scenarios this is.
    place: String,
    name: String,
    next: Instant,
}

#[derive(Debug)]
enum Line {
    /// On a terminal; none while no search is under way.
    Changing(Option<ProgressBar>),
    Plain,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let line = if std::io::stderr().is_terminal() { Line::Changing(None) } else { Line::Plain };
        Self { line, place: String::new(), name: String::new(), next: Instant::now() }
    }

    /// A search begins.
    pub(crate) fn begin(&mut self, index: usize, all: usize, name: &str) {
        self.place = if all > 1 { format!("[{}/{all}] ", index + 1) } else { String::new() };
        name.clone_into(&mut self.name);
        self.next = Instant::now();
        match &mut self.line {
            // The line of a search that takes no time would only flicker.
            Line::Changing(bar) => {
                *bar = None;
                self.next += REDRAW;
            }
            Line::Plain => self.next += FIRST_LINE,
        }
    }

    /// A search is so far.
    pub(crate) fn observe(&mut self, phase: Phase, status: &Status) {
        self.tell(|| so_far(phase, status));
    }

    /// Many searches together are so far.
    pub(crate) fn tell(&mut self, so_far: impl FnOnce() -> String) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let text = format!("{}{}  {}", self.place, self.name, so_far());
        match &mut self.line {
            Line::Changing(bar) => {
                self.next = now + REDRAW;
                bar.get_or_insert_with(changing_line).set_message(text);
            }
            Line::Plain => {
                self.next = now + NEXT_LINE;
                say(&format!("{text}\n"));
            }
        }
    }

    /// The line goes away, so that the report can be written.
    pub(crate) fn end(&mut self) {
        match &mut self.line {
            Line::Changing(bar) => {
                if let Some(bar) = bar.take() {
                    bar.finish_and_clear();
                }
            }
            Line::Plain => {}
        }
    }
}

fn changing_line() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}

fn so_far(phase: Phase, status: &Status) -> String {
    let Status { states, depth, frontier, elapsed, .. } = *status;
    let what = match phase {
        Phase::Exploring => "",
        Phase::LookingForCycles => "looking for cycles: ",
    };
    let rate = states as f64 / elapsed.as_secs_f64().max(1e-3);
    let (states, frontier, rate) = (metric(states as f64), metric(frontier as f64), metric(rate));
    format!("{what}{states} states, {rate}/s, depth {depth}, frontier {frontier}, {}", seconds(elapsed))
}
