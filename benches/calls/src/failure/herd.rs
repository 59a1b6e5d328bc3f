//! What a recovering object sees: a thousand calls fail at the same instant, and all come back.

use std::time::Duration;

use oncemore_protocol::backoff::Schedule;

use super::call::{Life, Policy, through_outage};
use crate::report::{Plot, Series, Table, figure};

const SEED: u64 = 5;
const CALLERS: usize = 1_000;
const OUTAGE: Duration = Duration::from_secs(2);
const BUCKET: Duration = Duration::from_millis(50);
const BUCKETS: usize = 180;

/// How a thousand callers retry.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// The default schedule, each caller with draws of its own.
    Jitter,
    /// The same schedule, everybody in the middle of each range.
    NoJitter,
    /// Everybody every second, as a loop by hand does.
    EverySecond,
}

impl Manner {
    const ALL: [Self; 3] = [Self::Jitter, Self::NoJitter, Self::EverySecond];

    const fn name(self) -> &'static str {
        match self {
            Self::Jitter => "the default, with jitter",
            Self::NoJitter => "the same without jitter",
            Self::EverySecond => "every second",
        }
    }

    fn lives(self) -> Vec<Life> {
        let mut draws = fastrand::Rng::with_seed(SEED);
        let second = Duration::from_secs(1);
        let schedule = match self {
            Self::Jitter | Self::NoJitter => Schedule::observed(),
            Self::EverySecond => Schedule::uniform(second, second).unwrap_or_default(),
        };
        let policy = Policy { schedule, ..Policy::default() };
        let mut draw = || match self {
            Self::Jitter => draws.u32(..),
            Self::NoJitter | Self::EverySecond => u32::MAX / 2,
        };
        (0..CALLERS).map(|_| through_outage(policy, OUTAGE, &mut draw)).collect()
    }
}

/// How many attempts reach for the object in each bucket. The first ones, which were there before the outage, are not
/// counted.
fn load(lives: &[Life]) -> Vec<usize> {
    let mut buckets = vec![0; BUCKETS];
    for retry in lives.iter().flat_map(|life| life.attempts.iter().skip(1)) {
        if let Some(count) = buckets.get_mut(bucket(*retry)) {
            *count += 1;
        }
    }
    buckets
}

const fn bucket(at: Duration) -> usize {
    (at.as_millis() / BUCKET.as_millis()) as usize
}

fn last_answer(lives: &[Life]) -> Duration {
    lives.iter().filter_map(|life| life.answered).max().unwrap_or_default()
}

pub(crate) fn measure() -> (Table, Plot) {
    let columns =
        ["", "retries", "most in 50 ms", "most in 50 ms after the outage", "times an even spread", "last answer after"];
    let caption = format!(
        "{CALLERS} calls lose their connection at once, and the object is away for {} s; virtual time, seed {SEED}",
        OUTAGE.as_secs()
    );
    let mut table = Table::new(caption, &columns);
    let mut series = Vec::new();
    // The limit: the default's callers come back one after the other, evenly, in the time that they take.
    let span = last_answer(&Manner::Jitter.lives()) - OUTAGE;
    let even = CALLERS as f64 * BUCKET.as_secs_f64() / span.as_secs_f64();
    for manner in Manner::ALL {
        let lives = manner.lives();
        let buckets = load(&lives);
        let retries: usize = buckets.iter().sum();
        let most = buckets[bucket(OUTAGE)..].iter().copied().max().unwrap_or(0);
        table.row([
            manner.name().into(),
            figure(retries as f64),
            figure(buckets.iter().copied().max().unwrap_or(0) as f64),
            figure(most as f64),
            format!("{:.1}", most as f64 / even),
            format!("{:.2} s", last_answer(&lives).as_secs_f64()),
        ]);
        series.push(Series { name: manner.name().into(), points: points(&buckets) });
    }
    (table, plot(series))
}

fn points(buckets: &[usize]) -> Vec<(f64, f64)> {
    let each = BUCKET.as_secs_f64();
    buckets.iter().enumerate().map(|(index, &count)| (index as f64 * each, count as f64 / each)).collect()
}

fn plot(series: Vec<Series>) -> Plot {
    Plot {
        file: "load-over-time".into(),
        title: format!("Load on an object that is away for {} s, from {CALLERS} callers", OUTAGE.as_secs()),
        x: "seconds since the outage began".into(),
        y: "attempts per second".into(),
        log_x: false,
        log_y: false,
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_jitter_all_come_at_once_and_with_jitter_they_spread() {
        let most = |manner: Manner| load(&manner.lives()).into_iter().max().unwrap();
        assert_eq!((most(Manner::NoJitter), most(Manner::EverySecond)), (CALLERS, CALLERS));
        assert!(most(Manner::Jitter) < CALLERS / 4);
    }

    #[test]
    fn all_are_answered_after_the_outage() {
        for manner in Manner::ALL {
            assert!(manner.lives().iter().all(|life| life.answered.is_some_and(|at| at >= OUTAGE)), "{manner:?}");
        }
    }
}
