//! What travels and what is stored comes back as it was.
#![cfg(feature = "serde")]

use std::fmt::Debug;

use oncemore_protocol::caller::{Ending, Report};
use oncemore_protocol::design::{Design, Plan, Retention};
use oncemore_protocol::directory::Ownership;
use oncemore_protocol::failure::{Delivery, Failure, Kind, Refusal, Transport};
use oncemore_protocol::gate::{Session, SessionId};
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number, Ordinal, Unsettled};
use oncemore_protocol::limits::Limits;
use oncemore_protocol::marks::Mark;
use oncemore_protocol::rules::{FirstRejection, Spec};
use oncemore_protocol::store::{Ask, Birth, Claim, ClaimStore, Claims, Digest, Key, Slot, Value, Window, Writes};
use oncemore_protocol::time::{Time, WallTime};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let written = serde_json::to_string(value).expect("it can be written");
    let read: T = serde_json::from_str(&written).expect("it can be read");
    assert_eq!(read, *value, "{written}");
}

fn identity() -> impl Strategy<Value = Identity> {
    (any::<u128>(), any::<u64>(), any::<u64>(), any::<i64>()).prop_map(|(bits, number, born, created)| Identity {
        caller: CallerId::from_bits(bits),
        number: Number(number),
        born: Incarnation(born),
        created: WallTime::from_nanos(created),
    })
}

fn header() -> impl Strategy<Value = Header> {
    (proptest::option::of(identity()), any::<u8>(), any::<bool>(), any::<u64>(), any::<u64>()).prop_map(
        |(identity, ordinal, retry, address, unsettled)| Header {
            identity,
            ordinal: Ordinal(ordinal),
            retry,
            address: Incarnation(address),
            unsettled: Unsettled(unsettled),
        },
    )
}

proptest! {
    #[test]
    fn headers(header in header()) {
        comes_back(&header);
    }

    /// What real stores write.
    #[test]
    fn writes(identities in proptest::collection::vec((identity(), any::<u64>()), 1..5), results in any::<bool>()) {
        let design = if results { Design::DurableResults } else { Design::Durable };
        let plan = Plan { design, ..Plan::default() };
        let mut store = Claims::open(&plan, birth(), core::iter::empty());
        for (identity, bits) in identities {
            let ask = Ask { identity, ordinal: Ordinal(1), unsettled: Unsettled(bits), digest: Digest(bits) };
            comes_back(&store.record(&plan, Spec, &ask, Time::ORIGIN));
            comes_back(&store.finish(&plan, Spec, identity));
        }
        comes_back(&store.begin_epoch(&plan, birth()));
    }
}

fn birth() -> Birth {
    Birth { incarnation: Incarnation(3), wall: WallTime::from_nanos(-5) }
}

#[test]
fn refusals_and_failures() {
    let refusals = [
        Refusal::Draining,
        Refusal::Elsewhere,
        Refusal::Overloaded,
        Refusal::Claimed,
        Refusal::Doubtful,
        Refusal::Settled,
        Refusal::Older,
        Refusal::StoreFull,
        Refusal::SessionRejected,
        Refusal::SessionMarked,
        Refusal::OtherRequest,
        Refusal::ClaimNotStored,
        Refusal::EpochLost,
    ];
    refusals.iter().for_each(comes_back);
    for kind in [Kind::Disconnected, Kind::Overloaded, Kind::Failed, Kind::Unimplemented] {
        for delivery in [Delivery::NotDelivered, Delivery::Unknown, Delivery::Delivered] {
            comes_back(&Failure { kind, delivery, remote: true, payload: "why".to_owned() });
        }
    }
}

#[test]
fn everything_else() {
    let mut object = Ownership::first(7u32);
    object.drain();
    comes_back(&object);
    comes_back(&birth());
    [Session::Unmarked, Session::Marked, Session::Rejected].iter().for_each(comes_back);
    comes_back(&SessionId(9));
    [Mark::Marked, Mark::Unmarked].iter().for_each(comes_back);
    Design::ALL.iter().for_each(comes_back);
    [Retention::Time, Retention::Watermark].iter().for_each(comes_back);
    comes_back(&Plan::default());
    comes_back(&Limits::default());
    [Transport::Exact, Transport::MayDuplicate].iter().for_each(comes_back);
    [FirstRejection::Fresh, FirstRejection::Fail].iter().for_each(comes_back);
    let since_disconnect = std::time::Duration::from_millis(5);
    comes_back(&Report { attempts: 2, ending: Ending::Recovered, since_disconnect });
}

/// What is stored is read by later versions: its form is pinned.
#[test]
fn the_form_of_what_is_stored_is_pinned() {
    let key = Key { caller: CallerId::from_bits(1 << 64 | 2), number: Number(3) };
    let claim = Claim { highest: Ordinal(2), finished: true, digest: Digest(4), expires: Time::from_nanos(5) };
    let mut window = Window::default();
    window.told(Number(3), Unsettled(0b101));
    let mut writes = Writes::default();
    writes.push((Slot::Epoch, Some(Value::Epoch(Incarnation(6)))));
    writes.push((Slot::Caller(key.caller), Some(Value::Caller(window))));
    writes.push((Slot::Claim(key), Some(Value::Claim(claim))));
    writes.push((Slot::Claim(key), None));
    let expected = concat!(
        r#"[["Epoch",{"Epoch":6}],"#,
        r#"[{"Caller":[1,2]},{"Caller":{"next":4,"open":11}}],"#,
        r#"[{"Claim":{"caller":[1,2],"number":3}},"#,
        r#"{"Claim":{"highest":2,"finished":true,"digest":4,"expires":5}}],"#,
        r#"[{"Claim":{"caller":[1,2],"number":3}},null]]"#,
    );
    assert_eq!(serde_json::to_string(&writes).expect("it can be written"), expected);
}
