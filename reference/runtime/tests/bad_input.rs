//! What is not as it should be: a clear error that says what, where and what to do; nothing lost; and whoever is not
//! concerned is served as before.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[allow(
    missing_docs, unreachable_pub, unused_qualifications, dead_code, clippy::all, clippy::restriction, clippy::pedantic, clippy::nursery,
    reason = "generated from schema/oncemore.capnp"
)]
#[rustfmt::skip]
#[path = "../src/oncemore_capnp.rs"]
mod oncemore_capnp;
#[path = "support/peers.rs"]
mod peers;
mod support;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oncemore::rusqlite::Connection;
use oncemore::{
    CallError, Cause, Context, Delivery, Directory, DirectoryError, Durability, Executor, Host, HostBuilder, HostError,
    Kind, Namespace, Network, Never, ObjectId, Reason, RetryOptions, Stop, StorageError, UserError, durable_object,
};
use peers::Peer;
use serde::{Deserialize, Serialize};
use support::ledger::{Ledger, LedgerError, LedgerStub};
use support::{World, on_virtual_time};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

/// Passes long texts around.
struct Echo;

#[durable_object]
impl Echo {
    #[construct]
    fn new(_context: Context) -> Self {
        Self
    }

    async fn length(&self, text: String) -> usize {
        text.len()
    }

    async fn text(&self, length: usize) -> String {
        "x".repeat(length)
    }
}

/// Under the same name, a class whose methods differ.
mod other {
    use super::*;

    pub(crate) struct Other;

    #[durable_object(class = "Echo")]
    impl Other {
        #[construct]
        fn new(_context: Context) -> Self {
            Self
        }

        /// It is a number on the host's side.
        async fn text(&self, length: String) -> String {
            length
        }

        /// It returns a number on the host's side.
        async fn length(&self, text: String) -> Vec<String> {
            vec![text]
        }

        async fn no_such(&self) {}
    }
}

use other::Other;

fn builder(world: &World, name: &str) -> HostBuilder {
    let builder = Host::builder(&world.directory).name(name).storage(world.data.path()).durability(Durability::Off);
    builder.network(world.network.clone()).listen(name).executor(Executor::local())
}

async fn echo_host(world: &World) -> Host {
    builder(world, "only").class::<Echo>().start().await.unwrap()
}

/// What a test says of an error: it is of this kind, went this far, and its text holds these words.
#[track_caller]
fn assert_error<E: UserError>(error: &CallError<E>, kind: Kind, delivery: Delivery, words: &[&str]) {
    let text = error.to_string();
    assert_eq!((error.kind(), error.delivery()), (kind, delivery), "{error:?}");
    assert!(!error.remote(), "{error:?}");
    assert_words(&text, words);
}

