//! Hosts as processes, and what is done to them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use oncemore::marks::MarkTable;
use oncemore::rusqlite::{Connection, OpenFlags, OptionalExtension};
use oncemore::{
    Caller, ClassOptions, ConstructError, Context, Directory, Durability, DurableObject, Host, HostId, Input, ObjectId,
    Output, Record, Remember, RetryOptions,
};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use tokio::time::sleep;

use super::process::{Process, say, told};
use crate::support::dice::{Deck, Dice};
use crate::support::ledger::{Ledger, LedgerStub};

/// One class for each way to remember.
pub(crate) const CLASSES: [&str; 4] = ["ByIncarnation", "ByClock", "Durably", "WithResults"];

/// How many objects each class has.
pub(crate) const OBJECTS: usize = 3;

/// Short, so that many leases run out within the test.
const LEASE: Duration = Duration::from_secs(2);

/// How long the call takes in the middle of which its host is paused.
pub(crate) const WRITING: Duration = Duration::from_millis(500);

/// What the clocks of callers and objects may differ by.
pub(crate) const MARGIN: Duration = Duration::from_millis(200);

const NAMES: [&str; 3] = ["left", "middle", "right"];

/// A ledger of the class with this number.
struct Kept<const CLASS: usize>(Ledger);

impl<const CLASS: usize> DurableObject for Kept<CLASS> {
    const CLASS: &'static str = CLASSES[CLASS];
    type Stub = LedgerStub;
    const MARKS: MarkTable<'static> = Ledger::MARKS;

    fn construct(context: Context) -> LocalBoxFuture<'static, Result<Self, ConstructError>> {
        Box::pin(async { Ok(Self(Ledger::construct(context).await?)) })
    }

    fn dispatch<'a>(&'a self, method: &'a str, input: Input) -> LocalBoxFuture<'a, Output> {
        self.0.dispatch(method, input)
    }
}

/// Which ledger: its class and its number.
pub(crate) type Which = (usize, usize);

pub(crate) fn every_ledger() -> impl Iterator<Item = Which> {
    (0..CLASSES.len()).flat_map(|class| (0..OBJECTS).map(move |number| (class, number)))
}

pub(crate) fn stub(caller: &Caller, (class, number): Which, options: RetryOptions) -> LedgerStub {
    let name = number.to_string();
    match class {
        0 => caller.namespace::<Kept<0>>().get_by_name_with(&name, options),
        1 => caller.namespace::<Kept<1>>().get_by_name_with(&name, options),
        2 => caller.namespace::<Kept<2>>().get_by_name_with(&name, options),
        _ => caller.namespace::<Kept<3>>().get_by_name_with(&name, options),
    }
}

fn id((class, number): Which) -> ObjectId {
    ObjectId::named(CLASSES[class], &number.to_string())
}

const HOST: &str = "ONCEMORE_CHAOS_HOST";
pub(crate) const FOLDER: &str = "ONCEMORE_CHAOS_FOLDER";

pub(crate) fn directory(folder: &Path) -> Directory {
    Directory::open(folder.join("directory.db")).unwrap()
}

/// Serves until it is told to stop, if this process is there for that.
pub(crate) async fn serve() {
    let (Ok(name), Ok(folder)) = (std::env::var(HOST), std::env::var(FOLDER)) else { return };
    // So that it goes with the test even while it is paused.
    set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    let mut commands = told();
    let folder = PathBuf::from(folder);
    // Of the two, a Unix socket keeps its address over restarts.
    let address = match &*name {
        "right" => format!("unix:{}", folder.join("right.socket").display()),
        _ => "127.0.0.1:0".into(),
    };
    let clock = Remember::ByClock { margin: MARGIN };
    let host = Host::builder(&directory(&folder))
        .name(name)
        .class_with::<Kept<0>>(ClassOptions::new().remember(Remember::ByIncarnation))
        .class_with::<Kept<1>>(ClassOptions::new().remember(clock))
        .class_with::<Kept<2>>(ClassOptions::new().remember(Remember::Durably))
        .class_with::<Kept<3>>(ClassOptions::new().remember(Remember::WithResults))
        .storage(folder.join("data"))
        .durability(Durability::Full)
        .listen(address)
        .lease(LEASE)
        .start()
        .await
        .unwrap();
    say(&format!("serves {}", host.id().0));
    if obey(&host, &mut commands).await {
        host.shut_down().await.unwrap();
        say("stopped");
    }
}

