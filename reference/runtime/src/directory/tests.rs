//! One suite for every registry, and what is peculiar to files.

mod file;

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use oncemore_protocol::identity::Incarnation;
use oncemore_protocol::time::WallTime;
use tempfile::TempDir;
use tokio::time::advance;

use super::memory::Memory;
use super::sqlite::Sqlite;
use super::*;
use crate::clock::Clock;

const LEASE: Duration = Duration::from_secs(10);

fn host(id: u64, name: &str) -> HostRecord {
    let classes = ["Cart".to_owned(), format!("OnlyOn{id}")].into();
    HostRecord { id: HostId(id), name: name.to_owned(), address: format!("host-{id}:80"), classes }
}

fn cart(name: &str) -> ObjectId {
    ObjectId::named("Cart", name)
}

fn place(host: u64, incarnation: u64) -> Place {
    Place { host: HostId(host), address: format!("host-{host}:80"), incarnation: Incarnation(incarnation) }
}

/// The file stays as long as its folder.
fn in_file() -> (TempDir, Sqlite) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open_with(&folder.path().join("directory.db"), paused(), Duration::ZERO).unwrap();
    (folder, sqlite)
}

/// A wall clock that runs with tokio's time, which a test can pause.
fn paused() -> Clock {
    Clock::starting_at(WallTime::from_nanos(1_700_000_000_000_000_000))
}

/// Runs a test on each registry, with time paused.
macro_rules! on_each_registry {
    ($($test:ident),* $(,)?) => {
        mod memory {
            $(#[tokio::test(start_paused = true)] async fn $test() { super::$test(&super::Memory::default()).await; })*
        }
        mod sqlite {
            $(#[tokio::test(start_paused = true)] async fn $test() {
                let (_folder, sqlite) = super::in_file();
                super::$test(&sqlite).await;
            })*
        }
    };
}

on_each_registry! {
    an_object_goes_to_a_host_that_serves_its_class_and_stays,
    nobody_serves_the_class,
    a_lease_runs_out,
    a_late_host_lives_on_if_nobody_acted_on_its_death,
    a_host_under_the_same_name_replaces_the_earlier_life,
    a_host_that_leaves_gives_up_its_objects,
    a_draining_host_keeps_its_object_until_it_is_dead,
    a_change_needs_the_right_incarnation_and_phase,
    numbers_only_rise_and_records_stay,
    the_living_are_listed_by_name,
}

async fn an_object_goes_to_a_host_that_serves_its_class_and_stays(registry: &impl Registry) {
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    registry.register(&host(2, "b"), LEASE).await.unwrap();
    let only = ObjectId::named("OnlyOn2", "x");
    assert_eq!(registry.look(&only).await.unwrap(), None);
    assert_eq!(registry.resolve(&only).await.unwrap(), place(2, 1));
    assert_eq!(registry.look(&only).await.unwrap(), Some(Record::first(HostId(2))));
    // Where it goes is decided once, whoever comes later.
    let first = registry.resolve(&cart("x")).await.unwrap();
    for id in 3..20 {
        registry.register(&host(id, &id.to_string()), LEASE).await.unwrap();
        assert_eq!(registry.resolve(&cart("x")).await.unwrap(), first);
    }
    // One key in two classes is two objects.
    let same_key = ObjectId::from_key("OnlyOn3", *cart("x").key());
    assert_eq!(registry.resolve(&same_key).await.unwrap(), place(3, 1));
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), first);
}

async fn nobody_serves_the_class(registry: &impl Registry) {
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    let error = registry.resolve(&ObjectId::named("Other", "x")).await.unwrap_err();
    assert!(matches!(&error, DirectoryError::NoHost { class } if class == "Other"), "{error:?}");
    assert_eq!(registry.look(&ObjectId::named("Other", "x")).await.unwrap(), None);

    let only = ObjectId::named("OnlyOn1", "x");
    assert_eq!(registry.resolve(&only).await.unwrap(), place(1, 1));
    registry.leave(HostId(1)).await.unwrap();
    assert!(matches!(registry.resolve(&only).await, Err(DirectoryError::NoHost { .. })));
    assert_eq!(registry.look(&only).await.unwrap(), Some(Record::first(HostId(1))));
}

