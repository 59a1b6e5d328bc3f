//! Drives the caller's machine: one call, from its start to what user code sees. No decision is taken here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use oncemore_protocol::caller::{Call, Input, Next, Settlement, Step, Terms};
use oncemore_protocol::failure::{Delivery, Failure, Kind};
use oncemore_protocol::identity::Ordinal;
use oncemore_protocol::route::{Route, SubrequestsUsedUp};
use oncemore_protocol::rules::{FirstRejection, Spec};
use oncemore_protocol::time::Time;
use tokio::time::sleep_until;
use tracing::{Instrument, Span};

use super::{AbortSignal, Caller, observe};
use crate::directory::{DirectoryError, Place};
use crate::error::Problem;
use crate::id::ObjectId;
use crate::link::Link;
use crate::retry::RetryOptions;
use crate::wire::{Answer, Attempt, Request};

/// An object as one stub sees it: who calls, and where the object was last found (C8).
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) object: ObjectId,
    pub(crate) caller: Caller,
    route: Mutex<Located>,
    /// Those who look for the object stand in line, first come first served.
    line: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Located {
    route: Route,
    place: Option<Place>,
    /// When the directory said so, or an attempt last went there.
    trusted: Time,
}

/// For how long an unused route is trusted. An object that nobody calls may be put to rest and begin anew, and it costs less
/// to ask the directory than to be sent back by the object.
const ROUTE_TRUSTED: Duration = Duration::from_secs(30);

/// A call that did not end with an answer.
#[derive(Debug)]
pub(crate) enum Failed {
    /// C1: nothing was sent.
    Subrequests(SubrequestsUsedUp),
    /// What the machine says that user code sees.
    Settled { attempts: u8, failure: Failure<Problem> },
}

