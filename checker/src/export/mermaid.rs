//! A sequence diagram in the language of Mermaid, which GitHub and others draw.

use std::fmt::Write as _;

use oncemore_model::judge::{Ending, Event, TraceFile};

/// The trace as a sequence diagram: a participant for each actor, a note for each event.
pub(crate) fn mermaid(trace: &TraceFile) -> String {
    let mut actors: Vec<&str> = Vec::new();
    for event in trace.run.events() {
        if !actors.contains(&event.who.as_str()) {
            actors.push(&event.who);
        }
    }
    let mut text = String::from("sequenceDiagram\n");
    let _ = writeln!(text, "    %% {}: {} {}", trace.scenario.name, trace.property, trace.verdict.word());
    for (index, actor) in actors.iter().enumerate() {
        let _ = writeln!(text, "    participant A{index} as {}", plain(actor));
    }
    let cycle = match trace.run.ending {
        Ending::Cycle { from, .. } => Some(from),
        Ending::Here | Ending::Violated | Ending::Reached | Ending::Stuck { .. } => None,
    };
    for (index, event) in trace.run.events().enumerate() {
        if cycle == Some(index) {
            text.push_str("    loop for ever\n");
        }
        let actor = actors.iter().position(|actor| *actor == event.who).unwrap_or_default();
        let _ = writeln!(text, "    Note over A{actor}: {}. {}", index + 1, note(event));
    }
    if cycle.is_some() {
        text.push_str("    end\n");
    }
    text
}

fn note(event: &Event) -> String {
    let mut rules: Vec<&str> = event.rules.iter().map(|rule| rule.rule.as_str()).collect();
    rules.dedup();
    let rules = if rules.is_empty() { String::new() } else { format!("<br/>({})", plain(&rules.join(" "))) };
    format!("{}{rules}", plain(&event.text))
}

/// Text without what means something to Mermaid.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '#' | ';' | '<' | '>' | '&' => {
                let _ = write!(plain, "#{};", u32::from(c));
            }
            '\n' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn nothing_in_a_text_is_taken_for_a_command() {
        assert_eq!(plain("a; b <c> #d & e\nf"), "a#59; b #60;c#62; #35;d #38; e f");
    }
}