async fn a_lease_runs_out(registry: &impl Registry) {
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    registry.register(&host(2, "b"), LEASE * 9).await.unwrap();
    advance(LEASE - Duration::from_millis(1)).await;
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    assert!(registry.renew(HostId(1), LEASE).await.unwrap());
    advance(LEASE - Duration::from_millis(1)).await;
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    advance(Duration::from_millis(1)).await;
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(2, 2));
    // Somebody has acted on its death.
    assert!(!registry.renew(HostId(1), LEASE).await.unwrap());
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(2, 2));
}

async fn a_late_host_lives_on_if_nobody_acted_on_its_death(registry: &impl Registry) {
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    advance(LEASE * 2).await;
    assert_eq!(registry.hosts().await.unwrap(), []);
    assert!(matches!(registry.resolve(&cart("x")).await, Err(DirectoryError::NoHost { .. })));
    assert!(registry.renew(HostId(1), LEASE).await.unwrap());
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    assert!(!registry.renew(HostId(7), LEASE).await.unwrap());
}

async fn a_host_under_the_same_name_replaces_the_earlier_life(registry: &impl Registry) {
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    registry.register(&host(2, "a"), LEASE).await.unwrap();
    assert!(!registry.renew(HostId(1), LEASE).await.unwrap());
    assert_eq!(registry.hosts().await.unwrap(), [host(2, "a")]);
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(2, 2));
    // A life that takes another name is still one host.
    registry.register(&host(2, "b"), LEASE).await.unwrap();
    assert_eq!(registry.hosts().await.unwrap(), [host(2, "b")]);
    // What the earlier life does last harms nobody.
    registry.leave(HostId(1)).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(2, 2));
}

async fn a_host_that_leaves_gives_up_its_objects(registry: &impl Registry) {
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    registry.register(&host(2, "b"), LEASE).await.unwrap();
    registry.leave(HostId(1)).await.unwrap();
    assert!(!registry.renew(HostId(1), LEASE).await.unwrap());
    assert_eq!(registry.hosts().await.unwrap(), [host(2, "b")]);
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(2, 2));
}

async fn a_draining_host_keeps_its_object_until_it_is_dead(registry: &impl Registry) {
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    registry.register(&host(2, "b"), LEASE).await.unwrap();
    let draining = registry.change(&cart("x"), Incarnation(1), Change::Drain).await.unwrap().unwrap();
    assert!(draining.draining());
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    registry.leave(HostId(1)).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(2, 2));
    assert!(!registry.look(&cart("x")).await.unwrap().unwrap().draining());
}

async fn a_change_needs_the_right_incarnation_and_phase(registry: &impl Registry) {
    let change = async |owner, change| registry.change(&cart("x"), Incarnation(owner), change).await.unwrap();
    assert_eq!(change(1, Change::Drain).await, None);
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    registry.register(&host(2, "b"), LEASE).await.unwrap();
    let first = registry.resolve(&cart("x")).await.unwrap().host;
    let to = if first == HostId(1) { HostId(2) } else { HostId(1) };

    assert_eq!(change(2, Change::NextIncarnation).await, None);
    assert_eq!(change(1, Change::HandOver(to)).await, None);
    assert_eq!(registry.look(&cart("x")).await.unwrap(), Some(Record::first(first)));
    let next = change(1, Change::NextIncarnation).await.unwrap();
    assert_eq!((next.host(), next.incarnation()), (first, Incarnation(2)));
    assert_eq!(change(1, Change::Drain).await, None);
    assert!(change(2, Change::Drain).await.unwrap().draining());
    let moved = change(2, Change::HandOver(to)).await.unwrap();
    assert_eq!((moved.host(), moved.incarnation(), moved.draining()), (to, Incarnation(3), false));
    assert_eq!(change(3, Change::TakeOver(first)).await.unwrap().incarnation(), Incarnation(4));
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(first.0, 4));
}

