//! Hosts and callers on a simulated network, with faults that a seed decides: the runtime's own TCP transport, on a
//! deterministic executor, so that a seed which finds something finds it again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::cell::RefCell;
use std::error::Error;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use oncemore::{
    Caller, ClassOptions, Clock, Directory, Durability, Entropy, Executor, Host, Listener, Namespace, Network,
    Remember, RetryOptions, Stream, WallTime,
};
use support::dice::{Dice, entropy};
use support::ledger::{Ledger, Told, judge};
use tempfile::TempDir;
use tokio::time::sleep;
use turmoil::net::{TcpListener, TcpStream};
use turmoil::{Builder, Sim};

/// TCP between the simulation's hosts; addresses are `name:port`.
#[derive(Clone, Copy, Debug)]
struct Simulated;

const PORT: u16 = 4000;

impl Network for Simulated {
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        Box::pin(async move { Ok(Stream::new(TcpStream::connect(address).await?)) })
    }

    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let listener = TcpListener::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), PORT)).await?;
            Ok(Box::new(Listening { listener, address: address.to_owned() }) as Box<dyn Listener>)
        })
    }
}

struct Listening {
    listener: TcpListener,
    address: String,
}

impl Listener for Listening {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn accept(&mut self) -> LocalBoxFuture<'_, io::Result<Stream>> {
        Box::pin(async { Ok(Stream::new(self.listener.accept().await?.0)) })
    }
}

const HOSTS: [&str; 2] = ["left", "right"];
const CALLERS: [&str; 2] = ["alice", "bob"];
const CALLS: usize = 8;

/// One simulation: what it uses, and what its callers were told.
struct World {
    seed: u64,
    options: ClassOptions,
    directory: Directory,
    data: TempDir,
    told: Rc<RefCell<Vec<Told>>>,
    entries: Rc<RefCell<Vec<String>>>,
}

impl World {
    fn new(seed: u64, remember: Remember) -> Self {
        Self {
            seed,
            options: ClassOptions::new().remember(remember),
            directory: Directory::in_memory(),
            data: tempfile::tempdir().unwrap(),
            told: Rc::default(),
            entries: Rc::default(),
        }
    }

    fn host(&self, sim: &mut Sim<'_>, name: &'static str) {
        let (directory, data) = (self.directory.clone(), self.data.path().to_owned());
        let (options, seed) = (self.options, self.seed);
        let lives = Rc::new(RefCell::new(0));
        sim.host(name, move || {
            let (directory, data) = (directory.clone(), data.clone());
            *lives.borrow_mut() += 1;
            let life: u64 = *lives.borrow();
            async move {
                let host = Host::builder(&directory)
                    .name(name)
                    .class_with::<Ledger>(options)
                    .storage(data)
                    .durability(Durability::Off)
                    .network(Simulated)
                    .listen(format!("{name}:{PORT}"))
                    .executor(Executor::local())
                    .clock(Clock::starting_at(WallTime::from_nanos(0)))
                    .entropy(Entropy::seeded(entropy(seed, name, life)))
                    .start()
                    .await?;
                host.stopped().await;
                Ok(())
            }
        });
    }

    /// Calls, one after the other, and notes what it is told.
    fn client(&self, sim: &mut Sim<'_>, name: &'static str) {
        let (told, mut dice) = (self.told.clone(), Dice::new(self.seed, name, 1));
        let world = self.caller_parts(name);
        sim.client(name, async move {
            let ledgers: Namespace<Ledger> = world().namespace();
            let ledger = ledgers.get_by_name_with("ledger", RetryOptions::new().timeout_ms(20_000)?);
            for number in 0..CALLS {
                let (token, marked) = (format!("{name}-{number}"), dice.roll(2) == 0);
                let takes_ms = dice.roll(3) * 40;
                let result = match marked {
                    true => ledger.append_marked(token.clone(), takes_ms).await,
                    false => ledger.append(token.clone(), takes_ms).await,
                };
                told.borrow_mut().push(Told::new(token, marked, &result));
                sleep(Duration::from_millis(dice.roll(200))).await;
            }
            Ok(())
        });
    }

    /// A caller is made where it lives, on its own clock.
    fn caller_parts(&self, name: &'static str) -> impl FnOnce() -> Caller + use<> {
        let (directory, seed) = (self.directory.clone(), self.seed);
        move || {
            Caller::builder(&directory)
                .network(Simulated)
                .executor(Executor::local())
                .clock(Clock::starting_at(WallTime::from_nanos(0)))
                .entropy(Entropy::seeded(entropy(seed, name, 0)))
                .build()
        }
    }

