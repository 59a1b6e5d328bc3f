//! What is marked on the lanes: claims, refusals, starts, effects, settlements.

use oncemore_protocol::gate::Stage;
use oncemore_protocol::rule::Branch;
use serde::Serialize;

use super::super::Moment;
use super::super::lanes::directory;
use crate::action::{Action, PacketId, Send};
use crate::explore::Tags;
use crate::model::Model;
use crate::world::Outcome;

/// Something worth a mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// What.
    pub kind: MarkKind,
    /// On which lane.
    pub lane: usize,
    /// The call that it is about.
    pub call: Option<String>,
    /// The rules that it follows.
    pub rules: Vec<&'static str>,
    /// Whether it happened to the call before.
    pub again: bool,
}

/// What is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// The directory is asked.
    Resolve,
    /// The directory is asked, and answers what was.
    StaleResolve,
    /// The directory names another owner, or the same under a new number.
    NewOwner,
    /// An attempt is let in.
    Claim,
    /// An attempt is refused.
    Refusal,
    /// User code starts.
    Start,
    /// An effect is stored.
    Effect,
    /// Storage refuses to store it.
    EffectRefused,
    /// The call ends with its value.
    Answered,
    /// The call ends with an error.
    Failed,
    /// Nobody is told any more.
    Gone,
    /// The caller waits before the next attempt.
    BackOff,
    /// The cutoff falls.
    Cutoff,
    /// A caller dies.
    Crash,
    /// An incarnation begins to drain.
    Drain,
    /// An incarnation begins.
    Begins,
    /// An incarnation has forgotten its claims.
    Forgets,
}

pub(super) struct Marks<'a> {
    pub(super) model: &'a Model,
    pub(super) before: &'a Moment,
    pub(super) after: &'a Moment,
    pub(super) action: &'a Action,
    pub(super) fired: Tags,
}

/// What is in all gates of a state.
struct Gates {
    /// What they have let in, and on which lane.
    runs: Vec<(usize, PacketId, Stage)>,
    /// What waits.
    queue: Vec<PacketId>,
}

impl Gates {
    fn of(moment: &Moment) -> Self {
        let mut gates = Self { runs: Vec::new(), queue: Vec::new() };
        for (object, lanes) in moment.told.objects.iter().zip(&moment.lives) {
            for (life, lane) in object.incarnations.iter().zip(lanes) {
                let runs = life.gate.runs().iter();
                gates.runs.extend(runs.map(|run| (*lane, run.request.ticket.id, run.stage)));
                gates.queue.extend(life.gate.queue().iter().map(|request| request.ticket.id));
            }
        }
        gates
    }
}

