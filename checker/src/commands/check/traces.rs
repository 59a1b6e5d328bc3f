//! `--trace` and `--trace-out`: which trace is written, in which form, and where.

use std::path::Path;

use oncemore_model::judge::{Answer, Finding, TraceFile};
use oncemore_model::mutant::Broken;
use oncemore_model::property::Property;

use super::Checked;
use crate::cli::TraceFormat;
use crate::export::export;
use crate::output::Output;
use crate::report::Layout;
use crate::sink::{Sink, SinkError};

/// What is to become of traces.
#[derive(Debug)]
pub(super) struct TraceWish {
    format: TraceFormat,
    /// None: as text they are part of the report.
    sink: Option<Sink>,
}

impl TraceWish {
    pub(super) fn new(format: TraceFormat, file: Option<&Path>) -> Result<Self, SinkError> {
        let sink = match (format, file) {
            (_, Some(file)) => Some(Sink::open(file)?),
            (TraceFormat::Text, None) => None,
            (TraceFormat::Json | TraceFormat::Itf | TraceFormat::Mermaid, None) => Some(Sink::Stdout),
        };
        Ok(Self { format, sink })
    }

    pub(super) fn is_on_stdout(&self) -> bool {
        self.sink.as_ref().is_some_and(Sink::is_stdout)
    }

    /// Whether they are told in the report, and nowhere else.
    pub(super) const fn is_in_report(&self) -> bool {
        self.sink.is_none()
    }

    /// Writes the first trace that there is: of a violated property, or of one that was asked for by name. Says what was
    /// written and what was not.
    pub(super) fn write(
        self,
        output: &mut Output,
        checked: &[Checked],
        asked: &[Property],
        layout: Layout,
    ) -> Result<String, SinkError> {
        let Some(sink) = self.sink else { return Ok(String::new()) };
        let mut traces = checked.iter().flat_map(|checked| wanted(checked, asked));
        let Some((file, finding)) = traces.next() else {
            return Ok("no trace to write: nothing is violated\n".to_owned());
        };
        let rest: Vec<_> = traces.map(|(file, _)| format!("{} in {}", file.property, file.scenario.name)).collect();
        let written = format!("trace written: {} in {}\n", file.property, file.scenario.name);
        sink.write(output, &export(self.format, &file, finding, layout))?;
        if rest.is_empty() {
            return Ok(written);
        }
        let more = match rest.split_at_checked(LISTED) {
            Some((first, others)) if !others.is_empty() => format!("{} and {} more", first.join(", "), others.len()),
            Some(_) | None => rest.join(", "),
        };
        Ok(format!("{written}not written, name one scenario and --property to choose: {more}\n"))
    }
}

/// How many of the traces that were not written are named.
const LISTED: usize = 8;

fn wanted<'a>(checked: &'a Checked, asked: &[Property]) -> impl Iterator<Item = (TraceFile, &'a Finding)> {
    let is_named = |finding: &Finding| asked.iter().any(|property| property.name() == finding.question.id);
    let Checked { selected, judgement, .. } = checked;
    let wanted: Vec<_> = judgement
        .findings
        .iter()
        .filter(|finding| finding.answer == Answer::Violated || is_named(finding))
        .filter_map(|finding| Some((TraceFile::new(&selected.scenario, Broken(None), finding)?, finding)))
        .collect();
    wanted.into_iter()
}