/// What the attempt in flight waits for.
enum Flight {
    None,
    Locating(BoxFuture<'static, Result<(Place, Link), Failure<Problem>>>),
    Sent(BoxFuture<'static, Result<Answer, Failure<Problem>>>),
}

/// What happened next.
enum Event {
    Located(Result<(Place, Link), Failure<Problem>>),
    Came(Result<Answer, Failure<Problem>>),
    Timer,
    Aborted(Arc<str>),
}

impl Target {
    pub(crate) fn new(object: ObjectId, caller: Caller) -> Self {
        Self { object, caller, route: Mutex::default(), line: tokio::sync::Mutex::default() }
    }

    fn route(&self) -> MutexGuard<'_, Located> {
        self.route.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the object is, and a connection to its host, which may still be being opened.
    ///
    /// Calls that are made through one stub in some order find the object in that order.
    async fn locate(self: Arc<Self>) -> Result<(Place, Link), Failure<Problem>> {
        let _line = self.line.lock().await;
        let place = self.place().await.map_err(unresolved)?;
        let link = self.caller.link(&place.address).map_err(|error| {
            let problem = Problem::Connect { address: place.address.clone(), source: Arc::new(error) };
            Failure::unreachable(problem)
        })?;
        Ok((place, link))
    }

    async fn place(&self) -> Result<Place, DirectoryError> {
        let now = self.caller.shared.clock.now();
        if let Some(place) = self.known(now) {
            return Ok(place);
        }
        let place = self.caller.shared.directory.registry().resolve(&self.object).await?;
        let mut located = self.route();
        located.route.found(place.incarnation);
        located.place = Some(place.clone());
        located.trusted = now;
        Ok(place)
    }

    /// Where the object was when it was last called, unless that failed or was long ago.
    fn known(&self, now: Time) -> Option<Place> {
        let mut located = self.route();
        if now.since(located.trusted) > ROUTE_TRUSTED {
            return None;
        }
        located.trusted = now;
        located.route.address().and(located.place.clone())
    }

    /// C8: whatever comes next through this stub resolves anew.
    fn lost(&self, refused: bool) {
        self.route().route.lost(Spec, refused);
    }
}

/// A directory that cannot be read now may be read later; one that makes no sense will not.
fn unresolved(error: DirectoryError) -> Failure<Problem> {
    let kind = match &error {
        DirectoryError::NoHost { .. }
        | DirectoryError::File { .. }
        | DirectoryError::Io { .. }
        | DirectoryError::Other(_) => Kind::Disconnected,
        DirectoryError::Version { .. } | DirectoryError::Foreign { .. } | DirectoryError::Damaged { .. } => {
            Kind::Failed
        }
    };
    Failure { kind, delivery: Delivery::NotDelivered, remote: false, payload: Problem::Directory(Arc::new(error)) }
}

/// One call under way. Dropping it gives the call up (C7).
struct Driver<'a> {
    target: &'a Arc<Target>,
    terms: Terms,
    call: Call<Problem>,
    request: &'a Request,
    flight: Flight,
    /// The span of the attempt that began last.
    attempt: Span,
    answer: Option<Answer>,
}

/// Calls, and calls again as far as the rules allow. Returns the answer and how many attempts began.
pub(crate) async fn drive(
    target: &Arc<Target>,
    options: RetryOptions,
    signal: Option<AbortSignal>,
    request: &Request,
    eligible: bool,
) -> Result<(Answer, u8), Failed> {
    target.caller.charge(Ordinal(1)).map_err(Failed::Subrequests)?;
    let terms = Terms {
        limits: options.limits(),
        schedule: options.delays(),
        transport: Caller::transport(),
        first_rejection: FirstRejection::Fail,
        rules: Spec,
    };
    let (call, step) = Call::start(&terms, eligible, target.caller.shared.clock.now());
    let driver = Driver { target, terms, call, request, flight: Flight::None, attempt: Span::none(), answer: None };
    driver.run(step, signal).await
}

impl Driver<'_> {
    async fn run(mut self, mut step: Step<Problem>, mut signal: Option<AbortSignal>) -> Result<(Answer, u8), Failed> {
        loop {
            if step.cancel {
                self.flight = Flight::None;
            }
            if let Some(report) = &step.report {
                observe::call_ended(report);
            }
            match step.next {
                Next::Wait => {}
                Next::Sleep { .. } => self.flight = Flight::None,
                Next::Resolve(ordinal) => self.begin(ordinal),
                Next::Settle(settlement) => return self.settled(settlement),
            }
            let event = self.event(signal.as_mut()).await;
            step = self.told(event);
        }
    }

    fn begin(&mut self, ordinal: Ordinal) {
        if ordinal > Ordinal(1) {
            // The rules do not charge it; they are asked all the same, so that nobody has to know it here.
            self.target.caller.charge(ordinal).ok();
        }
        self.attempt = observe::attempt_begins(ordinal);
        let located = self.target.clone().locate();
        self.flight = Flight::Locating(Box::pin(located.instrument(self.attempt.clone())));
    }

    async fn event(&mut self, signal: Option<&mut AbortSignal>) -> Event {
        let deadline = self.call.deadline(&self.terms).map(|time| self.target.caller.shared.clock.instant(time));
        let timer = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let aborted = async {
            match signal {
                Some(signal) => signal.aborted().await,
                None => std::future::pending().await,
            }
        };
        let flight = async {
            match &mut self.flight {
                Flight::None => std::future::pending().await,
                Flight::Locating(located) => Event::Located(located.await),
                Flight::Sent(answer) => Event::Came(answer.await),
            }
        };
        tokio::select! {
            biased;
            // First, so that a signal that has fired before lets nothing be sent.
            reason = aborted => Event::Aborted(reason),
            event = flight => event,
            () = timer => Event::Timer,
        }
    }

