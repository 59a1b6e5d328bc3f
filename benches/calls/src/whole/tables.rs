//! What was measured, as tables and in words.

use hdrhistogram::Histogram;

use super::IN_FLIGHT;
use super::load::{Round, histogram};
use super::paired::{self, Cost};
use super::rival::{Failure, Kind};
use super::wire::Wire;
use crate::report::{Table, figure};
use crate::statistics::median;

/// Somebody, with so many calls in flight, over all rounds.
pub(crate) struct Cell {
    pub(crate) kind: Kind,
    pub(crate) in_flight: usize,
    rates: Vec<f64>,
    processor: Vec<f64>,
    latencies: Histogram<u64>,
}

impl Cell {
    pub(crate) fn new(kind: Kind, in_flight: usize) -> Result<Self, Failure> {
        Ok(Self { kind, in_flight, rates: Vec::new(), processor: Vec::new(), latencies: histogram()? })
    }

    pub(crate) fn add(&mut self, round: &Round) -> Result<(), Failure> {
        self.rates.push(round.per_second());
        self.processor.push(round.processor_each());
        Ok(self.latencies.add(&round.latencies)?)
    }

    fn microseconds(&self, quantile: f64) -> String {
        figure(self.latencies.value_at_quantile(quantile) as f64 / 1e3)
    }

    /// How many times as long a call takes as another's, round by round.
    fn times_as_long(&self, other: &Self) -> f64 {
        let ratios: Vec<_> = other.rates.iter().zip(&self.rates).map(|(theirs, ours)| theirs / ours).collect();
        median(&ratios)
    }
}

pub(crate) fn of_wire(wire: Wire, cells: &[Cell]) -> Table {
    let columns = [
        "",
        "in flight",
        "calls a second",
        "p50 µs",
        "p99 µs",
        "p99.9 µs",
        "processor µs a call",
        "times the bare call",
    ];
    let mut table = Table::new(format!("Over {}", wire.name()), &columns);
    for in_flight in IN_FLIGHT {
        let bare = cells.iter().find(|cell| cell.kind == Kind::Bare && cell.in_flight == in_flight);
        for cell in cells.iter().filter(|cell| cell.in_flight == in_flight) {
            table.row([
                cell.kind.name().into(),
                in_flight.to_string(),
                figure(median(&cell.rates)),
                cell.microseconds(0.5),
                cell.microseconds(0.99),
                cell.microseconds(0.999),
                figure(median(&cell.processor)),
                bare.map_or_else(String::new, |bare| format!("{:.2}", cell.times_as_long(bare))),
            ]);
        }
    }
    table
}

/// The section's text.
pub(crate) fn note(costs: &[Cost]) -> String {
    let how = "One object's method that returns its argument of 32 bytes and writes nothing, called with so many calls in \
        flight; the caller's connection on one thread, the server on another, the same for all. All are measured in turn, in \
        rounds. Rates and the processor's time, which is that of both sides, are medians over the rounds; percentiles are over \
        all calls; the last column says how many times as long a call takes as the very same Cap'n Proto messages between a \
        client and a server by hand, round by round. *Its host, client by hand* is the runtime's host without its caller: with \
        the caller's machine and an identity that the object claims, and with neither (E6).";
    let between = "What lies between the bare call and the host: each answer, also to a call that has only read, confirms the \
        epoch in the object's database first (G12), which takes a statement and two locks of a file, about a tenth of the \
        processor's time with many calls in flight; and the attempt goes from the connection's task to the worker's, to the \
        object's, and back. Between the host and the stub: a task, two boxed futures and two spans for each attempt, and \
        MessagePack. On threads of its own a call is handed over six times between four threads. tarpc is far ahead with many in \
        flight: its messages are lighter, and it writes all that are ready with one system call, where Cap'n Proto RPC writes \
        each with its own.";
    format!("{how}\n\n{}\n\n{between}", paired::verdict(costs))
}
