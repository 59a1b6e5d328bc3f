//! The caller's engine, driven as a driver would, but for sleeping; and what it is measured against.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a benchmark that cannot go on has failed")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use oncemore_protocol::caller::{Call, Input, Next, Settlement, Terms};
use oncemore_protocol::failure::Failure;
use oncemore_protocol::identity::Incarnation;
use oncemore_protocol::lane::Lane;
use oncemore_protocol::time::{Time, WallTime};

/// The incarnation that every attempt is addressed to.
pub const HERE: Incarnation = Incarnation(7);

/// How a figure's clock is read.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The operating system's monotonic clock.
    Exact(Instant),
    /// A number that somebody else keeps up to date.
    Coarse,
}

impl Clock {
    /// The time.
    #[must_use]
    pub fn now(self) -> Time {
        match self {
            Self::Exact(origin) => Time::from_nanos(u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX)),
            Self::Coarse => black_box(Time::from_nanos(1_000_000)),
        }
    }
}

/// Xorshift128+ (Vigna 2017): the cheapest generator that anybody would take identities from.
#[derive(Debug)]
pub struct Generator(pub u64, pub u64);

impl Generator {
    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        let (mut s1, s0) = (self.0, self.1);
        let result = s0.wrapping_add(s1);
        s1 ^= s1 << 23;
        (self.0, self.1) = (s0, s1 ^ s0 ^ (s1 >> 18) ^ (s0 >> 5));
        result
    }
}

/// One call that is answered at once; returns its number. Success does not look at the clock again: its reading is the one that began it.
pub fn answered(terms: &Terms, lane: &mut Lane, clock: Clock) -> u64 {
    let now = clock.now();
    let (mut call, _) = Call::<u32>::start(terms, true, now);
    let sent = call.resolved(terms, lane, HERE, WallTime::default()).unwrap();
    black_box(&sent.header);
    let step = call.handle(terms, now, 0, Input::Answered);
    assert!(matches!(step.next, Next::Settle(Settlement::Answered)));
    let number = sent.header.identity.unwrap().number;
    lane.settle(number);
    number.0
}

/// One call that fails `failures` times before it is answered; it does not sleep, time is told to have passed.
pub fn fails(terms: &Terms, lane: &mut Lane, clock: Clock, failures: u8, draw: u32) -> u64 {
    let (mut call, _) = Call::<u32>::start(terms, true, clock.now());
    for _ in 0..failures {
        let sent = call.resolved(terms, lane, HERE, WallTime::default()).unwrap();
        black_box(&sent.header);
        let step = call.handle(terms, clock.now(), draw, Input::Failed(Failure::dropped(1)));
        let Next::Sleep { until } = step.next else { panic!("{step:?}") };
        let step = call.handle(terms, until, 0, Input::Timer);
        assert!(matches!(step.next, Next::Resolve(_)));
    }
    let sent = call.resolved(terms, lane, HERE, WallTime::default()).unwrap();
    black_box(&sent.header);
    let step = call.handle(terms, clock.now(), 0, Input::Answered);
    assert!(matches!(step.next, Next::Settle(Settlement::Answered)));
    let number = sent.header.identity.unwrap().number;
    lane.settle(number);
    number.0
}

/// The same by hand: an identity, a deadline, a cap, full jitter, and the first failure kept. It knows no fences, no
/// delivery and no reports.
#[derive(Debug)]
pub struct ByHand {
    /// From the call's start to its cutoff.
    pub deadline: Duration,
    /// The first attempt included.
    pub attempts_max: u8,
}

impl ByHand {
    /// One call, which fails `failures` times.
    ///
    /// # Errors
    /// The first failure, if the attempts or the time are used up.
    pub fn call(&self, numbers: &mut u64, clock: Clock, failures: u8, draw: u32) -> Result<u64, u32> {
        let now = clock.now();
        let cutoff = now.after(self.deadline);
        *numbers += 1;
        let identity = *numbers;
        let mut first = None;
        for attempt in 1..=self.attempts_max {
            black_box((identity, attempt));
            if attempt > failures {
                return Ok(identity);
            }
            let failure = *first.get_or_insert(1);
            let cap = u64::from([500, 1000, 3000, 4000][usize::from(attempt.min(4)) - 1] as u32) * 1_000_000;
            let delay = Duration::from_nanos(cap * u64::from(draw) / u64::from(u32::MAX));
            if clock.now().after(delay) >= cutoff {
                return Err(failure);
            }
        }
        Err(first.unwrap_or_default())
    }
}
