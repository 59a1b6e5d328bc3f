//! `facts/calls.json`: the fate of one call's attempts, and what its caller and its object then see.
//!
//! The real caller and the real gate, on virtual time, with the default schedule and limits unless a row says otherwise.

mod facts;

use std::time::Duration;

use facts::{Row, assert_rows, load, rows, text};
use oncemore_protocol::caller::{Call, Input, Next, Settlement, Step, Terms};
use oncemore_protocol::design::{Design, Plan};
use oncemore_protocol::eligibility::{self, Argument, Body, Contents, Eligibility, Position, Through};
use oncemore_protocol::failure::{Delivery, Failure, Kind};
use oncemore_protocol::gate::{Decision, Gate, GateTerms, Request};
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::limits::{LimitValue, Limits};
use oncemore_protocol::marks::Mark;
use oncemore_protocol::rules::Spec;
use oncemore_protocol::store::{Birth, Digest};
use oncemore_protocol::time::{Time, WallTime};
use serde_json::Value;

const HERE: Incarnation = Incarnation(1);

#[test]
fn calls_go_as_measured() {
    let facts = load("calls");
    let rows = rows(&facts["rows"], |row| text(row, "id").to_owned());
    // The least delays, and such as take a third of their range.
    for draw in [0, u32::MAX / 3] {
        assert_rows(&rows, &[], |row| run(row, draw));
    }
}

#[test]
fn every_word_of_the_legend_is_known() {
    let facts = load("calls");
    for word in facts["legend"].as_object().unwrap().keys() {
        assert!(Fate::read(word).is_some(), "{word}");
    }
}

fn run(row: &Row, draw: u32) -> Option<Result<(), String>> {
    let plan = Described::read(text(&row.data, "call"))?;
    let fates: Option<Vec<Fate>> =
        row.data["world_by_attempt"].as_array()?.iter().map(|word| Fate::read(word.as_str()?)).collect();
    let limits = limits(&row.data["limits"])?;
    Some(Scene::new(plan, limits, draw).play(&fates?).and_then(|seen| compare(&row.data["expect"], &seen)))
}

fn limits(row: &Value) -> Option<Limits> {
    let Value::Object(limits) = row else {
        return row.is_null().then_some(Limits::DEFAULT);
    };
    let entries: Option<Vec<_>> =
        limits.iter().map(|(key, value)| Some((key.as_str(), LimitValue::Number(value.as_f64()?)))).collect();
    Limits::read(LimitValue::Object(&entries?)).ok()
}

// ---- What the words of a row mean ----

/// The call that a row describes.
struct Described {
    eligibility: Eligibility,
    mark: Mark,
    design: Design,
    /// The pending result is used while the first attempt is under way, or while the call backs off.
    used: Option<Used>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Used {
    InFlight,
    BackingOff,
}

impl Described {
    fn read(words: &str) -> Option<Self> {
        let plain = [Argument::Plain];
        let (through, contents) = match words {
            "fetch" | "fetch, no body" | "fetch; the object answers 500" | "fetch DELETE" => {
                (Through::Namespace, Contents::Fetch(Body::Absent))
            }
            "fetch POST, text body" | "fetch POST, 2 MB text body" => (Through::Namespace, Contents::Fetch(Body::Text)),
            "fetch POST, form body" => (Through::Namespace, Contents::Fetch(Body::Form)),
            "fetch POST, streaming body" => (Through::Namespace, Contents::Fetch(Body::Stream)),
            "method, a stream among the arguments" => {
                (Through::Namespace, Contents::Method(&[Argument::Plain, Argument::Stream]))
            }
            "method, a function among the arguments" => (Through::Namespace, Contents::Method(&[Argument::Function])),
            "method through a stub that came as an argument" => (Through::Received, Contents::Method(&plain)),
            "method"
            | "method; identities sent"
            | "method whose error says retryable"
            | "unmarked method"
            | "unmarked method; the gate knows the identity"
            | "unmarked method; design D0"
            | "marked method"
            | "method whose pending result is called"
            | "method whose pending result is called while it backs off"
            | "method that returns an RPC target, awaited; marked" => (Through::Namespace, Contents::Method(&plain)),
            _ => return None,
        };
        let call = eligibility::Call { through, position: Position::First, contents };
        let marked = words.contains("marked") && !words.contains("unmarked");
        Some(Self {
            eligibility: call.eligibility(),
            mark: if marked { Mark::Marked } else { Mark::Unmarked },
            design: if words.contains("D0") { Design::None } else { Design::default() },
            used: match words {
                "method whose pending result is called" => Some(Used::InFlight),
                "method whose pending result is called while it backs off" => Some(Used::BackingOff),
                _ => None,
            },
        })
    }
}

/// What becomes of one attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Closed before a byte went on, so long after it began.
    Refused(Duration),
    LostBefore,
    LostAfter,
    /// The method runs for so long, and its answer arrives.
    Answered(Duration),
    Throws,
    Silent,
    /// As answered at once, where the gate is to see to it that it is not.
    Rejected,
}

