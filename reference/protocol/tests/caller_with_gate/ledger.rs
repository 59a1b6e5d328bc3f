//! What really happened, and whether it should have.

use oncemore_protocol::caller::Settlement;
use oncemore_protocol::design::Design;
use oncemore_protocol::failure::{Delivery, Transport};
use oncemore_protocol::identity::Ordinal;
use oncemore_protocol::marks::Mark;
use oncemore_protocol::store::{ClaimStore, Claims};
use oncemore_protocol::time::Time;

use crate::object::Body;
use crate::settings::{CallPlan, Settings};
use crate::world::Attempt;

pub(crate) struct Ledger {
    calls: Vec<Account>,
    wrong: Vec<String>,
    capacity: usize,
}

struct Account {
    plan: CallPlan,
    cutoff: Time,
    attempts: Vec<Time>,
    charged: u32,
    runs: Vec<Run>,
    settled: Vec<(Time, Settlement<u32>, Option<Body>)>,
}

struct Run {
    ticket: u32,
    ordinal: Ordinal,
    started: Time,
    ended: Option<Time>,
    /// Its effect was stored.
    stored: bool,
}

impl Ledger {
    pub(crate) fn new(settings: &Settings) -> Self {
        let account = |plan: &CallPlan| Account {
            plan: *plan,
            cutoff: Time::ORIGIN,
            attempts: Vec::new(),
            charged: 0,
            runs: Vec::new(),
            settled: Vec::new(),
        };
        let capacity = usize::try_from(settings.plan.capacity).expect("a small store");
        Self { calls: settings.calls.iter().map(account).collect(), wrong: Vec::new(), capacity }
    }

    pub(crate) fn begins(&mut self, call: usize, cutoff: Time) {
        self.calls[call].cutoff = cutoff;
    }

    pub(crate) fn attempt_begins(&mut self, call: usize, now: Time, charged: bool) {
        self.calls[call].attempts.push(now);
        self.calls[call].charged += u32::from(charged);
    }

    pub(crate) fn starts(&mut self, attempt: Attempt, ticket: u32, now: Time) {
        let run = Run { ticket, ordinal: attempt.ordinal, started: now, ended: None, stored: false };
        self.calls[attempt.call].runs.push(run);
    }

    pub(crate) fn ends(&mut self, ticket: u32, now: Time, stored: bool) {
        for run in self.calls.iter_mut().flat_map(|call| &mut call.runs).filter(|run| run.ticket == ticket) {
            run.ended = Some(now);
            run.stored = stored;
        }
    }

    pub(crate) fn settled(&mut self, call: usize, now: Time, settlement: Settlement<u32>, body: Option<Body>) {
        self.calls[call].settled.push((now, settlement, body));
    }

    pub(crate) fn answered_from_record(&mut self, there: bool) {
        if !there {
            self.wrong.push("D5: answered from a record that is not there".to_owned());
        }
    }

    pub(crate) fn remembers(&mut self, store: &Claims) {
        if store.len() > self.capacity {
            self.wrong.push(format!("P15: {} entries, {} fit", store.len(), self.capacity));
        }
    }

    pub(crate) fn judge(&self, settings: &Settings) -> Vec<String> {
        let mut wrong = self.wrong.clone();
        for (place, call) in self.calls.iter().enumerate() {
            let broken = call.broken(settings);
            wrong.extend(broken.into_iter().map(|promise| format!("{promise}, by call {place}: {call:?}")));
        }
        wrong
    }
}

impl Account {
    /// Which promises are broken.
    fn broken(&self, settings: &Settings) -> Vec<&'static str> {
        let (settled_at, settlement, body) = match self.settled.as_slice() {
            [one] => *one,
            [] => return vec!["L1: never settles"],
            _ => return vec!["P7: settles twice"],
        };
        let once = self.plan.mark == Mark::Unmarked && (self.plan.eligible || settings.transport == Transport::Exact);
        let effects = self.runs.iter().filter(|run| run.stored).count();
        let answered = settlement == Settlement::Answered;
        let undelivered =
            matches!(settlement, Settlement::Failed(failure) if failure.delivery == Delivery::NotDelivered);
        let retries_at = self.attempts.iter().skip(1);
        let promises = [
            ("P1: starts more than once", once && self.runs.len() > 1),
            ("P2: takes effect more than once", (once || self.at_most_once(settings)) && effects > 1),
            ("P3: too many attempts", self.attempts.len() > usize::from(settings.limits.attempts_max())),
            ("P4: starts an attempt at or after the cutoff", retries_at.clone().any(|at| *at >= self.cutoff)),
            ("P6: a retry outlives the cutoff", answered && self.attempts.len() > 1 && settled_at > self.cutoff),
            ("P8: a call that is not eligible is retried", !self.plan.eligible && self.attempts.len() > 1),
            ("P10: a success that did not happen", answered && body != Some(Body::Value { stored: true })),
            ("P10: a success without a run", answered && self.runs.is_empty()),
            ("P11: ran, and is said not to have been delivered", undelivered && !self.runs.is_empty()),
            ("P12: not one subrequest", self.charged != 1),
            ("P14: an older or overlapping run after a later one", self.out_of_order(settings)),
        ];
        promises.into_iter().filter(|(_, broken)| *broken).map(|(promise, _)| promise).collect()
    }

    /// D5, fenced, remembers what it has finished as long as it forgets nothing, marked or not.
    fn at_most_once(&self, settings: &Settings) -> bool {
        settings.plan.design == Design::DurableResults && settings.keeps_order() && self.plan.eligible
    }

    fn out_of_order(&self, settings: &Settings) -> bool {
        if !settings.keeps_order() || !self.plan.eligible {
            return false;
        }
        let stored: Vec<_> = self.runs.iter().filter(|run| run.stored).collect();
        stored.windows(2).any(|pair| match pair {
            [earlier, later] => {
                later.ordinal <= earlier.ordinal || earlier.ended.is_none_or(|ended| ended > later.started)
            }
            _ => false,
        })
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Time| time.as_nanos() / 1_000_000;
        write!(f, "{:?}, cutoff {}, attempts at {:?}", self.plan, ms(self.cutoff), self.attempts)?;
        for run in &self.runs {
            let ended = run.ended.map(ms);
            write!(f, ", run of {:?} from {} to {ended:?} (stored: {})", run.ordinal, ms(run.started), run.stored)?;
        }
        write!(f, ", told {:?}", self.settled)
    }
}