/// Returns when it is told to shut down, or false if it has stopped before.
async fn obey(host: &Host, commands: &mut tokio::sync::mpsc::UnboundedReceiver<String>) -> bool {
    let mut moves = FuturesUnordered::new();
    loop {
        let command = tokio::select! {
            why = host.stopped() => {
                say(&format!("stopped by itself: {why:?}"));
                return false;
            }
            Some(()) = moves.next() => continue,
            Some(command) = commands.recv() => command,
        };
        match command.split(' ').collect::<Vec<_>>()[..] {
            ["shutdown"] => return true,
            ["move", class, object, to] => {
                let object = ObjectId::parse(class, object).unwrap();
                let to = to.to_owned();
                moves.push(async move {
                    let moved = host.move_object(&object, &to).await;
                    say(&format!("moved {moved:?}"));
                });
            }
            _ => panic!("nobody understands {command:?}"),
        }
    }
}

/// What is done to hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Strike {
    Kill,
    /// It stays dead until its lease has run out.
    KillForLong,
    KillAll,
    ShutDown,
    Move,
    /// An object is being moved when its host is killed.
    MoveAndKillOwner,
    /// An object is being moved when the host that is to get it is killed.
    MoveAndKillHeir,
    /// SIGSTOP, for a moment.
    Pause,
    /// SIGSTOP, until after its lease has run out, and then SIGCONT.
    PauseForLong,
    /// The same, in the middle of a call that has written and keeps its object's database locked.
    PauseWriter,
    /// SIGKILL to a caller, which is not a host.
    KillCaller,
}

impl Strike {
    pub(crate) const ALL: [Self; 11] = [
        Self::Kill,
        Self::KillForLong,
        Self::KillAll,
        Self::ShutDown,
        Self::Move,
        Self::MoveAndKillOwner,
        Self::MoveAndKillHeir,
        Self::Pause,
        Self::PauseForLong,
        Self::PauseWriter,
        Self::KillCaller,
    ];

    /// What needs less time, or is about one object only, is done more often.
    pub(crate) fn deck() -> Deck<Self> {
        let often = [Self::Move, Self::Move, Self::Kill, Self::KillCaller, Self::Pause];
        Deck::new(Self::ALL.into_iter().chain(often))
    }
}

struct Seat {
    name: &'static str,
    process: Process,
    /// Which life of the host it is.
    id: HostId,
}

/// All hosts.
pub(crate) struct Fleet {
    folder: PathBuf,
    seats: Vec<Seat>,
    dice: Dice,
    /// How often what happened to them.
    pub(crate) counts: HashMap<&'static str, u64>,
}

impl Fleet {
    pub(crate) async fn start(folder: &Path, dice: Dice) -> Self {
        let mut fleet = Self { folder: folder.to_owned(), seats: Vec::new(), dice, counts: HashMap::new() };
        for name in NAMES {
            let seat = fleet.begin(name).await;
            fleet.seats.push(seat);
        }
        fleet
    }