impl Fate {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "refused" => Self::Refused(Duration::ZERO),
            "refused after 1 s" => Self::Refused(Duration::from_secs(1)),
            "lost-before" => Self::LostBefore,
            "lost-after" => Self::LostAfter,
            "ok" => Self::Answered(Duration::ZERO),
            "slow 4 s" => Self::Answered(Duration::from_secs(4)),
            "answer after 3 s" => Self::Answered(Duration::from_secs(3)),
            "user-error" => Self::Throws,
            "silent" => Self::Silent,
            "rejected" => Self::Rejected,
            _ => return None,
        })
    }
}

// ---- The world ----

/// What happened, and what user code was told.
struct Seen {
    attempts: u8,
    runs: u32,
    identities: Vec<String>,
    settlement: Settlement<u8>,
    settled_at: Time,
    /// When the first attempt failed.
    failed_at: Time,
}

struct Scene {
    described: Described,
    terms: Terms,
    gate_terms: GateTerms,
    gate: Gate<u8>,
    lane: Lane,
    now: Time,
    draw: u32,
    runs: u32,
    names: Vec<Identity>,
    identities: Vec<String>,
    failed_at: Option<Time>,
}

impl Scene {
    fn new(described: Described, limits: Limits, draw: u32) -> Self {
        let plan = Plan { design: described.design, ..Plan::default() };
        let gate_terms = GateTerms { store: plan, queue_max: 10, rules: Spec };
        let birth = Birth { incarnation: HERE, wall: WallTime::default() };
        Self {
            described,
            terms: Terms { limits, ..Terms::default() },
            gate: Gate::open(&gate_terms, birth, core::iter::empty()),
            gate_terms,
            lane: Lane::new(CallerId::from_bits(1)),
            now: Time::ORIGIN,
            draw,
            runs: 0,
            names: Vec::new(),
            identities: Vec::new(),
            failed_at: None,
        }
    }

    fn play(mut self, fates: &[Fate]) -> Result<Seen, String> {
        let eligible = self.described.eligibility == Eligibility::Eligible;
        let (mut call, mut step) = Call::start(&self.terms, eligible, self.now);
        let mut fates = fates.iter();
        loop {
            step = match step.next {
                Next::Resolve(_) => {
                    let fate = fates.next().ok_or("an attempt more than the row knows of")?;
                    self.attempt(&mut call, *fate)?
                }
                Next::Sleep { until } => self.sleep(&mut call, until),
                Next::Wait => return Err("the call waits for nothing".to_owned()),
                Next::Settle(settlement) => {
                    if fates.next().is_some() {
                        return Err("an attempt less than the row knows of".to_owned());
                    }
                    return Ok(Seen {
                        attempts: call.ordinal().0,
                        runs: self.runs,
                        identities: self.identities,
                        settlement,
                        settled_at: self.now,
                        failed_at: self.failed_at.unwrap_or(self.now),
                    });
                }
            };
        }
    }

    fn sleep(&mut self, call: &mut Call<u8>, until: Time) -> Step<u8> {
        let step = if self.described.used == Some(Used::BackingOff) {
            call.handle(&self.terms, self.now, self.draw, Input::PipelinedUse)
        } else {
            self.now = until;
            call.handle(&self.terms, self.now, self.draw, Input::Timer)
        };
        assert_ne!(step.next, Next::Wait, "the wake-up came to nothing");
        step
    }

