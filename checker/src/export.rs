//! Traces for other readers than people.

mod itf;
mod mermaid;

use oncemore_model::judge::{Finding, TraceFile};

use crate::cli::TraceFormat;
use crate::report::{Layout, trace_text};

/// The trace in this form.
pub(crate) fn export(format: TraceFormat, trace: &TraceFile, finding: &Finding, layout: Layout) -> String {
    match format {
        TraceFormat::Text => anstream::adapter::strip_str(&trace_text::trace(finding, &trace.run, layout)).to_string(),
        TraceFormat::Json => json(trace),
        TraceFormat::Itf => json(&itf::itf(trace)),
        TraceFormat::Mermaid => mermaid::mermaid(trace),
    }
}

fn json(value: &impl serde::Serialize) -> String {
    // Plain data with names for keys always has a form as JSON.
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}