    /// Runs until all callers have been told, with a fault now and then.
    fn run(&self) -> Result<(), Box<dyn Error>> {
        let mut sim = Builder::new()
            .rng_seed(self.seed)
            .simulation_duration(Duration::from_secs(600))
            .tick_duration(Duration::from_millis(5))
            .min_message_latency(Duration::from_millis(1))
            .max_message_latency(Duration::from_millis(30))
            .build();
        HOSTS.iter().for_each(|name| self.host(&mut sim, name));
        CALLERS.iter().for_each(|name| self.client(&mut sim, name));
        let mut dice = Dice::new(self.seed, "faults", 0);
        let mut healing = Vec::new();
        let mut now = 0;
        while !sim.step()? {
            now += 1;
            heal(&mut sim, &mut healing, now);
            if now % 20 == 0 && dice.roll(4) == 0 {
                strike(&mut sim, &mut dice, &mut healing, now);
            }
        }
        self.read(sim, healing)
    }

    /// Everything works again, and somebody reads the ledger.
    fn read(&self, mut sim: Sim<'_>, mut healing: Vec<Healing>) -> Result<(), Box<dyn Error>> {
        heal(&mut sim, &mut healing, u64::MAX);
        let (caller, entries) = (self.caller_parts("reader"), self.entries.clone());
        sim.client("reader", async move {
            // The leases of hosts that died run out, and runs that were given up end.
            sleep(Duration::from_secs(5)).await;
            let ledgers: Namespace<Ledger> = caller().namespace();
            *entries.borrow_mut() = ledgers.get_by_name("ledger").entries().await?;
            Ok(())
        });
        sim.run()
    }
}

/// What ends a fault, and at which step.
struct Healing {
    at: u64,
    what: Heal,
}

#[derive(Clone, Copy)]
enum Heal {
    Bounce(&'static str),
    Repair(&'static str, &'static str),
    Release(&'static str, &'static str),
}

fn heal(sim: &mut Sim<'_>, healing: &mut Vec<Healing>, now: u64) {
    healing.retain(|healing| {
        if healing.at > now {
            return true;
        }
        match healing.what {
            Heal::Bounce(host) => sim.bounce(host),
            Heal::Repair(caller, host) => sim.repair(caller, host),
            Heal::Release(caller, host) => sim.release(caller, host),
        }
        false
    });
}

fn strike(sim: &mut Sim<'_>, dice: &mut Dice, healing: &mut Vec<Healing>, now: u64) {
    let host = HOSTS[dice.roll(2) as usize];
    let caller = CALLERS[dice.roll(2) as usize];
    let at = now + 4 + dice.roll(400);
    let what = match dice.roll(3) {
        0 => {
            sim.crash(host);
            Heal::Bounce(host)
        }
        1 => {
            sim.partition(caller, host);
            Heal::Repair(caller, host)
        }
        _ => {
            sim.hold(caller, host);
            Heal::Release(caller, host)
        }
    };
    healing.push(Healing { at, what });
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("ONCEMORE_SEED").unwrap_or(1);
    first..first + number("ONCEMORE_SEEDS").unwrap_or(400)
}

fn simulate(remember: Remember) {
    let mut failures = Vec::new();
    let (mut written, mut failed) = (0, 0);
    for seed in seeds() {
        let world = World::new(seed, remember);
        if let Err(error) = world.run() {
            failures.push(format!("seed {seed}: {error}"));
            continue;
        }
        let told = world.told.borrow();
        assert_eq!(told.len(), CALLS * CALLERS.len(), "L1: seed {seed}: every call ends");
        let good = told.iter().filter(|told| matches!(told.outcome, support::ledger::Outcome::Written { .. })).count();
        written += good;
        failed += told.len() - good;
        failures.extend(judge(&told, &world.entries.borrow()).into_iter().map(|what| format!("seed {seed}: {what}")));
    }
    println!("{remember:?}: {written} calls written, {failed} failed");
    assert!(failures.is_empty(), "ONCEMORE_SEED=N replays one seed\n{}", failures.join("\n"));
    // Otherwise nothing was put to the test.
    assert!(written > 0 && failed > 0, "faults struck, and calls went through");
}

#[test]
fn objects_that_remember_by_incarnation_keep_every_promise() {
    simulate(Remember::ByIncarnation);
}

#[test]
fn objects_that_remember_durably_keep_every_promise() {
    simulate(Remember::Durably);
}

#[test]
fn objects_that_remember_results_keep_every_promise() {
    simulate(Remember::WithResults);
}
