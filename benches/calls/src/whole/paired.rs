//! What retries cost: the same call with and without, in short slices that alternate.

use super::Effort;
use super::load;
use super::rival::{Failure, Field, Kind};
use crate::report::{Aim, Table};
use crate::statistics::{median, quantile};

/// What is compared: with, without, and what lies between the two. The first is what the aim speaks of.
const PAIRS: [(Kind, Kind, &str); 4] = [
    (Kind::HandRetryable, Kind::HandOnce, "machine, identity and claim, beside none of them"),
    (Kind::Stub, Kind::NoRetries, "a stub, beside a stub with max_retries(0)"),
    (Kind::Stub, Kind::HandRetryable, "a stub, beside a retryable client by hand"),
    (Kind::Stub, Kind::HandOnce, "a stub, beside a client by hand without retries"),
];

const IN_FLIGHT: [usize; 2] = [1, 256];

/// What a retryable call may cost more, as a part of a call.
const AIM: f64 = 0.03;

/// One pair, with so many calls in flight.
pub(crate) struct Cost {
    what: &'static str,
    in_flight: usize,
    /// Time a call with, over time a call without, for each pair of slices.
    time: Vec<f64>,
    processor: Vec<f64>,
}

pub(super) async fn costs(field: &Field, effort: Effort) -> Result<Vec<Cost>, Failure> {
    let mut costs = Vec::new();
    for in_flight in IN_FLIGHT {
        for (with, without, what) in PAIRS {
            let mut cost = Cost { what, in_flight, time: Vec::new(), processor: Vec::new() };
            let (with, without) = (field.rival(with)?, field.rival(without)?);
            for pair in 0..effort.pairs {
                // A, B, B, A: whoever goes first has no advantage.
                let first = if pair % 2 == 0 { &with } else { &without };
                let second = if pair % 2 == 0 { &without } else { &with };
                let first = load::round(first, in_flight, effort.slice).await?;
                let second = load::round(second, in_flight, effort.slice).await?;
                let (with, without) = if pair % 2 == 0 { (first, second) } else { (second, first) };
                cost.time.push(without.per_second() / with.per_second());
                cost.processor.push(with.processor_each() / without.processor_each());
            }
            costs.push(cost);
        }
    }
    Ok(costs)
}

pub(crate) fn table(costs: &[Cost]) -> Table {
    let columns =
        ["over TCP", "in flight", "time a call", "half of the pairs within", "processor a call", "half within"];
    let mut table = Table::new("What retries cost: with, as a multiple of without, in alternating slices", &columns);
    for cost in costs {
        table.row([
            cost.what.into(),
            cost.in_flight.to_string(),
            format!("{:.3}", median(&cost.time)),
            middle(&cost.time),
            format!("{:.3}", median(&cost.processor)),
            middle(&cost.processor),
        ]);
    }
    table
}

fn middle(ratios: &[f64]) -> String {
    format!("{:.3} to {:.3}", quantile(ratios, 0.25), quantile(ratios, 0.75))
}

/// What a call over loopback takes more for the machinery of retries.
pub(crate) fn aims(costs: &[Cost]) -> Vec<Aim> {
    let of_all = costs.iter().filter(|cost| cost.what == PAIRS[0].2);
    let aim = |cost: &Cost| {
        let what = format!("retries' part of a call over TCP on loopback, {} in flight", cost.in_flight);
        let figure = median(&cost.time) - 1.0;
        let missed = if figure < AIM { String::new() } else { format!("{:.1} points", (figure - AIM) * 100.0) };
        let show = |share: f64| format!("{:.1} %", share * 100.0);
        Aim { what, figure: show(figure), aimed: show(AIM), missed }
    };
    of_all.map(aim).collect()
}

/// Whether the aim is met, in words.
pub(crate) fn verdict(costs: &[Cost]) -> String {
    let of = |what: &'static str| costs.iter().filter(move |cost| cost.what == what);
    let aim = of(PAIRS[0].2).map(|cost| {
        let more = median(&cost.time) - 1.0;
        let judged =
            if more < AIM { "met".to_owned() } else { format!("missed by {:.1} points", (more - AIM) * 100.0) };
        format!("{}: {judged}", percent(cost))
    });
    let others = PAIRS[1..].iter().map(|(_, _, what)| {
        let figures: Vec<_> = of(what).map(percent).collect();
        format!("{what}, {}", figures.join(" and "))
    });
    let why = match of(PAIRS[0].2).any(|cost| median(&cost.time) - 1.0 >= AIM) {
        true => {
            " What stands in the way: the largest single part of it in a profile is what the object's gate does for each \
             attempt; the rest is spread thin."
        }
        false => "",
    };
    format!(
        "**Aim: the machinery of retries, on both sides, costs less than {:.0} % of a call over loopback.** The caller's \
         machine, the identity on its way and the object's claim together, over TCP: {}.{why} Short slices with and without \
         alternate; shown is the median of their ratios, and half the width of the middle half. In the same way: {}. With \
         `max_retries(0)` a call has the same machine and identity, and so the same price.",
        AIM * 100.0,
        aim.collect::<Vec<_>>().join("; "),
        others.collect::<Vec<_>>().join("; ")
    )
}

fn percent(cost: &Cost) -> String {
    let more = (median(&cost.time) - 1.0) * 100.0;
    let spread = (quantile(&cost.time, 0.75) - quantile(&cost.time, 0.25)) * 50.0;
    format!("{more:+.1} % (± {spread:.1}) with {} in flight", cost.in_flight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(time: [f64; 3]) -> Vec<Cost> {
        let cost = |(_, _, what)| Cost { what, in_flight: 1, time: time.to_vec(), processor: vec![1.0; 3] };
        PAIRS.map(cost).into()
    }

    #[test]
    fn the_verdict_says_of_each_pair_how_much_and_of_the_first_whether_it_is_enough() {
        let met = verdict(&costs([1.01, 1.02, 1.03]));
        assert_eq!(met.matches("+2.0 % (± 0.5) with 1 in flight").count(), PAIRS.len(), "{met}");
        assert!(met.contains("in flight: met."), "{met}");
        let missed = verdict(&costs([1.04, 1.05, 1.06]));
        assert!(missed.contains("in flight: missed by 2.0 points."), "{missed}");
    }

    #[test]
    fn the_table_has_a_row_for_each_pair() {
        assert_eq!(table(&costs([1.0; 3])).rows.len(), PAIRS.len());
    }
}
