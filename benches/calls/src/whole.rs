//! What a whole call costs, beside the same messages without the runtime, and beside other crates.

mod bare;
mod grpc;
mod hand;
mod load;
mod objects;
mod paired;
mod rival;
mod side;
mod tables;
mod tarpc_echo;
mod wire;

use std::time::Duration;

use rival::{Failure, Field, Kind};
use side::Side;
use tables::Cell;
use wire::Wire;

use crate::report::Report;

pub(crate) const IN_FLIGHT: [usize; 3] = [1, 16, 256];

/// How long to measure.
#[derive(Clone, Copy, Debug)]
struct Effort {
    rounds: usize,
    round: Duration,
    pairs: usize,
    slice: Duration,
}

impl Effort {
    const fn of(quick: bool) -> Self {
        if quick {
            Self { rounds: 1, round: Duration::from_millis(20), pairs: 2, slice: Duration::from_millis(10) }
        } else {
            Self { rounds: 5, round: Duration::from_millis(300), pairs: 40, slice: Duration::from_millis(50) }
        }
    }
}

/// Measures everything. The caller's side runs where this runs: on a current-thread runtime, in a `LocalSet`.
pub(crate) async fn measure(quick: bool) -> Result<Report, Failure> {
    let effort = Effort::of(quick);
    let server = Side::start()?;
    let mut report = Report::here(30, "A whole call", "");
    let mut costs = Vec::new();
    for wire in Wire::ALL {
        let field = Field::connect(wire, &server).await?;
        eprintln!("{}", wire.name());
        let cells = cells(&field, effort).await?;
        report.tables.push(tables::of_wire(wire, &cells));
        if wire == Wire::Tcp {
            costs = paired::costs(&field, effort).await?;
        }
    }
    report.tables.push(paired::table(&costs));
    report.note = tables::note(&costs);
    report.aims = paired::aims(&costs);
    Ok(report)
}

/// Everybody with every number in flight, in rounds: what disturbs the machine for a while disturbs all.
async fn cells(field: &Field, effort: Effort) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for in_flight in IN_FLIGHT {
        for kind in Kind::ALL {
            load::round(&field.rival(kind)?, in_flight, effort.round / 4).await?;
            cells.push(Cell::new(kind, in_flight)?);
        }
    }
    for round in 0..effort.rounds {
        let count = cells.len();
        // Each round begins with another one.
        for index in (0..count).map(|index| (index + round * 7) % count) {
            let cell = &mut cells[index];
            let measured = load::round(&field.rival(cell.kind)?, cell.in_flight, effort.round).await?;
            cell.add(&measured)?;
        }
    }
    Ok(cells)
}