    fn told(&mut self, event: Event) -> Step<Problem> {
        let input = match event {
            Event::Timer => Input::Timer,
            Event::Aborted(reason) => Input::Abort(Problem::Aborted(reason)),
            Event::Located(Ok((place, link))) => return self.send(&place, link),
            Event::Located(Err(failure)) | Event::Came(Err(failure)) => self.failed(failure),
            Event::Came(Ok(answer)) => self.came(answer),
        };
        let shared = &self.target.caller.shared;
        // Only after a failure may there be a delay to draw.
        let failed = matches!(input, Input::Failed(_) | Input::Refused(..));
        let draw = if failed { shared.entropy.draw() } else { 0 };
        self.call.handle(&self.terms, shared.clock.now(), draw, input)
    }

    fn send(&mut self, place: &Place, link: Link) -> Step<Problem> {
        let Target { object, caller, .. } = &**self.target;
        let shared = &caller.shared;
        let wall = shared.clock.wall();
        let sent = shared.lanes.transmit(object, &mut self.call, &self.terms, place.incarnation, wall, &shared.entropy);
        match sent {
            Ok(sent) => {
                observe::attempt_sent(&self.attempt, &sent.header);
                let attempt = Attempt { object: object.clone(), header: sent.header, request: self.request.clone() };
                let answer = link.send(attempt).instrument(self.attempt.clone());
                self.flight = Flight::Sent(Box::pin(answer));
            }
            // A fresh lane is never full, and whoever is here is looking for the object: the machine sends nothing.
            Err(_) => self.flight = Flight::None,
        }
        Step { fired: Default::default(), cancel: false, next: Next::Wait, report: None }
    }

    fn came(&mut self, answer: Answer) -> Input<Problem> {
        match answer {
            Answer::Value(_) | Answer::Response(_) => {
                self.answer = Some(answer);
                Input::Answered
            }
            Answer::Thrown { kind, error, message } => {
                self.failed(Failure::thrown(kind, Problem::Thrown { error, message }))
            }
            Answer::Refused(refusal) => {
                let (failure, _) = refusal.failure(self.terms.transport, ());
                observe::attempt_failed(&self.attempt, failure.kind, failure.delivery, &refusal);
                self.target.lost(true);
                Input::Refused(refusal, Problem::Refused(refusal))
            }
            Answer::Failed(failure) => self.failed(Failure {
                kind: failure.kind,
                delivery: failure.delivery,
                remote: false,
                payload: Problem::Host(failure),
            }),
        }
    }

    fn failed(&self, failure: Failure<Problem>) -> Input<Problem> {
        observe::attempt_failed(&self.attempt, failure.kind, failure.delivery, &failure.payload);
        if failure.kind == Kind::Disconnected && !failure.remote {
            self.target.lost(false);
        }
        Input::Failed(failure)
    }

    fn settled(mut self, settlement: Settlement<Problem>) -> Result<(Answer, u8), Failed> {
        let attempts = self.call.ordinal().0;
        let failure = match settlement {
            Settlement::Answered => {
                let gone = || Failure::dropped(Problem::Dropped("its answer is gone".into()));
                let answer = self.answer.take().map(|answer| (answer, attempts));
                return answer.ok_or_else(|| Failed::Settled { attempts, failure: gone() });
            }
            Settlement::Failed(failure) => failure,
            Settlement::Aborted(payload) => {
                Failure { kind: Kind::Failed, delivery: self.call.delivery(), remote: false, payload }
            }
            // Only dropping this driver drops the call, and then nobody is told.
            Settlement::Dropped => Failure::dropped(Problem::Dropped("the call was dropped".into())),
        };
        Err(Failed::Settled { attempts, failure })
    }
}

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        let shared = &self.target.caller.shared;
        if !self.call.settled() {
            let step = self.call.handle(&self.terms, shared.clock.now(), 0, Input::Drop);
            if let Some(report) = &step.report {
                observe::call_ended(report);
            }
        }
        if let Some(identity) = self.call.identity() {
            shared.lanes.settle(&self.target.object, identity);
        }
    }
}
