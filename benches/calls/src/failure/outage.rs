//! Which outages a call survives, and how many attempts it takes.

use std::time::Duration;

use oncemore_protocol::backoff::Schedule;
use oncemore_protocol::limits::Limits;

use super::call::{Policy, through_outage};
use crate::report::{Plot, Series, Table};

const SEED: u64 = 4;

/// The policies that are compared, and what they are called.
fn policies() -> Vec<(&'static str, Policy)> {
    let second = Duration::from_millis(1_437);
    let doubling = Schedule::exponential(Duration::from_millis(100), 2, Duration::from_secs(5));
    let fixed = Schedule::uniform(second, second);
    let limits = |retries, timeout_ms| Limits::new(retries, timeout_ms).unwrap_or_default();
    vec![
        ("the default: 4 retries", Policy::default()),
        ("4 retries, every 1.437 s", Policy { schedule: fixed.unwrap_or_default(), ..Policy::default() }),
        ("4 retries, 100 ms doubled", Policy { schedule: doubling.unwrap_or_default(), ..Policy::default() }),
        ("10 retries, 60 s", Policy { limits: limits(10, 60_000), ..Policy::default() }),
        ("none", Policy { limits: limits(0, 10_000), ..Policy::default() }),
    ]
}

/// What became of many calls through outages of one length.
#[derive(Clone, Copy, Debug)]
struct Share {
    answered: f64,
    attempts: f64,
    /// Seconds from the end of the outage to the answer, for those that were answered.
    late: f64,
}

fn share(policy: Policy, outage: Duration, calls: u32) -> Share {
    let mut draws = fastrand::Rng::with_seed(SEED);
    let lives: Vec<_> = (0..calls).map(|_| through_outage(policy, outage, || draws.u32(..))).collect();
    let answered: Vec<_> = lives.iter().filter_map(|life| life.answered).collect();
    let attempts: usize = lives.iter().map(|life| life.attempts.len()).sum();
    let late: f64 = answered.iter().map(|at| at.saturating_sub(outage).as_secs_f64()).sum();
    Share {
        answered: answered.len() as f64 / f64::from(calls),
        attempts: attempts as f64 / f64::from(calls),
        late: late / answered.len().max(1) as f64,
    }
}

/// How likely it is that the default schedule's four delays together reach this far: what must come out.
///
/// The delays are uniform: the sum's distribution is that of the first, folded with each of the others on a fine grid.
fn predicted(outage: Duration) -> f64 {
    const STEP_MS: usize = 5;
    let mut density = vec![1.0];
    for retry in 1..=4 {
        let range = Schedule::observed().range(retry);
        let grid = |delay: &Duration| delay.as_millis() as usize / STEP_MS;
        density = folded(&density, grid(range.start()), grid(range.end()));
    }
    let from = (outage.as_millis() as usize).div_ceil(STEP_MS).min(density.len());
    density[from..].iter().sum()
}

/// The distribution of a sum: of something, and of what is uniform over these cells.
fn folded(density: &[f64], low: usize, high: usize) -> Vec<f64> {
    let mut sums = vec![0.0; density.len() + high];
    for (place, weight) in density.iter().enumerate() {
        for cell in &mut sums[place + low..place + high] {
            *cell += weight / (high - low) as f64;
        }
    }
    sums
}

/// The table, and the plots of what is bridged and of how many attempts it takes.
pub(crate) fn measure(quick: bool) -> (Table, Vec<Plot>) {
    let calls = if quick { 200 } else { 20_000 };
    let columns = [
        "outage",
        "answered, default",
        "predicted",
        "every 1.437 s",
        "100 ms doubled",
        "10 retries",
        "attempts a call",
        "late by",
    ];
    let caption =
        format!("Calls that an outage catches in flight, of {calls} for each length; virtual time, seed {SEED}");
    let mut table = Table::new(caption, &columns);
    let of = |index: usize, outage| share(policies()[index].1, outage, calls);
    for tenths in [0, 5, 10, 20, 30, 40, 50, 55, 60, 70, 80, 85, 90, 120] {
        let outage = Duration::from_millis(tenths * 100);
        let default = of(0, outage);
        table.row([
            format!("{:.1} s", outage.as_secs_f64()),
            percent(default.answered),
            percent(predicted(outage)),
            percent(of(1, outage).answered),
            percent(of(2, outage).answered),
            percent(of(3, outage).answered),
            format!("{:.2}", default.attempts),
            if default.answered > 0.0 { format!("{:.2} s", default.late) } else { "-".into() },
        ]);
    }
    (table, plots(calls / 4))
}

fn percent(share: f64) -> String {
    // A sum of many parts may be a little less than nothing.
    format!("{:.1} %", share.max(0.0) * 100.0)
}

fn plots(calls: u32) -> Vec<Plot> {
    let lengths: Vec<_> = (0..=120).map(|tenths| Duration::from_millis(tenths * 100)).collect();
    let series = |figure: fn(Share) -> f64| {
        let lines = policies().into_iter().map(|(name, policy)| {
            let points = lengths.iter().map(|&outage| (outage.as_secs_f64(), figure(share(policy, outage, calls))));
            Series { name: name.into(), points: points.collect() }
        });
        lines.collect::<Vec<_>>()
    };
    let plot = |file: &str, title: &str, y: &str, series| Plot {
        file: file.into(),
        title: title.into(),
        x: "length of the outage in seconds".into(),
        y: y.into(),
        log_x: false,
        log_y: false,
        series,
    };
    vec![
        plot(
            "outage-answered",
            "Calls that survive an outage",
            "percent of the calls answered",
            series(|share| share.answered * 100.0),
        ),
        plot("outage-attempts", "Attempts a call", "attempts", series(|share| share.attempts)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_bridges_three_seconds_always_and_eight_and_a_half_never() {
        let answered = |ms| share(Policy::default(), Duration::from_millis(ms), 2_000).answered;
        assert_eq!((answered(3_000), answered(8_501)), (1.0, 0.0));
        assert!(predicted(Duration::from_secs(3)) > 0.999 && predicted(Duration::from_secs(9)) < 0.001);
    }

    #[test]
    fn what_is_measured_is_what_is_predicted() {
        for ms in [4_000, 5_000, 5_750, 6_500, 7_500] {
            let outage = Duration::from_millis(ms);
            let measured = share(Policy::default(), outage, 20_000).answered;
            assert!((measured - predicted(outage)).abs() < 0.015, "{ms} ms: {measured}, {}", predicted(outage));
        }
    }
}