#[track_caller]
fn assert_words(text: &impl fmt::Display, words: &[&str]) {
    let text = text.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

#[track_caller]
fn reason<E: fmt::Debug>(error: &CallError<E>) -> Reason {
    let Cause::Host(failure) = error.cause() else { panic!("the host says nothing of it: {error:?}") };
    failure.reason()
}

#[test]
fn a_class_that_nobody_serves() {
    on_virtual_time(async {
        let world = World::new();
        let _host = echo_host(&world).await;
        let ledgers: Namespace<Ledger> = world.caller().namespace();
        let error = ledgers.get_by_name("a").entries().await.unwrap_err();
        assert_error(&error, Kind::Disconnected, Delivery::NotDelivered, &["no living host serves the class Ledger"]);
        assert!(matches!(error.cause(), Cause::Directory(_)), "{error:?}");
    });
}

#[test]
fn a_host_that_does_not_serve_the_class_any_more() {
    on_virtual_time(async {
        let world = World::new();
        let first = builder(&world, "only").class::<Ledger>().start().await.unwrap();
        let ledger = world.caller().namespace::<Ledger>().get_by_name("a");
        ledger.append("1".into(), 0).await.unwrap();
        drop(first);
        // Under the same name and at the same address, but the stub remembers where the object was.
        let _second = echo_host(&world).await;
        let error = ledger.append("2".into(), 0).await.unwrap_err();
        assert_eq!(error.delivery(), Delivery::NotDelivered, "{error:?}");
        assert_words(&error, &["Ledger"]);
    });
}

#[test]
fn methods_and_arguments_and_results_that_do_not_fit() {
    on_virtual_time(async {
        let world = World::new();
        let _host = echo_host(&world).await;
        let caller = world.caller();
        let (echo, other) = (caller.namespace::<Echo>().get_by_name("a"), caller.namespace::<Other>().get_by_name("a"));

        let error = other.no_such().await.unwrap_err();
        assert_error(&error, Kind::Unimplemented, Delivery::Delivered, &["no method no_such", "Echo(\"a\")"]);
        assert_eq!((reason(&error), error.attempts()), (Reason::UnknownMethod, 1));

        let error = other.text("five".into()).await.unwrap_err();
        assert_error(
            &error,
            Kind::Failed,
            Delivery::Delivered,
            &["text does not take these arguments", "wrong msgpack marker"],
        );
        assert_eq!((reason(&error), error.attempts()), (Reason::MalformedArguments, 1));

        let stub = echo.as_stub();
        for call in [
            stub.call::<_, usize, Never>("length", &("one", "too many")).await,
            stub.call::<_, usize, Never>("length", &()).await,
            stub.call::<_, usize, Never>("length", &"no list").await,
        ] {
            assert_eq!(reason(&call.unwrap_err()), Reason::MalformedArguments);
        }

        let error = other.length("four".into()).await.unwrap_err();
        assert_error(&error, Kind::Failed, Delivery::Delivered, &["cannot be read as the method's type"]);
        assert!(matches!(error.cause(), Cause::Returned(_)), "{error:?}");

        assert_eq!(echo.length("four".into()).await.unwrap(), 4, "the others are served");
    });
}

#[test]
fn a_fetch_of_an_object_that_has_none() {
    on_virtual_time(async {
        let world = World::new();
        let _host = echo_host(&world).await;
        let echo = world.caller().namespace::<Echo>().get_by_name("a");
        let request = oncemore::Request::new(bytes::Bytes::new());
        let error = echo.as_stub().fetch::<Never>(request).await.unwrap_err();
        assert_error(&error, Kind::Unimplemented, Delivery::Delivered, &["no method fetch"]);
        // `fetch` takes a request, and nothing else.
        let error = echo.as_stub().call::<_, (), Never>("fetch", &()).await.unwrap_err();
        assert_error(
            &error,
            Kind::Failed,
            Delivery::NotDelivered,
            &["the host only cannot read the attempt", "`fetch`"],
        );
        assert_eq!(reason(&error), Reason::MalformedAttempt);
    });
}

#[test]
fn an_argument_that_cannot_be_written() {
    /// As a map whose length nobody knows.
    struct Unwritable;

    impl Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("it does not want to"))
        }
    }

    on_virtual_time(async {
        let world = World::new();
        let _host = echo_host(&world).await;
        let echo = world.caller().namespace::<Echo>().get_by_name("a");
        let error = echo.as_stub().call::<_, (), Never>("length", &(Unwritable,)).await.unwrap_err();
        assert_error(&error, Kind::Failed, Delivery::NotDelivered, &["cannot be written", "it does not want to"]);
        assert_eq!(error.attempts(), 0);
    });
}

#[test]
#[should_panic(expected = "is of another class than this namespace")]
fn an_id_of_another_class_is_a_mistake_in_the_program() {
    let world = World::new();
    let echoes: Namespace<Echo> = world.caller().namespace();
    drop(echoes.get(&ObjectId::named("Ledger", "a")));
}

const LONGEST: usize = 64 << 20;

#[test]
fn what_is_too_long_is_refused_and_the_connection_stays() {
    on_virtual_time(async {
        let world = World::new();
        let _host = echo_host(&world).await;
        let echo = world.caller().namespace::<Echo>().get_by_name("a");
        // MessagePack needs a few bytes of its own.
        assert_eq!(echo.length("x".repeat(LONGEST - 16)).await.unwrap(), LONGEST - 16);
        assert_eq!(echo.text(LONGEST - 16).await.unwrap().len(), LONGEST - 16);

        let error = echo.length("x".repeat(LONGEST)).await.unwrap_err();
        assert_error(&error, Kind::Failed, Delivery::NotDelivered, &["at most 67108864 can be sent"]);
        assert!(matches!(error.cause(), Cause::TooLong { .. }) && error.attempts() == 0, "{error:?}");

        let error = echo.text(LONGEST).await.unwrap_err();
        assert_error(&error, Kind::Failed, Delivery::Delivered, &["what the method text returned", "at most 67108864"]);
        assert_eq!((reason(&error), error.attempts()), (Reason::AnswerTooLong, 1));
    });
}

