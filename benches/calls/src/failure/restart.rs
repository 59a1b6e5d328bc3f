//! A host is killed with a thousand calls in flight, and started again at once.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use oncemore::{CallError, Caller, Delivery, Entropy, Executor, Namespace, RetryOptions};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, spawn_local};

use super::Failure;
use super::host::{self, How, Ledger, LedgerError, LedgerStub};

/// What is called, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) objects: usize,
    pub(crate) marked: bool,
    pub(crate) how: How,
    pub(crate) retries: bool,
}

/// How many calls there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// In flight when the host is killed.
    pub(crate) in_flight: usize,
    /// Answered before.
    pub(crate) before: usize,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// From the kill until the host served again.
    pub(crate) back: Duration,
    /// From the kill to each answer that came after it, in order.
    pub(crate) answers: Vec<Duration>,
    /// Calls whose callers were told that they failed.
    pub(crate) lost: usize,
    /// Of these, the ones whose effect is there.
    pub(crate) effects_of_lost: usize,
    /// Calls whose effect is there twice or more.
    pub(crate) twice: usize,
}

/// One call, as its caller was told.
struct Told {
    token: String,
    /// When.
    at: Instant,
    delivery: Option<Delivery>,
}

pub(crate) async fn run(case: Case, size: Size) -> Result<Outcome, Failure> {
    let folder = tempfile::tempdir()?;
    let mut process = host::start(folder.path(), case.how).await?;
    let ledgers = ledgers(&folder, case)?;
    // Every object has begun before.
    for ledger in &ledgers {
        ledger.runs().await?;
    }
    let (calls, answered) = begin(&ledgers, case, size);
    answered.wait_for(size.before).await;
    process.start_kill()?;
    process.wait().await?;
    let killed = Instant::now();
    let _process = host::start(folder.path(), case.how).await?;
    let back = killed.elapsed();
    let mut told = Vec::new();
    for call in calls {
        told.push(call.await?);
    }
    let mut runs = BTreeMap::new();
    for ledger in &ledgers {
        runs.extend(ledger.with_retries().runs().await?);
    }
    judge(case, &told, &runs, killed, back)
}

/// How long as many calls take that nothing happens to.
pub(crate) async fn undisturbed(case: Case, size: Size) -> Result<Duration, Failure> {
    let folder = tempfile::tempdir()?;
    let _process = host::start(folder.path(), case.how).await?;
    let ledgers = ledgers(&folder, case)?;
    for ledger in &ledgers {
        ledger.runs().await?;
    }
    let began = Instant::now();
    let (calls, _) = begin(&ledgers, case, Size { before: 0, ..size });
    for call in calls {
        call.await?;
    }
    Ok(began.elapsed())
}

trait WithRetries {
    fn with_retries(&self) -> Self;
}

impl WithRetries for LedgerStub {
    fn with_retries(&self) -> Self {
        Self::from(self.as_stub().with_options(RetryOptions::new()))
    }
}

fn ledgers(folder: &TempDir, case: Case) -> Result<Vec<LedgerStub>, Failure> {
    let caller = Caller::builder(&host::directory(folder.path())?).executor(Executor::local());
    let namespace: Namespace<Ledger> = caller.entropy(Entropy::seeded(3)).build().namespace();
    let options = RetryOptions::new().max_retries(if case.retries { 4 } else { 0 })?;
    Ok((0..case.objects).map(|name| namespace.get_by_name_with(&name.to_string(), options)).collect())
}

/// Counts answers.
#[derive(Clone, Default)]
struct Answered(Rc<(Cell<usize>, Notify)>);

impl Answered {
    fn one_more(&self) {
        self.0.0.set(self.0.0.get() + 1);
        self.0.1.notify_one();
    }

    async fn wait_for(&self, count: usize) {
        while self.0.0.get() < count {
            self.0.1.notified().await;
        }
    }
}

/// All calls at once, evenly over the objects.
fn begin(ledgers: &[LedgerStub], case: Case, size: Size) -> (Vec<JoinHandle<Told>>, Answered) {
    let answered = Answered::default();
    // One object is busy with its storage; many would be done before the kill.
    let takes_ms = if ledgers.len() == 1 { 0 } else { 20 };
    let calls = (0..size.in_flight + size.before).map(|number| {
        let (ledger, answered) = (ledgers[number % ledgers.len()].clone(), answered.clone());
        spawn_local(async move {
            let token = format!("call-{number}");
            let outcome = match case.marked {
                true => ledger.run_marked(token.clone(), takes_ms).await,
                false => ledger.run(token.clone(), takes_ms).await,
            };
            if outcome.is_ok() {
                answered.one_more();
            }
            Told {
                token,
                at: Instant::now(),
                delivery: outcome.err().map(|error: CallError<LedgerError>| error.delivery()),
            }
        })
    });
    (calls.collect(), answered)
}

/// Counts, and fails if a promise was broken.
fn judge(
    case: Case,
    told: &[Told],
    runs: &BTreeMap<String, u32>,
    killed: Instant,
    back: Duration,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome { back, ..Outcome::default() };
    for Told { token, at, delivery } in told {
        let runs = runs.get(token).copied().unwrap_or_default();
        match delivery {
            None if runs == 0 => return Err(format!("{token} was answered, and its effect is not there").into()),
            None if *at > killed => outcome.answers.push(*at - killed),
            None => {}
            Some(Delivery::NotDelivered) if runs > 0 => {
                return Err(format!("{token} was said not to have been delivered, and its effect is there").into());
            }
            Some(_) => {
                outcome.lost += 1;
                outcome.effects_of_lost += usize::from(runs > 0);
            }
        }
        if runs > 1 && !case.marked {
            return Err(format!("{token} is not marked, and ran {runs} times").into());
        }
        outcome.twice += usize::from(runs > 1);
    }
    outcome.answers.sort();
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of one call, which ran so often.
    fn judged(marked: bool, delivery: Option<Delivery>, runs: u32) -> Result<Outcome, Failure> {
        let case = Case { objects: 1, marked, how: How::ByIncarnation, retries: true };
        let killed = Instant::now();
        let told = Told { token: "a".into(), at: killed + Duration::from_millis(5), delivery };
        judge(case, &[told], &BTreeMap::from([("a".into(), runs)]), killed, Duration::ZERO)
    }

    #[test]
    fn a_broken_promise_fails_the_command() {
        for marked in [false, true] {
            assert!(judged(marked, None, 0).is_err(), "answered without an effect");
            assert!(judged(marked, Some(Delivery::NotDelivered), 1).is_err(), "said not to have run");
        }
        assert!(judged(false, None, 2).is_err(), "unmarked, twice");
    }

    #[test]
    fn what_may_be_is_counted() {
        let answered = judged(false, None, 1).unwrap();
        assert_eq!((answered.answers, answered.lost), (vec![Duration::from_millis(5)], 0));
        let lost = judged(false, Some(Delivery::Unknown), 1).unwrap();
        assert_eq!((lost.lost, lost.effects_of_lost), (1, 1));
        assert_eq!(judged(true, None, 2).unwrap().twice, 1);
    }
}
