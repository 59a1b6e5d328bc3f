//! Real processes, real sockets: hosts are killed, paused, restarted and shut down, objects are moved and connections
//! cut while callers call, and afterwards the objects' own ledgers show whether every promise was kept.
//!
//! `ONCEMORE_SEED` decides the plan of faults and calls, `ONCEMORE_CALLS` how many calls are made at least. Equal
//! seeds plan the same; what meets what depends on the machine too, so that a seed which has found something may have
//! to be tried again.
//!
//! ```sh
//! ONCEMORE_CALLS=10000 cargo test -p oncemore --test chaos -- --nocapture
//! ```

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "chaos/callers.rs"]
mod callers;
#[path = "chaos/cutting.rs"]
mod cutting;
#[path = "chaos/hosts.rs"]
mod hosts;
#[path = "chaos/process.rs"]
mod process;
#[path = "chaos/report.rs"]
mod report;
mod support;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use callers::{Event, Method, Tell, append};
use cutting::{Cutting, Point};
use hosts::{CLASSES, Fleet, MARGIN, OBJECTS, Strike, WRITING, Which, every_ledger, stub};
use oncemore::{Caller, RetryOptions};
use report::Report;
use support::dice::{Deck, Dice};
use support::ledger::{Outcome, Told, judge};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Callers in this process; one more is a process of its own.
const CALLERS: [&str; 3] = ["alice", "bob", "carol"];

/// How many calls are made at least, and as many more as it takes until every strike has come up.
const CALLS: u64 = 600;

/// One strike for so many calls that have been told of; where strikes take longer than these, one follows the other.
const CALLS_PER_STRIKE: u64 = 20;

/// A process of its own, started by the test below: a host.
#[tokio::test]
async fn host_process() {
    hosts::serve().await;
}

/// A process of its own, started by the test below: a caller.
#[tokio::test]
async fn caller_process() {
    callers::call_until_killed().await;
}

#[tokio::test]
async fn every_promise_is_kept_while_everything_breaks() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = number("ONCEMORE_SEED").unwrap_or(clock.as_millis() as u64 % 1_000_000);
    let calls = number("ONCEMORE_CALLS").unwrap_or(CALLS);
    println!("ONCEMORE_SEED={seed} ONCEMORE_CALLS={calls} plans the same again");
    let at_most = Duration::from_secs(120) + Duration::from_millis(500) * u32::try_from(calls).unwrap();
    let chaos = timeout(at_most, Chaos::run(seed, calls)).await;
    let report = chaos.unwrap_or_else(|_| panic!("seed {seed}: the calls have not ended within {at_most:?}"));
    println!("{report}");
    report.verify();
}

/// What is going on.
struct Chaos<'a> {
    seed: u64,
    folder: &'a Path,
    fleet: Fleet,
    network: Cutting,
    book: Book,
    events: mpsc::UnboundedReceiver<Event>,
    strikes: HashMap<Strike, u64>,
    calling: Calling,
}

/// Those who call.
struct Calling {
    callers: Vec<Caller>,
    tasks: JoinSet<()>,
    tell: Tell,
    process: process::Process,
    lives: u64,
}

/// What callers said, of each call.
#[derive(Default)]
struct Book {
    told: HashMap<String, (Which, Told)>,
    ended: u64,
    /// Cuts that processes told of.
    cuts: HashMap<Point, u64>,
    /// Attempts of calls that failed.
    attempts_failed: u64,
}

impl Book {
    fn note(&mut self, event: Event) {
        match event {
            Event::Begins { which, token, method } => {
                let told = Told { token: token.clone(), marked: method.marked(), outcome: Outcome::Untold };
                self.told.insert(token, (which, told));
            }
            Event::Ends { token, outcome, attempts } => {
                self.told.get_mut(&token).unwrap().1.outcome = outcome;
                self.attempts_failed += u64::from(attempts);
                self.ended += 1;
            }
            Event::Cut(point) => *self.cuts.entry(point).or_default() += 1,
        }
    }

    /// What was said of the calls to one object.
    fn of(&self, ledger: Which) -> Vec<Told> {
        let of_ledger = self.told.values().filter(|(which, _)| *which == ledger);
        of_ledger.map(|(_, told)| told.clone()).collect()
    }
}

