//! A claim store of one's own, judged by the same matrix as Oncemore's.
//!
//! The idea that is tried here comes up again and again: *callers number their calls, so remember only the newest number of
//! each caller*. It needs one entry for each caller and never grows. `cargo run --release --example own_store` says in which
//! worlds that is safe, and shows a run where it is not; `docs/own-store.md` walks through it.

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Duration;

use oncemore_model::explore::{BreadthFirst, Engine, Limits, Tags};
use oncemore_model::matrix::{Cell, PROPERTIES, Verdict, run_with};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::property::{Judged, Property};
use oncemore_protocol::design::{Design, Retention};
use oncemore_protocol::few::Table;
use oncemore_protocol::identity::{CallerId, Identity, Incarnation, Ordinal};
use oncemore_protocol::rule::Fired;
use oncemore_protocol::rules::{AtBound, Rules};
use oncemore_protocol::store::{Ask, Birth, ClaimStore, Doubt, Key, Recall, Slot, Value, Visitor, Writes};
use oncemore_protocol::time::Time;

/// Remembers the newest number of each caller, and the greatest ordinal let in under it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Newest {
    here: Incarnation,
    callers: Table<CallerId, (u64, Ordinal), 2>,
}

/// What becomes of numbers below the newest.
#[derive(Clone, Copy, Debug)]
enum Older {
    /// There is no record of them, so they are let in.
    LetIn,
    /// They are refused.
    Refused,
}

impl ClaimStore for Newest {
    type Plan = Older;

    fn open(_: &Older, birth: Birth, _: impl Iterator<Item = (Slot, Value)>) -> Self {
        Self { here: birth.incarnation, callers: Table::default() }
    }

    fn recall<R: Rules>(&mut self, plan: &Older, _: R, ask: &Ask, _: Time) -> (Recall, Fired) {
        let Identity { caller, number, born, .. } = ask.identity;
        let recall = match self.callers.get(&caller) {
            Some((newest, highest)) if *newest == number.0 => Recall::Claimed { highest: *highest },
            Some((newest, _)) if number.0 < *newest && matches!(plan, Older::Refused) => Recall::Settled,
            _ if born != self.here => Recall::MayHave(Doubt::BornElsewhere),
            Some(_) | None => Recall::Never,
        };
        (recall, Fired::NONE)
    }

    fn bound<R: Rules>(&self, _: &Older, _: R, _: &Ask) -> Option<AtBound> {
        None
    }

    fn record<R: Rules>(&mut self, _: &Older, _: R, ask: &Ask, _: Time) -> Writes {
        self.callers.insert(ask.identity.caller, (ask.identity.number.0, ask.ordinal));
        Writes::default()
    }

    fn finish<R: Rules>(&self, _: &Older, _: R, _: Identity) -> Writes {
        Writes::default()
    }

    fn on_record<R: Rules>(&mut self, _: &Older, _: R, _: Identity) {}

    fn begin_epoch(&mut self, _: &Older, birth: Birth) -> Writes {
        *self = Self { here: birth.incarnation, callers: Table::default() };
        Writes::default()
    }

    fn forget(&mut self) {
        self.callers = Table::default();
    }

    fn durable(_: &Older) -> bool {
        false
    }

    fn fenced(_: &Older) -> bool {
        true
    }

    fn checks_address(_: &Older) -> bool {
        true
    }

    fn len(&self) -> usize {
        self.callers.len()
    }

    fn capacity(_: &Older) -> usize {
        usize::MAX
    }

    fn deadline(&self, _: &Older) -> Option<Time> {
        None
    }

    fn claims(&self) -> impl Iterator<Item = Key> {
        self.callers
            .iter()
            .map(|(caller, (number, _))| Key { caller, number: oncemore_protocol::identity::Number(number) })
    }

    fn rebase(&mut self, _: &Older, _: Duration) {}

    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.incarnation(&mut self.here);
        self.callers.for_each_mut(|caller, (number, _)| {
            let mut named = oncemore_protocol::identity::Number(*number);
            visitor.number(*caller, &mut named);
            *number = named.0;
        });
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for plan in [Older::LetIn, Older::Refused] {
        println!("older numbers are {plan:?}:");
        let first = judge(plan)?;
        if let Some((cell, property)) = first {
            tell(plan, cell, property)?;
        }
        println!();
    }
    Ok(())
}

/// The cells of one row: the store stands in for D3, fenced; its retention is its own.
fn row() -> Vec<Cell> {
    let ours = |cell: &Cell| {
        cell.design == Design::VolatileIncarnation
            && cell.fenced
            && cell.retention == Retention::Watermark
            && !cell.fresh
    };
    Cell::all().into_iter().filter(ours).collect()
}

/// Judges the row, prints it, and returns the first violation.
fn judge(plan: Older) -> Result<Option<(Cell, Property)>, Box<dyn Error>> {
    let model = |scenario: &_| Model::<Newest>::with_store(scenario, plan, Broken(None));
    let matrix = run_with(&row(), NonZeroUsize::MIN, &Limits::default(), &model, &|_| {})?;
    let mut first = None;
    for (cell, outcome) in &matrix.outcomes {
        let oncemore_model::matrix::Outcome::Explored { verdicts, .. } = outcome else { continue };
        let violated: Vec<Property> = PROPERTIES
            .into_iter()
            .zip(verdicts)
            .filter(|(_, verdict)| matches!(verdict, Verdict::Violated { .. }))
            .map(|(property, _)| property)
            .collect();
        let names: Vec<&str> = violated.iter().map(|property| property.name()).collect();
        let says = if names.is_empty() { "holds".to_owned() } else { format!("violates {}", names.join(", ")) };
        println!("  {:<16} {} caller(s)  {says}", cell.trouble.name(), cell.callers);
        first = first.or(violated.first().map(|property| (*cell, *property)));
    }
    Ok(first)
}

/// Prints the shortest run that violates the property in the cell.
fn tell(plan: Older, cell: Cell, property: Property) -> Result<(), Box<dyn Error>> {
    let model = Model::<Newest>::with_store(&cell.scenario(), plan, Broken(None))?;
    let found = BreadthFirst.explore(&model, &Limits::default(), &mut |_| {})?;
    let Judged::InEveryState(bit) = property.judged() else { return Ok(()) };
    let Some(trace) = found.violation(bit) else { return Ok(()) };
    println!("  {} in {}: {}", property.name(), cell.trouble.name(), property.claim());
    let mut state = trace.initial.clone();
    for step in &trace.steps {
        let mut fired = Tags::EMPTY;
        let Some(next) = model.tell_next(&state, &step.action, &mut fired) else { break };
        let event = model.narrate(&state, &step.action, &next, fired);
        println!("    {:<8} {}", event.who, event.text);
        state = next;
    }
    Ok(())
}