#[test]
fn names_and_addresses_count_towards_the_length() {
    on_virtual_time(async {
        let world = World::new();
        let _host = echo_host(&world).await;
        let echoes: Namespace<Echo> = world.caller().namespace();
        let long = "x".repeat(LONGEST + (2 << 20));
        let error = echoes.get_by_name(&long).length(String::new()).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::TooLong { .. }), "the object's name: {:?}", error.kind());
        let echo = echoes.get_by_name("a");
        let error = echo.as_stub().call::<_, (), Never>(&long, &()).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::TooLong { .. }), "the method's name: {:?}", error.kind());
        assert_eq!(echo.length("four".into()).await.unwrap(), 4);
    });
}

/// What a call through this network is told. It tries twice.
async fn call_over(network: impl Network) -> CallError<LedgerError> {
    let world = World::new();
    let _host = builder(&world, "only").class::<Ledger>().start().await.unwrap();
    let options = RetryOptions::new().max_retries(1).unwrap().timeout_ms(60_000).unwrap();
    let ledger = world.caller_over(network).namespace::<Ledger>().get_by_name_with("a", options);
    ledger.append("1".into(), 0).await.unwrap_err()
}

#[test]
fn a_peer_that_is_no_host() {
    const GARBAGE: &[u8] = &[0xa5; 4096];
    const HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    /// One segment of 2³² − 1 words.
    const ENDLESS: &[u8] = &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    on_virtual_time(async {
        for (peer, words) in [
            (Peer::ClosesAtOnce, "does not speak Oncemore"),
            (Peer::NeverAnswers, "did not answer in time"),
            (Peer::Says(GARBAGE), "does not speak Oncemore"),
            (Peer::Says(HTTP), "does not speak Oncemore"),
            (Peer::Says(ENDLESS), "does not speak Oncemore"),
            (Peer::OtherInterface, "does not speak Oncemore"),
            (Peer::OtherVersion, "it speaks version 7 of the protocol, and this program only version 1"),
        ] {
            let error = call_over(peer).await;
            // No attempt is sent before the greeting is answered.
            let words = ["its host at only could not be reached", words];
            assert_error(&error, Kind::Disconnected, Delivery::NotDelivered, &words);
            assert!(matches!(error.cause(), Cause::Connect { .. }) && error.attempts() == 2, "{peer:?}: {error:?}");
        }
    });
}

#[test]
fn a_host_of_a_newer_version() {
    const REFUSED: u16 = 3;
    on_virtual_time(async {
        for peer in [Peer::Answers { case: 99, value: 0 }, Peer::Answers { case: REFUSED, value: 999 }] {
            let error = call_over(peer).await;
            let words = ["its host answered something that cannot be read", "the peer is newer"];
            assert_error(&error, Kind::Failed, Delivery::Unknown, &words);
            assert!(matches!(error.cause(), Cause::Answer(_)) && error.attempts() == 1, "{peer:?}: {error:?}");
        }
    });
}

/// A call of an interface that no host has, with the bootstrap before it.
fn call_of_another_interface() -> Vec<u8> {
    use capnp_rpc::rpc_capnp::message;
    let mut bytes = Vec::new();
    let mut bootstrap = capnp::message::Builder::new_default();
    bootstrap.init_root::<message::Builder<'_>>().init_bootstrap().set_question_id(0);
    capnp::serialize::write_message(&mut bytes, &bootstrap).unwrap();
    let mut call = capnp::message::Builder::new_default();
    let mut body = call.init_root::<message::Builder<'_>>().init_call();
    body.set_question_id(1);
    body.set_interface_id(0xdead);
    body.reborrow().init_target().init_promised_answer().set_question_id(0);
    capnp::serialize::write_message(&mut bytes, &call).unwrap();
    bytes
}

#[test]
fn a_caller_that_talks_nonsense_disturbs_nobody() {
    on_virtual_time(async {
        let world = World::new();
        let _host = builder(&world, "only").class::<Ledger>().start().await.unwrap();
        let ledger = world.caller().namespace::<Ledger>().get_by_name("a");
        ledger.append("before".into(), 0).await.unwrap();
        let another = call_of_another_interface();
        let cut = another.len() - 12;
        let nonsense: [&[u8]; 7] = [
            b"",
            b"GET / HTTP/1.1\r\nHost: only\r\n\r\n",
            &[0xa5; 4096],
            &[0xff; 64],
            &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3],
            &another,
            &another[..cut],
        ];
        let mut open = Vec::new();
        for bytes in nonsense {
            let mut stream = world.network.connect("only").await.unwrap();
            stream.writer.write_all(bytes).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            open.push(stream);
            ledger.append("meanwhile".into(), 0).await.unwrap();
        }
        // It is told that the host has no such method.
        let mut answer = vec![0; 4096];
        let count = open[5].reader.read(&mut answer).await.unwrap();
        assert!(count > 0, "an answer to a valid message");
        drop(open);
        assert_eq!(ledger.entries().await.unwrap().len(), 8);
    });
}

