//! P13 and P14: is there an order of operations that explains what everybody saw?
//!
//! A field of an object is a register: an operation returns who wrote it last and, if its call writes it, overwrites it.
//! An unmarked call is one operation, a marked one up to as many copies as it made attempts. A call that was answered has
//! at least one, and one of them returned the answer; a call that failed has any number, or none if the failure says that
//! it was not delivered; what failed otherwise, or whose caller is gone, may still take effect at any later time. And at
//! any moment somebody may look: what the field holds now must be what the operations so far have made of it.
//!
//! Registers are independent, and linearizability is local (Herlihy and Wing 1990), so each field is judged by itself: P13
//! where only unmarked calls write it, P14 where a marked one does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use oncemore_protocol::failure::Delivery;
use oncemore_protocol::marks::Mark;
use oncemore_protocol::store::ClaimStore;

use super::Property;
use crate::script::{CallPlan, Script};
use crate::world::{Cells, Outcome, World};

type Memo = HashMap<Question, bool, BuildHasherDefault<DefaultHasher>>;

thread_local! {
    /// Few histories, many states: each question is answered once a thread.
    static ANSWERED: RefCell<Memo> = RefCell::new(Memo::default());
}

/// All that the answer depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Question {
    /// Beginnings and ends, as in the world.
    history: Vec<u8>,
    calls: Vec<Part>,
    /// Who wrote the field last.
    now: u8,
}

/// A call's part in one field's history.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Part {
    /// Whether it touches the field at all, and overwrites it.
    touches: bool,
    writes: bool,
    /// How many operations it may be.
    copies_max: u8,
    /// What one of them must have returned.
    returned: Option<u8>,
    /// Whether no operation may come after its end.
    closed: bool,
}

/// The bits of P13 and P14, if they are violated in this state.
pub(super) fn violated<S: ClaimStore>(script: &Script<S>, world: &World<S>) -> u64 {
    let mut violated = 0;
    for object in 0..script.objects {
        for field in FIELDS {
            let calls = script.calls.iter().filter(|plan| plan.object == object);
            let marked = calls.clone().any(|plan| field.of(plan.writes) && plan.mark == Mark::Marked);
            let property = if marked { Property::P14 } else { Property::P13 };
            let question = question(script, world, object, field);
            if question.calls.iter().any(|part| part.touches) && !explained(question) {
                violated |= property.bit();
            }
        }
    }
    violated
}

#[derive(Clone, Copy)]
enum Which {
    X,
    Y,
}

const FIELDS: [Which; 2] = [Which::X, Which::Y];

impl Which {
    const fn of<T: Copy>(self, cells: Cells<T>) -> T {
        match self {
            Self::X => cells.x,
            Self::Y => cells.y,
        }
    }

    /// A method sees the fields that it writes; one that writes nothing reads `x`.
    fn seen_by(self, plan: &CallPlan) -> bool {
        self.of(plan.writes) || (matches!(self, Self::X) && !plan.writes_any())
    }
}

fn question<S: ClaimStore>(script: &Script<S>, world: &World<S>, object: u8, field: Which) -> Question {
    let calls = script.calls.iter().zip(world.calls.iter()).map(|(plan, state)| {
        let marked = plan.mark == Mark::Marked;
        // Nothing is promised of what has no identity where the network repeats it (P1).
        let repeated = if plan.eligible { 0 } else { script.duplicates };
        let copies_max = if marked { state.ledger.attempts.max(1) + repeated } else { 1 + repeated };
        let part = Part {
            touches: plan.object == object && field.seen_by(plan) && !plan.unknown,
            writes: field.of(plan.writes),
            copies_max,
            returned: None,
            closed: false,
        };
        match state.ledger.outcome {
            Outcome::NotBegun => Part { touches: false, ..part },
            Outcome::Pending | Outcome::Gone | Outcome::Aborted => part,
            Outcome::Answered(seen) => Part { returned: Some(field.of(seen)), closed: true, ..part },
            Outcome::Failed { delivery: Delivery::NotDelivered, .. } => Part { copies_max: 0, closed: true, ..part },
            // It ran, and that its effect came before its error is the method's own business.
            Outcome::Failed { remote: true, .. } => Part { closed: true, ..part },
            Outcome::Failed { .. } => part,
        }
    });
    Question {
        history: world.history.iter().copied().collect(),
        calls: calls.collect(),
        now: field.of(world.object(object).record.fields),
    }
}

fn explained(question: Question) -> bool {
    ANSWERED.with_borrow_mut(|answered| match answered.get(&question) {
        Some(&answer) => answer,
        None => {
            let mut search = Search { question: &question, copies: vec![0; question.calls.len()], answers: 0 };
            let answer = search.explains(0, 0, 0);
            answered.insert(question, answer);
            answer
        }
    })
}

/// A search for an order, event by event; between two events any operation that may be under way may happen.
struct Search<'a> {
    question: &'a Question,
    /// Operations so far, by call.
    copies: Vec<u8>,
    /// The calls one of whose operations has returned the answer: a bit for each.
    answers: u64,
}

impl Search<'_> {
    /// Whether the events from `event` on can be explained, if the field holds `value` and `begun` calls have begun.
    fn explains(&mut self, event: usize, begun: u64, value: u8) -> bool {
        if event == self.question.history.len() && value == self.question.now {
            return true;
        }
        if let Some(&next) = self.question.history.get(event) {
            let (call, end) = (usize::from(next / 2), next % 2 == 1);
            let begun = if end { begun } else { begun | 1 << call };
            if !(end && self.lacks_an_answer(call)) && self.explains(event + 1, begun, value) {
                return true;
            }
        }
        (0..self.question.calls.len()).any(|call| self.happens(call, event, begun, value))
    }

    fn lacks_an_answer(&self, call: usize) -> bool {
        let part = &self.question.calls[call];
        part.touches && part.returned.is_some() && self.answers & (1 << call) == 0
    }

    /// Whether an operation of `call` happens next, and the rest can be explained.
    fn happens(&mut self, call: usize, event: usize, begun: u64, value: u8) -> bool {
        let part = self.question.calls[call];
        let ended = part.closed && self.question.history[..event].contains(&(u8::try_from(call).unwrap_or(0) * 2 + 1));
        if !part.touches || ended || begun & (1 << call) == 0 || self.copies[call] >= part.copies_max {
            return false;
        }
        let before = self.answers;
        if part.returned == Some(value) {
            self.answers |= 1 << call;
        } else if part.copies_max == 1 && part.returned.is_some() {
            return false;
        }
        self.copies[call] += 1;
        let after = if part.writes { u8::try_from(call).unwrap_or(0) + 1 } else { value };
        let explains = self.explains(event, begun, after);
        self.copies[call] -= 1;
        self.answers = before;
        explains
    }
}