    async fn begin(&self, name: &'static str) -> Seat {
        let environment = [(HOST, name.to_owned()), (FOLDER, self.folder.display().to_string())];
        let mut process = Process::start(format!("the host {name}"), "host_process", &environment);
        let id = process.hear("serves ").await.unwrap_or_else(|| panic!("the host {name} does not start"));
        Seat { name, process, id: HostId(id.parse().unwrap()) }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Starts every host again that has ended.
    pub(crate) async fn revive(&mut self) {
        for index in 0..self.seats.len() {
            if self.seats[index].process.has_ended() {
                if self.seats[index].process.hear("stopped by itself").await.is_some() {
                    self.count("hosts that lost their lease");
                }
                self.seats[index] = self.begin(self.seats[index].name).await;
                self.count("hosts started again");
            }
        }
    }

    /// Strikes at some host, or at the host of this object.
    pub(crate) async fn strike(&mut self, strike: Strike, which: Which) {
        let victim = self.dice.roll(self.seats.len() as u64) as usize;
        match strike {
            Strike::Kill => self.kill(victim).await,
            Strike::KillForLong => {
                self.kill(victim).await;
                sleep(LEASE * 3 / 2).await;
            }
            Strike::KillAll => {
                for index in 0..self.seats.len() {
                    self.kill(index).await;
                }
            }
            Strike::ShutDown => self.shut_down(victim).await,
            Strike::Move | Strike::MoveAndKillOwner | Strike::MoveAndKillHeir => self.hand_over(strike, which).await,
            Strike::Pause => self.pause(victim, LEASE / 4).await,
            Strike::PauseForLong => self.pause(victim, LEASE * 2).await,
            Strike::PauseWriter => {
                sleep(WRITING / 2).await;
                let owner = self.owner(which).unwrap_or(victim);
                self.pause(owner, LEASE * 2).await;
            }
            // Not a host.
            Strike::KillCaller => {}
        }
        self.revive().await;
    }

    async fn kill(&mut self, index: usize) {
        self.seats[index].process.kill().await;
        self.count("hosts killed");
    }

    async fn shut_down(&mut self, index: usize) {
        let process = &mut self.seats[index].process;
        process.tell("shutdown").await;
        // A host that loses its lease meanwhile stops without it.
        process.hear("stopped").await;
        process.end().await;
        self.count("hosts shut down");
    }

    async fn pause(&mut self, index: usize, about: Duration) {
        let id = Pid::from_raw(self.seats[index].process.id()).unwrap();
        kill_process(id, Signal::STOP).unwrap();
        let millis = about.as_millis() as u64;
        sleep(Duration::from_millis(millis / 2 + self.dice.roll(millis))).await;
        kill_process(id, Signal::CONT).unwrap();
        self.count("hosts paused");
    }

    /// Moves an object from its host to another one.
    async fn hand_over(&mut self, strike: Strike, which: Which) {
        // It may belong to a host that was killed, and nobody has called it since.
        let Some(owner) = self.owner(which) else { return self.count("moves of objects that nobody had") };
        let heir = (owner + 1 + self.dice.roll(self.seats.len() as u64 - 1) as usize) % self.seats.len();
        let command = format!("move {} {} {}", CLASSES[which.0], id(which), self.seats[heir].name);
        self.seats[owner].process.tell(&command).await;
        let victims = [(Strike::MoveAndKillOwner, owner), (Strike::MoveAndKillHeir, heir)];
        if let Some((_, victim)) = victims.into_iter().find(|(kills, _)| *kills == strike) {
            // What is hit is some step of the move.
            sleep(Duration::from_millis(self.dice.roll(100))).await;
            self.kill(victim).await;
        }
        self.seats[owner].process.hear("moved").await;
        let arrived = self.record(which).is_some_and(|record| record.host() == self.seats[heir].id);
        self.count(if arrived { "objects moved" } else { "moves overtaken by something else" });
    }

    /// The host of an object, if it is one that lives.
    fn owner(&self, which: Which) -> Option<usize> {
        let record = self.record(which)?;
        self.seats.iter().position(|seat| seat.id == record.host())
    }

    /// What the directory's file says of an object.
    fn record(&self, which: Which) -> Option<Record> {
        let connection =
            Connection::open_with_flags(self.folder.join("directory.db"), OpenFlags::SQLITE_OPEN_READ_ONLY);
        let connection = connection.unwrap();
        connection.busy_timeout(Duration::from_secs(30)).unwrap();
        let sql = "SELECT record FROM objects WHERE class = ?1 AND key = ?2";
        let row = connection.query_row(sql, (CLASSES[which.0], id(which).key()), |row| row.get::<_, Vec<u8>>(0));
        row.optional().unwrap().map(|bytes| rmp_serde::from_slice(&bytes).unwrap())
    }

    /// How many incarnations all objects have had.
    pub(crate) fn incarnations(&self) -> u64 {
        every_ledger().filter_map(|which| self.record(which)).map(|record| record.incarnation().0).sum()
    }

    /// Everything that runs is run to its end, and then only one host is there, on which nothing ever ran.
    pub(crate) async fn settle(&mut self) {
        self.revive().await;
        for index in 0..self.seats.len() {
            self.shut_down(index).await;
        }
        let reader = self.begin(NAMES[0]).await;
        self.seats.push(reader);
    }
}
