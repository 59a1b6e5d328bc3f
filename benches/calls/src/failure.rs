//! What retries do when a host fails: for one call, for a thousand, and around each other.

mod call;
mod herd;
pub(crate) mod host;
mod nested;
mod note;
mod outage;
mod restart;

use std::error::Error;
use std::time::Duration;

use host::How;
pub(crate) use note::NOTE;
use restart::{Case, Outcome, Size};

use crate::report::{Plot, Report, Series, Table, figure};

pub(crate) type Failure = Box<dyn Error>;

/// Everything on virtual time. Starts runtimes of its own.
pub(crate) fn on_virtual_time(quick: bool, report: &mut Report) -> Result<(), Failure> {
    let (outages, plots) = outage::measure(quick);
    report.tables.push(outages);
    report.plots.extend(plots);
    let (load, plot) = herd::measure();
    report.tables.push(load);
    report.plots.push(plot);
    report.tables.push(nested::measure(quick)?);
    Ok(())
}

const fn case(objects: usize, marked: bool, how: How, retries: bool) -> Case {
    Case { objects, marked, how, retries }
}

fn cases(quick: bool) -> Vec<Case> {
    use How::{ByIncarnation, Durably, WithResults};
    let objects: &[usize] = if quick { &[10] } else { &[100, 1] };
    let of = |objects: &usize| {
        [
            case(*objects, true, ByIncarnation, true),
            case(*objects, true, ByIncarnation, false),
            case(*objects, false, ByIncarnation, true),
            case(*objects, false, Durably, true),
            case(*objects, false, WithResults, true),
            case(*objects, false, WithResults, false),
        ]
    };
    objects.iter().flat_map(of).collect()
}

/// Hosts as processes, killed and started again. Runs in a `LocalSet`.
pub(crate) async fn of_processes(quick: bool, report: &mut Report) -> Result<(), Failure> {
    let size = if quick { Size { in_flight: 100, before: 10 } } else { Size { in_flight: 1_000, before: 100 } };
    let columns = [
        "calls to",
        "retries",
        "host back",
        "answered",
        "first",
        "median",
        "last",
        "undisturbed",
        "times as long",
        "lost",
        "effects of lost calls",
        "effects twice",
    ];
    let caption = format!("A host is killed with {} calls in flight, and started again at once", size.in_flight);
    let mut table = Table::new(caption, &columns);
    let mut series = Vec::new();
    for case in cases(quick) {
        let undisturbed = restart::undisturbed(case, size).await?;
        let outcome = restart::run(case, size).await?;
        eprintln!("{}: {} answered after the kill", name(case), outcome.answers.len());
        table.row(row(case, &outcome, undisturbed));
        if !outcome.answers.is_empty() {
            series.push(Series { name: name(case), points: answered_over_time(&outcome) });
        }
    }
    report.tables.push(table);
    report.plots.push(plot(series));
    Ok(())
}

fn name(case: Case) -> String {
    let objects = if case.objects == 1 { "one object".into() } else { format!("{} objects", case.objects) };
    let marked = if case.marked { "marked" } else { "unmarked" };
    format!("{objects}, {marked}, {}", case.how.name())
}

fn row(case: Case, outcome: &Outcome, undisturbed: Duration) -> [String; 12] {
    let answers = &outcome.answers;
    let at = |answer: Option<&Duration>| answer.map_or_else(|| "-".into(), |at| milliseconds(*at));
    [
        name(case),
        if case.retries { "4" } else { "none" }.into(),
        milliseconds(outcome.back),
        answers.len().to_string(),
        at(answers.first()),
        at(answers.get(answers.len() / 2)),
        at(answers.last()),
        milliseconds(undisturbed),
        answers.last().map_or_else(|| "-".into(), |last| figure(last.as_secs_f64() / undisturbed.as_secs_f64())),
        outcome.lost.to_string(),
        outcome.effects_of_lost.to_string(),
        outcome.twice.to_string(),
    ]
}

fn milliseconds(span: Duration) -> String {
    format!("{} ms", figure(span.as_secs_f64() * 1e3))
}

/// How many calls had been answered by when: at most a hundred points.
fn answered_over_time(outcome: &Outcome) -> Vec<(f64, f64)> {
    let answers = &outcome.answers;
    let every = answers.len().div_ceil(100).max(1);
    let points = answers.iter().enumerate().filter(|(index, _)| index % every == 0 || index + 1 == answers.len());
    points.map(|(index, at)| (at.as_secs_f64(), (index + 1) as f64)).collect()
}

fn plot(series: Vec<Series>) -> Plot {
    Plot {
        file: "restart-answered".into(),
        title: "Calls answered after their host was killed".into(),
        x: "seconds since the kill".into(),
        y: "calls answered".into(),
        log_x: false,
        log_y: false,
        series,
    }
}