/// A seed's worth of bytes.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(step).collect()
}

#[test]
fn frames_with_noise_in_them_disturb_nobody() {
    on_virtual_time(async {
        let world = World::new();
        let _host = builder(&world, "only").class::<Ledger>().start().await.unwrap();
        let ledger = world.caller().namespace::<Ledger>().get_by_name("a");
        let good = call_of_another_interface();
        for seed in 0..300 {
            let mut stream = world.network.connect("only").await.unwrap();
            let mut bytes = good.clone();
            let noise = noise(seed, 64);
            // A few bytes of what was valid change, but never the frame's own.
            for pair in noise.chunks(16) {
                let at = 8 + usize::from(pair[0]) % (bytes.len() - 8);
                bytes[at] = pair[1];
            }
            stream.writer.write_all(&bytes).await.ok();
            sleep(Duration::from_millis(10)).await;
        }
        ledger.append("after".into(), 0).await.unwrap();
    });
}

/// The only object's database.
fn database(data: &Path) -> PathBuf {
    let mut files = fs::read_dir(data.join("Ledger")).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|extension| extension == "sqlite")).unwrap()
}

/// An object has written; its host is gone; something happens to its file; another host begins. Returns what a call is told.
async fn after(happens: impl FnOnce(&Path)) -> (World, Host, LedgerStub, CallError<LedgerError>) {
    let world = World::new();
    let first = builder(&world, "only").class::<Ledger>().start().await.unwrap();
    let ledger = world.caller().namespace::<Ledger>().get_by_name("a");
    ledger.append("1".into(), 0).await.unwrap();
    first.shut_down().await.unwrap();
    happens(&database(world.data.path()));
    let second = builder(&world, "only").class::<Ledger>().start().await.unwrap();
    let error = ledger.append("2".into(), 0).await.unwrap_err();
    (world, second, ledger, error)
}

#[test]
fn a_damaged_database() {
    on_virtual_time(async {
        let damage = |path: &Path| {
            let mut bytes = fs::read(path).unwrap();
            bytes[4096..].fill(0xa5);
            fs::write(path, &bytes).unwrap();
        };
        let (world, _host, _, error) = after(damage).await;
        assert_error(&error, Kind::Failed, Delivery::Delivered, &["is damaged", ".sqlite", "restore it from a backup"]);
        assert_eq!(reason(&error), Reason::Storage);
        let healthy = world.caller().namespace::<Ledger>().get_by_name("b");
        healthy.append("1".into(), 0).await.unwrap();
    });
}

#[test]
fn a_file_that_is_no_database() {
    on_virtual_time(async {
        let text = b"Dear diary, this is not a database. ".repeat(400);
        let (world, _host, _, error) = after(|path| fs::write(path, &text).unwrap()).await;
        assert_error(&error, Kind::Failed, Delivery::Delivered, &["not the storage of an object", "move it away"]);
        assert_eq!(fs::read(database(world.data.path())).unwrap(), text);
    });
}

#[test]
fn a_database_of_another_version() {
    on_virtual_time(async {
        let change = |path: &Path, version| {
            Connection::open(path).unwrap().pragma_update(None, "user_version", version).unwrap();
        };
        let (world, _host, ledger, error) = after(|path| change(path, 7)).await;
        let words = ["has format 7, and this program understands 1", "use a program of that format"];
        assert_error(&error, Kind::Failed, Delivery::Delivered, &words);
        change(&database(world.data.path()), 1);
        ledger.append("3".into(), 0).await.unwrap();
        assert_eq!(ledger.entries().await.unwrap(), ["1", "3"], "nothing was lost");
    });
}

