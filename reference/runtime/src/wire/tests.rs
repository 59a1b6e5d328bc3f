//! What is written is read back as it was, and what nobody wrote is refused without a panic.

use std::sync::Arc;

use bytes::Bytes;
use oncemore_protocol::failure::{Delivery, Kind, Refusal};
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number, Ordinal, Unsettled};
use oncemore_protocol::time::WallTime;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::*;

fn identities() -> impl Strategy<Value = Identity> {
    (any::<u128>(), any::<u64>(), any::<u64>(), any::<i64>()).prop_map(|(caller, number, born, created)| Identity {
        caller: CallerId::from_bits(caller),
        number: Number(number),
        born: Incarnation(born),
        created: WallTime::from_nanos(created),
    })
}

fn headers() -> impl Strategy<Value = Header> {
    (of(identities()), 1..=u8::MAX, any::<bool>(), any::<u64>(), any::<u64>()).prop_map(
        |(identity, ordinal, retry, address, unsettled)| Header {
            identity,
            ordinal: Ordinal(ordinal),
            retry,
            address: Incarnation(address),
            unsettled: Unsettled(unsettled),
        },
    )
}

fn bytes() -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..64).prop_map(Bytes::from)
}

fn http_requests() -> impl Strategy<Value = http::Request<Bytes>> {
    let fields = vec(("[a-z][a-z0-9-]{0,8}", "[ -~]{0,12}"), 0..5);
    ("GET|POST|DELETE|X-OWN", "/[a-z/]{0,20}", fields, bytes()).prop_map(|(method, uri, fields, body)| {
        let request = http::Request::builder().method(&*method).uri(&*uri);
        fields.iter().fold(request, |request, (name, value)| request.header(name, value)).body(body).unwrap()
    })
}

fn requests() -> impl Strategy<Value = Request> {
    let calls = ("[a-z_]{0,12}", bytes())
        .prop_filter("a fetch carries a request", |(method, _)| method != FETCH)
        .prop_map(|(method, bytes)| Request { method: method.into(), payload: Payload::Arguments(bytes) });
    prop_oneof![calls, http_requests().prop_map(Request::fetch)]
}

fn attempts() -> impl Strategy<Value = Attempt> {
    let objects = ("[A-Za-z:]{0,12}", any::<[u8; 32]>(), of(".{0,12}"));
    (objects, headers(), requests()).prop_map(|((class, key, name), header, request)| Attempt {
        object: ObjectId::from_key(&class, key).with_name(name.as_deref()),
        header,
        request,
    })
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Disconnected), Just(Kind::Overloaded), Just(Kind::Failed), Just(Kind::Unimplemented)]
}

fn refusals() -> impl Strategy<Value = Refusal> {
    use Refusal::*;
    let all = [
        Draining,
        Elsewhere,
        Overloaded,
        Claimed,
        Doubtful,
        Settled,
        Older,
        StoreFull,
        SessionRejected,
        SessionMarked,
        OtherRequest,
        ClaimNotStored,
        EpochLost,
    ];
    proptest::sample::select(all.to_vec())
}

fn failures() -> impl Strategy<Value = HostFailure> {
    use Reason::*;
    let reasons = vec![
        UnknownClass,
        UnknownMethod,
        MalformedArguments,
        NotHere,
        Construction,
        Panicked,
        Storage,
        MalformedAttempt,
        AnswerTooLong,
        AnswerUnwritable,
    ];
    let deliveries = vec![Delivery::NotDelivered, Delivery::Unknown, Delivery::Delivered];
    (kinds(), proptest::sample::select(deliveries), proptest::sample::select(reasons), ".{0,20}")
        .prop_map(|(kind, delivery, reason, message)| HostFailure { kind, delivery, reason, message })
}

fn answers() -> impl Strategy<Value = Answer> {
    prop_oneof![
        bytes().prop_map(Answer::Value),
        (200..600u16, bytes()).prop_map(|(status, body)| {
            Answer::Response(Box::new(http::Response::builder().status(status).header("a", "b").body(body).unwrap()))
        }),
        (kinds(), bytes(), ".{0,20}").prop_map(|(kind, error, message)| Answer::Thrown { kind, error, message }),
        refusals().prop_map(Answer::Refused),
        failures().prop_map(Answer::Failed),
    ]
}

/// The attempt as a peer reads it.
fn sent(attempt: &Attempt) -> Result<Attempt, Malformed> {
    let mut message = capnp::message::Builder::new_default();
    write_attempt(attempt, message.init_root());
    let words = capnp::serialize::write_message_to_words(&message);
    let message = capnp::serialize::read_message_from_flat_slice(&mut &words[..], reader_options())?;
    read_attempt(message.get_root()?)
}

proptest! {
    #[test]
    fn an_attempt_is_read_as_it_was_written(attempt in attempts()) {
        let read = sent(&attempt).unwrap();
        prop_assert_eq!(read.object.name(), attempt.object.name());
        prop_assert_eq!(read.request.digest(), attempt.request.digest(), "D5: a digest is the same on both sides");
        prop_assert_eq!(read, attempt);
    }

    #[test]
    fn an_answer_is_read_as_it_was_written(answer in answers()) {
        let read = Answer::from_bytes(&answer.to_bytes()).unwrap();
        prop_assert_eq!(format!("{read:?}"), format!("{answer:?}"));
    }

    #[test]
    fn nonsense_is_refused(bytes in vec(any::<u8>(), 0..256)) {
        // Whatever it is, there is no panic; a short message of zeros is even an answer.
        drop(Answer::from_bytes(&bytes));
    }

    #[test]
    fn a_damaged_answer_is_refused_or_read_as_another(answer in answers(), place in any::<prop::sample::Index>(), bit in 0..8u8) {
        let mut bytes = answer.to_bytes();
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        drop(Answer::from_bytes(&bytes));
    }
}

fn plain() -> Attempt {
    Attempt {
        object: ObjectId::named("Cart", "a"),
        header: Header { ordinal: Ordinal(1), ..Header::default() },
        request: Request { method: "add".into(), payload: Payload::Arguments(Bytes::new()) },
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    let mut zeroth = plain();
    zeroth.header.ordinal = Ordinal(0);
    assert!(matches!(sent(&zeroth), Err(Malformed::Ordinal)));
    let mut fetch = plain();
    fetch.request.method = FETCH.into();
    assert!(matches!(sent(&fetch), Err(Malformed::Payload)));
    let mut method = plain();
    method.request.payload = Payload::Fetch(HttpRequest(Arc::default()));
    assert!(matches!(sent(&method), Err(Malformed::Payload)));
}

#[test]
fn requests_that_differ_have_digests_that_differ() {
    let request = |method: &str, bytes: &'static [u8]| {
        Request { method: method.into(), payload: Payload::Arguments(Bytes::from_static(bytes)) }.digest()
    };
    assert_eq!(request("a", b"bc"), request("a", b"bc"));
    assert_ne!(request("a", b"bc"), request("ab", b"c"));
    assert_ne!(request("a", b"bc"), request("a", b"bd"));
}