impl Marks<'_> {
    pub(super) fn all(&self, lane: usize) -> Vec<Mark> {
        let mut marks = Vec::new();
        self.of_action(lane, &mut marks);
        self.of_requests(lane, &mut marks);
        self.of_incarnations(lane, &mut marks);
        self.of_calls(&mut marks);
        marks
    }

    fn mark(&self, kind: MarkKind, lane: usize, call: Option<u8>) -> Mark {
        let call = call.map(|call| self.model.call_name(call).to_owned());
        Mark { kind, lane, call, rules: self.rules(kind), again: false }
    }

    /// What the action alone says.
    fn of_action(&self, lane: usize, marks: &mut Vec<Mark>) {
        match *self.action {
            Action::Begin { call, send } | Action::Wake { call, send } => {
                let plan = self.model.script.call(call);
                let route = self.before.told.caller(plan.caller).routes[usize::from(plan.object)];
                let began = self.after.told.call(call).ledger.attempts > self.before.told.call(call).ledger.attempts;
                let kind = if send == Send::Stale { MarkKind::StaleResolve } else { MarkKind::Resolve };
                if began && route.address().is_none() && !matches!(send, Send::Unreachable(_)) {
                    marks.push(self.mark(kind, directory(self.model), Some(call)));
                }
            }
            Action::Cutoff { call } => marks.push(self.mark(MarkKind::Cutoff, lane, Some(call))),
            Action::Crash { .. } => marks.push(self.mark(MarkKind::Crash, lane, None)),
            Action::Drain { .. } => marks.push(self.mark(MarkKind::Drain, lane, None)),
            Action::Forget { .. } => marks.push(self.mark(MarkKind::Forgets, lane, None)),
            Action::Finish { run, throws, .. } => self.of_finish(lane, run, throws, marks),
            Action::Deliver { .. }
            | Action::Start { .. }
            | Action::Stored { .. }
            | Action::Confirm { .. }
            | Action::Receive { .. }
            | Action::SeeDrop { .. }
            | Action::Succeed { .. }
            | Action::Advance
            | Action::Lose { .. }
            | Action::Cut { .. }
            | Action::Duplicate { .. }
            | Action::Restart { .. }
            | Action::Seize { .. }
            | Action::GiveUp { .. }
            | Action::Abort { .. } => {}
        }
    }

    fn of_finish(&self, lane: usize, run: PacketId, throws: bool, marks: &mut Vec<Mark>) {
        let plan = self.model.script.call(run.call);
        if throws || plan.unknown || !plan.writes_any() {
            return;
        }
        if self.fired.contains(Branch::WriteFenced as u8) {
            marks.push(self.mark(MarkKind::EffectRefused, lane, Some(run.call)));
            return;
        }
        let again = self.before.told.call(run.call).ledger.effects > 0;
        marks.push(Mark { again, ..self.mark(MarkKind::Effect, lane, Some(run.call)) });
    }

    /// What gates made of requests.
    fn of_requests(&self, lane: usize, marks: &mut Vec<Mark>) {
        let (was, is) = (Gates::of(self.before), Gates::of(self.after));
        for &(lane, id, stage) in &is.runs {
            let ledger = &self.before.told.call(id.call).ledger;
            let before = was.runs.iter().find(|(_, known, _)| *known == id).map(|(_, _, stage)| *stage);
            if before.is_none() {
                let again = ledger.admitted > 0;
                marks.push(Mark { again, ..self.mark(MarkKind::Claim, lane, Some(id.call)) });
            }
            if stage == Stage::Running && before.is_none_or(|before| before == Stage::Storing) {
                let again = ledger.starts > 0;
                marks.push(Mark { again, ..self.mark(MarkKind::Start, lane, Some(id.call)) });
            }
        }
        let arrived = if let Action::Deliver { packet, .. } = *self.action { Some(packet) } else { None };
        let is_there = |id: &PacketId| is.queue.contains(id) || is.runs.iter().any(|(_, known, _)| known == id);
        for id in was.queue.into_iter().chain(arrived).filter(|id| self.decides() && !is_there(id)) {
            marks.push(self.mark(MarkKind::Refusal, lane, Some(id.call)));
        }
    }

    /// Whether a gate has a say in the step: what an incarnation's end takes with it is not refused.
    const fn decides(&self) -> bool {
        matches!(self.action, Action::Deliver { .. } | Action::Start { .. } | Action::Drain { .. })
    }

    fn of_incarnations(&self, lane: usize, marks: &mut Vec<Mark>) {
        let begins = matches!(self.action, Action::Restart { .. } | Action::Seize { .. } | Action::Succeed { .. });
        if begins {
            marks.push(self.mark(MarkKind::NewOwner, directory(self.model), None));
            marks.push(self.mark(MarkKind::Begins, lane, None));
        } else if self.fired.contains(Branch::BoundBeginsEpoch as u8) {
            marks.push(self.mark(MarkKind::NewOwner, directory(self.model), None));
        }
    }

    fn of_calls(&self, marks: &mut Vec<Mark>) {
        let calls = self.before.told.calls.iter().zip(self.after.told.calls.iter());
        for (call, (was, is)) in (0u8..).zip(calls) {
            let lane = usize::from(self.model.script.call(call).caller);
            if is.ledger.outcome != was.ledger.outcome && is.ledger.outcome.settled() {
                let kind = match is.ledger.outcome {
                    Outcome::Answered(_) => MarkKind::Answered,
                    Outcome::Failed { .. } => MarkKind::Failed,
                    Outcome::Aborted | Outcome::Gone | Outcome::NotBegun | Outcome::Pending => MarkKind::Gone,
                };
                marks.push(self.mark(kind, lane, Some(call)));
            }
            let waits =
                |state: &crate::world::CallState| state.machine.as_ref().is_some_and(|machine| !machine.attempting());
            if waits(is) && !waits(was) && !is.ledger.outcome.settled() {
                marks.push(self.mark(MarkKind::BackOff, lane, Some(call)));
            }
        }
    }

    /// The rules that say what is marked, of those that the step took.
    fn rules(&self, kind: MarkKind) -> Vec<&'static str> {
        let taken = Branch::ALL.iter().filter(|branch| self.fired.contains(**branch as u8));
        let mut rules: Vec<&str> =
            taken.filter(|branch| speaks_of(**branch, kind)).map(|branch| branch.rule()).collect();
        rules.dedup();
        rules
    }
}

/// Whether a branch is the reason for such a mark.
fn speaks_of(branch: Branch, kind: MarkKind) -> bool {
    use Branch as B;
    match kind {
        MarkKind::Claim => matches!(
            branch,
            B::AdmittedNew
                | B::AdmittedWithoutIdentity
                | B::MarkAdmitsDuplicate
                | B::MarkAdmitsDoubtful
                | B::SessionRunsLater
                | B::NothingKept
                | B::AnsweredFromRecord
        ),
        MarkKind::Start => matches!(branch, B::ClaimStored),
        MarkKind::Refusal => matches!(
            branch,
            B::RefusedDraining
                | B::QueueDrained
                | B::RejectedClaimed
                | B::RejectedDoubtful
                | B::SessionRefusesUnmarked
                | B::SessionRejected
                | B::SessionUnknown
                | B::StartFailed
                | B::QueueFull
                | B::BornBefore
                | B::AddressedElsewhere
                | B::BornElsewhere
                | B::OtherRequest
                | B::FenceRefusesOlder
                | B::WatermarkRefuses
                | B::BoundRefuses
                | B::BornBeforeEpoch
        ),
        MarkKind::EffectRefused => matches!(branch, B::WriteFenced),
        MarkKind::NewOwner => matches!(branch, B::BoundBeginsEpoch),
        MarkKind::BackOff => matches!(branch, B::BacksOff),
        MarkKind::Answered => matches!(branch, B::Answered),
        MarkKind::Resolve => matches!(branch, B::RouteRenewed),
        MarkKind::Failed | MarkKind::Gone | MarkKind::Cutoff => matches!(
            branch,
            B::UserError
                | B::CommittedInBackoff
                | B::CommittedFails
                | B::RetryCut
                | B::FirstOutlivesCutoff
                | B::RejectionShowsOriginal
                | B::OtherKindEnds
                | B::DeliveredEnds
                | B::AttemptsUsedUp
                | B::DelayReachesCutoff
                | B::SleptPastCutoff
                | B::FirstRejectionEnds
                | B::FutureDropped
                | B::Aborted
        ),
        MarkKind::StaleResolve
        | MarkKind::Effect
        | MarkKind::Crash
        | MarkKind::Drain
        | MarkKind::Begins
        | MarkKind::Forgets => false,
    }
}
