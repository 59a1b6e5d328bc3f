//! One call on virtual time: the caller's machine itself, without a clock, a network or an object.

use std::time::Duration;

use oncemore_protocol::backoff::Schedule;
use oncemore_protocol::caller::{Call, Input, Next, Settlement, Terms};
use oncemore_protocol::failure::Failure;
use oncemore_protocol::identity::{CallerId, Incarnation};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::limits::Limits;
use oncemore_protocol::rules::Spec;
use oncemore_protocol::time::{Time, WallTime};

/// How a call is retried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Policy {
    pub(crate) schedule: Schedule,
    pub(crate) limits: Limits,
}

/// When its attempts reached for the object, and when it was answered, if it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Life {
    pub(crate) attempts: Vec<Duration>,
    pub(crate) answered: Option<Duration>,
}

/// A call whose first attempt is lost when an outage begins. Until the outage is over no connection is made; from then on
/// attempts are answered at once.
pub(crate) fn through_outage(policy: Policy, outage: Duration, mut draw: impl FnMut() -> u32) -> Life {
    let Policy { schedule, limits } = policy;
    let terms = Terms::<Spec> { schedule, limits, ..Terms::default() };
    let mut lane = Lane::new(CallerId::from_bits(1));
    let (mut call, mut step) = Call::start(&terms, true, Time::ORIGIN);
    let (mut now, mut life) = (Time::ORIGIN, Life::default());
    loop {
        let elapsed = now.since(Time::ORIGIN);
        let input = match step.next {
            Next::Resolve(_) => {
                life.attempts.push(elapsed);
                let connected = life.attempts.len() == 1 || elapsed >= outage;
                let sent = connected && call.resolved(&terms, &mut lane, Incarnation::FIRST, WALL).is_ok();
                match (sent, life.attempts.len()) {
                    (true, 1) => Input::Failed(Failure::dropped(())),
                    (true, _) => Input::Answered,
                    (false, _) => Input::Failed(Failure::unreachable(())),
                }
            }
            Next::Sleep { until } => {
                now = until;
                Input::Timer
            }
            Next::Settle(settlement) => {
                life.answered = (settlement == Settlement::Answered).then_some(elapsed);
                return life;
            }
            Next::Wait => return life,
        };
        step = call.handle(&terms, now, draw(), input);
    }
}

const WALL: WallTime = WallTime::from_nanos(0);

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(life: &Life) -> Vec<f64> {
        life.attempts.iter().map(Duration::as_secs_f64).collect()
    }

    #[test]
    fn the_least_draws_give_up_after_three_seconds_and_the_greatest_after_eight_and_a_half() {
        let outage = Duration::from_secs(60);
        let least = through_outage(Policy::default(), outage, || 0);
        assert_eq!((seconds(&least), least.answered), (vec![0.0, 0.0, 0.0, 1.0, 3.0], None));
        let greatest = through_outage(Policy::default(), outage, || u32::MAX);
        assert_eq!((seconds(&greatest), greatest.answered), (vec![0.0, 0.5, 1.5, 4.5, 8.5], None));
    }

    #[test]
    fn the_first_attempt_after_the_outage_is_answered() {
        let life = through_outage(Policy::default(), Duration::from_secs(1), || u32::MAX);
        assert_eq!((seconds(&life), life.answered), (vec![0.0, 0.5, 1.5], Some(Duration::from_millis(1500))));
    }

    #[test]
    fn without_retries_the_call_is_lost() {
        let limits = Limits::new(0, 10_000).unwrap();
        let life = through_outage(Policy { limits, ..Policy::default() }, Duration::ZERO, || 0);
        assert_eq!((life.attempts.len(), life.answered), (1, None));
    }
}
