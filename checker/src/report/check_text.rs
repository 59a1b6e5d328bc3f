//! One scenario for people: a row of numbers, and what holds and what does not.

use std::fmt::Write as _;

use oncemore_model::explore::Coverage;
use oncemore_model::judge::{Answer, Finding, Pinned};

use super::layout::{Layout, hang};
use super::names::spans;
use super::trace_text::trace;
use crate::commands::check::{Checked, PinCheck};
use crate::exit::Exit;
use crate::output::{BAD, GOOD, OPEN, STRONG, WEAK, styled};
use crate::units::{bytes, count, seconds};

/// What stands before the lines below a row.
const INDENT: &str = "      ";

/// The names of the columns.
pub(crate) fn head(layout: Layout) -> String {
    let name = layout.name;
    let head = format!(
        "{INDENT}{:name$}  {:>11}  {:>12}  {:>5}  {:>10}  {:>8}",
        "scenario", "states", "generated", "depth", "time", "memory"
    );
    format!("{}\n", styled(WEAK, &head))
}

/// A scenario that was run.
pub(crate) fn block(checked: &Checked, layout: Layout, with_traces: bool) -> String {
    let mut text = row(checked, layout);
    let Checked { judgement, .. } = checked;
    let (plain, loud): (Vec<_>, Vec<_>) = judgement.findings.iter().partition(|finding| is_plain(finding));
    text.push_str(&summary(&plain, layout));
    for finding in &loud {
        text.push_str(&line(finding, layout));
    }
    if let PinCheck::Differs { pinned, found } = &checked.pin {
        let line = format!("counts differ: pinned {}; found {}", pin(*pinned), pin(*found));
        text.push_str(&styled(BAD, &hang(INDENT, &line, layout.width)));
    } else if checked.pin == PinCheck::Missing {
        let line = "no counts are pinned for it in model/expected/counts.json: see --bless";
        text.push_str(&styled(BAD, &hang(INDENT, line, layout.width)));
    }
    for finding in &loud {
        match &finding.run {
            Some(run) if with_traces || finding.is_surprise() => {
                text.push_str(if text.ends_with("\n\n") { "" } else { "\n" });
                text.push_str(&trace(finding, run, layout));
                text.push('\n');
            }
            Some(_) | None => {}
        }
    }
    text
}

/// What is not as expected of a scenario, in one line.
pub(crate) fn in_short(checked: &Checked, layout: Layout) -> String {
    let surprises = checked.judgement.findings.iter().filter(|finding| finding.is_surprise());
    let mut parts: Vec<_> =
        surprises.map(|finding| format!("{} {}", finding.answer.word(), finding.question.id)).collect();
    match checked.pin {
        PinCheck::Differs { .. } => parts.push("counts differ".to_owned()),
        PinCheck::Missing => parts.push("no counts are pinned".to_owned()),
        PinCheck::NotAsked | PinCheck::Same(_) => {}
    }
    let width = layout.name;
    let first = format!("FAIL  {:width$}  ", checked.selected.scenario.name);
    styled(BAD, &hang(&first, &parts.join(", "), layout.width))
}

/// A scenario that was not run, since the command was to end.
pub(crate) fn not_run(name: &str, layout: Layout) -> String {
    let width = layout.name;
    format!("{}  {name:width$}  {}\n", styled(OPEN, "cut "), styled(OPEN, "not run"))
}

fn row(checked: &Checked, layout: Layout) -> String {
    let Checked { selected, judgement, .. } = checked;
    let mark = match checked.exit() {
        Exit::AsExpected => styled(GOOD, "ok  "),
        Exit::Cut => styled(OPEN, "cut "),
        Exit::NotAsExpected | Exit::Unusable => styled(BAD, "FAIL"),
    };
    let name = &selected.scenario.name;
    let padding = " ".repeat(layout.name.saturating_sub(name.chars().count()));
    let counts = judgement.counts;
    let coverage = match judgement.coverage {
        Coverage::Exhausted => styled(WEAK, "exhausted"),
        Coverage::Cut(reason) => styled(OPEN, &format!("cut: {reason}")),
    };
    format!(
        "{mark}  {}{padding}  {:>11}  {:>12}  {:>5}  {:>10}  {:>8}  {coverage}\n",
        styled(STRONG, name),
        count(counts.states),
        count(counts.generated),
        counts.depth,
        seconds(counts.elapsed),
        judgement.peak_bytes.map(bytes).unwrap_or_default(),
    )
}

/// Whether a word is enough to say it.
fn is_plain(finding: &Finding) -> bool {
    let is_violation = finding.answer == Answer::Violated;
    !finding.is_surprise() && !is_violation && finding.reservation.is_none()
}

/// What needs no line of its own: `holds P1–P12 · reached R1 · unreached R2 R3`.
fn summary(findings: &[&Finding], layout: Layout) -> String {
    let groups = [Answer::Holds, Answer::Reached, Answer::Unreached, Answer::Inconclusive].map(|answer| {
        let names: Vec<_> = findings.iter().filter(|f| f.answer == answer).map(|f| f.question.id).collect();
        (!names.is_empty()).then(|| format!("{} {}", answer.word(), spans(&names)))
    });
    let text = groups.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    if text.is_empty() { text } else { hang(INDENT, &text, layout.width) }
}

/// What needs a line of its own.
fn line(finding: &Finding, layout: Layout) -> String {
    let Finding { question, answer, reservation, .. } = finding;
    let steps = match finding.trace_length() {
        Some(1) => " in 1 step".to_owned(),
        Some(steps) => format!(" in {steps} steps"),
        None => String::new(),
    };
    let said = format!("{} {}{steps}", answer.word(), question.id);
    let expected = question.expected.map_or("", Answer::word);
    let (style, text) = if finding.is_surprise() {
        // A run that follows says what is claimed.
        let claim =
            if finding.run.is_some() { String::new() } else { format!(". {}: {}", question.id, question.claim) };
        (BAD, format!("{said}, but expected: {expected}{claim}"))
    } else if let Some(reservation) = reservation {
        (OPEN, format!("{said}: {reservation}"))
    } else {
        let because = question.because.as_deref().unwrap_or(question.claim);
        (OPEN, format!("{said}, as expected: {because}"))
    };
    styled(style, &hang(INDENT, &text, layout.width))
}

fn pin(pinned: Pinned) -> String {
    let Pinned { unique, generated, depth } = pinned;
    let mut text = String::new();
    let _ = write!(text, "{} unique, {} generated, depth {depth}", count(unique), count(generated));
    text
}