#[test]
fn a_locked_database() {
    on_virtual_time(async {
        let mut other = None;
        let lock = |path: &Path| {
            let connection = Connection::open(path).unwrap();
            connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
            other = Some(connection);
        };
        let (world, _host, ledger, _) = after(lock).await;
        // A stub of its own, so that its first failure is this one.
        let fresh: Namespace<Ledger> = world.caller().namespace();
        let error = fresh.get_by_name("a").append("2".into(), 0).await.unwrap_err();
        let words = ["is locked by another connection", "close the program that uses it"];
        assert_error(&error, Kind::Disconnected, Delivery::NotDelivered, &words);
        assert!(error.attempts() > 1, "whoever holds it may let go of it soon: {error:?}");
        drop(other);
        ledger.append("3".into(), 0).await.unwrap();
        assert_eq!(ledger.entries().await.unwrap(), ["1", "3"], "nothing was lost");
    });
}

#[test]
fn a_disk_that_is_full() {
    on_virtual_time(async {
        let world = World::new();
        let _host = builder(&world, "only").class::<Ledger>().pages_max(16).start().await.unwrap();
        let ledgers: Namespace<Ledger> = world.caller().namespace();
        let (ledger, other) = (ledgers.get_by_name("a"), ledgers.get_by_name("b"));
        ledger.append("small".into(), 0).await.unwrap();
        let error = ledger.append("x".repeat(100_000), 0).await.unwrap_err();
        assert_eq!(error.delivery(), Delivery::Delivered, "{error:?}");
        assert_words(&error, &["has no room for this write", "make room on its disk"]);
        other.append("small".into(), 0).await.unwrap();
        ledger.append("small again".into(), 0).await.unwrap();
        assert_eq!(ledger.entries().await.unwrap(), ["small", "small again"], "nothing was lost");
    });
}

/// A host on real sockets.
fn on_sockets(directory: &Directory, data: &Path) -> HostBuilder {
    Host::builder(directory).class::<Ledger>().storage(data).durability(Durability::Off)
}

#[tokio::test]
async fn a_port_in_use() {
    let data = tempfile::tempdir().unwrap();
    let directory = Directory::in_memory();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let error = on_sockets(&directory, data.path()).listen(&address).start().await.unwrap_err();
    assert!(matches!(error, HostError::Listen { .. }), "{error:?}");
    assert_words(&error, &["cannot listen on", &address, "in use"]);
    drop(taken);
    on_sockets(&directory, data.path()).listen(&address).start().await.unwrap();

    for nonsense in ["nonsense", "127.0.0.1:99999", "unix:/no/such/folder/host.socket", ""] {
        let error = on_sockets(&directory, data.path()).listen(nonsense).start().await.unwrap_err();
        assert!(matches!(error, HostError::Listen { .. }), "{nonsense}: {error:?}");
    }
}

#[tokio::test]
async fn a_socket_that_a_killed_host_left_behind_is_replaced_and_no_other_file_is() {
    let data = tempfile::tempdir().unwrap();
    let directory = Directory::in_memory();
    let path = data.path().join("host.socket");
    let address = format!("unix:{}", path.display());
    // The file outlives its listener.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let host = on_sockets(&directory, data.path()).listen(&address).start().await.unwrap();
    let error = on_sockets(&directory, data.path()).listen(&address).start().await.unwrap_err();
    assert_words(&error, &["cannot listen on", &address, "in use"]);
    drop(host);

    let thesis = data.path().join("thesis.txt");
    fs::write(&thesis, "years of work").unwrap();
    let address = format!("unix:{}", thesis.display());
    let error = on_sockets(&directory, data.path()).listen(&address).start().await.unwrap_err();
    assert!(matches!(error, HostError::Listen { .. }), "{error:?}");
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "years of work");
}

#[tokio::test]
async fn a_host_that_is_told_too_little() {
    let directory = Directory::in_memory();
    let error = Host::builder(&directory).storage("data").start().await.unwrap_err();
    assert_words(&error, &["serves no class", "HostBuilder::class"]);
    let error = Host::builder(&directory).class::<Ledger>().start().await.unwrap_err();
    assert_words(&error, &["no folder", "HostBuilder::storage"]);
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_made() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("file");
    fs::write(&file, "").unwrap();
    let error = on_sockets(&Directory::in_memory(), &file.join("data")).start().await.unwrap_err();
    assert!(matches!(error, HostError::Storage { .. }), "{error:?}");
    assert_words(&error, &["file/data", "cannot be used", "Not a directory"]);
}

