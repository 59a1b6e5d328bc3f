//! What all scenarios of a run come to.

use std::fmt::Write as _;
use std::time::Duration;

use oncemore_model::explore::{Coverage, Tags};
use oncemore_model::judge::Branch;

use super::check_text::in_short;
use super::layout::{Layout, hang};
use crate::commands::check::{Checked, NotRun};
use crate::exit::Exit;
use crate::output::{BAD, GOOD, OPEN, WEAK, styled};
use crate::units::{count, metric, odds, seconds};

/// How many of the largest are told of.
const LARGEST: usize = 3;

/// What a run of several scenarios comes to.
#[derive(Debug)]
pub(crate) struct Totals<'a> {
    /// Whether it was to be the standard suite, whole.
    pub(crate) is_suite: bool,
    /// Those that were run.
    pub(crate) checked: &'a [Checked],
    /// Those that were not, since the command was to end.
    pub(crate) not_run: &'a [NotRun],
    /// On how many threads.
    pub(crate) threads: usize,
    /// What all of it took.
    pub(crate) elapsed: Duration,
    /// R6: the branches that no scenario took, if that can be said.
    pub(crate) untaken: Option<Vec<Branch>>,
}

/// The branches that none of these took. Nothing can be said of a branch if not all of each was seen.
pub(crate) fn untaken(checked: &[Checked]) -> Option<Vec<Branch>> {
    let is_whole = checked.iter().all(|checked| checked.judgement.coverage == Coverage::Exhausted);
    let fired = checked.iter().fold(Tags::EMPTY, |fired, checked| fired.union(checked.judgement.fired));
    is_whole.then(|| Branch::ALL.iter().copied().filter(|&branch| !fired.contains(branch as u8)).collect())
}

impl Totals<'_> {
    /// How the command ends.
    pub(crate) fn exit(&self) -> Exit {
        let ran = self.checked.iter().map(Checked::exit).max().unwrap_or_default();
        let missing = if self.not_run.is_empty() { Exit::AsExpected } else { Exit::Cut };
        let are_some_untaken = self.untaken.as_ref().is_some_and(|untaken| !untaken.is_empty());
        let branches = if are_some_untaken { Exit::NotAsExpected } else { Exit::AsExpected };
        ran.max(missing).max(branches)
    }

    pub(crate) fn text(&self, layout: Layout) -> String {
        let mut text = String::from("\n");
        text.push_str(&self.largest(layout));
        text.push_str(&self.branches(layout));
        text.push_str(&self.sums());
        if self.checked.len() > 1 {
            let bad = self.checked.iter().filter(|checked| checked.exit() == Exit::NotAsExpected);
            text.extend(bad.map(|checked| in_short(checked, layout)));
        }
        text.push_str(&self.verdict());
        text
    }

    fn sum(&self, what: fn(&Checked) -> f64) -> f64 {
        self.checked.iter().map(what).sum()
    }

    fn sums(&self) -> String {
        let unique: u64 = self.checked.iter().map(|checked| checked.judgement.counts.states).sum();
        let generated: u64 = self.checked.iter().map(|checked| checked.judgement.counts.generated).sum();
        let exploring = self.sum(|checked| checked.judgement.counts.elapsed.as_secs_f64());
        let threads = if self.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", self.threads) };
        // Odds this small add up.
        let shared = self.sum(|checked| checked.judgement.collision_odds);
        format!(
            "{} unique and {} generated states in {} on {threads}, {} unique states/s\n\
             the odds that somewhere two states shared a fingerprint, so that one was not looked at: {}\n",
            count(unique),
            count(generated),
            seconds(self.elapsed),
            metric(unique as f64 / exploring.max(1e-9)),
            odds(shared),
        )
    }

    fn largest(&self, layout: Layout) -> String {
        let mut by_size: Vec<_> = self.checked.iter().collect();
        by_size.sort_by_key(|checked| std::cmp::Reverse(checked.judgement.counts.states));
        let name = layout.name;
        let head = format!(
            "      {:name$}  {:>11}  {:>12}  {:>12}  {:>12}",
            "the largest", "states", "unique/s", "generated/s", "bytes/state"
        );
        let mut text = format!("{}\n", styled(WEAK, &head));
        for Checked { selected, judgement, .. } in by_size.into_iter().take(LARGEST) {
            let counts = judgement.counts;
            let rate = |number: u64| metric(number as f64 / counts.elapsed.as_secs_f64().max(1e-9));
            let bytes = judgement.explore_peak_bytes.map(|bytes| metric(bytes as f64 / counts.states.max(1) as f64));
            let _ = writeln!(
                text,
                "      {:name$}  {:>11}  {:>12}  {:>12}  {:>12}",
                selected.scenario.name,
                count(counts.states),
                rate(counts.states),
                rate(counts.generated),
                bytes.unwrap_or_default(),
            );
        }
        text.push('\n');
        text
    }

    fn branches(&self, layout: Layout) -> String {
        match self.untaken.as_deref() {
            None => String::new(),
            Some([]) => format!("every branch of the rules was taken: {} of them (R6)\n", Branch::ALL.len()),
            Some(untaken) => {
                let count = untaken.len();
                let head = format!("never taken, of {} branches of the rules: {count} (R6)\n", Branch::ALL.len());
                let mut text = styled(BAD, &head);
                for branch in untaken {
                    let first = format!("      {:9}  {}: ", branch.rule(), branch.name());
                    text.push_str(&hang(&first, branch.text(), layout.width));
                }
                text
            }
        }
    }

    fn verdict(&self) -> String {
        let number = |exit| self.checked.iter().filter(|checked| checked.exit() == exit).count();
        let (fine, bad, cut) = (number(Exit::AsExpected), number(Exit::NotAsExpected), number(Exit::Cut));
        let all = self.checked.len() + self.not_run.len();
        let scenarios = if all == 1 { "scenario" } else { "scenarios" };
        let mut parts = vec![styled(GOOD, &format!("{fine} as expected"))];
        if bad > 0 {
            parts.push(styled(BAD, &format!("{bad} not as expected")));
        }
        if cut > 0 {
            parts.push(styled(OPEN, &format!("{cut} cut")));
        }
        if !self.not_run.is_empty() {
            parts.push(styled(OPEN, &format!("{} not run", self.not_run.len())));
        }
        format!("{all} {scenarios}: {}\n", parts.join(", "))
    }
}
