//! A network that cuts connections, at every point of a call.
//!
//! It stands between callers and hosts, a Unix socket on one side and whatever the host listens on at the other, and
//! reads the messages that pass. Hosts and callers see nothing but connections that end.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use oncemore::{Listener, Network, Sockets, Stream};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use crate::support::dice::{Deck, Dice};
use crate::support::messages::{answered_in, asked_in, read_message};

/// Where a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Point {
    /// It is refused.
    Connecting,
    /// It is made, and lost before the host has been greeted.
    Greeting,
    /// Before the first byte of the request is forwarded.
    BeforeRequest,
    /// In the middle of the request's bytes.
    InRequest,
    /// Once the request has been forwarded.
    AfterRequest,
    /// The caller sees the connection end, and only then the host gets the request.
    LateRequest,
    /// A while after the request was forwarded, and before the host has answered.
    WhileRunning,
    /// The request is forwarded, and from then on nothing passes; the connection stays.
    Silence,
    /// The host has answered, and nothing of that reaches the caller.
    BeforeAnswer,
    /// In the middle of the answer's bytes.
    InAnswer,
    /// Once the answer has been forwarded.
    AfterAnswer,
}

impl Point {
    pub(crate) const ALL: [Self; 11] = [
        Self::Connecting,
        Self::Greeting,
        Self::BeforeRequest,
        Self::InRequest,
        Self::AfterRequest,
        Self::LateRequest,
        Self::WhileRunning,
        Self::Silence,
        Self::BeforeAnswer,
        Self::InAnswer,
        Self::AfterAnswer,
    ];

    /// How many cards of the deck it has: a silence costs a caller many seconds.
    const fn cards(self) -> usize {
        match self {
            Self::Connecting | Self::Greeting => 0,
            Self::Silence => 1,
            Self::BeforeRequest
            | Self::InRequest
            | Self::AfterRequest
            | Self::LateRequest
            | Self::WhileRunning
            | Self::BeforeAnswer
            | Self::InAnswer
            | Self::AfterAnswer => 4,
        }
    }
}

/// One in so many connections, and one in so many attempts, is cut.
const CONNECTIONS_PER_CUT: u64 = 6;
const ATTEMPTS_PER_CUT: u64 = 5;

/// A clone cuts by the same plan.
#[derive(Clone, Debug)]
pub(crate) struct Cutting(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    plan: Mutex<Plan>,
    calm: AtomicBool,
    attempts: AtomicU64,
    /// Told of each cut.
    note: fn(Point),
    cuts: [AtomicU64; Point::ALL.len()],
}

#[derive(Debug)]
struct Plan {
    dice: Dice,
    connections: Deck<Point>,
    attempts: Deck<Point>,
}

impl Cutting {
    pub(crate) fn new(dice: Dice, note: fn(Point)) -> Self {
        let attempts = Point::ALL.into_iter().flat_map(|point| std::iter::repeat_n(point, point.cards()));
        let connections = Deck::new([Point::Connecting, Point::Greeting]);
        let plan = Mutex::new(Plan { dice, connections, attempts: Deck::new(attempts) });
        let (calm, attempts, cuts) = (AtomicBool::new(false), AtomicU64::new(0), Default::default());
        Self(Arc::new(Inner { plan, calm, attempts, note, cuts }))
    }

    /// From now on nothing is cut any more.
    pub(crate) fn calm_down(&self) {
        self.0.calm.store(true, Ordering::Relaxed);
    }

    /// How often each point was hit.
    pub(crate) fn cuts(&self) -> HashMap<Point, u64> {
        let count = |point: Point| self.0.cuts[point as usize].load(Ordering::Relaxed);
        Point::ALL.into_iter().map(|point| (point, count(point))).collect()
    }

    /// How many attempts came as far as the wire.
    pub(crate) fn attempts(&self) -> u64 {
        self.0.attempts.load(Ordering::Relaxed)
    }

    fn hit(&self, point: Point) {
        self.0.cuts[point as usize].fetch_add(1, Ordering::Relaxed);
        (self.0.note)(point);
    }

    fn fate_of_connection(&self) -> Option<Point> {
        self.draw(CONNECTIONS_PER_CUT, |plan| plan.connections.draw(&mut plan.dice))
    }

    fn fate_of_attempt(&self) -> Option<Point> {
        self.0.attempts.fetch_add(1, Ordering::Relaxed);
        self.draw(ATTEMPTS_PER_CUT, |plan| plan.attempts.draw(&mut plan.dice))
    }

    fn draw(&self, one_in: u64, draw: impl FnOnce(&mut Plan) -> Point) -> Option<Point> {
        let mut plan = self.0.plan.lock().unwrap();
        let cut = plan.dice.roll(one_in) == 0 && !self.0.calm.load(Ordering::Relaxed);
        cut.then(|| draw(&mut plan))
    }