async fn numbers_only_rise_and_records_stay(registry: &impl Registry) {
    let mut last = Incarnation(0);
    for life in 1..20 {
        registry.register(&host(life, "a"), LEASE).await.unwrap();
        let place = registry.resolve(&cart("x")).await.unwrap();
        assert!(place.incarnation > last, "{place:?}");
        last = place.incarnation;
        match life % 3 {
            0 => registry.leave(HostId(life)).await.unwrap(),
            1 => advance(LEASE).await,
            _ => {}
        }
        assert_eq!(registry.look(&cart("x")).await.unwrap().map(|record| record.incarnation()), Some(last));
    }
}

async fn the_living_are_listed_by_name(registry: &impl Registry) {
    for (id, name) in [(1, "b"), (2, "a"), (3, "C"), (4, "")] {
        registry.register(&host(id, name), LEASE * u32::try_from(id).unwrap()).await.unwrap();
    }
    let listed = registry.hosts().await.unwrap();
    assert_eq!(listed, [host(4, ""), host(3, "C"), host(2, "a"), host(1, "b")]);
    advance(LEASE * 2).await;
    assert_eq!(registry.hosts().await.unwrap(), [host(4, ""), host(3, "C")]);
}

/// Many change one record at the same time, each over its own handle.
fn race<R: Registry>(handles: Vec<Arc<R>>) {
    let rounds = 20;
    let barrier = Arc::new(Barrier::new(handles.len()));
    block_on(async {
        handles[0].register(&host(1, "a"), LEASE).await.unwrap();
        handles[0].resolve(&cart("x")).await.unwrap();
    });
    let racers = handles.iter().enumerate().map(|(racer, handle)| {
        let (barrier, handle) = (barrier.clone(), handle.clone());
        thread::spawn(move || {
            let to = Change::TakeOver(HostId(racer as u64));
            (1..=rounds)
                .filter_map(|owner| {
                    barrier.wait();
                    block_on(handle.change(&cart("x"), Incarnation(owner), to)).unwrap()
                })
                .collect::<Vec<_>>()
        })
    });
    let racers = racers.collect::<Vec<_>>();
    let mut won: Vec<Record> = racers.into_iter().flat_map(|racer| racer.join().unwrap()).collect();
    won.sort_by_key(Record::incarnation);
    assert_eq!(
        won.iter().map(|record| record.incarnation().0).collect::<Vec<_>>(),
        (2..=rounds + 1).collect::<Vec<_>>()
    );
    assert_eq!(block_on(handles[0].look(&cart("x"))).unwrap(), won.last().copied());
}

/// Many ask at the same time where a new object is: all hear the same.
fn ask_at_once<R: Registry>(handles: Vec<Arc<R>>) {
    block_on(async {
        handles[0].register(&host(1, "a"), LEASE).await.unwrap();
        handles[0].register(&host(2, "b"), LEASE).await.unwrap();
    });
    let barrier = Arc::new(Barrier::new(handles.len()));
    let askers = handles.into_iter().map(|handle| {
        let barrier = barrier.clone();
        thread::spawn(move || {
            barrier.wait();
            (0..20).map(|name| block_on(handle.resolve(&cart(&name.to_string()))).unwrap()).collect::<Vec<_>>()
        })
    });
    let mut heard = askers.collect::<Vec<_>>().into_iter().map(|asker| asker.join().unwrap()).collect::<Vec<_>>();
    assert!(heard[0].iter().all(|place| place.incarnation == Incarnation(1)));
    heard.dedup();
    assert_eq!(heard.len(), 1);
}

fn block_on<R>(future: impl Future<Output = R>) -> R {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn exactly_one_change_wins_in_memory() {
    let memory = Arc::new(Memory::default());
    race(vec![memory; 4]);
}

#[test]
fn exactly_one_change_wins_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let open = |_| Arc::new(Sqlite::open(&folder.path().join("directory.db")).unwrap());
    race((0..4).map(open).collect());
}

#[test]
fn all_who_ask_at_once_hear_the_same() {
    let memory = Arc::new(Memory::default());
    ask_at_once(vec![memory; 4]);
    let folder = tempfile::tempdir().unwrap();
    let open = |_| Arc::new(Sqlite::open(&folder.path().join("directory.db")).unwrap());
    ask_at_once((0..4).map(open).collect());
}
