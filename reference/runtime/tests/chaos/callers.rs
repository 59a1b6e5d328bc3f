//! Those who call, and what they say of it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use oncemore::{Caller, Delivery, Directory, Entropy, RetryOptions};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::cutting::{Cutting, Point};
use super::hosts::{CLASSES, FOLDER, OBJECTS, Which, directory, stub};
use super::process::{Process, say, told};
use crate::support::dice::{Dice, entropy};
use crate::support::ledger::{LedgerStub, Outcome, Told};

/// How many calls one caller makes at a time.
const LANES: u64 = 4;

const AFTER_NOT_DELIVERED: Duration = Duration::from_millis(100);

/// What becomes of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// Said before anything is sent.
    Begins {
        which: Which,
        token: String,
        method: Method,
    },
    Ends {
        token: String,
        outcome: Outcome,
        attempts: u8,
    },
    Cut(Point),
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Method {
    Unmarked,
    Marked,
    /// Not marked either.
    Throwing,
}

impl Method {
    pub(crate) fn marked(self) -> bool {
        self == Self::Marked
    }
}

pub(crate) type Tell = Arc<dyn Fn(Event) + Send + Sync>;

/// A life of a caller. Equal seeds draw equal things, but what meets what is up to the machine.
pub(crate) fn caller(directory: &Directory, network: Cutting, seed: u64, name: &str, life: u64) -> Caller {
    let entropy = Entropy::seeded(entropy(seed, name, life));
    Caller::builder(directory).network(network).entropy(entropy).build()
}

/// Calls on several lanes at once, until it is enough.
pub(crate) async fn call(caller: Caller, seed: u64, who: &str, enough: Arc<AtomicBool>, tell: Tell) {
    let mut lanes = JoinSet::new();
    for number in 0..LANES {
        let (caller, tell, enough) = (caller.clone(), tell.clone(), enough.clone());
        let (options, dice) = (options(number), Dice::new(seed, who, number));
        let lane = Lane { caller, options, who: format!("{who}-{number}"), dice, stubs: HashMap::new(), tell };
        lanes.spawn(lane.run(enough));
    }
    while let Some(ended) = lanes.join_next().await {
        ended.unwrap();
    }
}

fn options(lane: u64) -> RetryOptions {
    let quick = |cap| RetryOptions::new().backoff(Duration::from_millis(20), 2, Duration::from_millis(cap)).unwrap();
    match lane {
        0 => quick(300).max_retries(2).unwrap().timeout_ms(2000).unwrap(),
        1 => quick(1000).max_retries(10).unwrap(),
        2 => RetryOptions::new().max_retries(0).unwrap(),
        _ => RetryOptions::new(),
    }
}

/// One thing after the other.
struct Lane {
    caller: Caller,
    options: RetryOptions,
    who: String,
    dice: Dice,
    /// They are kept over everything that happens to their objects (C8).
    stubs: HashMap<Which, LedgerStub>,
    tell: Tell,
}

impl Lane {
    async fn run(mut self, enough: Arc<AtomicBool>) {
        let mut number = 0;
        while !enough.load(Ordering::Relaxed) {
            number += 1;
            self.call(number).await;
        }
    }

    async fn call(&mut self, number: u64) {
        let which = (self.dice.roll(CLASSES.len() as u64) as usize, self.dice.roll(OBJECTS as u64) as usize);
        let token = format!("{}-{number}", self.who);
        let method =
            self.dice.pick(&[Method::Unmarked, Method::Unmarked, Method::Marked, Method::Marked, Method::Throwing]);
        let takes_ms = self.dice.pick(&[0, 0, 20, 80]);
        let patience = self.dice.pick(&[5, 40, 150]);
        let gives_up = self.dice.roll(16) == 0;
        let (caller, options) = (&self.caller, self.options);
        let stub = self.stubs.entry(which).or_insert_with(|| stub(caller, which, options)).clone();
        (self.tell)(Event::Begins { which, token: token.clone(), method });
        let call = append(&stub, &token, method, takes_ms);
        let (told, attempts) = if gives_up {
            // The future is dropped in the middle (C7).
            timeout(Duration::from_millis(patience), call)
                .await
                .unwrap_or_else(|_| (Told { token, marked: method.marked(), outcome: Outcome::Untold }, 0))
        } else {
            call.await
        };
        (self.tell)(Event::Ends { token: told.token, outcome: told.outcome, attempts });
        if told.outcome == Outcome::Failed(Delivery::NotDelivered) {
            // Where nobody can be reached, calls that fail at once would be most of all.
            sleep(AFTER_NOT_DELIVERED).await;
        }
    }
}

/// Makes one call. Also returns how many attempts one that failed has made.
pub(crate) async fn append(stub: &LedgerStub, token: &str, method: Method, takes_ms: u64) -> (Told, u8) {
    let written = token.to_owned();
    let result = match method {
        Method::Unmarked => stub.append(written, takes_ms).await,
        Method::Marked => stub.append_marked(written, takes_ms).await,
        Method::Throwing => stub.append_and_throw(written, takes_ms).await,
    };
    let attempts = result.as_ref().err().map_or(0, |error| error.attempts());
    (Told::new(token.to_owned(), method.marked(), &result), attempts)
}

const CALLER: &str = "ONCEMORE_CHAOS_CALLER";
const SEED: &str = "ONCEMORE_CHAOS_SEED";

/// Starts a life of a caller as a process.
pub(crate) fn start(folder: &std::path::Path, seed: u64, life: u64) -> Process {
    let environment = [(CALLER, life.to_string()), (SEED, seed.to_string()), (FOLDER, folder.display().to_string())];
    Process::start(format!("life {life} of the caller"), "caller_process", &environment)
}

/// What a line of a caller's process says.
pub(crate) fn read(line: &str) -> Event {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("a caller said {line:?}: {error}"))
}

/// Calls until it is killed, if this process is there for that.
pub(crate) async fn call_until_killed() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (Some(life), Some(seed), Ok(folder)) = (number(CALLER), number(SEED), std::env::var(FOLDER)) else { return };
    // Nothing is ever told; it ends with the test.
    let _commands = told();
    let network = Cutting::new(Dice::new(seed, "cuts of a process", life), |point| tell_parent(Event::Cut(point)));
    let name = "process";
    let caller = caller(&directory(&PathBuf::from(folder)), network, seed, name, life);
    let enough = Arc::new(AtomicBool::new(false));
    call(caller, seed, &format!("{name}-{life}"), enough, Arc::new(tell_parent)).await;
}

fn tell_parent(event: Event) {
    say(&serde_json::to_string(&event).unwrap());
}
