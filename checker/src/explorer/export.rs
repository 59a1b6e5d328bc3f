//! A run in other forms.

use std::fmt::Write as _;

use oncemore_model::judge::{Answer, Ending, Run, TraceFile};
use oncemore_model::property::Property;
use oncemore_model::story::{Story, walk};
use serde::Deserialize;

use super::error::ApiError;
use super::subject::Subject;
use crate::export::{itf::itf, mermaid::mermaid};
use crate::sink::json_text;

/// A form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// For `oncemore replay`, and to be dropped on the page.
    Json,
    /// The Informal Trace Format.
    Itf,
    /// A sequence diagram.
    Mermaid,
    /// A graph of states, for Graphviz.
    Dot,
    /// One event a line.
    Text,
}

/// The run in this form.
pub(crate) fn export(subject: &Subject, story: &Story, path: &[usize], format: Format) -> Result<String, ApiError> {
    Ok(match format {
        Format::Json => json_text(&trace(subject, story, path)?),
        Format::Itf => json_text(&itf(&trace(subject, story, path)?)),
        Format::Mermaid => mermaid(&trace(subject, story, path)?),
        Format::Dot => dot(subject, story),
        Format::Text => text(story),
    })
}

/// The run as a file for `oncemore replay`, and what it shows: what its last state violates, or its last step reaches.
fn trace(subject: &Subject, story: &Story, path: &[usize]) -> Result<TraceFile, ApiError> {
    let raised = |property: &Property| {
        let questions = oncemore_model::judge::Question::all_of(subject.scenario(), 0);
        questions.iter().any(|question| question.id == property.name())
    };
    let violated = subject.model.violated_here(&story.last().world).into_iter().find(raised);
    let reached = story.scenes().last().and_then(|scene| scene.reaches.first().copied());
    let reached = reached.and_then(|id| Property::ALL.iter().copied().find(|property| property.name() == id));
    let (shown, ending) = match (violated, reached) {
        (Some(property), _) => (Some((property, Answer::Violated)), Ending::Violated),
        (None, Some(property)) => (Some((property, Answer::Reached)), Ending::Reached),
        (None, None) => (None, Ending::Here),
    };
    let (_, actions) = walk(&subject.model, path)?;
    let run = Run::of_actions(&subject.model, &actions, ending);
    let run = run.ok_or_else(|| ApiError::Internal("the run cannot be taken twice".to_owned()))?;
    Ok(TraceFile::of_run(subject.scenario(), subject.broken, run, shown))
}

/// A chain of states; a state that comes twice is drawn once.
fn dot(subject: &Subject, story: &Story) -> String {
    let mut text = String::from("digraph run {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    let name = |place: usize| subject.model.fingerprint(&story.moments()[place].world);
    for (place, moment) in story.moments().iter().enumerate() {
        let violated: Vec<_> = subject.model.violated_here(&moment.world).into_iter().map(Property::name).collect();
        let marked = if violated.is_empty() { String::new() } else { format!("\\nviolates {}", violated.join(" ")) };
        let colour = if violated.is_empty() { "" } else { ", color=red" };
        let _ = writeln!(text, "  \"{}\" [label=\"{place}{marked}\"{colour}];", name(place));
    }
    for (place, scene) in story.scenes().iter().enumerate() {
        let label = format!("{}. {}: {}", place + 1, scene.event.who, scene.event.text).replace('"', "'");
        let style = if scene.event.fault { ", style=dashed" } else { "" };
        let _ = writeln!(text, "  \"{}\" -> \"{}\" [label=\"{label}\"{style}];", name(place), name(place + 1));
    }
    text.push_str("}\n");
    text
}

fn text(story: &Story) -> String {
    let mut text = String::new();
    for (place, scene) in story.scenes().iter().enumerate() {
        let fault = if scene.event.fault { "!" } else { " " };
        let mut rules: Vec<_> = scene.event.rules.iter().map(|rule| rule.rule.as_str()).collect();
        rules.dedup();
        let _ =
            writeln!(text, "{:>4} {fault}{}: {}  [{}]", place + 1, scene.event.who, scene.event.text, rules.join(" "));
    }
    text
}
