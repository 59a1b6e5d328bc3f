//! Traces for other readers than people.

pub(crate) mod itf;
pub(crate) mod mermaid;

use oncemore_model::judge::{Finding, TraceFile};

use crate::cli::TraceFormat;
use crate::report::{Layout, trace_text};
use crate::sink::json_text;

/// The trace in this form.
pub(crate) fn export(format: TraceFormat, trace: &TraceFile, finding: &Finding, layout: Layout) -> String {
    match format {
        TraceFormat::Text => anstream::adapter::strip_str(&trace_text::trace(finding, &trace.run, layout)).to_string(),
        TraceFormat::Json => json_text(trace),
        TraceFormat::Itf => json_text(&itf::itf(trace)),
        TraceFormat::Mermaid => mermaid::mermaid(trace),
    }
}