impl Chaos<'_> {
    async fn run(seed: u64, calls: u64) -> Report {
        let began = Instant::now();
        let folder = tempfile::tempdir().unwrap();
        let fleet = Fleet::start(folder.path(), Dice::new(seed, "fleet", 0)).await;
        let network = Cutting::new(Dice::new(seed, "cuts", 0), |_| {});
        let (tell, events) = mpsc::unbounded_channel();
        let tell: Tell = Arc::new(move |event| drop(tell.send(event)));
        let enough = Arc::new(AtomicBool::new(false));
        let directory = hosts::directory(folder.path());
        let (mut callers, mut tasks) = (Vec::new(), JoinSet::new());
        for name in CALLERS {
            let caller = callers::caller(&directory, network.clone(), seed, name, 1);
            callers.push(caller.clone());
            let (enough, tell) = (enough.clone(), tell.clone());
            tasks.spawn(async move { callers::call(caller, seed, name, enough, tell).await });
        }
        let process = callers::start(folder.path(), seed, 1);
        let calling = Calling { callers, tasks, tell, process, lives: 1 };
        let (book, strikes) = (Book::default(), HashMap::new());
        let mut chaos = Chaos { seed, folder: folder.path(), fleet, network, book, events, strikes, calling };
        chaos.rage(calls, &enough).await;
        chaos.calm_down().await;
        chaos.report(began).await
    }

    /// Strikes again and again, until so many calls have ended.
    async fn rage(&mut self, calls: u64, enough: &AtomicBool) {
        let mut dice = Dice::new(self.seed, "strikes", 0);
        let mut deck = Strike::deck();
        let mut next = CALLS_PER_STRIKE;
        loop {
            tokio::select! {
                ended = self.calling.tasks.join_next() => match ended {
                    Some(ended) => ended.unwrap(),
                    None => return,
                },
                Some(event) = self.events.recv() => self.book.note(event),
                Some(line) = self.calling.process.line() => self.book.note(callers::read(&line)),
            }
            if self.book.ended >= next && !enough.load(Ordering::Relaxed) {
                self.strike(&mut deck, &mut dice).await;
                next = self.book.ended + 1 + dice.roll(2 * CALLS_PER_STRIKE);
            }
            if self.book.ended >= calls && Strike::ALL.iter().all(|strike| self.strikes.contains_key(strike)) {
                enough.store(true, Ordering::Relaxed);
            }
        }
    }

    async fn strike(&mut self, deck: &mut Deck<Strike>, dice: &mut Dice) {
        let strike = deck.draw(dice);
        *self.strikes.entry(strike).or_default() += 1;
        let which = (dice.roll(CLASSES.len() as u64) as usize, dice.roll(OBJECTS as u64) as usize);
        self.fleet.revive().await;
        if strike == Strike::PauseWriter {
            self.begin_to_write(which);
        }
        self.fleet.strike(strike, which).await;
        if strike == Strike::KillCaller {
            self.kill_caller().await;
            self.calling.lives += 1;
            self.calling.process = callers::start(self.folder, self.seed, self.calling.lives);
        }
    }

    /// Makes a call that takes its time, and keeps its object's database locked meanwhile.
    fn begin_to_write(&mut self, which: Which) {
        let token = format!("writer-{}", self.strikes[&Strike::PauseWriter]);
        let stub = stub(&self.calling.callers[0], which, RetryOptions::new());
        let tell = self.calling.tell.clone();
        self.calling.tasks.spawn(async move {
            let method = Method::Unmarked;
            tell(Event::Begins { which, token: token.clone(), method });
            let (told, attempts) = append(&stub, &token, method, WRITING.as_millis() as u64).await;
            tell(Event::Ends { token, outcome: told.outcome, attempts });
        });
    }

    /// What it had said until then still counts.
    async fn kill_caller(&mut self) {
        self.calling.process.kill().await;
        while let Some(line) = self.calling.process.line().await {
            self.book.note(callers::read(&line));
        }
    }

    /// Nothing breaks any more: every object can be reached, by every caller, through the connections that there are
    /// (P16).
    async fn calm_down(&mut self) {
        self.kill_caller().await;
        self.network.calm_down();
        self.fleet.revive().await;
        while let Ok(event) = self.events.try_recv() {
            self.book.note(event);
        }
        for (number, caller) in self.calling.callers.iter().enumerate() {
            for which in every_ledger() {
                let stub = stub(caller, which, RetryOptions::new());
                let mut answered = false;
                // The first of them may meet what is left of the chaos, and who remembers by clock refuses what is
                // called until its margin after it began.
                for time in 0..5 {
                    if time > 0 {
                        sleep(MARGIN * 2).await;
                    }
                    let token = format!("calm-{number}-{}-{}-{time}", which.0, which.1);
                    let told = append(&stub, &token, Method::Unmarked, 0).await.0;
                    answered = matches!(told.outcome, Outcome::Written { .. });
                    self.book.told.insert(token, (which, told));
                    if answered {
                        break;
                    }
                }
                assert!(answered, "P16: seed {}: {which:?} cannot be called any more", self.seed);
            }
        }
        self.fleet.settle().await;
    }

    async fn report(mut self, began: Instant) -> Report {
        let mut wrong = Vec::new();
        let reader = Caller::new(&hosts::directory(self.folder));
        for which in every_ledger() {
            let entries = stub(&reader, which, RetryOptions::new()).entries().await;
            let entries = entries.unwrap_or_else(|error| panic!("seed {}: {which:?}: {error}", self.seed));
            wrong.extend(judge(&self.book.of(which), &entries).into_iter().map(|what| format!("{which:?}: {what}")));
        }
        for (point, count) in self.network.cuts() {
            *self.book.cuts.entry(point).or_default() += count;
        }
        Report {
            seed: self.seed,
            took: began.elapsed(),
            told: self.book.told.into_values().collect(),
            attempts: self.network.attempts(),
            attempts_failed: self.book.attempts_failed,
            cuts: self.book.cuts,
            strikes: self.strikes,
            caller_lives: self.calling.lives,
            incarnations: self.fleet.incarnations(),
            counts: self.fleet.counts,
            wrong,
        }
    }
}