    fn attempt(&mut self, call: &mut Call<u8>, fate: Fate) -> Result<Step<u8>, String> {
        let sent = call.resolved(&self.terms, &mut self.lane, HERE, WallTime::default());
        let header = sent.map_err(|error| error.to_string())?.header;
        self.name(&header);
        if self.described.used == Some(Used::InFlight) {
            call.handle(&self.terms, self.now, self.draw, Input::PipelinedUse);
        }
        let ordinal = call.ordinal().0;
        let (after, input) = match fate {
            Fate::Refused(after) => (after, Input::Failed(Failure::unreachable(ordinal))),
            Fate::LostBefore => (Duration::ZERO, Input::Failed(Failure::dropped(ordinal))),
            Fate::LostAfter => {
                self.runs_at_object(header)?;
                (Duration::ZERO, Input::Failed(Failure::dropped(ordinal)))
            }
            Fate::Answered(after) => (after, self.runs_at_object(header)?),
            Fate::Throws => {
                self.runs_at_object(header)?;
                // The worst that user code can do: its error says that it can be retried.
                (Duration::ZERO, Input::Failed(Failure::thrown(Kind::Disconnected, ordinal)))
            }
            Fate::Silent => (Duration::MAX, Input::Answered),
            Fate::Rejected => {
                let answer = self.runs_at_object(header)?;
                if !matches!(answer, Input::Refused(..)) {
                    return Err("the gate lets in what it should have rejected".to_owned());
                }
                (Duration::ZERO, answer)
            }
        };
        self.failed_at.get_or_insert(self.now.after(after));
        Ok(self.first_of(call, after, input))
    }

    /// The attempt comes back after so long, unless the cutoff comes first.
    fn first_of(&mut self, call: &mut Call<u8>, after: Duration, input: Input<u8>) -> Step<u8> {
        let back = self.now.after(after);
        let (at, input) = match call.deadline(&self.terms) {
            Some(deadline) if deadline <= back => (deadline, Input::Timer),
            Some(_) | None => (back, input),
        };
        self.now = at;
        call.handle(&self.terms, at, self.draw, input)
    }

    /// The attempt reaches the object, which lets it in and runs it to its end, or refuses it.
    fn runs_at_object(&mut self, header: Header) -> Result<Input<u8>, String> {
        let ticket = header.ordinal.0;
        let request = Request { ticket, header, mark: self.described.mark, digest: Digest(0), ..Request::default() };
        if let Some(refusal) = self.gate.arrive(&self.gate_terms, request, self.now).refused {
            return Ok(Input::Refused(refusal, ticket));
        }
        let turn = self.gate.next(&self.gate_terms, self.now).ok_or("the gate leaves it waiting")?;
        match turn.decision {
            Decision::Start => {
                self.runs += 1;
                self.gate.finished(&self.gate_terms, ticket, self.now);
                self.gate.confirmed(&self.gate_terms, ticket, true);
                Ok(Input::Answered)
            }
            Decision::Refuse(refusal) => Ok(Input::Refused(refusal, ticket)),
            other @ (Decision::Store(_) | Decision::AnswerRecorded | Decision::NewEpoch) => Err(format!("{other:?}")),
        }
    }

    /// Identities by the order of their first appearance, as the facts name them.
    fn name(&mut self, header: &Header) {
        let Some(identity) = header.identity else { return };
        let place = self.names.iter().position(|known| *known == identity).unwrap_or_else(|| {
            self.names.push(identity);
            self.names.len() - 1
        });
        self.identities.push(format!("n{}{}", place + 1, if header.retry { " retry" } else { "" }));
    }
}

// ---- What the row expects ----

fn compare(expect: &Value, seen: &Seen) -> Result<(), String> {
    for (field, expected) in expect.as_object().ok_or("nothing is expected")? {
        let agrees = match field.as_str() {
            "attempts" => *expected == seen.attempts,
            "runs" => *expected == seen.runs,
            "identities" => *expected == Value::from(seen.identities.clone()),
            "took_s" => expected.as_f64() == Some(seen.settled_at.since(Time::ORIGIN).as_secs_f64()),
            "outcome" => has_outcome(expected.as_str().unwrap_or_default(), seen)?,
            "note" => true,
            other => return Err(format!("nobody knows what {other} means")),
        };
        if !agrees {
            return Err(format!(
                "{field} should be {expected}: {} attempts, {} runs, {:?} at {:?}, {:?}",
                seen.attempts, seen.runs, seen.settlement, seen.settled_at, seen.identities
            ));
        }
    }
    Ok(())
}

fn has_outcome(expected: &str, seen: &Seen) -> Result<bool, String> {
    let failure = match seen.settlement {
        Settlement::Failed(failure) => Some(failure),
        Settlement::Answered | Settlement::Aborted(_) | Settlement::Dropped => None,
    };
    let original = failure.is_some_and(|failure| failure.payload == 1 && failure.retryable() && !failure.remote);
    Ok(match expected {
        "ok" | "ok (status 500)" => seen.settlement == Settlement::Answered,
        "user error" => {
            failure.is_some_and(|failure| failure.remote && failure.delivery == Delivery::Delivered)
                && failure.is_some_and(|failure| failure.payload == seen.attempts)
        }
        "original failure" => original,
        "original failure, at once" => original && seen.settled_at == seen.failed_at,
        other => return Err(format!("nobody knows the outcome {other}")),
    })
}