    fn roll(&self, sides: u64) -> u64 {
        self.0.plan.lock().unwrap().dice.roll(sides)
    }

    fn millis(&self, below: u64) -> Duration {
        Duration::from_millis(self.roll(below))
    }

    /// Somewhere in the middle of a message.
    fn part<'a>(&self, message: &'a [u8]) -> &'a [u8] {
        &message[..1 + self.roll(message.len() as u64 - 1) as usize]
    }
}

impl Network for Cutting {
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        Box::pin(async move {
            let fate = self.fate_of_connection();
            if fate == Some(Point::Connecting) {
                self.hit(Point::Connecting);
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let host = Sockets.connect(address).await?;
            let (ours, theirs) = UnixStream::pair()?;
            if fate == Some(Point::Greeting) {
                // Both other ends are dropped here.
                self.hit(Point::Greeting);
            } else {
                let between = Between { network: self.clone(), answers: Mutex::default() };
                spawn_local(between.stand(Stream::new(theirs), host));
            }
            Ok(Stream::new(ours))
        })
    }

    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Sockets.listen(address)
    }
}

/// Stands between the two ends of one connection.
struct Between {
    network: Cutting,
    /// What happens to the answers of these questions.
    answers: Mutex<HashMap<u32, Point>>,
}

/// How a connection ends.
enum End {
    /// One side has ended it.
    Closed,
    Cut(Point),
    /// Cut, and the host gets this later.
    Late(Vec<u8>),
    /// It stays, and nothing passes.
    Silent,
}

impl Between {
    async fn stand(self, mut caller: Stream, mut host: Stream) {
        let end = tokio::select! {
            end = self.requests(&mut caller.reader, &mut host.writer) => end,
            end = self.answers(&mut host.reader, &mut caller.writer) => end,
        };
        match end {
            End::Closed => {}
            End::Cut(point) => self.network.hit(point),
            End::Late(request) => {
                self.network.hit(Point::LateRequest);
                drop(caller);
                sleep(self.network.millis(2500)).await;
                // Whether the host is still there, and answers, is all the same.
                host.writer.write_all(&request).await.ok();
                timeout(Duration::from_secs(2), read_message(&mut host.reader)).await.ok();
            }
            End::Silent => {
                self.network.hit(Point::Silence);
                // Until the caller gives the connection up.
                while read_message(&mut caller.reader).await.is_some() {}
            }
        }
    }

    async fn requests(
        &self,
        caller: &mut (impl tokio::io::AsyncRead + Unpin),
        host: &mut (impl tokio::io::AsyncWrite + Unpin),
    ) -> End {
        while let Some(bytes) = read_message(caller).await {
            let asked = asked_in(&bytes);
            let fate = asked.and_then(|question| Some((question, self.network.fate_of_attempt()?)));
            match fate {
                Some((_, point @ Point::BeforeRequest)) => return End::Cut(point),
                Some((_, Point::LateRequest)) => return End::Late(bytes),
                Some((_, point @ Point::InRequest)) => {
                    host.write_all(self.network.part(&bytes)).await.ok();
                    return End::Cut(point);
                }
                Some((question, point)) => self.plan_answer(question, point),
                None => {}
            }
            if host.write_all(&bytes).await.is_err() {
                return End::Closed;
            }
            match fate {
                Some((_, point @ Point::AfterRequest)) => return End::Cut(point),
                Some((_, Point::Silence)) => return End::Silent,
                Some((_, point @ Point::WhileRunning)) => {
                    sleep(self.network.millis(60)).await;
                    return End::Cut(point);
                }
                Some(_) | None => {}
            }
        }
        End::Closed
    }

    fn plan_answer(&self, question: u32, point: Point) {
        // If the host answers before the while is over, that is another point.
        let point = if point == Point::WhileRunning { Point::BeforeAnswer } else { point };
        self.answers.lock().unwrap().insert(question, point);
    }

    async fn answers(
        &self,
        host: &mut (impl tokio::io::AsyncRead + Unpin),
        caller: &mut (impl tokio::io::AsyncWrite + Unpin),
    ) -> End {
        while let Some(bytes) = read_message(host).await {
            let fate = answered_in(&bytes).and_then(|question| self.answers.lock().unwrap().remove(&question));
            match fate {
                Some(point @ Point::BeforeAnswer) => return End::Cut(point),
                Some(point @ Point::InAnswer) => {
                    caller.write_all(self.network.part(&bytes)).await.ok();
                    return End::Cut(point);
                }
                Some(_) | None => {}
            }
            if caller.write_all(&bytes).await.is_err() {
                return End::Closed;
            }
            if fate == Some(Point::AfterAnswer) {
                return End::Cut(Point::AfterAnswer);
            }
        }
        End::Closed
    }
}
