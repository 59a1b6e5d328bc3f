//! A run for people: one event a line, with the rules that had a say.

use std::fmt::Write as _;

use anstyle::Style;
use oncemore_model::judge::{Ending, Event, Finding, Run};

use super::layout::{Layout, hang, wrap};
use crate::output::{OPEN, STRONG, WEAK, styled};

/// How far a trace is indented.
const INDENT: &str = "      ";

/// The run of a finding, headed by what it shows.
pub(crate) fn trace(finding: &Finding, run: &Run, layout: Layout) -> String {
    let steps = if run.steps.len() == 1 { "1 step" } else { &format!("{} steps", run.steps.len()) };
    let head = format!("{INDENT}{} {} in {steps}: ", finding.question.id, finding.answer.word());
    let mut text = styled(STRONG, &hang(&head, finding.question.claim, layout.width));
    let columns = Columns::of(run, layout.width);
    for (index, event) in run.events().enumerate() {
        columns.event(&mut text, index + 1, event);
    }
    if let Some(end) = end(run) {
        text.push_str(&hang(&format!("{INDENT}   …  "), &end, layout.width));
    }
    for sentence in &run.account {
        text.push_str(&hang(&format!("{INDENT}   →  "), sentence, layout.width));
    }
    text
}

/// What a reader of the events alone would not see.
fn end(run: &Run) -> Option<String> {
    let missed = run.missed.as_deref().unwrap_or("a call");
    match run.ending {
        Ending::Here | Ending::Violated | Ending::Reached => None,
        Ending::Stuck { .. } => Some(format!("nothing more must happen, and {missed} has not settled")),
        Ending::Cycle { from, .. } if from + 1 == run.steps.len() => {
            Some(format!("and step {} again, for ever: {missed} never settles", from + 1))
        }
        Ending::Cycle { from, .. } => {
            Some(format!("and steps {} to {} again, for ever: {missed} never settles", from + 1, run.steps.len()))
        }
    }
}

/// How wide each part of an event is.
struct Columns {
    actor: usize,
    text: usize,
}

impl Columns {
    /// The rules stand in a column at the right, if the texts leave enough room for them.
    fn of(run: &Run, width: usize) -> Self {
        let longest = |part: fn(&Event) -> usize| run.events().map(part).max().unwrap_or_default();
        let actor = longest(|event| event.who.chars().count());
        let rules = longest(|event| rules(event).chars().count()).min(24);
        let taken = INDENT.len() + 4 + 2 + actor + 2 + 2 + rules;
        let text = longest(|event| event.text.chars().count()).min(width.saturating_sub(taken).max(30));
        Self { actor, text }
    }

    fn event(&self, text: &mut String, step: usize, event: &Event) {
        let rules = rules(event);
        let style = if event.fault { OPEN } else { Style::new() };
        let lines = wrap(&event.text, self.text);
        for (index, line) in lines.iter().enumerate() {
            let (number, actor) = if index == 0 { (step.to_string(), event.who.as_str()) } else { Default::default() };
            let rules = if index == 0 { styled(WEAK, &rules) } else { String::new() };
            let Self { actor: actor_width, text: text_width } = *self;
            let padding = " ".repeat(text_width.saturating_sub(line.chars().count()));
            let fault = if event.fault && index == 0 { "!" } else { " " };
            let line = styled(style, line);
            let row = format!("{INDENT}{number:>4} {fault}{actor:actor_width$}  {line}{padding}  {rules}");
            let _ = writeln!(text, "{}", row.trim_end());
        }
    }
}

/// The numbers of the rules, each once.
fn rules(event: &Event) -> String {
    let mut numbers: Vec<&str> = Vec::new();
    for rule in &event.rules {
        if !numbers.contains(&rule.rule.as_str()) {
            numbers.push(&rule.rule);
        }
    }
    numbers.join(" ")
}