#[test]
fn a_directory_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("directory.db");
    let text = b"Dear diary, this is not a database. ".repeat(400);
    fs::write(&path, &text).unwrap();
    let error = Directory::open(&path).unwrap_err();
    assert!(matches!(error, DirectoryError::Foreign { .. }), "{error:?}");
    assert_words(&error, &["directory.db", "choose another one"]);
    assert_eq!(fs::read(&path).unwrap(), text, "it is left alone");

    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let error = Directory::open(&path).unwrap_err();
    assert!(matches!(error, DirectoryError::Foreign { .. }), "{error:?}");

    fs::remove_file(&path).unwrap();
    drop(Directory::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let error = Directory::open(&path).unwrap_err();
    assert_words(&error, &["has version 7, and this program understands 1"]);

    let error = Directory::open(folder.path()).unwrap_err();
    assert_words(&error, &["cannot be used"]);
    let error = Directory::open(path.join("below")).unwrap_err();
    assert!(matches!(error, DirectoryError::Io { .. }), "{error:?}");
}

#[tokio::test]
async fn a_directory_whose_pages_are_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("directory.db");
    let directory = Directory::open(&path).unwrap();
    let host = on_sockets(&directory, folder.path()).start().await.unwrap();
    host.shut_down().await.unwrap();
    drop(directory);
    // The last handle to it writes the log back.
    Connection::open(&path).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let error = match Directory::open(&path) {
        Err(error) => HostError::from(error),
        Ok(directory) => on_sockets(&directory, folder.path()).start().await.unwrap_err(),
    };
    assert!(matches!(error, HostError::Directory(DirectoryError::File { .. })), "{error:?}");
    assert_words(&error, &["directory.db", "malformed"]);
    assert_eq!(fs::read(&path).unwrap(), bytes, "it is left alone");
}

#[test]
fn a_host_that_is_started_twice() {
    on_virtual_time(async {
        let world = World::new();
        let first = builder(&world, "only").class::<Ledger>().start().await.unwrap();
        let ledger = world.caller().namespace::<Ledger>().get_by_name("a");
        ledger.append("1".into(), 0).await.unwrap();
        // At the same address it cannot start, and changes nothing.
        let error = builder(&world, "only").class::<Ledger>().start().await.unwrap_err();
        assert_words(&error, &["cannot listen on only", "already"]);
        ledger.append("2".into(), 0).await.unwrap();
        // Elsewhere it takes the place of the first, which learns of it and stops.
        let second = builder(&world, "only").listen("elsewhere").class::<Ledger>().start().await.unwrap();
        ledger.append("3".into(), 0).await.unwrap();
        assert_eq!(first.stopped().await, Stop::LeaseLost);
        assert_eq!(ledger.entries().await.unwrap(), ["1", "2", "3"]);
        second.shut_down().await.unwrap();
    });
}

/// What an object's code gets to see.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
struct Told(String);

impl UserError for Told {}

impl From<StorageError> for Told {
    fn from(error: StorageError) -> Self {
        Self(error.to_string())
    }
}

/// An object that asks for what storage refuses.
struct Curious {
    context: Context,
}

#[durable_object]
impl Curious {
    #[construct]
    fn new(context: Context) -> Self {
        Self { context }
    }

    async fn try_to(&self, sql: String) -> Result<(), Told> {
        Ok(self.context.storage().execute_batch(&sql)?)
    }

    async fn read_as_number(&self) -> Result<Option<u32>, Told> {
        self.context.storage().put("text", &"four")?;
        Ok(self.context.storage().get("text")?)
    }
}

#[test]
fn code_that_asks_storage_for_what_it_may_not_have() {
    on_virtual_time(async {
        let world = World::new();
        let _host = builder(&world, "only").class::<Curious>().start().await.unwrap();
        let curious = world.caller().namespace::<Curious>().get_by_name("a");
        for (sql, words) in [
            ("COMMIT", "begins or ends a transaction"),
            ("DELETE FROM oncemore_claims", "names that begin with oncemore_ are the runtime's"),
            ("PRAGMA synchronous = OFF", "has the pragma synchronous"),
            ("nonsense", "syntax error"),
        ] {
            let error = curious.try_to(sql.into()).await.unwrap_err();
            assert!(error.remote(), "{error:?}");
            assert_words(&error, &[words]);
        }
        let error = curious.read_as_number().await.unwrap_err();
        assert_words(&error, &["the value under the key \"text\" is not of the type that was asked for"]);
        curious.try_to("CREATE TABLE fine (a)".into()).await.unwrap();
    });
}
